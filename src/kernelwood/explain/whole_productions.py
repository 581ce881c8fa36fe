"""Fragments that the subtree and subset tree kernels count: whole productions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from kernelwood.explain.classes import Candidates, Classes
from kernelwood.explain.fragment import Steps
from kernelwood.explain.pairs import Found, Pairs, Shapes
from kernelwood.explain.productions import as_arrays, match_productions

__all__ = ["Counted", "Occurrences", "largest_subset_trees", "leaf_pairs", "subtrees"]

# (fragment, weight, count in a, count in b, value with all parts or None)
Counted = tuple[int, float, int, int, float | None]


def subtrees(
    classes: Classes, shapes: Shapes, decay: float, steps: Steps, *, largest: bool
) -> Iterator[Counted]:
    """Find the complete subtrees two trees share; linear in their nodes if labels must be equal."""
    pairs = Pairs(classes.counts)
    for ends in _equal_subtrees(classes, shapes, steps):
        _add_subtree(classes, shapes, pairs, ends, decay)
    for found in pairs.found():
        if found.is_largest or not largest:
            count_a, count_b = _count_roots(found, classes)
            covers = found.covers if largest else None
            yield found.shape, found.weight, count_a, count_b, covers


def _equal_subtrees(classes: Classes, shapes: Shapes, steps: Steps) -> Iterator[tuple[int, int]]:
    """Yield the pairs of subtrees that may be shared: equal ones, or those of equal form."""
    soft = shapes.matching.is_soft
    keys = _forms(classes) if soft else list(range(len(classes)))
    keys = [key if children else -1 for key, children in zip(keys, classes.children, strict=True)]
    same = np.arange(len(classes))
    candidates = Candidates(classes, keys, (same, same), shapes.matching.pair_cost)
    return candidates.within(steps, steps.left) if soft else candidates.ends()


def _forms(classes: Classes) -> list[int]:
    """Return for each subtree a number for what is left of it without its node labels."""
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


def _count_roots(found: Found, classes: Classes) -> tuple[int, int]:
    count_a, count_b = (
        sum(classes.counts[side][root] for root in found.roots[side]) for side in (0, 1)
    )
    return count_a, count_b


def largest_subset_trees(
    classes: Classes, shapes: Shapes, decay: float, steps: Steps, *, count_leaves: bool
) -> Iterator[Counted]:
    """Find the largest fragments at every pair of nodes whose productions match, largest first."""
    matches = match_productions(classes, shapes.matching, decay, steps)
    pair_cost = shapes.matching.pair_cost
    candidates = Candidates(classes, classes.productions, as_arrays(matches), pair_cost)
    ends_within = candidates.within(steps, steps.left // 2)
    pairs = Pairs(classes.counts)
    if count_leaves:
        _add_leaves(classes, shapes, pairs, decay, steps)
    for ends in ends_within:
        _add_pair(classes, shapes, pairs, ends, decay)
    found = [each for each in pairs.found() if each.is_largest]
    found.sort(key=lambda each: (-shapes.n_nodes[each.shape], -each.covers))
    occurrences = Occurrences(classes, shapes)
    for each in found:
        counts = occurrences.count(each.shape, steps)
        if counts is not None:
            weight = _factor(each.shape, shapes, decay) * counts[0] * counts[1]
            yield each.shape, weight, *counts, each.covers


def _factor(shape: int, shapes: Shapes, decay: float) -> float:
    """Return what one pair of occurrences of a subset tree is worth."""
    matching = shapes.matching
    if matching.is_plain:
        return float(decay ** max(1, shapes.n_inner[shape]))  # a leaf costs as much as one
    made: dict[int, float] = {}
    for number in shapes.inside(shape):
        pair, parts = shapes.keys[number]
        made[number] = decay * matching.matches[pair]
        for part in parts:
            made[number] *= made[part] if part >= 0 else matching.similarities[~part]
    return made[shape]


def leaf_pairs(classes: Classes, shapes: Shapes, steps: Steps) -> list[tuple[int, int]]:
    """Return the pairs of leaves that match; if similar ones do, with half of the steps at most."""
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
    for ends in leaf_pairs(classes, shapes, steps):
        pair = matching.pair(*(classes.heads[end] for end in ends))
        pairs.add(ends, decay * matching.matches[pair], shapes.add(pair, ()), [])


def _add_pair(
    classes: Classes, shapes: Shapes, pairs: Pairs, ends: tuple[int, int], decay: float
) -> None:
    """Add a pair whose productions match: its Delta, and its fragment going down where it can."""
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
        # What is equal on both sides is looked for only once.
        sides = (0, 1) if self.shapes.matching.is_soft else (0,)
        candidates = [[self._candidates(number, side) for number in inside] for side in sides]
        # Whole arrays at once: some forty comparisons cost as much as one step in Python.
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
    """Tell which values are in a sorted, non-empty array."""
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[places] == values)
