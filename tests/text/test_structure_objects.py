"""Trees of NLTK, graphs of networkx and penman."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, strategies as st
from strategies import labels, trees

from kernelwood.errors import KernelInputError, StructureError
from kernelwood.structures import Graph, Tree
from kernelwood.text import (
    from_networkx,
    from_nltk,
    from_penman,
    to_networkx,
    to_nltk,
)

nltk = pytest.importorskip("nltk")
networkx = pytest.importorskip("networkx")
penman = pytest.importorskip("penman")

BRACKETS = "(S (NP (PRP we)) (VP (VBP go)))"


@given(trees())
def test_a_tree_survives_nltk_without_its_edge_labels(tree):
    plain = Tree.from_postorder(*_without_edges(tree))
    assert from_nltk(to_nltk(tree, drop_edges=True)) == plain


def _without_edges(tree):
    names, edges, n_children = tree.flatten()
    return names, [""] * len(edges), n_children


def test_brackets_are_read_alike():
    assert from_nltk(nltk.Tree.fromstring(BRACKETS)) == Tree.from_brackets(BRACKETS)


def test_brackets_are_written_alike():
    assert to_nltk(Tree.from_brackets(BRACKETS)) == nltk.Tree.fromstring(BRACKETS)


@pytest.mark.parametrize("name", ["ParentedTree", "ImmutableTree", "MultiParentedTree"])
def test_subclasses_are_trees(name):
    made = getattr(nltk.tree, name).fromstring(BRACKETS)
    assert from_nltk(made) == Tree.from_brackets(BRACKETS)


def test_tagged_leaves_are_nodes_with_a_leaf():
    chunks = nltk.Tree("S", [nltk.Tree("NP", [("the", "DT"), ("cat", "NN")]), ("sat", "VBD")])
    assert from_nltk(chunks) == Tree.from_brackets("(S (NP (DT the) (NN cat)) (VBD sat))")


def test_a_shared_subtree_occurs_twice():
    shared = nltk.Tree("NP", ["x"])
    assert from_nltk(nltk.Tree("S", [shared, shared])) == Tree.from_brackets("(S (NP x) (NP x))")


def test_a_deep_tree_is_converted_without_recursion():
    n_levels = 10_000
    tree = Tree.from_postorder(["x"] * n_levels, [""] * n_levels, [0] + [1] * (n_levels - 1))
    assert from_nltk(to_nltk(tree)) == tree


def test_a_tree_that_contains_itself_is_refused():
    tree = nltk.Tree("S", [nltk.Tree("NP", ["x"])])
    tree[0].append(tree)
    with pytest.raises(StructureError, match="contains itself"):
        from_nltk(tree)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (nltk.Tree("S", [3]), "leaf of a tree of NLTK must be a string, got 3"),
        (nltk.Tree(None, ["x"]), "label of a tree of NLTK must be a string, got None"),
        (nltk.Tree("S", [("x", None)]), "part of a tagged leaf"),
        (nltk.Tree("S", [("x", "y", "z")]), "leaf of a tree of NLTK"),
    ],
)
def test_what_is_not_a_label_is_refused(tree, message):
    with pytest.raises(StructureError, match=message):
        from_nltk(tree)


def test_edge_labels_are_not_dropped_silently():
    with pytest.raises(StructureError, match=r"edge label 'det'.*\n.*drop_edges=True"):
        to_nltk(Tree("NP", [Tree("the", edge="det")]))


@st.composite
def graphs(draw):
    names = draw(st.lists(st.one_of(st.integers(0, 5), st.sampled_from("abc")), unique=True))
    nodes = [(name, draw(labels)) for name in names]
    if not names:
        return Graph(nodes)
    pairs = st.tuples(st.sampled_from(names), labels, st.sampled_from(names))
    root = draw(st.one_of(st.none(), st.sampled_from(names)))
    return Graph(nodes, draw(st.lists(pairs, max_size=6)), root)


@given(graphs())
def test_a_graph_survives_networkx(graph):
    assert from_networkx(to_networkx(graph)) == graph


def test_nodes_of_networkx_are_labeled_by_their_id_and_edges_not_at_all():
    graph = networkx.DiGraph([("a", 1)])
    assert from_networkx(graph) == Graph({"a": "a", 1: "1"}, [("a", "", 1)])


def test_another_attribute_may_have_the_labels():
    graph = networkx.DiGraph()
    graph.add_edge("a", "b", role="ARG0")
    assert from_networkx(graph, label="role").edges == (("a", "ARG0", "b"),)


def test_a_graph_without_directions_is_refused():
    with pytest.raises(KernelInputError, match=r"without directions\n.*to_directed"):
        from_networkx(networkx.Graph([(1, 2)]))


@pytest.mark.parametrize(
    ("node", "data", "message"),
    [
        ((1, 2), {}, r"node \(1, 2\) of type tuple.*\n.*convert_node_labels_to_integers"),
        ("a", {"label": 3}, "label of node 'a' must be a string, got 3"),
    ],
)
def test_what_a_graph_cannot_have_is_refused(node, data, message):
    graph = networkx.DiGraph()
    graph.add_node(node, **data)
    with pytest.raises(StructureError, match=message):
        from_networkx(graph)


AMR = """
(w / want-01
   :ARG0 (b / boy)
   :ARG1 (g / go-02 :ARG0 b :polarity - :time (d / date-entity :year 2012))
   :ARG0-of (c / cause-01 :mod "very much"))
"""


@pytest.mark.parametrize("decode", [penman.decode, penman.parse])
def test_penman_is_read_as_its_notation(decode):
    assert from_penman(decode(AMR)) == Graph.from_penman(AMR)


def test_a_graph_of_triples_needs_no_concepts():
    graph = from_penman(penman.Graph([("a", ":ARG0", "b"), ("b", ":instance", "boy")], top="a"))
    assert graph == Graph({"b": "boy", "a": ""}, [("a", "ARG0", "b")], "a")


def test_numbers_of_triples_are_constants():
    graph = from_penman(penman.Graph([("a", ":instance", "x"), ("a", ":quant", 3)]))
    assert graph.nodes["a.quant"] == "3"


def test_marks_of_alignments_are_part_of_the_constants_of_triples():
    graph = from_penman(penman.Graph([("a", ":instance", "x~1"), ("a", ":op1", "b~e.2")]))
    assert dict(graph.nodes) == {"a": "x~1", "a.op1": "b~e.2"}


def test_edges_of_a_graph_have_the_direction_of_its_triples():
    triples = [("a", ":instance", "x"), ("b", ":instance", "y"), ("a", ":ARG0-of", "b")]
    assert from_penman(penman.Graph(triples)).edges == (("a", "ARG0-of", "b"),)


def test_ids_of_triples_must_be_strings():
    with pytest.raises(StructureError, match="the id 3 of a node of penman"):
        from_penman(penman.Graph([(3, ":instance", "x")]))


def test_an_empty_graph_of_penman_is_refused():
    with pytest.raises(StructureError, match="has no nodes"):
        from_penman(penman.Graph())


@pytest.mark.parametrize("convert", [from_nltk, from_networkx, from_penman])
@pytest.mark.parametrize("value", [None, "(S x)", Tree("S"), {"a": 1}])
def test_objects_of_other_classes_are_refused_by_name(convert, value):
    with pytest.raises(KernelInputError, match=rf"{convert.__name__} takes a .*, got "):
        convert(value)


@pytest.mark.parametrize("convert", [to_nltk, to_networkx])
def test_only_structures_are_converted_back(convert):
    with pytest.raises(KernelInputError, match=rf"{convert.__name__} takes a kernelwood"):
        convert("(S x)")


@pytest.mark.parametrize(
    ("convert", "structure", "package"),
    [(to_nltk, Tree("S"), "nltk"), (to_networkx, Graph({}), "networkx")],
)
def test_a_package_that_is_not_installed_is_named(convert, structure, package, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(KernelInputError, match=f"pip install {package}"):
        convert(structure)
