import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st
from sentence_strategies import sentences

from kernelwood.text import Entity, Event, Sentence, Token
from kernelwood.text.sentence_display import sentence_html, sentence_svg

SCRIPT = "<script>alert('x')</script>"
SVG = "{http://www.w3.org/2000/svg}"
any_text = st.text(st.characters(exclude_categories=()), max_size=40)
SENTENCE = Sentence.from_words(
    ["Raf", "binds", "Ras"],
    tags=["NN", "VBZ", "NN"],
    dependencies=[(1, "nsubj", 0), (-1, "root", 1), (1, "obj", 2)],
    entities=[("T1", "protein", [(0, 3)]), ("T2", "Binding", [(4, 9)])],
)


def drawn_texts(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]


def boxes(svg):
    rects = ET.fromstring(svg).iter(f"{SVG}rect")
    return [tuple(float(r.get(key)) for key in ("x", "y", "width", "height")) for r in rects]


def size(svg):
    return tuple(float(ET.fromstring(svg).get(key)) for key in ("width", "height"))


def heights(svg):
    """Return the heights of the labels of arcs by their text; smaller is higher."""
    found = re.findall(r'<text x="[\d.]+" y="([\d.]+)" font-size="10.5" fill="#8a5a00">(\w+)', svg)
    return {label: float(y) for y, label in found}


def test_every_word_tag_relation_and_type_is_drawn():
    assert sorted(drawn_texts(sentence_svg(SENTENCE))) == sorted(
        ["Raf", "binds", "Ras", "NN", "VBZ", "NN", "nsubj", "root", "obj", "protein", "Binding"]
    )


def test_a_notebook_shows_the_picture():
    assert sentence_svg(SENTENCE) in SENTENCE._repr_html_()


def test_a_sentence_without_tokens_shows_its_text():
    html = Sentence("a < b")._repr_html_()
    assert "a &lt; b" in html and "<svg" not in html


@pytest.mark.parametrize(
    "sentence",
    [
        Sentence(SCRIPT),
        Sentence(SCRIPT, [Token(SCRIPT, 0, 5)]),
        Sentence("a", [Token("a", 0, 1, tag=SCRIPT)]),
        Sentence("a", [Token("a", 0, 1)], [(-1, SCRIPT, 0)]),
        Sentence("a", [Token("a", 0, 1)], entities=[Entity("T1", SCRIPT, ((0, 1),))]),
        Sentence("a", [Token("a", 0, 1)], entities=[Entity(SCRIPT, "x", ((0, 1),))]),
    ],
)
def test_markup_is_escaped(sentence):
    html = sentence_html(sentence)
    assert "<script" not in html and "&lt;script" in html


@given(sentences(of=any_text, labels=any_text))
def test_any_sentence_gives_well_formed_markup(sentence):
    ET.fromstring(sentence_html(sentence))


@given(sentences(min_tokens=1))
def test_everything_lies_within_the_picture(sentence):
    svg = sentence_svg(sentence)
    width, height = size(svg)
    for x, y, box_width, box_height in boxes(svg):
        assert x >= 0 and y >= 0 and x + box_width <= width + 1 and y + box_height <= height + 1


@pytest.mark.parametrize("head", [-1, 0])
def test_a_long_label_over_a_short_word_lies_within_the_picture(head):
    sentence = Sentence.from_words(["a"], dependencies=[(head, "a_very_long_relation", 0)])
    svg = sentence_svg(sentence)
    assert all(x >= 0 and x + width <= size(svg)[0] for x, _, width, _ in boxes(svg))


def test_a_sentence_without_tokens_makes_an_empty_picture():
    assert drawn_texts(sentence_svg(Sentence("we go"))) == []


def test_a_longer_arc_goes_above_a_shorter_one():
    edges = [(0, "long", 2), (0, "short", 1), (-1, "root", 0)]
    found = heights(sentence_svg(SENTENCE.with_parts(dependencies=edges)))
    assert found["root"] < found["long"] < found["short"]


def test_arcs_side_by_side_have_the_same_height():
    found = heights(sentence_svg(SENTENCE))
    assert found["nsubj"] == found["obj"]


def test_two_arcs_between_the_same_words_do_not_hide_each_other():
    edges = [(0, "one", 1), (0, "two", 1)]
    found = heights(sentence_svg(SENTENCE.with_parts(dependencies=edges)))
    assert found["one"] != found["two"]


def test_a_loop_is_drawn():
    assert "loop" in heights(sentence_svg(SENTENCE.with_parts(dependencies=[(2, "loop", 2)])))


def test_neighbors_make_room_for_the_label_between_them():
    words = Sentence.from_words(["a", "b"])
    wide = words.with_parts(dependencies=[(0, "a_long_relation", 1)])
    assert size(sentence_svg(wide))[0] > size(sentence_svg(words))[0] + 40


def test_triggers_have_their_own_color():
    plain, event = SENTENCE, SENTENCE.with_parts(events=[Event("E1", "Binding", "T2")])
    assert "#c77d0a" in sentence_svg(event)
    assert "#c77d0a" not in sentence_svg(plain)


def test_a_discontinuous_entity_is_one_line_with_a_gap():
    split = SENTENCE.with_parts(entities=[("T1", "x", [(0, 3), (10, 13)])])
    whole = SENTENCE.with_parts(entities=[("T1", "x", [(0, 13)])])
    assert "stroke-dasharray" in sentence_svg(split)
    assert "stroke-dasharray" not in sentence_svg(whole)


def test_entities_that_overlap_stand_in_different_rows():
    one = SENTENCE.with_parts(entities=[("T1", "x", [(0, 9)])])
    two = SENTENCE.with_parts(entities=[("T1", "x", [(0, 9)]), ("T2", "y", [(4, 13)])])
    assert size(sentence_svg(two))[1] > size(sentence_svg(one))[1]


def test_an_entity_that_is_not_in_the_text_is_not_drawn():
    assert "ghost" not in sentence_svg(SENTENCE.with_parts(entities=[("T1", "ghost", [])]))


def test_a_long_sentence_is_cut_with_a_note():
    sentence = Sentence.from_words(
        ["w"] * 5000,
        dependencies=[(i + 1, "x", i) for i in range(4999)],
        entities=[(f"T{i}", "y", [(2 * i, 2 * i + 1)]) for i in range(5000)],
    )
    svg = sentence_svg(sentence)
    assert "80 of 5,000 tokens shown" in svg
    assert len(svg) < 100_000


def test_many_arcs_between_few_words_are_cut():
    edges = [(0, f"r{i}", 1) for i in range(10_000)]
    assert len(sentence_svg(SENTENCE.with_parts(dependencies=edges))) < 20_000
