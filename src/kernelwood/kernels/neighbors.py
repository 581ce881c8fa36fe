from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Progress, Runner
from kernelwood.errors import KernelInputError

if TYPE_CHECKING:
    from kernelwood.kernels.base import Kernel

# Queries and searched structures compared at once: 64 MB of double similarities.
QUERIES = 1024
SEARCHED = 8192


def best_neighbors(
    kernel: Kernel,
    X: Any,
    Y: Any,
    k: int,
    *,
    exclude_self: bool,
    dtype: np.dtype[Any],
    progress: Progress | None,
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the k best of ``Y`` for every query in ``X``, block by block."""
    available = len(Y) - 1 if exclude_self else len(Y)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= available:
        raise KernelInputError(f"k must be an int from 1 to {available}, got {k!r}")
    if exclude_self and len(X) != len(Y):
        raise KernelInputError("exclude_self needs X and Y to be the same structures")
    indices = np.full((len(X), k), -1, dtype=np.int64)
    values = np.full((len(X), k), -np.inf, dtype=dtype)
    runner = Runner(kernel.n_jobs, len(X) * len(Y), progress)
    for top in range(0, len(X), QUERIES):
        queries = X[top : top + QUERIES]
        asked = slice(top, top + len(queries))
        own = np.arange(asked.start, asked.stop) if exclude_self else None
        for left in range(0, len(Y), SEARCHED):
            searched = Y[left : left + SEARCHED]
            block = np.empty((len(searched), len(queries)), dtype=dtype)
            kernel._fill_cross(searched, queries, block, runner)
            _native.keep_best(block, left, own, indices[asked], values[asked])
    runner.finish()
    return indices, values
