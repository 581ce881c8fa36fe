"""Where sentences begin and end."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from kernelwood.text import find_sentences, splitter


def cut(text, protected=()):
    return [text[start:end] for start, end in find_sentences(text, protected)]


@pytest.mark.parametrize(
    "text",
    [
        "Raf binds Ras (e.g. IL-2 or Raf) here.",
        "Raf binds Ras, i.e. MEK is active.",
        "We compared Raf vs. Ras in cells.",
        "As in Fig. 3 and Figs. 4 and 5, Raf binds.",
        "It was found by Green et al. (2001) and others.",
        "We thank Dr. Green and Prof. Brown.",
        "It was a gift from J. Green and K. L. Brown.",
        "It was a gift of Ann B. Green (see R.D. Brown).",
        "Raf is expressed in E. coli at 0.5 per cent.",
        "Sample No. 7 was lost.",
        "It is described in J. Biol. Chem. 12 by others.",
        "1. Introduction",
        "2.4. Raf in cells",
        "The p.Val600 mutant binds Ras.",
        "Raf ... binds Ras.",
        "Raf was seen in Hep. G2 cells.",
        "Raf was seen in Hep. 3B and Hep. G2 cells.",
        "Raf of strain no. 5 binds Ras.",
        "It was found by Green et al. and others.",
        "Raf from S. cerevisiae binds Ras.",
        "Raf binds Ras, e. g. IL-2 or, i. e. p53, binds it.",
        "Raf binds Ras vs. p53 in cells.",
        "Mice got 5 mg i.v. mAb or p.o. 3 tablets.",
        "It was less (P < 0. 05) or p<0. 01 in cells.",
        "It was read at 4 deg. C for an hour.",
        "On Feb. 3 we met Gen. Green and Sen. Brown.",
        "Raf binds Ras (Green, A. 1991. Cell. 65:12; [Brown. 1992. Raf.] Nature. 3) in cells.",
        "See Green et al. J. Biol. Chem. 12.",
        "It is from Proc. Natl. Acad. Sci. U. S. A. 86 of others.",
        "II. Methods of work",
        "A. The cells of mice",
        "The line S. pombe was grown.",
    ],
)
def test_one_sentence_stays_whole(text):
    assert cut(text) == [text]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Raf binds Ras.", "It is active."),
        ("Does Raf bind Ras?", "We asked."),
        ("Raf binds Ras!", "We saw it."),
        ("Raf binds (as shown in Fig. 2).", "Ras is active."),
        ("They said “Raf binds.”", "We did not."),
        ("Raf binds Ras.", "(It is active.)"),
        ("Raf binds Ras.", "“Active” is the word."),
        ("Raf binds Ras.", "14 cells were active."),
        ("It was found by Green et al.", "The cells were active."),
        ("Cells were fed vitamin C.", "Growth was normal."),
        ("Raf activates NF-kappa B.", "Activation was slow."),
        ("It was measured at 100 V.", "Gels were dried."),
        ("It took 5 ms.", "Cells were active."),
        ("We say no.", "Others say yes."),
        ("Raf binds Ras etc.", "However, it is active."),
        ("It binds purified Raf.", "p53 binds MDM2."),
        ("Raf is active.", "mTOR is not."),
        ("Raf is active.", "p38MAPK is not."),
        ("Raf is active.", "pH was 7."),
        ("Raf is active.", "c-fos is not."),
        ("Raf is active.", "beta-catenin is not."),
        ("Raf is active.", "β-catenin is not."),
        ("Raf is active.", "alpha B is not."),
        ("Raf is active (n = 3).", "(cDNA was made.)"),
        ("It was found by Smith et al.", "Raf binds Ras."),
        ("It was found by Smith et al.", "STAT3 binds Ras."),
        ("It was found by Smith et al.", "p53 binds Ras."),
        ("Smith et al.", "Raf binds Ras."),
        ("We added purified Raf (Fig. 2).", "mTOR was active."),
        ("It was kept in 50 mM Tris.", "pH 7.4 was best."),
        ("Raf is active [12].", "p38MAPK binds Ras."),
        ("Raf is active.", "siRNA was added."),
        ("Raf is active.", "eIF4E binds Ras."),
        ("Mice got 5 mg b.i.d.", "Tumors shrank."),
        ("Mice got Raf i. v.", "Others got it s. c. or not."),
        ("Raf binds Ras.", "- Others bind MEK."),
        ("Raf binds Ras.", "** Others bind MEK."),
        ("Raf binds Ras.", "ii. Others bind MEK."),
        ("Is Raf (see Fig. 2) seen?", "1. Raf is seen."),
    ],
)
def test_two_sentences_are_cut(first, second):
    assert cut(f"{first} {second}") == [first, second]


def test_sentences_in_brackets_of_their_own_are_cut():
    assert cut("Raf is. (It binds. It holds.) We saw.") == [
        "Raf is.",
        "(It binds.",
        "It holds.)",
        "We saw.",
    ]


def test_a_bracket_that_is_never_closed_holds_nothing_together():
    assert cut("Raf (or c-Raf binds Ras. It is active.") == [
        "Raf (or c-Raf binds Ras.",
        "It is active.",
    ]


def test_a_bracket_holds_lines_together_in_wrapped_text_only():
    bracket = "Raf (see\nGreen. Cell\n65) is"
    assert cut(bracket) == ["Raf (see", "Green.", "Cell", "65) is"]
    wrapped = f"It was seen\nto bind\nand hold\n{bracket}\nactive."
    assert cut(wrapped) == [wrapped]


def test_no_sentence_ends_before_quotes_that_close_nothing_but_blanks():
    text = "` ` It is active . ' ' said Green ."
    assert cut(text) == [text]


def test_titles_end_with_their_line():
    assert cut("Raf binds Ras\nRaf is new.") == ["Raf binds Ras", "Raf is new."]


def test_a_line_that_ends_a_sentence_is_the_end_whatever_follows():
    assert cut("Raf binds Ras.\np53 is new.") == ["Raf binds Ras.", "p53 is new."]


def test_a_title_ends_before_a_name_in_lower_case():
    assert cut("Raf and p53\np53 is new.") == ["Raf and p53", "p53 is new."]


def test_a_line_goes_on_with_a_plain_word():
    assert cut("Raf binds\nand activates Ras.") == ["Raf binds\nand activates Ras."]


def test_a_line_goes_on_after_an_abbreviation():
    assert cut("It is seen in Fig.\n3 of others.") == ["It is seen in Fig.\n3 of others."]


def test_lines_of_wrapped_text_end_no_sentence():
    text = "Raf binds\nand holds\nas if it were\nRas in cells. It\nis active."
    assert cut(text) == [text[:-14], "It\nis active."]


FILLED = (
    "In these cells the kinase that was found first binds\n"
    "Raf and phosphorylates it, as was seen by Green et\n"
    "al. and others. It also inhibits a protein of yeast."
)


def test_full_lines_of_a_short_text_end_no_sentence():
    first, second = FILLED.split(" It also")
    assert cut(FILLED) == [first, f"It also{second}"]


def test_a_line_with_room_for_the_next_word_ends_a_sentence_among_full_lines():
    assert cut(f"A protein of yeast\n{FILLED}")[0] == "A protein of yeast"


def test_equally_long_lines_of_a_list_are_sentences():
    lines = [
        f"The binding of {name} in all of these cells of mice" for name in ("Raf", "Mek", "Ras")
    ]
    assert cut("\n".join(lines)) == lines


def test_a_blank_line_ends_a_sentence_in_wrapped_text():
    text = "Raf binds\nand holds\nas if it were\nRas in\ncells\n\nas above"
    assert cut(text)[-1] == "as above"


def test_lines_end_sentences_if_only_few_go_on():
    titles = [f"Title {number}" for number in range(7)]
    text = "\n".join([*titles, "Raf binds\nto Ras\nand holds\nit"])
    assert cut(text) == [*titles, "Raf binds\nto Ras\nand holds\nit"]


def test_windows_line_ends_are_blanks():
    assert cut("Raf binds Ras\r\nRaf is new.\r\n") == ["Raf binds Ras", "Raf is new."]


def test_no_sentence_ends_inside_a_protected_span():
    assert cut("The A.B. Protein binds.", [(4, 16)]) == ["The A.B. Protein binds."]


def test_a_sentence_may_end_where_a_protected_span_ends():
    assert cut("We saw Inc. The cells.", [(7, 11), (12, 15)]) == ["We saw Inc.", "The cells."]


def test_a_sentence_may_end_where_two_protected_spans_touch():
    assert cut("Raf is. Ras is.", [(4, 8), (8, 11)]) == ["Raf is.", "Ras is."]


def test_overlapping_protected_spans_count_as_one():
    text = "Raf is. Ras is. It is."
    assert cut(text, [(0, 10), (8, 17)]) == [text]


@pytest.mark.parametrize("text", ["", " ", "\n \n", "\u00a0"])
def test_blank_texts_have_no_sentences(text):
    assert find_sentences(text) == []


class CountedText(str):
    """A text that counts the characters that are copied or searched in Python."""

    __slots__ = ("characters",)

    def __getitem__(self, key):
        piece = super().__getitem__(key)
        self.characters += len(piece)
        return piece

    def count(self, mark, start, end):
        self.characters += end - start
        return super().count(mark, start, end)


class CountedPattern:
    """A regular expression that counts the characters of its matches."""

    def __init__(self, pattern, counts):
        self.pattern = pattern
        self.counts = counts

    def _count(self, match):
        self.counts[0] += 1 + (match.end() - match.start() if match else 0)
        return match

    def match(self, text, place):
        return self._count(self.pattern.match(text, place))

    def fullmatch(self, text):
        self.counts[0] += len(text)
        return self.pattern.fullmatch(text)

    def finditer(self, text, *place):
        return map(self._count, self.pattern.finditer(text, *place))

    def split(self, text):
        self.counts[0] += len(text)
        return self.pattern.split(text)

    def sub(self, new, text):
        self.counts[0] += len(text)
        return self.pattern.sub(new, text)


def count_work(text, monkeypatch):
    """Return the characters that were read and the functions that were called."""
    counts = [0]
    counted = CountedText(text)
    counted.characters = 0

    def count_call(_frame, event, _argument):
        counts[0] += event in ("call", "c_call")

    with monkeypatch.context() as patch:
        for name, value in vars(splitter).items():
            if isinstance(value, re.Pattern):
                patch.setattr(splitter, name, CountedPattern(value, counts))
        earlier = sys.getprofile()
        sys.setprofile(count_call)
        try:
            find_sentences(counted)
        finally:
            sys.setprofile(earlier)
    return counts[0] + counted.characters


@pytest.mark.parametrize(
    "piece",
    [
        ".", ". ", "\n", " ", ".'", "A. ", "\n ", "a\n", ".\n\n", "!?(", "(", ")", "(. ", "([A. )",
        "al. ", "e. g. ", "a. (", ". p", ". ((", "- A. ", "x. y", "a", "A.",
    ],
)  # fmt: skip
def test_work_on_hostile_texts_grows_with_their_length(piece, monkeypatch):
    short, long = (count_work(piece * n + "a", monkeypatch) for n in (2_000, 8_000))
    assert long < 4.1 * short + 200


@given(st.text("aAb.?!() \n\r\t\"'1é😀\u00a0", max_size=60))
def test_every_character_that_is_not_blank_is_in_one_sentence(text):
    spans = find_sentences(text)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join("".join(cut(text)).split()) == "".join(text.split())
    assert all(piece == piece.strip() for piece in cut(text))


@given(st.text("aA. \n", max_size=40), st.data())
def test_no_cut_falls_into_what_is_protected(text, data):
    places = st.integers(0, len(text))
    protected = data.draw(st.lists(st.tuples(places, places).map(sorted).map(tuple), max_size=4))
    spans = find_sentences(text, protected)
    for _, end in spans[:-1]:
        assert not any(a < end < b and text[end:b].strip() for a, b in protected)
