"""Notation of labels: words, tags, and relations between two words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

LEXICAL = "LEX"
COMPOSITE = "COMP"
UNTYPED = ""
OPAQUE = "OPAQUE"

# relation<head,modifier>; the three separators are escaped inside words.
_COMPOSITE = re.compile(r"([^<>,]*)<([^<>,]+),([^<>,]+)>")


class Word(NamedTuple):
    """A word and its part of speech, ``""`` if there is none."""

    word: str
    pos: str


# The head of the root of a sentence: not a word, so it never has a vector.
ROOT = Word("*", "*")


class Label(NamedTuple):
    """The parts of a label.

    Attributes
    ----------
    kind : str
        ``"LEX"`` for words with a part of speech, ``""`` for plain words, ``"COMP"`` for a
        relation between two words, ``"OPAQUE"`` for labels that cannot be parsed, otherwise the
        prefix: ``"POS"``, ``"SYNT"``.
    word, pos : str
        The word and its part of speech; the text and ``""`` for a tag or an opaque label.
    relation : str
        The relation of a composite label.
    head, modifier : Word or None
        The two words of a composite label.
    """

    kind: str
    word: str
    pos: str = ""
    relation: str = ""
    head: Word | None = None
    modifier: Word | None = None

    @property
    def is_word(self) -> bool:
        """Whether the label is a single word, so that it can have a vector."""
        return self.kind == LEXICAL or self.kind == UNTYPED


@lru_cache(maxsize=2**16)  # the same labels occur in every call
def parse_label(text: str) -> Label:
    """Return the parts of a label; any text is a label.

    Parameters
    ----------
    text : str
        ``LEX##play::v``, ``POS##NN``, ``SYNT##dobj``, ``COMP##dobj<play::v,instrument::n>``,
        ``NOTYPE##x`` or any other text. Without prefix, a text with ``::`` is lexical and any
        other text a plain word. A label with a known prefix and malformed content is opaque.

    Returns
    -------
    Label

    Examples
    --------
    >>> label = parse_label("LEX##play::v")
    >>> label.kind, label.word, label.pos
    ('LEX', 'play', 'v')
    >>> parse_label("COMP##dobj<play::v,instrument::n>").modifier
    Word(word='instrument', pos='n')
    >>> parse_label("instrument").kind, parse_label("COMP##dobj<play::v").kind
    ('', 'OPAQUE')
    """
    kind, mark, body = text.partition("##")
    if not mark or not kind:
        return _parse_unprefixed(text, body)
    if kind == LEXICAL:
        word, pos = _split(body)
        return Label(LEXICAL, word, pos) if word else Label(OPAQUE, text)
    if kind == COMPOSITE:
        return _parse_composite(text, body)
    if not body:
        return Label(OPAQUE, text)
    return Label(UNTYPED if kind == "NOTYPE" else kind, body)


def _parse_unprefixed(text: str, body: str) -> Label:
    """Return the parts of a text without prefix; ``body`` follows a leading ``##``."""
    if "::" in text:
        word, pos = _split(text)
        return Label(LEXICAL, word, pos) if word else Label(OPAQUE, text)
    if text == "" or (body == "" and text[:2] == "##"):
        return Label(OPAQUE, text)
    return Label(UNTYPED, text)


def _parse_composite(text: str, body: str) -> Label:
    match = _COMPOSITE.fullmatch(body)
    if match is None:
        return Label(OPAQUE, text)
    relation, head, modifier = match.groups()
    first, second = _unescaped_word(head), _unescaped_word(modifier)
    if not (first[0] and second[0]):
        return Label(OPAQUE, text)
    return Label(COMPOSITE, "", "", relation, first, second)


@lru_cache(maxsize=2**16)  # most composite labels consist of a few frequent words
def _unescaped_word(text: str) -> Word:
    parts = _split(text)
    if "_" in text:
        return Word(*map(_unescape, parts))
    return Word(*parts)


def _unescape(text: str) -> str:
    return text.replace("_comma_", ",").replace("_oang_", "<").replace("_cang_", ">")


def _split(text: str) -> tuple[str, str]:
    """Split at the last ``::`` before a part of speech, which may itself be ``:``."""
    at = text.rfind("::", 0, -1)
    if at >= 0:
        return text[:at], text[at + 2 :]
    return text.removesuffix("::"), ""
