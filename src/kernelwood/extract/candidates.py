"""What generators of candidates share: the sentences they walk over, and what they return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.io import Examples, Tally
from kernelwood.structures import (
    Candidate,
    Document,
    Entity,
    Example,
    Origin,
    Sentence,
    View,
)
from kernelwood.views import make_view

__all__ = ["Candidates", "Place", "place_of", "sentences_of"]

# A view by its name in the table, or a function of a candidate.
ViewMaker: TypeAlias = Callable[[Candidate], View]


class Place(NamedTuple):
    """A sentence, the name of its example, and where it was read."""

    id: str
    sentence: Sentence
    example: Example


class Candidates(list[Candidate]):
    """A list of candidates that remembers what was left out, and why, in :attr:`tally`."""

    tally: Tally

    def __init__(
        self, candidates: Iterable[Candidate] = (), dropped: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(candidates)
        reasons = dict(dropped or {})
        self.tally = Tally(read=len(self), skipped=sum(reasons.values()), reasons=reasons)

    def __repr__(self) -> str:
        return f"<Candidates: {len(self)}, {self.tally.skipped} dropped>"

    @property
    def labels(self) -> list[object]:
        """The label of each candidate."""
        return [candidate.label for candidate in self]

    def examples(self, *names: str, **makers: ViewMaker) -> Examples:
        """Return an example for each candidate, with the views that kernels compare.

        Parameters
        ----------
        *names : str
            Names in `kernelwood.views.VIEWS`, for example ``"path"``.
        **makers : callable
            Further views by name, each a function of a `Candidate`.

        Returns
        -------
        kernelwood.io.Examples
            In the order of the candidates. A candidate of which a view cannot be made is left
            out and counted in ``tally.reasons``; one whose view is a fallback (no path between
            the entities, say) is kept and counted in ``tally.remarks``.
        """
        examples: list[Example] = []
        reasons: Counter[str] = Counter()
        remarks: Counter[str] = Counter()
        for candidate in self:
            views: dict[str, View] = {}
            try:
                for name in names:
                    views[name], fallback = make_view(name, candidate)
                    if fallback:
                        remarks[f"{name}: {fallback}"] += 1
                for name, maker in makers.items():
                    views[name] = maker(candidate)
            except StructureError as failure:
                reasons[f"{name}: {failure.problem}"] += 1
                continue
            examples.append(Example(candidate.id, candidate.label, views, candidate.origin))
        tally = Tally(
            read=len(examples),
            skipped=sum(reasons.values()),
            reasons=dict(reasons),
            remarks=dict(remarks),
        )
        return Examples(examples, tally)


def sentences_of(
    examples: Iterable[Example], view: str | None, dropped: Counter[str]
) -> Iterator[Place]:
    """Yield the sentences of examples; documents are cut, and what that costs is counted."""
    for example in examples:
        name = view or ("document" if "document" in example.views else "sentence")
        annotated = example.view(name)
        if isinstance(annotated, Sentence):
            yield Place(example.id, annotated, example)
        elif isinstance(annotated, Document):
            cut = annotated.split()
            dropped.update(cut.lost)
            for number, sentence in enumerate(cut.sentences):
                yield Place(f"{example.id}.s{number}", sentence, example)
        else:
            raise StructureError(
                f"view {name!r} of example {example.id!r} is a {type(annotated).__name__}",
                hint="candidates are made from sentences and documents; choose one with view=...",
            )


def place_of(place: Place, candidate: Candidate) -> Candidate:
    """Return the candidate with its origin: file, line, and characters from first to last."""
    origin = place.example.origin
    spans = [span for entity in _mentions(candidate) for span in entity.spans]
    if origin is None or not spans:
        return replace(candidate, origin=origin)
    shift = place.sentence.start
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    return replace(candidate, origin=Origin(origin.path, origin.line, shift + first, shift + last))


def _mentions(candidate: Candidate) -> Iterator[Entity]:
    yield from candidate.entities
    if candidate.trigger is not None:
        yield candidate.trigger
