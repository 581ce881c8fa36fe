"""Audit of evaluation figures: thresholds, rates, sentences shared with the training corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.evaluate import text_table
from kernelwood.relations.calibration import positive_rate_threshold
from kernelwood.relations.shared_sentences import SharedSentences
from kernelwood.structures import shorten

_SHOWN = 10  # nearly equal sentences in the long form


class OperatingPoint(NamedTuple):
    """Measures of the relations above a threshold.

    Attributes
    ----------
    name : str
        Choice of the threshold: ``"in use"``, ``"training rate"``, ``"rate of this corpus"`` or
        ``"best"``.
    threshold : float or None
        Smallest probability of a predicted relation; None if it is not the same for all
        candidates: it may depend on relation type or fold.
    positive_rate : float
        Fraction of the candidates that are predicted to be relations.
    precision, recall, f1 : float
        Measures of all relation types together.
    uses_labels : bool
        Whether the choice needs the labels of the evaluated corpus, so that its figures are not
        estimates for other texts.
    """

    name: str
    threshold: float | None
    positive_rate: float
    precision: float
    recall: float
    f1: float
    uses_labels: bool


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """Measures and rates that are needed to compare a figure with published ones.

    Published figures on the same data differ by the choice of the threshold, by the classes that
    are averaged, and by the sentences that training and test data share.

    Attributes
    ----------
    points : tuple of OperatingPoint
        Measures at the threshold in use, at the thresholds whose fraction of predicted relations is
        the annotated fraction of the training corpus and of this corpus, and at the threshold with
        the highest F1.
    relation_rate : float
        Fraction of the candidates that are annotated relations.
    training_rate : float or None
        The same fraction in the training corpus; None if it is unknown.
    macro_f1 : float
        Unweighted mean of the F1 of the relation types.
    micro_f1_with_none : float
        Micro-averaged F1 if ``"none"`` counts as a class; it is the accuracy.
    sentences : SharedSentences
        Sentences that are in the training corpus.
    """

    points: tuple[OperatingPoint, ...]
    relation_rate: float
    training_rate: float | None
    macro_f1: float
    micro_f1_with_none: float
    sentences: SharedSentences

    def __getitem__(self, name: str) -> OperatingPoint:
        """Return an operating point by its name."""
        return {point.name: point for point in self.points}[name]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "points": [point._asdict() for point in self.points],
            "relation_rate": self.relation_rate,
            "training_rate": self.training_rate,
            "macro_f1": self.macro_f1,
            "micro_f1_with_none": self.micro_f1_with_none,
            "sentences": self.sentences.to_dict(),
        }

    def summary(self) -> str:
        """Return the audit in a few lines."""
        figures = (f"{_named(point)} {point.f1:.3f}" for point in self.points)
        shared = self.sentences
        return "\n".join(
            [
                f"F1 by threshold: {', '.join(figures)}",
                f"called relations: {self.points[0].positive_rate:.1%} of the candidates; "
                f"annotated {self.relation_rate:.1%}, in training {_percent(self.training_rate)}",
                f'micro F1 if "none" counts as a class, too (accuracy): '
                f"{self.micro_f1_with_none:.3f}; macro F1 of the relation types: "
                f"{self.macro_f1:.3f}",
                f"sentences in the training corpus: {shared.n_equal:,} of {shared.n:,}; nearly: "
                f"{len(shared.near):,}",
                _FOOTNOTE,
            ]
        )

    def details(self) -> str:
        """Return a table of measures and the nearly equal sentences, which `summary` leaves out."""
        rows = [
            [
                _named(point),
                "varies" if point.threshold is None else f"{point.threshold:.3f}",
                f"{point.positive_rate:.1%}",
                *(f"{value:.3f}" for value in (point.precision, point.recall, point.f1)),
            ]
            for point in self.points
        ]
        header = ["threshold", "probability", "called relations", "precision", "recall", "F1"]
        lines = [text_table(header, rows)]
        for pair in self.sentences.near[:_SHOWN]:
            lines += [
                f"nearly equal, {pair.similarity:.0%} of the word trigrams:",
                f"  evaluated: {shorten(pair.text, 150)}",
                f"  training:  {shorten(pair.training_text, 150)}",
            ]
        more = len(self.sentences.near) - _SHOWN
        if more > 0:
            lines.append(f"and {more:,} more nearly equal")
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.summary()}\n\n{self.details()}"

    def __repr__(self) -> str:
        return f"<Audit: F1 {self.points[0].f1:.3f}, {self['best'].f1:.3f} at the best threshold>"


_FOOTNOTE = "* chosen by the labels of this corpus; no estimate for other texts"


def _named(point: OperatingPoint) -> str:
    return f"{point.name} *" if point.uses_labels else point.name


def _percent(rate: float | None) -> str:
    return "not known" if rate is None else f"{rate:.1%}"


def operating_points(
    probability: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    right: NDArray[np.bool_],
    n_relations: int,
    relation_rate: float,
    training_rate: float | None,
) -> tuple[OperatingPoint, ...]:
    """Return measures at several thresholds.

    Parameters
    ----------
    probability : ndarray, shape (n,)
        Of the most probable relation of each candidate.
    thresholds : ndarray, shape (n,)
        Those in use.
    right : ndarray of bool, shape (n,)
        Whether the most probable relation is the annotated one.
    n_relations : int
        Annotated relations, including those without a candidate.
    relation_rate, training_rate : float
        Fraction of the candidates here, and of the training candidates, that are relations; the
        latter None if it is not known.

    Examples
    --------
    >>> points = operating_points(
    ...     np.array([0.9, 0.6, 0.4, 0.1]),
    ...     np.full(4, 0.7),
    ...     np.array([True, False, True, False]),
    ...     n_relations=2,
    ...     relation_rate=0.5,
    ...     training_rate=0.25,
    ... )
    >>> for point in points:
    ...     print(point.name, point.threshold, round(point.f1, 3))
    in use 0.7 0.667
    training rate 0.9 0.667
    rate of this corpus 0.6 0.5
    best 0.4 0.8
    """

    def point(name: str, line: Any, uses_labels: bool) -> OperatingPoint:
        chosen = probability >= line
        n, n_right = int(chosen.sum()), int((chosen & right).sum())
        values = np.unique(line)
        return OperatingPoint(
            name,
            float(values[0]) if len(values) == 1 else None,
            n / len(probability),
            n_right / n if n else 0.0,
            n_right / n_relations if n_relations else 0.0,
            2 * n_right / (n + n_relations) if n + n_relations else 0.0,
            uses_labels,
        )

    points = [point("in use", thresholds, False)]
    if training_rate:
        line = positive_rate_threshold(probability, training_rate)
        points.append(point("training rate", line, False))
    line = positive_rate_threshold(probability, relation_rate)
    points.append(point("rate of this corpus", line, True))
    points.append(point("best", _best(probability, right, n_relations), True))
    return tuple(points)


def _best(probability: NDArray[np.float64], right: NDArray[np.bool_], n_relations: int) -> float:
    """Return the threshold with the highest F1; of several, the highest."""
    order = np.argsort(-probability, kind="stable")
    values = probability[order]
    f1 = 2 * np.cumsum(right[order]) / (np.arange(1, len(order) + 1) + n_relations)
    f1[:-1][values[:-1] == values[1:]] = -1.0  # candidates of equal probability stay together
    return float(values[f1.argmax()])
