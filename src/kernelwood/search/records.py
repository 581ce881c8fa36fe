"""Texts and names of sentences, under ids that stay when an index is made anew."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.features import GrowingArray, Ids, IdTable, check_ids, stored

__all__ = ["Ids", "Records", "checked_records", "recorded", "strings"]

Strings = NDArray[np.object_]

# A property for a fitted attribute that is part of the records.
recorded = partial(stored, "_records")


def strings(values: list[str]) -> Strings:
    """Return strings as an array of objects, each as long as it is.

    Examples
    --------
    >>> strings(["we", "go home"])
    array(['we', 'go home'], dtype=object)
    """
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class Records(IdTable):
    """A text, a name and two ids for each sentence: the lasting one, and that of the index.

    Both ids rise with positions.

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
    >>> records.remove("Example", [0])
    >>> len(records), records.attribute("texts")
    (1, array(['stop'], dtype=object))
    """

    def __init__(
        self, ids: Ids, inner_ids: Ids, texts: Strings, names: Strings, next_id: int
    ) -> None:
        columns = {"inner_ids": inner_ids, "texts": texts, "names": names}
        super().__init__("sentence", columns, ids=ids, next_id=next_id)

    def add(self, inner_ids: Ids, texts: Strings, names: Strings) -> Ids:
        """Add sentences; return the ids they get."""
        return self.append({"inner_ids": inner_ids, "texts": texts, "names": names})

    def at(self, name: str, positions: Ids) -> NDArray[Any]:
        """Return ids, inner ids, texts or names at some positions."""
        return self.column(name)[positions]

    def positions_of(self, inner_ids: Ids) -> Ids:
        """Return the positions of sentences that the index has under these ids."""
        return np.searchsorted(self.column("inner_ids"), inner_ids).astype(np.int64)

    def renumber(self, inner_ids: Ids) -> None:
        """Tell what the sentences, in order, are called by an index that was made anew."""
        self.tidy()
        self._columns["inner_ids"] = GrowingArray(inner_ids)


def checked_records(inner_ids: Ids, restored: dict[str, Any]) -> Records:
    """Make records of what was loaded; raise ValueError if it does not fit together."""
    ids, next_id, n = restored["ids"], restored["next_id"], len(inner_ids)
    check_ids(ids, next_id, n)
    for name in ("texts", "names"):
        column = restored[name]
        if not isinstance(column, np.ndarray) or column.dtype != object or column.shape != (n,):
            raise ValueError(f"{name}_ must be {n} strings")
        if not all(type(text) is str for text in column):
            raise ValueError(f"{name}_ must be strings")
    return Records(ids, inner_ids, restored["texts"], restored["names"], next_id)
