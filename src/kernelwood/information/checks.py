"""What codes and labels must be like."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError

__all__ = [
    "Bits",
    "check_bits",
    "check_columns",
    "check_count",
    "check_labels",
    "check_numbers",
    "check_replacements",
]

Bits = NDArray[np.uint8]

LARGEST = 2**22 - 1  # examples whose responsibilities are summed exactly


def check_bits(codes: Any, name: str = "codes", *, n_bits: int | None = None) -> Bits:
    """Return codes as rows of 0 and 1 in bytes, or raise KernelInputError.

    Examples
    --------
    >>> check_bits([[True, False]])
    array([[1, 0]], dtype=uint8)
    """
    try:
        array = np.asarray(codes)
    except ValueError:
        raise KernelInputError(f"{name} must have as many bits in every row") from None
    if array.ndim != 2:
        raise KernelInputError(
            f"{name} must be an array with a row of bits for each example, got shape {array.shape}"
        )
    if 0 in array.shape:
        raise KernelInputError(f"{name} must not be empty, got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise KernelInputError(f"{name} must be numbers 0 and 1, got {array.dtype}")
    wrong = np.argwhere((array != 0) & (array != 1))
    if len(wrong):
        row, bit = map(int, wrong[0])
        hint = "; unpack codes of words first" if array.dtype == np.uint64 else ""
        raise KernelInputError(
            f"{name} must be 0 or 1, got {array[row, bit]} as bit {bit} of example {row}{hint}"
        )
    if len(array) > LARGEST:
        raise KernelInputError(f"{name} must be at most {LARGEST:,} examples, got {len(array):,}")
    if n_bits is not None and array.shape[1] != n_bits:
        raise KernelInputError(f"{name} have {array.shape[1]} bits, the codes {n_bits}")
    # A copy: what explains codes keeps them.
    return np.array(array, dtype=np.uint8, order="C")


def check_columns(columns: Any, n_bits: int) -> NDArray[np.int32]:
    """Return the numbers of different bits, or raise KernelInputError."""
    numbers = np.asarray(columns)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or len(numbers) == 0:
        raise KernelInputError(
            f"columns must be the numbers of one or more bits, got {numbers.dtype} of shape "
            f"{numbers.shape}"
        )
    if numbers.min() < 0 or numbers.max() >= n_bits:
        raise KernelInputError(
            f"columns must be from 0 to {n_bits - 1}, got {numbers.min()} to {numbers.max()}"
        )
    if len(np.unique(numbers)) < len(numbers):
        raise KernelInputError("columns must name each bit once")
    return numbers.astype(np.int32)


def check_replacements(replacements: Any, n: int, n_columns: int) -> Bits:
    """Return bits to replace columns by, one set after the other, or raise KernelInputError."""
    array = np.asarray(replacements)
    if array.ndim != 3 or array.shape[1:] != (n, n_columns) or array.dtype.kind not in "biu":
        raise KernelInputError(
            f"replacements must be 0 and 1 of shape (n_swaps, {n}, {n_columns}), got "
            f"{array.dtype} of shape {array.shape}"
        )
    if array.size and (array.min() < 0 or array.max() > 1):
        raise KernelInputError("replacements must be 0 or 1")
    return np.ascontiguousarray(array, dtype=np.uint8)


def check_numbers(y: Any, n: int) -> NDArray[np.int64]:
    """Return the class numbers of ``n`` examples, or raise KernelInputError."""
    numbers = np.asarray(y)
    if numbers.shape != (n,) or numbers.dtype.kind not in "iu":
        raise KernelInputError(
            f"y must be a class number for each of {n} examples, got {numbers.dtype} of shape "
            f"{numbers.shape}"
        )
    return numbers.astype(np.int64)


def check_labels(y: Any, n: int) -> NDArray[np.int64]:
    """Return labels of any kind as class numbers from 0 on, or raise KernelInputError.

    Examples
    --------
    >>> check_labels(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != n:
        raise KernelInputError(
            f"y must be a label for each of {n} examples, got shape {labels.shape}"
        )
    if any(label is None or label != label for label in labels.tolist()):
        raise KernelInputError(
            "y must not have missing labels; pass examples without one as unlabelled="
        )
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise KernelInputError("y must hold labels of one kind, such as only texts") from None


def check_count(name: str, value: Any, low: int) -> int:
    """Return a whole number of at least ``low``, or raise KernelInputError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise KernelInputError(f"{name} must be an int of at least {low}, got {value!r}")
    return int(value)
