"""Classes: how annotated relations become what a classifier learns, and back.

A class is ``"none"``, or the name of a relation; where the annotation runs in both directions, it
is the name with a direction, ``"Activates(e2,e1)"`` if its first argument comes second in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from kernelwood.relations.candidates import NONE
from kernelwood.text import Relation, Sentence

RELATION = "relation"  # the class of pairs with labels="binary"
EVENT = "event"  # the class of events; their type is that of the trigger

_DIRECTED = re.compile(r"(?P<type>.*)\((?:e1,e2|e2,e1)\)", re.DOTALL)
_BACKWARD = "(e2,e1)"


def type_of(name: str) -> str:
    """Return the relation type of a class.

    Examples
    --------
    >>> type_of("Activates(e2,e1)"), type_of("Binds")
    ('Activates', 'Binds')
    """
    match = _DIRECTED.fullmatch(name)
    return match["type"] if match else name


def is_backward(name: str) -> bool:
    """Return whether the first argument of a class comes second in the text."""
    return name.endswith(_BACKWARD)


class RelationClasses(NamedTuple):
    """How relations become classes.

    Attributes
    ----------
    labels : {"binary", "type", "directed"}
    undirected : tuple of str
        Types whose direction is left out.
    roles : dict of str to list of two str
        The roles of the arguments of a type; for a type without direction, in text order.
    """

    labels: str
    undirected: tuple[str, ...]
    roles: dict[str, list[str]]

    def of(self, label: Any) -> str:
        """Return the class of a candidate, given its label with type and direction.

        Examples
        --------
        >>> RelationClasses("directed", ("binds",), {}).of("binds(e2,e1)")
        'binds'
        """
        if label == NONE:
            return NONE
        if self.labels == "binary":
            return RELATION
        name = type_of(str(label))
        return name if self.labels == "type" or name in self.undirected else str(label)

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
        ``labels="auto"`` it has one only if both directions occur in the text: if the first
        argument always comes first, direction carries no information.
        """
        orders: dict[str, set[bool]] = {}
        roles: dict[str, list[str]] = {}
        for sentence in sentences:
            starts = {entity.id: entity.start for entity in sentence.entities}
            for relation in sentence.relations:
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
        return cls(kept, tuple(sorted(undirected)), dict(sorted(roles.items())))


def _roles_in_text(roles: list[str], orders: set[bool]) -> list[str]:
    """Return the roles in text order, or empty ones if the order varies."""
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
