"""Signatures: kinds of pairs of entities that can be related, learned from an annotated corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from kernelwood.io import NOT_CANDIDATES
from kernelwood.relations.candidates import NONE, Candidates
from kernelwood.text import Entity

EQUAL, NESTED = "equal names", "nested entities"

# A kind of pair is left out if none of its pairs is related although so many would be if the kind
# did not matter, in so many sentences.
_EXPECTED, _SENTENCES = 5.0, 10


class Signatures(NamedTuple):
    """Kinds of pairs that are never related.

    Attributes
    ----------
    types : list of lists of two str
        Entity types, each pair in alphabetical order.
    kinds : list of str
        ``"equal names"``, ``"nested entities"``, both, or neither.
    """

    types: list[list[str]]
    kinds: list[str]

    @classmethod
    def learn(cls, candidates: Candidates, *, several: bool) -> Signatures:
        """Return the kinds of pairs that no annotated relation has.

        Of a kind with :math:`n` pairs, :math:`n p` would be relations if the kind did not matter,
        :math:`p` being the fraction of all candidates that are relations. It is left out if that
        is at least 5, the pairs are from at least 10 sentences, and none of them is a relation.

        Entity types count if there are ``several`` relation types, or if all relations join
        different entity types. Otherwise they seldom show what can be related, but often how a
        corpus was annotated: some types are given only to entities without relations.
        """
        pairs: Counter[Any] = Counter()
        related: set[Any] = set()
        sentences: dict[Any, set[int]] = {}
        for row, label in enumerate(candidates.labels):
            for kind in _kinds(candidates, row):
                pairs[kind] += 1
                sentences.setdefault(kind, set()).add(candidates.sentence_of[row])
                if label != NONE:
                    related.add(kind)
        by_types = several or not any(one == other for one, other in related - {EQUAL, NESTED})
        rate = sum(label != NONE for label in candidates.labels) / max(1, len(candidates))
        unrelated = [
            kind
            for kind, count in pairs.items()
            if kind not in related
            and (by_types or isinstance(kind, str))
            and count * rate >= _EXPECTED
            and len(sentences[kind]) >= _SENTENCES
        ]
        return cls(
            sorted(list(kind) for kind in unrelated if isinstance(kind, tuple)),
            sorted(kind for kind in unrelated if isinstance(kind, str)),
        )

    def select(self, candidates: Candidates) -> Candidates:
        """Return the candidates that can be related.

        The others are counted in ``dropped``, and those of them that are annotated as relations
        are in ``missed``.
        """
        if not self.types and not self.kinds:
            return candidates
        unrelated = {*map(tuple, self.types), *self.kinds}
        rows: list[int] = []
        dropped: Counter[str] = Counter()
        missed: list[int] = []
        for row, label in enumerate(candidates.labels):
            kind = next((kind for kind in _kinds(candidates, row) if kind in unrelated), None)
            if kind is None:
                rows.append(row)
                continue
            name = kind if isinstance(kind, str) else "–".join(kind)
            dropped[f"{NOT_CANDIDATES}: {name}"] += 1
            if label not in (NONE, None):
                missed.append(row)
        made = candidates.take(rows)
        made.dropped = candidates.dropped + dropped
        made.missed = candidates.take(missed)
        return made


def _kinds(candidates: Candidates, row: int) -> Iterator[Any]:
    """Yield the kinds of a pair: its entity types, and whether names are equal or nested."""
    (_, first), (_, second) = candidates.participants[row]
    yield tuple(sorted((first.type, second.type)))
    if any(a < d and c < b for a, b in first.spans for c, d in second.spans):
        yield NESTED
    elif _name(candidates.text(row), first) == _name(candidates.text(row), second):
        yield EQUAL


def _name(text: str, entity: Entity) -> str:
    words = " ".join(text[start:end] for start, end in entity.spans) or entity.text
    return " ".join(words.casefold().split())
