"""Measures from counts: accuracy, precision, recall and F1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.resampling import Counts

__all__ = ["METRICS", "check_metric", "class_measures", "measures"]

Values: TypeAlias = NDArray[np.float64]

METRICS = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "macro_precision",
    "macro_recall",
    "macro_f1",
)


def measures(counts: Counts, positive: Sequence[int]) -> Values:
    """Return what :data:`METRICS` names, for each row of counts.

    Parameters
    ----------
    counts : ndarray of int64, shape (n, 3 * n_classes)
        Correct, true and predicted examples of each class.
    positive : sequence of int
        The classes that averages are taken over.

    Returns
    -------
    ndarray of float64, shape (n, 7)

    Examples
    --------
    >>> measures(np.array([[2, 0, 2, 1, 3, 0]]), [0]).round(3).tolist()
    [[0.667, 0.667, 1.0, 0.8, 0.667, 1.0, 0.8]]
    """
    right, true, predicted = _split(counts)
    chosen = list(positive)
    pooled = [each[:, chosen].sum(axis=1) for each in (right, true, predicted)]
    accuracy = _ratio(right.sum(axis=1), true.sum(axis=1))
    macro = [each[:, chosen].mean(axis=1) for each in class_measures(counts)]
    return np.stack([accuracy, *_rates(*pooled), *macro], axis=1)


def class_measures(counts: Counts) -> tuple[Values, Values, Values]:
    """Return precision, recall and F1 of each class, shape (n, n_classes)."""
    return _rates(*_split(counts))


def check_metric(metric: Any, positive: Any) -> int:
    """Return the place of a metric in :data:`METRICS`."""
    if metric not in METRICS:
        raise KernelInputError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}")
    if positive is None and metric in ("precision", "recall", "f1"):
        raise KernelInputError(
            f"metric={metric!r} over all classes is the accuracy; name the class or classes that "
            f"count with positive=..., or use metric='macro_{metric}'"
        )
    return METRICS.index(metric)


def _split(counts: Counts) -> tuple[Counts, Counts, Counts]:
    n_classes = counts.shape[1] // 3
    right, true, predicted = counts.reshape(len(counts), 3, n_classes).transpose(1, 0, 2)
    return right, true, predicted


def _rates(right: Counts, true: Counts, predicted: Counts) -> tuple[Values, Values, Values]:
    return _ratio(right, predicted), _ratio(right, true), _ratio(2 * right, true + predicted)


def _ratio(part: Counts, whole: Counts) -> Values:
    """Divide; nothing out of nothing is 0."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
