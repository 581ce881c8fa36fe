"""Nested events as flat interactions: a type, one or two participants, perhaps a catalyst.

An event of a corpus may be about other events: *Sos promotes the binding of Ras and GTP* is a
regulation whose theme is a binding and whose cause is Sos. Candidates represent it as flat:
``regulation(Ras, GTP; catalyst Sos)``. The rules:

- The interaction has the type and the trigger of the event itself.
- A theme that is an entity is a participant. A theme that is an event gives its participants.
- A cause that is an entity is the catalyst. A cause that is an event gives its participants, each
  of which is the catalyst of an interaction of its own.
- More participants than two make an interaction of each pair.
- An entity is not the catalyst of an interaction it takes part in: such a cause is left out.

Other roles (sites, locations) are not part of an interaction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from kernelwood.text import Entity, Event

__all__ = ["ROLES", "Interaction", "flatten_events"]

PARTICIPANT = "participant"
CATALYST = "catalyst"

# Role in the annotation, without its number -> what it is in an interaction.
ROLES: Mapping[str, str] = {
    "Theme": PARTICIPANT,
    "Participant": PARTICIPANT,
    "Product": PARTICIPANT,
    "Cause": CATALYST,
    "Catalyst": CATALYST,
}

_NUMBER = re.compile(r"[0-9]+\Z")


class Interaction(NamedTuple):
    """One flat reading of an event; participants and catalyst are ids of entities."""

    event: str
    type: str
    trigger: str
    participants: tuple[str, ...]
    catalyst: str | None = None


def flatten_events(
    events: Iterable[Event],
    entities: Iterable[Entity],
    *,
    max_participants: int = 2,
    roles: Mapping[str, str] = ROLES,
) -> tuple[list[Interaction], Counter[str]]:
    """Return the interactions that events describe, and counts of events that describe none.

    Parameters
    ----------
    events : iterable of Event
        Possibly nested.
    entities : iterable of Entity
        Entities that arguments refer to.
    max_participants : int
        At least 1. An event with more makes an interaction of each combination of this size.
    roles : mapping of str to str
        ``"participant"`` or ``"catalyst"`` by role of the event; other roles are left out.

    Returns
    -------
    interactions : list of Interaction
        Each once, in the order of the events.
    dropped : Counter
        Events that give no interaction, by reason.

    Examples
    --------
    >>> from kernelwood.text import Argument
    >>> names = [Entity(name, "", ()) for name in ("bind", "promote", "Ras", "GTP", "Sos")]
    >>> both = (Argument("Theme", "Ras"), Argument("Theme2", "GTP"))
    >>> helped = (Argument("Theme", "E1"), Argument("Cause", "Sos"))
    >>> events = [Event("E1", "Binding", "bind", both), Event("E2", "Cause", "promote", helped)]
    >>> found, dropped = flatten_events(events, names)
    >>> found[1].type, found[1].participants, found[1].catalyst
    ('Cause', ('Ras', 'GTP'), 'Sos')
    """
    if max_participants < 1:
        raise ValueError(f"max_participants must be 1 or more; got {max_participants!r}")
    listed = {event.id: event for event in events}
    known = {entity.id for entity in entities}
    participants = _participants(listed, known, roles)
    interactions: dict[Interaction, None] = {}
    dropped: Counter[str] = Counter()
    for event in listed.values():
        themes = participants[event.id]
        if themes is None:
            dropped["the event contains itself"] += 1
        elif not themes:
            dropped["the event has no participant"] += 1
        else:
            catalysts = _fillers(event, CATALYST, roles, known, participants)
            size = min(max_participants, len(themes))
            for group in combinations(themes, size):
                acting = [catalyst for catalyst in catalysts if catalyst not in group]
                for catalyst in acting or (None,):
                    found = Interaction(event.id, event.type, event.trigger, group, catalyst)
                    interactions[found] = None
    return list(interactions), dropped


def _participants(
    events: Mapping[str, Event], known: set[str], roles: Mapping[str, str]
) -> dict[str, tuple[str, ...] | None]:
    """Return the entities that each event is about in the end; None where it leads to itself."""
    done: dict[str, tuple[str, ...] | None] = {}
    for start in events:
        begun: set[str] = set()
        pending = [start]
        while pending:
            name = pending[-1]
            if name in done:
                pending.pop()
                continue
            begun.add(name)
            inner = [
                target
                for target in _targets(events[name], PARTICIPANT, roles)
                if target in events and target not in done
            ]
            if not begun.isdisjoint(inner):  # begun, not done: it stands above this one
                done[name] = None
            elif inner:
                pending += inner
                continue
            else:
                done[name] = _merged(events[name], roles, known, done)
            pending.pop()
    return done


def _merged(
    event: Event,
    roles: Mapping[str, str],
    known: set[str],
    done: Mapping[str, tuple[str, ...] | None],
) -> tuple[str, ...] | None:
    targets = _targets(event, PARTICIPANT, roles)
    if any(target in done and done[target] is None for target in targets):
        return None
    return _fillers(event, PARTICIPANT, roles, known, done)


def _fillers(
    event: Event,
    part: str,
    roles: Mapping[str, str],
    known: set[str],
    participants: Mapping[str, tuple[str, ...] | None],
) -> tuple[str, ...]:
    """Return the entities behind the arguments of one kind, each once."""
    found: dict[str, None] = {}
    for target in _targets(event, part, roles):
        if target in known:
            found[target] = None
        else:
            found.update(dict.fromkeys(participants.get(target) or ()))
    return tuple(found)


def _targets(event: Event, part: str, roles: Mapping[str, str]) -> list[str]:
    return [
        argument.target
        for argument in event.arguments
        if roles.get(_NUMBER.sub("", argument.role)) == part
    ]
