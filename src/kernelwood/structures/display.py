"""Pictures of structures for notebooks: SVG for trees, HTML for sequences and graphs.

Every label sits on a plate of its own color, so the pictures read well on light and dark pages
alike. Only text that went through `escape` reaches the markup.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelwood.structures.graph import Graph, NodeId
    from kernelwood.structures.sequence import Sequence
    from kernelwood.structures.tree import Tree

__all__ = [
    "draw_box",
    "draw_picture",
    "escape",
    "graph_html",
    "sequence_html",
    "text_width",
    "tree_svg",
]

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
INNER, LEAF, _EDGE = ("#e7edf8", "#2b4a7f"), ("#e9f5ec", "#20603a"), ("#fdf3dc", "#8a5a00")
LINE = "#8b95a7"  # dark enough on white, light enough on black
FONT_SIZE, _EDGE_SIZE = 13.0, 10.5
PLATE_HEIGHT, _EDGE_HEIGHT, _EDGE_GAP = 24.0, 15.0, 3.0
GAP, MARGIN = 12.0, 10.0
MAX_LABEL = 28
# Not allowed in XML, not even escaped: most control characters, surrogates, two non-characters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def escape(text: str, width: int | None = None) -> str:
    """Return ``text``, cut to ``width`` characters, safe to stand in SVG and HTML.

    Examples
    --------
    >>> escape("<b> & co", 6)
    '&lt;b&gt; &amp;…'
    """
    if width is not None and len(text) > width:
        text = text[: width - 1] + "…"
    visible = text.replace("\n", "⏎").replace("\r", "⏎").replace("\t", " ")
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", visible))


def tree_svg(tree: Tree, max_nodes: int = 200) -> str:
    """Draw a tree as an SVG picture.

    Parameters
    ----------
    tree : Tree
        The tree.
    max_nodes : int, optional
        A larger tree is cut after so many nodes, level by level; an ellipsis stands for what is
        left out.

    Returns
    -------
    str
        A complete ``<svg>`` element.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> tree_svg(Tree.from_brackets("(NP (DT the) (NN cat))")).startswith("<svg ")
    True
    """
    plates = _choose_plates(tree, max(1, max_nodes))
    level_height = 70.0 if any(plate.edge for plate in plates) else 48.0
    _place(plates, level_height)
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
        f"{''.join(_draw_plate(plate) for plate in plates)}"
    )
    return draw_picture("tree", width, height, inside, note)


def draw_picture(name: str, width: float, height: float, inside: str, note: str) -> str:
    """Return a complete ``<svg>`` element, with a note in its lower left corner if there is one."""
    if note:
        inside += (
            f'<text x="{MARGIN:g}" y="{height - MARGIN:g}" text-anchor="start" font-size="11" '
            f'fill="{LINE}">{note}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{name}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" '
        f'font-family="{FONT}" font-size="{FONT_SIZE:g}" text-anchor="middle">{inside}</svg>'
    )


@dataclass(slots=True)
class _Plate:
    """One node of the picture; ``span`` is the width of all that hangs below it."""

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
        return max(PLATE_HEIGHT, text_width(self.label, FONT_SIZE) + 16)


def _choose_plates(tree: Tree, max_nodes: int) -> list[_Plate]:
    """List the nodes to draw, level by level: parents always stand before their children."""
    plates = [_Plate(tree.label, tree.edge, -1, 0, tree.is_leaf)]
    nodes: list[Tree | None] = [tree]
    n_shown = 1
    for index, node in enumerate(nodes):
        if node is None:
            continue
        depth = plates[index].depth + 1
        for child in node.children:
            plates[index].children.append(len(plates))
            if n_shown == max_nodes:
                plates.append(_Plate("…", "", index, depth, True, is_ellipsis=True))
                nodes.append(None)
                break
            plates.append(_Plate(child.label, child.edge, index, depth, child.is_leaf))
            nodes.append(child)
            n_shown += 1
    return plates


def _place(plates: list[_Plate], level_height: float) -> None:
    """Give every subtree its own strip and center parents over their children."""
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


def _draw_links(plates: list[_Plate]) -> str:
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


def _draw_plate(plate: _Plate) -> str:
    if plate.is_ellipsis:
        return f'<text x="{plate.x:.1f}" y="{plate.y + 4:.1f}" fill="{LINE}">…</text>'
    fill, ink = LEAF if plate.is_leaf else INNER
    weight = "" if plate.is_leaf else ' font-weight="600"'
    title = f"<title>{escape(plate.label, 500)}</title>" if len(plate.label) > MAX_LABEL else ""
    drawn = (
        f"<g>{title}{draw_box(plate.x, plate.y, plate.width, PLATE_HEIGHT, fill, ink)}"
        f'<text x="{plate.x:.1f}" y="{plate.y + 4.5:.1f}" fill="{ink}"{weight}>'
        f"{escape(plate.label, MAX_LABEL)}</text></g>"
    )
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


def draw_box(x: float, y: float, width: float, height: float, fill: str, ink: str) -> str:
    """Return a plate with its center at ``x``, ``y``."""
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height:g}" rx="{height / 4:g}" fill="{fill}" stroke="{ink}" '
        f'stroke-opacity="0.35"/>'
    )


def text_width(text: str, size: float) -> float:
    """Estimate the drawn width of a label; wide East Asian characters take a whole em."""
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


def sequence_html(sequence: Sequence, max_elements: int = 200) -> str:
    """Show a sequence as a row of chips, each after its edge label.

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
    """Show a graph as a table of its edges and its unconnected nodes.

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
    return f"{_chip(labels[node], INNER)} <small>{escape(str(node), 40)}</small>"


def _cell(inside: str) -> str:
    return f'<td style="text-align:left;padding:3px 8px">{inside}</td>'
