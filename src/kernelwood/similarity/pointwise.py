"""Similarities of single words: equality, and functions of the cosine of two vectors."""

from __future__ import annotations

import math

import numpy as np

from kernelwood.similarity.base import BuiltIn
from kernelwood.similarity.labels import Word, parse_label
from kernelwood.similarity.resolution import Function, Resolution, group_ids
from kernelwood.similarity.words import WordVectors, check_vectors, cosine, label_rows, vector_of

__all__ = ["Exact", "Exponential", "Gaussian", "Sigmoid"]

_WITH_VECTOR = ("with a vector",)  # the one group of all labels that have one


class Exact(BuiltIn):
    r"""Labels match if they are equal.

    .. math:: k(a, b) = [a = b]

    What every kernel does if no similarity is given. Always positive semidefinite.

    Examples
    --------
    >>> from kernelwood.similarity import Exact
    >>> Exact().table(["cat", "dog"], ["cat", "cow"])
    array([[1., 0.],
           [0., 0.]])
    """

    @property
    def positive_semidefinite(self) -> bool:
        """True: a table of distinct labels is the identity matrix."""
        return True

    def value(self, a: str, b: str) -> float:
        """Return 1 if the labels are equal, else 0."""
        return float(a == b)

    def resolve(self, labels: list[str]) -> Resolution:
        """Return a group for each label."""
        return Resolution(groups=group_ids(labels), rows=np.full(len(labels), -1, dtype=np.int64))


class _OfCosine(BuiltIn):
    """A function of the cosine of any two labels that have vectors; other labels are exact."""

    vectors: WordVectors
    _function: Function

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        check_vectors(self, self.vectors)

    def value(self, a: str, b: str) -> float:
        """Return the similarity of two labels by the formula, in plain Python."""
        self.check()
        u, v = self._vector(a), self._vector(b)
        if u is None or v is None:
            return float(a == b)
        return self._formula(cosine(u, v))

    def resolve(self, labels: list[str]) -> Resolution:
        """Return the vectors' own matrix, with one group for all labels that have a vector."""
        self.check()
        rows = label_rows(self.vectors, [parse_label(label) for label in labels])
        keys = zip(labels, rows.tolist(), strict=True)
        return Resolution(
            groups=group_ids(label if row < 0 else _WITH_VECTOR for label, row in keys),
            rows=rows,
            vectors=np.ascontiguousarray(self.vectors.matrix),
            function=self._function,
            floor=self._floor(),
        )

    def _vector(self, text: str) -> list[float] | None:
        label = parse_label(text)
        return vector_of(self.vectors, Word(label.word, label.pos)) if label.is_word else None

    def _formula(self, c: float) -> float:
        raise NotImplementedError

    def _floor(self) -> float | None:
        return None


class Gaussian(_OfCosine):
    r"""Falls with the distance of two vectors; hardly anything matches by accident.

    .. math:: k(a, b) = \exp(-\lVert w_a - w_b \rVert^2)

    with unit vectors :math:`w`, so from :math:`e^{-4}` for opposite vectors to 1. Any two words
    with a vector are compared, whatever their part of speech; every other label matches only
    itself. Always positive semidefinite.

    Parameters
    ----------
    vectors : Vectors
        The vectors of words.

    Notes
    -----
    No pair of words is quite 0 apart. On long structures many small matches add up; prefer
    :class:`Exponential` with a ``floor`` or :class:`Lexical` there.

    Examples
    --------
    >>> from kernelwood.similarity import Gaussian
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["cat", "dog", "run"], [[1, 0], [0.8, 0.6], [0, 1]])
    >>> Gaussian(vectors).table(["cat"], ["cat", "dog", "run", "unknown"]).round(3)
    array([[1.   , 0.67 , 0.135, 0.   ]])
    """

    _function = "gaussian"

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors

    @property
    def positive_semidefinite(self) -> bool:
        """True: the exponential of a matrix of dot products, entry by entry, is one of them."""
        return True

    def _formula(self, c: float) -> float:
        return math.exp(-(2 - 2 * c))


class Sigmoid(_OfCosine):
    r"""Rises gently with the cosine of two vectors.

    .. math:: k(a, b) = (1 + \tanh(w_a \cdot w_b)) / 2

    with unit vectors :math:`w`, so from 0.12 for opposite vectors to 0.88 for equal ones: a word
    with a vector matches itself by 0.88, a label without one by 1. Any two words with a vector
    are compared, whatever their part of speech; every other label matches only itself. Not
    positive semidefinite in general.

    Parameters
    ----------
    vectors : Vectors
        The vectors of words.

    Notes
    -----
    Even unrelated words match by a half, so this suits short structures with few words best.

    Examples
    --------
    >>> from kernelwood.similarity import Sigmoid
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["cat", "dog", "run"], [[1, 0], [0.8, 0.6], [0, 1]])
    >>> Sigmoid(vectors).table(["cat"], ["cat", "dog", "run", "unknown"]).round(3)
    array([[0.881, 0.832, 0.5  , 0.   ]])
    """

    _function = "sigmoid"

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors

    @property
    def positive_semidefinite(self) -> bool:
        """False: the series of tanh has negative terms."""
        return False

    def _formula(self, c: float) -> float:
        return (1 + math.tanh(c)) / 2


class Exponential(_OfCosine):
    r"""Falls exponentially with the cosine; with a floor, distant words do not match at all.

    .. math::

        k(a, b) = \exp(w_a \cdot w_b - 1) \cdot
                  \max\left(0, \frac{w_a \cdot w_b - \gamma}{1 - \gamma}\right)

    with unit vectors :math:`w`; without a floor :math:`\gamma` the second factor is left out. Any
    two words with a vector are compared, whatever their part of speech; every other label
    matches only itself.

    Parameters
    ----------
    vectors : Vectors
        The vectors of words.
    floor : float in (-1, 1), optional
        :math:`\gamma`, the cosine from which on words match. None: all do.

    Notes
    -----
    Positive semidefinite without a floor, not in general with one. A floor makes most pairs 0,
    which is fast and keeps long structures from matching by accident.

    Examples
    --------
    >>> from kernelwood.similarity import Exponential
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["cat", "dog", "run"], [[1, 0], [0.8, 0.6], [0, 1]])
    >>> Exponential(vectors).table(["cat"], ["cat", "dog", "run"]).round(3)
    array([[1.   , 0.819, 0.368]])
    >>> Exponential(vectors, floor=0.5).table(["cat"], ["cat", "dog", "run"]).round(3)
    array([[1.   , 0.491, 0.   ]])
    """

    _function = "exponential"

    def __init__(self, vectors: WordVectors, floor: float | None = None) -> None:
        self.vectors = vectors
        self.floor = floor

    @property
    def positive_semidefinite(self) -> bool:
        """True without a floor, as for :class:`Gaussian`; False with one, which cuts cosines."""
        return self.floor is None

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        super().check()
        if self.floor is not None:
            self._check_number("floor", -1, 1, "(-1, 1)")

    def _formula(self, c: float) -> float:
        value = math.exp(c - 1)
        return value if self.floor is None else value * max(0, (c - self.floor) / (1 - self.floor))

    def _floor(self) -> float | None:
        return None if self.floor is None else float(self.floor)
