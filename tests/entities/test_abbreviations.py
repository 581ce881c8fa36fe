"""Abbreviations that texts define, and mentions of them."""

import pytest
from hypothesis import given, strategies as st

from kernelwood.entities import Dictionary, find_abbreviations, link_abbreviations
from kernelwood.text import Attribute, Document, Entity


def found(text):
    return [(text[slice(*short)], text[slice(*long)]) for short, long in find_abbreviations(text)]


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        # Initials, letters inside words, digits, hyphens, and an order that skips words.
        ("the mitogen-activated protein kinase (MAPK) is", "MAPK=mitogen-activated protein kinase"),
        ("a heat shock transcription factor (HSF) is", "HSF=heat shock transcription factor"),
        ("in the heat shock protein 70 (Hsp70) family", "Hsp70=heat shock protein 70"),
        ("of tumor necrosis factor-alpha (TNF-a).", "TNF-a=tumor necrosis factor-alpha"),
        ("an estrogen receptor (ER) gene", "ER=estrogen receptor"),
        ("and interleukin 2 (IL 2)", "IL 2=interleukin 2"),
        ("by polymerase chain reaction (PCR; see below)", "PCR=polymerase chain reaction"),
        ("by polymerase chain reaction (PCR, twice)", "PCR=polymerase chain reaction"),
        ("Chain of amino acids (CAA)", "CAA=Chain of amino acids"),
        ("the HSF (heat shock factor) gene", "HSF=heat shock factor"),
        ("an (old) gamma interferon (GI)", "GI=gamma interferon"),
        ("serum response\nfactor ( SRF )", "SRF=serum response\nfactor"),
    ],
)
def test_definitions_are_found(text, pair):
    assert found(text) == [tuple(pair.split("="))]


@pytest.mark.parametrize(
    "text",
    [
        "we saw it (Fig. 2)",
        "in rats (n = 5)",
        "this was known (1998)",
        "it is (a)",
        "the kinase (see the methods of all of these)",
        "the receptor (XYZ) is",
        "an MAPK (MAPK) is",
        "(MAPK) is",
        "It is a protein. Kinase (PK)",  # the long form would begin in another sentence
        "()",
        "((( ) (",
    ],
)
def test_other_brackets_are_not_definitions(text):
    assert found(text) == []


def test_the_shortest_long_form_is_taken():
    assert found("protein p and then protein kinase (PK)") == [("PK", "protein kinase")]


@given(st.text(alphabet="aAbB1 ().-\n", max_size=60))
def test_spans_lie_in_the_text_and_letters_follow_each_other(text):
    for short, long in find_abbreviations(text):
        assert 0 <= long[0] < long[1] <= len(text) and 0 <= short[0] < short[1] <= len(text)
        letters = iter(text[slice(*long)].lower())
        assert all(c in letters for c in text[slice(*short)].lower() if c.isalnum())


def test_many_brackets_take_linear_time():
    assert found("(a " * 20_000) == []
    assert found("word " * 20_000 + "(XYZ)") == []


TEXT = "Heat shock protein 90 (Hsp90) is old. Then Hsp90 and Hsp90-like ones bind Hsp902."


def linked(document):
    made = link_abbreviations(document)
    return [(one.text, one.start, one.type) for one in made.entities], made


def test_short_forms_of_entities_are_entities_there_and_later():
    document = Dictionary([("heat shock protein 90", "protein", "DB:1")]).annotate(Document(TEXT))
    entities, made = linked(document)
    assert entities == [
        ("Heat shock protein 90", 0, "protein"),
        ("Hsp90", 23, "protein"),
        ("Hsp90", 43, "protein"),
        ("Hsp90", 53, "protein"),
    ]
    assert {one.target: one.value for one in made.attributes} == dict.fromkeys(
        ["T1", "T2", "T3", "T4"], "DB:1\theat shock protein 90"
    )


def test_short_forms_of_other_words_are_not():
    assert linked(Document(TEXT))[0] == []


def test_short_forms_that_overlap_entities_are_left_out():
    document = Document(
        TEXT,
        [
            Entity("a", "protein", ((0, 21),), "Heat shock protein 90"),
            Entity("b", "gene", ((43, 48),), "Hsp90"),
            Entity("c", "kind", ((53, 63),), "Hsp90-like"),
        ],
    )
    assert linked(document)[0][3:] == [("Hsp90", 23, "protein")]


def test_an_entity_that_begins_before_the_long_form_is_not_it():
    text = "New heat shock protein 90 (Hsp90)"
    assert linked(Document(text, [Entity("a", "x", ((0, 25),))]))[0][1:] == []


def test_references_are_kept():
    entity = Entity("a", "protein", ((0, 21),), "Heat shock protein 90")
    attributes = [Attribute("N1", "Reference", "a", "DB:2\tx"), Attribute("A1", "Old", "a")]
    made = link_abbreviations(Document(TEXT, [entity], attributes=attributes))
    assert made.attributes[:2] == tuple(attributes)
    assert {one.value for one in made.attributes if one.type == "Reference"} == {"DB:2\tx"}


def test_sentences_do_not_end_at_definitions():
    assert len(Document("The p. kinase (PK) binds. It is new.").sentences()) == 2
