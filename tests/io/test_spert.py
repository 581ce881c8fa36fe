"""SpERT: sentences of tokens with entities and relations, as CoNLL04 is passed on."""

from __future__ import annotations

import io
import json

import pytest
from annotated_documents import mentions, triples
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.evaluate import documents
from kernelwood.io import read

TEXT = SAMPLES["spert"].text


def parse(value: object, errors: str = "raise"):
    text = value if isinstance(value, str) else json.dumps(value)
    return read(io.StringIO(text), format="spert", errors=errors)


def sample():
    return json.loads(TEXT)[0]


def test_entities_and_relations_are_read():
    sentence = parse(TEXT)[0].view("sentence")
    assert sentence.text == "Ann left Ærø ."
    assert mentions(sentence) == [("Peop", "Ann"), ("Loc", "Ærø")]
    assert triples(sentence) == [("Left", "Ann", "Ærø")]


def test_tokens_are_those_of_the_file():
    sentence = parse(TEXT)[1].view("sentence")
    assert sentence.words == ("-LRB-", "no")


def test_original_ids_group_sentences():
    sentence = {"tokens": ["a"], "entities": [], "orig_id": "d1"}
    examples = parse([sentence, sentence, {**sentence, "orig_id": 5}])
    assert documents(examples) == ["d1", "d1", "5"]


def test_json_lines_are_read_too():
    lines = "\n".join(json.dumps(one) for one in json.loads(TEXT))
    assert [example.views for example in parse(lines)] == [example.views for example in parse(TEXT)]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tokens": "Ann"}, "'tokens' must be a list, got the string 'Ann'"),
        ({"tokens": ["a", 1]}, "word 1 of 'tokens' must be a string, got the number 1"),
        ({"entities": [{"type": "x", "start": 3, "end": 3}]}, "entity 0 is the words"),
        ({"entities": [{"type": "x", "start": 0, "end": 9}]}, "there are 4"),
        ({"entities": [{"type": "x", "start": 0.5, "end": 1}]}, "must be an integer"),
        ({"entities": [{"type": 1, "start": 0, "end": 1}]}, "type of entity 0"),
        ({"entities": [7]}, "entity 0 must be an object, got the number 7"),
        ({"relations": [{"type": "x", "head": 0, "tail": 2}]}, "'tail' of relation 0 is 2"),
        ({"relations": [{"type": "x", "head": 0}]}, "relation 0 has no key 'tail'"),
        ({"orig_id": [1]}, "'orig_id' must be a string"),
    ],
)
def test_problems_are_named(change, problem):
    with pytest.raises(ReadError) as caught:
        parse([{**sample(), **change}])
    assert problem in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, 2)


def test_views_that_are_not_wanted_are_left_out():
    examples = read(io.StringIO(TEXT), format="spert", views=())
    assert [dict(example.views) for example in examples] == [{}, {}]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_files_are_recognized(suffix, tmp_path):
    path = tmp_path / f"corpus{suffix}"
    path.write_text(TEXT, encoding="utf-8")
    assert len(read(path)) == len(read(tmp_path)) == 2
