from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from sentence_strategies import documents, sentences
from strategies import chain

from kernelwood.errors import StructureError
from kernelwood.structures import Graph, Tree
from kernelwood.text import (
    Dependency,
    EmptyNode,
    Entity,
    Event,
    Multiword,
    Predicate,
    RoleSpan,
    Sentence,
    Token,
)

DEPTH = 100_000
SENTENCE = Sentence.from_words(
    ["Raf", "binds", "Ras"], dependencies=[(1, "nsubj", 0), (-1, "root", 1), (1, "obj", 2)]
)


def problem(text="Raf binds Ras", tokens=SENTENCE.tokens, **parts):
    with pytest.raises(StructureError) as caught:
        Sentence(text, tokens, **parts)
    return caught.value.problem


# Values


@given(sentences())
def test_a_copy_is_equal_and_has_the_same_hash(sentence):
    for twin in (copy.copy(sentence), copy.deepcopy(sentence), sentence.with_parts()):
        assert (twin, hash(twin)) == (sentence, hash(sentence))


@given(sentences())
def test_a_sentence_can_be_pickled(sentence):
    assert pickle.loads(pickle.dumps(sentence)) == sentence


@given(documents())
def test_a_document_can_be_pickled(document):
    assert pickle.loads(pickle.dumps(document)) == document


@given(sentences())
def test_lists_make_the_same_sentence_as_rows(sentence):
    parts = {
        name: [list(row) for row in getattr(sentence, name)]
        for name in ("tokens", "dependencies", "entities", "events", "predicates", "empty")
    }
    assert sentence.with_parts(**parts) == sentence


@pytest.mark.parametrize(
    "parts",
    [
        {"dependencies": ()},
        {"tokens": SENTENCE.tokens[:2], "dependencies": ()},
        {"metadata": [("a", "b")]},
        {"start": 4},
        {"tree": Tree("S", [Tree("Raf"), Tree("binds"), Tree("Ras")])},
    ],
)
def test_a_sentence_with_other_parts_is_another(parts):
    assert SENTENCE.with_parts(**parts) != SENTENCE


def test_a_sentence_does_not_change():
    with pytest.raises(FrozenInstanceError):
        SENTENCE.text = "Ras binds Raf"


def test_a_list_that_changes_later_does_not_change_the_sentence():
    tokens = [Token("a", 0, 1)]
    sentence = Sentence("a", tokens)
    tokens.clear()
    assert len(sentence.tokens) == 1


def test_text_of_numpy_becomes_plain_text():
    assert type(Sentence(np.str_("we go")).text) is str


def test_repr_is_short_and_tells_what_is_there():
    sentence = SENTENCE.with_parts(entities=[("T1", "protein", [(0, 3)])], amr=Graph(["a"]))
    assert repr(sentence) == ("Sentence('Raf binds Ras', 3 tokens, amr, 3 dependencies, 1 entity)")
    assert len(repr(Sentence("a" * 10_000))) < 100


# From words


def test_words_are_joined_by_blanks():
    assert SENTENCE.text == "Raf binds Ras"
    assert [SENTENCE.text[token.start : token.end] for token in SENTENCE.tokens] == [
        *SENTENCE.words
    ]


def test_offsets_count_code_points():
    sentence = Sentence.from_words(["😀", "cafe\u0301", "x"])
    assert [(token.start, token.end) for token in sentence.tokens] == [(0, 1), (2, 7), (8, 9)]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"words": "we go"}, "words must be a list of strings, got 'we go'"),
        ({"words": ["we", 3]}, "word 1 must be a string, got 3"),
        ({"words": ["we"], "tags": []}, "there are 0 tags for 1 words"),
        ({"words": ["we"], "lemmas": ["we", "go"]}, "there are 2 lemmas for 1 words"),
        ({"words": ["we"], "tags": [None]}, "tag of token 0 must be a string, got None"),
    ],
)
def test_wrong_words_are_named(arguments, expected):
    with pytest.raises(StructureError) as caught:
        Sentence.from_words(**arguments)
    assert caught.value.problem.startswith(expected)


# From trees


def test_a_tree_gives_words_and_tags():
    tree = Tree.from_brackets("(S (NP (NN Raf)) (VP (VBZ binds) (NP (NN Ras))))")
    sentence = Sentence.from_tree(tree)
    assert (sentence.text, sentence.tree) == ("Raf binds Ras", tree)
    assert [token.tag for token in sentence.tokens] == ["NN", "VBZ", "NN"]


def test_traces_are_cut_out_of_a_tree():
    tree = Tree.from_brackets(
        "(S (NP-1 (NN Raf)) (VP (VBD was) (VP (VBN bound) (NP (-NONE- *-1)))) (SBAR (-NONE- 0)))"
    )
    sentence = Sentence.from_tree(tree)
    assert sentence.words == ("Raf", "was", "bound")
    assert sentence.tree == Tree.from_brackets(
        "(S (NP-1 (NN Raf)) (VP (VBD was) (VP (VBN bound))))"
    )


def test_a_deep_tree_makes_a_sentence():
    sentence = Sentence.from_tree(chain(DEPTH))
    assert (sentence.words, sentence) == (("n",), copy.deepcopy(sentence))


def test_further_parts_go_with_a_tree():
    sentence = Sentence.from_tree(Tree("S", [Tree("we"), Tree("go")]), metadata=[("id", "1")])
    assert sentence.metadata == (("id", "1"),)


# What is asked of a sentence


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        (((0, 3),), (0,)),
        (((2, 5),), (0, 1)),
        (((3, 4),), ()),
        (((0, 1), (12, 13)), (0, 2)),
        (((0, 1), (1, 2)), (0,)),
        (((4, 6), (7, 11)), (1, 2)),
        ((), ()),
    ],
)
def test_tokens_of_an_entity_share_a_character_with_it(spans, expected):
    assert SENTENCE.tokens_of(Entity("T1", "x", spans)) == expected


def test_a_token_without_characters_belongs_to_no_entity():
    sentence = Sentence("ab", [Token("ab", 0, 2), Token("", 1, 1)])
    assert sentence.tokens_of(Entity("T1", "x", ((0, 2),))) == (0,)


def test_all_tokens_of_a_multiword_belong_to_its_entity():
    sentence = Sentence("del", [Token("de", 0, 3), Token("el", 0, 3)], multiwords=[(0, 2, "del")])
    assert sentence.tokens_of(Entity("T1", "x", ((0, 1),))) == (0, 1)


@given(sentences(syntax=False, amr=False, tree=False))
def test_tokens_of_agrees_with_sets_of_characters(sentence):
    for entity in sentence.entities:
        covered = {place for span in entity.spans for place in range(*span)}
        assert sentence.tokens_of(entity) == tuple(
            index
            for index, token in enumerate(sentence.tokens)
            if covered & {*range(token.start, token.end)}
        )


def test_triggers_are_the_entities_that_events_name():
    entities = [Entity("T1", "protein", ()), Entity("T2", "Binding", ((4, 9),))]
    sentence = SENTENCE.with_parts(entities=entities, events=[Event("E1", "Binding", "T2")])
    assert sentence.triggers == (entities[1],)


def test_the_dependency_graph_has_the_only_root():
    graph = SENTENCE.dependency_graph()
    assert (graph.root, graph.edges) == (1, ((1, "nsubj", 0), (1, "obj", 2)))


@pytest.mark.parametrize("edges", [[], [(-1, "root", 0), (-1, "root", 1)]])
def test_the_dependency_graph_has_no_root_if_there_is_not_exactly_one(edges):
    assert SENTENCE.with_parts(dependencies=edges).dependency_graph().root is None


# What is refused


@pytest.mark.parametrize("offsets", [(-1, 3), (4, 3), (0, 14)])
def test_tokens_lie_in_the_text(offsets):
    assert problem(tokens=[("Raf", *offsets)]).startswith("token 0 ('Raf') has the span")


@pytest.mark.parametrize("edge", [(-2, "x", 0), (3, "x", 0), (0, "x", -1), (0, "x", 3)])
@pytest.mark.parametrize("part", ["dependencies", "enhanced"])
def test_dependencies_join_tokens(part, edge):
    assert "refers outside the 3 tokens" in problem(**{part: [edge]})


def test_enhanced_dependencies_join_empty_nodes_too():
    sentence = SENTENCE.with_parts(empty=[EmptyNode(2, "again")], enhanced=[(3, "x", 0)])
    assert sentence.enhanced == (Dependency(3, "x", 0),)


def test_enhanced_dependencies_stay_among_tokens_and_empty_nodes():
    parts = {"empty": [EmptyNode(2, "again")], "enhanced": [(4, "x", 0)]}
    assert problem(**parts).endswith("refers outside the 4 tokens and empty nodes")


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"text": None, "tokens": ()}, "text of a sentence must be a string, got None"),
        ({"text": b"we", "tokens": ()}, "text of a sentence must be a string"),
        ({"start": -1}, "a sentence cannot start at -1"),
        ({"start": True}, "start of a sentence must be an integer, got True"),
        ({"tree": "(S x)"}, "tree of a sentence must be a Tree, got str"),
        ({"amr": "(a / b)"}, "amr of a sentence must be a Graph, got str"),
        ({"tree": Tree("S", [Tree("x")])}, "the tree has 1 leaves for 3 tokens"),
        ({"predicates": [Predicate(3, "bind", "")]}, "predicate 0: [3, 4) is not a range"),
        (
            {"predicates": [Predicate(1, "bind", "", (RoleSpan("A0", 0, 4),))]},
            "role 'A0' of predicate 0: [0, 4) is not a range of the 3 tokens",
        ),
        (
            {"predicates": [Predicate(1, "bind", "", (RoleSpan("A0", 1, 1),))]},
            "role 'A0' of predicate 0: [1, 1) is not a range",
        ),
        ({"multiwords": [Multiword(2, 4, "x")]}, "multiword 0: [2, 4) is not a range"),
        ({"empty": [EmptyNode(3, "x")]}, "position of empty node 0: [3, 4) is not a range"),
        ({"empty": [EmptyNode(-2, "x")]}, "position of empty node 0: [-2, -1) is not a range"),
        ({"alignments": [("a", (0,))]}, "an alignment names 'a', which is not a node of the AMR"),
        (
            {"alignments": [("0", (0,))], "amr": Graph(["x"])},
            "an alignment names '0', which is not a node of the AMR",
        ),
        (
            {"alignments": [(0, (-1,))], "amr": Graph(["x"])},
            "alignment of node 0: [-1, 0) is not a range of the 3 tokens",
        ),
        ({"entities": [("T1", "x", [(0, 99)])]}, "entity 'T1' has the span [0, 99)"),
        ({"events": [("E1", "x", "T1")]}, "trigger of event 'E1': no annotation has the id 'T1'"),
    ],
)
def test_parts_that_do_not_fit_are_named(parts, expected):
    assert problem(**parts).startswith(expected)


def test_an_empty_node_may_stand_before_the_first_token():
    assert SENTENCE.with_parts(empty=[(-1, "x")]).empty[0].after == -1


def test_a_tree_without_tokens_is_accepted():
    assert Sentence("we go", tree=Tree("S", [Tree("we")])).tree is not None
