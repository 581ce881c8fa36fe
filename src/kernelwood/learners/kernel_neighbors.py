"""Exact nearest neighbors by a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch
from kernelwood.kernels import Kernel, drop_unread_views
from kernelwood.learners.base import weights_of_classes
from kernelwood.learners.votes import Neighbors, NeighborsClassifier

__all__ = ["KernelNeighborsClassifier"]


class KernelNeighborsClassifier(NeighborsClassifier):
    """Classes by the votes of the most similar structures, found by comparing with all.

    ``fit`` compares nothing; a query costs as many kernel evaluations as there are structures.

    Parameters
    ----------
    kernel : Kernel
        What compares structures, normalized preferably.
    n_neighbors : int
        How many neighbors vote.
    weights : {"similarity", "uniform"}
        Votes count as much as their similarity, or all the same. Neighbors with a similarity of 0
        have no vote.
    class_weight : None, "balanced" or dict from label to weight
        Factors of the votes for each class. "balanced": in inverse proportion to how often the
        class occurs in what the classifier was fitted on.
    n_jobs : int, optional
        Threads; no result depends on them.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted.
    structures_ : batch
        The structures the classifier was fitted on.
    labels_ : ndarray of int32, shape (n,)
        Number of the class of each.
    class_weights_ : ndarray of float64, shape (n_classes,)
        Factor of each class.
    kernel_evaluations_ : int
        Kernel evaluations that ``fit`` spent: 0.
    query_evaluations_ : int
        Kernel evaluations that queries spent so far.

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

    _fitted = (
        "kernel_", "classes_", "structures_", "labels_", "class_weights_", "kernel_evaluations_",
    )  # fmt: skip

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
        """Keep structures and their labels; ``y=None`` takes the labels of examples."""
        batch = self._start(X)
        numbers = self._encode_labels(X, y)
        self._check_enough(self.n_neighbors, len(batch))
        self.class_weights_ = weights_of_classes(
            type(self).__name__, self.class_weight, self.classes_, numbers
        )
        self.structures_ = (
            drop_unread_views(batch, self.kernel_) if isinstance(batch, ExampleBatch) else batch
        )
        self.labels_ = numbers
        self.kernel_evaluations_ = self.query_evaluations_ = 0
        return self

    def _search(self, X: Any, k: int) -> Neighbors:
        own = X is None
        positions, similarities = self.kernel_.neighbors(
            self.structures_ if own else X, self.structures_, k, exclude_self=own
        )
        counts = np.bincount(self.labels_, minlength=len(self.classes_)).astype(np.int64)
        compared = np.broadcast_to(counts, (len(positions), len(counts)))
        return Neighbors(positions, similarities, compared)

    def _n_structures(self) -> int:
        return len(self.structures_)

    def _class_numbers(self) -> NDArray[np.int32]:
        return self.labels_

    def _check_restored(self) -> None:
        super()._check_restored()
        if not isinstance(self.kernel_, Kernel):
            raise ValueError("kernel_ must be a kernel")
        if not isinstance(self.structures_, self.kernel_._accepts()):
            raise ValueError("structures_ must be a batch that the kernel reads")
        self._check_numbers(self.labels_, len(self.structures_))
