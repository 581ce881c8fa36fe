"""Reliability: comparison of probabilities with the fractions of correct predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.table_rendering import text_table


@dataclass(frozen=True)
class ReliabilityBin:
    """Predictions of similar probability.

    Attributes
    ----------
    low, high : float
        Bounds of the probabilities.
    n : int
        Number of predictions.
    probability : float
        Their mean probability.
    right : float
        Fraction of correct predictions.
    """

    low: float
    high: float
    n: int
    probability: float
    right: float


@dataclass(frozen=True)
class Reliability:
    """A reliability diagram in numbers.

    Attributes
    ----------
    bins : tuple of ReliabilityBin
        Those that have predictions, by increasing probability.
    error : float
        Expected calibration error: the mean difference between probability and fraction of correct
        predictions of a bin, weighted by its number of predictions. With few predictions it is
        above 0 even for true probabilities.
    """

    bins: tuple[ReliabilityBin, ...]
    error: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"error": self.error, "bins": [vars(one) for one in self.bins]}

    def __str__(self) -> str:
        rows = [
            [f"{one.low:.1f} to {one.high:.1f}", f"{one.n:,}"]
            + [f"{value:.3f}" for value in (one.probability, one.right)]
            for one in self.bins
        ]
        titles = ["probability", "predictions", "mean", "fraction right"]
        table = text_table(titles, rows)
        return f"{table}\nexpected calibration error {self.error:.3f}"


def reliability(probabilities: Any, right: Any, *, n_bins: int = 10) -> Reliability:
    """Return the fraction of correct predictions for each range of probabilities.

    Parameters
    ----------
    probabilities : array-like of float, shape (n,)
        From 0 to 1.
    right : array-like of bool, shape (n,)
    n_bins : int
        Number of bins of equal width.

    References
    ----------
    .. [1] M. P. Naeini, G. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities using
       Bayesian binning", AAAI 2015.

    Examples
    --------
    >>> found = reliability([0.9, 0.92, 0.1, 0.12], [True, False, False, False])
    >>> [(one.n, round(one.probability, 2), one.right) for one in found.bins]
    [(2, 0.11, 0.0), (2, 0.91, 0.5)]
    >>> round(found.error, 3)
    0.26
    """
    values, hits = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=bool)
    if values.ndim != 1 or values.shape != hits.shape:
        raise KernelInputError(
            f"reliability: got {values.shape} probabilities and {hits.shape} outcomes; give one "
            "outcome for each probability"
        )
    if n_bins < 1 or not ((values >= 0) & (values <= 1)).all():
        raise KernelInputError("reliability: probabilities must be from 0 to 1, n_bins at least 1")
    numbers = np.minimum((values * n_bins).astype(int), n_bins - 1)
    bins = []
    for number in np.unique(numbers).tolist():
        some = numbers == number
        mean, fraction = float(values[some].mean()), float(hits[some].mean())
        bounds = number / n_bins, (number + 1) / n_bins
        bins.append(ReliabilityBin(*bounds, int(some.sum()), mean, fraction))
    apart = sum(one.n * abs(one.probability - one.right) for one in bins)
    return Reliability(tuple(bins), apart / len(values) if len(values) else 0.0)
