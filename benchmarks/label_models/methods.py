"""Methods that learn from labeled candidates: recipes of kernelwood, and logistic regressions.

Both choose their decision threshold by the same rule on held-out documents of the sample: five
folds, calibrated scores, best F1. A logistic regression chooses its strength of regularization by
the same F1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from label_models.corpora import Corpus, Words
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelwood as kw
from kernelwood.relations import NONE
from kernelwood.relations.calibration import best_relation, calibrate, rates
from kernelwood.relations.learning import assign_folds

__all__ = [
    "RECIPES",
    "Method",
    "marked_words",
    "most_frequent",
    "recipe_method",
    "text_method",
    "vector_method",
]

RECIPES = ("svm", "ridge", "klsh-rf", "nystrom")
TEXT_STRENGTHS = (1.0, 10.0, 100.0)  # C on vectors of length 1
VECTOR_STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0)  # C on standardized columns
N_SPLITS = 5
UNSEEN = -20.0  # score of a class that was not in the training part

Rows = NDArray[np.int64]
Classes = NDArray[np.str_]
Method = Callable[[Corpus, Rows, Rows, int], Classes]  # corpus, training, test, seed


def recipe_method(recipe: str) -> Method:
    """Return a recipe of `kernelwood.RelationExtractor` with its defaults."""

    def predict(corpus: Corpus, train: Rows, test: Rows, seed: int) -> Classes:
        extractor = kw.RelationExtractor(recipe, labels=corpus.labels, random_state=seed, n_jobs=1)
        extractor.fit_candidates(corpus.candidates.take(train.tolist()))
        probabilities = extractor.class_probabilities(corpus.table[test])
        names = extractor.learner_.classes_
        return decide(probabilities, names, extractor.threshold_)

    return predict


def most_frequent(corpus: Corpus, train: Rows, test: Rows, seed: int) -> Classes:
    """Predict the most frequent relation of the sample everywhere."""
    names, counts = np.unique(corpus.classes[train], return_counts=True)
    related = names != NONE
    return np.full(len(test), names[related][counts[related].argmax()])


def decide(probabilities: NDArray[np.float64], names: Classes, threshold: float) -> Classes:
    """Return the most probable relation where its probability reaches the threshold."""
    best = best_relation(probabilities, names.tolist().index(NONE))
    shown = probabilities[np.arange(len(best)), best]
    return np.where(shown >= threshold, names[best], NONE)


@dataclass(frozen=True)
class Regression:
    """A logistic regression on features of candidates.

    Attributes
    ----------
    make : callable
        From C to an estimator.
    strengths : tuple of float
        Values of C, of which each sample chooses one.
    features : callable
        From a corpus to the features of all its candidates.
    """

    make: Callable[[float], Any]
    strengths: tuple[float, ...]
    features: Callable[[Corpus], NDArray[Any]]

    def __call__(self, corpus: Corpus, train: Rows, test: Rows, seed: int) -> Classes:
        X = self.features(corpus)
        y = corpus.classes[train]
        names, numbers = np.unique(y, return_inverse=True)
        none = names.tolist().index(NONE)
        documents = [str(one) for one in corpus.documents[train]]
        sentences = [corpus.candidates.sentence_of[row] for row in train.tolist()]
        folds = assign_folds(documents, sentences, y.tolist(), N_SPLITS, seed)
        found = []
        for strength in self.strengths:
            scores = np.empty((len(y), len(names)))
            for fold in range(int(folds.max()) + 1):
                held = folds == fold
                model = partial(self._scores, strength, X[train[~held]], y[~held], names)
                scores[held] = model(X[train[held]])
            calibration = calibrate(scores, numbers, none, documents, "f1", seed=seed)
            held_out = calibration.held(scores, numbers, none)
            reached = rates(held_out, held_out.probabilities >= calibration.threshold).f1
            found.append((reached, strength, calibration))
        _, strength, calibration = max(found, key=lambda one: one[0])
        scores = self._scores(strength, X[train], y, names, X[test])
        return decide(calibration.probabilities(scores, none), names, calibration.threshold)

    def _scores(
        self, strength: float, X: NDArray[Any], y: Classes, names: Classes, Z: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the score of each class, of those named that are not in y a very low one."""
        made = np.full((len(Z), len(names)), UNSEEN)
        seen = np.searchsorted(names, np.unique(y))
        if len(seen) == 1:
            made[:, seen] = 0.0
            return made
        scores = self.make(strength).fit(X, y).decision_function(Z)
        made[:, seen] = np.c_[-scores / 2, scores / 2] if scores.ndim == 1 else scores
        return made


def marked_words(words: Words) -> str:
    """Return the words of a candidate with the part that each is in."""
    named = {
        "before": words.before,
        "between": words.between,
        "after": words.after,
        "first": words.entities[0],
        "second": words.entities[1],
    }
    return " ".join(f"{part}:{word}" for part, some in named.items() for word in some)


def text_method() -> Method:
    """Return TF-IDF of words and of pairs of neighbors, learned on the sample alone."""

    def make(strength: float) -> Any:
        words = TfidfVectorizer(
            ngram_range=(1, 2), sublinear_tf=True, lowercase=False, token_pattern=r"\S+"
        )
        one = LogisticRegression(
            C=strength, class_weight="balanced", solver="liblinear", random_state=0
        )
        return make_pipeline(words, OneVsRestClassifier(one))

    def features(corpus: Corpus) -> NDArray[Any]:
        return np.array([marked_words(words) for words in corpus.words], dtype=object)

    return Regression(make, TEXT_STRENGTHS, cache(features))


def vector_method(vectors: Callable[[Corpus], NDArray[Any]]) -> Method:
    """Return a logistic regression on standardized vectors."""

    def make(strength: float) -> Any:
        one = LogisticRegression(C=strength, class_weight="balanced", max_iter=1000)
        return make_pipeline(StandardScaler(), one)

    return Regression(make, VECTOR_STRENGTHS, cache(vectors))
