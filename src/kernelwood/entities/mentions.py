"""Mentions found in texts, and their conversion to entities of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple, TypeVar, cast

from kernelwood.io import in_one_line
from kernelwood.text import Attribute, Document, Entity, Sentence

_A = TypeVar("_A", bound="Document | Sentence")

REFERENCE = "Reference"
PROBABILITY = "probability"


class Mention(NamedTuple):
    """A mention found in a text.

    Attributes
    ----------
    start, end : int
        Its span.
    type : str
        Type of the entity.
    probability : float or None
        Probability of exactly this mention, if it was found by a tagger.
    reference : str
        Id of the entity in a database and its name there, separated by a tab; or "".
    """

    start: int
    end: int
    type: str
    probability: float | None = None
    reference: str = ""


def without_overlap(
    preferred: Iterable[Mention], others: Iterable[Mention] = (), taken: Iterable[Entity] = ()
) -> list[Mention]:
    """Return mentions that do not overlap, in the order of the text.

    Of mentions that overlap, the longest is kept; of equally long ones the first of ``preferred``,
    or else of ``others``. Mentions that overlap an entity of ``taken`` are left out.

    Examples
    --------
    >>> listed = [Mention(0, 3, "gene"), Mention(8, 11, "gene")]
    >>> found = [Mention(0, 5, "protein"), Mention(8, 11, "protein")]
    >>> [(one.start, one.end, one.type) for one in without_overlap(listed, found)]
    [(0, 5, 'protein'), (8, 11, 'gene')]
    """
    covered = {
        place for entity in taken for start, end in entity.spans for place in range(start, end)
    }
    ranked = sorted(
        [(0, one) for one in preferred] + [(1, one) for one in others],
        key=lambda row: (row[1].start - row[1].end, row[0], row[1].start),
    )
    kept = []
    for _, one in ranked:
        places = range(one.start, one.end)
        if covered.isdisjoint(places):
            covered.update(places)
            kept.append(one)
    return sorted(kept)


def mention_entity(name: str, text: str, start: int, end: int, type: str) -> Entity:
    """Return a span of a text as an entity."""
    written = text[start:end]
    if not written.isprintable():
        written = in_one_line(written)
    return Entity(name, type, ((start, end),), written)


def free_names(letter: str, used: set[str]) -> Iterator[str]:
    """Yield ids such as ``T1``, ``T2``, ... that are not in use."""
    return (name for name in map(f"{letter}{{}}".format, count(1)) if name not in used)


def add_mentions(document: _A, mentions: Iterable[Mention]) -> _A:
    r"""Return a document or sentence with mentions as further entities.

    Ids are ``T1``, ``T2``, ..., if not in use. References become attributes ``N1``, ... of type
    ``"Reference"``, as in standoff normalizations; probabilities attributes ``A1``, ... of type
    ``"probability"``.

    Examples
    --------
    >>> found = Mention(0, 3, "protein", 0.98765, "UniProt:P04049\tRaf-1")
    >>> for attribute in add_mentions(Document("Raf binds."), [found]).attributes:
    ...     print(*attribute[:3], repr(attribute.value))
    N1 Reference T1 'UniProt:P04049\tRaf-1'
    A1 probability T1 '0.988'
    """
    parts = (document.entities, document.relations, document.events, document.attributes)
    used = {part.id for listed in parts for part in listed}
    names, references, attributes = (free_names(letter, used) for letter in "TNA")
    entities: list[Entity] = []
    added: list[Attribute] = []
    for start, end, kind, probability, reference in mentions:
        entity = mention_entity(next(names), document.text, start, end, kind)
        entities.append(entity)
        if reference:
            added.append(Attribute(next(references), REFERENCE, entity.id, reference))
        if probability is not None:
            value = f"{probability:.3f}"
            added.append(Attribute(next(attributes), PROBABILITY, entity.id, value))
    made = document._with(
        entities=(*document.entities, *entities),
        attributes=(*document.attributes, *added),
    )
    return cast(_A, made)
