"""Abbreviations that a text defines, such as *mitogen-activated protein kinase (MAPK)*.

A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation definitions in
biomedical text", Pacific Symposium on Biocomputing 2003.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from kernelwood.entities.mentions import Mention, add_mentions
from kernelwood.text import Document, Sentence, Span, find_sentences

_A = TypeVar("_A", bound="Document | Sentence")

_BRACKETS = re.compile(r"\(([^()]{1,200})\)")
_END_OF_SHORT = re.compile(r"[;,]\s| or ")  # what follows is another name or a remark
_WORD = re.compile(r"\S+")
_LONGEST_SHORT, _MOST_SHORT_WORDS = 10, 2


class Abbreviation(NamedTuple):
    """A short form and its long form, as spans of a text."""

    short: Span
    long: Span


def find_abbreviations(text: str) -> list[Abbreviation]:
    """Return the abbreviations that a text defines in brackets.

    Either the short form follows its long form in brackets, or the long form its short form. A
    short form has 2 to 10 characters and at most two words; its letters and digits occur in the
    long form in the same order, the first one at the beginning of a word [1]_.

    Parameters
    ----------
    text : str
        Any text; long forms do not begin in an earlier sentence.

    References
    ----------
    .. [1] A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation
       definitions in biomedical text", Pacific Symposium on Biocomputing 2003.

    Examples
    --------
    >>> text = "Mitogen-activated protein kinase (MAPK) binds heat shock protein 90 (Hsp90)."
    >>> for short, long in find_abbreviations(text):
    ...     print(text[slice(*short)], "=", text[slice(*long)])
    MAPK = Mitogen-activated protein kinase
    Hsp90 = heat shock protein 90
    """
    return _find_abbreviations(text)


def _find_abbreviations(text: str, starts: Sequence[int] | None = None) -> list[Abbreviation]:
    """Return the abbreviations of a text, where its sentences begin may be known."""
    brackets = list(_BRACKETS.finditer(text)) if "(" in text else []
    if not brackets:
        return []
    found = []
    if starts is None:
        starts = [begin for begin, _ in find_sentences(text)]
    for match in brackets:
        begin = starts[max(0, bisect_right(starts, match.start()) - 1)]
        if begin <= match.start():
            inner = _stripped(text, *match.span(1))
            before = _stripped(text, begin, match.start())
            made = _short_inside(text, inner, before) or _long_inside(text, inner, before)
            if made is not None:
                found.append(made)
    return found


def _short_inside(text: str, inner: Span, before: Span) -> Abbreviation | None:
    """Return the abbreviation if the brackets contain a short form."""
    stop = _END_OF_SHORT.search(text, *inner)
    short = (inner[0], stop.start() if stop else inner[1])
    return _matched(text, short, before)


def _long_inside(text: str, inner: Span, before: Span) -> Abbreviation | None:
    """Return the abbreviation if the brackets contain a long form."""
    start = max(text.rfind(blank, *before) for blank in " \t\n") + 1
    short = (max(start, before[0]), before[1])
    made = _matched(text, short, inner)
    # Brackets with a longer text are remarks that happen to end in such words.
    return made if made is not None and made.long[0] == inner[0] else None


def _matched(text: str, short: Span, place: Span) -> Abbreviation | None:
    written = text[slice(*short)]
    if not _is_short_form(written):
        return None
    words = [match.start() for match in _WORD.finditer(text, *place)]
    most = min(len(written) + 5, 2 * len(written))
    first = words[-most] if len(words) > most else place[0]
    start = _long_start(written, text, first, place[1])
    if start is None:
        return None
    long = text[start : place[1]]
    if len(long) <= len(written) or written in long.split():
        return None
    return Abbreviation(short, (start, place[1]))


def _is_short_form(text: str) -> bool:
    """Return whether a text may be an abbreviation.

    Examples
    --------
    >>> [_is_short_form(text) for text in ("MAPK", "IL 2", "a", "1998", "-x", "see the text")]
    [True, True, False, False, False, False]
    """
    return (
        2 <= len(text) <= _LONGEST_SHORT
        and len(text.split()) <= _MOST_SHORT_WORDS
        and any(map(str.isalpha, text))
        and text[0].isalnum()
    )


def _long_start(short: str, text: str, first: int, end: int) -> int | None:
    """Return where the shortest long form that ends at ``end`` begins; None if there is none.

    The characters of the short form are found from right to left.
    """
    place = end - 1
    for number in range(len(short) - 1, -1, -1):
        character = short[number].lower()
        if not character.isalnum():
            continue
        while place >= first and not (
            text[place].lower() == character
            and (number > 0 or place == first or not text[place - 1].isalnum())
        ):
            place -= 1
        if place < first:
            return None
        place -= 1
    start = max(text.rfind(blank, first, place + 1) for blank in " \t\n(")
    return max(first, start + 1)


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    kept = piece.strip()
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(kept)


def abbreviation_mentions(
    text: str, mentions: Iterable[Mention], starts: Sequence[int] | None = None
) -> list[Mention]:
    """Return mentions, with those of the abbreviations that a text defines for them.

    The short form of a long form that is a mention is a mention of the same type, and so are its
    later occurrences. If only some of these have a reference, the others get it. Where sentences
    begin may be given if it is known.
    """
    known = {(one.start, one.end): one for one in mentions}
    covered = {place for start, end in known for place in range(start, end)}
    by_end = {end: (start, end) for start, end in known}
    for short, long in _find_abbreviations(text, starts):
        source = known.get(by_end.get(long[1], (-1, -1)))
        if source is None or source.start < long[0]:
            source = None
        own = known.get(short)
        if source is None and own is None:
            continue
        reference = (source.reference if source else "") or (own.reference if own else "")
        if source and not source.reference and reference:
            known[source.start, source.end] = source._replace(reference=reference)
        kind = own.type if own else source.type if source else ""
        for start, end in _occurrences(text, text[slice(*short)], short[0]):
            there = known.get((start, end))
            if there is not None:
                if not there.reference and there.type == kind:
                    known[start, end] = there._replace(reference=reference)
            elif source is not None and covered.isdisjoint(range(start, end)):
                covered.update(range(start, end))
                known[start, end] = Mention(start, end, kind, source.probability, reference)
    return sorted(known.values())


def _occurrences(text: str, word: str, first: int) -> Iterator[Span]:
    """Yield where a word occurs from a place on, not as part of another word."""
    for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text[first:]):
        yield first + match.start(), first + match.end()


def link_abbreviations(document: _A) -> _A:
    r"""Return a document with entities for the abbreviations that it defines for its entities.

    Where *mitogen-activated protein kinase* is an entity and *(MAPK)* follows, *MAPK* is an entity
    of the same type there and later in the text, unless it overlaps another. If only some of them
    have the id of a database (an attribute of type ``"Reference"``), the others get it.

    Examples
    --------
    >>> from kernelwood.entities import Dictionary
    >>> document = Document("Heat shock protein 90 (Hsp90) is new. Hsp90 binds.")
    >>> listed = Dictionary([("heat shock protein 90", "protein", "DB:1")])
    >>> linked = link_abbreviations(listed.annotate(document))
    >>> [(entity.text, entity.start) for entity in linked.entities]
    [('Heat shock protein 90', 0), ('Hsp90', 23), ('Hsp90', 38)]
    >>> {attribute.value for attribute in linked.attributes}
    {'DB:1\theat shock protein 90'}
    """
    references: dict[str, str] = {}
    for attribute in document.attributes:
        if attribute.type == "Reference":
            references.setdefault(attribute.target, attribute.value)
    own = [
        Mention(one.start, one.end, one.type, None, references.get(one.id, ""))
        for one in document.entities
        if len(one.spans) == 1
    ]
    spans = {(one.start, one.end) for one in own}
    taken = {place for one in document.entities for span in one.spans for place in range(*span)}
    added = [
        one
        for one in abbreviation_mentions(document.text, own)
        if (one.start, one.end) not in spans and taken.isdisjoint(range(one.start, one.end))
    ]
    return add_mentions(document, added)
