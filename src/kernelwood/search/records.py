"""Texts and names of sentences, under ids that stay when an index is made anew."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.features.growing import GrowingArray

__all__ = ["Records", "checked_records", "recorded", "strings"]

Ids = NDArray[np.int64]

_MOST_REMOVED = 8  # one in so many may be marked as removed


def strings(values: list[str]) -> NDArray[np.object_]:
    """Return strings as an array of objects, each as long as it is.

    Examples
    --------
    >>> strings(["we", "go home"])
    array(['we', 'go home'], dtype=object)
    """
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class Records:
    """A text, a name and two ids for each sentence: the lasting one, and that of the index.

    Both ids rise with positions. Additions are amortized; what is removed is only marked at first.

    Parameters
    ----------
    ids : ndarray of int64
        In rising order.
    inner_ids : ndarray of int64
        Ids in the index underneath, in rising order.
    texts, names : ndarrays of str objects
    next_id : int
        Above all ids that were ever given.

    Examples
    --------
    >>> records = Records(
    ...     np.array([0, 1]), np.array([0, 1]), strings(["we go", "stop"]), strings(["", ""]), 2
    ... )
    >>> records.remove(records.find([0]))
    >>> len(records), records.column("texts")
    (1, array(['stop'], dtype=object))
    """

    def __init__(
        self,
        ids: Ids,
        inner_ids: Ids,
        texts: NDArray[np.object_],
        names: NDArray[np.object_],
        next_id: int,
    ) -> None:
        self.next_id = next_id
        self._fill({"ids": ids, "inner_ids": inner_ids, "texts": texts, "names": names})

    def _fill(self, columns: dict[str, NDArray[Any]]) -> None:
        self._columns = {name: GrowingArray(column) for name, column in columns.items()}
        self._removed = np.empty(0, dtype=np.int64)  # positions, in rising order

    def __len__(self) -> int:
        return len(self._columns["ids"].rows) - len(self._removed)

    def column(self, name: str) -> NDArray[Any]:
        """Return ids, inner ids, texts or names of all that is there."""
        self._tidy()
        return self._columns[name].rows

    def add(self, inner_ids: Ids, texts: NDArray[np.object_], names: NDArray[np.object_]) -> Ids:
        """Add sentences; return the ids they get."""
        ids = np.arange(self.next_id, self.next_id + len(texts), dtype=np.int64)
        added = {"ids": ids, "inner_ids": inner_ids, "texts": texts, "names": names}
        for name, rows in added.items():
            self._columns[name].append(rows)
        self.next_id += len(texts)
        return ids

    def find(self, ids: Any) -> Ids:
        """Return the positions of ids; raise KernelInputError if one is not there."""
        wanted = np.atleast_1d(np.asarray(ids))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise KernelInputError(f"SentenceIndex: ids must be whole numbers, got {ids!r}")
        wanted, known = wanted.astype(np.int64), self._columns["ids"].rows
        positions = np.searchsorted(known, wanted)
        there = positions < len(known)
        there[there] = known[positions[there]] == wanted[there]
        there &= ~np.isin(positions, self._removed)
        if not there.all():
            raise KernelInputError(
                f"SentenceIndex: there is no sentence with the id {wanted[~there][0]}; "
                "it was never added, or is removed already"
            )
        return positions.astype(np.int64)

    def remove(self, positions: Ids) -> None:
        """Remove the sentences at some positions."""
        self._removed = np.union1d(self._removed, positions).astype(np.int64)
        if _MOST_REMOVED * len(self._removed) > len(self._columns["ids"].rows):
            self._tidy()

    def at(self, name: str, positions: Ids) -> NDArray[Any]:
        """Return ids, inner ids, texts or names at some positions."""
        return self._columns[name].rows[positions]

    def positions_of(self, inner_ids: Ids) -> Ids:
        """Return the positions of sentences that the index has under these ids."""
        return np.searchsorted(self._columns["inner_ids"].rows, inner_ids).astype(np.int64)

    def renumber(self, inner_ids: Ids) -> None:
        """Tell what the sentences, in order, are called by an index that was made anew."""
        self._tidy()
        self._columns["inner_ids"] = GrowingArray(inner_ids)

    def _tidy(self) -> None:
        if len(self._removed):
            columns = self._columns.items()
            self._fill({name: np.delete(column.rows, self._removed) for name, column in columns})


def checked_records(inner_ids: Ids, restored: dict[str, Any]) -> Records:
    """Make records of what was loaded; raise ValueError if it does not fit together."""
    ids, next_id, n = restored["ids"], restored["next_id"], len(inner_ids)
    if not isinstance(ids, np.ndarray) or ids.dtype != np.int64 or ids.shape != (n,):
        raise ValueError(f"ids_ must be {n} whole numbers")
    if n and (ids[0] < 0 or (np.diff(ids) <= 0).any()):
        raise ValueError("ids_ must be in rising order, from 0 on")
    if type(next_id) is not int or not (int(ids[-1]) if n else -1) < next_id < 2**62:
        raise ValueError("next_id_ must be above all ids")
    for name in ("texts", "names"):
        column = restored[name]
        if not isinstance(column, np.ndarray) or column.dtype != object or column.shape != (n,):
            raise ValueError(f"{name}_ must be {n} strings")
        if not all(type(text) is str for text in column):
            raise ValueError(f"{name}_ must be strings")
    return Records(ids, inner_ids, restored["texts"], restored["names"], next_id)


def recorded(name: str, doc: str) -> Any:
    """Return a property for a fitted attribute that is part of the records.

    It can be set too, once, when an index is loaded; ``_check_restored`` takes it from there.
    """

    def get(index: Any) -> Any:
        if "_records" in index.__dict__:
            records = index._records
            return records.next_id if name == "next_id" else records.column(name)
        if name in index.__dict__.get("_restored", {}):
            return index._restored[name]
        raise AttributeError(f"this {type(index).__name__} is not fitted yet")

    def put(index: Any, value: Any) -> None:
        index.__dict__.setdefault("_restored", {})[name] = value

    return property(get, put, doc=doc)
