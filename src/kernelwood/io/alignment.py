"""Alignment of words with a text, and hints for offsets that do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kernelwood.text import Span

_BLANKS = re.compile(r"\s*")
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
    for name, codec, size in _UNITS:
        units = text.encode(codec, "surrogatepass")
        pieces = [
            units[size * start : size * end].decode(codec, "replace") for start, end in places
        ]
        if mention and mention in (" ".join(pieces), "".join(pieces)):
            return f"the offsets seem to count {name}; they must count characters"
    return None
