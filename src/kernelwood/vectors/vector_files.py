"""Chunked reading of files of word vectors, and checks of their content."""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import check_budget
from kernelwood.errors import ReadError, StructureError
from kernelwood.io import Closing, Source
from kernelwood.structures import check_label, shorten

Progress = Callable[[int, int], object]
CHUNK = 1 << 22  # bytes, parsed in about 20 ms: often enough for progress and Ctrl-C
_LONGEST_LINE = 1 << 26
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_GAIN = 1032  # largest compression ratio of deflate
_BLANK_LINES = re.compile(rb"(?:[ \t\r]*\n)*")

logger = logging.getLogger("kernelwood")
_BLOCK = 1 << 14  # rows checked together


class Feed(Closing):
    """The decompressed content of a file, read in chunks.

    Parameters
    ----------
    path : str or PathLike
        A file, compressed by gzip or not.
    progress : callable, optional
        ``progress(done, total)`` in bytes of the file on disk.

    Attributes
    ----------
    data : bytes
        The bytes that were read and not yet dropped.
    line : int
        The number of the first line of ``data``, counted from 1.
    ended : bool
        Whether ``data`` is the rest of the content.
    packed : bool
        Whether the file is compressed.
    regular : bool
        Whether it is a regular file, not a pipe.
    """

    def __init__(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        self.path = Path(path)
        self.data = b""
        self.line = 1
        self.ended = False
        self._progress = progress
        self._reported = 0
        self._file = self.path.open("rb")
        try:
            status = os.fstat(self._file.fileno())
            self.regular = stat.S_ISREG(status.st_mode)
            self._total = status.st_size if self.regular else 0
            self.packed = self._file.peek(2)[:2] == _GZIP_MAGIC
            self._source = Source(self._file)
        except BaseException:
            self.close()
            raise

    @property
    def head(self) -> bytes:
        """The first bytes of the content, by which the format is recognized."""
        return self._source.head

    @property
    def portion(self) -> float:
        """The fraction of the file that has been read; 0 if unknown."""
        return min(1.0, self._file.tell() / self._total) if self._total else 0.0

    def can_hold(self, n_bytes: int) -> bool:
        """Return whether the content can have this many bytes."""
        most = self._total * (_GZIP_GAIN if self.packed else 1)
        return not self.regular or n_bytes <= most

    def fill(self) -> None:
        """Read the next chunk, if there is one."""
        if self.ended:
            return
        try:
            chunk = self._source.stream.read(CHUNK)
        except ReadError as failure:
            raise self.error(
                failure.problem, hint="fetch the file again; the download may have been cut"
            ) from failure
        self.data += chunk
        self.ended = not chunk
        if self._progress is not None and self._total:
            done = self._total if self.ended else min(self._file.tell(), self._total)
            if done > self._reported:
                self._reported = done
                self._progress(done, self._total)

    def drop(self, n_bytes: int, n_lines: int) -> None:
        """Remove processed bytes from ``data``."""
        self.data = self.data[n_bytes:]
        self.line += n_lines

    def first_line(self) -> bytes:
        """Drop blank lines and return the first line after them, empty at the end."""
        while True:
            blank = _BLANK_LINES.match(self.data)
            n_blank = blank.end() if blank else 0
            self.drop(n_blank, self.data.count(b"\n", 0, n_blank))
            end = self.data.find(b"\n")
            if end >= 0 or self.ended:
                return self.data[: end if end >= 0 else None].strip(b" \t\r")
            self.check_length(_LONGEST_LINE)
            self.fill()

    def check_length(self, longest: int) -> None:
        """Raise ReadError if the unused bytes exceed the length of any line or record."""
        if len(self.data) > longest + CHUNK:
            raise self.error(
                f"no end of the line in {len(self.data):,} bytes",
                line=self.line,
                hint="the file contains no word vectors, or is in another format",
            )

    def error(self, problem: str, *, line: int | None = None, hint: str | None = None) -> ReadError:
        """Return an error that names the file."""
        return self._source.error(problem, line=line, hint=hint)

    def error_at(self, problem: str, begin: int, *, line: int, hint: str) -> ReadError:
        """Return an error that shows the line at a position of ``data``."""
        line_begin = self.data.rfind(b"\n", 0, begin) + 1
        line_end = self.data.find(b"\n", begin)
        raw = self.data[line_begin : line_end if line_end >= 0 else None].rstrip(b"\r")
        column = len(self.data[line_begin:begin].decode("utf-8", "replace")) + 1
        snippet = raw.decode("utf-8", "replace")
        return self._source.error(problem, line=line, column=column, snippet=snippet, hint=hint)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Loaded(NamedTuple):
    """Distinct words, their rows, the numbers of the rows that are zero, and how to look up."""

    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    zeros: NDArray[np.int64]
    lowercase: bool = False


def assemble(words: Iterable[str], matrix: NDArray[np.float32], normalize: bool) -> Loaded:
    """Return words and rows, with ``normalize`` scaled in place to length 1."""
    if normalize:
        _native.scale_to_unit_length(matrix)
    return Loaded(tuple(words), matrix, _zero_rows(matrix))


def check_words(words: Iterable[object]) -> list[str]:
    """Return words as plain strings; raise StructureError for a word that no file can hold."""
    checked = [check_label(word, f"word {place}") for place, word in enumerate(words)]
    if "" in checked:
        raise StructureError(f"word {checked.index('')} is empty", hint="remove it")
    text = "".join(checked)
    if "\n" in text:
        [word, *_] = (word for word in checked if "\n" in word)
        raise StructureError(
            f"the word {shorten(repr(word))} has a line feed inside",
            hint="replace it, for example by a space",
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise StructureError(
            f"a word has the character {failure.object[failure.start]!r}, a lone surrogate",
            hint="it comes from text decoded with errors='surrogateescape'",
        ) from failure
    return checked


def check_finite(matrix: NDArray[np.float32]) -> None:
    """Raise StructureError if a number is NaN or infinite as a 32-bit float."""
    for begin in range(0, len(matrix), _BLOCK):
        finite = np.isfinite(matrix[begin : begin + _BLOCK])
        if not finite.all():
            row, column = np.argwhere(~finite)[0].tolist()
            raise StructureError(
                f"the number in row {begin + row}, column {column} of the matrix is not finite",
                hint="remove the row; its vector cannot be compared with others",
            )


def first_of_each(words: list[str], known: Iterable[str] = ()) -> list[int]:
    """Return the positions of the first occurrences of words that are not known.

    >>> first_of_each(["a", "b", "a", "c"], known={"c": 0})
    [0, 1]
    """
    seen = set(known)
    places = []
    for place, word in enumerate(words):
        if word not in seen:
            seen.add(word)
            places.append(place)
    return places


class Collector:
    """Grows a matrix block by block, within the memory budget and without repeated words.

    Parameters
    ----------
    feed : Feed
        The file, by whose size the number of rows is estimated.
    dim : int
        Length of a row.
    promised : int, optional
        Number of rows according to the header.
    normalize : bool
        Whether to scale rows to length 1.
    """

    def __init__(self, feed: Feed, dim: int, promised: int | None, normalize: bool) -> None:
        self.n_read = 0
        self._feed = feed
        self._dim = dim
        self._promised = promised
        self._normalize = normalize
        self._rows: dict[str, int] = {}
        self._zeros: list[NDArray[np.int64]] = []
        self._matrix = np.empty((0, dim), dtype=np.float32)

    def add(self, words: list[str], block: NDArray[np.float32]) -> None:
        """Append rows; they may be changed in place."""
        self.n_read += len(words)
        if self._promised is not None and self.n_read > self._promised:
            raise self._broken_promise("more")
        fresh = dict.fromkeys(words)
        if len(fresh) < len(words) or not self._rows.keys().isdisjoint(fresh):
            places = first_of_each(words, self._rows)
            words, block = [words[place] for place in places], block[places]
        if self._normalize:
            _native.scale_to_unit_length(block)
        filled = len(self._rows)
        self._reserve(filled + len(words))
        self._matrix[filled : filled + len(words)] = block
        self._zeros.append(_zero_rows(block) + filled)
        self._rows.update(zip(words, range(filled, filled + len(words)), strict=True))

    def finish(self) -> Loaded:
        """Return all words and rows."""
        if self._promised is not None and self.n_read < self._promised:
            raise self._broken_promise(f"only {self.n_read:,}")
        if not self._rows:
            raise self._feed.error("the file has no vectors", hint="is this the right file?")
        warn_of_repeated(self._feed, self.n_read - len(self._rows))
        # Nothing else refers to the matrix; blocks were copied.
        self._matrix.resize((len(self._rows), self._dim), refcheck=False)
        return Loaded(tuple(self._rows), self._matrix, np.concatenate(self._zeros))

    def _broken_promise(self, found: str) -> ReadError:
        return self._feed.error(
            f"the header promises {self._promised:,} vectors, but there are {found}",
            hint="correct the header, or fetch the file again if the download was cut",
        )

    def _reserve(self, n_rows: int) -> None:
        if n_rows <= len(self._matrix):
            return
        expected = self._promised
        if expected is None:
            portion = self._feed.portion
            expected = int(n_rows / portion * 1.02) if portion else 2 * n_rows
        expected = max(n_rows, expected)
        check_budget(
            4 * expected * self._dim,
            f"the matrix of {expected:,} word vectors of {self._dim:,} numbers",
            "Use a file with fewer words or shorter vectors.",
        )
        # Grown in place where the system can do it; add writes the new part.
        self._matrix.resize((expected, self._dim), refcheck=False)


def warn_of_repeated(feed: Feed, count: int) -> None:
    """Log the number of rows that were ignored because their word occurred before."""
    if count:
        logger.warning("%s: ignored %d vectors of repeated words", feed.path, count)


def decode_words(feed: Feed, spans: NDArray[np.int64]) -> list[str]:
    """Return the words at these positions of ``feed.data``."""
    data = feed.data
    begin = 0
    words = []
    try:
        for begin, end in spans.tolist():
            words.append(data[begin:end].decode("utf-8"))
    except UnicodeDecodeError as failure:
        place = begin + failure.start
        raise feed.error_at(
            f"byte 0x{data[place]:02x} in a word is not valid UTF-8",
            place,
            line=feed.line + data.count(b"\n", 0, begin),
            hint="convert the file to UTF-8, for example with iconv -t UTF-8",
        ) from failure
    return words


def _zero_rows(matrix: NDArray[np.float32]) -> NDArray[np.int64]:
    return np.flatnonzero(~matrix.any(axis=1)).astype(np.int64, copy=False)
