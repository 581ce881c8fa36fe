"""``kernelwood convert``: from one format to another."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

from kernelwood.cli.hypotheses import CANDIDATES, candidate_views
from kernelwood.cli.messages import explained, in_options
from kernelwood.cli.output import json_option, write_json
from kernelwood.errors import KernelwoodError, StructureError
from kernelwood.io import (
    FORMATS,
    ExampleStream,
    Format,
    fit_to_format,
    iter_read,
    keep_views,
    left_out,
    write,
)
from kernelwood.io.ids import UsedIds
from kernelwood.io.reading import general_reason
from kernelwood.io.writing import format_to_write
from kernelwood.structures import Example, Sentence, View
from kernelwood.structures.labels import shorten

__all__ = ["convert", "sentence_views"]

R = TypeVar("R")
# From an example to what is written of it, counting what is dropped, and remarks.
Maker: TypeAlias = Callable[[Example, "Counter[str]", "Counter[str]"], Iterator[Example]]

_STEP = 64  # examples between two looks at the progress
_SHOWN = 4  # ignored files named in the summary
_ENDINGS = ("SIGTERM", "SIGHUP")  # what schedulers and closed terminals send
_NAMES = [row.name for row in FORMATS]
_WITHOUT_IDS = ("penn", "kelp")


@dataclass
class _Counts:
    """What became of the examples after they were read."""

    current: Example | None = None
    written: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--from", "source_format", metavar="FORMAT",
    help=f"Format of IN, if name and content do not tell: {', '.join(_NAMES)}.",
)  # fmt: skip
@click.option(
    "--to", "target_format", metavar="FORMAT",
    help="Format of OUT, if its name does not tell: one of these but ppi.",
)  # fmt: skip
@click.option(
    "--errors",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Stop at a broken part, or leave it out and count it.",
)
@click.option(
    "--view", "views", metavar="NAME", multiple=True,
    help="Write this view only: one of the file, or one made of its sentences, such as words or "
    "grct, or of candidates, such as path. May be repeated.",
)  # fmt: skip
@click.option(
    "--candidates",
    type=click.Choice(list(CANDIDATES)),
    help="Write pairs of entities, or triggers with participants, instead of sentences.",
)
@click.option(
    "--type", "types", metavar="TYPE", multiple=True,
    help="Of entities in candidates, those of this type. May be repeated.",
)  # fmt: skip
@click.option(
    "--labels",
    type=click.Choice(["binary", "type", "directed", "example"]),
    default="binary",
    show_default=True,
    help="How pairs are labeled.",
)
@click.option("--sentences", is_flag=True, help="Cut documents into sentences first.")
@click.option("--only", metavar="GLOB", help="Of a folder or an archive, files whose path fits.")
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
    counts = _Counts()
    policy: Any = errors
    try:
        row = _usage(lambda: format_to_write(target, target_format))
        make = _usage(
            lambda: (
                candidate_views(candidates, views, types, labels)
                if candidates
                else sentence_views(views)
            )
        )
        if sentences:
            make = cut_first(make)
        with (
            _orderly_end(),
            _usage(
                lambda: iter_read(source, source_format, policy, only=only, qualify_ids=qualify_ids)
            ) as stream,
        ):
            examples = _prepared(stream, row, make, counts, skip=errors == "skip")
            _write(examples, target, row)
    except StructureError as failure:
        raise explained(
            failure, counts.current, format=row.name, others_fit=counts.written > 0
        ) from failure
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
        raise click.UsageError(in_options(str(failure))) from failure


def _same_file(source: str, target: str) -> bool:
    try:
        return "-" not in (source, target) and Path(source).samefile(target)
    except OSError:  # one of them is not there
        return False


def sentence_views(names: tuple[str, ...]) -> Maker:
    """Return a function that yields an example with the views called ``names``.

    Views that an example does not have are made of its sentence; the function counts those that
    are only a fallback.

    Raises
    ------
    ValueError
        When a view of the table is not one of sentences.
    """
    from kernelwood.views.table import VIEWS, make_view

    possible = [row.name for row in VIEWS.values() if row.subject == "sentence"]
    for name in names:
        if name in VIEWS and name not in possible:
            raise ValueError(
                f"the view {name!r} is one of candidates (--candidates); sentences have "
                f"{', '.join(possible)}"
            )

    def make(example: Example, dropped: Counter[str], remarks: Counter[str]) -> Iterator[Example]:
        if not names:
            yield example
            return
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
        having = example.with_views(made)
        for name in names:
            if name not in having.views:
                raise _unknown_view(having, name, possible)
        yield keep_views(having, names)

    return make


def _unknown_view(example: Example, name: str, possible: list[str]) -> StructureError:
    known = [*example.views, *(possible if "sentence" in example.views else ())]
    near = get_close_matches(name, known, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    return StructureError(
        f"example {shorten(repr(example.id))} has no view {name!r}"
        + (", and no sentence to make it of" if name in possible else ""),
        hint=f"{guess}views: {', '.join(known) or 'none'}",
    )


def cut_first(make: Maker) -> Maker:
    """Return a function that does with the sentences of documents what ``make`` does."""
    from kernelwood.extract.candidates import sentences_of

    def cut(example: Example, dropped: Counter[str], remarks: Counter[str]) -> Iterator[Example]:
        if "document" not in example.views:
            yield from make(example, dropped, remarks)
            return
        for place in sentences_of([example], "document", dropped):
            views = {"sentence": place.sentence}
            part = Example(place.id, example.label, views, place.origin)
            yield from make(part, dropped, remarks)

    return cut


def _prepared(
    stream: ExampleStream,
    row: Format,
    make: Maker,
    counts: _Counts,
    *,
    skip: bool,
) -> Iterator[Example]:
    """Yield what is to be written."""
    used = UsedIds()
    with _progress(stream) as show:
        for number, example in enumerate(stream):
            if number % _STEP == 0:
                show()
            counts.current = example
            for made in _attempted(make(example, counts.dropped, counts.remarks), counts, skip):
                counts.current = made
                for fitted in _attempted(_fitted(made, row, used, skip), counts, skip):
                    counts.remarks.update(
                        f"{row.name} has no place for {part}" for part in left_out(made, row.name)
                    )
                    yield fitted
                    counts.written += 1
    counts.current = None
    reasons = Counter(stream.tally.reasons) + counts.reasons + counts.dropped
    if reasons and not counts.written:
        # An error here keeps the old file, which is better than an empty one.
        raise StructureError(
            f"nothing is left to write: all {reasons.total()} examples were skipped or dropped",
            hint="; ".join(f"{count} × {reason}" for reason, count in reasons.items()),
        )


def _attempted(examples: Iterator[Example], counts: _Counts, skip: bool) -> Iterator[Example]:
    """Yield examples up to a failure, which is counted if it shall be passed over."""
    try:
        yield from examples
    except StructureError as failure:
        if not skip:
            raise
        counts.reasons[general_reason(failure)] += 1


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


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Let a request to end delete what is half-written, as an interruption does."""

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    numbers = [getattr(signal, name) for name in _ENDINGS if hasattr(signal, name)]
    changed = []
    try:
        for number in numbers:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, leave)
                changed.append(number)
    except ValueError:  # not in the main thread, where signals are somebody else's business
        pass
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


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
