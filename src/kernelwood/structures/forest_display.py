"""Pictures of packed forests for notebooks.

A hyper-edge is a dot below its head, joined to the head by a line and to the children by curves.
The more trees use it, the stronger the line; the best tree is drawn in blue. Words stand in the
bottom row, and every other node one row above the highest of its children.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate
from math import log10
from typing import TYPE_CHECKING

from kernelwood.errors import StructureError
from kernelwood.structures.display import (
    FONT_SIZE,
    GAP,
    INNER,
    LEAF,
    LINE,
    MARGIN,
    MAX_LABEL,
    PLATE_HEIGHT,
    draw_box,
    draw_picture,
    escape,
    text_width,
)
from kernelwood.structures.forest_weights import best_scores

if TYPE_CHECKING:
    from kernelwood.structures.forest import Forest
    from kernelwood.structures.forest_checks import Span

__all__ = ["forest_svg"]

_BEST = "#3b7ddd"
_OTHER = ("#f1f3f6", "#5d6778")  # plates that are not in the best tree
_ROW_HEIGHT = 70.0
_DOT_DROP, _DOT_GAP, _DOT_RADIUS = 13.0, 12.0, 2.8
_EDGES_PER_NODE = 4  # more would be a gray area, not a picture


@dataclass(slots=True, eq=False)
class _Plate:
    """One node of the picture."""

    label: str
    node: int
    span: Span | None
    marginal: float
    is_word: bool
    is_best: bool
    links: list[_Link] = field(default_factory=list)
    row: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        return max(PLATE_HEIGHT, text_width(self.label, FONT_SIZE) + 16)

    @property
    def room(self) -> float:
        """The width that nothing else in the row may enter: plate or dots."""
        return max(self.width, len(self.links) * _DOT_GAP)

    @property
    def is_cut(self) -> bool:
        return not self.is_word and not self.links


@dataclass(slots=True, eq=False)
class _Link:
    """One hyper-edge of the picture."""

    children: list[_Plate]
    marginal: float
    probability: float
    is_best: bool
    n_hidden: int  # children for which there was no room
    x: float = 0.0


def forest_svg(forest: Forest, max_nodes: int = 200) -> str:
    """Draw a forest as an SVG picture.

    Parameters
    ----------
    forest : Forest
        The forest. With spans, every node is centered over its words.
    max_nodes : int, optional
        Of a larger forest, the best tree is drawn and then, as long as there is room, what has
        the highest marginals; a note says how much is left out.

    Returns
    -------
    str
        A complete ``<svg>`` element.

    Examples
    --------
    >>> from kernelwood.structures import Forest
    >>> svg = forest_svg(Forest(["NP", "Ann"], [(0, (1,), 1.0)], 0))
    >>> svg.startswith("<svg "), svg.count("<circle ")
    (True, 1)
    """
    plates = _choose_plates(forest, max(1, max_nodes))
    _place(plates)
    width = max(plate.x + plate.room / 2 for plate in plates) + MARGIN
    # Below a plate whose hyper-edges are left out there is an ellipsis.
    below = 34.0 if any(plate.is_cut for plate in plates) else 20.0
    height = max(plate.y for plate in plates) + PLATE_HEIGHT / 2 + MARGIN + below
    note = _note(forest, plates)
    links = [(plate, link) for plate in plates for link in plate.links]
    links.sort(key=lambda pair: (pair[1].is_best, pair[1].marginal))  # the strongest on top
    width = max(width, 6.2 * len(note) + 2 * MARGIN)
    inside = (
        f'<g fill="none">{"".join(_draw_link(plate, link) for plate, link in links)}</g>'
        f"{''.join(_draw_plate(plate) for plate in plates)}"
    )
    return draw_picture("forest", width, height, inside, note)


def _choose_plates(forest: Forest, max_nodes: int) -> list[_Plate]:
    """List the nodes to draw, children before heads, each with its hyper-edges."""
    scores = best_scores(forest)[1]
    # The first of equally good hyper-edges, as the best tree has it.
    best = [max(heading, key=scores.__getitem__, default=-1) for heading in forest._by_head]
    in_best = _reached(forest, best, [forest.root], set(), forest.n_nodes)
    counts, node_counts = forest.edge_marginals(), forest.node_marginals()
    shown = _choose_nodes(forest, best, counts, max_nodes)
    plates = {
        node: _Plate(
            forest.labels[node],
            node,
            None if forest.spans is None else forest.spans[node],
            node_counts[node],
            best[node] < 0,
            node in in_best,
        )
        for node in forest._order
        if node in shown
    }
    for position in _choose_edges(forest, best, counts, shown, _EDGES_PER_NODE * max_nodes):
        head, children, probability = forest.edges[position]
        visible = [plates[child] for child in children if child in shown]
        is_best = head in in_best and position == best[head]
        plates[head].links.append(
            _Link(visible, counts[position], probability, is_best, len(children) - len(visible))
        )
    return list(plates.values())


def _reached(
    forest: Forest, best: list[int], start: Iterable[int], known: set[int], limit: int
) -> set[int]:
    """Return what is new among ``start`` and all below on best hyper-edges; stop past a limit."""
    found: set[int] = set()
    todo = list(start)
    while todo and len(found) <= limit:
        node = todo.pop()
        if node not in found and node not in known:
            found.add(node)
            if best[node] >= 0:
                todo.extend(forest.edges[best[node]][1])
    return found


def _choose_nodes(
    forest: Forest, best: list[int], counts: tuple[float, ...], max_nodes: int
) -> set[int]:
    """Return the root and what is most likely below it, the best tree before all else."""
    if forest.n_nodes <= max_nodes:
        return set(range(forest.n_nodes))
    shown = {forest.root}
    # Likeliest first, then as they were found.
    queue = [(-counts[best[forest.root]], 0, best[forest.root])]
    while queue and len(shown) < max_nodes:
        for child in forest.edges[heappop(queue)[2]][1]:
            if child not in shown and len(shown) < max_nodes:
                shown.add(child)
                if best[child] >= 0:
                    heappush(queue, (-counts[best[child]], len(shown), best[child]))
    _add_alternatives(forest, best, counts, shown, max_nodes)
    return shown


def _add_alternatives(
    forest: Forest, best: list[int], counts: tuple[float, ...], shown: set[int], max_nodes: int
) -> None:
    """Fill up with likely nodes, each together with the best way to build it."""
    queue: list[tuple[float, int]] = []
    fresh = sorted(shown)
    n_failures = 0
    while len(shown) < max_nodes and n_failures < max_nodes:
        for node in fresh:
            for position in forest._by_head[node]:
                if position != best[node]:
                    heappush(queue, (-counts[position], position))
        if not queue:
            return
        children = forest.edges[heappop(queue)[1]][1]
        needed = _reached(forest, best, children, shown, max_nodes - len(shown))
        fits = len(shown) + len(needed) <= max_nodes
        fresh = sorted(needed) if fits else []
        shown.update(fresh)
        n_failures += not fits


def _choose_edges(
    forest: Forest, best: list[int], counts: tuple[float, ...], shown: set[int], limit: int
) -> list[int]:
    """Return the hyper-edges between shown nodes, best ones first, then the likeliest."""
    # Half an edge tells more than none, where the best tree does not fit.
    main = [
        best[node]
        for node in sorted(shown)
        if best[node] >= 0 and not shown.isdisjoint(forest.edges[best[node]][1])
    ]
    others = [
        position
        for node in sorted(shown)
        for position in forest._by_head[node]
        if position != best[node] and shown.issuperset(forest.edges[position][1])
    ]
    others.sort(key=lambda position: (-counts[position], position))
    return main + others[: max(0, limit - len(main))]


def _place(plates: list[_Plate]) -> None:
    """Set rows, then positions, from the bottom up; plates of a row never overlap."""
    for plate in plates:  # children stand before heads
        below = [child.row for link in plate.links for child in link.children]
        plate.row = max(below, default=-1) + 1
    rows: list[list[_Plate]] = [[] for _ in range(max(plate.row for plate in plates) + 1)]
    for plate in plates:
        rows[plate.row].append(plate)
        plate.y = MARGIN + PLATE_HEIGHT / 2 + (len(rows) - 1 - plate.row) * _ROW_HEIGHT
    _center_over_words(plates, _columns(plates))
    for row in rows:
        _move_apart(row)
    left = min(plate.x - plate.room / 2 for plate in plates) - MARGIN
    for plate in plates:
        plate.x -= left
    for plate in plates:
        _place_dots(plate)


def _columns(plates: list[_Plate]) -> list[Span]:
    """Return the words each plate stands above, as a span.

    Without spans, what has nothing below it is counted in the order of a walk from the root.
    """
    if plates[0].span is not None:
        return [plate.span for plate in plates if plate.span is not None]
    found: dict[_Plate, Span] = {}
    seen: set[_Plate] = set()
    todo = [plates[-1]]  # the root
    while todo:
        plate = todo.pop()
        if plate not in seen:
            seen.add(plate)
            if not plate.links:
                found[plate] = (len(found), len(found) + 1)
            for link in reversed(plate.links):
                todo.extend(reversed(link.children))
    for plate in plates:
        below = [found[child] for link in plate.links for child in link.children]
        if below:
            found[plate] = (min(start for start, _ in below), max(end for _, end in below))
    return [found[plate] for plate in plates]


def _center_over_words(plates: list[_Plate], spans: list[Span]) -> None:
    """Make words so far apart that what has the same span fits side by side over it."""
    bounds = sorted({bound for span in spans for bound in span})
    index = {bound: i for i, bound in enumerate(bounds)}
    needed: dict[tuple[int, int, int], float] = {}
    for plate, (start, end) in zip(plates, spans, strict=True):
        key = (index[end] - index[start], index[start], plate.row)
        needed[key] = needed.get(key, 0.0) + plate.room + GAP
    widths = [0.0] * (len(bounds) - 1)
    for (length, first, _), wanted in sorted(needed.items()):
        missing = wanted - sum(widths[first : first + length])
        for column in range(first, first + length):
            widths[column] += max(0.0, missing) / length
    edges = [0.0, *accumulate(widths)]
    for plate, (start, end) in zip(plates, spans, strict=True):
        plate.x = (edges[index[start]] + edges[index[end]]) / 2


def _move_apart(row: list[_Plate]) -> None:
    """Move the plates of a row, as little as possible, until none overlaps.

    Positions less the room that precedes them must not fall from left to right; pooling
    neighbors that violate this gives the least squares solution. Likely nodes move least.
    """
    row.sort(key=lambda plate: (plate.x, plate.node))
    before = 0.0
    offsets: list[float] = []
    pools: list[tuple[float, float, int]] = []  # mean, weight, number of plates
    for plate in row:
        offsets.append(before + plate.room / 2)
        before += plate.room + GAP
        mean, weight, size = plate.x - offsets[-1], 0.1 + min(plate.marginal, 1.0), 1
        while pools and pools[-1][0] > mean:
            other, other_weight, other_size = pools.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight, size = weight + other_weight, size + other_size
        pools.append((mean, weight, size))
    moved = (mean for mean, _, size in pools for _ in range(size))
    for plate, offset, start in zip(row, offsets, moved, strict=True):
        plate.x = start + offset


def _place_dots(plate: _Plate) -> None:
    """Order the dots below a plate as their children stand, so that few lines cross."""
    plate.links.sort(key=lambda link: sum(child.x for child in link.children) / len(link.children))
    for i, link in enumerate(plate.links):
        link.x = plate.x + (i - (len(plate.links) - 1) / 2) * _DOT_GAP


def _draw_link(head: _Plate, link: _Link) -> str:
    color = _BEST if link.is_best else LINE
    strength = min(link.marginal, 1.0)
    bottom = head.y + PLATE_HEIGHT / 2
    y = bottom + _DOT_DROP
    path = [f"M{head.x:.1f} {bottom:.1f}L{link.x:.1f} {y:.1f}"]
    n_curves: Counter[_Plate] = Counter()
    for child in link.children:
        x = child.x + 5.0 * n_curves[child]  # a child that stands here twice shows two curves
        n_curves[child] += 1
        end = child.y - PLATE_HEIGHT / 2
        middle = (y + end) / 2
        path.append(f"M{link.x:.1f} {y:.1f}C{link.x:.1f} {middle:.1f} {x:.1f} {middle:.1f} ")
        path.append(f"{x:.1f} {end:.1f}")
    rule = f"{head.label} → {' '.join(child.label for child in link.children)}"
    ellipsis = _draw_ellipsis(link.x + 12, y + 4) if link.n_hidden else ""
    return (
        f'<g stroke="{color}" stroke-width="{1 + 1.5 * strength:.2f}" '
        f'opacity="{0.35 + 0.65 * strength:.2f}">'
        f"<title>{escape(rule, 300)}{' …' if link.n_hidden else ''} · P {link.probability:.3g} · "
        f'marginal {link.marginal:.3g}</title><path d="{"".join(path)}"/>'
        f'<circle cx="{link.x:.1f}" cy="{y:.1f}" r="{_DOT_RADIUS:g}" fill="{color}"/>'
        f"{ellipsis}</g>"
    )


def _draw_ellipsis(x: float, y: float) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{LINE}" stroke="none">…</text>'


def _draw_plate(plate: _Plate) -> str:
    fill, ink = (LEAF if plate.is_word else INNER) if plate.is_best else _OTHER
    weight = "" if plate.is_word else ' font-weight="600"'
    place = "" if plate.span is None else f" · [{plate.span[0]}, {plate.span[1]})"
    below = plate.y + PLATE_HEIGHT / 2 + 10
    ellipsis = _draw_ellipsis(plate.x, below) if plate.is_cut else ""
    return (
        f"<g><title>{escape(plate.label, 300)}{place} · marginal {plate.marginal:.3g}</title>"
        f"{draw_box(plate.x, plate.y, plate.width, PLATE_HEIGHT, fill, ink)}"
        f'<text x="{plate.x:.1f}" y="{plate.y + 4.5:.1f}" fill="{ink}"{weight}>'
        f"{escape(plate.label, MAX_LABEL)}</text>{ellipsis}</g>"
    )


def _note(forest: Forest, plates: list[_Plate]) -> str:
    n_nodes = forest.n_nodes - len(plates)
    n_edges = forest.n_edges - sum(len(plate.links) for plate in plates)
    parts = [f"… {n_nodes:,} more nodes" if n_nodes else _count_trees(forest)]
    if n_edges:
        parts.append(f"… {n_edges:,} more hyper-edges")
    if forest.fallback:
        parts.append("fallback: the grammar does not cover the sentence")
    return " · ".join(parts)


def _count_trees(forest: Forest) -> str:
    try:
        n_trees = forest.n_trees
    except StructureError:
        return "more trees than can be counted, the best in blue"
    if n_trees == 1:
        return "1 tree"
    # Python refuses to write integers of thousands of digits.
    digits = n_trees.bit_length() * log10(2)
    shown = f"{n_trees:,}" if digits < 12 else f"about 10^{digits:.0f}"
    return f"{shown} trees, the best in blue"
