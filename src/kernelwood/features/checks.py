"""Checks of arguments and of loaded arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError

__all__ = ["check_array", "check_matrix", "check_positive"]


def check_positive(owner: str, name: str, value: Any) -> None:
    """Raise KernelInputError unless a value is a whole number above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise KernelInputError(f"{owner}: {name} must be an int above 0, got {value!r}")


def check_matrix(owner: str, name: str, value: Any, n_columns: int) -> NDArray[Any]:
    """Return rows of numbers as an array, or raise KernelInputError.

    Examples
    --------
    >>> check_matrix("Example", "vectors", [[1.0, 2.0]], 3)
    Traceback (most recent call last):
    ...
    kernelwood.errors.KernelInputError: Example: vectors must have 3 columns, got shape (1, 2)
    """
    matrix = np.asarray(value)
    if matrix.ndim != 2 or matrix.shape[1] != n_columns:
        raise KernelInputError(
            f"{owner}: {name} must have {n_columns} columns, got shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "fiu" or not np.isfinite(matrix).all():
        raise KernelInputError(f"{owner}: {name} must be finite numbers")
    return matrix


def check_array(name: str, array: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless this is an array of finite numbers of a type and a shape.

    Examples
    --------
    >>> check_array("weights_", np.zeros(3), np.float64, (2,))
    Traceback (most recent call last):
    ...
    ValueError: weights_ must be an array of float64 of shape (2,)
    """
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
        raise ValueError(f"{name} must be an array of {np.dtype(dtype)} of shape {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
