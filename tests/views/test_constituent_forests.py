"""Views of forests, against the views of all their trees."""

import math
from collections import defaultdict

import pytest
from hypothesis import assume, given, strategies as st
from sizes import DEPTH
from strategies import derivations, forests, tree_distribution, trees

from kernelwood import Forest, Tree
from kernelwood.errors import StructureError
from kernelwood.views import (
    Readings,
    argument_forest,
    argument_path,
    argument_path_forest,
    argument_tree,
    minimal_complete_tree,
    minimal_forest,
    path_enclosed_forest,
    path_enclosed_tree,
)

HIGH = "(S (NP (PRP We)) (VP (VBD saw) (NP (NNS birds)) (PP (IN with) (NP (NNS glasses)))))"
LOW = "(S (NP (PRP We)) (VP (VBD saw) (NP (NP (NNS birds)) (PP (IN with) (NP (NNS glasses))))))"
SAW, BIRDS, WITH = 1, 2, 3


@pytest.fixture
def attachment():
    """Two readings of one sentence: the PP belongs to the verb (3 of 4) or to the noun."""
    return Forest.from_trees([(Tree.from_brackets(HIGH), 3), (Tree.from_brackets(LOW), 1)])


def spans_in(n_words):
    return st.integers(1, n_words).flatmap(
        lambda end: st.tuples(st.integers(0, end - 1), st.just(end))
    )


@st.composite
def forests_with_spans(draw):
    forest = draw(forests(spans=True))
    n_words = forest.spans[forest.root][1]
    return forest, draw(spans_in(n_words)), draw(spans_in(n_words))


@st.composite
def forests_with_predicates(draw):
    """A forest, a span, and a word outside it."""
    forest, span, _ = draw(forests_with_spans())
    outside = [
        place for place in range(forest.spans[forest.root][1]) if not span[0] <= place < span[1]
    ]
    assume(outside)
    return forest, span, draw(st.sampled_from(outside))


@st.composite
def plain_trees_with_spans(draw):
    """A tree without edge labels, which forests do not have, and two spans."""
    drawn = draw(trees(depth=4))
    labels, edges, counts = drawn.flatten()
    tree = Tree.from_postorder(labels, [""] * len(edges), counts)
    n_words = sum(1 for _ in tree.leaves())
    return tree, draw(spans_in(n_words)), draw(spans_in(n_words))


def of_all_trees(forest, view):
    """Return the distribution of a view over the trees that have it."""
    found = defaultdict(float)
    for tree, probability in tree_distribution(forest).items():
        try:
            found[view(tree)] += probability
        except StructureError:
            continue
    total = math.fsum(found.values())
    return {tree: probability / total for tree, probability in found.items()}


def taken(forest, expected):
    """Return the distribution over the trees of a view, without a node that joins roots."""
    found = tree_distribution(forest)
    if set(found) == set(expected):
        return found
    return {tree.children[0]: probability for tree, probability in found.items()}


# Two entities


@given(forests_with_spans())
def test_minimal_forests_have_the_minimal_complete_trees(drawn):
    forest, first, second = drawn
    expected = of_all_trees(forest, lambda tree: minimal_complete_tree(tree, first, second))
    assert taken(minimal_forest(forest, first, second), expected) == pytest.approx(expected)


@given(forests_with_spans())
def test_path_enclosed_forests_have_the_path_enclosed_trees(drawn):
    forest, first, second = drawn
    expected = of_all_trees(forest, lambda tree: path_enclosed_tree(tree, first, second))
    assert taken(path_enclosed_forest(forest, first, second), expected) == pytest.approx(expected)


@given(plain_trees_with_spans())
def test_one_tree_gives_its_path_enclosed_tree(drawn):
    tree, first, second = drawn
    found = path_enclosed_forest(Forest.from_trees([tree]), first, second)
    assert tree_distribution(found) == {path_enclosed_tree(tree, first, second): 1.0}


@given(forests_with_spans())
def test_probabilities_at_a_head_add_up_to_one(drawn):
    part = path_enclosed_forest(*drawn)
    for node in range(part.n_nodes):
        if part.edges_of(node):
            total = math.fsum(part.edges[number][2] for number in part.edges_of(node))
            assert total == pytest.approx(1.0)


@given(forests_with_spans())
def test_no_node_stands_over_words_outside(drawn):
    forest, first, second = drawn
    part = path_enclosed_forest(forest, first, second)
    start, end = min(first[0], second[0]), max(first[1], second[1])
    assert part.spans[part.root] == (start, end)
    assert all(start <= low < high <= end for low, high in part.spans)


def test_hyper_edges_that_become_equal_are_one():
    trees = ["(S (A a) (B b) (C c))", "(S (A a) (B b) (D c))"]
    forest = Forest.from_trees([Tree.from_brackets(text) for text in trees])
    part = path_enclosed_forest(forest, (0, 1), (1, 2))
    assert part.n_trees == 1
    assert sorted(part.labels) == ["A", "B", "S", "a", "b"]


def test_a_made_up_forest_stays_marked(attachment):
    made_up = Forest(
        attachment.labels, attachment.edges, attachment.root, attachment.spans, fallback=True
    )
    assert path_enclosed_forest(made_up, (1, 2), (2, 3)).fallback
    assert argument_forest(made_up, 2, 3).fallback
    assert argument_path_forest(made_up, SAW, 2, 3).fallback


# Arguments


@given(forests_with_spans())
def test_argument_forests_have_the_constituents_over_exactly_the_words(drawn):
    forest, (start, end), _ = drawn
    expected = of_all_trees(forest, lambda tree: argument_tree(tree, start, end, root="R"))
    assume(expected)
    found = argument_forest(forest, start, end, root="R")
    assert tree_distribution(found) == pytest.approx(expected)


@given(plain_trees_with_spans())
def test_one_tree_gives_its_argument(drawn):
    tree, span, _ = drawn
    forest = Forest.from_trees([tree])
    try:
        expected = argument_tree(tree, *span)
    except StructureError:
        with pytest.raises(StructureError, match="no tree of the forest has the constituent"):
            argument_forest(forest, *span)
    else:
        assert tree_distribution(argument_forest(forest, *span)) == {expected: 1.0}


def productions(listed):
    """Return the expected number of times a label stands above others in weighted trees."""
    counts = defaultdict(float)
    for tree, weight in listed:
        for node in tree.preorder():
            if node.children:
                counts[node.label, tuple(child.label for child in node.children)] += weight
    return dict(counts)


@given(forests_with_predicates())
def test_paths_of_a_forest_have_the_productions_of_all_paths(drawn):
    forest, span, predicate = drawn
    expected = of_all_trees(
        forest, lambda tree: argument_path(tree, predicate, *span, lemma="L", root="R")
    )
    assume(expected)
    view = argument_path_forest(forest, predicate, *span, lemma="L", root="R")
    assume(view.n_trees <= 300)
    listed = [(tree, product) for tree, product, _ in derivations(view)]
    assert math.fsum(product for _, product in listed) == pytest.approx(1.0)
    assert productions(listed) == pytest.approx(productions(expected.items()))


@given(plain_trees_with_spans(), st.data())
def test_one_tree_gives_its_path(drawn, data):
    tree, span, _ = drawn
    forest = Forest.from_trees([tree])
    predicate = data.draw(st.integers(0, sum(1 for _ in tree.leaves()) - 1))
    try:
        expected = argument_path(tree, predicate, *span, facts=[("KIND", "value")])
    except StructureError:
        with pytest.raises(StructureError):
            argument_path_forest(forest, predicate, *span)
    else:
        view = argument_path_forest(forest, predicate, *span, facts=[("KIND", "value")])
        assert tree_distribution(view) == {expected: 1.0}


def test_paths_have_the_probabilities_of_the_readings_that_have_the_argument(attachment):
    view = argument_path_forest(attachment, SAW, WITH, 5, lemma="see")
    found = {tree.to_brackets(): probability for tree, probability in view.k_best(9)}
    assert found == pytest.approx(
        {"(VP (VBD see) PP-ARG)": 0.75, "(VP (VBD see) (NP PP-ARG))": 0.25}
    )


def test_choices_that_depend_on_labels_further_up_are_taken_as_independent():
    # Below A always X, below B always Y; but both ways lead through an M at the same depth.
    readings = ["(S (P p) (A (M (X (C c) d) e) f))", "(S (P p) (B (M (Y (C c) d)) e f))"]
    forest = Forest.from_trees([Tree.from_brackets(text) for text in readings])
    view = argument_path_forest(forest, 0, 1, 2)
    found = {tree.to_brackets(): probability for tree, probability in view.k_best(9)}
    wanted = {f"(S (P p) ({up} (M ({down} C-ARG))))": 0.25 for up in "AB" for down in "XY"}
    assert found == pytest.approx(wanted)


def test_negligible_hyper_edges_are_left_out(attachment):
    view = argument_path_forest(attachment, SAW, WITH, 5, negligible=0.3)
    assert view.best_tree().to_brackets() == "(VP (VBD saw) PP-ARG)"
    assert view.n_trees == 1


def test_the_best_of_a_head_is_never_negligible(attachment):
    assert argument_path_forest(attachment, SAW, WITH, 5, negligible=1.0).n_trees == 1


def test_a_span_that_is_no_constituent_has_no_views(attachment):
    with pytest.raises(StructureError, match="no tree of the forest has the constituent"):
        argument_forest(attachment, 1, 3)
    with pytest.raises(StructureError, match="no tree of the forest has the constituent"):
        argument_path_forest(attachment, 0, 1, 3)


def test_a_predicate_inside_its_argument_is_refused(attachment):
    with pytest.raises(StructureError, match="contains its predicate"):
        argument_path_forest(attachment, SAW, 1, 5)


def test_readings_serve_many_views(attachment):
    readings = Readings(attachment)
    assert argument_forest(readings, 2, 5) == argument_forest(attachment, 2, 5)
    assert argument_path_forest(readings, SAW, 2, 3) == argument_path_forest(attachment, SAW, 2, 3)


@pytest.mark.parametrize(
    "view",
    [
        lambda forest: minimal_forest(forest, (0, 1), (0, 1)),
        lambda forest: path_enclosed_forest(forest, (0, 1), (0, 1)),
        lambda forest: argument_forest(forest, 0, 1),
        lambda forest: argument_path_forest(forest, 0, 0, 1),
    ],
)
def test_forests_without_spans_are_refused(view):
    with pytest.raises(StructureError, match="has no spans"):
        view(Forest(["S", "x"], [(0, (1,), 1.0)], 0))


def test_children_that_leave_a_gap_are_refused():
    forest = Forest(["S", "a", "c"], [(0, (1, 2), 1.0)], 0, [(0, 3), (0, 1), (2, 3)])
    with pytest.raises(StructureError, match="leave no gap"):
        path_enclosed_forest(forest, (1, 2), (1, 2))
    with pytest.raises(StructureError, match="leave no gap"):
        argument_path_forest(forest, 1, 0, 1)


def test_readings_less_probable_than_any_float_do_not_count():
    labels = ["S", "A", "x", "B", "p"]
    spans = [(0, 2), (0, 1), (0, 1), (0, 1), (1, 2)]
    edges = [(0, (1, 4), 1.0), (0, (3, 4), 1e-320), (1, (2,), 1.0), (3, (2,), 1e-320)]
    view = argument_path_forest(Forest(labels, edges, 0, spans), 1, 0, 1)
    assert view.best_tree().to_brackets() == "(S A-ARG p)"
    assert view.n_trees == 1


# Any depth


@pytest.fixture(scope="module")
def deep():
    """A chain with a word to the left at each step, and two ways to go on: 2**20000 trees."""
    labels, spans, edges = ["n"], [(0, DEPTH + 1)], []
    for level in range(DEPTH):
        node, rest = len(labels) - 1, (level + 1, DEPTH + 1)
        labels += ["a", "b", "n"]
        spans += [(level, level + 1), (level, level + 1), rest]
        edges += [(node, (node + 1, node + 3), 0.5), (node, (node + 2, node + 3), 0.25)]
    return Forest(labels, edges, 0, spans)


def test_forests_of_any_depth_are_cut(deep):
    part = path_enclosed_forest(deep, (0, 1), (DEPTH - 1, DEPTH))
    assert part.n_trees == 2**DEPTH
    assert part.spans[part.root] == (0, DEPTH)


def test_arguments_may_be_of_any_depth(deep):
    assert argument_forest(deep, 1, DEPTH + 1).n_trees == 2 ** (DEPTH - 1)


def test_paths_may_be_of_any_length(deep):
    view = argument_path_forest(deep, 0, DEPTH, DEPTH + 1, root="R")
    assert view.n_trees == 2
    assert view.n_nodes == DEPTH + 4
