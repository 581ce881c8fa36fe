"""doccano: exports with and without relations."""

from __future__ import annotations

import io
import json

import pytest
from annotated_documents import documents
from hypothesis import given
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.io import read, write
from kernelwood.text import Argument, Document, Entity, Example, Relation


def parse(*lines: object, **options):
    text = "\n".join(json.dumps(line) for line in lines)
    return read(io.StringIO(text), format="doccano", **options)


def written(document: Document, name: str = "a"):
    out = io.StringIO()
    write([Example(name, views={"document": document})], out, format="doccano")
    return out.getvalue()


ENTITY = {"id": 5, "label": "protein", "start_offset": 0, "end_offset": 3}


def test_entities_and_relations_are_read():
    first, second = read(io.StringIO(SAMPLES["doccano"].text))
    document = first.view("document")
    assert [item.text for item in document.entities] == ["Räf", "Ras"]
    assert document.relations == (
        Relation("R1", "binds", (Argument("Arg1", "T1"), Argument("Arg2", "T2"))),
    )
    assert document.metadata == (("pmid", "123"),)
    assert second.view("document").entities == (Entity("T1", "protein", ((0, 3),), "MEK"),)


def test_ids_of_entities_and_relations_may_be_equal():
    line = {"text": "Raf", "entities": [ENTITY], "relations": []}
    line["relations"] = [{"id": 5, "from_id": 5, "to_id": 5, "type": "x"}]
    document = parse(line)[0].view("document")
    assert (document.entities[0].id, document.relations[0].id) == ("T5", "R5")


def test_labels_may_be_in_the_plural():
    [example] = read(io.StringIO('{"text": "Raf", "labels": [[0, 3, "protein"]]}'))
    assert example.view("document").entities[0].type == "protein"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"text": None}, "'text' must be a string, got null"),
        ({"entities": [{**ENTITY, "end_offset": 4}]}, "entity 0 stands at [0, 4), the text has 3"),
        ({"entities": [{"id": 1}]}, "entity 0 has no key 'label'"),
        ({"entities": [ENTITY, ENTITY]}, "the id 'T5' is used twice"),
        ({"label": [[0, 3]]}, "label 0 has 2 values, expected start, end and type"),
        ({"relations": [{"id": 1, "from_id": 1, "to_id": 1, "type": "x"}]}, "no annotation has"),
    ],
)
def test_problems_are_named(change, problem):
    with pytest.raises(ReadError) as caught:
        parse({"text": "Raf", **change})
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        '{"text": "Raf", "label": "positive"}',
        '{"text": "Raf", "label": ["positive"]}',
        '{"text": "Raf", "entities": [], "relation": {"type": "x"}}',
        '{"pmid": 7, "text": "Raf"}',
    ],
)
def test_other_records_are_not_taken_for_doccano(line):
    from kernelwood.io.formats.table import formats_by_content

    assert "doccano" not in [row.name for row in formats_by_content(line.encode())]


@given(documents())
def test_documents_read_back(document):
    [again] = read(io.StringIO(written(document)), format="doccano")
    assert (again.id, again.view("document")) == ("a", document)


def test_other_ids_get_numbers():
    document = Document("Raf", [Entity("x", "p", ((0, 3),)), Entity("T7", "p", ((0, 1),))])
    line = json.loads(written(document, "12"))
    assert (line["id"], [row["id"] for row in line["entities"]]) == (12, [1, 2])
