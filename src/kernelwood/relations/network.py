"""Drawing of facts as a network: entities are boxes, facts are lines between them.

The layout has no random numbers: the same facts give the same drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.relations.facts import Fact, FactEntity
from kernelwood.structures import one_line, text_width

Points: TypeAlias = NDArray[np.float64]

_TEXT_SIZE = 12.0
_MAX_NAME = 22  # characters of an entity
_HEIGHT, _PADDING = 22.0, 8.0  # of a box
_GAP = 14.0  # between boxes
_LENGTH = 74.0  # of a line between two boxes
_SPREAD = 30.0  # between components
_WIDTH = 960.0  # that components are packed into
_BEND = 22.0  # between several lines that join the same boxes
_ROOM = (125.0, 66.0)  # of a component, by the square root of its number of boxes
_GRAVITY = 0.03  # holds loosely connected boxes near the others
_STEPS = 200
_HEAD = 9.0  # length of an arrowhead


class Node(NamedTuple):
    """An entity; ``x`` and ``y`` are the middle of its box."""

    name: str
    type: str
    x: float
    y: float
    width: float
    height: float = _HEIGHT


class Edge(NamedTuple):
    """A fact as a line.

    Attributes
    ----------
    fact : int
        Number of the fact in the list.
    path, head : str
        SVG paths of the line and of its arrowhead; "" without direction.
    thickness : float
        In pixels, larger for facts with more mentions.
    """

    fact: int
    path: str
    head: str
    thickness: float


class Network(NamedTuple):
    """A drawing, with its size in pixels."""

    width: float
    height: float
    nodes: Sequence[Node]
    edges: Sequence[Edge]


def draw_network(facts: Iterable[Fact], n: int = 60) -> Network | None:
    """Return a drawing of the first `n` facts between two entities; None if there are none.

    Boxes do not overlap. Each connected part of the network is laid out by forces [1]_; the parts
    are placed in rows, large ones first.

    Parameters
    ----------
    facts : iterable of Fact
        The strongest first.
    n : int
        Maximum number of facts.

    References
    ----------
    .. [1] T. Fruchterman, E. Reingold, "Graph drawing by force-directed placement", Software:
       Practice and Experience 21 (1991).

    Examples
    --------
    >>> raf, mek = FactEntity("Raf", "protein"), FactEntity("MEK1", "protein")
    >>> drawing = draw_network([Fact(raf, "Binds", mek, False, 2, ("d1",), 0.9, 0.9)])
    >>> [node.name for node in drawing.nodes], len(drawing.edges)
    (['Raf', 'MEK1'], 1)
    """
    ends: list[tuple[int, int]] = []
    chosen: list[tuple[int, Fact]] = []
    numbers: dict[FactEntity, int] = {}
    for number, fact in enumerate(facts):
        if len(chosen) == n:
            break
        if fact.second is None or fact.second == fact.first:
            continue
        chosen.append((number, fact))
        first, second = (numbers.setdefault(one, len(numbers)) for one in (fact.first, fact.second))
        ends.append((first, second))
    if not chosen:
        return None
    names = [_cut(entity.name) for entity in numbers]
    sizes = np.array([(_box_width(name), _HEIGHT) for name in names])
    points, width, height = _arrange(sizes, ends)
    nodes = [
        Node(name, entity.type, x, y, size)
        for name, entity, (x, y), size in zip(
            names, numbers, points.tolist(), sizes[:, 0].tolist(), strict=True
        )
    ]
    return Network(width, height, nodes, _lines(chosen, ends, nodes))


def _cut(name: str) -> str:
    line = one_line(name)
    return line if len(line) <= _MAX_NAME else line[: _MAX_NAME - 1] + "…"


def _box_width(name: str) -> float:
    return float(math.ceil(text_width(name, _TEXT_SIZE) + 2 * _PADDING))


# Places of boxes.


def _arrange(
    sizes: Points, ends: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.float64], float, float]:
    """Return the middle of each box, and width and height of the whole."""
    points = np.zeros_like(sizes)
    parts = []
    for members in components(len(sizes), ends):
        place = {node: number for number, node in enumerate(members)}
        inner = [(place[a], place[b]) for a, b in ends if a in place]
        found = _in_row(inner, sizes[members])
        if found is None:
            found = separate(_forces(len(members), inner), sizes[members])
        low = (found - sizes[members] / 2).min(axis=0)
        extent = (found + sizes[members] / 2).max(axis=0) - low
        points[members] = found - low
        parts.append((members, float(extent[0]), float(extent[1])))
    x = y = row = total = 0.0
    for members, width, height in sorted(parts, key=lambda part: (-part[2], -part[1])):
        if x and x + width > _WIDTH:
            x, y, row = 0.0, y + row + _SPREAD, 0.0
        points[members] += (x + _GAP / 2, y + _GAP / 2)
        x, row, total = x + width + _SPREAD, max(row, height), max(total, x + width)
    return points, total + _GAP, y + row + _GAP


def components(n: int, ends: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the connected parts of a graph of `n` nodes, each sorted.

    Examples
    --------
    >>> components(5, [(0, 2), (3, 1), (2, 4)])
    [[0, 2, 4], [1, 3]]
    """
    linked: list[set[int]] = [set() for _ in range(n)]
    for a, b in ends:
        linked[a].add(b)
        linked[b].add(a)
    seen: set[int] = set()
    parts: list[list[int]] = []
    for start in range(n):
        if start in seen:
            continue
        part, waiting = {start}, [start]
        while waiting:
            new = linked[waiting.pop()] - part
            part |= new
            waiting += sorted(new)
        seen |= part
        parts.append(sorted(part))
    return parts


def _in_row(ends: Sequence[tuple[int, int]], sizes: Points) -> Points | None:
    """Return the places of two nodes, or of three of which one is joined with both others."""
    joined = {frozenset(pair) for pair in ends}
    if len(sizes) > 3 or len(joined) == 3:
        return None
    middle = frozenset.intersection(*joined) if len(sizes) == 3 else frozenset[int]()
    row = sorted(set(range(len(sizes))) - middle)
    row[1:1] = middle
    x, points = 0.0, np.zeros_like(sizes)
    for node in row:
        points[node, 0] = x + sizes[node, 0] / 2
        x += float(sizes[node, 0]) + _LENGTH
    return points


def _forces(n: int, ends: Sequence[tuple[int, int]]) -> Points:
    """Return places of connected nodes: all repel each other, lines attract their ends."""
    degree = [sum(node in pair for pair in ends) for node in range(n)]
    ranks = sorted(range(n), key=lambda node: (-degree[node], node))
    points = np.zeros((n, 2))
    for rank, node in enumerate(ranks):  # a spiral, the most connected in the middle
        angle, radius = rank * math.pi * (3 - math.sqrt(5)), _LENGTH * math.sqrt(rank)
        points[node] = radius * math.cos(angle), radius * math.sin(angle)
    linked = np.zeros((n, n, 1))
    for a, b in ends:
        linked[a, b] = linked[b, a] = 1.0
    for step in range(_STEPS):
        apart = points[None] - points[:, None]  # apart[i, j] leads from i to j
        distance = np.sqrt((apart**2).sum(axis=2, keepdims=True)) + 1e-6
        force = linked * distance / _LENGTH - (_LENGTH / distance) ** 2
        # The sum over the first axis adds row by row, alike on all machines.
        moved = -(apart * force).sum(axis=0) - _GRAVITY * points
        length = np.sqrt((moved**2).sum(axis=1, keepdims=True)) + 1e-6
        limit = _LENGTH * (1 - step / _STEPS)
        points = points + moved / length * np.minimum(length, limit)
    points = points - points.min(axis=0)
    room = np.array(_ROOM) * math.sqrt(n)
    room[0] = min(room[0], _WIDTH - 3 * _LENGTH)
    result: Points = points * (room / np.maximum(points.max(axis=0), 1.0))
    return result


def separate(points: Points, sizes: Points) -> Points:
    """Return the middles of boxes, moved so that no two overlap and lines between them are seen.

    Parameters
    ----------
    points, sizes : ndarray, shape (n, 2)
        Middle, and width and height, of each box.
    """
    places = points.tolist()
    extents = sizes.tolist()
    while not _pushed(places, extents):
        places = [[1.2 * x, 1.2 * y] for x, y in places]  # too dense
    return np.array(places)


def _pushed(places: list[list[float]], extents: list[list[float]], n_passes: int = 60) -> bool:
    """Push overlapping boxes apart, in place; return whether none overlap any more."""
    for _ in range(n_passes):
        moved = False
        for i, (wide, high) in enumerate(extents):
            for j in range(i):
                dx, dy = places[i][0] - places[j][0], places[i][1] - places[j][1]
                over_x = (wide + extents[j][0]) / 2 + _GAP - abs(dx)
                over_y = (high + extents[j][1]) / 2 + _GAP - abs(dy)
                if over_x <= 0 or over_y <= 0:
                    continue
                moved = True
                axis = 0 if over_x < over_y else 1
                push = (min(over_x, over_y) / 2 + 0.01) * (1 if (dx, dy)[axis] >= 0 else -1)
                places[i][axis] += push
                places[j][axis] -= push
        if not moved:
            return True
    return False


# Lines.


def _lines(
    chosen: Sequence[tuple[int, Fact]], ends: Sequence[tuple[int, int]], nodes: Sequence[Node]
) -> list[Edge]:
    """Return the lines of facts; several between the same boxes are bent apart."""
    joining: dict[tuple[int, int], list[int]] = {}
    for number, (first, second) in enumerate(ends):
        joining.setdefault((min(first, second), max(first, second)), []).append(number)
    made: dict[int, Edge] = {}
    for pair, some in joining.items():
        for place, number in enumerate(some):
            bend = _BEND * (place - (len(some) - 1) / 2) * (1 if ends[number] == pair else -1)
            fact_number, fact = chosen[number]
            thickness = min(6.0, 1.5 + math.log2(fact.count))
            one, other = (nodes[node] for node in ends[number])
            path, head = _line(one, other, bend, fact.directed)
            made[number] = Edge(fact_number, path, head, thickness)
    return [made[number] for number in sorted(made)]


def _line(first: Node, second: Node, bend: float, directed: bool) -> tuple[str, str]:
    dx, dy = second.x - first.x, second.y - first.y
    length = math.hypot(dx, dy)
    # The line goes through a point beside its middle.
    x = (first.x + second.x) / 2 - bend * dy / length
    y = (first.y + second.y) / 2 + bend * dx / length
    start, end = _border(first, x, y), _border(second, x, y)
    back = math.hypot(end[0] - x, end[1] - y) or 1.0
    ux, uy = (end[0] - x) / back, (end[1] - y) / back
    tip, head = end, ""
    if directed:
        end = (tip[0] - _HEAD * ux, tip[1] - _HEAD * uy)
        half = _HEAD / 2
        head = (
            f"M{tip[0]:.1f} {tip[1]:.1f}L{end[0] - half * uy:.1f} {end[1] + half * ux:.1f}"
            f"L{end[0] + half * uy:.1f} {end[1] - half * ux:.1f}Z"
        )
    bow = f"Q{x:.1f} {y:.1f} " if bend else "L"
    return f"M{start[0]:.1f} {start[1]:.1f}{bow}{end[0]:.1f} {end[1]:.1f}", head


def _border(node: Node, x: float, y: float) -> tuple[float, float]:
    """Return where the line from the middle of a box to a point leaves the box."""
    dx, dy = x - node.x, y - node.y
    shares = [size / 2 / abs(away) for size, away in ((node.width, dx), (node.height, dy)) if away]
    share = min([1.0, *shares])
    return node.x + share * dx, node.y + share * dy
