"""Label Studio tasks: exports of several versions, pre-annotations, and the tool's own code."""

from __future__ import annotations

import io
import json
from xml.etree import ElementTree

import pytest
from annotated_documents import documents
from hypothesis import given
from samples import SAMPLES

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import label_studio_config, read, write, write_label_studio
from kernelwood.text import Argument, Attribute, Document, Entity, Event, Example, Relation


def parse(tasks: object, errors: str = "raise", **options):
    text = tasks if isinstance(tasks, str) else json.dumps(tasks)
    return read(io.StringIO(text), format="labelstudio", errors=errors, **options)


def region(name: str, start: object, end: object, text: str | None = None, label: str = "x"):
    value = {"start": start, "end": end, "labels": [label]}
    if text is not None:
        value["text"] = text
    return {"id": name, "from_name": "label", "to_name": "text", "type": "labels", "value": value}


def relation(first: str, second: str, **parts):
    return {"type": "relation", "from_id": first, "to_id": second, **parts}


def task(*results, text: str = "Raf binds Ras.", **parts):
    return {"id": 1, "data": {"text": text}, "annotations": [{"result": list(results)}], **parts}


def the_document(*results, **parts):
    [example] = parse([task(*results, **parts)])
    return example.view("document")


def written(examples, **options):
    out = io.StringIO()
    write_label_studio(examples, out, **options)
    return json.loads(out.getvalue())


RAF, RAS = region("a", 0, 3, "Raf"), region("b", 10, 13, "Ras")


def test_the_sample_is_read():
    first, second = parse(SAMPLES["labelstudio"].text)
    document = first.view("document")
    assert (first.id, second.id) == ("7", "8")
    assert [(item.id, item.type, item.text) for item in document.entities] == [
        ("a", "protein", "Räf"),
        ("b", "protein", "Ras"),
    ]
    assert document.relations == (
        Relation("R1", "binds", (Argument("Arg1", "a"), Argument("Arg2", "b"))),
    )
    assert [(item.type, item.target, item.value) for item in document.attributes] == [
        ("probability", "a", "0.5"),
        ("Reference", "b", "UniProt:P01112\tRas"),
        ("AnnotatorNotes", "b", "sure?"),
    ]
    assert document.metadata == (("source", "invented"),)


@pytest.mark.parametrize(
    ("direction", "targets"), [("right", ["a", "b"]), ("left", ["b", "a"]), ("bi", ["a", "b"])]
)
def test_direction_gives_the_order_of_arguments(direction, targets):
    document = the_document(RAF, RAS, relation("a", "b", direction=direction, labels=["x"]))
    assert [argument.target for argument in document.relations[0].arguments] == targets


def test_every_label_of_a_relation_is_a_relation():
    document = the_document(RAF, RAS, relation("a", "b", labels=["x", "y"]), relation("b", "a"))
    assert [item.type for item in document.relations] == ["x", "y", "relation"]


def test_ids_of_relations_are_not_those_of_regions():
    document = the_document(region("R1", 0, 3), RAS, relation("R1", "b", labels=["x"]))
    assert document.relations[0].id == "R2"


def test_offsets_may_count_characters_beyond_the_basic_plane():
    document = the_document(region("a", 2, 5, "Raf"), text="😀 Raf")
    assert document.entities[0].spans == ((2, 5),)


def test_offsets_of_old_versions_count_utf16_units():
    results = [region("a", 3, 6, "Raf"), region("b", 7, 9, "😀")]
    document = the_document(*results, text="😀 Raf 😀")
    assert [(item.spans, item.text) for item in document.entities] == [
        (((2, 5),), "Raf"),
        (((6, 7),), "😀"),
    ]


def test_offsets_without_a_text_count_characters():
    assert the_document(region("a", 2, 5), text="😀 Raf").entities[0].text == "Raf"


def test_blanks_of_a_region_may_differ():
    assert the_document(region("a", 0, 7, "Raf\\nMEK "), text="Raf\nMEK").entities[0].end == 7


def test_the_last_annotation_that_is_not_cancelled_is_read():
    made = [[RAF], [RAS], [RAF, RAS]]
    annotations = [{"result": results} for results in made]
    annotations[2]["was_cancelled"] = True
    examples = parse([task(annotations=annotations)])
    assert [item.text for item in examples[0].view("document").entities] == ["Ras"]
    assert examples.tally.remarks == {"annotation of a task that has a later one": 1}


def test_cancelled_tasks_are_left_out_and_counted():
    examples = parse([task(annotations=[{"result": [], "was_cancelled": True}])])
    assert (examples, examples.tally.remarks) == ([], {"task that was cancelled": 1})


def test_predictions_are_read_without_annotations():
    predictions = [{"model_version": "m", "score": 0.5, "result": [RAF]}]
    examples = parse([task(annotations=[], predictions=predictions)])
    assert len(examples[0].view("document").entities) == 1
    assert examples.tally.remarks == {"prediction of a task without annotations": 1}


def test_tasks_without_annotations_are_counted():
    examples = parse([{"data": {"text": "Raf"}}])
    assert examples.tally.remarks == {"task without annotations": 1}
    assert examples[0].id == "stream:1"


def test_old_exports_say_completions():
    old = task(RAF)
    old["completions"] = old.pop("annotations")
    assert len(parse([old])[0].view("document").entities) == 1


def test_the_small_export_is_read():
    small = {
        "id": 5, "text": "Raf binds Ras.", "source": "s", "annotator": 1, "annotation_id": 2,
        "lead_time": 1.5, "created_at": "x", "updated_at": "x",
        "label": [{"start": 0, "end": 3, "text": "Raf", "labels": ["protein"]}],
    }  # fmt: skip
    [example] = read(io.StringIO(json.dumps([small])))
    document = example.view("document")
    assert (example.id, document.entities[0].text) == ("5", "Raf")
    assert document.metadata == (("source", "s"),)


def test_the_text_may_be_in_another_field():
    moved = task(RAF)
    moved["data"] = {"abstract": "Raf binds Ras.", "title": "On MEK", "pmid": 7}
    document = parse([moved])[0].view("document")
    assert (document.text, document.metadata) == (
        "Raf binds Ras.",
        (("title", "On MEK"), ("pmid", "7")),
    )


def test_the_field_of_the_text_can_be_named():
    two = {"data": {"a": "Raf", "b": "MEK"}, "annotations": [{"result": []}]}
    assert parse([two], text_field="b")[0].view("document").text == "MEK"
    with pytest.raises(ReadError, match="which field of 'data' is the text: 'a', 'b'"):
        parse([two])


def test_other_results_are_counted():
    choice = {"type": "choices", "value": {"choices": ["good"]}, "id": "c"}
    examples = parse([task(RAF, choice, relation("a", "c", labels=["x"]))])
    assert examples.tally.remarks == {
        "result that is neither a region of the text nor a relation": 1,
        "relation of a region that is not an entity": 1,
    }


@pytest.mark.parametrize("kind", [None, {}, [], 7, "brushlabels"])
def test_results_of_any_type_are_counted(kind):
    assert sum(parse([task({**RAF, "type": kind})]).tally.remarks.values()) == 1


@pytest.mark.parametrize(
    ("results", "problem"),
    [
        ([{**RAF, "type": "hypertextlabels"}], "region of HTML"),
        ([{**RAF, "value": {"start": "/p[1]", "startOffset": 0}}], "region of HTML"),
        ([{**RAF, "type": "paragraphlabels"}], "region of a dialogue"),
        ([region("a", 0, 3, "Ras")], "reads 'Ras', but at its offsets stands 'Raf'"),
        ([region("a", 0, 99)], "stands at [0, 99), the text has 14 characters"),
        ([region("a", None, 3)], "start of region 'a' must be an integer"),
        ([{**RAF, "id": None}], "'id' of result 0 must be a string"),
        ([RAF, RAS, relation("a", "b", direction="up")], "must be right, left or bi"),
        ([RAF, RAS, relation("a", "b", labels=[1])], "a label of relation 0 must be a string"),
        ([7], "result 0 must be an object"),
        ([{**RAF, "value": {"labels": [{}], "start": 0, "end": 3}}], "a label of region 'a'"),
    ],
)
def test_problems_are_named(results, problem):
    with pytest.raises(ReadError) as caught:
        parse([task(*results)])
    assert problem in str(caught.value)


def test_utf8_offsets_get_a_hint():
    with pytest.raises(ReadError, match="seem to count UTF-8 bytes"):
        parse([task(region("a", 3, 6, "Raf"), text="β Raf binds")])


@given(documents())
def test_documents_read_back(document):
    examples = [Example("a", views={"document": document})]
    out = io.StringIO()
    write(examples, out, format="labelstudio")
    [again] = read(io.StringIO(out.getvalue()))
    assert (again.id, again.view("document")) == ("a", document)


def test_what_label_studio_cannot_hold_is_left_out():
    document = Document(
        "Raf binds Ras",
        [Entity("a", "x", ((0, 3),)), Entity("b", "x", ((4, 5), (8, 9))), Entity("c", "x", ())],
        [
            Relation("r", "x", [("Arg1", "a"), ("Arg2", "b")]),
            Relation("s", "x", [("Arg1", "a"), ("Arg2", "a")], holds=False),
        ],
        [Event("e", "x", "a")],
    )
    [made] = written([Example("1", views={"document": document})])
    assert [result["id"] for result in made["annotations"][0]["result"]] == ["a"]


def predicted():
    document = Document(
        "Raf binds Ras.",
        [Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))],
        [
            Relation("r", "binds", [("Arg1", "a"), ("Arg2", "b")]),
            Relation("s", "cuts", [("Arg1", "b"), ("Arg2", "a")]),
        ],
        attributes=[
            Attribute("1", "probability", "r", "0.75"),
            Attribute("2", "probability", "s", "0.25"),
        ],
    )
    return Example("d", views={"document": document})


def test_predictions_have_scores():
    [made] = written([predicted()], predictions=True, model_version="m1")
    [prediction] = made["predictions"]
    assert (prediction["model_version"], prediction["score"]) == ("m1", 0.5)
    assert [result.get("score") for result in prediction["result"]] == [None, None, 0.75, 0.25]
    assert "annotations" not in made


def test_the_configuration_names_all_types():
    config = ElementTree.fromstring(label_studio_config([predicted()]))
    assert [label.get("value") for label in config.iter("Label")] == ["protein"]
    assert [label.get("value") for label in config.iter("Relation")] == ["binds", "cuts"]


def test_types_are_escaped_in_the_configuration():
    document = Document("Raf", [Entity("a", "<\"&'>", ((0, 3),))])
    config = label_studio_config([Example("1", views={"document": document})])
    assert [label.get("value") for label in ElementTree.fromstring(config).iter("Label")] == [
        "<\"&'>"
    ]


def test_examples_without_a_text_cannot_be_written():
    with pytest.raises(StructureError, match="example 'a' cannot be written"):
        written([Example("a", views={"text": "Raf"})])


class TestWithLabelStudio:
    """What the converter and the checks of the Label Studio SDK say about our files."""

    @pytest.fixture
    def converter(self):
        needed = "lxml nltk pillow ijson ujson PyJWT appdirs numpy"
        reason = f"pip install --no-deps label-studio-sdk; pip install {needed}"
        return pytest.importorskip("label_studio_sdk.converter.converter", reason=reason)

    @pytest.fixture
    def interface(self):
        needed = "lxml jsonschema jsf xmljson PyJWT appdirs"
        reason = f"pip install --no-deps label-studio-sdk; pip install {needed}"
        return pytest.importorskip("label_studio_sdk.label_interface", reason=reason)

    def test_the_converter_reads_our_tasks(self, converter, tmp_path):
        source = tmp_path / "tasks.json"
        write_label_studio([predicted()], source)
        config = tmp_path / "config.xml"
        config.write_text(label_studio_config([predicted()]), encoding="utf-8")
        made = converter.Converter(str(config), str(tmp_path))
        made.convert_to_json_min(str(source), str(tmp_path / "out"), is_dir=False)
        [example] = read(tmp_path / "out" / "result.json")
        assert [(item.type, item.spans) for item in example.view("document").entities] == [
            ("protein", ((0, 3),)),
            ("protein", ((10, 13),)),
        ]

    def test_tasks_and_predictions_are_valid(self, interface):
        checks = interface.LabelInterface(label_studio_config([predicted()]))
        [annotated] = written([predicted()])
        [proposed] = written([predicted()], predictions=True)
        assert checks.validate_annotation(annotated["annotations"][0])
        assert checks.validate_prediction(proposed["predictions"][0])
