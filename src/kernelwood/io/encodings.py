"""Guesses about bytes that are not the UTF-8 text they should be."""

from __future__ import annotations

import codecs

__all__ = ["encoding_hint"]

_LOOK = 2048  # bytes that are looked at
_MARKS = (  # the longer ones first, since one of them begins with another
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_MANY = 0.3  # of the bytes: more than any text has by chance
_TEXT_CONTROLS = b"\t\n\v\f\r\x1b"


def encoding_hint(head: bytes) -> str | None:
    """Return what to do about a file that begins with ``head``; None if it looks like text.

    A guess, so it may explain an error but must not be the reason of one.

    Examples
    --------
    >>> encoding_hint("(S (NP we) (VP go))".encode("utf-16"))
    'the file seems to be in UTF-16; convert it with iconv -f UTF-16 -t UTF-8'
    >>> encoding_hint(bytes(range(32)) * 9)
    'the file seems to hold binary data and no text'
    >>> encoding_hint("Öl".encode("latin-1")) is None
    True
    """
    head = head[:_LOOK]
    name = next((name for mark, name in _MARKS if head.startswith(mark)), _by_zeros(head))
    if name is not None:
        return f"the file seems to be in {name}; convert it with iconv -f {name} -t UTF-8"
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
    if controls > _MANY / 3 * len(head):
        return "the file seems to hold binary data and no text"
    return None


def _by_zeros(head: bytes) -> str | None:
    """Tell UTF-16 without a mark: letters of many alphabets have a zero as one of two bytes."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd > _MANY * 2 * half and even < odd // 4:
        return "UTF-16LE"
    if even > _MANY * 2 * half and odd < even // 4:
        return "UTF-16BE"
    return None
