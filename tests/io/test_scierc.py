"""SciERC and DyGIE++: documents of tokens with entities and relations."""

from __future__ import annotations

import io
import json

import pytest
from annotated_documents import mentions, triples
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.io import read

TEXT = SAMPLES["scierc"].text


def parse(value: object, errors: str = "raise"):
    text = value if isinstance(value, str) else json.dumps(value)
    return read(io.StringIO(text), format="scierc", errors=errors)


def changed_document(**change):
    made = json.loads(TEXT.splitlines()[0])
    return {**made, **change}


def test_a_document_has_its_sentences():
    example = parse(TEXT)[0]
    document = example.view("document")
    assert (example.id, document.text) == ("d1", "Trees help . Kærnels use them")
    first, second = document.sentences()
    assert (first.words, second.words) == (("Trees", "help", "."), ("Kærnels", "use", "them"))


def test_entities_and_relations_are_read():
    document = parse(TEXT)[0].view("document")
    assert mentions(document) == [
        ("Method", "Trees"),
        ("Method", "Kærnels"),
        ("Generic", "them"),
    ]
    assert triples(document) == [("USED-FOR", "Kærnels", "them")]


def test_relations_reach_their_sentence():
    document = parse(TEXT)[0].view("document")
    assert [len(sentence.relations) for sentence in document.sentences()] == [0, 1]


def test_scores_after_the_type_are_ignored():
    scored = changed_document(ner=[[[0, 0, "Method", 3.1, 0.9]], []], relations=[[], []])
    assert mentions(parse([scored])[0].view("document")) == [("Method", "Trees")]


def test_relations_of_unknown_spans_are_counted():
    changed = changed_document(relations=[[[0, 0, 1, 1, "X"]], []])
    examples = parse([changed])
    assert examples.tally.remarks == {"relation of a span that is not an entity": 1}
    assert examples[0].view("document").relations == ()


def test_empty_sentences_shift_nothing():
    changed = changed_document(
        sentences=[["a"], [], ["b"]], ner=[[], [], [[1, 1, "x"]]], relations=[[], [], []]
    )
    document = parse([changed])[0].view("document")
    assert mentions(document) == [("x", "b")]
    assert [sentence.text for sentence in document.sentences()] == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sentences": ["Trees"]}, "sentence 0 of 'sentences' must be a list"),
        ({"ner": [[]]}, "'ner' has 1 lists for 2 sentences"),
        ({"ner": [[[0, 0]], []]}, "row 0 of 'ner' of sentence 0 has 2 values, expected 3"),
        ({"ner": [[[0, 6, "x"]], []]}, "the words [0, 7), but there are 6"),
        ({"ner": [["ab"], []]}, "row 0 of 'ner' of sentence 0 must be a list"),
        ({"relations": [[[0, 0, 9, 9, "x"]], []]}, "the words [9, 10)"),
        ({"doc_key": {}}, "'doc_key' must be a string, got an object"),
    ],
)
def test_problems_are_named(change, problem):
    with pytest.raises(ReadError) as caught:
        parse([changed_document(**change)])
    assert problem in str(caught.value)


def test_views_that_are_not_wanted_are_left_out():
    examples = read(io.StringIO(TEXT), format="scierc", views=())
    assert [dict(example.views) for example in examples] == [{}, {}]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_files_are_recognized(suffix, tmp_path):
    path = tmp_path / f"corpus{suffix}"
    path.write_text(TEXT, encoding="utf-8")
    assert len(read(path)) == len(read(tmp_path)) == 2
