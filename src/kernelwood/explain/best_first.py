"""All fragments that the subset tree kernel counts, heaviest first.

A fragment grows by expanding one of the nodes at which it is cut off. It weighs
``decay ** productions * count_a * count_b``, which growing can only lower, so that a queue ordered
by weight hands the fragments out in exactly that order without ever listing them all. Nodes are
expanded breadth first and from left to right; hence every fragment is reached in one way only.

Where labels match softly, a fragment is one of the first tree and one of the second, and every
pair of labels adds a factor. These factors are at most 1, but gates may be larger: then the queue
is ordered by the most that a fragment can weigh after growing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import sqrt

from kernelwood.explain.classes import Classes
from kernelwood.explain.fragment import Steps
from kernelwood.explain.pairs import Shapes
from kernelwood.explain.productions import match_productions
from kernelwood.explain.whole_productions import leaf_pairs

__all__ = ["heaviest_subset_trees"]

_Sides = tuple[list[int], list[int]]


@dataclass(slots=True)
class _Slot:
    """A node where a fragment may still grow: its number in breadth-first order, and the classes
    found there, one for each root of an occurrence in the first and in the second tree.
    """

    number: int
    classes: _Sides


@dataclass(slots=True)
class _Growing:
    """A fragment: its parent, expanded at one slot where ``kept`` occurrences go on.

    ``factor`` is what one pair of occurrences weighs.
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
        self.matches = match_productions(classes, shapes.matching, decay, steps)
        self.queue: list[tuple[float, int, int, _Growing | tuple[int, int]]] = []
        self.serial = 0
        self.stopped = False
        self.gains = self._gains()

    def _gains(self) -> list[float] | None:
        """Return by how much one side of a fragment can gain below each class, None for nothing."""
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
        """Queue a fragment (or a pair of leaves); among equals the larger comes first."""
        self.serial += 1
        heappush(self.queue, (-most, -size, self.serial, what))

    def start(self, *, count_leaves: bool) -> None:
        """Queue the single productions, and the leaves if they count."""
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
        for ends in leaf_pairs(self.classes, self.shapes, self.steps) if count_leaves else ():
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
        """Queue what the fragment becomes by expanding one more node, while there are steps."""
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
        """Return a bound on the weight of the fragment and of all it can grow to."""
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
        """Work out where the fragment can grow, put off until it is its turn."""
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


def heaviest_subset_trees(
    classes: Classes, shapes: Shapes, decay: float, steps: Steps, *, count_leaves: bool
) -> Iterator[tuple[int, float, int, int, None]]:
    """Yield fragment, weight, counts in both trees, and None, from the heaviest on.

    When the steps are used up, fragments no longer grow and those queued are handed out.
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
            # What grows from it may be heavier: its turn comes by its own weight.
            search.push(what.weight, what.n_productions, what)
            search.grow(what)
            continue
        yield _shape(what, classes, shapes), what.weight, *what.counts, None
        search.grow(what)


def _shape(fragment: _Growing, classes: Classes, shapes: Shapes) -> int:
    """Put the fragment together from the expansions that led to it."""
    pair, heads = shapes.matching.pair, classes.heads
    # Slot -> a class of each tree with the production it was expanded by.
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
