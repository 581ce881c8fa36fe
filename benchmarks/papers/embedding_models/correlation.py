"""How well scores agree with people, and how sure one can be of it on a few hundred pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from kernelwood.evaluate import Estimate

__all__ = ["Agreement", "pearson"]

Scores = NDArray[np.float64]

N_RESAMPLES = 10_000


def pearson(gold: Scores, scores: Scores) -> NDArray[np.float64]:
    """Return the correlations of the rows of two tables, or of two vectors; 0 without variance.

    Examples
    --------
    >>> float(pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])))
    1.0
    >>> float(pearson(np.array([1.0, 2.0]), np.array([5.0, 5.0])))
    0.0
    """
    x = gold - gold.mean(axis=-1, keepdims=True)
    y = scores - scores.mean(axis=-1, keepdims=True)
    scale = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    total = (x * y).sum(axis=-1)
    found: Scores = np.divide(total, scale, out=np.zeros_like(total), where=scale > 0)
    return found


class Agreement:
    """Correlations with gold similarities; all of them share the same resamples of pairs.

    Parameters
    ----------
    gold : ndarray, shape (n,)
        What people say of each pair.
    n_resamples : int
        How often pairs are drawn with replacement.
    seed : int
        Of the draws.
    """

    def __init__(self, gold: Scores, *, n_resamples: int = N_RESAMPLES, seed: int = 0) -> None:
        self.gold = gold
        shape = (n_resamples, len(gold))
        self.drawn = np.random.default_rng(seed).integers(len(gold), size=shape)

    def pearson(self, scores: Scores) -> Estimate:
        """Return the correlation with its 95 % interval."""
        return _estimate(pearson(self.gold, scores), self._resampled(scores))

    def spearman(self, scores: Scores) -> float:
        """Return the correlation of ranks."""
        return float(spearmanr(self.gold, scores).statistic)

    def difference(self, first: Scores, second: Scores) -> Estimate:
        """Return how much better the first correlates, from the same resamples for both."""
        observed = pearson(self.gold, first) - pearson(self.gold, second)
        return _estimate(observed, self._resampled(first) - self._resampled(second))

    def _resampled(self, scores: Scores) -> Scores:
        return pearson(self.gold[self.drawn], scores[self.drawn])


def _estimate(observed: Any, resampled: Scores) -> Estimate:
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Estimate(float(observed), float(low), float(high))
