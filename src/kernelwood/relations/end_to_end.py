"""Evaluation from plain text to relations: entities are found, not given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelwood.entities import EntityFinder, annotated_mentions
from kernelwood.errors import KernelInputError
from kernelwood.relations.candidates import NONE, Candidates
from kernelwood.relations.corpus import example_entries
from kernelwood.relations.predictions import Predictions
from kernelwood.relations.relation_classes import type_of
from kernelwood.text import Document, Example, Sentence

_NO_ANNOTATION: dict[str, Any] = {
    "entities": (),
    "relations": (),
    "events": (),
    "attributes": (),
}


@dataclass(frozen=True)
class Rates:
    """Precision, recall and F1.

    Attributes
    ----------
    right : int
        Number of found items that are annotated.
    found, annotated : int
        Number of found items, and of annotated items.
    """

    right: int = 0
    found: int = 0
    annotated: int = 0

    @property
    def precision(self) -> float:
        """Fraction of the found items that are right."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Fraction of the annotated items that were found."""
        return self.right / self.annotated if self.annotated else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.found + self.annotated
        return 2 * self.right / both if both else 0.0

    def __add__(self, other: Rates) -> Rates:
        return Rates(
            self.right + other.right, self.found + other.found, self.annotated + other.annotated
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        rates = {name: getattr(self, name) for name in ("precision", "recall", "f1")}
        return {**rates, "right": self.right, "found": self.found, "annotated": self.annotated}

    def __str__(self) -> str:
        return (
            f"precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f} "
            f"({self.right:,} right, {self.found:,} found, {self.annotated:,} annotated)"
        )


@dataclass(frozen=True)
class EndToEnd:
    """Measures of relations whose entities were found by the extractor.

    A relation is right if both entities have the annotated spans and types, and it has the
    annotated type and direction. Annotated relations whose entities were not found are missed.

    Attributes
    ----------
    relations : Rates
        Measures of relations of all types.
    mentions : Rates
        Measures of entities: exact spans and types.
    types : dict of str to Rates
        Measures of relations, by type.
    """

    relations: Rates = field(default_factory=Rates)
    mentions: Rates = field(default_factory=Rates)
    types: dict[str, Rates] = field(default_factory=dict)

    def __add__(self, other: EndToEnd) -> EndToEnd:
        names = sorted({*self.types, *other.types})
        return EndToEnd(
            self.relations + other.relations,
            self.mentions + other.mentions,
            {n: self.types.get(n, Rates()) + other.types.get(n, Rates()) for n in names},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "relations": self.relations.to_dict(),
            "mentions": self.mentions.to_dict(),
            "types": {name: rates.to_dict() for name, rates in self.types.items()},
        }

    def __str__(self) -> str:
        return (
            f"with found entities, relations: {self.relations}\n"
            f"entities found in plain text: {self.mentions}"
        )


def score_end_to_end(
    extractor: Any, documents: Iterable[Example], predictions: Predictions | None = None
) -> EndToEnd:
    """Return the measures of relations that an extractor finds in texts without annotation.

    Parameters
    ----------
    extractor : RelationExtractor
        Fitted, with ``entities="learn"`` or a dictionary.
    documents : iterable of Example
        Annotated documents. The annotation is removed, then entities and relations are found.
    predictions : Predictions, optional
        Predictions of all candidates with annotated entities: ``predict(documents, all=True)``.

    Raises
    ------
    KernelInputError
        If the extractor does not find entities, or learned events.
    """
    if extractor.tagger_ is None:
        raise KernelInputError(
            "end to end: this extractor does not find entities; train it with entities='learn'"
        )
    if extractor.candidates != "pairs":
        raise KernelInputError("end to end: only relations between pairs are evaluated, not events")
    listed = list(documents)
    given = extractor._all_predictions(listed if predictions is None else predictions)
    plain = [_found(extractor, example) for example in listed]
    found = extractor._all_predictions(plain).positives()
    annotated = _relations(given.candidates.with_missed(), given.candidates.with_missed().labels)
    predicted = _relations(found.candidates, found.classes)
    return EndToEnd(
        _rates([(predicted, annotated)]),
        _mention_rates(extractor, listed, plain),
        {
            name: _rates([(_of_type(predicted, name), _of_type(annotated, name))])
            for name in sorted({type_of(label) for _, label in predicted | annotated})
        },
    )


def _found(extractor: Any, example: Example) -> Example:
    """Return an example with found entities instead of its annotation."""
    [(_, annotated, _, _)] = example_entries([example])
    bare: Document | Sentence = annotated._with(**_NO_ANNOTATION)
    name = "document" if isinstance(bare, Document) else "sentence"
    return Example(example.id, None, {name: extractor.find_entities(bare)}, example.origin)


def _relations(candidates: Candidates, labels: Sequence[Any]) -> set[tuple[Any, str]]:
    """Return relations as comparable values: document, spans and types of entities, and class."""
    table = candidates.sentences
    rows = zip(candidates.sentence_of, candidates.participants, labels, strict=True)
    return {
        ((table.documents[row], *_places(table.sentences[row].start, pair)), str(label))
        for row, pair, label in rows
        if label != NONE
    }


def _places(shift: int, pair: Iterable[tuple[str, Any]]) -> list[Any]:
    return [
        (entity.type, tuple((start + shift, end + shift) for start, end in entity.spans))
        for _, entity in pair
    ]


def _of_type(relations: set[tuple[Any, str]], name: str) -> set[tuple[Any, str]]:
    return {one for one in relations if type_of(one[1]) == name}


def _mention_rates(extractor: Any, given: Sequence[Example], found: Sequence[Example]) -> Rates:
    types = EntityFinder(extractor.tagger_).types
    if extractor.types is not None:
        wanted = extractor.types
        types &= {wanted} if isinstance(wanted, str) else set(wanted)
    return _rates(
        zip(annotated_mentions(found, types), annotated_mentions(given, types), strict=True)
    )


def _rates(pairs: Iterable[tuple[set[Any], set[Any]]]) -> Rates:
    sums: Counter[str] = Counter()
    for found, annotated in pairs:
        sums["right"] += len(found & annotated)
        sums["found"] += len(found)
        sums["annotated"] += len(annotated)
    return Rates(sums["right"], sums["found"], sums["annotated"])
