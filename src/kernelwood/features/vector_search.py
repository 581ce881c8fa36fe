"""Vectors quantized to 8 bits, and an exact scan for the largest inner products.

Quantized vectors take an eighth of the memory of double precision, and scan time shrinks with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner, resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.parameters import check_int

Rows = NDArray[np.int8]
Scales = NDArray[np.float32]

_STEP = 32  # dimensions come in groups of this size, see vector_scan.hpp
_MOST_DIMENSIONS = 2**16
_LARGEST = 127
_LONGEST = float(np.finfo(np.float32).max)
_TOGETHER = 16  # queries that scan a block of rows together


def padded(n_dimensions: int) -> int:
    """Return the number of dimensions rounded up to a multiple of 32.

    Examples
    --------
    >>> padded(300)
    320
    """
    return max(1, -(-n_dimensions // _STEP)) * _STEP


def quantize(vectors: NDArray[Any]) -> tuple[Rows, Scales]:
    """Return vectors as whole numbers from -127 to 127 and a scale for each.

    The number with the largest absolute value becomes 127 or -127. Vectors too small for a 32-bit
    scale (1e-45) become 0; vectors too large keep their direction and get the largest scale.

    Parameters
    ----------
    vectors : ndarray, shape (n, n_dimensions)
        Finite, with up to 65,536 dimensions.

    Returns
    -------
    rows : ndarray of int8, shape (n, n_dimensions rounded up to a multiple of 32)
    scales : ndarray of float32, shape (n,)
        0 for a row of zeros.

    Examples
    --------
    >>> rows, scales = quantize(np.array([[1.0, -0.5, 0.0], [0.0, 0.0, 0.0]]))
    >>> rows[:, :3].tolist(), rows.shape
    ([[127, -64, 0], [0, 0, 0]], (2, 32))
    >>> [round(scale, 5) for scale in scales.tolist()]
    [0.00787, 0.0]
    """
    vectors = _check_vectors(vectors)
    steps = np.abs(vectors).max(axis=1, initial=0.0) / _LARGEST
    with np.errstate(under="ignore"):
        scales = np.minimum(steps, _LONGEST).astype(np.float32)
    divisors = np.where(steps > _LONGEST, steps, scales.astype(np.float64))[:, None]
    numbers = np.zeros(vectors.shape)
    with np.errstate(under="ignore"):
        np.divide(vectors, divisors, out=numbers, where=divisors > 0)
    rows = np.zeros((len(vectors), padded(vectors.shape[1])), dtype=np.int8)
    # A rounded scale can make a number exceed the range.
    rows[:, : vectors.shape[1]] = np.clip(np.rint(numbers), -_LARGEST, _LARGEST)
    return rows, scales


def nearest_vectors(
    queries: NDArray[Any], rows: Rows, scales: Scales, k: int, *, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the ``k`` rows of largest inner product with every query, by an exact scan.

    The score is the inner product of the quantized row and query, times both scales. No result
    depends on other queries or on threads.

    Parameters
    ----------
    queries : ndarray, shape (n_queries, n_dimensions)
        Vectors, quantized like the rows.
    rows : ndarray of int8, shape (n, n_dimensions rounded up to a multiple of 32)
    scales : ndarray of float32, shape (n,)
        Both as :func:`quantize` returns them.
    k : int
        Number of rows to return, from 1 to n.
    n_jobs : int, optional
        Number of threads, each for some of the queries.

    Returns
    -------
    indices : ndarray of int64, shape (n_queries, k)
        By falling score; equal scores by rising index.
    scores : ndarray of float64, shape (n_queries, k)

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 0.5]])
    >>> indices, scores = nearest_vectors(vectors[:1], *quantize(vectors), k=2)
    >>> indices.tolist(), scores.round(3).tolist()
    ([[0, 2]], [[1.0, 0.5]])
    """
    rows, scales = check_quantized(rows, scales)
    check_int("nearest_vectors: k", k, 1, len(rows))
    asked, asked_scales = quantize(queries)
    if asked.shape[1] != rows.shape[1]:
        raise KernelInputError(
            f"queries of {np.shape(queries)[1]} dimensions do not fit rows of {rows.shape[1]}"
        )
    indices = np.empty((len(asked), int(k)), dtype=np.int64)
    scores = np.empty(indices.shape)
    # In groups, because reading rows takes longer than comparing them.
    group = max(1, min(_TOGETHER, -(-len(asked) // resolve_jobs(n_jobs))))

    def scan(begin: int, end: int, stop: NDArray[np.int32]) -> None:
        some = begin * group, min(end * group, len(asked))
        _native.nearest_vectors(asked, asked_scales, rows, scales, *some, indices, scores, stop)

    runner = Runner(n_jobs, 0).quiet()
    groups = -(-len(asked) // group)
    runner.run(scan, groups, evaluations=0, cost=len(asked) * rows.size, large=True)
    return indices, scores


def check_quantized(rows: Any, scales: Any) -> tuple[Rows, Scales]:
    """Return rows and scales as of :func:`quantize`, or raise KernelInputError."""
    if not isinstance(rows, np.ndarray) or rows.dtype != np.int8 or rows.ndim != 2:
        raise KernelInputError(
            "rows must be an array of int8 with a row for each vector, got "
            f"{getattr(rows, 'dtype', type(rows).__name__)}; quantize(vectors) makes them"
        )
    width = rows.shape[1]
    if width % _STEP or not 0 < width <= _MOST_DIMENSIONS:
        raise KernelInputError(
            f"rows must have a multiple of {_STEP} numbers, up to {_MOST_DIMENSIONS:,}, these have "
            f"{width}"
        )
    if not isinstance(scales, np.ndarray) or scales.dtype != np.float32:
        raise KernelInputError(
            "scales must be an array of float32, got "
            f"{getattr(scales, 'dtype', type(scales).__name__)}; quantize(vectors) makes them"
        )
    if scales.shape != (len(rows),):
        raise KernelInputError(
            f"scales must have one number for each of {len(rows)} rows, got shape {scales.shape}"
        )
    if not ((scales >= 0) & (scales <= _LONGEST)).all():
        raise KernelInputError("scales must be finite, and not negative")
    return np.ascontiguousarray(rows), np.ascontiguousarray(scales)


def _check_vectors(vectors: Any) -> NDArray[np.float64]:
    vectors = np.asarray(vectors)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise KernelInputError(
            f"vectors must be rows of numbers, got {vectors.dtype} of shape {vectors.shape}"
        )
    if vectors.shape[1] > _MOST_DIMENSIONS:
        raise KernelInputError(
            f"vectors must have at most {_MOST_DIMENSIONS:,} dimensions, got {vectors.shape[1]:,}"
        )
    doubles: NDArray[np.float64] = vectors.astype(np.float64, copy=False)
    if not np.isfinite(doubles).all():
        raise KernelInputError("vectors must be finite")
    return doubles
