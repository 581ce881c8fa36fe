"""Views and candidates of examples, made one example at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import partial
from typing import Any

from kernelwood.errors import StructureError
from kernelwood.io import Counts, general_reason, keep_views
from kernelwood.relations.candidates import PairLabels, event_candidates, pair_candidates
from kernelwood.relations.corpus import SentenceTable, example_entries
from kernelwood.structures import shorten
from kernelwood.text import Example, Sentence, View
from kernelwood.views import VIEWS, find_view, make_view

# Kinds of candidates, each with the view that is made by default.
CANDIDATES = {"pairs": "path", "events": "trigger-path", "amr": "amr-path"}


class ExampleMaker:
    """A function from an example to examples with the views to compare.

    Parameters
    ----------
    views : iterable of str
        Names of views; without candidates, views that an example has already, or that are made
        from its sentence. By default the views that it has, or the view of the candidates.
    candidates : {"pairs", "events", "amr"}, optional
        Make an example of each candidate of a sentence.
    types : iterable of str
        Types of entities in candidates, by default all.
    labels : {"binary", "type", "directed", "example"}
        Labels of candidate pairs.
    sentences : bool
        Whether documents are split into sentences first.

    Raises
    ------
    ValueError
        If a view is unknown, or is not one of sentences.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_interactions
    >>> make = ExampleMaker(["path"], candidates="pairs")
    >>> made = list(make(load_interactions("test")[0], Counts()))
    >>> type(made[0].view("path")).__name__
    'Sequence'
    """

    def __init__(
        self,
        views: Iterable[str] = (),
        *,
        candidates: str | None = None,
        types: Iterable[str] = (),
        labels: PairLabels = "binary",
        sentences: bool = False,
    ) -> None:
        names = tuple(views)
        self._sentences = sentences
        self._make: Callable[[Example, Counts], Iterator[Example]]
        if candidates is None:
            self._make = _view_maker(names)
        else:
            self._make = _candidate_maker(candidates, names, tuple(types), labels)

    def __call__(self, example: Example, counts: Counts) -> Iterator[Example]:
        """Yield the examples made of an example; counts are updated."""
        if not self._sentences or "document" not in example.views:
            yield from self._make(example, counts)
            return
        table = SentenceTable.read(example_entries([example], "document"), counts.dropped)
        for id, sentence, origin in zip(table.ids, table.sentences, table.origins, strict=True):
            made = Example(id, example.label, {"sentence": sentence}, origin)
            yield from self._make(made, counts)


def attempted(examples: Iterator[Example], counts: Counts, *, skip: bool) -> Iterator[Example]:
    """Yield examples up to an error, which is counted instead of raised if ``skip`` is set."""
    try:
        yield from examples
    except StructureError as failure:
        if not skip:
            raise
        counts.skipped[general_reason(failure)] += 1


def _candidate_maker(
    kind: str, names: tuple[str, ...], types: tuple[str, ...], labels: PairLabels
) -> Callable[[Example, Counts], Iterator[Example]]:
    wanted = names or (CANDIDATES[kind],)
    for name in wanted:
        find_view(name)
    generate: Callable[..., Any]
    if kind == "pairs":
        generate = partial(pair_candidates, types=types or None, labels=labels)
    else:
        source = "amr" if kind == "amr" else "annotation"
        generate = partial(event_candidates, types=types or None, source=source)

    def make(example: Example, counts: Counts) -> Iterator[Example]:
        candidates = generate([example])
        examples = candidates.examples(*wanted)
        for tally in (candidates.tally, examples.tally):
            counts.dropped.update(tally.reasons)
            counts.remarks.update(tally.remarks)
        yield from examples

    return make


def _view_maker(names: tuple[str, ...]) -> Callable[[Example, Counts], Iterator[Example]]:
    """Return a function that keeps the named views, and makes missing ones from the sentence."""
    possible = [row.name for row in VIEWS.values() if row.subject == "sentence"]
    for name in names:
        if name in VIEWS and name not in possible:
            raise ValueError(
                f"{name!r} is a view of candidates (--candidates); views of sentences: "
                f"{', '.join(possible)}"
            )

    def make(example: Example, counts: Counts) -> Iterator[Example]:
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
                    counts.remarks[f"{name}: {fallback}"] += 1
        having = example.with_views(made)
        for name in names:
            if name not in having.views:
                raise _unknown_view(having, name, possible)
        yield keep_views(having, names)

    return make


def _unknown_view(example: Example, name: str, possible: list[str]) -> StructureError:
    known = [*example.views, *(possible if "sentence" in example.views else ())]
    near = get_close_matches(name.lower(), [one.lower() for one in known], n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    return StructureError(
        f"example {shorten(repr(example.id))} has no view {name!r}"
        + (", and no sentence to make it from" if name in possible else ""),
        hint=f"{guess}views: {', '.join(known) or 'none'}",
    )
