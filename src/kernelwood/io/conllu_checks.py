"""What reader and writer of CoNLL-U must agree on: where words stand, and that heads form trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kernelwood.structures.annotation import Span

__all__ = ["COLUMNS", "MisfitError", "find_circle", "place_words", "written_units"]

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")

_BLANKS = re.compile(r"\s*")


class MisfitError(Exception):
    """A word is not in the text where it should be; the last index is that of no word."""

    def __init__(self, index: int, position: int) -> None:
        super().__init__(index, position)
        self.index = index
        self.position = position


def written_units(n_words: int, ranges: Iterable[Span]) -> list[Span]:
    """Return what is written as one: the ranges, and each word outside of them.

    Parameters
    ----------
    n_words : int
        The number of words.
    ranges : iterable of (first, end)
        The words of each multiword token, in order and without overlap.

    Examples
    --------
    >>> written_units(4, [(1, 3)])
    [(0, 1), (1, 3), (3, 4)]
    """
    units: list[Span] = []
    position = 0
    for first, end in ranges:
        units += [(index, index + 1) for index in range(position, first)]
        units.append((first, end))
        position = end
    return units + [(index, index + 1) for index in range(position, n_words)]


def place_words(text: str, words: Iterable[str]) -> list[Span]:
    """Return where the words stand in the text, from left to right with only blanks between.

    Characters are compared as they are, so a composed and a decomposed letter are different.

    Raises
    ------
    MisfitError
        With the index of the first word that does not continue the text, or the number of words
        if the text goes on after them.

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
        # A word may begin with blanks, or be nothing else, so the first fitting place is sought.
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


def find_circle(heads: Sequence[int]) -> list[int]:
    """Return the indices of words whose heads run in a circle; none if there is no circle.

    Parameters
    ----------
    heads : sequence of int
        The index of the head of each word, negative for a root and for a word without a head.

    Examples
    --------
    >>> find_circle([1, -1, 1]), find_circle([2, -1, 0])
    ([], [0, 2])
    """
    seen = [0] * len(heads)
    for number in range(1, len(heads) + 1):
        word = number - 1
        while word >= 0 and not seen[word]:
            seen[word] = number
            word = heads[word]
        if word >= 0 and seen[word] == number:
            circle = [word]
            while heads[circle[-1]] != word:
                circle.append(heads[circle[-1]])
            return circle
    return []
