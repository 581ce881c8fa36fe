"""Gate learning by nearest neighbors: losses, neighbor graphs and the search."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.errors import KernelInputError
from kernelwood.features import HashIndex, encode_labels
from kernelwood.kernels import Kernel
from kernelwood.parameters import check_int
from kernelwood.seeds import child_generator, resolve_seed
from kernelwood.tuning.problem import (
    Decision,
    Earlier,
    GateProblem,
    Open,
    Outcome,
    quiet_zeros,
    resumed_number,
)

LOSSES = ("votes", "paper")

Numbers = NDArray[np.int32]
Groups = NDArray[np.int64]
Positions = NDArray[np.int64]

_CODE_BITS = 256  # of a hashed graph
_MOST_REFERENCES = 100
_NAME = "neighbor_loss"
_TRIALS, _HASHES = 3, 4  # purposes of child generators
_WHOLE = 4096  # structures whose Gram matrix is kept: 128 MB
_QUERIES, _SEARCHED = 1024, 8192  # block sizes for more structures
_DIGITS = {"float64": 12, "float32": 5}  # significant decimals of similarities


@dataclass(frozen=True)
class NeighborLoss:
    r"""Loss of each structure by its nearest neighbors.

    ``"votes"``
        :math:`1 - s_i / p_i`, where :math:`s_i` is the fraction of its class among the ``n_votes``
        nearest, weighted by similarity, and :math:`p_i` the fraction of its class among all. It is
        0 at chance and for a structure without similar ones, but 1 if closed gates leave nothing of
        the structure, so that closing all gates does not pay.
    ``"paper"``
        The similarity to the nearest neighbor if that is of another class; minus the similarity if
        both are of one class, but 0 if that is the negative class.

    Parameters
    ----------
    kind : {"votes", "paper"}
    n_votes : int
    weights : ndarray of float64, shape (n_classes,)
        Fraction of each class for ``"votes"``; 0 for the negative class, otherwise 1, for
        ``"paper"``.
    """

    kind: str
    n_votes: int
    weights: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        owner: str,
        kind: str,
        classes: NDArray[Any],
        numbers: Numbers,
        *,
        n_votes: int = 8,
        negative_label: Any = "auto",
    ) -> NeighborLoss:
        """Return the loss for structures with these classes.

        Examples
        --------
        >>> classes, numbers = np.array(["no", "yes"]), np.array([0, 0, 0, 1], dtype=np.int32)
        >>> NeighborLoss.of("example", "votes", classes, numbers).weights
        array([0.75, 0.25])
        >>> NeighborLoss.of("example", "paper", classes, numbers).weights
        array([0., 1.])
        """
        labels = classes.tolist()
        negative = negative_label
        if isinstance(negative, str) and negative == "auto" and "auto" not in labels:
            negative = labels[0] if len(labels) == 2 else None
        if negative is not None and negative not in labels:
            raise KernelInputError(
                f"{owner}: negative_label={negative!r} is not one of the classes {labels[:20]}"
            )
        if kind == "votes":
            return cls(kind, n_votes, np.bincount(numbers) / len(numbers))
        return cls(kind, 1, np.array([0.0 if label == negative else 1.0 for label in labels]))

    def __call__(
        self, kernel: Kernel, X: Any, classes: Numbers, groups: Groups | None = None
    ) -> NDArray[np.float64]:
        """Return the loss of each structure of ``X``; neighbors in its own group do not count."""
        neighbors, similarities = nearest_others(kernel, X, self.n_votes, groups)
        same = classes[neighbors] == classes[:, None]
        own = self.weights[classes]
        if self.kind == "paper":
            return np.asarray(np.where(same[:, 0], -own, 1.0) * similarities[:, 0])
        total = similarities.sum(axis=1)
        agreeing = (similarities * same).sum(axis=1)
        unlike = np.where(kernel.diag(X) > 0, own, 0.0)
        share = np.divide(agreeing, total, out=unlike, where=total > 0)
        return np.asarray(1 - share / own)


def nearest_others(
    kernel: Kernel, X: Any, k: int, groups: Groups | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nearest neighbors of each structure in other groups, and their similarities.

    Similarities equal up to rounding count as equal; then the first are taken. Missing neighbors,
    if there are fewer than ``k``, have the similarity 0.

    Examples
    --------
    >>> import kernelwood as kw
    >>> paths = kw.batch([kw.Sequence(list(text)) for text in ("ab", "ab", "abc", "x")])
    >>> nearest_others(kw.SubsequenceKernel(), paths, 1)[0][:, 0].tolist()
    [1, 0, 0, 0]
    >>> nearest_others(kw.SubsequenceKernel(), paths, 1, np.array([0, 0, 1, 2]))[0][:, 0].tolist()
    [2, 2, 0, 0]
    """
    n = len(X)
    found = np.full((n, min(k, n - 1)), -1, dtype=np.int64)
    values = np.full(found.shape, -np.inf, dtype=kernel._dtype(None))
    own = np.arange(n)
    for searched, queries, block in _blocks(kernel, X):
        np.round(block, _DIGITS[block.dtype.name], out=block)
        if groups is not None:
            block[groups[searched][:, None] == groups[queries]] = -np.inf
        _native.keep_best(block, searched.start, own[queries], found[queries], values[queries])
    values[~np.isfinite(values)] = 0
    return np.maximum(found, 0), np.maximum(values, 0).astype(np.float64)


def _blocks(kernel: Kernel, X: Any) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
    """Yield slices of structures and of queries, and their similarities."""
    n = len(X)
    if n <= _WHOLE:  # the symmetric matrix takes half the work
        yield slice(0, n), slice(0, n), kernel.gram(X)
        return
    for top in range(0, n, _QUERIES):
        queries = slice(top, min(top + _QUERIES, n))
        for left in range(0, n, _SEARCHED):
            searched = slice(left, min(left + _SEARCHED, n))
            yield searched, queries, kernel.cross(X[searched], X[queries])


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
    """Nearest neighbors of each structure, with reverse neighbors.

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
        """Return the structures that have one of ``positions`` as a neighbor."""
        pieces = [self._sources[self._offsets[i] : self._offsets[i + 1]] for i in positions]
        return np.concatenate([np.empty(0, dtype=np.int64), *pieces])

    def around(self, positions: Positions) -> Positions:
        """Return structures with their neighborhoods, in rising order.

        These are the structures, their neighbors, their reverse neighbors, and the first neighbors
        of all these.
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

    An exact graph costs n² kernel evaluations, a hashed one n times the square root of n, at most
    100 n. Only an exact graph leaves out neighbors in the same group.
    """
    k = min(k, len(X) - 1)
    if not hashed:
        return NeighborGraph(nearest_others(kernel, X, k, groups)[0])
    references = int(np.clip(len(X) ** 0.5, 2, _MOST_REFERENCES))
    index = HashIndex(
        kernel, n_references=references, n_bits=_CODE_BITS, subset_size=1, random_state=seed
    ).fit(X)
    found = index.search_codes(index.codes_, k + 1)[0]
    # With many equal codes a structure can be missing; then the farthest is removed.
    own = found == np.arange(len(X))[:, None]
    own[~own.any(axis=1), -1] = True
    return NeighborGraph(found[~own].reshape(len(X), k))


def search_by_neighbors(
    problem: GateProblem, settings: NeighborSettings, earlier: Earlier
) -> Generator[tuple[Decision, bool], None, Outcome]:
    """Decide on one label after the other, in several passes; return the result.

    Yields decisions, and whether they are new. Each pass uses a neighbor graph made with the gates
    at its start.
    """
    is_open = problem.start()
    loss_open, loss_closed = np.zeros(len(is_open)), np.zeros(len(is_open))
    for number in range(settings.n_passes):
        sampler = _Sampler(problem, settings, number, is_open.copy())
        before = is_open.copy()
        for t, label in enumerate(problem.table.labels):
            known = earlier.take(run=problem.run, step=number, label=label)
            decision = _decide(problem, sampler, is_open, t) if known is None else _checked(known)
            is_open[t] = decision["open"]
            loss_open[t], loss_closed[t] = decision["loss_open"], decision["loss_closed"]
            yield decision, known is None
        if (is_open == before).all():
            break
    return Outcome(is_open, loss_open, loss_closed)


def _checked(known: Decision) -> Decision:
    """Return a decision to resume from, if it has the values that are used."""
    if not isinstance(known.get("open"), bool):
        raise KernelInputError(
            f"the decision on {known['label']!r} to resume from has open={known.get('open')!r}, "
            "which is not true or false; was the file changed?"
        )
    for name in ("loss_open", "loss_closed"):
        resumed_number(known, name, known["step"])
    return known


class _Sampler:
    """Draws the structures on which losses are compared.

    The graph is made on first use: a resumed pass may not need it.
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
                seed=resolve_seed(self._generator(_HASHES)),
            )
        return self._graph

    def draw(self, t: int) -> list[Positions]:
        """Return the sample of each trial; a rare label has only one."""
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


def neighbor_loss(
    kernel: Kernel,
    X: Any,
    y: Any = None,
    *,
    n_samples: int | None = None,
    n_neighbors: int = 4,
    sampling: str = "neighbors",
    loss: str = "votes",
    n_votes: int = 8,
    negative_label: Any = "auto",
    random_state: Any = None,
) -> float:
    r"""Return the mean loss of a structure, which :class:`GateLearner` minimizes.

    All structures cost n² / 2 kernel evaluations. A sample costs fewer, plus those of the neighbor
    graph.

    Parameters
    ----------
    kernel : Kernel
        Kernel that compares structures.
    X : list of structures or batch, length n
    y : array of labels, shape (n,), optional
        By default the labels of examples.
    n_samples : int, optional
        Number of structures to draw, :math:`\beta`; None, or n and more, for all.
    n_neighbors : int
        Number of neighbors in the graph from which neighborhoods are drawn.
    sampling : {"neighbors", "random"}
        Whether the neighborhoods of drawn structures are added. Without them, a drawn structure is
        only compared with the other drawn ones.
    loss, n_votes, negative_label
        See :class:`GateLearner`.
    random_state : None, int, Generator or RandomState
        Seed of the sample.

    Returns
    -------
    float

    Examples
    --------
    >>> import kernelwood as kw
    >>> paths, classes, signal, noise = kw.tuning.planted_paths(300)
    >>> ignoring = kw.SubsequenceKernel(gates=dict.fromkeys(noise, 0.0))
    >>> plain = neighbor_loss(kw.SubsequenceKernel(), paths, classes)
    >>> neighbor_loss(ignoring, paths, classes) < plain
    True
    """
    X = kernel._batch(X)
    _check(X, n_samples, n_neighbors, n_votes, sampling, loss)
    classes, numbers = encode_labels(_NAME, X, y)
    measure = NeighborLoss.of(
        _NAME, loss, classes, numbers, n_votes=n_votes, negative_label=negative_label
    )
    with quiet_zeros():
        some = np.arange(len(X))
        if n_samples is not None and n_samples < len(X):
            seed = resolve_seed(random_state)
            some = np.sort(child_generator(seed).choice(len(X), n_samples, replace=False))
            if sampling == "neighbors":
                graph = find_graph(kernel, X, n_neighbors, hashed=False, seed=seed)
                some = graph.around(some)
        return float(measure(kernel, X[some], numbers[some]).mean())


def _check(
    X: Any, n_samples: Any, n_neighbors: Any, n_votes: Any, sampling: str, loss: str
) -> None:
    if len(X) < 2:
        raise KernelInputError(f"{_NAME}: give at least two structures, got {len(X)}")
    check_int(f"{_NAME}: n_samples", n_samples, 2, none=True)
    check_int(f"{_NAME}: n_neighbors", n_neighbors, 1)
    check_int(f"{_NAME}: n_votes", n_votes, 1)
    for name, value, known in (
        ("sampling", sampling, ("neighbors", "random")),
        ("loss", loss, LOSSES),
    ):
        if value not in known:
            raise KernelInputError(f"{_NAME}: {name} must be one of {known}, got {value!r}")
