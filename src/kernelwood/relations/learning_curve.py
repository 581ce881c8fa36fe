"""Learning curves, and the expected gain from more labels.

The error 1 - F1 is modeled as a power of the number of training documents: every doubling
multiplies it by the same number. On AIMed, BioInfer, CoNLL04 and two parts of
DDIExtraction 2013, F1 at twice the documents was predicted from four smaller sizes, 15 times. The
mean absolute error is 0.029; with a limit other than 1 it is 0.031, with F1 or its logit linear in
the logarithm of the size 0.031 and 0.030, and without any gain 0.058. All of the 15 gains are in
their 95 % intervals.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.evaluate import Estimate, text_table
from kernelwood.relations.candidates import NONE
from kernelwood.relations.cross_validation import Folds
from kernelwood.relations.scores import RelationScores, RelationValidation

FRACTIONS = (1 / 8, 1 / 4, 1 / 2, 1.0)
_LEAST_ERROR = 1e-3  # of 1 - F1, whose logarithm is taken
_SMALL = 0.005  # a gain that is not worth mentioning
_SIZE = (5.0, 3.5)  # inches


def doubling_gain(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Return the gain to be expected from twice the largest size, and its standard error.

    Parameters
    ----------
    sizes, values : sequences of float, length at least 3
        Numbers of training documents, increasing, and F1 for each.

    Returns
    -------
    gain : float
        From 0 to ``1 - values[-1]``.
    error : float
        From the deviations of the values from the curve.

    Examples
    --------
    >>> gain, error = doubling_gain([10, 20, 40, 80], [0.2, 0.36, 0.488, 0.5904])
    >>> round(gain, 5), round(error, 5)
    (0.08192, 0.0)
    """
    x = np.log2(np.asarray(sizes, dtype=np.float64))
    y = np.log(np.maximum(1 - np.asarray(values, dtype=np.float64), _LEAST_ERROR))
    x, y = x - x.mean(), y - y.mean()
    slope = min(0.0, float(x @ y) / float(x @ x))
    rest = y - slope * x
    left = (1 - values[-1]) * float(np.exp(slope))  # of the error, after doubling
    return 1 - values[-1] - left, left * float(np.sqrt(rest @ rest / (len(x) - 2)))


def estimate_gain(sizes: Sequence[float], counts: Any, confidence: float = 0.95) -> Estimate:
    """Return the gain in F1 to be expected from twice the largest size, with an interval.

    The variance is the sum of that between folds, by the jackknife, and that around the curve.

    Parameters
    ----------
    sizes : sequence of float, length n >= 3
        Numbers of training documents, increasing.
    counts : array-like, shape (n, n_folds, 3)
        Correct, true and predicted relations at each size in each fold.
    confidence : float
        Confidence level.
    """
    from scipy.special import stdtrit

    table = np.asarray(counts, dtype=np.float64)
    n_folds = table.shape[1]
    gain, error = doubling_gain(sizes, _f1(table.sum(axis=1)))
    others = [
        doubling_gain(sizes, _f1(np.delete(table, fold, axis=1).sum(axis=1)))[0]
        for fold in range(n_folds)
    ]
    variance = (n_folds - 1) * float(np.var(others)) + error**2
    half = float(stdtrit(n_folds - 1, (1 + confidence) / 2)) * variance**0.5
    most = 1 - _f1(table.sum(axis=1))[-1]
    return Estimate(gain, max(0.0, gain - half), min(most, gain + half))


def _f1(counts: NDArray[np.float64]) -> list[float]:
    right, true, predicted = counts.T
    return [float(f1) for f1 in 2 * right / np.maximum(true + predicted, 1)]


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """Cross-validated measures at one size of the training corpus.

    Attributes
    ----------
    fraction : float
        Fraction of the training documents.
    n_documents : int
        Number of training documents, the mean over folds.
    validation : RelationValidation
        Measures on the same test documents as at other sizes.
    """

    fraction: float
    n_documents: int
    validation: RelationValidation


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """Cross-validated F1 by number of training documents, and the gain from twice as many.

    Attributes
    ----------
    points : tuple of CurvePoint
        From the smallest size to all documents.
    gain : Estimate or None
        Expected increase of F1 with twice the training documents, and a 95 % interval; None with
        fewer than three points.
    skipped : mapping of float to str
        Reasons by fraction, for fractions that are too small to learn from.
    """

    points: tuple[CurvePoint, ...]
    gain: Estimate | None
    skipped: dict[float, str]

    @classmethod
    def of(
        cls,
        folds: Folds,
        fractions: Sequence[float],
        n_bootstrap: int,
        *,
        predictions: bool = False,
    ) -> LearningCurve:
        """Return the curve of an extractor on folds."""
        listed = [float(fraction) for fraction in fractions]
        if not listed or listed != sorted(set(listed)) or listed[0] <= 0 or listed[-1] != 1:
            raise KernelInputError(f"fractions must increase from above 0 up to 1, got {fractions}")
        points: list[CurvePoint] = []
        skipped: dict[float, str] = {}
        for fraction in reversed(listed):  # mistakes of the user show at once
            size = folds.size(fraction)
            if points and size == points[-1].n_documents:
                skipped[fraction] = f"as many documents ({size}) as the next fraction"
                continue
            try:
                validation = folds.validate(
                    fraction, n_bootstrap=n_bootstrap, predictions=predictions and fraction == 1
                )
            except KernelInputError as failure:
                if fraction == 1:
                    raise
                skipped[fraction] = str(failure)
                continue
            points.append(CurvePoint(fraction, size, validation))
        points.reverse()
        gain = None
        if len(points) > 2:
            counts = [[_counts(part) for part in point.validation.parts] for point in points]
            gain = estimate_gain([point.n_documents for point in points], counts)
        return cls(tuple(points), gain, skipped)

    @property
    def validation(self) -> RelationValidation:
        """Measures with all training documents."""
        return self.points[-1].validation

    @property
    def outlook(self) -> str:
        """Expected gain from twice the training documents, as a sentence."""
        if self.gain is None:
            return "Too few documents to estimate what more would bring."
        if self.gain < _SMALL:
            high = f" (at most +{self.gain.high:.2f})"
            return f"Twice the training documents: no gain in F1 to be expected{high}."
        return (
            f"Twice the training documents: F1 about +{self.gain:.2f} "
            f"(between +{self.gain.low:.2f} and +{self.gain.high:.2f})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "points": [
                {
                    "fraction": point.fraction,
                    "documents": point.n_documents,
                    "precision": point.validation.pooled.scores.micro.precision.to_dict(),
                    "recall": point.validation.pooled.scores.micro.recall.to_dict(),
                    "f1": point.validation.pooled.scores.micro.f1.to_dict(),
                    "f1_of_folds": [part.f1 for part in point.validation.parts],
                }
                for point in self.points
            ],
            "gain": None if self.gain is None else self.gain.to_dict(),
            "skipped": [
                {"fraction": fraction, "reason": why} for fraction, why in self.skipped.items()
            ],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Draw the curve to a file with the suffix ``.png``, ``.svg`` or ``.pdf``."""
        from kernelwood.figures import draw_curve, save_figure

        sizes = [point.n_documents for point in self.points]
        values = [point.validation.pooled.scores.micro.f1 for point in self.points]
        expected = None
        if self.gain is not None:
            ends = (self.gain, self.gain.low or 0.0, self.gain.high or 0.0)
            expected = Estimate(*(values[-1] + end for end in ends))
        save_figure(lambda ax: draw_curve(ax, sizes, values, expected), path, _SIZE)

    def __str__(self) -> str:
        rows = []
        for point in self.points:
            micro = point.validation.pooled.scores.micro
            measures = map(str, (micro.precision, micro.recall, micro.f1))
            rows.append([f"{point.n_documents:,}", *measures])
        table = text_table(["training documents", "precision", "recall", "F1"], rows)
        notes = [
            f"not trained on {size:.3g} of the documents: {why}"
            for size, why in self.skipped.items()
        ]
        return "\n".join([table, "", self.outlook, *notes])

    def __repr__(self) -> str:
        return f"<LearningCurve: {len(self.points)} points, F1 {self.validation.pooled.f1:.3f}>"


def _counts(scores: RelationScores) -> tuple[int, int, int]:
    """Return the numbers of correct, true and predicted relations."""
    classes = scores.scores.classes
    chosen = [number for number, one in enumerate(classes) if one.label != NONE]
    right = sum(int(scores.scores.confusion[number, number]) for number in chosen)
    return (
        right,
        sum(classes[number].support for number in chosen),
        sum(classes[number].predicted for number in chosen),
    )
