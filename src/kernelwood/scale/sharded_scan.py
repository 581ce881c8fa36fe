"""Exact search in several arrays, in blocks and threads, with the result for one array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import Runner, StopFlag

Positions = NDArray[np.int64]
Found = tuple[Positions, NDArray[Any]]  # both of shape (n_queries, k), best first
Find = Callable[[NDArray[Any], tuple[NDArray[Any], ...], int], Found]

_ROWS_BYTES = 2**20  # of a block of rows, which stays in the cache while all queries pass
_FOUND_AT_ONCE = 2**21  # neighbors held while searching, 32 MB
_PIECES = 4  # of the rows for each thread, so that no thread waits long for another
_COST = 8  # of comparing 8 bytes of a row, in pairs of nodes


@dataclass(frozen=True)
class ShardedScan:
    """Search for the nearest rows of shards that follow each other.

    Parameters
    ----------
    find : callable
        ``find(queries, columns, k)`` returns indices and scores of the ``k`` nearest of a block of
        rows, best first; equal scores by rising index.
    columns : callable
        ``columns(number)`` returns the arrays of a shard, which have a row for each position. It is
        called by several threads.
    sizes : sequence of int
        Number of rows of each shard, above 0.
    row_bytes : int
        Size of a row in all columns.
    rising : bool
        Whether low scores are best, as distances are.

    Examples
    --------
    >>> def find(queries, columns, k):
    ...     distances = abs(queries[:, None] - columns[0])
    ...     order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    ...     return order, np.take_along_axis(distances, order, axis=1)
    >>> shards = [np.array([5, 1]), np.array([3])]
    >>> scan = ShardedScan(find, lambda number: (shards[number],), [2, 1], 8, rising=True)
    >>> positions, distances = scan.nearest(np.array([2]), 2)
    >>> positions.tolist(), distances.tolist()
    ([[1, 2]], [[1, 1]])
    """

    find: Find
    columns: Callable[[int], tuple[NDArray[Any], ...]]
    sizes: Sequence[int]
    row_bytes: int
    rising: bool

    def nearest(self, queries: NDArray[Any], k: int, *, n_jobs: int | None = None) -> Found:
        """Return positions and scores of the ``k`` nearest rows of each query.

        Positions count the rows of all shards. Equal scores are in order of positions. Memory
        depends on the queries and ``k``, not on the number of rows; no result depends on blocks or
        threads.

        Parameters
        ----------
        queries : ndarray, a row for each of at least one query
        k : int
            From 1 to the number of rows.
        n_jobs : int, optional
            Number of threads.
        """
        runner = Runner(n_jobs, 0).quiet()
        n_pieces = _PIECES * runner.n_jobs if runner.n_jobs > 1 else 1
        at_once = max(1, _FOUND_AT_ONCE // (2 * k * n_pieces))
        found = [
            self._nearest(runner, queries[begin : begin + at_once], k, n_pieces)
            for begin in range(0, len(queries), at_once)
        ]
        positions, scores = zip(*found, strict=True)
        return np.concatenate(positions), np.concatenate(scores)

    def _nearest(self, runner: Runner, queries: NDArray[Any], k: int, n_pieces: int) -> Found:
        n = sum(self.sizes)
        ends = [n * piece // n_pieces for piece in range(n_pieces + 1)]

        def scan(piece: int, stop: StopFlag) -> Found | None:
            found = None
            for first, block in self._blocks(ends[piece], ends[piece + 1], k):
                if stop[0]:
                    break
                indices, scores = self.find(queries, block, min(k, len(block[0])))
                here = indices + first, scores
                found = here if found is None else self._merge(found, here, k)
            return found

        cost = _COST * len(queries) * n * self.row_bytes // 8
        pieces = [found for found in runner.map(scan, range(n_pieces), cost=cost) if found]
        best = pieces[0]
        for found in pieces[1:]:
            best = self._merge(best, found, k)
        return best

    def _blocks(
        self, begin: int, end: int, k: int
    ) -> Iterator[tuple[int, tuple[NDArray[Any], ...]]]:
        """Yield the columns of blocks between two positions, and the position of their first row.

        A block has at least ``k`` rows where a shard allows it, so that merging costs little.
        """
        step = max(1, _ROWS_BYTES // self.row_bytes, k)
        start = 0
        for number, size in enumerate(self.sizes):
            first, last = max(begin, start), min(end, start + size)
            columns = self.columns(number) if first < last else ()
            for row in range(first - start, last - start, step):
                rows = slice(row, min(row + step, last - start))
                yield start + row, tuple(column[rows] for column in columns)
            start += size

    def _merge(self, left: Found, right: Found, k: int) -> Found:
        """Return the best of two results, the positions in ``left`` below those in ``right``."""
        positions, scores = (np.concatenate(both, axis=1) for both in zip(left, right, strict=True))
        order = np.argsort(scores if self.rising else -scores, axis=1, kind="stable")[:, :k]
        return tuple(np.take_along_axis(array, order, axis=1) for array in (positions, scores))  # type: ignore[return-value]
