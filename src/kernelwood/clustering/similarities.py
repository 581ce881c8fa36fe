"""Rows of a Gram matrix, whether or not it fits into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import budget
from kernelwood.errors import KernelOverflowError
from kernelwood.features import compare_rows
from kernelwood.kernels import TILE, Kernel

__all__ = ["SelfSimilarities", "noise_of"]

_LARGEST = 1e300  # sums of squared distances stay below
_NOISE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}


class SelfSimilarities:
    """The similarities of structures among each other, row by row.

    The Gram matrix is held if it fits the memory budget. If not, rows are computed whenever they
    are asked for, as many at once as half of the budget holds.

    Parameters
    ----------
    kernel : Kernel
    X : batch, length n

    Attributes
    ----------
    own : ndarray of float64, shape (n,)
        Similarity of each structure with itself.
    noise : float
        Squared distances that are this small, in terms of the similarities they are made of, are
        rounding errors.
    held : bool
        Whether the Gram matrix is in memory.

    Examples
    --------
    >>> import kernelwood as kw
    >>> texts = kw.batch([kw.Sequence(list(text)) for text in ("ab", "bc", "cd")])
    >>> similarities = SelfSimilarities(kw.SubsequenceKernel(decay=1.0), texts)
    >>> for number, row in similarities.rows([2, 0]):
    ...     print(number, row.round(2))
    2 [0.   0.33 1.  ]
    0 [1.   0.33 0.  ]
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self._kernel = kernel
        self._X = X
        dtype = kernel._dtype(None)
        self.noise = noise_of(kernel)
        self.own = kernel.diag(X).astype(np.float64)
        self._check_range()
        row_bytes = len(X) * dtype.itemsize
        self.held = len(X) * row_bytes <= budget()
        self._rows_at_once = max(1, min(TILE, budget() // (2 * row_bytes)))
        self._gram = kernel.gram(X) if self.held else None

    def __len__(self) -> int:
        return len(self._X)

    def rows(self, numbers: Any) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield some rows of the Gram matrix, each with its number, in the order given."""
        chosen = np.asarray(numbers, dtype=np.int64)
        if self._gram is not None:
            for number in chosen.tolist():
                yield number, self._gram[number]
            return
        if len(chosen) == 0:
            return
        for some, rows in compare_rows(
            self._kernel, self._X[chosen], self._X, n_rows=self._rows_at_once
        ):
            yield from zip(chosen[some].tolist(), rows, strict=True)

    def _check_range(self) -> None:
        largest = float(np.abs(self.own).max())
        if largest > _LARGEST / len(self.own) ** 2:
            raise KernelOverflowError(
                f"{self._kernel!r} gives self-similarities of up to {largest:.0e}, too large to "
                f"add up those of {len(self.own):,} structures; use normalize=True, or a smaller "
                "decay"
            )


def noise_of(kernel: Kernel) -> float:
    """Return how large rounding errors of squared distances may be, relative to similarities."""
    return _NOISE[kernel._dtype(None)]
