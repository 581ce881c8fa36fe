"""Reading labels."""

import pytest
from hypothesis import given, strategies as st

from kernelwood.similarity import Label, Word, parse_label


@pytest.mark.parametrize(
    ("text", "kind", "word", "pos"),
    [
        ("LEX##play::v", "LEX", "play", "v"),
        ("play::v", "LEX", "play", "v"),
        ("LEX##play", "LEX", "play", ""),
        ("LEX##play::", "LEX", "play", ""),
        ("play", "", "play", ""),
        ("NOTYPE##play", "", "play", ""),
        ("NOTYPE##a::b", "", "a::b", ""),
        ("POS##NN", "POS", "NN", ""),
        ("SYNT##dobj", "SYNT", "dobj", ""),
        ("OTHER##x::y", "OTHER", "x::y", ""),
        ("LEX##C++::n", "LEX", "C++", "n"),
        ("std::move::n", "LEX", "std::move", "n"),
        (":", "", ":", ""),
        ("#", "", "#", ""),
        ("##ing", "", "##ing", ""),
        ("LEX##a##b::n", "LEX", "a##b", "n"),
        ("_comma_", "", "_comma_", ""),
    ],
)
def test_a_word_or_tag_is_taken_apart(text, kind, word, pos):
    assert parse_label(text) == Label(kind, word, pos)


@pytest.mark.parametrize(
    ("text", "word", "pos"),
    [("::::", ":", ":"), (".:::", ".", ":"), (":::n", ":", "n"), ("a:::", "a", ":")],
)
def test_a_colon_can_be_the_word_and_the_part_of_speech(text, word, pos):
    assert parse_label(text)[:3] == ("LEX", word, pos)


@pytest.mark.parametrize(
    ("text", "relation", "head", "modifier"),
    [
        ("COMP##dobj<play::v,guitar::n>", "dobj", ("play", "v"), ("guitar", "n")),
        ("COMP##root<*::*,play::v>", "root", ("*", "*"), ("play", "v")),
        ("COMP##<a,b>", "", ("a", ""), ("b", "")),
        ("COMP##punct<a::n,_comma_::_comma_>", "punct", ("a", "n"), (",", ",")),
        ("COMP##r<x_oang_y::n,_cang_::n>", "r", ("x<y", "n"), (">", "n")),
        ("COMP##r<a_b::n,c::n>", "r", ("a_b", "n"), ("c", "n")),
    ],
)
def test_a_composite_is_taken_apart(text, relation, head, modifier):
    expected = Label("COMP", "", "", relation, Word(*head), Word(*modifier))
    assert parse_label(text) == expected


OPAQUE = """LEX## LEX##:: LEX##::n ::n :: ::: ## POS## NOTYPE## X## COMP## COMP##a COMP##a<b
    COMP##a<b,c COMP##ab,c> COMP##a<b> COMP##a<> COMP##a<,> COMP##a<b,> COMP##a<::n,b::n>
    COMP##a<b,c,d> COMP##a<b,<c>> COMP##a<b,c>d""".split()


@pytest.mark.parametrize("text", ["", "COMP##a<b,c>\n", *OPAQUE])
def test_what_cannot_be_read_is_opaque(text):
    assert parse_label(text) == Label("OPAQUE", text)


@given(st.text())
def test_any_text_is_a_label(text):
    assert isinstance(parse_label(text), Label)


@given(
    st.text(alphabet="LEXCOMPab#:<>,_*\n", max_size=12), st.sampled_from(["", "LEX##", "COMP##"])
)
def test_separators_in_any_order_are_a_label(text, prefix):
    label = parse_label(prefix + text)
    assert label.is_word <= bool(label.word)
    assert (label.kind == "COMP") == (label.head is not None) == (label.modifier is not None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("play", True), ("LEX##play::v", True), ("POS##NN", False), ("COMP##a<b,c>", False)],
)
def test_only_single_words_are_words(text, expected):
    assert parse_label(text).is_word is expected


def test_labels_cannot_be_changed():
    with pytest.raises(AttributeError):
        parse_label("play").word = "strum"
