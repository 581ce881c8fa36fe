"""Treebank trees become plain constituency trees."""

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH
from strategies import chain

from kernelwood.errors import StructureError
from kernelwood.parsing.treebank import base_label, prepare_tree, prepare_treebank
from kernelwood.structures import Tree


def prepared(text):
    tree = prepare_tree(Tree.from_brackets(text))
    return None if tree is None else tree.to_brackets()


@pytest.mark.parametrize(
    ("label", "base"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("ADVP|PRT", "ADVP"),
        ("PP-LOC=3", "PP"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("WP$", "WP$"),
        ("``", "``"),
        (":", ":"),
        ("=", "="),
        ("", ""),
    ],
)
def test_function_tags_and_indices_are_cut_off(label, base):
    assert base_label(label) == base


def test_traces_go_with_the_constituents_they_leave_empty():
    text = "(S (NP-SBJ (-NONE- *-1)) (VP (VBZ falls) (SBAR (-NONE- 0) (S (-NONE- *T*)))))"
    assert prepared(text) == "(S (VP (VBZ falls)))"


def test_a_tree_without_words_is_none():
    assert prepared("(S (NP (-NONE- *)))") is None


@pytest.mark.parametrize("top", ["", "ROOT", "TOP", "S1"])
def test_the_outer_bracket_is_opened(top):
    tree = Tree(top, [Tree.from_brackets("(S (NN rain))")])
    assert prepare_tree(tree).to_brackets() == "(S (NN rain))"


def test_an_outer_bracket_with_several_trees_stays():
    assert prepared("(ROOT (S (NN rain)) (S (NN snow)))") == "(ROOT (S (NN rain)) (S (NN snow)))"


def test_an_outer_bracket_over_a_word_is_its_part_of_speech():
    assert prepared("(TOP rain)") == "(TOP rain)"


def test_repeated_categories_are_merged():
    assert prepared("(S (NP (NP-SBJ (NP (NN rain)))))") == "(S (NP (NN rain)))"


def test_a_category_labeled_like_its_part_of_speech_is_merged_with_it():
    assert prepared("(S (X (X rain)))") == "(S (X rain))"


def test_categories_that_meet_when_a_trace_goes_are_merged():
    assert prepared("(S (NP (NP (NN rain)) (SBAR (-NONE- *))))") == "(S (NP (NN rain)))"


@pytest.mark.parametrize("text", ["(NP the (NN cat))", "(NP the cat)", "(NP (DT the) cat)"])
def test_a_word_beside_others_is_refused(text):
    with pytest.raises(StructureError, match="so it has no part of speech"):
        prepare_tree(Tree.from_brackets(text))


def test_a_lone_word_is_refused():
    with pytest.raises(StructureError, match="is the root"):
        prepare_tree(Tree("rain"))


def test_the_position_of_a_bad_tree_is_told():
    good = Tree.from_brackets("(S (NN rain))")
    with pytest.raises(StructureError, match="tree 2 of the treebank"):
        prepare_treebank([good, good, Tree.from_brackets("(S a b)")])


def test_a_single_tree_is_no_treebank():
    with pytest.raises(StructureError, match=r"fit\(\[tree\]\)"):
        prepare_treebank(Tree.from_brackets("(S (NN rain))"))


def test_other_things_are_no_trees():
    with pytest.raises(StructureError, match="not a Tree"):
        prepare_treebank(["(S (NN rain))"])


def test_a_treebank_without_words_is_refused():
    with pytest.raises(StructureError, match="no tree of the treebank has words"):
        prepare_treebank([Tree.from_brackets("(S (-NONE- *))")])


def test_trees_of_any_depth_are_prepared():
    deep = Tree("S", [chain(DEPTH, label=lambda level: "AB"[level % 2])])
    assert prepare_tree(deep) == deep


def test_a_tree_that_unfolds_without_end_is_refused():
    tree = Tree("A", [Tree("a")])
    for _ in range(60):
        tree = Tree("S", [tree, tree])
    with pytest.raises(StructureError, match="more than 10,000,000"):
        prepare_tree(tree)


def test_a_deep_repetition_is_merged():
    assert prepare_tree(chain(DEPTH, label=lambda level: "X")) == Tree("X", [Tree("X")])


@st.composite
def constituents(draw, depth=3):
    label = draw(st.sampled_from(["S", "NP-SBJ", "VP", "NP=1", "-LRB-", "-NONE-"]))
    if depth == 0 or draw(st.booleans()):
        return Tree(label, [Tree(draw(st.sampled_from("abc")))])
    return Tree(label, draw(st.lists(constituents(depth=depth - 1), min_size=1, max_size=3)))


@given(constituents())
def test_preparing_twice_changes_nothing(tree):
    once = prepare_tree(tree)
    assert once is None or prepare_tree(once) == once


@given(constituents())
def test_words_that_are_spoken_stay(tree):
    spoken, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if node.is_leaf:
            spoken.append(node.label)
        elif node.label != "-NONE-":
            waiting += reversed(node.children)
    once = prepare_tree(tree)
    assert ([] if once is None else [leaf.label for leaf in once.leaves()]) == spoken
