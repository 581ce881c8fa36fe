"""Directed graphs with labeled nodes and edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias, cast, final

from kernelwood.errors import StructureError
from kernelwood.structures.penman_notation import parse_penman, write_penman
from kernelwood.structures.structure_base import Frozen, check_label, shorten

NodeId: TypeAlias = str | int
Edge: TypeAlias = tuple[NodeId, str, NodeId]
_Joined: TypeAlias = dict[NodeId, list[tuple[str, NodeId]]]


@final
class Graph(Frozen):
    """A directed graph, such as an abstract meaning representation.

    Graphs are immutable and hashable. Two graphs are equal when they have the same node ids with
    the same labels, the same edges and the same root, in any order.

    Parameters
    ----------
    nodes : mapping of id to label, iterable of (id, label) pairs, or iterable of labels
        Ids are strings or integers; plain labels get the ids 0, 1, 2, ...
    edges : iterable of (source, label, target), optional
        Labeled edges between node ids; several edges may join the same nodes.
    root : str or int, optional
        Id of the root, if there is one.

    Attributes
    ----------
    nodes : mapping
        Label of each id, read-only, in the order given.
    edges : tuple
        The (source, label, target) triples in the order given.
    root : str, int or None
        As given.

    Raises
    ------
    StructureError
        If a label is not a string, an id is used twice, or an edge or the root names a node that
        does not exist.

    Examples
    --------
    >>> graph = Graph({"b": "bind-01", "p": "protein"}, [("b", "ARG1", "p")], root="b")
    >>> graph
    Graph(2 nodes, 1 edge, root='b')
    >>> graph.successors("b")
    (('ARG1', 'p'),)
    """

    __slots__ = ("_hash", "_incoming", "_outgoing", "edges", "nodes", "root")

    nodes: Mapping[NodeId, str]
    edges: tuple[Edge, ...]
    root: NodeId | None
    _outgoing: _Joined | None  # None until they are needed
    _incoming: _Joined | None
    _hash: int

    def __new__(
        cls,
        nodes: Mapping[NodeId, str] | Iterable[tuple[NodeId, str]] | Iterable[str],
        edges: Iterable[tuple[NodeId, str, NodeId]] = (),
        root: NodeId | None = None,
    ) -> Graph:
        """Check the parts and make the graph."""
        labels = _check_nodes(nodes)
        triples = tuple(_check_edge(edge, i, labels) for i, edge in enumerate(edges))
        if root is not None:
            _check_known(root, labels, "root")
        return cls._trusted(labels, triples, root)

    @classmethod
    def _trusted(
        cls, labels: dict[NodeId, str], triples: tuple[Edge, ...], root: NodeId | None
    ) -> Graph:
        """Return a graph of valid parts, without checks."""
        self = object.__new__(cls)
        self._fill(
            nodes=MappingProxyType(labels),
            edges=triples,
            root=root,
            _outgoing=None,
            _incoming=None,
            _hash=hash((frozenset(labels.items()), frozenset(triples), root)),
        )
        return self

    def _join(self) -> None:
        """Find the edges of each node; most graphs are read but never walked."""
        outgoing: _Joined = {name: [] for name in self.nodes}
        incoming: _Joined = {name: [] for name in self.nodes}
        for source, label, target in self.edges:
            outgoing[source].append((label, target))
            incoming[target].append((label, source))
        self._fill(_outgoing=outgoing, _incoming=incoming)

    @classmethod
    def from_penman(cls, text: str) -> Graph:
        """Return the graph in PENMAN notation, the notation of AMR.

        Concepts become node labels; a node without a concept has the label "". A constant becomes
        a leaf without quotes, with an id made of its owner and role, such as ``n.op1``. Edge
        labels are roles without colon; inverted roles (``ARG0-of``) are reversed to ``ARG0`` as
        the ``penman`` package does for AMR. Comments and alignments are ignored.

        Raises
        ------
        StructureError
            If ``text`` is not exactly one well-formed graph, or is nested too deeply for
            ``penman``; carries line and column.

        Examples
        --------
        >>> graph = Graph.from_penman('(p / protein :name (n / name :op1 "Raf"))')
        >>> graph.edges
        (('p', 'name', 'n'), ('n', 'op1', 'n.op1'))
        >>> graph.nodes["n.op1"]
        'Raf'
        """
        if not isinstance(text, str):
            raise StructureError(f"expected PENMAN text, got {type(text).__name__}")
        return cls(*parse_penman(text.split("\n"))[:3])

    def to_penman(self) -> str:
        """Return the graph in PENMAN notation; `from_penman` reads back an equal graph.

        Raises
        ------
        StructureError
            If PENMAN cannot represent the graph: it has no root, a node is not connected with the
            root, or an id or an edge label has a form that is not allowed.

        Examples
        --------
        >>> print(Graph({"d": "dog", "b": "bark-01"}, [("b", "ARG0", "d")], root="d").to_penman())
        (d / dog
            :ARG0-of (b / bark-01))
        """
        return write_penman(self)

    def successors(self, node: NodeId) -> tuple[tuple[str, NodeId], ...]:
        """Return the (edge label, target) pairs of the edges that leave a node."""
        _check_known(node, self.nodes, "node")
        if self._outgoing is None:
            self._join()
        return tuple(cast(_Joined, self._outgoing)[node])

    def predecessors(self, node: NodeId) -> tuple[tuple[str, NodeId], ...]:
        """Return the (edge label, source) pairs of the edges that enter a node."""
        _check_known(node, self.nodes, "node")
        if self._incoming is None:
            self._join()
        return tuple(cast(_Joined, self._incoming)[node])

    def neighbors(self, node: NodeId) -> tuple[NodeId, ...]:
        """Return the ids of nodes joined to a node by an edge in either direction."""
        joined = (*self.successors(node), *self.predecessors(node))
        return tuple(dict.fromkeys(other for _, other in joined))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (
            self._hash == other._hash
            and self.root == other.root
            and self.nodes == other.nodes
            and Counter(self.edges) == Counter(other.edges)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        n_nodes, n_edges = len(self.nodes), len(self.edges)
        parts = [
            f"{n_nodes} node{'s' * (n_nodes != 1)}",
            f"{n_edges} edge{'s' * (n_edges != 1)}",
        ]
        if self.root is not None:
            parts.append(f"root={shorten(repr(self.root))}")
        return f"Graph({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from kernelwood.structures.pictures import graph_html

        return graph_html(self)

    def __reduce__(self) -> tuple[object, ...]:
        return (Graph, (dict(self.nodes), self.edges, self.root))


def _check_nodes(nodes: object) -> dict[NodeId, str]:
    if isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise StructureError(
            "nodes must be a mapping of id to label, (id, label) pairs, or labels, "
            f"got {shorten(repr(nodes))} of type {type(nodes).__name__}"
        )
    listed = list(nodes.items() if isinstance(nodes, Mapping) else nodes)
    if listed and all(isinstance(label, str) for label in listed):
        return {i: check_label(label, f"label of node {i}") for i, label in enumerate(listed)}
    labels: dict[NodeId, str] = {}
    for position, pair in enumerate(listed):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise StructureError(
                f"node {position} must be an (id, label) pair, got {shorten(repr(pair))}",
                hint="pass a mapping, pairs only, or plain labels only",
            )
        name, label = pair
        if type(name) is not str and type(name) is not int:
            raise StructureError(
                f"id of node {position} must be a string or an integer, "
                f"got {shorten(repr(name))} of type {type(name).__name__}"
            )
        if name in labels:
            raise StructureError(f"node id {shorten(repr(name))} is used twice")
        labels[name] = check_label(label, f"label of node {shorten(repr(name))}")
    return labels


def _check_edge(edge: object, position: int, labels: Mapping[NodeId, str]) -> Edge:
    if not isinstance(edge, (tuple, list)) or len(edge) != 3:
        raise StructureError(
            f"edge {position} must be (source, label, target), got {shorten(repr(edge))}"
        )
    source, label, target = edge
    _check_known(source, labels, f"source of edge {position}")
    _check_known(target, labels, f"target of edge {position}")
    return source, check_label(label, f"label of edge {position}"), target


def _check_known(node: object, labels: Mapping[NodeId, str], what: str) -> None:
    if type(node) not in (str, int) or node not in labels:
        known = ", ".join(repr(name) for name in list(labels)[:8])
        raise StructureError(
            f"{what} is {shorten(repr(node))}, which is not the id of a node",
            hint=f"ids: {known}{', ...' if len(labels) > 8 else ''}" if labels else None,
        )
