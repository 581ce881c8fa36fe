"""What was tried, on held-out documents of the training corpus alone.

Kernel matrices are computed once for each part and combined; support vector machines learn from
pieces of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from relation_models.figures import Floats, Pairs, best_f1, figures_of, lines
from relation_models.parts import PARTS, structures
from relation_models.shifts import Split, shifts, topics
from sklearn.svm import SVC

import kernelwood as kw
from kernelwood.relations import positive_rate_threshold

__all__ = ["RULES", "TRIALS", "Laboratory", "Trial"]

RULES = ("f1", "cautious", "margin 0", "share")

Gram = NDArray[np.float32]


@dataclass(frozen=True)
class Trial:
    """A combination of kernels, and the machine that learns with it.

    Attributes
    ----------
    name : str
        What the table shows.
    parts : tuple of str
        Names in `relation_models.parts.PARTS`.
    combine : callable
        From their matrices to one.
    options : dict
        Of the machine, where they are not those of the recipe.
    """

    name: str
    parts: tuple[str, ...]
    combine: Callable[..., Gram]
    options: dict[str, Any]


def one(name: str) -> Trial:
    return Trial(name, (name,), lambda a: a, {})


def weighted(name: str, **weights: float) -> Trial:
    total = sum(weights.values())
    values = [weight / total for weight in weights.values()]
    names = tuple(part.replace("_", " ") for part in weights)
    return Trial(name, names, lambda *k: sum(w * a for w, a in zip(values, k, strict=True)), {})


def multiplied(name: str, *names: str, **options: Any) -> Trial:
    def combine(context: Gram, steps: Gram, *rest: Gram) -> Gram:
        pair: Gram = sum(rest[1:], start=rest[0]) / len(rest)
        return (context + pair / 2) * (steps + pair) / 3

    return Trial(name, names, combine, options)


PAIR = ("names", "negation")
STEMS = ("context 3", "steps 3", *PAIR)

TRIALS = (
    one("steps all"), one("steps 3"), one("context all"), one("context 1"), one("context 2"),
    one("context 3"), one("context 4"), one("context 3 text"), one("context 3 vectors"),
    one("tree"), one("walks"),
    weighted("vectors, all lengths", context_all_vectors=1, steps_all_vectors=1),
    weighted("context + steps", context_3=1, steps_3=1),
    weighted("sum", context_3=0.45, steps_3=0.25, names=0.3),
    weighted("sum, text", context_3_text=0.45, steps_3_text=0.25, names=0.3),
    weighted("sum, vectors", context_3_vectors=0.45, steps_3_vectors=0.25, names=0.3),
    weighted("sum, window 2", context_3_window_2=0.45, steps_3=0.25, names=0.3),
    weighted("sum, window 8", context_3_window_8=0.45, steps_3=0.25, names=0.3),
    weighted("sum, decay 0.5", context_3_decay_half=0.45, steps_3=0.25, names=0.3),
    weighted("sum + tree", context_3=0.45, steps_3=0.25, names=0.3, tree=0.3),
    weighted("sum + tags", context_3=0.45, steps_3=0.25, names=0.3, tags=0.2),
    weighted("sum + walks", context_3=0.45, steps_3=0.25, names=0.3, walks=0.3),
    weighted("sum + numbers", context_3=0.45, steps_3=0.25, names=0.3, numbers=0.3),
    multiplied("product, no negation", *STEMS[:3]),
    multiplied("product", *STEMS),
    multiplied("product, C=1", *STEMS, C=1.0),
    multiplied("product, C=10", *STEMS, C=10.0),
    multiplied("product, balanced classes", *STEMS, class_weight="balanced"),
    multiplied("product, text", "context 3 text", "steps 3 text", *PAIR),
    multiplied("product, vectors", "context 3 vectors", "steps 3 vectors", *PAIR),
)  # fmt: skip


class Laboratory:
    """Tries kernels and rules on the pairs of one corpus.

    Parameters
    ----------
    pairs : Pairs
        The training corpus; nothing else is looked at.
    vectors : Vectors
        For the kernels with similarities.
    """

    def __init__(self, pairs: Pairs, vectors: kw.Vectors) -> None:
        self.pairs, self.vectors = pairs, vectors
        self.grams: dict[str, Gram] = {}
        groups = kw.evaluate.group_splits(pairs.documents, pairs.y, n_splits=3, random_state=0)
        self.folds: list[Split] = [(np.asarray(a), np.asarray(b)) for a, b in groups]
        self.shifts = shifts(pairs)

    def held_out(self, trial: Trial) -> dict[str, float]:
        """Return figures of held-out documents, and of documents with more or fewer proteins."""
        gram, y = self._gram(trial), self.pairs.y
        scores = self._over(gram, self.folds, trial.options)
        inside = figures_of(y, scores, 0.0)
        found = {"auc": inside.auc, "average_precision": inside.average_precision}
        found["f1"] = best_f1(y, scores)
        for name, (train, test) in self.shifts.items():
            judged = self._scores(gram, train, test, trial.options)
            found[name] = figures_of(y[test], judged, 0.0).average_precision
        return found

    def rules(self, trial: Trial) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield the F1 of every rule for thresholds, for documents unlike those learned from."""
        gram, y = self._gram(trial), self.pairs.y
        documents = np.array(self.pairs.documents)
        for name, (train, test) in {**self.shifts, **topics(self.pairs)}.items():
            inner = kw.evaluate.group_splits(
                documents[train].tolist(), y[train], n_splits=3, random_state=0
            )
            held_out = np.empty(len(train))
            for some, rest in inner:
                held_out[rest] = self._scores(gram, train[some], train[rest], trial.options)
            scores = self._scores(gram, train, test, trial.options)
            drawn = lines(y[train], held_out, documents[train].tolist())
            drawn["share"] = positive_rate_threshold(scores, float(y[train].mean()))
            yield name, {rule: figures_of(y[test], scores, drawn[rule]).f1 for rule in RULES}

    def _gram(self, trial: Trial) -> Gram:
        for name in trial.parts:
            if name not in self.grams:
                part = PARTS[name]
                made = structures(part, self.pairs.candidates)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # of empty views
                    gram = part.kernel(self.vectors).gram(kw.batch(made), dtype="float32")
                self.grams[name] = gram
        return trial.combine(*(self.grams[name] for name in trial.parts))

    def _over(self, gram: Gram, splits: list[Split], options: dict[str, Any]) -> Floats:
        scores = np.empty(len(gram))
        for train, test in splits:
            scores[test] = self._scores(gram, train, test, options)
        return scores

    def _scores(
        self, gram: Gram, train: NDArray[Any], test: NDArray[Any], options: dict[str, Any]
    ) -> Floats:
        machine = SVC(**{"C": 3.0, "kernel": "precomputed", "cache_size": 500} | options)
        machine.fit(gram[np.ix_(train, train)], self.pairs.y[train])
        return np.asarray(machine.decision_function(gram[np.ix_(test, train)]), dtype=np.float64)
