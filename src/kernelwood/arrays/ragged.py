from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import StructureError

Offsets = NDArray[np.int64]


class Ragged:
    """Flat, read-only arrays with one segment, called a piece, for each structure.

    Piece ``i`` of every array goes from ``offsets[i]`` to ``offsets[i + 1]``. A slice shares the
    arrays of the original.
    """

    __slots__ = ("arrays", "offsets")

    def __init__(self, offsets: Offsets, arrays: tuple[NDArray[Any], ...]) -> None:
        for array in (offsets, *arrays):
            if array.flags.writeable:
                array.flags.writeable = False
        self.offsets, self.arrays = offsets, arrays

    @classmethod
    def from_sizes(cls, sizes: Iterable[int], *arrays: NDArray[Any]) -> Ragged:
        """Return arrays with pieces of the given sizes."""
        offsets = np.array([0, *accumulate(sizes)], dtype=np.int64)
        return cls(offsets, arrays)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Length of each piece."""
        return np.diff(self.offsets)

    @property
    def window(self) -> slice:
        """Range of all pieces in the arrays, which other objects may share."""
        return slice(int(self.offsets[0]), int(self.offsets[-1]))

    def piece(self, index: int) -> slice:
        """Return the range of one piece in the arrays."""
        return slice(int(self.offsets[index]), int(self.offsets[index + 1]))

    def cut(self, start: int, stop: int) -> Ragged:
        """Return the pieces from ``start`` to ``stop`` without copying them."""
        return Ragged(self.offsets[start : max(start, stop) + 1], self.arrays)

    def take(self, indices: NDArray[np.int64]) -> Ragged:
        """Return copies of the pieces at ``indices``, in that order."""
        sizes = self.sizes[indices]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        picked = np.repeat(self.offsets[indices] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return Ragged(offsets, tuple(array[picked] for array in self.arrays))

    def alone(self) -> Ragged:
        """Return the same pieces in arrays without other data."""
        window = self.window
        if window.start == 0 and all(len(array) == window.stop for array in self.arrays):
            return self
        arrays = tuple(array[window] for array in self.arrays)
        return Ragged(self.offsets - self.offsets[0], arrays)

    def replace(self, *arrays: NDArray[Any]) -> Ragged:
        """Return the same pieces with the first arrays replaced."""
        return Ragged(self.offsets, (*arrays, *self.arrays[len(arrays) :]))

    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first piece of each group of equal pieces, and the group of each piece.

        Pieces are sorted by a hash of their values, then compared.
        """
        if len(self) < 2:
            first = group = np.arange(len(self))
            return first, group
        alone, sizes = self.alone(), self.sizes
        values = _scramble(np.arange(alone.offsets[-1]) - np.repeat(alone.offsets[:-1], sizes))
        for array in alone.arrays:
            values = _scramble(values + array.astype(np.uint64))
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
        hashes = _scramble(sizes) + sums[alone.offsets[1:]] - sums[alone.offsets[:-1]]
        _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
        equal = alone.take(first[group])
        pairs = zip((sizes, *alone.arrays), (equal.sizes, *equal.arrays), strict=True)
        if not all(np.array_equal(one, other) for one, other in pairs):  # hashes collide
            first = group = np.arange(len(sizes))
        order = np.argsort(first)
        return first[order], np.argsort(order)[group]

    def check(self, names: tuple[str, ...]) -> None:
        """Raise an error if offsets fall or exceed the arrays, or if arrays differ in length."""
        offsets = self.offsets
        if len(offsets) == 0 or not rises(offsets):
            raise StructureError("offsets must start at 0 or above and never fall")
        lengths = {len(array) for array in self.arrays}
        if len(lengths) > 1 or offsets[-1] > min(lengths):
            raise StructureError(
                f"offsets end at {offsets[-1]}, but {', '.join(names)} have lengths "
                f"{sorted(lengths)}"
            )


def _scramble(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Return numbers that look random, equal ones for equal ones; products wrap around."""
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return mixed * np.uint64(0xBF58476D1CE4E5B9)


def rises(values: Any, most: int | None = None, *, strictly: bool = False) -> bool:
    """Return whether ``values`` is a flat array of int64 that starts at 0 or above and never falls.

    Values are compared, never subtracted: a difference of values from a file can overflow.

    Parameters
    ----------
    values : ndarray
        May be empty.
    most : int, optional
        The largest value allowed.
    strictly : bool
        Whether equal neighbors are refused too.

    Examples
    --------
    >>> rises(np.array([0, 3, 3, 12]), 12), rises(np.array([0, 2**63 - 1, -2, 12]), 12)
    (True, False)
    """
    if not isinstance(values, np.ndarray) or values.dtype != np.int64 or values.ndim != 1:
        return False
    if len(values) == 0:
        return True
    before, after = values[:-1], values[1:]
    ordered = before < after if strictly else before <= after
    return bool(ordered.all() and values[0] >= 0 and (most is None or values[-1] <= most))


def checked(array: Any, dtype: type, name: str) -> NDArray[Any]:
    """Return a read-only view of an array from outside, which must be flat and of one type."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
        raise StructureError(
            f"{name} must be a one-dimensional array of {np.dtype(dtype).name}, "
            f"got {getattr(array, 'dtype', type(array).__name__)}",
            hint=f"convert it: np.ascontiguousarray(x, dtype=np.{np.dtype(dtype).name})",
        )
    if not array.flags.c_contiguous:
        raise StructureError(f"{name} must be contiguous", hint="use np.ascontiguousarray(x)")
    return array.view()  # ours to mark read-only; the caller's array stays as it is
