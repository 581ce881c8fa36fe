"""Forests made of trees, and of counts."""

import math
from collections import Counter

import pytest
from hypothesis import given, strategies as st
from strategies import derivations, tree_distribution

from kernelwood import Forest, Tree
from kernelwood.errors import StructureError
from kernelwood.structures.forest_packing import pack


def tree(text):
    return Tree.from_brackets(text)


@st.composite
def parses(draw, words, inner=("A", "B", "x")):
    """Trees over the words, with unary chains; a label may be that of a word."""

    def wrapped(node):
        for _ in range(draw(st.sampled_from([0, 0, 1, 2, 3]))):
            node = Tree(draw(st.sampled_from(inner)), [node])
        return node

    parts = [wrapped(Tree(word)) for word in words]
    while len(parts) > 1:
        start = draw(st.integers(0, len(parts) - 2))
        end = draw(st.integers(start + 2, len(parts)))
        node = Tree(draw(st.sampled_from(inner)), parts[start:end])
        parts[start:end] = [wrapped(node)]
    return parts[0]


@st.composite
def weighted_parses(draw):
    words = draw(st.lists(st.sampled_from(["x", "y"]), min_size=1, max_size=4))
    weights = st.sampled_from([1, 2, 0.5, 1e-3])
    return draw(st.lists(st.tuples(parses(words), weights), min_size=1, max_size=4))


def rule_counts(node, weight, counts):
    """Add ``weight`` to every (label, span, labels and spans of children) of a tree."""

    def visit(node, start):
        if not node.children:
            return (node.label, start, start + 1)
        below, end = [], start
        for child in node.children:
            below.append(visit(child, end))
            end = below[-1][2]
        counts[(node.label, start, end), tuple(below)] += weight
        return (node.label, start, end)

    visit(node, 0)


@given(weighted_parses())
def test_edge_marginals_are_the_counts_among_the_trees(weighted):
    forest = Forest.from_trees(weighted)
    total = math.fsum(weight for _, weight in weighted)
    expected, found = Counter(), Counter()
    for node, weight in weighted:
        rule_counts(node, weight / total, expected)
    for (head, children, _), count in zip(forest.edges, forest.edge_marginals(), strict=True):
        if forest.labels[head] != "*":
            names = [(forest.labels[n], *forest.spans[n]) for n in (head, *children)]
            found[names[0], tuple(names[1:])] += count
    assert found == pytest.approx(expected)


@given(weighted_parses())
def test_every_tree_is_in_the_forest(weighted):
    forest = Forest.from_trees(weighted)
    present = {t.children[0] if t.label == "*" else t for t, _, _ in derivations(forest)}
    assert {node for node, _ in weighted} <= present


@given(weighted_parses())
def test_probabilities_at_a_head_add_up_to_one(weighted):
    forest = Forest.from_trees(weighted)
    assert forest.inside() == pytest.approx([1.0] * forest.n_nodes)


@given(st.lists(st.sampled_from("xy"), min_size=1, max_size=5).flatmap(parses))
def test_a_single_tree_is_its_own_forest(node):
    forest = Forest.from_trees([node])
    assert forest.n_trees == 1
    assert forest.best_tree() == node
    assert all(probability == 1.0 for _, _, probability in forest.edges)


def test_weights_may_be_left_out():
    trees = [tree("(S (A x) y)"), tree("(S x (B y))")]
    assert Forest.from_trees(trees) == Forest.from_trees([(node, 1.0) for node in trees])


@pytest.mark.parametrize("scale", [1e-320, 1e-3, 1.0, 1e307])
def test_weights_may_be_on_any_scale(scale):
    weighted = [(tree("(S (A x) y)"), 3 * scale), (tree("(S x (B y))"), scale)]
    probabilities = [p for _, p in Forest.from_trees(weighted).k_best(2)]
    assert probabilities == pytest.approx([0.75, 0.25], rel=1e-3)


def test_weights_far_apart_leave_lawful_probabilities():
    forest = Forest.from_trees([(tree("(S (A x) y)"), 1e300), (tree("(S x (B y))"), 1e-300)])
    assert min(p for _, _, p in forest.edges) > 0.0


def test_equal_trees_add_their_weights():
    node, other = tree("(S x)"), tree("(T x)")
    forest = Forest.from_trees([(node, 1), (other, 2), (node, 1)])
    assert [p for _, p in forest.k_best(2)] == [0.5, 0.5]


def test_nodes_of_one_label_and_span_are_shared():
    forest = Forest.from_trees([tree("(S (A x) (B y))"), tree("(S (A x) (C y))")])
    assert Counter(forest.labels) == Counter("SAxBCy")


def test_sharing_mixes_parts_of_trees():
    forest = Forest.from_trees([tree("(S (A (a x)) (B (a y)))"), tree("(S (A (b x)) (B (b y)))")])
    assert forest.n_trees == 4


def test_the_same_word_twice_is_two_nodes():
    assert Forest.from_trees([tree("(S x x)")]).spans == ((0, 2), (0, 1), (1, 2))


def test_a_node_labeled_like_its_word_is_not_the_word():
    assert Forest.from_trees([tree("(x x)")]).n_nodes == 2


def test_a_chain_that_comes_back_to_its_label_is_told_apart_by_height():
    chain = tree("(TOP (S (VP (S x y))))")
    assert Forest.from_trees([chain, tree("(TOP (S x y))")]).n_trees == 2


def test_chains_without_return_are_shared_at_any_height():
    forest = Forest.from_trees([tree("(S (NP (N x)) y)"), tree("(S (N x) y)")])
    assert Counter(forest.labels)["N"] == 1


def test_roots_of_one_label_are_one_root_even_in_a_returning_chain():
    forest = Forest.from_trees([tree("(S (VP (S x y)))"), tree("(S x y)")])
    assert forest.labels[forest.root] == "S"
    assert {t for t, _ in forest.k_best(3)} == {tree("(S (VP (S x y)))"), tree("(S x y)")}


def test_different_roots_are_joined():
    forest = Forest.from_trees([(tree("(S x y)"), 3), (tree("(NP x y)"), 1)])
    assert forest.spans[forest.root] == (0, 2)
    assert tree_distribution(forest) == {tree("(* (S x y))"): 0.75, tree("(* (NP x y))"): 0.25}


def test_a_single_word_is_a_single_node():
    assert Forest.from_trees([Tree("x")]) == Forest(["x"], [], 0, [(0, 1)])


def test_spans_are_filled_in():
    forest = Forest.from_trees([tree("(S (NP Ann) (VP saw (NP Bo)))")])
    named = list(zip(forest.labels, forest.spans, strict=True))
    assert named[:4] == [("S", (0, 3)), ("NP", (0, 1)), ("Ann", (0, 1)), ("VP", (1, 3))]


def test_different_words_are_refused():
    with pytest.raises(StructureError, match="tree 0 has 'x y' and tree 1 has 'x z'"):
        Forest.from_trees([tree("(S x y)"), tree("(S x z)")])


def test_edge_labels_are_refused():
    with pytest.raises(StructureError, match="tree 0 has the edge label 'det' at 'the'"):
        Forest.from_trees([Tree("NP", [Tree("the", edge="det")])])


@pytest.mark.parametrize("weight", [0, -1, math.nan, math.inf, "1", None, 10**400])
def test_weights_that_are_not_positive_are_refused(weight):
    with pytest.raises(StructureError, match="weight of tree 0 must be a positive finite number"):
        Forest.from_trees([(Tree("x"), weight)])


def test_no_trees():
    with pytest.raises(StructureError, match="at least one tree"):
        Forest.from_trees([])


@pytest.mark.parametrize("trees", [Tree("x"), 3, None])
def test_what_is_no_list_of_trees(trees):
    with pytest.raises(StructureError, match="iterable of trees"):
        Forest.from_trees(trees)


@pytest.mark.parametrize("item", ["(S x)", ("(S x)", 1), None, (Tree("x"),)])
def test_what_is_no_tree(item):
    with pytest.raises(StructureError, match=r"0 must be a Tree"):
        Forest.from_trees([item])


def test_pack_divides_counts_by_those_of_their_head():
    keys = [("S", (0, 1)), ("x", (0, 1)), ("y", (0, 1))]
    forest = pack(keys, {(0, (1,)): 30, (0, (2,)): 10}, 0, fallback=True)
    assert forest == Forest(
        ["S", "x", "y"], [(0, (1,), 0.75), (0, (2,), 0.25)], 0, [(0, 1)] * 3, fallback=True
    )


@pytest.mark.parametrize("counts", [(1e308, 1e308), (5e-324, 5e-324)])
def test_pack_takes_counts_at_the_ends_of_the_range(counts):
    keys = [("S", None), ("x", None), ("y", None)]
    forest = pack(keys, {(0, (1,)): counts[0], (0, (2,)): counts[1]}, 0)
    assert [p for _, _, p in forest.edges] == [0.5, 0.5]


def test_pack_keeps_what_is_all_but_impossible():
    keys = [("S", None), ("x", None), ("y", None)]
    assert pack(keys, {(0, (1,)): 1e300, (0, (2,)): 1e-300}, 0).edges[1][2] == 5e-324


@pytest.mark.parametrize("count", [0.0, -1.0, math.nan, math.inf])
def test_pack_refuses_counts_that_are_none(count):
    with pytest.raises(StructureError, match="positive and finite"):
        pack([("S", None), ("x", None)], {(0, (1,)): count}, 0)
