"""Subsequences that two sequences share.

A subsequence u weighs the product of its values in the two sequences, each the sum over its
occurrences of ``decay ** (last index - first index)``; the weights of all u sum to the raw value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from heapq import heappop, heappush
from math import isqrt
from typing import NamedTuple

from kernelwood.explain.fragment import Steps

__all__ = ["Subsequence", "heaviest_subsequences", "longest_subsequences"]


class Subsequence(NamedTuple):
    """A shared subsequence with its weight, counts, and value with all parts (or None)."""

    symbols: tuple[int, ...]
    weight: float
    count_a: int
    count_b: int
    covers: float | None


class _Ends(NamedTuple):
    """Where occurrences of a subsequence end in a sequence: their values and their number."""

    positions: list[int]
    values: list[float]
    counts: list[int]

    def total(self) -> float:
        return sum(self.values)


def heaviest_subsequences(
    a: list[int], b: list[int], decay: float, max_length: int | None, steps: Steps
) -> Iterator[Subsequence]:
    """Yield the shared subsequences from the heaviest on.

    The queue holds subsequences by the most that they or any continuation can weigh: the sum of
    all of these, read off one table over both sequences. If that table is beyond the steps, the
    weight itself takes its place, and the order is no longer guaranteed.
    """
    bound = _Bound(a, b, decay, steps)
    queue: list[tuple[float, int, tuple[int, ...], tuple[_Ends, _Ends], bool]] = []
    serial = 0
    for symbol, sides in _extend(a, b, decay, None):
        serial += 1
        heappush(queue, (-bound(*sides), serial, (symbol,), sides, False))
    while queue:
        weight, number, symbols, sides, is_final = heappop(queue)
        if is_final:
            yield Subsequence(symbols, -weight, sum(sides[0].counts), sum(sides[1].counts), None)
            continue
        weight = sides[0].total() * sides[1].total()
        heappush(queue, (-weight, number, symbols, sides, True))
        longest = max_length is not None and len(symbols) >= max_length
        if longest or not steps.take(len(a) + len(b)):
            continue
        for symbol, grown in _extend(a, b, decay, sides):
            serial += 1
            heappush(queue, (-bound(*grown), serial, (*symbols, symbol), grown, False))


def _extend(
    a: list[int], b: list[int], decay: float, sides: tuple[_Ends, _Ends] | None
) -> list[tuple[int, tuple[_Ends, _Ends]]]:
    """Return every symbol that can follow in both sequences, with the new ends."""
    left, right = (
        _extend_in(sequence, decay, None if sides is None else sides[side])
        for side, sequence in enumerate((a, b))
    )
    return [(symbol, (left[symbol], right[symbol])) for symbol in left if symbol in right]


def _extend_in(sequence: list[int], decay: float, ends: _Ends | None) -> dict[int, _Ends]:
    found: dict[int, _Ends] = defaultdict(lambda: _Ends([], [], []))
    if ends is None:
        for position, symbol in enumerate(sequence):
            _append(found[symbol], position, 1.0, 1)
        return found
    value, count, k = 0.0, 0, 0
    for position in range(ends.positions[0] + 1, len(sequence)):
        if k < len(ends.positions) and ends.positions[k] == position - 1:
            value, count, k = value + ends.values[k], count + ends.counts[k], k + 1
        value *= decay
        _append(found[sequence[position]], position, value, count)
    return found


def _append(ends: _Ends, position: int, value: float, count: int) -> None:
    ends.positions.append(position)
    ends.values.append(value)
    ends.counts.append(count)


class _Bound:
    """Returns the summed weight of a subsequence and all its continuations."""

    def __init__(self, a: list[int], b: list[int], decay: float, steps: Steps) -> None:
        self.table: list[list[float]] | None = None
        # The larger part of the steps is for the search itself.
        if len(a) * len(b) > steps.left // 2 or not steps.take(len(a) * len(b)):
            steps.exceeded = True
            return
        # table[p][q]: all that may follow positions p and q, plus 1 for nothing.
        below = [0.0] * (len(b) + 1)
        table = []
        for symbol in reversed(a):
            row, sums, in_row = [], [0.0], 0.0
            for q in range(len(b) - 1, -1, -1):
                row.append(1 + decay**2 * below[q + 1])
                in_row = decay * in_row + (row[-1] if symbol == b[q] else 0.0)
                sums.append(in_row + decay * below[q])
            table.append(row[::-1])
            below = sums[::-1]
        self.table = table[::-1]

    def __call__(self, left: _Ends, right: _Ends) -> float:
        if self.table is None:
            return left.total() * right.total()
        total = 0.0
        for p, value in zip(left.positions, left.values, strict=True):
            row = self.table[p]
            total += value * sum(
                other * row[q] for q, other in zip(right.positions, right.values, strict=True)
            )
        return total


def longest_subsequences(
    a: list[int], b: list[int], decay: float, max_length: int | None, steps: Steps
) -> Iterator[Subsequence]:
    """Yield, longest first, for every pair of equal elements a subsequence that runs through it.

    It is a longest one and, among these, the closest together. What is itself a subsequence of
    another one found is left out. Every element that can be matched is in at least one.
    """
    full = (a, b)
    a, b = _affordable(a, b, steps)
    ahead, back = _longest_paths(a, b), _longest_paths(a[::-1], b[::-1])
    found: dict[tuple[int, ...], float] = {}
    covered: set[tuple[int, int]] = set()
    for p, q in sorted(ahead, key=lambda pair: (-_through(pair, a, b, ahead, back), pair)):
        if (p, q) in covered:
            continue
        path = _path(a, b, (p, q), ahead, back)
        if not steps.take(len(path)):
            break
        if max_length is not None:
            path = _window(path, path.index((p, q)), max_length)
        covered.update(path)
        symbols = tuple(a[i] for i, _ in path)
        found[symbols] = max(_value_along(path, decay), found.get(symbols, 0.0))
    kept: list[tuple[int, ...]] = []
    for symbols in sorted(found, key=lambda some: (-len(some), -found[some])):
        if not any(len(other) > len(symbols) and _is_within(symbols, other) for other in kept):
            kept.append(symbols)
            yield _weigh(*full, symbols, decay, found[symbols])


_Pair = tuple[int, int]
# For a pair of equal elements: length of the best chain that starts there, minus the sum of the
# positions where it ends, and the pair it goes on to.
_Paths = dict[_Pair, tuple[int, int, _Pair | None]]


def _affordable(a: list[int], b: list[int], steps: Steps) -> tuple[list[int], list[int]]:
    """Return the sequences, or their beginnings if aligning them takes too many steps."""
    if 4 * len(a) * len(b) > steps.left:
        steps.exceeded = True
        side = max(1, isqrt(steps.left // 4))
        a, b = a[:side], b[:side]
    steps.take(2 * len(a) * len(b))
    return a, b


def _longest_paths(a: list[int], b: list[int]) -> _Paths:
    """Return for each pair of equal elements the longest chain of such pairs that starts there."""
    paths: _Paths = {}
    # best[q]: the best chain that starts below the current row, at column q or later.
    best: list[tuple[int, int, _Pair | None]] = [(0, 0, None)] * (len(b) + 1)
    for p in range(len(a) - 1, -1, -1):
        now = best[:]
        for q in range(len(b) - 1, -1, -1):
            if now[q + 1][:2] > now[q][:2]:
                now[q] = now[q + 1]
            if a[p] == b[q]:
                length, end, follower = best[q + 1]
                chain = (length + 1, -(p + q) if follower is None else end)
                paths[p, q] = (*chain, follower)
                if chain > now[q][:2]:
                    now[q] = (*chain, (p, q))
        best = now
    return paths


def _through(pair: _Pair, a: list[int], b: list[int], ahead: _Paths, back: _Paths) -> int:
    mirrored = (len(a) - 1 - pair[0], len(b) - 1 - pair[1])
    return ahead[pair][0] + back[mirrored][0] - 1


def _path(a: list[int], b: list[int], pair: _Pair, ahead: _Paths, back: _Paths) -> list[_Pair]:
    before: list[_Pair] = []
    step = back[len(a) - 1 - pair[0], len(b) - 1 - pair[1]][2]
    while step is not None:
        before.append((len(a) - 1 - step[0], len(b) - 1 - step[1]))
        step = back[step][2]
    after: list[_Pair] = []
    step = ahead[pair][2]
    while step is not None:
        after.append(step)
        step = ahead[step][2]
    return [*before[::-1], pair, *after]


def _window(path: list[_Pair], through: int, length: int) -> list[_Pair]:
    """Return the stretch of ``length`` pairs around one that lies closest together."""
    starts = range(max(0, through - length + 1), min(through, len(path) - length) + 1)
    if not starts:
        return path

    def span(start: int) -> int:
        first, last = path[start], path[start + length - 1]
        return last[0] - first[0] + last[1] - first[1]

    start = min(starts, key=span)
    return path[start : start + length]


def _value_along(path: list[_Pair], decay: float) -> float:
    """Return what the kernel counts along one alignment: its pairs, and all ways to skip some."""
    total, sums = 0.0, 0.0
    last: _Pair | None = None
    for p, q in path:
        if last is not None:
            sums *= decay ** (p - last[0] + q - last[1])
        total += 1 + sums
        sums += 1 + sums
        last = (p, q)
    return total


def _weigh(
    a: list[int], b: list[int], symbols: tuple[int, ...], decay: float, covers: float
) -> Subsequence:
    sides: tuple[_Ends, _Ends] | None = None
    for symbol in symbols:
        sides = dict(_extend(a, b, decay, sides))[symbol]
    if sides is None:
        raise AssertionError("a shared subsequence has at least one element")
    weight = sides[0].total() * sides[1].total()
    return Subsequence(symbols, weight, sum(sides[0].counts), sum(sides[1].counts), covers)


def _is_within(short: tuple[int, ...], long: tuple[int, ...]) -> bool:
    rest = iter(long)
    return all(symbol in rest for symbol in short)
