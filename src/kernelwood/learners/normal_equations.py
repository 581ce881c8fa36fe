"""Sums over rows for least squares: added in a fixed order, by class and fold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood.compute import one_blas_thread
from kernelwood.seeds import child_generator

Floats = NDArray[np.float64]
Integers = NDArray[Any]

# Rows added at once, however they arrive: sums in another order would have other bits.
BLOCK = 1024


class _Sample(NamedTuple):
    """Random rows with their random numbers, infinite for places without a row."""

    numbers: Floats
    rows: NDArray[Any]
    classes: NDArray[np.int64]
    positions: NDArray[np.int64]


class NormalEquations:
    r"""The sums :math:`C^\top W C` and :math:`C^\top W Y` over rows :math:`c` of a stream.

    Targets and weights depend on the class of a row. They are given at the end, when the classes
    and their frequencies are known.

    Parameters
    ----------
    n_columns : int
        Length of a row, :math:`m`.
    by_class : bool
        Whether weights differ by class: then each class takes :math:`8 m^2` bytes.
    dtype : dtype
        Number type of the rows.
    n_sampled : int
        Number of random rows to keep.
    seed : int
        Seed of these.

    Examples
    --------
    >>> sums = NormalEquations(2, by_class=True, dtype="float64")
    >>> sums.add(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([0, 1]))
    >>> products, right = sums.total(np.array([1.0, 2.0]), np.array([[1.0], [-1.0]]))
    >>> products.tolist(), right.tolist()
    ([[19.0, 2.0], [2.0, 4.0]], [[-5.0], [2.0]])
    """

    def __init__(
        self,
        n_columns: int,
        *,
        by_class: bool,
        dtype: DTypeLike,
        n_sampled: int = 0,
        seed: int = 0,
    ) -> None:
        self._by_class, self._n_sampled, self._seed = by_class, n_sampled, seed
        self._rows = np.empty((BLOCK, n_columns), dtype)
        self._keys = np.empty((BLOCK, 2), dtype=np.int64)  # fold and class of each row
        self._filled = self._added = 0
        # (fold, class) -> sum of products of a row with itself (class 0 for all, unless by class),
        # sum of rows, and number of rows.
        self._products: dict[tuple[int, int], Floats] = {}
        self._sums: dict[tuple[int, int], Floats] = {}
        self._counts: dict[tuple[int, int], int] = {}
        self._sample = _Sample(
            np.full(n_sampled, np.inf),
            np.empty((n_sampled, n_columns), dtype),
            np.zeros(n_sampled, dtype=np.int64),
            np.zeros(n_sampled, dtype=np.int64),
        )

    def add(self, rows: NDArray[Any], classes: Integers, folds: Integers | None = None) -> None:
        """Add rows, the class of each, and its fold, by default 0."""
        begin = 0
        while begin < len(rows):
            end = min(len(rows), begin + BLOCK - self._filled)
            place = slice(self._filled, self._filled + end - begin)
            self._rows[place] = rows[begin:end]
            self._keys[place, 0] = 0 if folds is None else folds[begin:end]
            self._keys[place, 1] = classes[begin:end]
            self._filled, begin = place.stop, end
            if self._filled == BLOCK:
                self._add_block()

    def _add_block(self) -> None:
        rows, keys = self._rows[: self._filled], self._keys[: self._filled]
        doubles = rows.astype(np.float64)
        for fold, number in np.unique(keys, axis=0).tolist():
            here = doubles[(keys == (fold, number)).all(axis=1)]
            key = fold, number
            self._sums[key] = self._sums.get(key, 0.0) + here.sum(axis=0)
            self._counts[key] = self._counts.get(key, 0) + len(here)
        cells = keys if self._by_class else keys * (1, 0)
        with one_blas_thread():
            for fold, number in np.unique(cells, axis=0).tolist():
                here = doubles[(cells == (fold, number)).all(axis=1)]
                known = self._products.setdefault((fold, number), np.zeros((len(rows.T),) * 2))
                known += here.T @ here
        if self._n_sampled:
            self._draw(rows, keys[:, 1])
        self._added += self._filled
        self._filled = 0

    def _draw(self, rows: NDArray[Any], classes: Integers) -> None:
        """Keep the rows with the smallest random numbers, in place of those with larger ones."""
        drawn = child_generator(self._seed, self._added // BLOCK).random(BLOCK)[: len(rows)]
        numbers = np.concatenate([self._sample.numbers, drawn])
        kept = np.zeros(len(numbers), dtype=np.bool_)
        kept[np.argsort(numbers, kind="stable")[: self._n_sampled]] = True
        free, new = (
            np.flatnonzero(~kept[: self._n_sampled]),
            np.flatnonzero(kept[self._n_sampled :]),
        )
        free = free[: len(new)]
        self._sample.numbers[free] = drawn[new]
        self._sample.rows[free] = rows[new]
        self._sample.classes[free] = classes[new]
        self._sample.positions[free] = self._added + new

    def sample(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
        """Return the random rows, in the order of the stream, their classes and positions."""
        self._finish()
        found = np.flatnonzero(np.isfinite(self._sample.numbers))
        order = found[np.argsort(self._sample.positions[found])]
        sample = self._sample
        return sample.rows[order], sample.classes[order], sample.positions[order]

    def renumber(self, numbers: Integers) -> None:
        """Give classes other numbers: ``numbers[c]`` instead of ``c``. No rows can follow."""
        self._finish()
        if self._by_class:
            self._products = {(f, int(numbers[c])): v for (f, c), v in self._products.items()}
        self._sums = {(f, int(numbers[c])): v for (f, c), v in self._sums.items()}
        self._counts = {(f, int(numbers[c])): v for (f, c), v in self._counts.items()}
        self._sample.classes[:] = numbers[self._sample.classes]

    def counts(self, n_classes: int) -> NDArray[np.int64]:
        """Return the number of rows of each class."""
        self._finish()
        counts = np.zeros(n_classes, dtype=np.int64)
        for (_, number), count in self._counts.items():
            counts[number] += count
        return counts

    def total(
        self, weights: Floats, targets: Floats, *, without: int | None = None
    ) -> tuple[Floats, Floats]:
        """Return the sums of weighted products, shape (m, m), and of rows times targets.

        Parameters
        ----------
        weights : ndarray, shape (n_classes,)
        targets : ndarray, shape (n_classes, k)
        without : int, optional
            A fold to leave out.
        """
        self._finish()
        m = self._rows.shape[1]
        products, right = np.zeros((m, m)), np.zeros((m, targets.shape[1]))
        for (fold, number), part in sorted(self._products.items(), key=lambda item: item[0]):
            if fold != without:
                products += (weights[number] if self._by_class else 1.0) * part
        for (fold, number), row in sorted(self._sums.items(), key=lambda item: item[0]):
            if fold != without:
                right += np.outer(row, weights[number] * targets[number])
        return products, right

    def _finish(self) -> None:
        if self._filled:
            self._add_block()
