"""Reading and writing of standoff annotation."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

import kernelwood.io.formats.standoff as module
from kernelwood.errors import ReadError, StructureError
from kernelwood.io import FORMATS, Source, read, write_standoff
from kernelwood.io.formats.standoff import looks_like_standoff, read_standoff, standoff_files
from kernelwood.io.source import Remark
from kernelwood.structures import Sequence
from kernelwood.text import (
    Argument,
    Attribute,
    Document,
    Entity,
    Event,
    Example,
    Relation,
    Sentence,
)

TEXT = "Raf binds Ras in cells. It activates MEK.\n"
RAF = "T1\tProtein 0 3\tRaf\n"
BINDS = "T2\tBinding 4 9\tbinds\n"


def items(ann=b"", text=TEXT, **files):
    """Return what the reader yields for a text and its annotations."""
    given = {".txt": text, ".ann": ann} | {f".{suffix}": data for suffix, data in files.items()}
    sources = {
        suffix: Source(io.BytesIO(data.encode() if isinstance(data, str) else data))
        for suffix, data in given.items()
    }
    return list(read_standoff(sources))


def document(ann="", text=TEXT, **files):
    [example] = items(ann, text, **files)
    return example.view("document")


def problem(ann, text=TEXT, **files):
    [found] = items(ann, text, **files)
    assert isinstance(found, ReadError)
    return found


def written(made, **options):
    return dict(standoff_files([Example("d", views={"document": made})], **options))


def test_an_entity_has_its_type_span_and_text():
    assert document(RAF).entities == (Entity("T1", "Protein", ((0, 3),), "Raf"),)


def test_a_discontinuous_entity_has_several_spans():
    [entity] = document("T1\tComplex 0 3;10 13\tRaf Ras\n").entities
    assert entity.spans == ((0, 3), (10, 13))


def test_an_event_has_a_trigger_and_arguments_whose_roles_stay_as_written():
    made = document(f"{RAF}{BINDS}T3\tProtein 10 13\tRas\nE1\tBinding:T2 Theme:T1 Theme2:T3\n")
    expected = (Argument("Theme", "T1"), Argument("Theme2", "T3"))
    assert made.events == (Event("E1", "Binding", "T2", expected),)


def test_an_event_may_refer_to_one_that_comes_later():
    made = document(f"E1\tCause:T2 Theme:E2\nE2\tBinding:T2 Theme:T1\n{RAF}{BINDS}")
    assert [event.id for event in made.events] == ["E1", "E2"]


def test_runs_of_blanks_between_arguments_are_one():
    made = document(f"{RAF}{BINDS}E1\tBinding:T2  Theme:T1  Site:T1 \n")
    assert [argument.role for argument in made.events[0].arguments] == ["Theme", "Site"]


def test_a_relation_has_roles():
    made = document(f"{RAF}{BINDS}R1\tPart Arg1:T1 Arg2:T2\t\n")
    arguments = (Argument("Arg1", "T1"), Argument("Arg2", "T2"))
    assert made.relations == (Relation("R1", "Part", arguments),)


def test_equivalent_entities_are_a_relation_without_id_and_roles():
    made = document(f"{RAF}{BINDS}*\tEquiv T1 T2\n")
    assert made.relations == (Relation("*", "Equiv", (Argument("", "T1"), Argument("", "T2"))),)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("A1\tNegation T1", Attribute("A1", "Negation", "T1")),
        ("A1\tCertainty T1 very low", Attribute("A1", "Certainty", "T1", "very low")),
        ("M1\tSpeculation T1", Attribute("M1", "Speculation", "T1")),
        ("N1\tReference T1 DB:7\tRaf one", Attribute("N1", "Reference", "T1", "DB:7\tRaf one")),
        ("N1\tReference T1 DB:7", Attribute("N1", "Reference", "T1", "DB:7")),
        (
            "#1\tAnnotatorNotes T1\tis it\tso?",
            Attribute("#1", "AnnotatorNotes", "T1", "is it\tso?"),
        ),
        ("#1\tAnnotatorNotes T1", Attribute("#1", "AnnotatorNotes", "T1")),
    ],
)
def test_attributes_modifications_normalizations_and_notes_are_attributes(line, expected):
    assert document(f"{RAF}{line}\n").attributes == (expected,)


def test_given_and_sought_annotations_are_one_document():
    made = document(a1=RAF, a2=f"{BINDS}E1\tBinding:T2 Theme:T1\n")
    assert [entity.id for entity in made.entities] == ["T1", "T2"]


def test_a_text_alone_is_a_document_without_annotations():
    [example] = read_standoff({".txt": Source(io.BytesIO(b"Raf."))})
    assert example.view("document") == Document("Raf.")


def test_an_empty_text_is_a_document():
    assert document("", text="") == Document("")


def test_blank_lines_are_passed_over():
    assert len(document(f"\n \t \n{RAF}\n\n").entities) == 1


def test_the_example_is_named_after_the_text_and_knows_its_place(tmp_path):
    (tmp_path / "one.txt").write_text(TEXT)
    (tmp_path / "one.a1").write_text(RAF)
    files = {suffix: Source(tmp_path / f"one{suffix}") for suffix in (".txt", ".a1")}
    [example] = read_standoff(files)
    for source in files.values():
        source.close()
    assert (example.id, str(example.origin)) == ("one", f"{tmp_path / 'one.txt'}:1")


def test_other_views_leave_the_example_empty():
    [example] = read_standoff({".txt": Source(io.BytesIO(b"Raf."))}, ("tree",))
    assert dict(example.views) == {}


def test_windows_line_ends_stay_and_count_twice():
    made = document("T1\tProtein 5 8\tRas\r\n", text="Raf\r\nRas\r\n")
    assert (made.text, made.entities[0].text) == ("Raf\r\nRas\r\n", "Ras")


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert document("\ufeff" + RAF, text="\ufeff" + TEXT) == document(RAF)


def test_offsets_count_astral_characters_once():
    assert document("T1\tProtein 3 6\tRaf", text="😀𝔸 Raf").entities[0].start == 3


@pytest.mark.parametrize("text", ["caf\u00e9 Raf", "cafe\u0301 Raf"])
def test_composed_and_decomposed_characters_stay_as_they_are(text):
    made = document(f"T1\tPlace 0 {len(text) - 4}\t{text[:-4]}", text=text)
    assert (made.text, made.entities[0].text) == (text, text[:-4])


@pytest.mark.parametrize(("text", "line"), [("Raf\nRas", "Raf Ras"), ("Raf\r\nRas", "Raf Ras")])
def test_a_blank_may_stand_for_a_line_end_in_an_entity(text, line):
    assert document(f"T1\tPair 0 {len(text)}\t{line}", text=text).entities[0].text == line


def test_other_blanks_in_an_entity_are_remarked():
    remark, example = items("T1\tPair 0 7\tRaf Ras", text="Raf\u00a0Ras")
    assert remark == Remark("blanks or joints in the text of an entity differ from the document")
    assert example.view("document").entities[0].text == "Raf Ras"


def test_a_blank_at_the_end_of_an_entity_is_kept():
    assert document("T1\tProtein 0 4\tRaf \n").entities[0].text == "Raf "


@pytest.mark.parametrize("line", ["# written by hand", "#1\twritten"])
def test_comments_that_name_no_annotation_are_remarked(line):
    remark, example = items(f"{RAF}{line}\n")
    assert remark == Remark("a comment without an annotation was left out")
    assert example.view("document").attributes == ()


def test_a_note_on_an_attribute_is_remarked():
    remark, example = items(f"{RAF}A1\tNegation T1\n#1\tAnnotatorNotes A1\twhy?\n")
    assert remark == Remark("a note on an attribute was left out")
    assert [item.id for item in example.view("document").attributes] == ["A1"]


def test_a_note_on_what_is_not_there_is_remarked():
    remark, example = items(f"{RAF}#1\tAnnotatorNotes T7\twhy?\n")
    assert remark == Remark("a note on a missing annotation was left out")
    assert example.view("document").attributes == ()


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("T1", 3, "no tab"),
        ("X1\tProtein 0 3\tRaf", 1, "not the id"),
        ("T 1\tProtein 0 3\tRaf", 1, "not the id"),
        ("T1\tProtein 0 3", 15, "text of the entity is missing"),
        ("T1\tProtein zero 3\tRaf", 4, "not an entity"),
        ("T1\tProtein 0 3 \tRas", 4, "reads 'Ras', but at its offsets stands 'Raf'"),
        ("T1\tProtein 3 3\t", 12, "empty or not in order"),
        ("T1\tProtein 4 6;0 3\tbi Raf", 12, "empty or not in order"),
        ("T1\tProtein 40 49\tMEK", 4, "the text has 42 characters"),
        (f"T1\tProtein 0 {'9' * 5000}\tRaf", 4, "not an entity"),
        ("E1\tBinding", 4, "not of the form role:target"),
        ("E1\tBinding:T1 :T1", 15, "not of the form role:target"),
        ("E1\t", 4, "second column is empty"),
        ("E1\tBinding:T1\tTheme:T1", 14, "column too many"),
        ("R1\tPart", 8, "no arguments"),
        ("*\tEquiv", 8, "no arguments"),
        ("A1\tNegation", 4, "not an attribute"),
        ("N1\tReference T1\tRaf", 4, "not a normalization"),
    ],
)
def test_a_bad_line_is_located(line, column, words):
    found = problem(f"T9\tProtein 0 3\tRaf\n{line}\n")
    assert (found.line, found.column, words in str(found)) == (2, column, True)


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("E1\tBinding:T7 Theme:T1", 12, "no entity 'T7'"),
        ("E1\tBinding:T1 Theme:E7", 21, "no entity or event 'E7'"),
        ("E1\tBinding:E1 Theme:T1", 12, "no entity 'E1'"),
        ("R1\tPart Arg1:T1 Arg2:R1", 22, "no entity or event 'R1'"),
        ("*\tEquiv T1 T7", 12, "no entity or event 'T7'"),
        ("M1\tNegation E7", 13, "no annotation 'E7'"),
    ],
)
def test_a_reference_that_leads_nowhere_is_located(line, column, words):
    found = problem(f"{RAF}{line}\n")
    assert (found.line, found.column, words in str(found)) == (2, column, True)


def test_every_bad_line_is_reported_and_the_document_is_not_read():
    found = items(f"T1\tProtein\n{RAF}T3\tProtein 0 3\tRas\nE1\tBinding:T9\n")
    assert [(type(item), item.line) for item in found] == [(ReadError, 1), (ReadError, 3)]


def test_an_id_is_used_once_in_all_files_of_a_document():
    found = problem("", a1=RAF, a2=RAF)
    assert "'T1' was used before, on line 1 of <stream>" in found.problem


def test_hopeless_files_are_given_up():
    found = items("nonsense\n" * 5000)
    assert (len(found), found[-1].problem) == (101, "more than 100 problems in this document")


def test_a_file_of_annotations_without_text_is_an_error():
    with pytest.raises(ReadError, match=r"text of these annotations is missing(.|\n)*name\.txt"):
        list(read_standoff({".ann": Source(io.BytesIO(RAF.encode()))}))


def test_a_single_stream_of_annotations_is_an_error():
    with pytest.raises(ReadError, match="text of these annotations is missing"):
        list(read_standoff(Source(io.BytesIO(RAF.encode()))))


def test_a_text_in_another_encoding_is_an_error_with_its_place():
    with pytest.raises(ReadError, match="0xe9 at byte offset 12 is not valid UTF-8") as caught:
        items(text=b"Raf\nin a caf\xe9\n")
    assert (caught.value.line, caught.value.column) == (2, 9)


def test_annotations_in_another_encoding_are_an_error_with_their_line():
    assert problem(RAF.encode() + b"T2\tPlace 0 4\tcaf\xe9\n").line == 2


def test_a_text_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(module, "_TEXT_LIMIT", 1 << 20)
    with pytest.raises(ReadError, match=r"more than 1\.0 MiB"):
        items(text=b"a" * ((1 << 20) + 1))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("😀 Raf", "T1\tProtein 3 6\tRaf", "UTF-16 units"),
        ("😀 Raf Ras", "T1\tProtein 3 4;7 8\tR R", "UTF-16 units"),
        ("é Raf", "T1\tProtein 3 6\tRaf", "UTF-8 bytes"),
        ("a Raf is", "T1\tProtein 3 6\tRaf", "stands at 2 5"),
        ("a Ras is", "T1\tProtein 3 6\tRaf", "offsets count characters from 0"),
    ],
)
def test_wrong_offsets_come_with_a_guess(text, line, words):
    assert words in problem(line, text=text).hint


@pytest.mark.parametrize("line", [RAF, BINDS, "E1\tBinding:T2 Theme:T1", "*\tEquiv T1 T2",
                                  "R1\tPart Arg1:T1 Arg2:T2", "#1\tAnnotatorNotes T1\tno",
                                  "M1\tNegation E1", "T1\tX 0 3;5 7\tRaf ab"])  # fmt: skip
def test_annotations_are_recognized_by_their_first_line(line):
    assert [row.name for row in FORMATS if row.sniff(f"\n{line}")] == ["standoff"]


@pytest.mark.parametrize("head", ["", "Raf binds Ras.", "T1", "1\tRaf\t_", "Theme 0 3\tRaf"])
def test_other_texts_are_not_recognized(head):
    assert not looks_like_standoff(head)


def test_long_lines_and_many_arguments_take_linear_time():
    ann = f"{RAF}{BINDS}E1\tBinding:T2{' ' * 100_000}{'Theme:T1 ' * 100_000}\n"
    ann += f"M1\tNegation E1{' ' * 1_000_000}x\nM2\tNegation E1{' ' * 1_000_000}\n"
    made = document(ann)
    assert (len(made.events[0].arguments), made.attributes[0].value) == (100_000, "x")


def test_events_nest_to_any_depth():
    nested = "".join(f"E{i}\tBinding:T2 Theme:E{i + 1}\n" for i in range(DEPTH))
    assert len(document(f"{RAF}{BINDS}{nested}E{DEPTH}\tBinding:T2 Theme:T1\n").events) == DEPTH + 1


def test_a_document_is_written_as_a_text_and_its_annotations():
    ann = (
        f"{RAF}{BINDS}T3\tPair 0 3;10 13\tRaf Ras\n*\tEquiv T1 T3\nR1\tPart Arg1:T1 Arg2:T3\n"
        "E1\tBinding:T2 Theme:T1 Theme2:T3\nM1\tNegation E1\nA1\tSure E1 very\n"
        "N1\tReference T1 DB:7\tRaf\n#1\tAnnotatorNotes R1\twhy\n"
    )
    assert written(document(ann)) == {"d.txt": TEXT, "d.ann": ann}


def test_ids_with_slashes_become_folders():
    made = Example("train/7", views={"document": Document("Raf")})
    assert [name for name, _ in standoff_files([made])] == ["train/7.txt", "train/7.ann"]


@pytest.mark.parametrize(
    "name", ["", "/a", "a/", "a//b", "../a", "a/../b", ".a", "a\\b", "C:a", "a\0", "a\n", "\ud800",
             "é" * 200],
)  # fmt: skip
def test_ids_that_are_no_safe_file_names_are_refused(name):
    with pytest.raises(StructureError, match="cannot be the name of a file"):
        list(standoff_files([Example(name, views={"document": Document("Raf")})]))


def test_two_documents_of_one_id_are_refused():
    made = Example("a", views={"document": Document("Raf")})
    with pytest.raises(StructureError, match="example 'a' cannot be written: its id was used"):
        list(standoff_files([made, made]))


@pytest.mark.parametrize(
    "parts",
    [
        {"entities": [Entity("e1", "Protein", ((0, 3),), "Raf")]},
        {"entities": [Entity("T1", "A protein", ((0, 3),), "Raf")]},
        {"entities": [Entity("T1", "Protein", (), "Raf")]},
        {"entities": [Entity("T1", "Protein", ((0, 3),))]},
        {"entities": [Entity("T1", "Protein", ((0, 3),), "Ras")]},
        {"entities": [Entity("T1", "Protein", ((0, 3),), "Raf\n")]},
        {"relations": [Relation("R1", "Part", (Argument("a", "T0"),), holds=False)]},
        {"relations": [Relation("R1", "Part", ())]},
        {"relations": [Relation("R1", "Part", (Argument("", "T0"),))]},
        {"relations": [Relation("*", "Part", (Argument("a", "T0"),))]},
        {"events": [Event("E1", "a:b", "T0")]},
        {"events": [Event("E1", "Binding", "T0", (Argument("a b", "T0"),))]},
        {"events": [Event("X1", "Binding", "T0")]},
        {"attributes": [Attribute("A1", "Negation", "T0", " x")]},
        {"attributes": [Attribute("A1", "Negation", "T0", "x\ty")]},
        {"attributes": [Attribute("N1", "Reference", "T0")]},
        {"attributes": [Attribute("#1", "Note", "T0", "a\nb")]},
        {"attributes": [Attribute("#1", "Note", "T0", "a\r")]},
        {"attributes": [Attribute("A1", "Negation", "T0"), Attribute("A1", "Doubt", "T0")]},
        {"metadata": [("source", "a letter")]},
    ],
)
def test_what_the_format_cannot_hold_is_refused_with_the_example(parts):
    entities = (Entity("T0", "Protein", ((0, 3),), "Raf"), *parts.pop("entities", ()))
    with pytest.raises(StructureError, match="example 'd' cannot be written"):
        written(Document("Raf binds", entities, **parts))


def test_a_text_that_begins_with_a_byte_order_mark_is_refused():
    with pytest.raises(StructureError, match="byte order mark"):
        written(Document("\ufeffRaf"))


def test_adapting_gives_ids_and_texts_that_fit():
    made = Document(
        "Raf\nbinds",
        [Entity("x", "Pair", ((0, 9),)), Entity("T1", "Protein", ((0, 3),), "RAF")],
        [Relation("p", "Part", (Argument("a", "x"),)),
         Relation("q", "Part", (Argument("a", "x"),), holds=False)],
        [Event("y", "Binding", "x", (Argument("Theme", "y"),))],
        [Attribute("z", "Negation", "y"), Attribute("z", "Doubt", "q"),
         Attribute("z", "Doubt", "p")],
        [("source", "a letter")],
    )  # fmt: skip
    assert written(made, adapt=True)["d.ann"] == (
        "T2\tPair 0 9\tRaf binds\nT1\tProtein 0 3\tRaf\nR1\tPart a:T2\n"
        "E1\tBinding:T2 Theme:E1\nA1\tNegation E1\nA2\tDoubt R1\n"
    )


def test_adapting_keeps_the_ids_that_fit():
    things = [Entity("T1", "Protein", ((0, 3),), "Raf")]
    ids = ["A1", "x", "#1", "A1", "A3"]
    made = Document("Raf", things, attributes=[Attribute(name, "Doubt", "T1") for name in ids])
    lines = written(made, adapt=True)["d.ann"].splitlines()[1:]
    assert [line.split("\t")[0] for line in lines] == ["A1", "A2", "#1", "A4", "A3"]


def test_a_sentence_is_written_as_a_document():
    made = Sentence.from_words(["Raf", "binds"], entities=[Entity("e1", "Protein", ((0, 3),))])
    files = dict(standoff_files([Example("s", views={"sentence": made})]))
    assert files == {"s.txt": "Raf binds", "s.ann": "T1\tProtein 0 3\tRaf\n"}


def test_an_example_without_document_or_sentence_is_refused():
    with pytest.raises(StructureError, match="example 'a' cannot be written: it has 0 views"):
        list(standoff_files([Example("a", views={"words": Sequence(["a"])})]))


def test_the_view_to_write_can_be_named():
    made = Example("a", views={"x": Document("Raf"), "y": Document("Ras")})
    assert dict(standoff_files([made], view="y"))["a.txt"] == "Ras"


def test_several_documents_in_an_example_need_a_name():
    made = Example("a", views={"x": Document("Raf"), "y": Document("Ras")})
    with pytest.raises(StructureError, match=re.escape("say which with view=...: x, y")):
        list(standoff_files([made]))


def test_a_named_view_must_be_a_document():
    with pytest.raises(
        StructureError, match=r"no document or sentence in view 'x'\n    it has x \(text\)"
    ):
        list(standoff_files([Example("a", views={"x": "Raf"})], view="x"))


def test_a_folder_is_written_and_read_back(tmp_path):
    made = [Example(f"part/{n}", views={"document": document(RAF)}) for n in range(3)]
    write_standoff(made, tmp_path / "out")
    again = read(tmp_path / "out")
    assert [(item.id, item.views) for item in again] == [(item.id, item.views) for item in made]


WORDS = st.text("abTE1:#*;é😀", min_size=1, max_size=4)
NOTES = st.text("ab 1:;\té😀", max_size=6)


@st.composite
def documents(draw):
    """Documents that the format can hold."""
    text = draw(st.text("ab \n\r\té😀e\u0301", max_size=30))
    entities = []
    for number in range(draw(st.integers(1, 4)) if text else 0):
        cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
        spans = tuple(zip(cuts[::2], cuts[1::2], strict=False))
        found = " ".join(text[start:end] for start, end in spans)
        shown = found.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
        entities.append(Entity(f"T{number}", draw(WORDS), spans, shown))
    things = [entity.id for entity in entities]
    if not things:
        return Document(text)
    names = [f"E{number}" for number in range(draw(st.integers(0, 3)))]
    roles = WORDS.filter(lambda word: ":" not in word)
    targets = st.sampled_from(things + names)
    arguments = st.lists(st.builds(Argument, roles, targets), max_size=3).map(tuple)
    events = [
        Event(name, draw(roles), draw(st.sampled_from(things)), draw(arguments)) for name in names
    ]
    relations = [Relation(f"R{k}", draw(WORDS), ((draw(roles), draw(targets)),)) for k in range(2)]
    relations.append(Relation("*", draw(WORDS), (("", draw(targets)), ("", draw(targets)))))
    attributes = [
        Attribute("A1", draw(WORDS), draw(targets), draw(WORDS)),
        Attribute("M1", draw(WORDS), draw(targets)),
        Attribute("N1", draw(WORDS), "R1", f"{draw(WORDS)}\t{draw(NOTES)}"),
        Attribute("#1", draw(WORDS), "R0", draw(NOTES)),
    ]
    return Document(text, entities, relations, events, attributes)


@given(documents())
def test_documents_read_back_as_they_were_written(made):
    files = written(made)
    assert document(files["d.ann"], text=files["d.txt"]) == made


@given(st.text("TERAMN#*1 \t;:\nab", max_size=60), st.text("ab\n", max_size=5))
def test_junk_gives_only_read_errors(ann, text):
    for item in items(ann, text):
        assert isinstance(item, (ReadError, Remark, Example))


@given(st.binary(max_size=80), st.binary(max_size=20))
def test_bytes_give_only_read_errors(ann, text):
    try:
        found = items(ann, text)
    except ReadError as failure:
        assert failure.path == "<stream>"
    else:
        assert sum(isinstance(item, Example) for item in found) <= 1


@given(documents(), st.data())
def test_damaged_documents_are_read_whole_or_not_at_all(made, data):
    ann = written(made)["d.ann"]
    place = data.draw(st.integers(0, len(ann)))
    damaged = ann[:place] + data.draw(st.text("T1 \t:;\n", max_size=3)) + ann[place + 1 :]
    found = items(damaged, made.text)
    broken = any(isinstance(item, ReadError) for item in found)
    assert broken != any(isinstance(item, Example) for item in found)


@pytest.mark.parametrize(
    "written", ["alpha-adrenergic", "alpha- adrenergic", "alpha-...adrenergic"]
)
def test_parts_of_an_entity_may_be_joined_in_other_ways(written):
    text = "alpha- and beta-adrenergic receptors"
    *_, example = items(f"T1\tProtein 0 6;16 26\t{written}\n", text)
    assert example.view("document").entities == (
        Entity("T1", "Protein", ((0, 6), (16, 26)), written),
    )


def test_an_entity_joined_without_a_blank_is_remarked():
    remark, _ = items("T1\tProtein 0 1;2 3\tRf\n")
    assert remark == Remark("blanks or joints in the text of an entity differ from the document")


def test_an_entity_joined_without_a_blank_reads_back():
    *_, example = items("T1\tProtein 0 1;2 3\tRf\n")
    assert written(example.view("document"))["d.ann"] == "T1\tProtein 0 1;2 3\tRf\n"


def test_letters_between_the_parts_of_an_entity_are_an_error():
    found = problem("T1\tProtein 0 1;2 3\tR f x\n")
    assert "UTF" not in found.hint


def test_types_roles_and_values_are_adapted():
    made = Document(
        "Raf binds",
        [Entity("T1", "Body Part", ((0, 3),), "Raf"), Entity("T2", "", ((4, 9),), "binds")],
        [Relation("R1", "CPR:4", (Argument("first one", "T1"),))],
        [Event("E1", "Bind: now", "T2", (Argument("a:b", "T1"),))],
        [Attribute("A1", "my note", "T1", "two\tlines\n")],
    )
    assert written(made, adapt=True)["d.ann"].splitlines() == [
        "T1\tBody_Part 0 3\tRaf",
        "T2\t_ 4 9\tbinds",
        "R1\tCPR:4 first_one:T1",
        "E1\tBind__now:T2 a_b:T1",
        "A1\tmy_note T1 two lines",
    ]
