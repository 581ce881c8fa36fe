"""What scans codes for the nearest ones: the native core, or faiss."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.features.codes import WORD, Codes, nearest_codes

__all__ = ["BACKENDS", "CodeSearch"]

_LOCK = threading.Lock()

Find = Callable[[Codes, int], tuple[NDArray[np.int64], NDArray[np.int32]]]


class CodeSearch:
    """The native scan of :func:`kernelwood.features.codes.nearest_codes`."""

    def finder(self, codes: Codes, layout: int) -> Find:
        """Return a function that finds the k nearest of some codes.

        Parameters
        ----------
        codes : ndarray of uint64
            What is searched.
        layout : int
            While it stays the same, codes are only added.

        Returns
        -------
        callable
            ``find(queries, k)`` returns indices and distances, by rising distance and, where that
            is equal, by rising index.
        """

        def find(queries: Codes, k: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
            return nearest_codes(queries, codes, k)

        return find


class FaissSearch(CodeSearch):
    """An exact binary index of faiss, made and extended when a search needs it."""

    def __init__(self) -> None:
        self._faiss = _import_faiss()
        self._index: Any = None
        self._layout = -1

    def finder(self, codes: Codes, layout: int) -> Find:
        """Return a function that finds the k nearest of some codes."""
        with _LOCK:
            index = self._updated(codes, layout)

        def find(queries: Codes, k: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
            self._faiss.omp_set_num_threads(resolve_jobs(None))
            distances, indices = index.search(_bytes(queries), k)
            return indices, distances

        return find

    def _updated(self, codes: Codes, layout: int) -> Any:
        if layout != self._layout:
            self._index = self._faiss.IndexBinaryFlat(codes.shape[1] * WORD)
            # Counting, unlike a heap, leaves codes at the same distance in order.
            self._index.use_heap = False
            self._layout = layout
        if self._index.ntotal < len(codes):
            self._index.add(_bytes(codes[self._index.ntotal :]))
        return self._index

    def __reduce__(self) -> tuple[type[FaissSearch], tuple[()]]:
        # The index of faiss cannot be copied; it is made again.
        return type(self), ()


BACKENDS: dict[str, type[CodeSearch]] = {"scan": CodeSearch, "faiss": FaissSearch}


def _bytes(codes: Codes) -> NDArray[np.uint8]:
    return np.ascontiguousarray(codes).view(np.uint8)


def _import_faiss() -> Any:
    try:
        return importlib.import_module("faiss")
    except ImportError:
        raise KernelInputError(
            "HashIndex: backend='faiss' needs faiss, which is not installed; "
            "pip install kernelwood[faiss], or take backend='scan', which gives the same results"
        ) from None
