"""Candidates for neighbors: structures in the buckets of similar codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.features import Codes, nearest_codes

__all__ = ["Block", "Buckets", "Candidates"]

Positions = NDArray[np.int64]

_BUCKETS_AT_ONCE = 2**20  # near buckets held while looking for the nearest ones
_PAIRS_AT_ONCE = 2**21  # pairs of a query and a candidate held at the same time
_BLOCK_COST = 50  # of beginning a block, where preparing a structure for it costs 1


class Block(NamedTuple):
    """Queries to compare with the same candidates.

    Attributes
    ----------
    queries : ndarray of int64
        Their numbers, in rising order.
    candidates : ndarray of int64
        Positions, in rising order.
    """

    queries: Positions
    candidates: Positions


class Buckets:
    """Positions of structures by their codes.

    Parameters
    ----------
    codes : ndarray of uint64, shape (n, 1)
        Codes of up to 64 bits.
    positions : ndarray of int64, shape (n,)
        Positions of the structures, in rising order.
    """

    def __init__(self, codes: Codes, positions: Positions) -> None:
        distinct, which, sizes = np.unique(codes[:, 0], return_inverse=True, return_counts=True)
        self.codes: Codes = distinct[:, None]
        self.sizes: Positions = sizes.astype(np.int64)
        self._members = positions[np.argsort(which.reshape(-1), kind="stable")]
        self._ends: Positions = np.cumsum(self.sizes)

    def members(self, bucket: int) -> Positions:
        """Return the positions in a bucket, in rising order."""
        end = int(self._ends[bucket])
        return self._members[end - int(self.sizes[bucket]) : end]

    def nearest(self, queries: Codes, wanted: int) -> list[Positions]:
        """Return the buckets of each code that together hold ``wanted`` structures at least.

        The nearest ones by Hamming distance are taken, of equally near ones the smaller code.
        """
        k = min(wanted, len(self.codes))  # no bucket is empty
        at_once = max(1, _BUCKETS_AT_ONCE // k)
        chosen: list[Positions] = []
        for begin in range(0, len(queries), at_once):
            near, _ = nearest_codes(queries[begin : begin + at_once], self.codes, k)
            held = np.cumsum(self.sizes[near], axis=1)
            used = np.count_nonzero(held < wanted, axis=1) + 1
            chosen += [row[:n].copy() for row, n in zip(near, used.tolist(), strict=True)]
        return chosen


class Candidates:
    """What each query is to be compared with.

    Parameters
    ----------
    buckets : Buckets
    codes : ndarray of uint64, shape (n, 1)
        Codes of the queries.
    wanted : int
        Buckets are taken until they hold so many structures.
    """

    def __init__(self, buckets: Buckets, codes: Codes, wanted: int) -> None:
        self._buckets = buckets
        distinct, which = np.unique(codes[:, 0], return_inverse=True)
        self._which: Positions = which.reshape(-1)
        self._near = buckets.nearest(distinct[:, None], wanted)
        held = np.array([buckets.sizes[near].sum() for near in self._near], dtype=np.int64)
        self.counts: Positions = held[self._which]  # candidates of each query

    def parts(self) -> Iterator[Positions]:
        """Yield the queries, those with similar codes together, in parts that fit in memory."""
        order = np.argsort(self._which, kind="stable").astype(np.int64)
        part = np.cumsum(self.counts[order]) // _PAIRS_AT_ONCE
        yield from np.split(order, np.flatnonzero(np.diff(part)) + 1)

    def blocks(self, queries: Positions) -> list[Block]:
        """Return blocks that together are all pairs of some queries and their candidates.

        Either queries with the same code share a block, or those that need the same bucket. Few
        large blocks take less time than many small ones, in which a structure is prepared for
        comparing time and again.
        """
        by_code = self._by_code(queries)
        by_bucket = self._by_bucket(queries)
        cost_by_code = sum(len(group) + self.counts[group[0]] + _BLOCK_COST for _, group in by_code)
        cost_by_bucket = sum(
            len(group) + self._buckets.sizes[bucket] + _BLOCK_COST for bucket, group in by_bucket
        )
        if cost_by_bucket < cost_by_code:
            return [Block(group, self._buckets.members(bucket)) for bucket, group in by_bucket]
        return [
            Block(group, np.sort(np.concatenate([*map(self._buckets.members, self._near[code])])))
            for code, group in by_code
        ]

    def _by_code(self, queries: Positions) -> list[tuple[int, Positions]]:
        return _grouped(self._which[queries], queries)

    def _by_bucket(self, queries: Positions) -> list[tuple[int, Positions]]:
        near = [self._near[code] for code in self._which[queries].tolist()]
        return _grouped(np.concatenate(near), np.repeat(queries, [len(row) for row in near]))


def _grouped(keys: Positions, values: Positions) -> list[tuple[int, Positions]]:
    """Return the values of each key, in rising order."""
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    begins = np.flatnonzero(np.diff(keys)) + 1
    firsts = keys[np.concatenate([[0], begins])] if len(keys) else keys
    return list(zip(firsts.tolist(), np.split(values, begins), strict=True))
