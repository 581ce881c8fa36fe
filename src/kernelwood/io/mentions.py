"""Quoted mentions: the places of names in a text that another tool has read."""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from kernelwood.errors import StructureError
from kernelwood.text import Document, Span
from kernelwood.threads import lazy_property

_MOST = 1000  # occurrences of a mention that are considered
_MOST_WORK = 1_000_000_000  # characters that are searched, some seconds
_SPAN_WORK = 2000  # what the comparison of an occurrence with others takes, in characters


class MentionFinder:
    """Finds mentions in a text.

    A mention begins and ends at the boundary of a word. If it does not occur as it is quoted, case,
    whitespace and hyphens are ignored.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> finder = MentionFinder("Raf-1 binds Ras. RAF1 is a kinase.")
    >>> finder.find("Ras"), finder.find("raf1"), finder.find("af")
    ([(12, 15)], [(0, 5), (17, 21)], [])
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[str, list[Span]] = {}
        self._work = 0

    def find(self, mention: str) -> list[Span]:
        """Return the spans of a mention, from left to right; at most 1,000."""
        mention = mention.strip()
        if not any(map(str.isalnum, mention)):
            return []
        if mention not in self._found:
            self._spend(2 * len(self.text))
            exact = _occurrences(self.text, mention, self.text, None)
            self._found[mention] = exact or self._find_folded(mention)
        return self._found[mention]

    def _find_folded(self, mention: str) -> list[Span]:
        text, places = self._folded
        return _occurrences(text, _fold(mention)[0], self.text, places)

    @lazy_property
    def _folded(self) -> tuple[str, Sequence[int]]:
        return _fold(self.text)

    def find_pair(self, first: Sequence[Span], second: Sequence[Span]) -> tuple[Span, Span] | None:
        """Return the nearest two spans that do not overlap, in one sentence if possible.

        Examples
        --------
        >>> finder = MentionFinder("Raf is old. Ras binds Raf.")
        >>> finder.find_pair(finder.find("Raf"), finder.find("Ras"))
        ((22, 25), (12, 15))
        """
        if len(first) == len(second) == 1:
            (one,), (other,) = first, second
            return (one, other) if one[1] <= other[0] or other[1] <= one[0] else None
        self._spend(_SPAN_WORK * (len(first) + len(second)))
        ordered = sorted(second)
        best: tuple[bool, int, Span, Span] | None = None
        for one in first:
            place = bisect_left(ordered, one)
            # The nearest on both sides, and the next if that overlaps.
            for other in ordered[max(place - 2, 0) : place + 2]:
                distance = max(other[0] - one[1], one[0] - other[1])
                if distance >= 0:
                    apart = self._sentence(one) != self._sentence(other)
                    found = (apart, distance, one, other)
                    best = found if best is None else min(best, found)
        return None if best is None else best[2:]

    def _spend(self, work: int) -> None:
        """Count characters that are searched; raise if a few seconds are used up."""
        self._work += work
        if self._work > _MOST_WORK:
            raise StructureError(
                "the relations have too many mentions to find them in the text",
                hint="give the offsets of the mentions, or cut the text into several records",
            )

    def _sentence(self, span: Span) -> int:
        """Return the number of the sentence in which a span begins."""
        return bisect_left(self._starts, span[0] + 1)

    @lazy_property
    def _starts(self) -> list[int]:
        return [sentence.start for sentence in Document(self.text).sentences()]


def _occurrences(text: str, mention: str, whole: str, places: Sequence[int] | None) -> list[Span]:
    """Return the places of a mention between boundaries of words of the whole text."""
    found: list[Span] = []
    start = text.find(mention) if mention else -1
    while start >= 0 and len(found) < _MOST:
        end = start + len(mention)
        span = (start, end) if places is None else (places[start], places[end - 1] + 1)
        if _is_boundary(whole, span[0]) and _is_boundary(whole, span[1]):
            found.append(span)
        start = text.find(mention, start + 1)
    return found


def _is_boundary(text: str, place: int) -> bool:
    return not (0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum())


def _fold(text: str) -> tuple[str, Sequence[int]]:
    """Return a text without case, whitespace and hyphens, and the places of its characters."""
    folded: list[str] = []
    places = array("I")
    for place, character in enumerate(text):
        for one in _fold_character(character):
            folded.append(one)
            places.append(place)
    return "".join(folded), places


@lru_cache(4096)
def _fold_character(character: str) -> str:
    if (
        character.isspace()
        or unicodedata.category(character) == "Pd"
        or character == "\N{SOFT HYPHEN}"
    ):
        return ""
    return character.casefold()
