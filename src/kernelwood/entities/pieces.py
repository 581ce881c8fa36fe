"""Pieces of text by which dictionary terms are compared: runs of letters or digits, and signs.

Terms and texts are cut alike, so a term matches where its pieces follow each other. A piece records
whether a term may begin or end there: at token boundaries, and at a hyphen inside a token that
separates it from another word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple

from kernelwood.text import Token, tokenize

_HYPHENS = frozenset("-\u2010\u2011")
# Dashes used as hyphens in typeset texts.
_DASHES = str.maketrans("\u2012\u2013\u2212", "---")
_CACHED = 64  # characters; longer tokens are rarely repeated
_ASCII_RUN = re.compile("[A-Za-z]+|[0-9]+|[^A-Za-z0-9]")
# Names that are rarely part of another word.
_GREEK_NAMES = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "zeta": "ζ",
    "theta": "θ",
    "kappa": "κ",
    "lambda": "λ",
    "sigma": "σ",
    "omega": "ω",
}
_MICRO_SIGN, _MU = "\u00b5", "μ"
# A letter with an accent is composed to one character and is not a symbol.
_GREEK = re.compile(f"((?ai:{'|'.join(_GREEK_NAMES)})|[Α-Ωα-ω{_MICRO_SIGN}])(?![\u0300-\u036f])")

_LATIN, _GREEK_LETTER, _DIGITS, _SIGN, _MARK = range(5)  # other alphabets count as Latin
MARKS = frozenset(["Mn", "Mc", "Me", "Cf"])


class _Run(NamedTuple):
    """Characters of one kind in a token."""

    start: int
    end: int
    kind: int


class Piece(NamedTuple):
    """A piece of a token.

    Attributes
    ----------
    folded, written : str
        Text to compare without and with case.
    start, end : int
        Offsets in the token.
    is_word : bool
        Whether it consists of letters or digits.
    begins, ends : bool
        Whether a term may begin or end here.
    """

    folded: str
    written: str
    start: int
    end: int
    is_word: bool
    begins: bool
    ends: bool


class Pieces(NamedTuple):
    """The pieces of a text, and the start of the token of each."""

    pieces: list[Piece]
    tokens: list[int]

    def span(self, first: int, end: int) -> tuple[int, int]:
        """Return the span of the pieces from ``first`` to before ``end``."""
        start = self.tokens[first] + self.pieces[first].start
        return start, self.tokens[end - 1] + self.pieces[end - 1].end


_BLANK = Piece(" ", " ", 0, 0, False, False, False)


def cut_pieces(text: str, variants: bool, tokens: Sequence[Token] | None = None) -> Pieces:
    """Return the pieces of a text, in linear time.

    With ``variants``, hyphens and blanks between letters and digits are omitted, and names of
    Greek letters become the letters; otherwise, a run of blanks is one piece. The tokens of the
    text by `tokenize` may be given if they are known.

    Examples
    --------
    >>> [piece.folded for piece in cut_pieces("IL-2  binds", variants=False).pieces]
    ['il', '-', '2', ' ', 'binds']
    >>> [piece.written for piece in cut_pieces("TNF-alpha", variants=True).pieces]
    ['TNF', 'α']
    """
    made = Pieces([], [])
    pieces, starts = made
    if tokens is None or (variants and hyphenated(text) != text):
        tokens = tokenize(hyphenated(text) if variants else text)
    before = 0
    after_word = False
    for token in tokens:
        word, start = token[0], token[1]
        new = _cut_often(word, variants) if len(word) <= _CACHED else _cut_token(word, variants)
        if start > before and pieces and not (after_word and new[0].is_word):
            pieces.append(_BLANK)
            starts.append(before)
        if len(new) == 1:
            pieces.append(new[0])
            starts.append(start)
        else:
            pieces += new
            starts += repeat(start, len(new))
        before = token[2]
        after_word = variants and new[-1].is_word
    return made


@lru_cache(1 << 14)
def folded_name(text: str) -> str:
    """Return a name without differences of spelling that terms of a dictionary may have.

    Names are folded alike if they differ in case, in blanks, in hyphens between letters and
    digits, or in names of Greek letters.

    Examples
    --------
    >>> folded_name("TNF-alpha") == folded_name("TNFα"), folded_name("IL-2") == folded_name("il 2")
    (True, True)
    """
    pieces = cut_pieces(text, variants=True).pieces
    return " ".join(piece.folded for piece in pieces if piece is not _BLANK)


def hyphenated(text: str) -> str:
    """Return a text with hyphens for the dashes that are used as such."""
    return text if text.isascii() else text.translate(_DASHES)


def _cut_token(token: str, variants: bool) -> tuple[Piece, ...]:
    if token.isascii() and token.isalpha() and not _GREEK.search(token):  # as most are
        return (Piece(token.lower(), token, 0, len(token), True, True, True),)
    runs = _runs(token)
    begins, ends = _open_ends(token, runs)
    pieces = []
    for i, run in enumerate(runs):
        if variants and _joins(token, runs, i):
            continue
        start, end, kind = run
        written = _written(token[start:end], kind, variants)
        word = kind != _SIGN
        pieces.append(Piece(written.casefold(), written, start, end, word, begins[i], ends[i]))
    return tuple(pieces)


_cut_often = lru_cache(1 << 16)(_cut_token)


def _joins(token: str, runs: Sequence[_Run], i: int) -> bool:
    """Return whether a run is a hyphen between letters or digits."""
    return (
        runs[i].kind == _SIGN
        and 0 < i < len(runs) - 1
        and token[runs[i].start] in _HYPHENS
        and runs[i - 1].kind != _SIGN
        and runs[i + 1].kind != _SIGN
    )


def _written(text: str, kind: int, variants: bool) -> str:
    """Return the normal spelling: composed, and with Greek letters for their names."""
    if variants and kind == _GREEK_LETTER:
        letter = _GREEK_NAMES.get(text.lower())
        if letter is not None:
            return letter.upper() if text[0].isupper() else letter
        return _MU if text == _MICRO_SIGN else text
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _open_ends(token: str, runs: Sequence[_Run]) -> tuple[list[bool], list[bool]]:
    """Return for each run whether a term may begin there, and whether one may end there."""
    inside = [False] * (len(runs) - 1)
    begins, ends = [True, *inside], [*inside, True]
    hyphens = [i for i, run in enumerate(runs) if token[run.start] in _HYPHENS]
    for before, at, after in zip([-1, *hyphens], hyphens, [*hyphens[1:], len(runs)], strict=False):
        left, right = runs[before + 1 : at], runs[at + 1 : after]
        if left and right:
            begins[at + 1] = _is_word(left)
            ends[at - 1] = _is_word(right) and right[0].kind == _LATIN
    return begins, ends


def _is_word(runs: Sequence[_Run]) -> bool:
    """Return whether runs are a word, not a number or letter in a name: ``Ras``, not ``2``.

    The name of a Greek letter counts as one character.
    """
    sizes = [1 if run.kind == _GREEK_LETTER else run.end - run.start for run in runs]
    return sum(sizes) > 1 and any(run.kind == _LATIN for run in runs)


def _runs(token: str) -> list[_Run]:
    """Return the runs of a token; a Greek letter or its name is a separate run."""
    plain = _ascii_runs(token) if token.isascii() else list(_other_runs(token))
    if not _GREEK.search(token):
        return plain
    return [part for run in plain for part in _greek_runs(token, run)]


def _greek_runs(token: str, run: _Run) -> Iterator[_Run]:
    place = run.start
    if run.kind == _LATIN:
        for greek in _GREEK.finditer(token, run.start, run.end):
            if greek.start() > place:
                yield _Run(place, greek.start(), _LATIN)
            place = greek.end()
            yield _Run(greek.start(), place, _GREEK_LETTER)
    if place < run.end:
        yield _Run(place, run.end, run.kind)


def _ascii_runs(token: str) -> list[_Run]:
    return [
        _Run(run.start(), run.end(), _kind(token[run.start()], _SIGN))
        for run in _ASCII_RUN.finditer(token)
    ]


def _other_runs(token: str) -> Iterator[_Run]:
    start, kind = 0, _kind(token[0], _SIGN)
    for place, character in enumerate(token[1:], start=1):
        new = _kind(character, _MARK)
        # A mark belongs to the character before; every sign is a run.
        if new == _MARK or (new == kind and kind != _SIGN):
            continue
        yield _Run(start, place, kind)
        start, kind = place, new
    yield _Run(start, len(token), kind)


def _kind(character: str, kind_of_marks: int) -> int:
    if character.isalpha():
        return _LATIN
    if character.isalnum():
        return _DIGITS
    return kind_of_marks if unicodedata.category(character) in MARKS else _SIGN
