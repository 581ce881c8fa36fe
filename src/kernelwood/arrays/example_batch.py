"""The table of examples: one column for ids, labels, groups and origins, and one for each view."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence as SequenceABC
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays.batches import Batch
from kernelwood.arrays.onedim import OneDimensional, row_key
from kernelwood.arrays.vector_rows import RowError, VectorBatch, is_matrix
from kernelwood.arrays.vocabulary import Vocabulary
from kernelwood.errors import StructureError
from kernelwood.structures import shorten
from kernelwood.text import SIDES, Example, Label, Origin

Indices = NDArray[np.int64]


class ViewColumn:
    """The structures of one view: objects until a kernel reads them, then a batch.

    Parameters
    ----------
    structures : list or Batch
        In the order of the rows that have the view.
    rows : ndarray of int64, optional
        The rows that have the view, ascending; None if all have it.
    """

    __slots__ = ("rows", "structures")

    def __init__(self, structures: list[Any] | Batch, rows: Indices | None = None) -> None:
        self.structures, self.rows = structures, rows

    def place(self, row: int) -> int | None:
        """Return the position of the structure of a row, None if the row lacks the view."""
        if self.rows is None:
            return row
        place = int(np.searchsorted(self.rows, row))
        return place if place < len(self.rows) and self.rows[place] == row else None

    def cut(self, key: Any, picked: Indices) -> ViewColumn:
        """Return the column of some rows, given as an index and as row numbers."""
        if self.rows is None:
            if isinstance(self.structures, Batch):
                return ViewColumn(self.structures[key])
            return ViewColumn([self.structures[row] for row in picked.tolist()])
        places = [self.place(row) for row in picked.tolist()]
        kept = [(row, place) for row, place in enumerate(places) if place is not None]
        if isinstance(self.structures, Batch):
            taken: Any = self.structures.take(np.array([place for _, place in kept], np.int64))
        else:
            taken = [self.structures[place] for _, place in kept]
        return ViewColumn(taken, np.array([row for row, _ in kept], dtype=np.int64))


class ExampleBatch(OneDimensional):
    """Examples as columns: ids, labels, groups, origins, and one column for each view.

    Indexed like a one-dimensional array: an integer gives an `Example`, a slice a new table.
    Views become batches, all with one vocabulary, when a kernel first reads them.

    Parameters
    ----------
    ids : sequence of str
    labels : sequence, optional
        The label of each example, None where it is unknown.
    views : mapping of str to list, Batch, matrix or ViewColumn
        The structures of each view; a matrix has a vector for each example.
    groups : sequence of str, optional
        The group of each example for cross-validation, usually its document.
    origins : sequence of Origin or None, optional
        File and position of each example.

    Examples
    --------
    >>> import kernelwood as kw
    >>> tree = kw.Tree.from_brackets("(S (NP x))")
    >>> examples = kw.batch([kw.Example("1", label="yes", views={"tree": tree})])
    >>> examples.shape, examples.labels, examples.view("tree")
    ((1,), ['yes'], TreeBatch(1 trees, 3 nodes))
    >>> examples[0]
    Example('1', 'yes', views: tree)
    """

    kind = "example"

    def __init__(
        self,
        ids: SequenceABC[str],
        labels: SequenceABC[Label] | None = None,
        views: Mapping[str, Any] | None = None,
        *,
        groups: SequenceABC[str] | None = None,
        origins: SequenceABC[Origin | None] | None = None,
    ) -> None:
        self.ids = list(ids)
        self.labels: list[Any] = [None] * len(self.ids) if labels is None else list(labels)
        self.groups = None if groups is None else list(groups)
        self.origins = None if origins is None else list(origins)
        self._columns = {
            name: view if isinstance(view, ViewColumn) else ViewColumn(_structures(view))
            for name, view in (views or {}).items()
        }
        self._vocabulary: Vocabulary | None = None
        self._parts: dict[str, ExampleBatch] = {}
        # The table these rows were taken from, and which ones; not kept alive by them.
        self._source: tuple[weakref.ref[ExampleBatch], Indices] | None = None

    @classmethod
    def from_examples(cls, examples: Iterable[Example]) -> ExampleBatch:
        """Return the table of some examples, which may have different views."""
        listed = list(examples)
        found: dict[str, tuple[list[Any], list[int]]] = {}
        for row, example in enumerate(listed):
            for name, view in example.views.items():
                structures, rows = found.setdefault(name, ([], []))
                structures.append(view)
                rows.append(row)
        columns = {
            name: ViewColumn(
                structures, None if len(rows) == len(listed) else np.array(rows, dtype=np.int64)
            )
            for name, (structures, rows) in found.items()
        }
        origins = [example.origin for example in listed]
        return cls(
            [example.id for example in listed],
            [example.label for example in listed],
            columns,
            origins=None if all(origin is None for origin in origins) else origins,
        )

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views that at least one example has."""
        return tuple(self._columns)

    def column(self, name: str) -> ViewColumn:
        """Return one view as a batch, with the rows that have it."""
        column = self._columns[name]
        if not isinstance(column.structures, Batch):
            from kernelwood.arrays.build import batch

            # A vocabulary that others use too may grow while they read it, but never changes.
            self._vocabulary = self._vocabulary or Vocabulary()
            try:
                made = batch(column.structures, vocabulary=self._vocabulary)
            except RowError as error:
                row = error.row if column.rows is None else int(column.rows[error.row])
                raise StructureError(
                    f"view {name!r} of example {shorten(repr(self.ids[row]))} {error.fault}",
                    hint=error.hint,
                ) from None
            except StructureError as error:
                hint = error.hint
                if any(isinstance(one, str) for one in column.structures[:1]):
                    hint = (
                        "make a structure of the text, as another view: example.with_views("
                        f"{{'words': kw.Sequence(example.view({name!r}).split())}})"
                    )
                raise StructureError(f"view {name!r}: {error.problem}", hint=hint) from None
            if not isinstance(made, Batch):
                raise StructureError(f"view {name!r} holds examples; kernels compare structures")
            column.structures = made
        return column

    def view(self, name: str) -> Batch:
        """Return one view of every example as a batch."""
        column = self._columns.get(name)
        if column is None or column.rows is not None:
            present = set() if column is None or column.rows is None else set(column.rows.tolist())
            for row in range(len(self)):
                if row not in present:
                    self[row].view(name)  # says what is missing
            if column is None:
                raise StructureError(f"no example has the view {name!r}")
        batched = self.column(name).structures
        assert isinstance(batched, Batch)
        return batched

    def part(self, side: str) -> ExampleBatch:
        """Return one part of every pair, as examples whose views share memory with those of pairs.

        Parameters
        ----------
        side : {"left", "right"}
            The views are those whose names begin with ``left.`` or ``right.``.

        Examples
        --------
        >>> pairs = ExampleBatch(["1"], views={"left.text": ["we go"], "right.text": ["they went"]})
        >>> pairs.part("left")[0].view("text")
        'we go'
        """
        if side not in SIDES:
            raise StructureError(
                f"a pair has the parts 'left' and 'right', not {shorten(repr(side))}"
            )
        if side not in self._parts:
            prefix = f"{side}."
            columns = {
                name[len(prefix) :]: column
                for name, column in self._columns.items()
                if name.startswith(prefix)
            }
            made = ExampleBatch(self.ids, None, columns, groups=self.groups, origins=self.origins)
            made._vocabulary = self._vocabulary = self._vocabulary or Vocabulary()
            self._parts[side] = made
        return self._parts[side]

    def only(self, names: Iterable[str]) -> ExampleBatch:
        """Return the examples with these views only; every example must have them."""
        wanted = tuple(names)
        for name in wanted if len(self) else ():
            self.view(name)
        if set(wanted) == set(self._columns):
            return self
        columns = {name: self._columns[name] for name in wanted if name in self._columns}
        made = ExampleBatch(
            self.ids, self.labels, columns, groups=self.groups, origins=self.origins
        )
        made._vocabulary = self._vocabulary
        return made

    def with_labels(self, labels: SequenceABC[Label]) -> ExampleBatch:
        """Return the same examples with other labels.

        Examples
        --------
        >>> ExampleBatch(["a", "b"], [1, 2]).with_labels([3, 4]).labels
        [3, 4]
        """
        if len(labels) != len(self):
            raise StructureError(f"there are {len(labels):,} labels for {len(self):,} examples")
        made = ExampleBatch(
            self.ids, labels, self._columns, groups=self.groups, origins=self.origins
        )
        made._vocabulary = self._vocabulary
        return made

    @property
    def prepared_nbytes(self) -> int:
        """Memory in bytes of the data that kernels cache with the views."""
        return sum(batch.prepared_nbytes for batch in self._batched())

    def forget(self) -> None:
        """Delete the data that kernels cache with the views; the next call computes it again."""
        for batch in self._batched():
            batch.forget()

    def _batched(self) -> list[Batch]:
        columns = self._columns.values()
        return [one.structures for one in columns if isinstance(one.structures, Batch)]

    def taken_from(self) -> tuple[ExampleBatch, Indices] | None:
        """Return the table that these rows are from, and their indices there, if it still exists.

        Examples
        --------
        >>> table = ExampleBatch(["a", "b", "c"])
        >>> source, rows = table[1:][[1]].taken_from()
        >>> source is table, rows.tolist()
        (True, [2])
        """
        if self._source is None:
            return None
        source = self._source[0]()
        return None if source is None else (source, self._source[1])

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Example]:
        return (self._example(row) for row in range(len(self)))

    def __repr__(self) -> str:
        names = ", ".join(sorted(self._columns)) or "none"
        return f"ExampleBatch({len(self):,} examples, views {names})"

    def __getitem__(self, key: Any) -> Any:
        key = row_key(key)
        if isinstance(key, (int, np.integer)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"index {key} is out of range for {len(self)} examples")
            return self._example(int(key) % len(self))
        if isinstance(key, slice) and key.indices(len(self)) == (0, len(self), 1):
            return self
        picked = np.arange(len(self))[key]
        rows = picked.tolist()
        made = ExampleBatch(
            [self.ids[row] for row in rows],
            [self.labels[row] for row in rows],
            {name: column.cut(key, picked) for name, column in self._columns.items()},
            groups=None if self.groups is None else [self.groups[row] for row in rows],
            origins=None if self.origins is None else [self.origins[row] for row in rows],
        )
        made._vocabulary = self._vocabulary
        source = self.taken_from()
        if source is None:
            made._source = (weakref.ref(self), picked)
        else:
            made._source = (weakref.ref(source[0]), source[1][picked])
        return made

    def _example(self, row: int) -> Example:
        views = {}
        for name, column in self._columns.items():
            place = column.place(row)
            if place is not None:
                views[name] = column.structures[place]
        origin = None if self.origins is None else self.origins[row]
        return Example._trusted(self.ids[row], self.labels[row], views, origin)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_source": None, "_parts": {}}


def _structures(view: Any) -> Any:
    return VectorBatch.from_matrix(view) if is_matrix(view) else view
