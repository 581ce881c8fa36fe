"""Alignment of words with a text, and hints for offsets that do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kernelwood.structures import shorten
from kernelwood.text import Span

_BLANKS = re.compile(r"\s*")
_LINE_ENDS = str.maketrans("\r\n", "  ")
_MAX_STRETCH = 10  # how many times longer a mention may be in the text, where blanks differ
_NEAR = 200  # how far from its offsets a mention is looked for, to give a hint
_UNITS = (("UTF-16 units", "utf-16-le", 2), ("UTF-8 bytes", "utf-8", 1))


class MisfitError(Exception):
    """Word ``index`` does not continue the text at ``position``; see `place_words`."""

    def __init__(self, index: int, position: int) -> None:
        super().__init__(index, position)
        self.index = index
        self.position = position


def place_words(text: str, words: Iterable[str]) -> list[Span]:
    """Return the spans of the words in the text, from left to right with only blanks between.

    Characters are compared as they are, so a composed and a decomposed letter are different.

    Raises
    ------
    MisfitError
        With the index of the first word that does not continue the text, or with the number of
        words if the text continues after the last.

    Examples
    --------
    >>> place_words("We go.", ["We", "go", "."])
    [(0, 2), (3, 5), (5, 6)]
    """
    spans: list[Span] = []
    position = solid = 0  # ``solid`` is the next character that is not blank
    for word in words:
        if solid <= position:
            solid = _next_solid(text, position)
        # A word may begin with blanks or consist of them, so the first match is taken.
        start = text.find(word, position, solid + len(word))
        if start < 0:
            raise MisfitError(len(spans), solid)
        position = start + len(word)
        spans.append((start, position))
    solid = max(solid, _next_solid(text, position))
    if solid < len(text):
        raise MisfitError(len(spans), solid)
    return spans


def _next_solid(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return position if found is None else found.end()


def compare_mention(written: str, text: str, spans: Sequence[Span]) -> bool | None:
    r"""Compare the text of a mention with the characters at its offsets, parts joined by blanks.

    Return False if they are equal, a blank standing for a line end, True if only blanks or the
    characters that join parts differ, and None if they differ otherwise or there are far more
    blanks at the offsets.

    Examples
    --------
    >>> compare_mention("p53 p63", "p53/p63", [(0, 3), (4, 7)])
    False
    >>> compare_mention("alpha-adrenergic", "alpha- and beta-adrenergic", [(0, 6), (16, 26)])
    True
    """
    # Hostile mentions may claim to be as long as the text; comparing many would take too long.
    if sum(end - start for start, end in spans) > _MAX_STRETCH * (len(written) + 10):
        return None
    pieces = [text[start:end] for start, end in spans]
    found = " ".join(pieces)
    if found == written:
        return False
    if written in (in_one_line(found), found.translate(_LINE_ENDS)):
        return False
    same = found.split() == written.split() or joined_otherwise(written, pieces)
    return True if same else None


def joined_otherwise(written: str, pieces: Sequence[str]) -> bool:
    """Return whether a mention is its parts with no letters or digits between them.

    Examples
    --------
    >>> joined_otherwise("alpha...receptor", ["alpha", "receptor"]), joined_otherwise("ab", ["a"])
    (True, False)
    """
    position = 0
    for place, piece in enumerate(pieces):
        start = written.find(piece, position)
        if start < 0 or (
            start > 0 and (place == 0 or any(map(str.isalnum, written[position:start])))
        ):
            return False
        position = start + len(piece)
    return position == len(written) > 0


def in_one_line(text: str) -> str:
    """Return a text with a blank for each line end."""
    return text.replace("\r\n", " ").translate(_LINE_ENDS)


def mention_problem(what: str, written: str, text: str, spans: Sequence[Span]) -> tuple[str, str]:
    """Return the problem and the hint for a mention that differs from the text at its offsets.

    Examples
    --------
    >>> problem, hint = mention_problem("the mention", "Ras", "Raf binds Ras.", [(9, 12)])
    >>> problem
    "the mention is 'Ras', but at its offsets stands ' Ra'"
    >>> hint
    'the same text stands at 10 13'
    """
    end, length = spans[-1][1], len(text)
    if end > length:
        problem = f"{what} ends at {end}, but the text has {length} characters"
    else:
        found = " ".join([text[a : min(b, a + 60)] for a, b in spans[:60]])
        problem = (
            f"{what} is {shorten(repr(written[:60]))}, "
            f"but at its offsets stands {shorten(repr(found[:60]))}"
        )
    plain = "offsets count characters from 0; an end is the position after the last one"
    return problem, guess_offsets(written, text, spans) or plain


def guess_offsets(written: str, text: str, spans: Sequence[Span]) -> str | None:
    """Return a guess about wrong offsets of a mention; None if there is none."""
    guess = guess_unit(written, text, spans)
    if guess is None and len(spans) == 1 and written:
        [(start, end)] = spans
        places = (
            text.rfind(written, max(0, start - _NEAR), end),
            text.find(written, start, end + _NEAR),
        )
        near = min(
            (place for place in places if place >= 0), key=lambda p: abs(p - start), default=-1
        )
        if near >= 0:
            return f"the same text stands at {near} {near + len(written)}"
    return guess


def guess_unit(mention: str, text: str, spans: Iterable[Span]) -> str | None:
    """Return a hint if wrong offsets of a mention fit when counted in UTF-8 or UTF-16 units.

    Parameters
    ----------
    mention : str
        The text expected at the offsets; its parts are joined by blanks, or directly.
    text : str
        The text that the offsets refer to.
    spans : iterable of (start, end)
        The offsets as written in the file.

    Examples
    --------
    >>> guess_unit("Raf", "β-Raf", [(3, 6)])
    'the offsets seem to count UTF-8 bytes; they must count characters'
    """
    places = list(spans)
    if joined_otherwise(mention, [text[start:end] for start, end in places]):
        return None  # the offsets are right
    for name, codec, size in _UNITS:
        units = text.encode(codec, "surrogatepass")
        pieces = [
            units[size * start : size * end].decode(codec, "replace") for start, end in places
        ]
        if mention and mention in (" ".join(pieces), "".join(pieces)):
            return f"the offsets seem to count {name}; they must count characters"
    return None
