"""Exports: relations in all formats, decisions, facts, report, model."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from functools import cache
from pathlib import Path
from shutil import copy
from tempfile import mkdtemp

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.entities import Dictionary
from kernelwood.errors import KernelInputError
from kernelwood.web import exports
from kernelwood.web.building import build_project
from kernelwood.web.exports import (
    EXPORTS,
    Exported,
    annotated_documents,
    export,
    export_bytes,
    relations_of,
    train_extractor,
)
from kernelwood.web.project import Project, ProjectError, TypeRow

NAMES = Dictionary([(name, "protein", f"X:{name}") for name in ("Raf", "Ras", "Mek", "Erk", "Akt")])
TEXTS = ["Raf binds Ras. Mek activates Erk.", "Erk is activated by Mek, and Akt sleeps."]
TYPES = (
    TypeRow("Binds", True),
    TypeRow("Activates", False, "", ("Agent", "Target")),
)
# Export -> name of its format in kernelwood.io.
DOCUMENTS = {
    "brat": "standoff",
    "documents.jsonl": "jsonl",
    "bioc.json": "bioc-json",
    "bioc.xml": "bioc",
    "pubtator.txt": "pubtator",
    "label-studio.json": "labelstudio",
    "doccano.jsonl": "doccano",
    "prodigy.jsonl": "prodigy",
}
KEEPS_PROBABILITIES = ("documents.jsonl", "bioc.json", "bioc.xml", "label-studio.json")
pytestmark = pytest.mark.filterwarnings("ignore:the format:UserWarning")


@cache
def _built():
    path = Path(mkdtemp(prefix="kernelwood-test-")) / "a.kwp"
    documents = [
        kw.Example(f"{number + 1}", views={"document": kw.Document(text)})
        for number, text in enumerate(TEXTS)
    ]
    with build_project(path, documents, entities=NAMES, types=TYPES) as made:
        assert len(made.candidates) == 5
        made.decide([0], "Binds", author="ann", comment="a\tclear case", time=0.0)
        made.decide([1], "none", author="ann")
        made.decide([2], "Activates(e2,e1)", author="bob", time=1.5)
        made.decide([3], None, author="bob")
        probabilities = np.zeros((5, 3), dtype=np.float32)
        probabilities[:, 0] = 1.0
        probabilities[1] = [0.1, 0.9, 0.0]  # decided: none
        probabilities[3] = [0.2, 0.0, 0.8]  # skipped
        probabilities[4] = [0.5, 0.3, 0.2]  # below the threshold
        made.save_model(
            n_decisions=3,
            classes=["none", "Binds", "Activates(e1,e2)"],
            probabilities=probabilities,
            threshold=0.6,
        )
    return path


@pytest.fixture
def project(tmp_path):
    with Project.open(copy(_built(), tmp_path / "a.kwp")) as opened:
        yield opened


@pytest.fixture
def annotated(tmp_path):
    with build_project(tmp_path / "b.kwp", load_interactions("train")[:120]) as made:
        yield made


def triples(documents):
    """Return type and words of the arguments of the relations of each document."""
    found = []
    for document in documents:
        words = {one.id: document.text[one.start : one.end] for one in document.entities}
        found.append(
            [
                (one.type, *(words[argument.target] for argument in one.arguments))
                for one in document.relations
            ]
        )
    return found


# Relations.


def test_decided_relations_are_exported(project):
    assert relations_of(project) == [
        Exported(0, "Binds", "decided", 1.0, "a\tclear case"),
        Exported(2, "Activates(e2,e1)", "decided"),
    ]


def test_predicted_relations_are_those_of_undecided_candidates(project):
    *decided, predicted = relations_of(project, predicted=True)
    assert decided == relations_of(project)
    assert predicted[:3] == (3, "Activates(e1,e2)", "predicted")
    assert predicted.probability == pytest.approx(0.8)


def test_predictions_of_a_given_model_are_used(project):
    model = project.latest_model()
    found = relations_of(project, predicted=True, model=model._replace(threshold=0.25))
    assert [one.candidate for one in found] == [0, 2, 3, 4]
    assert found[-1].label == "Binds"


def test_predictions_need_a_model(annotated):
    with pytest.raises(ProjectError, match="no model was trained"):
        relations_of(annotated, predicted=True)


def test_annotation_is_added_where_no_decision_was_made(annotated):
    known = annotated.candidates.annotation
    row = next(row for row, label in enumerate(known) if label != "none")
    annotated.decide([row], "none", author="ann")
    found = relations_of(annotated, annotation=True)
    assert [one.candidate for one in found] == [
        other for other, label in enumerate(known) if label != "none" and other != row
    ]
    assert {one.source for one in found} == {"annotated"}
    assert relations_of(annotated) == []


# Documents.


def test_documents_have_relations_with_roles(project):
    first, second = (example.view("document") for example in annotated_documents(project))
    assert [first.text, second.text] == TEXTS
    assert triples([first, second]) == [[("Binds", "Raf", "Ras")], [("Activates", "Mek", "Erk")]]
    assert [one.role for one in first.relations[0].arguments] == ["", ""]
    assert [one.role for one in second.relations[0].arguments] == ["Agent", "Target"]
    notes = [one.value for one in first.attributes if one.type == "AnnotatorNotes"]
    assert notes == ["a\tclear case"]


def test_predicted_relations_are_marked(project):
    _, document = (one.view("document") for one in annotated_documents(project, predicted=True))
    decided, predicted = document.relations
    assert predicted.type == "Activates"
    marks = {one.target: one.value for one in document.attributes if one.type == "probability"}
    assert marks == {predicted.id: "0.8"} and decided.id not in marks


@pytest.mark.parametrize("predicted", [False, True])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_files_read_back_as_the_same_relations(project, tmp_path, name, predicted):
    export(project, tmp_path / "out", [name], predicted=predicted)
    read = kw.read(tmp_path / "out" / name, format=DOCUMENTS[name])
    documents = [example.view("document") for example in read]
    expected = [
        [("Binds", "Raf", "Ras")],
        [("Activates", "Mek", "Erk"), *([("Activates", "Erk", "Akt")] if predicted else [])],
    ]
    assert triples(documents) == expected
    marks = [
        float(one.value)
        for document in documents
        for one in document.attributes
        if one.type == "probability"
    ]
    assert marks == ([0.8] if predicted and name in KEEPS_PROBABILITIES else [])


def test_brat_marks_probabilities_as_notes_and_has_a_configuration(project, tmp_path):
    export(project, tmp_path / "out", ["brat"], predicted=True)
    folder = tmp_path / "out" / "brat"
    assert "probability 0.8" in (folder / "2.ann").read_text(encoding="utf-8")
    configuration = (folder / "annotation.conf").read_text(encoding="utf-8")
    assert "Binds\tArg1:protein, Arg2:protein, <REL-TYPE>:symmetric" in configuration
    assert "Activates\tAgent:protein, Target:protein" in configuration


def test_exported_documents_make_the_same_project(annotated, tmp_path):
    """Annotation survives the way into a project, out of it, and back."""
    export(annotated, tmp_path / "out", ["documents.jsonl"], annotation=True)
    with build_project(tmp_path / "c.kwp", tmp_path / "out" / "documents.jsonl") as again:
        assert again.candidates.annotation == annotated.candidates.annotation
        assert {row.name: row for row in again.types()} == {
            row.name: row for row in annotated.types()
        }


def test_names_of_documents_cannot_leave_the_folder(tmp_path):
    names = [
        "../../out",
        "/etc/passwd",
        "c:\\x",
        "a\x00b",
        "é" * 300,
        "x/./y",
        "A",
        "a",
        "q.",
        "...",
    ]
    documents = [
        kw.Example(name, views={"document": kw.Document("Raf binds Ras.")}) for name in names
    ]
    with build_project(tmp_path / "c.kwp", documents, entities=NAMES) as made:
        export(made, tmp_path / "out", ["brat"])
        files = [file for file in (tmp_path / "out").rglob("*.txt") if file.is_file()]
        assert len(files) == len(names)
        assert len({str(file).casefold() for file in files}) == len(names)
        with zipfile.ZipFile(io.BytesIO(export_bytes(made, "brat")[0])) as archive:
            for name in archive.namelist():
                assert name.startswith("brat/") and ".." not in name and "\\" not in name
    assert sorted(file.name for file in tmp_path.iterdir()) == ["c.kwp", "out"]


# Decisions, facts, report.


def test_decisions_have_offsets_in_their_documents(project):
    data, _, name, _ = export_bytes(project, "decisions.jsonl")
    assert name == "a-decisions.jsonl"
    rows = [json.loads(line) for line in data.decode().splitlines()]
    assert [row["label"] for row in rows] == ["Binds", "none", "Activates(e2,e1)", None]
    assert [row["author"] for row in rows] == ["ann", "ann", "bob", "bob"]
    assert rows[0]["time"] == "1970-01-01T00:00:00+00:00"
    assert rows[0]["comment"] == "a\tclear case"
    for row in rows:
        text = TEXTS[int(row["document"]) - 1]
        start, end = row["sentence"]
        assert text[start:end] == row["text"]
        for role in ("first", "second"):
            [[start, end]] = row[role]["spans"]
            assert text[start:end] == row[role]["text"]


def test_undone_decisions_are_left_out(project):
    project.undo(author="ann")
    data, *_ = export_bytes(project, "decisions.jsonl")
    assert len(data.splitlines()) == 3


def test_facts_are_those_of_the_relations(project):
    data, *_ = export_bytes(project, "facts.tsv", predicted=True)
    rows = list(csv.DictReader(io.StringIO(data.decode()), delimiter="\t"))
    found = {(row["first"], row["type"], row["second"], row["directed"]) for row in rows}
    assert found == {
        ("Mek", "Activates", "Erk", "yes"),
        ("Erk", "Activates", "Akt", "yes"),
        ("Raf", "Binds", "Ras", "no"),
    }
    chances = {row["first"]: float(row["probability"]) for row in rows}
    assert chances == {"Mek": 1.0, "Raf": 1.0, "Erk": pytest.approx(0.8)}
    assert {row["first_id"] for row in rows} == {"X:Mek", "X:Raf", "X:Erk"}


def test_the_report_shows_the_relations(project):
    data, media_type, *_ = export_bytes(project, "report.html")
    page = data.decode()
    assert media_type.startswith("text/html")
    assert "Activates" in page and "Binds" in page and "Mek" in page


def test_the_report_tells_decided_relations_from_predicted_ones(project):
    [decided] = re.findall(r"<li><b>(\d+)</b> <small>decided relations?<", report(project))
    n = len(relations_of(project))
    assert int(decided) == n and "predicted relation" not in report(project)
    assert report(project).count("<small>decided</small>") == n
    both = report(project, predicted=True)
    assert "<li><b>1</b> <small>predicted relation</small></li>" in both
    assert both.count("<small>decided</small>") == n and "t10" in both  # a bar with its threshold


def test_the_report_has_the_colors_of_the_pages(project):
    for number, row in enumerate(project.types()):
        assert f'<span class="type r{number}">{row.name}</span>' in report(project)


def report(project, **options):
    return export_bytes(project, "report.html", **options)[0].decode()


def test_texts_are_escaped_in_the_report(tmp_path):
    text = kw.Document("Raf binds <script>alert(1)</script> Ras.")
    types = [TypeRow("<b>Binds</b>", True)]
    with build_project(tmp_path / "c.kwp", [text], entities=NAMES, types=types) as made:
        made.decide([0], "<b>Binds</b>", author="ann")
        page = export_bytes(made, "report.html")[0].decode()
    assert "<script>alert" not in page and "<b>Binds" not in page


# Model.


def test_the_model_is_trained_on_decisions(annotated):
    annotated.set("learn_annotation", False)
    known = annotated.candidates.annotation
    with pytest.raises(KernelInputError):
        train_extractor(annotated)
    for row in range(0, 120, 2):
        annotated.decide([row], known[row], author="ann")
    annotated.decide([1], None, author="ann")
    extractor = train_extractor(annotated)
    assert extractor.n_candidates_ == 60
    assert extractor.recipe == "ridge"
    assert extractor.n_relations_ == sum(known[row] != "none" for row in range(0, 120, 2))
    numbers = set(annotated.candidates.document[0:120:2].tolist())
    assert extractor.n_documents_ == len(numbers)


def test_the_model_learns_from_annotation_unless_told_otherwise(tmp_path):
    documents = load_interactions("train")[:120]
    with build_project(tmp_path / "c.kwp", documents, held_out=0.3) as made:
        row = int(np.flatnonzero(~made.candidates.held_out)[0])
        held = int(np.flatnonzero(made.candidates.held_out)[0])
        made.decide([row, held], "none", author="ann")
        extractor = train_extractor(made)
        assert extractor.n_candidates_ == int((~made.candidates.held_out).sum()) + 1
        true = [
            made.candidates.annotation[other] != "none"
            for other in np.flatnonzero(~made.candidates.held_out).tolist()
            if other != row
        ]
        assert extractor.n_relations_ == sum(true)


def test_large_annotation_is_sampled_by_documents(annotated, monkeypatch):
    monkeypatch.setattr(exports, "_MOST_ANNOTATED", 100)
    labels = exports._labels(annotated)
    numbers = np.unique(annotated.candidates.document[list(labels)])
    sizes = [row.n_candidates for row in annotated.documents()]
    assert len(labels) == sum(sizes[number] for number in numbers) >= 100
    assert len(labels) - max(sizes[number] for number in numbers) < 100


def test_the_exported_model_finds_names_and_relations(tmp_path):
    names = Dictionary([("KSR1", "Protein"), ("MEK1", "Protein"), ("ERK2", "Protein")])
    texts = [
        kw.Example(f"{verb}{number}", views={"document": kw.Document(text)})
        for number in range(6)
        for verb, text in (
            ("a", "KSR1 binds MEK1 in cells."),
            ("b", "KSR1 was bought, and MEK1 was sold."),
        )
    ]
    with build_project(
        tmp_path / "c.kwp", texts, entities=names, types=[TypeRow("Binds", True)]
    ) as made:
        for row in range(len(made.candidates)):
            label = "none" if row % 2 else "Binds"
            made.decide([row], label, author="ann")
        export(made, tmp_path / "out", ["model.kw"])
    loaded = kw.load(tmp_path / "out" / "model.kw")
    [found] = loaded.extract("MEK1 binds ERK2 in cells.")
    assert found.type == "Binds" and [one.text for one in found.participants] == ["MEK1", "ERK2"]
    assert not loaded.extract("MEK1 was bought, and ERK2 was sold.")


def test_a_given_model_adds_its_training_cases(tmp_path):
    prior = kw.RelationExtractor(random_state=0).fit(load_interactions("train")[:100])
    with build_project(
        tmp_path / "c.kwp", load_interactions("test")[:20], extractor=prior, annotation=False
    ) as made:
        made.decide([0, 1], "none", author="ann")
        extractor = train_extractor(made)
    assert extractor.n_candidates_ == prior.n_candidates_ + 2


# Files and folders.


def test_all_exports_are_written(annotated, tmp_path):
    steps = []
    written = export(
        annotated, tmp_path / "out", annotation=True, progress=lambda *step: steps.append(step)
    )
    assert [path.name for path in written] == list(EXPORTS)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(EXPORTS)
    assert steps[0] == ("exporting", 0, len(EXPORTS))


def test_a_model_that_cannot_be_trained_is_left_out_of_all_exports(tmp_path):
    with build_project(tmp_path / "c.kwp", [kw.Document(TEXTS[0])], entities=NAMES) as made:
        with pytest.warns(UserWarning, match=r"model\.kw was not written"):
            written = export(made, tmp_path / "out")
        assert [path.name for path in written] == [name for name in EXPORTS if name != "model.kw"]
        with pytest.raises(KernelInputError):
            export(made, tmp_path / "other", ["model.kw"])
    assert not (tmp_path / "other").exists()


def test_folders_are_not_overwritten(project, tmp_path):
    (tmp_path / "out").mkdir()
    export(project, tmp_path / "out", ["facts.tsv"])
    before = (tmp_path / "out" / "facts.tsv").read_bytes()
    with pytest.raises(ProjectError, match="not empty"):
        export(project, tmp_path / "out", ["facts.tsv"])
    with pytest.raises(ProjectError, match="no such folder"):
        export(project, tmp_path / "no" / "out", ["facts.tsv"])
    assert (tmp_path / "out" / "facts.tsv").read_bytes() == before


def test_unknown_exports_are_named(project, tmp_path):
    with pytest.raises(ProjectError, match=r"unknown export 'x'(.|\n)*model\.kw"):
        export(project, tmp_path / "out", ["x"])
    with pytest.raises(ProjectError, match="unknown export"):
        export_bytes(project, "x")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_export_leaves_no_files(project, tmp_path, failure):
    def interrupt(stage, done, total):
        if done == 2:
            raise failure

    with pytest.raises(failure):
        export(
            project,
            tmp_path / "out",
            ["facts.tsv", "brat", "report.html"],
            progress=interrupt,
        )
    assert [file.name for file in tmp_path.iterdir() if "a.kwp" not in file.name] == []


def test_folders_are_downloaded_as_archives(project):
    data, media_type, name, _ = export_bytes(project, "brat")
    assert (media_type, name) == ("application/zip", "a-brat.zip")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert names == ["brat/1.ann", "brat/1.txt", "brat/2.ann", "brat/2.txt",
                         "brat/annotation.conf", "brat/visual.conf"]  # fmt: skip
        assert archive.read("brat/1.txt").decode() == TEXTS[0]
    assert export_bytes(project, "brat")[0] == data


def test_rows_describe_themselves():
    for name, row in EXPORTS.items():
        assert row.name == name and row.title and row.description.endswith(".")
        assert row.is_folder == ("." not in name)
