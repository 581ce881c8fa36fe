r"""doccano: one text per line, with entities and relations; read and written.

::

    {"id": 7, "text": "Raf binds Ras.",
     "entities": [{"id": 1, "label": "protein", "start_offset": 0, "end_offset": 3},
                  {"id": 2, "label": "protein", "start_offset": 10, "end_offset": 13}],
     "relations": [{"id": 1, "from_id": 1, "to_id": 2, "type": "binds"}]}

Exports of projects without relations have ``"label": [[0, 3, "protein"]]`` instead, or ``labels``.
Offsets count characters. Entities have the ids ``T1``, ``T2``, ... and relations ``R1``, ``R2``,
..., with the numbers of the file; arguments have the roles ``Arg1`` and ``Arg2``. Further fields
become metadata if they are strings or integers; comments of annotators are left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import IO, Any

from kernelwood.errors import StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.formats.annotation_json import (
    check_id,
    check_span,
    check_text,
    field_metadata,
    metadata_fields,
    pair,
    pairs_of,
    single_spans,
)
from kernelwood.io.formats.json_arrays import JsonObject, first_object, read_objects
from kernelwood.io.selection import annotated_to_write, write_each
from kernelwood.io.source import Item, Source
from kernelwood.structures import check_list, check_object, encode_json
from kernelwood.text import Document, Entity, Example, Relation

_KNOWN = ("id", "text", "entities", "relations", "label", "labels", "Comments")
_ROWS = re.compile(r"\[(?:\[\d|\]|$)")
_NUMBER = re.compile(r"T([1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,17}")


def looks_like_doccano(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be an export of doccano.

    Examples
    --------
    >>> looks_like_doccano('{"id": 1, "text": "Raf", "label": [[0, 3, "protein"]]}')
    True
    >>> looks_like_doccano('{"id": 1, "text": "Raf", "label": "positive"}')
    False
    """
    keys = first_object(head)
    if "text" not in keys or "tokens" in keys or "relation" in keys:
        return False
    if keys.get("entities", "").startswith("["):
        return "relations" in keys or '"start_offset"' in head
    return any(_ROWS.match(keys.get(key, "")) for key in ("label", "labels"))


def read_doccano(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"document"`` for each text."""
    return read_objects(source, partial(_read, source, views is None or "document" in views))


def _read(source: Source, shown: bool, part: JsonObject) -> list[Item]:
    known = check_object(part.value, "the text", ("text",), None)
    text = check_text(known["text"], "'text'")
    if "entities" in known:
        entities = _entities(known["entities"], text)
    else:
        entities = _rows(known.get("label", known.get("labels", [])), text)
    document = Document(
        text,
        tuple(entities),
        tuple(_relations(known.get("relations", []))),
        metadata=field_metadata(known, _KNOWN),
    )
    name = known.get("id")
    return [
        Example(
            f"{source.stem}:{part.number}" if name is None else check_id(name, "'id'"),
            views={"document": document} if shown else {},
            origin=source.origin(part.line),
        )
    ]


def _entities(value: object, text: str) -> Iterator[Entity]:
    for place, row in enumerate(check_list(value, "'entities'")):
        what = f"entity {place}"
        needed = ("id", "label", "start_offset", "end_offset")
        known = check_object(row, what, needed, None)
        span = check_span(known["start_offset"], known["end_offset"], len(text), what)
        kind = check_text(known["label"], f"'label' of {what}")
        number = check_id(known["id"], f"'id' of {what}")
        yield Entity(f"T{number}", kind, (span,), text[slice(*span)])


def _rows(value: object, text: str) -> Iterator[Entity]:
    for place, row in enumerate(check_list(value, "'label'")):
        what = f"label {place}"
        if len(check_list(row, what)) != 3:
            raise StructureError(f"{what} has {len(row)} values, expected start, end and type")
        span = check_span(row[0], row[1], len(text), what)
        kind = check_text(row[2], f"the type of {what}")
        yield Entity(f"T{place + 1}", kind, (span,), text[slice(*span)])


def _relations(value: object) -> Iterator[Relation]:
    for place, row in enumerate(check_list(value, "'relations'")):
        what = f"relation {place}"
        known = check_object(row, what, ("from_id", "to_id", "type"), None)
        ends = [f"T{check_id(known[key], f'{key!r} of {what}')}" for key in ("from_id", "to_id")]
        number = check_id(known.get("id", place + 1), f"'id' of {what}")
        kind = check_text(known["type"], f"'type' of {what}")
        yield pair(f"R{number}", kind, ends[0], ends[1])


def doccano_text(examples: Iterable[Example], *, view: str | None = None) -> Iterator[str]:
    r"""Yield a line for each example.

    The format holds entities of one span, relations between two of them, and metadata; other parts
    are left out, among them attributes, events and the names of roles.

    Parameters
    ----------
    examples : iterable of Example
        Entities whose ids are not all of the form ``T1`` get new numbers, and so do relations.
    view : str, optional
        Name of the view; by default "document", else "sentence", else the only view that is a
        document or a sentence.

    Examples
    --------
    >>> document = Document("Raf binds.", [Entity("T1", "protein", ((0, 3),))])
    >>> line = "".join(doccano_text([Example("7", views={"document": document})]))
    >>> line.startswith('{"id":7,"text":"Raf binds.","entities":[{"id":1,"label":"protein",')
    True
    """
    return write_each(examples, partial(_line, view=view))


def _line(example: Example, view: str | None) -> str:
    annotated = annotated_to_write(example, view)
    entities = single_spans(annotated)
    found = [_NUMBER.fullmatch(entity.id) for entity in entities]
    numbers = {
        entity.id: int(match[1]) if match is not None and all(found) else place
        for place, (entity, match) in enumerate(zip(entities, found, strict=True), start=1)
    }
    made: dict[str, Any] = {
        "id": int(example.id) if _DECIMAL.fullmatch(example.id) else example.id,
        "text": annotated.text,
        **metadata_fields(annotated.metadata, _KNOWN),
        "entities": [
            {
                "id": numbers[entity.id],
                "label": entity.type,
                "start_offset": entity.start,
                "end_offset": entity.end,
            }
            for entity in entities
        ],
    }
    made["relations"] = [
        {
            "id": number,
            "from_id": numbers[relation.arguments[0].target],
            "to_id": numbers[relation.arguments[1].target],
            "type": relation.type,
        }
        for number, relation in enumerate(pairs_of(annotated, entities), start=1)
    ]
    return f"{encode_json(made)}\n"


def write_doccano(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    *,
    view: str | None = None,
) -> None:
    r"""Write examples as JSON lines of doccano; parameters are those of `doccano_text`.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_doccano([Example("a", views={"document": Document("Raf")})], out)
    >>> out.getvalue()
    '{"id":"a","text":"Raf","entities":[],"relations":[]}\n'
    """
    write_text(path, doccano_text(examples, view=view))
