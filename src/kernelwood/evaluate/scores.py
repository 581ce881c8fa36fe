"""How good predictions are: measures with bootstrap intervals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.estimates import Estimate
from kernelwood.evaluate.labels import (
    ClassLabel,
    Encoded,
    Groups,
    encode,
    encode_groups,
    encode_positive,
    show,
)
from kernelwood.evaluate.measures import METRICS, class_measures, measures
from kernelwood.evaluate.resampling import (
    Counts,
    Units,
    check_resampling,
    draw_bootstrap,
    resolve_seed,
    weigh,
)
from kernelwood.evaluate.tables import html_table, label_text, text_table

__all__ = ["Average", "ClassScores", "Plan", "Scores", "score", "score_encoded"]


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Measures of one class.

    Attributes
    ----------
    label : str, number or tuple
        The class.
    precision, recall, f1 : Estimate
        Shares of the predicted and of the true examples that are right, and their harmonic mean.
    support, predicted : int
        How many examples have, and how many were given, this label.
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
    """How intervals are made: number of resamples, level of confidence, seed."""

    n_bootstrap: int
    confidence: float
    seed: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores:
    """How good predictions are; made by :func:`score`.

    Every measure is an :class:`Estimate`: a float that knows its interval. ``scores["LOC"]`` are
    those of one class.

    Attributes
    ----------
    classes : tuple of ClassScores
        In the order of the classes.
    positive : tuple of labels
        The classes that ``micro`` and ``macro`` are taken over.
    accuracy : Estimate
        Share of the examples of all classes that are right.
    micro : Average
        From the counts of the positive classes together; with one positive class, its own
        precision, recall and F1.
    macro : Average
        Means over the positive classes, each counting the same.
    confusion : ndarray of int64, shape (n_classes, n_classes), read-only
        Number of examples by true class (row) and predicted class (column).
    n_examples, n_groups : int
        Number of examples; of groups, 0 if examples were drawn one by one.
    n_bootstrap, confidence, seed
        How the intervals were made.
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
        """Return a measure by name: ``"accuracy"``, ``"f1"`` (micro), ``"macro_f1"`` and so on."""
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

    def to_json(self, indent: int | None = 2) -> str:
        """Return JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

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

    def __str__(self) -> str:
        return f"{text_table(_HEADER, self._rows())}\n\n{self._note()}"

    def _repr_html_(self) -> str:
        return html_table(_HEADER, self._rows(), self._note())

    def _rows(self) -> list[list[str]]:
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
        return [*rows, ["accuracy", "", "", str(self.accuracy), f"{self.n_examples:,}", ""]]

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


_HEADER = ("class", "precision", "recall", "F1", "support", "predicted")


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
    r"""Say how good predictions are.

    With :math:`t_c` right predictions of class :math:`c`, :math:`n_c` examples that have it and
    :math:`p_c` that were given it: precision :math:`t_c/p_c`, recall :math:`t_c/n_c` and F1
    :math:`2t_c/(n_c+p_c)`. Where the divisor is 0, so is the measure.

    Intervals are percentiles of the measures over samples drawn with replacement. The work does
    not depend on the number of examples, unless they are in groups.

    Parameters
    ----------
    y_true, y_pred : sequences of str, number or tuple
        The label of each example, and the one it was given.
    classes : sequence, optional
        All classes, in the order of the table; those that never occur score 0. By default the
        classes that occur in either vector, sorted.
    positive : label or list of labels, optional
        Take averages over these classes only: in relation extraction, all but that of no relation.
    groups : sequence, optional
        The document of each example, say; see :func:`documents`. Whole groups are then drawn, since
        examples of one document resemble each other, and intervals would come out too narrow.
    n_bootstrap : int
        Number of resamples; 0 for no intervals.
    confidence : float
        Share of the resamples inside an interval.
    random_state : None, int, Generator or RandomState
        Where the draws come from; an int gives the same intervals every time.

    Returns
    -------
    Scores

    Raises
    ------
    KernelInputError
        If lengths or kinds of labels differ, or a class is not known.

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
    """Return the scores of labels and predictions that are numbered already."""
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
    ends = np.quantile(np.concatenate(drawn), [tail, 1 - tail], axis=0)
    return [Estimate(*row) for row in zip(values, *ends.tolist(), strict=True)]


def _all_measures(counts: Counts, positive: Sequence[int]) -> NDArray[np.float64]:
    return np.concatenate([measures(counts, positive), *class_measures(counts)], axis=1)


def _confusion(encoded: Encoded) -> NDArray[np.int64]:
    true, predicted = encoded.codes
    n = encoded.n_classes
    confusion = np.bincount(true * n + predicted, minlength=n * n).reshape(n, n)
    confusion.flags.writeable = False
    return confusion
