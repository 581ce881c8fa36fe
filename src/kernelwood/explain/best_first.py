"""All fragments that the subset tree kernel counts, heaviest first.

A fragment grows by expanding one of the nodes at which it is cut off. It weighs
``decay ** productions * count_a * count_b``, which growing can only lower, so that a queue ordered
by weight hands the fragments out in exactly that order without ever listing them all. Nodes are
expanded breadth first and from left to right; hence every fragment is reached in one way only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from kernelwood.explain.classes import Classes
from kernelwood.explain.fragment import Steps
from kernelwood.explain.pairs import Shapes

__all__ = ["heaviest_subset_trees"]


@dataclass(slots=True)
class _Slot:
    """A node where a fragment may still grow: its number in breadth-first order, and the classes
    found there, one for each root of an occurrence in the first and in the second tree.
    """

    number: int
    classes: tuple[list[int], list[int]]


@dataclass(slots=True)
class _Growing:
    """A fragment: its parent, expanded at one slot where ``kept`` occurrences go on."""

    parent: _Growing | None
    slot: _Slot
    kept: tuple[list[int], list[int]]
    n_productions: int
    counts: tuple[int, int]
    n_slots: int = 0
    roots: tuple[list[int], list[int]] = ([], [])
    slots: list[_Slot] | None = None


class _Search:
    def __init__(self, classes: Classes, decay: float) -> None:
        self.classes, self.decay = classes, decay
        self.queue: list[tuple[float, int, int, _Growing | int]] = []
        self.serial = 0

    def push(self, weight: float, size: int, what: _Growing | int) -> None:
        """Queue a fragment (or a leaf class); among equals the larger comes first."""
        self.serial += 1
        heappush(self.queue, (-weight, -size, self.serial, what))

    def start(self, *, count_leaves: bool) -> None:
        """Queue the single productions, and the leaves if they count."""
        counts_a, counts_b = self.classes.counts
        for group in self.classes.groups(self.classes.productions):
            indices = (list(range(len(group[0]))), list(range(len(group[1]))))
            self._push_grown(None, _Slot(0, group), indices, group)
        for index, children in enumerate(self.classes.children):
            if count_leaves and not children and counts_a[index] and counts_b[index]:
                self.push(self.decay * counts_a[index] * counts_b[index], 1, index)

    def grow(self, fragment: _Growing, steps: Steps) -> None:
        """Queue what the fragment becomes by expanding one more node."""
        slots = self._open(fragment)
        if not steps.take(1 + sum(len(s.classes[0]) + len(s.classes[1]) for s in slots)):
            return
        for slot in slots:
            left, right = (self._by_production(side) for side in slot.classes)
            for production in left:
                if production in right:
                    kept = (left[production], right[production])
                    self._push_grown(fragment, slot, kept, fragment.roots)

    def _push_grown(
        self,
        parent: _Growing | None,
        slot: _Slot,
        kept: tuple[list[int], list[int]],
        roots: tuple[list[int], list[int]],
    ) -> None:
        counts_a, counts_b = self.classes.counts
        counts = (
            sum(counts_a[roots[0][i]] for i in kept[0]),
            sum(counts_b[roots[1][i]] for i in kept[1]),
        )
        size = 1 if parent is None else parent.n_productions + 1
        grown = _Growing(parent, slot, kept, size, counts)
        grown.roots = roots  # of the parent, until the fragment is opened
        self.push(self.decay**size * counts[0] * counts[1], size, grown)

    def _by_production(self, classes: list[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for i, index in enumerate(classes):
            if self.classes.productions[index] >= 0:
                found[self.classes.productions[index]].append(i)
        return found

    def _open(self, fragment: _Growing) -> list[_Slot]:
        """Work out where the fragment can grow, put off until it is its turn."""
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


def _pick(
    both: tuple[list[int], list[int]], kept: tuple[list[int], list[int]]
) -> tuple[list[int], list[int]]:
    return [both[0][i] for i in kept[0]], [both[1][i] for i in kept[1]]


def heaviest_subset_trees(
    classes: Classes, shapes: Shapes, decay: float, steps: Steps, *, count_leaves: bool
) -> Iterator[tuple[int, float, int, int, None]]:
    """Yield fragment, weight, counts in both trees, and None, from the heaviest on.

    When the steps are used up, fragments no longer grow and those queued are handed out.
    """
    search = _Search(classes, decay)
    search.start(count_leaves=count_leaves)
    counts_a, counts_b = classes.counts
    while search.queue:
        weight, _, _, what = heappop(search.queue)
        if isinstance(what, int):
            leaf = shapes.add(classes.heads[what], ())
            yield leaf, -weight, counts_a[what], counts_b[what], None
            continue
        yield _shape(what, classes, shapes), -weight, *what.counts, None
        if not steps.exceeded:
            search.grow(what, steps)


def _shape(fragment: _Growing, classes: Classes, shapes: Shapes) -> int:
    """Put the fragment together from the expansions that led to it."""
    expansions: dict[int, int] = {}  # slot -> a class with the production it was expanded by
    step: _Growing | None = fragment
    while step is not None:
        expansions[step.slot.number] = step.slot.classes[0][step.kept[0][0]]
        step = step.parent
    parts: dict[int, list[int]] = {}
    n_slots = 1
    for slot in sorted(expansions):
        n_children = len(classes.children[expansions[slot]])
        parts[slot] = list(range(n_slots, n_slots + n_children))
        n_slots += n_children
    made: dict[int, int] = {}
    for slot in sorted(expansions, reverse=True):
        children = classes.children[expansions[slot]]
        made[slot] = shapes.add(
            classes.heads[expansions[slot]],
            tuple(
                made.get(part, ~classes.heads[child])
                for part, child in zip(parts[slot], children, strict=True)
            ),
        )
    return made[0]
