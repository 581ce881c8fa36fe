"""Comparisons that are too large to hold, block by block."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kernelwood.compute import budget, get_config
from kernelwood.kernels import Kernel

__all__ = ["Comparison", "pairs_at_once"]

_PAIRS = 2**22  # similarities held at a time, 32 MB
_SHARE = 4  # of the memory budget, one part in so many


def pairs_at_once() -> int:
    """Return how many similarities may be held at a time."""
    return max(1, min(_PAIRS, budget() // (8 * _SHARE)))


class Comparison:
    """Blocks of similarities, with the progress of the whole.

    Parameters
    ----------
    kernel : Kernel
    total : int
        Kernel evaluations of all blocks.
    """

    def __init__(self, kernel: Kernel, total: int) -> None:
        self._kernel, self._total, self._done = kernel, total, 0

    def cross(self, X: Any, Y: Any) -> NDArray[Any]:
        """Return a block: the similarities of every structure of ``X`` with every one of ``Y``."""
        report, before = get_config().progress, self._done

        def progress(done: int, _: int) -> None:
            if report is not None:
                report(min(before + done, self._total), self._total)

        block: NDArray[Any] = self._kernel.cross(X, Y, progress=progress)
        self._done += block.size
        return block
