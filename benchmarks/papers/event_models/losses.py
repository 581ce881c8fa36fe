"""The loss that gates are learned by, on samples of several sizes and on all paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from event_models.halves import Halves
from event_models.learning import VIEWS

import kernelwood as kw
from kernelwood.tuning.neighbor_search import NeighborGraph, NeighborLoss, find_graph

__all__ = ["N_DRAWN", "sample_losses"]

N_DRAWN = {200: 25, 500: 25, 1000: 25}  # samples of each size


def sample_losses(halves: Halves, gates: str = "β = 100") -> list[dict[str, Any]]:
    """Return mean losses of the learning half, with the plain kernel and with gates.

    A sample is drawn as the learning algorithm does, with the neighborhoods of the plain kernel.
    """
    X = halves.X.view(VIEWS["path"])[halves.learning]
    y = halves.y[halves.learning].astype(np.int32)
    plain = halves.plain("path")
    graph = find_graph(plain, X, 4, hashed=True, seed=halves.seed)
    kernels = {"": plain, gates: halves.gates("path", gates).applied(plain)}
    return [
        {"table": "5", "gates": name, **_losses(kernel, X, y, graph, halves.seed)}
        for name, kernel in kernels.items()
    ]


def _losses(kernel: kw.Kernel, X: Any, y: Any, graph: NeighborGraph, seed: int) -> dict[str, Any]:
    measure = NeighborLoss.of("losses", "paper", np.array([0, 1]), y)
    found: dict[str, Any] = {"all": float(measure(kernel, X, y).mean())}
    for size, n in N_DRAWN.items():
        if size >= len(y):
            continue
        rng = np.random.default_rng([seed, 3, size])
        drawn = [graph.around(np.sort(rng.choice(len(y), size, replace=False))) for _ in range(n)]
        means = [float(measure(kernel, X[some], y[some]).mean()) for some in drawn]
        found[str(size)] = [float(np.mean(means)), float(np.std(means, ddof=1))]
    return found
