"""The comments of PENMAN files: pairs of key and value, and the sentence they hold."""

from __future__ import annotations

import re

from kernelwood.io.alignment import MisfitError, place_words
from kernelwood.text import Metadata, Token

__all__ = ["place_tokens", "read_comment", "write_comment"]

_KEY = re.compile(r"(?:^|(?<=[ \t]))::([^ \t]+)")
_TO_THE_END = ("snt", "tok")  # sentences may hold "::"
_WORD = re.compile(r"[^ \t]+")


def read_comment(text: str) -> list[tuple[str, str | None]]:
    """Return the pairs of a comment, or its text and None.

    Examples
    --------
    >>> read_comment("# ::id s1 ::date 2020-02-20 ::preferred")
    [('id', 's1'), ('date', '2020-02-20'), ('preferred', '')]
    >>> read_comment("# checked twice")
    [('checked twice', None)]
    """
    body = text.strip(" \t")[1:].strip(" \t")
    if not _KEY.match(body):
        return [(body, None)]
    pairs: list[tuple[str, str | None]] = []
    found = _KEY.match(body)
    while found is not None:
        key = found[1]
        following = None if key in _TO_THE_END else _KEY.search(body, found.end())
        end = len(body) if following is None else following.start()
        pairs.append((key, body[found.end() : end].strip(" \t")))
        found = following
    return pairs


def write_comment(key: str, value: str | None) -> str | None:
    """Return a comment without line end that reads as this pair; None if there is none.

    Examples
    --------
    >>> write_comment("id", "s1"), write_comment("note", "see ::id")
    ('# ::id s1', None)
    """
    line = f"# {key}" if value is None else f"# ::{key} {value}".rstrip(" ")
    fits = "\n" not in line and not line.endswith("\r") and read_comment(line) == [(key, value)]
    return line if fits else None


def place_tokens(metadata: Metadata) -> tuple[str, tuple[Token, ...]]:
    """Return text and tokens of the sentence whose comments these are.

    Examples
    --------
    >>> text, tokens = place_tokens((("snt", "We go."), ("tok", "We go .")))
    >>> text, tokens[2].start
    ('We go.', 5)
    """
    values = {key: value for key, value in reversed(metadata) if value}  # the first of each counts
    sentence, words = values.get("snt", ""), values.get("tok", "")
    written = _WORD.findall(words)
    if sentence:
        try:
            spans = place_words(sentence, written) if written else []
            return sentence, tuple(Token(w, *span) for w, span in zip(written, spans, strict=True))
        except MisfitError:
            pass  # ::snt is not tokenized as ::tok says, so that the latter is all there is
    found = _WORD.finditer(words)
    return words or sentence, tuple(Token(m[0], m.start(), m.end()) for m in found)
