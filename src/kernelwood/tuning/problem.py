"""The gate-learning problem: labels, kernels with gates, decisions and results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import GraphBatch
from kernelwood.errors import KernelInputError
from kernelwood.kernels import CombinedKernel, Kernel
from kernelwood.parameters import is_number
from kernelwood.threads import ignored_warnings

if TYPE_CHECKING:
    from kernelwood.tuning.neighbor_search import NeighborLoss

Decision = dict[str, Any]  # plain JSON values
Open = NDArray[np.bool_]
Floats = NDArray[np.float64]

_FIELDS = {"node": 0, "edge": 1}  # label arrays of a batch


class GatedPart(NamedTuple):
    """A kernel with gates inside a kernel, or the whole kernel."""

    path: str  # prefix of its parameters, such as "kernel__"
    view: str | None  # the view of examples it reads
    kernel: Any


@dataclass(frozen=True)
class LabelTable:
    """Labels by falling number of structures, and the structures that have them.

    Parameters
    ----------
    labels : tuple of str
        By falling number of structures; equal ones in alphabetical order.
    occurrences : ndarray of int64, shape (n_labels,)
        Number of nodes or elements with each label.
    offsets, positions : ndarrays of int64
        The structures with label ``t`` are ``positions[offsets[t] : offsets[t + 1]]``, rising.
    """

    labels: tuple[str, ...]
    occurrences: NDArray[np.int64]
    offsets: NDArray[np.int64]
    positions: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_structures(self) -> NDArray[np.int64]:
        """Number of structures with each label."""
        return np.diff(self.offsets)

    def structures_with(self, t: int) -> NDArray[np.int64]:
        """Return the positions of the structures with label ``t``, rising."""
        return self.positions[self.offsets[t] : self.offsets[t + 1]]

    def choose(self, numbers: list[int]) -> LabelTable:
        """Return the table of some labels, in the given order."""
        found = [self.structures_with(t) for t in numbers]
        return LabelTable(
            tuple(self.labels[t] for t in numbers),
            self.occurrences[numbers],
            np.concatenate([[0], np.cumsum([len(some) for some in found])]).astype(np.int64),
            np.concatenate([np.empty(0, dtype=np.int64), *found]),
        )


def find_gated(kernel: Kernel) -> list[GatedPart]:
    """Return the kernels with gates inside a kernel.

    Examples
    --------
    >>> import kernelwood as kw
    >>> kernel = kw.OnView("path", kw.SubsequenceKernel()) + kw.OnView("tree", kw.SubtreeKernel())
    >>> [(part.path, part.view) for part in find_gated(kernel)]
    [('left__kernel__', 'path'), ('right__kernel__', 'tree')]
    """
    found = []
    waiting = [GatedPart("", None, kernel)]
    while waiting:
        path, view, current = waiting.pop()
        if isinstance(current, CombinedKernel):
            views = current._views_inside(view)
            parts = zip(current._inside, current._parts(), strict=True)
            inside = [GatedPart(f"{path}{n}__", one, k) for n, k in parts for one in views]
            waiting.extend(reversed(inside))
        elif "gates" in current._parameter_names():
            found.append(GatedPart(path, view, current))
    if not found:
        raise KernelInputError(
            f"{kernel!r} has no gates to learn; SubsequenceKernel, the tree kernels and the "
            "graph kernels have"
        )
    kinds = {part.kernel.gate_on for part in found}
    if len(kinds) > 1:
        raise KernelInputError(
            "some parts of the kernel have gates on edges, others on nodes; give all of them the "
            "same gate_on, because they share their gates"
        )
    return found


def with_gates(kernel: Kernel, gates: Mapping[str, float]) -> Kernel:
    """Return a copy of a kernel with gates on some labels; gates on others stay.

    Examples
    --------
    >>> import kernelwood as kw
    >>> with_gates(0.5 * kw.SubsequenceKernel(gates={"punct": 0.0}), {"det": 0.0})
    0.5 * SubsequenceKernel(gates={'punct': 0.0, 'det': 0.0})
    """
    copy: Kernel = kernel.clone()
    for part in find_gated(copy):
        part.kernel.set_params(gates={**(part.kernel.gates or {}), **gates})
    return copy


def tabulate_labels(kernel: Kernel, X: Any) -> LabelTable:
    """Return the labels in a batch on which a kernel can have gates.

    Examples
    --------
    >>> import kernelwood as kw
    >>> paths = [kw.Sequence([("nsubj", "Ras"), ("prep", "of")]), kw.Sequence([("prep", "in")])]
    >>> table = tabulate_labels(kw.SubsequenceKernel(), kw.batch(paths))
    >>> table.labels, table.structures_with(0)
    (('prep', 'nsubj'), array([0, 1]))
    """
    parts = find_gated(kernel)
    numbers: dict[str, int] = {}
    rows, columns = [], []
    # Each view once, even if several kernels read it.
    for view in dict.fromkeys(part.view for part in parts):
        batch = X if view is None else X.view(view)
        field = _FIELDS[parts[0].kernel.gate_on]
        ids = batch.arrays[field][batch.parts[0].window]
        of = np.repeat(np.arange(len(batch)), batch.sizes)
        if isinstance(batch, GraphBatch):
            ids, of = ids[batch.is_node], of[batch.is_node]
        used, inverse = np.unique(ids, return_inverse=True)
        names = batch.vocabulary.labels(used.astype(np.int32))
        places = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=int)
        rows.append(of)
        columns.append(places[inverse.reshape(-1)] if len(used) else np.empty(0, dtype=int))
    return _table(list(numbers), np.concatenate(rows), np.concatenate(columns))


def _table(names: list[str], rows: NDArray[np.int64], columns: NDArray[np.int64]) -> LabelTable:
    occurrences = np.bincount(columns, minlength=len(names))
    pairs = np.unique(np.stack([columns, rows], axis=1), axis=0)
    offsets = np.searchsorted(pairs[:, 0], np.arange(len(names) + 1))
    everything = LabelTable(tuple(names), occurrences, offsets, pairs[:, 1])
    order = sorted(range(len(names)), key=lambda t: (-int(everything.n_structures[t]), names[t]))
    return everything.choose(order)


@dataclass(frozen=True)
class GateProblem:
    """Structures with classes, a kernel, and the labels whose gates are learned.

    Parameters
    ----------
    kernel : Kernel
        Its gates are the start of the search.
    X : batch
    classes : ndarray of int32, shape (n,)
        Class number of each structure.
    loss : NeighborLoss
        Loss by nearest neighbors.
    groups : ndarray of int64, shape (n,), or None
        Neighbors in the same group do not count.
    table : LabelTable
        The labels whose gates are learned.
    seed : int
    run : int
        Number of the run, part of the seed.
    """

    kernel: Kernel
    X: Any
    classes: NDArray[np.int32]
    loss: NeighborLoss
    groups: NDArray[np.int64] | None
    table: LabelTable
    seed: int
    run: int = 0

    def in_run(self, run: int) -> GateProblem:
        """Return the problem with the random numbers of another run."""
        return replace(self, run=run)

    @property
    def _given(self) -> dict[str, float]:
        return {
            label: float(gate)
            for part in find_gated(self.kernel)
            for label, gate in (part.kernel.gates or {}).items()
        }

    def start(self) -> Open:
        """Return the gates at the start: open unless the kernel closes them."""
        given = self._given
        return np.array([given.get(label, 1.0) != 0 for label in self.table.labels])

    def gates(self, is_open: Open) -> dict[str, float]:
        """Return gates for a kernel; an open gate keeps the value of the kernel, 1 by default."""
        given = self._given
        return {
            label: (given.get(label, 1.0) or 1.0) if opened else 0.0
            for label, opened in zip(self.table.labels, is_open.tolist(), strict=True)
        }

    def losses(self, kernel: Kernel, some: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of each of some structures, with neighbors among these."""
        groups = None if self.groups is None else self.groups[some]
        return self.loss(kernel, self.X[some], self.classes[some], groups)

    def kernel_with(self, is_open: Open, kernel: Kernel | None = None) -> Kernel:
        """Return the kernel, or another in its place, with these gates."""
        return with_gates(self.kernel if kernel is None else kernel, self.gates(is_open))


class Earlier:
    """Decisions of an interrupted search, which are not computed again.

    Parameters
    ----------
    decisions : list of Decision
        In the order in which they were made.
    """

    def __init__(self, decisions: Any = ()) -> None:
        self._decisions = list(decisions or ())
        self._next = 0

    def take(self, **expected: Any) -> Decision | None:
        """Return the next decision, which must be the expected one, or None at the end."""
        if self._next == len(self._decisions):
            return None
        decision = self._decisions[self._next]
        self._next += 1
        for name, value in expected.items():
            found = decision.get(name) if isinstance(decision, dict) else None
            if found != value:
                raise KernelInputError(
                    f"decision {self._next} to resume from has {name}={found!r}, where this search "
                    f"has {value!r}; resume with the same data, parameters and random_state"
                )
        return dict(decision)

    def finish(self) -> None:
        """Raise KernelInputError if decisions are left at the end of the search."""
        left = len(self._decisions) - self._next
        if left:
            raise KernelInputError(
                f"{left} of {len(self._decisions)} decisions to resume from are beyond the end of "
                "this search; resume with the same data, parameters and random_state"
            )


def resumed_number(decision: Decision, name: str, step: int) -> float:
    """Return a number of a decision to resume from.

    Raises
    ------
    KernelInputError
        If it is missing, or not a finite number.
    """
    value = decision.get(name)
    if not is_number(value):
        raise KernelInputError(
            f"decision {step} to resume from has {name}={value!r}, which is not a number; was "
            "the file changed?"
        )
    return float(value)


def plain_value(value: Any) -> Any:
    """Return a value for JSON; objects such as similarities become their ``repr``.

    Examples
    --------
    >>> plain_value(np.float64(0.5)), plain_value(float("nan")), plain_value((1, 2))
    (0.5, None, '(1, 2)')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else repr(value)


@contextmanager
def quiet_zeros() -> Iterator[None]:
    """Suppress warnings about structures in which closed gates leave nothing to compare.

    A search tries such gates. Using the learned kernel still warns.
    """
    with ignored_warnings(".*self-similarity 0", RuntimeWarning):
        yield


@dataclass(frozen=True)
class Outcome:
    """Result of one search.

    Parameters
    ----------
    is_open : ndarray of bool, shape (n_labels,)
    loss_open, loss_closed : ndarrays of float64, shape (n_labels,)
        Objective with the gate open and closed, lower is better.
    parameters : dict
        Learned kernel parameters.
    objective : float
        Objective of the result, lower is better; decides between runs with different parameters.
    """

    is_open: NDArray[np.bool_]
    loss_open: Floats
    loss_closed: Floats
    parameters: dict[str, Any] = field(default_factory=dict)
    objective: float = 0.0


def settle(outcomes: list[Outcome]) -> tuple[Outcome, Floats]:
    """Return the joint result of several runs, and the fraction of runs that ignore each label.

    A gate is closed if more than half of the runs close it. Parameters are those of the run with
    the best objective.

    Examples
    --------
    >>> zeros = np.zeros(2)
    >>> runs = [Outcome(np.array([True, v]), zeros, zeros) for v in (True, False, False)]
    >>> joint, ignored = settle(runs)
    >>> joint.is_open.tolist(), ignored.round(2).tolist()
    ([True, False], [0.0, 0.67])
    """
    ignored = np.mean([~outcome.is_open for outcome in outcomes], axis=0)
    best = min(outcomes, key=lambda outcome: outcome.objective)
    joint = Outcome(
        is_open=ignored <= 0.5,
        loss_open=np.mean([outcome.loss_open for outcome in outcomes], axis=0),
        loss_closed=np.mean([outcome.loss_closed for outcome in outcomes], axis=0),
        parameters=best.parameters,
        objective=best.objective,
    )
    return joint, ignored
