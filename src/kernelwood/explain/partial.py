"""Pairs of nodes that the partial tree and rooted tree kernels count, and what they share.

These kernels match any part of a node's children, so the fragments themselves are too many to
list. Instead every pair of matching nodes is shown with its value, and with the largest fragment
that can be read off it: children are aligned from left to right so that most nodes match, each
counted by how similar its labels are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from kernelwood.explain.classes import Candidates, Classes
from kernelwood.explain.fragment import Steps
from kernelwood.explain.matching import Head, Matching
from kernelwood.explain.pairs import Pairs, Shapes
from kernelwood.explain.whole_productions import Counted
from kernelwood.structures import Tree

__all__ = ["Node", "PartialRules", "number_nodes", "partial_trees", "rooted_trees"]

Table = list[list[float]]


class PartialRules(NamedTuple):
    """The parameters of the partial tree kernel."""

    decay: float
    depth_decay: float
    leaf_power: float
    terminal_factor: float
    over_span: bool


def partial_trees(
    classes: Classes, shapes: Shapes, rules: PartialRules, steps: Steps, *, largest: bool
) -> Iterator[Counted]:
    """Find what pairs of nodes with labels that match share; a pair's value is its Delta."""
    matching = shapes.matching
    candidates = Candidates(classes, classes.heads, matching.head_pairs(), matching.pair_cost)
    pairs = Pairs(classes.counts)
    for one, other in candidates.within(steps, steps.left, children=True):
        children, others = classes.children[one], classes.children[other]
        numbers = [[pairs.numbers.get((c, d), -1) for d in others] for c in children]
        pair = matching.pair(classes.heads[one], classes.heads[other])
        value = _delta(numbers, pairs.values, bool(children), bool(others), rules)
        inside = _align(numbers, pairs, shapes)
        parts = tuple(pairs.fragments[number] for number in inside)
        value *= matching.matches[pair]
        pairs.add((one, other), value, shapes.add(pair, parts), inside)
    yield from _collect(pairs, largest)


def _delta(
    numbers: list[list[int]], values: list[float], inner: bool, also: bool, rules: PartialRules
) -> float:
    """Return Delta of two nodes that match by 1 from that of their children's pairs."""
    decay = rules.decay
    if not (inner and also):
        power = 2 if inner or also else rules.leaf_power
        return float(rules.depth_decay * decay**power * rules.terminal_factor)
    # What a subsequence of one child costs, and each step on to an adjacent child.
    once = decay**2 if rules.over_span else 1.0
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
    return rules.depth_decay * total


def _align(numbers: list[list[int]], pairs: Pairs, shapes: Shapes) -> list[int]:
    """Return the pairs of an alignment of children that matches most nodes, the similar ones."""
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


def _collect(pairs: Pairs, largest: bool) -> Iterator[Counted]:
    for found in pairs.found():
        if found.is_largest or not largest:
            count_a, count_b = (
                sum(pairs.counts[side][root] for root in found.roots[side]) for side in (0, 1)
            )
            covers = found.covers if largest else None
            yield found.shape, found.weight, count_a, count_b, covers


class Node(NamedTuple):
    """A node of a tree: the number of its head, and those of its children in pre-order."""

    head: int
    children: list[int]


def number_nodes(trees: tuple[Tree, Tree]) -> tuple[list[Head], list[list[Node]]]:
    """Return the heads of two trees, and the nodes of each in pre-order."""
    heads: dict[Head, int] = {}
    numbered = []
    for tree in trees:
        nodes: list[Node] = []
        for node in tree.preorder():
            below, place = [], len(nodes) + 1
            for child in node.children:
                below.append(place)
                place += child.n_nodes
            nodes.append(Node(heads.setdefault((node.label, node.edge), len(heads)), below))
        numbered.append(nodes)
    return list(heads), numbered


def rooted_trees(
    nodes: list[list[Node]],
    shapes: Shapes,
    decay: float,
    steps: Steps,
    *,
    contiguous: bool,
    largest: bool,
) -> Iterator[Counted]:
    """Find the pairs of nodes reached from the roots.

    The kernel is linear in the values of the children's pairs, so each pair reached adds the
    product of the factors met on the way to it, and these sum to the raw value.
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
    yield from _collect(pairs, largest)


def _reach(
    nodes: list[list[Node]], matching: Matching, decay: float, steps: Steps, *, contiguous: bool
) -> dict[tuple[int, int], float]:
    """Return by what the value of every pair reached is multiplied; parents come first."""
    left, right = nodes
    if not matching.match(left[0].head, right[0].head):
        return {}
    reached = {(0, 0): 1.0}
    todo = deque(reached)
    while todo:
        one, other = todo.popleft()
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
                todo.append((c, d))
    return reached


def _factors(match: Table, decay: float, *, contiguous: bool) -> Table:
    """Return for each pair of children the weights of the subsequences it is in, summed."""
    before = _chains(match, decay, contiguous=contiguous)
    turned = [row[::-1] for row in match[::-1]]
    after = [row[::-1] for row in _chains(turned, decay, contiguous=contiguous)[::-1]]
    return [
        [decay * k * b * a for k, b, a in zip(*rows, strict=True)]
        for rows in zip(match, before, after, strict=True)
    ]


def _chains(match: Table, decay: float, *, contiguous: bool) -> Table:
    """Return for each pair the weights of the subsequences that may precede it, plus 1."""
    table: Table = []
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
