"""Sums over all trees of a forest: inside, outside, marginals, pruning.

Probabilities of whole sentences leave the range of a float, in both directions when the
probabilities at a head do not add up to one. So sums are kept as ``mantissa * 2**exponent`` with
an integer exponent: nothing underflows, and short forests lose no digit to logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from numbers import Real
from typing import TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures.forest import Forest
from kernelwood.structures.forest_checks import show
from kernelwood.structures.forest_packing import carve

__all__ = [
    "ONE",
    "Scaled",
    "best_scores",
    "count_trees",
    "divide",
    "edge_marginals",
    "inside",
    "node_marginals",
    "outside",
    "prune",
    "scaled_inside",
    "scaled_marginals",
    "scaled_product",
    "shares",
    "times",
    "to_float",
    "total",
]

# A number m * 2**e as (e, m) with 0.5 <= m < 1, so that tuples compare like the numbers.
Scaled: TypeAlias = tuple[int, float]

ONE: Scaled = (1, 0.5)
_ZERO: Scaled = (0, 0.0)

# Costs this close are equal but for the order in which they were added up.
_ROUNDING = 1e-9

# Beyond this many binary digits, a count of trees is a memory leak rather than a number.
_MOST_BITS = 1_000_000


def scaled_inside(
    forest: Forest, without: Collection[int] = frozenset()
) -> tuple[list[Scaled], list[Scaled]]:
    """Return inside sums of the nodes, and what each hyper-edge adds to that of its head.

    Parameters
    ----------
    forest : Forest
        The forest.
    without : collection of int, optional
        Hyper-edges that no tree may use; a node that needs them has an inside sum of zero.

    Examples
    --------
    >>> forest = Forest(["S", "x", "y"], [(0, (1,), 0.5), (0, (2,), 0.25)], 0)
    >>> nodes, edges = scaled_inside(forest)
    >>> to_float(nodes[0]), to_float(edges[1])
    (0.75, 0.25)
    """
    return _bottom_up(forest, total, without)


def best_scores(forest: Forest) -> tuple[list[Scaled], list[Scaled]]:
    """Return the product of the best tree below each node, and below each hyper-edge.

    Examples
    --------
    >>> forest = Forest(["S", "x", "y"], [(0, (1,), 0.5), (0, (2,), 0.25)], 0)
    >>> to_float(best_scores(forest)[0][0])
    0.5
    """
    return _bottom_up(forest, max, frozenset())


def scaled_marginals(
    forest: Forest, nodes: list[Scaled], edges: list[Scaled]
) -> tuple[list[Scaled], list[Scaled]]:
    """Return expected counts of nodes and hyper-edges, given the sums of `scaled_inside`.

    Examples
    --------
    >>> forest = Forest(["S", "x", "y"], [(0, (1,), 0.5), (0, (2,), 0.125)], 0)
    >>> counts, _ = scaled_marginals(forest, *scaled_inside(forest))
    >>> to_float(counts[1])
    0.8
    """
    parts: list[list[Scaled]] = [[] for _ in range(forest.n_nodes)]
    parts[forest.root].append(ONE)
    node_counts = [_ZERO] * forest.n_nodes
    edge_counts = [_ZERO] * forest.n_edges
    for node in reversed(forest._order):
        node_counts[node] = total(parts[node])
        parts[node] = []
        for position in forest._by_head[node]:
            share = divide(edges[position], nodes[node])
            count = times(node_counts[node], share)
            edge_counts[position] = count
            for child in forest.edges[position][1]:
                parts[child].append(count)
    return node_counts, edge_counts


def _bottom_up(
    forest: Forest, join: Callable[[list[Scaled]], Scaled], without: Collection[int]
) -> tuple[list[Scaled], list[Scaled]]:
    nodes = [ONE] * forest.n_nodes
    edges = [_ZERO] * forest.n_edges
    for node in forest._order:
        heading = forest._by_head[node]
        for position in heading:
            if position not in without:
                _, children, probability = forest.edges[position]
                edges[position] = scaled_product(probability, [nodes[c] for c in children])
        if heading:
            nodes[node] = join([edges[position] for position in heading])
    return nodes, edges


def inside(forest: Forest, *, log: bool) -> tuple[float, ...]:
    """Return the inside sum of every node; see `Forest.inside`."""
    return _floats(scaled_inside(forest)[0], log)


def outside(forest: Forest, *, log: bool) -> tuple[float, ...]:
    """Return the outside sum of every node; see `Forest.outside`."""
    nodes, edges = scaled_inside(forest)
    counts, _ = scaled_marginals(forest, nodes, edges)
    whole = nodes[forest.root]
    sums = [divide(times(count, whole), below) for count, below in zip(counts, nodes, strict=True)]
    return _floats(sums, log)


def node_marginals(forest: Forest) -> tuple[float, ...]:
    """Return the expected count of every node; see `Forest.node_marginals`."""
    return _floats(scaled_marginals(forest, *scaled_inside(forest))[0], False)


def edge_marginals(forest: Forest) -> tuple[float, ...]:
    """Return the expected count of every hyper-edge; see `Forest.edge_marginals`."""
    return _floats(scaled_marginals(forest, *scaled_inside(forest))[1], False)


def count_trees(forest: Forest) -> int:
    """Return the number of trees; see `Forest.n_trees`."""
    uses = [0] * forest.n_nodes
    for _, children, _ in forest.edges:
        for child in children:
            uses[child] += 1
    counts: dict[int, int] = {}
    for node in forest._order:
        heading = forest._by_head[node]
        count = 0 if heading else 1
        for position in heading:
            product = 1
            for child in forest.edges[position][1]:
                product *= counts[child]
                if product.bit_length() > _MOST_BITS:
                    raise _too_many_trees(forest)
                uses[child] -= 1
                if not uses[child]:
                    # Numbers of thousands of digits: none is kept longer than it is needed.
                    del counts[child]
            count += product
        counts[node] = count
    return counts[forest.root]


def prune(forest: Forest, threshold: float) -> Forest:
    """Drop hyper-edges far from the best tree; see `Forest.prune`."""
    if not isinstance(threshold, Real) or not threshold >= 0.0:
        raise StructureError(
            f"threshold must be a number from 0 up, got {show(threshold)}",
            hint="it is a difference of negative log probabilities; 8.0 is usual",
        )
    limit = threshold + _ROUNDING
    losses = _losses(forest)
    kept = [edge for edge, loss in zip(forest.edges, losses, strict=True) if loss <= limit]
    if len(kept) == forest.n_edges:
        return forest
    return carve(forest.labels, kept, forest.root, forest.spans, fallback=forest.fallback)


def _losses(forest: Forest) -> list[float]:
    """Return for each hyper-edge how much more the best tree with it costs than the best tree.

    Counted from the root down as what is lost at each choice, so that the hyper-edges of the
    best tree lose exactly nothing.
    """
    best, scores = best_scores(forest)
    node_losses = [math.inf] * forest.n_nodes
    node_losses[forest.root] = 0.0
    edge_losses = [math.inf] * forest.n_edges
    for node in reversed(forest._order):
        for position in forest._by_head[node]:
            loss = node_losses[node] - _log(divide(scores[position], best[node]))
            edge_losses[position] = loss
            for child in forest.edges[position][1]:
                if loss < node_losses[child]:
                    node_losses[child] = loss
    return edge_losses


def shares(values: Iterable[Scaled]) -> list[float]:
    """Return each value as a part of their total.

    Examples
    --------
    >>> shares([(-5000, 0.5), (-5000, 0.5), (-4999, 0.5)])
    [0.25, 0.25, 0.5]
    """
    listed = list(values)
    whole = total(listed)
    return [to_float(divide(value, whole)) for value in listed]


def scaled_product(factor: float, others: Iterable[Scaled]) -> Scaled:
    """Return ``factor`` times the product of ``others``.

    Examples
    --------
    >>> scaled_product(0.5, [(-5000, 0.75), (-5000, 0.75)])
    (-10001, 0.5625)
    """
    mantissa, exponent = math.frexp(factor)
    for power, part in others:
        mantissa *= part
        exponent += power
        if mantissa < 1e-200:
            mantissa, shift = math.frexp(mantissa)
            exponent += shift
    return _scaled(mantissa, exponent)


def to_float(value: Scaled) -> float:
    """Return the number as a float, 0.0 or infinity if it is outside the range.

    Examples
    --------
    >>> to_float((-2, 0.5)), to_float((-5000, 0.5)), to_float((5000, 0.5))
    (0.125, 0.0, inf)
    """
    exponent, mantissa = value
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.inf


def _scaled(mantissa: float, exponent: int) -> Scaled:
    if not mantissa:
        return _ZERO
    mantissa, shift = math.frexp(mantissa)
    return exponent + shift, mantissa


def times(left: Scaled, right: Scaled) -> Scaled:
    """Return the product.

    Examples
    --------
    >>> times((-5000, 0.5), (-5000, 0.5))
    (-10001, 0.5)
    """
    return _scaled(left[1] * right[1], left[0] + right[0])


def divide(left: Scaled, right: Scaled) -> Scaled:
    """Return the quotient; zero divided by whatever is zero.

    Examples
    --------
    >>> divide((-5000, 0.5), (-5000, 0.5)) == ONE
    True
    """
    return _scaled(left[1] / right[1], left[0] - right[0]) if left[1] else _ZERO


def total(values: list[Scaled]) -> Scaled:
    """Return the sum.

    Examples
    --------
    >>> total([(-5000, 0.5), (-5000, 0.75)])
    (-4999, 0.625)
    """
    if len(values) == 1:
        return values[0]
    # Zero has no exponent of its own; it must not set the scale.
    top = max([exponent for exponent, mantissa in values if mantissa], default=0)
    return _scaled(math.fsum([math.ldexp(m, e - top) for e, m in values if m]), top)


def _log(value: Scaled) -> float:
    exponent, mantissa = value
    try:
        # One term when the number is 1.0, lest its logarithm be a rounding error.
        return math.log(mantissa) + exponent * math.log(2.0) if value != ONE else 0.0
    except OverflowError:
        return math.inf if exponent > 0 else -math.inf


def _floats(values: list[Scaled], log: bool) -> tuple[float, ...]:
    return tuple([_log(value) if log else to_float(value) for value in values])


def _too_many_trees(forest: Forest) -> StructureError:
    return StructureError(
        f"the trees of {forest!r} are too many to count",
        hint="prune() it, or see why one tree uses the same node so often",
    )
