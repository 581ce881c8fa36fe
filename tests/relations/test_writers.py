"""Predictions as JSON lines, tables and standoff annotation."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.relations import (
    Case,
    DocumentPredictions,
    Evidence,
    MarkedText,
    Participant,
    Prediction,
    output_format,
    output_formats,
    write_predictions,
)
from kernelwood.relations.writers import annotated_document, prediction_columns

TEXT = "Raf binds Ras. Mek was seen."
ENTITIES = (
    kw.text.Entity("T1", "protein", ((0, 3),), "Raf"),
    kw.text.Entity("T2", "protein", ((10, 13),), "Ras"),
    kw.text.Entity("T3", "protein", ((15, 18),), "Mek"),
)
DOCUMENT = kw.Document(TEXT, ENTITIES)
EVIDENCE = Evidence(
    supporting=(
        Case("d1.p0", "binds", 0.75, 0.5, MarkedText("Sos binds Grb", ((0, 3), (10, 13)))),
    ),
    opposing=(Case("d2.p1", "none", 0.5, -0.25, MarkedText("Sos, Grb", ((0, 3), (5, 8)))),),
    score=0.5,
    intercept=0.0,
    others=0.25,
)


def participant(role, entity, text=TEXT, shift=0):
    spans = tuple((a + shift, b + shift) for a, b in entity.spans)
    words = " ".join(text[a:b] for a, b in entity.spans)
    return Participant(role, entity.id, entity.type, words, spans)


def a_prediction(
    *, positive=True, roles=("first", "second"), kind="binds", name="p1", trigger=None
):
    sentence = kw.Sentence(TEXT[:14], entities=ENTITIES[:2])
    ends = tuple(zip(roles, ENTITIES[:2], strict=True))
    candidate = kw.text.Candidate(name, sentence, ends)
    ones = tuple(participant(role, entity) for role, entity in ends)
    score = 0.9 if positive else 0.1
    return Prediction(
        name, "doc", kind, kind, positive, score, 0.5, ones, trigger, (0, 14), TEXT[:14], None,
        candidate,
    )  # fmt: skip


def an_event(name, trigger, roles=("participant", "participant")):
    return a_prediction(kind="Binding", name=name, roles=roles, trigger=trigger)


def written(predicted, **options):
    out = io.StringIO()
    write_predictions(predicted, out, **options)
    return out.getvalue()


def table(predicted, **options):
    lines = written(predicted, format="tsv", **options)
    return list(csv.DictReader(io.StringIO(lines), delimiter="\t"))


# Which format.


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a.jsonl", "jsonl"), ("a.TSV", "tsv"), ("a.tsv.gz", "tsv"), ("b.ann", "ann")],
)
def test_the_suffix_says_the_format(path, expected):
    assert output_format(path) == expected


def test_a_format_that_is_named_beats_the_suffix():
    assert output_format("a.txt", "jsonl") == "jsonl"


def test_other_suffixes_are_refused_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"\.jsonl, \.tsv, \.ann"):
        output_format("a.csv")


# JSON lines.


def test_a_line_is_the_prediction_as_plain_values():
    one = a_prediction()
    [line] = written([DocumentPredictions("doc", DOCUMENT, [one])], format="jsonl").splitlines()
    assert json.loads(line) == one.to_dict()


def test_evidence_is_written_with_its_prediction():
    predicted = DocumentPredictions("doc", DOCUMENT, [a_prediction()], [EVIDENCE])
    [line] = written([predicted], format="jsonl").splitlines()
    assert json.loads(line)["evidence"] == EVIDENCE.to_dict()


def test_numbers_keep_every_bit():
    one = a_prediction()
    object.__setattr__(one, "probability", 0.1 + 0.2)
    [line] = written([DocumentPredictions("doc", DOCUMENT, [one])], format="jsonl").splitlines()
    assert json.loads(line)["probability"] == 0.1 + 0.2


def test_documents_are_taken_one_after_the_other(tmp_path):
    alive = []

    def documents():
        for i in range(3):
            alive.append(i)
            yield DocumentPredictions(f"d{i}", DOCUMENT, [a_prediction(name=f"p{i}")])

    class Watched(io.StringIO):
        def writelines(self, lines):
            for n, line in enumerate(lines):
                assert len(alive) == n + 1
                self.write(line)

    write_predictions(documents(), Watched(), format="jsonl")
    assert len(alive) == 3


# Tables.


def test_a_table_has_titles_and_a_line_for_each_prediction():
    ones = [a_prediction(), a_prediction(positive=False, name="p2")]
    rows = table([DocumentPredictions("doc", DOCUMENT, ones)])
    assert [(row["id"], row["type"], row["positive"]) for row in rows] == [
        ("p1", "binds", "yes"), ("p2", "binds", "no"),
    ]  # fmt: skip


def test_participants_have_columns_of_their_own():
    [row] = table([DocumentPredictions("doc", DOCUMENT, [a_prediction()])])
    assert (row["text1"], row["spans1"], row["role2"]) == ("Raf", "0 3", "second")


def test_an_empty_table_has_its_titles():
    assert written([], format="tsv").rstrip("\n").split("\t") == list(prediction_columns())


def test_events_have_columns_for_the_trigger_and_a_third_participant():
    trigger = Participant("trigger", "T9", "Binding", "binds", ((4, 9),))
    [row] = table([DocumentPredictions("doc", DOCUMENT, [an_event("e1", trigger)])], events=True)
    assert (row["trigger_text"], row["role3"]) == ("binds", "")


@given(st.text(max_size=20))
def test_any_text_stays_in_its_cell(text):
    one = a_prediction()
    object.__setattr__(one, "text", text)
    lines = written([DocumentPredictions("doc", DOCUMENT, [one])], format="tsv")
    rows = list(csv.reader(io.StringIO(lines), delimiter="\t"))
    assert [len(row) for row in rows] == [len(prediction_columns())] * 2
    assert lines.count("\n") == 2


def test_the_evidence_of_a_table_is_told_in_short():
    predicted = DocumentPredictions("doc", DOCUMENT, [a_prediction()], [EVIDENCE])
    [row] = table([predicted], evidence=True)
    assert row["evidence"] == "d1.p0 (binds, +0.500); d2.p1 (none, -0.250)"


# Standoff annotation.


def test_standoff_reads_back_with_entities_and_relations(tmp_path):
    write_predictions(
        [DocumentPredictions("doc", DOCUMENT, [a_prediction()])], tmp_path / "out.ann"
    )
    [example] = kw.read(tmp_path / "out.ann")
    document = example.view("document")
    assert document.entities == ENTITIES
    assert document.relations == (
        kw.text.Relation(
            "R1", "binds", (kw.text.Argument("Arg1", "T1"), kw.text.Argument("Arg2", "T2"))
        ),
    )


def test_probabilities_are_notes(tmp_path):
    write_predictions(
        [DocumentPredictions("doc", DOCUMENT, [a_prediction()])], tmp_path / "out.ann"
    )
    lines = (tmp_path / "out.ann" / "doc.ann").read_text().splitlines()
    assert lines[-1] == "#1\tAnnotatorNotes R1\tprobability 0.9"


def test_evidence_is_a_further_note():
    document = annotated_document(
        DocumentPredictions("doc", DOCUMENT, [a_prediction()], [EVIDENCE])
    )
    assert [note.value for note in document.attributes] == [
        "0.9", "for: d1.p0 (binds, +0.500): [Sos] binds [Grb]",
        "against: d2.p1 (none, -0.250): [Sos], [Grb]",
    ]  # fmt: skip


def test_what_does_not_hold_is_not_annotated():
    predicted = DocumentPredictions("doc", DOCUMENT, [a_prediction(positive=False)])
    assert annotated_document(predicted).relations == ()


def test_relations_of_the_annotation_are_left_out():
    known = kw.text.Relation(
        "R7", "old", (kw.text.Argument("a", "T1"), kw.text.Argument("b", "T3"))
    )
    document = kw.Document(TEXT, ENTITIES, [known], attributes=[("A1", "Sure", "R7")])
    made = annotated_document(DocumentPredictions("doc", document, []))
    assert (made.relations, made.attributes) == ((), ())


def test_references_of_entities_are_kept():
    reference = kw.text.Attribute("N1", "Reference", "T1", "DB:7\tRaf")
    document = kw.Document(TEXT, ENTITIES, attributes=[reference])
    assert annotated_document(DocumentPredictions("doc", document, [])).attributes == (reference,)


def test_notes_take_no_id_that_is_used(tmp_path):
    document = kw.Document(TEXT, ENTITIES, attributes=[("#1", "AnnotatorNotes", "T1", "new")])
    predicted = DocumentPredictions("doc", document, [a_prediction()], [EVIDENCE])
    assert [item.id for item in annotated_document(predicted).attributes] == [
        "#1",
        "A1",
        "#2",
        "#3",
    ]
    write_predictions([predicted], tmp_path / "out.ann")
    [example] = kw.read(tmp_path / "out.ann")
    assert len({item.id for item in example.view("document").attributes}) == 4


def test_relations_take_no_id_of_an_entity():
    document = kw.Document(TEXT, [ENTITIES[2]._replace(id="R1"), *ENTITIES[:2]])
    made = annotated_document(DocumentPredictions("doc", document, [a_prediction()]))
    assert [relation.id for relation in made.relations] == ["R2"]


def test_roles_of_the_annotation_are_kept():
    made = annotated_document(
        DocumentPredictions("doc", DOCUMENT, [a_prediction(roles=("Agent", "Target"))])
    )
    assert [argument.role for argument in made.relations[0].arguments] == ["Agent", "Target"]


def test_events_have_themes_and_triggers():
    trigger = Participant("trigger", "t1", "Binding", "binds", ((4, 9),))
    made = annotated_document(DocumentPredictions("doc", DOCUMENT, [an_event("e1", trigger)]))
    [event] = made.events
    assert [argument.role for argument in event.arguments] == ["Theme", "Theme2"]
    assert made.entities[-1][:3] == ("t1", "Binding", ((4, 9),))


def test_triggers_of_two_sentences_with_one_id_stay_apart():
    first = Participant("trigger", "trigger1", "Binding", "binds", ((4, 9),))
    second = Participant("trigger", "trigger1", "Sight", "seen", ((23, 27),))
    predicted = DocumentPredictions(
        "doc", DOCUMENT, [an_event("e1", first), an_event("e2", second)]
    )
    one, two = annotated_document(predicted).events
    assert one.trigger != two.trigger


def test_a_catalyst_is_a_cause():
    trigger = Participant("trigger", "t1", "Binding", "binds", ((4, 9),))
    roles = ("catalyst", "participant")
    made = annotated_document(
        DocumentPredictions("doc", DOCUMENT, [an_event("e1", trigger, roles)])
    )
    assert [argument.role for argument in made.events[0].arguments] == ["Cause", "Theme"]


def test_blanks_in_types_are_written_as_underscores(tmp_path):
    document = kw.Document(TEXT, [entity._replace(type="gene product") for entity in ENTITIES])
    predicted = DocumentPredictions("doc", document, [a_prediction(kind="binds to")])
    write_predictions([predicted], tmp_path / "out.ann")
    [example] = kw.read(tmp_path / "out.ann")
    assert example.view("document").relations[0].type == "binds_to"


def test_a_sentence_of_a_document_is_a_document_of_its_own(tmp_path):
    sentence = kw.Sentence("Raf binds Ras.", entities=ENTITIES[:2], start=100)
    one = a_prediction()
    pairs = zip(("first", "second"), ENTITIES[:2], strict=True)
    moved = tuple(participant(role, entity, shift=100) for role, entity in pairs)
    object.__setattr__(one, "participants", moved)
    made = annotated_document(DocumentPredictions("doc", sentence, [one]))
    assert made.entities == ENTITIES[:2]


def test_a_folder_that_is_there_is_kept(tmp_path):
    (tmp_path / "out.ann").mkdir()
    (tmp_path / "out.ann" / "old.txt").write_text("old")
    with pytest.raises(FileExistsError):
        write_predictions([DocumentPredictions("doc", DOCUMENT, [])], tmp_path / "out.ann")
    assert [path.name for path in tmp_path.rglob("*")] == ["out.ann", "old.txt"]


def test_standoff_cannot_go_to_a_stream():
    with pytest.raises(ValueError, match="name a folder"):
        write_predictions([], io.StringIO(), format="ann")


@pytest.mark.parametrize("name", ["out.jsonl", "out.tsv", "out.ann"])
def test_a_failure_leaves_nothing_behind(tmp_path, name):
    def documents():
        yield DocumentPredictions("doc", DOCUMENT, [a_prediction()])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_predictions(documents(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


# Annotated documents in other formats.


def test_documents_are_written_with_probabilities(tmp_path):
    document = kw.Document(TEXT, ENTITIES, metadata=[("title", "of the text")])
    predicted = DocumentPredictions("doc", document, [a_prediction(kind="binds to")])
    write_predictions([predicted], tmp_path / "out.jsonl", format="documents")
    [example] = kw.read(tmp_path / "out.jsonl")
    made = example.view("document")
    assert made.relations[0].type == "binds to"
    assert made.attributes == (kw.text.Attribute("A1", "probability", "R1", "0.9"),)
    assert made.metadata == document.metadata


def test_every_format_of_documents_is_an_output_format():
    rows = [row for row in kw.io.FORMATS if "document" in (row.views or ())]
    writable = {row.name for row in rows if row.write or row.write_files}
    assert writable - {"standoff"} <= output_formats().keys()


def test_a_suffix_of_several_formats_determines_none():
    suffixes = [suffix for some in output_formats().values() for suffix in some]
    assert len(set(suffixes)) == len(suffixes)


@pytest.mark.filterwarnings("ignore:the format .* cannot store")
@pytest.mark.parametrize(
    "name", sorted(output_formats().keys() - {"jsonl", "tsv", "ann", "parquet"})
)
def test_what_is_written_is_read(name, tmp_path):
    """The text, the entities and the relation are read back by the reader of the format."""
    references = [
        kw.text.Attribute(f"N{n}", "Reference", entity.id, f"DB:{n}")
        for n, entity in enumerate(ENTITIES)
    ]
    document = kw.Document(TEXT, ENTITIES, attributes=references)
    predicted = DocumentPredictions("10213", document, [a_prediction()])
    path = tmp_path / f"out{next(iter(output_formats()[name]), '')}"
    write_predictions([predicted], path, format=name)
    [example] = kw.read(path, format={"documents": "jsonl"}.get(name, name))
    made = example.view("document")
    assert made.text.startswith(TEXT)
    assert [entity.spans for entity in made.entities] == [entity.spans for entity in ENTITIES]
    assert [relation.type for relation in made.relations] == ["binds"]


@pytest.mark.filterwarnings("ignore:the format .* cannot store")
@pytest.mark.parametrize(
    "name", sorted(output_formats().keys() - {"jsonl", "tsv", "ann", "parquet"})
)
def test_texts_with_line_ends_and_tabs_are_written(name, tmp_path):
    document = kw.Document("a\tb\n\nc\nRaf", [kw.text.Entity("T1", "x", ((7, 10),), "Raf")])
    write_predictions([DocumentPredictions("1", document, [])], tmp_path / "out", format=name)
    assert "Raf" in (tmp_path / "out").read_text(encoding="utf-8")


def test_parts_that_a_format_cannot_store_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelwood.relations.writers.left_out", lambda *_: ["events"])
    predicted = [DocumentPredictions(name, DOCUMENT, []) for name in "ab"]
    with pytest.warns(UserWarning, match="the format jsonl cannot store events of 2 documents"):
        write_predictions(predicted, tmp_path / "out", format="documents")
