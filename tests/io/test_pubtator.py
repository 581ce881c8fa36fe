"""Reading and writing of the PubTator format."""

from __future__ import annotations

import io

import pytest
from bioc import pubtator as peer
from hypothesis import given, strategies as st

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import read, write
from kernelwood.io.formats.pubtator import looks_like_pubtator, write_pubtator
from kernelwood.text import Argument, Attribute, Document, Entity, Event, Example, Relation

HEAD = "27|t|Naproxen and ulcers\n27|a|Naproxen may cause ulcers.\n"
DRUG = "27\t20\t28\tNaproxen\tChemical\tMESH:D009288\n"
ULCERS = "27\t39\t45\tulcers\tDisease\tMESH:D014456\n"
CAUSES = "27\tCID\tMESH:D009288\tMESH:D014456\n"


def parse(text, errors="raise"):
    return read(io.BytesIO(text.encode()), "pubtator", errors=errors)


def document(*lines):
    [example] = parse(HEAD + "".join(lines))
    return example.view("document")


def problem(*lines, head=HEAD):
    with pytest.raises(ReadError) as caught:
        parse(head + "".join(lines))
    return caught.value


def remarks(*lines):
    return dict(parse(HEAD + "".join(lines)).tally.remarks)


def values(made, kind="Reference"):
    return [(item.target, item.value) for item in made.attributes if item.type == kind]


def targets(made):
    return [tuple(argument.target for argument in item.arguments) for item in made.relations]


def written(*documents, **options):
    out = io.StringIO()
    examples = [Example(str(n), views={"document": made}) for n, made in enumerate(documents, 1)]
    write_pubtator(examples, out, **options)
    return out.getvalue()


def test_the_text_is_title_line_end_and_abstract():
    assert document().text == "Naproxen and ulcers\nNaproxen may cause ulcers."


def test_offsets_count_one_character_between_title_and_abstract():
    assert document(DRUG).entities == (Entity("T1", "Chemical", ((20, 28),), "Naproxen"),)


def test_a_document_may_have_a_title_only():
    [example] = parse("27|t|Naproxen\n")
    assert (example.id, example.view("document").text) == ("27", "Naproxen")


def test_a_document_may_have_an_abstract_only():
    [example] = parse("27|a|Raf.\n27\t1\t4\tRaf\tGene\t-\n")
    assert example.view("document").entities[0].spans == ((1, 4),)


def test_a_title_begins_a_document_without_a_blank_line():
    assert [example.id for example in parse("1|t|a\n1|a|b\n2|t|c\n")] == ["1", "2"]


def test_ids_become_references():
    assert values(document(DRUG)) == [("T1", "MESH:D009288")]


@pytest.mark.parametrize("written", ["-1", "-", "", " "])
def test_marks_for_a_missing_id_are_no_references(written):
    assert values(document(DRUG.replace("MESH:D009288", written))) == []


def test_a_mention_needs_no_column_of_ids():
    assert values(document("27\t20\t28\tNaproxen\tChemical\n")) == []


@pytest.mark.parametrize("mark", ";,|+")
def test_several_ids_are_several_references(mark):
    made = document(DRUG.replace("MESH:D009288", f"D009288{mark}MESH:D1"))
    assert values(made) == [("T1", "D009288"), ("T1", "MESH:D1")]


@pytest.mark.parametrize("name", ["p|SUB|V|600|E", "tmVar:c|DEL|12,34|", "rs113488022"])
def test_ids_of_variants_are_whole(name):
    assert values(document(DRUG.replace("MESH:D009288", name))) == [("T1", name)]


def test_names_of_single_ids_belong_to_their_references():
    made = document(ULCERS.replace("MESH:D014456\n", "D1|D2\tulcers|sores\n"))
    assert values(made) == [("T1", "D1\tulcers"), ("T1", "D2\tsores")]


def test_names_that_do_not_match_the_ids_are_remarked():
    line = ULCERS.replace("\n", "\tulcers|sores\n")
    assert remarks(line) == {"names of single ids do not match the ids; left out": 1}


def test_a_relation_is_between_mentions_of_its_concepts_in_a_sentence():
    made = document(DRUG, ULCERS, CAUSES)
    assert (made.relations[0].type, targets(made)) == ("CID", [("T1", "T2")])


def test_a_relation_across_sentences_is_remarked():
    lines = (DRUG.replace("20\t28", "0\t8"), ULCERS, CAUSES)
    assert targets(document(*lines)) == []
    assert remarks(*lines) == {"relation between concepts that share no sentence": 1}


def test_the_novelty_of_a_relation_is_an_attribute():
    made = document(DRUG, ULCERS, CAUSES.replace("\n", "\tNovel\n"))
    assert values(made, "Novelty") == [("R1", "Novel")]


def test_the_concepts_of_a_relation_with_several_are_an_attribute():
    made = document(DRUG.replace("\n", ";D1\n"), ULCERS, CAUSES)
    assert values(made, "Concepts") == [("R1", "MESH:D009288 MESH:D014456")]


def test_a_type_may_stand_before_the_concept_of_a_relation():
    line = "27\tcause\tChemical|MESH:D009288\tDisease|MESH:D014456\n"
    assert targets(document(DRUG, ULCERS, line)) == [("T1", "T2")]


def test_a_relation_of_the_whole_id_column_is_read():
    made = document(DRUG.replace("\n", ";D1\n"), ULCERS, CAUSES.replace("D009288", "D009288;D1"))
    assert targets(made) == [("T1", "T2")]


def test_other_blanks_in_a_mention_are_remarked():
    line = "27\t20\t32\tNaproxen\u00a0may\tChemical\t-\n"
    assert remarks(line) == {"blanks in a mention differ from the text": 1}


@pytest.mark.parametrize(
    ("line", "message", "place"),
    [
        ("28\t0\t8\tNaproxen\tChemical\t-\n", "does not belong to document '27'", (3, 1)),
        ("27\t1\t9\tNaproxen\tChemical\t-\n", "is 'Naproxen', but at its offsets", (3, 4)),
        ("27\t40\t48\tNaproxen\tChemical\t-\n", "the text has 46 characters", (3, 4)),
        ("27\t8\t8\t\tChemical\t-\n", "the span 8 8 is empty", (3, 4)),
        ("27\t0\t-8\tNaproxen\tChemical\t-\n", "neither a mention nor a relation", (3, 4)),
        ("27\tCID\tD1\n", "neither a mention nor a relation", (3, 4)),
        ("27\tCID\t\tD1\n", "neither a mention nor a relation", (3, 4)),
        ("27\n", "neither a mention nor a relation", (3, 1)),
        ("27|a|Again\n", "does not belong to document", (3, 1)),
    ],
)
def test_bad_lines_are_located(line, message, place):
    found = problem(line)
    assert message in found.problem
    assert (found.line, found.column) == place


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (DRUG, "the title of the document is missing"),
        ("1|t|a\n2|a|b\n", "does not belong to document '1'"),
        ("1|a|a\n1|a|b\n", "a second title or abstract"),
    ],
)
def test_bad_headings_are_refused(head, message):
    assert message in problem(head=head).problem


def test_offsets_in_utf8_bytes_get_a_hint():
    found = problem("1\t8\t11\tRaf\tGene\t-\n", head="1|t|βγα, Raf is new\n")
    assert found.hint == "the offsets seem to count UTF-8 bytes; they must count characters"


def test_a_mention_nearby_is_named_in_the_hint():
    assert problem(DRUG.replace("20\t28", "19\t27")).hint == "the same text stands at 20 28"


def test_a_repeated_id_is_an_error():
    found = parse("1|t|a\n\n1|t|b\n", "collect")
    assert [problem.line for problem in found.tally.problems] == [3]


def test_the_content_is_recognized():
    assert looks_like_pubtator("\n27|t|Naproxen") and looks_like_pubtator("PMC27|a|x")
    assert not looks_like_pubtator("27\t0\t8\t|t|") and not looks_like_pubtator("a b|t|c")


@pytest.mark.parametrize("name", ["a.pubtator", "a.PubTator", "a.pubtator.txt", "a.txt"])
def test_files_are_recognized(tmp_path, name):
    (tmp_path / name).write_text(HEAD + DRUG)
    assert [example.id for example in read(tmp_path / name)] == ["27"]
    assert [example.id for example in read(tmp_path)] == ["27"]


def test_relations_are_written_once_for_their_concepts():
    text = HEAD + DRUG + ULCERS + DRUG.replace("20\t28", "0\t8") + CAUSES
    made = written(parse(text)[0].view("document"))
    assert made.count("CID") == 1


def test_parts_that_the_format_cannot_hold_are_left_out():
    made = Document(
        "Raf binds Ras.",
        [
            Entity("a", "Gene", ((0, 3),)),
            Entity("b", "Gene", ((0, 1), (2, 3))),
            Entity("c", "Gene", ()),
            Entity("d", "Binding", ((4, 9),)),
        ],
        [Relation("r", "Bind", (Argument("x", "a"), Argument("y", "d")))],
        [Event("e", "Binding", "d")],
        [Attribute("n", "Reference", "a", "5894\tRAF1"), Attribute("m", "Note", "a", "!")],
        [("key", "value")],
    )
    assert written(made) == (
        "1|t|Raf binds Ras.\n1\t0\t3\tRaf\tGene\t5894\n1\t4\t9\tbinds\tBinding\t-\n\n"
    )


def test_a_negative_relation_is_not_written():
    made = document(DRUG, ULCERS, CAUSES)
    denied = [item._replace(holds=False) for item in made.relations]
    assert "CID" not in written(Document(made.text, made.entities, denied, (), made.attributes))


@pytest.mark.parametrize("text", ["a\nb\nc", "a\tb", "a\r\nb"])
def test_texts_of_several_lines_are_refused_or_adapted(text):
    with pytest.raises(StructureError, match="adapt=True"):
        written(Document(text))
    [again] = parse(written(Document(text), adapt=True))
    assert len(again.view("document").text) == len(text)


@pytest.mark.parametrize("name", ["a|b", "a\tb", " a", "", "x" * 201])
def test_ids_that_would_not_read_back_are_refused(name):
    with pytest.raises(StructureError):
        write_pubtator([Example(name, views={"document": Document("a")})], io.StringIO())


def test_ids_with_separators_are_not_written():
    made = Document(
        "Raf", [Entity("a", "Gene", ((0, 3),))], (), (), [("n", "Reference", "a", "D1|D2")]
    )
    assert written(made).endswith("Gene\t-\n\n")


def test_the_suffix_chooses_the_writer(tmp_path):
    examples = parse(HEAD + DRUG)
    write(examples, tmp_path / "a.PubTator")
    assert read(tmp_path / "a.PubTator")[0].view("document") == examples[0].view("document")


def test_the_bioc_package_reads_what_is_written():
    [found] = peer.loads(written(document(DRUG, ULCERS, CAUSES)))
    assert found.text == document().text
    assert [(ann.start, ann.end, ann.text, ann.type, ann.id) for ann in found.annotations] == [
        (20, 28, "Naproxen", "Chemical", "MESH:D009288"),
        (39, 45, "ulcers", "Disease", "MESH:D014456"),
    ]
    assert [(rel.type, rel.id1, rel.id2) for rel in found.relations] == [
        ("CID", "MESH:D009288", "MESH:D014456")
    ]


def test_what_the_bioc_package_writes_is_read():
    [found] = peer.loads(HEAD + DRUG + ULCERS + CAUSES.replace("\n", "\tNo\n"))
    [example] = parse(str(found))
    assert example.view("document") == document(DRUG, ULCERS, CAUSES.replace("\n", "\tNo\n"))


WORDS = st.text(st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs"]), min_size=1)
IDS = st.sampled_from(["D1", "MESH:D2", "p|SUB|V|600|E", "77", "rs5"])


@given(st.data(), WORDS, WORDS | st.none())
def test_documents_read_back(data, title, abstract):
    text = title if abstract is None else f"{title}\n{abstract}"
    entities, attributes = [], []
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        if "\n" in text[start:end]:
            continue
        name = f"T{len(entities) + 1}"
        kind = data.draw(WORDS)
        entities.append(Entity(name, kind, ((start, end),), text[start:end]))
        for one in data.draw(st.lists(IDS, unique=True, max_size=3)):
            attributes.append(Attribute(f"N{len(attributes) + 1}", "Reference", name, one))
    made = Document(text, entities, (), (), attributes)
    [example] = parse(written(made))
    assert example.view("document") == made
