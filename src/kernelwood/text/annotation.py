"""The parts of an annotated sentence: tokens, dependencies, entities, relations, events, roles.

All of them are named tuples: cheap, immutable and compared by value. Offsets count characters
(code points) of the text from 0; an end is the position after the last character. Tokens are
referred to by index, entities and events by id.

`convert_parts` converts and checks parts that are given as plain tuples or lists. A sentence is
made for every line of a corpus, so valid parts must pass quickly: fields are checked by columns,
and rows are converted one by one only where a column has values of other types.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from kernelwood.errors import StructureError
from kernelwood.structures import shorten

ROOT = -1  # head of a root

Span: TypeAlias = tuple[int, int]
Metadata: TypeAlias = tuple[tuple[str, "str | None"], ...]
_T = TypeVar("_T")


class Token(NamedTuple):
    """A word and its place in the text; unknown fields are "".

    Attributes
    ----------
    text : str
        The word form.
    start, end : int
        Offsets in the text of the sentence.
    lemma : str
        The dictionary form.
    pos : str
        Coarse part of speech, the same for all languages (UPOS).
    tag : str
        The treebank's own part of speech (XPOS, Penn tags).
    features, misc : str
        Further columns of CoNLL-U, not decoded.
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
    """A relation from a head to a dependent, both token indices; the head of a root is ``ROOT``."""

    head: int
    relation: str
    dependent: int


class EmptyNode(NamedTuple):
    """A word that is not in the text, placed after token ``after`` (-1: before the first)."""

    after: int
    text: str
    lemma: str = ""
    pos: str = ""
    tag: str = ""
    features: str = ""
    misc: str = ""


class Multiword(NamedTuple):
    """Tokens ``first`` to ``end - 1``, written as one word."""

    first: int
    end: int
    text: str
    misc: str = ""


class Entity(NamedTuple):
    """A mention of a thing, or the trigger of an event.

    Attributes
    ----------
    id : str
        Unique in the sentence or document.
    type : str
        For example ``"protein"``.
    spans : tuple of (start, end)
        In order; several if the mention is discontinuous, none if it is not in the text.
    text : str
        The mention as written in the annotation.
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
    """A role and the id of the entity or event that fills it."""

    role: str
    target: str


class Relation(NamedTuple):
    """A typed tuple of arguments; ``holds`` is False for an annotated negative."""

    id: str
    type: str
    arguments: tuple[Argument, ...]
    holds: bool = True


class Event(NamedTuple):
    """An event: the id of its trigger entity, and its arguments."""

    id: str
    type: str
    trigger: str
    arguments: tuple[Argument, ...] = ()


class Attribute(NamedTuple):
    """A property of another annotation: negation, a database reference, a note."""

    id: str
    type: str
    target: str
    value: str = ""


class RoleSpan(NamedTuple):
    """A semantic role, filled by the tokens ``start`` to ``end - 1``."""

    role: str
    start: int
    end: int


class Predicate(NamedTuple):
    """A token with its word sense and the spans that fill its roles."""

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

    Targets of arguments are entities and events, triggers are entities, and targets of attributes
    are all three kinds. Any number of relations may have the id ``"*"``, which the standoff format
    writes for relations without an id.
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
                hint="spans need 0 <= start < end <= length, in ascending order",
            )
        before = end


def _take_id(kinds: dict[str, str], name: str, kind: str) -> None:
    if name in kinds:
        raise StructureError(
            f"the id {shorten(repr(name))} is used twice, for {kinds[name]} and for {kind}",
            hint="ids must be unique within a sentence or document",
        )
    kinds[name] = kind


def _missing(what: str, owner: str, target: str) -> StructureError:
    return StructureError(
        f"{what} {shorten(repr(owner))}: no annotation has the id {shorten(repr(target))}",
        hint="add the annotation or remove the reference",
    )


def counted(parts: Sized, name: str) -> str:
    """Return the number of parts with its noun.

    Examples
    --------
    >>> counted([1], "entities"), counted([], "events")
    ('1 entity', '0 events')
    """
    if len(parts) != 1:
        return f"{len(parts)} {name}"
    return f"1 {name[:-3]}y" if name.endswith("ies") else f"1 {name[:-1]}"


class _Column(Protocol):
    """Type of the values in one field of a row."""

    def is_clean(self, values: tuple[Any, ...]) -> bool: ...

    def convert(self, value: object, what: str) -> object: ...


@dataclass(frozen=True, slots=True)
class _Plain:
    """Values of some types, without subclasses; other values are converted by ``change``."""

    name: str
    types: frozenset[type]
    change: Callable[[Any], object] | None = None

    def is_clean(self, values: tuple[Any, ...]) -> bool:
        return self.types.issuperset(map(type, values))

    def convert(self, value: object, what: str) -> object:
        if type(value) in self.types:
            return value
        if self.change is not None and not isinstance(value, bool):
            try:
                return self.change(value)
            except TypeError:
                pass
        raise StructureError(f"{what} must be {self.name}, got {_shown(value)}")


@dataclass(frozen=True, slots=True)
class _Rows:
    """Schema of a list of rows: the class of a row, its fields, and how many are required."""

    kind: type[tuple[Any, ...]]
    names: tuple[str, ...]
    columns: tuple[_Column, ...]
    n_required: int

    def is_clean(self, rows: tuple[Any, ...]) -> bool:
        """Return whether rows are valid, so that nothing needs to be converted."""
        if not rows:
            return True
        if {*map(type, rows)} != {self.kind}:
            return False
        # A named tuple always has the right length.
        if self.kind is tuple and {*map(len, rows)} != {len(self.columns)}:
            return False
        for column, values in zip(self.columns, zip(*rows, strict=False), strict=False):
            if not column.is_clean(values):
                return False
        return True

    def convert(self, rows: object, one: str, several: str, owner: str = "") -> tuple[Any, ...]:
        """Return rows of the right class; ``one`` and ``several`` are nouns for messages."""
        if type(rows) is tuple and self.is_clean(rows):
            return rows
        listed = _listed(rows, several + owner)
        if self._are_lists(listed):
            try:
                made = tuple([self._make(row) for row in listed])
            except TypeError:  # wrong number of fields; reported below
                pass
            else:
                if self.is_clean(made):
                    return made
        return tuple([self._row(row, f"{one} {place}{owner}") for place, row in enumerate(listed)])

    def _are_lists(self, rows: tuple[Any, ...]) -> bool:
        return {tuple, list, self.kind}.issuperset(map(type, rows))

    def _make(self, values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(values) if self.kind is tuple else self.kind(*values)

    def _row(self, row: object, what: str) -> tuple[Any, ...]:
        if type(row) not in (tuple, list) and (
            self.kind is tuple or not isinstance(row, self.kind)
        ):
            raise StructureError(
                f"{what} must be {_article(self.kind.__name__)}, got {_shown(row)}",
                hint=f"write ({', '.join(self.names)})",
            )
        fields = cast("tuple[object, ...]", row)
        if not self.n_required <= len(fields) <= len(self.columns):
            least = f"{self.n_required} to " if self.n_required < len(self.columns) else ""
            raise StructureError(
                f"{what} has {len(fields)} fields instead of {least}{len(self.columns)}",
                hint=f"the fields are {', '.join(self.names)}",
            )
        return self._make(
            column.convert(value, f"{name} of {what}")
            for column, name, value in zip(self.columns, self.names, fields, strict=False)
        )


@dataclass(frozen=True, slots=True)
class _Nested:
    """Rows in a field of a row, such as the arguments of an event."""

    one: str
    rows: _Rows

    def is_clean(self, values: tuple[Any, ...]) -> bool:
        return {*map(type, values)} == {tuple} and self.rows.is_clean(
            tuple(chain.from_iterable(values))
        )

    def convert(self, value: object, what: str) -> object:
        several, _, owner = what.partition(" of ")
        return self.rows.convert(value, self.one, several, f" of {owner}")


@dataclass(frozen=True, slots=True)
class _Several:
    """A tuple of plain values in a field of a row."""

    member: _Plain

    def is_clean(self, values: tuple[Any, ...]) -> bool:
        return {*map(type, values)} == {tuple} and self.member.is_clean(
            tuple(chain.from_iterable(values))
        )

    def convert(self, value: object, what: str) -> object:
        return tuple([self.member.convert(member, what) for member in _listed(value, what)])


def _listed(value: object, what: str) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise StructureError(f"{what} must be a list, got {_shown(value)}")
    return tuple(value)


def _plain_string(value: object) -> str:
    return str.__str__(value)  # TypeError if it is not a string


def _shown(value: object) -> str:
    """Return a value for a message; values that may be large are shown by type only."""
    if value is None or isinstance(value, (str, int, float)):
        return shorten(repr(value))
    return _article(type(value).__name__)


def _article(name: str) -> str:
    return f"an {name}" if name[0] in "AEIOUaeiou" else f"a {name}"


_STRING = _Plain("a string", frozenset({str}), _plain_string)
_STRING_OR_NONE = _Plain("a string or None", frozenset({str, type(None)}), _plain_string)
_INTEGER = _Plain("an integer", frozenset({int}), operator.index)
_TRUTH = _Plain("True or False", frozenset({bool}))
_NODE_ID = _Plain("a string or an integer", frozenset({str, int}))


def _rows(kind: Any, *columns: _Column) -> _Rows:
    return _Rows(kind, kind._fields, columns, len(columns) - len(kind._field_defaults))


_SPANS = _Nested("span", _Rows(tuple, ("start", "end"), (_INTEGER, _INTEGER), 2))
_ARGUMENTS = _Nested("argument", _rows(Argument, _STRING, _STRING))
_ROLES = _Nested("argument", _rows(RoleSpan, _STRING, _INTEGER, _INTEGER))
_DEPENDENCIES = _rows(Dependency, _INTEGER, _STRING, _INTEGER)

_PARTS: dict[str, tuple[str, _Rows]] = {
    "tokens": ("token", _rows(Token, _STRING, _INTEGER, _INTEGER, *[_STRING] * 5)),
    "dependencies": ("dependency", _DEPENDENCIES),
    "alignments": (
        "alignment",
        _Rows(tuple, ("node", "tokens"), (_NODE_ID, _Several(_INTEGER)), 2),
    ),
    "entities": ("entity", _rows(Entity, _STRING, _STRING, _SPANS, _STRING)),
    "relations": ("relation", _rows(Relation, _STRING, _STRING, _ARGUMENTS, _TRUTH)),
    "events": ("event", _rows(Event, _STRING, _STRING, _STRING, _ARGUMENTS)),
    "attributes": ("attribute", _rows(Attribute, *[_STRING] * 4)),
    "predicates": ("predicate", _rows(Predicate, _INTEGER, _STRING, _STRING, _ROLES)),
    "enhanced": ("enhanced dependency", _DEPENDENCIES),
    "empty": ("empty node", _rows(EmptyNode, _INTEGER, *[_STRING] * 6)),
    "multiwords": ("multiword", _rows(Multiword, _INTEGER, _INTEGER, _STRING, _STRING)),
    "metadata": ("metadata entry", _Rows(tuple, ("key", "value"), (_STRING, _STRING_OR_NONE), 2)),
}


def rows_of(part: str, value: object) -> tuple[Any, ...]:
    """Return the rows of a part of a sentence or document as named tuples.

    Parameters
    ----------
    part : str
        Name of the part: ``"tokens"``, ``"entities"``, ...
    value : iterable
        Rows, as tuples or lists; trailing fields with a default may be omitted.

    Raises
    ------
    StructureError
        If a row has too few or too many fields, or a field has the wrong type.

    Examples
    --------
    >>> rows_of("dependencies", [[1, "nsubj", 0]])
    (Dependency(head=1, relation='nsubj', dependent=0),)
    >>> rows_of("tokens", [("Raf", 0, "3")])
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: end of token 0 must be an integer, got '3'
    """
    name, shape = _PARTS[part]
    return shape.convert(value, name, part)


def convert_parts(owner: object, parts: Iterable[str]) -> None:
    """Replace parts of a frozen object by the result of `rows_of`."""
    for part in parts:
        given = getattr(owner, part)
        if type(given) is not tuple or given:
            object.__setattr__(owner, part, rows_of(part, given))


def replace_unchecked(owner: _T, parts: Mapping[str, Any]) -> _T:
    """Return a copy of a frozen object with valid parts replaced, without checks."""
    made = object.__new__(type(owner))
    for name in cast(Any, owner).__slots__:
        value = parts[name] if name in parts else getattr(owner, name)
        object.__setattr__(made, name, value)
    return made
