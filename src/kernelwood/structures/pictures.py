"""Pictures of structures for notebooks: SVG for trees and forests, HTML for sequences and graphs.

Every label is on a plate of its own color, so the pictures are readable on light and dark pages.
All text in the markup has passed `escape`.

In a picture of a forest, a hyper-edge is a dot below its head, joined to the head by a line and to
the children by curves. Lines are stronger the higher the marginal; the best tree is blue. Words
are in the bottom row, every other node is one row above the highest of its children.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate, islice
from math import log10
from typing import TYPE_CHECKING

from kernelwood.errors import StructureError
from kernelwood.structures.forest_algorithms import best_scores

if TYPE_CHECKING:
    from kernelwood.structures.forest import Forest, Span
    from kernelwood.structures.graph import Graph, NodeId
    from kernelwood.structures.sequence import Sequence
    from kernelwood.structures.tree import Tree

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
LEAF = ("#e9f5ec", "#20603a")  # colors of the plate and of its text
_INNER, _EDGE, _ALTERNATIVE = ("#e7edf8", "#2b4a7f"), ("#fdf3dc", "#8a5a00"), ("#f1f3f6", "#5d6778")
LINE = "#8b95a7"  # dark enough on white, light enough on black
_BEST = "#3b7ddd"
_FONT_SIZE, _EDGE_SIZE = 13.0, 10.5
PLATE_HEIGHT, _EDGE_HEIGHT, _EDGE_GAP = 24.0, 15.0, 3.0
GAP, MARGIN = 12.0, 10.0
MAX_LABEL = 28
_ROW_HEIGHT = 70.0
_DOT_DROP, _DOT_GAP, _DOT_RADIUS = 13.0, 12.0, 2.8
_EDGES_PER_NODE = 4  # more would be a gray area
# Not allowed in XML, even escaped: most control characters, surrogates, two non-characters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def escape(text: str, width: int | None = None) -> str:
    """Return ``text``, cut to ``width`` characters, escaped for SVG and HTML.

    Examples
    --------
    >>> escape("<b> & co", 6)
    '&lt;b&gt; &amp;…'
    """
    if width is not None and len(text) > width:
        text = text[: width - 1] + "…"
    visible = text.replace("\n", "⏎").replace("\r", "⏎").replace("\t", " ")
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", visible))


def text_width(text: str, size: float) -> float:
    """Return an estimate of the drawn width of a label."""
    units = 0.0
    for character in text[:MAX_LABEL]:
        if unicodedata.east_asian_width(character) in "WF":
            units += 1.0
        elif unicodedata.combining(character):
            continue
        elif character in "iljtfrI.,:;'|!()[]` ":
            units += 0.4
        elif character in "mwMW@%—…" or character.isupper():
            units += 0.8
        else:
            units += 0.62
    return units * size


def draw_picture(name: str, width: float, height: float, inside: str, note: str) -> str:
    """Return a complete ``<svg>`` element with an optional note in its lower left corner."""
    if note:
        inside += (
            f'<text x="{MARGIN:g}" y="{height - MARGIN:g}" text-anchor="start" font-size="11" '
            f'fill="{LINE}">{note}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{name}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" '
        f'font-family="{FONT}" font-size="{_FONT_SIZE:g}" text-anchor="middle">{inside}</svg>'
    )


def draw_box(x: float, y: float, width: float, height: float, fill: str, ink: str) -> str:
    """Return a rounded box centered at ``x``, ``y``."""
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height:g}" rx="{height / 4:g}" fill="{fill}" stroke="{ink}" '
        f'stroke-opacity="0.35"/>'
    )


def _plate_width(label: str) -> float:
    return max(PLATE_HEIGHT, text_width(label, _FONT_SIZE) + 16)


def _draw_plate(x: float, y: float, label: str, colors: tuple[str, str], *, bold: bool) -> str:
    fill, ink = colors
    weight = ' font-weight="600"' if bold else ""
    return (
        f"{draw_box(x, y, _plate_width(label), PLATE_HEIGHT, fill, ink)}"
        f'<text x="{x:.1f}" y="{y + 4.5:.1f}" fill="{ink}"{weight}>'
        f"{escape(label, MAX_LABEL)}</text>"
    )


def tree_svg(tree: Tree, max_nodes: int = 200) -> str:
    """Return a picture of a tree, a complete ``<svg>`` element.

    Parameters
    ----------
    tree : Tree
        The tree.
    max_nodes : int, optional
        Maximum number of nodes, chosen level by level; ellipses stand for the others.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> tree_svg(Tree.from_brackets("(NP (DT the) (NN cat))")).startswith("<svg ")
    True
    """
    plates = _choose_tree_plates(tree, max(1, max_nodes))
    level_height = 70.0 if any(plate.edge for plate in plates) else 48.0
    _place_tree(plates, level_height)
    width = plates[0].span + 2 * MARGIN
    height = max(plate.y for plate in plates) + PLATE_HEIGHT / 2 + MARGIN
    n_shown = sum(not plate.is_ellipsis for plate in plates)
    note = ""
    if n_shown < tree.n_nodes:
        height += 22
        width = max(width, 240.0)
        note = f"{n_shown:,} of {tree.n_nodes:,} nodes shown"
    inside = (
        f'<g fill="none" stroke="{LINE}" stroke-width="1.4">{_draw_links(plates)}</g>'
        f"{''.join(_draw_tree_plate(plate) for plate in plates)}"
    )
    return draw_picture("tree", width, height, inside, note)


@dataclass(slots=True)
class _TreePlate:
    """A node in the picture of a tree; ``span`` is the width of its subtree."""

    label: str
    edge: str
    parent: int
    depth: int
    is_leaf: bool
    is_ellipsis: bool = False
    children: list[int] = field(default_factory=list)
    span: float = 0.0
    left: float = 0.0
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        return _plate_width(self.label)


def _choose_tree_plates(tree: Tree, max_nodes: int) -> list[_TreePlate]:
    """Return the nodes to draw, level by level, parents before children."""
    plates = [_TreePlate(tree.label, tree.edge, -1, 0, tree.is_leaf)]
    nodes: list[Tree | None] = [tree]
    n_shown = 1
    for index, node in enumerate(nodes):
        if node is None:
            continue
        depth = plates[index].depth + 1
        for child in node.children:
            plates[index].children.append(len(plates))
            if n_shown == max_nodes:
                plates.append(_TreePlate("…", "", index, depth, True, is_ellipsis=True))
                nodes.append(None)
                break
            plates.append(_TreePlate(child.label, child.edge, index, depth, child.is_leaf))
            nodes.append(child)
            n_shown += 1
    return plates


def _place_tree(plates: list[_TreePlate], level_height: float) -> None:
    """Set positions: every subtree has its own strip, parents are centered over children."""
    below = [0.0] * len(plates)
    for index, plate in reversed(list(enumerate(plates))):
        edge_width = text_width(plate.edge[:MAX_LABEL], _EDGE_SIZE) + 10 if plate.edge else 0.0
        below[index] -= GAP if plate.children else 0.0
        plate.span = max(plate.width, edge_width, below[index])
        if plate.parent >= 0:
            below[plate.parent] += plate.span + GAP
    plates[0].left = MARGIN
    # An edge label above the root needs room.
    top = MARGIN + PLATE_HEIGHT / 2 + (_EDGE_HEIGHT + _EDGE_GAP if plates[0].edge else 0.0)
    for index, plate in enumerate(plates):
        plate.y = top + plate.depth * level_height
        cursor = plate.left + (plate.span - below[index]) / 2
        for child in plate.children:
            plates[child].left = cursor
            cursor += plates[child].span + GAP
    for plate in reversed(plates):
        if plate.children:
            middle = (plates[plate.children[0]].x + plates[plate.children[-1]].x) / 2
            half = plate.width / 2
            plate.x = min(max(middle, plate.left + half), plate.left + plate.span - half)
        else:
            plate.x = plate.left + plate.span / 2


def _draw_links(plates: list[_TreePlate]) -> str:
    paths = []
    for plate in plates[1:]:
        parent = plates[plate.parent]
        start, end = parent.y + PLATE_HEIGHT / 2, plate.y - PLATE_HEIGHT / 2
        if plate.edge:  # the line ends at the edge label, which sits on the plate
            end -= _EDGE_HEIGHT + _EDGE_GAP
        middle = (start + end) / 2
        paths.append(
            f'<path d="M{parent.x:.1f} {start:.1f}C{parent.x:.1f} {middle:.1f} '
            f'{plate.x:.1f} {middle:.1f} {plate.x:.1f} {end:.1f}"/>'
        )
    return "".join(paths)


def _draw_tree_plate(plate: _TreePlate) -> str:
    if plate.is_ellipsis:
        return f'<text x="{plate.x:.1f}" y="{plate.y + 4:.1f}" fill="{LINE}">…</text>'
    title = f"<title>{escape(plate.label, 500)}</title>" if len(plate.label) > MAX_LABEL else ""
    colors = LEAF if plate.is_leaf else _INNER
    box = _draw_plate(plate.x, plate.y, plate.label, colors, bold=not plate.is_leaf)
    drawn = f"<g>{title}{box}</g>"
    if plate.edge:
        fill, ink = _EDGE
        y = plate.y - PLATE_HEIGHT / 2 - _EDGE_HEIGHT / 2 - _EDGE_GAP
        width = text_width(plate.edge, _EDGE_SIZE) + 10
        drawn += (
            f"{draw_box(plate.x, y, width, _EDGE_HEIGHT, fill, ink)}"
            f'<text x="{plate.x:.1f}" y="{y + 3.6:.1f}" font-size="{_EDGE_SIZE:g}" '
            f'fill="{ink}">{escape(plate.edge, MAX_LABEL)}</text>'
        )
    return drawn


def forest_svg(forest: Forest, max_nodes: int = 200) -> str:
    """Return a picture of a forest, a complete ``<svg>`` element.

    Parameters
    ----------
    forest : Forest
        The forest. With spans, every node is centered over its words.
    max_nodes : int, optional
        Maximum number of nodes: those of the best tree, then those of the highest marginals. A
        note says how many are left out.

    Examples
    --------
    >>> from kernelwood.structures import Forest
    >>> svg = forest_svg(Forest(["NP", "Ann"], [(0, (1,), 1.0)], 0))
    >>> svg.startswith("<svg "), svg.count("<circle ")
    (True, 1)
    """
    plates = _choose_forest_plates(forest, max(1, max_nodes))
    _place_forest(plates)
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
        f"{''.join(_draw_forest_plate(plate) for plate in plates)}"
    )
    return draw_picture("forest", width, height, inside, note)


@dataclass(slots=True, eq=False)
class _ForestPlate:
    """A node in the picture of a forest."""

    label: str
    node: int
    span: Span | None
    marginal: float
    is_word: bool
    is_best: bool
    links: list[_ForestLink] = field(default_factory=list)
    row: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        return _plate_width(self.label)

    @property
    def room(self) -> float:
        """Width reserved in the row, for the plate or its dots."""
        return max(self.width, len(self.links) * _DOT_GAP)

    @property
    def is_cut(self) -> bool:
        return not self.is_word and not self.links


@dataclass(slots=True, eq=False)
class _ForestLink:
    """A hyper-edge in the picture of a forest."""

    children: list[_ForestPlate]
    marginal: float
    probability: float
    is_best: bool
    n_hidden: int  # children that are not drawn
    x: float = 0.0


def _choose_forest_plates(forest: Forest, max_nodes: int) -> list[_ForestPlate]:
    """Return the nodes to draw, children before heads, with their hyper-edges."""
    scores = best_scores(forest)[1]
    # Ties go to the first hyper-edge, as in the best tree.
    best = [max(heading, key=scores.__getitem__, default=-1) for heading in forest._by_head]
    in_best = _reached(forest, best, [forest.root], set(), forest.n_nodes)
    counts, node_counts = forest.edge_marginals(), forest.node_marginals()
    shown = _choose_nodes(forest, best, counts, max_nodes)
    plates = {
        node: _ForestPlate(
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
            _ForestLink(
                visible, counts[position], probability, is_best, len(children) - len(visible)
            )
        )
    return list(plates.values())


def _reached(
    forest: Forest, best: list[int], start: Iterable[int], known: set[int], limit: int
) -> set[int]:
    """Return unknown nodes in ``start`` and below on best hyper-edges, up to about a limit."""
    found: set[int] = set()
    waiting = list(start)
    while waiting and len(found) <= limit:
        node = waiting.pop()
        if node not in found and node not in known:
            found.add(node)
            if best[node] >= 0:
                waiting.extend(forest.edges[best[node]][1])
    return found


def _choose_nodes(
    forest: Forest, best: list[int], counts: tuple[float, ...], max_nodes: int
) -> set[int]:
    """Return the nodes to draw: the best tree first, then the most likely others."""
    if forest.n_nodes <= max_nodes:
        return set(range(forest.n_nodes))
    shown = {forest.root}
    # Most likely first, then in the order found.
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
    """Add likely nodes up to the limit, each together with its best subtree."""
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
    """Return the hyper-edges between shown nodes, best ones first, then the most likely."""
    # Best hyper-edges are drawn even if some of their children are not.
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


def _place_forest(plates: list[_ForestPlate]) -> None:
    """Set rows and positions from the bottom up, without overlaps in a row."""
    for plate in plates:  # children before heads
        below = [child.row for link in plate.links for child in link.children]
        plate.row = max(below, default=-1) + 1
    rows: list[list[_ForestPlate]] = [[] for _ in range(max(plate.row for plate in plates) + 1)]
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


def _columns(plates: list[_ForestPlate]) -> list[Span]:
    """Return the span of words of each plate.

    In a forest without spans, plates without links are counted in depth-first order.
    """
    if plates[0].span is not None:
        return [plate.span for plate in plates if plate.span is not None]
    found: dict[_ForestPlate, Span] = {}
    seen: set[_ForestPlate] = set()
    waiting = [plates[-1]]  # the root
    while waiting:
        plate = waiting.pop()
        if plate not in seen:
            seen.add(plate)
            if not plate.links:
                found[plate] = (len(found), len(found) + 1)
            for link in reversed(plate.links):
                waiting.extend(reversed(link.children))
    for plate in plates:
        below = [found[child] for link in plate.links for child in link.children]
        if below:
            found[plate] = (min(start for start, _ in below), max(end for _, end in below))
    return [found[plate] for plate in plates]


def _center_over_words(plates: list[_ForestPlate], spans: list[Span]) -> None:
    """Center plates over their words, with room for all plates of a span side by side."""
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


def _move_apart(row: list[_ForestPlate]) -> None:
    """Move the plates of a row apart by the smallest total movement, likely nodes least.

    Positions minus the room before them must not decrease from left to right; pooling adjacent
    violators gives the least squares solution.
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


def _place_dots(plate: _ForestPlate) -> None:
    """Order the dots below a plate like their children, so that few lines cross."""
    plate.links.sort(key=lambda link: sum(child.x for child in link.children) / len(link.children))
    for i, link in enumerate(plate.links):
        link.x = plate.x + (i - (len(plate.links) - 1) / 2) * _DOT_GAP


def _draw_link(head: _ForestPlate, link: _ForestLink) -> str:
    color = _BEST if link.is_best else LINE
    strength = min(link.marginal, 1.0)
    bottom = head.y + PLATE_HEIGHT / 2
    y = bottom + _DOT_DROP
    path = [f"M{head.x:.1f} {bottom:.1f}L{link.x:.1f} {y:.1f}"]
    n_curves: Counter[_ForestPlate] = Counter()
    for child in link.children:
        x = child.x + 5.0 * n_curves[child]  # a repeated child has two curves
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


def _draw_forest_plate(plate: _ForestPlate) -> str:
    colors = (LEAF if plate.is_word else _INNER) if plate.is_best else _ALTERNATIVE
    place = "" if plate.span is None else f" · [{plate.span[0]}, {plate.span[1]})"
    below = plate.y + PLATE_HEIGHT / 2 + 10
    ellipsis = _draw_ellipsis(plate.x, below) if plate.is_cut else ""
    box = _draw_plate(plate.x, plate.y, plate.label, colors, bold=not plate.is_word)
    return (
        f"<g><title>{escape(plate.label, 300)}{place} · marginal {plate.marginal:.3g}</title>"
        f"{box}{ellipsis}</g>"
    )


def _note(forest: Forest, plates: list[_ForestPlate]) -> str:
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
        return "too many trees to count, the best in blue"
    if n_trees == 1:
        return "1 tree"
    # Python does not write integers of thousands of digits.
    digits = n_trees.bit_length() * log10(2)
    shown = f"{n_trees:,}" if digits < 12 else f"about 10^{digits:.0f}"
    return f"{shown} trees, the best in blue"


def sequence_html(sequence: Sequence, max_elements: int = 200) -> str:
    """Return a sequence as a row of HTML chips, each after its edge label.

    Examples
    --------
    >>> from kernelwood.structures import Sequence
    >>> "&lt;s&gt;" in sequence_html(Sequence(["<s>"]))
    True
    """
    chips = []
    for edge, node in islice(sequence, max_elements):
        before = _chip(edge, _EDGE, "font-size:80%") + " " if edge else ""
        chips.append(f'<span style="white-space:nowrap">{before}{_chip(node, LEAF)}</span>')
    if len(sequence) > max_elements:
        chips.append(f"<span>… {len(sequence) - max_elements:,} more</span>")
    inside = " ".join(chips) or "<em>empty sequence</em>"
    return f'<div style="font-family:{html.escape(FONT)};line-height:2.1">{inside}</div>'


def graph_html(graph: Graph, max_rows: int = 100) -> str:
    """Return a graph as an HTML table of its edges and its unconnected nodes.

    Examples
    --------
    >>> from kernelwood.structures import Graph
    >>> graph_html(Graph(["cat", "cats"], [(0, "plural", 1)])).count("<tr>")
    1
    """
    rows = [
        f"{_cell(_node(source, graph.nodes))}{_cell(_chip(label, _EDGE))}"
        f"{_cell(_node(target, graph.nodes))}"
        for source, label, target in graph.edges[:max_rows]
    ]
    alone = (node for node in graph.nodes if not graph.neighbors(node))
    for node in islice(alone, max_rows - len(rows)):
        rows.append(f"{_cell(_node(node, graph.nodes))}{_cell('')}{_cell('')}")
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div style="font-family:{html.escape(FONT)}">'
        f'<table style="border-collapse:collapse">{body}</table>'
        f"<small>{html.escape(repr(graph))}"
        f"{f', first {max_rows} edges shown' if len(graph.edges) > max_rows else ''}</small></div>"
    )


def _chip(text: str, colors: tuple[str, str], style: str = "") -> str:
    fill, ink = colors
    return (
        f'<span style="background:{fill};color:{ink};border-radius:5px;padding:2px 7px;{style}">'
        f"{escape(text, 200) or '&nbsp;'}</span>"
    )


def _node(node: NodeId, labels: Mapping[NodeId, str]) -> str:
    return f"{_chip(labels[node], _INNER)} <small>{escape(str(node), 40)}</small>"


def _cell(inside: str) -> str:
    return f'<td style="text-align:left;padding:3px 8px">{inside}</td>'
