"""Which vector belongs to a word, and the cosine of two of them by the book."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.similarity.labels import ROOT, Label, Word

__all__ = ["WordVectors", "check_vectors", "cosine", "find_rows", "label_rows", "vector_of"]


class WordVectors(Protocol):
    """What similarities use of :class:`kernelwood.Vectors`."""

    @property
    def matrix(self) -> NDArray[np.float32]:
        """One row of unit length per word."""

    def rows(self, labels: list[str]) -> NDArray[np.int64]:
        """Return the row of each text, -1 where there is none."""


def check_vectors(owner: object, vectors: Any) -> None:
    """Raise KernelInputError unless ``vectors`` can be asked for rows."""
    if getattr(vectors, "matrix", None) is None or not callable(getattr(vectors, "rows", None)):
        raise KernelInputError(
            f"{type(owner).__name__}: vectors must be a Vectors object, got {vectors!r}; read one "
            "with kw.Vectors.load(path) or make one with kw.Vectors(words, matrix)"
        )


def find_rows(vectors: WordVectors, words: Sequence[Word]) -> NDArray[np.int64]:
    """Return the row of each word: that of ``word::pos``, else of ``word``, else -1."""
    rows = np.array(vectors.rows([_key(word) for word in words]), dtype=np.int64)
    again = [i for i in np.flatnonzero(rows < 0).tolist() if words[i].pos]
    rows[again] = vectors.rows([words[i].word for i in again])
    rows[[i for i, word in enumerate(words) if word == ROOT]] = -1
    return rows


def label_rows(vectors: WordVectors, labels: Sequence[Label]) -> NDArray[np.int64]:
    """Return the row of each label, -1 for labels that are not words or have no vector."""
    at = [i for i, label in enumerate(labels) if label.is_word]
    rows = np.full(len(labels), -1, dtype=np.int64)
    rows[at] = find_rows(vectors, [Word(labels[i].word, labels[i].pos) for i in at])
    return rows


def vector_of(vectors: WordVectors, word: Word) -> list[float] | None:
    """Return the vector of one word as plain numbers."""
    if word == ROOT:
        return None
    for key in (_key(word), word.word):
        row = int(vectors.rows([key])[0])
        if row >= 0:
            numbers: list[float] = vectors.matrix[row].tolist()
            return numbers
    return None


def cosine(u: list[float], v: list[float]) -> float:
    """Return the cosine of two vectors that are not zero, by its definition."""
    if u == v:
        return 1.0
    product = math.fsum(x * y for x, y in zip(u, v, strict=True))
    lengths = (math.sqrt(math.fsum(x * x for x in w)) for w in (u, v))
    return max(-1.0, min(1.0, product / math.prod(lengths)))


def _key(word: Word) -> str:
    return f"{word.word}::{word.pos}" if word.pos else word.word
