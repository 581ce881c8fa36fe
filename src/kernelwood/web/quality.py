"""Estimates of the quality of the live model, and of the gain from more labels.

Checks, candidates drawn at random with known probabilities, represent the undecided candidates;
``docs/teaching-orders.md`` compares estimates with the true F1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwood.evaluate import Estimate
from kernelwood.relations import NONE
from kernelwood.web.teaching import TeachingModel, agree

Floats = NDArray[np.float64]

_Z = 1.959963984540054  # 97.5 % quantile of the normal distribution
_WINDOW, _STEP = 50, 10  # checks of a point of the curve, and from point to point
_FEWEST_POINTS = 3
# Prior of the exponent of the error by number of labels: mean and standard deviation in simulated
# teaching on AIMed, BioInfer and SemEval-2010 task 8.
_EXPONENT, _EXPONENT_SPREAD = -0.15, 0.05
_LEAST_ERROR = 1e-3  # of 1 - F1, whose logarithm is taken
_SMALL_GAIN = 0.01  # a gain that is not worth the labels


class Decided(Protocol):
    """The fields of a decision that estimates read."""

    @property
    def candidate(self) -> int:
        """Row number."""

    @property
    def label(self) -> str | None:
        """Class; None if the candidate was skipped."""

    @property
    def predicted(self) -> str | None:
        """Class that was predicted before the decision; None without a model."""

    @property
    def weight(self) -> float | None:
        """1 / (n q) of a check, drawn with probability q out of n candidates; None of others."""


class Quality(NamedTuple):
    """Estimated quality of predictions.

    Attributes
    ----------
    f1, precision, recall : Estimate or None
        With 95 % intervals; None if no check tells.
    n_checks : int
        Number of checks.
    n_relations : int
        True relations among them.
    """

    f1: Estimate | None
    precision: Estimate | None
    recall: Estimate | None
    n_checks: int
    n_relations: int


class CurvePoint(NamedTuple):
    """F1 after some decisions, with a 95 % interval."""

    n_decisions: int
    f1: float
    low: float
    high: float


class Outlook(NamedTuple):
    """What more labels are likely to bring.

    Attributes
    ----------
    text : str
        A sentence.
    gain : float or None
        Expected increase of F1; None with too few checks.
    """

    text: str
    gain: float | None


class ThresholdRow(NamedTuple):
    """Expected quality and number of predicted relations with a decision threshold.

    Without predicted relations, precision is None.
    """

    threshold: float
    precision: float | None
    recall: float
    f1: float
    n_predicted: int


class _Check(NamedTuple):
    label: str
    predicted: str
    weight: float


def estimate(log: Iterable[Decided], model: TeachingModel | None = None) -> Quality:
    """Return the quality of predictions for undecided candidates, estimated on checks.

    With a model, of its predictions; those for a labeled candidate come from labels of other
    documents. Without one, of the predictions that were stored before the decisions: early ones
    come from weaker models, so the estimate is rather low.

    Parameters
    ----------
    log : iterable of Decision
        Decisions that are not undone. Of several on a candidate the last one counts.
    model : TeachingModel, optional

    Examples
    --------
    >>> from kernelwood.web import Decision
    >>> facts = [("Binds", "Binds"), ("Binds", "none"), ("none", "none")]
    >>> log = [
    ...     Decision(i, i, i, label, 0.0, "me", "", predicted, 0.5, 1.0, 1)
    ...     for i, (label, predicted) in enumerate(facts)
    ... ]
    >>> quality = estimate(log)
    >>> quality.precision, quality.n_relations
    (1.000 [0.207, 1.000], 2)
    """
    latest: dict[int, Decided] = {}
    weights: dict[int, float] = {}
    for one in log:
        latest[one.candidate] = one
        if one.weight is not None:
            weights[one.candidate] = one.weight
    columns = None if model is None else model.predicted()
    checks: list[_Check] = []
    for row, weight in weights.items():
        label, predicted = latest[row].label, latest[row].predicted
        if model is not None and columns is not None:
            predicted = model.classes[int(columns[row])]
        if label is not None and predicted is not None:
            checks.append(_Check(label, predicted, weight))
    return _quality(checks)


def _quality(checks: Sequence[_Check]) -> Quality:
    weights = np.array([one.weight for one in checks], dtype=np.float64)
    true = np.array([one.label != NONE for one in checks], dtype=bool)
    positive = np.array([one.predicted != NONE for one in checks], dtype=bool)
    right = true & np.array([agree(one.label, one.predicted) for one in checks], dtype=bool)
    f1 = None
    # F1 = 2 J / (1 + J), where another class is both a wrong relation and a missed one.
    twice = np.where(true & positive & ~right, 2.0, 1.0)
    jaccard = fraction(right, true | positive, weights * twice)
    if jaccard is not None:
        ends = (float(jaccard), jaccard.low or 0.0, jaccard.high or 0.0)
        f1 = Estimate(*(2 * end / (1 + end) for end in ends))
    return Quality(
        f1,
        fraction(right, positive, weights),
        fraction(right, true, weights),
        len(checks),
        int(true.sum()),
    )


def fraction(part: Any, whole: Any, weights: Floats) -> Estimate | None:
    r"""Return the weighted fraction of a part with Wilson's interval, None if the whole is empty.

    The sample size is the effective one, :math:`(\sum w)^2 / \sum w^2`.

    Parameters
    ----------
    part, whole : ndarray of bool, shape (n,)
    weights : ndarray, shape (n,)

    Examples
    --------
    >>> fraction(np.array([True, False]), np.array([True, True]), np.array([1.0, 3.0]))
    0.250 [0.022, 0.831]
    """
    some = weights[whole]
    if not len(some):
        return None
    rate = float(weights[part & whole].sum() / some.sum())
    size = float(some.sum() ** 2 / (some**2).sum())
    middle = (rate + _Z**2 / (2 * size)) / (1 + _Z**2 / size)
    half = _Z / (1 + _Z**2 / size) * np.sqrt(rate * (1 - rate) / size + _Z**2 / (4 * size**2))
    return Estimate(rate, max(0.0, float(middle - half)), min(1.0, float(middle + half)))


def curve(log: Iterable[Decided]) -> list[CurvePoint]:
    """Return F1 by number of decisions, from the predictions stored before them.

    There is a point after every 10 checks, from the last 50.
    """
    points: list[CurvePoint] = []
    checks: list[Decided] = []
    for n, one in enumerate(log, start=1):
        if one.weight is None or one.predicted is None or one.label is None:
            continue
        checks.append(one)
        if len(checks) % _STEP == 0:
            f1 = estimate(checks[-_WINDOW:]).f1
            if f1 is not None:
                points.append(CurvePoint(n, float(f1), f1.low or 0.0, f1.high or 0.0))
    return points


def outlook(points: Sequence[CurvePoint], *, more: int = 200) -> Outlook:
    """Return what more labels are likely to bring.

    The error 1 - F1 is taken to fall as a power of the number of decisions. Its exponent is
    estimated from the curve, and drawn to the typical one if the curve is uncertain.

    Parameters
    ----------
    points : sequence of CurvePoint
        As `curve` returns them.
    more : int
        Number of further labels, at most that of the undecided candidates; the text is empty if
        there are none.

    Examples
    --------
    >>> points = [CurvePoint(n, 1 - 0.9 * n**-0.15, 0.3, 0.7) for n in (50, 100, 150, 200)]
    >>> outlook(points).text
    'The next 200 labels are likely to raise F1 by about 0.04.'
    """
    if more < 1:
        return Outlook("", None)
    if len(points) < _FEWEST_POINTS:
        return Outlook("Too few checks to estimate what more labels would bring.", None)
    x = np.log([float(point.n_decisions) for point in points])
    errors = np.array([max(1 - point.f1, _LEAST_ERROR) for point in points])
    widths = np.array([max(point.high - point.low, _LEAST_ERROR) for point in points])
    # Points share checks with those before: each counts for a part of one.
    precisions = (2 * _Z * errors / widths) ** 2 * (_STEP / _WINDOW)
    y, around = np.log(errors), x - np.average(x, weights=precisions)
    known = float(precisions @ around**2)
    prior = 1 / _EXPONENT_SPREAD**2
    exponent = (float(precisions @ (around * y)) + prior * _EXPONENT) / (known + prior)
    exponent = min(0.0, exponent)
    last = float(np.average(y, weights=precisions) + exponent * around[-1])
    n = points[-1].n_decisions
    gain = float(np.exp(last)) * (1 - ((n + more) / n) ** exponent)
    text = "The next label is" if more == 1 else f"The next {more} labels are"
    if gain < _SMALL_GAIN:
        text = f"{text} likely to raise F1 by less than {_SMALL_GAIN:g}."
        return Outlook(f"{text} More labels are hardly worth it.", gain)
    return Outlook(f"{text} likely to raise F1 by about {gain:.2f}.", gain)


def threshold_table(
    model: TeachingModel, rows: Any = None, thresholds: Sequence[float] | None = None
) -> list[ThresholdRow]:
    """Return the expected quality by decision threshold, from calibrated probabilities.

    Parameters
    ----------
    model : TeachingModel
    rows : ndarray of bool or int, optional
        Candidates that count; by default all.
    thresholds : sequence of float, optional
        By default 0.05, 0.1, ... 0.95.
    """
    _, best = model.relations()
    some = slice(None) if rows is None else rows
    right = best[some].astype(np.float64)
    related = float((1.0 - model.probabilities[some, model.none].astype(np.float64)).sum())
    table = []
    for threshold in [step / 20 for step in range(1, 20)] if thresholds is None else thresholds:
        chosen = right >= threshold
        found, n = float(right[chosen].sum()), int(chosen.sum())
        table.append(
            ThresholdRow(
                float(threshold),
                found / n if n else None,
                found / related if related else 0.0,
                2 * found / (n + related) if n + related else 0.0,
                n,
            )
        )
    return table


def changes(before: TeachingModel, after: TeachingModel) -> dict[str, int]:
    """Return how many predictions differ between two models.

    Returns
    -------
    dict
        Numbers of ``"new"`` relations, of ``"withdrawn"`` ones, and of relations with another class
        (``"other_type"``).
    """
    old = np.array(before.classes)[before.predicted()]
    new = np.array(after.classes)[after.predicted()]
    return {
        "new": int(((old == NONE) & (new != NONE)).sum()),
        "withdrawn": int(((old != NONE) & (new == NONE)).sum()),
        "other_type": int(((old != NONE) & (new != NONE) & (old != new)).sum()),
    }
