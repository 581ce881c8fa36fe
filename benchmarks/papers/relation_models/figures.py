"""What is measured: scores of pairs, and the figures that follow from a threshold."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from interactions.thresholds import choose_thresholds, rates
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

import kernelwood as kw

__all__ = ["Figures", "Floats", "Pairs", "best_f1", "figures_of", "lines", "read_pairs"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """The pairs of proteins of a corpus, whether they interact, and the document of each."""

    name: str
    candidates: Any
    y: NDArray[np.bool_]
    documents: list[str]


@dataclass(frozen=True)
class Figures:
    """How well pairs that interact were found (precision, recall, F1) and ranked (the others)."""

    precision: float
    recall: float
    f1: float
    auc: float
    average_precision: float

    def to_dict(self) -> dict[str, float]:
        """Return plain values."""
        return asdict(self)


def read_pairs(name: str, path: Any) -> Pairs:
    """Read a corpus in the unified format."""
    candidates = kw.relations.pair_candidates(kw.read(path))
    y = np.array(candidates.labels) == 1
    return Pairs(name, candidates, y, kw.evaluate.documents(candidates))


def figures_of(y: NDArray[np.bool_], scores: Floats, threshold: float) -> Figures:
    """Return the figures of scores; a pair interacts from the threshold on."""
    found = rates(y, scores >= threshold)
    auc, average_precision = roc_auc_score(y, scores), average_precision_score(y, scores)
    return Figures(found.precision, found.recall, found.f1, float(auc), float(average_precision))


def lines(y: NDArray[np.bool_], scores: Floats, documents: list[str]) -> dict[str, float]:
    """Return the threshold that each rule draws, given scores of held-out documents.

    The best F1; the lowest threshold within a standard error of it; and none, for margins.
    """
    chosen = choose_thresholds(y, scores, documents)
    return {"f1": chosen.best, "cautious": chosen.cautious, "margin 0": 0.0}


def best_f1(y: NDArray[np.bool_], scores: Floats) -> float:
    """Return the F1 of the best threshold."""
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(y[order])
    return float((2 * right / (np.arange(1, len(y) + 1) + y.sum())).max())
