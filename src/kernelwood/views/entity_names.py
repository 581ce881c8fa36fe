"""Views of two entities apart from their context: relation of their names, their types."""

from __future__ import annotations

import re
from functools import lru_cache

from kernelwood.structures import Sequence
from kernelwood.text import Entity, Sentence

# Runs of letters and of digits, without the signs between them: IL-2, IL 2 and IL2 are one name.
_PIECES = re.compile(r"[^\W\d_]+|\d+")


def names(sentence: Sentence, first: Entity, second: Entity) -> Sequence:
    """Return the relation of the names of two entities, as a sequence of two labels.

    Views that blind entities do not show whether both are the same thing, or one abbreviates the
    other. This view contains nothing else.

    Parameters
    ----------
    sentence : Sentence
        The sentence of the entities.
    first, second : Entity
        In any order.

    Returns
    -------
    Sequence
        ``pair``, common to all pairs so that no similarity is 0 (which matters in products of
        kernels); then ``names:`` and the result of `name_relation`.

    Examples
    --------
    >>> first, second = Entity("a", "protein", ((0, 4),)), Entity("b", "protein", ((9, 13),))
    >>> names(Sentence("IL-2 and IL 2"), first, second)
    Sequence(['pair', 'names:same'])
    """
    return _sequence(name_relation(_name_of(sentence, first), _name_of(sentence, second)))


@lru_cache(maxsize=8)
def _sequence(relation: str) -> Sequence:
    return Sequence(["pair", f"names:{relation}"])


def entity_types(first: Entity, second: Entity) -> Sequence:
    """Return the types of two entities, as a sequence of one label.

    Parameters
    ----------
    first, second : Entity
        The types have this order.

    Examples
    --------
    >>> entity_types(Entity("a", "protein", ((0, 4),)), Entity("b", "gene", ((9, 13),)))
    Sequence(['types:protein+gene'])
    """
    return _types_sequence(first.type, second.type)


@lru_cache(maxsize=1000)
def _types_sequence(first: str, second: str) -> Sequence:
    return Sequence([f"types:{first}+{second}"])


def _name_of(sentence: Sentence, entity: Entity) -> str:
    return entity.text or " ".join(sentence.text[start:end] for start, end in entity.spans)


@lru_cache(maxsize=100_000)  # names are repeated often
def name_relation(first: str, second: str) -> str:
    """Return the relation of two names, ignoring case and signs.

    Parameters
    ----------
    first, second : str
        In any order.

    Returns
    -------
    {"same", "part", "short", "shared", "other"}
        The same letters and numbers; one contains the other; one begins with the initials of the
        other; they share a word or number; or none of these.

    Examples
    --------
    >>> name_relation("IL-2", "il 2"), name_relation("IL-2", "IL-2 receptor")
    ('same', 'part')
    >>> name_relation("tumor necrosis factor", "TNF-alpha"), name_relation("IL-2", "IL-6")
    ('short', 'shared')
    """
    one, other = _PIECES.findall(first.lower()), _PIECES.findall(second.lower())
    if not (one and other):  # signs only
        return "same" if first.strip() == second.strip() else "other"
    if one == other:
        return "same"
    if "".join(one) in "".join(other) or "".join(other) in "".join(one):
        return "part"
    if _initials(one, other) or _initials(other, one):
        return "short"
    return "other" if set(one).isdisjoint(other) else "shared"


def _initials(long: list[str], short: list[str]) -> bool:
    """Return whether a name begins with the initials of another, which has several pieces."""
    return len(long) > 1 and "".join(short).startswith("".join(piece[0] for piece in long))
