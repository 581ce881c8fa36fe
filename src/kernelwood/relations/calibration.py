"""Calibration: probabilities and the decision threshold, from scores of held-out documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import average_precision_score, roc_auc_score

from kernelwood.learners import fit_sigmoid

Floats = NDArray[np.float64]

# Rules for learning the decision threshold.
THRESHOLDS = ("f1", "cautious", "half")

_N_RESAMPLES = 1000


class Rates(NamedTuple):
    """Precision, recall and F1 of the relations that are predicted, types included."""

    precision: float
    recall: float
    f1: float


class ScoredCandidates(NamedTuple):
    """Candidates with scores.

    Attributes
    ----------
    scores : ndarray, shape (n,)
        Higher for relations; the scale does not matter.
    positive : ndarray of bool, shape (n,)
        Which are relations.
    right : ndarray of bool, shape (n,)
        Whether the most probable relation is the annotated one.
    """

    scores: Floats
    positive: NDArray[np.bool_]
    right: NDArray[np.bool_]


class Calibration(NamedTuple):
    """How scores become probabilities and decisions.

    Attributes
    ----------
    slope, offset : float
        The probability of a relation is ``expit(slope * score + offset)``.
    threshold : float
        The decision threshold, a probability.
    """

    slope: float
    offset: float
    threshold: float


def calibrate(
    scored: ScoredCandidates, documents: Sequence[str], threshold: str | float, *, seed: int = 0
) -> Calibration:
    """Return the sigmoid that turns scores into probabilities, and the threshold on these.

    Parameters
    ----------
    scored : ScoredCandidates
        Held-out candidates.
    documents : sequence of str, length n
        The documents of the candidates, for ``"cautious"``.
    threshold : {"f1", "cautious", "half"} or float
        ``"f1"`` maximizes F1; ``"cautious"`` is the lowest threshold whose F1 is within one
        standard error (a bootstrap over documents) of the best, since scores are lower on texts
        unlike the training corpus; ``"half"`` is 0.5; or a probability.
    seed : int
        Of the bootstrap.

    Examples
    --------
    >>> positive = np.array([False, False, False, True, True])
    >>> scored = ScoredCandidates(np.array([0.1, 0.2, 0.6, 0.4, 0.9]), positive, positive)
    >>> calibration = calibrate(scored, list("abcde"), "f1")
    >>> (probability(scored.scores, calibration) >= calibration.threshold).tolist()
    [False, False, True, True, True]
    """
    slope, offset = fit_sigmoid(scored.scores, scored.positive)
    if threshold == "half" or not isinstance(threshold, str):
        return Calibration(slope, offset, 0.5 if threshold == "half" else float(threshold))
    values, f1 = _curve(scored)
    at = int(f1.argmax())
    if threshold == "cautious":
        error = _standard_error(scored, scored.scores >= values[at], documents, seed)
        at = int(np.flatnonzero(f1 >= f1[at] - error)[-1])
    calibration = Calibration(slope, offset, 0.0)
    return calibration._replace(threshold=float(probability(_halfway(values, at), calibration)))


def positive_rate_threshold(scores: Any, positive_rate: float) -> float:
    """Return the threshold that a fraction of the scores reaches; with ties, more do.

    Examples
    --------
    >>> positive_rate_threshold([0.1, 0.7, 0.4, 0.2], 0.5)
    0.4
    """
    n = max(1, round(positive_rate * len(scores)))
    return float(np.sort(scores)[-n])


def probability(scores: Any, calibration: Calibration) -> Any:
    """Return the calibrated probabilities of scores; they never fall as scores rise."""
    return expit(calibration.slope * np.asarray(scores, dtype=np.float64) + calibration.offset)


def rates(scored: ScoredCandidates, predicted: NDArray[np.bool_]) -> Rates:
    """Return precision, recall and F1 of predicted relations; 0 instead of 0/0.

    Examples
    --------
    >>> yes = np.array([True, True, False])
    >>> rates(ScoredCandidates(np.zeros(3), yes, yes), np.array([True, False, False]))
    Rates(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    right = float(np.sum(scored.positive & scored.right & predicted))
    found, true = float(np.sum(predicted)), float(np.sum(scored.positive))
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


def _curve(scored: ScoredCandidates) -> tuple[Floats, Floats]:
    """Return the distinct scores, descending, and the F1 with each of them as threshold."""
    values, places = np.unique(-scored.scores, return_inverse=True)
    found = np.cumsum(np.bincount(places))
    right = np.cumsum(np.bincount(places, weights=scored.positive & scored.right))
    return -values, 2 * right / (found + np.sum(scored.positive))


def _halfway(values: Floats, at: int) -> float:
    return float(values[at] if at + 1 == len(values) else (values[at] + values[at + 1]) / 2)


def _standard_error(
    scored: ScoredCandidates, predicted: NDArray[np.bool_], documents: Sequence[str], seed: int
) -> float:
    """Return the bootstrap standard error of F1, documents being drawn with replacement."""
    numbers = np.unique(np.asarray(documents), return_inverse=True)[1]
    right = np.bincount(numbers, weights=scored.positive & scored.right & predicted)
    both = np.bincount(numbers, weights=predicted.astype(float) + scored.positive)
    n = len(right)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=_N_RESAMPLES)
    # Counts: sums of whole numbers are exact in any order.
    sums = weights @ both
    f1 = 2 * (weights @ right) / np.where(sums == 0, 1, sums)
    return float(f1.std(ddof=1))
