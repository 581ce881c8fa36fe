"""Classes: conversion of annotated relations to the classes of a classifier, and back.

A class is ``"none"``, or the name of a relation; where the annotation runs in both directions, it
is the name with a direction, ``"Activates(e2,e1)"`` if its first argument comes second in the text.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kernelwood.relations.candidates import NONE
from kernelwood.text import Entity, Relation, Sentence

RELATION = "relation"  # the class of pairs with labels="binary"
EVENT = "event"  # the class of events; their type is that of the trigger

ARROWS = "→ (e1,e2): the first argument comes first in the text; ← (e2,e1): it comes second"

_DIRECTED = re.compile(r"(?P<type>.*)\((?:e1,e2|e2,e1)\)", re.DOTALL)
_BACKWARD = "(e2,e1)"
_ROLES = ("Arg1", "Arg2")  # of labels with direction


def type_of(name: str) -> str:
    """Return the relation type of a class.

    Examples
    --------
    >>> type_of("Activates(e2,e1)"), type_of("Binds")
    ('Activates', 'Binds')
    """
    match = _DIRECTED.fullmatch(name)
    return match["type"] if match else name


def is_directed(name: str) -> bool:
    """Return whether a class has a direction."""
    return type_of(name) != name


def is_backward(name: str) -> bool:
    """Return whether the first argument of a class comes second in the text."""
    return name.endswith(_BACKWARD)


class RelationClasses(NamedTuple):
    """Conversion of relations to classes.

    Attributes
    ----------
    labels : {"binary", "type", "directed"}
    undirected : tuple of str
        Types whose direction is left out.
    roles : dict of str to list of two str
        The roles of the arguments of a type; empty if their order varies without being known.
    arguments : dict of str to list of lists of two str
        For types whose direction follows from the types of the entities, or whose first argument
        always comes second in the text: the entity types of the arguments.
    """

    labels: str
    undirected: tuple[str, ...]
    roles: dict[str, list[str]]
    arguments: dict[str, list[list[str]]]

    @property
    def several(self) -> bool:
        """Whether there are classes of several relation types."""
        return self.labels != "binary" and len(self.roles) > 1

    def of(self, label: Any, first: str = "", second: str = "") -> str:
        """Return the class of a candidate, given its label with type and direction.

        The direction is left out of the class if it follows from the types of the entities, in
        text order.

        Examples
        --------
        >>> classes = RelationClasses("directed", ("binds",), {}, {"treats": [["drug", "disease"]]})
        >>> classes.of("binds(e2,e1)"), classes.of("treats(e2,e1)", "disease", "drug")
        ('binds', 'treats')
        """
        if label == NONE:
            return NONE
        if self.labels == "binary":
            return RELATION
        name = type_of(str(label))
        if self.labels == "type" or name in self.undirected:
            return name
        expected = name in self.arguments and (
            self.is_backward(name, first, second) == is_backward(str(label))
        )
        return name if expected else str(label)

    def is_backward(self, name: str, first: str, second: str) -> bool:
        """Return whether the first argument of a class comes second in the text.

        Parameters
        ----------
        name : str
            The class.
        first, second : str
            The types of the entities, in text order.
        """
        return is_backward(name) or [second, first] in self.arguments.get(name, ())

    @classmethod
    def learn(
        cls,
        sentences: Iterable[Sentence],
        labels: str,
        symmetric: Iterable[str],
        kinds: frozenset[str] | None,
    ) -> RelationClasses:
        """Return the classes of an annotated corpus.

        A type whose arguments have no roles, or equal ones, has no direction. With
        ``labels="auto"`` it has one only if both directions occur in the text, and do not follow
        from the types of the entities: else direction carries no information.
        """
        found: list[_Observed] = []
        for sentence in sentences:
            entities = {entity.id: entity for entity in sentence.entities}
            for relation in sentence.relations:
                if not _counts(relation, entities, kinds):
                    continue
                first, second = relation.arguments
                one, other = entities[first.target], entities[second.target]
                found.append(
                    _Observed(
                        relation.type,
                        [first.role, second.role],
                        first.role != second.role,
                        one.start <= other.start,
                        (one.type, other.type),
                    )
                )
        return cls._of(found, labels, symmetric)

    @classmethod
    def of_labels(
        cls,
        labeled: Iterable[tuple[str, str, str]],
        labels: str,
        symmetric: Iterable[str],
        roles: Mapping[str, Sequence[str]],
    ) -> RelationClasses:
        """Return the classes of labeled pairs, by the rules of `learn`.

        Parameters
        ----------
        labeled : iterable of (str, str, str)
            Label with type and direction, or ``"none"``, and the types of the entities in text
            order. A label without direction means that its type has none.
        labels, symmetric
            As for `RelationExtractor`.
        roles : mapping of str to two str
            Roles of the arguments by relation type. By default ``Arg1`` and ``Arg2`` if there is
            a label with direction, else empty.

        Examples
        --------
        >>> pairs = [("cuts(e1,e2)", "gene", "gene"), ("cuts(e2,e1)", "gene", "gene")]
        >>> learned = RelationClasses.of_labels([*pairs, ("binds", "gene", "gene")], "auto", (), {})
        >>> learned.undirected, learned.roles
        (('binds',), {'binds': ['', ''], 'cuts': ['Arg1', 'Arg2']})
        """
        listed = [row for row in labeled if row[0] != NONE]
        directed = {type_of(label) for label, _, _ in listed if type_of(label) != label}
        found = []
        for label, first, second in listed:
            name = type_of(label)
            named = list(roles.get(name, _ROLES if name in directed else ("", "")))
            backward = is_backward(label)
            ends = (second, first) if backward else (first, second)
            has_direction = name != label and named[0] != named[1]
            found.append(_Observed(name, named, has_direction, not backward, ends))
        return cls._of(found, labels, symmetric)

    @classmethod
    def _of(
        cls, observed: Iterable[_Observed], labels: str, symmetric: Iterable[str]
    ) -> RelationClasses:
        symmetric = frozenset(symmetric)
        orders: dict[str, set[bool]] = {}
        roles: dict[str, list[str]] = {}
        ends: dict[str, set[tuple[str, str]]] = {}
        for one in observed:
            name = RELATION if labels == "binary" else one.type
            if roles.setdefault(name, one.roles) != one.roles:
                roles[name] = ["", ""]
            if one.has_direction:
                orders.setdefault(name, set()).add(one.forward)
                ends.setdefault(name, set()).add(one.ends)
        undirected = {*symmetric, *(roles.keys() - orders.keys())}
        if labels == "auto":
            undirected |= {name for name, both in orders.items() if len(both) == 1}
        arguments = {
            name: sorted(map(list, found))
            for name, found in sorted(ends.items())
            if labels != "directed" and name not in undirected and _tells_direction(found)
        }
        if labels in ("type", "binary"):
            undirected |= roles.keys() - arguments.keys()
        for name in undirected & orders.keys():
            if name not in symmetric and orders[name] == {False} and _differ(roles[name]):
                arguments[name] = sorted(map(list, ends[name]))  # always the other way around
            else:
                roles[name] = _roles_in_text(roles[name], orders[name])
        kept = labels if labels in ("binary", "type") else "directed"
        return cls(kept, tuple(sorted(undirected)), dict(sorted(roles.items())), arguments)


class _Observed(NamedTuple):
    """A relation: its type and roles, whether it has a direction, and which one.

    ``forward`` tells whether its first argument comes first in the text; ``ends`` are the entity
    types of the arguments.
    """

    type: str
    roles: list[str]
    has_direction: bool
    forward: bool
    ends: tuple[str, str]


def _tells_direction(ends: set[tuple[str, str]]) -> bool:
    """Return whether no two entity types occur as arguments in both orders.

    Examples
    --------
    >>> _tells_direction({("drug", "disease")}), _tells_direction({("protein", "protein")})
    (True, False)
    """
    return not any((second, first) in ends for first, second in ends)


def _differ(roles: list[str]) -> bool:
    """Return whether roles have different names, not just different numbers.

    Examples
    --------
    >>> _differ(["Cause", "Theme"]), _differ(["Arg1", "Arg2"])
    (True, False)
    """
    return len({role.rstrip(string.digits) for role in roles}) == len(roles)


def _roles_in_text(roles: list[str], orders: set[bool]) -> list[str]:
    """Return the roles in text order, or empty ones if the order varies."""
    if len(orders) > 1:
        return ["", ""]
    return roles if orders == {True} else roles[::-1]


def _counts(relation: Relation, known: Mapping[str, Entity], kinds: frozenset[str] | None) -> bool:
    return (
        relation.holds
        and len(relation.arguments) == 2
        and all(argument.target in known for argument in relation.arguments)
        and (kinds is None or relation.type in kinds)
    )
