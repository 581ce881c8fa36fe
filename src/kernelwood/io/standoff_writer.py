"""Writing documents as files of standoff annotation."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain, count

from kernelwood.errors import StructureError
from kernelwood.io.folders import write_folder
from kernelwood.io.standoff_lines import (
    Annotation,
    blanks_that_differ,
    format_line,
    in_one_line,
    parse_line,
    text_at,
)
from kernelwood.io.writers import view_to_write, write_each
from kernelwood.structures import shorten
from kernelwood.text import Argument, Attribute, Document, Entity, Example, Sentence

__all__ = ["standoff_files", "write_standoff"]

_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]|^[A-Za-z]:")
_NAME_LIMIT = 250  # bytes; file systems allow 255, and a suffix follows
_KINDS = {"entities": "T", "relations": "R*", "events": "E", "attributes": "AMN#"}


def standoff_files(
    examples: Iterable[Example], *, view: str | None = None, adapt: bool = False
) -> Iterator[tuple[str, str]]:
    r"""Yield the name and the content of two files for each example: a text and its annotations.

    Reading the files gives equal documents under the same ids. A sentence is written as a
    document of its own, with its entities, relations, events and attributes, always adapted.

    Parameters
    ----------
    examples : iterable of Example
        Their ids become file names; slashes in them become folders. Labels are not written.
    view : str, optional
        Which view to write; by default "document", else "sentence", else the only view that is
        a document or a sentence.
    adapt : bool
        Change what the format cannot hold: ids get the letter of their kind and a number where
        they do not begin with it, entities the text that stands at their offsets; relations
        that do not hold, and metadata, are left out. Otherwise all this is an error.

    Raises
    ------
    StructureError
        When an example cannot be written, with its id.

    Examples
    --------
    >>> entity = Entity("T1", "Protein", ((0, 3),), "Raf")
    >>> document = Document("Raf binds Ras.", [entity])
    >>> list(standoff_files([Example("a", views={"document": document})]))
    [('a.txt', 'Raf binds Ras.'), ('a.ann', 'T1\tProtein 0 3\tRaf\n')]
    """
    for pair in write_each(examples, lambda example: _written(example, view, adapt)):
        yield from pair


def _written(example: Example, view: str | None, adapt: bool) -> list[tuple[str, str]]:
    name = _file_name(example.id)
    found = _annotated(example, view)
    document = adapted(found) if adapt or isinstance(found, Sentence) else found
    _check_text(document)
    lines = [_line(item, document) for item in _items(document)]
    return [(f"{name}.txt", document.text), (f"{name}.ann", "".join(lines))]


def write_standoff(
    examples: Iterable[Example],
    path: str | os.PathLike[str],
    *,
    view: str | None = None,
    adapt: bool = False,
) -> None:
    """Write examples as ``.txt`` and ``.ann`` files into a new folder.

    Takes what `standoff_files` takes. The folder appears when everything is written; one that is
    there and not empty is refused.
    """
    write_folder(path, standoff_files(examples, view=view, adapt=adapt))


def adapted(source: Document | Sentence) -> Document:
    """Return a document that the format can hold, as far as that is possible.

    Examples
    --------
    >>> sentence = Sentence("Raf binds", entities=[Entity("e7", "protein", ((0, 3),))])
    >>> adapted(sentence).entities
    (Entity(id='T1', type='protein', spans=((0, 3),), text='Raf'),)
    """
    relations = tuple(relation for relation in source.relations if relation.holds)
    left_out = {item.id for item in source.relations if not item.holds}
    attributes = tuple(item for item in source.attributes if item.target not in left_out)
    names = _new_names(
        {
            "entities": [item.id for item in source.entities],
            "relations": [item.id for item in relations],
            "events": [item.id for item in source.events],
        }
    )

    def renamed(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        return tuple(Argument(role, names[target]) for role, target in arguments)

    return Document(
        source.text,
        tuple(
            item._replace(id=names[item.id], text=in_one_line(text_at(item, source.text)))
            for item in source.entities
        ),
        tuple(
            item._replace(id=names[item.id], arguments=renamed(item.arguments))
            for item in relations
        ),
        tuple(
            item._replace(
                id=names[item.id],
                trigger=names[item.trigger],
                arguments=renamed(item.arguments),
            )
            for item in source.events
        ),
        tuple(
            item._replace(id=name, target=names[item.target])
            for name, item in zip(_attribute_ids(attributes), attributes, strict=True)
        ),
    )


def _attribute_ids(attributes: tuple[Attribute, ...]) -> list[str]:
    """Return ids for attributes, which nothing refers to and which may have the same one."""
    fitting = frozenset(item.id for item in attributes if _fits(item.id, "attributes"))
    free = (name for name in map("A{}".format, count(1)) if name not in fitting)
    to_use = set(fitting)
    ids = []
    for item in attributes:
        ids.append(item.id if item.id in to_use else next(free))
        to_use.discard(item.id)
    return ids


def _new_names(ids: dict[str, list[str]]) -> dict[str, str]:
    """Return the names to write: the old one where it fits its kind, else a free number."""
    taken = {name for kind, listed in ids.items() for name in listed if _fits(name, kind)}
    names = {}
    for kind, listed in ids.items():
        number = 0
        for name in listed:
            new = name
            while not _fits(new, kind) or (new != name and new in taken):
                number += 1
                new = f"{_KINDS[kind][0]}{number}"
            names[name] = new
    return names


def _fits(name: str, kind: str) -> bool:
    if name == "*":
        return kind == "relations"
    return len(name) > 1 and name[0] in _KINDS[kind] and not set(name) & set(" \t\r\n*")


def _file_name(name: str) -> str:
    parts = name.split("/")
    try:
        longest = max(len(part.encode("utf-8")) for part in parts)
    except UnicodeEncodeError:
        longest = _NAME_LIMIT + 1
    hidden = any(not part or part.startswith(".") for part in parts)
    if hidden or longest > _NAME_LIMIT or _UNSAFE.search(name):
        raise StructureError(
            f"the id {shorten(repr(name))} cannot be the name of a file",
            hint="use a relative path without backslashes, control characters, empty parts, "
            "or parts that begin with a dot or are very long",
        )
    return name


def _annotated(example: Example, view: str | None) -> Document | Sentence:
    if view is not None:
        return view_to_write(example, view, Document, Sentence)
    fitting = {
        name: made for name, made in example.views.items() if isinstance(made, (Document, Sentence))
    }
    for name in ("document", "sentence", *(fitting if len(fitting) == 1 else ())):
        if name in fitting:
            return fitting[name]
    raise StructureError(
        f"it has {len(fitting)} views that are documents or sentences",
        hint=f"say which with view=...: {', '.join(fitting)}"
        if fitting
        else "standoff annotation needs a document or a sentence",
    )


def _check_text(document: Document) -> None:
    if document.text.startswith("\ufeff"):
        raise StructureError(
            "its text begins with a byte order mark",
            hint="take U+FEFF off, and 1 from all offsets; it would not be read as text",
        )
    if document.metadata:
        raise StructureError(
            "the format has no place for metadata", hint="adapt=True leaves it out"
        )


def _items(document: Document) -> Iterator[Annotation]:
    groups: list[tuple[Annotation, ...]] = [getattr(document, kind) for kind in _KINDS]
    used: set[str] = set()
    for item in chain(*groups):
        if item.id in used and item.id != "*":
            problem = f"the id {shorten(repr(item.id))} is used twice"
            raise StructureError(problem, hint="adapt=True gives new ids")
        used.add(item.id)
        yield item


def _line(item: Annotation, document: Document) -> str:
    """Return the line of an annotation, having made sure that it reads back."""
    text = format_line(item)
    try:
        again = parse_line(text)
        faithful = again == item and type(again) is type(item)
    except StructureError:
        faithful = False
    if not faithful or "\n" in text or text.endswith("\r"):
        raise StructureError(
            f"the format cannot hold {shorten(repr(item), 200)}",
            hint="blanks, colons, tabs and line ends have a meaning, relations cannot be denied, "
            "and ids begin with T (entities), E (events), R (relations), A, M, N or # "
            "(attributes); adapt=True changes ids and what is said of them",
        )
    if isinstance(item, Entity) and blanks_that_differ(item, document.text) is None:
        raise StructureError(
            f"entity {shorten(repr(item.id))} reads {shorten(repr(item.text))}, which is not what "
            "stands at its offsets",
            hint="adapt=True writes the text of the document",
        )
    return f"{text}\n"
