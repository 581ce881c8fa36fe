"""Operating points: decision thresholds for the scores of a test corpus, and what they give.

Thresholds of `unlabeled_predictions` read no label of the test corpus, those of
`labeled_predictions` do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from interactions.models import Scores
from interactions.quantification import estimate_rates
from interactions.thresholds import choose_thresholds, rates
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

__all__ = [
    "CALLED",
    "LABELED",
    "Held",
    "at_rate",
    "held_out_figures",
    "labeled_predictions",
    "mean_figures",
    "ranking",
    "unlabeled_predictions",
]

Bools: TypeAlias = "NDArray[np.bool_]"

CALLED = 0.43  # positive rate of the predictions of KLSH-RF in the paper, by its P and R
LABELED = ("test rate", "oracle")  # operating points that use labels of the test corpus


class Held:
    """Held-out scores of the training pairs, and the thresholds that follow from them.

    Attributes
    ----------
    y : ndarray
        Classes of the training pairs.
    scores : Scores
    thresholds : Thresholds
        Chosen on pairs that no filter removes.
    """

    def __init__(self, y: NDArray[Any], scores: Scores, documents: list[str]) -> None:
        self.y, self.scores = y, scores
        self.thresholds = choose_thresholds(y, scores.ranked, documents)


def at_rate(scores: Scores, rate: float) -> Bools:
    """Return predictions with a given positive rate: the pairs with the highest scores.

    Pairs of equal scores have the same prediction, so that more may be positive; at least one is.
    """
    n = min(len(scores.values), max(1, round(rate * len(scores.values))))
    threshold = np.sort(scores.ranked)[-n]
    return np.asarray((scores.ranked >= threshold) & scores.kept)


def unlabeled_predictions(held: Held, scores: Scores, cut: float | None) -> dict[str, Bools]:
    """Return the predictions of thresholds that use no label of the test corpus.

    ``own`` is the threshold of the model: ``cut`` if it is given, otherwise ``cautious``, the
    lowest within one standard error of the best on held-out training pairs (``best held-out``).
    """

    def from_threshold(threshold: float) -> Bools:
        return np.asarray((scores.ranked >= threshold) & scores.kept)

    found = {
        "own": from_threshold(held.thresholds.cautious if cut is None else cut),
        "cautious": from_threshold(held.thresholds.cautious),
        "best held-out": from_threshold(held.thresholds.best),
        "training rate": at_rate(scores, float(held.y.mean())),
        "43 % called": at_rate(scores, CALLED),
    }
    if cut is not None:
        found["fixed cut"] = found["own"]
    known = held.scores.kept
    rest = float(scores.kept.mean())  # removed pairs have a rate of 0
    estimates = estimate_rates(held.y[known], held.scores.values[known], scores.values[scores.kept])
    return found | {name: at_rate(scores, rest * rate) for name, rate in estimates.items()}


def labeled_predictions(y: NDArray[Any], scores: Scores) -> dict[str, Bools]:
    """Return the predictions of thresholds chosen with the labels of the test corpus."""
    ranked = scores.ranked
    order = np.argsort(-ranked, kind="stable")
    values = ranked[order]
    f1 = 2 * np.cumsum(y[order]) / (np.arange(1, len(order) + 1) + y.sum())
    f1[:-1][values[:-1] == values[1:]] = -1.0  # pairs of equal scores stay together
    f1[~scores.kept[order]] = -1.0
    best = values[int(f1.argmax())]
    return {
        "test rate": at_rate(scores, float(y.mean())),
        "oracle": np.asarray((ranked >= best) & scores.kept),
    }


def figures(y: NDArray[Any], predicted: Bools) -> dict[str, float]:
    """Return positive rate, precision, recall and F1 of predictions."""
    found = rates(y, predicted.astype(np.int64))
    return {
        "positive_rate": float(predicted.mean()),
        "precision": found.precision,
        "recall": found.recall,
        "f1": found.f1,
    }


def ranking(y: NDArray[Any], scores: Scores) -> dict[str, float]:
    """Return area under the ROC curve, and average precision."""
    return {
        "auc": float(roc_auc_score(y, scores.ranked)),
        "average_precision": float(average_precision_score(y, scores.ranked)),
    }


def held_out_figures(held: Held) -> dict[str, float]:
    """Return the figures of held-out training pairs, at the threshold with the best F1."""
    best = held.thresholds.held_out_best
    return {
        "f1": best.f1,
        "precision": best.precision,
        "recall": best.recall,
        "f1_cautious": held.thresholds.held_out_cautious.f1,
    } | ranking(held.y, held.scores)


def mean_figures(
    y: NDArray[Any], found: Iterable[dict[str, Bools]]
) -> dict[str, dict[str, float | bool]]:
    """Return the figures of each operating point, means over reference sets.

    Parameters
    ----------
    y : ndarray
        Classes of the test pairs.
    found : iterable of dict of str to ndarray of bool
        Predictions by operating point, for each reference set.
    """
    runs = [{name: figures(y, mask) for name, mask in one.items()} for one in found]
    made: dict[str, dict[str, float | bool]] = {}
    for name in runs[0]:
        columns = {key: [run[name][key] for run in runs] for key in runs[0][name]}
        deviation = float(np.std(columns["f1"], ddof=1)) if len(runs) > 1 else 0.0
        means = {key: float(np.mean(values)) for key, values in columns.items()}
        made[name] = means | {"f1_deviation": deviation, "uses_labels": name in LABELED}
    return made
