"""What a packed forest must satisfy, checked once when it is made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence as Listing
from numbers import Real
from operator import index
from typing import TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures.labels import check_label, shorten

__all__ = [
    "HyperEdge",
    "Span",
    "check_edges",
    "check_integer",
    "check_labels",
    "check_node",
    "check_spans",
    "edges_by_head",
    "order_nodes",
    "show",
]

HyperEdge: TypeAlias = tuple[int, tuple[int, ...], float]
Span: TypeAlias = tuple[int, int]


def check_labels(labels: object) -> tuple[str, ...]:
    """Return the labels as a tuple of plain strings.

    Examples
    --------
    >>> check_labels(["NP", "Ann"])
    ('NP', 'Ann')
    """
    listed = _listed(labels, "labels", "one string per node")
    if not listed:
        raise StructureError(
            "a forest has at least one node, got no labels",
            hint='the smallest forest is a single word: Forest(["word"], [], 0)',
        )
    return tuple(
        label if type(label) is str else check_label(label, f"label of node {node}")
        for node, label in enumerate(listed)
    )


def check_edges(edges: object, labels: tuple[str, ...]) -> tuple[HyperEdge, ...]:
    """Return the hyper-edges as plain triples, each (head, children) pair once.

    Examples
    --------
    >>> check_edges([[1, [0], 1]], ("Ann", "NP"))
    ((1, (0,), 1.0),)
    """
    shape = "(head, children, probability) triples"
    checked = []
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    for position, edge in enumerate(_listed(edges, "hyper-edges", shape)):
        if not isinstance(edge, (tuple, list)) or len(edge) != 3:
            raise StructureError(
                f"hyper-edge {position} must be (head, children, probability), got {show(edge)}"
            )
        head = check_node(edge[0], len(labels), f"head of hyper-edge {position}")
        children = _check_children(edge[1], position, len(labels))
        probability = _check_probability(edge[2], position)
        first = known.setdefault((head, children), position)
        if first != position:
            raise StructureError(
                f"hyper-edges {first} and {position} are the same; add their probabilities",
                hint=f"both join {_name(labels, head)} to the same children",
            )
        checked.append((head, children, probability))
    return tuple(checked)


def check_spans(
    spans: object, labels: tuple[str, ...], edges: tuple[HyperEdge, ...]
) -> tuple[Span, ...] | None:
    """Return the spans as pairs of plain integers, children inside their heads.

    Examples
    --------
    >>> check_spans([[0, 1], [0, 1]], ("Ann", "NP"), ((1, (0,), 1.0),))
    ((0, 1), (0, 1))
    """
    if spans is None:
        return None
    listed = _listed(spans, "spans", "one (start, end) pair per node")
    if len(listed) != len(labels):
        raise StructureError(
            f"spans must be one per node, got {len(listed)} for {len(labels)} nodes",
            hint="give every node a (start, end) pair, or leave spans out",
        )
    checked = tuple(_check_span(span, node, labels) for node, span in enumerate(listed))
    for position, (head, children, _) in enumerate(edges):
        start, end = checked[head]
        for child in children:
            if checked[child][0] < start:
                raise _wrong_place(position, head, child, labels, checked)
            start = checked[child][1]
        if start > end:
            raise _wrong_place(position, head, children[-1], labels, checked)
    return checked


def edges_by_head(n_nodes: int, edges: tuple[HyperEdge, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the hyper-edges of every node.

    Examples
    --------
    >>> edges_by_head(2, ((1, (0,), 1.0),))
    ((), (0,))
    """
    listed: list[list[int]] = [[] for _ in range(n_nodes)]
    for position, (head, _, _) in enumerate(edges):
        listed[head].append(position)
    return tuple(map(tuple, listed))


def order_nodes(labels: tuple[str, ...], edges: tuple[HyperEdge, ...], root: int) -> list[int]:
    """Return all nodes, children before heads; refuse cycles and nodes out of reach.

    Examples
    --------
    >>> order_nodes(("NP", "Ann"), ((0, (1,), 1.0),), 0)
    [1, 0]
    """
    below: list[list[int]] = [[] for _ in labels]
    for head, children, _ in edges:
        below[head].extend(children)
    new, opened, closed = 0, 1, 2
    state = [new] * len(labels)
    state[root] = opened
    order: list[int] = []
    path = [(root, iter(below[root]))]
    while path:
        node, rest = path[-1]
        for child in rest:
            if state[child] == new:
                state[child] = opened
                path.append((child, iter(below[child])))
                break
            if state[child] == opened:
                raise _cyclic([step for step, _ in path], child, labels)
        else:
            state[node] = closed
            order.append(node)
            path.pop()
    if len(order) < len(labels):
        lost = state.index(new)
        raise StructureError(
            f"node {_name(labels, lost)} cannot be reached from the root {_name(labels, root)}",
            hint="leave it out, or add the hyper-edge that leads to it",
        )
    return order


def _listed(values: object, what: str, shape: str) -> Listing[object]:
    if isinstance(values, (tuple, list)):
        return values
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise StructureError(
            f"{what} of a forest must be {shape}, "
            f"got {show(values)} of type {type(values).__name__}",
            hint="put them in a list",
        )
    return list(values)


def check_node(node: object, n_nodes: int, what: str) -> int:
    """Return the number of a node as a plain integer.

    Examples
    --------
    >>> check_node(1, 2, "root")
    1
    """
    number = node if type(node) is int else check_integer(node, what)
    if not 0 <= number < n_nodes:
        raise StructureError(
            f"{what} is {show(number)}, but the nodes are 0 to {n_nodes - 1}",
            hint="nodes are counted from 0, in the order of labels",
        )
    return number


def check_integer(value: object, what: str) -> int:
    """Return ``value`` as a plain integer.

    Examples
    --------
    >>> check_integer(3, "start")
    3
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        raise StructureError(
            f"{what} must be an integer, got {show(value)} of type {type(value).__name__}"
        ) from None


def _check_children(children: object, position: int, n_nodes: int) -> tuple[int, ...]:
    if isinstance(children, (str, bytes)) or not isinstance(children, Iterable):
        raise StructureError(
            f"children of hyper-edge {position} must be node numbers, "
            f"got {show(children)} of type {type(children).__name__}",
            hint="put even a single child in a tuple: (child,)",
        )
    what = f"child of hyper-edge {position}"
    members = tuple([check_node(child, n_nodes, what) for child in children])
    if not members:
        raise StructureError(
            f"hyper-edge {position} has no children",
            hint="leave it out: a node without hyper-edges is a word",
        )
    return members


def _check_probability(value: object, position: int) -> float:
    number = value if type(value) is float else _check_real(value, position)
    if not 0.0 < number <= 1.0:
        raise StructureError(
            f"probability of hyper-edge {position} must be above 0 and at most 1, "
            f"got {show(value)}",
            hint="leave out what is impossible; divide weights by the total of their head",
        )
    return number


def _check_real(value: object, position: int) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise StructureError(
            f"probability of hyper-edge {position} must be a number, "
            f"got {show(value)} of type {type(value).__name__}"
        )
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _check_span(span: object, node: int, labels: tuple[str, ...]) -> Span:
    if not isinstance(span, (tuple, list)) or len(span) != 2:
        raise StructureError(
            f"span of node {_name(labels, node)} must be (start, end), got {show(span)}"
        )
    start, end = span
    if type(start) is not int:
        start = check_integer(start, f"start of the span of node {_name(labels, node)}")
    if type(end) is not int:
        end = check_integer(end, f"end of the span of node {_name(labels, node)}")
    if not 0 <= start <= end:
        raise StructureError(
            f"span of node {_name(labels, node)} is ({show(start)}, {show(end)}), "
            "which is no part of a sentence",
            hint="0 <= start <= end must hold; end is the position after the last word",
        )
    return start, end


def _wrong_place(
    position: int, head: int, child: int, labels: tuple[str, ...], spans: tuple[Span, ...]
) -> StructureError:
    return StructureError(
        f"span {spans[child]} of {_name(labels, child)} does not fit into hyper-edge {position} "
        f"of {_name(labels, head)} over {spans[head]}",
        hint="children lie inside their head, from left to right, without overlap",
    )


def _cyclic(path: list[int], again: int, labels: tuple[str, ...]) -> StructureError:
    cycle = [*path[path.index(again) :], again]
    shown = [shorten(labels[node], 20) for node in cycle]
    if len(shown) > 8:
        shown[4:-3] = ["..."]
    return StructureError(
        f"the hyper-edges run in a circle: {' -> '.join(shown)} (node {again} is below itself)",
        hint="a forest has no cycles; give the lower node of a unary chain a number of its own",
    )


def show(value: object) -> str:
    """Return ``value`` as it looks in a message, whatever it is.

    Examples
    --------
    >>> show((0, 1)), show(10**5000)
    ('(0, 1)', 'an int too long to show')
    """
    try:
        return shorten(repr(value))
    except (ValueError, RecursionError):
        # Python writes neither integers of thousands of digits nor lists nested as deep.
        return f"an {type(value).__name__} too long to show"


def _name(labels: tuple[str, ...], node: int) -> str:
    return f"{node} ({shorten(repr(labels[node]), 30)})"
