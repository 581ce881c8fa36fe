"""Writing graphs in PENMAN notation.

`write_penman` and `kernelwood.structures.penman_notation.parse_penman` are inverse to each other:
ids, labels, edges and root of every graph that can be written come back, which is what equality
of graphs means. The order in which nodes and edges are listed, and the quotes of constants, may
change.

A node is opened where the edges, followed in their order from the root, first lead to it; only
what cannot be reached along the edges is opened against them, below a role ``...-of``. A leaf
whose id is the one reading would make for a constant, such as ``n.op1``, is written as constant.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kernelwood.errors import StructureError
from kernelwood.structures.labels import shorten
from kernelwood.structures.penman_notation import MAX_NESTING, FreshIds, is_inverted

if TYPE_CHECKING:
    from kernelwood.structures.graph import Edge, Graph, NodeId

__all__ = ["write_penman"]

_INDENT = "    "
_ROLE = re.compile(r'[^ \t\r\n\v\f"()/:~]*')
_SYMBOL = re.compile(r'[^ \t\r\n\v\f"()/:~#][^ \t\r\n\v\f"()/:~]*')
_NUMBER_OR_SIGN = re.compile(r"[-+]|[-+]?[0-9]+(?:\.[0-9]+)?")
_BARE_ROLES = frozenset({"mode", "polarity", "polite"})
# Some readers take these for line ends.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


class _Step(NamedTuple):
    """An edge as it is written at a node; ``opens`` if the other end is opened there."""

    role: str
    other: NodeId
    opens: bool
    constant: bool


def write_penman(
    graph: Graph, alignments: Mapping[NodeId, Sequence[int]] | None = None, *, indent: str = _INDENT
) -> str:
    r"""Write a graph in PENMAN notation, one edge a line, without a line end at the end.

    Parameters
    ----------
    graph : Graph
        Ids must be strings, all nodes be connected with the root.
    alignments : mapping of id to token indices, optional
        Written as ``~e.3,5`` behind the concept or constant.
    indent : str
        What begins a line, once for each open bracket.

    Raises
    ------
    StructureError
        If there is no root, an id or an edge label is none PENMAN can write, a node is not
        connected with the root, or brackets would nest more deeply than can be read.

    Examples
    --------
    >>> from kernelwood.structures import Graph
    >>> graph = Graph({"d": "dog", "b": "bark-01"}, [("b", "ARG0", "d")], root="d")
    >>> print(write_penman(graph, {"b": [1]}))
    (d / dog
        :ARG0-of (b / bark-01~e.1))
    """
    root = _check(graph)
    for open_nodes in (_open_along_edges, _open_nearest):
        opening = open_nodes(graph, root)
        _check_connected(graph, opening)
        text = _render(graph, root, opening, alignments or {}, indent)
        if text is not None:
            return text
    raise StructureError(
        f"the graph needs more than {MAX_NESTING} nested brackets",
        hint="PENMAN cannot be read at that depth; write JSON lines",
    )


def _check(graph: Graph) -> NodeId:
    """Return the root of a graph whose ids and labels can be written."""
    if graph.root is None:
        raise StructureError(
            "a graph without root cannot be written in PENMAN", hint="give it one: root=..."
        )
    for name in graph.nodes:
        if not isinstance(name, str) or not _SYMBOL.fullmatch(name):
            raise StructureError(
                f"the id {shorten(repr(name))} cannot be written in PENMAN",
                hint='ids are strings without blanks, quotes, brackets, "/", ":", "~" or "#" first',
            )
    for source, label, target in graph.edges:
        if label == "instance" or not _ROLE.fullmatch(label):
            raise StructureError(
                f"the label of edge {shorten(repr((source, label, target)))} "
                "cannot be written in PENMAN",
                hint="roles have no blanks, quotes, brackets, '/', ':' or '~', and "
                "'instance' stands for the concept",
            )
    return graph.root


def _goes_down(graph: Graph, edge: Edge) -> bool:
    """Say whether an edge can be written at its source."""
    return not is_inverted(f":{edge[1]}") or _may_be_constant(graph, edge)


def _goes_up(edge: Edge) -> bool:
    """Say whether an edge can be written at its target, as inverted role."""
    return is_inverted(f":{edge[1]}-of")


def _may_be_constant(graph: Graph, edge: Edge) -> bool:
    source, label, target = edge
    wish, name = f"{source}.{label}", str(target)
    return (
        name.startswith(wish)
        and (name == wish or name[len(wish)] == ".")
        and target != graph.root
        and not graph.successors(target)
        and len(graph.predecessors(target)) == 1
    )


def _edges_at(graph: Graph) -> tuple[dict[NodeId, list[int]], dict[NodeId, list[int]]]:
    """Return the edges that can be written at each node: downward, and upward."""
    down: dict[NodeId, list[int]] = {name: [] for name in graph.nodes}
    up: dict[NodeId, list[int]] = {name: [] for name in graph.nodes}
    for index, edge in enumerate(graph.edges):
        if _goes_down(graph, edge):
            down[edge[0]].append(index)
        if _goes_up(edge):
            up[edge[2]].append(index)
    return down, up


def _open_along_edges(graph: Graph, root: NodeId) -> dict[int, NodeId]:
    """Return the edges behind which a node is opened, going down as far as possible."""
    down, up = _edges_at(graph)
    opening: dict[int, NodeId] = {}
    reached = {root}
    order = _descend(graph, root, down, reached, opening)
    for node in order:  # grows on the way
        for index in up[node]:
            source = graph.edges[index][0]
            if source not in reached:
                opening[index] = source
                reached.add(source)
                order += _descend(graph, source, down, reached, opening)
    return opening


def _descend(
    graph: Graph,
    start: NodeId,
    down: Mapping[NodeId, list[int]],
    reached: set[NodeId],
    opening: dict[int, NodeId],
) -> list[NodeId]:
    """Open what can be reached downward, depth first; return it in order."""
    found = [start]
    pending = [iter(down[start])]
    while pending:
        for index in pending[-1]:
            target = graph.edges[index][2]
            if target not in reached:
                opening[index] = target
                reached.add(target)
                found.append(target)
                pending.append(iter(down[target]))
                break
        else:
            pending.pop()
    return found


def _open_nearest(graph: Graph, root: NodeId) -> dict[int, NodeId]:
    """Return the edges behind which a node is opened, with as few brackets open as possible."""
    down, up = _edges_at(graph)
    opening: dict[int, NodeId] = {}
    reached = {root}
    pending = deque([root])
    while pending:
        node = pending.popleft()
        ends = [(index, graph.edges[index][2]) for index in down[node]]
        for index, other in ends + [(index, graph.edges[index][0]) for index in up[node]]:
            if other not in reached:
                opening[index] = other
                reached.add(other)
                pending.append(other)
    return opening


def _check_connected(graph: Graph, opening: Mapping[int, NodeId]) -> None:
    if len(opening) + 1 < len(graph.nodes):
        reached = {graph.root, *opening.values()}
        lost = next(name for name in graph.nodes if name not in reached)
        raise StructureError(
            f"node {shorten(repr(lost))} is not connected with the root, "
            "or only by an edge that reads as inverted",
            hint="PENMAN writes what can be reached from the root; "
            "a label in -of cannot lead away from it",
        )


def _steps(graph: Graph, opening: Mapping[int, NodeId]) -> dict[NodeId, list[_Step]]:
    """Return what is written at each node, in the order of the edges."""
    steps: dict[NodeId, list[_Step]] = {name: [] for name in graph.nodes}
    for index, edge in enumerate(graph.edges):
        source, label, target = edge
        opened = opening.get(index)
        constant = opened == target and _may_be_constant(graph, edge)
        downward = opened == target if opened is not None else _goes_down(graph, edge)
        if downward:
            steps[source].append(_Step(f":{label}", target, opened is not None, constant))
        else:
            steps[target].append(_Step(f":{label}-of", source, opened is not None, False))
    return steps


def _render(
    graph: Graph,
    root: NodeId,
    opening: Mapping[int, NodeId],
    alignments: Mapping[NodeId, Sequence[int]],
    indent: str,
) -> str | None:
    """Return the text, or None if brackets nest too deeply."""
    steps = _steps(graph, opening)
    candidates = {step.other for listed in steps.values() for step in listed if step.constant}
    # Reading knows all the variables before it names the first constant.
    fresh = FreshIds(name for name in graph.nodes if name not in candidates)
    parts = [_opened(graph, root, alignments)]
    pending: list[tuple[NodeId, Iterator[_Step]]] = [(root, iter(steps[root]))]
    while pending:
        node, rest = pending[-1]
        step = next(rest, None)
        if step is None:
            parts.append(")")
            pending.pop()
            continue
        parts.append(f"\n{indent * len(pending)}{step.role} ")
        if not step.opens:
            parts.append(str(step.other))
        elif _is_constant(node, step, fresh):
            parts.append(_constant(graph, node, step, alignments))
        else:
            parts.append(_opened(graph, step.other, alignments))
            pending.append((step.other, iter(steps[step.other])))
            if len(pending) > MAX_NESTING:
                return None
    return "".join(parts)


def _is_constant(node: NodeId, step: _Step, fresh: FreshIds) -> bool:
    """Say whether reading a constant here would give it the id it has."""
    if not step.constant:
        return False
    found = fresh.peek(f"{node}.{step.role[1:]}") == step.other
    if not found and is_inverted(step.role):
        raise StructureError(
            f"the edge {step.role[1:]!r} of node {shorten(repr(node))} reads as inverted",
            hint="a label in -of can only lead to a constant",
        )
    fresh.taken.add(str(step.other))
    return found


def _opened(graph: Graph, node: NodeId, alignments: Mapping[NodeId, Sequence[int]]) -> str:
    label, aligned = graph.nodes[node], _alignment(node, alignments)
    if not label and not aligned:
        return f"({node}"
    bare = _SYMBOL.fullmatch(label) and label.isprintable()
    return f"({node} / {label if bare else _quoted(label)}{aligned}"


def _constant(
    graph: Graph, node: NodeId, step: _Step, alignments: Mapping[NodeId, Sequence[int]]
) -> str:
    """Write a constant in quotes, unless AMR writes this one without."""
    label = graph.nodes[step.other]
    usual = _NUMBER_OR_SIGN.fullmatch(label) or step.role[1:] in _BARE_ROLES
    bare = (
        usual
        and graph.nodes[node] != "name"  # names are texts, even those made of digits
        and label not in graph.nodes
        and _SYMBOL.fullmatch(label)
        and label.isprintable()
    )
    return (label if bare else _quoted(label)) + _alignment(step.other, alignments)


def _quoted(label: str) -> str:
    return json.dumps(label, ensure_ascii=False).translate(_ESCAPED)


def _alignment(node: NodeId, alignments: Mapping[NodeId, Sequence[int]]) -> str:
    indices = alignments.get(node, ())
    return f"~e.{','.join(map(str, indices))}" if indices else ""
