"""Labels that gates can be put on, and kernels with gates on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.kernels import CombinedKernel, Kernel, OnView

__all__ = ["GatedPart", "LabelTable", "find_gated", "tabulate_labels", "with_gates"]

_FIELDS = {"node": 0, "edge": 1}  # where batches keep the labels


class GatedPart(NamedTuple):
    """A kernel with gates inside a kernel, which may be the whole."""

    path: str  # what its parameters begin with, such as "kernel__"
    view: str | None  # the view of examples it reads
    kernel: Any


@dataclass(frozen=True)
class LabelTable:
    """The labels of structures, those of the most structures first, and where they occur.

    Parameters
    ----------
    labels : tuple of str
        By falling number of structures; equal ones in alphabetical order.
    occurrences : ndarray of int64, shape (n_labels,)
        How many nodes or elements have each label.
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
        """How many structures have each label."""
        return np.diff(self.offsets)

    def structures_with(self, t: int) -> NDArray[np.int64]:
        """Return the positions of the structures with label ``t``, rising."""
        return self.positions[self.offsets[t] : self.offsets[t + 1]]

    def choose(self, numbers: list[int]) -> LabelTable:
        """Return the table of some labels, in their order."""
        found = [self.structures_with(t) for t in numbers]
        return LabelTable(
            tuple(self.labels[t] for t in numbers),
            self.occurrences[numbers],
            np.concatenate([[0], np.cumsum([len(some) for some in found])]).astype(np.int64),
            np.concatenate([np.empty(0, dtype=np.int64), *found]),
        )


def find_gated(kernel: Kernel) -> list[GatedPart]:
    """Return the kernels inside a kernel that have gates.

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
            view = current.name if isinstance(current, OnView) else view
            parts = zip(current._inside, current._parts(), strict=True)
            waiting.extend(reversed([GatedPart(f"{path}{n}__", view, k) for n, k in parts]))
        elif {"gates", "gate_on"} <= set(current._parameter_names()):
            found.append(GatedPart(path, view, current))
    if not found:
        raise KernelInputError(
            f"{kernel!r} has no gates to learn; SubsequenceKernel and the tree kernels have"
        )
    kinds = {part.kernel.gate_on for part in found}
    if len(kinds) > 1:
        raise KernelInputError(
            "the kernels inside have gates on edges as well as on nodes; give all of them the "
            "same gate_on, as they share their gates"
        )
    return found


def with_gates(kernel: Kernel, gates: Mapping[str, float]) -> Kernel:
    """Return a copy of a kernel with gates on some labels; those on others stay.

    Examples
    --------
    >>> import kernelwood as kw
    >>> with_gates(0.5 * kw.SubsequenceKernel(gates={"punct": 0.0}), {"det": 0.0})
    0.5 * SubsequenceKernel(gates={'punct': 0.0, 'det': 0.0})
    """
    changed = {
        f"{part.path}gates": {**(part.kernel.gates or {}), **gates} for part in find_gated(kernel)
    }
    copy: Kernel = kernel.clone().set_params(**changed)
    return copy


def tabulate_labels(kernel: Kernel, X: Any) -> LabelTable:
    """Return the labels on which a kernel has gates, as they occur in a batch.

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
    # The same view need not be read twice, only because two kernels compare it.
    for view in dict.fromkeys(part.view for part in parts):
        batch = X if view is None else X.view(view)
        field = _FIELDS[parts[0].kernel.gate_on]
        ids = batch.arrays[field][batch.parts[0].window]
        used, inverse = np.unique(ids, return_inverse=True)
        names = batch.vocabulary.labels(used.astype(np.int32))
        places = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=int)
        rows.append(np.repeat(np.arange(len(batch)), batch.sizes))
        columns.append(places[inverse.reshape(-1)] if len(used) else np.empty(0, dtype=int))
    return _table(list(numbers), np.concatenate(rows), np.concatenate(columns))


def _table(names: list[str], rows: NDArray[np.int64], columns: NDArray[np.int64]) -> LabelTable:
    occurrences = np.bincount(columns, minlength=len(names))
    pairs = np.unique(np.stack([columns, rows], axis=1), axis=0)
    offsets = np.searchsorted(pairs[:, 0], np.arange(len(names) + 1))
    everything = LabelTable(tuple(names), occurrences, offsets, pairs[:, 1])
    order = sorted(range(len(names)), key=lambda t: (-int(everything.n_structures[t]), names[t]))
    return everything.choose(order)
