"""Rows of `kernelwood.RelationExtractor` with its defaults, from files to predictions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from interactions.corpora import Corpus
from interactions.models import Scores
from interactions.points import CALLED, at_rate, labeled_predictions, mean_figures, ranking
from interactions.quantification import expectation_maximization

import kernelwood as kw

__all__ = ["RECIPES", "recipe_row"]

RECIPES = ("svm", "ridge", "klsh-rf", "nystrom")


def recipe_row(recipe: str, training: Corpus, test: Corpus, seed: int = 0) -> dict[str, Any]:
    """Return the figures of a recipe on the test corpus.

    Pairs that the extractor leaves out, nested entities for example, are predicted negative.
    """
    extractor = kw.RelationExtractor(recipe, labels="binary", parser="given", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of drift, which is what is measured
        extractor.fit(kw.read(str(training.path)))
        predictions = extractor.predict(kw.read(str(test.path)), all=True)
        adapted = extractor.adapt(predictions)[1]
    scores = scores_of(predictions, test)
    found = recipe_predictions(extractor, scores, adapted.positives)
    return {
        "training": training.name,
        "test": test.name,
        "group": "recipes",
        "name": f"recipe {recipe}",
        "kind": recipe,
        "representation": "default",
        "rule": "held-out documents, best F1",
        "left_out": int((~scores.kept).sum()),
        "held_out": {name: extractor.held_out_[name] for name in _HELD_OUT},
        "points": mean_figures(test.y, [found | labeled_predictions(test.y, scores)]),
        **ranking(test.y, scores),
        "n": 1,
    }


_HELD_OUT = ("f1", "precision", "recall", "auc", "average_precision")


def scores_of(predictions: Any, test: Corpus) -> Scores:
    """Return the probabilities of all pairs of a corpus; those without a prediction are removed."""
    found = dict(zip(predictions.candidates.ids, predictions.probability.tolist(), strict=True))
    kept = np.array([name in found for name in test.candidates.ids], dtype=bool)
    values = np.array([found.get(name, 0.0) for name in test.candidates.ids])
    return Scores(values, kept)


def recipe_predictions(extractor: Any, scores: Scores, n_adapted: int) -> dict[str, Any]:
    """Return the predictions of thresholds that use no label of the test corpus.

    Parameters
    ----------
    extractor : RelationExtractor
    scores : Scores
    n_adapted : int
        Number of relations predicted after `RelationExtractor.adapt`.
    """
    rate = expectation_maximization(scores.values[scores.kept], extractor.positive_rate_)
    return {
        "own": (scores.values >= extractor.threshold_) & scores.kept,
        "training rate": at_rate(scores, extractor.positive_rate_),
        "43 % called": at_rate(scores, CALLED),
        "EM": at_rate(scores, float(scores.kept.mean()) * rate),
        "adapt": at_rate(scores, n_adapted / len(scores.values)),
    }
