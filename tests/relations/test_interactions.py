"""Flattening events: fixed cases, and random nests against the definition by recursion."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

from kernelwood.relations import Interaction, flatten_events
from kernelwood.text import Argument, Entity, Event

ENTITIES = [Entity(name, "", ()) for name in ("t1", "t2", "t3", "a", "b", "c", "d")]


def event(name, trigger, *arguments, type="Binding"):
    return Event(name, type, trigger, tuple(Argument(*argument) for argument in arguments))


def flat(*events, **options):
    return flatten_events(events, ENTITIES, **options)[0]


def test_themes_are_participants_and_the_cause_is_the_catalyst():
    found = flat(event("E1", "t1", ("Theme", "a"), ("Cause", "b")))
    assert found == [Interaction("E1", "Binding", "t1", ("a",), "b")]


def test_numbered_roles_count_as_their_role():
    assert flat(event("E1", "t1", ("Theme", "a"), ("Theme2", "b")))[0].participants == ("a", "b")


def test_sites_are_left_out():
    assert flat(event("E1", "t1", ("Theme", "a"), ("Site", "b"))) == [
        Interaction("E1", "Binding", "t1", ("a",))
    ]


def test_an_event_as_theme_gives_its_participants():
    inner = event("E1", "t1", ("Theme", "a"), ("Theme2", "b"), ("Cause", "d"))
    outer = event("E2", "t2", ("Theme", "E1"), ("Cause", "c"), type="Regulation")
    assert flat(outer, inner)[0] == Interaction("E2", "Regulation", "t2", ("a", "b"), "c")


def test_each_participant_of_an_event_as_cause_is_a_catalyst():
    cause = event("E1", "t1", ("Theme", "a"), ("Theme2", "b"))
    outer = event("E2", "t2", ("Theme", "c"), ("Cause", "E1"))
    assert {found.catalyst for found in flat(outer, cause) if found.event == "E2"} == {"a", "b"}


def test_three_participants_make_three_pairs():
    wide = event("E1", "t1", ("Theme", "a"), ("Theme2", "b"), ("Theme3", "c"))
    assert {found.participants for found in flat(wide)} == set(combinations("abc", 2))


def test_one_participant_at_a_time_can_be_asked_for():
    pair = event("E1", "t1", ("Theme", "a"), ("Theme2", "b"))
    assert [found.participants for found in flat(pair, max_participants=1)] == [("a",), ("b",)]


def test_a_participant_is_not_its_own_catalyst():
    assert flat(event("E1", "t1", ("Theme", "a"), ("Cause", "a")))[0].catalyst is None


def test_at_least_one_participant_is_needed():
    with pytest.raises(ValueError, match="max_participants must be 1 or more; got 0"):
        flat(max_participants=0)


def test_other_roles_can_be_named():
    found = flat(event("E1", "t1", ("Patient", "a")), roles={"Patient": "participant"})
    assert found[0].participants == ("a",)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_events_that_contain_themselves_are_counted(length):
    ring = [event(f"E{i}", "t1", ("Theme", f"E{(i + 1) % length}")) for i in range(length)]
    found, dropped = flatten_events(ring, ENTITIES)
    assert (found, dropped["the event contains itself"]) == ([], length)


def test_an_event_above_a_ring_is_counted_too():
    ring = event("E1", "t1", ("Theme", "E1"))
    found, dropped = flatten_events([event("E2", "t2", ("Theme", "E1")), ring], ENTITIES)
    assert (found, dropped["the event contains itself"]) == ([], 2)


def test_events_without_participants_are_counted():
    found, dropped = flatten_events([event("E1", "t1", ("Cause", "a"))], ENTITIES)
    assert (found, dict(dropped)) == ([], {"the event has no participant": 1})


def test_arguments_that_are_nowhere_are_left_out():
    found, dropped = flatten_events([event("E1", "t1", ("Theme", "nobody"))], ENTITIES)
    assert (found, dict(dropped)) == ([], {"the event has no participant": 1})


def test_events_of_any_depth_are_flattened():
    chain = [event("E0", "t1", ("Theme", "a"))]
    chain += [event(f"E{i}", "t1", ("Theme", f"E{i - 1}")) for i in range(1, DEPTH)]
    assert flat(*reversed(chain))[0].participants == ("a",)


def test_levels_of_two_events_that_share_all_themes_are_flattened_once():
    levels = [[event("E0x", "t1", ("Theme", "a")), event("E0y", "t1", ("Theme", "b"))]]
    for k in range(1, 60):  # as many ways down as no machine could follow one by one
        themes = ("Theme", f"E{k - 1}x"), ("Theme2", f"E{k - 1}y"), ("Cause", f"E{k - 1}x")
        levels.append([event(f"E{k}{side}", "t1", *themes) for side in "xy"])
    found = flat(*(one for level in reversed(levels) for one in level))
    assert len(found) == 2 * len(levels)
    assert found[0].participants == ("a", "b")


@st.composite
def nests(draw):
    """Events whose arguments are entities or earlier events, in any order."""
    made = []
    for number in range(draw(st.integers(1, 6))):
        targets = st.sampled_from(["a", "b", "c", "d", *(f"E{i}" for i in range(number))])
        roles = st.sampled_from(["Theme", "Theme2", "Cause", "Site"])
        arguments = draw(st.lists(st.tuples(roles, targets), max_size=4))
        made.append(event(f"E{number}", draw(st.sampled_from(["t1", "t2", "t3"])), *arguments))
    return draw(st.permutations(made))


def defined(events):
    """The rules of the module's text, by recursion."""
    named = {one.id: one for one in events}

    def fillers(one, stems):
        found = {}
        for role, target in one.arguments:
            if role.rstrip("0123456789") in stems:
                inner = fillers(named[target], ["Theme"]) if target in named else [target]
                found.update(dict.fromkeys(inner))
        return list(found)

    expected = set()
    for one in events:
        themes, causes = fillers(one, ["Theme"]), fillers(one, ["Cause"])
        for group in combinations(themes, min(2, len(themes))) if themes else ():
            for cause in [c for c in causes if c not in group] or [None]:
                expected.add(Interaction(one.id, one.type, one.trigger, group, cause))
    return expected


@given(nests())
def test_random_nests_follow_the_definition(events):
    found, dropped = flatten_events(events, ENTITIES)
    assert set(found) == defined(events)
    assert len(set(found)) == len(found)
    assert len({one.event for one in found}) + sum(dropped.values()) == len(events)
