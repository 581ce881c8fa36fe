"""Corpora on the command line: the options that say what to read, and what to make of it."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import click

from kernelwood.cli.hypotheses import CANDIDATES, candidate_views
from kernelwood.cli.messages import in_options
from kernelwood.errors import KernelwoodError, StructureError
from kernelwood.io import FORMATS, ExampleStream, general_reason, keep_views
from kernelwood.structures import shorten
from kernelwood.text import Example, Sentence, View

if TYPE_CHECKING:
    from kernelwood.relations import PairLabels

__all__ = [
    "Counts",
    "Maker",
    "attempted",
    "candidates_option",
    "cut_first",
    "errors_option",
    "example_maker",
    "file_errors",
    "from_option",
    "labels_option",
    "only_option",
    "orderly_end",
    "sentence_views",
    "sentences_option",
    "types_option",
    "usage",
    "with_progress",
]

R = TypeVar("R")
# From an example to what is made of it, counting what is dropped, and remarks.
Maker: TypeAlias = Callable[[Example, "Counter[str]", "Counter[str]"], Iterator[Example]]

_STEP = 64  # examples between two looks at the progress
_ENDINGS = ("SIGTERM", "SIGHUP")  # what schedulers and closed terminals send

from_option = click.option(
    "--from", "source_format", metavar="FORMAT",
    help="Format of what is read, if name and content do not tell: "
    f"{', '.join(row.name for row in FORMATS)}.",
)  # fmt: skip
errors_option = click.option(
    "--errors",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Stop at a broken part, or leave it out and count it.",
)
candidates_option = click.option(
    "--candidates",
    type=click.Choice(list(CANDIDATES)),
    help="Take pairs of entities, or triggers with participants, instead of sentences.",
)
types_option = click.option(
    "--type", "types", metavar="TYPE", multiple=True,
    help="Of entities in candidates, those of this type. May be repeated.",
)  # fmt: skip
labels_option = click.option(
    "--labels",
    type=click.Choice(["binary", "type", "directed", "example"]),
    default="binary",
    show_default=True,
    help="How pairs are labeled.",
)
sentences_option = click.option(
    "--sentences", is_flag=True, help="Cut documents into sentences first."
)
only_option = click.option(
    "--only", metavar="GLOB", help="Of a folder or an archive, files whose path fits."
)


@dataclass
class Counts:
    """What became of the examples after they were read."""

    current: Example | None = None
    taken: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)


@contextmanager
def file_errors() -> Iterator[None]:
    """Report files that cannot be read or written."""
    try:
        yield
    except BrokenPipeError:  # whoever read the output has seen enough
        raise
    except OSError as failure:
        name = f"{failure.filename}: " if failure.filename else ""
        raise click.ClickException(f"{name}{failure.strerror or failure}") from failure


def usage(action: Callable[[], R]) -> R:
    """Report wrong arguments as such; errors in the data stay what they are."""
    try:
        return action()
    except KernelwoodError:
        raise
    except ValueError as failure:
        raise click.UsageError(in_options(str(failure))) from failure


def example_maker(
    views: tuple[str, ...],
    candidates: str | None,
    types: tuple[str, ...],
    labels: PairLabels,
    *,
    sentences: bool,
) -> Maker:
    """Return what the options ask to make of an example.

    Raises
    ------
    ValueError
        When there is no such view.
    """
    if candidates:
        make: Maker = candidate_views(candidates, views, types, labels)
    else:
        make = sentence_views(views)
    return cut_first(make) if sentences else make


def sentence_views(names: tuple[str, ...]) -> Maker:
    """Return a function that yields an example with the views called ``names``.

    Views that an example does not have are made of its sentence; the function counts those that
    are only a fallback.

    Raises
    ------
    ValueError
        When a view of the table is not one of sentences.
    """
    from kernelwood.views import VIEWS, make_view

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
    from kernelwood.relations import SentenceTable, example_entries

    def cut(example: Example, dropped: Counter[str], remarks: Counter[str]) -> Iterator[Example]:
        if "document" not in example.views:
            yield from make(example, dropped, remarks)
            return
        table = SentenceTable.read(example_entries([example], "document"), dropped)
        for id, sentence, origin in zip(table.ids, table.sentences, table.origins, strict=True):
            part = Example(id, example.label, {"sentence": sentence}, origin)
            yield from make(part, dropped, remarks)

    return cut


@contextmanager
def orderly_end() -> Iterator[None]:
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


def attempted(
    examples: Iterator[Example], reasons: Counter[str], *, skip: bool
) -> Iterator[Example]:
    """Yield examples up to a failure, which is counted if it shall be passed over."""
    try:
        yield from examples
    except StructureError as failure:
        if not skip:
            raise
        reasons[general_reason(failure)] += 1


def with_progress(stream: ExampleStream) -> Iterator[Example]:
    """Yield the examples of a stream, with a bar on stderr if that is a terminal."""
    with _bar(stream) as show:
        for number, example in enumerate(stream):
            if number % _STEP == 0:
                show()
            yield example


@contextmanager
def _bar(stream: ExampleStream) -> Iterator[Callable[[], None]]:
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
