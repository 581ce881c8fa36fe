from __future__ import annotations

import pytest
from hypothesis import given
from sizes import DEPTH
from strategies import chain, star, trees

from kernelwood.errors import StructureError
from kernelwood.structures import Tree
from kernelwood.structures.tree_words import (
    count_leaves,
    without_empty_elements,
    words_and_tags,
)

brackets = Tree.from_brackets


@pytest.mark.parametrize(
    ("text", "words", "tags"),
    [
        ("(x)", ["x"], [""]),
        ("(NN x)", ["x"], ["NN"]),
        ("(NP x y)", ["x", "y"], ["", ""]),
        ("(S (NP (NN x)) y (VP (VB z)))", ["x", "y", "z"], ["NN", "", "VB"]),
        ("(S (A (B (C x))))", ["x"], ["C"]),
    ],
)
def test_the_tag_of_a_word_is_the_label_above_it_alone(text, words, tags):
    assert words_and_tags(brackets(text)) == (words, tags)


@given(trees())
def test_words_are_the_leaves_in_order(tree):
    words, tags = words_and_tags(tree)
    assert words == [leaf.label for leaf in tree.leaves()]
    assert len(tags) == count_leaves(tree)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(S (NP (-NONE- *)) (VP (VB go)))", "(S (VP (VB go)))"),
        ("(S (A (B (-NONE- *) (-NONE- 0))) (VB go) (-NONE- *T*-1))", "(S (VB go))"),
        ("(S (NP x (-NONE- *)))", "(S (NP x))"),
        ('(S (-NONE- *) ("e":VP ("f":VB go)))', '(S ("e":VP ("f":VB go)))'),
        ("(S (-NONE- (A x)) y)", "(S y)"),
    ],
)
def test_empty_elements_go_with_what_holds_nothing_else(text, expected):
    assert without_empty_elements(brackets(text)) == brackets(expected)


def test_a_tree_without_empty_elements_is_not_copied():
    tree = brackets("(S (NP x))")
    assert without_empty_elements(tree) is tree


@pytest.mark.parametrize("text", ["(-NONE- *)", "(S (NP (-NONE- *)) (VP (-NONE- *?*)))"])
def test_a_tree_of_empty_elements_alone_is_an_error(text):
    with pytest.raises(StructureError, match="nothing but empty elements"):
        without_empty_elements(brackets(text))


def test_depth_does_not_matter():
    deep = chain(DEPTH)
    tree = Tree("S", [deep, Tree("-NONE-", [deep])])
    assert without_empty_elements(tree) == Tree("S", [deep])
    assert words_and_tags(tree) == (["n", "n"], ["n", "n"])


def test_width_does_not_matter():
    assert count_leaves(star(DEPTH)) == DEPTH
