"""The training parts of the shared tasks against the development part of 2013."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from event_models.candidates import PATH
from event_models.learning import CLASSIFIERS, GATES, N_BITS, judge, kernels, learn, summary
from numpy.typing import NDArray

import kernelwood as kw
from kernelwood.tuning.problem import with_gates

__all__ = ["MODELS", "Model", "Task", "run_task"]

K = 8
N_SUPPORT = 15_000  # training candidates of the support vector machine
DECAYS = (0.2, 0.4, 0.6, 0.8, 0.95)


@dataclass(frozen=True)
class Model:
    """A row of a table.

    Attributes
    ----------
    table : str
        Paper and number of the table.
    name : str
    kernel : {"plain", "neighbors", "information"}
        How the gates of the kernel are learned; by information the decay, too.
    make : callable
        From kernel, number of training candidates and seed to a classifier.
    references : bool
        Whether the references of the hashcodes are learned.
    trials : int
        The most trials.
    most : int, optional
        Training candidates that are drawn; None for all.
    """

    table: str
    name: str
    kernel: str
    make: Callable[[kw.Kernel, int, int], Any]
    references: bool = False
    trials: int = 10
    most: int | None = None


def _forest(kernel: kw.Kernel, n: int, seed: int, **others: Any) -> Any:
    return kw.HashForestClassifier(kernel, random_state=seed, **others)


def _balanced(kernel: kw.Kernel, n: int, seed: int) -> Any:
    return _forest(kernel, n, seed, class_weight="balanced")


def _informed_forest(kernel: kw.Kernel, n: int, seed: int) -> Any:
    return _forest(kernel, n, seed, references=_selector(kernel))


def _selector(kernel: kw.Kernel) -> Any:
    return kw.ReferenceSelector(kernel, n_candidates=1000, n_samples=300)


def _neighbors(kernel: kw.Kernel, n: int, seed: int, **others: Any) -> Any:
    return kw.HashNeighborsClassifier(
        kernel,
        n_neighbors=K,
        n_bits=N_BITS,
        method="rmm",
        n_references=100,
        n_candidates=round(n**0.5),
        random_state=seed,
        **others,
    )


def _informed_neighbors(kernel: kw.Kernel, n: int, seed: int) -> Any:
    return _neighbors(kernel, n, seed, references=_selector(kernel))


def _of(name: str) -> Callable[[kw.Kernel, int, int], Any]:
    return lambda kernel, n, seed: CLASSIFIERS[name](kernel, K, n, seed)


_2, _3D = "hashcodes 2", "nonstationary 3d"
MODELS: dict[str, list[Model]] = {
    "hashcodes": [
        Model(_2, "KLSH-RF", "plain", _forest),
        Model(_2, "KLSH-kNN", "plain", _neighbors),
        Model(_2, "KLSH-RF", "information", _forest),
        Model(_2, "KLSH-kNN", "information", _neighbors),
        Model(_2, "KLSH-RF, balanced classes", "plain", _balanced),
    ],
    "svm": [Model(_2, "SVM", "plain", _of("svm"), trials=1, most=N_SUPPORT)],
    "references": [
        Model(_2, "KLSH-RF", "plain", _informed_forest, references=True, trials=1),
        Model(_2, "KLSH-kNN", "plain", _informed_neighbors, references=True, trials=1),
    ],
    "repeated": [
        Model(_3D, name, kernel, _of(name), trials=5 if name == "hashed" else 1)
        for name in ("hashed", "exact")
        for kernel in ("plain", "neighbors")
    ],
}


class Task:
    """Training and test candidates, and kernels learned from the former."""

    def __init__(
        self,
        X: Any,
        y: NDArray[np.int64],
        X_test: Any,
        y_test: NDArray[np.int64],
        *,
        seed: int,
    ) -> None:
        self.X, self.y, self.X_test, self.y_test = X.view(PATH), y, X_test.view(PATH), y_test
        self.seed = seed
        self._kernels = {"plain": kernels(["path"], None)["path"]}
        self.learned: dict[str, dict[str, Any]] = {}

    def kernel(self, name: str) -> kw.Kernel:
        """Return a kernel, with gates that are learned once."""
        if name not in self._kernels:
            made = self._by_neighbors if name == "neighbors" else self._by_information
            started = time.process_time()
            self._kernels[name], facts = made()
            self.learned[name] = facts | {"cpu_seconds": time.process_time() - started}
        return self._kernels[name]

    def _by_neighbors(self) -> tuple[kw.Kernel, dict[str, Any]]:
        plain = self._kernels["plain"]
        found = learn(plain, self.X, self.y, GATES["β = 130"], self.seed)
        return found.applied(plain), {"gated": len(found.labels), "ignored": found.ignored(1)}

    def _by_information(self) -> tuple[kw.Kernel, dict[str, Any]]:
        plain = self._kernels["plain"]
        learner = kw.GateLearner(
            plain, method="information", parameters={"decay": list(DECAYS)}, random_state=self.seed
        ).fit(self.X, self.y)
        ignored = [label for label, gate in learner.gates_.items() if gate == 0]
        kernel = with_gates(plain.clone().set_params(**learner.parameters_), learner.gates_)
        facts = {"gated": len(learner.labels_), "ignored": ignored}
        return kernel, facts | {"parameters": learner.parameters_}

    def neighborhood(self, most: int = 2000) -> dict[str, float]:
        """Return what the nearest neighbors of test paths are, from the plain kernel."""
        rng = np.random.default_rng([self.seed, 5])
        some = np.sort(rng.permutation(len(self.y_test))[:most])
        near, _ = self.kernel("plain").neighbors(self.X_test[some], self.X, K)
        return {
            "valid": float(self.y.mean()),
            "valid_neighbors": float(self.y[near].mean()),
            "length": float(self.X.sizes.mean()),
            "length_of_tested": float(self.X_test[some].sizes.mean()),
            "length_of_neighbors": float(self.X.sizes[near].mean()),
        }

    def run(self, model: Model, n_trials: int) -> dict[str, Any]:
        """Return the figures of a model."""
        kernel = self.kernel(model.kernel)
        outcomes = []
        for seed in range(min(n_trials, model.trials)):
            some = np.arange(len(self.y))
            if model.most is not None and model.most < len(some):
                rng = np.random.default_rng([self.seed, seed])
                some = np.sort(rng.choice(some, model.most, replace=False))
            made = model.make(kernel, len(some), self.seed + seed)
            outcomes.append(judge(made, self.X[some], self.y[some], self.X_test, self.y_test))
        return {
            "table": model.table,
            "model": model.name,
            "kernel": model.kernel,
            "references": "learned" if model.references else "random",
            "trained_on": len(some),
            **summary(outcomes),
        }


def run_task(task: Task, parts: list[str], n_trials: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of some parts of `MODELS`."""
    for part in parts:
        for model in MODELS[part]:
            yield {"part": part} | task.run(model, n_trials)
