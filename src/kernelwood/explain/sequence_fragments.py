"""Subsequences shared by two sequences.

The weight of a subsequence u is the product of its values in the two sequences, each the sum over
its occurrences of ``decay ** (last index - first index)``; all weights sum to the raw value.

With soft matching, u is a pair of equally long subsequences, and every pair of elements adds its
match (similarity and gates) as a factor.

The longest subsequences of all pairs of two batches are found by the native core
(``sequence_fragments.hpp``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from heapq import heappop, heappush
from itertools import islice, pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.arrays import SequenceBatch
from kernelwood.compute import Runner
from kernelwood.explain.found import Found, Part, Request, Shared, one_by_one
from kernelwood.explain.pair_sides import pair_sides
from kernelwood.explain.pairing import Matching, Steps, label_text
from kernelwood.kernels import SubsequenceKernel
from kernelwood.structures import Sequence

_EXACT = 2.0**53  # doubles below count exactly
_Element = tuple[str, str]  # edge and node of a sequence


def explain_subsequences(
    kernel: SubsequenceKernel, X: SequenceBatch, Y: SequenceBatch, request: Request
) -> Found:
    """Return the subsequences that each pair of sequences shares.

    By size, these are a longest one through each matching pair of elements, without parts of
    others.
    """
    if not request.largest:
        return _HEAVIEST(kernel, X, Y, request)
    left, right, tables = pair_sides(kernel, X, Y)
    search = partial(
        _native.longest_subsequences,
        left.native,
        right.native,
        tables,
        float(kernel.decay),
        int(kernel.max_length or 0),
        int(request.top or 0),
        request.max_steps,
    )
    found = Runner(kernel.n_jobs, 0).call(search, cost=int(np.dot(X.sizes, Y.sizes)))
    return _LongestFound(found, left, right).found()


class _LongestFound:
    """What the native core found, as text and structures.

    Parameters
    ----------
    found : FoundSubsequences
        Numbers of fragments and elements; positions of the elements.
    left, right : PairSide
        The sequences.
    """

    def __init__(self, found: Any, left: Any, right: Any) -> None:
        self.native = found
        self.left = left.elements(found.left)
        self.right = right.elements(found.right)
        self.similarities: list[float] = found.similarity.tolist()
        self.ends = np.concatenate([[0], np.cumsum(found.n_elements)]).tolist()
        self.sides = left, right

    def found(self) -> Found:
        """Return the fragments of each pair."""
        native = self.native
        spelled = self._spelled()
        bounds = list(pairwise(self.ends))
        rows = zip(
            native.weight.tolist(),
            self._counts(native.count_a, 0),
            self._counts(native.count_b, 1),
            native.covers.tolist(),
            bounds,
            strict=True,
        )
        single = self.similarities.count(1.0) == len(self.similarities)
        shared = [
            Shared(
                "".join(spelled[begin:end]),
                weight,
                a,
                b,
                covers,
                end - begin,
                1.0 if single else prod(self.similarities[begin:end]),
                number,
            )
            for number, (weight, a, b, covers, (begin, end)) in enumerate(rows)
        ]
        each = np.concatenate([[0], np.cumsum(native.n_fragments)]).tolist()
        fragments = [shared[begin:end] for begin, end in pairwise(each)]
        return Found(fragments, native.exceeded.astype(np.bool_), self._structures)

    def _spelled(self) -> list[str]:
        """Return the text of each element with what separates it from the one before."""
        after_gap = self.native.after_gap.tolist()
        firsts = set(self.ends)
        rows = zip(self.left, self.right, self.similarities, after_gap, strict=True)
        return [
            ("" if k in firsts else " … " if gap else " ") + _word(one, other, similarity)
            for k, (one, other, similarity, gap) in enumerate(rows)
        ]

    def _structures(self, number: int) -> tuple[Part, Part]:
        some = slice(*self.ends[number : number + 2])
        return Sequence(self.left[some]), Sequence(self.right[some])

    def _counts(self, counts: NDArray[np.float64], side: int) -> list[int]:
        """Return counts of occurrences, those counted again that are too large for a double."""
        large = np.flatnonzero(~(counts < _EXACT)).tolist()
        whole = [0 if count >= _EXACT else int(count) for count in counts.tolist()]
        pairs = np.repeat(np.arange(len(self.native.n_fragments)), self.native.n_fragments)
        for number in large:
            some = slice(*self.ends[number : number + 2])
            chosen = (self.left, self.right)[side][some]
            whole[number] = _count(chosen, self.sides[side].structure(int(pairs[number])))
        return whole


def _word(one: _Element, other: _Element, similarity: float) -> str:
    edge, node = one
    word = f"{edge}:{node}" if edge else node
    return word if node == other[1] else label_text(word, other[1], similarity)


def _count(chosen: list[_Element], whole: Sequence) -> int:
    """Return the number of occurrences of a subsequence."""
    counts = [1] + [0] * len(chosen)
    for element in whole:
        for k in range(len(chosen) - 1, -1, -1):
            if element == chosen[k]:
                counts[k + 1] += counts[k]
    return counts[-1]


def _explain_heaviest(
    kernel: SubsequenceKernel, a: Sequence, b: Sequence, request: Request
) -> tuple[list[tuple[Shared, tuple[Part, Part]]], bool]:
    symbols: dict[_Element, int] = {}
    left, right = ([symbols.setdefault(x, len(symbols)) for x in side] for side in (a, b))
    used = list(dict.fromkeys(left)), list(dict.fromkeys(right))
    steps = Steps(request.max_steps)
    matching = Matching(kernel, [(node, edge) for edge, node in symbols], used, steps)
    elements = list(symbols)
    found = heaviest_subsequences(left, right, matching, kernel.decay, kernel.max_length, steps)
    fragments: list[tuple[Shared, tuple[Part, Part]]] = []
    for pairs, weight, count_a, count_b, covers in islice(found, request.top):
        part, other = ([elements[matching.pairs[p][side]] for p in pairs] for side in (0, 1))
        similarities = [matching.similarities[p] for p in pairs]
        text = sequence_text(part, other, similarities, (a, b))
        size, similarity = len(part), prod(similarities)
        shared = Shared(text, weight, count_a, count_b, covers, size, similarity, 0)
        fragments.append((shared, (Sequence(part), Sequence(other))))
    return fragments, steps.exceeded


_HEAVIEST = one_by_one(_explain_heaviest)


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


def sequence_text(
    left: list[_Element],
    right: list[_Element],
    similarities: list[float],
    wholes: tuple[Sequence, Sequence],
) -> str:
    """Return a subsequence as text, with ``…`` where it is not contiguous in both sequences.

    Parameters
    ----------
    left, right : list of (str, str)
        Its elements (edge, node) in the first and in the second sequence.
    similarities : list of float
        Similarities of these elements.
    wholes : pair of Sequence
        The two sequences.

    Examples
    --------
    >>> wholes = Sequence("the old dog sat".split()), Sequence("the cat sat".split())
    >>> left, right = ([("", "the"), ("", noun), ("", "sat")] for noun in ("dog", "cat"))
    >>> sequence_text(left, right, [1.0, 0.8, 1.0], wholes)
    'the … dog~cat (0.80) sat'
    """
    gaps = [False] * len(left)
    for chosen, whole in zip((left, right), wholes, strict=True):
        places = _tightest(chosen, whole.elements)
        for k in range(1, len(places)):
            gaps[k] = gaps[k] or places[k] - places[k - 1] > 1
    text = ""
    for k, (one, other) in enumerate(zip(left, right, strict=True)):
        word = _word(one, other, similarities[k])
        text += word if k == 0 else f" … {word}" if gaps[k] else f" {word}"
    return text


def _tightest(chosen: list[_Element], whole: tuple[_Element, ...]) -> list[int]:
    """Return the positions of the occurrence of a subsequence with the shortest span."""
    starts: list[int | None] = [None] * len(chosen)  # of the latest match of chosen[: k + 1]
    best: tuple[int, int] | None = None
    for position, element in enumerate(whole):
        for k in range(len(chosen) - 1, -1, -1):
            if element == chosen[k]:
                starts[k] = position if k == 0 else starts[k - 1]
        start = starts[-1] if chosen and element == chosen[-1] else None
        if start is not None and (best is None or position - start < best[1] - best[0]):
            best = (start, position)
    if best is None:
        return []
    places = [best[1]]
    for element in reversed(chosen[:-1]):
        # From the end backwards, every element as late as possible: gaps move to the front.
        places.append(next(p for p in range(places[-1] - 1, -1, -1) if whole[p] == element))
    return places[::-1]
