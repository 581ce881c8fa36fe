"""Prodigy: accepted texts with spans and relations."""

from __future__ import annotations

import io
import json

import pytest
from annotated_documents import documents
from hypothesis import given
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.evaluate import documents as documents_of
from kernelwood.io import read, write
from kernelwood.text import Argument, Document, Entity, Example, Relation

TEXT = "Raf 1 binds Ras"
TOKENS = [
    {"text": word, "start": start, "end": start + len(word), "id": number}
    for number, (word, start) in enumerate([("Raf", 0), ("1", 4), ("binds", 6), ("Ras", 12)])
]
SPANS = [
    {"start": 0, "end": 5, "token_start": 0, "token_end": 1, "label": "protein"},
    {"start": 12, "end": 15, "token_start": 3, "token_end": 3, "label": "protein"},
]


def parse(*lines: object, **options):
    text = "\n".join(json.dumps(line) for line in lines)
    return read(io.StringIO(text), format="prodigy", **options)


def line(**parts):
    return {"text": TEXT, "tokens": TOKENS, "spans": SPANS, **parts}


def ends(document):
    texts = {entity.id: entity.text for entity in document.entities}
    return [[texts[argument.target] for argument in item.arguments] for item in document.relations]


def written(document: Document):
    out = io.StringIO()
    write([Example("a", views={"document": document})], out, format="prodigy")
    return out.getvalue()


def test_the_sample_is_read():
    document = read(io.StringIO(SAMPLES["prodigy"].text))[0].view("document")
    assert [(item.id, item.text) for item in document.entities] == [("T1", "Räf"), ("T2", "Ras")]
    assert document.relations == (
        Relation("R1", "binds", (Argument("Arg1", "T1"), Argument("Arg2", "T2"))),
    )
    assert documents_of(read(io.StringIO(SAMPLES["prodigy"].text))) != []


def test_relations_between_tokens_mean_their_spans():
    made = line(relations=[{"head": 1, "child": 3, "label": "binds"}])
    assert ends(parse(made)[0].view("document")) == [["Raf 1", "Ras"]]


def test_a_token_without_a_span_becomes_an_entity():
    document = parse(line(relations=[{"head": 2, "child": 3, "label": "x"}]))[0].view("document")
    assert document.entities[-1] == Entity("T3", "", ((6, 11),), "binds")
    assert ends(document) == [["binds", "Ras"]]


def test_overlapping_spans_are_told_apart_by_their_label():
    spans = [*SPANS, {**SPANS[0], "label": "family"}]
    head = {**SPANS[0], "label": "family"}
    relation = {"head": 1, "child": 3, "head_span": head, "child_span": SPANS[1], "label": "x"}
    document = parse(line(spans=spans, relations=[relation]))[0].view("document")
    assert document.relations[0].arguments[0].target == "T3"
    assert len(document.entities) == 3


def test_refused_texts_are_counted():
    answers = ["accept", "reject", "ignore", "reject"]
    examples = parse(*(line(answer=answer) for answer in answers))
    assert [example.id for example in examples] == ["stream:1"]
    assert examples.tally.remarks == {
        "text with the answer reject": 2,
        "text with the answer ignore": 1,
    }


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"answer": "maybe"}, "'answer' must be accept, reject or ignore"),
        ({"answer": ["accept"]}, "'answer' must be accept, reject or ignore, got a list"),
        ({"spans": [{"start": 0, "end": 16}]}, "span 0 stands at [0, 16), the text has 15"),
        ({"relations": [{"head": 4, "child": 0, "label": "x"}]}, "is token 4, there are 4"),
        ({"relations": [{"child": 0, "label": "x"}]}, "'head' of relation 0 must be an integer"),
        ({"relations": [{"head": 0, "child": 1}]}, "relation 0 has no key 'label'"),
    ],
)
def test_problems_are_named(change, problem):
    with pytest.raises(ReadError) as caught:
        parse(line(**change))
    assert problem in str(caught.value)


@given(documents())
def test_documents_read_back(document):
    [again] = read(io.StringIO(written(document)), format="prodigy")
    made = again.view("document")
    assert made.metadata == (("document", "a"),)
    assert (made.text, made.entities) == (document.text, document.entities)
    spans = {entity.id: (entity.type, entity.spans) for entity in document.entities}

    def content(one):
        return [
            (item.type, [spans[end.target] for end in item.arguments]) for item in one.relations
        ]

    assert content(made) == content(document)


def test_written_spans_are_made_of_tokens():
    document = Document(TEXT, [Entity("T1", "protein", ((0, 5),))])
    made = json.loads(written(document))
    [span] = made["spans"]
    first, last = (made["tokens"][span[key]] for key in ("token_start", "token_end"))
    assert (first["start"], last["end"]) == (span["start"], span["end"])
