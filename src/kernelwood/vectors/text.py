"""Vectors as lines of text, and how to tell the kinds of lines apart."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

import numpy as np

from kernelwood import _native
from kernelwood._native import VectorChunk, VectorLayout, VectorProblem
from kernelwood.errors import ReadError
from kernelwood.structures import shorten
from kernelwood.vectors.collect import Collector, Loaded, decode_words
from kernelwood.vectors.feed import Feed

__all__ = [
    "Opening",
    "read_glove",
    "read_lemma_pos",
    "read_word2vec",
    "take_header",
]

_HEADER = re.compile(rb"([0-9]{1,18})[ \t]+([0-9]{1,18})")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_GAP = re.compile(rb"[ \t]+")
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Opening(NamedTuple):
    r"""What the first bytes of a file look like.

    Attributes
    ----------
    dim : int or None
        The number of dimensions, if the first line is a header.
    body : bytes
        What follows the header.
    line : bytes
        The first line of the body, without a field that may be cut off.

    Examples
    --------
    >>> Opening.of(b"2 3\nthe 0.1 0.2 0.3\nof 0.4")
    Opening(dim=3, body=b'the 0.1 0.2 0.3\nof 0.4', line=b'the 0.1 0.2 0.3')
    """

    dim: int | None
    body: bytes
    line: bytes

    @classmethod
    def of(cls, head: bytes) -> Opening:
        """Return what ``head`` looks like."""
        head = head.lstrip(b" \t\r\n")
        first, _, rest = head.partition(b"\n")
        header = _HEADER.fullmatch(first.strip(b" \t\r"))
        body = rest if header else head
        line, newline, _ = body.lstrip(b" \t\r\n").partition(b"\n")
        if not newline and len(line) > 1 << 13:
            line = line[: max(line.rfind(b" "), line.rfind(b"\t"), line.rfind(b","), 0)]
        return cls(int(header[2]) if header else None, body, line.strip(b" \t\r"))

    def is_tabbed(self) -> bool:
        """Whether the line has three tabs and numbers with commas behind them."""
        return self.line.count(b"\t") == 3 and b"," in self.line.rpartition(b"\t")[2]

    def is_spaced(self) -> bool:
        """Whether the line ends in a number."""
        return _is_number(_GAP.split(self.line)[-1]) and bool(_GAP.search(self.line))

    def is_binary(self) -> bool:
        """Whether raw floats follow the first word after the header."""
        if self.dim is None:
            return False
        raw = self.body.lstrip(b"\n").partition(b" ")[2][: 4 * self.dim]
        try:
            # Not all at once: the last character may be cut.
            codecs.getincrementaldecoder("utf-8")().decode(raw)
        except UnicodeDecodeError:
            return True
        return bool(_CONTROLS.search(raw))


def read_glove(feed: Feed, normalize: bool) -> Loaded:
    """Read lines of a word and numbers, as GloVe writes them."""
    first = feed.first_line()
    return _read_lines(feed, VectorLayout.spaced, _count_numbers(first), None, normalize)


def read_word2vec(feed: Feed, normalize: bool) -> Loaded:
    """Read a header line and lines of a word and numbers, as word2vec writes them."""
    promised, dim = take_header(feed, bytes_per_number=2)
    return _read_lines(feed, VectorLayout.spaced, dim, promised, normalize)


def read_lemma_pos(feed: Feed, normalize: bool) -> Loaded:
    """Read lines of a key, two numbers and a vector with commas, after a header or not."""
    promised = None
    first = feed.first_line()
    if _HEADER.fullmatch(first):
        promised, dim = take_header(feed, bytes_per_number=2)
    else:
        dim = first.rpartition(b"\t")[2].count(b",") + 1
    return _read_lines(feed, VectorLayout.tabbed, dim, promised, normalize)


def take_header(feed: Feed, *, bytes_per_number: int) -> tuple[int, int]:
    """Remove the header line; return how many vectors it promises, and their dimension."""
    line = feed.first_line()
    header = _HEADER.fullmatch(line)
    if header is None:
        shown = shorten(line.decode("utf-8", "replace"), 40)
        raise feed.error(
            f"expected a header with the number of vectors and of dimensions, found {shown!r}",
            line=feed.line,
            hint='add the header, or read the file with format="glove"',
        )
    promised, dim = int(header[1]), int(header[2])
    if not promised or not dim or not feed.can_hold(promised * dim * bytes_per_number):
        raise feed.error(
            f"the header promises {promised:,} vectors of {dim:,} numbers, but the file is too "
            "short for them"
            if promised and dim
            else "the header promises no vectors",
            line=feed.line,
            hint="correct the header, or fetch the file again if the download was cut",
        )
    newline = feed.data.find(b"\n")
    feed.drop(newline + 1 if newline >= 0 else len(feed.data), 1)
    return promised, dim


def _is_number(field: bytes) -> bool:
    return bool(_NUMBER.fullmatch(field) or _SPECIAL.fullmatch(field))


def _count_numbers(line: bytes) -> int:
    """Return the dimension that the first line of a file without a header tells.

    Fields of a first line may belong to the word, but none that looks like a coordinate.
    """
    fields = _GAP.split(line)
    n_numbers = 0
    while n_numbers < len(fields) - 1 and _is_number(fields[-1 - n_numbers]):
        n_numbers += 1
    between = fields[1 : len(fields) - n_numbers]
    if not n_numbers or any(b"." in field and _is_number(field) for field in between):
        return max(1, len(fields) - 1)  # reading the line will tell what is wrong with it
    return n_numbers


def _read_lines(
    feed: Feed, layout: VectorLayout, dim: int, promised: int | None, normalize: bool
) -> Loaded:
    collector = Collector(feed, dim, promised, normalize)
    longest = (1 << 20) + 2048 * dim
    while feed.data or not feed.ended:
        feed.fill()
        if not feed.data:
            break
        # A row takes a line, and two bytes a number at least.
        capacity = 1 + min(feed.data.count(b"\n"), len(feed.data) // (2 * dim))
        values = np.empty((capacity, dim), dtype=np.float32)
        spans = np.empty((capacity, 2), dtype=np.int64)
        raw = np.frombuffer(feed.data, dtype=np.uint8)
        chunk = _native.parse_vector_lines(raw, feed.ended, layout, values, spans)
        collector.add(decode_words(feed, spans[: chunk.rows]), values[: chunk.rows])
        if chunk.problem != VectorProblem.none:
            raise _describe(feed, chunk, layout, dim)
        feed.drop(chunk.consumed, chunk.lines)
        if not chunk.consumed:
            feed.check_length(longest)
    return collector.finish()


def _describe(feed: Feed, chunk: VectorChunk, layout: VectorLayout, dim: int) -> ReadError:
    """Return the error for a line that the native core could not read."""
    field = shorten(feed.data[chunk.begin : chunk.end].decode("utf-8", "replace"), 40)
    if chunk.problem == VectorProblem.not_a_number:
        problem = f"{field!r} is not a number"
        hint = "numbers are written like -0.25 or 1e-3, with a point"
    elif chunk.problem == VectorProblem.not_finite:
        problem = f"{field!r} is not a finite 32-bit number"
        hint = "correct the line or remove it; its vector cannot be compared with others"
    elif chunk.problem == VectorProblem.no_word:
        problem = "there is no word before the first tab"
        hint = "correct the line or remove it"
    else:
        problem = (
            f"expected a word and {dim:,} numbers, found {chunk.found:,} fields"
            if layout == VectorLayout.spaced
            else f"expected {dim:,} numbers with commas after three tabs, found {chunk.found:,}"
        )
        hint = "the header, else the first line, tells how many; the file may be cut off here"
    return feed.error_at(problem, chunk.begin, line=feed.line + chunk.lines, hint=hint)
