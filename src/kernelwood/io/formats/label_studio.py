r"""Label Studio tasks: texts with entities and relations, read and written.

::

    [{"id": 7, "data": {"text": "Raf binds Ras."},
      "annotations": [{"result": [
        {"id": "a", "from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 0, "end": 3, "text": "Raf", "labels": ["protein"]}},
        {"id": "b", "from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 10, "end": 13, "text": "Ras", "labels": ["protein"]}},
        {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right",
         "labels": ["binds"]}]}]}]

- Of several annotations of a task, the last one that is not cancelled is read; the others are
  counted. A prediction is read if a task has no annotation at all, with a remark. A task whose
  annotations are all cancelled is left out, with a remark.
- The text is the field ``text`` of ``data``, or the only field that is a string and fits the
  regions. Other fields become metadata. The id of an example is the field ``id`` of ``data`` if
  that is a string, else the id of the task.
- Offsets count characters, as Label Studio writes them today, or UTF-16 units, as versions before
  1.4 did; the text of the regions tells which.
- The direction ``left`` swaps the arguments; ``bi`` keeps their order. A relation without a label
  has the type ``relation``. Arguments have the roles ``Arg1`` and ``Arg2``.
- ``score`` of a region or relation is an attribute ``probability``. A note of a region that begins
  with ``Reference:`` is an attribute of that type, which holds a database id; other notes are
  attributes of the type ``AnnotatorNotes``.
- The export JSON-MIN is read too; it has no relations.
- Regions of HTML (``HyperText``) and of dialogues (``Paragraphs``) are refused.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate, chain, count
from math import isfinite
from typing import IO, Any

from kernelwood.errors import StructureError
from kernelwood.io.alignment import guess_unit
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
    unused_ids,
)
from kernelwood.io.formats.json_arrays import JsonObject, first_object, read_objects
from kernelwood.io.selection import annotated_to_write, write_each
from kernelwood.io.source import Item, Remark, Source
from kernelwood.structures import check_list, check_object, describe, encode_json, shorten
from kernelwood.text import Attribute, Document, Entity, Example, Relation, Sentence, Span

_MARKUP = {"hypertextlabels": "HTML", "paragraphlabels": "a dialogue"}
NOTES = ("Reference", "AnnotatorNotes", "probability")  # attributes that tasks hold
_REFERENCE = "Reference: "
_NO_LABEL = "relation"
_BLANKS = re.compile(r"(?:\s|\\n)+")
_WIDE = re.compile("[\U00010000-\U0010ffff]")
# Fields of a task of the export JSON-MIN that are not fields of its data.
_SMALL = frozenset(
    {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"}
)
_LATER = Remark("annotation of a task that has a later one")
_CANCELLED = Remark("task that was cancelled")
_PREDICTION = Remark("prediction of a task without annotations")
_UNANNOTATED = Remark("task without annotations")
_MORE_LABELS = Remark("further label of a region")
_OTHER = Remark("result that is neither a region of the text nor a relation")
_LOOSE = Remark("relation of a region that is not an entity")


def looks_like_label_studio(head: str) -> bool:
    """Return whether a file that begins with ``head`` may hold Label Studio tasks.

    Examples
    --------
    >>> looks_like_label_studio('[{"id": 1, "annotations": [], "data": {"text": "Raf"}}]')
    True
    """
    keys = first_object(head)
    if keys.get("data", "").startswith("{"):
        return True
    if "data" not in keys and not {"annotations", "completions", "predictions"}.isdisjoint(keys):
        return '"from_name"' in head  # the list may be longer than the text that is looked at
    return {"annotation_id", "lead_time"} <= keys.keys()


def read_label_studio(
    source: Source, views: tuple[str, ...] | None = None, *, text_field: str | None = None
) -> Iterator[Item]:
    """Yield an example with the view ``"document"`` for each task.

    ``text_field`` is the field of ``data`` that holds the text, by default found as described in
    the module text.
    """
    shown = views is None or "document" in views
    return read_objects(source, partial(_read_task, source, shown, text_field))


def _read_task(source: Source, shown: bool, field: str | None, part: JsonObject) -> list[Item]:
    task, remarks = part.value, list[Item]()
    if "data" in task:
        data = check_object(task["data"], "'data' of the task", optional=None)
        chosen = _choose_results(task, remarks)
    else:
        data, chosen = _split_small_task(task)
    if chosen is None:
        return remarks
    results = [
        check_object(result, f"result {place}", optional=None)
        for place, result in enumerate(check_list(chosen, "'result'"))
    ]
    document = _Draft(results, remarks).document(data, field)
    name = data.get("id") if type(data.get("id")) is str else task.get("id")
    example = Example(
        f"{source.stem}:{part.number}" if name is None else check_id(name, "'id' of the task"),
        views={"document": document} if shown else {},
        origin=source.origin(part.line),
    )
    return [*remarks, example]


def _choose_results(task: dict[str, Any], remarks: list[Item]) -> Any:
    """Return the list of results to read; None if the task is left out."""
    key = "annotations" if "annotations" in task else "completions"  # the name before 1.0
    listed = [
        check_object(made, f"annotation {place}", optional=None)
        for place, made in enumerate(check_list(task.get(key) or [], repr(key)))
        if type(made) is not int  # the export with ids only
    ]
    kept = [made for made in listed if not made.get("was_cancelled")]
    if kept:
        remarks += [_LATER] * (len(kept) - 1)
        return kept[-1].get("result", [])
    if listed:
        remarks.append(_CANCELLED)
        return None
    predictions = [
        check_object(made, f"prediction {place}", optional=None)
        for place, made in enumerate(check_list(task.get("predictions") or [], "'predictions'"))
        if type(made) is not int
    ]
    remarks.append(_PREDICTION if predictions else _UNANNOTATED)
    return predictions[-1].get("result", []) if predictions else []


def _split_small_task(task: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """Return data and results of a task of the export JSON-MIN."""
    data, results = dict[str, Any](), list[Any]()
    for key, value in task.items():
        if isinstance(value, list) and all(_is_region(one) for one in value):
            results += [
                {"id": f"T{place}", "type": "labels", "value": one}
                for place, one in enumerate(value, start=len(results) + 1)
            ]
        elif key not in _SMALL:
            data[key] = value
    if not data:
        raise StructureError("the task has no 'data'", hint="export the tasks as JSON")
    return data, results


def _is_region(value: object) -> bool:
    return isinstance(value, dict) and "start" in value and "end" in value


class _Draft:
    """Results of an annotation on the way to a document."""

    def __init__(self, results: list[dict[str, Any]], remarks: list[Item]) -> None:
        self._remarks = remarks
        self._regions: dict[str, dict[str, Any]] = {}
        self._relations: list[dict[str, Any]] = []
        for place, result in enumerate(results):
            self._sort(result, place)

    def _sort(self, result: dict[str, Any], place: int) -> None:
        kind = str(result.get("type"))
        if kind == "relation":
            self._relations.append(result)
            return
        value = result.get("value")
        value = value if isinstance(value, dict) else {}
        if kind in _MARKUP or "startOffset" in value:
            markup = _MARKUP.get(kind, "HTML")
            raise StructureError(
                f"result {place} is a region of {markup} (type {shorten(repr(kind))}); only "
                "regions of plain text can be read",
                hint="annotate with the tag <Text> instead of <HyperText> or <Paragraphs>",
            )
        if kind != "labels":
            self._remarks.append(_OTHER)
            return
        name = check_id(result.get("id"), f"'id' of result {place}")
        if name in self._regions:
            self._remarks.append(_MORE_LABELS)
        else:
            self._regions[name] = {**result, "value": value}

    def document(self, data: dict[str, Any], field: str | None) -> Document:
        """Return the document of a task."""
        chosen, spans = self._place(data, field)
        text: str = data[chosen]
        entities, attributes = [], list[Attribute]()
        for name, span in spans.items():
            region = self._regions[name]
            labels = check_list(region["value"].get("labels") or [""], f"labels of region {name!r}")
            self._remarks += [_MORE_LABELS] * (len(labels) - 1)
            kind = check_text(labels[0], f"a label of region {shorten(repr(name))}")
            entities.append(Entity(name, kind, (span,), text[slice(*span)]))
            attributes += _notes(region, name)
        relations = self._made_relations(attributes)
        taken = {*self._regions, *(relation.id for relation in relations)}
        ids = {letter: unused_ids(letter, taken) for letter in ("N", "#", "A")}
        return Document(
            text,
            tuple(entities),
            tuple(relations),
            attributes=tuple(item._replace(id=next(ids[item.id])) for item in attributes),
            metadata=field_metadata(data, (chosen, "id") if _has_id(data) else (chosen,)),
        )

    def _made_relations(self, attributes: list[Attribute]) -> list[Relation]:
        made: list[Relation] = []
        ids = unused_ids("R", self._regions)
        for place, result in enumerate(self._relations):
            what = f"relation {place}"
            ends = [check_id(result.get(key), f"{key!r} of {what}") for key in ("from_id", "to_id")]
            if not self._regions.keys() >= set(ends):
                self._remarks.append(_LOOSE)
                continue
            direction = result.get("direction", "right")
            if direction not in ("right", "left", "bi"):
                raise StructureError(
                    f"'direction' of {what} must be right, left or bi, got {describe(direction)}"
                )
            if direction == "left":
                ends.reverse()
            for label in check_list(result.get("labels") or [_NO_LABEL], f"labels of {what}"):
                kind = check_text(label, f"a label of {what}")
                made.append(pair(next(ids), kind, ends[0], ends[1]))
                attributes += _score(result, made[-1].id)
        return made

    def _place(self, data: dict[str, Any], field: str | None) -> tuple[str, dict[str, Span]]:
        """Return the field of the text, and the spans of the regions in it."""
        if field is not None:
            fields = [field]
            check_text(data.get(field), f"field {shorten(repr(field))} of 'data'")
        elif type(data.get("text")) is str:
            fields = ["text"]
        else:
            fields = [key for key, value in data.items() if type(value) is str and key != "id"]
        failure: StructureError | None = None
        fitting: list[tuple[str, dict[str, Span]]] = []
        for key in fields:
            try:
                fitting.append((key, self._spans(data[key])))
            except StructureError as problem:
                failure = failure or problem
        if len(fitting) == 1:
            return fitting[0]
        if failure is not None and not fitting:
            raise failure
        listed = shorten(", ".join(map(repr, fields)), 200)
        raise StructureError(
            f"cannot tell which field of 'data' is the text: {listed}"
            if fields
            else "no field of 'data' is a string",
            hint="name it with text_field=...",
        )

    def _spans(self, text: str) -> dict[str, Span]:
        """Return the spans of all regions, in characters."""
        plain = {
            name: (region["value"].get("start"), region["value"].get("end"))
            for name, region in self._regions.items()
        }
        wide = _WIDE.search(text) is not None
        if wide and self._fit(text, self._from_utf16(text, plain)) and not self._fit(text, plain):
            plain = self._from_utf16(text, plain)
        made: dict[str, Span] = {}
        for name, (start, end) in plain.items():
            what = f"region {shorten(repr(name))}"
            made[name] = span = check_span(start, end, len(text), what)
            mention = self._mention(name)
            if not _same(mention, text[slice(*span)]):
                raise StructureError(
                    f"{what} reads {shorten(repr(mention))}, but at its offsets stands "
                    f"{shorten(repr(text[slice(*span)]))}",
                    hint=guess_unit(mention, text, [span])
                    or "the text was changed after it was annotated, or is another field",
                )
        return made

    def _fit(self, text: str, spans: dict[str, tuple[Any, Any]]) -> bool:
        return all(
            type(start) is int
            and type(end) is int
            and 0 <= start < end <= len(text)
            and _same(self._mention(name), text[start:end])
            for name, (start, end) in spans.items()
        )

    def _from_utf16(self, text: str, spans: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return spans that count UTF-16 units in characters; other values stay as they are."""
        units = [0, *accumulate(2 if character > "\uffff" else 1 for character in text)]

        def moved(offset: object) -> object:
            if type(offset) is not int or not 0 <= offset <= units[-1]:
                return offset
            return bisect_left(units, offset)

        return {name: (moved(start), moved(end)) for name, (start, end) in spans.items()}

    def _mention(self, name: str) -> str:
        """Return the text of a region; empty if the export does not have it."""
        value = self._regions[name]["value"].get("text")
        return value if isinstance(value, str) else ""


def _same(mention: str, found: str) -> bool:
    # Browsers change blanks and line ends.
    if not mention or mention == found:
        return True
    return _BLANKS.sub(" ", mention).strip() == _BLANKS.sub(" ", found).strip()


def _has_id(data: dict[str, Any]) -> bool:
    return type(data.get("id")) is str


def _notes(region: dict[str, Any], target: str) -> Iterator[Attribute]:
    """Yield the score and the notes of a region as attributes; ids are their letter as in brat."""
    yield from _score(region, target)
    meta = region.get("meta")
    notes = meta.get("text") if isinstance(meta, dict) else None
    for note in notes if isinstance(notes, list) else [notes]:
        if isinstance(note, str) and note.startswith(_REFERENCE):
            yield Attribute("N", "Reference", target, note[len(_REFERENCE) :])
        elif isinstance(note, str):
            yield Attribute("#", "AnnotatorNotes", target, note)


def _score(result: dict[str, Any], target: str) -> Iterator[Attribute]:
    score = result.get("score")
    if type(score) in (int, float):
        yield Attribute("A", "probability", target, repr(score))


def label_studio_text(
    examples: Iterable[Example],
    *,
    view: str | None = None,
    predictions: bool = False,
    model_version: str = "kernelwood",
) -> Iterator[str]:
    r"""Yield an array of tasks, one in each line.

    The format holds entities of one span, relations between two of them, database ids, notes and
    probabilities, and metadata; other parts are left out, among them events, the names of roles
    and the ids of relations.

    Parameters
    ----------
    examples : iterable of Example
        Their ids become the field ``id`` of the data.
    view : str, optional
        Name of the view; by default "document", else "sentence", else the only view that is a
        document or a sentence.
    predictions : bool
        Write predictions, which Label Studio shows as pre-annotations, instead of annotations.
        Attributes of the type ``probability`` become scores, their mean that of the prediction.
    model_version : str
        Name of the predictions in Label Studio.

    Examples
    --------
    >>> document = Document("Raf binds.", [Entity("T1", "protein", ((0, 3),))])
    >>> tasks = "".join(label_studio_text([Example("a", views={"document": document})]))
    >>> tasks.startswith('[\n{"id":1,"data":{"text":"Raf binds.","id":"a"},"annotations":[')
    True
    """
    numbers = count(1)

    def write(example: Example) -> str:
        annotated = annotated_to_write(example, view)
        results, scores = _results(annotated)
        fields = metadata_fields(annotated.metadata, ("text", "id"))
        data = {"text": annotated.text, "id": example.id, **fields}
        task: dict[str, object] = {"id": next(numbers), "data": data}
        made: dict[str, object] = {"result": results}
        if predictions:
            made = {"model_version": model_version, **made}
            if scores:
                made["score"] = sum(scores) / len(scores)
        task["predictions" if predictions else "annotations"] = [made]
        return encode_json(task)

    return _bracketed(write_each(examples, write))


def _bracketed(lines: Iterable[str]) -> Iterator[str]:
    yield "["
    for number, line in enumerate(lines):
        yield f",\n{line}" if number else f"\n{line}"
    yield "\n]\n"


def _results(annotated: Document | Sentence) -> tuple[list[dict[str, object]], list[float]]:
    """Return the results of an annotation, and the probabilities in it."""
    entities = single_spans(annotated)
    notes: dict[str, list[str]] = {}
    scores: dict[str, float] = {}
    for item in annotated.attributes:
        if item.type == "probability" and (number := _number(item.value)) is not None:
            scores[item.target] = number
        elif item.type in ("Reference", "AnnotatorNotes"):
            prefix = _REFERENCE if item.type == "Reference" else ""
            notes.setdefault(item.target, []).append(prefix + item.value)
    results: list[dict[str, object]] = []
    for entity in entities:
        [(start, end)] = entity.spans
        value = {"start": start, "end": end, "text": annotated.text[start:end]}
        made: dict[str, object] = {"id": entity.id, "from_name": "label", "to_name": "text"}
        made |= {"type": "labels", "value": {**value, "labels": [entity.type]}}
        if entity.id in notes:
            made["meta"] = {"text": notes[entity.id]}
        if entity.id in scores:
            made["score"] = scores[entity.id]
        results.append(made)
    for relation in pairs_of(annotated, entities):
        first, second = (argument.target for argument in relation.arguments)
        made = {"type": "relation", "from_id": first, "to_id": second, "direction": "right"}
        made["labels"] = [relation.type]
        if relation.id in scores:
            made["score"] = scores[relation.id]
        results.append(made)
    return results, list(scores.values())


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if isfinite(number) else None


def label_studio_config(examples: Iterable[Example], *, view: str | None = None) -> str:
    r"""Return the labeling configuration for texts with these types, as XML.

    Paste it under *Settings, Labeling Interface, Code* of a Label Studio project before tasks are
    imported.

    Parameters
    ----------
    examples : iterable of Example
        The examples to be written; their entity types and relation types become labels.
    view : str, optional
        As for `label_studio_text`.

    Examples
    --------
    >>> document = Document("Raf binds.", [Entity("T1", "protein", ((0, 3),))])
    >>> print(label_studio_config([Example("a", views={"document": document})]))
    <View>
      <Labels name="label" toName="text">
        <Label value="protein"/>
      </Labels>
      <Relations>
      </Relations>
      <Text name="text" value="$text"/>
    </View>
    """
    from xml.sax.saxutils import quoteattr

    labels, relations = dict[str, None](), dict[str, None]()
    for example in examples:
        annotated = annotated_to_write(example, view)
        entities = single_spans(annotated)
        labels |= dict.fromkeys(entity.type for entity in entities)
        relations |= dict.fromkeys(relation.type for relation in pairs_of(annotated, entities))
    lines = chain(
        ["<View>", '  <Labels name="label" toName="text">'],
        (f"    <Label value={quoteattr(label)}/>" for label in sorted(labels)),
        ["  </Labels>", "  <Relations>"],
        (f"    <Relation value={quoteattr(label)}/>" for label in sorted(relations)),
        ["  </Relations>", '  <Text name="text" value="$text"/>', "</View>"],
    )
    return "\n".join(lines)


def write_label_studio(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    *,
    view: str | None = None,
    predictions: bool = False,
    model_version: str = "kernelwood",
) -> None:
    r"""Write examples as Label Studio tasks; parameters are those of `label_studio_text`.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_label_studio([Example("a", views={"document": Document("Raf")})], out)
    >>> out.getvalue()
    '[\n{"id":1,"data":{"text":"Raf","id":"a"},"annotations":[{"result":[]}]}\n]\n'
    """
    options: dict[str, Any] = {"predictions": predictions, "model_version": model_version}
    write_text(path, label_studio_text(examples, view=view, **options))
