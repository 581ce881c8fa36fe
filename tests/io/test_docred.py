"""DocRED: documents of tokens with clusters of mentions and their relations."""

from __future__ import annotations

import io
import json

import pytest
from annotated_documents import mentions, triples
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.io import read

TEXT = SAMPLES["docred"].text


def parse(value: object, errors: str = "raise"):
    text = value if isinstance(value, str) else json.dumps(value)
    return read(io.StringIO(text), format="docred", errors=errors)


def sample():
    return json.loads(TEXT)[0]


def test_clusters_are_mentions():
    document = parse(TEXT)[0].view("document")
    assert mentions(document) == [("PER", "Ann"), ("PER", "She"), ("LOC", "Ærø")]


def test_a_relation_holds_between_mentions_of_one_sentence():
    document = parse(TEXT)[0].view("document")
    assert triples(document) == [("P19", "She", "Ærø")]
    assert [len(sentence.relations) for sentence in document.sentences()] == [0, 1]


def test_relations_across_sentences_are_counted():
    changed = sample()
    del changed["vertexSet"][0][1]
    examples = parse([changed])
    assert examples.tally.remarks == {"relation between concepts that share no sentence": 1}


def test_titles_are_metadata_and_may_repeat():
    examples = parse([sample(), sample()])
    assert [example.id for example in examples] == ["stream:1", "stream:2"]
    assert examples[0].view("document").metadata == (("title", "Ann"),)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"labels": [{"h": 0, "t": 2, "r": "P1"}]}, "label 0 names entity 2, there are 2"),
        ({"labels": [{"h": 0, "t": 1}]}, "label 0 has no key 'r'"),
        ({"vertexSet": [[{"sent_id": 2, "pos": [0, 1]}]]}, "'sent_id' of cluster 0, mention 0"),
        ({"vertexSet": [[{"sent_id": 0, "pos": [0, 4]}]]}, "which has 3 words"),
        ({"vertexSet": [[{"sent_id": 0, "pos": [0]}]]}, "has 1 numbers, expected 2"),
    ],
)
def test_problems_are_named(change, problem):
    with pytest.raises(ReadError) as caught:
        parse([{**sample(), "labels": [], **change}])
    assert problem in str(caught.value)


def test_views_that_are_not_wanted_are_left_out():
    examples = read(io.StringIO(TEXT), format="docred", views=())
    assert [dict(example.views) for example in examples] == [{}, {}]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_files_are_recognized(suffix, tmp_path):
    path = tmp_path / f"corpus{suffix}"
    path.write_text(TEXT, encoding="utf-8")
    assert len(read(path)) == len(read(tmp_path)) == 2
