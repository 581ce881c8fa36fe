"""Evaluated sentences that are in the training corpus, equal or nearly equal."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.relations.candidates import Candidates

LEAST = 0.7  # share of common word trigrams, from which sentences are nearly equal
_SHOWN = 20  # pairs in JSON
_WORD = re.compile(r"\w+|[^\w\s]")

Trigram: TypeAlias = tuple[str, str, str]


class NearSentence(NamedTuple):
    """An evaluated sentence, and the training sentence that is nearly equal.

    Attributes
    ----------
    text, training_text : str
    similarity : float
        Common word trigrams, divided by all distinct ones of both (Jaccard's coefficient).
    """

    text: str
    training_text: str
    similarity: float


@dataclass(frozen=True)
class SharedSentences:
    """Number of the evaluated sentences that are in the training corpus.

    Attributes
    ----------
    n : int
        Number of evaluated sentences, which have candidates.
    n_equal : int
        Number of those in the training corpus or in a document of it, ignoring case and whitespace.
    near : tuple of NearSentence
        Other sentences with at least 70 % of their word trigrams in common with a training
        sentence, each with the most similar one.
    """

    n: int = 0
    n_equal: int = 0
    near: tuple[NearSentence, ...] = ()

    @classmethod
    def of(
        cls, candidates: Candidates, seen: NDArray[np.bool_], training: Iterable[str]
    ) -> SharedSentences:
        """Return the shared sentences of candidates.

        Parameters
        ----------
        candidates : Candidates
        seen : ndarray of bool, shape (len(candidates),)
            Whether the sentence of a candidate is equal to one of the training corpus.
        training : iterable of str
            Training sentences.
        """
        equal = dict(zip(candidates.sentence_of, seen.tolist(), strict=True))
        text_of = candidates.sentences.sentences.text
        rest = [text_of(row) for row, is_equal in equal.items() if not is_equal]
        near = near_sentences(rest, list(training))
        return cls(len(equal), len(equal) - len(rest), tuple(near))

    def __add__(self, other: SharedSentences) -> SharedSentences:
        return SharedSentences(
            self.n + other.n, self.n_equal + other.n_equal, (*self.near, *other.near)
        )

    def rest(self) -> SharedSentences:
        """Return the same without the sentences that are equal to training sentences."""
        return SharedSentences(self.n - self.n_equal, 0, self.near)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, with the first 20 pairs of nearly equal sentences."""
        return {
            "evaluated": self.n,
            "in_training": self.n_equal,
            "nearly_in_training": len(self.near),
            "pairs": [pair._asdict() for pair in self.near[:_SHOWN]],
        }


def near_sentences(
    texts: Sequence[str], others: Sequence[str], least: float = LEAST
) -> list[NearSentence]:
    """Return the texts that share many word trigrams with another text, most similar first.

    All pairs are found, but few are compared: sorted by frequency, two sets of trigrams with a
    similarity of at least ``least`` have one of their first few, which are rare, in common [1]_.

    Parameters
    ----------
    texts, others : sequences of str
    least : float
        The smallest similarity, above 0; see `NearSentence`.

    References
    ----------
    .. [1] S. Chaudhuri, V. Ganti, R. Kaushik, "A primitive operator for similarity joins in data
       cleaning", ICDE 2006.

    Examples
    --------
    >>> known = ["Raf binds Ras in the cells of mice.", "Mek is here."]
    >>> for pair in near_sentences(["Raf binds Ras in the cells of rats.", "Here."], known, 0.5):
    ...     print(pair.training_text, round(pair.similarity, 2))
    Raf binds Ras in the cells of mice. 0.57
    """
    known = [_trigrams(text) for text in others]
    frequency: Counter[Trigram] = Counter(part for parts in known for part in parts)
    index: dict[Trigram, list[int]] = {}
    for row, parts in enumerate(known):
        for part in _rarest(parts, frequency, least):
            index.setdefault(part, []).append(row)
    found = []
    for text in texts:
        parts = _trigrams(text)
        rows = {row for part in _rarest(parts, frequency, least) for row in index.get(part, ())}
        similarity, row = max(((_jaccard(parts, known[row]), -row) for row in rows), default=(0, 0))
        if similarity >= least:
            found.append(NearSentence(text, others[-row], similarity))
    return sorted(found, key=lambda pair: (-pair.similarity, pair.text))


def _trigrams(text: str) -> set[Trigram]:
    """Return the trigrams of words and punctuation marks; two ends are added on each side."""
    words = ["", "", *_WORD.findall(text.casefold()), "", ""]
    return set(zip(words, words[1:], words[2:], strict=False))


def _rarest(parts: Collection[Trigram], frequency: Counter[Trigram], least: float) -> list[Trigram]:
    """Return the rarest parts, one of which every set that is similar enough has among its own."""
    n = len(parts) - math.ceil(least * len(parts) - 1e-9) + 1
    return sorted(parts, key=lambda part: (frequency[part], part))[:n]


def _jaccard(one: set[Trigram], other: set[Trigram]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common)
