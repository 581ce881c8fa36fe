"""Reading of BioC JSON; see test_bioc for the parts of documents and for writing."""

from __future__ import annotations

import io
import json

import pytest
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.io import iter_read, read, write
from kernelwood.io.formats.bioc_json import looks_like_bioc_json
from kernelwood.text import Entity

RAF = {
    "id": "1",
    "infons": {"type": "Gene", "identifier": "5894"},
    "text": "Raf",
    "locations": [{"offset": 0, "length": 3}],
}


def document(name="7", **parts):
    passage = {"offset": 0, "text": "Raf binds Ras.", "annotations": [RAF]}
    return {"id": name, "passages": [passage], **parts}


def parse(value, errors="raise"):
    text = value if isinstance(value, str) else json.dumps(value)
    return read(io.BytesIO(text.encode()), "bioc-json", errors=errors)


def ids(value):
    return [example.id for example in parse(value)]


def made(**parts):
    [example] = parse(document(**parts))
    return example.view("document")


def problem(value):
    with pytest.raises(ReadError) as caught:
        parse(value)
    return caught.value


BOTH = [document("a"), document("b")]


@pytest.mark.parametrize(
    "value",
    [
        {"source": "x", "documents": BOTH},
        {"documents": BOTH, "infons": {"documents": [1, "]"]}},
        {"PubTator3": BOTH},
        [{"documents": BOTH[:1]}, {"documents": BOTH[1:]}],
        BOTH,
        "\n".join(map(json.dumps, BOTH)),
        "\n".join(json.dumps({"documents": [one]}) for one in BOTH),
        json.dumps({"key": 'a "quoted" ] key', "n": 1.5, "documents": BOTH}, indent=2),
        json.dumps(BOTH, indent=1),
    ],
    ids=["collection", "keys", "PubTator3", "collections", "array", "lines", "lines of collections",
         "pretty", "pretty array"],
)  # fmt: skip
def test_all_forms_of_a_file_are_read(value):
    text = value if isinstance(value, str) else json.dumps(value)
    assert looks_like_bioc_json(text)
    assert ids(text) == ["a", "b"]


def test_an_annotation_is_an_entity():
    assert made().entities == (Entity("1", "Gene", ((0, 3),), "Raf"),)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ({"id": 29}, "29"),
        ({"id": "", "pmid": 30}, "30"),
        ({"id": None, "_id": "31|None"}, "31|None"),
    ],
)
def test_ids_of_documents_may_be_numbers_or_elsewhere(parts, name):
    assert ids(document() | parts) == [name]


def test_values_of_infons_become_text():
    infons = {"a": "x", "b": 1.5, "c": True, "d": None, "e": [1], "f": {"identifier": "y"}}
    assert made(infons=infons).metadata == (("a", "x"), ("b", "1.5"), ("c", "true"), ("f", "y"))


def test_offsets_may_be_strings():
    place = [{"offset": "0", "length": "3"}]
    [example] = parse(document(annotations=[RAF | {"id": "2", "locations": place}]))
    assert example.view("document").entities[1].spans == ((0, 3),)


def test_ids_of_annotations_may_be_numbers():
    relation = {"id": 5, "infons": {}, "nodes": [{"refid": 2, "role": "a"}]}
    [example] = parse(document(annotations=[RAF | {"id": 2}], relations=[relation]))
    assert example.view("document").relations[0].arguments[0].target == "2"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"id": ""}, "the id of the document is missing"),
        ({"passages": {}, "relations": 1}, "'relations' must be a list of objects"),
        ({"passages": [1]}, "'passages' must be a list of objects"),
        ({"infons": []}, None),
        ({"infons": [1]}, "'infons' must be an object"),
        ({"passages": [{"offset": 0, "text": 5}]}, "'text' must be a string, got the number 5"),
        ({"passages": [{"text": "Raf"}]}, "'offset' must be a number of characters, got null"),
        ({"annotations": [RAF | {"id": []}]}, "'id' must be a string, got a list"),
        ({"annotations": [RAF | {"locations": [{"offset": True, "length": 1}]}]}, "'offset'"),
        ({"relations": [{"nodes": [{"refid": "9"}]}]}, "there is no annotation '9'"),
    ],
)
def test_bad_parts_are_located_at_their_document(parts, message):
    text = '{"documents": [\n  ' + json.dumps(document() | parts) + "]}"
    if message is None:
        assert len(parse(text)) == 1
        return
    found = problem(text)
    assert message in found.problem
    assert (found.line, found.column) == (2, 3)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('{"documents": [{"id": }]}', "not valid JSON: expecting value", (1, 23)),
        ('{"documents" [1]}', "expected a key and a colon", (1, 14)),
        ('{"documents": [] "a"}', "expected a comma, or the end of the object", (1, 18)),
        ('{"documents": [', "the array is never closed", (1, 16)),
        ('{"documents": []', "the object is never closed", (1, 17)),
        ('{"infons": {"a": "b', "the object that begins here is never closed", (1, 12)),
        ('[{"documents": []}', "the array is never closed", (1, 19)),
        ('[{"documents": []}, 5]', "expected an object", (1, 21)),
        ('{"documents": [5]}', "element 1 must be an object", (1, 16)),
        ("5", "expected an object", (1, 1)),
    ],
)
def test_bad_json_is_located(text, message, place):
    found = problem(text)
    assert message in found.problem
    assert (found.line, found.column) == place


def test_a_broken_document_costs_no_other():
    text = f'{{"documents": [{json.dumps(BOTH[0])}, {{"id": }}, {json.dumps(BOTH[1])}]}}'
    examples = parse(text, "collect")
    assert [example.id for example in examples] == ["a", "b"]
    assert len(examples.tally.problems) == 1


def test_only_one_document_is_in_memory():
    one = json.dumps(document("{}")).encode()

    class Endless(io.RawIOBase):
        number = 0

        def readable(self):
            return True

        def read(self, size=-1):
            self.number += 1
            start = b'{"documents": [' if self.number == 1 else b","
            return start + one.replace(b"{}", b"%d" % self.number)

    with iter_read(Endless(), "bioc-json") as stream:
        assert [next(stream).id for _ in range(3)] == ["1", "2", "3"]


@pytest.mark.parametrize("name", ["a.bioc.json", "a.BioC.JSON", "a.json", "a.bioc.jsonl"])
def test_files_are_recognized(tmp_path, name):
    (tmp_path / name).write_text(SAMPLES["bioc-json"].text, encoding="utf-8")
    assert [example.id for example in read(tmp_path / name)] == ["27", "28"]
    assert [example.id for example in read(tmp_path)] == ["27", "28"]


def test_the_suffix_chooses_the_writer(tmp_path):
    examples = parse(SAMPLES["bioc-json"].text)
    write(examples, tmp_path / "a.bioc.json")
    written = json.loads((tmp_path / "a.bioc.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in written["documents"]] == ["27", "28"]
    assert read(tmp_path / "a.bioc.json")[0].view("document") == examples[0].view("document")


def test_no_documents_are_a_collection():
    out = io.StringIO()
    write([], out, format="bioc-json")
    assert json.loads(out.getvalue())["documents"] == []
    assert parse(out.getvalue()) == []
