"""Estimates of the positive rate of unlabeled pairs, from scores of held-out training pairs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

__all__ = ["adjusted_count", "calibrated", "estimate_rates", "expectation_maximization"]

Floats: TypeAlias = "NDArray[np.float64]"
_SMALLEST = 1e-4  # rate


def calibrated(y: NDArray[np.int64], held_out: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of held-out pairs and of others, by a logistic regression."""
    center, scale = held_out.mean(), held_out.std() or 1.0
    columns = [((values - center) / scale)[:, None] for values in (held_out, scores)]
    model = LogisticRegression(C=1e3).fit(columns[0], y)
    first, second = (model.predict_proba(column)[:, 1] for column in columns)
    return first, second


def adjusted_count(y: NDArray[np.int64], held_out: Floats, probabilities: Floats) -> float:
    r"""Return the positive rate by the probabilistic adjusted count.

    With the mean probabilities :math:`a` of held-out positives, :math:`b` of held-out negatives and
    :math:`m` of the pairs without labels, the rate is :math:`(m - b) / (a - b)`, cut to 0 and 1
    (Bella et al. 2010).

    Parameters
    ----------
    y : ndarray
        Classes of the held-out pairs.
    held_out, probabilities : ndarray
        Of held-out pairs, and of those without labels.
    """
    positive, negative = held_out[y == 1].mean(), held_out[y == 0].mean()
    if positive <= negative:
        return float(y.mean())
    return float(np.clip((probabilities.mean() - negative) / (positive - negative), 0.0, 1.0))


def expectation_maximization(probabilities: Floats, rate: float, *, n_steps: int = 1000) -> float:
    """Return the positive rate by expectation maximization (Saerens et al. 2002).

    Parameters
    ----------
    probabilities : ndarray
        Of pairs without labels, calibrated on the training corpus.
    rate : float
        Positive rate of the training corpus.
    """
    clipped = np.clip(probabilities, 1e-12, 1 - 1e-12)
    odds, known, found = clipped / (1 - clipped), rate / (1 - rate), rate
    for _ in range(n_steps):
        shifted = odds * (found / (1 - found)) / known
        found = float(np.clip((shifted / (1 + shifted)).mean(), _SMALLEST, 1 - _SMALLEST))
    return found


def estimate_rates(y: NDArray[np.int64], held_out: Floats, scores: Floats) -> dict[str, float]:
    """Return estimates of the positive rate of pairs without labels, by method.

    Parameters
    ----------
    y, held_out : ndarray
        Classes and scores of held-out training pairs.
    scores : ndarray
        Scores of the pairs without labels.
    """
    known, found = calibrated(y, held_out, scores)
    return {
        "adjusted count": adjusted_count(y, known, found),
        "EM": expectation_maximization(found, float(y.mean())),
    }
