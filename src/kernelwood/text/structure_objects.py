"""Trees of NLTK and graphs of networkx and penman.

None of these packages is imported to read their objects: only attributes are used.
"""

from __future__ import annotations

import importlib
from typing import Any

from kernelwood.errors import KernelInputError, MissingPackageError, StructureError
from kernelwood.structures import (
    Graph,
    Tree,
    check_label,
    make_node,
    penman_graph_of,
    shorten,
    show,
)

LABEL = "label"  # attribute of nodes and edges of networkx
_ROOT = "root"  # attribute of graphs of networkx


def from_nltk(tree: Any) -> Tree:
    """Return a tree of NLTK as a `Tree`.

    Parameters
    ----------
    tree : nltk.Tree
        Or a subclass, such as ``ParentedTree``. Leaves are strings; a pair ``(word, tag)``, as in
        the trees of chunkers, becomes a node ``tag`` with the leaf ``word``.

    Raises
    ------
    KernelInputError
        If the object is not a tree of NLTK.
    StructureError
        If a label or a leaf is not a string, or a tree contains itself.

    Examples
    --------
    >>> import nltk
    >>> from_nltk(nltk.Tree.fromstring("(NP (DT the) (NN bank))"))
    Tree('(NP (DT the) (NN bank))')
    >>> from_nltk(nltk.Tree("NP", [("the", "DT"), ("bank", "NN")]))
    Tree('(NP (DT the) (NN bank))')
    """
    check_class(tree, "nltk", "Tree", "from_nltk")
    made: dict[int, Tree] = {}  # by the identity of nodes, which may be shared
    begun: set[int] = set()
    waiting = [tree]
    while waiting:
        node = waiting[-1]
        if id(node) in made:
            waiting.pop()
            continue
        inner = [child for child in node if is_a(child, "nltk", "Tree") and id(child) not in made]
        if inner and id(node) not in begun:
            begun.add(id(node))
            waiting += inner
            continue
        if inner:
            raise StructureError("a tree of NLTK contains itself")
        children = tuple(made.get(id(child)) or _nltk_leaf(child) for child in node)
        label = check_label(node.label(), "label of a tree of NLTK")
        made[id(node)] = make_node(label, children, "")
        waiting.pop()
    return made[id(tree)]


def _nltk_leaf(leaf: object) -> Tree:
    if isinstance(leaf, tuple) and len(leaf) == 2:
        word, tag = (check_label(part, "part of a tagged leaf of NLTK") for part in leaf)
        return make_node(tag, (make_node(word, (), ""),), "")
    return make_node(check_label(leaf, "leaf of a tree of NLTK"), (), "")


def to_nltk(tree: Tree, *, drop_edges: bool = False) -> Any:
    """Return a `Tree` as a tree of NLTK, which must be installed; the inverse of `from_nltk`.

    Parameters
    ----------
    tree : Tree
        Leaves become strings.
    drop_edges : bool, default False
        Whether to leave out edge labels, which trees of NLTK do not have.

    Returns
    -------
    nltk.Tree

    Raises
    ------
    StructureError
        If the tree has edge labels and they are not dropped.

    Examples
    --------
    >>> print(to_nltk(Tree.from_brackets("(NP (DT the) (NN bank))")))
    (NP (DT the) (NN bank))
    """
    if not isinstance(tree, Tree):
        raise KernelInputError(f"to_nltk takes a kernelwood.Tree, got {type(tree).__name__}")
    make = install("nltk", "tree").Tree
    ready: list[Any] = []
    for node in tree.postorder():
        if node.edge and not drop_edges:
            raise StructureError(
                f"the node {shorten(repr(node.label))} has the edge label "
                f"{shorten(repr(node.edge))}; trees of NLTK have none",
                hint="leave edge labels out: to_nltk(tree, drop_edges=True)",
            )
        count = len(node.children)
        children = ready[len(ready) - count :]
        del ready[len(ready) - count :]
        ready.append(make(node.label, children) if count or node is tree else node.label)
    return ready[0]


def from_networkx(graph: Any, *, label: str = LABEL) -> Graph:
    """Return a directed graph of networkx as a `Graph`.

    Parameters
    ----------
    graph : networkx.DiGraph or MultiDiGraph
        Node ids are strings or integers. ``graph.graph["root"]`` is the root, if there is one.
    label : str, default "label"
        Attribute of nodes and edges with their label. A node without it has its id as label, an
        edge ``""``.

    Raises
    ------
    KernelInputError
        If the object is not a graph of networkx, or is not directed.
    StructureError
        If an id is not a string or an integer, or a label is not a string.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.DiGraph()
    >>> graph.add_node("b", label="bind-01")
    >>> graph.add_edge("b", "protein", label="ARG1")
    >>> from_networkx(graph).edges
    (('b', 'ARG1', 'protein'),)
    """
    check_class(graph, "networkx", "Graph", "from_networkx")
    if not graph.is_directed():
        raise KernelInputError(
            "from_networkx takes a DiGraph or MultiDiGraph, got a graph without directions\n"
            "    give its edges a direction: graph.to_directed() has both directions of each"
        )
    nodes: list[tuple[Any, str]] = []
    for name, data in graph.nodes(data=True):
        if type(name) not in (str, int):
            raise StructureError(
                f"the node {show(name)} of type {type(name).__name__}: ids must be strings or "
                "integers",
                hint="number them: networkx.convert_node_labels_to_integers(graph)",
            )
        nodes.append((name, check_label(data.get(label, str(name)), f"label of node {show(name)}")))
    edges = [
        (a, check_label(data.get(label, ""), f"label of edge {show((a, b))}"), b)
        for a, b, data in graph.edges(data=True)
    ]
    return Graph(nodes, edges, graph.graph.get(_ROOT))


def to_networkx(graph: Graph) -> Any:
    """Return a `Graph` as one of networkx, which must be installed; inverse of `from_networkx`.

    Labels are the attribute ``label`` of nodes and edges, the root is ``graph.graph["root"]``.

    Returns
    -------
    networkx.MultiDiGraph

    Examples
    --------
    >>> graph = to_networkx(Graph({"b": "bind-01", "p": "protein"}, [("b", "ARG1", "p")], "b"))
    >>> list(graph.edges(data="label")), graph.graph
    ([('b', 'p', 'ARG1')], {'root': 'b'})
    """
    if not isinstance(graph, Graph):
        raise KernelInputError(f"to_networkx takes a kernelwood.Graph, got {type(graph).__name__}")
    made = install("networkx").MultiDiGraph()
    if graph.root is not None:
        made.graph[_ROOT] = graph.root
    made.add_nodes_from((name, {LABEL: label}) for name, label in graph.nodes.items())
    made.add_edges_from((a, b, {LABEL: label}) for a, label, b in graph.edges)
    return made


def from_penman(graph: Any) -> Graph:
    """Return a graph or tree of the package penman as a `Graph`, as in `Graph.from_penman`.

    Parameters
    ----------
    graph : penman.Graph or penman.Tree
        Alignments are left out. A ``Graph`` has its edges as ``penman.decode`` directs them; in a
        ``Tree``, inverted roles are reversed as for AMR.

    Raises
    ------
    KernelInputError
        If the object is not of these classes.
    StructureError
        If a node has two concepts, or is not connected with a role.

    Examples
    --------
    >>> import penman
    >>> from_penman(penman.decode("(b / bind-01 :ARG1 (p / protein))")).edges
    (('b', 'ARG1', 'p'),)
    """
    check_class(graph, "penman", "Graph|Tree", "from_penman")
    found = penman_graph_of(graph)
    return Graph(found.nodes, found.edges, found.root)


def install(package: str, module: str = "") -> Any:
    """Return a module of an optional package.

    Raises
    ------
    MissingPackageError
        If the package is not installed; names the command that installs it.
    """
    try:
        return importlib.import_module(f"{package}.{module}" if module else package)
    except ImportError:
        raise MissingPackageError(
            f"{package} is not installed\n    install it: pip install {package}"
        ) from None


def check_class(value: Any, package: str, names: str, function: str) -> None:
    """Raise KernelInputError unless a value is of one of these classes of a package."""
    if not any(is_a(value, package, name) for name in names.split("|")):
        raise KernelInputError(
            f"{function} takes a {names.replace('|', ' or ')} of {package}, got {show(value)} "
            f"of type {type(value).__name__}"
        )


def is_a(value: object, package: str, name: str) -> bool:
    """Return whether a value is of a class of a package, which need not be imported.

    Examples
    --------
    >>> from collections import Counter
    >>> is_a(Counter(), "collections", "Counter"), is_a([], "collections", "Counter")
    (True, False)
    """
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == package
        for kind in type(value).__mro__
    )
