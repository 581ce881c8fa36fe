"""Folders of predictions with the configuration of brat."""

from __future__ import annotations

import re

import pytest
from fact_samples import event, mention, pair, predicted
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.relations import DocumentPredictions, write_predictions
from kernelwood.relations.brat_folder import BratFolder, BratNames

TEXT = "Raf binds Ras, and Mek and Erk follow."
NAME = re.compile("[a-zA-Z0-9_-]+")


def a_document(*predictions, kinds=("protein", "protein"), attributes=(), name="d1"):
    entities = [
        kw.text.Entity("T0", kinds[0], ((0, 3),), "Raf"),
        kw.text.Entity("T10", kinds[1], ((10, 13),), "Ras"),
    ]
    document = kw.Document(TEXT, entities, attributes=attributes)
    return DocumentPredictions(name, document, predictions)


def files_of(tmp_path, *documents):
    write_predictions(documents, tmp_path / "out.ann")
    return {
        path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out.ann").iterdir()
    }


# A strict reader of configuration, after the documentation of brat.


def sections_of(text, expected):
    """Return the lines of each section: name, and arguments in the order of the line."""
    made, section = {}, None
    for line in text.splitlines():
        if not line:
            continue
        if header := re.fullmatch(r"\[([a-z]+)\]", line):
            section = made.setdefault(header[1], [])
            continue
        assert not line.startswith((" ", "#", "-", "!", "<")), line
        section.append(line)
    assert list(made) == expected
    return made


def annotation_conf(text):
    sections = sections_of(text, ["entities", "relations", "events", "attributes"])
    made = {}
    for section, lines in sections.items():
        names = [line.split("\t")[0] for line in lines]
        assert all(NAME.fullmatch(name) for name in names)
        assert len(set(names)) == len(names)
        made[section] = {}
        for line in lines:
            name, _, rest = line.partition("\t")
            arguments = {}
            for part in filter(None, rest.split(", ")):
                role, types = re.fullmatch(r"(\S*?):(\S*)", part).groups()
                assert role not in arguments
                arguments[role] = types.split("|")
                assert all(arguments[role])
            made[section][name] = arguments
    known = {*made["entities"], *made["events"]}
    for name, arguments in made["relations"].items():
        types = [types for role, types in arguments.items() if role != "<REL-TYPE>"]
        assert len(types) == 2, name
        assert all(one in known for some in types for one in some)
    for arguments in made["events"].values():
        assert all(one in known for some in arguments.values() for one in some)
    return made


def visual_conf(text):
    sections = sections_of(text, ["labels", "drawing"])
    labels = dict(line.split(" | ") for line in sections["labels"])
    assert len(labels) == len(sections["labels"])
    drawing = {}
    for line in sections["drawing"]:
        name, arguments = line.split("\t")
        drawing[name] = dict(part.split(":") for part in arguments.split(", "))
        allowed = {"fgColor", "bgColor", "borderColor", "color", "dashArray", "arrowHead"}
        assert drawing[name].keys() <= allowed
    assert len(drawing) == len(sections["drawing"])
    return labels, drawing


def check_folder(files):
    """Check that the configuration has everything that occurs in the annotation."""
    conf = annotation_conf(files["annotation.conf"])
    labels, drawing = visual_conf(files["visual.conf"])
    for name, text in files.items():
        if not name.endswith(".ann"):
            continue
        lines = [line.split("\t") for line in text.splitlines()]
        types = {line[0]: line[1].split()[0] for line in lines if line[0][0] == "T"}
        triggers = set()
        for line in lines:
            words = line[1].split()
            if line[0][0] == "E":
                kind, trigger = words[0].split(":")
                triggers.add(trigger)
                assert types[trigger] == kind
                for word in words[1:]:
                    role, target = word.split(":")
                    plain = re.sub(r"\d+$", "", role)
                    assert types[target] in conf["events"][kind][f"{plain}*"]
            if line[0][0] == "R":
                for word in words[1:]:
                    role, target = word.split(":")
                    assert types[target] in conf["relations"][words[0]][role]
            if line[0][0] == "A":
                values = conf["attributes"][words[0]].get("Value", [])
                assert words[2:] == [] or words[2] in values
        assert {types[one] for one in types.keys() - triggers} <= conf["entities"].keys()
        assert {types[one] for one in triggers} <= conf["events"].keys()
        assert set(types.values()) <= labels.keys() & drawing.keys()
    return conf, labels, drawing


def test_relations_have_the_types_of_their_arguments(tmp_path):
    activates = {"kind": "activates", "relation": "activates(e1,e2)"}
    conf, labels, drawing = check_folder(
        files_of(tmp_path, a_document(pair(), pair(**activates), kinds=("drug", "protein")))
    )
    assert conf["relations"] == {
        "activates": {"Arg1": ["drug"], "Arg2": ["protein"]},
        "binds": {
            "Arg1": ["drug", "protein"],
            "Arg2": ["drug", "protein"],
            "<REL-TYPE>": ["symmetric"],
        },
    }
    assert drawing["binds"]["arrowHead"] == "none"
    assert "activates" not in drawing
    assert labels["Arg1"] == "Arg1"


def test_events_have_roles_and_triggers(tmp_path):
    bound = a_document(event("participant", "participant"), name="a")
    grown = a_document(event("catalyst", "participant", kind="Growth"), name="b")
    conf, _, drawing = check_folder(files_of(tmp_path, bound, grown))
    assert conf["events"] == {
        "Binding": {"Theme*": ["protein"]},
        "Growth": {"Cause*": ["protein"], "Theme*": ["protein"]},
    }
    assert conf["entities"].keys() == {"protein"}
    assert drawing["Binding"]["bgColor"] != drawing["protein"]["bgColor"]


def test_attributes_have_values_or_become_notes(tmp_path):
    attributes = [
        ("A1", "Negation", "T0"),
        ("A2", "Level", "T0", "low"),
        ("A3", "Remark", "T0", "two words"),
        ("N1", "Reference", "T0", "DB:1\tRaf"),
    ]
    files = files_of(tmp_path, a_document(attributes=attributes))
    conf, _, _ = check_folder(files)
    assert conf["attributes"] == {
        "Negation": {"Arg": ["<ANY>"]},
        "Level": {"Arg": ["<ANY>"], "Value": ["low"]},
    }
    assert "#1\tAnnotatorNotes T0\tRemark: two words\n" in files["d1.ann"]
    assert "N1\tReference T0 DB:1\tRaf\n" in files["d1.ann"]


def test_names_have_labels_as_they_were(tmp_path):
    odd = pair(kind="binds: to")
    files = files_of(tmp_path, a_document(odd, kinds=("Protéine", "small molecule")))
    _, labels, _ = check_folder(files)
    assert labels == {
        "Arg1": "Arg1",
        "Arg2": "Arg2",
        "Proteine": "Protéine",
        "small_molecule": "small molecule",
        "binds_to": "binds: to",
    }


def test_the_folder_reads_back(tmp_path):
    write_predictions([a_document(pair())], tmp_path / "out.ann")
    [example] = kw.read(tmp_path / "out.ann")
    assert len(example.view("document").relations) == 1


def test_types_of_all_documents_are_listed(tmp_path):
    first = a_document(pair(), name="a")
    second = a_document(pair(kind="sees"), kinds=("drug", "drug"), name="b")
    conf, _, _ = check_folder(files_of(tmp_path, first, second))
    assert conf["entities"].keys() == {"protein", "drug"}
    assert conf["relations"].keys() == {"binds", "sees"}


def test_no_documents_give_an_empty_configuration(tmp_path):
    files = files_of(tmp_path)
    assert files.keys() == {"annotation.conf", "visual.conf"}
    check_folder(files)


def test_documents_are_not_kept():
    alive = []

    def documents():
        for number in range(3):
            alive.append(number)
            yield f"d{number}", kw.Document(TEXT), frozenset()

    names = BratFolder().files(documents())
    assert next(names)[0] == "d0.txt"
    assert alive == [0]


@given(st.lists(st.text(max_size=4), max_size=6))
def test_names_are_those_of_brat_and_different(names):
    made = BratNames()
    assert all(NAME.fullmatch(made(name)) for name in names)
    assert len({made(name) for name in names}) == len(set(names))
    assert not any(set(made(name)) == {"-"} for name in names)


@pytest.mark.parametrize(
    "kinds", [("<ENTITY>", "[entities]"), ("!x", "- "), ("#", "a|b"), ("ANY", "x")]
)
def test_odd_types_do_not_break_the_configuration(tmp_path, kinds):
    parts = mention("Raf", 0, kind=kinds[0]), mention("Ras", 10, role="second", kind=kinds[1])
    check_folder(files_of(tmp_path, a_document(predicted(*parts, kind="[x]"), kinds=kinds)))
