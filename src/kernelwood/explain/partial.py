"""Pairs of nodes that the partial tree and rooted tree kernels count, and what they share.

These kernels match any part of a node's children, so the fragments themselves are too many to
list. Instead every pair of matching nodes is shown with its value, and with the largest fragment
that can be read off it: children are aligned from left to right so that most nodes match.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from kernelwood.explain.classes import Classes, affordable_size
from kernelwood.explain.fragment import Steps
from kernelwood.explain.pairs import Pairs, Shapes
from kernelwood.explain.whole_productions import Counted
from kernelwood.structures import Tree

__all__ = ["PartialRules", "partial_trees", "rooted_trees"]

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
    """Find what pairs of nodes with equal labels share; a pair's value is its Delta."""

    def cost(max_nodes: int | None) -> int:
        total = 0
        for group in classes.groups(classes.heads, max_nodes):
            widths = [sum(len(classes.children[index]) for index in side) for side in group]
            total += len(group[0]) * len(group[1]) + widths[0] * widths[1]
        return total

    max_nodes, spent = affordable_size(classes, cost, steps.left)
    steps.take(spent)
    steps.exceeded = steps.exceeded or max_nodes is not None
    pairs = Pairs(classes.counts)
    groups = classes.groups(classes.heads, max_nodes)
    for one, other in sorted(ends for group in groups for ends in product(*group)):
        children, others = classes.children[one], classes.children[other]
        numbers = [[pairs.numbers.get((c, d), -1) for d in others] for c in children]
        value = _delta(numbers, pairs.values, bool(children), bool(others), rules)
        inside = _align(numbers, pairs, shapes)
        parts = tuple(pairs.fragments[number] for number in inside)
        pairs.add((one, other), value, shapes.add(classes.heads[one], parts), inside)
    yield from _collect(pairs, largest)


def _delta(
    numbers: list[list[int]], values: list[float], inner: bool, also: bool, rules: PartialRules
) -> float:
    """Return Delta of two nodes from that of their children's pairs."""
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
    """Return the pairs of an alignment of children that matches most nodes."""
    if not numbers or not numbers[0]:
        return []
    sizes = [[shapes.n_nodes[pairs.fragments[n]] if n >= 0 else 0 for n in row] for row in numbers]
    best = [[0] * (len(sizes[0]) + 1)]
    for row in sizes:
        last, now = best[-1], [0]
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


def rooted_trees(
    trees: tuple[Tree, Tree],
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
    heads: dict[tuple[str, str], int] = {}
    nodes = [_number(tree, heads) for tree in trees]
    shapes.labels[:] = heads
    reached = _reach(nodes, decay, steps, contiguous=contiguous)
    pairs = Pairs(([1] * trees[0].n_nodes, [1] * trees[1].n_nodes))
    for one, other in reversed(reached):
        children, others = nodes[0][one].children, nodes[1][other].children
        numbers = [[pairs.numbers.get((c, d), -1) for d in others] for c in children]
        inside = _align(numbers, pairs, shapes)
        parts = tuple(pairs.fragments[number] for number in inside)
        fragment = shapes.add(nodes[0][one].head, parts)
        pairs.add((one, other), reached[one, other], fragment, inside)
    yield from _collect(pairs, largest)


class _Node(NamedTuple):
    head: int
    children: list[int]


def _number(tree: Tree, heads: dict[tuple[str, str], int]) -> list[_Node]:
    """List the nodes in pre-order with the numbers of their children."""
    nodes: list[_Node] = []
    for node in tree.preorder():
        below, place = [], len(nodes) + 1
        for child in node.children:
            below.append(place)
            place += child.n_nodes
        nodes.append(_Node(heads.setdefault((node.label, node.edge), len(heads)), below))
    return nodes


def _reach(
    nodes: list[list[_Node]], decay: float, steps: Steps, *, contiguous: bool
) -> dict[tuple[int, int], float]:
    """Return what every pair reached adds to the value; parents come before children."""
    left, right = nodes
    if left[0].head != right[0].head:
        return {}
    reached = {(0, 0): 1.0}
    todo = deque(reached)
    while todo:
        one, other = todo.popleft()
        children, others = left[one].children, right[other].children
        if not steps.take(len(children) * len(others)):
            continue
        match = [[left[c].head == right[d].head for d in others] for c in children]
        factors = _factors(match, decay, contiguous=contiguous)
        for (i, c), (j, d) in product(enumerate(children), enumerate(others)):
            if match[i][j]:
                reached[c, d] = reached[one, other] * factors[i][j]
                todo.append((c, d))
    return reached


def _factors(match: list[list[bool]], decay: float, *, contiguous: bool) -> Table:
    """Return for each pair of children the weights of the subsequences it is in, summed."""
    before = _chains(match, decay, contiguous=contiguous)
    turned = [row[::-1] for row in match[::-1]]
    after = [row[::-1] for row in _chains(turned, decay, contiguous=contiguous)[::-1]]
    return [
        [decay * b * a for b, a in zip(some, others, strict=True)]
        for some, others in zip(before, after, strict=True)
    ]


def _chains(match: list[list[bool]], decay: float, *, contiguous: bool) -> Table:
    """Return for each pair the weights of the subsequences that may precede it, plus 1."""
    table: Table = []
    sums = [0.0] * (len(match[0]) + 1 if match else 1)
    for i, row in enumerate(match):
        if contiguous:
            diagonal = [i and j and match[i - 1][j - 1] for j in range(len(row))]
            table.append(
                [1 + (decay * table[i - 1][j - 1] if diagonal[j] else 0) for j in range(len(row))]
            )
            continue
        table.append([1 + sums[j] for j in range(len(row))])
        now, in_row = [0.0], 0.0
        for j, matched in enumerate(row):
            in_row += decay * table[i][j] if matched else 0.0
            now.append(in_row + sums[j + 1])
        sums = now
    return table
