"""Structures under ids that never change, to which others are added and of which some are removed.

What is removed is only marked at first; when it makes up an eighth, and before anything is looked
at from outside, the rest is moved together. Ids rise with positions, so that an order by position
is one by id.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.features.estimator import StructureEstimator
from kernelwood.features.growing import GrowingArray, growing_batch
from kernelwood.kernels import Kernel

__all__ = ["Collection", "CollectionEstimator", "collected"]

_MOST_REMOVED = 8  # one in so many may be marked as removed


class Collection:
    """Structures, their ids, and a row of some arrays for each.

    Parameters
    ----------
    kernel : Kernel
        What compares the structures.
    structures : batch
    columns : dict from str to ndarray
        Arrays with a row for each structure.
    ids : ndarray of int64
        In rising order.
    next_id : int
        Above all ids that were ever given.
    """

    def __init__(
        self,
        kernel: Kernel,
        structures: Any,
        columns: dict[str, NDArray[Any]],
        *,
        ids: NDArray[np.int64],
        next_id: int,
    ) -> None:
        self.next_id = next_id
        self.version = 0  # rises with every change
        self.layout = 0  # rises when structures get other positions
        self._kernel = kernel
        self._fill(structures, {"ids": ids, **columns})

    def _fill(self, structures: Any, columns: dict[str, NDArray[Any]]) -> None:
        self._structures = growing_batch(structures, self._kernel)
        self._columns = {name: GrowingArray(array) for name, array in columns.items()}
        self.removed = np.empty(0, dtype=np.int64)  # positions, in rising order

    def __len__(self) -> int:
        return len(self.column("ids")) - len(self.removed)

    def column(self, name: str) -> NDArray[Any]:
        """Return an array with a row for each position, those that are removed among them."""
        return self._columns[name].rows

    def structures(self) -> Any:
        """Return a batch with a structure for each position."""
        return self._structures.batch

    def take(self, positions: NDArray[np.int64]) -> Any:
        """Return the structures at some positions, in that order, as a batch."""
        return self._structures.take(positions)

    def positions(self) -> NDArray[np.int64]:
        """Return the positions that are not removed."""
        return np.delete(np.arange(len(self.column("ids"))), self.removed)

    def add(self, structures: Any, columns: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
        """Add structures and their rows; return the ids they get."""
        ids = np.arange(self.next_id, self.next_id + len(structures), dtype=np.int64)
        self._structures.append(structures)
        for name, rows in {"ids": ids, **columns}.items():
            self._columns[name].append(rows)
        self.next_id += len(structures)
        self.version += 1
        return ids

    def remove(self, owner: str, ids: Any) -> None:
        """Remove structures; if an id is not there, say so and remove none."""
        positions = self._find(owner, ids)
        self.removed = np.union1d(self.removed, positions).astype(np.int64)
        self.version += 1
        if _MOST_REMOVED * len(self.removed) > len(self.column("ids")):
            self.tidy()

    def tidy(self) -> Collection:
        """Move what is not removed together; return the collection."""
        if len(self.removed):
            kept = self.positions()
            columns = {name: self.column(name)[kept] for name in self._columns}
            self._fill(self.take(kept), columns)
            self.version += 1
            self.layout += 1
        return self

    def _find(self, owner: str, ids: Any) -> NDArray[np.int64]:
        wanted = np.asarray(ids)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise KernelInputError(f"{owner}: ids must be a list of whole numbers, got {ids!r}")
        wanted = np.unique(wanted.astype(np.int64))
        known = self.column("ids")
        positions = np.searchsorted(known, wanted)
        inside = positions < len(known)
        found = np.zeros(len(wanted), dtype=bool)
        found[inside] = known[positions[inside]] == wanted[inside]
        found &= ~np.isin(positions, self.removed)
        if not found.all():
            raise KernelInputError(
                f"{owner}: there is no structure with the id {wanted[~found][0]}; "
                "it was never added, or is removed already"
            )
        return positions


def collected(name: str, doc: str) -> Any:
    """Return a property for a fitted attribute that is part of the collection.

    It can be set too, once, when an estimator is loaded; ``_check_restored`` takes it from there.
    """

    def get(estimator: Any) -> Any:
        if "_collection" not in estimator.__dict__:
            if name in estimator.__dict__.get("_restored", {}):
                return estimator._restored[name]
            raise AttributeError(f"this {type(estimator).__name__} is not fitted yet")
        collection = estimator._collection.tidy()
        if name == "next_id":
            return collection.next_id
        return collection.structures() if name == "structures" else collection.column(name)

    def put(estimator: Any, value: Any) -> None:
        estimator.__dict__.setdefault("_restored", {})[name] = value

    return property(get, put, doc=doc)


class CollectionEstimator(StructureEstimator):
    """An estimator that keeps structures, adds others and removes some."""

    _collection: Collection
    _restored: dict[str, Any]

    ids_ = collected("ids", "Ids of the structures, in rising order.")
    structures_ = collected("structures", "The structures, in the order of their ids.")
    next_id_ = collected("next_id", "The id that the next structure gets.")

    def __sklearn_is_fitted__(self) -> bool:
        # Looking at the attributes would move what is not removed together.
        return "_collection" in self.__dict__

    def __len__(self) -> int:
        """Number of structures."""
        self._check_is_fitted()
        return len(self._collection)

    def __bool__(self) -> bool:
        """True: an estimator without structures is one, too."""
        return True

    def remove(self, ids: Any) -> None:
        """Remove structures; the others keep their ids.

        Parameters
        ----------
        ids : list or ndarray of int
            As :meth:`add` returned them; those of ``fit`` count from 0.
        """
        self._check_is_fitted()
        self._collection.remove(type(self).__name__, ids)

    def _collect(self, structures: Any, **columns: NDArray[Any]) -> None:
        """Begin with the structures of ``fit``."""
        n = len(structures)
        ids = np.arange(n, dtype=np.int64)
        self.__dict__.pop("_restored", None)
        self._collection = Collection(self.kernel_, structures, columns, ids=ids, next_id=n)

    def _column_types(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        """Return number type and shape of a row for each column beside the ids."""
        return {}

    def _check_columns(self, columns: dict[str, NDArray[Any]]) -> None:
        """Raise ValueError if loaded columns, of the right types and shapes, hold wrong values."""

    def _check_restored(self) -> None:
        super()._check_restored()
        # Without it, nothing was loaded: an estimator is checked before it is saved.
        if "_restored" not in self.__dict__:
            return
        ids, structures, next_id = (
            self._restored[name] for name in ("ids", "structures", "next_id")
        )
        if not isinstance(structures, self.kernel_._accepts()):
            raise ValueError("structures_ must be a batch that the kernel reads")
        n = len(structures)
        _check_column("ids_", ids, np.int64, (n,))
        columns = {name: self._restored[name] for name in self._column_types()}
        for name, (dtype, row) in self._column_types().items():
            _check_column(f"{name}_", columns[name], dtype, (n, *row))
        self._check_columns(columns)
        if n and (ids[0] < 0 or (np.diff(ids) <= 0).any()):
            raise ValueError("ids_ must be whole numbers in rising order")
        if type(next_id) is not int or not (int(ids[-1]) if n else -1) < next_id < 2**62:
            raise ValueError("next_id_ must be above all ids")
        self._collection = Collection(self.kernel_, structures, columns, ids=ids, next_id=next_id)
        del self._restored


def _check_column(name: str, array: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
        raise ValueError(f"{name} must be an array of {np.dtype(dtype)} of shape {shape}")
