r"""Records as texts: tables and JSON objects with a column for the text and one for the id.

Every record becomes a document:

- *Text.* ``text_field`` names one or more columns; several are joined by a blank line, and their
  spans are recorded as sections (`kernelwood.io.sections_of`). By default it is the only column
  with one of the usual names: text, abstract, sentence, ... Case, blanks and underscores in names
  make no difference there. Records without text are left out with a remark.
- *Id.* ``id_field`` names the column; by default it is the only one called id, pmid, doc_id, ...
  Without such a column, ids are the name of the file and the number of the record. Ids must not
  repeat.
- *Metadata.* Other columns become metadata, at most 50 of them and values of at most 1,000
  characters; longer values are left out with a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.formats.json_arrays import (
    JsonObject,
    first_object,
    iter_objects,
    read_objects,
    scan_objects,
)
from kernelwood.io.formats.sections import join_sections
from kernelwood.io.lines import Scan
from kernelwood.io.source import Extent, Item, Remark, Source
from kernelwood.structures import describe, encode_json, shorten
from kernelwood.text import Document, Example, Metadata

OPTIONS = {
    "text_field": "Column of the text; several are joined by blank lines.",
    "id_field": "Column of the id.",
}
TEXT_NAMES = (
    "text", "abstract", "abstracttext", "sentence", "sentences", "passage", "paragraph", "body",
    "fulltext", "content", "document", "documenttext",
)  # fmt: skip
ID_NAMES = (
    "id", "pmid", "docid", "documentid", "pmcid", "doi", "articleid", "textid", "sentenceid",
    "recordid", "uid", "identifier",
)  # fmt: skip
_MAX_COLUMNS = 50  # of metadata
_MAX_VALUE = 1000  # characters
_LISTED = 400  # characters of a list of columns in a message
_NO_TEXT = Remark("record without text was left out")
_LONG_VALUE = Remark("value of more than 1,000 characters is not in the metadata")
_MANY_VALUES = Remark(f"only {_MAX_COLUMNS} columns are in the metadata")

_SHORT = 20  # characters; texts are longer


class Fields(NamedTuple):
    """The columns of the text and of the id, by name; the id may have none."""

    text: tuple[str, ...]
    id: str | None
    remarks: tuple[Remark, ...] = ()


def check_fields(text_field: object, id_field: object) -> tuple[tuple[str, ...], str | None]:
    """Return the values of the options ``text_field`` and ``id_field`` in one form.

    Examples
    --------
    >>> check_fields("abstract", None), check_fields(["title", "abstract"], "pmid")
    ((('abstract',), None), (('title', 'abstract'), 'pmid'))
    """
    given = (text_field,) if isinstance(text_field, str) else text_field
    names = () if given is None else tuple(given) if isinstance(given, Iterable) else (given,)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"text_field must be the name of a column, got {name!r}")
    if id_field is not None and not isinstance(id_field, str):
        raise ValueError(f"id_field must be the name of a column, got {id_field!r}")
    return names, id_field


def choose_fields(
    columns: Sequence[str], text_field: tuple[str, ...], id_field: str | None
) -> Fields:
    """Return the columns of text and id in a table.

    Raises
    ------
    StructureError
        If a column does not exist or its name is repeated, or it is not clear which column has
        the text.

    Examples
    --------
    >>> choose_fields(["PMID", "Abstract", "year"], (), None)[:2]
    (('Abstract',), 'PMID')
    """
    for name in (*text_field, *(() if id_field is None else (id_field,))):
        if name not in columns:
            raise StructureError(
                f"there is no column {shorten(repr(name))}", hint=_guess(name, columns)
            )
    if not text_field:
        found = usual(columns, TEXT_NAMES)
        if len(found) != 1:
            several = f"several columns may hold the text: {_listing(found)}"
            raise StructureError(
                several
                if found
                else "no column has a usual name of a text column, such as text or abstract",
                hint=f"give text_field=...; columns: {_listing(columns)}",
            )
        text_field = tuple(found)
    remarks: tuple[Remark, ...] = ()
    if id_field is None:
        named = [name for name in usual(columns, ID_NAMES) if name not in text_field]
        id_field = named[0] if len(named) == 1 else None
        if len(named) > 1:
            remarks = (
                Remark(f"several columns may hold the id ({_listing(named)}); numbered instead"),
            )
    for name in (*text_field, id_field):
        if columns.count(name) > 1:
            raise StructureError(f"two columns are called {shorten(repr(name))}", hint="rename one")
    return Fields(text_field, id_field, remarks)


def usual(columns: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return the columns that have one of the usual names."""
    return [c for c in columns if re.sub(r"[\s_-]", "", c).lower() in names]


def _guess(name: str, columns: Sequence[str]) -> str:
    near = get_close_matches(name.lower(), [column.lower() for column in columns], n=1)
    meant = next((c for c in columns if near and c.lower() == near[0]), None)
    guess = "" if meant is None else f"did you mean {meant!r}? "
    return f"{guess}columns: {_listing(columns)}"


def _listing(columns: Iterable[str]) -> str:
    return shorten(", ".join(columns), _LISTED)


def record_items(
    record: Iterable[tuple[str, Any]],
    fields: Fields,
    source: Source,
    place: tuple[int, int],
    views: tuple[str, ...] | None,
) -> Iterator[Example | Remark]:
    """Yield the example of a record and remarks on it.

    Parameters
    ----------
    record : iterable of (str, value)
        Columns and plain values.
    fields : Fields
    source : Source
    place : (int, int)
        Number of the record, from 1, and the line where it begins.
    views : tuple of str, optional
        The example has no views unless "document" is among them.

    Raises
    ------
    StructureError
        If a value is not a text or not an id.
    """
    number, line = place
    values = dict(record)
    texts = [(name, _text(values.get(name), name)) for name in fields.text]
    parts = [(name, text) for name, text in texts if text.strip()]
    if not parts:
        yield _NO_TEXT
        return
    id = f"{source.stem}:{number}" if fields.id is None else _id(values.get(fields.id), fields.id)
    sections: Metadata = ()
    if len(fields.text) == 1:
        text = parts[0][1]
    else:
        text, sections = join_sections((name, [written]) for name, written in parts)
    others = (
        [name for name in values if name not in fields.text and name != fields.id]
        if len(values) > 1
        else []
    )
    metadata = []
    if len(others) > _MAX_COLUMNS:
        yield _MANY_VALUES
    for name in others[:_MAX_COLUMNS]:
        value = plain_value(values[name])
        if value is not None and len(name) + len(value) > _MAX_VALUE:
            yield _LONG_VALUE
        elif value:
            metadata.append((name, value))
    if metadata or sections or len(text) > _SHORT:
        document = Document(text, metadata=(*metadata, *sections))
    else:
        document = _short_document(text)
    wanted = views is None or "document" in views
    yield Example._trusted(id, None, {"document": document} if wanted else {}, source.origin(line))


@lru_cache(1 << 12)  # documents never change, so that equal small ones are shared
def _short_document(text: str) -> Document:
    return Document(text)


def _text(value: object, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    raise StructureError(
        f"the text in {shorten(repr(name))} is {describe(value)}, not a string",
        hint="text_field=... names another column",
    )


def _id(value: object, name: str) -> str:
    if isinstance(value, float) and value.is_integer():  # a column of numbers with gaps
        value = int(value)
    made = str(value).strip() if isinstance(value, (str, int)) and value is not True else ""
    if not made:
        raise StructureError(
            f"the id in {shorten(repr(name))} is {describe(value)}",
            hint="every record needs an id; id_field=... names another column",
        )
    return made


def plain_value(value: object) -> str | None:
    """Return a value as text for metadata; None if there is none.

    Examples
    --------
    >>> plain_value(2.0), plain_value(["a"]), plain_value(float("nan"))
    ('2.0', '["a"]', None)
    """
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return None
    if isinstance(value, (dict, list)):
        return encode_json(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def looks_like_records(head: str) -> bool:
    """Return whether a file that begins with ``head`` may hold JSON objects with texts.

    Examples
    --------
    >>> looks_like_records('{"pmid": "1", "abstract": "Raf"}'), looks_like_records('{"a": 1}')
    (True, False)
    """
    return bool(usual(first_object(head), TEXT_NAMES))


def read_records(
    source: Source,
    views: tuple[str, ...] | None = None,
    *,
    text_field: str | Sequence[str] | None = None,
    id_field: str | None = None,
) -> Iterator[Item]:
    """Yield a document for each object of JSON lines or of one JSON array.

    The fields of the first object decide which of them is the text by default; in other objects
    it may be missing.
    """
    given = check_fields(text_field, id_field)
    chosen = [_first_choice(source, given)] if source.extent.start else []

    def parse(part: JsonObject) -> Iterator[Item]:
        if not chosen:
            chosen.append(choose_fields(list(part.value), *given))
            yield from chosen[0].remarks
        place = part.number, part.line
        yield from record_items(part.value.items(), chosen[0], source, place, views)

    return read_objects(source, parse)


def scan_records(
    source: Source,
    *,
    text_field: str | Sequence[str] | None = None,
    id_field: str | None = None,
) -> Scan | None:
    """Return the function that finds objects, if the first decides which field is the text."""
    try:
        _first_choice(source, check_fields(text_field, id_field))
    except ReadError:
        return None
    return scan_objects(source)


def _first_choice(source: Source, given: tuple[tuple[str, ...], str | None]) -> Fields:
    """Return the fields that the first object of JSON lines decides."""
    first = next(iter_objects(source.part(iter([source.opening]), Extent())), None)
    if not isinstance(first, JsonObject):
        raise first or source.error("there are no objects")
    try:
        return choose_fields(list(first.value), *given)
    except StructureError as failure:
        raise source.locate(failure, first.line) from failure
