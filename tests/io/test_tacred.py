"""TACRED: a sentence of tokens, a pair of entities, its relation and a parse."""

from __future__ import annotations

import io
import json

import pytest
from annotated_documents import mentions, triples
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.io import read
from kernelwood.relations import pair_candidates
from kernelwood.text import ROOT

TEXT = SAMPLES["tacred"].text


def parse(value: object, errors: str = "raise"):
    text = value if isinstance(value, str) else json.dumps(value)
    return read(io.StringIO(text), format="tacred", errors=errors)


def sample():
    return json.loads(TEXT)[0]


def test_the_pair_and_its_relation_are_read():
    example = parse(TEXT)[0]
    sentence = example.view("sentence")
    assert (example.id, example.label) == ("a1", "per:origin")
    assert mentions(sentence) == [("PERSON", "Åse"), ("NATIONALITY", "Danish")]
    assert triples(sentence) == [("per:origin", "Åse", "Danish")]


def test_the_parse_is_kept():
    sentence = parse(TEXT)[0].view("sentence")
    assert [token.tag for token in sentence.tokens] == ["NNP", "VBZ", "JJ"]
    assert sentence.dependencies == ((2, "nsubj", 0), (2, "cop", 1), (ROOT, "ROOT", 2))


def test_heads_may_be_strings():
    changed = {**sample(), "stanford_head": ["3", "3", "0"]}
    assert parse([changed])[0].views == parse([sample()])[0].views


def test_no_relation_is_a_label_without_a_relation():
    example = parse(TEXT)[1]
    assert (example.label, example.view("sentence").relations) == ("no_relation", ())


def test_ends_are_inclusive():
    changed = {**sample(), "obj_start": 1}
    assert parse([changed])[0].view("sentence").entities[1].text == "is Danish"


def test_candidates_are_labeled():
    candidates = pair_candidates(parse(TEXT))
    assert [candidate.label for candidate in candidates] == [1, 0]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"obj_end": 3}, "'obj_start' is the words [2, 4), but there are 3"),
        ({"subj_start": None}, "must be an integer"),
        ({"stanford_pos": ["NN"]}, "'stanford_pos' has 1 values for 3 words"),
        ({"stanford_head": [0, 1]}, "'stanford_deprel' has 3 values for 2 words"),
        ({"stanford_head": [9, 3, 0]}, "value 0 of 'stanford_head' is 9"),
        ({"stanford_head": ["x", 3, 0]}, "must be an integer"),
        ({"relation": 3}, "'relation' must be a string"),
    ],
)
def test_problems_are_named(change, problem):
    with pytest.raises(ReadError) as caught:
        parse([{**sample(), **change}])
    assert problem in str(caught.value)


def test_views_that_are_not_wanted_are_left_out():
    examples = read(io.StringIO(TEXT), format="tacred", views=())
    assert [dict(example.views) for example in examples] == [{}, {}]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_files_are_recognized(suffix, tmp_path):
    path = tmp_path / f"corpus{suffix}"
    path.write_text(TEXT, encoding="utf-8")
    assert len(read(path)) == len(read(tmp_path)) == 2
