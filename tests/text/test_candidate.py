from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

from kernelwood.errors import StructureError
from kernelwood.text import Candidate, Entity, Origin, Sentence

SENTENCE = Sentence.from_words(["Raf", "binds", "Ras"])
RAF, BINDS, RAS = (
    Entity("a", "protein", ((0, 3),)),
    Entity("t", "Binding", ((4, 9),)),
    Entity("b", "protein", ((10, 13),)),
)
PAIR = (("first", RAF), ("second", RAS))


def problem(id="c", sentence=SENTENCE, participants=PAIR, **others):
    with pytest.raises(StructureError) as caught:
        Candidate(id, sentence, participants, **others)
    return caught.value.problem


def test_entities_are_the_participants_in_order():
    assert Candidate("c", SENTENCE, PAIR[::-1]).entities == (RAS, RAF)


def test_lists_become_tuples():
    candidate = Candidate("c", SENTENCE, [["first", RAF], ["second", RAS]])
    assert candidate.participants == PAIR
    assert candidate == Candidate("c", SENTENCE, PAIR)


def test_an_entity_may_take_part_twice():
    assert Candidate("c", SENTENCE, [("first", RAF), ("second", RAF)]).entities == (RAF, RAF)


def test_a_trigger_need_not_be_in_the_text():
    node = Entity("n", "bind-01", ())
    assert Candidate("c", SENTENCE, PAIR, node).trigger == node


def test_copies_are_equal_and_have_the_same_hash():
    candidate = Candidate("c", SENTENCE, PAIR, BINDS, "Binding", 1, Origin("a.xml", 3, 0, 13))
    for twin in (copy.deepcopy(candidate), pickle.loads(pickle.dumps(candidate))):
        assert (twin, hash(twin)) == (candidate, hash(candidate))


def test_strings_of_numpy_become_plain_ones():
    candidate = Candidate(np.str_("c"), SENTENCE, PAIR, type=np.str_("Binding"))
    assert (type(candidate.id), type(candidate.type)) == (str, str)


@pytest.mark.parametrize("label", ["yes", 1, 0.5, None, ("a", 1), Fraction(1, 2)])
def test_any_hashable_label_is_kept(label):
    assert Candidate("c", SENTENCE, PAIR, label=label).label == label


def test_repr_names_trigger_and_roles():
    assert repr(Candidate("c", SENTENCE, PAIR, BINDS, label="yes")) == (
        "Candidate('c', 'yes', trigger='t', first='a', second='b')"
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"id": 3}, "candidate id must be a string, got 3"),
        ({"sentence": "Raf binds Ras"}, "candidate 'c' needs a Sentence, got str"),
        ({"participants": ()}, "candidate 'c' has no participants"),
        ({"participants": None}, "participants of candidate 'c' must be (role, Entity) pairs"),
        ({"participants": [RAF]}, "participants of candidate 'c' must be (role, Entity) pairs"),
        ({"participants": [RAF.id]}, "participants of candidate 'c' must be"),
        ({"participants": [(1, RAF)]}, "a role of candidate 'c' must be a string, got 1"),
        ({"participants": [("x", "a")]}, "participant 'x' of candidate 'c' must be an Entity"),
        (
            {"participants": [("x", Entity("a", "", ((12, 14),)))]},
            "participant 'x' of candidate 'c' has the span [12, 14), the text has 13 characters",
        ),
        (
            {"participants": [("x", Entity("a", "", ((-3, -1),)))]},
            "participant 'x' of candidate 'c' has the span [-3, -1)",
        ),
        (
            {"trigger": Entity("a", "", ((9, 14), (0, 3)))},
            "trigger of candidate 'c' has the span [9, 14)",
        ),
        ({"trigger": "binds"}, "trigger of candidate 'c' must be an Entity, got a str"),
        ({"type": None}, "type of candidate 'c' must be a string, got None"),
        ({"label": ["a"]}, "label of candidate 'c' must be hashable, got a list"),
        ({"origin": "a.xml"}, "origin of candidate 'c' must be an Origin, got str"),
    ],
)
def test_wrong_parts_are_named(parts, expected):
    assert problem(**parts).startswith(expected)
