"""k-means on vectors of structures."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from kernelwood.clustering.lloyd import first_nearest, order_of_clusters
from kernelwood.features import product
from kernelwood.seeds import child_generator

__all__ = ["VectorClusters", "cluster_vectors", "squared_distances", "squared_lengths"]

Array = NDArray[np.float64]

_TIE_ROUNDS = 10


@dataclass(frozen=True)
class VectorClusters:
    """Labels of vectors, the means of clusters, and how they were found."""

    labels: NDArray[np.int64]
    centers: Array
    n_iter: int
    converged: bool


def cluster_vectors(
    vectors: Array, n_clusters: int, *, n_init: int, max_iter: int, seed: int, noise: float
) -> VectorClusters:
    """Cluster the rows of a matrix; equal results for equal seeds, on any number of threads.

    Clusters are numbered by falling size, and there are fewer than ``n_clusters`` if not so many
    vectors differ.

    Examples
    --------
    >>> vectors = np.array([[0.0], [1.0], [9.0], [8.0], [8.5]])
    >>> found = cluster_vectors(vectors, 2, n_init=1, max_iter=9, seed=0, noise=1e-12)
    >>> found.labels, found.centers.ravel()
    (array([1, 1, 0, 0, 0]), array([8.5, 0.5]))
    """
    start = int(child_generator(seed, 0).integers(2**31))
    model = KMeans(n_clusters, n_init=n_init, max_iter=max_iter, tol=0.0, random_state=start)
    # On several threads, the last bits of its sums would depend on which one is ready first.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told by the estimator
        model.fit(vectors)
    labels, converged = _settle(vectors, model.labels_.astype(np.int64), noise)
    return VectorClusters(labels, _means(vectors, labels), int(model.n_iter_), converged)


def squared_lengths(vectors: Array) -> Array:
    """Return the squared length of each row, the same in any company."""
    lengths: Array = np.add.accumulate(vectors * vectors, axis=1)[:, -1]
    return lengths


def squared_distances(vectors: Array, centers: Array) -> Array:
    """Return squared distances, shape (len(vectors), len(centers)), which rounding may make < 0."""
    distances = -2.0 * product(vectors, centers.T)
    distances += squared_lengths(centers)
    distances += squared_lengths(vectors)[:, None]
    return distances


def _settle(
    vectors: Array, labels: NDArray[np.int64], noise: float
) -> tuple[NDArray[np.int64], bool]:
    """Number clusters by size, and put vectors between two centers where predictions will.

    A vector at the same distance from two centers goes to the larger cluster; if that moves the
    centers, so may others. Also return whether all vectors were at their nearest centers.
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


def _renumber(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    n_clusters = int(labels.max()) + 1
    places = np.empty(n_clusters, dtype=np.int64)
    places[order_of_clusters(labels, n_clusters)] = np.arange(n_clusters)
    return places[labels]


def _means(vectors: Array, labels: NDArray[np.int64]) -> Array:
    """Return the mean of each cluster, its rows added in order."""
    sizes = np.bincount(labels)
    sizes = sizes[: np.count_nonzero(sizes)]  # empty ones come last
    begins = np.cumsum(sizes) - sizes
    by_cluster = vectors[np.argsort(labels, kind="stable")]
    means: Array = np.add.reduceat(by_cluster, begins, axis=0) / sizes[:, None]
    return means
