"""BioC as JSON; `kernelwood.io.formats.bioc` describes its parts.

A file is a collection, an array of collections or of documents, or JSON lines of documents::

    {"source": "PubMed", "date": "", "key": "", "infons": {}, "documents": [
      {"id": "27", "infons": {}, "passages": [
        {"offset": 0, "infons": {"type": "title"}, "text": "Raf binds Ras", "annotations": [
          {"id": "1", "infons": {"type": "Gene", "identifier": "5894"}, "text": "Raf",
           "locations": [{"offset": 0, "length": 3}]}, ...]}],
       "relations": [{"id": "R1", "infons": {"type": "Bind"}, "nodes":
         [{"refid": "1", "role": "Arg1"}, {"refid": "2", "role": "Arg2"}]}]}]}

PubTator3 calls the array of documents ``PubTator3``, and puts the id of a document into ``pmid``
if it has none. One document at a time is in memory. Errors are located at its first character.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import IO

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.formats.bioc import check_id, document_id, document_of, part_of
from kernelwood.io.formats.json_arrays import iter_objects, scan_objects
from kernelwood.io.ids import UsedIds
from kernelwood.io.lines import Scan
from kernelwood.io.selection import annotated_to_write, write_each
from kernelwood.io.source import Item, Source
from kernelwood.structures import encode_json
from kernelwood.text import Example, View

_ARRAYS = ("documents", "PubTator3")
_FIRST = re.compile(r"\s*(?:\[\s*)?\{")
_ARRAY = re.compile(r'"(documents|PubTator3|passages)"\s*:\s*\[')
_HEADER = (
    '{"bioctype":"BioCCollection","source":"kernelwood","date":"","key":"","version":"1.0",'
    '"infons":{},"documents":['
)


def looks_like_bioc_json(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be BioC JSON.

    Examples
    --------
    >>> looks_like_bioc_json('{"source": "", "documents": [{"id"')
    True
    >>> looks_like_bioc_json('{"id": "a", "views": {}}')
    False
    """
    return bool(_FIRST.match(head)) and bool(_ARRAY.search(head))


def read_bioc_json(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example for each document, its id being that of the document.

    Examples
    --------
    >>> import io
    >>> text = b'{"id": "7", "passages": [{"offset": 0, "text": "Raf"}]}'
    >>> [example] = read_bioc_json(Source(io.BytesIO(text)))
    >>> example
    Example('7', None, views: document)
    """
    wanted = views is None or "document" in views
    used = UsedIds()
    for found in iter_objects(source, None if _are_alone(source) else _ARRAYS):
        if isinstance(found, ReadError):
            yield found
            continue
        try:
            name = document_id(found.value)
            document, remarks = document_of(found.value)
        except StructureError as failure:
            yield source.locate(failure, found.line, found.column)
            continue
        repeated = used.check(name, found.line, source)
        if repeated is not None:
            yield repeated
            continue
        yield from remarks
        shown: dict[str, View] = {"document": document} if wanted else {}
        yield Example._trusted(name, None, shown, source.origin(found.line))


def scan_bioc_json(source: Source) -> Scan | None:
    """Return the function that finds documents if each is a line."""
    return scan_objects(source) if _are_alone(source) else None


def _are_alone(source: Source) -> bool:
    """Return whether documents are not in a collection."""
    first = _ARRAY.search(source.head.decode("utf-8", "replace"))
    return first is not None and first[1] == "passages"


def bioc_json_text(
    examples: Iterable[Example], *, view: str | None = None, adapt: bool = False
) -> Iterator[str]:
    """Yield a BioC collection as JSON, one document a line.

    Parameters
    ----------
    examples : iterable of Example
        Their ids become ids of documents.
    view : str, optional
        Name of the view; by default "document", else "sentence", else the only view that is a
        document or a sentence.
    adapt : bool
        Leave out attributes that would be read as something else, which are an error otherwise.

    Raises
    ------
    StructureError
        If an example cannot be written, with its id.

    Examples
    --------
    >>> from kernelwood.text import Document
    >>> text = "".join(bioc_json_text([Example("7", views={"document": Document("Raf.")})]))
    >>> '"passages":[{"offset":0,"infons":{},"text":"Raf."' in text
    True
    """

    def written(example: Example) -> str:
        check_id(example.id)
        part = part_of(example.id, annotated_to_write(example, view), adapt=adapt)
        return encode_json(part)

    yield _HEADER
    separator = "\n"
    for line in write_each(examples, written):
        yield f"{separator}{line}"
        separator = ",\n"
    yield "\n]}\n"


def write_bioc_json(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    *,
    view: str | None = None,
    adapt: bool = False,
) -> None:
    """Write examples as BioC JSON; parameters are those of `bioc_json_text`."""
    write_text(path, bioc_json_text(examples, view=view, adapt=adapt))
