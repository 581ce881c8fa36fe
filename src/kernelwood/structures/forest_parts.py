"""The part of a forest that covers some words."""

from __future__ import annotations

from kernelwood.errors import StructureError
from kernelwood.structures.forest import Forest
from kernelwood.structures.forest_checks import HyperEdge, Span, check_integer, show
from kernelwood.structures.forest_packing import JOINT, carve, probable
from kernelwood.structures.forest_weights import (
    ONE,
    Scaled,
    divide,
    scaled_inside,
    scaled_marginals,
    shares,
    times,
    to_float,
    total,
)

__all__ = ["subforest"]


def subforest(forest: Forest, start: int, end: int) -> Forest:
    """Return the forest of the smallest constituents over some words; see `Forest.subforest`."""
    spans, wanted = _check_range(forest, start, end)
    covers = [span[0] <= wanted[0] and wanted[1] <= span[1] for span in spans]
    nodes, edges = scaled_inside(forest)
    # Trees that stop at the span of the head: the way down to a smaller one is closed.
    final_nodes, final_edges = scaled_inside(forest, _narrowing(forest, spans, covers))
    weights = {
        node: times(count, divide(final_nodes[node], nodes[node]))
        for node, count in _entries(forest, spans, covers, nodes, edges).items()
        if final_nodes[node][1]
    }
    kept = [
        (head, children, probable(to_float(divide(final_edges[position], final_nodes[head]))))
        for position, (head, children, _) in enumerate(forest.edges)
        if final_edges[position][1]
    ]
    if len(weights) == 1:
        root = next(iter(weights))
        return carve(forest.labels, kept, root, spans, fallback=forest.fallback)
    return _join(forest, spans, kept, weights)


def _check_range(forest: Forest, start: object, end: object) -> tuple[tuple[Span, ...], Span]:
    if forest.spans is None:
        raise StructureError(
            f"{forest!r} does not say which words its nodes stand over",
            hint="make it with spans=, one (start, end) pair per node",
        )
    first = check_integer(start, "start")
    last = check_integer(end, "end")
    low, high = forest.spans[forest.root]
    if not low <= first < last <= high:
        raise StructureError(
            f"the forest stands over [{low}, {high}), not over [{show(first)}, {show(last)})",
            hint=f"{low} <= start < end <= {high} must hold; end is the position after the words",
        )
    return forest.spans, (first, last)


def _narrowing(forest: Forest, spans: tuple[Span, ...], covers: list[bool]) -> set[int]:
    """Return the hyper-edges with a child that still covers the words on a smaller span."""
    return {
        position
        for position, (head, children, _) in enumerate(forest.edges)
        if covers[head] and any(covers[child] and spans[child] != spans[head] for child in children)
    }


def _entries(
    forest: Forest,
    spans: tuple[Span, ...],
    covers: list[bool],
    nodes: list[Scaled],
    edges: list[Scaled],
) -> dict[int, Scaled]:
    """Return how probable each covering node is as the topmost one on its span."""
    _, counts = scaled_marginals(forest, nodes, edges)
    parts: dict[int, list[Scaled]] = {forest.root: [ONE]}
    for position, (head, children, _) in enumerate(forest.edges):
        for child in children:
            if covers[child] and spans[child] != spans[head]:
                parts.setdefault(child, []).append(counts[position])
    return {node: total(listed) for node, listed in sorted(parts.items())}


def _join(
    forest: Forest,
    spans: tuple[Span, ...],
    edges: list[HyperEdge],
    weights: dict[int, Scaled],
) -> Forest:
    """Return a forest with a new root over several constituents."""
    root = forest.n_nodes
    around = (min(spans[node][0] for node in weights), max(spans[node][1] for node in weights))
    tops = [
        (root, (node,), probable(share))
        for node, share in zip(weights, shares(weights.values()), strict=True)
    ]
    return carve(
        (*forest.labels, JOINT), [*edges, *tops], root, (*spans, around), fallback=forest.fallback
    )
