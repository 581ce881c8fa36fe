"""Words of a sentence as a sequence; labels of tokens; tokens of entities."""

import pytest

from kernelwood.errors import StructureError
from kernelwood.structures import Sequence
from kernelwood.text import Entity, Event, Sentence, Token
from kernelwood.views import words
from kernelwood.views.word_sequences import Mentions, check_blind, token_label

TOKEN = Token("Running", 0, 7, lemma="Run", pos="VERB", tag="VBG")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("text", "running"),
        ("lemma", "run"),
        ("stem", "runn"),
        ("tag", "VBG"),
        ("pos", "VERB"),
    ],
)
def test_a_token_is_labeled_by_what_was_asked_for(labels, expected):
    assert token_label(TOKEN, labels=labels) == expected


@pytest.mark.parametrize(
    ("labels", "expected"), [("text", "Running"), ("lemma", "Run"), ("stem", "Running")]
)
def test_case_is_kept_on_request(labels, expected):
    assert token_label(TOKEN, labels=labels, lowercase=False) == expected


@pytest.mark.parametrize(
    ("token", "labels", "expected"),
    [
        (Token("Ran", 0, 3), "lemma", "ran"),
        (Token("Ran", 0, 3, pos="VERB"), "tag", "VERB"),
        (Token("Ran", 0, 3, tag="VBD"), "pos", "VBD"),
        (Token("Ran", 0, 3), "tag", ""),
    ],
)
def test_what_is_missing_is_replaced_by_the_next_best(token, labels, expected):
    assert token_label(token, labels=labels) == expected


def test_words_are_one_element_per_token_without_edges():
    sentence = Sentence.from_words(["The", "Cat", "sleeps"])
    assert words(sentence) == Sequence(["the", "cat", "sleeps"])


def test_words_of_nothing_are_the_empty_sequence():
    assert words(Sentence("")) == Sequence()


def test_unknown_labels_are_refused_with_the_known_ones():
    with pytest.raises(StructureError, match=r"'word'\n.*'text', 'lemma', 'stem', 'tag', 'pos'"):
        words(Sentence("no tokens at all"), labels="word")


@pytest.mark.parametrize("blind", ["AB", ("A",), ("A", "B", "C"), ("A", 1), 3])
def test_what_is_not_two_labels_cannot_blind(blind):
    with pytest.raises(StructureError, match="two labels or None"):
        check_blind(blind)


def mentions(sentence, others="ENTITY"):
    return Mentions(sentence, labels="text", lowercase=True, others=others)


def sentence_with(*entities, **parts):
    return Sentence.from_words("a b c d e".split(), entities=entities, **parts)


@pytest.mark.parametrize("span", [(0, 100), (-2, 1), (3, 3), (2, 1)])
def test_an_entity_outside_the_sentence_is_refused(span):
    with pytest.raises(StructureError, match="'x' has the span"):
        mentions(sentence_with()).tokens_of(Entity("x", "t", (span,)))


def test_neighboring_tokens_of_one_entity_share_a_node():
    found = mentions(sentence_with(Entity("x", "t", ((2, 5),))))
    assert found.nodes(range(5)) == ["a", "ENTITY", "d", "e"]


def test_neighboring_entities_have_a_node_each():
    pair = Entity("x", "t", ((2, 3),)), Entity("y", "t", ((4, 5),))
    assert mentions(sentence_with(*pair)).nodes(range(5)) == ["a", "ENTITY", "ENTITY", "d", "e"]


def test_an_entity_inside_another_adds_no_node():
    pair = Entity("x", "t", ((2, 3),)), Entity("y", "t", ((2, 7),))
    assert mentions(sentence_with(*pair)).nodes(range(5)) == ["a", "ENTITY", "e"]


def test_the_parts_of_a_discontinuous_entity_have_a_node_each():
    found = mentions(sentence_with(Entity("x", "t", ((0, 1), (4, 5)))))
    assert found.nodes(range(5)) == ["ENTITY", "b", "ENTITY", "d", "e"]


def test_triggers_keep_their_words():
    trigger, protein = Entity("x", "Binding", ((2, 3),)), Entity("y", "protein", ((4, 5),))
    sentence = sentence_with(trigger, protein, events=[Event("E1", "Binding", "x")])
    assert mentions(sentence).nodes(range(5)) == ["a", "b", "ENTITY", "d", "e"]


def test_entities_keep_their_words_on_request():
    sentence = sentence_with(Entity("x", "t", ((2, 5),)))
    assert mentions(sentence, others=None).nodes(range(5)) == ["a", "b", "c", "d", "e"]


def test_offsets_count_characters_not_bytes():
    entity = Entity("x", "t", ((3, 5),))
    sentence = Sentence.from_words(["𝛼é", "𝛽2", "c"], entities=[entity])
    assert mentions(sentence).tokens_of(entity) == (1,)
