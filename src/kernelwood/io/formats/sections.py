r"""Sections of a document: their names and spans, stored in its metadata.

The metadata of a document with sections have an entry ``("section", "START END\tNAME")`` for each,
in the order of the text. The name of a section within another one follows after a slash, as in
``body/Results/Cell culture``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from kernelwood.text import Document, Metadata

_KEY = "section"
_ENTRY = re.compile(r"([0-9]{1,18}) ([0-9]{1,18})\t(.*)", re.DOTALL)
_BREAK = "\n\n"


class Section(NamedTuple):
    """A named part of a document.

    Attributes
    ----------
    name : str
        As in ``"abstract/METHODS"``.
    start, end : int
        Span in the text, the heading included.
    """

    name: str
    start: int
    end: int


def join_sections(parts: Iterable[tuple[str, Iterable[str]]]) -> tuple[str, Metadata]:
    r"""Return a text made of sections, and the metadata that record them.

    Parameters
    ----------
    parts : iterable of (name, paragraphs)
        A heading is a paragraph. Sections and paragraphs are separated by blank lines.

    Examples
    --------
    >>> join_sections([("title", ["Raf"]), ("abstract", ["AIM", "We ask."])])
    ('Raf\n\nAIM\n\nWe ask.', (('section', '0 3\ttitle'), ('section', '5 17\tabstract')))
    """
    written: list[str] = []
    entries: list[tuple[str, str | None]] = []
    place = 0
    for name, paragraphs in parts:
        text = _BREAK.join(paragraphs)
        entries.append((_KEY, f"{place} {place + len(text)}\t{name}"))
        written.append(text)
        place += len(text) + len(_BREAK)
    return _BREAK.join(written), tuple(entries)


def sections_of(document: Document) -> tuple[Section, ...]:
    r"""Return the sections that a reader recorded in the metadata of a document.

    Readers of articles (``pubmed``, ``jats``, ``medline``) and of records with several text
    columns record them. Entries that do not fit the text are ignored.

    Examples
    --------
    >>> document = Document("Raf\n\nWe ask.", metadata=[("section", "0 3\ttitle")])
    >>> sections_of(document)
    (Section(name='title', start=0, end=3),)
    """
    found = []
    for key, value in document.metadata:
        match = _ENTRY.fullmatch(value or "") if key == _KEY else None
        if match is not None and int(match[1]) <= int(match[2]) <= len(document.text):
            found.append(Section(match[3], int(match[1]), int(match[2])))
    return tuple(found)
