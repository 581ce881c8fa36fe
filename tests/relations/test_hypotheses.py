"""Candidates and their classes."""

from __future__ import annotations

from annotated import documents, event_sentence, sentence

import kernelwood as kw
from kernelwood.relations.evidence import marked_text
from kernelwood.relations.hypotheses import Classes, Located, describe, hypotheses, learn_classes


def located(examples):
    return [Located(example.id, example) for example in examples]


def test_a_type_has_a_direction_if_both_occur():
    classes = learn_classes(located(documents(2)), "auto", (), None)
    assert classes.undirected == ("Binds",)
    assert classes.roles == {"Activates": ["Arg1", "Arg2"], "Binds": ["Arg1", "Arg2"]}


def test_roles_stand_in_the_order_of_the_text_where_it_is_always_the_same():
    passive = documents(4, patterns=[1, 4])  # "Raf is activated by Mek", of which Mek is Arg1
    classes = learn_classes(located(passive), "auto", (), None)
    assert (classes.undirected, classes.roles) == (("Activates",), {"Activates": ["Arg2", "Arg1"]})


def test_roles_in_both_orders_have_no_names_without_direction():
    both = documents(4, patterns=[0, 1])
    classes = learn_classes(located(both), "type", (), None)
    assert classes.roles == {"Activates": ["", ""]}


def test_directions_can_be_asked_for():
    classes = learn_classes(located(documents(2)), "directed", (), None)
    assert classes.of("Binds(e1,e2)") == "Binds(e1,e2)"


def test_types_without_direction():
    classes = learn_classes(located(documents(2)), "type", (), None)
    assert classes.of("Activates(e2,e1)") == "Activates"


def test_other_relations_count_as_none():
    classes = learn_classes(located(documents(2)), "auto", (), frozenset(["Binds"]))
    made = hypotheses(located(documents(2)), classes, events=False, relations=["Binds"])
    assert {candidate.label for candidate in made.candidates} == {"Binds", "none"}


def test_candidates_know_their_sentences():
    places = located(documents(2))
    made = hypotheses(places, Classes("type", (), {}), events=False)
    for candidate, number in zip(made.candidates, made.sentences, strict=True):
        assert places[number].sentence is candidate.sentence


def test_the_same_sentence_twice_is_two_sentences():
    example = documents(1, patterns=[0])[0]
    places = located([example, example.with_views({"sentence": example.view("sentence")})])
    made = hypotheses(places, Classes("type", (), {}), events=False)
    assert len(made.candidates) == 2


def test_a_backward_class_turns_the_participants_round():
    example = kw.Example("x", views={"sentence": sentence(0, "Foo", "Bar")})
    classes = Classes("directed", (), {"Activates": ["Agent", "Patient"]})
    [candidate] = hypotheses(located([example]), classes, events=False).candidates
    kind, parts, trigger = describe(candidate, "Activates(e2,e1)", classes, 10)
    assert (kind, trigger) == ("Activates", None)
    assert [(one.role, one.text) for one in parts] == [("Agent", "Bar"), ("Patient", "Foo")]
    assert parts[1].spans == ((10, 13),)


def test_marks_stand_around_entities_and_triggers():
    example = kw.Example("x", views={"sentence": event_sentence("promotes", "Positive", True)})
    made = hypotheses(located([example]), None, events=True)
    [held] = [candidate for candidate in made.candidates if candidate.label == "event"]
    assert marked_text(held) == "[Sos] {promotes} [Ras] near Raf"
