"""Votes of neighbors, and what classifiers by neighbors share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import counting
from kernelwood.errors import KernelInputError
from kernelwood.learners.base import StructureClassifier

__all__ = ["WEIGHTS", "Neighbors", "NeighborsClassifier", "probabilities", "without_self"]

Positions = NDArray[np.int64]

WEIGHTS = ("similarity", "uniform")

_LOCK = threading.Lock()


class Neighbors(NamedTuple):
    """Neighbors that were found.

    Attributes
    ----------
    positions : ndarray of int64, shape (n, k)
        Where they are among the structures that were searched.
    similarities : ndarray, shape (n, k)
        In falling order; equal ones by rising position.
    compared : ndarray of int64, shape (n, n_classes)
        How many structures of each class a query was compared with. Rows of queries that are
        similar to one of them may be 0.
    """

    positions: Positions
    similarities: NDArray[Any]
    compared: NDArray[np.int64]


class NeighborsClassifier(StructureClassifier):
    """Base class of classifiers that let the most similar structures vote."""

    n_neighbors: int
    weights: str
    class_weights_: NDArray[np.float64]
    query_evaluations_ = 0

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each structure; of equal ones, the first.

        Parameters
        ----------
        X : list of structures or batch, length n

        Returns
        -------
        ndarray, shape (n,)
            Labels as they were given to ``fit``.
        """
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[chances.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class in the votes of the neighbors.

        A structure that is not similar to any it was compared with gets the shares of the classes
        among these.

        Parameters
        ----------
        X : list of structures or batch, length n

        Returns
        -------
        ndarray of float64, shape (n, n_classes)
            In the order of ``classes_``; rows add up to 1.
        """
        self._check_is_fitted()
        self._check_enough(self.n_neighbors, self._n_structures())
        with self._counting_queries(), self._threads():
            found = self._search(self._prepare(X), int(self.n_neighbors))
        return probabilities(
            found, self._class_numbers(), self.class_weights_, uniform=self.weights == "uniform"
        )

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the most similar structures among those the classifier was fitted on.

        Parameters
        ----------
        X : list of structures or batch, length n, optional
            Queries. By default the structures of the classifier themselves, in order of their ids;
            then none is its own neighbor.
        n_neighbors : int, optional
            How many to return, by default the parameter.

        Returns
        -------
        ids : ndarray of int64, shape (n, n_neighbors)
            Structures of ``fit`` are numbered from 0.
        similarities : ndarray, shape (n, n_neighbors)
            In falling order; equal ones by rising id.
        """
        self._check_is_fitted()
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        self._check_enough(k, self._n_structures() - (X is None))
        with self._counting_queries(), self._threads():
            found = self._search(None if X is None else self._prepare(X), int(k))
        return self._ids_at(found.positions), found.similarities

    # What a classifier must define.

    def _search(self, X: Any, k: int) -> Neighbors:
        """Return the neighbors of a batch, or for None of the structures themselves."""
        raise NotImplementedError

    def _n_structures(self) -> int:
        raise NotImplementedError

    def _class_numbers(self) -> NDArray[np.int32]:
        """Return the number of the class at each position."""
        raise NotImplementedError

    def _ids_at(self, positions: Positions) -> NDArray[np.int64]:
        return positions

    # Helpers.

    @contextmanager
    def _counting_queries(self) -> Iterator[None]:
        with counting() as counters:
            yield
        with _LOCK:  # several threads may ask at the same time
            self.query_evaluations_ += counters.kernel_evaluations

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_neighbors", 1)
        self._check_choice("weights", WEIGHTS)

    def _check_enough(self, k: Any, available: int) -> None:
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise KernelInputError(
                f"{type(self).__name__}: n_neighbors must be an int of at least 1, got {k!r}"
            )
        if k > available:
            raise KernelInputError(
                f"{type(self).__name__}: n_neighbors={k}, but there are only {available} "
                "structures to choose from; ask for fewer neighbors, or give more structures"
            )

    def _check_numbers(self, numbers: Any, n: int) -> None:
        """Raise ValueError unless loaded numbers of classes are such, and weights fit them."""
        n_classes, weights = len(self.classes_), self.class_weights_
        if (
            not isinstance(numbers, np.ndarray)
            or numbers.dtype != np.int32
            or numbers.shape != (n,)
        ):
            raise ValueError(f"labels_ must be the numbers of the classes of {n} structures")
        if n and (numbers.min() < 0 or numbers.max() >= n_classes):
            raise ValueError("labels_ name a class that is not there")
        if not isinstance(weights, np.ndarray) or weights.dtype != np.float64:
            raise ValueError("class_weights_ must be numbers")
        if weights.shape != (n_classes,) or not ((weights > 0) & np.isfinite(weights)).all():
            raise ValueError("class_weights_ must be a number above 0 for each class")
        if type(self.kernel_evaluations_) is not int:
            raise ValueError("kernel_evaluations_ must be a whole number")

    kernel_evaluations_: int


def probabilities(
    found: Neighbors,
    class_numbers: NDArray[np.int32],
    class_weights: NDArray[np.float64],
    *,
    uniform: bool = False,
) -> NDArray[np.float64]:
    """Return the shares of classes in votes of neighbors, a row for each query.

    Neighbors with a similarity of 0 or less do not vote. If none does, the structures that were
    compared stand in for them.

    Examples
    --------
    >>> similarities, compared = np.array([[0.6, 0.2], [0.0, 0.0]]), np.array([[0, 0], [1, 3]])
    >>> found = Neighbors(np.array([[2, 0], [0, 1]]), similarities, compared)
    >>> probabilities(found, np.array([0, 0, 1], dtype=np.int32), np.ones(2))
    array([[0.25, 0.75],
           [0.25, 0.75]])
    """
    strengths = np.maximum(found.similarities.astype(np.float64), 0)
    none = strengths[:, 0] == 0
    if uniform:
        strengths = (strengths > 0).astype(np.float64)
    # In terms of the best, since similarities that are not normalized can be huge, or tiny.
    strengths /= np.where(none, 1, strengths[:, 0])[:, None]
    voters = class_numbers[found.positions]
    votes = np.zeros(found.compared.shape)
    rows = np.arange(len(votes))
    for column in range(strengths.shape[1]):
        votes[rows, voters[:, column]] += strengths[:, column]
    votes[none] = found.compared[none]
    votes *= np.maximum(class_weights / class_weights.max(), np.finfo(np.float64).tiny)
    # In order, so that a row is the same in any company.
    votes /= np.add.accumulate(votes, axis=1)[:, -1:]
    return votes


def without_self(
    positions: Positions, similarities: NDArray[Any], own: Positions
) -> tuple[Positions, NDArray[Any]]:
    """Leave each structure out of its own neighbors, or the last if it is not among them.

    Examples
    --------
    >>> positions, _ = without_self(
    ...     np.array([[0, 1, 2], [0, 2, 3]]), np.zeros((2, 3)), np.array([1, 1])
    ... )
    >>> positions
    array([[0, 2],
           [0, 2]])
    """
    out = positions == own[:, None]
    out[~out.any(axis=1), -1] = True
    shape = (len(positions), positions.shape[1] - 1)
    return positions[~out].reshape(shape), similarities[~out].reshape(shape)
