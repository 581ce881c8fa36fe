"""Gates by neighbors: whose nearest neighbor is of another class, and with which gates not?"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.features import HashIndex
from kernelwood.kernels import Kernel
from kernelwood.seeds import child_generator
from kernelwood.tuning.losses import nearest_others
from kernelwood.tuning.outcome import Outcome
from kernelwood.tuning.problem import Decision, Earlier, GateProblem, Open

__all__ = ["NeighborGraph", "NeighborSettings", "find_graph", "search_by_neighbors"]

Positions = NDArray[np.int64]

_TRIALS, _HASHES = 3, 4  # what the random numbers of a child generator are for
_CODE_BITS = 256  # of a hashed graph
_MOST_REFERENCES = 100


@dataclass(frozen=True)
class NeighborSettings:
    """Parameters of :func:`search_by_neighbors`; see :class:`GateLearner`."""

    n_samples: int
    n_trials: int
    n_neighbors: int
    n_passes: int
    sampling: str
    graph: str


class NeighborGraph:
    """The nearest neighbors of each structure, and whose neighbor it is.

    Parameters
    ----------
    neighbors : ndarray of int64, shape (n, k)
        The nearest first.
    """

    def __init__(self, neighbors: Positions) -> None:
        self.neighbors = neighbors
        n, k = neighbors.shape
        order = np.argsort(neighbors.reshape(-1), kind="stable")
        self._sources = order // k
        self._offsets = np.searchsorted(neighbors.reshape(-1)[order], np.arange(n + 1))

    def pointing_at(self, positions: Positions) -> Positions:
        """Return the structures that have one of ``positions`` among their neighbors."""
        pieces = [self._sources[self._offsets[i] : self._offsets[i + 1]] for i in positions]
        return np.concatenate([np.empty(0, dtype=np.int64), *pieces])

    def around(self, positions: Positions) -> Positions:
        """Return structures with their neighborhoods, in rising order.

        These are the structures, their neighbors, those that have them as neighbors, and the
        first neighbors of all these.
        """
        near = np.union1d(self.neighbors[positions].reshape(-1), self.pointing_at(positions))
        first = self.neighbors[near, 0]
        return np.unique(np.concatenate([positions, near, first]))


def find_graph(
    kernel: Kernel,
    X: Any,
    k: int,
    *,
    hashed: bool,
    seed: int,
    groups: NDArray[np.int64] | None = None,
) -> NeighborGraph:
    """Return the graph of the ``k`` nearest neighbors, exact or by the distance of hashcodes.

    An exact one costs n² kernel evaluations, a hashed one n times the square root of n, or n times
    100 if that is less. Exact neighbors are in other groups.
    """
    k = min(k, len(X) - 1)
    if not hashed:
        return NeighborGraph(nearest_others(kernel, X, k, groups)[0])
    references = int(np.clip(len(X) ** 0.5, 2, _MOST_REFERENCES))
    index = HashIndex(
        kernel, n_references=references, n_bits=_CODE_BITS, subset_size=1, random_state=seed
    ).fit(X)
    found = index.search_codes(index.codes_, k + 1)[0]
    # Equal codes may push a structure out of its own neighbors; then the farthest goes.
    own = found == np.arange(len(X))[:, None]
    own[~own.any(axis=1), -1] = True
    return NeighborGraph(found[~own].reshape(len(X), k))


def search_by_neighbors(
    problem: GateProblem, settings: NeighborSettings, earlier: Earlier
) -> Generator[tuple[Decision, bool], None, Outcome]:
    """Decide on one label after the other, in several passes; return what was found.

    Yields decisions, and whether they are new. Each pass has a graph of neighbors of its own, made
    with the gates as they are when it begins.
    """
    is_open = problem.start()
    loss_open, loss_closed = np.zeros(len(is_open)), np.zeros(len(is_open))
    for number in range(settings.n_passes):
        sampler = _Sampler(problem, settings, number, is_open.copy())
        before = is_open.copy()
        for t, label in enumerate(problem.table.labels):
            known = earlier.take(run=problem.run, step=number, label=label)
            decision = _decide(problem, sampler, is_open, t) if known is None else known
            is_open[t] = decision["open"]
            loss_open[t], loss_closed[t] = decision["loss_open"], decision["loss_closed"]
            yield decision, known is None
        if (is_open == before).all():
            break
    return Outcome(is_open, loss_open, loss_closed)


class _Sampler:
    """Draws the structures on which losses are compared.

    The graph is made when it is first needed: a resumed pass may not need it.
    """

    def __init__(
        self, problem: GateProblem, settings: NeighborSettings, number: int, is_open: Open
    ) -> None:
        self.problem, self.settings, self.number = problem, settings, number
        self._is_open = is_open
        self._graph: NeighborGraph | None = None

    @property
    def graph(self) -> NeighborGraph:
        if self._graph is None:
            self._graph = find_graph(
                self.problem.kernel_with(self._is_open),
                self.problem.X,
                self.settings.n_neighbors,
                hashed=self.settings.graph == "hashed",
                groups=self.problem.groups,
                seed=int(self._generator(_HASHES).integers(2**63)),
            )
        return self._graph

    def draw(self, t: int) -> list[Positions]:
        """Return the sample of each trial; of a rare label there is only one."""
        containing = self.problem.table.structures_with(t)
        size = self.settings.n_samples
        n_trials = self.settings.n_trials if len(containing) > size else 1
        drawn = [
            self._generator(_TRIALS, t, trial).choice(containing, size, replace=False)
            if len(containing) > size
            else containing
            for trial in range(n_trials)
        ]
        if self.settings.sampling == "random":
            return [np.sort(sample) for sample in drawn]
        return [self.graph.around(sample) for sample in drawn]

    def _generator(self, *path: int) -> np.random.Generator:
        return child_generator(self.problem.seed, self.problem.run, self.number, *path)


def _decide(problem: GateProblem, sampler: _Sampler, is_open: Open, t: int) -> Decision:
    """Compare the losses with the gate of one label open and closed, on the same samples."""
    samples = [sample for sample in sampler.draw(t) if len(sample) > 1]
    totals = {}
    for value in (True, False):
        tried = is_open.copy()
        tried[t] = value
        kernel = problem.kernel_with(tried)
        totals[value] = sum(float(problem.losses(kernel, some).sum()) for some in samples)
    keep = bool(is_open[t])
    better = totals[not keep] < totals[keep]  # a tie changes nothing
    compared = sum(len(sample) for sample in samples)
    return {
        "run": problem.run,
        "step": sampler.number,
        "label": problem.table.labels[t],
        "before": keep,
        "open": (not keep) if better else keep,
        "loss_open": totals[True] / max(compared, 1),
        "loss_closed": totals[False] / max(compared, 1),
        "structures": int(problem.table.n_structures[t]),
        "compared": compared,
        "trials": len(samples),
    }
