"""Where to draw the line between pairs that interact and those that do not.

Chosen on held-out scores of the training corpus for the F1 of the positive class. Two rules: the
best threshold; and the lowest one that is not clearly worse, within a standard error of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rates", "Thresholds", "choose_thresholds", "rates"]

N_RESAMPLES = 1000


@dataclass(frozen=True)
class Rates:
    """Precision, recall and F1 of the positive class."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Thresholds:
    """Two thresholds on scores, and how they did on the scores they were chosen on.

    Attributes
    ----------
    best, cautious : float
        That of the greatest F1; the lowest whose F1 is within a standard error of it.
    held_out_best, held_out_cautious : Rates
        What they gave.
    standard_error : float
        Of the greatest F1, by a bootstrap over documents.
    """

    best: float
    cautious: float
    held_out_best: Rates
    held_out_cautious: Rates
    standard_error: float


def rates(y: NDArray[Any], predicted: NDArray[Any]) -> Rates:
    """Return precision, recall and F1 of predictions 0 and 1; 0 where nothing is divided."""
    right, found, true = np.sum((y == 1) & (predicted == 1)), np.sum(predicted), np.sum(y)
    return Rates(
        precision=float(right / found) if found else 0.0,
        recall=float(right / true) if true else 0.0,
        f1=float(2 * right / (found + true)) if found + true else 0.0,
    )


def choose_thresholds(
    y: NDArray[Any], scores: NDArray[Any], documents: Sequence[str], *, seed: int = 0
) -> Thresholds:
    """Return the two thresholds for held-out scores; a pair is positive from a threshold on.

    Thresholds lie halfway between the scores that they divide; of equally good ones the highest
    is the best.
    """
    values, f1 = _curve(y, scores)
    at = int(f1.argmax())
    error = _standard_error(y, scores >= values[at], documents, seed)
    low = int(np.flatnonzero(f1 >= f1[at] - error)[-1])
    best, cautious = (_halfway(values, place) for place in (at, low))
    return Thresholds(
        best,
        cautious,
        rates(y, (scores >= best).astype(int)),
        rates(y, (scores >= cautious).astype(int)),
        error,
    )


def _curve(y: NDArray[Any], scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct scores, falling, and the F1 if all from there on are positive."""
    values, places = np.unique(-scores, return_inverse=True)
    found = np.cumsum(np.bincount(places))
    right = np.cumsum(np.bincount(places, weights=y))
    return -values, 2 * right / (found + np.sum(y))


def _halfway(values: NDArray[Any], at: int) -> float:
    return float(values[at] if at + 1 == len(values) else (values[at] + values[at + 1]) / 2)


def _standard_error(
    y: NDArray[Any], predicted: NDArray[Any], documents: Sequence[str], seed: int
) -> float:
    """Return the deviation of F1 when documents are drawn anew, with replacement."""
    numbers = np.unique(np.asarray(documents), return_inverse=True)[1]
    right = np.bincount(numbers, weights=predicted & (y == 1))
    both = np.bincount(numbers, weights=predicted.astype(float) + y)
    n = len(right)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES)
    sums = weights @ both
    f1 = 2 * (weights @ right) / np.where(sums == 0, 1, sums)
    return float(f1.std(ddof=1))
