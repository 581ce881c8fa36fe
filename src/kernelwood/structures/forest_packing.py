"""Packing of weighted trees, or of expected counts, into forests."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence as Listing
from numbers import Real
from typing import NamedTuple, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures.forest import Forest, Span
from kernelwood.structures.forest_algorithms import JOINT, probable
from kernelwood.structures.structure_base import shorten, show
from kernelwood.structures.tree import Tree

# What distinguishes nodes with the same label and span: words from inner nodes and, where unary
# chains repeat a label, the root, and the number of nodes below on the span.
_WORD, _ANYWHERE, _TOP = -3, -2, -1

_Key: TypeAlias = tuple[str, Span, int]
_Rule: TypeAlias = tuple[int, tuple[int, ...]]


def pack(
    keys: Listing[tuple[str, Span | None]],
    counts: Mapping[tuple[int, tuple[int, ...]], float],
    root: int,
    *,
    fallback: bool = False,
) -> Forest:
    r"""Return the forest closest to expected counts of its hyper-edges.

    .. math:: P(e) = c(e) / \sum_{e'} c(e')

    where :math:`e'` are the hyper-edges of the same head. If the counts are those of a
    distribution over trees, the forest has the same counts, and no forest of this shape has a
    smaller Kullback-Leibler divergence from it.

    Parameters
    ----------
    keys : list of (str, (int, int) or None)
        Label and span of each node; all spans or none.
    counts : mapping of (head, children) to float
        Expected counts in any unit, positive.
    root : int
        The root.
    fallback : bool, default False
        Passed on to the forest.

    Examples
    --------
    >>> forest = pack([("S", None), ("x", None), ("y", None)], {(0, (1,)): 3, (0, (2,)): 1}, 0)
    >>> forest.edges
    ((0, (1,), 0.75), (0, (2,), 0.25))
    """
    by_head: dict[int, list[float]] = defaultdict(list)
    for (head, _), count in counts.items():
        if not 0.0 < count < math.inf:
            raise StructureError(f"counts must be positive and finite, got {count!r}")
        by_head[head].append(count)
    # Relative to the largest count: the total of huge counts would overflow.
    largest = {head: max(parts) for head, parts in by_head.items()}
    totals = {
        head: math.fsum(part / largest[head] for part in parts) for head, parts in by_head.items()
    }
    edges = [
        (head, children, probable(count / largest[head] / totals[head]))
        for (head, children), count in counts.items()
    ]
    spans = [span for _, span in keys if span is not None]
    return Forest([label for label, _ in keys], edges, root, spans or None, fallback=fallback)


def pack_trees(trees: Iterable[Tree | tuple[Tree, float]]) -> Forest:
    """Pack weighted trees over one sentence; see `Forest.from_trees`."""
    weighted = _check_trees(trees)
    layouts = [_lay_out(tree, position) for position, (tree, _) in enumerate(weighted)]
    _check_yields(layouts)
    cyclic = _cyclic_spans(layouts)
    numbers: dict[_Key, int] = {}
    counts: dict[_Rule, float] = defaultdict(float)
    roots: dict[int, float] = defaultdict(float)
    for layout, (_, weight) in zip(layouts, weighted, strict=True):
        names = [numbers.setdefault(key, len(numbers)) for key in _keys(layout, cyclic)]
        for name, place in zip(names, layout, strict=True):
            if place.children:
                counts[name, tuple([names[child] for child in place.children])] += weight
        roots[names[0]] += weight
    keys: list[tuple[str, Span | None]] = [(label, span) for label, span, _ in numbers]
    root = names[0]
    if len(roots) > 1:
        root = len(keys)
        keys.append((JOINT, layouts[0][0].span))
        counts.update({(root, (top,)): weight for top, weight in roots.items()})
    return pack(keys, counts, root)


class _Place(NamedTuple):
    """A node of a tree with its span."""

    label: str
    children: tuple[int, ...]
    span: Span
    height: int  # nodes below it on the same span


def _check_trees(trees: object) -> list[tuple[Tree, float]]:
    if isinstance(trees, Tree) or not isinstance(trees, Iterable):
        raise StructureError(
            "from_trees needs an iterable of trees or (tree, weight) pairs, "
            f"got {shorten(repr(trees))} of type {type(trees).__name__}",
            hint="put even a single tree in a list: Forest.from_trees([tree])",
        )
    pairs = [_check_pair(item, position) for position, item in enumerate(trees)]
    if not pairs:
        raise StructureError("a forest needs at least one tree, got none")
    largest = max(weight for _, weight in pairs)
    return [(tree, max(math.ulp(0.0), weight / largest)) for tree, weight in pairs]


def _check_pair(item: object, position: int) -> tuple[Tree, float]:
    tree, weight = (item, 1.0) if isinstance(item, Tree) else _unpair(item, position)
    if not isinstance(tree, Tree):
        raise StructureError(
            f"tree {position} must be a Tree, "
            f"got {shorten(repr(tree))} of type {type(tree).__name__}"
        )
    try:
        number = float(weight) if isinstance(weight, Real) else math.nan
    except OverflowError:
        number = math.inf
    if not 0.0 < number < math.inf:
        raise StructureError(
            f"weight of tree {position} must be a positive finite number, got {show(weight)}",
            hint="leave out trees of weight 0; weights may have any scale",
        )
    return tree, number


def _unpair(item: object, position: int) -> tuple[object, object]:
    if isinstance(item, (tuple, list)) and len(item) == 2:
        return item[0], item[1]
    raise StructureError(
        f"item {position} must be a Tree or a (tree, weight) pair, "
        f"got {shorten(repr(item))} of type {type(item).__name__}"
    )


def _lay_out(tree: Tree, position: int) -> list[_Place]:
    """Return the nodes in pre-order, with children as positions in that list."""
    nodes: list[tuple[Tree, list[int]]] = []
    waiting: list[tuple[Tree, int]] = [(tree, -1)]
    while waiting:
        node, parent = waiting.pop()
        if node.edge:
            raise StructureError(
                f"tree {position} has the edge label {shorten(repr(node.edge))} "
                f"at {shorten(repr(node.label))}; nodes of a forest have no edge labels",
                hint="make the trees without edge labels, or move them into the node labels",
            )
        if parent >= 0:
            nodes[parent][1].append(len(nodes))
        place = len(nodes)
        nodes.append((node, []))
        waiting.extend([(child, place) for child in reversed(node.children)])
    return _place_all(nodes)


def _place_all(nodes: list[tuple[Tree, list[int]]]) -> list[_Place]:
    """Add spans and heights from the last node to the first, words from right to left."""
    end = sum(1 for _, below in nodes if not below)
    places: list[_Place] = []
    last = len(nodes) - 1
    for node, below in reversed(nodes):
        if below:
            first, final = places[last - below[0]], places[last - below[-1]]
            span = (first.span[0], final.span[1])
            height = first.height + 1 if len(below) == 1 else 0
        else:
            span, height = (end - 1, end), 0
            end -= 1
        places.append(_Place(node.label, tuple(below), span, height))
    places.reverse()
    return places


def _check_yields(layouts: list[list[_Place]]) -> None:
    words = [[place.label for place in layout if not place.children] for layout in layouts]
    for position, other in enumerate(words):
        if other != words[0]:
            raise StructureError(
                "all trees of a forest must have the same words, but tree 0 has "
                f"{shorten(repr(' '.join(words[0])))} and tree {position} has "
                f"{shorten(repr(' '.join(other)))}",
                hint="make one forest per sentence",
            )


def _cyclic_spans(layouts: list[list[_Place]]) -> set[Span]:
    """Return the spans on which a label would be below itself."""
    below: dict[Span, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for layout in layouts:
        for place in layout:
            if len(place.children) == 1 and layout[place.children[0]].children:
                below[place.span][place.label].add(layout[place.children[0]].label)
    return {span for span, graph in below.items() if _has_cycle(graph)}


def _has_cycle(graph: Mapping[str, set[str]]) -> bool:
    waiting = dict.fromkeys(graph, 0)
    for targets in graph.values():
        for target in targets:
            waiting[target] = waiting.get(target, 0) + 1
    free = [label for label, count in waiting.items() if not count]
    done = 0
    while free:
        done += 1
        for target in graph.get(free.pop(), ()):
            waiting[target] -= 1
            if not waiting[target]:
                free.append(target)
    return done < len(waiting)


def _keys(layout: list[_Place], cyclic: set[Span]) -> list[_Key]:
    """Return the key of each node; nodes of different trees with equal keys are merged."""
    keys = []
    for position, place in enumerate(layout):
        if not place.children:
            standing = _WORD
        elif place.span not in cyclic:
            standing = _ANYWHERE
        else:
            standing = place.height if position else _TOP
        keys.append((place.label, place.span, standing))
    return keys
