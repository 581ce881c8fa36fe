"""Standoff annotation as brat and the BioNLP shared tasks write it.

A document is a text and, beside it, one or more files of annotation with offsets into the text:
``name.txt`` with ``name.ann`` (brat), or with ``name.a1`` (what is given) and ``name.a2`` (what is
to be found). Offsets count the characters of the text file, each character of a line end
included; a byte order mark is no part of the text. The lines are described in
:mod:`kernelwood.io.standoff_lines`.

A document is read whole or not at all: every bad line is reported, and a document that has one is
not delivered, since events without an argument or entities at a wrong place would do more harm
than a document less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.alignment import guess_unit
from kernelwood.io.source import Item, Remark, Source
from kernelwood.io.standoff_lines import Annotation, blanks_that_differ, parse_line
from kernelwood.io.standoff_writer import standoff_files, write_standoff
from kernelwood.structures import shorten
from kernelwood.text import Attribute, Document, Entity, Event, Example, Relation

__all__ = ["looks_like_standoff", "read_standoff", "standoff_files", "write_standoff"]

K = TypeVar("K", Entity, Relation, Event, Attribute)

_TEXT_LIMIT = 1 << 26  # bytes; a text has to be in memory as a whole
_PROBLEM_LIMIT = 100
_NEAR = 200  # how far from its offsets the text of an entity is looked for, to give a hint
_ANNOTATIONS = (".a1", ".a2", ".ann")
_FIRST_LINE = re.compile(
    r"""\s*(?:
        T[^ \t\n]+\t[^ \t\n]+[ ]+[0-9]+[ ]+[0-9]+[;\t]
      | E[^ \t\n]+\t[^ \t\n:]+:T[^ \t\n]+
      | R[^ \t\n]+\t[^ \t\n]+[ ]+[^ \t\n:]+:[TE][^ \t\n]+
      | \*\t[^ \t\n]+[ ]+T[^ \t\n]+
      | [AMN\#][^ \t\n]+\t[^ \t\n]+[ ]+[TER][0-9]
    )""",
    re.VERBOSE,
)


def looks_like_standoff(head: str) -> bool:
    r"""Say whether a file that begins with ``head`` may hold standoff annotation.

    Examples
    --------
    >>> looks_like_standoff("T1\tProtein 0 3\tRaf\n"), looks_like_standoff("Raf binds Ras.")
    (True, False)
    """
    return bool(_FIRST_LINE.match(head))


def read_standoff(
    files: Mapping[str, Source] | Source, views: tuple[str, ...] | None = None
) -> Iterator[Item]:
    r"""Yield the document of a text file and the annotations that belong to it.

    Parameters
    ----------
    files : mapping of str to Source
        The files by suffix: ".txt", which must be there, ".a1", ".a2" and ".ann". A single source
        is a file of annotation without its text, which is an error.
    views : tuple of str, optional
        The example has no views unless "document" is among them.

    Yields
    ------
    ReadError
        For every bad line, up to 100; then there is no example.
    Remark
        For oddities that change nothing, such as other blanks in the text of an entity.
    Example
        With the name of the text file as its id.

    Examples
    --------
    >>> import io
    >>> files = {".txt": b"Raf binds Ras.", ".a1": b"T1\tProtein 0 3\tRaf\n"}
    >>> [example] = read_standoff({key: Source(io.BytesIO(files[key])) for key in files})
    >>> example.view("document").entities
    (Entity(id='T1', type='Protein', spans=((0, 3),), text='Raf'),)
    """
    if isinstance(files, Source):
        files = {".ann": files}
    if ".txt" not in files:
        raise _without_text(files)
    source = files[".txt"]
    draft = _Draft(source.read_text(_TEXT_LIMIT))
    n_problems = 0
    for problem in _problems(draft, files):
        yield problem
        n_problems += 1
        if n_problems == _PROBLEM_LIMIT:
            yield source.error(f"more than {_PROBLEM_LIMIT} problems in this document", line=1)
            return
    if n_problems:
        return
    try:
        shown = {"document": draft.document()} if views is None or "document" in views else {}
    except StructureError as failure:
        yield source.locate(failure, 1)
        return
    yield from draft.remarks
    yield Example(source.stem, views=shown, origin=source.origin(1))


def _problems(draft: _Draft, files: Mapping[str, Source]) -> Iterator[ReadError]:
    whole = True
    for suffix in _ANNOTATIONS:
        if suffix in files:
            for problem in draft.read(files[suffix]):
                whole = False
                yield problem
    # What a bad line defines is missing elsewhere, which is no news.
    if whole:
        yield from draft.check_references()


class _Place(NamedTuple):
    """A line, for messages."""

    source: Source
    number: int
    text: str

    def error(self, problem: str, index: int, hint: str | None) -> ReadError:
        return self.source.error(
            problem, line=self.number, column=index + 1, snippet=self.text, hint=hint
        )


class _Draft:
    """The annotations of a document, before it is known whether they fit together."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.remarks: list[Remark] = []
        self._found: list[tuple[Annotation, _Place]] = []
        self._places: dict[str, _Place] = {}
        self._hinted = False

    def read(self, source: Source) -> Iterator[ReadError]:
        """Take in the lines of a file; yield what is wrong with them."""
        for number, text, problem in source.lines():
            if problem is not None:
                yield problem
            elif text.strip(" \t"):
                flaw = self._take(_Place(source, number, text))
                if flaw is not None:
                    yield flaw

    def _take(self, place: _Place) -> ReadError | None:
        try:
            annotation = parse_line(place.text)
        except StructureError as failure:
            if place.text.startswith("#"):
                self.remarks.append(Remark("a comment that names no annotation was left out"))
                return None
            return place.source.locate(failure, place.number)
        name = annotation.id
        if name != "*":
            first = self._places.setdefault(name, place)
            if first is not place:
                return place.error(
                    f"the id {shorten(repr(name))} was used before, on line {first.number} "
                    f"of {first.source.name}",
                    0,
                    "every annotation of a document needs an id of its own",
                )
        self._found.append((annotation, place))
        return self._check_text(annotation, place) if isinstance(annotation, Entity) else None

    def _check_text(self, entity: Entity, place: _Place) -> ReadError | None:
        column = len(entity.id) + 1
        if entity.end > len(self.text):
            return place.error(
                f"the entity ends at {entity.end}, the text has {len(self.text)} characters",
                column,
                self._offset_hint(entity),
            )
        differ = blanks_that_differ(entity, self.text)
        if differ is None:
            found = " ".join([self.text[a : min(b, a + 60)] for a, b in entity.spans[:60]])
            return place.error(
                f"the entity reads {shorten(repr(entity.text[:60]))}, "
                f"but at its offsets stands {shorten(repr(found[:60]))}",
                column,
                self._offset_hint(entity),
            )
        if differ:
            self.remarks.append(Remark("blanks in the text of an entity differ from the document"))
        return None

    def _offset_hint(self, entity: Entity) -> str:
        plain = "offsets count characters from 0; an end is the position after the last one"
        if self._hinted:  # looking for a reason takes time, and all lines will have the same one
            return plain
        self._hinted = True
        return _guess_offsets(entity, self.text) or plain

    def check_references(self) -> Iterator[ReadError]:
        """Yield what is wrong between lines: references that lead nowhere."""
        things = {item.id for item in self._all(Entity)}
        actors = things | {item.id for item in self._all(Event)}
        for item, place in self._found:
            if isinstance(item, Event) and item.trigger not in things:
                yield _missing("entity", item.trigger, place)
            if isinstance(item, (Event, Relation)):
                for argument in item.arguments:
                    if argument.target not in actors:
                        yield _missing("entity or event", argument.target, place)
            # Notes go stale easily, and say nothing that is lost with them.
            if (
                isinstance(item, Attribute)
                and item.target not in self._places
                and not item.id.startswith("#")
            ):
                yield _missing("annotation", item.target, place)

    def document(self) -> Document:
        """Return the document; remark which notes and attributes have no place in it."""
        parts = self._all(Entity), self._all(Relation), self._all(Event)
        named = {item.id for part in parts for item in part}
        kept = []
        for item in self._all(Attribute):
            if item.target in named:
                kept.append(item)
            elif item.target in self._places:
                self.remarks.append(Remark("a remark on an attribute was left out"))
            else:
                self.remarks.append(Remark("a note on what is not there was left out"))
        return Document(self.text, *parts, tuple(kept))

    def _all(self, kind: type[K]) -> tuple[K, ...]:
        return tuple(item for item, _ in self._found if isinstance(item, kind))


def _missing(what: str, target: str, place: _Place) -> ReadError:
    # The id of the line itself may end like the one that is missing.
    index = place.text.find(target, place.text.find("\t"))
    return place.error(
        f"there is no {what} {shorten(repr(target))}",
        max(index, 0),
        "annotate it, or leave the reference out; a document needs its .a1 and its .a2 file",
    )


def _without_text(files: Mapping[str, Source]) -> ReadError:
    hint = "offsets mean nothing without the text: put name.txt beside name.ann, and read that path"
    for source in files.values():
        return source.error("the text of these annotations is missing", line=1, hint=hint)
    return ReadError("there are no files to read", hint=hint)


def _guess_offsets(entity: Entity, text: str) -> str | None:
    """Return what may be wrong with the offsets of an entity, if there is a good guess."""
    start, end = entity.spans[0][0], entity.spans[-1][1]
    guess = guess_unit(entity.text, text, entity.spans)
    if guess is None and len(entity.spans) == 1 and entity.text:
        near = text.find(entity.text, max(0, start - _NEAR), end + _NEAR)
        if near >= 0:
            return f"the same text stands at {near} {near + len(entity.text)}"
    return guess
