"""The forest itself: what it holds, what it refuses, how it compares."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from strategies import forests

import kernelwood as kw
from kernelwood import Example, Forest, Tree
from kernelwood.errors import StructureError

LABELS = ["NP", "NP", "NP", "old", "men", "and", "women"]
EDGES = [
    (0, (1, 5, 6), 0.25),
    (0, (3, 2), 0.75),
    (1, (3, 4), 1.0),
    (2, (4, 5, 6), 0.5),
]
SPANS = [(0, 4), (0, 2), (1, 4), (0, 1), (1, 2), (2, 3), (3, 4)]


def make(**changes):
    fields = {"labels": LABELS, "edges": EDGES, "root": 0, "spans": SPANS, **changes}
    return Forest(**fields)


def refusal(**changes):
    with pytest.raises(StructureError) as caught:
        make(**changes)
    return str(caught.value)


def test_fields_are_kept_in_the_order_given():
    forest = make()
    assert forest.labels == tuple(LABELS)
    assert forest.edges == tuple(EDGES)
    assert forest.spans == tuple(SPANS)
    assert forest.root == 0
    assert forest.fallback is False


def test_counts():
    forest = make()
    assert (forest.n_nodes, forest.n_edges, forest.n_trees) == (7, 4, 2)


def test_spans_may_be_left_out():
    assert make(spans=None).spans is None


def test_a_single_word_is_a_forest():
    forest = Forest(["word"], [], 0)
    assert forest.n_trees == 1
    assert forest.best_tree() == Tree("word")


def test_lists_iterators_and_numpy_numbers_become_plain():
    forest = Forest(
        iter(np.array(["S", "x"])),
        iter([[np.int64(0), np.array([1]), np.float32(0.5)]]),
        np.int32(0),
        iter([[np.int64(0), 1], (0, 1)]),
    )
    assert forest == Forest(("S", "x"), ((0, (1,), 0.5),), 0, ((0, 1), (0, 1)))
    head, children, probability = forest.edges[0]
    assert [type(part) for part in (head, children[0], probability)] == [int, int, float]
    assert type(forest.labels[0]) is str
    assert type(forest.spans[0][0]) is int


@pytest.mark.parametrize("probability", [1, Fraction(1, 3), np.float64(0.5), 5e-324])
def test_probabilities_may_be_any_real_number(probability):
    forest = Forest(["S", "x"], [(0, (1,), probability)], 0)
    assert forest.edges[0][2] == float(probability)


def test_edges_of_lists_positions_in_the_order_given():
    assert [make().edges_of(node) for node in range(4)] == [(0, 1), (2,), (3,), ()]


@pytest.mark.parametrize("node", [-1, 7, "0", None])
def test_edges_of_refuses_what_is_no_node(node):
    with pytest.raises(StructureError, match="node"):
        make().edges_of(node)


@given(forests())
def test_order_has_children_before_heads(forest):
    place = {node: position for position, node in enumerate(forest._order)}
    assert sorted(place) == list(range(forest.n_nodes))
    assert all(place[child] < place[head] for head, cs, _ in forest.edges for child in cs)


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": [*LABELS[:-1], "wimmin"]},
        {"edges": [*EDGES[:-1], (2, (4, 5, 6), 0.4)]},
        {"edges": EDGES[::-1]},
        {"spans": None},
        {"fallback": True},
    ],
)
def test_every_field_tells_forests_apart(changes):
    assert make(**changes) != make()


def test_equal_forests_have_equal_hashes():
    assert make() == make()
    assert hash(make()) == hash(make())


def test_a_forest_is_not_equal_to_anything_else():
    assert make() != Tree("S")
    assert make() != tuple(EDGES)


@given(forests())
def test_pickling_and_copying_keep_everything(forest):
    assert pickle.loads(pickle.dumps(forest)) == forest
    assert copy.deepcopy(forest) is forest


def test_fields_cannot_be_set():
    with pytest.raises(AttributeError, match="never change"):
        make().root = 1


def test_repr_names_size_and_root():
    assert repr(make()) == "Forest(7 nodes, 4 hyper-edges, root='NP')"
    assert repr(make(fallback=True)) == "Forest(7 nodes, 4 hyper-edges, root='NP', fallback)"


def test_a_forest_is_a_view_of_an_example():
    assert Example("s1", views={"forest": make()}).view("forest") == make()


def test_forest_is_public():
    assert kw.Forest is Forest


def test_json_round_trip():
    assert Forest.from_json(make().to_json()) == make()


def test_a_forest_draws_itself():
    assert make()._repr_svg_().lstrip().startswith("<svg")


def test_no_labels():
    assert "at least one node" in refusal(labels=[], edges=[], spans=None)


def test_one_string_of_labels():
    assert "one string per node" in refusal(labels="NP")


def test_label_that_is_not_a_string():
    assert "label of node 1 must be a string, got 7" in refusal(labels=["NP", 7, *LABELS[2:]])


@pytest.mark.parametrize("root", [-1, 7, pytest.param(10**5000, id="huge")])
def test_root_out_of_range(root):
    assert "the nodes are 0 to 6" in refusal(root=root)


@pytest.mark.parametrize("root", [None, 0.0, "0", True])
def test_root_that_is_not_an_integer(root):
    assert "root must be an integer" in refusal(root=root)


@pytest.mark.parametrize("edges", [None, 3, "abc"])
def test_edges_that_are_no_list(edges):
    assert "triples" in refusal(edges=edges)


@pytest.mark.parametrize("edge", [(0, (1,)), 5, "abc", None, (0, (1,), 0.5, 1), [10**5000]])
def test_edge_that_is_no_triple(edge):
    assert "hyper-edge 4 must be (head, children, probability)" in refusal(edges=[*EDGES, edge])


def test_head_out_of_range():
    assert "head of hyper-edge 4 is 9" in refusal(edges=[*EDGES, (9, (1,), 1.0)])


def test_child_out_of_range():
    assert "child of hyper-edge 4 is -1" in refusal(edges=[*EDGES, (0, (-1,), 1.0)])


def test_child_that_is_not_an_integer():
    assert "must be an integer, got '3'" in refusal(edges=[*EDGES, (0, ("3",), 1.0)])


def test_bare_child():
    message = refusal(edges=[*EDGES, (0, 3, 1.0)])
    assert "children of hyper-edge 4 must be node numbers" in message
    assert "tuple" in message


def test_edge_without_children():
    assert "hyper-edge 4 has no children" in refusal(edges=[*EDGES, (0, (), 1.0)])


@pytest.mark.parametrize(
    "probability", [0, 0.0, -0.5, 1.0000001, 2, math.nan, math.inf, 10**400, Fraction(1, 10**400)]
)
def test_probability_out_of_range(probability):
    message = refusal(edges=[*EDGES, (0, (3,), probability)])
    assert "probability of hyper-edge 4 must be above 0 and at most 1" in message


@pytest.mark.parametrize("probability", ["0.5", None, True, 1j])
def test_probability_that_is_no_number(probability):
    message = refusal(edges=[*EDGES, (0, (3,), probability)])
    assert "probability of hyper-edge 4 must be a number" in message


def test_the_same_edge_twice():
    message = refusal(edges=[*EDGES, (1, (3, 4), 0.5)])
    assert "hyper-edges 2 and 4 are the same; add their probabilities" in message


def test_a_cycle_is_named_by_its_labels():
    with pytest.raises(StructureError, match=r"cycle: VP -> S2 -> VP \(node 1"):
        Forest(
            ["S", "VP", "S2", "x"],
            [(0, (1,), 1.0), (1, (2,), 0.5), (2, (1,), 0.5), (2, (3,), 0.5)],
            0,
        )


def test_a_node_below_itself():
    with pytest.raises(StructureError, match="cycle: S -> S"):
        Forest(["S", "x"], [(0, (1,), 0.5), (0, (0, 1), 0.5)], 0)


def test_a_long_cycle_is_shortened():
    with pytest.raises(StructureError, match=r"n0 -> n1 -> n2 -> n3 -> \.\.\. -> n98 -> n99 -> n0"):
        Forest([f"n{i}" for i in range(100)], [(i, ((i + 1) % 100,), 1.0) for i in range(100)], 0)


def test_the_first_node_out_of_reach_is_named():
    labels, spans = [*LABELS, "lost", "found"], [*SPANS, (0, 1), (0, 1)]
    assert "node 7 ('lost') cannot be reached" in refusal(labels=labels, spans=spans)


def test_too_few_spans():
    assert "one per node, got 6 for 7 nodes" in refusal(spans=SPANS[:-1])


@pytest.mark.parametrize("span", [None, 3, (1,), (1, 2, 3), "ab"[:1]])
def test_span_that_is_no_pair(span):
    assert "span of node 6 ('women') must be (start, end)" in refusal(spans=[*SPANS[:-1], span])


@pytest.mark.parametrize("span", [(-1, 1), (4, 3), (10**5000, 1)])
def test_span_that_is_no_part_of_a_sentence(span):
    assert "not a range of words" in refusal(spans=[*SPANS[:-1], span])


@pytest.mark.parametrize("span", [(3.0, 4), (3, "4"), (None, 4)])
def test_span_that_is_not_of_integers(span):
    assert "must be an integer" in refusal(spans=[*SPANS[:-1], span])


@pytest.mark.parametrize(
    "span",
    [(3, 5), (2, 4)],
    ids=["beyond the head", "over its left neighbor"],
)
def test_child_in_the_wrong_place(span):
    assert "does not fit into hyper-edge" in refusal(spans=[*SPANS[:-1], span])


def test_child_before_its_head():
    assert "does not fit into hyper-edge 2" in refusal(spans=[(0, 4), (1, 2), *SPANS[2:]])
