"""Ways through a graph from an interaction to its participants, as trees and as walks.

A way is a shortest one, edges being walked in both directions. All ways of a candidate are taken
from one breadth-first search, so they part once and never meet again. Ties are broken by the order
of edges in the graph: a node first tries the edges that leave it, then those that enter it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias, TypeVar

from kernelwood.errors import StructureError
from kernelwood.structures import Graph, NodeId, Sequence, Tree, make_node, shorten

__all__ = ["InteractionWays", "several", "without_sense"]

# Roles of AMR that end in -of without being inverted.
_NOT_INVERTED = frozenset(["consist-of", "prep-on-behalf-of", "prep-out-of"])
_INVERSE = "-of"
_SELF = "self"
# Not the number in a name like IL-10, which may stand in a graph as a constant.
_SENSE = re.compile(r"(?<=[a-z])-\d\d$")

Names = TypeVar("Names", bound=Iterable[str])

_Participants: TypeAlias = "list[tuple[str, NodeId]]"
_Steps: TypeAlias = "dict[NodeId, tuple[NodeId, str]]"  # node -> the one it hangs from, and by what


class InteractionWays:
    """The ways from interactions of a graph to their participants, each searched for once.

    For several candidates of one graph; for a single one there are `interaction_tree` and
    `interaction_path` of `kernelwood.views`, where the parameters are described.

    Parameters
    ----------
    graph, senses, lowercase
        As in `interaction_tree`.

    Examples
    --------
    >>> graph = Graph.from_penman("(b / bind-01 :ARG1 (p / protein) :ARG2 (e / enzyme))")
    >>> ways = InteractionWays(graph)
    >>> ways.tree("b", [("", "p")]), ways.tree("b", [("", "e")])
    (Tree('(bind "arg1":protein)'), Tree('(bind "arg2":enzyme)'))
    """

    __slots__ = ("_graph", "_lowercase", "_searches", "_senses")

    def __init__(self, graph: Graph, *, senses: bool = False, lowercase: bool = True) -> None:
        self._graph = graph
        self._senses = senses
        self._lowercase = lowercase
        self._searches: dict[NodeId, _Search] = {}

    def tree(
        self, root: NodeId, participants: Iterable[tuple[str, NodeId]], *, colored: bool = True
    ) -> Tree:
        """Return what `interaction_tree` returns."""
        listed = list(participants)
        steps = self._search(root, listed).steps
        below = _children(steps, root, listed)
        made: dict[NodeId, Tree] = {}
        for node in reversed(below):  # children were found after the node they hang from
            ends = [role for role, end in listed if end == node]
            edge, concept = self._element(steps, node)
            children = [made[child] for child in below[node]]
            if len(ends) == 1 and not children:
                made[node] = make_node(_color(ends[0], concept, colored), (), edge)
            else:
                own = [make_node(_color(role, concept, colored), (), _SELF) for role in ends]
                made[node] = make_node(concept, (*own, *children), edge)
        return made[root]

    def path(
        self,
        root: NodeId,
        participants: Iterable[tuple[str, NodeId]],
        *,
        up: Collection[str] = ("catalyst",),
        colored: bool = False,
    ) -> Sequence:
        """Return what `interaction_path` returns."""
        listed = list(participants)
        search = self._search(root, listed)
        roles = several(up)
        acting = {number for number, (role, _) in enumerate(listed) if role in roles} or {0}
        rising: list[tuple[str, str]] = []
        falling: list[tuple[str, str]] = []
        for number, (role, end) in enumerate(listed):
            (edge, concept), *rest = self._way(search, end)
            way = [(edge, _color(role, concept, colored)), *rest]
            if number in acting:
                rising += way
            else:
                falling += reversed(way)
        return Sequence(rising + falling)

    def _search(self, root: NodeId, participants: _Participants) -> _Search:
        """Return a search that has found the participants, if all is lawful."""
        ends = _check(self._graph, root, participants)
        search = self._searches.get(root)
        if search is None:
            search = self._searches[root] = _Search(self._graph, root)
        missing = search.find(ends)
        for _, end in participants:
            if end in missing:
                raise StructureError(
                    f"no way leads from the interaction {shorten(repr(root))} "
                    f"to the participant {shorten(repr(end))}",
                    hint="they lie in unconnected parts of the graph; leave the candidate out",
                )
        return search

    def _way(self, search: _Search, end: NodeId) -> list[tuple[str, str]]:
        """Return the elements from a participant up to the root."""
        way = search.ways.get(end)
        if way is None:
            steps = search.steps
            way = search.ways[end] = [self._element(steps, node) for node in _way(steps, end)]
        return way

    def _element(self, steps: _Steps, node: NodeId) -> tuple[str, str]:
        """Return the role by which a node hangs from the next one, and its concept."""
        role = steps[node][1] if node in steps else ""
        concept = self._graph.nodes[node]
        return (
            role.lower() if self._lowercase else role,
            concept if self._senses else without_sense(concept),
        )


class _Search:
    """A breadth-first search from one node, which goes on when there is more to be found.

    Attributes
    ----------
    steps : dict
        How each node found hangs from the one nearer to the root.
    ways : dict
        Room for what is made of the ways found.
    """

    __slots__ = ("_graph", "_root", "_todo", "steps", "ways")

    def __init__(self, graph: Graph, root: NodeId) -> None:
        self._graph = graph
        self._root = root
        self._todo = deque([root])
        self.steps: _Steps = {}
        self.ways: dict[NodeId, list[tuple[str, str]]] = {}

    def find(self, ends: set[NodeId]) -> set[NodeId]:
        """Search until all ends are found; return those that are not to be found."""
        root, steps, todo = self._root, self.steps, self._todo
        missing = ends.difference(steps)
        while todo and missing:
            node = todo.popleft()
            for role, other in _neighbors(self._graph, node):
                if other not in steps and other != root:
                    steps[other] = (node, role)
                    missing.discard(other)
                    todo.append(other)
        return missing


def _check(graph: Graph, root: NodeId, participants: _Participants) -> set[NodeId]:
    """Return the nodes to be found, if there are any and all are lawful."""
    graph.successors(root)  # says what is wrong if there is no such node
    for pair in participants:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise StructureError(
                f"a participant must be a (role, node id) pair, got {shorten(repr(pair))}"
            )
        end = pair[1]
        graph.successors(end)
        if end == root:
            raise StructureError(
                f"node {shorten(repr(root))} is the interaction and cannot take part in itself",
                hint="leave the candidate out",
            )
    if not participants:
        raise StructureError(f"the interaction {shorten(repr(root))} has no participants")
    return {end for _, end in participants}


def _neighbors(graph: Graph, node: NodeId) -> Iterator[tuple[str, NodeId]]:
    yield from graph.successors(node)
    for role, source in graph.predecessors(node):
        yield _inverse(role), source


def _inverse(role: str) -> str:
    """Return the role of an edge that is walked against its direction."""
    if role.endswith(_INVERSE) and role not in _NOT_INVERTED:
        return role[: -len(_INVERSE)]
    return role + _INVERSE


def _way(steps: _Steps, end: NodeId) -> Iterator[NodeId]:
    """Iterate over the nodes from a participant up to the root."""
    node = end
    while node in steps:
        yield node
        node = steps[node][0]
    yield node


def _children(
    steps: _Steps, root: NodeId, participants: _Participants
) -> dict[NodeId, list[NodeId]]:
    """Return the nodes on the ways with their children; every node comes before its children."""
    below: dict[NodeId, list[NodeId]] = {root: []}
    for _, end in participants:
        new: list[NodeId] = []
        for node in _way(steps, end):
            if node in below:
                break
            new.append(node)
        for node in reversed(new):
            below[steps[node][0]].append(node)
            below[node] = []
    return below


def _color(role: str, concept: str, colored: bool) -> str:
    return f"{role}:{concept}" if colored and role else concept


def several(names: Names) -> Names | tuple[str]:
    """Return the names; a single string is one name, not its letters.

    Examples
    --------
    >>> several("bind")
    ('bind',)
    """
    return (names,) if isinstance(names, str) else names


def without_sense(concept: str) -> str:
    """Return a concept without the number of its sense.

    Examples
    --------
    >>> without_sense("bind-01"), without_sense("IL-10")
    ('bind', 'IL-10')
    """
    return _SENSE.sub("", concept)
