from __future__ import annotations

import numpy as np
import pytest

from kernelwood.errors import StructureError
from kernelwood.text import (
    Argument,
    Attribute,
    Dependency,
    EmptyNode,
    Entity,
    Event,
    Multiword,
    Predicate,
    Relation,
    RoleSpan,
    Token,
)
from kernelwood.text.annotation import check_standoff, rows_of

TEXT = "Raf binds Ras"
RAF, BINDS = Entity("T1", "protein", ((0, 3),)), Entity("T2", "Binding", ((4, 9),))
BINDING = Event("E1", "Binding", "T2", (Argument("Theme", "T1"),))


def check(entities=(RAF, BINDS), relations=(), events=(), attributes=()):
    check_standoff(TEXT, tuple(entities), tuple(relations), tuple(events), tuple(attributes))


def problem(**parts):
    with pytest.raises(StructureError) as caught:
        check(**parts)
    return caught.value.problem


# Entities


def test_an_entity_begins_with_its_first_span_and_ends_with_its_last():
    entity = Entity("T1", "protein", ((0, 3), (10, 13)))
    assert (entity.start, entity.end) == (0, 13)


def test_an_entity_that_is_not_in_the_text_has_no_place():
    entity = Entity("T1", "protein", ())
    assert (entity.start, entity.end) == (-1, -1)


# Standoff annotation


def test_what_fits_together_passes():
    nested = Event("E2", "Regulation", "T2", (Argument("Theme", "E1"), Argument("Cause", "T1")))
    check(
        relations=[Relation("R1", "x", (Argument("a", "T1"), Argument("b", "E2")))],
        events=[nested, BINDING],
        attributes=[Attribute("A1", "Negation", "E1"), Attribute("A2", "Note", "R1")],
    )


@pytest.mark.parametrize(
    "spans", [((-1, 2),), ((2, 2),), ((3, 2),), ((0, 14),), ((4, 9), (0, 3)), ((0, 5), (4, 9))]
)
def test_spans_lie_in_the_text_and_in_order(spans):
    assert "entity 'T1' has the span" in problem(entities=[RAF._replace(spans=spans)])


def test_spans_may_touch_and_reach_the_end():
    check(entities=[Entity("T1", "x", ((0, 4), (4, 13)))])


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"entities": [RAF, RAF]}, "the id 'T1' is used twice, for an entity and for an entity"),
        (
            {"events": [BINDING._replace(id="T1")]},
            "the id 'T1' is used twice, for an entity and for an event",
        ),
        (
            {"relations": [Relation("R1", "x", ()), Relation("R1", "y", ())]},
            "the id 'R1' is used twice, for a relation and for a relation",
        ),
    ],
)
def test_ids_are_unique(parts, expected):
    assert problem(**parts) == expected


def test_relations_without_an_id_may_be_many():
    check(relations=[Relation("*", "Equiv", (Argument("", "T1"),))] * 2)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (
            {"events": [BINDING._replace(trigger="T9")]},
            "trigger of event 'E1': no annotation has the id 'T9'",
        ),
        (
            {"events": [BINDING._replace(trigger="E1")]},
            "trigger of event 'E1': no annotation has the id 'E1'",
        ),
        (
            {"events": [BINDING._replace(arguments=(Argument("Theme", "E7"),))]},
            "argument of event 'E1': no annotation has the id 'E7'",
        ),
        (
            {"relations": [Relation("R1", "x", (Argument("a", "T7"),))]},
            "argument of relation 'R1': no annotation has the id 'T7'",
        ),
        (
            {"relations": [Relation("R1", "x", ()), Relation("R2", "x", (Argument("a", "R1"),))]},
            "argument of relation 'R2': no annotation has the id 'R1'",
        ),
        (
            {"attributes": [Attribute("A1", "x", "E1")]},
            "target of attribute 'A1': no annotation has the id 'E1'",
        ),
    ],
)
def test_references_lead_somewhere(parts, expected):
    assert problem(**parts) == expected


# Rows


@pytest.mark.parametrize(
    ("part", "row", "expected"),
    [
        ("tokens", ["a", 0, 1, "b"], Token("a", 0, 1, "b")),
        ("dependencies", (-1, "root", 0), Dependency(-1, "root", 0)),
        ("enhanced", [0, "x", 1], Dependency(0, "x", 1)),
        ("empty", [-1, "a"], EmptyNode(-1, "a")),
        ("multiwords", [0, 2, "ab"], Multiword(0, 2, "ab")),
        ("entities", ["T1", "x", [[0, 1]]], Entity("T1", "x", ((0, 1),))),
        ("relations", ["R", "x", [["a", "T"]]], Relation("R", "x", (Argument("a", "T"),))),
        ("events", ["E", "x", "T", [("a", "T")]], Event("E", "x", "T", (Argument("a", "T"),))),
        ("attributes", ["A", "x", "T"], Attribute("A", "x", "T")),
        (
            "predicates",
            [0, "a", "1", [["r", 0, 1]]],
            Predicate(0, "a", "1", (RoleSpan("r", 0, 1),)),
        ),
        ("alignments", ["x", [0]], ("x", (0,))),
        ("metadata", ["key", None], ("key", None)),
    ],
)
def test_lists_become_what_the_part_is_made_of(part, row, expected):
    [made] = rows_of(part, [row])
    assert (made, type(made), repr(made)) == (expected, type(expected), repr(expected))


def test_what_is_right_stays_the_same_object():
    rows = (Token("a", 0, 1), Token("b", 1, 2))
    assert rows_of("tokens", rows) is rows


def test_any_iterable_will_do():
    assert rows_of("tokens", (["a", i, i] for i in range(2))) == (
        Token("a", 0, 0),
        Token("a", 1, 1),
    )


def test_rows_and_lists_may_be_mixed():
    assert rows_of("dependencies", [Dependency(0, "a", 1), [1, "b", 0]])[1] == (1, "b", 0)


def test_values_of_numpy_become_plain_ones():
    [token] = rows_of("tokens", [(np.str_("a"), np.int64(0), np.int32(1))])
    assert [type(field) for field in token[:3]] == [str, int, int]


def test_subclasses_of_strings_become_plain_ones_inside_arguments():
    [event] = rows_of("events", [Event("E", "x", "T", (Argument(np.str_("a"), "T"),))])
    assert type(event.arguments[0].role) is str


@pytest.mark.parametrize(
    ("part", "value", "expected"),
    [
        ("tokens", "ab", "tokens must be a list, got 'ab'"),
        ("tokens", None, "tokens must be a list, got None"),
        ("tokens", {"a": 1}, "tokens must be a list, got a dict"),
        ("tokens", 3, "tokens must be a list, got 3"),
        ("tokens", [None], "token 0 must be a Token, got None"),
        ("tokens", [Dependency(0, "a", 1)], "token 0 must be a Token, got a Dependency"),
        ("tokens", [("a", 0, 1), ("b", "1", 2)], "start of token 1 must be an integer, got '1'"),
        ("tokens", [Token("a", 0, 1, 7)], "lemma of token 0 must be a string, got 7"),
        ("tokens", [Token("a", False, 1)], "start of token 0 must be an integer, got False"),
        ("tokens", [Token("a", 0.0, 1)], "start of token 0 must be an integer, got 0.0"),
        ("tokens", [Token(["a"], 0, 1)], "text of token 0 must be a string, got a list"),
        ("dependencies", [(0, "a")], "dependency 0 has 2 fields instead of 3"),
        ("enhanced", [(0, 1, "a")], "relation of enhanced dependency 0 must be a string, got 1"),
        ("entities", [("T", "x", None)], "spans of entity 0 must be a list, got None"),
        ("entities", [Entity("T", "x", (0, 3))], "span 0 of entity 0 must be a tuple, got 0"),
        (
            "entities",
            [Entity("T", "x", ((0, 1), (2, "3")))],
            "end of span 1 of entity 0 must be an integer, got '3'",
        ),
        ("entities", [Entity(None, "x", ())], "id of entity 0 must be a string, got None"),
        ("relations", [("R", "x", (), 1)], "holds of relation 0 must be True or False, got 1"),
        ("events", [("E", "x", "T", ["a"])], "argument 0 of event 0 must be an Argument, got 'a'"),
        (
            "predicates",
            [(0, "a", "1", [("r", 0)])],
            "argument 0 of predicate 0 has 2 fields instead of 3",
        ),
        ("alignments", [("x", "0")], "tokens of alignment 0 must be a list, got '0'"),
        ("alignments", [("x", (True,))], "tokens of alignment 0 must be an integer, got True"),
        ("alignments", [(True, (0,))], "node of alignment 0 must be a string or an integer"),
        ("metadata", [("a", 1)], "value of metadata entry 0 must be a string or None, got 1"),
        ("metadata", [("a", "b", "c")], "metadata entry 0 has 3 fields instead of 2"),
    ],
)
def test_wrong_rows_are_named(part, value, expected):
    with pytest.raises(StructureError) as caught:
        rows_of(part, value)
    assert caught.value.problem.startswith(expected)
