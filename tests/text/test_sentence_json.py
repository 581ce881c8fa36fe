from __future__ import annotations

import json
import sys
from dataclasses import fields

import pytest
from hypothesis import given, strategies as st
from sentence_strategies import documents, sentences
from sizes import DEPTH
from strategies import chain

from kernelwood.errors import StructureError
from kernelwood.structures import Graph, decode_json, encode_json
from kernelwood.text import (
    Argument,
    Document,
    Entity,
    Event,
    Multiword,
    Predicate,
    Relation,
    RoleSpan,
    Sentence,
    Token,
    document_from_object,
    document_object,
    sentence_from_object,
    sentence_object,
)

texts = st.text(max_size=4)


def refusal(value):
    with pytest.raises(StructureError) as caught:
        sentence_from_object(value)
    return caught.value


# There and back


@given(sentences())
def test_a_sentence_reads_back(sentence):
    assert sentence_from_object(sentence_object(sentence)) == sentence


@given(sentences(of=texts, labels=texts, between=texts))
def test_a_sentence_of_any_characters_reads_back_from_text(sentence):
    text = encode_json(sentence_object(sentence))
    assert sentence_from_object(decode_json(text)) == sentence


@given(documents(of=texts, labels=texts))
def test_a_document_reads_back_from_text(document):
    text = encode_json(document_object(document))
    assert document_from_object(decode_json(text)) == document


@given(sentences(entities=False))
def test_a_parsed_document_reads_back_from_text(sentence):
    if not sentence.text.strip():
        return
    parse = [sentence.with_parts(start=2), sentence.with_parts(start=3 + len(sentence.text))]
    document = Document(f"  {sentence.text} {sentence.text}", parse=parse)
    text = encode_json(document_object(document))
    assert document_from_object(decode_json(text)) == document


@given(sentences(max_tokens=3))
def test_rows_keep_their_classes(sentence):
    again = sentence_from_object(sentence_object(sentence))
    for field in fields(Sentence):
        part = getattr(sentence, field.name)
        if isinstance(part, tuple):
            assert repr(getattr(again, field.name)) == repr(part)


@given(sentences())
def test_the_object_holds_nothing_but_what_json_knows(sentence):
    value = sentence_object(sentence)
    assert json.loads(json.dumps(value)) == value  # a tuple would come back as a list


@pytest.mark.parametrize(
    ("kind", "read"), [(Sentence, sentence_from_object), (Document, document_from_object)]
)
def test_every_parameter_is_a_key(kind, read):
    with pytest.raises(StructureError) as caught:
        read({"?": 0})
    assert {field.name for field in fields(kind)} == {
        *caught.value.hint.rpartition("known keys: ")[2].split(", ")
    }


def test_a_deep_tree_reads_back():
    sentence = Sentence.from_tree(chain(DEPTH))
    assert sentence_from_object(sentence_object(sentence)) == sentence


def test_ids_of_aligned_nodes_stay_strings_or_numbers():
    amr = Graph([(1, "a"), ("1", "b")])
    sentence = Sentence.from_words(["a"], amr=amr, alignments=[("1", (0,)), (1, (0,))])
    again = sentence_from_object(json.loads(json.dumps(sentence_object(sentence))))
    assert again.alignments == (("1", (0,)), (1, (0,)))


@pytest.mark.parametrize("ids", [[0, 1], [1, 0], [7, 3], [-1, 0]])
def test_numbers_of_nodes_are_kept(ids):
    sentence = Sentence("a", amr=Graph([(ids[0], "a"), (ids[1], "b")], [(ids[0], "x", ids[1])]))
    assert sentence_from_object(sentence_object(sentence)) == sentence


# What is written


def test_what_is_empty_is_left_out():
    assert sentence_object(Sentence("we go")) == {"text": "we go"}
    assert document_object(Document("")) == {"text": ""}


def test_fields_are_left_out_from_the_end_as_long_as_they_have_their_default():
    tokens = [Token("a", 0, 1), Token("b", 1, 2, tag="NN"), Token("c", 2, 3, misc="x")]
    assert sentence_object(Sentence("abc", tokens))["tokens"] == [
        ["a", 0, 1],
        ["b", 1, 2, "", "", "NN"],
        ["c", 2, 3, "", "", "", "", "x"],
    ]


def test_rows_within_rows_are_lists():
    sentence = Sentence.from_words(
        ["Raf", "binds"],
        entities=[Entity("T1", "protein", ((0, 1), (2, 3)), "R f")],
        events=[Event("E1", "Binding", "T1", (Argument("Theme", "T1"),)), Event("E2", "x", "T1")],
        relations=[Relation("R1", "self", (Argument("a", "T1"),), holds=False)],
        predicates=[Predicate(1, "bind", "01", (RoleSpan("A0", 0, 1),))],
        multiwords=[Multiword(0, 2, "Rafbinds")],
        metadata=[("id", "7"), ("a remark", None)],
    )
    assert sentence_object(sentence) == {
        "text": "Raf binds",
        "tokens": [["Raf", 0, 3], ["binds", 4, 9]],
        "entities": [["T1", "protein", [[0, 1], [2, 3]], "R f"]],
        "events": [["E1", "Binding", "T1", [["Theme", "T1"]]], ["E2", "x", "T1"]],
        "relations": [["R1", "self", [["a", "T1"]], False]],
        "predicates": [[1, "bind", "01", [["A0", 0, 1]]]],
        "multiwords": [[0, 2, "Rafbinds"]],
        "metadata": [["id", "7"], ["a remark", None]],
    }


# What is refused


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "the sentence must be an object, got null"),
        ({}, "the sentence has no key 'text'"),
        ({"text": 3}, "text of a sentence must be a string, got 3"),
        ({"text": "", "token": []}, "the sentence has an unknown key 'token'"),
        ({"text": "", "tokens": {}}, "'tokens' of the sentence must be a list, got an object"),
        ({"text": "a", "tokens": ["a"]}, "token 0 must be a Token, got 'a'"),
        ({"text": "a", "tokens": [["a", 0]]}, "token 0 has 2 fields instead of 3 to 8"),
        ({"text": "a", "tokens": [["a", 0, True]]}, "end of token 0 must be an integer, got True"),
        ({"text": "a", "tokens": [["a", 0, 1.0]]}, "end of token 0 must be an integer, got 1.0"),
        ({"text": "a", "tokens": [["a", 0, 1, None]]}, "lemma of token 0 must be a string"),
        ({"text": "", "dependencies": [[0, "x", 0, 0]]}, "dependency 0 has 4 fields instead of 3"),
        ({"text": "a", "entities": [["T", "x", [0, 1]]]}, "span 0 of entity 0 must be a tuple"),
        ({"text": "a", "entities": [["T", "x", [[0]]]]}, "span 0 of entity 0 has 1 fields"),
        ({"text": "a", "entities": [["T", "x", "ab"]]}, "spans of entity 0 must be a list"),
        (
            {"text": "a", "relations": [["R", "x", [["a", 1]]]]},
            "target of argument 0 of relation 0 must be a string, got 1",
        ),
        ({"text": "a", "relations": [["R", "x", [], 1]]}, "holds of relation 0 must be True"),
        ({"text": "a", "alignments": [["x", 0]]}, "tokens of alignment 0 must be a list, got 0"),
        ({"text": "a", "alignments": [[None, []]]}, "node of alignment 0 must be a string or an"),
        ({"text": "a", "alignments": [["x", []]]}, "an alignment names 'x', which is not a node"),
        ({"text": "a", "metadata": [["x"]]}, "metadata entry 0 has 1 fields instead of 2"),
        ({"text": "a", "tree": ["a"]}, "a tree must be a string, got a list"),
        ({"text": "a", "tree": "(a"}, "(character 1 of the brackets)"),
        ({"text": "a", "amr": {}}, "the AMR has no key 'nodes'"),
        ({"text": "a", "start": "0"}, "start of a sentence must be an integer, got '0'"),
        ({"text": "a", "start": -1}, "a sentence cannot start at -1"),
    ],
)
def test_wrong_parts_are_named(value, problem):
    assert problem in refusal(value).problem


def test_a_missing_field_comes_with_the_names_of_all():
    assert refusal({"text": "a", "multiwords": [[0, 1]]}).hint == (
        "the fields are first, end, text, misc"
    )


def test_wrong_parts_of_a_document_are_named():
    with pytest.raises(StructureError, match="'events' of the document must be a list, got null"):
        document_from_object({"text": "", "events": None})


@pytest.mark.parametrize("share", [0.5, 0.95])
@pytest.mark.parametrize("part", ["tokens", "entities", "alignments", "metadata", "tree", "amr"])
def test_deep_nesting_is_refused(part, share):
    nested = []
    for _ in range(int(sys.getrecursionlimit() * share)):
        nested = [nested]
    value = {"nodes": ["a"], "edges": nested} if part == "amr" else nested
    refusal({"text": "", part: value})
