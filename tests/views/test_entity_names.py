"""What the names of two entities tell about each other."""

import pytest
from hypothesis import given, strategies as st

from kernelwood.text import Candidate, Entity, Sentence
from kernelwood.views import EntityWords, entity_types, make_view, name_relation, names


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("IL-2", "il 2", "same"),
        ("Interleukin-2", "interleukin 2", "same"),
        ("Raf", "Raf-1", "part"),
        ("receptor of EGF", "EGF", "part"),
        ("epidermal growth factor", "EGF", "short"),
        ("tumor necrosis factor", "TNF-alpha", "short"),
        ("p53", "q53", "shared"),
        ("protein kinase A", "beta kinase", "shared"),
        ("Raf", "Mek", "other"),
        ("+", "+", "same"),
        ("+", "-", "other"),
        ("+", "Raf", "other"),
    ],
)
def test_names_relate_in_one_of_five_ways(first, second, expected):
    assert name_relation(first, second) == expected


some_names = st.text(st.sampled_from("aAb1 -2"), max_size=6)


@given(some_names, some_names)
def test_the_order_of_names_does_not_matter(first, second):
    assert name_relation(first, second) == name_relation(second, first)


@given(some_names)
def test_a_name_is_the_same_as_itself(name):
    assert name_relation(name, name) == "same"


def test_types_do_not_matter():
    gene, drug = Entity("a", "gene", ((0, 3),)), Entity("b", "drug", ((0, 3),))
    assert names(Sentence("Raf"), gene, drug) == names(Sentence("Raf"), drug, drug)


def test_names_that_the_annotation_lacks_are_read_from_the_text():
    first, second = Entity("a", "", ((0, 3),)), Entity("b", "", ((4, 7),))
    assert names(Sentence("Raf raf"), first, second).nodes[1] == "names:same"


def test_names_of_the_annotation_come_first():
    first, second = Entity("a", "", ((0, 3),), "Mek"), Entity("b", "", ((4, 7),), "Raf")
    assert names(Sentence("Raf raf"), first, second).nodes[1] == "names:other"


def test_the_view_has_a_name():
    first, second = Entity("a", "", ((0, 3),)), Entity("b", "", ((4, 7),))
    candidate = Candidate("c", Sentence("Raf raf"), [("first", first), ("second", second)])
    assert make_view("names", candidate) == (names(candidate.sentence, first, second), None)


def test_types_are_written_in_the_order_given():
    a, b = Entity("a", "gene", ((0, 1),)), Entity("b", "protein", ((2, 3),))
    assert entity_types(a, b).nodes == ("types:gene+protein",)
    assert entity_types(b, a).nodes == ("types:protein+gene",)


def test_head_words_are_those_that_others_depend_on():
    words = ["nuclear", "factors", "of", "Cells"]
    arcs = [(1, "amod", 0), (1, "prep", 2), (2, "pobj", 3)]
    factor, cells = Entity("a", "", ((0, 26),)), Entity("b", "", ((19, 24),))
    sentence = Sentence.from_words(words, dependencies=arcs)
    for stems, expected in ((True, ("factor", "cell")), (False, ("factors", "cells"))):
        found = EntityWords(sentence, stems=stems).between(Entity("a", "", ((0, 15),)), cells)
        assert found.nodes == expected
        assert found.edges == ("first", "second")
    assert EntityWords(sentence).between(cells, factor).nodes[0] == "cell"


def test_an_entity_without_tokens_has_the_last_word_of_its_name():
    sentence = Sentence("tumor suppressor p53 rules")
    first, second = Entity("a", "", ((0, 20),)), Entity("b", "", ((21, 26),))
    assert EntityWords(sentence).between(first, second).nodes == ("p53", "rule")
