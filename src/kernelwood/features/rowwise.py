"""Similarities and matrix products whose rows do not depend on each other, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood import _native
from kernelwood.compute import Runner, get_config
from kernelwood.errors import KernelInputError
from kernelwood.kernels import TILE, Kernel

_ON_EXECUTOR = 2**25  # similarities at once: 256 MB in double
_LANES = 16  # columns, unless there is one, come in such groups, see ordered_product.hpp


def product(
    left: NDArray[Any], right: NDArray[Any], *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return ``left @ right`` with sums in a fixed order, so that no row depends on others.

    Parameters
    ----------
    left : ndarray of float32 or float64, shape (n, m)
    right : ndarray, shape (m, p)
    n_jobs : int, optional
        Threads, for large matrices.

    Examples
    --------
    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    if left.dtype not in (np.float32, np.float64):
        left = left.astype(np.float64)
    left = np.ascontiguousarray(left)
    columns = right.shape[1]
    width = columns if columns == 1 else -(-columns // _LANES) * _LANES
    padded = np.zeros((right.shape[0], width))
    padded[:, :columns] = right
    out = np.empty((len(left), padded.shape[1]))

    def multiply(begin: int, end: int, stop: NDArray[np.int32]) -> None:
        _native.ordered_product(left, padded, begin, end, out)

    runner = Runner(n_jobs, 0).quiet()
    runner.run(multiply, len(left), evaluations=0, cost=4 * left.size * padded.shape[1])
    return np.ascontiguousarray(out[:, :columns])


def compare_rows(
    kernel: Kernel,
    X: Any,
    fixed: Any,
    *,
    n_rows: int | None = None,
    dtype: DTypeLike | None = None,
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield slices of ``X`` and their rows of ``kernel.cross(X, fixed)``, ``n_rows`` at a time.

    Progress is reported for the whole matrix. No value depends on ``n_rows``, by default 4,096;
    with an executor more, because it gets ``fixed`` again for each slice.
    """
    report = get_config().progress
    if n_rows is None:
        most = _ON_EXECUTOR // max(len(fixed), 1) if get_config().executor else 0
        n_rows = max(TILE, most)
    for begin in range(0, len(X), n_rows):

        def progress(done: int, total: int, before: int = begin * len(fixed)) -> None:
            if report is not None:
                report(before + done, len(X) * len(fixed))

        some = slice(begin, min(begin + n_rows, len(X)))
        yield some, kernel.cross(X[some], fixed, dtype=dtype, progress=progress)


def compare_unknown(
    owner: str,
    kernel: Kernel,
    X: Any,
    fixed: Any,
    known: NDArray[Any] | None,
    *,
    dtype: DTypeLike | None = None,
) -> NDArray[Any]:
    """Return ``kernel.cross(X, fixed)`` without recomputing its first columns, ``known``."""
    known = np.empty((len(X), 0), dtype=kernel._dtype(dtype)) if known is None else known
    if known.ndim != 2 or len(known) != len(X) or known.shape[1] > len(fixed):
        raise KernelInputError(
            f"{owner}: known similarities must have {len(X)} rows and at most {len(fixed)} "
            f"columns, got shape {known.shape}"
        )
    added = kernel.cross(X, fixed[known.shape[1] :], dtype=known.dtype)
    return np.concatenate([known, added], axis=1)
