"""JSON values of candidates and predictions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.text import Candidate, Entity, Sentence
from kernelwood.web.presenting import (
    candidate_marks,
    path_spans,
    prediction_object,
    relation_object,
    text_parts,
)

TEXTS = st.text(max_size=30)


@st.composite
def marked(draw):
    """A text with spans of some kinds."""
    text = draw(TEXTS)
    places = st.integers(0, len(text))
    spans = st.lists(st.tuples(places, places).map(lambda pair: tuple(sorted(pair))), max_size=4)
    return text, draw(st.dictionaries(st.sampled_from(["first", "second", "path"]), spans))


@given(marked())
def test_parts_are_the_text_with_the_kinds_of_every_character(given_text):
    text, marks = given_text
    parts = text_parts(text, marks)
    assert "".join(part for part, _ in parts) == text
    kinds = [set(kinds) for part, kinds in parts for _ in part]
    for place in range(len(text)):
        expected = {
            kind
            for kind, spans in marks.items()
            if any(start <= place < end for start, end in spans)
        }
        assert kinds[place] == expected
    assert all(one[1] != other[1] for one, other in pairwise(parts))


@pytest.mark.parametrize(
    ("label", "kind", "direction"),
    [
        ("none", "none", None),
        ("Binds", "Binds", None),
        ("Activates(e1,e2)", "Activates", "forward"),
        ("Activates(e2,e1)", "Activates", "backward"),
        ("f(x)(e2,e1)", "f(x)", "backward"),
    ],
)
def test_a_class_is_type_and_direction(label, kind, direction):
    assert relation_object(label) == {"label": label, "type": kind, "direction": direction}


def test_the_runner_up_may_be_none_or_a_relation():
    classes = ("Binds", "Cuts", "none")
    first = prediction_object(classes, np.array([0.5, 0.3, 0.2]), 0.4, 7)
    assert first["relation"]["label"] == "Binds" and first["positive"] and first["model"] == 7
    assert first["runner_up"]["relation"]["label"] == "Cuts"
    second = prediction_object(classes, np.array([0.2, 0.3, 0.5]), 0.4, 7)
    assert second["relation"]["label"] == "Cuts" and not second["positive"]
    assert second["runner_up"]["relation"]["label"] == "none"
    assert [name for name, _ in second["probabilities"]] == ["none", "Cuts", "Binds"]


def pair(sentence):
    first, second = sentence.entities[:2]
    return Candidate("c", sentence, [("first", first), ("second", second)])


def test_words_on_the_path_are_marked_without_the_entities():
    sentence = Sentence.from_words(
        ["Raf-1", "strongly", "x", "Ras", "and", "Mek"],
        dependencies=[(2, "nsubj", 0), (2, "advmod", 1), (2, "dobj", 3), (3, "conj", 5)],
        entities=[
            Entity("a", "protein", ((0, 5),)),
            Entity("b", "protein", ((17, 20),)),
            Entity("c", "protein", ((25, 28),)),
        ],
    )
    candidate = pair(sentence)
    assert [sentence.text[a:b] for a, b in path_spans(candidate)] == ["x"]
    marks = candidate_marks(candidate)
    assert [sentence.text[a:b] for a, b in marks["entity"]] == ["Mek"]


def test_a_sentence_without_a_parse_has_no_path():
    sentence = kw.Sentence(
        "Raf binds Ras",
        entities=[Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))],
    )
    assert path_spans(pair(sentence)) == []
    words = Sentence.from_words(["Raf", "binds", "Ras"], entities=sentence.entities)
    assert path_spans(pair(words)) == []
