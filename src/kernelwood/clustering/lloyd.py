r"""k-means in the space of a kernel, without vectors, and k-means on vectors.

With the similarities :math:`K` and the cluster :math:`c` of size :math:`|c|`,

.. math:: d^2(i, c) = K_{ii} - \frac{2}{|c|} \sum_{j \in c} K_{ij}
          + \frac{1}{|c|^2} \sum_{j, l \in c} K_{jl} .

Only the sums :math:`\sum_{j \in c} K_{ij}` need the matrix. A structure that moves takes its row
from one sum to another, so that an iteration costs one row per moved structure. Rows are added one
by one in the order of the structures: results do not depend on how many are computed at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import budget, one_native_thread
from kernelwood.errors import KernelOverflowError
from kernelwood.features import compare_rows, product
from kernelwood.kernels import TILE, Kernel
from kernelwood.seeds import child_generator, sklearn_seed
from kernelwood.threads import ignored_warnings

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_LARGEST = 1e300  # bound of sums of squared distances
_TIE_ROUNDS = 10
_NOISE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}


class SelfSimilarities:
    """Rows of the Gram matrix of structures.

    The matrix is held in memory if it fits the budget. Otherwise rows are computed on request, as
    many at once as half of the budget holds.

    Parameters
    ----------
    kernel : Kernel
    X : batch, length n

    Attributes
    ----------
    own : ndarray of float64, shape (n,)
        Similarity of each structure with itself.
    noise : float
        Size of rounding errors of squared distances, relative to the similarities.
    held : bool
        Whether the Gram matrix is in memory.

    Examples
    --------
    >>> import kernelwood as kw
    >>> texts = kw.batch([kw.Sequence(list(text)) for text in ("ab", "bc", "cd")])
    >>> similarities = SelfSimilarities(kw.SubsequenceKernel(decay=1.0), texts)
    >>> for number, row in similarities.rows([2, 0]):
    ...     print(number, row.round(2))
    2 [0.   0.33 1.  ]
    0 [1.   0.33 0.  ]
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self._kernel = kernel
        self._X = X
        dtype = kernel._dtype(None)
        self.noise = noise_of(kernel)
        self.own = kernel.diag(X).astype(np.float64)
        self._check_range()
        row_bytes = len(X) * dtype.itemsize
        self.held = len(X) * row_bytes <= budget()
        self._rows_at_once = max(1, min(TILE, budget() // (2 * row_bytes)))
        self._gram = kernel.gram(X) if self.held else None

    def __len__(self) -> int:
        return len(self._X)

    def rows(self, numbers: Any) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield rows of the Gram matrix with their numbers, in the order given."""
        chosen = np.asarray(numbers, dtype=np.int64)
        if self._gram is not None:
            for number in chosen.tolist():
                yield number, self._gram[number]
            return
        if len(chosen) == 0:
            return
        for some, rows in compare_rows(
            self._kernel, self._X[chosen], self._X, n_rows=self._rows_at_once
        ):
            yield from zip(chosen[some].tolist(), rows, strict=True)

    def _check_range(self) -> None:
        largest = float(np.abs(self.own).max())
        if largest > _LARGEST / len(self.own) ** 2:
            raise KernelOverflowError(
                f"{self._kernel!r} gives self-similarities of up to {largest:.0e}, too large to "
                f"add up those of {len(self.own):,} structures; use normalize=True, or a smaller "
                "decay"
            )


def noise_of(kernel: Kernel) -> float:
    """Return the size of rounding errors of squared distances, relative to similarities."""
    return _NOISE[kernel._dtype(None)]


def spread_labels(
    similarities: SelfSimilarities, n_clusters: int, draws: Sequence[np.random.Generator]
) -> list[Labels]:
    r"""Return starting labels by k-means++ with the distance of the kernel.

    The squared distance is :math:`K_{ii} + K_{jj} - 2 K_{ij}`. The next center is a structure drawn
    with probability proportional to its squared distance to the nearest center so far; of a few
    draws, the one with the smallest sum of squared distances is taken. The cost is
    :math:`O(\log K)` rows of the Gram matrix for each cluster.

    Parameters
    ----------
    similarities : SelfSimilarities
    n_clusters : int
        Number of labels. There are fewer if fewer structures differ.
    draws : sequence of Generator
        One for each start. All starts proceed together, so that their rows are computed at once.

    Returns
    -------
    list of ndarray of int64, shape (n,)

    References
    ----------
    \D. Arthur, S. Vassilvitskii: k-means++, the advantages of careful seeding. SODA 2007.

    Examples
    --------
    >>> import kernelwood as kw
    >>> texts = kw.batch([kw.Sequence(list(text)) for text in ("ab", "xy", "abc", "xyz", "ab")])
    >>> similarities = SelfSimilarities(kw.SubsequenceKernel(), texts)
    >>> [labels] = spread_labels(similarities, 2, [np.random.default_rng(0)])
    >>> bool(labels[0] == labels[2] == labels[4] != labels[1] == labels[3])
    True
    """
    starts = [_Start(draw, len(similarities)) for draw in draws]
    n_trials = 2 + int(math.log(n_clusters))
    for label in range(n_clusters):
        picks = [start.pick(n_trials) for start in starts]
        for number, row in similarities.rows(sorted(set().union(*picks))):
            distances = _distances(similarities, number, row)
            for start, picked in zip(starts, picks, strict=True):
                if number in picked:
                    start.consider(distances)
        for start in starts:
            start.take_best(label)
    return [start.labels for start in starts]


class _Start:
    """One start of k-means++: the labels and distances to the centers drawn so far."""

    def __init__(self, draw: np.random.Generator, n: int) -> None:
        self.labels: Labels = np.zeros(n, dtype=np.int64)
        self._draw = draw
        self._closest: Array = np.full(n, np.inf)
        self._best, self._least = self._closest, math.inf

    def pick(self, n_trials: int) -> set[int]:
        """Draw candidates for the next center."""
        if self._closest[0] == np.inf:
            return {int(self._draw.integers(len(self._closest)))}
        if not self._closest.any():
            return set()
        below = np.cumsum(self._closest)
        picked = np.searchsorted(below, self._draw.random(n_trials) * below[-1], side="right")
        # Rounding may raise the product to the sum.
        return set(np.minimum(picked, np.flatnonzero(self._closest)[-1]).tolist())

    def consider(self, distances: Array) -> None:
        """Keep the candidate with these squared distances if it has the smallest sum so far."""
        nearer = np.minimum(self._closest, distances)
        left = float(nearer.sum())
        if left < self._least:
            self._best, self._least = nearer, left

    def take_best(self, label: int) -> None:
        """Make the best candidate a center, and label the structures nearest to it."""
        self.labels[self._best < self._closest] = label
        self._closest, self._least = self._best, math.inf


def _distances(similarities: SelfSimilarities, number: int, row: NDArray[Any]) -> Array:
    """Return the squared distances of all structures to one, with rounding errors set to 0."""
    scale = similarities.own + similarities.own[number]
    distances: Array = scale - 2.0 * row
    distances[distances <= similarities.noise * np.abs(scale)] = 0.0
    distances[number] = 0.0
    return distances


class Lloyd:
    """State of Lloyd's algorithm for one start.

    Parameters
    ----------
    similarities : SelfSimilarities
    labels : ndarray of int64, shape (n,)
        Starting cluster of each structure, numbered from 0.
    max_iter : int
        Maximum number of iterations.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Cluster of each structure.
    inertia : float
        Sum of the squared distances to the centers.
    n_iter : int
        Number of iterations so far.
    converged : bool
        Whether every structure is in the cluster with the nearest center.
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
        """Number of clusters, including empty ones."""
        return len(self._sums)

    def forget(self) -> None:
        """Discard all sums, with the rounding errors of added and subtracted rows."""
        self._sums[:] = 0.0
        self._counted = np.full(len(self.labels), -1, dtype=np.int64)

    def missing(self) -> NDArray[np.bool_]:
        """Return which rows of the Gram matrix must be added to the sums."""
        moved: NDArray[np.bool_] = self._counted != self.labels
        if 2 * np.count_nonzero(moved) > len(moved):
            self.forget()  # as cheap, because no row has to be subtracted
            moved = np.ones(len(moved), dtype=bool)
        return moved

    def take(self, number: int, row: NDArray[np.floating]) -> None:
        """Move a row to the sum of the present cluster of its structure."""
        before, now = int(self._counted[number]), int(self.labels[number])
        if before == now:
            return
        if before >= 0:
            self._sums[before] -= row
        self._sums[now] += row
        self._counted[number] = now

    def norms(self) -> Array:
        """Return the self-similarity of each center; 0 for an empty cluster."""
        n_clusters = len(self._sums)
        inside = self._sums[self.labels, np.arange(len(self.labels))]
        sizes = np.bincount(self.labels, minlength=n_clusters)
        within = np.bincount(self.labels, weights=inside, minlength=n_clusters)
        return within / np.maximum(sizes, 1) ** 2.0

    def distances(self) -> Array:
        """Return the squared distances to the centers, shape (n_clusters, n), not clipped at 0."""
        sizes = np.bincount(self.labels, minlength=len(self._sums))
        distances = self._sums * (-2.0 / np.maximum(sizes, 1))[:, None]
        distances += self.norms()[:, None]
        distances += self._own
        distances[sizes == 0] = np.inf
        return distances

    def move(self) -> bool:
        """Assign structures to the nearest centers; return whether any label changed."""
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

    def _refill(self, labels: Labels, distances: Array, noise: Array) -> None:
        """Assign to every empty cluster the structure that is farthest from its center."""
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
    """Iterate several starts until they converge; each row is computed once for all of them."""
    active = list(states)
    while active:
        missing = np.logical_or.reduce([state.missing() for state in active])
        for number, row in similarities.rows(np.flatnonzero(missing)):
            for state in active:
                state.take(number, row)
        active = [state for state in active if state.move()]


def first_nearest(distances: Array, noise: Array) -> Labels:
    """Return the first of the nearest centers; differences within rounding count as ties.

    Parameters
    ----------
    distances : ndarray, shape (n_clusters, n)
    noise : ndarray, shape (n,)
        Largest difference that counts as a tie.

    Examples
    --------
    >>> first_nearest(np.array([[2.0, 1.0 + 1e-15], [1.0, 1.0]]), np.full(2, 1e-12))
    array([1, 0])
    """
    nearest: Labels = np.argmax(distances <= distances.min(axis=0) + noise, axis=0)
    return nearest


def order_of_clusters(labels: NDArray[np.integer], n_clusters: int) -> Labels:
    """Return clusters by descending size; ties are broken by the earliest structure.

    Examples
    --------
    >>> order_of_clusters(np.array([2, 0, 0, 1, 1]), 3)
    array([0, 1, 2])
    """
    sizes = np.bincount(labels, minlength=n_clusters)
    first = np.full(n_clusters, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return np.lexsort((first, -sizes)).astype(np.int64)


def cluster_vectors(
    vectors: Array, n_clusters: int, *, n_init: int, max_iter: int, seed: int, noise: float
) -> tuple[Labels, Array, int, bool]:
    """Return labels, centers, number of iterations and convergence of k-means on vectors.

    Clusters are numbered by descending size; there are fewer than ``n_clusters`` if fewer vectors
    differ. Results depend only on the seed, not on the number of threads.

    Examples
    --------
    >>> vectors = np.array([[0.0], [1.0], [9.0], [8.0], [8.5]])
    >>> labels, centers, _, converged = cluster_vectors(
    ...     vectors, 2, n_init=1, max_iter=9, seed=0, noise=1e-12
    ... )
    >>> labels, centers.ravel(), converged
    (array([1, 1, 0, 0, 0]), array([8.5, 0.5]), True)
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    start = sklearn_seed(child_generator(seed, 0))
    model = KMeans(n_clusters, n_init=n_init, max_iter=max_iter, tol=0.0, random_state=start)
    # On several threads, the last bits of its sums would depend on the order of completion.
    # KernelKMeans itself warns if it does not converge.
    with one_native_thread(), ignored_warnings(category=ConvergenceWarning):
        model.fit(vectors)
    labels, converged = _settle(vectors, model.labels_.astype(np.int64), noise)
    return labels, _means(vectors, labels), int(model.n_iter_), converged


def squared_lengths(vectors: Array) -> Array:
    """Return the squared length of each row, independent of the other rows."""
    lengths: Array = np.add.accumulate(vectors * vectors, axis=1)[:, -1]
    return lengths


def squared_distances(vectors: Array, centers: Array) -> Array:
    """Return squared distances, shape (len(vectors), len(centers)); rounding may make them < 0."""
    distances = -2.0 * product(vectors, centers.T)
    distances += squared_lengths(centers)
    distances += squared_lengths(vectors)[:, None]
    return distances


def _settle(vectors: Array, labels: Labels, noise: float) -> tuple[Labels, bool]:
    """Return labels numbered by cluster size, with ties resolved as in predictions.

    A vector at the same distance from two centers belongs to the larger cluster; moving it may move
    the centers and thereby others. Also return whether all vectors were at their nearest centers.
    """
    labels = _renumber(labels)
    lengths = squared_lengths(vectors)
    everyone = np.arange(len(labels))
    for _ in range(_TIE_ROUNDS):
        centers = _means(vectors, labels)
        distances = squared_distances(vectors, centers)
        margin = noise * (lengths + squared_lengths(centers)[labels])
        if (distances[everyone, labels] > distances.min(axis=1) + margin).any():
            return labels, False
        nearest = first_nearest(distances.T, margin)
        emptied = len(np.unique(nearest)) < len(centers)
        if emptied or (nearest == labels).all():
            break
        labels = _renumber(nearest)
    return labels, True


def _renumber(labels: Labels) -> Labels:
    n_clusters = int(labels.max()) + 1
    places = np.empty(n_clusters, dtype=np.int64)
    places[order_of_clusters(labels, n_clusters)] = np.arange(n_clusters)
    return places[labels]


def _means(vectors: Array, labels: Labels) -> Array:
    """Return the mean of each cluster; rows are added in order."""
    sizes = np.bincount(labels)
    sizes = sizes[: np.count_nonzero(sizes)]  # empty ones come last
    begins = np.cumsum(sizes) - sizes
    by_cluster = vectors[np.argsort(labels, kind="stable")]
    means: Array = np.add.reduceat(by_cluster, begins, axis=0) / sizes[:, None]
    return means
