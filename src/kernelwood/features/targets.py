"""Labels to learn from, and groups, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.text import Example

__all__ = ["encode_groups", "encode_labels"]


def encode_labels(owner: str, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted distinct labels, and the number of the label of each structure."""
    labels = _labels(owner, X, y)
    if len(labels) != len(X):
        raise KernelInputError(f"{owner}: {len(X):,} structures, but {len(labels):,} labels")
    missing = [i for i, label in enumerate(labels) if label is None or label != label]
    if missing:
        raise KernelInputError(
            f"{owner}: {len(missing):,} of {len(labels):,} labels are missing, the first at "
            f"position {missing[0]}; leave those structures out"
        )
    kinds = {str if isinstance(label, (str, np.str_)) else float for label in labels}
    if len(kinds) > 1:
        raise KernelInputError(f"{owner}: labels are strings or numbers, not some of both")
    classes, numbers = np.unique(np.array(labels), return_inverse=True)
    if classes.dtype.kind not in "Ubiuf":
        raise KernelInputError(
            f"{owner}: labels must be strings or numbers, got {type(labels[0]).__name__}"
        )
    return classes, numbers.reshape(-1).astype(np.int32)


def _labels(owner: str, X: Any, y: Any) -> list[Any]:
    if y is None:
        if len(X) and isinstance(X[0], Example):
            return [example.label for example in X]
        raise KernelInputError(f"{owner}: y is missing; only examples have labels of their own")
    if np.ndim(y) != 1:
        raise KernelInputError(
            f"{owner}: y must be one label for each structure, got an array of shape {np.shape(y)}"
        )
    return list(y)


def encode_groups(owner: str, X: Any, groups: Any) -> NDArray[np.int64] | None:
    """Return the number of the group of each structure; None if there are no groups."""
    if groups is None:
        return None
    if np.ndim(groups) != 1:
        raise KernelInputError(
            f"{owner}: groups must name the group of each structure, got {groups!r}"
        )
    if len(groups) != len(X):
        raise KernelInputError(f"{owner}: {len(X):,} structures, but {len(groups):,} groups")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
