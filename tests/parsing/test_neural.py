"""Long texts cut into parts, and sentences joined where an entity lies across."""

from __future__ import annotations

from hypothesis import example, given, strategies as st

from kernelwood.parsing.neural import cut_text, join_across
from kernelwood.text import Document, Entity

texts = st.text(alphabet="ab. \nA", max_size=60)


@example("  ", 1)
@example("   a", 2)
@given(texts, st.integers(1, 20))
def test_parts_cover_the_text_and_are_short_enough(text, most):
    parts = cut_text(text, [], most)
    assert "".join(text[start:end] for start, end in parts) == text
    assert all(0 < end - start <= most for start, end in parts)


@given(texts, st.integers(0, 59), st.integers(1, 5))
def test_parts_do_not_cut_short_entities(text, start, length):
    end = min(start + length, len(text))
    if start >= end:
        return
    assert not any(start < cut < end for _, cut in cut_text(text, [(start, end)], 12))


def test_parts_end_between_sentences():
    assert cut_text("Raf binds. Ras binds. MEK too.", [], 22) == [(0, 22), (22, 30)]


def test_parts_of_a_long_sentence_end_at_blanks():
    assert cut_text("aa bb cc dd", [], 7) == [(0, 6), (6, 11)]


def test_an_empty_text_has_no_parts():
    assert cut_text("", [], 5) == []


def test_sentences_without_entities_across_stay_apart():
    document = Document("aa bb", [Entity("T1", "P", ((0, 2),)), Entity("T2", "P", ((3, 5),))])
    assert join_across([(0, 2), (3, 5)], document) == [(0, 2), (3, 5)]


def test_an_entity_across_three_sentences_joins_them():
    document = Document("aa bb cc", [Entity("T1", "P", ((1, 7),))])
    assert join_across([(0, 2), (3, 5), (6, 8)], document) == [(0, 8)]
