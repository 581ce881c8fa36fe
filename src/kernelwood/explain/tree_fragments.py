"""Fragments of the tree kernels: subtrees, subset trees, partial trees and rooted trees."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice, product
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.explain.pairing import (
    Candidates,
    Classes,
    Head,
    HeadPairs,
    Matching,
    Pairs,
    Shapes,
    Steps,
    Weighted,
)
from kernelwood.kernels import PartialTreeKernel
from kernelwood.structures import Tree

# Production of the first tree -> production of the second -> factor of a fragment that is expanded
# by them at a pair of nodes. Without the similarity of these two nodes, which is a factor already
# before the expansion.
_ProductionMatches = dict[int, dict[int, float]]

_Sides = tuple[list[int], list[int]]
_Table = list[list[float]]


def subtrees(
    classes: Classes, shapes: Shapes, decay: float, steps: Steps, *, largest: bool
) -> Iterator[Weighted]:
    """Yield the complete subtrees two trees share; in linear time with exact matching."""
    pairs = Pairs(classes.counts)
    for ends in _equal_subtrees(classes, shapes, steps):
        _add_subtree(classes, shapes, pairs, ends, decay)
    yield from pairs.weighted(largest=largest)


def _equal_subtrees(classes: Classes, shapes: Shapes, steps: Steps) -> Iterator[tuple[int, int]]:
    """Yield the pairs of subtrees that may match: equal ones, or those of equal form."""
    soft = shapes.matching.is_soft
    keys = _forms(classes) if soft else list(range(len(classes)))
    keys = [key if children else -1 for key, children in zip(keys, classes.children, strict=True)]
    same = np.arange(len(classes))
    candidates = Candidates(classes, keys, (same, same), shapes.matching.pair_cost)
    return candidates.within(steps, steps.left) if soft else candidates.ends()


def _forms(classes: Classes) -> list[int]:
    """Return a number for the form of each subtree: its shape and edges, without node labels."""
    known: dict[tuple[str, tuple[int, ...]], int] = {}
    forms: list[int] = []
    for head, children in zip(classes.heads, classes.children, strict=True):
        key = (classes.labels[head][1], tuple(forms[child] for child in children))
        forms.append(known.setdefault(key, len(known)))
    return forms


def _add_subtree(
    classes: Classes, shapes: Shapes, pairs: Pairs, ends: tuple[int, int], decay: float
) -> None:
    """Add a pair of subtrees of equal form if all their nodes match."""
    matching = shapes.matching
    value, parts, inside = decay * matching.match(*(classes.heads[end] for end in ends)), [], []
    matched = value > 0
    for child, other in zip(*(classes.children[end] for end in ends), strict=True):
        number = pairs.numbers.get((child, other))
        if number is not None:
            inside.append(number)
            parts.append(pairs.fragments[number])
            value *= pairs.values[number]
        elif classes.children[child]:
            return
        else:
            similarity = matching.similarity(classes.heads[child], classes.heads[other])
            matched = matched and similarity > 0
            value *= similarity
            parts.append(~matching.pair(classes.heads[child], classes.heads[other]))
    if not matched:
        return
    if matching.is_plain:  # as a power, which rounds once
        value = decay ** classes.n_inner[ends[0]]
    pair = matching.pair(*(classes.heads[end] for end in ends))
    pairs.add(ends, value, shapes.add(pair, tuple(parts)), inside)


def largest_subset_trees(
    classes: Classes, shapes: Shapes, decay: float, steps: Steps, *, count_leaves: bool
) -> Iterator[Weighted]:
    """Yield the largest fragments at pairs of nodes with matching productions, largest first."""
    matches = _match_productions(classes, shapes.matching, decay, steps)
    pair_cost = shapes.matching.pair_cost
    candidates = Candidates(classes, classes.productions, _as_arrays(matches), pair_cost)
    ends_within = candidates.within(steps, steps.left // 2)
    pairs = Pairs(classes.counts)
    if count_leaves:
        _add_leaves(classes, shapes, pairs, decay, steps)
    for ends in ends_within:
        _add_pair(classes, shapes, pairs, ends, decay)
    found = [each for each in pairs.found() if each.is_largest]
    found.sort(key=lambda each: (-shapes.n_nodes[each.shape], -each.covers))
    occurrences = _Occurrences(classes, shapes)
    for each in found:
        counts = occurrences.count(each.shape, steps)
        if counts is not None:
            weight = _factor(each.shape, shapes, decay) * counts[0] * counts[1]
            yield each.shape, weight, *counts, each.covers


def _factor(shape: int, shapes: Shapes, decay: float) -> float:
    """Return the weight of one pair of occurrences of a subset tree."""
    matching = shapes.matching
    if matching.is_plain:
        return float(decay ** max(1, shapes.n_inner[shape]))  # a leaf counts as one production
    made: dict[int, float] = {}
    for number in shapes.inside(shape):
        pair, parts = shapes.keys[number]
        made[number] = decay * matching.matches[pair]
        for part in parts:
            made[number] *= made[part] if part >= 0 else matching.similarities[~part]
    return made[shape]


def _leaf_pairs(classes: Classes, shapes: Shapes, steps: Steps) -> list[tuple[int, int]]:
    """Return the pairs of leaves that match; soft matching takes at most half of the steps."""
    keys = [
        -1 if children else head
        for head, children in zip(classes.heads, classes.children, strict=True)
    ]
    cost = shapes.matching.pair_cost
    candidates = Candidates(classes, keys, shapes.matching.head_pairs(), cost)
    if not shapes.matching.is_soft:
        return list(candidates.ends())
    found = list(islice(candidates.ends(), steps.left // 2 // cost))
    steps.take(len(found) * cost)
    steps.exceeded = steps.exceeded or len(found) * cost < candidates.cost(None)
    return found


def _add_leaves(classes: Classes, shapes: Shapes, pairs: Pairs, decay: float, steps: Steps) -> None:
    matching = shapes.matching
    for ends in _leaf_pairs(classes, shapes, steps):
        pair = matching.pair(*(classes.heads[end] for end in ends))
        pairs.add(ends, decay * matching.matches[pair], shapes.add(pair, ()), [])


def _add_pair(
    classes: Classes, shapes: Shapes, pairs: Pairs, ends: tuple[int, int], decay: float
) -> None:
    """Add a pair with matching productions: its Delta, and its largest fragment."""
    matching = shapes.matching
    pair = matching.pair(*(classes.heads[end] for end in ends))
    delta, parts, inside = decay * matching.matches[pair], [], []
    for child, other in zip(*(classes.children[end] for end in ends), strict=True):
        cut = matching.pair(classes.heads[child], classes.heads[other])
        number = pairs.numbers.get((child, other))
        if number is not None:
            inside.append(number)
        if number is not None and classes.children[child]:
            delta *= matching.similarities[cut] + pairs.values[number]
            parts.append(pairs.fragments[number])
        else:
            delta *= matching.similarities[cut]
            parts.append(~cut)
    pairs.add(ends, delta, shapes.add(pair, tuple(parts)), inside)


def _match_productions(
    classes: Classes, matching: Matching, decay: float, steps: Steps
) -> _ProductionMatches:
    """Return the matching productions of two trees, with at most half of the steps left."""
    if not matching.is_soft:
        factors = [decay * matching.matches[heads[0]] for heads in classes.production_heads]
        return {number: {number: factor} for number, factor in enumerate(factors) if factor}
    left, right = (
        sorted({p for p, n in zip(classes.productions, counts, strict=True) if n and p >= 0})
        for counts in classes.counts
    )
    partners: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number in right:
        partners[_edges(classes, number)].append(number)
    columns = {
        edges: np.array([classes.production_heads[number] for number in some]).T
        for edges, some in partners.items()
    }
    found: _ProductionMatches = {}
    reserved = steps.left // 2
    for number in left:
        edges = _edges(classes, number)
        if edges not in columns:
            continue
        values = _growth(matching, classes.production_heads[number], columns[edges]) * decay
        positive = np.flatnonzero(values)
        # About forty comparisons of arrays take the time of one step in Python.
        if steps.left < reserved or not steps.take(
            1 + values.size // 40 + positive.size * matching.pair_cost
        ):
            steps.exceeded = True
            break
        found[number] = {partners[edges][i]: float(values[i]) for i in positive.tolist()}
    return found


def _edges(classes: Classes, production: int) -> tuple[str, ...]:
    """Return the edges of a production, which must be equal in matching productions."""
    return tuple(classes.labels[head][1] for head in classes.production_heads[production])


def _growth(
    matching: Matching, heads: tuple[int, ...], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    root = matching.table[matching.rows[heads[0]], matching.columns[others[0]]]
    values: NDArray[np.float64] = matching.gates[heads[0]] * matching.gates[others[0]] * (root > 0)
    for head, column in zip(heads[1:], others[1:], strict=True):
        values *= matching.table[matching.rows[head], matching.columns[column]]
    return values


def _as_arrays(matches: _ProductionMatches) -> HeadPairs:
    """Return the matching productions as two arrays."""
    left = [one for one, others in matches.items() for _ in others]
    right = [other for others in matches.values() for other in others]
    return np.array(left, dtype=np.int64), np.array(right, dtype=np.int64)


class _Occurrences:
    """Counts of occurrences of fragments in two trees."""

    def __init__(self, classes: Classes, shapes: Shapes) -> None:
        self.classes, self.shapes = classes, shapes
        self.starts = np.zeros(len(classes) + 1, dtype=np.int64)
        np.cumsum([len(children) for children in classes.children], out=self.starts[1:])
        self.children = np.array([c for some in classes.children for c in some], dtype=np.int64)
        self.counts = np.array(classes.counts, dtype=np.int64)
        self.by_production: dict[int, list[int]] = {}
        for index, production in enumerate(classes.productions):
            self.by_production.setdefault(production, []).append(index)
        self.by_heads = {
            (
                classes.heads[some[0]],
                *(classes.heads[c] for c in classes.children[some[0]]),
            ): np.array(some, dtype=np.int64)
            for production, some in self.by_production.items()
            if production >= 0
        }

    def count(self, shape: int, steps: Steps) -> tuple[int, int] | None:
        """Return the counts in both trees, or None if they cost too many steps."""
        inside = self.shapes.inside(shape)
        # With exact matching, both sides have the same candidates.
        sides = (0, 1) if self.shapes.matching.is_soft else (0,)
        candidates = [[self._candidates(number, side) for number in inside] for side in sides]
        # About forty comparisons of arrays take the time of one step in Python.
        if not steps.take(sum(10 + one.size // 40 for some in candidates for one in some)):
            return None
        roots = [self._roots(inside, some) for some in candidates]
        return int(self.counts[0, roots[0]].sum()), int(self.counts[1, roots[-1]].sum())

    def _roots(self, inside: list[int], candidates: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        matches: dict[int, NDArray[np.int64]] = {}
        roots = np.empty(0, dtype=np.int64)
        for number, roots in zip(inside, candidates, strict=True):
            for k, part in enumerate(self.shapes.keys[number][1]):
                if part >= 0:
                    roots = roots[_among(self.children[self.starts[roots] + k], matches[part])]
            matches[number] = roots
        return roots

    def _candidates(self, number: int, side: int) -> NDArray[np.int64]:
        pair, parts = self.shapes.keys[number]
        below = (self.shapes.keys[part][0] if part >= 0 else ~part for part in parts)
        heads = tuple(self.shapes.matching.pairs[each][side] for each in (pair, *below))
        if parts:
            return self.by_heads[heads]
        same = [i for i in self.by_production.get(-1, ()) if self.classes.heads[i] == heads[0]]
        return np.array(same, dtype=np.int64)


def _among(values: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which values are in a sorted, non-empty array."""
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[places] == values)


def heaviest_subset_trees(
    classes: Classes, shapes: Shapes, decay: float, steps: Steps, *, count_leaves: bool
) -> Iterator[tuple[int, float, int, int, None]]:
    """Yield the fragments that the subset tree kernel counts, heaviest first.

    A fragment grows by expanding one of its leaves that has children in the trees. Its weight,
    ``decay ** productions * count_a * count_b``, cannot increase by growing, so a queue ordered by
    weight yields the fragments in that order without listing them all. Nodes are expanded breadth
    first and from left to right, so that every fragment is reached once.

    With soft matching, a fragment has labels of both trees, and every pair of labels adds a factor
    of at most 1. Gates may be larger: then the queue is ordered by the largest weight that a
    fragment can reach by growing. When the steps are used up, fragments no longer grow, and those
    queued are yielded.
    """
    search = _Search(classes, shapes, decay, steps)
    search.start(count_leaves=count_leaves)
    while search.queue:
        most, _, _, what = heappop(search.queue)
        if isinstance(what, tuple):
            count_a, count_b = (classes.counts[side][what[side]] for side in (0, 1))
            pair = shapes.matching.pair(*(classes.heads[end] for end in what))
            yield shapes.add(pair, ()), -most, count_a, count_b, None
            continue
        if -most > what.weight:
            # Larger fragments may be heavier: queue this one again by its own weight.
            search.push(what.weight, what.n_productions, what)
            search.grow(what)
            continue
        yield _shape(what, classes, shapes), what.weight, *what.counts, None
        search.grow(what)


@dataclass(slots=True)
class _Slot:
    """A node where a fragment may grow: its number in breadth-first order, and its classes, one
    for each root of an occurrence in the first and in the second tree.
    """

    number: int
    classes: _Sides


@dataclass(slots=True)
class _Growing:
    """A fragment: its parent, expanded at one slot, with the ``kept`` occurrences.

    ``factor`` is the weight of one pair of occurrences.
    """

    parent: _Growing | None
    slot: _Slot
    kept: _Sides
    n_productions: int
    factor: float
    weight: float
    counts: tuple[int, int]
    roots: _Sides  # of the parent, until the fragment is opened
    n_slots: int = 0
    slots: list[_Slot] | None = None
    has_grown: bool = False


class _Search:
    def __init__(self, classes: Classes, shapes: Shapes, decay: float, steps: Steps) -> None:
        self.classes, self.shapes, self.matching = classes, shapes, shapes.matching
        self.decay, self.steps = decay, steps
        self.matches = _match_productions(classes, shapes.matching, decay, steps)
        self.queue: list[tuple[float, int, int, _Growing | tuple[int, int]]] = []
        self.serial = 0
        self.stopped = False
        self.gains = self._gains()

    def _gains(self) -> list[float] | None:
        """Return the largest gain of one side of a fragment below each class, None for none."""
        unit = sqrt(self.decay)
        if (unit * self.matching.gates <= 1).all():
            return None
        gains: list[float] = []
        for head, children in zip(self.classes.heads, self.classes.children, strict=True):
            gain = unit * float(self.matching.gates[head]) if children else 0.0
            for child in children:
                gain *= gains[child]
            gains.append(max(1.0, gain))
        return gains

    def push(self, most: float, size: int, what: _Growing | tuple[int, int]) -> None:
        """Queue a fragment (or a pair of leaves); ties go to the larger."""
        self.serial += 1
        heappush(self.queue, (-most, -size, self.serial, what))

    def start(self, *, count_leaves: bool) -> None:
        """Queue the single productions, and the leaves if the kernel counts them."""
        heads, by_production = self.classes.heads, self._all_by_production()
        for one, others in self.matches.items():
            for other, factor in others.items():
                group = by_production[0].get(one), by_production[1].get(other)
                if group[0] is None or group[1] is None:
                    continue
                both = group[0], group[1]
                factor *= self.matching.similarity(heads[both[0][0]], heads[both[1][0]])
                indices = (list(range(len(both[0]))), list(range(len(both[1]))))
                self._push_grown(None, _Slot(0, both), indices, both, factor)
        for ends in _leaf_pairs(self.classes, self.shapes, self.steps) if count_leaves else ():
            match = self.matching.match(heads[ends[0]], heads[ends[1]])
            counts = [self.classes.counts[side][ends[side]] for side in (0, 1)]
            self.push(self.decay * match * counts[0] * counts[1], 1, ends)

    def _all_by_production(self) -> list[dict[int, list[int]]]:
        found: list[dict[int, list[int]]] = [defaultdict(list), defaultdict(list)]
        for side, counts in enumerate(self.classes.counts):
            for index, production in enumerate(self.classes.productions):
                if production >= 0 and counts[index]:
                    found[side][production].append(index)
        return found

    def grow(self, fragment: _Growing) -> None:
        """Queue the fragments with one more expanded node, while there are steps."""
        if self.stopped or fragment.has_grown:
            return
        fragment.has_grown = True
        slots = self._open(fragment)
        if not self.steps.take(1 + _size(slots)):
            self.stopped = True
            return
        for slot in slots:
            left, right = (self._by_production(side) for side in slot.classes)
            for one, indices in left.items():
                options = self.matches.get(one, {})
                for other in right if len(right) < len(options) else options:
                    if other in right and other in options:
                        if self.matching.is_soft and not self.steps.take(self.matching.pair_cost):
                            self.stopped = True
                            return
                        kept = (indices, right[other])
                        factor = fragment.factor * options[other]
                        self._push_grown(fragment, slot, kept, fragment.roots, factor)

    def _push_grown(
        self, parent: _Growing | None, slot: _Slot, kept: _Sides, roots: _Sides, factor: float
    ) -> None:
        counts_a, counts_b = self.classes.counts
        counts = (
            sum(counts_a[roots[0][i]] for i in kept[0]),
            sum(counts_b[roots[1][i]] for i in kept[1]),
        )
        size = 1 if parent is None else parent.n_productions + 1
        if self.matching.is_plain:  # as a power, which rounds once
            factor = self.decay**size
        weight = factor * counts[0] * counts[1]
        grown = _Growing(parent, slot, kept, size, factor, weight, counts, roots)
        self.push(weight if self.gains is None else self._most(grown), size, grown)

    def _most(self, fragment: _Growing) -> float:
        """Return an upper bound of the weights of the fragment and of all that grow from it."""
        slots = self._open(fragment)
        if self.gains is None or not self.steps.take(_size(slots)):
            return fragment.weight
        most = fragment.factor
        for side in (0, 1):
            total = 0.0
            for i, root in enumerate(fragment.roots[side]):
                gain = float(self.classes.counts[side][root])
                for slot in slots:
                    gain *= self.gains[slot.classes[side][i]]
                total += gain
            most *= total
        return max(fragment.weight, most)  # in this order the weight also replaces NaN

    def _by_production(self, classes: list[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for i, index in enumerate(classes):
            if self.classes.productions[index] >= 0:
                found[self.classes.productions[index]].append(i)
        return found

    def _open(self, fragment: _Growing) -> list[_Slot]:
        """Return where the fragment can grow; computed when it is needed."""
        if fragment.slots is not None:
            return fragment.slots
        parent, kept, slot = fragment.parent, fragment.kept, fragment.slot
        fragment.roots = _pick(fragment.roots, kept)
        later = [] if parent is None else [s for s in parent.slots or [] if s.number > slot.number]
        slots = [_Slot(s.number, _pick(s.classes, kept)) for s in later]
        expanded = _pick(slot.classes, kept)
        first = 1 if parent is None else parent.n_slots
        children = self.classes.children
        fragment.n_slots = first + len(children[expanded[0][0]])
        for k in range(len(children[expanded[0][0]])):
            below = tuple([children[c][k] for c in side] for side in expanded)
            slots.append(_Slot(first + k, (below[0], below[1])))
        fragment.slots = [s for s in slots if all(self._can_grow(side) for side in s.classes)]
        return fragment.slots

    def _can_grow(self, classes: list[int]) -> bool:
        return any(self.classes.productions[index] >= 0 for index in classes)


def _size(slots: list[_Slot]) -> int:
    return sum(len(slot.classes[0]) + len(slot.classes[1]) for slot in slots)


def _pick(both: _Sides, kept: _Sides) -> _Sides:
    return [both[0][i] for i in kept[0]], [both[1][i] for i in kept[1]]


def _shape(fragment: _Growing, classes: Classes, shapes: Shapes) -> int:
    """Return the number of the fragment made by the expansions that led to it."""
    pair, heads = shapes.matching.pair, classes.heads
    # Slot -> a class of each tree with the production of the expansion.
    expansions: dict[int, tuple[int, int]] = {}
    step: _Growing | None = fragment
    while step is not None:
        one, other = (step.slot.classes[side][step.kept[side][0]] for side in (0, 1))
        expansions[step.slot.number] = one, other
        step = step.parent
    parts: dict[int, list[int]] = {}
    n_slots = 1
    for slot in sorted(expansions):
        n_children = len(classes.children[expansions[slot][0]])
        parts[slot] = list(range(n_slots, n_slots + n_children))
        n_slots += n_children
    made: dict[int, int] = {}
    for slot in sorted(expansions, reverse=True):
        one, other = expansions[slot]
        below = zip(parts[slot], classes.children[one], classes.children[other], strict=True)
        made[slot] = shapes.add(
            pair(heads[one], heads[other]),
            tuple(
                made[part] if part in made else ~pair(heads[child], heads[twin])
                for part, child, twin in below
            ),
        )
    return made[0]


def partial_trees(
    classes: Classes, shapes: Shapes, kernel: PartialTreeKernel, steps: Steps, *, largest: bool
) -> Iterator[Weighted]:
    """Yield the fragments shared by pairs of nodes with matching labels, weighted by Delta.

    The kernel matches any subsequence of a node's children, so its fragments are too many to list.
    Instead, every pair of matching nodes counts for the largest fragment at that pair: children
    are aligned from left to right for the largest sum of similarities.
    """
    matching = shapes.matching
    candidates = Candidates(classes, classes.heads, matching.head_pairs(), matching.pair_cost)
    pairs = Pairs(classes.counts)
    for one, other in candidates.within(steps, steps.left, children=True):
        children, others = classes.children[one], classes.children[other]
        numbers = [[pairs.numbers.get((c, d), -1) for d in others] for c in children]
        pair = matching.pair(classes.heads[one], classes.heads[other])
        value = _delta(numbers, pairs.values, bool(children), bool(others), kernel)
        inside = _align(numbers, pairs, shapes)
        parts = tuple(pairs.fragments[number] for number in inside)
        value *= matching.matches[pair]
        pairs.add((one, other), value, shapes.add(pair, parts), inside)
    yield from pairs.weighted(largest=largest)


def _delta(
    numbers: list[list[int]],
    values: list[float],
    inner: bool,
    also: bool,
    kernel: PartialTreeKernel,
) -> float:
    """Return Delta of two nodes with match 1 from the Deltas of their children."""
    decay = kernel.decay
    if not (inner and also):
        power = 2 if inner or also else kernel.leaf_power
        return float(kernel.depth_decay * decay**power * kernel.terminal_factor)
    # Factor of a subsequence of one child, and of each step to an adjacent child.
    once = decay**2 if kernel.decay_over == "span" else 1.0
    total = decay**2
    above = [0.0] * (len(numbers[0]) + 1)
    for row in numbers:
        sums, in_row = [0.0], 0.0
        for j, number in enumerate(row):
            in_row *= decay
            if number >= 0:
                ending = values[number] * once * (1 + above[j])
                total += ending
                in_row += ending
            sums.append(in_row + decay * above[j + 1])
        above = sums
    return kernel.depth_decay * total


def _align(numbers: list[list[int]], pairs: Pairs, shapes: Shapes) -> list[int]:
    """Return the pairs of the alignment of children with the largest sum of similarities."""
    if not numbers or not numbers[0]:
        return []
    sizes = [[shapes.scores[pairs.fragments[n]] if n >= 0 else 0.0 for n in row] for row in numbers]
    best = [[0.0] * (len(sizes[0]) + 1)]
    for row in sizes:
        last, now = best[-1], [0.0]
        for j, size in enumerate(row):
            now.append(max(last[j] + size, last[j + 1], now[j]))
        best.append(now)
    aligned = []
    i, j = len(sizes), len(sizes[0])
    while i and j:
        if numbers[i - 1][j - 1] >= 0 and best[i][j] == best[i - 1][j - 1] + sizes[i - 1][j - 1]:
            aligned.append(numbers[i - 1][j - 1])
            i, j = i - 1, j - 1
        elif best[i][j] == best[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return aligned[::-1]


class _Node(NamedTuple):
    """A node of a tree: the number of its head, and the positions of its children."""

    head: int
    children: list[int]


def number_nodes(trees: tuple[Tree, Tree]) -> tuple[list[Head], list[list[_Node]]]:
    """Return the heads of two trees, and the nodes of each in pre-order."""
    heads: dict[Head, int] = {}
    numbered = []
    for tree in trees:
        nodes: list[_Node] = []
        for node in tree.preorder():
            below, place = [], len(nodes) + 1
            for child in node.children:
                below.append(place)
                place += child.n_nodes
            nodes.append(_Node(heads.setdefault((node.label, node.edge), len(heads)), below))
        numbered.append(nodes)
    return list(heads), numbered


def rooted_trees(
    nodes: list[list[_Node]],
    shapes: Shapes,
    decay: float,
    steps: Steps,
    *,
    contiguous: bool,
    largest: bool,
) -> Iterator[Weighted]:
    """Yield the fragments of the rooted tree kernel, at pairs of nodes reached from the roots.

    The kernel is linear in the values of the pairs of children, so each pair adds the product of
    the factors on the path to it, and these sum to the raw value.
    """
    left, right = nodes
    matching = shapes.matching
    reached = _reach(nodes, matching, decay, steps, contiguous=contiguous)
    pairs = Pairs(([1] * len(left), [1] * len(right)))
    for one, other in reversed(reached):
        children, others = left[one].children, right[other].children
        numbers = [[pairs.numbers.get((c, d), -1) for d in others] for c in children]
        inside = _align(numbers, pairs, shapes)
        parts = tuple(pairs.fragments[number] for number in inside)
        pair = matching.pair(left[one].head, right[other].head)
        value = reached[one, other] * matching.matches[pair] ** 2
        pairs.add((one, other), value, shapes.add(pair, parts), inside)
    yield from pairs.weighted(largest=largest)


def _reach(
    nodes: list[list[_Node]], matching: Matching, decay: float, steps: Steps, *, contiguous: bool
) -> dict[tuple[int, int], float]:
    """Return the factor of every pair reached from the roots, parents first."""
    left, right = nodes
    if not matching.match(left[0].head, right[0].head):
        return {}
    reached = {(0, 0): 1.0}
    waiting = deque(reached)
    while waiting:
        one, other = waiting.popleft()
        children, others = left[one].children, right[other].children
        if not steps.take(len(children) * len(others) * matching.pair_cost):
            continue
        own = reached[one, other] * matching.match(left[one].head, right[other].head)
        heads = [right[d].head for d in others]
        match = [matching.match_all(left[c].head, heads) for c in children]
        factors = _factors(match, decay, contiguous=contiguous)
        for (i, c), (j, d) in product(enumerate(children), enumerate(others)):
            if match[i][j]:
                reached[c, d] = own * factors[i][j]
                waiting.append((c, d))
    return reached


def _factors(match: _Table, decay: float, *, contiguous: bool) -> _Table:
    """Return the summed weights of the subsequences that contain each pair of children."""
    before = _chains(match, decay, contiguous=contiguous)
    turned = [row[::-1] for row in match[::-1]]
    after = [row[::-1] for row in _chains(turned, decay, contiguous=contiguous)[::-1]]
    return [
        [decay * k * b * a for k, b, a in zip(*rows, strict=True)]
        for rows in zip(match, before, after, strict=True)
    ]


def _chains(match: _Table, decay: float, *, contiguous: bool) -> _Table:
    """Return the summed weights of the subsequences that may precede each pair, plus 1."""
    table: _Table = []
    sums = [0.0] * (len(match[0]) + 1 if match else 1)
    for i, row in enumerate(match):
        if contiguous:
            diagonal = [match[i - 1][j - 1] if i and j else 0.0 for j in range(len(row))]
            table.append(
                [1 + (decay * k * table[i - 1][j - 1] if k else 0) for j, k in enumerate(diagonal)]
            )
            continue
        table.append([1 + sums[j] for j in range(len(row))])
        now, in_row = [0.0], 0.0
        for j, k in enumerate(row):
            in_row += decay * k * table[i][j] if k else 0.0
            now.append(in_row + sums[j + 1])
        sums = now
    return table
