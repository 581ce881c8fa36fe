"""Similarities to a fixed set of structures, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood.compute import get_config
from kernelwood.errors import KernelInputError
from kernelwood.kernels import TILE, Kernel

__all__ = ["compare_rows", "compare_unknown"]


def compare_rows(
    kernel: Kernel, X: Any, fixed: Any, *, n_rows: int = TILE, dtype: DTypeLike | None = None
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield rows of ``kernel.cross(X, fixed)``, which is never held whole, and where they belong.

    Progress is that of the whole. No value depends on ``n_rows``.
    """
    report = get_config().progress
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
    """Return ``kernel.cross(X, fixed)``, of which the first columns may be known already."""
    known = np.empty((len(X), 0), dtype=kernel._dtype(dtype)) if known is None else known
    if known.ndim != 2 or len(known) != len(X) or known.shape[1] > len(fixed):
        raise KernelInputError(
            f"{owner}: known similarities must have {len(X)} rows and at most {len(fixed)} "
            f"columns, got shape {known.shape}"
        )
    added = kernel.cross(X, fixed[known.shape[1] :], dtype=known.dtype)
    return np.concatenate([known, added], axis=1)
