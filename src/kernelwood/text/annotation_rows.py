"""From lists of lists to lists of tokens, entities and the like, every field checked.

A sentence is made for every line of a corpus, so what is right already must pass quickly: fields
are looked at by columns, and only if a column holds something else each row is taken apart, either
to convert it (lists to tuples, the numbers and strings of numpy to plain ones) or to say what is
wrong with it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol, TypeVar, cast

from kernelwood.errors import StructureError
from kernelwood.structures import shorten
from kernelwood.text.annotation import (
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

__all__ = ["Rows", "check_number", "convert_parts", "rows_of"]

T = TypeVar("T")


class _Column(Protocol):
    """What may stand in one place of a row."""

    def is_clean(self, values: tuple[Any, ...]) -> bool: ...

    def convert(self, value: object, what: str) -> object: ...


@dataclass(frozen=True, slots=True)
class _Plain:
    """Values of some types and no subclasses of these; what can become one of them does."""

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
class Rows:
    """A list of rows of one shape.

    Parameters
    ----------
    kind : type
        The class of a row: a named tuple, or ``tuple``.
    names : tuple of str
        The fields.
    columns : tuple
        What may stand in each field.
    n_required : int
        How many fields a row has at least.
    """

    kind: type[tuple[Any, ...]]
    names: tuple[str, ...]
    columns: tuple[_Column, ...]
    n_required: int

    def is_clean(self, rows: tuple[Any, ...]) -> bool:
        """Say whether rows are as they should be, so that nothing needs to be converted."""
        if not rows:
            return True
        if {*map(type, rows)} != {self.kind}:
            return False
        # A named tuple has the right length by itself.
        if self.kind is tuple and {*map(len, rows)} != {len(self.columns)}:
            return False
        for column, values in zip(self.columns, zip(*rows, strict=False), strict=False):
            if not column.is_clean(values):
                return False
        return True

    def convert(self, rows: object, one: str, several: str, owner: str = "") -> tuple[Any, ...]:
        """Return rows of the right kind; the names of one and of several are for messages."""
        if type(rows) is tuple and self.is_clean(rows):
            return rows
        listed = _listed(rows, several + owner)
        if self._are_lists(listed):
            try:
                made = tuple([self._make(row) for row in listed])
            except TypeError:  # too few or too many; which, is said below
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
                hint=f"give ({', '.join(self.names)})",
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
    """Rows within a row, such as the arguments of an event."""

    one: str
    rows: Rows

    def is_clean(self, values: tuple[Any, ...]) -> bool:
        return {*map(type, values)} == {tuple} and self.rows.is_clean(
            tuple(chain.from_iterable(values))
        )

    def convert(self, value: object, what: str) -> object:
        several, _, owner = what.partition(" of ")
        return self.rows.convert(value, self.one, several, f" of {owner}")


@dataclass(frozen=True, slots=True)
class _Several:
    """A tuple of plain values within a row."""

    member: _Plain

    def is_clean(self, values: tuple[Any, ...]) -> bool:
        return {*map(type, values)} == {tuple} and self.member.is_clean(
            tuple(chain.from_iterable(values))
        )

    def convert(self, value: object, what: str) -> object:
        return tuple([self.member.convert(member, what) for member in _listed(value, what)])


def check_number(value: object, what: str) -> int:
    """Return an integer that is no truth value, or say that it is none.

    Examples
    --------
    >>> check_number("3", "the start")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: the start must be an integer, got '3'
    """
    return cast(int, _INTEGER.convert(value, what))


def _listed(value: object, what: str) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise StructureError(f"{what} must be a list, got {_shown(value)}")
    return tuple(value)


def _plain_string(value: object) -> str:
    return str.__str__(value)  # a TypeError, which says so, if it is none


def _shown(value: object) -> str:
    """Name a value for a message; what may be large or deep by its type alone."""
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


def _rows(kind: Any, *columns: _Column) -> Rows:
    return Rows(kind, kind._fields, columns, len(columns) - len(kind._field_defaults))


_SPANS = _Nested("span", Rows(tuple, ("start", "end"), (_INTEGER, _INTEGER), 2))
_ARGUMENTS = _Nested("argument", _rows(Argument, _STRING, _STRING))
_ROLES = _Nested("argument", _rows(RoleSpan, _STRING, _INTEGER, _INTEGER))
_DEPENDENCIES = _rows(Dependency, _INTEGER, _STRING, _INTEGER)

_PARTS: dict[str, tuple[str, Rows]] = {
    "tokens": ("token", _rows(Token, _STRING, _INTEGER, _INTEGER, *[_STRING] * 5)),
    "dependencies": ("dependency", _DEPENDENCIES),
    "alignments": (
        "alignment",
        Rows(tuple, ("node", "tokens"), (_NODE_ID, _Several(_INTEGER)), 2),
    ),
    "entities": ("entity", _rows(Entity, _STRING, _STRING, _SPANS, _STRING)),
    "relations": ("relation", _rows(Relation, _STRING, _STRING, _ARGUMENTS, _TRUTH)),
    "events": ("event", _rows(Event, _STRING, _STRING, _STRING, _ARGUMENTS)),
    "attributes": ("attribute", _rows(Attribute, *[_STRING] * 4)),
    "predicates": ("predicate", _rows(Predicate, _INTEGER, _STRING, _STRING, _ROLES)),
    "enhanced": ("enhanced dependency", _DEPENDENCIES),
    "empty": ("empty node", _rows(EmptyNode, _INTEGER, *[_STRING] * 6)),
    "multiwords": ("multiword", _rows(Multiword, _INTEGER, _INTEGER, _STRING, _STRING)),
    "metadata": ("metadata entry", Rows(tuple, ("key", "value"), (_STRING, _STRING_OR_NONE), 2)),
}


def rows_of(part: str, value: object) -> tuple[Any, ...]:
    """Return a part of a sentence or document as a tuple of what it is made of.

    Parameters
    ----------
    part : str
        The name of the part: ``"tokens"``, ``"entities"``, ...
    value : iterable
        Rows, as tuples or lists; fields that have a default may be left out at their end.

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
    """Replace the parts of a frozen object by tuples of what they are made of.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> made = SimpleNamespace(metadata=[["source", "a letter"]])
    >>> convert_parts(made, ["metadata"])
    >>> made.metadata
    (('source', 'a letter'),)
    """
    for part in parts:
        given = getattr(owner, part)
        if type(given) is not tuple or given:
            object.__setattr__(owner, part, rows_of(part, given))
