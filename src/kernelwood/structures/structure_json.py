"""Trees, sequences and graphs as JSON.

A tree is a string in brackets; a sequence is a list of strings, or of ``[edge, node]`` pairs. A
graph is an object with the keys ``nodes``, ``edges`` and ``root``: nodes are an object of labels
by id, a list of ``[id, label]`` pairs (which is how ids may be integers), or a list of labels
whose ids are 0, 1, 2, ...; edges are ``[source, label, target]``.
"""

from __future__ import annotations

from kernelwood.errors import StructureError
from kernelwood.structures.forest_json import check_list, check_object, describe
from kernelwood.structures.graph import Graph
from kernelwood.structures.sequence import Sequence
from kernelwood.structures.tree import Tree

__all__ = [
    "graph_from_object",
    "graph_object",
    "sequence_from_object",
    "sequence_object",
    "tree_from_object",
]


def tree_from_object(value: object) -> Tree:
    """Return the tree that a decoded JSON value describes; ``to_brackets`` is the inverse.

    Examples
    --------
    >>> tree_from_object("(NP (NN cat))")
    Tree('(NP (NN cat))')
    """
    if not isinstance(value, str):
        raise StructureError(
            f"a tree must be a string, got {describe(value)}", hint='write "(S (NP we) (VP go))"'
        )
    try:
        return Tree.from_brackets(value)
    except StructureError as failure:
        where = f" (character {failure.column} of the brackets)" if failure.column else ""
        raise StructureError(failure.problem + where, hint=failure.hint) from failure


def sequence_object(sequence: Sequence) -> list[object]:
    """Return a sequence as the lists and strings that JSON knows.

    Examples
    --------
    >>> sequence_object(Sequence(["we", ("nsubj", "go")]))
    ['we', ['nsubj', 'go']]
    """
    return [[edge, node] if edge else node for edge, node in sequence]


def sequence_from_object(value: object) -> Sequence:
    """Return the sequence that a decoded JSON value describes.

    Examples
    --------
    >>> sequence_from_object(["we", ["nsubj", "go"]])
    Sequence([('', 'we'), ('nsubj', 'go')])
    """
    elements = check_list(value, "a sequence")
    try:
        return Sequence(elements)
    except RecursionError:  # a message that would show hundreds of nested lists
        raise _too_deep("a sequence") from None


def graph_object(graph: Graph) -> dict[str, object]:
    """Return a graph as the lists, numbers and strings that JSON knows.

    Examples
    --------
    >>> graph_object(Graph({"b": "bind-01"}, root="b"))
    {'nodes': {'b': 'bind-01'}, 'edges': [], 'root': 'b'}
    """
    nodes: object
    if all(isinstance(name, str) for name in graph.nodes):
        nodes = dict(graph.nodes)  # keys of a JSON object are strings
    elif list(graph.nodes) == list(range(len(graph.nodes))):
        nodes = list(graph.nodes.values())
    else:
        nodes = [[name, label] for name, label in graph.nodes.items()]
    made: dict[str, object] = {"nodes": nodes, "edges": [list(edge) for edge in graph.edges]}
    if graph.root is not None:
        made["root"] = graph.root
    return made


def graph_from_object(value: object, what: str = "a graph") -> Graph:
    """Return the graph that a decoded JSON value describes, the inverse of `graph_object`.

    Examples
    --------
    >>> graph_from_object({"nodes": ["we", "go"], "edges": [[1, "nsubj", 0]]})
    Graph(2 nodes, 1 edge)
    """
    graph = check_object(value, what, ("nodes",), ("edges", "root"))
    nodes = graph["nodes"]
    if not isinstance(nodes, dict):
        check_list(nodes, f"'nodes' of {what}")
    edges = check_list(graph.get("edges", []), f"'edges' of {what}")
    try:
        return Graph(nodes, edges, graph.get("root"))
    except RecursionError:  # a message that would show hundreds of nested lists
        raise _too_deep(what) from None


def _too_deep(what: str) -> StructureError:
    return StructureError(f"lists or objects inside {what} are nested too deeply")
