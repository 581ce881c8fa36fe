"""The parts of an annotated sentence: tokens, dependencies, entities, relations, events, roles.

All of them are tuples with names, so they are cheap, never change and compare by value. Offsets
are counted in characters (code points) of the text they belong to, the first being 0; an end is
the position after the last character. Tokens are referred to by index, entities and events by id.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import NamedTuple, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import shorten

__all__ = [
    "ROOT",
    "Argument",
    "Attribute",
    "Dependency",
    "EmptyNode",
    "Entity",
    "Event",
    "Metadata",
    "Multiword",
    "Predicate",
    "Relation",
    "RoleSpan",
    "Span",
    "Token",
    "check_standoff",
    "counted",
]

ROOT = -1  # the head of a dependency that hangs from no word

Span: TypeAlias = tuple[int, int]
Metadata: TypeAlias = tuple[tuple[str, "str | None"], ...]


class Token(NamedTuple):
    """A word with its place in the text; what the file does not say is "".

    Attributes
    ----------
    text : str
        The word form.
    start, end : int
        Its characters in the text of the sentence.
    lemma : str
        The dictionary form.
    pos : str
        Coarse part of speech, the same for all languages (UPOS).
    tag : str
        The treebank's own part of speech (XPOS, Penn tags).
    features, misc : str
        Further columns as they are written.
    """

    text: str
    start: int
    end: int
    lemma: str = ""
    pos: str = ""
    tag: str = ""
    features: str = ""
    misc: str = ""


class Dependency(NamedTuple):
    """A relation from a head to a dependent, both token indices; the head may be ``ROOT``."""

    head: int
    relation: str
    dependent: int


class EmptyNode(NamedTuple):
    """A word that is not in the text; stands after token ``after`` (-1: before the first)."""

    after: int
    text: str
    lemma: str = ""
    pos: str = ""
    tag: str = ""
    features: str = ""
    misc: str = ""


class Multiword(NamedTuple):
    """Tokens ``first`` to ``end - 1`` that are written as one word."""

    first: int
    end: int
    text: str
    misc: str = ""


class Entity(NamedTuple):
    """A thing that is mentioned, or the word that stands for an event.

    Attributes
    ----------
    id : str
        Its name in the sentence or document.
    type : str
        What it is, for example ``"protein"``.
    spans : tuple of (start, end)
        Its characters, in order; more than one span when it is discontinuous, none when it is
        not in the text.
    text : str
        As the annotation writes it.
    """

    id: str
    type: str
    spans: tuple[Span, ...]
    text: str = ""

    @property
    def start(self) -> int:
        """The first character of the first span; -1 without spans."""
        return self.spans[0][0] if self.spans else -1

    @property
    def end(self) -> int:
        """The position after the last span; -1 without spans."""
        return self.spans[-1][1] if self.spans else -1


class Argument(NamedTuple):
    """What fills a role: the id of an entity or of an event."""

    role: str
    target: str


class Relation(NamedTuple):
    """A typed tuple of arguments; ``holds`` is False where annotators deny it."""

    id: str
    type: str
    arguments: tuple[Argument, ...]
    holds: bool = True


class Event(NamedTuple):
    """Something that happens: the entity that names it, and its arguments."""

    id: str
    type: str
    trigger: str
    arguments: tuple[Argument, ...] = ()


class Attribute(NamedTuple):
    """A remark on another annotation: negation, a database reference, a note."""

    id: str
    type: str
    target: str
    value: str = ""


class RoleSpan(NamedTuple):
    """The tokens ``start`` to ``end - 1`` fill a semantic role."""

    role: str
    start: int
    end: int


class Predicate(NamedTuple):
    """A token with a word sense and the spans that fill its roles."""

    token: int
    lemma: str
    sense: str
    arguments: tuple[RoleSpan, ...] = ()


def check_standoff(
    text: str,
    entities: tuple[Entity, ...],
    relations: tuple[Relation, ...],
    events: tuple[Event, ...],
    attributes: tuple[Attribute, ...],
) -> None:
    """Raise StructureError unless ids are unique, targets exist and spans lie in the text.

    Arguments name entities and events, triggers name entities, and attributes speak of all that
    has an id. The id of a relation may be ``"*"``, as often as one likes: it is what the standoff
    format writes where no id is needed.
    """
    kinds: dict[str, str] = {}
    for entity in entities:
        _take_id(kinds, entity.id, "an entity")
        _check_spans(entity, len(text))
    for event in events:
        if kinds.get(event.trigger) != "an entity":
            raise _missing("trigger of event", event.id, event.trigger)
        _take_id(kinds, event.id, "an event")
    for event in events:
        for argument in event.arguments:
            if argument.target not in kinds:
                raise _missing("argument of event", event.id, argument.target)
    for relation in relations:
        for argument in relation.arguments:
            if kinds.get(argument.target, "a relation") == "a relation":
                raise _missing("argument of relation", relation.id, argument.target)
        if relation.id != "*":
            _take_id(kinds, relation.id, "a relation")
    for attribute in attributes:
        if attribute.target not in kinds:
            raise _missing("target of attribute", attribute.id, attribute.target)


def _check_spans(entity: Entity, length: int) -> None:
    before = 0
    for start, end in entity.spans:
        if not before <= start < end <= length:
            raise StructureError(
                f"entity {shorten(repr(entity.id))} has the span [{start}, {end}), "
                f"the text has {length} characters",
                hint="0 <= start < end <= length must hold, and spans stand in order",
            )
        before = end


def _take_id(kinds: dict[str, str], name: str, kind: str) -> None:
    if name in kinds:
        raise StructureError(
            f"the id {shorten(repr(name))} is given twice, to {kinds[name]} and to {kind}",
            hint="ids are unique within a sentence or document",
        )
    kinds[name] = kind


def _missing(what: str, owner: str, target: str) -> StructureError:
    return StructureError(
        f"{what} {shorten(repr(owner))}: there is no {shorten(repr(target))}",
        hint="annotate it, or leave the reference out",
    )


def counted(parts: Sized, name: str) -> str:
    """Return how many parts there are, in words.

    Examples
    --------
    >>> counted([1], "entities"), counted([], "events")
    ('1 entity', '0 events')
    """
    if len(parts) != 1:
        return f"{len(parts)} {name}"
    return f"1 {name[:-3]}y" if name.endswith("ies") else f"1 {name[:-1]}"
