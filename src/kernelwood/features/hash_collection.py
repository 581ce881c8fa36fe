"""Structures that come and go, each with its hashcode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.features.codes import check_codes, n_words
from kernelwood.features.collection import CollectionEstimator, collected
from kernelwood.features.hashing import HashingEstimator

__all__ = ["HashCollection"]


class HashCollection(CollectionEstimator, HashingEstimator):
    """Base class of estimators that keep structures and their codes."""

    codes_ = collected("codes", "Codes of the structures, in the order of their ids.")

    def _column_types(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        return {"codes": (np.uint64, (n_words(self.n_bits),))}

    def _check_columns(self, columns: dict[str, NDArray[Any]]) -> None:
        check_codes(columns["codes"], self.n_bits)
