"""Exact nearest neighbors by a kernel, and the base class of classifiers by neighbors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ArrayOf, Schema
from kernelwood.compute import counting
from kernelwood.errors import KernelInputError
from kernelwood.features import KERNEL, Rows, Structures
from kernelwood.learners.base import (
    CLASS_WEIGHTS,
    CLASSES,
    EVALUATIONS,
    Contributions,
    StructureClassifier,
)
from kernelwood.parameters import check_int
from kernelwood.threads import LOCK

Positions = NDArray[np.int64]

_WEIGHTS = ("similarity", "uniform")


class Neighbors(NamedTuple):
    """Neighbors of queries.

    Attributes
    ----------
    positions : ndarray of int64, shape (n, k)
        Their positions among the structures that were searched.
    similarities : ndarray, shape (n, k)
        In falling order; equal ones by rising position.
    compared : ndarray of int64, shape (n, n_classes)
        Number of structures of each class that a query was compared with. Rows of queries with a
        positive similarity may be 0.
    """

    positions: Positions
    similarities: NDArray[Any]
    compared: NDArray[np.int64]


class Stored(NamedTuple):
    """Training structures.

    Attributes
    ----------
    n : int
        Number of structures.
    labels : ndarray of int32
        The class number at each position.
    rows : Rows or None
        The rows of a collection; None if positions are ids.
    """

    n: int
    labels: NDArray[np.int32]
    rows: Rows | None = None

    def ids_at(self, positions: Positions) -> NDArray[np.int64]:
        """Return the ids at some positions."""
        return positions if self.rows is None else self.rows.column("ids")[positions]


class NeighborsClassifier(StructureClassifier):
    """Base class of classifiers by votes of the most similar structures."""

    n_neighbors: int
    weights: str
    class_weights_: NDArray[np.float64]
    query_evaluations_ = 0

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each structure; the first of equally probable ones.

        Parameters
        ----------
        X : list of structures or batch, length n

        Returns
        -------
        ndarray, shape (n,)
        """
        probable = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[probable])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the fraction of each class in the votes of the neighbors.

        A structure with no positive similarity gets the class frequencies of the structures it was
        compared with.

        Parameters
        ----------
        X : list of structures or batch, length n

        Returns
        -------
        ndarray of float64, shape (n, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        self._check_is_fitted()
        stored = self._stored()
        self._check_enough(self.n_neighbors, stored.n)
        with self._counting_queries(), self._threads():
            found = self._search(stored, self._prepare(X), int(self.n_neighbors))
        return probabilities(
            found, stored.labels, self.class_weights_, uniform=self.weights == "uniform"
        )

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the most similar training structures.

        Parameters
        ----------
        X : list of structures or batch, length n, optional
            Queries. By default the structures of the classifier in the order of their ids; then no
            structure is its own neighbor.
        n_neighbors : int, optional
            Number of neighbors, by default the parameter.

        Returns
        -------
        ids : ndarray of int64, shape (n, n_neighbors)
            Structures of ``fit`` are numbered from 0.
        similarities : ndarray, shape (n, n_neighbors)
            In falling order; equal ones by rising id.
        """
        self._check_is_fitted()
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        stored = self._stored()
        self._check_enough(k, stored.n - (X is None))
        with self._counting_queries(), self._threads():
            found = self._search(stored, None if X is None else self._prepare(X), int(k))
        return stored.ids_at(found.positions), found.similarities

    def contributions(
        self, X: Any, label: Any, *, against: Any = None, training: Any = None
    ) -> Contributions:
        """Return the contribution of the vote of each neighbor to scores.

        The score is the fraction of the votes for the class, minus that for ``against``. Without
        votes it is an intercept: the class frequencies of the structures that were compared.

        Parameters
        ----------
        X : list of structures or batch, length n
        label : label, or list of labels of length n
            The class to explain.
        against : label, optional
            The class it is compared with.
        training : None
            Not used; the training structures are stored.
        """
        self._check_is_fitted()
        stored = self._stored()
        self._check_enough(self.n_neighbors, stored.n)
        with self._counting_queries(), self._threads():
            found = self._search(stored, self._prepare(X), int(self.n_neighbors))
        signs = self._signs(len(found.positions), label, against)
        numbers, rows = stored.labels, np.arange(len(signs))
        strengths, none = _strengths(found, uniform=self.weights == "uniform")
        factors = _class_factors(self.class_weights_)
        voters = numbers[found.positions]
        votes = strengths * factors[voters]
        votes /= np.where(none, 1.0, votes.sum(axis=1))[:, None]
        indices, columns = np.unique(stored.ids_at(found.positions), return_inverse=True)
        values = np.zeros((len(signs), len(indices)))
        values[rows[:, None], columns.reshape(voters.shape)] = votes * signs[rows[:, None], voters]
        prior = found.compared[none] * factors
        intercepts = np.zeros(len(signs))
        intercepts[none] = (signs[none] * prior).sum(axis=1) / prior.sum(axis=1)
        return Contributions(indices, values, intercepts)

    # To be defined by subclasses.

    def _stored(self) -> Stored:
        """Return the training structures, which later additions do not change."""
        raise NotImplementedError

    def _search(self, stored: Stored, X: Any, k: int) -> Neighbors:
        """Return the neighbors of a batch; for None those of the training structures."""
        raise NotImplementedError

    # Checks and counters.

    @contextmanager
    def _counting_queries(self) -> Iterator[None]:
        with counting() as counters:
            yield
        with LOCK:  # several threads may query at the same time
            self.query_evaluations_ += counters.kernel_evaluations

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_neighbors", 1)
        self._check_choice("weights", _WEIGHTS)

    def _check_enough(self, k: Any, available: int) -> None:
        check_int(f"{type(self).__name__}: n_neighbors", k, 1)
        if k > available:
            raise KernelInputError(
                f"{type(self).__name__}: n_neighbors={k}, but there are only {available} "
                "structures; ask for fewer neighbors, or give more structures"
            )

    kernel_evaluations_: int


def probabilities(
    found: Neighbors,
    class_numbers: NDArray[np.int32],
    class_weights: NDArray[np.float64],
    *,
    uniform: bool = False,
) -> NDArray[np.float64]:
    """Return the class fractions of the votes of neighbors, a row for each query.

    Neighbors with a similarity of 0 or less do not vote. Without votes, the row has the class
    frequencies of the structures that were compared.

    Examples
    --------
    >>> similarities, compared = np.array([[0.6, 0.2], [0.0, 0.0]]), np.array([[0, 0], [1, 3]])
    >>> found = Neighbors(np.array([[2, 0], [0, 1]]), similarities, compared)
    >>> probabilities(found, np.array([0, 0, 1], dtype=np.int32), np.ones(2))
    array([[0.25, 0.75],
           [0.25, 0.75]])
    """
    strengths, none = _strengths(found, uniform=uniform)
    voters = class_numbers[found.positions]
    votes = np.zeros(found.compared.shape)
    rows = np.arange(len(votes))
    for column in range(strengths.shape[1]):
        votes[rows, voters[:, column]] += strengths[:, column]
    votes[none] = found.compared[none]
    votes *= _class_factors(class_weights)
    # Summed in order, so that no row depends on others.
    votes /= np.add.accumulate(votes, axis=1)[:, -1:]
    return votes


def _strengths(found: Neighbors, *, uniform: bool) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the vote of each neighbor, relative to the first, and which queries have none."""
    strengths = np.maximum(found.similarities.astype(np.float64), 0)
    none = strengths[:, 0] == 0
    if uniform:
        strengths = (strengths > 0).astype(np.float64)
    # Relative to the best, since unnormalized similarities can be huge or tiny.
    strengths /= np.where(none, 1, strengths[:, 0])[:, None]
    return strengths, none


def _class_factors(class_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    factors = np.maximum(class_weights / class_weights.max(), np.finfo(np.float64).tiny)
    return np.asarray(factors)


def without_self(
    positions: Positions, similarities: NDArray[Any], own: Positions
) -> tuple[Positions, NDArray[Any]]:
    """Remove each structure from its own neighbors, or the last neighbor if it is not among them.

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


class KernelNeighborsClassifier(NeighborsClassifier):
    """Nearest-neighbor classifier that compares with all structures.

    ``fit`` compares nothing; a query costs as many kernel evaluations as there are structures.

    Parameters
    ----------
    kernel : Kernel
        Kernel that compares structures, preferably normalized.
    n_neighbors : int
        Number of neighbors that vote.
    weights : {"similarity", "uniform"}
        Weights of the votes. Neighbors with a similarity of 0 have no vote.
    class_weight : None, "balanced" or dict from label to weight
        Factors of the votes for each class. "balanced": inversely proportional to class
        frequencies.
    n_jobs : int, optional
        Number of threads; no result depends on it.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted.
    structures_ : batch
        The training structures.
    labels_ : ndarray of int32, shape (n,)
        Their class numbers.
    class_weights_ : ndarray of float64, shape (n_classes,)
        Factor of each class.
    kernel_evaluations_ : int
        Number of kernel evaluations of ``fit``: 0.
    query_evaluations_ : int
        Number of kernel evaluations of queries so far.

    See Also
    --------
    HashNeighborsClassifier : Compares with a few candidates only.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> questions = load_questions()
    >>> trees, labels = [q.view("tree") for q in questions], [q.label for q in questions]
    >>> model = kw.KernelNeighborsClassifier(kw.SubsetTreeKernel())
    >>> model = model.fit(trees[:100], labels[:100])
    >>> model.predict(trees[100:]).shape, model.query_evaluations_
    ((20,), 2000)
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "classes_": CLASSES,
        "structures_": Structures(),
        "labels_": ArrayOf("int32", "structures_", least=0, below="classes_"),
        "class_weights_": CLASS_WEIGHTS,
        "kernel_evaluations_": EVALUATIONS,
    }

    def __init__(
        self,
        kernel: Any,
        *,
        n_neighbors: int = 8,
        weights: str = "similarity",
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelNeighborsClassifier:
        """Store structures and their labels; ``y=None`` takes the labels of examples."""
        batch = self._start(X)
        numbers = self._encode_labels(batch, y)
        self._check_enough(self.n_neighbors, len(batch))
        self.class_weights_ = self._weigh_classes(numbers)
        self.structures_ = self._keep(batch)
        self.labels_ = numbers
        self.kernel_evaluations_ = self.query_evaluations_ = 0
        return self

    def _stored(self) -> Stored:
        return Stored(len(self.structures_), self.labels_)

    def _search(self, stored: Stored, X: Any, k: int) -> Neighbors:
        own = X is None
        positions, similarities = self.kernel_.neighbors(
            self.structures_ if own else X, self.structures_, k, exclude_self=own
        )
        counts = np.bincount(self.labels_, minlength=len(self.classes_)).astype(np.int64)
        compared = np.broadcast_to(counts, (len(positions), len(counts)))
        return Neighbors(positions, similarities, compared)

    def _n_training(self) -> int:
        return len(self.structures_)
