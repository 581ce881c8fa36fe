"""Training data of a tagger: pieces and labels of annotated texts, folds and scores."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.entities.annotated_texts import AnnotatedText
from kernelwood.entities.chain_model import MOST_TYPES, Segment, encode, sentence_rows
from kernelwood.entities.dictionary import Dictionary
from kernelwood.entities.mentions import Mention
from kernelwood.entities.tagger_features import Pieces, cut_text, place_features
from kernelwood.entities.terms import TermCounts
from kernelwood.errors import KernelInputError
from kernelwood.seeds import child_generator
from kernelwood.text import Entity, Span

_ORDER_SEED = 0  # documents are assigned to folds in an order that is always the same

# Spans and types of mentions; all spans of a discontinuous one.
Found: TypeAlias = "set[tuple[tuple[Span, ...], str]]"


class MentionScores(NamedTuple):
    """Precision, recall and F1 of exact mentions, and F1 by type."""

    rates: dict[str, float]
    type_f1: dict[str, float]

    @classmethod
    def of(cls, rows: Iterable[tuple[Found, Found]]) -> MentionScores:
        """Return the scores of found and annotated mentions of texts.

        Examples
        --------
        >>> found, annotated = {(((0, 3),), "gene")}, {(((0, 3),), "gene"), (((5, 6),), "drug")}
        >>> scores = MentionScores.of([(found, annotated)])
        >>> scores.rates["precision"], scores.rates["recall"], scores.type_f1
        (1.0, 0.5, {'drug': 0.0, 'gene': 1.0})
        """
        right: Counter[str] = Counter()
        both: Counter[str] = Counter()
        n_found = n_annotated = 0
        for found, annotated in rows:
            right.update(kind for _, kind in found & annotated)
            both.update(kind for _, kind in (*found, *annotated))
            n_found += len(found)
            n_annotated += len(annotated)
        n_right = right.total()
        rates = {
            "precision": n_right / n_found if n_found else 0.0,
            "recall": n_right / n_annotated if n_annotated else 0.0,
            "f1": 2 * n_right / (n_found + n_annotated) if n_found + n_annotated else 0.0,
        }
        return cls(rates, {kind: 2 * right[kind] / both[kind] for kind in sorted(both)})


class TaggerCorpus:
    """Annotated texts, cut into labeled pieces.

    Parameters
    ----------
    texts : list of AnnotatedText
    groups : sequence of str, optional
        The document of each text; by default each is its own.
    dictionary : Dictionary, optional
        Its terms are features.

    Attributes
    ----------
    types : list of str
        Types of the annotation.
    dropped : Counter
        Mentions that labels cannot represent, by reason.
    n_mentions : int
        All annotated mentions.
    """

    def __init__(
        self,
        texts: list[AnnotatedText],
        groups: Sequence[str] | None = None,
        dictionary: Dictionary | None = None,
    ) -> None:
        self.texts = texts
        self.groups = list(groups) if groups is not None else list(map(str, range(len(texts))))
        if len(self.groups) != len(texts):
            raise KernelInputError(f"{len(self.groups)} groups for {len(texts)} documents")
        self.types = sorted({entity.type for text in texts for entity in text.entities})
        if len(self.types) > MOST_TYPES:
            raise KernelInputError(
                f"the documents have entities of {len(self.types):,} types, more than the "
                f"{MOST_TYPES} that a tagger can learn; choose some with types=[...]"
            )
        self.dropped: Counter[str] = Counter()
        self.n_mentions = sum(len(text.entities) for text in texts)
        self.cuts = [cut_text(text.text, text.spans) for text in texts]
        self._numbers = {kind: number for number, kind in enumerate(self.types)}
        self._segments = [
            self._place(cut, text.entities) for text, cut in zip(texts, self.cuts, strict=True)
        ]
        if not any(self._segments):
            reasons = ", ".join(f"{n:,} × {reason}" for reason, n in self.dropped.items())
            raise KernelInputError(
                f"the {len(texts):,} documents have no entities to learn from"
                f"{f' ({reasons})' if reasons else ''}; annotate entities, or leave out "
                "entities='learn'"
            )
        self.terms = TermCounts(
            [text.text for text in texts],
            [
                [
                    Mention(cut.starts[first], cut.ends[end - 1], self.types[kind])
                    for first, end, kind in segments
                ]
                for cut, segments in zip(self.cuts, self._segments, strict=True)
            ],
            self.groups,
        )
        self._listed = [
            [] if dictionary is None else list(dictionary_places(dictionary, text.text))
            for text in texts
        ]

    def _place(self, cut: Pieces, entities: Iterable[Entity]) -> list[Segment]:
        """Return the segments of mentions, the longest first; count those that have none."""
        starts = {start: place for place, start in enumerate(cut.starts)}
        ends = {end: place + 1 for place, end in enumerate(cut.ends)}
        taken: set[int] = set()
        made = []
        for entity in sorted(entities, key=lambda one: (one.start - one.end, one.start)):
            first, end = starts.get(entity.start), ends.get(entity.end)
            if len(entity.spans) != 1:
                kind = (
                    "discontinuous mention" if entity.spans else "mention that is not in the text"
                )
                self.dropped[kind] += 1
            elif first is None or end is None:
                self.dropped["mention that begins or ends inside a word"] += 1
            elif bisect_right(cut.sentences, first) != bisect_right(cut.sentences, end - 1):
                self.dropped["mention that spans sentences"] += 1
            elif not taken.isdisjoint(range(first, end)):
                self.dropped["mention inside another"] += 1
            else:
                taken.update(range(first, end))
                made.append(Segment(first, end, self._numbers[entity.type]))
        return sorted(made)

    def folds(self, n_splits: int) -> NDArray[np.int64]:
        """Return the fold of each text; texts of one document are in one fold."""
        names = sorted(set(self.groups))
        order = child_generator(_ORDER_SEED).permutation(len(names)).tolist()
        folds = {names[place]: number % n_splits for number, place in enumerate(order)}
        return np.array([folds[group] for group in self.groups], dtype=np.int64)

    def places(self, row: int, counts: NDArray[np.int64], *, own: bool = False) -> list[list[str]]:
        """Return the features of the places of a text, given counts of terms."""
        listed = [*self.terms.listed(row, counts, own=own), *self._listed[row]]
        return listed_places(self.texts[row].text, self.cuts[row], listed)

    def sentences(
        self, rows: Iterable[int], counts: NDArray[np.int64]
    ) -> Iterator[tuple[list[list[str]], NDArray[np.int32]]]:
        """Yield the features and labels of the sentences of training texts."""
        for row in rows:
            cut = self.cuts[row]
            labels = encode(self._segments[row], len(cut))
            made = sentence_rows(cut, self.places(row, counts, own=True))
            for begin, features in zip(cut.sentences, made, strict=False):
                yield features, labels[begin : begin + len(features)]

    def documents(self) -> list[list[int]]:
        """Return the texts of each document."""
        rows: dict[str, list[int]] = {}
        for row, group in enumerate(self.groups):
            rows.setdefault(group, []).append(row)
        return list(rows.values())

    def score(self, found: Mapping[int, Iterable[Mention]]) -> MentionScores:
        """Return the scores of mentions, by the number of their text."""
        return MentionScores.of(
            (
                {(((one.start, one.end),), one.type) for one in mentions},
                {(entity.spans, entity.type) for entity in self.texts[row].entities},
            )
            for row, mentions in found.items()
        )


def dictionary_places(dictionary: Dictionary, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the terms of a dictionary in a text, each with a feature made of its type."""
    for start, end, term in dictionary.matches(text):
        yield start, end, f"d{term.type}"


def listed_places(
    text: str, cut: Pieces, listed: Iterable[tuple[int, int, str]]
) -> list[list[str]]:
    """Return the features of the places of a text, those of listed terms included."""
    words = [text[start:end].lower() for start, end in zip(cut.starts, cut.ends, strict=True)]
    made: list[list[str]] = []
    for begin, end in zip(cut.sentences, cut.sentences[1:], strict=False):
        made += place_features(words[begin:end])
    for place, feature in placed_terms(cut, listed):
        made[place].append(feature)
    return made


def placed_terms(cut: Pieces, listed: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, str]]:
    """Yield places with a feature of a listed term."""
    starts = {start: place for place, start in enumerate(cut.starts)}
    ends = {end: place for place, end in enumerate(cut.ends)}
    for start, end, name in listed:
        first, last = starts.get(start), ends.get(end)
        if first is None or last is None:
            continue
        if first == last:
            yield first, f"XU{name}"
            continue
        yield first, f"XB{name}"
        yield last, f"XL{name}"
        for place in range(first + 1, last):
            yield place, f"XI{name}"
