"""Resampling without a loop over examples.

A measure depends on three counts of each class: correct predictions, true examples, predicted
examples. They are sums over *units*: groups that are drawn as a whole or, without groups, sets of
examples with equal labels and predictions. A resample is a weight of each unit; a product with a
sparse matrix gives the counts of all resamples at once. All numbers are integers, so that sums are
exact in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.class_labels import Encoded, Groups
from kernelwood.parameters import check_int

Counts: TypeAlias = NDArray[np.int64]

_CHUNK = 4_000_000  # numbers in one piece of a table of draws, 32 MB


@dataclass(frozen=True, slots=True)
class Units:
    """The units of resampling.

    Attributes
    ----------
    sizes : ndarray of int64, shape (n_units,)
        Number of interchangeable members of each unit; 1 for groups.
    tables : tuple of sparse matrices, shape (n_units, 3 * n_classes)
        For each vector of predictions, the counts of one member: correct, true and predicted
        examples of all classes.
    """

    sizes: Counts
    tables: tuple[Any, ...]

    @classmethod
    def of(cls, encoded: Encoded, groups: Groups | None = None) -> Units:
        """Return the units of true labels followed by one or more predictions.

        Examples
        --------
        >>> from kernelwood.evaluate.class_labels import encode
        >>> units = Units.of(encode({"y_true": list("aab"), "y_pred": list("aaa")}))
        >>> units.sizes.tolist(), units.totals()[0].tolist()
        ([2, 1], [2, 0, 2, 1, 3, 0])
        """
        if groups is not None:
            sizes = np.ones(groups.n_groups, dtype=np.int64)
            vectors, rows = encoded.codes, groups.codes
        else:
            stacked, sizes = np.unique(np.stack(encoded.codes), axis=1, return_counts=True)
            vectors, rows = tuple(stacked), np.arange(len(sizes))
        true, *predictions = vectors
        shape = (len(sizes), 3 * encoded.n_classes)
        return cls(
            sizes.astype(np.int64), tuple(_table(true, each, rows, shape) for each in predictions)
        )

    def totals(self) -> list[Counts]:
        """Return the counts of the data, one vector for each table."""
        return [weigh(table, self.sizes[np.newaxis])[0] for table in self.tables]


def _table(true: Counts, predicted: Counts, rows: Counts, shape: tuple[int, int]) -> Any:
    from scipy import sparse

    n_classes = shape[1] // 3
    right = true == predicted
    columns = np.concatenate([true[right], n_classes + true, 2 * n_classes + predicted])
    repeated = np.concatenate([rows[right], rows, rows])
    ones = np.ones(len(columns), dtype=np.int64)
    return sparse.csr_matrix((ones, (repeated, columns)), shape=shape)  # sums duplicates


def weigh(table: Any, weights: Counts) -> Counts:
    """Return the counts for each row of weights of the units."""
    counts: Counts = np.asarray((table.T @ weights.T).T)
    return counts


def draw_bootstrap(sizes: Counts, n_resamples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """Yield the weights of resamples with replacement, each as large as the data.

    Examples
    --------
    >>> [weights] = draw_bootstrap(np.array([3, 1]), 5, np.random.default_rng(0))
    >>> weights.sum(axis=1).tolist()
    [4, 4, 4, 4, 4]
    """
    n_units, n_members = len(sizes), int(sizes.sum())
    for n_rows in _chunks(n_resamples, n_units):
        if n_units == n_members:
            drawn = rng.integers(n_units, size=(n_rows, n_units))
            drawn += n_units * np.arange(n_rows)[:, np.newaxis]
            counted = np.bincount(drawn.ravel(), minlength=n_rows * n_units)
            yield counted.reshape(n_rows, n_units)
        else:
            yield rng.multinomial(n_members, sizes / n_members, size=n_rows)


def draw_swaps(sizes: Counts, n_resamples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """Yield the number of members of each unit whose two predictions are exchanged."""
    for n_rows in _chunks(n_resamples, len(sizes)):
        yield rng.binomial(sizes, 0.5, size=(n_rows, len(sizes)))


def _chunks(n_resamples: int, n_units: int) -> Iterator[int]:
    largest = max(1, _CHUNK // max(n_units, 1))
    for start in range(0, n_resamples, largest):
        yield min(largest, n_resamples - start)


def check_resampling(
    name: str, n_resamples: Any, confidence: Any, groups: Groups | None, *, least: int
) -> None:
    """Raise KernelInputError for a wrong number of resamples, confidence level or groups."""
    check_int(name, n_resamples, least)
    number = isinstance(confidence, (float, np.floating))
    if not number or not 0 < confidence < 1:
        raise KernelInputError(
            f"confidence must be a number between 0 and 1, such as 0.95, got {confidence!r}"
        )
    if groups is not None and groups.n_groups < 2 and n_resamples:
        raise KernelInputError(
            "all examples are in one group, so that groups cannot be resampled; "
            "give finer groups, or remove groups to resample examples"
        )
