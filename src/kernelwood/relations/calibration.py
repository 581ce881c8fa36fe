"""Calibration: class probabilities and the decision threshold, from scores of held-out documents.

Scores of a classifier become probabilities in two steps. A softmax with a slope and an offset for
each class (vector scaling) gives a distribution over ``"none"`` and the relations. A curve of three
numbers (beta calibration) then corrects the probability of the most probable relation, which is the
one that users see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import one_blas_thread
from kernelwood.evaluate import reliability

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Rules for learning the decision threshold.
THRESHOLDS = ("f1", "cautious", "half")

_N_RESAMPLES = 1000
_LOWEST = -20.0  # scores below count as this: a class that a fold has not seen has no score
_SMALLEST = 1e-9  # probability whose logarithm is taken
# Penalties on slopes that differ from their mean, on offsets, and on a curve that is not straight.
_MINIMIZER: dict[str, Any] = {
    "method": "L-BFGS-B",
    "options": {"maxiter": 2000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-9},
}
_SLOPE_PENALTY, _OFFSET_PENALTY, _CURVE_PENALTY = 10.0, 1.0, 1.0


class Rates(NamedTuple):
    """Precision, recall and F1 of the relations that are predicted, types included."""

    precision: float
    recall: float
    f1: float


class Calibration(NamedTuple):
    """Conversion of scores to probabilities and decisions.

    Attributes
    ----------
    slopes, offsets : ndarray, shape (n_classes,)
        Parameters of the softmax: classes have the logits ``slopes * scores + offsets``.
    curve : ndarray, shape (3,)
        The most probable relation, of probability p by the softmax, has the calibrated probability
        ``expit(curve[0] * log(p) - curve[1] * log(1 - p) + curve[2])``.
    threshold : float
        The decision threshold, a probability of the most probable relation.
    """

    slopes: Floats
    offsets: Floats
    curve: Floats
    threshold: float

    def probabilities(self, scores: Floats, none: int) -> Floats:
        """Return the calibrated probability of each class, shape (n, n_classes).

        Parameters
        ----------
        scores : ndarray, shape (n, n_classes)
        none : int
            Column of ``"none"``.

        Examples
        --------
        >>> calibration = Calibration(np.ones(2), np.zeros(2), np.array([1.0, 1.0, 0.0]), 0.5)
        >>> calibration.probabilities(np.array([[0.0, 0.0], [-1.0, 1.0]]), none=0).round(2)
        array([[0.5 , 0.5 ],
               [0.12, 0.88]])
        """
        from scipy.special import log_softmax

        logits = self.slopes * np.maximum(scores, _LOWEST) + self.offsets
        made: Floats = np.exp(log_softmax(logits, axis=1))
        rows, best = np.arange(len(made)), best_relation(made, none)
        before = np.clip(made[rows, best], _SMALLEST, 1 - _SMALLEST)
        after = _bent(before, self.curve)
        # Other relations keep their order below the best one; "none" gets what is left.
        made *= np.minimum((1 - after) / (1 - before), after / before)[:, None]
        made[rows, best] = after
        made[:, none] = 0.0
        made[:, none] = np.maximum(0.0, 1.0 - made.sum(axis=1))
        return made

    def held(self, scores: Floats, classes: Indices, none: int) -> Held:
        """Return annotated candidates with the calibrated most probable relation of each.

        Parameters
        ----------
        scores, none
            As in `probabilities`.
        classes : ndarray of int, shape (n,)
            The annotated class of each candidate.
        """
        probabilities = self.probabilities(scores, none)
        best = best_relation(probabilities, none)
        shown = probabilities[np.arange(len(best)), best]
        return Held(shown, classes != none, classes == best, best, 1.0 - probabilities[:, none])


def best_relation(probabilities: Floats, none: int) -> Indices:
    """Return the column of the most probable class that is not ``"none"``.

    Examples
    --------
    >>> best_relation(np.array([[0.7, 0.1, 0.2]]), none=0)
    array([2])
    """
    others = np.delete(np.arange(probabilities.shape[1]), none)
    best: Indices = others[probabilities[:, others].argmax(axis=1)]
    return best


class Held(NamedTuple):
    """Held-out candidates whose most probable relation is known.

    Attributes
    ----------
    probabilities : ndarray, shape (n,)
        Of the most probable relation.
    positive : ndarray of bool, shape (n,)
        Which candidates are relations.
    right : ndarray of bool, shape (n,)
        Whether the most probable relation is the annotated one.
    best : ndarray of int, shape (n,)
        The most probable relation.
    related : ndarray, shape (n,)
        The probability of any relation.
    """

    probabilities: Floats
    positive: NDArray[np.bool_]
    right: NDArray[np.bool_]
    best: Indices
    related: Floats


def calibrate(
    scores: Floats,
    classes: Indices,
    none: int,
    documents: Sequence[str],
    threshold: Any,
    *,
    seed: int = 0,
) -> Calibration:
    r"""Return the calibration of scores of held-out candidates.

    Parameters
    ----------
    scores : ndarray, shape (n, n_classes)
        Margins or log-probabilities of classes.
    classes : ndarray of int, shape (n,)
        The annotated class of each candidate, a column of ``scores``.
    none : int
        Column of ``"none"``.
    documents : sequence of str, length n
        The documents of the candidates, for ``"cautious"``.
    threshold : {"f1", "cautious", "half"}, float or mapping
        ``"f1"`` maximizes F1; ``"cautious"`` is the lowest threshold whose F1 is within one
        standard error (a bootstrap over documents) of the best, since scores are lower on texts
        unlike the training corpus; ``"half"`` is 0.5; or a probability. With a mapping, of the
        types it does not name.
    seed : int
        Of the bootstrap.

    References
    ----------
    .. [1] \C. Guo, G. Pleiss, Y. Sun, K. Weinberger, "On calibration of modern neural networks",
       ICML 2017.
    .. [2] \M. Kull, T. Silva Filho, P. Flach, "Beta calibration", AISTATS 2017.

    Examples
    --------
    >>> scores = np.array([[0.9, -0.9], [0.8, -0.7], [-0.2, 0.1], [-0.5, 0.6], [-0.9, 0.8]])
    >>> calibration = calibrate(scores, np.array([0, 0, 0, 1, 1]), 0, list("abcde"), "f1")
    >>> (calibration.probabilities(scores, 0)[:, 1] >= calibration.threshold).tolist()
    [False, False, False, True, True]
    """
    scores = np.maximum(scores, _LOWEST)
    slopes, offsets = fit_softmax(scores, classes)
    straight = Calibration(slopes, offsets, np.array([1.0, 1.0, 0.0]), 0.5)
    before = straight.held(scores, classes, none)
    calibration = straight._replace(curve=fit_curve(before.probabilities, before.right))
    if not isinstance(threshold, str):
        given = isinstance(threshold, (int, float))
        return calibration._replace(threshold=float(threshold) if given else 0.5)
    if threshold == "half":
        return calibration
    held = calibration.held(scores, classes, none)
    values, f1 = _curve(held)
    at = int(f1.argmax())
    if threshold == "cautious":
        error = _standard_error(held, held.probabilities >= values[at], documents, seed)
        at = int(np.flatnonzero(f1 >= f1[at] - error)[-1])
    return calibration._replace(threshold=_halfway(values, at))


def held_out_error(
    scores: Floats, classes: Indices, none: int, folds: Indices, threshold: float
) -> float | None:
    """Return the expected calibration error of predicted relations, calibrated on other folds.

    Parameters
    ----------
    scores, classes, none
        As in `calibrate`.
    folds : ndarray of int, shape (n,)
    threshold : float
        Relations with a probability of at least this are predicted.

    Returns
    -------
    float or None
        None if no relation is predicted.
    """
    shown, right = np.zeros(len(classes)), np.zeros(len(classes), dtype=bool)
    for fold in np.unique(folds).tolist():
        test = folds == fold
        calibration = calibrate(scores[~test], classes[~test], none, (), "half")
        held = calibration.held(scores[test], classes[test], none)
        shown[test], right[test] = held.probabilities, held.right
    predicted = shown >= threshold
    if not predicted.any():
        return None
    return reliability(shown[predicted], right[predicted]).error


def fit_softmax(scores: Floats, classes: Indices) -> tuple[Floats, Floats]:
    """Return slopes and offsets of a softmax that predicts classes from their scores.

    The targets are smoothed as Platt's: a class of n examples has the target (n + 1) / (n + 2),
    and the others share the rest, so that separable scores have finite slopes.

    Examples
    --------
    >>> scores = np.array([[1.0, -1.0], [0.5, -0.5], [-0.5, 0.5], [-1.0, 1.0]])
    >>> slopes, offsets = fit_softmax(scores, np.array([0, 0, 1, 1]))
    >>> bool((slopes > 0.3).all()), bool(abs(offsets[0] - offsets[1]) < 1e-3)
    (True, True)
    """
    from scipy.special import log_softmax

    n, n_classes = scores.shape
    counts = np.bincount(classes, minlength=n_classes)
    missing = 1.0 / (counts[classes] + 2.0)
    targets = np.repeat((missing / max(1, n_classes - 1))[:, None], n_classes, axis=1)
    targets[np.arange(n), classes] = 1.0 - missing

    def loss(line: Floats) -> tuple[float, Floats]:
        slopes, offsets = line[:n_classes], line[n_classes:]
        logs = log_softmax(scores * slopes + offsets, axis=1)
        errors = np.exp(logs) - targets
        apart = slopes - slopes.mean()
        value = -(targets * logs).sum() + _SLOPE_PENALTY / 2 * (apart @ apart)
        value += _OFFSET_PENALTY / 2 * (offsets @ offsets)
        gradient = np.concatenate(
            [
                (errors * scores).sum(axis=0) + _SLOPE_PENALTY * apart,
                errors.sum(axis=0) + _OFFSET_PENALTY * offsets,
            ]
        )
        return float(value), gradient

    start = np.concatenate([np.ones(n_classes), np.zeros(n_classes)])
    bounds = [(0.0, None)] * n_classes + [(None, None)] * n_classes  # never fall with scores
    found = _minimum(loss, start, bounds)
    return found[:n_classes].copy(), found[n_classes:].copy()


def fit_curve(probabilities: Floats, right: NDArray[np.bool_]) -> Floats:
    """Return the curve that corrects probabilities of what is right or wrong; see `Calibration`.

    Few candidates leave it close to the straight line ``[1, 1, 0]``.

    Examples
    --------
    >>> curve = fit_curve(np.array([0.2, 0.8]), np.array([False, True]))
    >>> bool(np.abs(curve - [1, 1, 0]).max() < 0.3)
    True
    """
    from scipy.special import expit, log_expit

    clipped = np.clip(probabilities, _SMALLEST, 1 - _SMALLEST)
    columns = np.stack([np.log(clipped), -np.log1p(-clipped), np.ones(len(clipped))], axis=1)
    straight = np.array([1.0, 1.0, 0.0])

    def loss(curve: Floats) -> tuple[float, Floats]:
        logits = (columns * curve).sum(axis=1)
        apart = curve - straight
        value = -np.where(right, log_expit(logits), log_expit(-logits)).sum()
        value += _CURVE_PENALTY / 2 * (apart @ apart)
        errors = expit(logits) - right
        return float(value), (errors[:, None] * columns).sum(axis=0) + _CURVE_PENALTY * apart

    bounds = [(0.0, None), (0.0, None), (None, None)]
    return _minimum(loss, straight, bounds)


def _minimum(
    loss: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: Sequence[tuple[float | None, float | None]],
) -> Floats:
    """Return the parameters with the smallest loss; the loss comes with its gradient."""
    from scipy.optimize import minimize

    # L-BFGS factors matrices of a few rows, where LAPACK's threads cost 20 times what they save.
    with one_blas_thread():
        found: Floats = minimize(loss, start, jac=True, bounds=bounds, **_MINIMIZER).x
    return found.copy()


def _bent(probabilities: Floats, curve: Floats) -> Floats:
    """Return probabilities from 0 to 1, exclusive, corrected by a curve."""
    from scipy.special import expit

    logits = curve[0] * np.log(probabilities) - curve[1] * np.log1p(-probabilities) + curve[2]
    made: Floats = np.clip(expit(logits), _SMALLEST, 1 - _SMALLEST)
    return made


def positive_rate_threshold(scores: Any, positive_rate: float) -> float:
    """Return the threshold reached by a fraction of the scores, or by more if there are ties.

    Examples
    --------
    >>> positive_rate_threshold([0.1, 0.7, 0.4, 0.2], 0.5)
    0.4
    """
    n = max(1, round(positive_rate * len(scores)))
    return float(np.sort(scores)[-n])


def rates(held: Held, predicted: NDArray[np.bool_], n_missed: int = 0) -> Rates:
    """Return precision, recall and F1 of predicted relations; 0 instead of 0/0.

    ``n_missed`` relations are not among the candidates.

    Examples
    --------
    >>> yes = np.array([True, True, False])
    >>> held = Held(np.zeros(3), yes, yes, np.zeros(3, int), np.zeros(3))
    >>> rates(held, np.array([True, False, False]))
    Rates(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    right = float(np.sum(held.right & predicted))
    found, true = float(np.sum(predicted)), float(np.sum(held.positive)) + n_missed
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
    places = np.unique(-scores, return_inverse=True)[1]  # equal scores have one place
    right = np.bincount(places, weights=positive)
    found = np.cumsum(np.bincount(places))
    held = np.cumsum(right)
    # Pairs of a positive and a negative in the right order; equal scores count half.
    wrong = np.bincount(places) - right
    ordered = np.sum(wrong * (held - right / 2))
    area = ordered / (held[-1] * (len(scores) - held[-1]))
    return float(area), float(np.sum(right * held / found) / held[-1])


def _curve(held: Held) -> tuple[Floats, Floats]:
    """Return the distinct probabilities, descending, and the F1 with each as threshold."""
    values, places = np.unique(-held.probabilities, return_inverse=True)
    found = np.cumsum(np.bincount(places))
    right = np.cumsum(np.bincount(places, weights=held.right))
    return -values, 2 * right / (found + np.sum(held.positive))


def _halfway(values: Floats, at: int) -> float:
    return float(values[at] if at + 1 == len(values) else (values[at] + values[at + 1]) / 2)


def _standard_error(
    held: Held, predicted: NDArray[np.bool_], documents: Sequence[str], seed: int
) -> float:
    """Return the bootstrap standard error of F1, documents being drawn with replacement."""
    numbers = np.unique(np.asarray(documents), return_inverse=True)[1]
    right = np.bincount(numbers, weights=held.right & predicted)
    both = np.bincount(numbers, weights=predicted.astype(float) + held.positive)
    n = len(right)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=_N_RESAMPLES)
    # Counts: sums of whole numbers are exact in any order.
    sums = weights @ both
    f1 = 2 * (weights @ right) / np.where(sums == 0, 1, sums)
    return float(f1.std(ddof=1))
