"""What support vector machines cannot learn from, or not be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import check_budget
from kernelwood.errors import KernelInputError

__all__ = ["check_array", "check_classes", "check_folds", "check_memory"]


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


def check_folds(folds: Any, numbers: NDArray[np.int32], model: Any) -> NDArray[np.int64]:
    """Return folds as an array, or raise KernelInputError if they leave nothing to learn from."""
    array = np.asarray(folds)
    if array.shape != numbers.shape or array.dtype.kind not in "iu" or array.min(initial=0) < 0:
        raise KernelInputError(
            f"KernelSVC: folds must be {len(numbers)} whole numbers from 0 on, one for each "
            f"structure; got {array.dtype} of shape {array.shape}"
        )
    if len(np.unique(array)) < 2:
        raise KernelInputError("KernelSVC: there must be two folds at least")
    if model.strategy == "ovo":
        for number, label in enumerate(model.classes_.tolist()):
            if len(np.unique(array[numbers == number])) < 2:
                raise KernelInputError(
                    f"KernelSVC: the class {label!r} is in one fold only, so that there are no "
                    "machines for it without this fold; take strategy='ovr'"
                )
    return array.astype(np.int64)


def check_memory(n: int, n_folds: int | None, n_jobs: int = 1) -> None:
    """Raise MemoryBudgetError if the Gram matrix is too large, or with its parts without a fold."""
    # Such a part is two matrices: of the structures left, and of those taken out by those left.
    at_once = 0 if n_folds is None else min(n_folds, n_jobs)
    copies = 1.0 if n_folds is None else 1 + at_once * (1 - 1 / n_folds)
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
