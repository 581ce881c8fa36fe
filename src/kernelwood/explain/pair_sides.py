"""Pairs of structures in the form that the native search for shared fragments reads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.arrays import Batch

_LEAST_CELLS = 4096  # a table of similarities is not made for fewer, unless no pairs are left
_UNUSED = 2  # most cells of a table for each cell that a pair needs


class PairSide:
    """The first or the second structures of some pairs.

    Parameters
    ----------
    batch : Batch
        The structures.
    aligned : Batch
        The same with labels numbered as on the other side.
    gates : ndarray of float64, optional
        The gate of each element.
    places : ndarray of int32, optional
        The row or column of each element in the table of its pair.
    """

    def __init__(
        self,
        batch: Batch,
        aligned: Batch,
        gates: NDArray[np.float64] | None,
        places: NDArray[np.int32] | None,
    ) -> None:
        self.batch = batch
        self.part = batch.parts[0].alone()
        labels, edges, *n_children = map(np.ascontiguousarray, _alone(aligned)[1])
        offsets = np.ascontiguousarray(self.part.offsets)
        self.native = _native.PairSide(offsets, labels, edges, gates, places, *n_children)

    def elements(self, positions: NDArray[np.int64]) -> list[tuple[str, str]]:
        """Return edge and label of the elements at some positions."""
        labels, edges = (
            self.batch.vocabulary.labels(array[positions]) for array in self.part.arrays[:2]
        )
        return list(zip(edges, labels, strict=True))

    def structure(self, number: int) -> Any:
        """Return one of the structures."""
        return self.batch[number]


def pair_sides(kernel: Any, X: Batch, Y: Batch) -> tuple[PairSide, PairSide, Any]:
    """Return both sides of pairs of structures, and the tables of similarities of their labels.

    Parameters
    ----------
    kernel : EngineKernel
        With the gates and the similarity of labels.
    X, Y : SequenceBatch or TreeBatch, equally long

    Returns
    -------
    left, right : PairSide
    tables : PairTables or None
        None for exact matching.
    """
    tables: Any = None
    places: list[Any] = [None, None]
    if kernel._matches_softly():
        tables, places = _tables(kernel.similarity, X, Y)
    aligned = X, Y.in_vocabulary(X.vocabulary)
    left, right = (
        PairSide(batch, same, _gates(kernel, batch), own)
        for batch, same, own in zip((X, Y), aligned, places, strict=True)
    )
    return left, right, tables


def _alone(batch: Batch) -> tuple[NDArray[np.int64], tuple[NDArray[Any], ...]]:
    part = batch.parts[0].alone()
    return part.offsets, part.arrays


def _gates(kernel: Any, batch: Batch) -> NDArray[np.float64] | None:
    """Return the gate of each element, None if all are 1."""
    if not kernel.gates:
        return None
    _, (labels, edges, *_) = _alone(batch)
    known = np.ones(len(batch.vocabulary))
    for label, gate in kernel.gates.items():
        number = batch.vocabulary.get(label)
        if number is not None and number < len(known):
            known[number] = float(gate)
    gates: NDArray[np.float64] = known[edges if kernel.gate_on == "edge" else labels]
    return gates


def _tables(similarity: Any, X: Batch, Y: Batch) -> tuple[Any, list[Any]]:
    """Return tables of similarities, and the place in them of the label of each element.

    Consecutive pairs share a table as long as most of it is needed, since pairs often have
    structures in common.
    """
    sides = [_alone(batch) for batch in (X, Y)]
    places = [np.empty(len(arrays[0]), dtype=np.int32) for _, arrays in sides]
    values: list[NDArray[np.float64]] = []
    begins = np.empty(len(X), dtype=np.int64)
    widths = np.empty(len(X), dtype=np.int64)
    size = 0
    for first, last in _groups(sides):
        names = []
        for batch, (offsets, arrays), own in zip((X, Y), sides, places, strict=True):
            window = slice(int(offsets[first]), int(offsets[last]))
            used, own[window] = np.unique(arrays[0][window], return_inverse=True)
            names.append(batch.vocabulary.labels(used))
        table = np.asarray(similarity.table(*names), dtype=np.float64)
        values.append(table.ravel())
        begins[first:last], widths[first:last] = size, len(names[1])
        size += table.size
    flat = np.concatenate([np.empty(0), *values])
    return _native.PairTables(flat, begins, widths), places


def _groups(
    sides: list[tuple[NDArray[np.int64], tuple[NDArray[Any], ...]]],
) -> list[tuple[int, int]]:
    """Return the ranges of pairs that share a table."""
    labels = [
        [set(array[0][a:b].tolist()) for a, b in pairwise(offsets.tolist())]
        for offsets, array in sides
    ]
    groups: list[tuple[int, int]] = []
    first, needed = 0, 0
    left: set[int] = set()
    right: set[int] = set()
    for number, (one, other) in enumerate(zip(*labels, strict=True)):
        needed += len(one) * len(other)
        more = len(left | one) * len(right | other)
        if number > first and more > max(_LEAST_CELLS, _UNUSED * needed):
            groups.append((first, number))
            first, needed = number, len(one) * len(other)
            left, right = set(), set()
        left |= one
        right |= other
    return [*groups, (first, len(labels[0]))]
