"""Similarities to a fixed set of structures, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from kernelwood.compute.config import get_config
from kernelwood.kernels import Kernel
from kernelwood.kernels.base import TILE

__all__ = ["compare_rows"]


def compare_rows(
    kernel: Kernel, X: Any, fixed: Any, *, n_rows: int = TILE
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
        yield some, kernel.cross(X[some], fixed, progress=progress)
