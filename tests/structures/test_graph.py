import copy
import pickle
import textwrap

import pytest
from hypothesis import given, strategies as st
from processes import run_python
from sizes import DEPTH

from kernelwood.errors import StructureError
from kernelwood.structures import Graph

TEXT = textwrap.dedent("""\
    # ::id sample.1
    (b / bind-01
       :ARG0 (p / protein :name (n / name :op1 "Raf" :op2 "one two"))
       :ARG1 (q / protein~e.4 :ARG0-of (i / inhibit-01 :ARG1 p))
       :polarity -)
    """)


@st.composite
def graphs(draw):
    nodes = draw(st.dictionaries(st.integers() | st.text(max_size=3), st.text(max_size=3)))
    ids = st.sampled_from(sorted(nodes, key=repr)) if nodes else st.nothing()
    edges = draw(st.lists(st.tuples(ids, st.text(max_size=3), ids), max_size=6)) if nodes else []
    return Graph(nodes, edges, draw(ids | st.none()))


@pytest.fixture
def triangle():
    return Graph(
        {"a": "A", "b": "B", "c": "C"}, [("a", "x", "b"), ("a", "y", "b"), ("c", "z", "a")]
    )


@pytest.mark.parametrize("nodes", [{0: "A", 1: "B"}, [(0, "A"), (1, "B")], ["A", "B"]])
def test_nodes_come_in_three_ways(nodes):
    assert dict(Graph(nodes).nodes) == {0: "A", 1: "B"}


def test_a_graph_may_be_empty():
    assert len(Graph([]).nodes) == 0


def test_order_of_nodes_and_edges_is_kept(triangle):
    assert (list(triangle.nodes), triangle.edges[2]) == (["a", "b", "c"], ("c", "z", "a"))


def test_successors_are_label_and_target(triangle):
    assert triangle.successors("a") == (("x", "b"), ("y", "b"))


def test_predecessors_are_label_and_source(triangle):
    assert triangle.predecessors("a") == (("z", "c"),)


def test_neighbors_are_listed_once(triangle):
    assert triangle.neighbors("a") == ("b", "c")


def test_equality_ignores_the_order_of_listing(triangle):
    turned = Graph(dict(reversed(triangle.nodes.items())), triangle.edges[::-1])
    assert turned == triangle and hash(turned) == hash(triangle)


@pytest.mark.parametrize(
    "other",
    [
        Graph(["A", "C"], [(0, "x", 1)]),
        Graph(["A", "B"], [(1, "x", 0)]),
        Graph(["A", "B"], [(0, "y", 1)]),
        Graph(["A", "B"], [(0, "x", 1), (0, "x", 1)]),
        Graph(["A", "B"], [(0, "x", 1)], root=0),
        "graph",
    ],
)
def test_one_difference_makes_graphs_unequal(other):
    assert Graph(["A", "B"], [(0, "x", 1)]) != other


@given(graphs())
def test_pickle_gives_an_equal_graph(graph):
    assert pickle.loads(pickle.dumps(graph)) == graph


def test_deepcopy_of_an_immutable_graph_is_the_graph(triangle):
    assert copy.deepcopy(triangle) is triangle


def test_attributes_cannot_be_set(triangle):
    with pytest.raises(AttributeError, match="Graph objects never change"):
        triangle.root = "a"


def test_nodes_cannot_be_changed(triangle):
    with pytest.raises(TypeError):
        triangle.nodes["a"] = "B"


def test_changing_the_given_mapping_changes_nothing():
    nodes = {"a": "A"}
    graph = Graph(nodes)
    nodes["a"] = "B"
    assert graph.nodes["a"] == "A"


def test_repr_counts_nodes_and_edges(triangle):
    assert repr(triangle) == "Graph(3 nodes, 3 edges)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("abc",), "nodes must be a mapping .* got 'abc' of type str"),
        ((5,), "nodes must be a mapping .* got 5 of type int"),
        (([("a", "A"), ("a", "B")],), "node id 'a' is used twice"),
        (([("a", "A"), "b"],), r"node 1 must be an \(id, label\) pair, got 'b'"),
        (({"a": 5},), "label of node 'a' must be a string, got 5"),
        (({1.5: "A"},), "id of node 0 must be a string or an integer, got 1.5 of type float"),
        (({True: "A"},), "id of node 0 must be a string or an integer, got True of type bool"),
        ((["A"], [(0, "x", 7)]), "target of edge 0 is 7, which is not the id of a node\n.*ids: 0"),
        ((["A"], [(7, "x", 0)]), "source of edge 0 is 7"),
        ((["A"], [([], "x", 0)]), r"source of edge 0 is \[\]"),
        ((["A"], [(0, None, 0)]), "label of edge 0 must be a string, got None"),
        ((["A"], [(0, 0)]), r"edge 0 must be \(source, label, target\), got \(0, 0\)"),
        ((["A"], (), 3), "root is 3, which is not the id of a node"),
    ],
)
def test_wrong_parts_are_named(arguments, message):
    with pytest.raises(StructureError, match=message):
        Graph(*arguments)


def test_asking_for_an_unknown_node_is_refused(triangle):
    with pytest.raises(StructureError, match=r"node is 'z'.*\n.*ids: 'a', 'b', 'c'"):
        triangle.neighbors("z")


def test_penman_concepts_become_labels():
    graph = Graph.from_penman(TEXT)
    expected = {"b": "bind-01", "p": "protein", "n": "name", "q": "protein", "i": "inhibit-01"}
    assert expected.items() <= graph.nodes.items()


def test_penman_constants_become_leaves_without_quotes():
    graph = Graph.from_penman(TEXT)
    labels = [graph.nodes[name] for name in ("n.op1", "n.op2", "b.polarity")]
    assert labels == ["Raf", "one two", "-"]


def test_penman_constants_of_one_role_get_different_ids():
    graph = Graph.from_penman('(a / and :op "x" :op "x")')
    assert [edge[2] for edge in graph.edges] == ["a.op", "a.op.2"]


def test_penman_inverted_roles_are_turned_around():
    assert ("i", "ARG0", "q") in Graph.from_penman(TEXT).edges


def test_penman_roles_that_only_look_inverted_are_kept():
    graph = Graph.from_penman("(t / team :consist-of (p / person))")
    assert graph.edges == (("t", "consist-of", "p"),)


def test_penman_reentrant_nodes_are_shared():
    assert ("i", "ARG1", "p") in Graph.from_penman(TEXT).edges


def test_penman_root_is_the_top():
    assert Graph.from_penman(TEXT).root == "b"


def test_penman_node_without_concept_has_an_empty_label():
    assert Graph.from_penman("(a :ARG0 (b))").nodes == {"a": "", "b": ""}


def test_penman_reads_a_hundred_levels():
    text = "".join(f"(x{i} / c :ARG0 " for i in range(100)) + "(y / d" + ")" * 101
    assert len(Graph.from_penman(text).nodes) == 101


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("(a / b\n  :ARG0 (c / d)", 1, 1, "never closed"),
        ("(a / b))", 1, 8, "text after the graph"),
        ("(a / b)\n(c / d)", 2, 1, "text after the graph"),
        (")", 1, 1, "unexpected"),
        ('(a / b\n :op "x)', 2, 6, "string opened here is never closed"),
        ("(a / b :ARG0)", 1, 13, "no target"),
        ("(a / b :ARG0 :ARG1 c)", 1, 14, "no target"),
        ("(a / )", 1, 6, "concept is missing"),
        ("(a / b\n :ARG0 ())", 2, 8, "node without an id"),
        ("(a / b\n / c)", 2, 2, "not PENMAN notation: Expected: ROLE"),
        ("(a / b :x (a / c))", None, None, "node 'a' has two concepts, 'b' and 'c'"),
        ("", 1, None, "no graph"),
        ("# only a comment", 1, None, "no graph"),
    ],
)
def test_penman_error_points_at_the_problem(text, line, column, problem):
    with pytest.raises(StructureError, match=problem) as caught:
        Graph.from_penman(text)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("depth", [495, 600, DEPTH])
def test_penman_nested_too_deeply_is_refused(depth):
    text = "".join(f"(x{i} / c :ARG0 " for i in range(depth)) + "(y / d" + ")" * (depth + 1)
    with pytest.raises(StructureError, match=r"deep|recursion"):
        Graph.from_penman(text)


def test_penman_brackets_in_strings_and_comments_do_not_count():
    graph = Graph.from_penman('# (((\n(a / b :op ")((")')
    assert graph.nodes["a.op"] == ")(("


def test_penman_warnings_do_not_reach_the_terminal():
    # In a process of its own, since pytest installs log handlers.
    code = """from kernelwood.structures import Graph; Graph.from_penman('(a / b :ARG0-of "x")')"""
    done = run_python("-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
