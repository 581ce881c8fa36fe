"""Interactions: a trigger with one or two participants and perhaps a catalyst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from math import comb
from typing import NamedTuple, TypeAlias

from kernelwood.relations.candidate_lists import (
    Candidates,
    Place,
    names_of,
    origin_of,
    sentences_of,
)
from kernelwood.relations.interactions import CATALYST, PARTICIPANT, ROLES, flatten_events
from kernelwood.structures import NodeId
from kernelwood.text import Candidate, Entity, Example, Sentence
from kernelwood.views import entity_nodes, interaction_nodes

__all__ = ["event_candidates"]


# Participants and catalyst; with the trigger before them, an interaction that is annotated.
_Filled: TypeAlias = "tuple[frozenset[str], str | None]"
_Key: TypeAlias = "tuple[str, _Filled]"


class _Cast(NamedTuple):
    """Who may play in the interactions of a sentence."""

    triggers: list[Entity]
    entities: list[Entity]


class _Shape(NamedTuple):
    """Who takes part in a candidate, whatever its trigger is."""

    participants: tuple[tuple[str, Entity], ...]
    filled: _Filled
    name: str

    @classmethod
    def of(cls, participants: tuple[tuple[str, Entity], ...]) -> _Shape:
        role, first = participants[0]
        catalyst = first.id if role == CATALYST else None
        others = frozenset(entity.id for role, entity in participants if role == PARTICIPANT)
        ids = "+".join(entity.id for _, entity in participants)
        name = ids if catalyst is None else f"*{ids}"
        return cls(participants, (others, catalyst), name)


def event_candidates(
    examples: Iterable[Example],
    *,
    source: str = "annotation",
    triggers: Iterable[str] | None = None,
    types: Iterable[str] | None = None,
    max_participants: int = 2,
    catalysts: bool = True,
    max_entities: int = 12,
    roles: Mapping[str, str] = ROLES,
    view: str | None = None,
) -> Candidates:
    r"""Return every way to fill the interactions of each sentence, labeled by the annotation.

    A candidate is a trigger with one to ``max_participants`` participants and, if ``catalysts``,
    with none or one catalyst: of :math:`n` entities :math:`O(n^3)` candidates. Its label is 1 if
    an event of the sentence, flattened by `flatten_events`, says so, else 0.

    Parameters
    ----------
    examples : iterable of Example
        With a sentence or a document each.
    source : {"annotation", "amr"}
        Take triggers and participants from the events and entities, or from the nodes of the AMR
        that stand for interactions and for entities (`kernelwood.views.interaction_nodes` and
        `entity_nodes`). Candidates of AMR have no labels.
    triggers, types : iterable of str, optional
        Use triggers, and participants, of these types (concepts in AMR) only.
    max_participants : int
        1 or 2.
    catalysts : bool
        Whether candidates may have a catalyst.
    max_entities : int
        Leave out sentences with more entities, whose candidates would be too many.
    roles : mapping of str to str
        What a role of an event is in an interaction; see `flatten_events`.
    view : str, optional
        Which view holds the sentence; by default ``"document"`` or ``"sentence"``.

    Returns
    -------
    Candidates
        Roles are ``participant`` and ``catalyst``; ``tally`` counts what was dropped, and the
        events of the annotation that no candidate stands for.
    """
    if source not in ("annotation", "amr"):
        raise ValueError(f"source must be 'annotation' or 'amr'; got {source!r}")
    if max_participants not in (1, 2):
        raise ValueError(f"max_participants must be 1 or 2; got {max_participants!r}")
    wanted = _Wanted(triggers, types)
    dropped: Counter[str] = Counter()
    made: list[Candidate] = []
    for place in sentences_of(examples, view, dropped):
        cast = wanted.cast_amr(place.sentence) if source == "amr" else wanted.cast(place.sentence)
        gold = None if source == "amr" else _gold(place.sentence, max_participants, roles, dropped)
        if len(cast.entities) > max_entities:
            reason = f"candidates of a sentence with more than {max_entities} entities"
            dropped[reason] += _count(cast, max_participants, catalysts)
            found: list[Candidate] = []
        else:
            shapes = _shapes(cast.entities, max_participants, catalysts)
            found = list(_candidates(place, cast.triggers, [_Shape.of(s) for s in shapes], gold))
        if lost := len(gold or ()) - sum(candidate.label == 1 for candidate in found):
            dropped["interaction that no candidate stands for"] += lost
        made += found
    return Candidates(made, +dropped)


class _Wanted:
    """Which triggers and entities may take part."""

    def __init__(self, triggers: Iterable[str] | None, types: Iterable[str] | None) -> None:
        self.triggers, self.types = names_of(triggers), names_of(types)

    def cast(self, sentence: Sentence) -> _Cast:
        """Return the triggers and entities of the annotation, in the order of the text."""
        named = {event.trigger for event in sentence.events}
        cast = _Cast([], [])
        for entity in sorted(sentence.entities, key=lambda entity: (entity.start, entity.end)):
            if self._is_trigger(entity, named):
                cast.triggers.append(entity)
            elif entity.id not in named and (self.types is None or entity.type in self.types):
                cast.entities.append(entity)
        return cast

    def _is_trigger(self, entity: Entity, named: set[str]) -> bool:
        # With types given, triggers need no event: that is how unlabeled text is searched.
        return entity.id in named if self.triggers is None else entity.type in self.triggers

    def cast_amr(self, sentence: Sentence) -> _Cast:
        """Return the nodes of the meaning representation, as entities whose ids they are."""
        if sentence.amr is None:
            return _Cast([], [])
        graph, aligned = sentence.amr, dict(sentence.alignments)

        def mention(node: NodeId) -> Entity:
            tokens = [sentence.tokens[index] for index in aligned.get(node, ())]
            # Tokens that are written as one word stand at one place.
            spans = {(token.start, token.end) for token in tokens if token.start < token.end}
            return Entity(str(node), graph.nodes[node], tuple(sorted(spans)))

        return _Cast(
            [mention(node) for node in interaction_nodes(graph, self.triggers)],
            [
                mention(node)
                for node in entity_nodes(graph)
                if self.types is None or graph.nodes[node] in self.types
            ],
        )


def _gold(
    sentence: Sentence, max_participants: int, roles: Mapping[str, str], dropped: Counter[str]
) -> set[_Key]:
    interactions, lost = flatten_events(
        sentence.events, sentence.entities, max_participants=max_participants, roles=roles
    )
    dropped.update(lost)
    return {
        (found.trigger, (frozenset(found.participants), found.catalyst)) for found in interactions
    }


def _shapes(
    entities: list[Entity], max_participants: int, catalysts: bool
) -> Iterator[tuple[tuple[str, Entity], ...]]:
    """Yield every choice of participants and catalyst."""
    for size in range(1, max_participants + 1):
        for group in combinations(entities, size):
            participants = tuple((PARTICIPANT, entity) for entity in group)
            yield participants
            if catalysts:
                for entity in entities:
                    if entity not in group:
                        yield ((CATALYST, entity), *participants)


def _count(cast: _Cast, max_participants: int, catalysts: bool) -> int:
    n = len(cast.entities)
    groups = [comb(n, size) * (1 + catalysts * (n - size)) for size in (1, 2)[:max_participants]]
    return len(cast.triggers) * sum(groups)


def _candidates(
    place: Place, triggers: list[Entity], shapes: list[_Shape], gold: set[_Key] | None
) -> Iterator[Candidate]:
    for trigger in triggers:
        for participants, filled, name in shapes:
            yield Candidate(
                f"{place.id}.{trigger.id}({name})",
                place.sentence,
                participants,
                trigger=trigger,
                type=trigger.type,
                label=None if gold is None else int((trigger.id, filled) in gold),
                origin=origin_of(place, [trigger, *(entity for _, entity in participants)]),
            )
