"""Collections of structures with permanent ids, to which structures are added and removed.

Removed rows are first only marked; when they exceed an eighth, and before other modules read the
rows, the remaining rows are moved together. Ids rise with positions, so that an order by position
is an order by id.

Each change makes new `Rows`, published by one assignment, which share unchanged arrays with the old
ones. A search reads the rows as of its start, even if other threads add or remove rows meanwhile.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ArrayOf, Batch, ExampleBatch, Ragged, Schema, Vocabulary, Whole
from kernelwood.errors import KernelInputError
from kernelwood.features.estimator import StructureEstimator
from kernelwood.kernels import Kernel, needed_views
from kernelwood.parameters import check_int
from kernelwood.threads import LOCK

Ids = NDArray[np.int64]
Find = Callable[[Any, int], tuple[Ids, NDArray[Any]]]  # (queries, k) -> positions and scores

_MOST_REMOVED = 8  # at most 1 of 8 rows is marked as removed
_LARGEST_ID = 2**62
_FOUND_AT_ONCE = 2**21  # neighbors held while searching, up to 32 MB


class GrowingArray:
    """Rows of an array, with spare capacity for more.

    The capacity is doubled when it is used up, so that appending n rows one by one copies fewer
    than 2 n. The initial array is never written to.

    Examples
    --------
    >>> numbers = GrowingArray(np.array([1, 2]))
    >>> numbers.append(np.array([3]))
    >>> numbers.rows
    array([1, 2, 3])
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self._room = array
        self._n = len(array)

    @property
    def rows(self) -> NDArray[Any]:
        """All rows so far; read-only, and not changed by later additions."""
        rows = self._room[: self._n]
        rows.flags.writeable = False
        return rows

    def append(self, rows: NDArray[Any]) -> None:
        """Append rows."""
        end = self._n + len(rows)
        if end > len(self._room):
            shape = (max(end, 2 * self._n), *self._room.shape[1:])
            room = np.empty(shape, dtype=self._room.dtype)
            room[: self._n] = self._room[: self._n]
            self._room = room
        self._room[self._n : end] = rows
        self._n = end


class GrowingBatch:
    """Batch of structures or vectors to which others can be appended.

    From the first addition on it has a vocabulary of its own; the vocabularies of appended batches
    do not change.
    """

    def __init__(self, batch: Batch) -> None:
        self._none = batch.take(np.empty(0, dtype=np.int64))  # tells how others are laid out
        alone = [part.alone() for part in batch.parts]
        self._offsets = [GrowingArray(part.offsets) for part in alone]
        self._arrays = [[GrowingArray(array) for array in part.arrays] for part in alone]
        self._vocabulary = batch.vocabulary
        self._grown = False

    @property
    def batch(self) -> Any:
        """All structures so far."""
        parts = (
            Ragged(offsets.rows, tuple(array.rows for array in arrays))
            for offsets, arrays in zip(self._offsets, self._arrays, strict=True)
        )
        return self._none._like(tuple(parts), self._vocabulary)

    def append(self, batch: Any) -> None:
        """Append structures."""
        batch = batch.in_layout_of(self._none)
        if not self._grown:
            self._vocabulary = Vocabulary(list(self._vocabulary)[1:])
            self._grown = True
        for number, part in enumerate(batch.parts):
            part = part.alone()
            arrays = list(part.arrays)
            if number == 0 and batch.n_label_fields:
                labels = arrays[: batch.n_label_fields]
                arrays[: batch.n_label_fields] = self._renumber(labels, batch.vocabulary)
            offsets = self._offsets[number]
            offsets.append(offsets.rows[-1] + part.offsets[1:])
            for growing, array in zip(self._arrays[number], arrays, strict=True):
                growing.append(array)

    def _renumber(
        self, fields: list[NDArray[np.int32]], vocabulary: Vocabulary
    ) -> list[NDArray[np.int32]]:
        used = np.unique(np.concatenate(fields))
        numbers = np.array(self._vocabulary.add_all(vocabulary.labels(used)), dtype=np.int32)
        return [numbers[np.searchsorted(used, field)] for field in fields]


class ExampleRows:
    """The first examples of lists and batches to which others may be appended meanwhile.

    Parameters
    ----------
    ids, labels : list
        Those of the examples, and perhaps of more.
    views : dict from str to batch
        Those of the examples.
    """

    def __init__(self, ids: list[str], labels: list[Any], views: dict[str, Batch]) -> None:
        self._ids, self._labels, self._views = ids, labels, views
        self._n = len(ids)

    def all(self) -> ExampleBatch:
        """Return all examples as a batch."""
        return ExampleBatch(self._ids[: self._n], self._labels[: self._n], self._views)

    def take(self, positions: NDArray[np.int64]) -> ExampleBatch:
        """Return the examples at some positions, in that order, as a batch."""
        views = {name: view.take(positions) for name, view in self._views.items()}
        rows = positions.tolist()
        ids, labels = ([column[row] for row in rows] for column in (self._ids, self._labels))
        return ExampleBatch(ids, labels, views)


class GrowingExamples:
    """Batch of examples to which others can be appended.

    Parameters
    ----------
    examples : ExampleBatch
    kernel : Kernel
        Only the views that it reads are kept.
    """

    def __init__(self, examples: ExampleBatch, kernel: Kernel) -> None:
        names = needed_views(kernel)
        # Until something is appended, the table itself: a model stores its rows only once.
        self._table: ExampleBatch | None = examples if names is None else examples.only(names)
        self._ids, self._labels = list(examples.ids), list(examples.labels)
        self._views = {name: GrowingBatch(examples.view(name)) for name in self._table.views}

    @property
    def batch(self) -> ExampleBatch | ExampleRows:
        """All examples so far; not changed by later additions."""
        if self._table is not None:
            return self._table
        views = {name: view.batch for name, view in self._views.items()}
        return ExampleRows(self._ids, self._labels, views)

    def append(self, examples: ExampleBatch) -> None:
        """Append examples."""
        batches = {name: examples.view(name) for name in self._views}
        self._table = None
        self._ids += examples.ids
        self._labels += examples.labels
        for name, view in self._views.items():
            view.append(batches[name])


def growing_batch(batch: Any, kernel: Kernel) -> GrowingBatch | GrowingExamples:
    """Return structures as a batch that can grow.

    Examples
    --------
    >>> import kernelwood as kw
    >>> trees = kw.batch([kw.Tree.from_brackets("(S (NP x))")])
    >>> growing = growing_batch(trees, kw.SubsetTreeKernel())
    >>> growing.append(kw.batch([kw.Tree.from_brackets("(S (VP y))")]))
    >>> list(growing.batch)
    [Tree('(S (NP x))'), Tree('(S (VP y))')]
    """
    if isinstance(batch, ExampleBatch):
        return GrowingExamples(batch, kernel)
    return GrowingBatch(batch)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table between two changes.

    Attributes
    ----------
    columns : dict from str to ndarray
        Arrays with a row for each position, including removed rows.
    removed : ndarray of int64
        Removed positions, in rising order.
    next_id : int
        Greater than all ids that were ever used.
    version : int
        Rises with every addition and removal.
    layout : int
        Rises when rows get other positions.
    structures : batch, ExampleRows or None
        A structure for each position.
    """

    columns: dict[str, NDArray[Any]]
    removed: Ids
    next_id: int
    version: int = 0
    layout: int = 0
    structures: Any = None

    def __len__(self) -> int:
        return len(self.columns["ids"]) - len(self.removed)

    def column(self, name: str) -> NDArray[Any]:
        """Return an array with a row for each position, including removed rows."""
        return self.columns[name]

    def positions(self) -> Ids:
        """Return the positions that are not removed."""
        return np.delete(np.arange(len(self.columns["ids"])), self.removed)

    def take(self, positions: Ids) -> Any:
        """Return the structures at some positions, in that order, as a batch."""
        if isinstance(self.structures, ExampleBatch):
            return self.structures[positions]
        return self.structures.take(positions)

    def batch(self) -> Any:
        """Return a batch with a structure for each position, including removed ones."""
        found = self.structures
        return found.all() if isinstance(found, ExampleRows) else found

    def find(self, owner: str, what: str, ids: Any) -> Ids:
        """Return the positions of ids, or raise KernelInputError if one does not exist."""
        wanted = np.atleast_1d(np.asarray(ids))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise KernelInputError(f"{owner}: ids must be a list of whole numbers, got {ids!r}")
        wanted, known = wanted.astype(np.int64), self.column("ids")
        positions = np.searchsorted(known, wanted).astype(np.int64)
        found = positions < len(known)
        found[found] = known[positions[found]] == wanted[found]
        found &= ~np.isin(positions, self.removed)
        if not found.all():
            raise KernelInputError(
                f"{owner}: no {what} with the id {wanted[~found][0]} exists; "
                "it was never added, or was removed before"
            )
        return positions


class IdTable:
    """Arrays with a row for each id.

    Parameters
    ----------
    what : str
        Name of a row, for messages.
    columns : dict from str to ndarray
    ids : ndarray of int64
        In rising order.
    next_id : int
        Greater than all ids that were ever used.
    structures : batch, optional
        A structure for each row.

    Attributes
    ----------
    rows : Rows
        The rows after the last change. Read it once for values that must agree with each other.

    Notes
    -----
    Thread safety: all methods. A copy is independent, and shares the arrays.

    Examples
    --------
    >>> table = IdTable("word", {"size": np.array([3, 5])}, ids=np.array([0, 1]), next_id=2)
    >>> table.append({"size": np.array([4])})
    array([2])
    >>> table.remove("Example", [0])
    >>> table.attribute("ids"), table.attribute("size")
    (array([1, 2]), array([5, 4]))
    """

    rows: Rows

    def __init__(
        self,
        what: str,
        columns: dict[str, NDArray[Any]],
        *,
        ids: Ids,
        next_id: int,
        structures: Any = None,
    ) -> None:
        self._what = what
        nothing = np.empty(0, dtype=np.int64)
        self._fill(Rows({"ids": ids, **columns}, nothing, next_id, structures=structures))

    def _fill(self, rows: Rows) -> None:
        """Publish rows, and let others grow from them."""
        self._growing = {name: GrowingArray(array) for name, array in rows.columns.items()}
        columns = {name: growing.rows for name, growing in self._growing.items()}
        self.rows = replace(rows, columns=columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        with LOCK:
            return {"_what": self._what, "rows": self.rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._fill(self.rows)

    def attribute(self, name: str) -> Any:
        """Return a column without removed rows, or the next id."""
        return self.rows.next_id if name == "next_id" else self.tidy().column(name)

    def append(self, columns: dict[str, NDArray[Any]]) -> Ids:
        """Append rows, and return their ids."""
        with LOCK:
            before = self.rows
            n = len(next(iter(columns.values())))
            ids = np.arange(before.next_id, before.next_id + n, dtype=np.int64)
            try:
                for name, rows in {"ids": ids, **columns}.items():
                    self._growing[name].append(rows)
                made = {name: growing.rows for name, growing in self._growing.items()}
                self.rows = self._grown(
                    replace(
                        before,
                        columns=made,
                        next_id=before.next_id + n,
                        version=before.version + 1,
                    )
                )
            except BaseException:  # some columns may have grown
                self._fill(before)
                raise
            return ids

    def _grown(self, rows: Rows) -> Rows:
        """Return rows with what else has grown."""
        return rows

    def remove(self, owner: str, ids: Any) -> None:
        """Remove rows; if an id does not exist, raise KernelInputError and remove none."""
        with LOCK:
            before = self.rows
            positions = before.find(owner, self._what, ids)
            removed = np.union1d(before.removed, positions).astype(np.int64)
            made = replace(before, removed=removed, version=before.version + 1)
            if _MOST_REMOVED * len(removed) > len(made.column("ids")):
                made = self._tidied(made)
                self._fill(made)
            else:
                self.rows = made

    def tidy(self) -> Rows:
        """Move the rows that are not removed together, and return all rows."""
        if len(self.rows.removed):
            with LOCK:
                self._fill(self._tidied(self.rows))
        return self.rows

    def _tidied(self, rows: Rows) -> Rows:
        kept = rows.positions()
        return replace(
            rows,
            columns={name: array[kept] for name, array in rows.columns.items()},
            removed=np.empty(0, dtype=np.int64),
            layout=rows.layout + 1,
        )


def ids_of(rows: str) -> Schema:
    """Return the schema of the ids of a table that has as many rows as another value."""
    return {
        "ids_": ArrayOf("int64", rows, least=0, rising=True),
        "next_id_": Whole(0, _LARGEST_ID - 1),
    }


def check_next_id(ids: Ids, next_id: int) -> None:
    """Raise ValueError unless the id of the next row is greater than all ids."""
    if len(ids) and ids[-1] >= next_id:
        raise ValueError("next_id_ must be greater than all ids")


def stored(table: str, name: str, doc: str) -> Any:
    """Return a property for a fitted attribute that is part of a table.

    Its setter is for loading an estimator: ``_check_restored`` then builds the table.

    Parameters
    ----------
    table : str
        Name of the attribute that holds the table.
    name : str
        Name of the column or value in the table.
    doc : str
    """

    def get(estimator: Any) -> Any:
        if table in estimator.__dict__:
            return estimator.__dict__[table].attribute(name)
        if name in estimator.__dict__.get("_restored", {}):
            return estimator._restored[name]
        raise AttributeError(f"this {type(estimator).__name__} is not fitted yet")

    def put(estimator: Any, value: Any) -> None:
        estimator.__dict__.setdefault("_restored", {})[name] = value

    return property(get, put, doc=doc)


# Property for a fitted attribute that is part of the collection.
collected = partial(stored, "_collection")


class Collection(IdTable):
    """Structures with ids and with a row of some arrays for each.

    Parameters
    ----------
    kernel : Kernel
        Kernel that compares the structures.
    structures : batch
    columns : dict from str to ndarray
        Arrays with a row for each structure.
    ids : ndarray of int64
        In rising order.
    next_id : int
        Greater than all ids that were ever used.
    """

    def __init__(
        self,
        kernel: Kernel,
        structures: Any,
        columns: dict[str, NDArray[Any]],
        *,
        ids: Ids,
        next_id: int,
    ) -> None:
        self._kernel = kernel
        super().__init__("structure", columns, ids=ids, next_id=next_id, structures=structures)

    def _fill(self, rows: Rows) -> None:
        self._structures = growing_batch(rows.batch(), self._kernel)
        super()._fill(replace(rows, structures=self._structures.batch))

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_kernel": self._kernel}

    def attribute(self, name: str) -> Any:
        """Return the structures or a column without removed ones, or the next id."""
        return self.tidy().batch() if name == "structures" else super().attribute(name)

    def add(self, structures: Any, columns: dict[str, NDArray[Any]]) -> Ids:
        """Add structures and their rows, and return their ids."""
        with LOCK:
            try:
                self._structures.append(structures)
            except BaseException:  # some of their arrays may have grown
                self._fill(self.rows)
                raise
            return self.append(columns)

    def _grown(self, rows: Rows) -> Rows:
        return replace(rows, structures=self._structures.batch)

    def _tidied(self, rows: Rows) -> Rows:
        return replace(super()._tidied(rows), structures=rows.take(rows.positions()))


class CollectionEstimator(StructureEstimator):
    """Estimator that stores structures, and can add and remove structures."""

    _collection: Collection
    _restored: dict[str, Any]

    ids_ = collected("ids", "Ids of the structures, in rising order.")
    structures_ = collected("structures", "The structures, in the order of their ids.")
    next_id_ = collected("next_id", "The id that the next structure gets.")

    def __sklearn_is_fitted__(self) -> bool:
        # Reading the attributes would compact the collection.
        return "_collection" in self.__dict__

    def __len__(self) -> int:
        """Number of structures."""
        self._check_is_fitted()
        return len(self._collection)

    def __bool__(self) -> bool:
        """True, even without structures."""
        return True

    def remove(self, ids: Any) -> None:
        """Remove structures; the others keep their ids.

        Parameters
        ----------
        ids : list or ndarray of int
            As :meth:`add` returned them; structures of ``fit`` have the ids 0, 1, ...
        """
        self._check_is_fitted()
        self._collection.remove(type(self).__name__, ids)

    def _unchanging(self) -> Any:
        """Return a copy that later additions and removals do not change."""
        self._collection.tidy()
        made = copy(self)
        made._collection = copy(self._collection)
        return made

    def _collect(self, structures: Any, **columns: NDArray[Any]) -> None:
        """Set the collection to the structures of ``fit``."""
        n = len(structures)
        ids = np.arange(n, dtype=np.int64)
        self.__dict__.pop("_restored", None)
        self._collection = Collection(self.kernel_, structures, columns, ids=ids, next_id=n)

    def _check_columns(self, columns: dict[str, NDArray[Any]]) -> None:
        """Raise ValueError if loaded columns of the right types hold invalid values."""

    def _check_restored(self) -> None:
        super()._check_restored()
        # Not set before saving, when the estimator is checked too.
        if "_restored" not in self.__dict__:
            return
        columns = dict(self._restored)
        ids, structures, next_id = (columns.pop(name) for name in ("ids", "structures", "next_id"))
        check_next_id(ids, next_id)
        self._check_columns(columns)
        self._collection = Collection(self.kernel_, structures, columns, ids=ids, next_id=next_id)
        del self._restored


class StructureIndex(CollectionEstimator):
    """Base class of indexes that search by codes or vectors.

    A subclass makes codes or vectors of structures, which are columns of the collection, and finds
    the nearest ones. Adding, removing and re-ranking by the kernel are common to all.
    """

    _plain_scores: ClassVar[str]  # name of the scores without re-ranking, for messages

    n_rerank: int | None

    @abstractmethod
    def _stand_ins(self, X: Any) -> dict[str, NDArray[Any]]:
        """Return the columns of a batch: arrays with a row for each structure."""

    @abstractmethod
    def _search_plain(self, rows: Rows, X: Any, k: int) -> tuple[Ids, NDArray[Any]]:
        """Return positions and scores of the nearest structures by codes or vectors."""

    def add(self, X: Any) -> Ids:
        """Add structures, and return their ids.

        Parameters
        ----------
        X : list of structures or batch, length n

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        self._check_is_fitted()
        X = self._prepare(X)
        with self._threads():
            return self._collection.add(X, self._stand_ins(X))

    def search(
        self, X: Any, k: int = 10, *, n_rerank: int | None = None
    ) -> tuple[Ids, NDArray[Any]]:
        """Return the ``k`` most similar structures of the index for each query.

        Parameters
        ----------
        X : list of structures or batch, length n
            Queries.
        k : int
            Number of structures to return.
        n_rerank : int, optional
            Number of nearest structures to compare by the kernel, 0 for none; by default the
            parameter of the index.

        Returns
        -------
        ids : ndarray of int64, shape (n, k)
        scores : ndarray, shape (n, k)
            With re-ranking, similarities in falling order. Without, rising Hamming distances of
            codes (int32) or falling approximate similarities of vectors. Equal scores by rising id.
        """
        self._check_is_fitted()
        return self._search_rows(self._collection.rows, X, k, n_rerank)

    def _search_rows(
        self, rows: Rows, X: Any, k: int, n_rerank: int | None
    ) -> tuple[Ids, NDArray[Any]]:
        """Search among the rows of a moment."""
        self._check_k(k, rows)
        n_rerank = self._check_rerank(k, n_rerank, rows)
        X = self._prepare(X)
        with self._threads():
            positions, scores = self._search_plain(rows, X, max(k, n_rerank))
            if n_rerank:
                positions, scores = self._rerank(rows, X, positions, k)
        return rows.column("ids")[positions], scores

    def _rerank(self, rows: Rows, X: Any, positions: Ids, k: int) -> tuple[Ids, NDArray[Any]]:
        best = np.empty((len(X), k), dtype=np.int64)
        similarities = np.empty(best.shape, dtype=self.kernel_._dtype(None))
        for row in range(len(X)):
            candidates = np.sort(positions[row])
            found, values = self.kernel_.neighbors(X[row : row + 1], rows.take(candidates), k)
            best[row], similarities[row] = candidates[found[0]], values[0]
        return best, similarities

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_rerank", 0, none=True)

    def _check_k(self, k: Any, rows: Rows) -> None:
        check_int(f"{type(self).__name__}: k", k, 1, len(rows))

    def _check_rerank(self, k: int, n_rerank: Any, rows: Rows) -> int:
        given = self.n_rerank if n_rerank is None else n_rerank
        if given is None:
            return 0
        check_int(f"{type(self).__name__}: n_rerank", given, 0)
        if 0 < given < k:
            raise KernelInputError(
                f"{type(self).__name__}: n_rerank={given} is smaller than k={k}; raise it to "
                f"about ten times k, or give n_rerank=0 for {self._plain_scores}"
            )
        return min(int(given), len(rows))


def nearest_kept(
    find: Find, queries: NDArray[Any], k: int, removed: Ids
) -> tuple[Ids, NDArray[Any]]:
    """Return positions and scores of the ``k`` nearest structures that are not removed.

    ``find(queries, k)`` returns positions and scores, best first; equal scores by rising position.
    Removed structures can be among the nearest: that many more are found, and left out.
    """
    at_once = max(1, _FOUND_AT_ONCE // (k + len(removed)))
    blocks = [
        _leave_out(*find(queries[begin : begin + at_once], k + len(removed)), k, removed)
        for begin in range(0, len(queries), at_once)
    ]
    positions, scores = zip(*blocks, strict=True)
    return np.concatenate(positions), np.concatenate(scores)


def _leave_out(
    positions: Ids, scores: NDArray[Any], k: int, removed: Ids
) -> tuple[Ids, NDArray[Any]]:
    if len(removed) == 0:
        return positions, scores
    kept = ~np.isin(positions, removed)
    kept &= np.cumsum(kept, axis=1) <= k
    return positions[kept].reshape(-1, k), scores[kept].reshape(-1, k)
