"""Precision, recall, F1 and accuracy with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.class_labels import (
    ClassLabel,
    Encoded,
    Groups,
    encode,
    encode_groups,
    encode_positive,
    show,
)
from kernelwood.evaluate.intervals import score_intervals
from kernelwood.evaluate.resampling import (
    Counts,
    Units,
    check_resampling,
    draw_bootstrap,
    weigh,
)
from kernelwood.evaluate.table_rendering import TabularResult, label_text, text_table
from kernelwood.seeds import resolve_seed

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


class Estimate(float):
    """A float with a confidence interval.

    Parameters
    ----------
    value : float
        The number.
    low, high : float, optional
        The ends of the interval; None if it was not computed.

    Examples
    --------
    >>> accuracy = Estimate(0.9, 0.85, 0.94)
    >>> accuracy
    0.900 [0.850, 0.940]
    >>> accuracy > 0.8, accuracy.low, f"{accuracy:.1f}"
    (True, 0.85, '0.9')
    """

    __slots__ = ("_high", "_low")

    _low: float | None
    _high: float | None

    def __new__(cls, value: float, low: float | None = None, high: float | None = None) -> Estimate:
        """Make a float with an interval."""
        self = super().__new__(cls, value)
        self._low, self._high = low, high
        return self

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return self._low

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return self._high

    def to_dict(self) -> dict[str, float | None]:
        """Return plain JSON values."""
        return {"value": float(self), "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self:.3f}"
        return f"{self:.3f} [{self.low:.3f}, {self.high:.3f}]"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return (Estimate, (float(self), self.low, self.high))


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of a number over several runs.

    Attributes
    ----------
    mean : float
        The mean.
    deviation : float
        The sample standard deviation (divided by n - 1); 0 for a single run.
    n_runs : int
        Number of runs.

    Examples
    --------
    >>> Spread.of([0.5, 1.5])
    Spread(mean=1.0, deviation=0.7071067811865476, n_runs=2)
    >>> str(Spread.of([0.5, 0.7]))
    '0.600 ± 0.141'
    """

    mean: float
    deviation: float
    n_runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return mean and standard deviation of one or more numbers."""
        deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), deviation, len(values))

    def to_dict(self) -> dict[str, float]:
        """Return plain JSON values."""
        return {"mean": self.mean, "deviation": self.deviation, "n_runs": self.n_runs}

    def __str__(self) -> str:
        if self.n_runs == 1:
            return f"{self.mean:,.3f}"
        return f"{self.mean:,.3f} ± {self.deviation:,.3f}"


def measures(counts: Counts, positive: Sequence[int]) -> Values:
    """Return the values of :data:`METRICS` for each row of counts.

    Parameters
    ----------
    counts : ndarray of int64, shape (n, 3 * n_classes)
        Correct, true and predicted examples of each class.
    positive : sequence of int
        The classes that are averaged.

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
    """Return the index of a metric in :data:`METRICS`."""
    if metric not in METRICS:
        raise KernelInputError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}")
    if positive is None and metric in ("precision", "recall", "f1"):
        raise KernelInputError(
            f"metric={metric!r} over all classes is the accuracy; name the positive classes with "
            f"positive=..., or use metric='macro_{metric}'"
        )
    return METRICS.index(metric)


def _split(counts: Counts) -> tuple[Counts, Counts, Counts]:
    n_classes = counts.shape[1] // 3
    right, true, predicted = counts.reshape(len(counts), 3, n_classes).transpose(1, 0, 2)
    return right, true, predicted


def _rates(right: Counts, true: Counts, predicted: Counts) -> tuple[Values, Values, Values]:
    return _ratio(right, predicted), _ratio(right, true), _ratio(2 * right, true + predicted)


def _ratio(part: Counts, whole: Counts) -> Values:
    """Return the quotient, 0 where the divisor is 0."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Measures of one class.

    Attributes
    ----------
    label : str, number or tuple
        The class.
    precision, recall, f1 : Estimate
        Fractions of the predicted and of the true examples that are correct, and their harmonic
        mean.
    support, predicted : int
        Number of examples that have, and that were predicted to have, this label.
    """

    label: ClassLabel
    precision: Estimate
    recall: Estimate
    f1: Estimate
    support: int
    predicted: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "label": list(self.label) if isinstance(self.label, tuple) else self.label,
            "precision": self.precision.to_dict(),
            "recall": self.recall.to_dict(),
            "f1": self.f1.to_dict(),
            "support": self.support,
            "predicted": self.predicted,
        }


@dataclass(frozen=True, slots=True)
class Average:
    """Precision, recall and F1 of several classes together."""

    precision: Estimate
    recall: Estimate
    f1: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "precision": self.precision.to_dict(),
            "recall": self.recall.to_dict(),
            "f1": self.f1.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of intervals: number of resamples, confidence level, seed."""

    n_bootstrap: int
    confidence: float
    seed: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(TabularResult):
    """Measures of predictions; made by :func:`score`.

    Every measure is an :class:`Estimate`, a float with an interval. ``scores["LOC"]`` are those of
    one class.

    Attributes
    ----------
    classes : tuple of ClassScores
        In the order of the classes.
    positive : tuple of labels
        The classes averaged in ``micro`` and ``macro``.
    accuracy : Estimate
        Fraction of correct predictions, over all classes.
    micro : Average
        Measures from the summed counts of the positive classes; with one positive class, its own
        precision, recall and F1.
    macro : Average
        Unweighted means over the positive classes.
    confusion : ndarray of int64, shape (n_classes, n_classes), read-only
        Number of examples by true class (row) and predicted class (column).
    n_examples, n_groups : int
        Number of examples; number of groups, 0 if single examples were resampled.
    n_bootstrap, confidence, seed
        Settings of the intervals.
    """

    classes: tuple[ClassScores, ...]
    positive: tuple[ClassLabel, ...]
    accuracy: Estimate
    micro: Average
    macro: Average
    confusion: NDArray[np.int64]
    n_examples: int
    n_groups: int
    n_bootstrap: int
    confidence: float
    seed: int

    def __getitem__(self, label: ClassLabel) -> ClassScores:
        for scores in self.classes:
            if scores.label == label:
                return scores
        known = ", ".join(show(scores.label) for scores in self.classes)
        raise KernelInputError(f"there is no class {show(label)}; the classes are {known}")

    def metric(self, name: str) -> Estimate:
        """Return a measure by name: ``"accuracy"``, ``"f1"`` (micro), ``"macro_f1"``, ..."""
        if name not in METRICS:
            raise KernelInputError(f"metric must be one of {', '.join(METRICS)}; got {name!r}")
        if name == "accuracy":
            return self.accuracy
        average = self.macro if name.startswith("macro_") else self.micro
        found: Estimate = getattr(average, name.removeprefix("macro_"))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "accuracy": self.accuracy.to_dict(),
            "micro": self.micro.to_dict(),
            "macro": self.macro.to_dict(),
            "positive": [list(x) if isinstance(x, tuple) else x for x in self.positive],
            "classes": [each.to_dict() for each in self.classes],
            "confusion": self.confusion.tolist(),
            "n_examples": self.n_examples,
            "n_groups": self.n_groups,
            "n_bootstrap": self.n_bootstrap,
            "confidence": self.confidence,
            "seed": self.seed,
        }

    def confusion_table(self) -> str:
        """Return the confusion matrix as text, a row for each true class."""
        labels = [label_text(each.label) for each in self.classes]
        rows = [
            [label, *(f"{count:,}" for count in row)]
            for label, row in zip(labels, self.confusion.tolist(), strict=True)
        ]
        return text_table(["true \\ predicted", *labels], rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scores):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<Scores: {self.n_examples:,} examples, accuracy {self.accuracy:.3f}, "
            f"F1 {self.micro.f1:.3f} micro, {self.macro.f1:.3f} macro>"
        )

    def _table(self) -> tuple[Sequence[str], list[list[str]]]:
        rows = [
            [
                label_text(each.label),
                *map(str, (each.precision, each.recall, each.f1)),
                f"{each.support:,}",
                f"{each.predicted:,}",
            ]
            for each in self.classes
        ]
        for name, average in (("micro average", self.micro), ("macro average", self.macro)):
            values = map(str, (average.precision, average.recall, average.f1))
            rows.append([name, *values, "", ""])
        rows.append(["accuracy", "", "", str(self.accuracy), f"{self.n_examples:,}", ""])
        return ("class", "precision", "recall", "F1", "support", "predicted"), rows

    def _note(self) -> str:
        note = f"{self.n_examples:,} examples"
        if len(self.positive) < len(self.classes):
            named = ", ".join(label_text(label) for label in self.positive[:5])
            more = ", …" if len(self.positive) > 5 else ""
            note += f"; averages over {named}{more}"
        if self.n_bootstrap:
            drawn = f"{self.n_groups:,} groups" if self.n_groups else "examples"
            level = f"{100 * self.confidence:g} %"
            note += f"; {level} intervals from {self.n_bootstrap:,} resamples of {drawn}"
        return note


def score(
    y_true: Iterable[Any],
    y_pred: Iterable[Any],
    *,
    classes: Iterable[Any] | None = None,
    positive: Any = None,
    groups: Iterable[Any] | None = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Scores:
    r"""Return precision, recall, F1 and accuracy of predictions, with intervals.

    With :math:`t_c` correct predictions of class :math:`c`, :math:`n_c` examples of the class and
    :math:`p_c` predictions of it: precision :math:`t_c/p_c`, recall :math:`t_c/n_c` and F1
    :math:`2t_c/(n_c+p_c)`. If the divisor is 0, the measure is 0.

    Intervals are percentiles of the measures over samples drawn with replacement, widened to
    contain Wilson's score interval [1]_ for the effective number of examples. Without it intervals
    from few examples or groups are too narrow: if all predictions are right, so are those of all
    samples. A measure that is divided by 0 has the interval from 0 to 1. The cost does not depend
    on the number of examples, unless they are in groups.

    Parameters
    ----------
    y_true, y_pred : sequences of str, number or tuple
        The true and the predicted label of each example.
    classes : sequence, optional
        All classes, in the order of the table; those that do not occur score 0. By default the
        sorted classes of both vectors.
    positive : label or list of labels, optional
        Average over these classes only: in relation extraction, all but the class of no relation.
    groups : sequence, optional
        Groups of examples, such as documents; see :func:`documents`. Whole groups are then
        resampled: examples of one document resemble each other, so that intervals from single
        examples would be too narrow.
    n_bootstrap : int
        Number of resamples; 0 for no intervals.
    confidence : float
        Confidence level of the intervals.
    random_state : None, int, Generator or RandomState
        Seed of the resamples.

    Returns
    -------
    Scores

    Raises
    ------
    KernelInputError
        If lengths or kinds of labels differ, or a class is unknown.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
       *JASA* 22, 1927. For F1: K. F. Y. Lam, V. Gopal, J. Qian, "Confidence intervals for the F1
       score", arXiv:2309.14621. The effective number of examples is their number divided by the
       design effect of groups: E. L. Korn, B. I. Graubard, *Survey Methodology* 24, 1998.

    Examples
    --------
    >>> scores = score(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"], positive="yes")
    >>> scores["yes"].recall
    0.500 [0.000, 1.000]
    >>> print(score([1, 1, 0], [1, 0, 0], n_bootstrap=0))
    class          precision  recall     F1  support  predicted
    0                  0.500   1.000  0.667        1          2
    1                  1.000   0.500  0.667        2          1
    micro average      0.667   0.667  0.667
    macro average      0.750   0.750  0.667
    accuracy                          0.667        3
    <BLANKLINE>
    3 examples
    """
    encoded = encode({"y_true": y_true, "y_pred": y_pred}, classes)
    chosen = encode_positive(positive, encoded.classes)
    grouped = None if groups is None else encode_groups(groups, len(encoded.codes[0]))
    check_resampling("n_bootstrap", n_bootstrap, confidence, grouped, least=0)
    plan = Plan(int(n_bootstrap), float(confidence), resolve_seed(random_state))
    return score_encoded(encoded, chosen, grouped, plan)


def score_encoded(
    encoded: Encoded, positive: Sequence[int], groups: Groups | None, plan: Plan
) -> Scores:
    """Return the scores of encoded labels and predictions."""
    units = Units.of(encoded, groups)
    [counts] = units.totals()
    estimates = _estimates(units, counts, positive, plan)
    n_measures, n = len(METRICS), encoded.n_classes
    accuracy, *averages = estimates[:n_measures]
    precision, recall, f1 = (
        estimates[n_measures + k * n : n_measures + (k + 1) * n] for k in range(3)
    )
    support, predicted = counts[n : 2 * n].tolist(), counts[2 * n :].tolist()
    columns = (encoded.classes, precision, recall, f1, support, predicted)
    return Scores(
        classes=tuple(ClassScores(*row) for row in zip(*columns, strict=True)),
        positive=tuple(encoded.classes[code] for code in positive),
        accuracy=accuracy,
        micro=Average(*averages[:3]),
        macro=Average(*averages[3:]),
        confusion=_confusion(encoded),
        n_examples=len(encoded.codes[0]),
        n_groups=0 if groups is None else groups.n_groups,
        n_bootstrap=plan.n_bootstrap,
        confidence=plan.confidence,
        seed=plan.seed,
    )


def _estimates(units: Units, counts: Counts, positive: Sequence[int], plan: Plan) -> list[Estimate]:
    """Return the measures, then precision, recall and F1 of all classes, with intervals."""
    values = _all_measures(counts[np.newaxis], positive)[0].tolist()
    if plan.n_bootstrap == 0:
        return [Estimate(value) for value in values]
    rng = np.random.default_rng(plan.seed)
    drawn = [
        _all_measures(weigh(units.tables[0], weights), positive)
        for weights in draw_bootstrap(units.sizes, plan.n_bootstrap, rng)
    ]
    tail = (1 - plan.confidence) / 2
    low, high = np.quantile(np.concatenate(drawn), [tail, 1 - tail], axis=0)
    least, most = score_intervals(units, positive, plan.confidence)
    ends = np.minimum(low, least).tolist(), np.maximum(high, most).tolist()
    return [Estimate(*row) for row in zip(values, *ends, strict=True)]


def _all_measures(counts: Counts, positive: Sequence[int]) -> NDArray[np.float64]:
    return np.concatenate([measures(counts, positive), *class_measures(counts)], axis=1)


def _confusion(encoded: Encoded) -> NDArray[np.int64]:
    true, predicted = encoded.codes
    n = encoded.n_classes
    confusion = np.bincount(true * n + predicted, minlength=n * n).reshape(n, n)
    confusion.flags.writeable = False
    return confusion
