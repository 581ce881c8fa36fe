"""Words of one part of speech by their cosine, everything else exactly."""

from __future__ import annotations

import numpy as np

from kernelwood.similarity.base import BuiltIn
from kernelwood.similarity.labels import Word, parse_label
from kernelwood.similarity.resolution import Resolution, group_ids
from kernelwood.similarity.words import WordVectors, check_vectors, cosine, label_rows, vector_of

__all__ = ["Lexical"]


class Lexical(BuiltIn):
    r"""Compares words of one part of speech by the cosine of their vectors, all else exactly.

    .. math:: k(a, b) = \tau \cos(w_a, w_b)

    if both labels are words with a vector, of the same part of speech; 0 if that is below the
    floor. Any other two labels match if they are equal. This makes
    :class:`~kernelwood.PartialTreeKernel` the smoothed partial tree kernel (SPTK).

    Parameters
    ----------
    vectors : Vectors
        The vectors of words. ``LEX##play::v`` is looked up as ``play::v``, then as ``play``.
    weight : float in [1e-6, 1]
        :math:`\tau`, how much words count against tags and other labels that match exactly.
        A word with a vector matches itself by this much, too.
    floor : float in [0, weight)
        Similarities below this count as 0; so do negative ones.

    Notes
    -----
    A plain word without ``::`` has the empty part of speech: plain words are compared with each
    other, and never with ``play::v``. So sequences of words need no annotation.

    Not positive semidefinite in general, because cosines are cut at the floor;
    ``smallest_eigenvalue`` shows how far from it some labels are.

    References
    ----------
    .. [1] D. Croce, A. Moschitti, R. Basili, "Structured lexical similarity via convolution
       kernels on dependency trees", EMNLP 2011.

    Examples
    --------
    >>> from kernelwood.similarity import Lexical
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["cat::n", "dog::n", "run"], [[1, 0], [0.8, 0.6], [0.6, 0.8]])
    >>> labels = ["LEX##cat::n", "LEX##dog::n", "LEX##run::n", "LEX##run::v", "POS##NN"]
    >>> Lexical(vectors).table(labels[:1], labels).round(3)
    array([[1. , 0.8, 0.6, 0. , 0. ]])
    """

    def __init__(self, vectors: WordVectors, *, weight: float = 1.0, floor: float = 0.01) -> None:
        self.vectors = vectors
        self.weight = weight
        self.floor = floor

    @property
    def positive_semidefinite(self) -> bool:
        """False: cosines are cut at the floor."""
        return False

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        check_vectors(self, self.vectors)
        self._check_number("weight", 1e-6, 1, "[1e-6, 1]")
        self._check_number("floor", 0, self.weight, "[0, weight)")

    def value(self, a: str, b: str) -> float:
        """Return the similarity of two labels by the formula, in plain Python."""
        self.check()
        left, right = parse_label(a), parse_label(b)
        if left.is_word and right.is_word:
            u = vector_of(self.vectors, Word(left.word, left.pos))
            v = vector_of(self.vectors, Word(right.word, right.pos))
            if u is not None and v is not None:
                value = self.weight * cosine(u, v) if left.pos == right.pos else 0.0
                return value if value >= self.floor else 0.0
        return float(a == b)

    def resolve(self, labels: list[str]) -> Resolution:
        """Return the vectors' own matrix, with a group for each part of speech."""
        self.check()
        parsed = [parse_label(label) for label in labels]
        rows = label_rows(self.vectors, parsed)
        keys = zip(labels, parsed, rows.tolist(), strict=True)
        return Resolution(
            groups=group_ids(text if row < 0 else (label.pos,) for text, label, row in keys),
            rows=rows,
            vectors=np.ascontiguousarray(self.vectors.matrix),
            function="cosine",
            weight=float(self.weight),
            floor=float(self.floor),
        )
