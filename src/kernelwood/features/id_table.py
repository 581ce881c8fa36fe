"""Rows under ids that never change, to which others are added and of which some are removed.

What is removed is only marked at first; when it makes up an eighth, and before anything is looked
at from outside, the rest is moved together. Ids rise with positions, so that an order by position
is one by id.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.features.growing import GrowingArray

__all__ = ["IdTable", "Ids", "check_ids", "stored"]

Ids = NDArray[np.int64]

_MOST_REMOVED = 8  # one in so many may be marked as removed
_LARGEST_ID = 2**62


class IdTable:
    """Arrays with a row for each id.

    Parameters
    ----------
    what : str
        What has the ids, for messages.
    columns : dict from str to ndarray
    ids : ndarray of int64
        In rising order.
    next_id : int
        Above all ids that were ever given.

    Examples
    --------
    >>> table = IdTable("word", {"size": np.array([3, 5])}, ids=np.array([0, 1]), next_id=2)
    >>> table.append({"size": np.array([4])})
    array([2])
    >>> table.remove("Example", [0])
    >>> table.attribute("ids"), table.attribute("size")
    (array([1, 2]), array([5, 4]))
    """

    def __init__(
        self, what: str, columns: dict[str, NDArray[Any]], *, ids: Ids, next_id: int
    ) -> None:
        self.next_id = next_id
        self.version = 0  # rises with every change
        self.layout = 0  # rises when rows get other positions
        self._what = what
        self._fill({"ids": ids, **columns})

    def _fill(self, columns: dict[str, NDArray[Any]]) -> None:
        self._columns = {name: GrowingArray(array) for name, array in columns.items()}
        self.removed = np.empty(0, dtype=np.int64)  # positions, in rising order

    def __len__(self) -> int:
        return len(self.column("ids")) - len(self.removed)

    def column(self, name: str) -> NDArray[Any]:
        """Return an array with a row for each position, those that are removed among them."""
        return self._columns[name].rows

    def attribute(self, name: str) -> Any:
        """Return a column of what is not removed, or the next id: what is seen from outside."""
        return self.next_id if name == "next_id" else self.tidy().column(name)

    def positions(self) -> Ids:
        """Return the positions that are not removed."""
        return np.delete(np.arange(len(self.column("ids"))), self.removed)

    def append(self, columns: dict[str, NDArray[Any]]) -> Ids:
        """Add rows; return the ids they get."""
        n = len(next(iter(columns.values())))
        ids = np.arange(self.next_id, self.next_id + n, dtype=np.int64)
        for name, rows in {"ids": ids, **columns}.items():
            self._columns[name].append(rows)
        self.next_id += n
        self.version += 1
        return ids

    def find(self, owner: str, ids: Any) -> Ids:
        """Return the positions of ids; if one is not there, say so."""
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
                f"{owner}: there is no {self._what} with the id {wanted[~found][0]}; "
                "it was never added, or is removed already"
            )
        return positions

    def remove(self, owner: str, ids: Any) -> None:
        """Remove rows; if an id is not there, say so and remove none."""
        positions = self.find(owner, ids)
        self.removed = np.union1d(self.removed, positions).astype(np.int64)
        self.version += 1
        if _MOST_REMOVED * len(self.removed) > len(self.column("ids")):
            self.tidy()

    def tidy(self) -> IdTable:
        """Move what is not removed together; return the table."""
        if len(self.removed):
            self._keep(self.positions())
            self.version += 1
            self.layout += 1
        return self

    def _keep(self, positions: Ids) -> None:
        self._fill({name: self.column(name)[positions] for name in self._columns})


def check_ids(ids: Any, next_id: Any, n: int) -> None:
    """Raise ValueError unless these can be the ids of n rows."""
    if not isinstance(ids, np.ndarray) or ids.dtype != np.int64 or ids.shape != (n,):
        raise ValueError(f"ids_ must be {n} whole numbers")
    if n and (ids[0] < 0 or (np.diff(ids) <= 0).any()):
        raise ValueError("ids_ must be whole numbers in rising order")
    if type(next_id) is not int or not (int(ids[-1]) if n else -1) < next_id < _LARGEST_ID:
        raise ValueError("next_id_ must be above all ids")


def stored(table: str, name: str, doc: str) -> Any:
    """Return a property for a fitted attribute that is part of a table.

    It can be set too, once, when an estimator is loaded; ``_check_restored`` takes it from there.

    Parameters
    ----------
    table : str
        The attribute that holds the table.
    name : str
        What to ask it for.
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
