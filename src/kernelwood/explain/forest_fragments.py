"""Fragments of the forest kernel, by their expected counts over all trees.

Equal nodes of both forests are merged into one table. Fragments are found as in trees, with two
differences: a node has several hyper-edges, each with its probability given the node, and counts
are expected values, not integers.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelOverflowError
from kernelwood.explain.pairing import Candidates, Classes, Shapes, Steps, Weighted
from kernelwood.structures import (
    ONE,
    Forest,
    Scaled,
    divide,
    scaled_marginals,
    scaled_product,
    to_float,
    total,
)

# Relative rounding error of a count after all its parts are subtracted.
_ROUNDING = 1e-11

_Edges = tuple[tuple[float, tuple[int, ...]], ...]  # probability given the head, and children

# Nodes at which a fragment may grow -> expected counts in a tree of either forest. Occurrences that
# differ only in complete parts of the fragment are merged.
_Row = tuple[tuple[int, ...], tuple[float, float]]
_Rows = dict[tuple[int, ...], tuple[float, float]]


@dataclass
class PackedNodes:
    """The distinct nodes of two forests and their hyper-edges, children before heads.

    Nodes are equal if their labels, their hyper-edges and all nodes below are equal.

    Attributes
    ----------
    labels : list of (str, str)
        Label by number, with an empty edge as in trees.
    productions : list of tuple of int
        Labels of head and children of each production, by number.
    counts : pair of lists of float
        Expected count of each node in a tree of the first and of the second forest.
    heights : list of int
        Largest number of hyper-edges on a path below each node.
    options : list of dict
        Hyper-edges of each node, by production.
    heads, kinds : list of int
        Head and production of each hyper-edge.
    children : list of tuple of int
        Child nodes of each hyper-edge.
    chances : list of float
        Probability of each hyper-edge given its head.
    """

    labels: list[tuple[str, str]] = field(default_factory=list)
    productions: list[tuple[int, ...]] = field(default_factory=list)
    counts: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    heights: list[int] = field(default_factory=list)
    options: list[dict[int, list[int]]] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    children: list[tuple[int, ...]] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, a: Forest, b: Forest, sharpness: float) -> PackedNodes:
        """Return the distinct nodes of two forests."""
        made = cls()
        labels: dict[str, int] = {}
        productions: dict[tuple[int, ...], int] = {}
        known: dict[tuple[int, _Edges], int] = {}
        label_of: list[int] = []
        for side, forest in enumerate((a, b)):
            counts, chances = _expectations(forest, sharpness)
            numbers: dict[int, int] = {}
            for node in forest.bottom_up():
                label = labels.setdefault(forest.labels[node], len(labels))
                edges = tuple(
                    (chances[e], tuple([numbers[child] for child in forest.edges[e][1]]))
                    for e in forest.edges_of(node)
                    if chances[e]
                )
                number = numbers[node] = known.setdefault((label, edges), len(known))
                if number == len(label_of):
                    label_of.append(label)
                    kinds = [(label, *(label_of[child] for child in below)) for _, below in edges]
                    made._add(edges, [productions.setdefault(k, len(productions)) for k in kinds])
                made.counts[side][number] += counts[node]
        made.labels = [(label, "") for label in labels]
        made.productions = list(productions)
        return made

    def _add(self, edges: _Edges, kinds: list[int]) -> None:
        node = len(self.options)
        options: dict[int, list[int]] = {}
        height = 0
        for kind, (chance, children) in zip(kinds, edges, strict=True):
            options.setdefault(kind, []).append(len(self.heads))
            self.heads.append(node)
            self.kinds.append(kind)
            self.children.append(children)
            self.chances.append(chance)
            height = max(height, 1 + max(self.heights[child] for child in children))
        self.options.append(options)
        self.heights.append(height)
        for counts in self.counts:
            counts.append(0.0)

    def candidates(self) -> Candidates:
        """Return the pairs of hyper-edges with equal productions.

        Hyper-edges are the classes, and the heights of their heads are the sizes: hyper-edges
        below are smaller.
        """
        there = [[int(counts[head] > 0) for head in self.heads] for counts in self.counts]
        edges = Classes(
            children=self.children,
            n_nodes=[self.heights[head] for head in self.heads],
            counts=(there[0], there[1]),
        )
        same = np.arange(len(self.productions))
        return Candidates(edges, self.kinds, (same, same))


def _expectations(forest: Forest, sharpness: float) -> tuple[list[float], list[float]]:
    """Return expected counts of nodes, and probabilities of hyper-edges given their heads."""
    nodes = [ONE] * forest.n_nodes
    edges = [ONE] * forest.n_edges
    for node in forest.bottom_up():
        heading = forest.edges_of(node)
        for e in heading:
            _, children, probability = forest.edges[e]
            below = [nodes[child] for child in children]
            edges[e] = scaled_product(1.0, [_power(probability, sharpness), *below])
        if heading:
            nodes[node] = total([edges[e] for e in heading])
    counts = [to_float(count) for count in scaled_marginals(forest, nodes, edges)[0]]
    if math.inf in counts:
        raise _counts_overflow()
    chances = [
        to_float(divide(score, nodes[head]))
        for score, (head, _, _) in zip(edges, forest.edges, strict=True)
    ]
    return counts, chances


def _power(base: float, exponent: float) -> Scaled:
    mantissa, scale = math.frexp(base)
    whole = math.floor(scale * exponent)
    power, shift = math.frexp(mantissa**exponent * 2.0 ** (scale * exponent - whole))
    return whole + shift, power


def _counts_overflow() -> KernelOverflowError:
    return KernelOverflowError(
        "shared_fragments: expected counts of fragments in these forests exceed the range of a "
        "double; explain smaller forests, or check why one tree uses the same node so often"
    )


def heaviest_forest_fragments(
    packed: PackedNodes, shapes: Shapes, decay: float, steps: Steps
) -> Iterator[Weighted]:
    """Yield fragments, heaviest first.

    The weight of a fragment cannot increase by growing, so a queue yields them in order. Nodes are
    expanded in the order in which they were added, so that every fragment is reached once. When
    the steps are used up, fragments no longer grow, and those queued are yielded.
    """
    search = _Search(packed, decay, steps)
    search.start()
    while search.queue:
        fragment = heappop(search.queue)[3]
        yield _shape(fragment, packed, shapes), fragment.weight, *fragment.counts, None
        search.grow(fragment)


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
        # Probability of each production at each node.
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
        """Return the children of the hyper-edges of a production, with their expected counts."""
        counts_a, counts_b = self.packed.counts
        found = []
        for edge in self.by_production[production]:
            head, chance = self.packed.heads[edge], self.packed.chances[edge]
            counts = counts_a[head] * chance, counts_b[head] * chance
            found.append((self.packed.children[edge], counts))
        return found

    def _push(self, parent: _Growing | None, slot: int, production: int, sums: list[float]) -> None:
        """Queue a fragment if it occurs in both forests; ties go to the larger."""
        if not (sums[0] > 0 and sums[1] > 0):
            return
        size = 1 if parent is None else parent.size + 1
        weight = self.decay**size * sums[0] * sums[1]
        grown = _Growing(parent, slot, production, size, weight, (sums[0], sums[1]))
        self.serial += 1
        heappush(self.queue, (-weight, -size, self.serial, grown))

    def grow(self, fragment: _Growing) -> None:
        """Queue the fragments with one more expanded node, while there are steps."""
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
        """Find the occurrences of the fragment, if there are steps; computed when needed."""
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


def _shape(fragment: _Growing, packed: PackedNodes, shapes: Shapes) -> int:
    """Return the number of the fragment made by the productions that led to it."""
    expansions: list[tuple[int, tuple[int, ...], int]] = []
    step: _Growing | None = fragment
    while step is not None:
        first = 1 if step.parent is None else step.parent.n_slots
        expansions.append((step.slot, packed.productions[step.production], first))
        step = step.parent
    made: dict[int, int] = {}
    for slot, (head, *below), first in expansions:  # the last one added is lowest
        parts = [made.get(first + k, ~label) for k, label in enumerate(below)]
        made[slot] = shapes.add(head, tuple(parts))
    return made[0]


def largest_forest_fragments(
    packed: PackedNodes, shapes: Shapes, decay: float, steps: Steps
) -> Iterator[Weighted]:
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


class _EdgePairs:
    """Pairs of hyper-edges with equal productions, lower ones first, and their fragments.

    The fragment of a pair continues, at each pair of children, by the two hyper-edges that share
    most. These are inside the pair, as often as they occur below it; others have fragments of
    their own. So the pairs form regions as in trees (see `kernelwood.explain.pairing`).
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
        """Return the fragments that are not parts of others, with the values of their regions.

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
            raise _counts_overflow()
        return covers


class _ExpectedCounts:
    """Expected counts of fragments in a tree of each forest."""

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
        """Return the counts in both forests, or None if they cost too many steps."""
        inside = self.shapes.inside(shape)
        candidates = [self.edges[self._labels(number)] for number in inside]
        # About forty comparisons of arrays take the time of one step in Python.
        if not steps.take(sum(10 + edges.size // 40 for edges in candidates)):
            return None
        uses = Counter(p for number in inside for p in self.shapes.keys[number][1] if p >= 0)
        # Fragment -> its nodes in order, and its expected counts there.
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
    """Return the values of some keys, 0 for unknown keys; the known keys are sorted."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(np.where(keys[places] == wanted, values[places], 0.0))
