"""Yardsticks without kernels: TF-IDF, and the vectors of a sentence transformer.

Both go through a logistic regression, with the proteins of a pair blinded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from relation_models.figures import Figures, Floats, Pairs, figures_of, lines
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline

import kernelwood as kw
from kernelwood import views

__all__ = ["blinded", "judge_baseline", "tfidf", "vectors_of"]

STRENGTHS = (1.0, 10.0, 100.0)  # of which the training corpus chooses one


def blinded(pairs: Pairs, window: int | None) -> list[str]:
    """Return the words around each pair, or the whole sentence, the two proteins marked."""
    made = []
    for candidate in pairs.candidates:
        words = views.context(candidate.sentence, *candidate.entities, window=window).joined()
        made.append(" ".join(words.nodes))
    return made


def tfidf(strength: float) -> Any:
    """Return TF-IDF of words and of pairs of neighbors, before a logistic regression."""
    words = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, lowercase=False, token_pattern=r"\S+"
    )
    return make_pipeline(words, _regression(strength))


def vectors_of(transformer: Any, pairs: Pairs, advance: Callable[[], None]) -> Floats:
    """Return a vector for the blinded sentence of each pair."""
    rows = []
    for text in blinded(pairs, window=None):
        rows.append(transformer.encode([text])[0])
        advance()
    return np.array(rows, dtype=np.float64)


def judge_baseline(
    training: Pairs, test: Pairs, X: Any, Z: Any, *, is_text: bool
) -> tuple[Figures, Figures]:
    """Learn on X, judge Z; return the figures on held-out documents and on the test corpus."""
    make = tfidf if is_text else _regression
    held_out = {strength: _held_out(partial(make, strength), X, training) for strength in STRENGTHS}
    best = max(STRENGTHS, key=lambda one: average_precision_score(training.y, held_out[one]))
    line = lines(training.y, held_out[best], training.documents)["f1"]
    scores = make(best).fit(X, training.y).decision_function(Z)
    return figures_of(training.y, held_out[best], line), figures_of(test.y, scores, line)


def _regression(strength: float) -> Any:
    return LogisticRegression(C=strength, class_weight="balanced", max_iter=2000)


def _held_out(make: Callable[[], Any], X: Any, pairs: Pairs) -> Floats:
    rows = np.array(X, dtype=object) if isinstance(X, list) else X
    scores = np.empty(len(pairs.y))
    splits = kw.evaluate.group_splits(pairs.documents, pairs.y, n_splits=3, random_state=0)
    for train, test in splits:
        model = make().fit(rows[train], pairs.y[train])
        scores[test] = model.decision_function(rows[test])
    return scores
