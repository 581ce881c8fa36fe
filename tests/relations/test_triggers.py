"""Forms of events."""

from __future__ import annotations

import pytest

from kernelwood.relations.triggers import learn_forms
from kernelwood.text import Argument, Entity, Event, Sentence

ENTITIES = [
    *(Entity(f"T{i}", "Protein", ((2 * i, 2 * i + 1),)) for i in range(4)),
    Entity("bind", "Binding", ((10, 14),)),
    Entity("help", "Regulation", ((15, 19),)),
]


def sentence(*events):
    made = [
        Event(f"E{i}", "", trigger, tuple(Argument(*argument) for argument in arguments))
        for i, (trigger, *arguments) in enumerate(events)
    ]
    return Sentence("a b c d   bind help", entities=ENTITIES, events=made)


def test_forms_are_numbers_of_participants_and_catalysts_by_type_of_trigger():
    both = sentence(
        ("bind", ("Theme", "T0"), ("Theme2", "T1")),
        ("help", ("Theme", "E0"), ("Cause", "T2")),
    )
    assert learn_forms([both, sentence(("bind", ("Theme", "T3")))] * 30) == {
        "Binding": [[1, 0], [2, 0]],
        "Regulation": [[2, 1]],
    }


@pytest.mark.parametrize(("n", "known"), [(29, False), (30, True)])
def test_few_events_do_not_tell_forms(n, known):
    assert bool(learn_forms([sentence(("bind", ("Theme", "T0")))] * n)) is known


@pytest.mark.parametrize(("n", "kept"), [(99, True), (100, False)])
def test_forms_of_less_than_one_event_in_a_hundred_are_left_out(n, kept):
    usual = sentence(("bind", ("Theme", "T0")))
    rare = sentence(("bind", ("Theme", "T0"), ("Cause", "T1")))
    assert learn_forms([*[usual] * n, rare]) == {"Binding": [[1, 0], [1, 1]][: 1 + kept]}


def test_sentences_without_events_have_no_forms():
    assert learn_forms([sentence()]) == {}
