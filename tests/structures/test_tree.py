"""Trees: construction, traversal, equality and words."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH
from strategies import chain, star

from kernelwood.errors import StructureError
from kernelwood.structures import Tree, count_leaves, without_empty_elements, words_and_tags

labels = st.text(max_size=4)
trees = st.recursive(
    st.builds(Tree, labels, edge=labels),
    lambda children: st.builds(Tree, labels, st.lists(children, max_size=4), labels),
    max_leaves=12,
)


@pytest.fixture
def sentence():
    return Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP sleeps))")


def by_recursion(tree):
    """Post-order by the book, to compare with."""
    return [node for child in tree.children for node in by_recursion(child)] + [tree]


class CheckedOnce(str):
    __slots__ = ()


def test_children_are_stored_as_a_tuple():
    assert Tree("S", [Tree("x")]).children == (Tree("x"),)


def test_children_may_come_from_a_generator():
    assert Tree("S", (Tree(word) for word in "ab")).n_nodes == 3


def test_defaults_make_a_leaf_without_edge():
    tree = Tree("x")
    assert (tree.children, tree.edge, tree.n_nodes, tree.is_leaf) == ((), "", 1, True)


def test_subclass_of_str_becomes_plain_text():
    assert type(Tree(CheckedOnce("x")).label) is str


@pytest.mark.parametrize("name", ["label", "children", "edge", "n_nodes", "_hash", "new"])
def test_attributes_cannot_be_set(sentence, name):
    with pytest.raises(AttributeError, match="Tree objects never change"):
        setattr(sentence, name, "x")


def test_attributes_cannot_be_deleted(sentence):
    with pytest.raises(AttributeError, match="Tree objects never change"):
        del sentence.label


def test_calling_init_again_changes_nothing(sentence):
    sentence.__init__("other")
    assert sentence.label == "S"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tree(3), r"tree label must be a string, got 3 of type int\n.*str\(3\)"),
        (lambda: Tree(None), r"tree label .* got None of type NoneType\n.*use \"\""),
        (lambda: Tree("S", (), 5), r"edge label of tree 'S' must be a string, got 5"),
        (lambda: Tree("S", ["x"]), r"child 0 of 'S' .* of type str\n.*wrap it: Tree\('x'\)"),
        (lambda: Tree("S", [Tree("a"), 7]), r"child 1 of 'S' must be a Tree, got 7 of type int"),
        (lambda: Tree("NP", "dog"), r"got one str\n.*Tree\('NP', \[Tree\('dog'\)\]\)"),
        (lambda: Tree("NP", Tree("x")), r"got one Tree\n.*Tree\('NP', \[child\]\)"),
        (lambda: Tree("NP", 4), r"iterable of Trees, got 4 of type int"),
    ],
)  # fmt: skip
def test_wrong_parts_are_named_with_a_remedy(make, message):
    with pytest.raises(StructureError, match=message):
        make()


@given(trees)
def test_postorder_agrees_with_recursion(tree):
    assert [id(node) for node in tree.postorder()] == [id(node) for node in by_recursion(tree)]


def test_preorder_lists_parents_first():
    tree = Tree.from_brackets("(S (A (B x) (C y)) (D z))")
    assert [node.label for node in tree.preorder()] == list("SABxCyDz")


def test_preorder_visits_only_what_is_asked_for():
    shared = Tree("x")
    for _ in range(200):  # 2 ** 200 nodes by name
        shared = Tree("x", (shared, shared))
    assert next(shared.preorder()) is shared


def test_leaves_come_from_left_to_right(sentence):
    assert [leaf.label for leaf in sentence.leaves()] == ["the", "cat", "sleeps"]


def test_depth_counts_nodes_on_the_longest_path(sentence):
    assert (sentence.depth, Tree("x").depth) == (4, 1)


@given(trees)
def test_n_nodes_counts_the_postorder(tree):
    assert tree.n_nodes == len(list(tree.postorder()))


@given(trees)
def test_flatten_lists_the_postorder(tree):
    nodes = by_recursion(tree)
    expected = [(node.label, node.edge, len(node.children)) for node in nodes]
    assert list(zip(*tree.flatten(), strict=True)) == expected


@given(trees)
def test_from_postorder_inverts_flatten(tree):
    assert Tree.from_postorder(*tree.flatten()) == tree


def test_from_postorder_takes_numpy_counts():
    assert Tree.from_postorder(["x", "S"], ["", ""], np.array([0, 1])).depth == 2


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ((["x"], [], [0]), "equally long, got 1, 0 and 1"),
        (([], [], []), "at least one node"),
        ((["x", "y"], ["", ""], [0, 2]), "node 1 claims 2 children, but 1 subtrees precede"),
        ((["x", "y"], ["", ""], [0, -1]), "node 1 claims -1 children"),
        ((["x", "y"], ["", ""], [0, 0]), "describe 2 trees"),
        (([1], [""], [0]), "label of node 0 must be a string"),
        ((["x"], [None], [0]), "edge label of node 0 must be a string"),
        ((["x"], [""], [0.0]), "number of children of node 0 must be an integer, got 0.0"),
    ],
)
def test_from_postorder_refuses_what_is_no_tree(lists, message):
    with pytest.raises(StructureError, match=message):
        Tree.from_postorder(*lists)


@given(trees)
def test_equal_trees_have_equal_hashes(tree):
    again = Tree.from_postorder(*tree.flatten())
    assert again is not tree and hash(again) == hash(tree)


@given(trees, trees)
def test_trees_are_equal_exactly_when_their_nodes_are(left, right):
    assert (left == right) == (left.flatten() == right.flatten())


@pytest.mark.parametrize("other", ["(S y)", "(T x)", "(S x x)", '(S "e":x)', "(S (x z))"])
def test_one_difference_makes_trees_unequal(other):
    assert Tree.from_brackets("(S x)") != Tree.from_brackets(other)


def test_equal_hashes_are_not_trusted():
    left, right = Tree("S", [Tree("x")]), Tree("S", [Tree("y")])
    for forged in (left, right, left.children[0], right.children[0]):
        object.__setattr__(forged, "_hash", 1)
    assert left != right


def test_comparison_with_something_else_is_false(sentence):
    assert sentence != sentence.to_brackets()


def test_equality_of_heavily_shared_trees_is_quick():
    left = right = Tree("x")
    for _ in range(500):
        left, right = Tree("n", (left, left)), Tree("n", (right, right))
    assert left == right


@given(trees)
def test_pickle_gives_an_equal_tree(tree):
    assert pickle.loads(pickle.dumps(tree)) == tree


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copy_of_an_immutable_tree_is_the_tree(sentence, duplicate):
    assert duplicate(sentence) is sentence


def test_repr_shows_brackets():
    assert repr(Tree("NP", [Tree("x")])) == "Tree('(NP x)')"


def test_repr_of_a_large_tree_is_cut():
    shown = repr(Tree("NP", [Tree("word")] * 1000))
    assert len(shown) < 85 and shown.endswith("...)')")


def test_numpy_takes_trees_for_objects(sentence):
    assert np.array([sentence, sentence], dtype=object).shape == (2,)


@pytest.mark.parametrize("name", ["__getitem__", "__len__"])
def test_numpy_has_no_way_to_unpack_a_tree(name):
    assert not hasattr(Tree, name)


def test_trees_work_in_match_statements(sentence):
    match sentence:
        case Tree(label, [Tree("NP"), second]):
            assert (label, second.label) == ("S", "VP")
        case _:
            pytest.fail("pattern did not match")


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


@given(trees)
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
    with pytest.raises(StructureError, match="only empty elements"):
        without_empty_elements(brackets(text))


def test_depth_does_not_matter():
    deep = chain(DEPTH)
    tree = Tree("S", [deep, Tree("-NONE-", [deep])])
    assert without_empty_elements(tree) == Tree("S", [deep])
    assert words_and_tags(tree) == (["n", "n"], ["n", "n"])


def test_width_does_not_matter():
    assert count_leaves(star(DEPTH)) == DEPTH
