"""The table of file formats: how each is recognized and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from kernelwood.errors import KernelInputError
from kernelwood.vectors.archive import read_npz
from kernelwood.vectors.binary import read_word2vec_binary
from kernelwood.vectors.collect import Loaded
from kernelwood.vectors.feed import Feed
from kernelwood.vectors.text import Opening, read_glove, read_lemma_pos, read_word2vec

__all__ = ["FORMATS", "VectorFormat", "find_format", "recognize"]


@dataclass(frozen=True)
class VectorFormat:
    """One row of the table.

    Attributes
    ----------
    name : str
        What the user writes in ``format=``.
    summary : str
        One line for lists and help pages.
    sniff : callable
        Says from the first bytes of a file whether it is in this format.
    read : callable
        ``read(feed, normalize)`` returns words and rows, or raises ReadError.
    """

    name: str
    summary: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Feed, bool], Loaded]


def _looks_like_npz(head: bytes) -> bool:
    return head.startswith(b"PK")


def _looks_like_word2vec_binary(head: bytes) -> bool:
    return Opening.of(head).is_binary()


def _looks_like_lemma_pos(head: bytes) -> bool:
    return Opening.of(head).is_tabbed()


def _looks_like_word2vec(head: bytes) -> bool:
    return Opening.of(head).dim is not None


def _looks_like_glove(head: bytes) -> bool:
    return Opening.of(head).is_spaced()


# In the order of asking: the first that fits is taken.
FORMATS: tuple[VectorFormat, ...] = (
    VectorFormat(
        name="npz",
        summary="numpy archive with the arrays words and matrix",
        sniff=_looks_like_npz,
        read=read_npz,
    ),
    VectorFormat(
        name="word2vec-binary",
        summary="header, then for each word its text, a space and 32-bit floats",
        sniff=_looks_like_word2vec_binary,
        read=read_word2vec_binary,
    ),
    VectorFormat(
        name="lemma-pos",
        summary="lines of key, two numbers and a vector with commas, separated by tabs",
        sniff=_looks_like_lemma_pos,
        read=read_lemma_pos,
    ),
    VectorFormat(
        name="word2vec",
        summary="header, then lines of a word and its numbers",
        sniff=_looks_like_word2vec,
        read=read_word2vec,
    ),
    VectorFormat(
        name="glove",
        summary="lines of a word and its numbers",
        sniff=_looks_like_glove,
        read=read_glove,
    ),
)


def find_format(name: str) -> VectorFormat:
    """Return the format called ``name``.

    Examples
    --------
    >>> find_format("glove").summary
    'lines of a word and its numbers'
    """
    for row in FORMATS:
        if row.name == name:
            return row
    near = get_close_matches(str(name), [row.name for row in FORMATS], n=1, cutoff=0.4)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    raise KernelInputError(f"unknown format {name!r}{guess} (known formats: {_listing()})")


def recognize(feed: Feed) -> VectorFormat:
    """Return the format of a file from its content."""
    if not feed.head.strip():
        raise feed.error("the file is empty", hint="is this the right file?")
    for row in FORMATS:
        if row.sniff(feed.head):
            return row
    raise feed.error(
        "cannot tell the format from the content",
        hint=f"say which it is with format=...; known formats: {_listing()}",
    )


def _listing() -> str:
    return ", ".join(row.name for row in FORMATS)
