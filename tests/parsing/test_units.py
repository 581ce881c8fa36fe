"""Words as the treebank cuts them, made of tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kernelwood.parsing.units import escape, expand_tree, find_units
from kernelwood.structures import Tree, count_leaves
from kernelwood.text import Document, Entity, Sentence, tokenize


def units_of(text: str, *spans: tuple[int, int]) -> list[str]:
    entities = [Entity(f"T{i}", "P", (span,)) for i, span in enumerate(spans)]
    [sentence] = Document(text, entities).split([(0, len(text))]).sentences
    return ["|".join(sentence.tokens[i].text for i in unit) for unit in find_units(sentence)]


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("IL-2-induced", [(0, 4)], ["IL-2|-|induced"]),
        ("p50/p65 dimers", [], ["p50|/|p65", "dimers"]),
        ("CD4+ cells", [], ["CD4|+", "cells"]),
        ("CD4(+) cells", [], ["CD4|(|+|)", "cells"]),
        ("Ca(2+)-dependent", [], ["Ca|(|2|+|)|-|dependent"]),
        ("Raf (c-Raf) binds", [], ["Raf", "(", "c-Raf", ")", "binds"]),
        ("Raf, Ras; MEK: ERK.", [], ["Raf", ",", "Ras", ";", "MEK", ":", "ERK", "."]),
        ("20% of 5", [], ["20", "%", "of", "5"]),
        ("Ras's role isn't", [], ["Ras", "'s", "role", "is", "n't"]),
        ("1,25(OH)2D3 binds", [(0, 11)], ["1,25|(|OH|)|2D3", "binds"]),
        ("a,b c", [(0, 3)], ["a|,|b", "c"]),
        ("(Raf)-like", [], ["(", "Raf", ")", "-|like"]),
    ],
)
def test_tokens_are_grouped(text, spans, expected):
    assert units_of(text, *spans) == expected


def test_no_tokens_are_no_units():
    assert find_units(Sentence("")) == []


@given(st.text(alphabet="ab1 -/+()[],.'%", max_size=40))
def test_units_have_every_token_once_and_no_blanks(text):
    sentence = Sentence(text, tuple(tokenize(text)))
    units = find_units(sentence)
    assert [i for unit in units for i in unit] == list(range(len(sentence.tokens)))
    for unit in units:
        inside = text[sentence.tokens[unit[0]].start : sentence.tokens[unit[-1]].end]
        assert " " not in inside


@pytest.mark.parametrize(("text", "expected"), [("]", "-RSB-"), ("Raf", "Raf"), ("“", "``")])
def test_words_are_written_as_in_treebanks(text, expected):
    assert escape(text) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("(NP (NN u))", "(NP (NN a) (HYPH /) (NN b))"),
        ("(NP (DT u))", "(NP (DT a) (HYPH /) (DT b))"),
        ("(VP (VBN u))", "(VP (ADJP (NN a) (HYPH /) (VBN b)))"),
        ("(VP (VBD u))", "(VP (NN a) (HYPH /) (VBD b))"),
        ("(NN u)", "(NP (NN a) (HYPH /) (NN b))"),
    ],
)
def test_a_word_of_several_tokens_becomes_a_phrase_of_its_kind(tree, expected):
    found = expand_tree(Tree.from_brackets(tree), [range(3)], tokenize("a/b"))
    assert found == Tree.from_brackets(expected)


def test_a_word_that_ends_in_a_sign_keeps_its_tag_on_the_letters():
    found = expand_tree(
        Tree.from_brackets("(NP (NN u) (NN v))"), [range(2), range(2, 3)], tokenize("CD4+ cells")
    )
    assert found == Tree.from_brackets("(NP (NP (NN CD4) (HYPH +)) (NN cells))")


def test_the_root_may_be_a_word_of_several_tokens_without_a_phrase():
    found = expand_tree(
        Tree.from_brackets("(S (CC u) (NN v))"), [range(3), range(3, 4)], tokenize("and/or x")
    )
    assert count_leaves(found) == 4
