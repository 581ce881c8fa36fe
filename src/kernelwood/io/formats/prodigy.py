r"""Prodigy: one annotated text per line, with spans and relations; read and written.

::

    {"text": "Raf binds Ras.", "tokens": [{"text": "Raf", "start": 0, "end": 3, "id": 0}, ...],
     "spans": [{"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "protein"}, ...],
     "relations": [{"head": 0, "child": 2, "label": "binds",
                    "head_span": {"start": 0, "end": 3, ...}, "child_span": {...}}],
     "answer": "accept", "meta": {"source": "invented"}}

Offsets count characters. The head of a relation is its argument ``Arg1``, the child ``Arg2``. They
are spans, or tokens by number: then the span that contains the token is meant, and the token itself
if there is none. A span of a relation that is not one of the ``spans`` becomes an entity as well.
Texts with the answer ``reject`` or ``ignore`` are left out, with a remark. ``meta`` becomes
metadata; its ``document`` is the document that examples are grouped by.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import partial
from typing import IO, Any

from kernelwood.errors import StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.formats.annotation_json import (
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
from kernelwood.io.source import Item, Remark, Source
from kernelwood.structures import check_integer, check_list, check_object, describe, encode_json
from kernelwood.text import Document, Entity, Example, Span, tokenize

_MARKS = frozenset({"spans", "answer", "_input_hash", "_task_hash"})
_REFUSED = {
    "reject": Remark("text with the answer reject"),
    "ignore": Remark("text with the answer ignore"),
}


def looks_like_prodigy(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be an export of Prodigy.

    Examples
    --------
    >>> looks_like_prodigy('{"text": "Raf", "spans": [], "answer": "accept"}')
    True
    """
    keys = first_object(head)
    return "text" in keys and (
        not _MARKS.isdisjoint(keys) or keys.get("tokens", "").startswith('[{"')
    )


def read_prodigy(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"document"`` for each text that was accepted."""
    return read_objects(source, partial(_read, source, views is None or "document" in views))


def _read(source: Source, shown: bool, part: JsonObject) -> list[Item]:
    known = check_object(part.value, "the text", ("text",), None)
    answer = known.get("answer", "accept")
    if answer in ("reject", "ignore"):
        return [_REFUSED[answer]]
    if answer != "accept":
        raise StructureError(f"'answer' must be accept, reject or ignore, got {describe(answer)}")
    draft = _Draft(known)
    relations = [
        pair(f"R{place + 1}", *draft.relation(row, f"relation {place}"))
        for place, row in enumerate(check_list(known.get("relations") or [], "'relations'"))
    ]
    meta = known.get("meta")
    document = Document(
        draft.text,
        tuple(draft.entities),
        tuple(relations),
        metadata=field_metadata(meta, ()) if isinstance(meta, dict) else (),
    )
    return [
        Example(
            f"{source.stem}:{part.number}",
            views={"document": document} if shown else {},
            origin=source.origin(part.line),
        )
    ]


class _Draft:
    """The entities of a text, found by their spans and tokens."""

    def __init__(self, known: dict[str, Any]) -> None:
        self.text = check_text(known["text"], "'text'")
        self.entities: list[Entity] = []
        self._by_span: dict[Span, list[Entity]] = {}
        self._tokens = [
            self._span(row, f"token {place}")
            for place, row in enumerate(check_list(known.get("tokens") or [], "'tokens'"))
        ]
        for place, row in enumerate(check_list(known.get("spans") or [], "'spans'")):
            what = f"span {place}"
            self._add(self._span(row, what), self._label(row, what))

    def relation(self, row: object, what: str) -> tuple[str, str, str]:
        """Return type, first and second entity of a relation."""
        known = check_object(row, what, ("label",), None)
        kind = check_text(known["label"], f"'label' of {what}")
        return kind, self._end(known, "head", what).id, self._end(known, "child", what).id

    def _end(self, known: dict[str, Any], key: str, what: str) -> Entity:
        name = f"'{key}_span' of {what}"
        written = known.get(f"{key}_span")
        if isinstance(written, dict):
            span, label = self._span(written, name), self._label(written, name)
        else:
            index = check_integer(known.get(key), f"{key!r} of {what}")
            if not 0 <= index < len(self._tokens):
                raise StructureError(
                    f"{key!r} of {what} is token {index}, there are {len(self._tokens)}",
                    hint="tokens are counted from 0",
                )
            span, label = self._tokens[index], ""
            around = [
                entity
                for entity in self.entities
                if entity.start <= span[0] and span[1] <= entity.end
            ]
            if around:
                return around[0]
        found = self._by_span.get(span, [])
        fitting = [entity for entity in found if not label or entity.type == label]
        return fitting[0] if fitting else self._add(span, label)

    def _add(self, span: Span, label: str) -> Entity:
        made = Entity(f"T{len(self.entities) + 1}", label, (span,), self.text[slice(*span)])
        self.entities.append(made)
        self._by_span.setdefault(span, []).append(made)
        return made

    def _span(self, row: object, what: str) -> Span:
        known = check_object(row, what, ("start", "end"), None)
        return check_span(known["start"], known["end"], len(self.text), what)

    def _label(self, row: dict[str, Any], what: str) -> str:
        label = row.get("label")
        return "" if label is None else check_text(label, f"'label' of {what}")


def prodigy_text(examples: Iterable[Example], *, view: str | None = None) -> Iterator[str]:
    r"""Yield a line for each example, as input for the recipe ``rel.manual``.

    The format holds entities of one span, relations between two of them, and metadata; other parts
    are left out, among them attributes, events, ids and the names of roles. Tokens are those of
    `kernelwood.text.tokenize`, with a boundary at the ends of entities.

    Parameters
    ----------
    examples : iterable of Example
        Their ids become ``document`` in ``meta``, if that is not in their metadata.
    view : str, optional
        Name of the view; by default "document", else "sentence", else the only view that is a
        document or a sentence.

    Examples
    --------
    >>> document = Document("Raf.", [Entity("T1", "protein", ((0, 3),))])
    >>> line = "".join(prodigy_text([Example("7", views={"document": document})]))
    >>> line.startswith('{"text":"Raf.","tokens":[{"text":"Raf","start":0,"end":3,"id":0,')
    True
    """
    return write_each(examples, partial(_line, view=view))


def _line(example: Example, view: str | None) -> str:
    annotated = annotated_to_write(example, view)
    text, entities = annotated.text, single_spans(annotated)
    edges = sorted({place for entity in entities for place in entity.spans[0]})
    tokens = list(tokenize(text, edges))
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]

    def span_of(entity: Entity) -> dict[str, object]:
        first = bisect_right(ends, entity.start)
        last = max(bisect_left(starts, entity.end) - 1, first)
        return {
            "start": entity.start,
            "end": entity.end,
            "token_start": first,
            "token_end": last,
            "label": entity.type,
        }

    spans = {entity.id: span_of(entity) for entity in entities}
    relations: list[dict[str, object]] = []
    for relation in pairs_of(annotated, entities):
        head, child = (spans[argument.target] for argument in relation.arguments)
        made = {"head": head["token_end"], "child": child["token_end"]}
        relations.append({**made, "head_span": head, "child_span": child, "label": relation.type})
    meta = metadata_fields(annotated.metadata, ())
    line: dict[str, object] = {
        "text": text,
        "tokens": [
            {
                "text": token.text,
                "start": token.start,
                "end": token.end,
                "id": place,
                "ws": text[token.end : token.end + 1].isspace(),
            }
            for place, token in enumerate(tokens)
        ],
        "spans": list(spans.values()),
        "relations": relations,
        "meta": {**meta, "document": meta.get("document", example.id)},
    }
    return f"{encode_json(line)}\n"


def write_prodigy(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    *,
    view: str | None = None,
) -> None:
    r"""Write examples as JSON lines of Prodigy; parameters are those of `prodigy_text`.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_prodigy([Example("a", views={"document": Document("")})], out)
    >>> out.getvalue()
    '{"text":"","tokens":[],"spans":[],"relations":[],"meta":{"document":"a"}}\n'
    """
    write_text(path, prodigy_text(examples, view=view))
