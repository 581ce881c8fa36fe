"""Fragments that the forest kernel counts, by their expected counts over all trees.

Nodes of both forests are packed into one table, so that what is equal is looked at once. From
there on a fragment is looked for as in trees, but for two things: a node offers several
hyper-edges, each with its probability given the node, and so counts are no whole numbers.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from kernelwood.explain.fragment import Steps
from kernelwood.explain.packed_nodes import PackedNodes, counts_overflow
from kernelwood.explain.pairs import Shapes

__all__ = ["Expected", "heaviest_forest_fragments", "largest_forest_fragments"]

# (fragment, weight, expected count in a, expected count in b, value with all parts or None)
Expected = tuple[int, float, float, float, float | None]

# What is left of a count after taking away all its parts may be a rounding error of this size.
_ROUNDING = 1e-11


# The heaviest fragments.

# Nodes found where a fragment may still grow -> how often, in a tree of either forest. A fragment
# stands in a forest in many ways; those that differ only where it is complete count as one.
_Row = tuple[tuple[int, ...], tuple[float, float]]
_Rows = dict[tuple[int, ...], tuple[float, float]]


@dataclass(slots=True)
class _Growing:
    """A fragment: its parent, expanded by a production at one slot.

    Slots are its nodes, numbered in the order in which they were added.
    """

    parent: _Growing | None
    slot: int
    production: int
    size: int
    weight: float
    counts: tuple[float, float]
    n_slots: int = 0
    slots: list[int] = field(default_factory=list)  # where it may still grow
    rows: _Rows = field(default_factory=dict)


class _Search:
    def __init__(self, packed: PackedNodes, decay: float, steps: Steps) -> None:
        self.packed, self.decay, self.steps = packed, decay, steps
        self.queue: list[tuple[float, int, int, _Growing]] = []
        self.serial = 0
        self.stopped = False
        # For each node how likely each production is there.
        self.chances = [
            {kind: sum(packed.chances[edge] for edge in edges) for kind, edges in options.items()}
            for options in packed.options
        ]
        self.by_production: list[list[int]] = [[] for _ in packed.productions]
        for edge, kind in enumerate(packed.kinds):
            self.by_production[kind].append(edge)

    def start(self) -> None:
        """Queue the single productions."""
        for production in range(len(self.by_production)):
            roots = self._roots(production)
            sums = [sum(counts[side] for _, counts in roots) for side in (0, 1)]
            self._push(None, 0, production, sums)

    def _roots(self, production: int) -> list[_Row]:
        """Return where the hyper-edges of a production lead to, with their expected counts."""
        counts_a, counts_b = self.packed.counts
        found = []
        for edge in self.by_production[production]:
            head, chance = self.packed.heads[edge], self.packed.chances[edge]
            counts = counts_a[head] * chance, counts_b[head] * chance
            found.append((self.packed.children[edge], counts))
        return found

    def _push(self, parent: _Growing | None, slot: int, production: int, sums: list[float]) -> None:
        """Queue a fragment if both forests have it; among equals the larger comes first."""
        if not (sums[0] > 0 and sums[1] > 0):
            return
        size = 1 if parent is None else parent.size + 1
        weight = self.decay**size * sums[0] * sums[1]
        grown = _Growing(parent, slot, production, size, weight, (sums[0], sums[1]))
        self.serial += 1
        heappush(self.queue, (-weight, -size, self.serial, grown))

    def grow(self, fragment: _Growing) -> None:
        """Queue what the fragment becomes by expanding one more node, while there are steps."""
        if self.stopped or not self._open(fragment):
            self.stopped = True
            return
        live = []
        for place, slot in enumerate(fragment.slots):
            sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
            for row, (one, other) in fragment.rows.items():
                for production, chance in self.chances[row[place]].items():
                    sums[production][0] += one * chance
                    sums[production][1] += other * chance
            before = self.serial
            for production, both in sums.items():
                self._push(fragment, slot, production, both)
            if self.serial > before:
                live.append(place)
        if len(live) < len(fragment.slots):
            fragment.slots = [fragment.slots[place] for place in live]
            picked = [(tuple([row[p] for p in live]), n) for row, n in fragment.rows.items()]
            fragment.rows = _merged(picked)

    def _open(self, fragment: _Growing) -> bool:
        """Work out where the fragment stands, put off until it is its turn."""
        parent, production = fragment.parent, fragment.production
        first = 1 if parent is None else parent.n_slots
        fragment.n_slots = first + len(self.packed.productions[production]) - 1
        fragment.slots = list(range(first, fragment.n_slots))
        if parent is None:
            if not self.steps.take(1 + len(self.by_production[production]) * len(fragment.slots)):
                return False
            fragment.rows = _merged(self._roots(production))
            return True
        place = parent.slots.index(fragment.slot)
        fragment.slots = parent.slots[place + 1 :] + fragment.slots
        edges = [self.packed.options[row[place]].get(production, []) for row in parent.rows]
        n_grown = sum(len(some) for some in edges)
        if not self.steps.take(1 + len(edges) + n_grown * len(fragment.slots)):
            return False
        grown = []
        for (row, (one, other)), some in zip(parent.rows.items(), edges, strict=True):
            for edge in some:
                chance = self.packed.chances[edge]
                nodes = row[place + 1 :] + self.packed.children[edge]
                grown.append((nodes, (one * chance, other * chance)))
        fragment.rows = _merged(grown)
        return True


def _merged(rows: list[_Row]) -> _Rows:
    merged: _Rows = {}
    for row, (one, other) in rows:
        before = merged.get(row, (0.0, 0.0))
        merged[row] = before[0] + one, before[1] + other
    return merged


def heaviest_forest_fragments(
    packed: PackedNodes, shapes: Shapes, decay: float, steps: Steps
) -> Iterator[Expected]:
    """Yield fragments from the heaviest on.

    Growing a fragment can only lower its weight, so that a queue hands them out in order. Nodes
    are expanded in the order in which they were added; hence every fragment is reached in one
    way only. When the steps are used up, fragments no longer grow and those queued are handed
    out.
    """
    search = _Search(packed, decay, steps)
    search.start()
    while search.queue:
        fragment = heappop(search.queue)[3]
        yield _shape(fragment, packed, shapes), fragment.weight, *fragment.counts, None
        search.grow(fragment)


def _shape(fragment: _Growing, packed: PackedNodes, shapes: Shapes) -> int:
    """Put the fragment together from the productions that led to it."""
    expansions: list[tuple[int, tuple[int, ...], int]] = []
    step: _Growing | None = fragment
    while step is not None:
        first = 1 if step.parent is None else step.parent.n_slots
        expansions.append((step.slot, packed.productions[step.production], first))
        step = step.parent
    made: dict[int, int] = {}
    for slot, (head, *below), first in expansions:  # what was added last stands lowest
        parts = [made.get(first + k, ~label) for k, label in enumerate(below)]
        made[slot] = shapes.add(head, tuple(parts))
    return made[0]


# The largest fragments.


class _EdgePairs:
    """Pairs of hyper-edges with equal productions, those below first, and what they share.

    The fragment of a pair goes on, at each pair of children, by the two hyper-edges there that
    share most. These, as often as they occur below the pair, are inside it; the others have
    fragments of their own. So the pairs fall into regions as those of trees do (see `Pairs`).
    """

    def __init__(self, packed: PackedNodes, shapes: Shapes, decay: float) -> None:
        self.packed, self.shapes, self.decay = packed, shapes, decay
        self.deltas: dict[int, float] = {}  # by pair of nodes, see `_key`
        self.best: dict[int, int] = {}  # the pair of hyper-edges that shares most, likewise
        self.chances: list[float] = []  # of both hyper-edges given their heads
        self.times: list[float] = []
        self.values: list[float] = []
        self.fragments: list[int] = []
        self.parts: list[tuple[int, ...]] = []

    def _key(self, one: int, other: int) -> int:
        return one * len(self.packed.options) + other

    def add(self, one: int, other: int) -> None:
        """Add a pair of hyper-edges."""
        packed, best = self.packed, self.best
        value, parts, inside = self.decay, [], []
        head, *labels = packed.productions[packed.kinds[one]]
        below = zip(packed.children[one], packed.children[other], labels, strict=True)
        for child, twin, label in below:
            key = self._key(child, twin)
            if key in best:
                value *= 1 + self.deltas[key]
                inside.append(best[key])
                parts.append(self.fragments[best[key]])
            else:
                parts.append(~label)
        nodes = packed.heads[one], packed.heads[other]
        key = self._key(*nodes)
        chance = packed.chances[one] * packed.chances[other]
        self.deltas[key] = self.deltas.get(key, 0.0) + chance * value
        rival = best.get(key)
        if rival is None or chance * value > self.chances[rival] * self.values[rival]:
            best[key] = len(self.values)
        self.chances.append(chance)
        self.times.append(packed.counts[0][nodes[0]] * packed.counts[1][nodes[1]] * chance)
        self.values.append(value)
        self.fragments.append(self.shapes.add(head, tuple(parts)))
        self.parts.append(tuple(inside))

    def largest(self) -> dict[int, float]:
        """Return the fragments that are not just part of others, with the value of their regions.

        Raises
        ------
        KernelOverflowError
            If a value exceeds the range of a double.
        """
        free, totals = list(self.times), list(self.values)
        for number, parts in enumerate(self.parts):
            for part in parts:
                free[part] -= self.times[number] * self.chances[part]
                totals[number] += self.chances[part] * totals[part]
        covers: dict[int, float] = defaultdict(float)
        for number, fragment in enumerate(self.fragments):
            if free[number] > _ROUNDING * self.times[number]:
                covers[fragment] += free[number] * totals[number]
        if not all(math.isfinite(cover) for cover in covers.values()):
            raise counts_overflow()
        return covers


def largest_forest_fragments(
    packed: PackedNodes, shapes: Shapes, decay: float, steps: Steps
) -> Iterator[Expected]:
    """Yield the largest fragments at pairs of hyper-edges with equal productions."""
    pairs = _EdgePairs(packed, shapes, decay)
    for ends in packed.candidates().within(steps, steps.left // 2):
        pairs.add(*ends)
    covers = pairs.largest()
    counter = _ExpectedCounts(packed, shapes)
    for shape in sorted(covers, key=lambda each: (-shapes.n_nodes[each], -covers[each])):
        counts = counter.count(shape, steps)
        if counts is not None:
            weight = decay ** shapes.n_inner[shape] * counts[0] * counts[1]
            yield shape, weight, *counts, covers[shape]


class _ExpectedCounts:
    """Counts how often fragments are to be expected in a tree of each forest."""

    def __init__(self, packed: PackedNodes, shapes: Shapes) -> None:
        self.shapes = shapes
        self.heads = np.array(packed.heads, dtype=np.int64)
        self.chances = np.array(packed.chances)
        self.counts = np.array(packed.counts)
        widths = [len(children) for children in packed.children]
        self.starts = np.cumsum([0, *widths])
        self.children = np.array([c for some in packed.children for c in some], dtype=np.int64)
        by_production = defaultdict(list)
        for edge, kind in enumerate(packed.kinds):
            by_production[packed.productions[kind]].append(edge)
        self.edges = {labels: np.array(edges) for labels, edges in by_production.items()}

    def count(self, shape: int, steps: Steps) -> tuple[float, float] | None:
        """Return the counts in both forests, or None if that would take too many steps."""
        inside = self.shapes.inside(shape)
        candidates = [self.edges[self._labels(number)] for number in inside]
        # Whole arrays at once: some forty comparisons cost as much as one step in Python.
        if not steps.take(sum(10 + edges.size // 40 for edges in candidates)):
            return None
        uses = Counter(p for number in inside for p in self.shapes.keys[number][1] if p >= 0)
        # Fragment -> the nodes it is found at, in order, and how often there.
        found: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for number, edges in zip(inside, candidates, strict=True):
            values = self.chances[edges]
            for k, part in enumerate(self.shapes.keys[number][1]):
                if part >= 0:
                    values *= _look_up(self.children[self.starts[edges] + k], *found[part])
                    uses[part] -= 1
                    if not uses[part]:
                        del found[part]
            heads = self.heads[edges]
            firsts = np.flatnonzero(np.diff(heads, prepend=-1))
            found[number] = heads[firsts], np.add.reduceat(values, firsts)
        nodes, values = found[shape]
        return float(self.counts[0, nodes] @ values), float(self.counts[1, nodes] @ values)

    def _labels(self, number: int) -> tuple[int, ...]:
        head, parts = self.shapes.keys[number]
        return (head, *(self.shapes.keys[part][0] if part >= 0 else ~part for part in parts))


def _look_up(
    wanted: NDArray[np.int64], keys: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the values of some keys, zero where there is none; the known keys are in order."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(np.where(keys[places] == wanted, values[places], 0.0))
