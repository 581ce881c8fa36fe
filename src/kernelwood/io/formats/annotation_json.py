"""Shared parts of the JSON formats of annotation tools."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from kernelwood.errors import StructureError
from kernelwood.io.formats.concepts import ROLES
from kernelwood.structures import check_integer, describe
from kernelwood.text import Argument, Document, Entity, Metadata, Relation, Sentence, Span

# Types of attributes that Label Studio holds, as notes and scores.
HELD = ("Reference", "AnnotatorNotes", "probability")


def check_text(value: object, what: str) -> str:
    """Return ``value`` if it is a string.

    Examples
    --------
    >>> check_text(7, "'text'")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: 'text' must be a string, got the number 7
    """
    if type(value) is not str:
        raise StructureError(f"{what} must be a string, got {describe(value)}")
    return value


def check_id(value: object, what: str) -> str:
    """Return a string or an integer as a string.

    Examples
    --------
    >>> check_id(7, "'id'")
    '7'
    """
    return check_text(str(value) if type(value) is int else value, what)


def check_span(start: object, end: object, length: int, what: str) -> Span:
    """Return the offsets of a mention in a text of some length.

    Examples
    --------
    >>> check_span(0, 3, 3, "entity 7")
    (0, 3)
    """
    first, last = check_integer(start, f"start of {what}"), check_integer(end, f"end of {what}")
    if not 0 <= first < last <= length:
        raise StructureError(
            f"{what} stands at [{first}, {last}), the text has {length} characters",
            hint="offsets count characters from 0; an end is the position after the last one",
        )
    return first, last


def pair(name: str, kind: str, first: str, second: str) -> Relation:
    """Return a relation between two entities.

    Examples
    --------
    >>> pair("R1", "binds", "T1", "T2").arguments
    (Argument(role='Arg1', target='T1'), Argument(role='Arg2', target='T2'))
    """
    return Relation(name, kind, (Argument(ROLES[0], first), Argument(ROLES[1], second)))


def unused_ids(letter: str, taken: Collection[str]) -> Iterator[str]:
    """Yield ids of a letter and a number that are not taken.

    Examples
    --------
    >>> next(unused_ids("R", {"R1"}))
    'R2'
    """
    return (name for name in map(f"{letter}{{}}".format, count(1)) if name not in taken)


def field_metadata(fields: Mapping[str, Any], known: Collection[str]) -> Metadata:
    """Return the fields of an object that are strings or integers, without known ones.

    Examples
    --------
    >>> field_metadata({"text": "Raf", "pmid": 7, "tags": []}, ["text"])
    (('pmid', '7'),)
    """
    return tuple(
        (key, value if type(value) is str else str(value))
        for key, value in fields.items()
        if key not in known and type(value) in (str, int)
    )


def metadata_fields(metadata: Metadata, known: Collection[str]) -> dict[str, str]:
    """Return metadata as fields of an object, the inverse of `field_metadata`.

    Examples
    --------
    >>> metadata_fields((("pmid", "7"), ("text", "x")), ["text"])
    {'pmid': '7'}
    """
    return {key: value for key, value in metadata if value is not None and key not in known}


def single_spans(annotated: Document | Sentence) -> tuple[Entity, ...]:
    """Return the entities of one span, the only ones that annotation tools have.

    Examples
    --------
    >>> single_spans(Document("Raf", [Entity("T1", "x", ((0, 1), (2, 3))), Entity("T2", "x", ())]))
    ()
    """
    return tuple(entity for entity in annotated.entities if len(entity.spans) == 1)


def pairs_of(annotated: Document | Sentence, entities: Iterable[Entity]) -> Iterator[Relation]:
    """Yield the relations that hold between two of some entities."""
    known = {entity.id for entity in entities}
    for relation in annotated.relations:
        targets = [argument.target for argument in relation.arguments]
        if relation.holds and len(targets) == 2 and known.issuperset(targets):
            yield relation


def left_out_of_tool(format: str, annotated: Document | Sentence) -> Iterator[str]:
    """Yield the parts of annotated text that the format of an annotation tool does not hold.

    Examples
    --------
    >>> list(left_out_of_tool("doccano", Document("Raf", [Entity("T1", "x", ())])))
    ['entities of several spans, or of none']
    """
    entities = single_spans(annotated)
    if annotated.events:
        yield "events"
    if format != "labelstudio" and annotated.attributes:
        yield "attributes"
    if isinstance(annotated, Document) and annotated.parse:
        yield "the parse"
    if len(entities) < len(annotated.entities):
        yield "entities of several spans, or of none"
    if sum(1 for _ in pairs_of(annotated, entities)) < len(annotated.relations):
        yield "relations that are negative or not pairs of such entities"
    roles = {part.role for item in annotated.relations for part in item.arguments}
    if not roles <= {*ROLES}:
        yield "roles of arguments"
    if format == "labelstudio" and any(item.type not in HELD for item in annotated.attributes):
        yield "attributes other than database ids, notes and probabilities"
