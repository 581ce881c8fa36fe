"""Views of two entities apart from their context: names, types, head words."""

from __future__ import annotations

import re
from functools import lru_cache

from kernelwood.structures import Sequence
from kernelwood.text import Entity, Sentence
from kernelwood.views.interaction_graphs import head_token
from kernelwood.views.word_sequences import stem

# Runs of letters and of digits, without the signs between them: IL-2, IL 2 and IL2 are one name.
_PIECES = re.compile(r"[^\W\d_]+|\d+")


def names(sentence: Sentence, first: Entity, second: Entity) -> Sequence:
    """Return the relation of the names of two entities, as a sequence of two labels.

    Views that blind entities do not show whether both are the same thing, or one abbreviates the
    other. This view contains only that relation.

    Parameters
    ----------
    sentence : Sentence
        The sentence of the entities.
    first, second : Entity
        The entities, in any order.

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


class EntityWords:
    """Head words of the entities of a sentence, prepared once for all pairs.

    The other views of pairs blind the entities, which is right if they are names. Where they are
    ordinary nouns, as *the storm caused damage*, or names that recur, their words say much about
    the relation.

    Parameters
    ----------
    sentence : Sentence
        Sentence with tokens.
    stems : bool
        Whether words are cut to stems; else they are lowercased.

    Examples
    --------
    >>> storm, damage = Entity("a", "", ((0, 14),)), Entity("b", "", ((22, 28),))
    >>> sentence = Sentence.from_words("tropical storm caused damage".split())
    >>> EntityWords(sentence).between(storm, damage)
    Sequence([('first', 'storm'), ('second', 'damag')])
    """

    __slots__ = ("_known", "_sentence", "_stems")

    def __init__(self, sentence: Sentence, *, stems: bool = True) -> None:
        self._sentence, self._stems = sentence, stems
        self._known: dict[int, tuple[Entity, str]] = {}

    def between(self, first: Entity, second: Entity) -> Sequence:
        """Return the head word of each entity, with its part in the pair as edge."""
        return Sequence._of(["first", "second"], [self._word(first), self._word(second)])

    def _word(self, entity: Entity) -> str:
        known = self._known.get(id(entity))  # entities are kept, so ids stay theirs
        if known is None:
            if self._sentence.tokens_of(entity):
                word = self._sentence.tokens[head_token(self._sentence, entity)].text
            else:
                word = _name_of(self._sentence, entity).rpartition(" ")[2]
            word = stem(word.lower()) if self._stems else word.lower()
            known = self._known[id(entity)] = (entity, word)
        return known[1]


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
        The names, in any order.

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
