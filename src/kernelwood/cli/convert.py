"""``kernelwood convert``: from one format to another."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from kernelwood.cli.output import json_option, write_json
from kernelwood.errors import KernelwoodError, StructureError
from kernelwood.io import ExampleStream, Format, fit_to_format, iter_read, keep_views, write
from kernelwood.io.reading import general_reason
from kernelwood.io.writing import format_to_write
from kernelwood.structures import Example, Sentence, View

__all__ = ["convert", "sentence_views"]

R = TypeVar("R")

_STEP = 64  # examples between two looks at the progress
_SHOWN = 10  # ignored files named in the summary
_WITHOUT_IDS = ("penn", "kelp")


@dataclass
class _Counts:
    """What became of the examples after they were read."""

    written: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--from", "source_format", metavar="FORMAT", help="Format of IN, if not its suffix.")
@click.option("--to", "target_format", metavar="FORMAT", help="Format of OUT, if not its suffix.")
@click.option(
    "--errors",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Stop at a broken part, or leave it out and count it.",
)
@click.option(
    "--view", "views", metavar="NAME", multiple=True,
    help="Write this view only: one of the file, or one made of its sentences. May be repeated.",
)  # fmt: skip
@click.option("--only", metavar="GLOB", help="Of a folder or an archive, files whose path fits.")
@json_option
def convert(
    source: str,
    target: str,
    source_format: str | None,
    target_format: str | None,
    errors: str,
    views: tuple[str, ...],
    only: str | None,
    as_json: bool,
) -> None:
    """Write examples in another format.

    IN is a file, a folder, an archive, or - for standard input; OUT is a file, a folder for
    formats of several files, or - for standard output. Formats are told by suffix or content.
    OUT appears, or changes, only when everything is written. A summary goes to standard error.
    """
    if as_json and target == "-":
        raise click.UsageError("--json and OUT - both want standard output")
    if _same_file(source, target):
        raise click.UsageError("IN and OUT are the same file; give OUT another name")
    counts = _Counts()
    try:
        row = _usage(lambda: format_to_write(target, target_format))
        add_views = _usage(lambda: sentence_views(views))
        policy: Any = errors
        with _usage(lambda: iter_read(source, source_format, policy, only=only)) as stream:
            examples = _prepared(stream, row, add_views, counts, skip=errors == "skip")
            _write(examples, target, row)
    except BrokenPipeError:  # whoever read the output has seen enough
        raise
    except OSError as failure:
        name = f"{failure.filename}: " if failure.filename else ""
        raise click.ClickException(f"{name}{failure.strerror or failure}") from failure
    report = _report(stream, row, counts)
    if as_json:
        write_json(report)
    else:
        _summarize(report)


def _usage(action: Callable[[], R]) -> R:
    """Report wrong arguments as such; errors in the data stay what they are."""
    try:
        return action()
    except KernelwoodError:
        raise
    except ValueError as failure:
        raise click.UsageError(str(failure)) from failure


def _same_file(source: str, target: str) -> bool:
    try:
        return "-" not in (source, target) and Path(source).samefile(target)
    except OSError:  # one of them is not there
        return False


def sentence_views(names: tuple[str, ...]) -> Callable[[Example, Counter[str]], Example]:
    """Return a function that leaves an example with the views called ``names``.

    Views that an example does not have are made of its sentence; the function counts those that
    are only a fallback.

    Raises
    ------
    ValueError
        When a view of the table is not one of sentences.
    """
    from kernelwood.views.table import VIEWS, make_view

    for name in names:
        if name in VIEWS and VIEWS[name].subject != "sentence":
            raise ValueError(
                f"the view {name!r} is one of candidates; sentences have "
                f"{', '.join(row.name for row in VIEWS.values() if row.subject == 'sentence')}"
            )

    def add(example: Example, remarks: Counter[str]) -> Example:
        if not names:
            return example
        sentence = example.views.get("sentence")
        made: dict[str, View] = {}
        for name in names:
            if name in VIEWS and name not in example.views and isinstance(sentence, Sentence):
                try:
                    made[name], fallback = make_view(name, sentence)
                except StructureError as failure:
                    raise StructureError(
                        f"example {example.id!r}: view {name!r}: {failure.problem}",
                        hint=failure.hint,
                    ) from failure
                if fallback is not None:
                    remarks[f"{name}: {fallback}"] += 1
        return keep_views(example.with_views(made), names)

    return add


def _prepared(
    stream: ExampleStream,
    row: Format,
    add_views: Callable[[Example, Counter[str]], Example],
    counts: _Counts,
    *,
    skip: bool,
) -> Iterator[Example]:
    """Yield what is to be written."""
    used: set[str] = set()
    with _progress(stream) as show:
        for number, example in enumerate(stream):
            if number % _STEP == 0:
                show()
            try:
                made = fit_to_format(add_views(example, counts.remarks), row.name)
                if skip:
                    _try(made, row, used)
            except StructureError as failure:
                if not skip:
                    raise
                counts.reasons[general_reason(failure)] += 1
            else:
                counts.written += 1
                yield made
    skipped = stream.tally.skipped + counts.reasons.total()
    if skipped and not counts.written:
        # An error here keeps the old file, which is better than an empty one.
        reasons = {**stream.tally.reasons, **counts.reasons}
        raise StructureError(
            f"nothing is left to write: all {skipped} examples were skipped",
            hint="; ".join(f"{count} × {reason}" for reason, count in reasons.items()),
        )


def _try(example: Example, row: Format, used: set[str]) -> None:
    """Raise what the writer will say of an example, before it can spoil the file."""
    if row.name not in _WITHOUT_IDS:
        if example.id in used:
            raise StructureError(f"the id {example.id!r} was used before")
        used.add(example.id)
    writer: Callable[..., Iterator[object]] | None = row.write or row.write_files
    for _ in writer([example]) if writer is not None else ():
        pass


def _write(examples: Iterator[Example], target: str, row: Format) -> None:
    if target == "-" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # whatever the terminal speaks
    write(examples, target, format=row.name)


@contextmanager
def _progress(stream: ExampleStream) -> Iterator[Callable[[], None]]:
    """Show a bar on stderr, if that is a terminal; call what is yielded to move it."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(bar_width=30), DownloadColumn(binary_units=True), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=stream.size)
        yield lambda: progress.update(task, completed=stream.position)


def _report(stream: ExampleStream, row: Format, counts: _Counts) -> dict[str, Any]:
    tally = stream.tally
    reasons = Counter(tally.reasons) + counts.reasons
    return {
        "format": row.name,
        "read": tally.read,
        "written": counts.written,
        "skipped": reasons.total(),
        "reasons": dict(reasons.most_common()),
        "remarks": dict((Counter(tally.remarks) + counts.remarks).most_common()),
        "files": tally.files,
        "ignored": list(tally.ignored),
    }


def _summarize(report: dict[str, Any]) -> None:
    def say(text: str) -> None:
        click.echo(text, err=True)

    say(f"{report['read']:,} read, {report['written']:,} written, {report['skipped']:,} skipped")
    for title in ("reasons", "remarks"):
        for reason, count in report[title].items():
            say(f"  {title[:-1]}: {count:,} × {reason}")
    ignored = report["ignored"]
    if ignored:
        more = ", ..." if len(ignored) > _SHOWN else ""
        say(f"  {len(ignored):,} files not read: {', '.join(ignored[:_SHOWN])}{more}")
