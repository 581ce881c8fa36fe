"""File formats of word vectors: recognition, reading, writing."""

from __future__ import annotations

import codecs
import math
import os
import re
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood._native import VectorChunk, VectorLayout, VectorProblem
from kernelwood.compute import check_budget
from kernelwood.errors import KernelInputError, ReadError, StructureError
from kernelwood.io import replacing
from kernelwood.structures import shorten
from kernelwood.vectors.vector_files import (
    Collector,
    Feed,
    Loaded,
    assemble,
    check_finite,
    check_words,
    decode_words,
    first_of_each,
    warn_of_repeated,
)

_HEADER = re.compile(rb"([0-9]{1,18})[ \t]+([0-9]{1,18})")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_GAP = re.compile(rb"[ \t]+")
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_LONGEST_WORD = 1 << 16

# Exceptions of zipfile and numpy for damaged archives.
DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, ValueError, TypeError,
    EOFError, OSError, KeyError, NotImplementedError, RuntimeError, OverflowError, SyntaxError,
)  # fmt: skip
_DEFLATE_GAIN = 1032  # largest compression ratio of deflate
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class _Opening(NamedTuple):
    r"""The beginning of a file, by which its format is recognized.

    Attributes
    ----------
    dim : int or None
        The number of dimensions, if the first line is a header.
    body : bytes
        The bytes after the header.
    line : bytes
        The first line of the body, without a last field that may be incomplete.

    Examples
    --------
    >>> _Opening.of(b"2 3\nthe 0.1 0.2 0.3\nof 0.4")
    _Opening(dim=3, body=b'the 0.1 0.2 0.3\nof 0.4', line=b'the 0.1 0.2 0.3')
    """

    dim: int | None
    body: bytes
    line: bytes

    @classmethod
    def of(cls, head: bytes) -> _Opening:
        """Return the parts of the first bytes of a file."""
        head = head.lstrip(b" \t\r\n")
        first, _, rest = head.partition(b"\n")
        header = _HEADER.fullmatch(first.strip(b" \t\r"))
        body = rest if header else head
        line, newline, _ = body.lstrip(b" \t\r\n").partition(b"\n")
        if not newline and len(line) > 1 << 13:
            line = line[: max(line.rfind(b" "), line.rfind(b"\t"), line.rfind(b","), 0)]
        return cls(int(header[2]) if header else None, body, line.strip(b" \t\r"))

    def is_tabbed(self) -> bool:
        """Whether the line has three tabs, followed by numbers with commas."""
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
            # Incrementally, because the last character may be incomplete.
            codecs.getincrementaldecoder("utf-8")().decode(raw)
        except UnicodeDecodeError:
            return True
        return bool(_CONTROLS.search(raw))


def _read_glove(feed: Feed, normalize: bool) -> Loaded:
    """Read lines of a word and numbers, as GloVe writes them."""
    first = feed.first_line()
    return _read_lines(feed, VectorLayout.spaced, _count_numbers(first), None, normalize)


def _read_word2vec(feed: Feed, normalize: bool) -> Loaded:
    """Read a header line and lines of a word and numbers, as word2vec writes them."""
    promised, dim = _take_header(feed, bytes_per_number=2)
    return _read_lines(feed, VectorLayout.spaced, dim, promised, normalize)


def _read_lemma_pos(feed: Feed, normalize: bool) -> Loaded:
    """Read an optional header and lines of a key, two numbers and a vector with commas."""
    promised = None
    first = feed.first_line()
    if _HEADER.fullmatch(first):
        promised, dim = _take_header(feed, bytes_per_number=2)
    else:
        dim = first.rpartition(b"\t")[2].count(b",") + 1
    return _read_lines(feed, VectorLayout.tabbed, dim, promised, normalize)


def _take_header(feed: Feed, *, bytes_per_number: int) -> tuple[int, int]:
    """Remove the header line; return the number of vectors it promises and their dimension."""
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
    """Return the dimension of a file without a header from its first line.

    A word may have several fields, but none of them looks like a coordinate.
    """
    fields = _GAP.split(line)
    n_numbers = 0
    while n_numbers < len(fields) - 1 and _is_number(fields[-1 - n_numbers]):
        n_numbers += 1
    between = fields[1 : len(fields) - n_numbers]
    if not n_numbers or any(b"." in field and _is_number(field) for field in between):
        return max(1, len(fields) - 1)  # reading the line raises an error with details
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
        # A row takes a line, and at least two bytes per number.
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
    """Return the error for a line that the native core could not parse."""
    field = shorten(feed.data[chunk.begin : chunk.end].decode("utf-8", "replace"), 40)
    if chunk.problem == VectorProblem.not_a_number:
        problem = f"{field!r} is not a number"
        hint = "numbers are written like -0.25 or 1e-3, with a point"
    elif chunk.problem == VectorProblem.not_finite:
        problem = f"{field!r} is not a finite 32-bit number"
        hint = "correct the line or remove it; its vector cannot be compared with others"
    elif chunk.problem == VectorProblem.no_word:
        problem = "the word before the first tab is missing"
        hint = "correct the line or remove it"
    else:
        problem = (
            f"expected a word and {dim:,} numbers, found {chunk.found:,} fields"
            if layout == VectorLayout.spaced
            else f"expected {dim:,} numbers with commas after three tabs, found {chunk.found:,}"
        )
        hint = "the header or the first line sets the number; the file may be cut off here"
    return feed.error_at(problem, chunk.begin, line=feed.line + chunk.lines, hint=hint)


def _read_word2vec_binary(feed: Feed, normalize: bool) -> Loaded:
    """Read a header line, and for each word its text, a space and 32-bit floats."""
    promised, dim = _take_header(feed, bytes_per_number=4)
    collector = Collector(feed, dim, promised, normalize)
    while collector.n_read < promised:
        feed.fill()
        capacity = min(promised - collector.n_read, 1 + len(feed.data) // (4 * dim + 1))
        values = np.empty((capacity, dim), dtype=np.float32)
        spans = np.empty((capacity, 2), dtype=np.int64)
        # numpy does not accept an empty buffer.
        raw = np.frombuffer(feed.data or b"\n", dtype=np.uint8)
        chunk = _native.parse_vector_records(raw, values, spans)
        try:
            words = decode_words(feed, spans[: chunk.rows])
        except ReadError as failure:  # line numbers are meaningless between raw floats
            raise feed.error(failure.problem, hint=failure.hint) from failure
        collector.add(words, values[: chunk.rows])
        if chunk.problem == VectorProblem.not_finite:
            raise feed.error(
                f"vector {collector.n_read + 1:,} has a number that is not finite",
                hint="write the file again without this vector; it cannot be compared with others",
            )
        if chunk.problem != VectorProblem.none:
            raise _misplaced(feed, collector.n_read + 1)
        feed.drop(chunk.consumed, 0)
        if not chunk.rows:
            if feed.ended:
                raise feed.error(
                    f"the file ends in vector {collector.n_read + 1:,} of {promised:,}",
                    hint="fetch it again; the download may have been cut",
                )
            if len(feed.data) > _LONGEST_WORD + 4 * dim and b" " not in feed.data[:_LONGEST_WORD]:
                raise _misplaced(feed, collector.n_read + 1)
    _check_end(feed, promised)
    return collector.finish()


def _misplaced(feed: Feed, number: int) -> ReadError:
    return feed.error(
        f"there is no word where vector {number:,} should begin",
        hint="the dimension in the header does not fit the content, or the file is damaged",
    )


def _check_end(feed: Feed, promised: int) -> None:
    """Raise ReadError if anything but line ends follows the last vector."""
    while True:
        if feed.data.strip(b"\r\n"):
            raise feed.error(
                f"the header promises {promised:,} vectors, but more data follows the last one",
                hint="correct the header; the file may have been made from several",
            )
        if feed.ended:
            return
        feed.drop(len(feed.data), 0)
        feed.fill()


def _read_npz(feed: Feed, normalize: bool) -> Loaded:
    """Read the arrays ``words`` and ``matrix`` of an archive."""
    if feed.packed or not feed.regular:
        raise feed.error(
            "an .npz archive can be read from a plain file only",
            hint="unpack it first, or write it to a file",
        )
    try:
        with zipfile.ZipFile(feed.path) as archive:
            words = _words_of(_read_array(archive, "words"))
            matrix = _matrix_of(_read_array(archive, "matrix"))
            stored = "lowercase.npy" in archive.namelist()
            lowercase = stored and bool(_read_array(archive, "lowercase"))
    except DAMAGED as failure:
        raise feed.error(
            f"the archive cannot be read: {failure}",
            hint="it must have the arrays words and matrix, as Vectors.save writes them",
        ) from failure
    return _assemble(feed, words, matrix, normalize)._replace(lowercase=lowercase)


def write_npz(path: str | os.PathLike[str], loaded: Loaded) -> None:
    """Write an archive atomically.

    The words are stored as one text with a line for each: an array of strings would pad every word
    to the length of the longest.
    """
    text = np.frombuffer("\n".join(loaded.words).encode("utf-8"), dtype=np.uint8)
    with replacing(Path(os.path.realpath(path))) as file:
        np.savez(file, words=text, matrix=loaded.matrix, lowercase=np.array(loaded.lowercase))


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return one array after checking that its size agrees with the archive."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as member:
        shape, _, dtype = _HEADERS[np.lib.format.read_magic(member)](member)
        expected = member.tell() + math.prod(shape) * dtype.itemsize
    if dtype.hasobject:
        raise ValueError(f"the array {name} holds Python objects, which are not supported")
    if info.file_size != expected or info.file_size > _DEFLATE_GAIN * (info.compress_size + 1):
        raise ValueError(f"the size of the array {name} does not agree with its header")
    check_budget(expected, f"the array {name}", "Use a file with fewer words or shorter vectors.")
    with archive.open(info) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        # The checksum is verified only at the end.
        member.read(1)
    return array


def _words_of(array: NDArray[Any]) -> list[str]:
    if array.ndim != 1 or (array.dtype.kind not in "US" and array.dtype != np.uint8):
        raise ValueError(
            f"words must be a list of strings, not {array.dtype} of shape {array.shape}"
        )
    if array.dtype == np.uint8:
        text = array.tobytes().decode("utf-8")
        return text.split("\n") if text else []
    words = array.tolist()
    return [word.decode("utf-8") if isinstance(word, bytes) else word for word in words]


def _matrix_of(array: NDArray[Any]) -> NDArray[np.float32]:
    if array.ndim != 2 or array.dtype.kind not in "fiu" or array.shape[1] == 0:
        raise ValueError(f"matrix must be numbers in rows, not {array.dtype} of {array.shape}")
    with np.errstate(over="ignore"):
        return np.require(array, dtype=np.float32, requirements=["C", "W"])


def _assemble(feed: Feed, words: list[str], matrix: NDArray[np.float32], normalize: bool) -> Loaded:
    if len(words) != len(matrix):
        raise feed.error(
            f"the archive has {len(words):,} words but {len(matrix):,} rows",
            hint="write it with Vectors.save",
        )
    try:
        check_words(words)
        check_finite(matrix)
    except StructureError as failure:
        raise feed.error(failure.problem, hint=failure.hint) from failure
    places = first_of_each(words)
    if len(places) < len(words):
        warn_of_repeated(feed, len(words) - len(places))
        words, matrix = [words[place] for place in places], matrix[places]
    return assemble(words, matrix, normalize)


@dataclass(frozen=True)
class VectorFormat:
    """A file format of word vectors.

    Attributes
    ----------
    name : str
        The value of ``format=``.
    summary : str
        One line for lists and help pages.
    sniff : callable
        ``sniff(head)`` returns whether the first bytes of a file are in this format.
    read : callable
        ``read(feed, normalize)`` returns words and rows, or raises ReadError.
    """

    name: str
    summary: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Feed, bool], Loaded]


# The first format that recognizes the content is taken.
FORMATS: tuple[VectorFormat, ...] = (
    VectorFormat(
        name="npz",
        summary="numpy archive with the arrays words and matrix",
        sniff=lambda head: head.startswith(b"PK"),
        read=_read_npz,
    ),
    VectorFormat(
        name="word2vec-binary",
        summary="header, then for each word its text, a space and 32-bit floats",
        sniff=lambda head: _Opening.of(head).is_binary(),
        read=_read_word2vec_binary,
    ),
    VectorFormat(
        name="lemma-pos",
        summary="lines of key, two numbers and a vector with commas, separated by tabs",
        sniff=lambda head: _Opening.of(head).is_tabbed(),
        read=_read_lemma_pos,
    ),
    VectorFormat(
        name="word2vec",
        summary="header, then lines of a word and its numbers",
        sniff=lambda head: _Opening.of(head).dim is not None,
        read=_read_word2vec,
    ),
    VectorFormat(
        name="glove",
        summary="lines of a word and its numbers",
        sniff=lambda head: _Opening.of(head).is_spaced(),
        read=_read_glove,
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
    """Return the format of a file, recognized by its content."""
    if not feed.head.strip():
        raise feed.error("the file is empty", hint="is this the right file?")
    for row in FORMATS:
        if row.sniff(feed.head):
            return row
    raise feed.error(
        "the format cannot be recognized from the content",
        hint=f"name it with format=...; known formats: {_listing()}",
    )


def _listing() -> str:
    return ", ".join(row.name for row in FORMATS)
