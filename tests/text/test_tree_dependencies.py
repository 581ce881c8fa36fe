"""Head rules: which word stands for a constituent, and what depends on it how."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH
from strategies import trees
from work import count_calls

from kernelwood.structures import Tree
from kernelwood.text import ROOT, Dependency, Sentence, dependencies_of, dependencies_of_tree
from kernelwood.text.tree_dependencies import head_words

LABELS = (
    *("S", "SBAR", "SQ", "VP", "NP", "PP", "ADJP", "ADVP", "QP", "UCP", "PRN", "FRAG", "WHNP"),
    *("CC", "CONJP", ",", "IN", "NN", "VBZ", "VBN", "JJ", "RB", "DT", "POS", "HYPH", "XYZ", "is"),
)
penn_trees = trees(max_children=4, depth=4, of=st.sampled_from(LABELS))


def relations(text: str) -> dict[str, tuple[str, str]]:
    """Return word -> (relation, head word) for a tree whose words are all different."""
    tree = Tree.from_brackets(text)
    words = [leaf.label for leaf in tree.leaves()]
    return {
        words[edge.dependent]: (edge.relation, words[edge.head] if edge.head != ROOT else "")
        for edge in dependencies_of_tree(tree)
    }


def head_of(text: str) -> str:
    tree = Tree.from_brackets(text)
    words = [leaf.label for leaf in tree.leaves()]
    return words[head_words(tree)[-1]]


@given(penn_trees)
def test_every_word_has_exactly_one_dependency_in_order(tree):
    n_words = sum(1 for _ in tree.leaves())
    assert [edge.dependent for edge in dependencies_of_tree(tree)] == list(range(n_words))


@given(penn_trees)
def test_exactly_one_word_is_the_root(tree):
    roots = [edge for edge in dependencies_of_tree(tree) if edge.head == ROOT]
    assert [edge.relation for edge in roots] == ["root"]


@given(penn_trees)
def test_dependencies_have_no_cycles(tree):
    heads = [edge.head for edge in dependencies_of_tree(tree)]
    for word in range(len(heads)):
        at, n_steps = word, 0
        while at != ROOT:
            at, n_steps = heads[at], n_steps + 1
            assert n_steps <= len(heads)


@given(penn_trees)
def test_dependencies_are_projective(tree):
    edges = [
        sorted((edge.head, edge.dependent))
        for edge in dependencies_of_tree(tree)
        if edge.head != ROOT
    ]
    for a, b in edges:
        assert not any(a < c < b < d for c, d in edges)


@given(penn_trees)
def test_the_head_of_a_node_is_one_of_its_own_words(tree):
    heads = iter(head_words(tree))
    spans: list[tuple[int, int]] = []
    n_leaves = 0
    for node in tree.postorder():
        count = len(node.children)
        start = spans[-count][0] if count else n_leaves
        n_leaves += not count
        del spans[len(spans) - count :]
        spans.append((start, n_leaves))
        assert start <= next(heads) < n_leaves


@given(penn_trees)
def test_function_tags_and_edge_labels_change_nothing(tree):
    labels, edges, counts = tree.flatten()
    marked = [
        f"{label}-SBJ-1" if count and not label.startswith("-") else label
        for label, count in zip(labels, counts, strict=True)
    ]
    other = Tree.from_postorder(marked, [f"{edge}x" for edge in edges], counts)
    assert dependencies_of_tree(other) == dependencies_of_tree(tree)


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("(NP (DT the) (NN cell) (NN line))", "line"),
        ("(NP (NP (DT the) (NN level)) (PP (IN of) (NP (NN Ras))))", "level"),
        ("(NP (NP (NN Ras) (POS 's)) (NN role))", "role"),
        ("(VP (MD may) (VP (VB have) (VP (VBN been) (VP (VBN seen)))))", "seen"),
        ("(VP (TO to) (VP (VB bind)))", "bind"),
        ("(VP (VBZ is) (ADJP (RB very) (JJ active)))", "active"),
        ("(VP (VBZ is) (NP (DT an) (NN inhibitor)))", "inhibitor"),
        ("(VP (VBZ is) (PP (IN in) (NP (NN yeast))))", "is"),
        ("(PP (ADVP (RB only)) (IN in) (NP (NN yeast)))", "in"),
        ("(SBAR (IN that) (S (NP (PRP it)) (VP (VBZ binds))))", "binds"),
        (
            "(S (SBAR (IN if) (S (VP (VBN seen)))) (, ,) (S (NP (PRP it)) (VP (VBZ binds))))",
            "binds",
        ),
        ("(QP (JJR more) (IN than) (CD 20))", "20"),
        ("(UCP (ADJP (JJ nuclear)) (CC and) (NP (NN membrane)))", "nuclear"),
        ("(PRN (-LRB- -LRB-) (NP (NN Ras)) (-RRB- -RRB-))", "Ras"),
        ("(FRAG (ADVP (RB hence)) (NP (DT the) (NN name)))", "name"),
        ("(XYZ (, ,) (ABC a) (ABC b))", "a"),
        ("(XYZ (, ,) (. .))", ","),
        ("(NP (NN protein) (CC and) (NN mRNA) (NNS levels))", "levels"),
        ("(NP (NN growth) (CC and) (NN division))", "growth"),
        ("(S (NN a) (VBZ is) (NN b))", "is"),
    ],
)
def test_heads_follow_the_rules(text, head):
    assert head_of(text) == head


def test_an_active_clause_has_subject_and_object():
    found = relations("(S (NP (NN Raf)) (VP (RB not) (VBZ binds) (NP (DT the) (NN site))) (. .))")
    assert found == {
        "Raf": ("nsubj", "binds"),
        "not": ("neg", "binds"),
        "binds": ("root", ""),
        "the": ("det", "site"),
        "site": ("dobj", "binds"),
        ".": ("punct", "binds"),
    }


def test_a_passive_clause_has_a_passive_subject_and_auxiliary():
    found = relations(
        "(S (NP (NN Raf)) (VP (VBZ has) (VP (VBN been)"
        " (VP (VBN bound) (PP (IN by) (NP (NN Ras)))))))"
    )
    assert found == {
        "Raf": ("nsubjpass", "bound"),
        "has": ("aux", "bound"),
        "been": ("auxpass", "bound"),
        "bound": ("root", ""),
        "by": ("prep", "bound"),
        "Ras": ("pobj", "by"),
    }


def test_a_progressive_form_is_not_passive():
    found = relations("(S (NP (NN Raf)) (VP (VBZ is) (VP (VBG binding) (NP (NN Ras)))))")
    assert (found["Raf"], found["is"]) == (("nsubj", "binding"), ("aux", "binding"))


def test_what_is_said_with_be_has_subject_and_copula():
    found = relations("(S (NP (NN Raf)) (VP (VBZ is) (NP (DT a) (NN kinase))))")
    assert (found["Raf"], found["is"]) == (("nsubj", "kinase"), ("cop", "kinase"))


def test_conjuncts_depend_on_the_first():
    found = relations(
        "(NP (CC both) (NP (NN Raf)) (, ,) (NP (NN Ras)) (: ;) (CC and) (RB also) (NP (NN MEK)))"
    )
    assert found == {
        "both": ("preconj", "Raf"),
        "Raf": ("root", ""),
        ",": ("punct", "Raf"),
        "Ras": ("conj", "Raf"),
        ";": ("punct", "Raf"),
        "and": ("cc", "Raf"),
        "also": ("advmod", "MEK"),
        "MEK": ("conj", "Raf"),
    }


def test_words_coordinated_before_a_noun_depend_on_each_other():
    found = relations("(NP (NN protein) (CC and) (NN mRNA) (NNS levels))")
    assert found["mRNA"] == ("conj", "protein")
    assert found["protein"] == ("nn", "levels")


def test_two_conjunctions_join_as_one():
    found = relations("(NP (NP (NN a)) (CC and) (HYPH /) (CC or) (NP (NN b)))")
    assert found["b"] == ("conj", "a")


def test_relative_clauses_know_their_subject():
    found = relations(
        "(NP (NP (NN Raf)) (SBAR (WHNP (WDT which)) (S (VP (VBZ binds) (NP (NN Ras))))))"
    )
    assert (found["which"], found["binds"]) == (("nsubj", "binds"), ("rcmod", "Raf"))


def test_relative_clauses_know_their_object():
    found = relations(
        "(NP (NP (NN Raf)) (SBAR (WHNP (WDT which)) (S (NP (NN Ras)) (VP (VBZ binds)))))"
    )
    assert (found["which"], found["Ras"]) == (("dobj", "binds"), ("nsubj", "binds"))


@pytest.mark.parametrize(
    ("text", "word", "relation"),
    [
        ("(VP (VBP show) (SBAR (IN that) (S (NP (PRP it)) (VP (VBZ binds)))))", "binds", "ccomp"),
        ("(VP (VBP die) (SBAR (IN when) (S (NP (PRP it)) (VP (VBZ binds)))))", "binds", "advcl"),
        (
            "(S (SBAR (IN when) (S (NP (PRP it)) (VP (VBZ binds)))) (NP (NN Raf)) (VP (VBP die)))",
            "binds",
            "advcl",
        ),
        (
            "(S (SBAR (IN that) (S (NP (PRP it)) (VP (VBZ binds)))) (VP (VBZ helps)))",
            "binds",
            "csubj",
        ),
        ("(VP (VBP fail) (S (VP (TO to) (VP (VB bind)))))", "bind", "xcomp"),
        ("(VP (VBP fail) (S (VP (TO to) (VP (VB bind)))))", "to", "aux"),
        ("(VP (VBP become) (ADJP (JJ active)))", "active", "acomp"),
        ("(VP (VBP carry) (PRT (RP out)))", "out", "prt"),
        (
            "(NP (NP (NN Raf)) (PRN (-LRB- -LRB-) (NP (NN kinase)) (-RRB- -RRB-)))",
            "kinase",
            "appos",
        ),
        ("(NP (NP (NN Raf)) (VP (VBN bound) (PP (IN by) (NP (NN Ras)))))", "bound", "vmod"),
        ("(NP (JJ active) (NN Raf))", "active", "amod"),
        ("(NP (CD 20) (NN Raf))", "20", "num"),
        ("(NP (PRP$ its) (NN Raf))", "its", "poss"),
        ("(NP (NP (NN Ras) (POS 's)) (NN role))", "Ras", "poss"),
        ("(NP (NP (NN Ras) (POS 's)) (NN role))", "'s", "possessive"),
        ("(PP (IN by) (S (VP (VBG binding))))", "binding", "pcomp"),
        ("(S (NP (EX there)) (VP (VBZ is) (NP (NN hope))))", "there", "expl"),
        ("(QP (RB about) (CD 2) (CD 3))", "about", "quantmod"),
        ("(ADJP (NN dose) (JJ dependent))", "dose", "npadvmod"),
    ],
)
def test_configurations_have_their_relations(text, word, relation):
    assert relations(text)[word][0] == relation


def test_a_single_word_is_the_root():
    assert dependencies_of_tree(Tree("x")) == (Dependency(ROOT, "root", 0),)


@pytest.mark.parametrize("label", ["NP", "VP", "S"])
def test_depth_is_no_limit(label):
    tree = Tree("NN", [Tree("x")])
    for _ in range(DEPTH):
        tree = Tree(label, [tree, Tree("DT", [Tree("y")])])
    assert len(dependencies_of_tree(tree)) == DEPTH + 1


def test_the_work_is_linear_in_the_number_of_children():
    parts = [Tree("NP", [Tree("NN", [Tree("x")])]), Tree("CC", [Tree("and")])]
    short, long = Tree("NP", parts * 500), Tree("NP", parts * 2_000)
    [least] = count_calls(lambda: dependencies_of_tree(short))
    [most] = count_calls(lambda: dependencies_of_tree(long))
    assert most < 4.1 * least


def test_dependencies_of_a_sentence_come_before_those_of_its_tree():
    tree = Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))")
    given_edges = (Dependency(0, "x", 1),)
    assert dependencies_of(Sentence.from_tree(tree, dependencies=given_edges)) == given_edges


def test_dependencies_of_a_sentence_come_from_its_tree_otherwise():
    tree = Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))")
    assert dependencies_of(Sentence.from_tree(tree)) == dependencies_of_tree(tree)


def test_a_tree_over_no_tokens_gives_no_dependencies():
    assert dependencies_of(Sentence("we go", tree=Tree("S", [Tree("we"), Tree("go")]))) == ()
