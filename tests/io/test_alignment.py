"""Where words stand in a text, and what offsets count that lead elsewhere."""

import pytest

from kernelwood.io import guess_unit
from kernelwood.io.alignment import MisfitError, place_words


def test_the_place_is_the_first_that_fits():
    assert place_words("a   b", ["a", " ", "b"]) == [(0, 1), (1, 2), (4, 5)]


def test_only_blanks_may_stand_between_words():
    with pytest.raises(MisfitError) as caught:
        place_words("a-b", ["a", "b"])
    assert (caught.value.index, caught.value.position) == (1, 1)


def test_a_text_that_goes_on_is_reported_behind_the_last_word():
    with pytest.raises(MisfitError) as caught:
        place_words("a b", ["a"])
    assert (caught.value.index, caught.value.position) == (1, 2)


@pytest.mark.parametrize(
    ("text", "spans", "unit"),
    [
        ("𝒜 β Raf", [(5, 8)], "UTF-16 units"),
        ("𝒜 β Raf", [(8, 11)], "UTF-8 bytes"),
        ("𝒜 R.af", [(3, 4), (5, 7)], "UTF-16 units"),
        ("é R.af", [(3, 4), (5, 7)], "UTF-8 bytes"),
    ],
)
def test_offsets_in_other_units_are_recognized(text, spans, unit):
    expected = f"the offsets seem to count {unit}; they must count characters"
    assert guess_unit("Raf", text, spans) == expected
    assert guess_unit("Rag", text, spans) is None


def test_pieces_may_be_joined_by_blanks():
    assert "UTF-8" in guess_unit("R af", "é R.af", [(3, 4), (5, 7)])


def test_nothing_is_guessed_of_an_empty_mention():
    assert guess_unit("", "é", [(5, 7)]) is None
