"""Matching of labels by similarity and gates, resolved to arrays for the native core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.arrays import Batch, Vocabulary
from kernelwood.compute import Runner, check_budget
from kernelwood.errors import KernelInputError
from kernelwood.similarity import Resolution, Similarity
from kernelwood.threads import lazy_property

# Largest table of similarities in bytes; blocks of structures that need more are compared in
# parts. Values do not depend on it.
TABLE_BYTES = 1 << 27

_GATE_RANGE = (1e-100, 1e100)  # of nonzero gates: their squares must not overflow
_SINGLES_AT_ONCE = 64


def check_gates(kernel: str, gates: Any) -> None:
    """Raise KernelInputError unless ``gates`` is None or maps labels to weights of 0 or more."""
    if gates is None:
        return
    if not isinstance(gates, Mapping):
        raise KernelInputError(
            f"{kernel}: gates must be a mapping from labels to weights, such as "
            f"{{'det': 0.0}}, got {type(gates).__name__}"
        )
    low, high = _GATE_RANGE
    for label, gate in gates.items():
        number = isinstance(gate, (int, float, np.integer, np.floating, np.bool_))
        if not (isinstance(label, str) and number and (gate == 0 or low <= float(gate) <= high)):
            raise KernelInputError(
                f"{kernel}: gates must map labels (strings) to 0 or a positive number from "
                f"{low:g} to {high:g}, got {label!r}: {gate!r}"
            )


def gate_arrays(
    labels: Vocabulary, gates: Mapping[str, float] | None, gate_on: str
) -> dict[str, NDArray[np.float64]]:
    """Return the gates of labels as the native core takes them; nothing if all are 1."""
    values = np.ones(len(labels))
    for label, gate in (gates or {}).items():
        known = labels.get(label)
        if known is not None and known < len(values):  # labels may be added meanwhile
            values[known] = float(gate)
    return {f"{gate_on}_gates": values} if (values != 1).any() else {}


class MatchedLabels(Vocabulary):
    """The common vocabulary of some batches, with the similarities and gates of its labels."""

    def __init__(
        self,
        batches: tuple[Batch, ...],
        similarity: Similarity | None,
        gates: Mapping[str, float] | None,
        gate_on: str,
    ) -> None:
        super().__init__()
        for batch in batches:
            labels, edges = batch.arrays[:2]
            self.add_all(batch.vocabulary.labels(_used(batch, labels, edges).astype(np.int32)))
        self._similarity, self._gates, self._gate_on = similarity, gates or {}, gate_on

    @property
    def soft(self) -> bool:
        """Whether different labels can match."""
        return self._similarity is not None

    @lazy_property
    def _resolution(self) -> Resolution:
        if self._similarity is None:
            raise TypeError("exact matching has no similarities")
        return self._similarity.resolve(list(self))

    @lazy_property
    def _gate_arrays(self) -> dict[str, NDArray[np.float64]]:
        return gate_arrays(self, self._gates, self._gate_on)

    @property
    def groups(self) -> NDArray[np.int32]:
        """Of each label, the group of labels that may match it."""
        return self._resolution.groups

    def table_bytes(self, panel: Batch, stream: Batch, number: str, plan: str) -> int:
        """Return the size in bytes of the table of similarities for a comparison."""
        if not self._needs_table(plan):
            return 0
        groups = self._resolution.groups
        left, right = (_used(batch, batch.arrays[0]) for batch in (panel, stream))
        n_groups = self._resolution.n_groups
        counts = [np.bincount(groups[side], minlength=n_groups) for side in (left, right)]
        return int(np.dot(*counts)) * _dtype(number).itemsize

    def _needs_table(self, plan: str) -> bool:
        return self.soft and (plan != "blocks" or self._resolution.table is not None)

    def native(
        self, panel: Batch, stream: Batch | None, number: str, runner: Runner, plan: str
    ) -> Any:
        """Return the native form, as an engine takes it.

        Engines with the plan "table" take a table with the panel's labels as rows. Those with the
        plan "blocks" compute similarities from vectors, and take a table, with the stream's labels
        as rows, only if the similarity has no vectors.
        """
        if not self.soft:
            return _native.matching(number, **self._gate_arrays)
        matching = _native.matching(number, groups=self._resolution.groups, **self._gate_arrays)
        if self._needs_table(plan):
            other = panel if stream is None else stream
            sides = (other, panel) if plan == "blocks" else (panel, other)
            size = self.table_bytes(*sides, number, plan)
            self._set_table(matching, sides, stream is None, size, _dtype(number), runner)
        else:
            matching.set_vectors(self._parameters(), self._vectors(), self._resolution.rows)
        return matching

    def _set_table(
        self,
        matching: Any,
        sides: tuple[Batch, Batch],
        symmetric: bool,
        size: int,
        dtype: np.dtype[Any],
        runner: Runner,
    ) -> None:
        check_budget(size, "the table of label similarities", "Compare smaller structures.")
        layout = _Layout.of(self._resolution.groups, *sides)
        n_values = size // dtype.itemsize
        table = np.empty(n_values + int(layout.places.max(initial=0)) + 1, dtype=dtype)
        table[n_values:] = 0  # engines may read any column from any row
        if self._resolution.table is None:
            self._fill_from_vectors(layout, symmetric, table[:n_values], runner)
        else:
            self._fill_from_blocks(layout, symmetric, table[:n_values])
        rows = np.full(len(self), -1, dtype=np.int64)
        rows[layout.left] = layout.offsets
        columns = np.zeros(len(self), dtype=np.int32)
        columns[layout.right] = layout.places
        matching.set_table(rows, columns, table)

    def _parameters(self) -> Any:
        resolution = self._resolution
        return _native.similarity_parameters(
            resolution.function, resolution.weight, resolution.floor
        )

    def _vectors(self) -> NDArray[Any]:
        vectors = self._resolution.vectors
        return np.empty((0, 1), dtype=np.float32) if vectors is None else vectors

    def _fill_from_vectors(
        self, layout: _Layout, symmetric: bool, table: NDArray[Any], runner: Runner
    ) -> None:
        resolution = self._resolution
        vectors, parameters = self._vectors(), self._parameters()
        rows = np.stack(
            [resolution.rows[layout.left], layout.begin, layout.end, layout.offsets], axis=1
        )
        columns = resolution.rows[layout.right]

        def fill(first: int, last: int, stop: Any) -> None:
            _native.fill_similarities(
                parameters, vectors, rows, columns, symmetric, first, last, table, stop
            )

        cost = table.size * vectors.shape[1] // 4
        runner.quiet().run(fill, len(rows), evaluations=0, cost=cost)

    def _fill_from_blocks(self, layout: _Layout, symmetric: bool, table: NDArray[Any]) -> None:
        """Fill the table group by group; groups of a single label are computed together."""
        block = self._resolution.table
        assert block is not None
        widths = layout.end - layout.begin
        single = np.flatnonzero(widths == 1)
        single = single[layout.right[layout.begin[single]] == layout.left[single]]
        for first in range(0, len(single), _SINGLES_AT_ONCE):
            some = single[first : first + _SINGLES_AT_ONCE]
            labels = layout.left[some]
            table[layout.offsets[some]] = block(labels, labels).diagonal()
        rest = np.ones(len(widths), dtype=bool)
        rest[single] = False
        for begin in np.unique(layout.begin[rest & (widths > 0)]):
            some = np.flatnonzero(rest & (layout.begin == begin) & (widths > 0))
            right = layout.right[begin : layout.end[some[0]]]
            values = block(layout.left[some], right)
            if symmetric and self._similarity is not None:
                self._similarity._check_symmetric(values, self.labels(right.astype(np.int32)))
            table[layout.offsets[some][:, None] + np.arange(len(right))] = values


class _Layout(NamedTuple):
    """Rows and columns of a table of similarities, both sorted by group."""

    left: NDArray[np.int64]  # labels of the rows
    right: NDArray[np.int64]  # labels of the columns
    begin: NDArray[np.int64]  # first column of the group of each row
    end: NDArray[np.int64]  # end of the columns of this group
    offsets: NDArray[np.int64]  # offset of the entries of each row
    places: NDArray[np.int64]  # place of each column in its group

    @classmethod
    def of(cls, groups: NDArray[np.int32], rows: Batch, columns: Batch) -> _Layout:
        left, right = (_by_group(groups, batch) for batch in (rows, columns))
        begin = np.searchsorted(groups[right], groups[left], side="left")
        end = np.searchsorted(groups[right], groups[left], side="right")
        offsets = np.concatenate([[0], np.cumsum(end - begin)[:-1]])[: len(left)]
        first = np.searchsorted(groups[right], groups[right], side="left")
        return cls(left, right, begin, end, offsets, np.arange(len(right)) - first)


def _used(batch: Batch, *arrays: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the sorted distinct numbers in arrays of a batch."""
    window = slice(int(batch.offsets[0]), int(batch.offsets[-1]))
    counts = np.bincount(np.concatenate([array[window] for array in arrays]))
    return np.flatnonzero(counts)


def _by_group(groups: NDArray[np.int32], batch: Batch) -> NDArray[np.int64]:
    """Return the node labels of a batch sorted by group, frequent labels first in each.

    Rare labels stay in order of appearance, so that labels of one structure are close together.
    """
    window = slice(int(batch.offsets[0]), int(batch.offsets[-1]))
    counts = np.bincount(batch.arrays[0][window])
    used = np.flatnonzero(counts)
    often = np.where(counts[used] > 2, counts[used], 0)
    return used[np.lexsort((used, -often, groups[used]))]


def _dtype(number: str) -> np.dtype[Any]:
    return np.dtype("float32" if number == "float32" else "float64")
