"""Subsequences shared by two sequences.

The weight of a subsequence u is the product of its values in the two sequences, each the sum over
its occurrences of ``decay ** (last index - first index)``; all weights sum to the raw value.

With soft matching, u is a pair of equally long subsequences, and every pair of elements adds its
match (similarity and gates) as a factor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from heapq import heappop, heappush
from math import isqrt
from typing import NamedTuple

from kernelwood.explain.pairing import Matching, Steps


class Subsequence(NamedTuple):
    """A shared subsequence (numbers of pairs of elements), its weight, its counts, and its value
    with all parts (or None).
    """

    pairs: tuple[int, ...]
    weight: float
    count_a: int
    count_b: int
    covers: float | None


class _Ends(NamedTuple):
    """Last positions of the occurrences of a subsequence, with their values and counts."""

    positions: list[int]
    values: list[float]
    counts: list[int]

    def total(self) -> float:
        return sum(self.values)

    def times(self, factor: float) -> _Ends:
        if factor == 1:
            return self
        return self._replace(values=[factor * value for value in self.values])


_BothEnds = tuple[_Ends, _Ends]  # the values of the first include the matches of all elements


def heaviest_subsequences(
    a: list[int],
    b: list[int],
    matching: Matching,
    decay: float,
    max_length: int | None,
    steps: Steps,
) -> Iterator[Subsequence]:
    """Yield the shared subsequences, heaviest first.

    The queue is ordered by an upper bound on the weight of a subsequence and its continuations:
    the sum of all these weights, from one table over both sequences. If the table costs too many
    steps, the weight itself is used, and the order is not guaranteed.
    """
    bound = _Bound(a, b, matching, decay, steps)
    queue: list[tuple[float, int, tuple[int, ...], _BothEnds, bool]] = []
    serial = 0
    for pair, sides in _extend(a, b, matching, decay, steps, None):
        serial += 1
        heappush(queue, (-bound(*sides), serial, (pair,), sides, False))
    while queue:
        weight, number, pairs, sides, is_final = heappop(queue)
        if is_final:
            yield Subsequence(pairs, -weight, sum(sides[0].counts), sum(sides[1].counts), None)
            continue
        weight = sides[0].total() * sides[1].total()
        heappush(queue, (-weight, number, pairs, sides, True))
        longest = max_length is not None and len(pairs) >= max_length
        if longest or not steps.take(len(a) + len(b)):
            continue
        for pair, grown in _extend(a, b, matching, decay, steps, sides):
            serial += 1
            heappush(queue, (-bound(*grown), serial, (*pairs, pair), grown, False))


def _extend(
    a: list[int],
    b: list[int],
    matching: Matching,
    decay: float,
    steps: Steps,
    sides: _BothEnds | None,
) -> list[tuple[int, _BothEnds]]:
    """Return every pair of elements that can follow, with the new ends."""
    left, right = (
        _extend_in(sequence, decay, None if sides is None else sides[side])
        for side, sequence in enumerate((a, b))
    )
    others = list(right)
    grown: list[tuple[int, _BothEnds]] = []
    for one, ends in left.items():
        following = others if matching.is_soft else [one] if one in right else []
        for other, match in zip(following, matching.match_all(one, following), strict=True):
            if match and matching.is_soft and not steps.take(matching.pair_cost):
                return grown
            if match:
                grown.append((matching.pair(one, other), (ends.times(match), right[other])))
    return grown


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
    """Summed weight of a subsequence and all its continuations."""

    def __init__(
        self, a: list[int], b: list[int], matching: Matching, decay: float, steps: Steps
    ) -> None:
        self.table: list[list[float]] | None = None
        # At least half of the steps is for the search itself.
        if len(a) * len(b) > steps.left // 2 or not steps.take(len(a) * len(b)):
            steps.exceeded = True
            return
        # table[p][q]: sum over all that may follow positions p and q, plus 1 for nothing.
        below = [0.0] * (len(b) + 1)
        table = []
        for symbol in reversed(a):
            row, sums, in_row = [], [0.0], 0.0
            matches = matching.match_all(symbol, b)
            for q in range(len(b) - 1, -1, -1):
                row.append(1 + decay**2 * below[q + 1])
                in_row = decay * in_row + (matches[q] * row[-1] if matches[q] else 0.0)
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
    a: list[int],
    b: list[int],
    matching: Matching,
    decay: float,
    max_length: int | None,
    steps: Steps,
) -> Iterator[Subsequence]:
    """Yield a longest subsequence through every matching pair of elements, longest first.

    Length is the sum of the similarities of the elements; ties go to the shortest span. Parts of
    another subsequence found are left out. Every element with a match is in at least one.
    """
    full = (a, b)
    a, b = _affordable(a, b, steps)
    matches = [matching.match_all(symbol, b) for symbol in a]
    scores = _scores(a, b, matches, matching)
    ahead, back = _longest_paths(scores), _longest_paths([row[::-1] for row in scores[::-1]])
    found: dict[tuple[int, ...], float] = {}
    covered: set[tuple[int, int]] = set()
    for p, q in sorted(ahead, key=lambda pair: (-_through(pair, scores, ahead, back), pair)):
        if (p, q) in covered:
            continue
        path = _path((len(a), len(b)), (p, q), ahead, back)
        if not steps.take(len(path)):
            break
        if max_length is not None:
            path = _window(path, path.index((p, q)), max_length)
        covered.update(path)
        pairs = tuple(matching.pair(a[i], b[j]) for i, j in path)
        found[pairs] = max(_value_along(path, matches, decay), found.get(pairs, 0.0))
    kept: list[tuple[int, ...]] = []
    for pairs in sorted(found, key=lambda some: (-len(some), -found[some])):
        if not any(len(other) > len(pairs) and _is_within(pairs, other) for other in kept):
            kept.append(pairs)
            yield _weigh(*full, pairs, matching, decay, found[pairs])


def _scores(a: list[int], b: list[int], matches: _Table, matching: Matching) -> _Table:
    """Return the similarities of matching elements, 0 for others."""
    if not matching.is_soft:
        return [[float(match > 0) for match in row] for row in matches]
    return [
        [matching.similarity(one, b[q]) if match else 0.0 for q, match in enumerate(row)]
        for one, row in zip(a, matches, strict=True)
    ]


_Table = list[list[float]]
_Pair = tuple[int, int]
# For a pair of matching elements: length of the best chain that starts there, minus the sum of its
# last positions, and the next pair.
_Paths = dict[_Pair, tuple[float, int, _Pair | None]]


def _affordable(a: list[int], b: list[int], steps: Steps) -> tuple[list[int], list[int]]:
    """Return the sequences, cut if their alignment costs too many steps."""
    if 4 * len(a) * len(b) > steps.left:
        steps.exceeded = True
        side = max(1, isqrt(steps.left // 4))
        a, b = a[:side], b[:side]
    steps.take(2 * len(a) * len(b))
    return a, b


def _longest_paths(scores: _Table) -> _Paths:
    """Return the longest chain of matching pairs that starts at each matching pair."""
    paths: _Paths = {}
    width = len(scores[0]) if scores else 0
    # best[q]: the best chain that starts below the current row, at column q or later.
    best: list[tuple[float, int, _Pair | None]] = [(0.0, 0, None)] * (width + 1)
    for p in range(len(scores) - 1, -1, -1):
        now = best[:]
        for q in range(width - 1, -1, -1):
            if now[q + 1][:2] > now[q][:2]:
                now[q] = now[q + 1]
            if scores[p][q]:
                length, end, follower = best[q + 1]
                chain = (length + scores[p][q], -(p + q) if follower is None else end)
                paths[p, q] = (*chain, follower)
                if chain > now[q][:2]:
                    now[q] = (*chain, (p, q))
        best = now
    return paths


def _mirrored(pair: _Pair, sizes: tuple[int, int]) -> _Pair:
    return sizes[0] - 1 - pair[0], sizes[1] - 1 - pair[1]


def _through(pair: _Pair, scores: _Table, ahead: _Paths, back: _Paths) -> float:
    mirrored = _mirrored(pair, (len(scores), len(scores[0])))
    return ahead[pair][0] + back[mirrored][0] - scores[pair[0]][pair[1]]


def _path(sizes: tuple[int, int], pair: _Pair, ahead: _Paths, back: _Paths) -> list[_Pair]:
    before: list[_Pair] = []
    step = back[_mirrored(pair, sizes)][2]
    while step is not None:
        before.append(_mirrored(step, sizes))
        step = back[step][2]
    after: list[_Pair] = []
    step = ahead[pair][2]
    while step is not None:
        after.append(step)
        step = ahead[step][2]
    return [*before[::-1], pair, *after]


def _window(path: list[_Pair], through: int, length: int) -> list[_Pair]:
    """Return the ``length`` consecutive pairs around one pair that have the shortest span."""
    starts = range(max(0, through - length + 1), min(through, len(path) - length) + 1)
    if not starts:
        return path

    def span(start: int) -> int:
        first, last = path[start], path[start + length - 1]
        return last[0] - first[0] + last[1] - first[1]

    start = min(starts, key=span)
    return path[start : start + length]


def _value_along(path: list[_Pair], matches: _Table, decay: float) -> float:
    """Return the kernel value along one alignment: all its subsequences."""
    total, sums = 0.0, 0.0
    last: _Pair | None = None
    for p, q in path:
        if last is not None:
            sums *= decay ** (p - last[0] + q - last[1])
        ending = matches[p][q] * (1 + sums)
        total += ending
        sums += ending
        last = (p, q)
    return total


def _weigh(
    a: list[int],
    b: list[int],
    pairs: tuple[int, ...],
    matching: Matching,
    decay: float,
    covers: float,
) -> Subsequence:
    left: _Ends | None = None
    right: _Ends | None = None
    for pair in pairs:
        one, other = matching.pairs[pair]
        left = _extend_in(a, decay, left)[one].times(matching.matches[pair])
        right = _extend_in(b, decay, right)[other]
    if left is None or right is None:
        raise AssertionError("a shared subsequence has at least one element")
    weight = left.total() * right.total()
    return Subsequence(pairs, weight, sum(left.counts), sum(right.counts), covers)


def _is_within(short: tuple[int, ...], long: tuple[int, ...]) -> bool:
    rest = iter(long)
    return all(pair in rest for pair in short)
