"""Classes of candidates."""

from __future__ import annotations

import pytest
from annotated import documents, event_sentence, sentence

import kernelwood as kw
from kernelwood.relations.candidates import Candidates, events_in, pairs_in
from kernelwood.relations.corpus import SentenceTable, example_entries
from kernelwood.relations.evidence import CaseTexts
from kernelwood.relations.predictions import Predictions
from kernelwood.relations.relation_classes import RelationClasses
from kernelwood.text import Argument, Entity, Relation, Sentence


def table(examples):
    return SentenceTable.read(example_entries(examples), None)


def learn(labels, relations=None):
    return RelationClasses.learn(table(documents(2)).sentences, labels, (), relations)


def test_a_type_has_a_direction_if_both_occur():
    classes = learn("auto")
    assert classes.undirected == ("Binds",)
    assert classes.roles == {"Activates": ["Arg1", "Arg2"], "Binds": ["Arg1", "Arg2"]}


def test_directions_can_be_asked_for():
    assert learn("directed").of("Binds(e1,e2)") == "Binds(e1,e2)"


def test_types_without_direction():
    assert learn("type").of("Activates(e2,e1)") == "Activates"


def test_other_relations_count_as_none():
    classes = learn("auto", frozenset(["Binds"]))
    made = pairs_in(table(documents(2)), labels="directed", relations=["Binds"])
    assert {classes.of(label) for label in made.labels} == {"Binds", "none"}


@pytest.mark.parametrize(
    ("orders", "roles", "backward"),
    [
        ((True,), ["Agent", "Patient"], False),
        ((False,), ["Agent", "Patient"], True),
        ((True, False), ["", ""], False),
    ],
)
def test_roles_of_types_without_direction_follow_the_order_of_training(orders, roles, backward):
    raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))
    sentences = []
    for forward in orders:
        ends = ("a", "b") if forward else ("b", "a")
        arguments = (Argument("Agent", ends[0]), Argument("Patient", ends[1]))
        relation = Relation("r", "Activates", arguments)
        sentences.append(Sentence("Raf binds Ras", entities=[raf, ras], relations=[relation]))
    classes = RelationClasses.learn(sentences, "type", (), None)
    assert classes.roles == {"Activates": roles}
    assert classes.is_backward("Activates", "protein", "protein") == backward


def test_candidates_know_their_sentences():
    sentences = table(documents(2))
    made = pairs_in(sentences)
    for row, candidate in enumerate(made):
        assert sentences.sentences[made.sentence_of[row]] is candidate.sentence


def test_the_same_sentence_twice_is_two_sentences():
    example = documents(1, patterns=[0])[0]
    again = example.with_views({"sentence": example.view("sentence")})
    assert pairs_in(table([example, again])).sentence_of == [0, 1]


def test_a_backward_class_turns_the_participants_round():
    moved = sentence(0, "Foo", "Bar").with_parts(start=10)
    candidates = pairs_in(table([kw.Example("x", views={"sentence": moved})]))
    scheme = RelationClasses("directed", (), {"Activates": ["Agent", "Patient"]}, {})
    [found] = Predictions(candidates, ["Activates(e2,e1)"], [0.7], 0.5, scheme=scheme)
    assert (found.type, found.trigger) == ("Activates", None)
    ends = [(one.role, one.text) for one in found.participants]
    assert ends == [("Agent", "Bar"), ("Patient", "Foo")]
    assert found.participants[1].spans == ((10, 13),)


def test_marks_stand_around_entities_and_triggers():
    example = kw.Example("x", views={"sentence": event_sentence("promotes", "Positive", True)})
    made = events_in(table([example]))
    [held] = [row for row, label in enumerate(made.labels) if label == 1]
    assert str(CaseTexts.of(made, [held]).marked(0)) == "[Sos] {promotes} [Ras] near Raf"


def test_marks_of_adjacent_entities_do_not_cross():
    ends = [("first", Entity("a", "x", ((0, 3),))), ("second", Entity("b", "x", ((3, 6),)))]
    pair = kw.text.Candidate("c", Sentence("RafRas"), ends)
    assert str(CaseTexts.of(Candidates.of_rows([pair, pair]), [1]).marked(0)) == "[Raf][Ras]"
