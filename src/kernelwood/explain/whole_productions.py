"""Fragments that the subtree and subset tree kernels count: whole productions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from kernelwood.explain.classes import Classes, affordable_size
from kernelwood.explain.fragment import Steps
from kernelwood.explain.pairs import Found, Pairs, Shapes

__all__ = ["Counted", "Occurrences", "largest_subset_trees", "subtrees"]

# (fragment, weight, count in a, count in b, value with all parts or None)
Counted = tuple[int, float, int, int, float | None]


def subtrees(classes: Classes, shapes: Shapes, decay: float, *, largest: bool) -> Iterator[Counted]:
    """Find the complete subtrees two trees share; linear in their nodes."""
    pairs = Pairs(classes.counts)
    counts_a, counts_b = classes.counts
    fragments: dict[int, int] = {}
    for index, children in enumerate(classes.children):
        if not (children and counts_a[index] and counts_b[index]):
            continue
        parts = tuple(fragments.get(child, ~classes.heads[child]) for child in children)
        fragments[index] = shapes.add(classes.heads[index], parts)
        inside = [pairs.numbers[child, child] for child in children if child in fragments]
        value = decay ** classes.n_inner[index]
        pairs.add((index, index), value, fragments[index], inside)
    for found in pairs.found():
        if found.is_largest or not largest:
            count_a, count_b = _count_roots(found, classes)
            covers = found.covers if largest else None
            yield found.shape, found.weight, count_a, count_b, covers


def _count_roots(found: Found, classes: Classes) -> tuple[int, int]:
    count_a, count_b = (
        sum(classes.counts[side][root] for root in found.roots[side]) for side in (0, 1)
    )
    return count_a, count_b


def largest_subset_trees(
    classes: Classes, shapes: Shapes, decay: float, steps: Steps, *, count_leaves: bool
) -> Iterator[Counted]:
    """Find the largest fragments at every pair of nodes with equal productions, largest first."""

    def cost(max_nodes: int | None) -> int:
        groups = classes.groups(classes.productions, max_nodes)
        return sum(len(one) * len(other) for one, other in groups)

    max_nodes, spent = affordable_size(classes, cost, steps.left // 2)
    steps.take(spent)
    steps.exceeded = steps.exceeded or max_nodes is not None
    pairs = Pairs(classes.counts)
    if count_leaves:
        _add_leaves(classes, shapes, pairs, decay)
    groups = classes.groups(classes.productions, max_nodes)
    deltas: dict[int, float] = {}
    # Children have smaller numbers than parents.
    for ends in sorted(ends for group in groups for ends in product(*group)):
        _add_pair(classes, shapes, pairs, deltas, ends, decay)
    found = [each for each in pairs.found() if each.is_largest]
    found.sort(key=lambda each: (-shapes.n_nodes[each.shape], -each.covers))
    occurrences = Occurrences(classes, shapes)
    for each in found:
        counts = occurrences.count(each.shape, steps)
        if counts is not None:
            n_productions = max(1, shapes.n_inner[each.shape])  # a leaf costs as much as one
            weight = decay**n_productions * counts[0] * counts[1]
            yield each.shape, weight, *counts, each.covers


def _add_leaves(classes: Classes, shapes: Shapes, pairs: Pairs, decay: float) -> None:
    for index, children in enumerate(classes.children):
        if not children and classes.counts[0][index] and classes.counts[1][index]:
            pairs.add((index, index), decay, shapes.add(classes.heads[index], ()), [])


def _add_pair(
    classes: Classes,
    shapes: Shapes,
    pairs: Pairs,
    deltas: dict[int, float],
    ends: tuple[int, int],
    decay: float,
) -> None:
    """Add a pair with equal productions: its Delta, and its fragment going down where it can."""
    delta, parts, inside = decay, [], []
    for child, other in zip(classes.children[ends[0]], classes.children[ends[1]], strict=True):
        number = pairs.numbers.get((child, other))
        if number is not None:
            inside.append(number)
        if number is not None and classes.children[child]:
            delta *= 1 + deltas[number]
            parts.append(pairs.fragments[number])
        else:
            parts.append(~classes.heads[child])
    deltas[len(pairs.ends)] = delta
    pairs.add(ends, delta, shapes.add(classes.heads[ends[0]], tuple(parts)), inside)


class Occurrences:
    """Counts how often fragments occur in two trees.

    Parameters
    ----------
    classes, shapes
        The subtrees of the two trees, and the fragments.
    """

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
        """Return the counts in both trees, or None if that would take too many steps."""
        inside = self.shapes.inside(shape)
        candidates = [self._candidates(number) for number in inside]
        # Whole arrays at once: some forty comparisons cost as much as one step in Python.
        if not steps.take(sum(10 + some.size // 40 for some in candidates)):
            return None
        matches: dict[int, NDArray[np.int64]] = {}
        roots = np.empty(0, dtype=np.int64)
        for number, roots in zip(inside, candidates, strict=True):
            for k, part in enumerate(self.shapes.keys[number][1]):
                if part >= 0:
                    roots = roots[_among(self.children[self.starts[roots] + k], matches[part])]
            matches[number] = roots
        count_a, count_b = self.counts[:, roots].sum(axis=1).tolist()
        return count_a, count_b

    def _candidates(self, number: int) -> NDArray[np.int64]:
        head, parts = self.shapes.keys[number]
        heads = (head, *(self.shapes.keys[part][0] if part >= 0 else ~part for part in parts))
        if parts:
            return self.by_heads[heads]
        same = [i for i in self.by_production.get(-1, ()) if self.classes.heads[i] == head]
        return np.array(same, dtype=np.int64)


def _among(values: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which values are in a sorted, non-empty array."""
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[places] == values)
