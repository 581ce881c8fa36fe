"""The smallest constituents over some words, against looking them up in every tree."""

from collections import defaultdict

import pytest
from hypothesis import given, strategies as st
from strategies import forests, tree_distribution

from kernelwood import Forest, Tree
from kernelwood.errors import StructureError


def smallest(node, start, end):
    """Return the topmost node of the smallest span that covers the words."""
    place, found, best = 0, node, None
    while True:
        width = sum(1 for _ in node.leaves())
        if best is None or width < best:
            found, best = node, width
        below = place
        for child in node.children:
            after = below + sum(1 for _ in child.leaves())
            if below <= start and end <= after:
                node, place = child, below
                break
            below = after
        else:
            return found


def looked_up(forest, start, end):
    expected = defaultdict(float)
    for node, probability in tree_distribution(forest).items():
        expected[smallest(node, start, end)] += probability
    return dict(expected)


def taken(part):
    """Return the distribution over the trees of a part, without the node that joins roots."""
    distribution = tree_distribution(part)
    if part.labels[part.root] != "*":
        return distribution
    return {node.children[0]: probability for node, probability in distribution.items()}


@st.composite
def forests_with_words(draw):
    forest = draw(forests(spans=True))
    end = draw(st.integers(1, forest.spans[forest.root][1]))
    return forest, draw(st.integers(0, end - 1)), end


@given(forests_with_words())
def test_distribution_is_that_of_the_smallest_constituents(drawn):
    forest, start, end = drawn
    assert taken(forest.subforest(start, end)) == pytest.approx(looked_up(forest, start, end))


@given(forests_with_words())
def test_probabilities_at_a_head_add_up_to_one(drawn):
    part = Forest.subforest(*drawn)
    assert part.inside() == pytest.approx([1.0] * part.n_nodes)


@given(forests_with_words())
def test_fallback_is_kept(drawn):
    assert Forest.subforest(*drawn).fallback == drawn[0].fallback


@given(forests_with_words())
def test_the_part_covers_the_words(drawn):
    forest, start, end = drawn
    part = forest.subforest(start, end)
    low, high = part.spans[part.root]
    assert low <= start
    assert end <= high


ATTACHMENT = Forest.from_trees(
    [
        (Tree.from_brackets("(S Ann (VP (V saw) (NP Bo (PP with (NP hats)))))"), 3),
        (Tree.from_brackets("(S Ann (VP (V saw) (NP Bo) (PP with (NP hats))))"), 1),
    ]
)


def test_one_root_needs_no_joint():
    part = ATTACHMENT.subforest(3, 5)
    assert part.best_tree() == Tree.from_brackets("(PP with (NP hats))")
    assert part.spans[part.root] == (3, 5)


def test_several_roots_are_joined_over_all_of_them():
    part = ATTACHMENT.subforest(2, 4)
    assert part.labels[part.root] == "*"
    assert part.spans[part.root] == (1, 5)
    assert [(t.children[0].label, p) for t, p in part.k_best(3)] == [
        ("NP", pytest.approx(0.75)),
        ("VP", pytest.approx(0.25)),
    ]


def test_of_a_unary_chain_the_topmost_node_is_taken():
    forest = Forest.from_trees([Tree.from_brackets("(S (A (B (C x))) y)")])
    assert forest.subforest(0, 1).best_tree() == Tree.from_brackets("(A (B (C x)))")


def test_a_word_alone_is_a_part():
    forest = Forest.from_trees([Tree.from_brackets("(S x y)")])
    assert forest.subforest(1, 2) == Forest(["y"], [], 0, [(1, 2)])


def test_a_part_has_parts():
    assert ATTACHMENT.subforest(3, 5).subforest(4, 5).best_tree() == Tree("NP", [Tree("hats")])


def test_a_long_and_a_short_root_stay_in_proportion():
    # The first word is a T alone, or the start of an L over 201 words: products 1 and 1e-1000.
    labels, spans = ["S", "T", "L", "w"], [(0, 201), (0, 1), (0, 201), (0, 1)]
    tags = range(4, 404, 2)
    edges = [(0, (1, *tags), 0.75), (0, (2,), 0.25), (1, (3,), 1.0), (2, (3, *tags), 1.0)]
    for place, tag in enumerate(tags, start=1):
        labels += ["t", "w"]
        spans += [(place, place + 1)] * 2
        edges.append((tag, (tag + 1,), 1e-5))
    part = Forest(labels, edges, 0, spans).subforest(0, 1)
    assert [(t.n_nodes, p) for t, p in part.k_best(2)] == [
        (3, pytest.approx(0.75)),
        (2, pytest.approx(0.25)),
    ]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 6), (9, 10)])
def test_words_that_are_not_there(start, end):
    with pytest.raises(StructureError, match=r"the forest stands over \[0, 5\)"):
        ATTACHMENT.subforest(start, end)


def test_ranges_are_those_of_the_part():
    with pytest.raises(StructureError, match=r"stands over \[3, 5\)"):
        ATTACHMENT.subforest(3, 5).subforest(0, 1)


@pytest.mark.parametrize("start", [0.0, "0", None])
def test_positions_that_are_no_integers(start):
    with pytest.raises(StructureError, match="start must be an integer"):
        ATTACHMENT.subforest(start, 2)


def test_a_forest_without_spans_has_no_parts():
    with pytest.raises(StructureError, match="does not say which words"):
        Forest(["S", "x"], [(0, (1,), 1.0)], 0).subforest(0, 1)
