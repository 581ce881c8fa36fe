r"""The lines of standoff annotation: one annotation each, told apart by the first letter of its id.

======================================  ========================================================
line (columns are separated by tabs)    annotation
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
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import shorten
from kernelwood.text import Argument, Attribute, Entity, Event, Relation, Span

__all__ = [
    "Annotation",
    "blanks_that_differ",
    "format_line",
    "in_one_line",
    "parse_line",
    "text_at",
]

Annotation: TypeAlias = Entity | Event | Relation | Attribute

_ID = re.compile(r"\*|[TERAMN#][^ \t]+")
_WORD = re.compile(r"[^ \t]+")
# No text is longer than 18 digits can say, and longer numbers are slow to read.
_PLACE = re.compile(r"([^ \t]+) +([0-9]{1,18} +[0-9]{1,18}(?:;[0-9]{1,18} +[0-9]{1,18})*) *")
_REMARK = re.compile(r"([^ \t]+) +([^ \t]+)(?: +([^ \t][^\t]*))?")
_MAX_STRETCH = 10  # how many times longer an entity may be in the text, where blanks differ
_LINE_ENDS = str.maketrans("\r\n", "  ")


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
            f"{shorten(repr(name))} is no id of an annotation",
            0,
            "ids begin with T (entity), E (event), R (relation), A or M (attribute), "
            "N (normalization) or # (note), and a number follows",
        )
    return _PARSERS[name[0]](name, text, len(name) + 1)


def format_line(annotation: Annotation) -> str:
    r"""Return the line of an annotation, without its end; not every annotation reads back.

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


def blanks_that_differ(entity: Entity, text: str) -> bool | None:
    r"""Compare the text of an entity with the characters at its offsets.

    None means that they are not the same, or that there are far more blanks at the offsets; True
    that only blanks differ. That pieces are joined
    by a blank, and that a blank stands for a line end, belongs to the format.

    Examples
    --------
    >>> blanks_that_differ(Entity("T1", "Protein", ((0, 3), (4, 7)), "p53 p63"), "p53/p63")
    False
    """
    written = entity.text
    # Many entities may claim to be as long as the text, which none of them can be compared with.
    if sum(end - start for start, end in entity.spans) > _MAX_STRETCH * (len(written) + 10):
        return None
    found = text_at(entity, text)
    if found == written:
        return False
    if written in (in_one_line(found), found.translate(_LINE_ENDS)):
        return False
    return True if found.split() == written.split() else None


def text_at(entity: Entity, text: str) -> str:
    """Return the characters at the offsets of an entity, its pieces joined by blanks."""
    return " ".join([text[start:end] for start, end in entity.spans])


def in_one_line(text: str) -> str:
    """Return a text with a blank for each line end."""
    return text.replace("\r\n", " ").translate(_LINE_ENDS)


def _parse_entity(name: str, text: str, at: int) -> Entity:
    body, tab, written = text[at:].partition("\t")
    match = _PLACE.fullmatch(body)
    if match is None or not tab:
        raise _flaw(
            text,
            "this is no entity" if tab else "the text of the entity is missing",
            at if tab else len(text),
            "write T1<TAB>Type 10 15<TAB>text, or 0 5;16 23 for an entity in two pieces",
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
                "an end is the position after the last character; pieces stand from left to right",
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
        raise _flaw(text, "this is no attribute", at, form)
    return Attribute(name, match[1], match[2], match[3] or "")


def _parse_normalization(name: str, text: str, at: int) -> Attribute:
    body, tab, written = text[at:].partition("\t")
    match = _REMARK.fullmatch(body.rstrip(" "))
    if match is None or not match[3]:
        raise _flaw(
            text, "this is no normalization", at, "write N1<TAB>Reference T1 Database:id<TAB>text"
        )
    return Attribute(name, match[1], match[2], match[3] + tab + written)


def _parse_note(name: str, text: str, at: int) -> Attribute:
    body, _, written = text[at:].partition("\t")
    match = _REMARK.fullmatch(body.rstrip(" "))
    if match is None or match[3]:
        raise _flaw(text, "this is no note", at, "write #1<TAB>AnnotatorNotes T1<TAB>text")
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
    """Return the words of the second column, which is the last one, with their places."""
    end = len(text.rstrip(" \t"))
    extra = text.find("\t", at, end)
    if extra >= 0:
        raise _flaw(text, "there is a column too many", extra, form)
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
