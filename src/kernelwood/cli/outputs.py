"""Files that commands write, checked before the work; and what they say meanwhile."""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import click

from kernelwood.cli.output import steps

__all__ = ["ROWS", "check_outputs", "opened", "say_counts", "working", "write_rows"]

# Suffix of a file with a row for each example -> what separates cells; None for JSON.
ROWS: dict[str, str | None] = {".tsv": "\t", ".csv": ",", ".jsonl": None}


class Tallied(Protocol):
    """Something that knows what became of the examples that are not used as they are."""

    skipped: dict[str, int]
    dropped: dict[str, int]
    remarks: dict[str, int]


def check_outputs(
    sources: Mapping[str, str | None],
    outputs: Mapping[str, str | None],
    *,
    figure: str | None = None,
    suffixes: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """Refuse outputs that cannot be written before the work, not after it.

    Parameters
    ----------
    sources, outputs : mapping of str to str or None
        Files by the argument or option that names them; None for one that is not given.
    figure : str, optional
        The option that names a figure.
    suffixes : mapping of str to iterable of str, optional
        How the names of files given by some options may end.

    Raises
    ------
    click.UsageError
        If two are the same file, one is a folder, or ends in something that cannot be written.
    """
    from kernelwood.figures import FIGURES, check_figure
    from kernelwood.io import check_parent

    named = {Path(path).resolve(): name for name, path in sources.items() if path is not None}
    allowed = {**(suffixes or {}), **({figure: FIGURES} if figure else {})}
    for flag, given in outputs.items():
        if given is None:
            continue
        path = Path(given)
        other = named.setdefault(path.resolve(), flag)
        if other != flag:
            raise click.UsageError(f"{other} and {flag} are the same file; give one another name")
        if path.is_dir():
            raise click.UsageError(f"{flag} {path} is a folder; give the name of a file")
        if flag in allowed and path.suffix.lower() not in allowed[flag]:
            raise click.UsageError(f"{flag} must end in one of {', '.join(allowed[flag])}")
        check_parent(path)
        if flag == figure:
            check_figure(path)


def say_counts(tallied: Tallied) -> None:
    """Tell on standard error what was left out, and why."""
    told = (
        ("skipped", tallied.skipped),
        ("dropped", tallied.dropped),
        ("remark", tallied.remarks),
    )
    for title, counts in told:
        for reason, count in counts.items():
            click.echo(f"  {title}: {count:,} × {reason}", err=True)


@contextmanager
def working(what: str, n_jobs: int | None) -> Iterator[None]:
    """Show progress on standard error, use threads, and tell warnings in plain words."""
    from kernelwood import config_context

    with warnings.catch_warnings(record=True) as caught, ExitStack() as stack:
        warnings.simplefilter("default")
        show = stack.enter_context(steps(what))
        stack.enter_context(config_context(progress=show))
        if n_jobs is not None:
            stack.enter_context(config_context(n_jobs=n_jobs))
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"warning: {message}", err=True)


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for bytes that takes its place only when all are written."""
    from kernelwood.io import replacing

    target = Path(os.path.realpath(path))
    special = target.exists() and not target.is_file()  # pipes and devices cannot be replaced
    with target.open("wb") if special else replacing(target) as file:
        yield file


def write_rows(path: str, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a row for each example, as the suffix of the file says."""
    from kernelwood.io import write_text

    separator = ROWS[Path(path).suffix.lower()]
    if separator is None:
        write_text(path, (_json_line(titles, row) for row in rows))
    else:
        write_text(path, _separated(chain([titles], rows), separator))


def _json_line(titles: Sequence[str], row: Sequence[Any]) -> str:
    return json.dumps(dict(zip(titles, row, strict=True)), ensure_ascii=False) + "\n"


def _separated(rows: Iterable[Sequence[Any]], separator: str) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
