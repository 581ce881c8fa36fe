"""Block-wise comparisons within the memory budget."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kernelwood.compute import budget, get_config
from kernelwood.kernels import Kernel

_PAIRS = 2**22  # similarities held at a time, 32 MB


def pairs_at_once() -> int:
    """Return the number of similarities held at a time, at most a quarter of the budget."""
    return max(1, min(_PAIRS, budget() // (8 * 4)))


class BlockComparison:
    """Blocks of similarities, with progress of the whole computation.

    Parameters
    ----------
    kernel : Kernel
    total : int
        Kernel evaluations of all blocks.
    """

    def __init__(self, kernel: Kernel, total: int) -> None:
        self._kernel, self._total, self._done = kernel, total, 0

    def cross(self, X: Any, Y: Any) -> NDArray[Any]:
        """Return a block: the similarities of all structures of ``X`` with all of ``Y``."""
        report, before = get_config().progress, self._done

        def progress(done: int, _: int) -> None:
            if report is not None:
                report(min(before + done, self._total), self._total)

        block: NDArray[Any] = self._kernel.cross(X, Y, progress=progress)
        self._done += block.size
        return block
