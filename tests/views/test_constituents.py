"""Parts of trees around entities and arguments, against naive recursion."""

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH
from strategies import chain, star, trees

from kernelwood import Tree
from kernelwood.errors import StructureError
from kernelwood.text import Entity, Sentence
from kernelwood.views import (
    argument_path,
    argument_tree,
    constituent,
    entity_span,
    minimal_complete_tree,
    path_enclosed_tree,
)

SENTENCE = (
    "(S (ADVP (RB here)) (NP (JJ old) (NNS birds)) "
    "(VP (MD can) (VP (VB eat) (NP (NP (NN bread)) (PP (IN from) (NP (NNS bags)))))) (. .))"
)
HERE, OLD, BIRDS, CAN, EAT, BREAD, FROM, BAGS, STOP = range(9)


def word(position):
    return position, position + 1


@pytest.fixture
def sentence():
    return Tree.from_brackets(SENTENCE)


@st.composite
def trees_with_spans(draw, count=2):
    tree = draw(trees(depth=4))
    n_words = sum(1 for _ in tree.leaves())
    spans = []
    for _ in range(count):
        end = draw(st.integers(1, n_words))
        spans.append((draw(st.integers(0, end - 1)), end))
    return tree, spans


def with_spans(tree, start=0):
    """Return all nodes as (node, span, path of child numbers), parents first."""
    found, place = [], start
    for number, child in enumerate(tree.children):
        below = with_spans(child, place)
        found += [(node, span, (number, *path)) for node, span, path in below]
        place = below[0][1][1]
    end = place if tree.children else start + 1
    return [(tree, (start, end), ()), *found]


def smallest(tree, start, end):
    """Return node, span and path of the topmost node on the smallest span around some words."""
    around = [item for item in with_spans(tree) if item[1][0] <= start and end <= item[1][1]]
    return min(around, key=lambda item: (item[1][1] - item[1][0], len(item[2])))


def enclosed(tree, start, end, place=0):
    """Return a tree without the words outside a span, or None."""
    if not tree.children:
        return tree if start <= place < end else None
    kept = []
    for child in tree.children:
        kept.append(enclosed(child, start, end, place))
        place += sum(1 for _ in child.leaves())
    kept = [child for child in kept if child is not None]
    return Tree(tree.label, kept, tree.edge) if kept else None


# Constituents


@given(trees_with_spans(1))
def test_constituents_are_the_topmost_nodes_of_the_smallest_span(drawn):
    tree, [(start, end)] = drawn
    assert constituent(tree, start, end) == smallest(tree, start, end)[0]


@given(trees_with_spans(1))
def test_exact_constituents_are_refused_unless_a_node_has_the_span(drawn):
    tree, [span] = drawn
    if any(found == span for _, found, _ in with_spans(tree)):
        assert constituent(tree, *span, exact=True) == smallest(tree, *span)[0]
    else:
        with pytest.raises(StructureError, match="are not a constituent"):
            constituent(tree, *span, exact=True)


def test_a_missing_constituent_is_told_with_the_smallest_around_it(sentence):
    with pytest.raises(StructureError, match=r"smallest around them is 'NP' over \[5, 8\)"):
        constituent(sentence, BREAD, BAGS, exact=True)


@pytest.mark.parametrize("span", [(-1, 2), (3, 3), (2, 1), (8, 10)])
def test_words_that_are_not_there_are_refused(sentence, span):
    with pytest.raises(StructureError, match="is not a span of the words"):
        constituent(sentence, *span)


@pytest.mark.parametrize("start", ["0", 0.0, None, True])
def test_positions_must_be_integers(sentence, start):
    with pytest.raises(StructureError, match="start must be an integer"):
        constituent(sentence, start, 2)


def test_equal_subtrees_in_two_places_are_told_apart():
    part = Tree.from_brackets("(A (B x) (C y))")
    tree = Tree("S", [part, part])
    assert constituent(tree, 1, 3) is tree
    assert constituent(tree, 2, 4) is part


# Entities


def test_a_discontinuous_entity_spans_its_gap():
    sentence = Sentence.from_words(["T", "and", "B", "cells"])
    assert entity_span(sentence, Entity("e", "cell", ((0, 1), (8, 13)))) == (0, 4)


def test_an_entity_without_tokens_has_no_span():
    sentence = Sentence.from_words(["T", "cells"])
    with pytest.raises(StructureError, match="entity 'e' covers none of the 2 tokens"):
        entity_span(sentence, Entity("e", "cell", ()))


def test_a_sentence_without_tokens_is_to_be_tokenized():
    with pytest.raises(StructureError, match="tokenize the sentence first"):
        entity_span(Sentence("T cells"), Entity("e", "cell", ((0, 1),)))


# Two entities


@given(trees_with_spans())
def test_minimal_complete_trees_are_the_smallest_constituents_around_both(drawn):
    tree, [first, second] = drawn
    start, end = min(first[0], second[0]), max(first[1], second[1])
    assert minimal_complete_tree(tree, first, second) == smallest(tree, start, end)[0]


@given(trees_with_spans())
def test_path_enclosed_trees_lack_what_is_outside_and_nothing_else(drawn):
    tree, [first, second] = drawn
    start, end = min(first[0], second[0]), max(first[1], second[1])
    part, (shift, _), _ = smallest(tree, start, end)
    assert path_enclosed_tree(tree, first, second) == enclosed(part, start - shift, end - shift)


@given(trees_with_spans())
def test_the_order_of_entities_does_not_matter_without_marks(drawn):
    tree, [first, second] = drawn
    assert path_enclosed_tree(tree, first, second) == path_enclosed_tree(tree, second, first)


def test_a_path_enclosed_tree_ends_at_the_entities(sentence):
    found = path_enclosed_tree(sentence, word(BIRDS), word(BREAD))
    assert found.to_brackets() == (
        "(S (NP (NNS birds)) (VP (MD can) (VP (VB eat) (NP (NP (NN bread))))))"
    )


def test_what_lies_within_the_entities_is_not_copied(sentence):
    found = path_enclosed_tree(sentence, word(EAT), word(BAGS))
    assert found is sentence.children[2].children[1]


@given(trees_with_spans())
def test_marks_add_two_nodes_and_keep_the_words(drawn):
    tree, [first, second] = drawn
    plain = path_enclosed_tree(tree, first, second)
    marked = path_enclosed_tree(tree, first, second, mark=("E1", "E2"))
    assert marked.n_nodes == plain.n_nodes + 2
    assert [leaf.label for leaf in marked.leaves()] == [leaf.label for leaf in plain.leaves()]


@given(trees_with_spans())
def test_a_mark_stands_above_the_smallest_constituent_of_its_entity(drawn):
    tree, [first, second] = drawn
    marked = path_enclosed_tree(tree, first, second, mark=("E1", "E2"))
    plain = path_enclosed_tree(tree, first, second)
    shift = min(first[0], second[0])
    for label, (start, end) in (("E1", first), ("E2", second)):
        [(_, span, _)] = [item for item in with_spans(marked) if item[0].label == label]
        assert span == smallest(plain, start - shift, end - shift)[1]


@pytest.mark.parametrize("mark", ["E1", ("E1",), ("E1", "E2", "E3")])
def test_marks_must_be_two_labels(sentence, mark):
    with pytest.raises(StructureError, match="mark must be two labels or None"):
        path_enclosed_tree(sentence, word(OLD), word(BREAD), mark=mark)


def test_marks_stand_above_unary_chains(sentence):
    found = path_enclosed_tree(sentence, word(BREAD), word(BAGS), mark=("E1", "E2"))
    assert found.to_brackets() == ("(NP (E1 (NP (NN bread))) (PP (IN from) (E2 (NP (NNS bags)))))")


def test_the_first_mark_stands_above_the_second_on_the_same_constituent(sentence):
    found = minimal_complete_tree(sentence, word(OLD), (OLD, BIRDS + 1), mark=("E1", "E2"))
    assert found.to_brackets() == "(E2 (NP (E1 (JJ old)) (NNS birds)))"
    both = minimal_complete_tree(sentence, (OLD, BIRDS + 1), (OLD, BIRDS + 1), mark=("E1", "E2"))
    assert both.to_brackets() == "(E1 (E2 (NP (JJ old) (NNS birds))))"


def test_an_entity_that_is_no_constituent_is_marked_with_its_neighbors(sentence):
    found = path_enclosed_tree(sentence, (BREAD, FROM + 1), word(BAGS), mark=("E1", "E2"))
    assert found.to_brackets() == ("(E1 (NP (NP (NN bread)) (PP (IN from) (E2 (NP (NNS bags))))))")


def test_a_mark_takes_over_the_edge_label():
    tree = Tree("S", [Tree("a", edge="x"), Tree("b", edge="y")])
    found = path_enclosed_tree(tree, (0, 1), (1, 2), mark=("E1", "E2"))
    assert [(child.edge, child.children[0].edge) for child in found.children] == [
        ("x", ""),
        ("y", ""),
    ]


# Arguments


def test_an_argument_is_its_constituent(sentence):
    assert argument_tree(sentence, *word(BAGS)).to_brackets() == "(NP (NNS bags))"


def test_a_root_may_be_put_above_an_argument(sentence):
    assert argument_tree(sentence, BAGS, BAGS + 1, root="ARG").to_brackets() == (
        "(ARG (NP (NNS bags)))"
    )


def test_a_path_keeps_only_what_leads_to_predicate_and_argument(sentence):
    found = argument_path(sentence, EAT, OLD, BIRDS + 1, lemma="eat")
    assert found.to_brackets() == "(S NP-ARG (VP (VP (VB eat))))"


def test_an_argument_to_the_right_stands_to_the_right(sentence):
    assert argument_path(sentence, EAT, FROM, BAGS + 1).to_brackets() == (
        "(VP (VB eat) (NP PP-ARG))"
    )


def test_a_lemma_stands_in_place_of_the_word(sentence):
    found = argument_path(sentence, CAN, BREAD, BREAD + 1, lemma="could")
    assert found.to_brackets() == "(VP (MD could) (VP (NP NP-ARG)))"


def test_facts_stand_beside_a_path(sentence):
    found = argument_path(sentence, EAT, *word(STOP), facts=[("VOICE", "active"), ("N", "1")])
    assert found.to_brackets() == "(* (VOICE active) (N 1) (S (VP (VP (VB eat))) .-ARG))"


def test_a_path_starts_where_the_ways_part():
    tree = Tree.from_brackets("(S (S (NP a) (VP b)))")
    assert argument_path(tree, 1, 0, 1).to_brackets() == "(S NP-ARG (VP b))"


def test_an_argument_that_is_no_constituent_has_no_path(sentence):
    with pytest.raises(StructureError, match=r"\[4, 6\) are not a constituent"):
        argument_path(sentence, HERE, EAT, BREAD + 1)


def test_a_predicate_inside_its_argument_is_refused(sentence):
    with pytest.raises(StructureError, match="contains its predicate, word 4"):
        argument_path(sentence, EAT, EAT, BAGS + 1)


def test_a_predicate_that_is_not_there_is_refused(sentence):
    with pytest.raises(StructureError, match="predicate 9 is not one of the words"):
        argument_path(sentence, 9, 0, 1)


@given(trees_with_spans(1), st.data())
def test_paths_have_two_leaves_at_most_as_deep_as_in_the_tree(drawn, data):
    tree, [(start, end)] = drawn
    n_words = sum(1 for _ in tree.leaves())
    outside = [place for place in range(n_words) if not start <= place < end]
    node, span, path = smallest(tree, start, end)
    if not outside or span != (start, end):
        return
    predicate = data.draw(st.sampled_from(outside))
    target = [item for item in with_spans(tree) if item[1] == word(predicate)][-1]
    shared = next(i for i, (a, b) in enumerate(zip(path, target[2], strict=False)) if a != b)
    found = argument_path(tree, predicate, start, end, lemma="LEMMA")
    expected = {f"{node.label}-ARG": len(path) - shared, "LEMMA": len(target[2]) - shared}
    depths = {item[0].label: len(item[2]) for item in with_spans(found) if not item[0].children}
    assert depths == expected


# Any depth


@pytest.fixture(scope="module")
def deep():
    """A chain that ends in two chains of one word each."""
    tree = Tree("join", [chain(DEPTH), Tree("middle"), chain(DEPTH)])
    for _ in range(DEPTH):
        tree = Tree("n", [Tree("left"), tree])
    return tree


def test_entities_may_stand_at_any_depth(deep):
    first, last = (DEPTH, DEPTH + 1), (DEPTH + 2, DEPTH + 3)
    found = path_enclosed_tree(deep, first, last, mark=("E1", "E2"))
    assert [child.label for child in found.children] == ["E1", "middle", "E2"]
    assert found.n_nodes == 2 * DEPTH + 4


def test_words_are_cut_off_at_any_depth(deep):
    found = path_enclosed_tree(deep, (0, 1), (DEPTH, DEPTH + 1))
    assert found.n_nodes == deep.n_nodes - 1 - DEPTH


def test_paths_may_be_of_any_length(deep):
    found = argument_path(deep, DEPTH + 2, 0, 1)
    assert found.depth == 2 * DEPTH + 1


def test_nodes_may_have_many_children():
    found = path_enclosed_tree(star(DEPTH), (10, 11), (DEPTH - 10, DEPTH - 9), mark=("E1", "E2"))
    assert len(found.children) == DEPTH - 19
