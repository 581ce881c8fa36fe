"""``kernelwood convert``: from one format to another."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from kernelwood.cli.corpus import (
    Counts,
    Maker,
    attempted,
    candidates_option,
    errors_option,
    example_maker,
    file_errors,
    from_option,
    labels_option,
    only_option,
    orderly_end,
    sentences_option,
    types_option,
    usage,
    with_progress,
)
from kernelwood.cli.messages import explained
from kernelwood.cli.output import json_option, write_json
from kernelwood.errors import StructureError
from kernelwood.io import (
    ExampleStream,
    Format,
    UsedIds,
    fit_to_format,
    format_to_write,
    iter_read,
    left_out,
    write,
)
from kernelwood.text import Example

__all__ = ["convert"]

_SHOWN = 4  # ignored files named in the summary
_WITHOUT_IDS = ("penn", "kelp")


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@from_option
@click.option(
    "--to", "target_format", metavar="FORMAT",
    help="Format of OUT, if its name does not tell: one of these but ppi.",
)  # fmt: skip
@errors_option
@click.option(
    "--view", "views", metavar="NAME", multiple=True,
    help="Write this view only: one of the file, or one made of its sentences, such as words or "
    "grct, or of candidates, such as path. May be repeated.",
)  # fmt: skip
@candidates_option
@types_option
@labels_option
@sentences_option
@only_option
@click.option(
    "--qualify-ids", is_flag=True,
    help="Of a folder or an archive, begin ids with the path of their file.",
)  # fmt: skip
@json_option
def convert(
    source: str,
    target: str,
    source_format: str | None,
    target_format: str | None,
    errors: str,
    views: tuple[str, ...],
    candidates: str | None,
    types: tuple[str, ...],
    labels: Any,
    sentences: bool,
    only: str | None,
    qualify_ids: bool,
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
    counts = Counts()
    policy: Any = errors
    with file_errors():
        try:
            row = usage(lambda: format_to_write(target, target_format))
            make = usage(
                lambda: example_maker(views, candidates, types, labels, sentences=sentences)
            )
            with (
                orderly_end(),
                usage(
                    lambda: iter_read(
                        source, source_format, policy, only=only, qualify_ids=qualify_ids
                    )
                ) as stream,
            ):
                examples = _prepared(stream, row, make, counts, skip=errors == "skip")
                _write(examples, target, row)
        except StructureError as failure:
            raise explained(
                failure, counts.current, format=row.name, others_fit=counts.taken > 0
            ) from failure
    report = _report(stream, row, counts)
    if as_json:
        write_json(report)
    else:
        _summarize(report)


def _same_file(source: str, target: str) -> bool:
    try:
        return "-" not in (source, target) and Path(source).samefile(target)
    except OSError:  # one of them is not there
        return False


def _prepared(
    stream: ExampleStream,
    row: Format,
    make: Maker,
    counts: Counts,
    *,
    skip: bool,
) -> Iterator[Example]:
    """Yield what is to be written."""
    used = UsedIds()
    for example in with_progress(stream):
        counts.current = example
        for made in attempted(
            make(example, counts.dropped, counts.remarks), counts.reasons, skip=skip
        ):
            counts.current = made
            for fitted in attempted(_fitted(made, row, used, skip), counts.reasons, skip=skip):
                counts.remarks.update(
                    f"{row.name} has no place for {part}" for part in left_out(made, row.name)
                )
                yield fitted
                counts.taken += 1
    counts.current = None
    reasons = Counter(stream.tally.reasons) + counts.reasons + counts.dropped
    if reasons and not counts.taken:
        # An error here keeps the old file, which is better than an empty one.
        raise StructureError(
            f"nothing is left to write: all {reasons.total()} examples were skipped or dropped",
            hint="; ".join(f"{count} × {reason}" for reason, count in reasons.items()),
        )


def _fitted(example: Example, row: Format, used: UsedIds, skip: bool) -> Iterator[Example]:
    fitted = fit_to_format(example, row.name)
    if row.name not in _WITHOUT_IDS and used.add(example.id, 0) is not None:
        raise StructureError(
            f"the id {example.id!r} was used before",
            hint="--qualify-ids puts the path of its file in a folder or archive before an id",
        )
    if skip:  # what the writer will say of it would spoil the file
        writer: Callable[..., Iterator[object]] | None = row.write or row.write_files
        for _ in writer([fitted]) if writer is not None else ():
            pass
    yield fitted


def _write(examples: Iterator[Example], target: str, row: Format) -> None:
    if target == "-" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # whatever the terminal speaks
    write(examples, target, format=row.name)


def _report(stream: ExampleStream, row: Format, counts: Counts) -> dict[str, Any]:
    tally = stream.tally
    reasons = Counter(tally.reasons) + counts.reasons
    return {
        "format": row.name,
        "read": tally.read,
        "written": counts.taken,
        "skipped": reasons.total(),
        "reasons": dict(reasons.most_common()),
        "dropped": dict(counts.dropped.most_common()),
        "remarks": dict((Counter(tally.remarks) + counts.remarks).most_common()),
        "files": tally.files,
        "ignored": list(tally.ignored),
    }


def _summarize(report: dict[str, Any]) -> None:
    def say(text: str) -> None:
        click.echo(text, err=True)

    say(f"{report['read']:,} read, {report['written']:,} written, {report['skipped']:,} skipped")
    for title, key in (("reason", "reasons"), ("dropped", "dropped"), ("remark", "remarks")):
        for reason, count in report[key].items():
            say(f"  {title}: {count:,} × {reason}")
    ignored = report["ignored"]
    if ignored:
        more = ", ..." if len(ignored) > _SHOWN else ""
        files = "file" if len(ignored) == 1 else "files"
        say(f"  {len(ignored):,} {files} not read: {', '.join(ignored[:_SHOWN])}{more}")
