r"""Lloyd's algorithm in the space of a kernel, without any vectors.

With the similarities :math:`K` and the cluster :math:`c` of size :math:`|c|`,

.. math:: d^2(i, c) = K_{ii} - \frac{2}{|c|} \sum_{j \in c} K_{ij}
          + \frac{1}{|c|^2} \sum_{j, l \in c} K_{jl} .

Only the sums :math:`\sum_{j \in c} K_{ij}` need the matrix. A structure that moves takes its row
from one sum to another, so that a round costs as many rows as structures have moved. Rows are added
one by one in the order of the structures: how many are computed at once shows in no bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernelwood.clustering.similarities import SelfSimilarities

__all__ = ["Lloyd", "first_nearest", "order_of_clusters", "run"]

Labels = NDArray[np.int64]
Distances = NDArray[np.float64]


class Lloyd:
    """Clusters on their way from one partition to a better one.

    Parameters
    ----------
    similarities : SelfSimilarities
    labels : ndarray of int64, shape (n,)
        Where to start: cluster of each structure, by number from 0 on.
    max_iter : int
        How many times structures may move.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Cluster of each structure.
    inertia : float
        Sum of the squared distances to the centers.
    n_iter : int
        How many times structures have moved.
    converged : bool
        Whether every structure is where it belongs.
    """

    def __init__(self, similarities: SelfSimilarities, labels: Labels, max_iter: int) -> None:
        self.labels = labels.copy()
        self.inertia = math.inf
        self.n_iter = 0
        self.converged = False
        self._max_iter = max_iter
        self._own = similarities.own
        self._noise = similarities.noise
        self._sums = np.zeros((int(labels.max()) + 1, len(labels)))
        self.forget()

    @property
    def n_clusters(self) -> int:
        """Number of clusters, empty ones among them."""
        return len(self._sums)

    def forget(self) -> None:
        """Let all sums be made anew, without the rounding errors of rows that came and went."""
        self._sums[:] = 0.0
        self._counted = np.full(len(self.labels), -1, dtype=np.int64)

    def missing(self) -> NDArray[np.bool_]:
        """Return which rows of the Gram matrix the sums need."""
        moved: NDArray[np.bool_] = self._counted != self.labels
        if 2 * np.count_nonzero(moved) > len(moved):
            self.forget()  # as cheap, since nothing has to be taken away
            moved = np.ones(len(moved), dtype=bool)
        return moved

    def take(self, number: int, row: NDArray[np.floating]) -> None:
        """Count a row where its structure is now."""
        before, now = int(self._counted[number]), int(self.labels[number])
        if before == now:
            return
        if before >= 0:
            self._sums[before] -= row
        self._sums[now] += row
        self._counted[number] = now

    def norms(self) -> NDArray[np.float64]:
        """Return the similarity of each center with itself; 0 for an empty cluster."""
        n_clusters = len(self._sums)
        inside = self._sums[self.labels, np.arange(len(self.labels))]
        sizes = np.bincount(self.labels, minlength=n_clusters)
        within = np.bincount(self.labels, weights=inside, minlength=n_clusters)
        return within / np.maximum(sizes, 1) ** 2.0

    def distances(self) -> Distances:
        """Return the squared distances to the centers, shape (n_clusters, n), unclipped."""
        sizes = np.bincount(self.labels, minlength=len(self._sums))
        distances = self._sums * (-2.0 / np.maximum(sizes, 1))[:, None]
        distances += self.norms()[:, None]
        distances += self._own
        distances[sizes == 0] = np.inf
        return distances

    def move(self) -> bool:
        """Move structures to the nearest centers; return whether any has moved."""
        distances, norms = self.distances(), self.norms()
        everyone = np.arange(len(self.labels))
        inside = distances[self.labels, everyone]
        self.inertia = math.fsum(np.maximum(inside, 0.0).tolist())
        order = order_of_clusters(self.labels, len(self._sums))
        noise = self._noise * (np.abs(self._own) + np.abs(norms[self.labels]))
        labels = order[first_nearest(distances[order], noise)]
        self._refill(labels, distances[labels, everyone], noise)
        self.converged = bool((labels == self.labels).all())
        if self.converged or self.n_iter >= self._max_iter:
            return False
        self.labels = labels
        self.n_iter += 1
        return True

    def _refill(self, labels: Labels, distances: Distances, noise: Distances) -> None:
        """Give every empty cluster the structure that is farthest from its center."""
        sizes = np.bincount(labels, minlength=len(self._sums))
        for empty in np.flatnonzero(sizes == 0).tolist():
            movable = np.where((sizes[labels] > 1) & (distances > noise), distances, -np.inf)
            farthest = int(movable.argmax())
            if movable[farthest] == -np.inf:
                return
            sizes[labels[farthest]] -= 1
            sizes[empty] = 1
            labels[farthest] = empty


def run(similarities: SelfSimilarities, states: Sequence[Lloyd]) -> None:
    """Let several starts go on until nothing moves; a row that more than one needs is made once."""
    active = list(states)
    while active:
        missing = np.logical_or.reduce([state.missing() for state in active])
        for number, row in similarities.rows(np.flatnonzero(missing)):
            for state in active:
                state.take(number, row)
        active = [state for state in active if state.move()]


def first_nearest(distances: Distances, noise: Distances) -> Labels:
    """Return the first of the nearest centers, those that rounding decides among taken as equal.

    Parameters
    ----------
    distances : ndarray, shape (n_clusters, n)
    noise : ndarray, shape (n,)
        Differences up to this are none.

    Examples
    --------
    >>> first_nearest(np.array([[2.0, 1.0 + 1e-15], [1.0, 1.0]]), np.full(2, 1e-12))
    array([1, 0])
    """
    nearest: Labels = np.argmax(distances <= distances.min(axis=0) + noise, axis=0)
    return nearest


def order_of_clusters(labels: NDArray[np.integer], n_clusters: int) -> Labels:
    """Return clusters by falling size; of equal ones, that with the earliest structure first.

    Examples
    --------
    >>> order_of_clusters(np.array([2, 0, 0, 1, 1]), 3)
    array([0, 1, 2])
    """
    sizes = np.bincount(labels, minlength=n_clusters)
    first = np.full(n_clusters, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return np.lexsort((first, -sizes)).astype(np.int64)
