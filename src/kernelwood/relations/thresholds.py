"""Where to draw the line between relations and the rest, and what scores mean as probabilities.

Both are learned from held-out scores: of candidates by models that have not seen their documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import average_precision_score, roc_auc_score

from kernelwood.learners import fit_sigmoid

__all__ = [
    "THRESHOLDS",
    "Judged",
    "Line",
    "Rates",
    "draw_line",
    "positive_rate_threshold",
    "probability",
    "ranking",
    "rates",
]

Floats = NDArray[np.float64]

# How a threshold may be learned.
THRESHOLDS = ("f1", "cautious", "half")

_N_RESAMPLES = 1000


class Rates(NamedTuple):
    """Precision, recall and F1 of the relations that are predicted, types included."""

    precision: float
    recall: float
    f1: float


class Judged(NamedTuple):
    """Candidates with scores.

    Attributes
    ----------
    scores : ndarray, shape (n,)
        How much speaks for a relation; no scale is meant.
    positive : ndarray of bool, shape (n,)
        Which are relations.
    right : ndarray of bool, shape (n,)
        Whether the likeliest relation is the one that holds.
    """

    scores: Floats
    positive: NDArray[np.bool_]
    right: NDArray[np.bool_]


class Line(NamedTuple):
    """What is learned from held-out scores.

    Attributes
    ----------
    slope, offset : float
        The probability of a relation is ``expit(slope * score + offset)``.
    threshold : float
        The probability from which on a relation holds.
    """

    slope: float
    offset: float
    threshold: float


def draw_line(
    judged: Judged, documents: Sequence[str], threshold: str | float, *, seed: int = 0
) -> Line:
    """Return the sigmoid that turns scores into probabilities, and the threshold on these.

    Parameters
    ----------
    judged : Judged
        Held-out candidates.
    documents : sequence of str, length n
        The documents of the candidates, for ``"cautious"``.
    threshold : {"f1", "cautious", "half"} or float
        The best F1; the lowest threshold whose F1 is within a standard error (a bootstrap over
        documents) of the best, since scores are lower on texts unlike those that were learned
        from; one half; or a probability.
    seed : int
        Of the bootstrap.

    Examples
    --------
    >>> positive = np.array([False, False, False, True, True])
    >>> judged = Judged(np.array([0.1, 0.2, 0.6, 0.4, 0.9]), positive, positive)
    >>> line = draw_line(judged, list("abcde"), "f1")
    >>> (probability(judged.scores, line) >= line.threshold).tolist()
    [False, False, True, True, True]
    """
    slope, offset = fit_sigmoid(judged.scores, judged.positive)
    if threshold == "half" or not isinstance(threshold, str):
        return Line(slope, offset, 0.5 if threshold == "half" else float(threshold))
    values, f1 = _curve(judged)
    at = int(f1.argmax())
    if threshold == "cautious":
        error = _standard_error(judged, judged.scores >= values[at], documents, seed)
        at = int(np.flatnonzero(f1 >= f1[at] - error)[-1])
    line = Line(slope, offset, 0.0)
    return line._replace(threshold=float(probability(_halfway(values, at), line)))


def positive_rate_threshold(scores: Any, share: float) -> float:
    """Return the threshold that a given share of scores reaches; more do if some are equal.

    Examples
    --------
    >>> positive_rate_threshold([0.1, 0.7, 0.4, 0.2], 0.5)
    0.4
    """
    n = max(1, round(share * len(scores)))
    return float(np.sort(scores)[-n])


def probability(scores: Any, line: Line) -> Any:
    """Return how likely relations are, given scores; rising with them, whatever the rounding."""
    return expit(line.slope * np.asarray(scores, dtype=np.float64) + line.offset)


def rates(judged: Judged, predicted: NDArray[np.bool_]) -> Rates:
    """Return precision, recall and F1 of predicted relations; 0 where nothing is divided.

    Examples
    --------
    >>> yes = np.array([True, True, False])
    >>> rates(Judged(np.zeros(3), yes, yes), np.array([True, False, False]))
    Rates(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    right = float(np.sum(judged.positive & judged.right & predicted))
    found, true = float(np.sum(predicted)), float(np.sum(judged.positive))
    return Rates(
        precision=right / found if found else 0.0,
        recall=right / true if true else 0.0,
        f1=2 * right / (found + true) if found + true else 0.0,
    )


def ranking(positive: NDArray[np.bool_], scores: Floats) -> tuple[float | None, float | None]:
    """Return the area under the ROC curve and the average precision; None if one class is missing.

    Examples
    --------
    >>> ranking(np.array([False, True]), np.array([0.2, 0.7]))
    (1.0, 1.0)
    """
    if not positive.any() or positive.all():
        return None, None
    return (
        float(roc_auc_score(positive, scores)),
        float(average_precision_score(positive, scores)),
    )


def _curve(judged: Judged) -> tuple[Floats, Floats]:
    """Return the distinct scores, falling, and the F1 if all from there on are relations."""
    values, places = np.unique(-judged.scores, return_inverse=True)
    found = np.cumsum(np.bincount(places))
    right = np.cumsum(np.bincount(places, weights=judged.positive & judged.right))
    return -values, 2 * right / (found + np.sum(judged.positive))


def _halfway(values: Floats, at: int) -> float:
    return float(values[at] if at + 1 == len(values) else (values[at] + values[at + 1]) / 2)


def _standard_error(
    judged: Judged, predicted: NDArray[np.bool_], documents: Sequence[str], seed: int
) -> float:
    """Return the deviation of F1 when documents are drawn anew, with replacement."""
    numbers = np.unique(np.asarray(documents), return_inverse=True)[1]
    right = np.bincount(numbers, weights=judged.positive & judged.right & predicted)
    both = np.bincount(numbers, weights=predicted.astype(float) + judged.positive)
    n = len(right)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=_N_RESAMPLES)
    # Counts: sums of whole numbers are exact in any order.
    sums = weights @ both
    f1 = 2 * (weights @ right) / np.where(sums == 0, 1, sums)
    return float(f1.std(ddof=1))
