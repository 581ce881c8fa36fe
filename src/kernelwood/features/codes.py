"""Hashcodes as packed words: bit ``l`` is bit ``l % 64``, least first, of word ``l // 64``."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner
from kernelwood.errors import KernelInputError

__all__ = ["Codes", "check_codes", "n_words", "nearest_codes", "pack", "unpack"]

Codes = NDArray[np.uint64]

WORD = 64
_SCAN_COST = 30  # of comparing one word, in the unit in which a pair of nodes costs 1


def n_words(n_bits: int) -> int:
    """Return how many words hold a code."""
    return -(-n_bits // WORD)


def pack(bits: NDArray[Any]) -> Codes:
    """Return bits, one a byte, as packed codes.

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
    """Return packed codes as bits, one a byte; the inverse of :func:`pack`.

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
    """Return codes that are packed as they should be, or raise KernelInputError."""
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
        raise KernelInputError(f"codes of {n_bits} bits have other bits set")
    return np.ascontiguousarray(codes)


def nearest_codes(
    queries: Codes, codes: Codes, k: int, *, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the ``k`` nearest codes of every query by Hamming distance, an exact scan.

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
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= len(codes):
        raise KernelInputError(f"k must be an int from 1 to {len(codes)}, got {k!r}")
    if queries.shape[1] != codes.shape[1]:
        raise KernelInputError(f"queries have {queries.shape[1]} words, the codes {codes.shape[1]}")
    queries, codes = np.ascontiguousarray(queries), np.ascontiguousarray(codes)
    indices = np.empty((len(queries), int(k)), dtype=np.int64)
    distances = np.empty(indices.shape, dtype=np.int32)
    runner = Runner(n_jobs, 0).quiet()

    def scan(begin: int, end: int, stop: NDArray[np.int32]) -> None:
        _native.nearest_codes(queries, codes, begin, end, indices, distances, stop)

    cost = _SCAN_COST * len(queries) * codes.size
    runner.run(scan, len(queries), evaluations=0, cost=cost)
    return indices, distances
