from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import StructureError
from kernelwood.text import tokenize

COMBINING = "\u0301\u0308\u20dd"
# What the rules look at, more often than chance would have it.
texts = st.text(st.sampled_from("abnstdmrelv09_ '’-‐.,!?`(\n" + COMBINING + "\u200d𝒜é")) | st.text()


def words(text, boundaries=()):
    return [token.text for token in tokenize(text, boundaries)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We go home", "We|go|home"),
        ("a cat, a dog.", "a|cat|,|a|dog|."),
        ("(or [not])", "(|or|[|not|]|)"),
        ("p53 and snake_case", "p53|and|snake_case"),
        ("well-known state-of-the-art IL-2", "well-known|state-of-the-art|IL-2"),
        ("pre- and post-war", "pre|-|and|post-war"),
        ("a word--or two", "a|word|--|or|two"),
        ("1,250.5 is 3.", "1,250.5|is|3|."),
        ("-5", "-|5"),
        ("in the U.S. or e.g. in the a.m.", "in|the|U.S.|or|e.g.|in|the|a.m."),
        ("e.g.the", "e.g.|the"),
        ("well... no?!", "well|...|no|?|!"),
        ("``yes''", "``|yes|''"),
        ("and/or 10:30 50%", "and|/|or|10|:|30|50|%"),
    ],
)
def test_words_numbers_and_punctuation(text, expected):
    assert words(text) == expected.split("|")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann's", "Ann|'s"),
        ("ANN'S", "ANN|'S"),
        ("Ann’s", "Ann|’s"),
        ("isn't", "is|n't"),
        ("can't", "ca|n't"),
        ("we're we've we'll I'm he'd", "we|'re|we|'ve|we|'ll|I|'m|he|'d"),
        ("couldn't've", "could|n't|'ve"),
        ("the dogs' 90's", "the|dogs|'|90|'s"),
        ("O'Hara rock'n'roll", "O'Hara|rock'n'roll"),
        ("Ann 's n't", "Ann|'s|n't"),
        ("rock-n't x'n't", "rock-n't|x'n't"),
        ("'so", "'|so"),
    ],
)
def test_clitics_are_cut_off(text, expected):
    assert words(text) == expected.split("|")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_stay_with_their_letters(form):
    text = unicodedata.normalize(form, "naïve café’s")
    assert words(text) == [*text[:-2].split(" "), "’s"]


def test_a_mark_stays_with_punctuation_too():
    assert words("a !\u20dd b") == ["a", "!\u20dd", "b"]


def test_letters_outside_the_basic_plane_are_letters():
    assert words("𝒜𝒷's 𐌰𐌱") == ["𝒜𝒷", "'s", "𐌰𐌱"]


def test_offsets_count_characters():
    assert [(token.start, token.end) for token in tokenize("𝒜 b")] == [(0, 1), (2, 3)]


@pytest.mark.parametrize("text", ["", " \n\t\u00a0"])
def test_blank_text_has_no_tokens(text):
    assert tokenize(text) == []


def test_boundaries_cut_words():
    assert words("p53-dependent isn't", [3, 16]) == ["p53", "-", "dependent", "is", "n't"]


@pytest.mark.parametrize("boundary", [-1, 4])
def test_boundaries_lie_in_the_text(boundary):
    with pytest.raises(StructureError, match=f"boundary {boundary} lies outside"):
        tokenize("abc", [boundary])


@given(texts, st.data())
def test_every_character_that_is_no_blank_belongs_to_one_token(text, data):
    boundaries = data.draw(st.lists(st.integers(0, len(text)), max_size=3))
    tokens = tokenize(text, boundaries)
    covered = [index for token in tokens for index in range(token.start, token.end)]
    assert covered == [index for index, character in enumerate(text) if not character.isspace()]


@given(texts)
def test_tokens_are_what_stands_at_their_offsets(text):
    assert all(token.text == text[token.start : token.end] for token in tokenize(text))


@given(texts, st.data())
def test_no_token_crosses_a_boundary(text, data):
    cut = data.draw(st.integers(0, len(text)))
    assert not any(token.start < cut < token.end for token in tokenize(text, [cut]))


@given(texts)
def test_marks_begin_a_token_only_after_a_blank(text):
    for token in tokenize(text):
        if unicodedata.category(token.text[0]).startswith("M"):
            assert token.start == 0 or text[token.start - 1].isspace()


@given(texts)
def test_tokens_are_cut_no_further(text):
    spaced = " ".join(words(text))
    assert words(spaced) == words(text)


@pytest.mark.parametrize(
    "piece", ["a", "a.", "'s", "n't", "-", "0.", "a'", "a\u0301.b\u0301c", "\u0301"]
)
def test_time_is_linear(piece):
    text = piece * (200_000 // len(piece))
    assert sum(len(token.text) for token in tokenize(text)) == len(text)
