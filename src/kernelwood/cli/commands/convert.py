"""``kernelwood convert``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import counted, note, one_name, show_counts, tracked, usage, write_json
from kernelwood.cli.corpora import (
    example_error,
    example_maker,
    open_corpus,
)
from kernelwood.cli.options import FormatChoice, corpus_options, json_option, resume_option
from kernelwood.cli.outputs import STANDARD, check_inputs, check_writable, use_utf8
from kernelwood.errors import StructureError
from kernelwood.io import (
    Counts,
    ExampleStream,
    Format,
    UsedIds,
    fit_to_format,
    format_to_write,
    left_out,
    write,
)
from kernelwood.text import Example

if TYPE_CHECKING:
    from kernelwood.relations import ExampleMaker

_SHOWN = 4  # ignored files named in the summary
_WITHOUT_IDS = ("penn", "kelp")


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--to", "target_format",
    type=FormatChoice(written=True),
    help="Output format, if the file name does not determine it.",
)  # fmt: skip
@corpus_options
@click.option("--qualify-ids", is_flag=True, help="Prefix ids with the path of their file.")
@resume_option
@json_option
def convert(source: str, target: str, as_json: bool, **options: Any) -> None:
    """Convert a corpus to another format.

    IN is a file, folder or archive, or - for standard input; OUT is a file, a folder for formats
    of several files, or - for standard output. Formats are recognized by suffix or content. OUT is
    created or replaced only when it is complete; with --resume, a run that was interrupted
    continues. A summary is printed to standard error.
    """
    if as_json and target == STANDARD:
        raise click.UsageError("--json and OUT - both write to standard output")
    if _same_file(source, target):
        raise click.UsageError("IN and OUT are the same file; rename one")
    if options["resume"]:
        from kernelwood.cli.planned import is_complete

        if is_complete(target, as_json=as_json):
            return
    counts = Counts()
    with usage():
        row = format_to_write(target, options["target_format"])
    check_inputs(source)
    if target != STANDARD:
        check_writable(Path(target))
    if options["resume"]:
        from kernelwood.cli.planned import run_resumed

        run_resumed("convert", {"source": source, "target": target, **options}, as_json=as_json)
        return
    try:
        make = example_maker(options, sentences=options["sentences"])
        with open_corpus(source, options, qualify_ids=options["qualify_ids"]) as stream:
            skip = options["errors"] == "skip"
            use_utf8(target)
            write(_prepared(stream, row, make, counts, skip=skip), target, format=row.name)
    except StructureError as failure:
        raise example_error(failure, counts, row.name) from failure
    report = _report(stream, row, counts)
    write_json(report) if as_json else _show(report, counts)


def _same_file(source: str, target: str) -> bool:
    try:
        return STANDARD not in (source, target) and Path(source).samefile(target)
    except OSError:  # one of them does not exist
        return False


def _prepared(
    stream: ExampleStream,
    row: Format,
    make: ExampleMaker,
    counts: Counts,
    *,
    skip: bool,
) -> Iterator[Example]:
    """Yield the examples to write."""
    from kernelwood.relations import attempted

    used = UsedIds()
    for example in tracked(stream):
        counts.current = example
        for made in attempted(make(example, counts), counts, skip=skip):
            counts.current = made
            for fitted in attempted(_fitted(made, row, used, skip), counts, skip=skip):
                counts.remarks.update(
                    f"{row.name} cannot store {part}" for part in left_out(made, row.name)
                )
                yield fitted
                counts.taken += 1
    counts.current = None
    counts.add(stream.tally)
    if counts.skipped + counts.dropped and not counts.taken:
        # Raised before an older file is replaced by an empty one.
        n = (counts.skipped + counts.dropped).total()
        raise StructureError(
            f"no output: all {n} examples were skipped or dropped", hint=counts.reasons()
        )


def _fitted(example: Example, row: Format, used: UsedIds, skip: bool) -> Iterator[Example]:
    fitted = fit_to_format(example, row.name)
    if row.name not in _WITHOUT_IDS and used.add(example.id, 0) is not None:
        raise StructureError(
            f"the id {example.id!r} occurs twice",
            hint="--qualify-ids prefixes ids with the path of their file",
        )
    if skip:  # find errors of the writer now, not while it writes the file
        writer: Callable[..., Iterator[object]] | None = row.write or row.write_files
        for _ in writer([fitted]) if writer is not None else ():
            pass
    yield fitted


def _report(stream: ExampleStream, row: Format, counts: Counts) -> dict[str, Any]:
    tally, reasons = stream.tally, counts.to_dict()
    return {
        "format": row.name,
        "read": tally.read,
        "written": counts.taken,
        "skipped": counts.skipped.total(),
        "reasons": reasons["skipped"],
        "dropped": reasons["dropped"],
        "remarks": reasons["remarks"],
        "files": tally.files,
        "ignored": list(tally.ignored),
    }


def _show(report: dict[str, Any], counts: Counts) -> None:
    n_read, n_written, n_skipped = (report[name] for name in ("read", "written", "skipped"))
    note(f"{n_read:,} read, {n_written:,} written, {n_skipped:,} skipped")
    show_counts(counts)
    ignored = report["ignored"]
    if ignored:
        more = ", ..." if len(ignored) > _SHOWN else ""
        names = ", ".join(map(one_name, ignored[:_SHOWN])) + more
        note(f"  {counted(len(ignored), 'file')} not read: {names}")
