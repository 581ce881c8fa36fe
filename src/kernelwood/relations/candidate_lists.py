"""What generators of candidates share: the sentences they walk over, and what they return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.io import Examples, Tally, general_reason
from kernelwood.text import Candidate, Document, Entity, Example, Origin, Sentence, View
from kernelwood.views import several, view_maker

__all__ = ["Candidates", "Place", "names_of", "origin_of", "sentences_of"]

# A view by its name in the table, or a function of a candidate.
ViewMaker: TypeAlias = Callable[[Candidate], View]


class Place(NamedTuple):
    """A sentence with a name, its example, and where it was read."""

    id: str
    sentence: Sentence
    example: Example
    origin: Origin | None


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
        tables = [(name, view_maker(name)) for name in names]
        for candidate in self:
            views: dict[str, View] = {}
            fallbacks: list[str] = []
            try:
                for name, make in tables:
                    views[name], fallback = make(candidate)
                    if fallback:
                        fallbacks.append(f"{name}: {fallback}")
                for name, maker in makers.items():
                    views[name] = maker(candidate)
            except StructureError as failure:
                reasons[f"{name}: {general_reason(failure)}"] += 1
                continue
            remarks.update(fallbacks)
            examples.append(Example(candidate.id, candidate.label, views, candidate.origin))
        tally = Tally(
            read=len(examples),
            skipped=sum(reasons.values()),
            reasons=dict(reasons),
            remarks=dict(remarks),
        )
        return Examples(examples, tally)


def names_of(wanted: Iterable[str] | None) -> frozenset[str] | None:
    """Return the names that are asked for, None if all are; a single string is one name.

    Examples
    --------
    >>> names_of("protein")
    frozenset({'protein'})
    """
    return None if wanted is None else frozenset(several(wanted))


def sentences_of(
    examples: Iterable[Example], view: str | None, dropped: Counter[str]
) -> Iterator[Place]:
    """Yield the sentences of examples; documents are cut, and what that costs is counted."""
    for example in examples:
        name = view or ("document" if "document" in example.views else "sentence")
        annotated = example.view(name)
        if isinstance(annotated, Sentence):
            yield Place(example.id, annotated, example, example.origin)
        elif isinstance(annotated, Document):
            yield from _cut(example, annotated, dropped)
        else:
            raise StructureError(
                f"view {name!r} of example {example.id!r} is a {type(annotated).__name__}",
                hint="candidates are made from sentences and documents; choose one with view=...",
            )


def _cut(example: Example, document: Document, dropped: Counter[str]) -> Iterator[Place]:
    cut = document.split()
    dropped.update(cut.lost)
    origin = example.origin
    # A document that begins further down in its file is one line there, such as one of JSON.
    is_file = origin is not None and origin.line in (None, 1)
    line, counted_to = 1, 0
    for number, sentence in enumerate(cut.sentences):
        line += document.text.count("\n", counted_to, sentence.start)
        counted_to = sentence.start
        if origin is not None and is_file:
            origin = replace(origin, line=line)
        yield Place(f"{example.id}.s{number}", sentence, example, origin)


def origin_of(place: Place, mentions: Iterable[Entity]) -> Origin | None:
    """Return where entities stand: file, line, and characters from the first to the last."""
    origin = place.origin
    spans = [span for entity in mentions for span in entity.spans]
    if origin is None or not spans:
        return origin
    shift = place.sentence.start
    starts, ends = zip(*spans, strict=True)
    return Origin(origin.path, origin.line, shift + min(starts), shift + max(ends))
