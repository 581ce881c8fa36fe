"""From documents to labeled candidates: which pairs or events may be relations, and of which class.

A class is ``"none"``, or the name of a relation; where the annotation runs in both directions, it
is the name with a direction, ``"Activates(e2,e1)"`` if its first argument comes second in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kernelwood.errors import KernelInputError
from kernelwood.evaluate import documents
from kernelwood.relations.events import event_candidates
from kernelwood.relations.pairs import pair_candidates
from kernelwood.relations.predictions import NONE, Participant, participant
from kernelwood.text import Candidate, Example, Relation, Sentence

__all__ = [
    "EVENT",
    "MAX_ENTITIES",
    "MAX_EVENT_ENTITIES",
    "RELATION",
    "Classes",
    "Hypotheses",
    "Located",
    "describe",
    "documents_or",
    "hypotheses",
]

RELATION = "relation"  # the class of pairs with labels="binary"
EVENT = "event"  # the class of events; their type is that of the trigger
MAX_ENTITIES = 60  # of a sentence: 1,770 pairs
MAX_EVENT_ENTITIES = 12  # of a sentence: 738 ways to fill a trigger's event

_DIRECTED = re.compile(r"(?P<type>.*)\((?:e1,e2|e2,e1)\)", re.DOTALL)
_BACKWARD = "(e2,e1)"
_REFERENCES = ("Reference", "Normalization")


class Located(NamedTuple):
    """A sentence, as an example of its own, and the document it is in."""

    document: str
    example: Example

    @property
    def sentence(self) -> Sentence:
        """The sentence."""
        sentence = self.example.view("sentence")
        assert isinstance(sentence, Sentence)
        return sentence


class Classes(NamedTuple):
    """How relations become classes.

    Attributes
    ----------
    labels : {"binary", "type", "directed"}
    undirected : tuple of str
        Types whose direction is left out.
    roles : dict from str to list of two str
        What the annotation calls the arguments of a type; of one without direction, in the order of
        the text.
    """

    labels: str
    undirected: tuple[str, ...]
    roles: dict[str, list[str]]

    def of(self, label: Any) -> str:
        """Return the class of a candidate, given its label with type and direction.

        Examples
        --------
        >>> Classes("directed", ("binds",), {}).of("binds(e2,e1)")
        'binds'
        """
        if label == NONE:
            return NONE
        if self.labels == "binary":
            return RELATION
        name = type_of(str(label))
        return name if self.labels == "type" or name in self.undirected else str(label)


class Hypotheses(NamedTuple):
    """Candidates with the number of their sentence, and what was left out."""

    candidates: list[Candidate]
    sentences: list[int]
    dropped: Counter[str]


def type_of(name: str) -> str:
    """Return the type of the relation that a class stands for.

    Examples
    --------
    >>> type_of("Activates(e2,e1)"), type_of("Binds")
    ('Activates', 'Binds')
    """
    match = _DIRECTED.fullmatch(name)
    return match["type"] if match else name


def learn_classes(
    located: Iterable[Located], labels: str, symmetric: Iterable[str], kinds: frozenset[str] | None
) -> Classes:
    """Return how to make classes of the relations that an annotated corpus has.

    A type whose arguments have no roles, or the same, has no direction. With ``labels="auto"`` it
    has one only if both directions occur in the text, too: where the first argument always comes
    first there is nothing to learn.
    """
    orders: dict[str, set[bool]] = {}
    roles: dict[str, list[str]] = {}
    for place in located:
        starts = {entity.id: entity.start for entity in place.sentence.entities}
        for relation in place.sentence.relations:
            if _counts(relation, starts, kinds):
                first, second = relation.arguments
                roles.setdefault(relation.type, [first.role, second.role])
                forward = starts[first.target] <= starts[second.target]
                if first.role != second.role:
                    orders.setdefault(relation.type, set()).add(forward)
    undirected = {*symmetric, *(roles.keys() - orders.keys())}
    if labels == "auto":
        undirected |= {name for name, both in orders.items() if len(both) == 1}
    if labels == "type":
        undirected |= roles.keys()
    for name in undirected & orders.keys():
        roles[name] = _roles_in_text(roles[name], orders[name])
    kept = labels if labels in ("binary", "type") else "directed"
    return Classes(kept, tuple(sorted(undirected)), dict(sorted(roles.items())))


def _roles_in_text(roles: list[str], orders: set[bool]) -> list[str]:
    """Return the roles in the order of the text, if they always have the same one."""
    if len(orders) > 1:
        return ["", ""]
    return roles if orders == {True} else roles[::-1]


def _counts(relation: Relation, known: dict[str, int], kinds: frozenset[str] | None) -> bool:
    return (
        relation.holds
        and len(relation.arguments) == 2
        and all(argument.target in known for argument in relation.arguments)
        and (kinds is None or relation.type in kinds)
    )


def documents_or(items: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Return the document of each example or candidate; where nothing tells it, the name given.

    Examples
    --------
    >>> documents_or([Example("d1.s1"), Example("d1.s2")], ["a", "b"]), documents_or(
    ...     [Example("one"), Example("two")], ["a", "b"]
    ... )
    (['d1', 'd1'], ['a', 'b'])
    """
    try:
        return documents(items)
    except KernelInputError:
        return list(names)


def hypotheses(
    located: Sequence[Located],
    classes: Classes | None,
    *,
    events: bool,
    triggers: Iterable[str] | None = None,
    types: Iterable[str] | None = None,
    relations: Iterable[str] | None = None,
    max_distance: int | None = None,
    max_entities: int = MAX_ENTITIES,
) -> Hypotheses:
    """Return the candidates of sentences, labeled with their classes.

    Parameters
    ----------
    located : sequence of Located
    classes : Classes or None
        How relations become classes; None for events, which have two.
    events : bool
        Whether candidates are events, else pairs.
    triggers : iterable of str, optional
        Types of triggers, if they are not told by the events of the annotation.
    types, relations, max_distance, max_entities
        As in `pair_candidates` and `event_candidates`.
    """
    examples = [place.example for place in located]
    if events:
        most = min(max_entities, MAX_EVENT_ENTITIES)
        found = event_candidates(examples, triggers=triggers, types=types, max_entities=most)
        named = [EVENT if candidate.label == 1 else NONE for candidate in found]
    else:
        assert classes is not None
        found = pair_candidates(
            examples,
            types=types,
            relations=relations,
            labels="directed",
            max_distance=max_distance,
            max_entities=max_entities,
        )
        named = [classes.of(candidate.label) for candidate in found]
    numbers = {id(place.sentence): number for number, place in enumerate(located)}
    return Hypotheses(
        [_labeled(candidate, name) for candidate, name in zip(found, named, strict=True)],
        [numbers[id(candidate.sentence)] for candidate in found],
        Counter(found.tally.reasons),
    )


def _labeled(candidate: Candidate, label: str) -> Candidate:
    # Checked already: only the label is another one.
    object.__setattr__(candidate, "label", label)
    return candidate


def describe(
    candidate: Candidate, name: str, classes: Classes | None, shift: int
) -> tuple[str, tuple[Participant, ...], Participant | None]:
    """Return type, participants and trigger of a candidate that is thought to be of a class.

    Participants stand in the order of the arguments of the relation, with their names.
    """
    sentence = candidate.sentence
    references = dict(_references(sentence))

    def made(role: str, entity: Any) -> Participant:
        return participant(role, entity, sentence.text, shift, references)

    if candidate.trigger is not None:
        parts = tuple(made(role, entity) for role, entity in candidate.participants)
        return candidate.type, parts, made("trigger", candidate.trigger)
    kind = type_of(name)
    roles = [] if classes is None else classes.roles.get(kind, [])
    ends = [entity for _, entity in candidate.participants]
    if name.endswith(_BACKWARD):
        ends.reverse()
    named = [role or other for role, other in zip(roles, ("first", "second"), strict=False)]
    pairs = zip(named or ("first", "second"), ends, strict=True)
    return kind, tuple(made(role, entity) for role, entity in pairs), None


def _references(sentence: Sentence) -> Iterator[tuple[str, str]]:
    return (
        (attribute.target, attribute.value.split("\t", 1)[0])
        for attribute in sentence.attributes
        if attribute.type in _REFERENCES
    )
