"""Structures under ids that never change; others are added, and some removed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.features.checks import check_array
from kernelwood.features.estimator import StructureEstimator
from kernelwood.features.growing import growing_batch
from kernelwood.features.id_table import Ids, IdTable, check_ids, stored
from kernelwood.kernels import Kernel

__all__ = ["Collection", "CollectionEstimator", "collected"]

# A property for a fitted attribute that is part of the collection.
collected = partial(stored, "_collection")


class Collection(IdTable):
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
        ids: Ids,
        next_id: int,
    ) -> None:
        self._kernel = kernel
        self._structures = growing_batch(structures, kernel)
        super().__init__("structure", columns, ids=ids, next_id=next_id)

    def structures(self) -> Any:
        """Return a batch with a structure for each position."""
        return self._structures.batch

    def attribute(self, name: str) -> Any:
        """Return what is seen from outside: structures, a column, or the next id."""
        if name == "structures":
            self.tidy()
            return self.structures()
        return super().attribute(name)

    def take(self, positions: Ids) -> Any:
        """Return the structures at some positions, in that order, as a batch."""
        return self._structures.take(positions)

    def add(self, structures: Any, columns: dict[str, NDArray[Any]]) -> Ids:
        """Add structures and their rows; return the ids they get."""
        self._structures.append(structures)
        return self.append(columns)

    def _keep(self, positions: Ids) -> None:
        self._structures = growing_batch(self.take(positions), self._kernel)
        super()._keep(positions)


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
        check_ids(ids, next_id, n)
        columns = {name: self._restored[name] for name in self._column_types()}
        for name, (dtype, row) in self._column_types().items():
            check_array(f"{name}_", columns[name], dtype, (n, *row))
        self._check_columns(columns)
        self._collection = Collection(self.kernel_, structures, columns, ids=ids, next_id=next_id)
        del self._restored
