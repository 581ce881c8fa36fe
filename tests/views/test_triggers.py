"""Interactions over dependencies: head words, trees and walks."""

import pytest

from kernelwood.errors import StructureError
from kernelwood.text import ROOT, Entity, Sentence
from kernelwood.views import head_token, trigger_path, trigger_tree

WORDS = ["Kinase", "A", "cuts", "Sos", "1", "here"]


def sentence(*dependencies):
    return Sentence.from_words(WORDS, dependencies=dependencies)


def over(*words, kind="Protein"):
    """Return an entity of some words, each a span of its own."""
    starts = [sum(len(before) + 1 for before in WORDS[: WORDS.index(word)]) for word in words]
    spans = [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]
    return Entity("+".join(words), kind, tuple(spans))


CUT = (
    (ROOT, "root", 2),
    (2, "nsubj", 0),
    (0, "dep", 1),
    (2, "obj", 3),
    (3, "num", 4),
    (2, "advmod", 5),
)
KINASE, SOS, CUTS = over("Kinase", "A"), over("Sos", "1"), over("cuts", kind="Cut")


def test_the_head_is_the_word_whose_head_lies_outside():
    assert [head_token(sentence(*CUT), one) for one in (KINASE, SOS, CUTS)] == [0, 3, 2]


def test_of_several_heads_the_last_is_taken():
    assert head_token(sentence((2, "x", 0), (2, "x", 1)), KINASE) == 1


def test_without_dependencies_the_last_word_is_the_head():
    assert head_token(sentence(), KINASE) == 1


def test_a_word_that_nothing_joins_is_no_head_if_another_is_joined():
    assert head_token(sentence((2, "nsubj", 0)), KINASE) == 0


def test_a_word_that_depends_on_itself_may_be_the_head():
    assert head_token(sentence((0, "x", 0), (2, "nsubj", 0), (0, "dep", 1)), KINASE) == 0


def test_words_that_depend_on_each_other_in_a_circle_have_the_last_as_head():
    assert head_token(sentence((0, "x", 1), (1, "x", 0)), KINASE) == 1


def test_heads_of_discontinuous_entities_may_stand_in_either_piece():
    assert head_token(sentence(*CUT), over("Kinase", "here")) == 5
    assert head_token(sentence((2, "x", 0), (0, "y", 5)), over("Kinase", "here")) == 0


def test_the_tree_joins_the_trigger_with_head_words_blinded_by_type():
    found = trigger_tree(sentence(*CUT), CUTS, [("catalyst", KINASE), ("participant", SOS)])
    assert found.to_brackets() == '(cuts "nsubj":catalyst:protein "obj":participant:protein)'


def test_the_walk_goes_up_from_the_catalyst_and_down_to_the_participant():
    found = trigger_path(sentence(*CUT), CUTS, [("participant", SOS), ("catalyst", KINASE)])
    assert found.elements == (("nsubj", "protein"), ("", "cuts"), ("", "cuts"), ("obj", "protein"))


def test_entities_without_type_are_written_as_entities():
    found = trigger_path(sentence(*CUT), CUTS, [("participant", over("Sos", kind=""))])
    assert found.nodes == ("entity", "cuts")


def test_options_are_those_of_interactions():
    found = trigger_tree(sentence(*CUT), CUTS, [("participant", SOS)], colored=False)
    assert found.to_brackets() == '(cuts "obj":protein)'


def test_numbers_of_words_are_no_senses():
    joined = Sentence.from_words(["il-10", "acts"], dependencies=[(1, "nsubj", 0)])
    trigger, actor = Entity("t", "", ((0, 5),)), Entity("e", "Cell", ((6, 10),))
    assert trigger_path(joined, trigger, [("", actor)]).nodes == ("cell", "il-10")


@pytest.mark.parametrize(
    ("dependencies", "participants", "problem"),
    [
        ((), [("", SOS)], "the sentence has no dependencies"),
        (CUT, [("", CUTS)], "share a word"),
        (CUT, [("", SOS), ("", over("Sos"))], "share a word"),
        (CUT, [("", Entity("e", "", ()))], "entity 'e' covers no token"),
        (CUT[:1], [("", SOS)], "no way leads from the interaction 2 to the participant 4"),
        (CUT, [], "has no participants"),
    ],
)
def test_what_cannot_be_joined_is_refused(dependencies, participants, problem):
    for view in (trigger_tree, trigger_path):
        with pytest.raises(StructureError, match=problem):
            view(sentence(*dependencies), CUTS, participants)
