r"""Sentence splitter: rules for scientific English.

A sentence ends

- at a blank line, always;
- at a line end, unless the next line begins with a plain lower-case word, or so many lines do that
  the text is wrapped, or the line is full in a text whose lines are filled to the same width: the
  first word of the next line does not fit in it;
- after ``.``, ``!`` or ``?`` and closing brackets or quotes, if a blank follows and then, after
  any opening brackets and quotes,

  - an upper-case letter or a digit,
  - a name that begins in lower case: *p53*, *mTOR*, *c-fos*, *beta-catenin*, or
  - the marker of a list item and an upper-case letter: *- Raf*, *ii. Raf*.

A period does not end a sentence

- after an abbreviation that precedes a name or a number: *e.g.*, *Fig.*, *Dr.*;
- after an abbreviation or an initial that may also end a sentence, such as *Inc.*, unless a typical
  first word follows: *The*, *However*;
- after *et al.*, *etc.* or lower-case letters such as *i.v.*, unless a capitalized word follows, or
  after *et al.* a name that begins in lower case;
- between single letters: *e. g.*, *U. S. A.*;
- after the number or letter of a list item: *1. Introduction*;
- in brackets that were opened in the sentence: *(Green, A. 1991. Cell. 65:12)*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from kernelwood.text.annotation import Span

# A pattern that begins with a set of characters is found fast, and this one matches wherever it
# begins to, so that the scan is linear in any text. There is no gap at a line end alone.
_STOP = re.compile(r"""(?P<stop>[.!?\n])(?:(?<=\n)\s*|(?P<more>[.!?]*)["')\]}”’»]*(?P<gap>\s*))""")
_LINE_START = re.compile(r"\n[ \t]*(?=\w)")
_NARROWEST, _WIDEST = 40, 200  # characters of lines that are filled
_PLAIN_WORD = re.compile(r"[a-z]+(?![\w-])")

# The beginning of a sentence.
_OPENING = re.compile(r"""[(\[{"'“‘«`\t ]{0,9}""")
_LOWER_NAME = re.compile(
    r"[a-z][a-z-]{0,20}[A-Z0-9]"  # a capital or a digit inside: p53, mTOR, anti-CD3
    r"|[a-zα-ω]-|[α-ω]\w"  # c-fos, β-catenin
    r"|(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|sigma|tau|omega)[- ]"
)
_ITEM = re.compile(r"(?:[-–—*•·]{1,3}|[ivx]{1,4}[.)]|[a-h]\)) ?(?=[^\W\d_a-z])")

# The words around a period.
_LOOK_BACK = 24  # characters; longer than every abbreviation
_ITEM_LABEL = re.compile(r"[\W\d_]{0,4}|[ivx]{1,4}|[IVX]{1,4}|[A-Za-z]")
_BETWEEN_WORDS = re.compile(r"[\s(\[\"'“‘/,;<=>]")
_BETWEEN_LETTERS = re.compile(r"(?<=\b[A-Za-z]\.) (?=[A-Za-z]\b)")
_LETTER = re.compile(r"[A-Za-z]\.")
_WORD = re.compile(r"[A-Za-z]\w*(?![.\w])")
_NAME = re.compile(r"[A-Z][a-z]*\.?")
_INITIAL = re.compile(r"[A-Z](?:\.-?[A-Z])*")
_TRAILING = re.compile(r"al|etc|[a-z](?:\.[a-z])+")  # et al., etc., i.v.

_BRACKET = re.compile(r"[()\[\]\n]\s*")
_LONGEST_BRACKET = 400  # characters; a longer one contains sentences or is not closed

# Abbreviations that precede a name or a number and never end a sentence.
_ABBREVIATIONS = frozenset(
    "approx Approx ca cf Cf deg Dept e.g E.g eq eqs eqn Eq Eqs Eqn esp excl fig figs Fig Figs FIG "
    "Hep i.e I.e incl ref refs Ref Refs resp suppl Suppl Univ v viz vol Vol vs Adm Brig Capt Cmdr "
    "Col Dr Gen Gov Lt Maj Messrs Mr Mrs Ms Mt Prof Rep Sen Sgt St".split()
)
# The same, but only before a number; 0 for decimal fractions such as "P < 0. 05".
_NUMBERED = frozenset(
    "0 Chap no nos No Nos p pp Sec Sect Tab wt Jan Feb Mar Apr Aug Sep Sept Oct Nov Dec".split()
)
# Abbreviations that may also end a sentence, among them parts of journal names.
_DOUBTFUL = frozenset(
    "Inc Ltd Co Corp Jr Sr sp spp subsp var U.S U.K a.m p.m Acad Biochem Biol Biophys Chem Exp "
    "Immunol J Mol Natl Proc Res Rev Sci Virol".split()
)
_LONG_ABBREVIATIONS = frozenset(
    word for word in _ABBREVIATIONS | _NUMBERED | _DOUBTFUL if len(word) > 4
)
# An initial follows one of these words, a name or a bracket; "vitamin C." has no initial.
_BEFORE_NAMES = frozenset(["", *"and by for from in of or the to via with".split()])
_BEGINNINGS = frozenset(
    "A Additionally After All Although An As At Because Both But By Consistent Conversely Finally "
    "For From Furthermore Hence Here However If In Indeed Interestingly It Its Moreover "
    "Nevertheless Nonetheless Notably On One Other Our Recent Recently Several Similarly Since "
    "Some Subsequently Such Taken That The Their Then There Therefore These They This Those Though "
    "Thus To Together Two Under Unlike Upon Using We When Whereas Whether Which While With".split()
)


def find_sentences(text: str, protected: Iterable[Span] = ()) -> list[Span]:
    r"""Return the spans of the sentences of a text, without the blanks around them.

    The rules, listed in the docstring of this module, do not depend on data. The time is linear in
    the length of the text.

    Parameters
    ----------
    text : str
        Plain text; only a line feed ends a line.
    protected : iterable of (start, end)
        Spans, for example of entities, inside which no sentence ends.

    Returns
    -------
    list of (start, end)
        In order, not overlapping; every character that is not blank is in one of them.

    Examples
    --------
    >>> text = "Raf binds Ras\nRaf (e.g. c-Raf, Fig. 2) binds Ras in E. coli. p53 is active."
    >>> [text[start:end] for start, end in find_sentences(text)]
    ['Raf binds Ras', 'Raf (e.g. c-Raf, Fig. 2) binds Ras in E. coli.', 'p53 is active.']
    """
    wrapped = _is_wrapped(text)
    full = set() if wrapped else _full_lines(text)
    shield = _Cover(protected)
    brackets = _Cover(_find_brackets(text, wrapped or bool(full)))
    spans: list[Span] = []
    start = len(text) - len(text.lstrip())
    for match in _STOP.finditer(text, start):
        cut = match.start() if match["gap"] is None else match.start("gap")
        after = match.end()
        filled = wrapped or (bool(full) and text.find("\n", match.start(), after) in full)
        if after == len(text) or not _ends(text, start, match, filled):
            continue
        if shield.start_around(after) is not None or (brackets.start_around(after) or 0) > start:
            continue
        _append(spans, text, start, cut)
        start = after
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    kept = piece.strip()
    if kept:
        first = start + len(piece) - len(piece.lstrip())
        spans.append((first, first + len(kept)))


class _Cover:
    """Union of spans, queried from left to right; spans that only touch are not merged."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._merged: list[Span] = []
        self._next = 0
        for start, end in sorted(spans):
            if self._merged and start < self._merged[-1][1]:
                self._merged[-1] = (self._merged[-1][0], max(end, self._merged[-1][1]))
            else:
                self._merged.append((start, end))

    def start_around(self, place: int) -> int | None:
        """Return the start of the span that contains a place and does not begin there."""
        while self._next < len(self._merged) and self._merged[self._next][1] <= place:
            self._next += 1
        if self._next < len(self._merged) and self._merged[self._next][0] < place:
            return self._merged[self._next][0]
        return None


def _find_brackets(text: str, wrapped: bool) -> Iterator[Span]:
    """Yield the spans of brackets that close in their line or, in wrapped text, paragraph."""
    opened: list[int] = []
    for match in _BRACKET.finditer(text):
        place, after = match.span()
        if text[place] in "([":
            opened.append(place)
        elif opened and text[place] != "\n":
            start = opened.pop()
            if place - start <= _LONGEST_BRACKET:
                yield (start, place + 1)
        if opened and text.count("\n", place, after) > wrapped:
            opened.clear()


def _is_wrapped(text: str) -> bool:
    """Return whether more than a third of the lines begin with a plain lower-case word."""
    n_lines = n_going_on = 0
    for match in _LINE_START.finditer(text):
        n_lines += 1
        n_going_on += _PLAIN_WORD.match(text, match.end()) is not None
    return n_going_on >= 3 and 3 * n_going_on > n_lines


def _full_lines(text: str) -> set[int]:
    """Return the ends of full lines in a text whose lines are filled to the same width.

    Most lines that another one follows have to be full, two at least, and one of these others has
    to begin with a plain lower-case word: lines of a list are of about equal length, too.
    """
    lines = text.split("\n")
    width = max(map(len, lines))
    if not _NARROWEST <= width <= _WIDEST:
        return set()
    full: set[int] = set()
    place = n_breaks = n_going_on = 0
    for line, following in pairwise(lines):
        place += len(line) + 1
        if line.strip() and (words := following.split(None, 1)):
            n_breaks += 1
            if len(line.rstrip()) + 1 + len(words[0]) > width:
                full.add(place - 1)
                n_going_on += _PLAIN_WORD.match(words[0]) is not None
    return full if len(full) >= 2 and 2 * len(full) > n_breaks and n_going_on else set()


def _ends(text: str, start: int, match: re.Match[str], wrapped: bool) -> bool:
    """Return whether a sentence ends at a match of ``_STOP`` before the end of the text."""
    after = match.end()
    line_ends = text.count("\n", match.start(), after)
    if line_ends > 1:
        return True
    if match["gap"] is None:
        return not wrapped and not _PLAIN_WORD.match(text, after)
    if not match["gap"]:
        return False
    if line_ends and not wrapped:
        return not _is_abbreviated(text, start, match, doubt=False)
    return _begins(text, after) and not _is_abbreviated(text, start, match, doubt=True)


def _begins(text: str, place: int) -> bool:
    """Return whether a sentence may begin at a place."""
    opening = _OPENING.match(text, place)
    first = opening.end() if opening else place
    return (
        text[first : first + 1].isupper()
        or text[first : first + 1].isdigit()
        or _LOWER_NAME.match(text, first) is not None
        or _ITEM.match(text, first) is not None
    )


def _is_plain(word: str) -> bool:
    """Return whether the rules of abbreviations and labels cannot apply to a word."""
    return (
        len(word) > 4
        and word.islower()
        and word.isalpha()
        and word.isascii()
        and word not in _LONG_ABBREVIATIONS
    )


def _is_abbreviated(text: str, start: int, match: re.Match[str], *, doubt: bool) -> bool:
    """Return whether a stop is the period of an abbreviation or label and ends no sentence."""
    if match["stop"] != "." or match["more"]:
        return False
    stop, after = match.span()
    before = text[max(start, stop - _LOOK_BACK) : stop]
    last = before[before.rfind(" ") + 1 :]
    if _is_plain(last):
        return False
    if _ITEM_LABEL.fullmatch(before):
        return True
    earlier, word = ["", *_BETWEEN_WORDS.split(_BETWEEN_LETTERS.sub("", before))][-2:]
    if word in _ABBREVIATIONS or (word in _NUMBERED and text[after].isdigit()):
        return True
    if len(word) == 1 and word.isalpha() and _LETTER.match(text, after):
        return True
    if not doubt:
        return False
    following = _WORD.match(text, after)
    if following and following[0] in _BEGINNINGS:
        return False
    if word in _DOUBTFUL:
        return True
    if _TRAILING.fullmatch(word):
        if word == "al" and _LOWER_NAME.match(text, after):
            return False
        return not (following and len(following[0]) > 1 and following[0][0].isupper())
    named = len(word) > 1 or earlier in _BEFORE_NAMES or _NAME.fullmatch(earlier) is not None
    return named and _INITIAL.fullmatch(word) is not None
