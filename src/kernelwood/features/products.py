"""Products of matrices whose rows do not depend on each other, down to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner

__all__ = ["product"]

_LANES = 16  # columns, unless there is one, come in such groups, see ordered_product.hpp


def product(
    left: NDArray[Any], right: NDArray[Any], *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return ``left @ right``, each sum in order, so that a row is the same alone or among others.

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
