"""Maps: vectors of structures as points in the plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kernelwood.errors import KernelInputError
from kernelwood.features.spectrum import decompose
from kernelwood.seeds import child_generator

__all__ = ["MAPS", "map_2d"]

Points = NDArray[np.float64]

_PERPLEXITY = 30.0  # about how many neighbors a point of t-SNE has
_START = 1e-4  # spread of the points that t-SNE begins with
_FEWEST = 5  # below, t-SNE has no neighbors to go by
_NOISE = 1e-12  # variances up to this multiple of the largest are rounding errors


def map_2d(vectors: Any, method: str = "tsne", *, seed: int = 0) -> Points:
    """Return points in the plane for vectors, those of similar structures near each other.

    Parameters
    ----------
    vectors : ndarray, shape (n, d)
        Such as :class:`NystromEmbedder` makes.
    method : {"tsne", "pca"}
        ``"pca"`` looks from the side from which vectors differ most: quick, distances mean
        something, groups overlap. ``"tsne"`` keeps neighbors together, so that groups are seen;
        how far they are apart means little.
    seed : int
        For t-SNE.

    Returns
    -------
    ndarray of float64, shape (n, 2)
        The same for the same vectors and seed, on any number of threads.

    Raises
    ------
    KernelInputError
        If there is no such method, or vectors are no matrix of finite numbers.

    Examples
    --------
    >>> map_2d([[0.0, 0, 0], [4, 0, 0], [4, 0, 3], [0, 0, 3]], "pca")
    array([[-2. , -1.5],
           [ 2. , -1.5],
           [ 2. ,  1.5],
           [-2. ,  1.5]])
    """
    if method not in MAPS:
        raise KernelInputError(f"a map is one of {', '.join(map(repr, MAPS))}, got {method!r}")
    matrix = np.asarray(vectors, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise KernelInputError(
            f"a map needs a matrix of finite numbers, a row for each structure, got shape "
            f"{matrix.shape}"
        )
    with threadpool_limits(1):  # the bits of sums depend on the number of threads
        return MAPS[method](matrix, seed)


def _principal_axes(matrix: Points, seed: int) -> Points:
    """Return the two coordinates that vary most."""
    centered = matrix - matrix.mean(axis=0)
    found = decompose("map_2d", None, centered.T @ centered, cut=_NOISE, n_components=2)
    axes = (found.projection * np.sqrt(found.eigenvalues)).T
    points = np.zeros((len(matrix), 2))
    points[:, : len(axes)] = centered @ axes.T
    return points


def _neighbor_map(matrix: Points, seed: int) -> Points:
    """Return points that keep neighbors together, begun where principal axes put them."""
    from sklearn.manifold import TSNE

    start = _principal_axes(matrix, seed)
    spread = start[:, 0].std()
    if len(matrix) < _FEWEST or not spread > 0:
        return start
    model = TSNE(
        perplexity=min(_PERPLEXITY, (len(matrix) - 1) / 3),
        init=(start * (_START / spread)).astype(np.float32),
        learning_rate="auto",
        random_state=int(child_generator(seed).integers(2**31)),
        n_jobs=1,
    )
    points: Points = model.fit_transform(matrix).astype(np.float64)
    return points


# Name -> what makes points of vectors and a seed.
MAPS: dict[str, Callable[[Points, int], Points]] = {
    "tsne": _neighbor_map,
    "pca": _principal_axes,
}
