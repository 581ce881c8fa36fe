"""Projections of vectors to the plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import one_native_thread
from kernelwood.errors import KernelInputError
from kernelwood.features.nystrom import decompose
from kernelwood.seeds import child_generator, sklearn_seed

Points = NDArray[np.float64]

_PERPLEXITY = 30.0  # effective number of neighbors of a point in t-SNE
_START = 1e-4  # standard deviation of the initial points of t-SNE
_FEWEST = 5  # t-SNE needs at least this many points
_NOISE = 1e-12  # variances up to this multiple of the largest are rounding errors


def map_2d(vectors: Any, method: str = "tsne", *, seed: int = 0) -> Points:
    """Return points in the plane for vectors, near each other for similar vectors.

    Parameters
    ----------
    vectors : ndarray, shape (n, d)
        For example those of :class:`NystromEmbedder`.
    method : {"tsne", "pca"}
        ``"pca"`` is fast and keeps distances, but groups overlap. ``"tsne"`` keeps neighbors
        together and separates groups; distances between groups mean little.
    seed : int
        Seed of t-SNE.

    Returns
    -------
    ndarray of float64, shape (n, 2)
        The same for the same vectors and seed, on any number of threads.

    Raises
    ------
    KernelInputError
        If the method is unknown, or vectors are not a matrix of finite numbers.

    Examples
    --------
    >>> map_2d([[0.0, 0, 0], [4, 0, 0], [4, 0, 3], [0, 0, 3]], "pca")
    array([[-2. , -1.5],
           [ 2. , -1.5],
           [ 2. ,  1.5],
           [-2. ,  1.5]])
    """
    if method not in MAPS:
        raise KernelInputError(f"map_2d: method must be one of {tuple(MAPS)}, got {method!r}")
    matrix = np.asarray(vectors, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise KernelInputError(
            f"map_2d: vectors must be a matrix of finite numbers, got shape {matrix.shape}"
        )
    with one_native_thread():  # the bits of sums depend on the number of threads
        return MAPS[method](matrix, seed)


def _principal_axes(matrix: Points, seed: int) -> Points:
    """Return the two principal components."""
    centered = matrix - matrix.mean(axis=0)
    eigenvalues, projection = decompose(
        "map_2d", None, centered.T @ centered, cut=_NOISE, n_components=2
    )
    axes = (projection * np.sqrt(eigenvalues)).T
    points = np.zeros((len(matrix), 2))
    points[:, : len(axes)] = centered @ axes.T
    return points


def _neighbor_map(matrix: Points, seed: int) -> Points:
    """Return the t-SNE map, initialized by principal components."""
    from sklearn.manifold import TSNE

    start = _principal_axes(matrix, seed)
    spread = start[:, 0].std()
    if len(matrix) < _FEWEST or not spread > 0:
        return start
    model = TSNE(
        perplexity=min(_PERPLEXITY, (len(matrix) - 1) / 3),
        init=(start * (_START / spread)).astype(np.float32),
        learning_rate="auto",
        random_state=sklearn_seed(child_generator(seed)),
        n_jobs=1,
    )
    points: Points = model.fit_transform(matrix).astype(np.float64)
    return points


# Name -> function from vectors and a seed to points.
MAPS: dict[str, Callable[[Points, int], Points]] = {
    "tsne": _neighbor_map,
    "pca": _principal_axes,
}
