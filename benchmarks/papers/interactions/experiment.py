"""Running models: trials within a training corpus, and rows that are tested on another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
from interactions.corpora import Corpus
from interactions.filters import removed_pairs
from interactions.matrices import Lookup, Matrices, numbered
from interactions.models import Model, Scores, fit_scores
from interactions.points import (
    Held,
    held_out_figures,
    labeled_predictions,
    mean_figures,
    ranking,
    unlabeled_predictions,
)

import kernelwood as kw

__all__ = ["N_SPLITS", "Laboratory"]

N_SPLITS = 3


class Laboratory:
    """A training corpus and a test corpus, with their kernel matrices.

    Parameters
    ----------
    training, test : Corpus
    vectors : Vectors
    """

    def __init__(self, training: Corpus, test: Corpus, vectors: kw.Vectors) -> None:
        self.training, self.test = training, test
        self.matrices = Matrices(training, test, vectors)
        self.removed = removed_pairs([training, test])
        self.pairs = numbered(len(training) + len(test))
        self._held: dict[str, Held] = {}

    def held_out(self, model: Model, seed: int = 0) -> Held:
        """Return scores of the training pairs, by models that have not seen their documents."""
        known = self._held.get(repr(model))
        if known is not None:
            return known
        documents, y = self.training.documents, self.training.y
        values, kept = np.empty(len(y)), np.empty(len(y), dtype=bool)
        for train, test in kw.evaluate.group_splits(
            documents, y, n_splits=N_SPLITS, random_state=0
        ):
            kernel = self.matrices.kernel(model.representation, tested=False)
            found = self._scores(model, kernel, np.asarray(train), np.asarray(test), seed)
            values[test], kept[test] = found.values, found.kept
        made = self._held[repr(model)] = Held(y, Scores(values, kept), documents)
        return made

    def scores(self, model: Model, seed: int) -> Scores:
        """Return the scores of the test pairs."""
        n = len(self.training)
        kernel = self.matrices.kernel(model.representation, tested=True)
        return self._scores(model, kernel, np.arange(n), np.arange(n, n + len(self.test)), seed)

    def _scores(self, model: Model, kernel: Lookup, train: Any, test: Any, seed: int) -> Scores:
        return fit_scores(
            model, kernel, self.pairs, self.training.y, train, test, self.removed, seed
        )

    def trial(self, group: str, model: Model) -> dict[str, Any]:
        """Return what a model reaches on held-out documents of the training corpus."""
        found = held_out_figures(self.held_out(model))
        return {"training": self.training.name, "group": group, **asdict(model), "held_out": found}

    def row(self, group: str, name: str, model: Model, seeds: Iterable[int]) -> dict[str, Any]:
        """Return the figures of a model on the test corpus, means over seeds."""
        self.matrices.kernel(model.representation, tested=True)  # read by held_out, too
        y, held = self.test.y, self.held_out(model)
        runs, ranks, costs = [], [], []
        for seed in list(seeds) if model.is_random else [0]:
            with kw.compute.counting() as counters:
                scores = self.scores(model, seed)
            found = unlabeled_predictions(held, scores, model.cut)
            runs.append(found | labeled_predictions(y, scores))
            ranks.append(ranking(y, scores))
            costs.append(counters.kernel_evaluations)
        return {
            "training": self.training.name,
            "test": self.test.name,
            "group": group,
            "name": name,
            **asdict(model),
            "rule": "held-out documents, cautious" if model.cut is None else "fixed cut",
            "held_out": held_out_figures(held),
            "points": mean_figures(y, runs),
            **{key: float(np.mean([one[key] for one in ranks])) for key in ranks[0]},
            "n": len(runs),
            "kernel_evaluations": int(np.mean(costs)),
        }
