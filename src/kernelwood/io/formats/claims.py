r"""Claims: relations found by another tool, to be verified by an extractor.

A file of claims has one claim per line, in JSON:

::

    {"text": "Raf binds Ras.",
     "entities": [{"id": "T1", "start": 0, "end": 3, "type": "protein"},
                  {"id": "T2", "start": 10, "end": 13, "type": "protein"}],
     "relation": {"type": "binds", "first": "T1", "second": "T2"}}

Offsets count characters. Optional are an ``id``; ``tokens``, ``dependencies`` and a ``tree`` as in
`kernelwood.text.sentence_json`, if the text is a single sentence; and ``metadata``, which is passed
on. The ``text`` of an entity is optional and must be that at its offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.alignment import guess_unit
from kernelwood.io.containers.limits import TOKEN_MEMORY, Limits, Meter
from kernelwood.io.formats.jsonl import decode_line
from kernelwood.io.ids import UsedIds
from kernelwood.io.lines import read_lines
from kernelwood.io.source import Readable, Source
from kernelwood.io.streams import ErrorPolicy, Input, ReadList, ReadStream, check_policy
from kernelwood.structures import (
    check_integer,
    check_list,
    check_object,
    decode_json,
    describe,
    shorten,
)
from kernelwood.text import Document, Entity, Origin, Sentence, sentence_from_object

_WHOLE = 1 << 28  # bytes of a file that is one JSON value
_PARSES = ("tokens", "dependencies", "tree")


@dataclass(frozen=True, slots=True)
class Claim:
    """A relation between two entities of a text, found by another tool.

    Attributes
    ----------
    id : str
        Id of the claim.
    type : str
        Relation type.
    first, second : str
        Ids of the entities, in the order of the arguments of the relation.
    annotated : Document or Sentence
        The text with its entities; a sentence if tokens are given.
    given : mapping
        The decoded line of the file.
    origin : Origin, optional
        File and position of the claim.
    problem : str
        Reason why the claim cannot be checked, such as a mention that is not in the text; ``first``
        and ``second`` are the mentions then.
    """

    id: str
    type: str
    first: str
    second: str
    annotated: Document | Sentence
    given: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    origin: Origin | None = None
    problem: str = ""

    @classmethod
    def from_object(cls, value: object, id: str = "claim", origin: Origin | None = None) -> Claim:
        """Return the claim of a decoded line of JSON.

        Parameters
        ----------
        value : dict
            The line; see the documentation of the module.
        id : str
            Id of a claim without one.
        origin : Origin, optional
            File and position of the claim.

        Raises
        ------
        StructureError
            If a part is missing or has the wrong type, entities overlap or lie outside the text,
            or the relation is not between two of them.

        Examples
        --------
        >>> raf, ras = {"id": "a", "start": 0, "end": 3}, {"id": "b", "start": 10, "end": 13}
        >>> relation = {"type": "binds", "first": "a", "second": "b"}
        >>> line = {"text": "Raf binds Ras.", "entities": [raf, ras], "relation": relation}
        >>> Claim.from_object(line).annotated
        Document('Raf binds Ras.', 2 entities)
        """
        if isinstance(value, dict) and {"relations", "triples"} & set(value):
            raise StructureError(
                "the line has a list of relations, but a claim has one 'relation'",
                hint="format='triples' reads texts with lists of quoted relations",
            )
        known = check_object(
            value,
            "the claim",
            ("text", "entities", "relation"),
            ("id", *_PARSES, "metadata"),
        )
        parts = check_object(known["relation"], "'relation'", ("type", "first", "second"))
        for owner, key in ((known, "text"), (known, "id"), *((parts, name) for name in parts)):
            if not isinstance(owner.get(key, ""), str):
                raise StructureError(f"{key!r} must be a string, got {describe(owner[key])}")
        annotated = _annotated(known)
        _check_ends(parts, annotated)
        return cls(
            known.get("id", id), parts["type"], parts["first"], parts["second"],
            annotated, known, origin,
        )  # fmt: skip


def _annotated(known: dict[str, Any]) -> Document | Sentence:
    rows = check_list(known["entities"], "'entities'")
    entities = [_entity(row, place, known["text"]) for place, row in enumerate(rows)]
    ordered = sorted(entities, key=lambda entity: (entity.start, entity.end))
    for one, other in pairwise(ordered):
        if other.start < one.end:
            raise StructureError(
                f"the entities {shorten(repr(one.id))} and {shorten(repr(other.id))} overlap",
                hint="keep one of them; not all entities of the text have to be given",
            )
    parses = {name: known[name] for name in _PARSES if name in known}
    if not parses:
        return Document(known["text"], tuple(entities))
    if "tokens" not in parses:
        raise StructureError(
            f"there is {' and '.join(map(repr, parses))}, but no 'tokens'",
            hint='give the words with their offsets: "tokens": [["Raf", 0, 3], ...]',
        )
    sentence = sentence_from_object({"text": known["text"], **parses})
    return sentence.with_parts(entities=tuple(entities))


def _entity(row: object, place: int, text: str) -> Entity:
    known = check_object(row, f"entity {place}", ("id", "start", "end"), ("type", "text"))
    for key in ("id", "type", "text"):
        if not isinstance(known.get(key, ""), str):
            raise StructureError(
                f"{key!r} of entity {place} must be a string, got {describe(known[key])}"
            )
    start, end = (
        check_integer(known[key], f"{key!r} of entity {place}") for key in ("start", "end")
    )
    if not 0 <= start < end <= len(text):
        raise StructureError(
            f"entity {shorten(repr(known['id']))} stands at [{start}, {end}), the text has "
            f"{len(text)} characters",
            hint="offsets count characters from 0; an end is the position after the last one",
        )
    found, mention = text[start:end], known.get("text", "")
    if mention and mention != found:
        raise StructureError(
            f"entity {shorten(repr(known['id']))} reads {shorten(repr(mention))}, but at its "
            f"offsets stands {shorten(repr(found))}",
            hint=guess_unit(mention, text, [(start, end)]) or "correct the offsets, or the text",
        )
    return Entity(known["id"], known.get("type", ""), ((start, end),), found)


def _check_ends(relation: dict[str, Any], annotated: Document | Sentence) -> None:
    ids = [entity.id for entity in annotated.entities]
    for key in ("first", "second"):
        if relation[key] not in ids:
            raise StructureError(
                f"the relation has {key} {shorten(repr(relation[key]))}, which is not an entity",
                hint=f"entities: {shorten(', '.join(map(repr, ids)), 200) or 'none'}",
            )
    if relation["first"] == relation["second"]:
        raise StructureError("the relation is between an entity and itself")


class Claims(ReadList[Claim]):
    """A list of claims with the counts of their reading in :attr:`tally`."""


class ClaimStream(ReadStream[Claim]):
    """Claims one at a time; made by :func:`iter_claims`."""


def iter_claims(
    path: Readable,
    errors: ErrorPolicy = "raise",
    *,
    format: str = "claims",
    entity_type: str = "",
    limits: Limits | None = None,
) -> ClaimStream:
    """Read claims one at a time; parameters are those of :func:`read_claims`."""
    from kernelwood.io.formats.claim_sources import CLAIM_SOURCES

    check_policy(errors)
    if format != "claims" and format not in CLAIM_SOURCES:
        known = ", ".join(("claims", *CLAIM_SOURCES))
        raise ValueError(f"format must be one of {known}; got {format!r}")
    source = Source(path, meter=Meter(limits))

    def parse(number: int, text: str) -> Claim:
        return Claim.from_object(
            decode_line(text), f"{source.stem}:{number}", source.origin(number)
        )

    found: Iterator[Claim | ReadError] = (
        read_lines(source, parse)
        if format == "claims"
        else _converted(source, CLAIM_SOURCES[format], entity_type)
    )
    return ClaimStream(Input(found, [source]), errors)


def _converted(
    source: Source, convert: Callable[[object], list[Any]], entity_type: str
) -> Iterator[Claim | ReadError]:
    """Yield the claims in the output of another tool."""
    from kernelwood.io.formats.claim_sources import record_claims

    used = UsedIds()
    longest = source.meter.limits.memory // TOKEN_MEMORY
    for number, (line, value) in enumerate(_values(source), 1):
        try:
            if isinstance(value, StructureError):
                raise value
            for place, record in enumerate(convert(value)):
                if len(record.text) > longest:
                    raise source.too_large(line or 1, "text")
                name = f"{source.stem}:{line or number}" + (f".{place}" if place else "")
                origin = Origin(source.name, line)
                for made in record_claims(record, name, origin, entity_type):
                    if isinstance(made, StructureError):
                        yield _located(source, made, line, number)
                    else:
                        yield used.check(made.id, line or number, source) or made
        except ReadError as failure:
            yield failure
        except StructureError as failure:
            yield _located(source, failure, line, number)


def _located(source: Source, failure: StructureError, line: int | None, number: int) -> ReadError:
    """Return an error with its line, or with the number of its record in an array."""
    where = "" if line else f"record {number}: "
    return source.error(
        f"{where}{failure.problem}", line=line, column=failure.column, hint=failure.hint
    )


def _values(source: Source) -> Iterator[tuple[int | None, Any]]:
    """Yield the values of JSON lines with their lines, or those of one JSON array or object."""
    begun = False
    for number, text, problem in source.lines():
        if problem is not None:
            yield number, problem
        elif not text.strip():
            continue
        elif not begun and (text.lstrip().startswith("[") or text.strip() == "{"):
            yield from ((None, value) for value in _whole(source, number, text))
            return
        else:
            yield number, _value(source, number, text)
        begun = True


def _value(source: Source, line: int, text: str) -> Any:
    """Return the value of a JSON line, or its error."""
    large = source.large_json(text, line) if len(text) > source.meter.json_room else None
    if large is not None:
        return large
    try:
        return decode_line(text)
    except StructureError as failure:
        return failure


def _whole(source: Source, line: int, first: str) -> list[Any]:
    """Return the values of an array, or the object, that begins in a line of a file."""
    blank = "\n" * (line - 1)
    text = f"{blank}{first}\n{source.read_text(_WHOLE)}"
    if len(text) > source.meter.json_room and (large := source.large_json(text, line)) is not None:
        raise large
    try:
        value = decode_json(text)
    except ReadError:
        raise
    except StructureError as failure:
        raise source.locate(failure, 1) from failure
    if isinstance(value, dict) and isinstance(value.get("statements"), (list, dict)):
        value = value["statements"]  # of INDRA, perhaps by hashes
        value = list(value.values()) if isinstance(value, dict) else value
    return value if isinstance(value, list) else [value]


def claim_schema() -> dict[str, Any]:
    """Return the JSON Schema of a line of a file of claims.

    It describes keys and types only. Offsets outside the text, overlapping entities and ids that
    refer to no entity are errors too.

    Examples
    --------
    >>> claim_schema()["required"]
    ['text', 'entities', 'relation']
    """
    file = Path(__file__).with_name("claim.schema.json")
    schema: dict[str, Any] = decode_json(file.read_text(encoding="utf-8"))
    return schema


def read_claims(
    path: Readable,
    errors: ErrorPolicy = "raise",
    *,
    format: str = "claims",
    entity_type: str = "",
    limits: Limits | None = None,
) -> Claims:
    """Read a file of claims.

    Parameters
    ----------
    path : str, PathLike or stream
        A file, which may be compressed, ``"-"`` for standard input, or an open stream.
    errors : {"raise", "skip", "collect"}
        Treatment of a bad line: raise a ``ReadError`` with its number, leave it out and count it,
        or also keep the error in ``tally.problems``.
    format : {"claims", "triples", "rebel", "glirel", "indra"}
        Claims, or the output of another tool: JSON lines, or one JSON array, of texts with
        relations. Mentions without offsets are found in the text; a claim whose mentions are not
        there has a ``problem``.
    entity_type : str
        Type of mentions without one.
    limits : Limits, optional
        Limits on compressed files and memory; see :class:`~kernelwood.io.Limits`.

    Returns
    -------
    Claims
        A list with a ``tally``.

    Examples
    --------
    >>> import io
    >>> read_claims(io.StringIO('{"text": "Raf"}'), errors="skip").tally
    <Tally: 0 read, 1 skipped (1 × the claim has no key …)>
    >>> found = '{"text": "Raf binds Ras.", "relations": [["Raf", "binds", "Ras"]]}'
    >>> [claim] = read_claims(io.StringIO(found), format="triples")
    >>> claim.annotated.entities[1].spans
    ((10, 13),)
    """
    with iter_claims(path, errors, format=format, entity_type=entity_type, limits=limits) as stream:
        return Claims(list(stream), stream.tally)
