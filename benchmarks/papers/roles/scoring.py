"""How good a labeling is, and whether one is better than another by more than luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import kernelwood as kw

__all__ = ["Scores", "mcnemar", "randomization", "score"]

Labeling = Sequence[frozenset[kw.text.RoleSpan]]  # the arguments of each predicate


@dataclass(frozen=True)
class Scores:
    """Arguments that are right in role and both ends, against all of the gold standard."""

    correct: int
    proposed: int
    gold: int

    @property
    def precision(self) -> float:
        """Share of the proposed arguments that are right."""
        return self.correct / self.proposed if self.proposed else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold arguments that were found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        total = self.proposed + self.gold
        return 2 * self.correct / total if total else 0.0


def score(gold: Labeling, found: Labeling) -> Scores:
    """Compare the arguments of every predicate."""
    return Scores(*map(int, _counts(gold, found).sum(axis=0)))


def randomization(
    gold: Labeling, first: Labeling, second: Labeling, *, rounds: int = 10_000, seed: int = 0
) -> float:
    """Return the p-value of the difference in F1, by approximate randomization over predicates.

    In every round a coin decides for each predicate whether the two systems swap their answers;
    the p-value is the share of rounds, the observed one included, whose difference is at least
    as large as the observed one (two-sided).
    """
    a, b = _counts(gold, first), _counts(gold, second)
    observed = abs(_f1(a.sum(axis=0)) - _f1(b.sum(axis=0)))
    rng = np.random.default_rng(seed)
    change, as_large = b - a, 0
    for _ in range(rounds):
        moved = change[rng.random(len(change)) < 0.5].sum(axis=0)
        difference = _f1(a.sum(axis=0) + moved) - _f1(b.sum(axis=0) - moved)
        as_large += abs(difference) >= observed - 1e-12
    return (as_large + 1) / (rounds + 1)


def mcnemar(gold: Labeling, first: Labeling, second: Labeling) -> dict[str, float]:
    """Return McNemar's chi-square test on the gold arguments, with continuity correction.

    It looks at the gold arguments that one system finds and the other does not.
    """
    from scipy.stats import chi2

    only_first = only_second = 0
    for truth, one, other in zip(gold, first, second, strict=True):
        only_first += len(truth & one - other)
        only_second += len(truth & other - one)
    differing = only_first + only_second
    statistic = max(abs(only_first - only_second) - 1, 0) ** 2 / differing if differing else 0.0
    return {
        "only_first": only_first,
        "only_second": only_second,
        "chi2": statistic,
        "p": float(chi2.sf(statistic, 1)),
    }


def _counts(gold: Labeling, found: Labeling) -> np.ndarray:
    """Return correct, proposed and gold arguments of each predicate."""
    rows = [
        (len(truth & answer), len(answer), len(truth))
        for truth, answer in zip(gold, found, strict=True)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _f1(counts: np.ndarray) -> float:
    correct, proposed, gold = counts
    return float(2 * correct / (proposed + gold)) if proposed + gold else 0.0
