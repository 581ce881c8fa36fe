"""From a corpus to figures: learn on one, draw the line there, judge the pairs of another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from interactions.representation import REPRESENTATIONS, examples
from interactions.thresholds import Rates, Thresholds, choose_thresholds, rates
from numpy.typing import NDArray

import kernelwood as kw

__all__ = [
    "MODELS",
    "Corpus",
    "Settings",
    "Trial",
    "choose",
    "held_out_scores",
    "read_corpus",
    "run_trial",
]

MODELS = ("KLSH-kNN", "KLSH-RF", "SVM")


@dataclass(frozen=True)
class Corpus:
    """Pairs of proteins, whether they interact, and the document of each."""

    name: str
    X: Any
    y: NDArray[Any]
    documents: list[str]


@dataclass(frozen=True)
class Settings:
    """A model with all that was chosen for it.

    Attributes
    ----------
    model : {"KLSH-kNN", "KLSH-RF", "SVM"}
        What learns.
    representation : str
        A name in `interactions.representation.REPRESENTATIONS`.
    parameters : dict
        Of the classifier, where they are not its defaults.
    """

    model: str
    representation: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def classifier(self, vectors: kw.Vectors, seed: int) -> Any:
        """Return the classifier, not fitted."""
        kernel = REPRESENTATIONS[self.representation].kernel(vectors)
        if self.model == "SVM":
            return kw.KernelSVC(kernel, **self.parameters)
        kind = {"KLSH-kNN": kw.HashNeighborsClassifier, "KLSH-RF": kw.HashForestClassifier}
        return kind[self.model](kernel, random_state=seed, **self.parameters)

    @property
    def is_random(self) -> bool:
        """Whether there are references to be drawn."""
        return self.model != "SVM"


@dataclass(frozen=True)
class Trial:
    """What one model did, with the figures of every reference set.

    Attributes
    ----------
    settings : Settings
        The model.
    training, test : str
        Names of the corpora.
    thresholds : Thresholds
        Chosen on the training corpus.
    cautious, best : list of Rates
        On the test corpus, with the lowest threshold that is not clearly worse and with the best.
    seconds : float
        CPU time of training and prediction, the mean of the reference sets.
    evaluations : int
        Kernel evaluations of training and prediction, the mean of the reference sets.
    """

    settings: Settings
    training: str
    test: str
    thresholds: Thresholds
    cautious: list[Rates]
    best: list[Rates]
    seconds: float
    evaluations: int


def read_corpus(name: str, path: str | Path) -> Corpus:
    """Read a corpus in the unified format, with the views of all its pairs."""
    candidates = kw.relations.pair_candidates(kw.read(path))
    made = examples(candidates)
    if len(made) != len(candidates):
        raise ValueError(f"{path}: {len(candidates) - len(made)} pairs have no views")
    y = np.array(candidates.labels, dtype=np.int64)
    return Corpus(name, kw.batch(made), y, kw.evaluate.documents(candidates))


def scores_of(model: Any, X: Any) -> NDArray[np.float64]:
    """Return how much a fitted classifier believes in an interaction; no scale is meant."""
    if isinstance(model, kw.KernelSVC):
        return np.asarray(model.decision_function(X), dtype=np.float64).reshape(len(X))
    return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)


def held_out_scores(
    settings: Settings, corpus: Corpus, vectors: kw.Vectors, *, n_splits: int, seed: int
) -> NDArray[np.float64]:
    """Return a score of every pair by a model that has seen no pair of its document."""
    scores = np.empty(len(corpus.y))
    splits = kw.evaluate.group_splits(
        corpus.documents, corpus.y, n_splits=n_splits, random_state=seed
    )
    for train, test in splits:
        model = settings.classifier(vectors, seed)
        model.fit(corpus.X[train], corpus.y[train])
        scores[test] = scores_of(model, corpus.X[test])
    return scores


def run_trial(
    settings: Settings,
    training: Corpus,
    test: Corpus,
    vectors: kw.Vectors,
    *,
    seeds: Iterable[int],
    n_splits: int = 3,
    done: Callable[[], None] = lambda: None,
) -> Trial:
    """Learn and draw the line on one corpus, then judge the other; once for every seed."""
    seeds = list(seeds) if settings.is_random else [0]
    held_out = held_out_scores(settings, training, vectors, n_splits=n_splits, seed=seeds[0])
    thresholds = choose_thresholds(training.y, held_out, training.documents)
    cautious, best, costs = [], [], []
    for seed in seeds:
        started = time.process_time()
        with kw.compute.counting() as counters:
            model = settings.classifier(vectors, seed).fit(training.X, training.y)
            scores = scores_of(model, test.X)
        costs.append((time.process_time() - started, counters.kernel_evaluations))
        cautious.append(rates(test.y, (scores >= thresholds.cautious).astype(int)))
        best.append(rates(test.y, (scores >= thresholds.best).astype(int)))
        done()
    seconds, evaluations = np.mean(costs, axis=0)
    names = (training.name, test.name)
    return Trial(settings, *names, thresholds, cautious, best, float(seconds), int(evaluations))


def choose(
    corpus: Corpus, grid: Iterable[Settings], vectors: kw.Vectors, *, n_splits: int = 3
) -> Iterator[tuple[Settings, Thresholds]]:
    """Yield the settings of a grid with what they reach on held-out documents of a corpus."""
    for settings in grid:
        scores = held_out_scores(settings, corpus, vectors, n_splits=n_splits, seed=0)
        yield settings, choose_thresholds(corpus.y, scores, corpus.documents)
