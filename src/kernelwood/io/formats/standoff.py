r"""Standoff annotation as brat and the BioNLP shared tasks write it.

A document is a text and, beside it, one or more files of annotation with offsets into the text:
``name.txt`` with ``name.ann`` (brat), or with ``name.a1`` (given annotation) and ``name.a2``
(annotation to be predicted). Offsets count the characters of the text file, each character of a
line end included; a byte order mark is not part of the text. Each line is one annotation, and the
first letter of its id tells the kind; columns are separated by tabs:

======================================  ========================================================
line                                    annotation
======================================  ========================================================
``T1  Protein 10 15  p53``              Entity; ``0 5;16 23`` when it is discontinuous
``E1  Binding:T3 Theme:T1 Theme2:E2``   Event: type and trigger, then roles and targets
``R1  Part Arg1:T1 Arg2:T2``            Relation
``*  Equiv T1 T2 T3``                   Relation with the id ``"*"`` and roles that are ``""``
``A1  Certainty E1 low``                Attribute with a value
``M1  Negation E1``                     Attribute without one
``N1  Reference T1 DB:77  name``        Attribute; the value is ``"DB:77\tname"``
``#1  AnnotatorNotes T1  some words``   Attribute; the value is the note
======================================  ========================================================

Every bad line is reported, and a document with a bad line is left out as a whole, because events
without an argument or entities at a wrong place do more harm than a missing document.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, count
from typing import NamedTuple, TypeAlias, TypeVar

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.alignment import compare_mention, guess_offsets, in_one_line
from kernelwood.io.atomic import write_folder
from kernelwood.io.selection import annotated_to_write, write_each
from kernelwood.io.source import LINE_ROOM, Item, Remark, Source
from kernelwood.structures import shorten
from kernelwood.text import (
    Argument,
    Attribute,
    Document,
    Entity,
    Event,
    Example,
    Relation,
    Sentence,
    Span,
)

Annotation: TypeAlias = Entity | Event | Relation | Attribute
K = TypeVar("K", Entity, Relation, Event, Attribute)

_LONG_LINE = 1000  # characters; blanks of longer lines are not charged
_TEXT_LIMIT = 1 << 26  # bytes; a text has to be in memory as a whole
_PROBLEM_LIMIT = 100
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
_ID = re.compile(r"\*|[TERAMN#][^ \t]+")
_WORD = re.compile(r"[^ \t]+")
# No text needs offsets of more than 18 digits, and longer numbers are slow to read.
_PLACE = re.compile(r"([^ \t]+) +([0-9]{1,18} +[0-9]{1,18}(?:;[0-9]{1,18} +[0-9]{1,18})*) *")
_REMARK = re.compile(r"([^ \t]+) +([^ \t]+)(?: +([^ \t][^\t]*))?")
_WHITE = re.compile(r"\s+")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]|^[A-Za-z]:")
_NAME_LIMIT = 250  # bytes; file systems allow 255, and a suffix follows
_KINDS = {"entities": "T", "relations": "R*", "events": "E", "attributes": "AMN#"}


def looks_like_standoff(head: str) -> bool:
    r"""Return whether a file that begins with ``head`` may hold standoff annotation.

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
        For every bad line, up to 100; there is no example in this case.
    Remark
        For harmless differences, such as other blanks in the text of an entity.
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


def read_text(
    files: Mapping[str, Source] | Source, views: tuple[str, ...] | None = None
) -> Iterator[Item]:
    """Yield the document of a plain text file, its id being the name of the file."""
    source = files if isinstance(files, Source) else files[".txt"]
    text = source.read_text(_TEXT_LIMIT)
    shown = {"document": Document(text)} if views is None or "document" in views else {}
    yield Example(source.stem, views=shown, origin=source.origin(1))


def _problems(draft: _Draft, files: Mapping[str, Source]) -> Iterator[ReadError]:
    whole = True
    for suffix in _ANNOTATIONS:
        if suffix in files:
            for problem in draft.read(files[suffix]):
                whole = False
                yield problem
    # Definitions in bad lines are missing, so references to them are not reported as well.
    if whole:
        yield from draft.check_references()


class _Place(NamedTuple):
    """A line, for error messages."""

    source: Source
    number: int
    text: str

    def error(self, problem: str, index: int, hint: str | None) -> ReadError:
        return self.source.error(
            problem, line=self.number, column=index + 1, snippet=self.text, hint=hint
        )


class _Draft:
    """The annotations of a document, before references between them are checked."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.remarks: list[Remark] = []
        self._found: list[tuple[Annotation, _Place]] = []
        self._places: dict[str, _Place] = {}
        self._hinted = False

    def read(self, source: Source) -> Iterator[ReadError]:
        """Add the lines of a file; yield their errors."""
        room = source.room
        for number, text, problem in source.lines():
            blanks = text.count(" ") if len(text) > _LONG_LINE else 0
            room -= len(text) - blanks + LINE_ROOM
            if room < 0:
                yield source.too_large(1, "annotation")
                return
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
                self.remarks.append(Remark("a comment without an annotation was left out"))
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
        differ = _difference(entity, self.text)
        if differ is None:
            found = " ".join([self.text[a : min(b, a + 60)] for a, b in entity.spans[:60]])
            return place.error(
                f"the entity reads {shorten(repr(entity.text[:60]))}, "
                f"but at its offsets stands {shorten(repr(found[:60]))}",
                column,
                self._offset_hint(entity),
            )
        if differ:
            self.remarks.append(
                Remark("blanks or joints in the text of an entity differ from the document")
            )
        return None

    def _offset_hint(self, entity: Entity) -> str:
        plain = "offsets count characters from 0; an end is the position after the last one"
        if self._hinted:  # guessing takes time, and the reason is the same for all lines
            return plain
        self._hinted = True
        return guess_offsets(entity.text, self.text, entity.spans) or plain

    def check_references(self) -> Iterator[ReadError]:
        """Yield the errors of references to annotations that do not exist."""
        things = {item.id for item in self._all(Entity)}
        actors = things | {item.id for item in self._all(Event)}
        for item, place in self._found:
            if isinstance(item, Event) and item.trigger not in things:
                yield _missing("entity", item.trigger, place)
            if isinstance(item, (Event, Relation)):
                for argument in item.arguments:
                    if argument.target not in actors:
                        yield _missing("entity or event", argument.target, place)
            # Outdated notes are common and harmless.
            if (
                isinstance(item, Attribute)
                and item.target not in self._places
                and not item.id.startswith("#")
            ):
                yield _missing("annotation", item.target, place)

    def document(self) -> Document:
        """Return the document; add remarks on notes and attributes that are left out."""
        parts = self._all(Entity), self._all(Relation), self._all(Event)
        named = {item.id for part in parts for item in part}
        kept = []
        for item in self._all(Attribute):
            if item.target in named:
                kept.append(item)
            elif item.target in self._places:
                self.remarks.append(Remark("a note on an attribute was left out"))
            else:
                self.remarks.append(Remark("a note on a missing annotation was left out"))
        return Document(self.text, *parts, tuple(kept))

    def _all(self, kind: type[K]) -> tuple[K, ...]:
        return tuple(item for item, _ in self._found if isinstance(item, kind))


def _missing(what: str, target: str, place: _Place) -> ReadError:
    # Search after the id of the line itself, which may contain the missing id.
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


def parse_line(text: str) -> Annotation:
    r"""Return the annotation of a line, or raise StructureError at its column.

    Examples
    --------
    >>> parse_line("T1\tProtein 4 7\tRaf")
    Entity(id='T1', type='Protein', spans=((4, 7),), text='Raf')
    >>> parse_line("E1\tBinding:T3 Theme:T1").arguments
    (Argument(role='Theme', target='T1'),)
    """
    name, tab, _ = text.partition("\t")
    if not tab:
        raise _flaw(
            text,
            "no tab follows the id",
            len(name),
            "columns are separated by tabs: T1<TAB>Type 10 15<TAB>text",
        )
    if not _ID.fullmatch(name):
        raise _flaw(
            text,
            f"{shorten(repr(name))} is not the id of an annotation",
            0,
            "ids begin with T (entity), E (event), R (relation), A or M (attribute), "
            "N (normalization) or # (note), and a number follows",
        )
    return _PARSERS[name[0]](name, text, len(name) + 1)


def format_line(annotation: Annotation) -> str:
    r"""Return the line of an annotation, without line end; not every annotation reads back.

    Examples
    --------
    >>> format_line(Relation("*", "Equiv", (Argument("", "T1"), Argument("", "T2"))))
    '*\tEquiv T1 T2'
    """
    name, kind = annotation.id, annotation.type
    if isinstance(annotation, Entity):
        places = ";".join(f"{start} {end}" for start, end in annotation.spans)
        return f"{name}\t{kind} {places}\t{annotation.text}"
    if isinstance(annotation, Attribute):
        separator = "\t" if name.startswith("#") else " "
        value = f"{separator}{annotation.value}" if annotation.value else ""
        return f"{name}\t{kind} {annotation.target}{value}"
    parts = [
        argument.target if name == "*" else f"{argument.role}:{argument.target}"
        for argument in annotation.arguments
    ]
    first = f"{kind}:{annotation.trigger}" if isinstance(annotation, Event) else kind
    return f"{name}\t{' '.join([first, *parts])}"


def _difference(entity: Entity, text: str) -> bool | None:
    """Compare an entity with the text; see `kernelwood.io.alignment.compare_mention`."""
    return compare_mention(entity.text, text, entity.spans)


def _text_at(entity: Entity, text: str) -> str:
    """Return the characters at the offsets of an entity, its parts joined by blanks."""
    return " ".join([text[start:end] for start, end in entity.spans])


def _parse_entity(name: str, text: str, at: int) -> Entity:
    body, tab, written = text[at:].partition("\t")
    match = _PLACE.fullmatch(body)
    if match is None or not tab:
        raise _flaw(
            text,
            "this is not an entity" if tab else "the text of the entity is missing",
            at if tab else len(text),
            "write T1<TAB>Type 10 15<TAB>text, or 0 5;16 23 for an entity in two parts",
        )
    spans: list[Span] = []
    before = 0
    for piece in match[2].split(";"):
        start, end = map(int, piece.split())
        if not before <= start < end:
            raise _flaw(
                text,
                f"the span {start} {end} is empty or not in order",
                at + match.start(2),
                "an end is the position after the last character; parts stand from left to right",
            )
        spans.append((start, end))
        before = end
    return Entity(name, match[1], tuple(spans), written)


def _parse_event(name: str, text: str, at: int) -> Event:
    words = _words(text, at, "write E1<TAB>Type:T3 Theme:T1 Cause:E2")
    first, *rest = [
        _argument(text, word, "write E1<TAB>Type:T3 Theme:T1 Cause:E2") for word in words
    ]
    return Event(name, first.role, first.target, tuple(rest))


def _parse_relation(name: str, text: str, at: int) -> Relation:
    form = "write R1<TAB>Type Arg1:T1 Arg2:T2"
    kind, *rest = _words(text, at, form)
    if not rest:
        raise _flaw(text, "this relation has no arguments", len(text), form)
    return Relation(name, kind[0], tuple(_argument(text, word, form) for word in rest))


def _parse_equivalence(name: str, text: str, at: int) -> Relation:
    form = "write *<TAB>Equiv T1 T2"
    kind, *rest = _words(text, at, form)
    if not rest:
        raise _flaw(text, "this relation has no arguments", len(text), form)
    return Relation(name, kind[0], tuple(Argument("", word) for word, _ in rest))


def _parse_attribute(name: str, text: str, at: int) -> Attribute:
    form = f"write {name[0]}1<TAB>Negation E1, and a value if there is one"
    _words(text, at, form)
    match = _REMARK.fullmatch(text[at:].rstrip(" \t"))
    if match is None:
        raise _flaw(text, "this is not an attribute", at, form)
    return Attribute(name, match[1], match[2], match[3] or "")


def _parse_normalization(name: str, text: str, at: int) -> Attribute:
    body, tab, written = text[at:].partition("\t")
    match = _REMARK.fullmatch(body.rstrip(" "))
    if match is None or not match[3]:
        raise _flaw(
            text,
            "this is not a normalization",
            at,
            "write N1<TAB>Reference T1 Database:id<TAB>text",
        )
    return Attribute(name, match[1], match[2], match[3] + tab + written)


def _parse_note(name: str, text: str, at: int) -> Attribute:
    body, _, written = text[at:].partition("\t")
    match = _REMARK.fullmatch(body.rstrip(" "))
    if match is None or match[3]:
        raise _flaw(text, "this is not a note", at, "write #1<TAB>AnnotatorNotes T1<TAB>text")
    return Attribute(name, match[1], match[2], written)


_PARSERS: dict[str, Callable[[str, str, int], Annotation]] = {
    "T": _parse_entity,
    "E": _parse_event,
    "R": _parse_relation,
    "*": _parse_equivalence,
    "A": _parse_attribute,
    "M": _parse_attribute,
    "N": _parse_normalization,
    "#": _parse_note,
}


def _words(text: str, at: int, form: str) -> list[tuple[str, int]]:
    """Return the words of the second column, which must be the last, with their positions."""
    end = len(text.rstrip(" \t"))
    extra = text.find("\t", at, end)
    if extra >= 0:
        raise _flaw(text, "there is one column too many", extra, form)
    words = [(match[0], match.start()) for match in _WORD.finditer(text, at)]
    if not words:
        raise _flaw(text, "the second column is empty", at, form)
    return words


def _argument(text: str, word: tuple[str, int], form: str) -> Argument:
    role, colon, target = word[0].partition(":")
    if not (role and colon and target):
        raise _flaw(text, f"{shorten(repr(word[0]))} is not of the form role:target", word[1], form)
    return Argument(role, target)


def _flaw(text: str, problem: str, index: int, hint: str) -> StructureError:
    """Return the error at a character of a line, counted from 0."""
    return StructureError(problem, column=index + 1, snippet=text, hint=hint)


def standoff_files(
    examples: Iterable[Example], *, view: str | None = None, adapt: bool = False
) -> Iterator[tuple[str, str]]:
    r"""Yield the name and the content of two files for each example: a text and its annotations.

    Reading the files gives equal documents with the same ids. A sentence is written as a document
    with its entities, relations, events and attributes, always adapted.

    Parameters
    ----------
    examples : iterable of Example
        Their ids become file names; slashes in them become folders. Labels are not written.
    view : str, optional
        Name of the view; by default "document", else "sentence", else the only view that is a
        document or a sentence.
    adapt : bool
        Adapt values that the format cannot hold, otherwise an error: ids that do not begin
        with the letter of their kind are replaced, types and roles get underscores for blanks
        (those of events also for colons), values of attributes are put on one line, entities get
        the text at their offsets, and negative relations and metadata are left out.

    Raises
    ------
    StructureError
        If an example cannot be written, with its id.

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
    found = annotated_to_write(example, view)
    document = adapt_to_standoff(found) if adapt or isinstance(found, Sentence) else found
    _check_text(document)
    lines = [_line(item, document) for item in _items(document)]
    return [(f"{name}.txt", document.text), (f"{name}.ann", "".join(lines))]


def adapt_to_standoff(source: Document | Sentence) -> Document:
    """Return a document changed so that the format can hold it, as far as possible.

    Examples
    --------
    >>> sentence = Sentence("Raf binds", entities=[Entity("e7", "protein", ((0, 3),))])
    >>> adapt_to_standoff(sentence).entities
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
        return tuple(
            Argument(role and _as_word(role, ":"), names[target]) for role, target in arguments
        )

    return Document(
        source.text,
        tuple(
            Entity(
                names[item.id],
                _as_word(item.type),
                item.spans,
                in_one_line(_text_at(item, source.text)),
            )
            for item in source.entities
        ),
        tuple(
            Relation(names[item.id], _as_word(item.type), renamed(item.arguments))
            for item in relations
        ),
        tuple(
            Event(
                names[item.id],
                _as_word(item.type, ":"),
                names[item.trigger],
                renamed(item.arguments),
            )
            for item in source.events
        ),
        tuple(
            Attribute(name, _as_word(item.type), names[item.target], _value(name, item.value))
            for name, item in zip(_attribute_ids(attributes), attributes, strict=True)
        ),
    )


def _as_word(written: str, marks: str = "") -> str:
    """Return a type or role without blanks, and without marks that have a meaning."""
    word = _WHITE.sub("_", written)
    return word.translate(dict.fromkeys(map(ord, marks), "_")) or "_"


def _value(name: str, written: str) -> str:
    """Return the value of an attribute on one line; only that of a normalization has a tab."""
    value = in_one_line(written)
    return value if name.startswith("N") else value.replace("\t", " ").strip()


def left_out_of_standoff(document: Document | Sentence) -> Iterator[str]:
    """Yield the parts of a document that the format cannot hold."""
    if document.metadata:
        yield "metadata"
    if not all(relation.holds for relation in document.relations):
        yield "negative relations"


def _attribute_ids(attributes: tuple[Attribute, ...]) -> list[str]:
    """Return unique ids for attributes; nothing refers to them."""
    fitting = frozenset(item.id for item in attributes if _fits(item.id, "attributes"))
    free = (name for name in map("A{}".format, count(1)) if name not in fitting)
    to_use = set(fitting)
    ids = []
    for item in attributes:
        ids.append(item.id if item.id in to_use else next(free))
        to_use.discard(item.id)
    return ids


def _new_names(ids: dict[str, list[str]]) -> dict[str, str]:
    """Return the ids to write: the old one if it fits its kind, else an unused number."""
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


def _check_text(document: Document) -> None:
    if document.text.startswith("\ufeff"):
        raise StructureError(
            "its text begins with a byte order mark",
            hint="take U+FEFF off, and 1 from all offsets; it would not be read as text",
        )
    if document.metadata:
        raise StructureError("the format cannot hold metadata", hint="adapt=True leaves it out")


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
    """Return the line of an annotation, having checked that it reads back."""
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
            "(attributes); adapt=True replaces ids that do not fit",
        )
    if isinstance(item, Entity) and _difference(item, document.text) is None:
        raise StructureError(
            f"entity {shorten(repr(item.id))} reads {shorten(repr(item.text))}, which is not what "
            "stands at its offsets",
            hint="adapt=True writes the text of the document",
        )
    return f"{text}\n"


def write_standoff(
    examples: Iterable[Example],
    path: str | os.PathLike[str],
    *,
    view: str | None = None,
    adapt: bool = False,
) -> None:
    """Write examples as ``.txt`` and ``.ann`` files into a new folder.

    Parameters are those of `standoff_files`. The folder must be new or empty, and appears when
    everything is written.
    """
    write_folder(path, standoff_files(examples, view=view, adapt=adapt))
