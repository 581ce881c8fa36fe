r"""Where the sentences of a text begin and end: rules for scientific English.

A sentence ends

- at a blank line, always;
- at the end of a line, as titles and paragraphs do, unless the next line goes on with a plain
  lower-case word, or so many lines do that the text is wrapped;
- after ``.``, ``!`` or ``?`` and closing brackets or quotes, if a blank and then an upper-case
  letter, a digit, an opening bracket or a quote follows; but not after an abbreviation such as
  *e.g.* or *Fig.*, and after *et al.*, *etc.* or an initial only if a word follows with which
  sentences like to begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kernelwood.text.annotation import Span

__all__ = ["find_sentences"]

# Every alternative matches wherever it begins to, so that the scan is linear in any text.
_STOP = re.compile(r"""(?P<stop>[.!?]+)["')\]}”’»]*(?P<gap>\s*)|\n\s*""")
_LINE_START = re.compile(r"\n[ \t]*(?=\w)")
_PLAIN_WORD = re.compile(r"[a-z]+(?![\w-])")
_WORD = re.compile(r"[A-Za-z]+")
_BETWEEN_WORDS = re.compile(r"[\s(\[\"'“‘/,;]")
_NAME = re.compile(r"[A-Z][a-z]*\.?")
_INITIAL = re.compile(r"[A-Z](?:\.-?[A-Z])*")
_LOOK_BACK = 24  # no abbreviation is longer

_OPENING = frozenset("([{\"'“‘«")
# What stands before a name or a number and therefore not at an end.
_ABBREVIATIONS = frozenset(
    "approx Approx ca cf Cf e.g E.g eq eqs eqn Eq Eqs Eqn fig figs Fig Figs FIG i.e I.e ref refs "
    "Ref Refs resp suppl Suppl viz vol Vol vs Dr Mr Mrs Ms Prof St".split()
)
_NUMBERED = frozenset("No Nos p pp".split())  # the same, but only before a number
# What may stand at an end as well, journals in references among it.
_DOUBTFUL = frozenset(
    "al etc Inc Ltd Co Corp Jr Sr sp spp subsp var U.S U.K a.m p.m Acad Biochem Biol Biophys Chem "
    "Exp Immunol Mol Natl Proc Res Rev Sci Virol".split()
)
# Before initials stands one of these, a name or a bracket; else it is none: "vitamin C."
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

    The rules, given in the text of this module, never change with the data; the time is linear.

    Parameters
    ----------
    text : str
        Plain text; only a line feed ends a line.
    protected : iterable of (start, end)
        Spans, say of entities, that no sentence ends inside of.

    Returns
    -------
    list of (start, end)
        In order, not overlapping; every character that is not blank is in one of them.

    Examples
    --------
    >>> text = "Raf binds Ras\nRaf (e.g. c-Raf, Fig. 2) binds Ras in E. coli. It is active."
    >>> [text[start:end] for start, end in find_sentences(text)]
    ['Raf binds Ras', 'Raf (e.g. c-Raf, Fig. 2) binds Ras in E. coli.', 'It is active.']
    """
    shield = _merge(protected)
    at_shield = 0
    wrapped = _is_wrapped(text)
    spans: list[Span] = []
    start = len(text) - len(text.lstrip())
    for match in _STOP.finditer(text, start):
        cut = match.start("gap") if match["stop"] else match.start()
        if match.end() == len(text) or not _ends(text, start, match, wrapped):
            continue
        # What ends in the blanks behind the cut does not go on in the next sentence.
        while at_shield < len(shield) and shield[at_shield][1] <= match.end():
            at_shield += 1
        if at_shield < len(shield) and shield[at_shield][0] < match.end():
            continue
        _append(spans, text, start, cut)
        start = match.end()
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    kept = piece.strip()
    if kept:
        first = start + len(piece) - len(piece.lstrip())
        spans.append((first, first + len(kept)))


def _merge(spans: Iterable[Span]) -> list[Span]:
    """Return the union of spans in order; spans that only touch stay apart."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _is_wrapped(text: str) -> bool:
    """Say whether line ends stand anywhere in sentences: a third of the lines go on with a word."""
    n_lines = n_going_on = 0
    for match in _LINE_START.finditer(text):
        n_lines += 1
        n_going_on += _PLAIN_WORD.match(text, match.end()) is not None
    return n_going_on >= 3 and 3 * n_going_on > n_lines


def _ends(text: str, start: int, match: re.Match[str], wrapped: bool) -> bool:
    """Say whether a sentence ends at a match of ``_STOP`` that is not the end of the text."""
    after = match.end()
    line_ends = text.count("\n", match.start(), after)
    if line_ends > 1:
        return True
    if match["stop"] is None:
        return not wrapped and not _PLAIN_WORD.match(text, after)
    if not match["gap"]:
        return False
    if line_ends and not wrapped:
        return not _is_abbreviated(text, start, match, doubt=False)
    follows = text[after]
    if not (follows.isupper() or follows.isdigit() or follows in _OPENING):
        return False
    return not _is_abbreviated(text, start, match, doubt=True)


def _is_abbreviated(text: str, start: int, match: re.Match[str], *, doubt: bool) -> bool:
    """Say whether a period belongs to the word before it and ends no sentence."""
    if match["stop"] != ".":
        return False
    stop = match.start("stop")
    before = text[max(start, stop - _LOOK_BACK) : stop]
    if len(before) < 5 and not any(map(str.isalpha, before)):
        return True  # "1. Introduction"
    earlier, word = ["", *_BETWEEN_WORDS.split(before)][-2:]
    if word in _ABBREVIATIONS or (word in _NUMBERED and text[match.end()].isdigit()):
        return True
    initial = _INITIAL.fullmatch(word) and (
        len(word) > 1 or earlier in _BEFORE_NAMES or _NAME.fullmatch(earlier)
    )
    if doubt and (initial or word in _DOUBTFUL):
        following = _WORD.match(text, match.end())
        return following is None or following[0] not in _BEGINNINGS
    return False
