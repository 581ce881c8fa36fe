"""Kernels, gates and classifiers with the settings of the papers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from event_models.candidates import PATH, TREE
from interactions.thresholds import Rates, rates
from numpy.typing import NDArray

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.tuning.problem import with_gates

__all__ = [
    "CLASSIFIERS", "GATES", "PASSES", "VIEWS", "Learned", "Outcome", "judge", "kernels", "learn",
    "summary",
]  # fmt: skip

VECTORS = "word-vectors/glove.6B.100d.subset.txt.gz"
VIEWS = {"path": PATH, "tree": TREE, "vectors": PATH}  # of each kernel
DECAY = 0.8
FLOOR = 0.6  # of the cosine of words
N_BITS = 14
N_TRIALS = 10
PASSES = (1, 3, 6, 9)

_ALGORITHM = {
    "labels": 0.5,
    "n_trials": N_TRIALS,
    "n_neighbors": 4,
    "n_passes": 1,
    "loss": "paper",
    "graph": "hashed",
}
# Parameters of GateLearner; algorithm 1 of the paper, unless a name says otherwise.
GATES: dict[str, dict[str, Any]] = {
    **{f"β = {n}": _ALGORITHM | {"n_samples": n} for n in (550, 130, 100, 50)},
    "β = 25": _ALGORITHM | {"n_samples": 25, "n_passes": max(PASSES)},
    "β = 550, loss of votes": _ALGORITHM | {"n_samples": 550, "loss": "votes"},
    "β = 1000, pure random": _ALGORITHM | {"n_samples": 1000, "sampling": "random"},
    "β = 5000, pure random": _ALGORITHM | {"n_samples": 5000, "sampling": "random"},
}


def kernels(names: Iterable[str], data: str | None) -> dict[str, kw.Kernel]:
    """Return the kernels of some names in `VIEWS`."""
    made: dict[str, kw.Kernel] = {}
    for name in dict.fromkeys(names):
        if name == "path":
            made[name] = kw.SubsequenceKernel(decay=DECAY)
        elif name == "tree":
            made[name] = kw.RootedTreeKernel(decay=DECAY)
        else:
            vectors = kw.Vectors.load(require_data(VECTORS, data=data))
            similarity = kw.similarity.Exponential(vectors, floor=FLOOR)
            made[name] = kw.SubsequenceKernel(decay=DECAY, similarity=similarity)
    return made


@dataclass(frozen=True)
class Learned:
    """Gates after each pass, and what they cost."""

    labels: list[str]
    passes: list[list[str]]  # the ignored labels
    seconds: float
    evaluations: int

    def ignored(self, passes: int) -> list[str]:
        """Return the ignored labels after some passes; passes after the last change nothing."""
        return self.passes[min(passes, len(self.passes)) - 1]

    def applied(self, kernel: kw.Kernel, passes: int = 1) -> kw.Kernel:
        """Return a kernel with the gates after some passes."""
        return with_gates(kernel, dict.fromkeys(self.ignored(passes), 0.0))


def learn(
    kernel: kw.Kernel, X: Any, y: NDArray[np.int64], parameters: Mapping[str, Any], seed: int
) -> Learned:
    """Return the gates learned from candidates."""
    learner = kw.GateLearner(kernel, random_state=seed, **parameters)
    started = time.process_time()
    with kw.compute.counting() as counters:
        learner.fit(X, y)
    closed: dict[str, bool] = {}
    passes: dict[int, list[str]] = {}
    for decision in learner.trace_:
        closed[decision["label"]] = not decision["open"]
        passes[decision["step"]] = [label for label, value in closed.items() if value]
    return Learned(
        learner.labels_,
        list(passes.values()),
        time.process_time() - started,
        counters.kernel_evaluations,
    )


def _hashed(kernel: kw.Kernel, k: int, n: int, seed: int, **others: Any) -> Any:
    root = max(k, round(n**0.5))  # references, and structures that a query is compared with
    settings = {"method": "rknn", "n_references": root, "n_candidates": root} | others
    return kw.HashNeighborsClassifier(
        kernel, n_neighbors=k, n_bits=N_BITS, random_state=seed, **settings
    )


# By name: from kernel, number of neighbors, number of training candidates and seed.
CLASSIFIERS: dict[str, Callable[[kw.Kernel, int, int, int], Any]] = {
    "hashed": _hashed,
    "hashed, 10 √N": lambda kernel, k, n, seed: _hashed(kernel, k, n, seed, n_candidates=None),
    "kulis": lambda kernel, k, n, seed: _hashed(kernel, k, n, seed, method="kulis"),
    "exact": lambda kernel, k, n, seed: kw.KernelNeighborsClassifier(kernel, n_neighbors=k),
    "svm": lambda kernel, k, n, seed: kw.KernelSVC(kernel, C=1.0),
}


@dataclass(frozen=True)
class Outcome:
    """What a classifier did on test candidates."""

    rates: Rates
    seconds: float
    evaluations: int


def judge(model: Any, X: Any, y: NDArray[np.int64], X_test: Any, y_test: Any) -> Outcome:
    """Return the rates of the positive class, by the predictions of the classifier itself."""
    started = time.process_time()
    with kw.compute.counting() as counters:
        predicted = model.fit(X, y).predict(X_test)
    return Outcome(
        rates(y_test, predicted), time.process_time() - started, counters.kernel_evaluations
    )


def summary(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return means over trials, and the deviation of F1."""
    found: dict[str, Any] = {"n": len(outcomes)}
    for name in ("precision", "recall", "f1"):
        found[name] = float(np.mean([getattr(one.rates, name) for one in outcomes]))
    f1 = [one.rates.f1 for one in outcomes]
    found["f1_deviation"] = float(np.std(f1, ddof=1)) if len(f1) > 1 else 0.0
    found["cpu_seconds"] = float(np.mean([one.seconds for one in outcomes]))
    found["kernel_evaluations"] = int(np.mean([one.evaluations for one in outcomes]))
    return found
