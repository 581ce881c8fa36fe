"""References that cover the labels which tell classes apart, chosen without kernel evaluations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import kernelwood as kw
from kernelwood.learners.base import encode_labels

FADING = 0.5  # what the weight of a label is multiplied by each time a reference covers it

Floats = NDArray[np.float64]


def label_table(trees: kw.TreeBatch) -> csr_matrix:
    """Return which labels of nodes occur in each tree, shape (n, n_labels), 0 or 1."""
    ends = np.asarray(trees.offsets)
    labels = np.asarray(trees.arrays[0])[ends[0] : ends[-1]]
    rows = np.repeat(np.arange(len(trees)), np.diff(ends))
    shape = (len(trees), int(labels.max()) + 1)
    table = csr_matrix((np.ones(len(labels)), (rows, labels)), shape=shape)
    table.sum_duplicates()
    table.data[:] = 1.0
    return table


def label_information(table: csr_matrix, classes: NDArray[np.int32]) -> Floats:
    r"""Return the mutual information, in nats, of the class and of whether a label occurs.

    .. math:: I = \sum_{c} \sum_{o \in \{0, 1\}} p(o, c) \log \frac{p(o, c)}{p(o) p(c)}
    """
    n = table.shape[0]
    occurring = np.asarray(table.sum(axis=0)).ravel() / n
    information = np.zeros(table.shape[1])
    for number in np.unique(classes):
        chosen = classes == number
        share = float(chosen.mean())
        both = np.asarray(table[chosen].sum(axis=0)).ravel() / n
        for joint, single in ((both, occurring), (share - both, 1 - occurring)):
            possible = joint > 1e-12
            ratio = joint[possible] / (single[possible] * share)
            information[possible] += joint[possible] * np.log(ratio)
    return np.maximum(information, 0.0)


def cover(table: csr_matrix, weights: Floats, n: int, *, fading: float = FADING) -> NDArray[Any]:
    """Return the numbers of n rows whose labels have the greatest weights.

    One after the other the row with the greatest mean weight is taken, the first of several; the
    weights of its labels then fade, so that the next ones cover other labels.
    """
    left, sizes = weights.copy(), np.maximum(np.diff(table.indptr), 1)
    free = np.ones(table.shape[0], dtype=bool)
    chosen = []
    for _ in range(min(n, table.shape[0])):
        means = np.where(free, (table @ left) / sizes, -1.0)
        best = int(means.argmax())
        chosen.append(best)
        free[best] = False
        left[table[best].indices] *= fading
    return np.array(chosen, dtype=np.int64)


class CoverageForest(kw.HashForestClassifier):
    """The hash forest with references by :func:`cover` in place of random ones, for trees."""

    def fit(self, X: Any, y: Any = None) -> CoverageForest:
        """Choose references by labels and classes, then learn as the base class does."""
        table = label_table(X)
        information = label_information(table, encode_labels(type(self).__name__, X, y)[1])
        self._chosen = cover(table, information, self.n_references)
        super().fit(X, y)
        return self

    def _fit_hasher(self, X: Any) -> kw.KernelHasher:
        # All that this hasher is fitted on become its references.
        return super()._fit_hasher(X[self._chosen])
