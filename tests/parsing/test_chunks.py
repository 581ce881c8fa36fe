"""Shallow trees by parts of speech."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kernelwood.parsing.chunks import chunk_tree
from kernelwood.structures import words_and_tags

TAGS = ["DT", "JJ", "NN", "NNS", "PRP", "IN", "TO", "VBZ", "CC", ",", "HYPH", "RB"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("DT NN VBZ", "(S (NP (DT a) (NN b)) (VBZ c))"),
        ("NN DT NN", "(S (NP (NN a)) (NP (DT b) (NN c)))"),
        ("IN DT NN", "(S (PP (IN a) (NP (DT b) (NN c))))"),
        ("IN IN NN", "(S (IN a) (PP (IN b) (NP (NN c))))"),
        ("IN VBZ IN", "(S (IN a) (VBZ b) (IN c))"),
        ("DT JJ VBZ", "(S (DT a) (JJ b) (VBZ c))"),
    ],
)
def test_words_are_grouped_by_their_tags(tags, expected):
    assert chunk_tree(zip("abc", tags.split(), strict=True)).to_brackets() == expected


@given(st.lists(st.sampled_from(TAGS), min_size=1, max_size=20))
def test_words_and_tags_stay_as_they_are(tags):
    words = [f"w{i}" for i in range(len(tags))]
    assert words_and_tags(chunk_tree(zip(words, tags, strict=True))) == (words, tags)
