"""Where k-means starts: structures far from each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.clustering.similarities import SelfSimilarities

__all__ = ["spread_labels"]

Distances = NDArray[np.float64]
Labels = NDArray[np.int64]


def spread_labels(
    similarities: SelfSimilarities, n_clusters: int, draws: Sequence[np.random.Generator]
) -> list[Labels]:
    r"""Return starting labels: each structure goes to the nearest of some that are far apart.

    This is k-means++ with the distance of the kernel, :math:`K_{ii} + K_{jj} - 2 K_{ij}`. The next
    structure is drawn with a chance proportional to the squared distance to the nearest one before;
    of a few draws, the one stays that leaves the smallest sum of squared distances. The cost is
    :math:`O(\log K)` rows of the Gram matrix for each cluster.

    Parameters
    ----------
    similarities : SelfSimilarities
    n_clusters : int
        Number of labels. There are fewer if no more structures differ.
    draws : sequence of Generator
        One for each start. They go side by side, so that their rows are made at once.

    Returns
    -------
    list of ndarray of int64, shape (n,)

    References
    ----------
    D. Arthur, S. Vassilvitskii: k-means++, the advantages of careful seeding. SODA 2007.

    Examples
    --------
    >>> import kernelwood as kw
    >>> texts = kw.batch([kw.Sequence(list(text)) for text in ("ab", "xy", "abc", "xyz", "ab")])
    >>> similarities = SelfSimilarities(kw.SubsequenceKernel(), texts)
    >>> [labels] = spread_labels(similarities, 2, [np.random.default_rng(0)])
    >>> bool(labels[0] == labels[2] == labels[4] != labels[1] == labels[3])
    True
    """
    starts = [_Start(draw, len(similarities)) for draw in draws]
    n_trials = 2 + int(math.log(n_clusters))
    for label in range(n_clusters):
        picks = [start.pick(n_trials) for start in starts]
        for number, row in similarities.rows(sorted(set().union(*picks))):
            distances = _distances(similarities, number, row)
            for start, picked in zip(starts, picks, strict=True):
                if number in picked:
                    start.consider(distances)
        for start in starts:
            start.take_best(label)
    return [start.labels for start in starts]


class _Start:
    """Structures on their way to the nearest of those that were drawn so far."""

    def __init__(self, draw: np.random.Generator, n: int) -> None:
        self.labels: Labels = np.zeros(n, dtype=np.int64)
        self._draw = draw
        self._closest: Distances = np.full(n, np.inf)
        self._best, self._least = self._closest, math.inf

    def pick(self, n_trials: int) -> set[int]:
        """Draw what may come next: the first one anywhere, the others far from those before."""
        if self._closest[0] == np.inf:
            return {int(self._draw.integers(len(self._closest)))}
        if not self._closest.any():
            return set()
        below = np.cumsum(self._closest)
        picked = np.searchsorted(below, self._draw.random(n_trials) * below[-1], side="right")
        # A product may be rounded up to the sum of all.
        return set(np.minimum(picked, np.flatnonzero(self._closest)[-1]).tolist())

    def consider(self, distances: Distances) -> None:
        """Remember the structure with these squared distances if it leaves the smallest sum."""
        nearer = np.minimum(self._closest, distances)
        left = float(nearer.sum())
        if left < self._least:
            self._best, self._least = nearer, left

    def take_best(self, label: int) -> None:
        """Let the best one have a label, and all that are nearest to it."""
        self.labels[self._best < self._closest] = label
        self._closest, self._least = self._best, math.inf


def _distances(similarities: SelfSimilarities, number: int, row: NDArray[Any]) -> Distances:
    """Return the squared distances of all structures to one; rounding errors become 0."""
    scale = similarities.own + similarities.own[number]
    distances: Distances = scale - 2.0 * row
    distances[distances <= similarities.noise * np.abs(scale)] = 0.0
    distances[number] = 0.0
    return distances
