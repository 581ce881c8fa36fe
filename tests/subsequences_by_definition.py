"""The longest shared subsequences in plain Python, which the native search must equal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import isqrt, prod

import kernelwood as kw
from kernelwood.explain import sequence_text
from kernelwood.explain.pairing import Matching, Steps
from kernelwood.explain.sequence_fragments import Subsequence, _Ends, _extend_in


def longest_fragments(kernel, a, b, top, max_steps):
    """Return the fragments of a raw kernel by size, and whether the steps were used up.

    A fragment is text, structure, counterpart, weight, counts, covers and similarity; ``covers``
    is not divided by the raw value.
    """
    symbols = {}
    left, right = ([symbols.setdefault(x, len(symbols)) for x in side] for side in (a, b))
    used = list(dict.fromkeys(left)), list(dict.fromkeys(right))
    steps = Steps(max_steps)
    matching = Matching(kernel, [(node, edge) for edge, node in symbols], used, steps)
    elements = list(symbols)
    found = longest_subsequences(left, right, matching, kernel.decay, kernel.max_length, steps)
    fragments = []
    for pairs, weight, count_a, count_b, covers in islice(found, top):
        part, other = ([elements[matching.pairs[p][side]] for p in pairs] for side in (0, 1))
        similarities = [matching.similarities[p] for p in pairs]
        text = sequence_text(part, other, similarities, (a, b))
        twin = None if part == other else kw.Sequence(other)
        counts = count_a, count_b
        made = (text, kw.Sequence(part), twin, weight, counts, covers, prod(similarities))
        fragments.append(made)
    return fragments, steps.exceeded


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
