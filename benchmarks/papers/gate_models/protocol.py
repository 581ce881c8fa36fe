"""Gates and classifier learned on one half of a corpus, judged on the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gate_models.corpora import OTHER, PathCorpus
from interactions.thresholds import choose_thresholds
from numpy.typing import NDArray

import kernelwood as kw

__all__ = [
    "MODELS",
    "VARIANTS",
    "DocumentPredictions",
    "Learned",
    "halves",
    "judge",
    "learn_gates",
    "run_corpus",
]

Indices = NDArray[np.int64]

MODELS: dict[str, Callable[[kw.Kernel, int], Any]] = {
    "k-NN": lambda kernel, seed: kw.KernelNeighborsClassifier(kernel, n_neighbors=8),
    "KLSH-kNN": lambda kernel, seed: kw.HashNeighborsClassifier(
        kernel, n_neighbors=8, n_bits=4, random_state=seed
    ),
    "KLSH-RF": lambda kernel, seed: kw.HashForestClassifier(kernel, random_state=seed),
}

# How gates are learned, beside the defaults; None learns nothing.
VARIANTS: dict[str, dict[str, Any] | None] = {
    "plain": None,
    "votes": {"loss": "votes"},
    "votes, 1 pass": {"loss": "votes", "n_passes": 1},
    "votes, 5 runs": {"loss": "votes", "n_runs": 5},
    "paper": {"loss": "paper", "n_passes": 1},
    "paper, 3 passes": {"loss": "paper", "n_passes": 3},
    "information": {"method": "information"},
}

N_PARTS = 3  # of the learning half, for thresholds


@dataclass(frozen=True)
class Learned:
    """A kernel with gates, and what it took to learn them."""

    kernel: kw.Kernel
    gated: list[str]
    ignored: list[str]
    seconds: float
    evaluations: int


@dataclass(frozen=True)
class DocumentPredictions:
    """What a model with a kernel did on the half that nothing was learned from.

    Attributes
    ----------
    f1 : float
        Of the positive class, by the threshold; the mean of the positive classes if there are
        several.
    f1_voted : float
        The same for the most probable class.
    predicted : ndarray
        What ``f1`` is of.
    """

    f1: float
    f1_voted: float
    predicted: NDArray[Any]


def halves(corpus: PathCorpus, seeds: Iterable[int]) -> Iterator[tuple[int, Indices, Indices]]:
    """Yield each division in two, both ways: its seed, what to learn from, what to judge."""
    for seed in seeds:
        for learning, testing in kw.evaluate.group_splits(
            corpus.groups, corpus.y, n_splits=2, random_state=seed
        ):
            yield seed, learning, testing


def learn_gates(
    corpus: PathCorpus, some: Indices, kernel: kw.Kernel, variant: str, seed: int
) -> Learned:
    """Return the kernel with the gates that a variant learns from a part of a corpus."""
    parameters = VARIANTS[variant]
    if parameters is None:
        return Learned(kernel, [], [], 0.0, 0)
    negative = "auto" if corpus.is_binary else OTHER
    learner = kw.GateLearner(kernel, negative_label=negative, random_state=seed, **parameters)
    started = time.process_time()
    with kw.compute.counting() as counters:
        learner.fit(corpus.X[some], corpus.y[some], groups=[corpus.groups[i] for i in some])
    ignored = [label for label, gate in learner.gates_.items() if gate == 0]
    return Learned(
        learner.kernel_,
        learner.labels_,
        ignored,
        time.process_time() - started,
        counters.kernel_evaluations,
    )


def judge(
    corpus: PathCorpus,
    learning: Indices,
    testing: Indices,
    kernel: kw.Kernel,
    model: str,
    seed: int,
) -> DocumentPredictions:
    """Train on one half and predict the other."""
    fitted = MODELS[model](kernel, seed).fit(corpus.X[learning], corpus.y[learning])
    shares = fitted.predict_proba(corpus.X[testing])
    voted = fitted.classes_[shares.argmax(axis=1)]
    predicted = voted
    if corpus.is_binary:
        line = threshold(corpus, learning, kernel, model, seed)
        predicted = (shares[:, 1] >= line).astype(np.int64)
    truth = corpus.y[testing]
    return DocumentPredictions(f1(corpus, truth, predicted), f1(corpus, truth, voted), predicted)


def threshold(
    corpus: PathCorpus, learning: Indices, kernel: kw.Kernel, model: str, seed: int
) -> float:
    """Return where to draw the line, by held-out scores of the learning half."""
    y = corpus.y[learning]
    groups = [corpus.groups[i] for i in learning]
    scores = np.empty(len(y))
    for train, test in kw.evaluate.group_splits(groups, y, n_splits=N_PARTS, random_state=seed):
        fitted = MODELS[model](kernel, seed).fit(corpus.X[learning[train]], y[train])
        scores[test] = fitted.predict_proba(corpus.X[learning[test]])[:, 1]
    return choose_thresholds(y, scores, groups).best


def f1(corpus: PathCorpus, truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the mean F1 of the positive classes."""
    found = []
    for label in corpus.positive:
        right = np.sum((truth == label) & (predicted == label))
        both = np.sum(truth == label) + np.sum(predicted == label)
        found.append(2 * right / both if both else 0.0)
    return float(np.mean(found))


def run_corpus(
    corpus: PathCorpus,
    kernel: kw.Kernel,
    variants: Iterable[str],
    models: Iterable[str],
    seeds: Iterable[int],
) -> Iterator[dict[str, Any]]:
    """Yield figures of each division, variant and model, in plain values."""
    for number, (seed, learning, testing) in enumerate(halves(corpus, seeds)):
        plain: dict[str, DocumentPredictions] = {}
        for variant in variants:
            learned = learn_gates(corpus, learning, kernel, variant, seed)
            for model in models:
                judged = judge(corpus, learning, testing, learned.kernel, model, seed)
                plain.setdefault(model, judged)
                yield {
                    "corpus": corpus.name,
                    "seed": seed,
                    "half": number % 2,
                    "variant": variant,
                    "model": model,
                    "f1": judged.f1,
                    "f1_voted": judged.f1_voted,
                    "gated": learned.gated,
                    "ignored": learned.ignored,
                    "cpu_seconds": learned.seconds,
                    "kernel_evaluations": learned.evaluations,
                    "p_value": p_value(corpus, testing, judged, plain[model]),
                }


def p_value(
    corpus: PathCorpus, testing: Indices, judged: DocumentPredictions, plain: DocumentPredictions
) -> float | None:
    """Return how probable a difference to the plain kernel is by chance; None for itself."""
    if judged is plain:
        return None
    return kw.evaluate.compare(
        corpus.y[testing],
        judged.predicted,
        plain.predicted,
        test="randomization",
        metric="f1" if corpus.is_binary else "macro_f1",
        positive=corpus.positive,
        groups=[corpus.groups[i] for i in testing],
        n_resamples=1000,
    ).p_value
