"""Unique paths in random halves: gates from one half, neighbors in fresh halves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from event_models.learning import (
    CLASSIFIERS,
    GATES,
    PASSES,
    VIEWS,
    Learned,
    judge,
    kernels,
    learn,
    summary,
)
from numpy.typing import NDArray

import kernelwood as kw

__all__ = ["SETTINGS", "Halves", "Setting", "run_halves"]

Rows = NDArray[np.int64]
K = 8


@dataclass(frozen=True)
class Setting:
    """A row of a table.

    Attributes
    ----------
    table : str
        Number in the paper.
    classifier : str
        A name in `learning.CLASSIFIERS`.
    kernel : str
        A name in `learning.VIEWS`.
    gates : str
        A name in `learning.GATES`; empty for the plain kernel.
    passes : int
        Passes over the labels after which the gates are used.
    k : int
        Neighbors that vote.
    share : float
        Part of both halves that is used.
    trials : int
        The most trials.
    unseen : bool
        Whether classifiers are trained on the half that gates were learned from and tested on the
        other, whose classes nothing was learned from. In fresh halves, every second test path is
        one that gates were learned from.
    """

    table: str
    classifier: str
    kernel: str = "path"
    gates: str = ""
    passes: int = 1
    k: int = K
    share: float = 1.0
    trials: int = 5
    unseen: bool = False


def _pair(table: str, classifier: str, gates: str = "β = 550", **others: Any) -> list[Setting]:
    """Return the row of the plain kernel and that with gates."""
    return [Setting(table, classifier, gates=name, **others) for name in ("", gates)]


SETTINGS: dict[str, list[Setting]] = {
    "core": [
        *_pair("2a", "hashed"),
        *_pair("2a", "hashed", share=0.8),
        *_pair("2a", "hashed, 10 √N"),
        *_pair("6", "exact"),
        *_pair("2a", "hashed", unseen=True),
        *_pair("6", "exact", unseen=True),
    ],
    "four": _pair("6", "exact", k=4),
    "kulis": _pair("2b", "kulis"),
    "samples": [
        Setting("3a", "hashed", gates=name)
        for name in ("β = 550", "β = 100", "β = 50", "β = 25")
    ],
    "trees": [
        *_pair("3b", "hashed", kernel="tree", k=1),
        *_pair("3b", "exact", kernel="tree", k=1),
    ],
    "vectors": _pair("3c", "hashed", "β = 100", kernel="vectors"),
    "passes": [Setting("4a", "hashed", gates="β = 25", passes=n) for n in PASSES],
    "random": [
        Setting("4b", "hashed", gates=name)
        for name in ("β = 1000, pure random", "β = 5000, pure random")
    ],
    "votes": [
        Setting("", name, gates="β = 550, loss of votes") for name in ("hashed", "exact")
    ],
    "svm": _pair("6", "svm", trials=1),
}  # fmt: skip


class Halves:
    """Candidates with different paths, the half that gates are learned from, and learned gates.

    Parameters
    ----------
    X : ExampleBatch
    y : ndarray of int64, shape (n,)
    data : str, optional
        The data folder, for word vectors.
    seed : int
    """

    def __init__(self, X: Any, y: NDArray[np.int64], *, data: str | None, seed: int) -> None:
        self.X, self.y, self.seed = X, y, seed
        self._data = data
        self.learning, self.other = self._divided(0)
        self._kernels: dict[str, kw.Kernel] = {}
        self.learned: dict[tuple[str, str], Learned] = {}

    def _divided(self, *path: int) -> tuple[Rows, Rows]:
        order = np.random.default_rng([self.seed, *path]).permutation(len(self.y))
        return np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])

    def splits(self, setting: Setting, n_trials: int) -> Iterator[tuple[Rows, Rows, int]]:
        """Yield training rows, test rows and seed of each trial; the same for all settings."""
        for trial in range(min(n_trials, setting.trials)):
            halves = (self.learning, self.other) if setting.unseen else self._divided(1, trial)
            if setting.share < 1:
                rng = np.random.default_rng([self.seed, 2, trial])
                size = [round(setting.share * len(half)) for half in halves]
                halves = tuple(
                    np.sort(rng.choice(half, n, replace=False))
                    for half, n in zip(halves, size, strict=True)
                )
            yield *halves, trial
            if setting.unseen and setting.classifier == "exact":
                return  # nothing is random

    def plain(self, name: str) -> kw.Kernel:
        """Return a kernel without gates."""
        if name not in self._kernels:
            self._kernels |= kernels([name], self._data)
        return self._kernels[name]

    def gates(self, kernel: str, name: str) -> Learned:
        """Return gates learned from the learning half, once."""
        if (kernel, name) not in self.learned:
            some = self.learning
            self.learned[kernel, name] = learn(
                self.plain(kernel), self.X.view(VIEWS[kernel])[some], self.y[some],
                GATES[name], self.seed,
            )  # fmt: skip
        return self.learned[kernel, name]

    def kernel(self, setting: Setting) -> kw.Kernel:
        """Return the kernel of a setting, with its gates."""
        plain = self.plain(setting.kernel)
        if not setting.gates:
            return plain
        return self.gates(setting.kernel, setting.gates).applied(plain, setting.passes)

    def run(self, setting: Setting, n_trials: int) -> dict[str, Any]:
        """Return the figures of a setting."""
        kernel, structures = self.kernel(setting), self.X.view(VIEWS[setting.kernel])
        outcomes = []
        for train, test, seed in self.splits(setting, n_trials):
            model = CLASSIFIERS[setting.classifier](kernel, setting.k, len(train), seed)
            outcomes.append(
                judge(model, structures[train], self.y[train], structures[test], self.y[test])
            )
        row = asdict(setting) | summary(outcomes)
        if setting.gates:
            learned = self.gates(setting.kernel, setting.gates)
            row |= {
                "gated": len(learned.labels),
                "ignored": learned.ignored(setting.passes),
                "gate_seconds": learned.seconds,
                "gate_evaluations": learned.evaluations,
            }
        return row


def run_halves(halves: Halves, parts: list[str], n_trials: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of some parts of `SETTINGS`."""
    for part in parts:
        for setting in SETTINGS[part]:
            yield {"part": part} | halves.run(setting, n_trials)
