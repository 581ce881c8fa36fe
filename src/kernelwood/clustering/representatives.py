"""Which structures stand for a cluster: those nearest to its center."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.features import check_array

__all__ = ["MOST_REPRESENTATIVES", "check_representatives", "choose_representatives"]

MOST_REPRESENTATIVES = 12


def choose_representatives(
    labels: NDArray[np.int32], distances: NDArray[np.float64], noise: float
) -> NDArray[np.int64]:
    """Return the members nearest to each center, in order, a row for each cluster.

    Parameters
    ----------
    labels : ndarray of int32, shape (n,)
        Numbers of clusters, each of which occurs.
    distances : ndarray of float64, shape (n,)
        Squared distance to the center of its cluster.
    noise : float
        How large rounding errors may be. Both members of a pair are equally far from their mean,
        whatever rounding says: the first one comes first.

    Returns
    -------
    ndarray of int64, shape (n_clusters, up to 12)
        -1 where there are no more.

    Examples
    --------
    >>> distances = np.array([1.0, 0.5, 1.0 - 1e-16, 0.5])
    >>> choose_representatives(np.array([0, 1, 0, 0]), distances, 1e-12)
    array([[ 3,  0,  2],
           [ 1, -1, -1]])
    """
    scale = float(distances.max())
    digits = max(0, round(-math.log10(noise)) - 3)
    rounded = np.round(distances / scale, digits) if scale > 0 else np.zeros(len(distances))
    order = np.lexsort((np.arange(len(labels)), rounded, labels))
    sizes = np.bincount(labels)
    begins = np.cumsum(sizes) - sizes
    places = np.arange(len(labels)) - np.repeat(begins, sizes)
    nearest = np.full((len(sizes), min(MOST_REPRESENTATIVES, int(sizes.max()))), -1, dtype=np.int64)
    near = places < nearest.shape[1]
    nearest[labels[order][near], places[near]] = order[near]
    return nearest


def check_representatives(indices: Any, labels: NDArray[np.int32]) -> None:
    """Raise ValueError unless these can be representatives of the clusters with these labels."""
    sizes = np.bincount(labels)
    width = min(MOST_REPRESENTATIVES, int(sizes.max()))
    check_array("representative_indices_", indices, np.int64, (len(sizes), width))
    there = np.arange(width) < sizes[:, None]
    if (indices[~there] != -1).any() or (indices[there] < 0).any():
        raise ValueError("representative_indices_ must have as many members as there are")
    if (indices >= len(labels)).any():
        raise ValueError("representative_indices_ must be those of structures")
    clusters = np.broadcast_to(np.arange(len(sizes))[:, None], indices.shape)
    if (labels[indices[there]] != clusters[there]).any():
        raise ValueError("representative_indices_ must be members of their clusters")
    if len(np.unique(indices[there])) < np.count_nonzero(there):
        raise ValueError("representative_indices_ must be different structures")
