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

- Of several annotations of a task, the last one that is not cancelled is read, the others are
  counted. A prediction is read if there is no annotation at all, with a remark. A task whose
  annotations are all cancelled is left out, with a remark.
- The text is the field ``text`` of ``data``, or the only field that is a string. Other fields
  become metadata. The id is ``data.id`` if it is a string, else the id of the task.
- Offsets count characters, as Label Studio has written since version 1.4, or UTF-16 units, as
  earlier versions did; the text of the regions tells which.
- The direction ``left`` swaps the arguments; ``bi`` keeps their order. A relation without a label
  has the type ``relation``. Arguments have the roles ``Arg1`` and ``Arg2``.
- ``score`` of a region or relation is an attribute ``probability``. A note of a region that begins
  with ``Reference:`` is an attribute of that type, with a database id; others are
  ``AnnotatorNotes``.
- The export "JSON-MIN" is read too; it has no relations.
- Regions of HTML (``HyperText``) and of dialogues (``Paragraphs``) are refused.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate, count
from typing import IO, Any
from xml.sax.saxutils import quoteattr

from kernelwood.errors import StructureError
from kernelwood.io.alignment import guess_unit
from kernelwood.io.atomic import write_text
from kernelwood.io.formats.concepts import ROLES
from kernelwood.io.formats.json_arrays import JsonObject, first_object, read_objects
from kernelwood.io.selection import view_to_write, write_each
from kernelwood.io.source import Item, Remark, Source
from kernelwood.structures import (
    check_integer,
    check_list,
    check_object,
    describe,
    encode_json,
    shorten,
)
from kernelwood.text import (
    Argument,
    Attribute,
    Document,
    Entity,
    Example,
    Metadata,
    Relation,
    Sentence,
    Span,
)

_LABELS = "labels"
_MARKUP = {
    "hypertextlabels": "HTML", "paragraphlabels": "a dialogue", "timeserieslabels": "time series",
}  # fmt: skip
_ROLES = ROLES
_REFERENCE = "Reference: "
_NO_LABEL = "relation"
_BLANKS = re.compile(r"(?:\s|\\n)+")
# Keys of a task in the export JSON-MIN that are not fields of its data.
_MIN_KEYS = frozenset(
    {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"}
)
_LATER = Remark("annotation of a task that has a later one")
_CANCELLED = Remark("task that was cancelled")
_PREDICTION = Remark("prediction of a task without annotations")
_EMPTY = Remark("task without annotations")
_MORE_LABELS = Remark("further label of a region")
_LOOSE = Remark("relation of a region that is not an entity")


def looks_like_label_studio(head: str) -> bool:
    """Return whether a file that begins with ``head`` may hold Label Studio tasks.

    Examples
    --------
    >>> looks_like_label_studio('[{"id": 1, "annotations": [], "data": {"text": "Raf"}}]')
    True
    """
    keys = first_object(head)
    if "data" in keys or "text" not in keys:
        tasks = not {"annotations", "completions", "predictions"}.isdisjoint(keys)
        # The list of annotations may be longer than the text that is looked at.
        return (tasks and (keys.get("data", "") [:1] == "{" or '"from_name"' in head)) or (
            set(keys) <= {"id", "data", "meta"} and keys.get("data", "")[:2] == '{"'
        )
    return {"annotation_id", "lead_time"} <= keys.keys()


def read_label_studio(
    source: Source, views: tuple[str, ...] | None = None, *, text_field: str | None = None
) -> Iterator[Item]:
    """Yield an example with the view ``"document"`` for each task."""
    shown = views is None or "document" in views
    return read_objects(source, partial(_task, source, shown, text_field))


def _task(source: Source, shown: bool, field: str | None, part: JsonObject) -> Iterator[Item]:
    task = part.value
    if "data" in task:
        data = check_object(task["data"], "'data' of the task", optional=None)
        chosen = yield from _chosen_result(task)
        if chosen is None:
            return
        results = check_list(chosen, "'result'")
    else:
        data, results = _small_task(task)
    made = _Draft(_regions(results), data, field)
    document = yield from made.document(results)
    yield Example(
        _id_of(task, data) or f"{source.stem}:{part.number}",
        views={"document": document} if shown else {},
        origin=source.origin(part.line),
    )


def _chosen_result(task: dict[str, Any]) -> Iterator[Item]:  # -> list | None
    raise NotImplementedError
