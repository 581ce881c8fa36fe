"""Hashcodes as packed words, and search for the nearest by Hamming distance.

Bit ``l`` of a code is bit ``l % 64``, least significant first, of word ``l // 64``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner, resolve_jobs
from kernelwood.errors import KernelInputError, MissingPackageError
from kernelwood.parameters import check_int
from kernelwood.threads import LOCK, n_forks

Codes = NDArray[np.uint64]

WORD = 64
_SCAN_COST = 10  # of comparing one word, in pairs of nodes
_TOGETHER = 64  # queries that codes are read for at once


def n_words(n_bits: int) -> int:
    """Return the number of words of a code."""
    return -(-n_bits // WORD)


def pack(bits: NDArray[Any]) -> Codes:
    """Return bits, one per byte, as packed codes.

    Parameters
    ----------
    bits : ndarray of 0 and 1, shape (n, n_bits)

    Returns
    -------
    ndarray of uint64, shape (n, n_words)

    Examples
    --------
    >>> pack(np.array([[1, 0, 1], [0, 0, 0]]))
    array([[5],
           [0]], dtype=uint64)
    """
    bits = np.asarray(bits)
    if bits.ndim != 2 or not ((bits == 0) | (bits == 1)).all():
        raise KernelInputError(f"bits must be rows of 0 and 1, got shape {bits.shape}")
    padded = np.zeros((len(bits), n_words(bits.shape[1]) * WORD), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    packed = np.packbits(padded, axis=1, bitorder="little")
    words = packed.view("<u8").reshape(len(bits), padded.shape[1] // WORD)
    return words.astype(np.uint64, copy=False)


def unpack(codes: Codes, n_bits: int) -> NDArray[np.uint8]:
    """Return packed codes as bits, one per byte; the inverse of :func:`pack`.

    Examples
    --------
    >>> unpack(np.array([[5]], dtype=np.uint64), 3)
    array([[1, 0, 1]], dtype=uint8)
    """
    check_codes(codes, n_bits)
    if sys.byteorder == "big":
        codes = codes.astype("<u8")
    as_bytes = np.ascontiguousarray(codes).view(np.uint8).reshape(len(codes), codes.shape[1] * 8)
    return np.unpackbits(as_bytes, axis=1, count=n_bits, bitorder="little")


def check_codes(codes: Any, n_bits: int) -> Codes:
    """Return packed codes as a contiguous array, or raise KernelInputError."""
    words = n_words(n_bits)
    if not isinstance(codes, np.ndarray) or codes.dtype != np.uint64 or codes.ndim != 2:
        raise KernelInputError(
            "codes must be an array of uint64 with a row for each structure, got "
            f"{getattr(codes, 'dtype', type(codes).__name__)}; KernelHasher.codes makes them"
        )
    if codes.shape[1] != words:
        raise KernelInputError(
            f"codes of {n_bits} bits have {words} words, these have {codes.shape[1]}"
        )
    spare = n_bits % WORD
    if spare and len(codes) and (codes[:, -1] >> np.uint64(spare)).any():
        raise KernelInputError(f"codes of {n_bits} bits have bits set beyond these")
    return np.ascontiguousarray(codes)


def nearest_codes(
    queries: Codes, codes: Codes, k: int, *, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the ``k`` nearest codes of every query by Hamming distance, by an exact scan.

    Returns
    -------
    indices : ndarray of int64, shape (n_queries, k)
        By rising distance; equal distances by rising index.
    distances : ndarray of int32, shape (n_queries, k)

    Examples
    --------
    >>> codes = pack(np.array([[0, 0, 0], [1, 1, 1], [0, 1, 1]]))
    >>> indices, distances = nearest_codes(codes[:1], codes, 2)
    >>> indices.tolist(), distances.tolist()
    ([[0, 2]], [[0, 2]])
    """
    check_int("nearest_codes: k", k, 1, len(codes))
    if queries.shape[1] != codes.shape[1]:
        raise KernelInputError(f"queries have {queries.shape[1]} words, the codes {codes.shape[1]}")
    queries, codes = np.ascontiguousarray(queries), np.ascontiguousarray(codes)
    indices = np.empty((len(queries), int(k)), dtype=np.int64)
    distances = np.empty(indices.shape, dtype=np.int32)
    # In groups, because reading codes takes as long as comparing them.
    group = max(1, min(_TOGETHER, -(-len(queries) // resolve_jobs(n_jobs))))

    def scan(begin: int, end: int, stop: NDArray[np.int32]) -> None:
        some = begin * group, min(end * group, len(queries))
        _native.nearest_codes(queries, codes, *some, indices, distances, stop)

    runner = Runner(n_jobs, 0).quiet()
    groups = -(-len(queries) // group)
    cost = _SCAN_COST * len(queries) * codes.size
    runner.run(scan, groups, evaluations=0, cost=cost, large=True)
    return indices, distances


Find = Callable[[Codes, int], tuple[NDArray[np.int64], NDArray[np.int32]]]


class CodeSearch:
    """Exact search by :func:`nearest_codes`."""

    def finder(self, codes: Codes, layout: int) -> Find:
        """Return a function that finds the k nearest of some codes.

        Parameters
        ----------
        codes : ndarray of uint64
            The codes to search.
        layout : int
            Unchanged as long as codes are only appended.

        Returns
        -------
        callable
            ``find(queries, k)`` returns indices and distances, by rising distance; equal distances
            by rising index.
        """

        def find(queries: Codes, k: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
            return nearest_codes(queries, codes, k)

        return find


@dataclass
class _Built:
    """An index of faiss, the layout of its codes, and the number of searches that use it now."""

    index: Any
    layout: int
    n_forks: int
    n_searches: int = 0


class FaissSearch(CodeSearch):
    """Exact binary index of faiss, built and extended when a search needs it.

    An index of faiss must not grow while another thread searches it, nor be used in a forked
    process: then :func:`nearest_codes` finds the same.
    """

    def __init__(self) -> None:
        self._faiss = _import_faiss()
        self._built: _Built | None = None

    def finder(self, codes: Codes, layout: int) -> Find:
        """Return a function that finds the k nearest of some codes."""

        def find(queries: Codes, k: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
            with LOCK:
                built = self._ready(codes, layout)
                if built is not None:
                    built.n_searches += 1
            if built is None:
                return nearest_codes(queries, codes, k)
            try:
                self._faiss.omp_set_num_threads(resolve_jobs(None))
                distances, indices = built.index.search(_bytes(queries), k)
                return indices, distances
            finally:
                with LOCK:
                    built.n_searches -= 1

        return find

    def _ready(self, codes: Codes, layout: int) -> _Built | None:
        """Return the index of some codes, None if another search does not allow to make it."""
        built = self._built
        if built is None or built.layout < layout:
            index = self._faiss.IndexBinaryFlat(codes.shape[1] * WORD)
            # Counting, unlike a heap, keeps codes at the same distance in order.
            index.use_heap = False
            built = self._built = _Built(index, layout, n_forks())
        n = built.index.ntotal
        if built.n_forks != n_forks() or built.layout > layout or n > len(codes):
            return None
        if n < len(codes):
            if built.n_searches:
                return None
            built.index.add(_bytes(codes[n:]))
        return built

    def __reduce__(self) -> tuple[type[FaissSearch], tuple[()]]:
        # The index of faiss cannot be copied; it is rebuilt.
        return type(self), ()


BACKENDS: dict[str, type[CodeSearch]] = {"scan": CodeSearch, "faiss": FaissSearch}


def _bytes(codes: Codes) -> NDArray[np.uint8]:
    return np.ascontiguousarray(codes).view(np.uint8)


def _import_faiss() -> Any:
    try:
        return importlib.import_module("faiss")
    except ImportError:
        raise MissingPackageError(
            "HashIndex: backend='faiss' needs faiss, which is not installed; "
            "pip install 'kernelwood[faiss]', or use backend='scan', which gives the same results"
        ) from None
