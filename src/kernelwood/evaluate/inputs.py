"""Models, structures and labels as users give them to be trained and tested."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.labels import ClassLabel, plain_labels, show
from kernelwood.text import Example

__all__ = ["as_array", "check_model", "labels_of", "take"]


def check_model(model: Any) -> None:
    """Refuse what cannot be copied, trained and asked."""
    if isinstance(model, type):
        raise KernelInputError(f"model is the class {model.__name__}; give {model.__name__}(...)")
    for name in ("fit", "predict", "get_params"):
        if not hasattr(model, name):
            raise KernelInputError(
                f"model must be an estimator with fit, predict and get_params; {show(model)} of "
                f"type {type(model).__name__} has no {name}"
            )


def labels_of(X: Any, y: Iterable[Any] | None, X_name: str, y_name: str) -> list[ClassLabel]:
    """Return one label for each structure, from the examples themselves if ``y`` is None.

    Examples
    --------
    >>> labels_of([Example("1", "yes"), Example("2", "no")], None, "X", "y")
    ['yes', 'no']
    """
    n = _n_structures(X, X_name)
    if y is None:
        items = list(X)
        if not all(isinstance(item, Example) for item in items):
            raise KernelInputError(
                f"{y_name} is None, but {X_name} does not consist of examples with labels; "
                f"give {y_name}"
            )
        y = [item.label for item in items]
    labels = plain_labels(y, y_name)
    if len(labels) != n:
        raise KernelInputError(
            f"{y_name} has {len(labels):,} labels, but {X_name} has {n:,} examples; "
            "give one for each, in the same order"
        )
    if n == 0:
        raise KernelInputError(f"{X_name} is empty; there must be at least one example")
    return labels


def take(X: Any, indices: NDArray[np.int64]) -> Any:
    """Return the structures at ``indices`` in the form they came in.

    Examples
    --------
    >>> take(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(X, (list, tuple)):
        return [X[index] for index in indices.tolist()]
    return X.iloc[indices] if hasattr(X, "iloc") else X[indices]


def as_array(labels: list[ClassLabel]) -> NDArray[Any]:
    """Return labels as scikit-learn wants them; arrays of fixed width would cut strings."""
    if all(isinstance(label, (bool, int, float)) for label in labels):
        return np.array(labels)
    objects = np.empty(len(labels), dtype=object)
    objects[:] = labels
    return objects


def _n_structures(X: Any, name: str) -> int:
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape):
        return int(shape[0])
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise KernelInputError(
            f"{name} must be a batch, a list of structures or an array, got {show(X)}"
        )
    return len(X)
