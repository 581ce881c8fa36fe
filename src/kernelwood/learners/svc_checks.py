"""What support vector machines cannot learn from, or not be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import check_budget
from kernelwood.errors import KernelInputError

__all__ = ["check_array", "check_classes", "check_memory"]


def check_classes(classes: NDArray[Any], numbers: NDArray[np.int32], at_least: int) -> None:
    """Raise KernelInputError unless there are two classes, of ``at_least`` structures each."""
    labels = classes.tolist()
    if len(labels) == 1:
        raise KernelInputError(
            f"KernelSVC: every structure has the label {labels[0]!r}; give two classes at least"
        )
    rare = np.flatnonzero(np.bincount(numbers) < at_least)
    if len(rare):
        raise KernelInputError(
            f"KernelSVC: probability=True needs {at_least} structures of each class at least, "
            f"there is one with the label {labels[rare[0]]!r}; leave it out, or take "
            "probability=False"
        )


def check_memory(n: int, n_folds: int | None) -> None:
    """Raise MemoryBudgetError if the Gram matrix is too large, or with its part without a fold."""
    # That part is two matrices: of the structures left, and of those taken out by those left.
    copies = 1.0 if n_folds is None else 2 - 1 / n_folds
    check_budget(
        int(8 * n * n * copies),
        f"KernelSVC: the Gram matrix of {n:,} structures"
        + ("" if n_folds is None else " and its part for calibration"),
        "Fit on fewer structures, or use HashForestClassifier, which compares them with a few "
        "references only.",
    )


def check_array(model: Any, name: str, dtype: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless an attribute is a finite array of this kind."""
    array = getattr(model, name)
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
        raise ValueError(f"{name} must be {np.dtype(dtype).name} of shape {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
