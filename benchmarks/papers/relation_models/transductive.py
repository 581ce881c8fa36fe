"""Thresholds that follow from the scores of the pairs to be judged, all of them at once.

They use the test corpus, though not its labels, so they stand in rows of their own.
"""

from __future__ import annotations

import numpy as np
from relation_models.figures import Floats

__all__ = ["adapt", "expected_f1_threshold"]


def adapt(probabilities: Floats, rate: float, *, n_steps: int = 200) -> tuple[Floats, float]:
    """Return probabilities under the base rate of the pairs at hand, and that rate.

    Expectation maximization after Saerens, Latinne and Decaestecker (2002): what pairs of one class
    look like is taken to be the same in both corpora, only the classes to be more or less frequent.

    Parameters
    ----------
    probabilities : ndarray
        Of pairs without labels, calibrated on the training corpus.
    rate : float
        The base rate of the training corpus.
    """
    known, odds = rate, probabilities / np.maximum(1 - probabilities, 1e-12)
    adapted = probabilities
    for _ in range(n_steps):
        shifted = odds * (rate / (1 - rate)) * ((1 - known) / known)
        adapted = shifted / (1 + shifted)
        rate = float(np.clip(adapted.mean(), 1e-6, 1 - 1e-6))
    return adapted, rate


def expected_f1_threshold(probabilities: Floats) -> float:
    """Return the threshold whose F1 is the greatest if the probabilities are right."""
    falling = np.sort(probabilities)[::-1]
    found = np.arange(1, len(falling) + 1)
    expected = 2 * np.cumsum(falling) / (found + falling.sum())
    return float(falling[int(expected.argmax())])
