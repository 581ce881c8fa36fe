"""Similarities of all pairs of a training and a test corpus, computed once for all models."""

from __future__ import annotations

from typing import Any

import numpy as np
from interactions.corpora import Corpus
from interactions.representation import REPRESENTATIONS, Matrix, Part
from numpy.typing import NDArray

import kernelwood as kw

__all__ = ["Lookup", "Matrices", "numbered"]


class Values:
    """A matrix that copies of a kernel share."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix

    def __deepcopy__(self, memo: Any) -> Values:
        return self


class Lookup(kw.Kernel):
    """A kernel that reads its values from a matrix; structures are the numbers of `numbered`.

    Parameters
    ----------
    values : Values
        Rows for all structures, columns for those that a model may be trained on.
    """

    accepts = kw.arrays.SequenceBatch

    def __init__(self, values: Values) -> None:
        self.values = values

    def _fill_gram(self, X: Any, out: NDArray[Any], runner: Any) -> None:
        rows = _numbers(X)
        out[:] = self.values.matrix[np.ix_(rows, rows)]
        runner.advance(len(X) * (len(X) + 1) // 2)

    def _fill_cross(self, X: Any, Y: Any, out: NDArray[Any], runner: Any) -> None:
        rows, columns = _numbers(X), _numbers(Y)
        matrix = self.values.matrix
        if len(columns) and columns.max() >= matrix.shape[1]:  # test pairs are rows only
            out[:] = matrix[np.ix_(columns, rows)].T
        else:
            out[:] = matrix[np.ix_(rows, columns)]
        runner.advance(len(X) * len(Y))


def numbered(n: int) -> Any:
    """Return a batch of structures that stand for the rows of a matrix."""
    return kw.batch([kw.Sequence([str(row)]) for row in range(n)])


def _numbers(X: Any) -> NDArray[np.int64]:
    return np.array([int(one.nodes[0]) for one in X], dtype=np.int64)


class Matrices:
    """Kernel matrices of a training and a test corpus; the last few are kept.

    Rows are the training pairs, then the test pairs; columns are the training pairs. Equal
    structures are compared once.

    Parameters
    ----------
    training, test : Corpus
    vectors : Vectors
    most : int
        Number of combined matrices that are kept.
    """

    def __init__(self, training: Corpus, test: Corpus, vectors: kw.Vectors, most: int = 3) -> None:
        self.corpora = (training, test)
        self.vectors, self.most = vectors, most
        self._kept: dict[tuple[str, bool], Lookup] = {}
        self._views: dict[Any, list[Any]] = {}

    def kernel(self, name: str, *, tested: bool) -> Lookup:
        """Return the kernel of a representation, on test pairs too if these are tested."""
        key = (name, True) if (name, True) in self._kept else (name, tested)
        if key not in self._kept:
            self._kept.pop((name, False), None)
            while len(self._kept) >= self.most:
                del self._kept[next(iter(self._kept))]
            made = REPRESENTATIONS[name]
            parts = [self._matrix(part, tested) for part in made.parts.values()]
            self._kept[key] = Lookup(Values(made.combine(*parts)))
        return self._kept[key]

    def _matrix(self, part: Part, tested: bool) -> Matrix:
        known, number_of = _distinct(self._structures(part, 0))
        kernel, columns = part.kernel(self.vectors), kw.batch(known)
        made = kernel.gram(columns)[np.ix_(number_of, number_of)]
        if not tested:
            return made
        others, rows = _distinct(self._structures(part, 1))
        cross = kernel.cross(kw.batch(others), columns)[np.ix_(rows, number_of)]
        return np.concatenate([made, cross])

    def _structures(self, part: Part, corpus: int) -> list[Any]:
        key = (part.view, corpus)
        if key not in self._views:
            self._views[key] = structures(part, self.corpora[corpus])
        return self._views[key]


def _distinct(found: list[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct structures, and the number of each structure among them."""
    numbers = {structure: row for row, structure in enumerate(dict.fromkeys(found))}
    return list(numbers), np.array([numbers[structure] for structure in found])


def structures(part: Part, corpus: Corpus) -> list[Any]:
    """Return the view of every pair.

    Raises
    ------
    ValueError
        If a pair has no such view.
    """
    named = isinstance(part.view, str)
    found = (
        corpus.candidates.viewed(part.view) if named else corpus.candidates.viewed(made=part.view)
    )
    if len(found.rows) != len(corpus):
        raise ValueError(f"{corpus.name}: {len(corpus) - len(found.rows)} pairs have no views")
    return list(found.table.view(part.view if named else "made"))
