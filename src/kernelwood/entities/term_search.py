"""Search of a text for terms by the native core, and the characters that it knows.

The core cuts texts into pieces by the rules of :mod:`kernelwood.entities.pieces`, and follows them
through an automaton of terms. Properties of characters come from Python, 256 at a time, when a text
needs them; so does the spelling of pieces with characters that are composed with others, or that
fold to several.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.entities.pieces import MARKS, hyphenated
from kernelwood.text import Span, shape_of

_CODEC = f"utf-32-{'le' if sys.byteorder == 'little' else 'be'}"
_PAGE = 256
_ALPHABETIC, _ALPHANUMERIC, _MARK, _UPPER, _PLAIN = (1 << bit for bit in range(5))
_LAST_OF_BASIC_PLANE = 0xFFFF
# Vowels and final consonants of Korean, which follow another letter and are composed with it.
_JAMO = range(0x1100, 0x1200)


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode(_CODEC, "surrogatepass"), dtype=np.uint32)


def _flags(character: str) -> int:
    return (
        _ALPHABETIC * character.isalpha()
        + _ALPHANUMERIC * character.isalnum()
        + _MARK * (unicodedata.category(character) in MARKS)
        + _UPPER * character.isupper()
        + _PLAIN * is_plain(character)
    )


def is_plain(character: str) -> bool:
    """Return whether a character folds to one, and no character around it changes its spelling.

    False also for some of which that is true.

    Examples
    --------
    >>> [is_plain(character) for character in "aé+β"], is_plain("ß"), is_plain("\u0301")
    ([True, True, True, True], False, False)
    """
    code = ord(character)
    category = unicodedata.category(character)
    return (
        not category.startswith("M")
        and code not in _JAMO
        and (code <= _LAST_OF_BASIC_PLANE or not character.isalpha())
        and unicodedata.normalize("NFC", character) == character
        and len(character.casefold()) == 1
    )


class _Characters:
    """The properties of characters that texts had so far."""

    def __init__(self) -> None:
        self.table = _native.CharacterTable()
        for page in {0, ord("α") // _PAGE}:
            self._add(page)

    def know(self, codes: NDArray[np.uint32]) -> None:
        for page in self.table.missing(codes):
            self._add(page)

    def _add(self, page: int) -> None:
        characters = [chr(code) for code in range(page * _PAGE, (page + 1) * _PAGE)]
        shapes = [ord(shape_of(character)) for character in characters]
        folded = [ord(c.casefold()) if len(c.casefold()) == 1 else ord(c) for c in characters]
        self.table.add(
            page,
            np.array(shapes, dtype=np.uint8),
            np.array([_flags(character) for character in characters], dtype=np.uint8),
            np.array(folded, dtype=np.uint32),
        )


_CHARACTERS = _Characters()


def _cut(text: str, variants: bool, by_line: bool) -> Any:
    """Return the pieces of a text, all of them spelled."""
    codes = _codes(text)
    _CHARACTERS.know(codes)
    pieces = _native.TermPieces(_CHARACTERS.table, codes, variants, by_line)
    spans = pieces.unspelled()
    if spans:
        if variants:
            text = hyphenated(text)
        written = [unicodedata.normalize("NFC", text[start:end]) for start, end in spans]
        folded = [part.casefold() for part in written]
        pieces.spell(*_joined(written), *_joined(folded))
    return pieces


def _joined(parts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    return _codes("".join(parts)), np.array([*accumulate(map(len, parts))], dtype=np.int64)


class TermSearch:
    """Terms to find in texts.

    Parameters
    ----------
    terms : sequence of str
        Terms without line ends.
    ignores_case : callable
        Says whether the case of a term is ignored.
    variants : bool
        Whether spelling variants are alike.

    Attributes
    ----------
    placed : list of int
        The number of each term, counting those that differ; of one that is equal to an earlier one
        with the number n, -1 - n.
    """

    def __init__(
        self, terms: Sequence[str], ignores_case: Callable[[str], bool], variants: bool
    ) -> None:
        self._variants = variants
        ignores = np.fromiter(map(ignores_case, terms), dtype=np.uint8, count=len(terms))
        placed = np.empty(len(terms), dtype=np.int64)
        pieces = _cut("".join(f"{term}\n" for term in terms), variants, by_line=True)
        self._automaton = _native.TermAutomaton(pieces, ignores, placed)
        self.placed: list[int] = placed.tolist()

    def find(self, text: str, taken: Iterable[Span] = ()) -> list[tuple[int, int, int]]:
        """Return start, end and number of the longest terms, from left to right, not overlapping.

        Parameters
        ----------
        text : str
            Any text.
        taken : iterable of (start, end)
            Spans that terms must not overlap.
        """
        starts, ends = _merged(taken, len(text))
        pieces = _cut(text, self._variants, by_line=False)
        found: list[tuple[int, int, int]] = self._automaton.find(pieces, starts, ends)
        return found


def _merged(taken: Iterable[Span], length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return spans in order, overlapping ones as one, as far as they matter for a text."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(taken):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    within = [[min(max(place, -1), length + 1) for place in places] for places in (starts, ends)]
    made_starts, made_ends = (np.array(places, dtype=np.int64) for places in within)
    return made_starts, made_ends
