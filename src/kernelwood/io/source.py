"""Input of readers: a path, standard input or an open stream.

A :class:`Source` does the work common to all formats: compression, byte order marks, line ends,
text encoding and the name in messages. A reader uses its :meth:`~Source.lines`, or the bytes
of :attr:`~Source.stream` if the format is not made of lines.
"""

from __future__ import annotations

import codecs
import copy
import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, NamedTuple, TypeAlias, TypeVar

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.containers.compression import (
    CHUNK,
    ChunkReader,
    peek,
    plain_name,
    spooled,
    unpack,
)
from kernelwood.io.containers.limits import CHARACTER_MEMORY, LINE_MEMORY, Meter, format_size
from kernelwood.text import Example, Origin
from kernelwood.threads import lazy_property

C = TypeVar("C", bound="Closing")


Readable: TypeAlias = "str | os.PathLike[str] | IO[str] | IO[bytes]"


class Remark(NamedTuple):
    """Something unusual in a part that was read; counted in the tally."""

    reason: str


# What readers yield: examples, remarks on them, and errors after which they continue.
Item: TypeAlias = Example | ReadError | Remark

LINE_ROOM = LINE_MEMORY // CHARACTER_MEMORY
_HEAD = 1 << 14  # enough to see the first line of any format
_SHOWN = 200  # bytes shown of a line that is too long
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line of text without its line end.

    ``problem`` is set if the line is too long or not UTF-8; ``text`` is then incomplete or has
    replacement characters, and serves only to find where reading can continue.
    """

    number: int
    text: str
    problem: ReadError | None = None

    def error(self, index: int, problem: str, hint: str | None = None) -> StructureError:
        """Return (not raise) the error at a character of the line, counted from 0."""
        return StructureError(
            problem, line=self.number, column=index + 1, snippet=self.text, hint=hint
        )


class Extent(NamedTuple):
    """The part of a file that a source has; by default the whole file.

    Attributes
    ----------
    start : int
        Number of bytes before it.
    line : int
        Number of its first line.
    records : int
        Number of records before it, as its reader counts them.
    stop : int or None
        Where it ends; None if it is the end of the file.
    """

    start: int = 0
    line: int = 1
    records: int = 0
    stop: int | None = None


class Closing:
    """Base class of objects that are closed at the end of a ``with`` block."""

    def close(self) -> None:
        """Close all files that were opened."""
        raise NotImplementedError

    def __enter__(self: C) -> C:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Source(Closing):
    r"""Decompressed bytes with a name.

    Parameters
    ----------
    origin : str, PathLike or stream
        A path, ``"-"`` for standard input, or an open text or binary stream. Streams are left
        open by :meth:`close`; paths are opened and closed here.
    name : str, optional
        Name of a stream, such as that of a file in an archive.
    stem : str, optional
        Prefix of ids, if not the stem of the file name.
    meter : Meter, optional
        Counts decompressed bytes and applies the limits.

    Attributes
    ----------
    name : str
        The path as given, ``"<stdin>"``, or the name of the stream; used in messages.
    stem : str
        The file name without ``.gz`` and without one further suffix, used in ids. In a folder or
        an archive it begins with the path of the file there.
    suffix : str
        The file name in lower case without ``.gz``, which may end in a suffix of a format; empty
        for streams without a name.
    position : int
        Number of bytes read, before decompression.
    size : int or None
        Size of the file in bytes; None for a stream.
    path : Path or None
        The file, also in a folder; None for a stream or a file in an archive.
    meter : Meter
        Counts decompressed bytes and applies the limits.
    head : bytes
        The first decompressed bytes, for format recognition; they stay in the stream.
    stream : BinaryIO
        The decompressed bytes after the byte order mark.
    mark : bytes
        The byte order mark, usually empty.
    extent : Extent
        The part of the file that the stream has, if not all of it.

    Examples
    --------
    >>> import io
    >>> source = Source(io.BytesIO(b"first\r\nsecond"))
    >>> [line.text for line in source.lines()]
    ['first', 'second']
    """

    name: str
    stem: str
    suffix: str
    head: bytes
    stream: BinaryIO
    extent = Extent()

    def __init__(
        self,
        origin: Readable,
        *,
        name: str | None = None,
        stem: str | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.name, file_name = _names(origin) if name is None else (name, _last_part(name))
        plain = plain_name(file_name)
        self.suffix = plain.lower()
        self.stem = stem or Path(plain).stem or self.name.strip("<>")
        self.position = 0
        self.size: int | None = None
        self.path: Path | None = None
        self.meter = Meter() if meter is None else meter
        self._opened = ExitStack()
        stream = self._open(origin)
        try:
            # A stream may have decompressed the file whose name it has.
            named = name is not None or stream is not origin
            self._look_ahead(stream, file_name if named else None)
        except BaseException:
            self.close()
            raise

    def _open(self, origin: Readable) -> IO[str] | IO[bytes]:
        if not isinstance(origin, (str, os.PathLike)):
            if not hasattr(origin, "read"):
                raise TypeError(f"expected a path or an open stream, got {type(origin).__name__}")
            return origin
        if origin == "-":
            # Tests and notebooks replace sys.stdin by objects without a buffer.
            return getattr(sys.stdin, "buffer", sys.stdin)
        self.path = Path(origin)
        self.size = self.path.stat().st_size
        return self._opened.enter_context(self.path.open("rb"))

    def _look_ahead(self, stream: IO[str] | IO[bytes], packed_name: str | None) -> None:
        chunks = unpack(self._chunks(stream), self.name, self.meter, packed_name=packed_name)
        head, chunks = peek(chunks, _HEAD)
        self._raw = stream
        self.mark = _BOM if head.startswith(_BOM) else b""
        self.head = head[len(self.mark) : _HEAD]
        self.stream = io.BufferedReader(ChunkReader(chunks), CHUNK)
        self.stream.read(len(self.mark))

    def _chunks(self, stream: IO[str] | IO[bytes]) -> Iterator[bytes]:
        # read1 does not wait for a full chunk, so lines typed or piped slowly arrive at once.
        read = getattr(stream, "read1", stream.read)
        while True:
            try:
                chunk = read(CHUNK)
            except UnicodeDecodeError as failure:
                raise self.error(
                    f"the text stream cannot be decoded: {failure}",
                    hint="open it in binary mode to learn the line, or convert it to UTF-8",
                ) from failure
            if not chunk:
                return
            # Lone surrogates become invalid UTF-8, which lines() reports with their position.
            data = chunk.encode("utf-8", "surrogatepass") if isinstance(chunk, str) else chunk
            self.position += len(data)
            yield bytes(data)

    def lines(self) -> Iterator[Line]:
        """Yield the lines, numbered from 1 in the file; only a line feed ends a line.

        A carriage return before the line feed belongs to the line end. Other characters that
        Unicode calls line breaks are ordinary text, as they are in every corpus format.
        """
        offset = max(0, self.extent.start - len(self.mark))
        limit = self.meter.limits.line
        read_line = partial(self.stream.readline, limit + 2)  # the line end does not count
        for number, raw in enumerate(iter(read_line, b""), start=self.extent.line):
            ended = raw.endswith(b"\n")
            bare = raw[:-1] if ended else raw
            if bare.endswith(b"\r"):
                bare = bare[:-1]
            if not ended and len(bare) > limit:
                offset += len(raw) + self._skip_line(raw)
                problem = self.meter.long_line(number, self.name)
                yield Line(number, bare[:_SHOWN].decode("utf-8", "replace"), problem)
                continue
            try:
                yield Line(number, bare.decode("utf-8"))
            except UnicodeDecodeError as failure:
                problem = self.undecodable(number, bare, failure.start, offset)
                yield Line(number, bare.decode("utf-8", "replace"), problem)
            offset += len(raw)

    def read_text(self, limit: int) -> str:
        """Return everything as text, line ends as they are; ``limit`` is in bytes."""
        data = self.stream.read(limit + 1)
        if len(data) > limit:
            raise self.error(
                f"the text has more than {format_size(limit)}",
                hint="cut it into several documents",
            )
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as failure:
            start = data.rfind(b"\n", 0, failure.start) + 1
            bare = data[start:].partition(b"\n")[0].removesuffix(b"\r")
            number = data.count(b"\n", 0, start) + 1
            raise self.undecodable(number, bare, failure.start - start, start) from failure

    def random_access(self) -> IO[bytes]:
        """Return a new file with all decompressed bytes, in which one can seek.

        This is the file itself, or a temporary copy of a compressed file or a stream.
        """
        if self.path is not None and self.is_plain():
            return self.path.open("rb")
        return spooled(self.stream, self.name, self.meter)

    def is_plain(self) -> bool:
        """Return whether this is a file that is not compressed."""
        if self.path is None:
            return False
        with self.path.open("rb") as file:
            return file.read(_HEAD) == self.head

    @lazy_property
    def opening(self) -> bytes:
        """The head, or more if the first line that is not blank is longer.

        Use it before the stream is read.
        """
        data, size = self.head, _HEAD
        complete = len(self.mark) + len(data) < size
        while True:
            end = data.find(b"\n", len(data) - len(data.lstrip())) + 1
            if end or complete or size > self.meter.limits.line:
                return data[: max(end, len(self.head))]
            size *= 2
            chunks: Iterator[bytes] = iter(partial(self.stream.read1, CHUNK), b"")  # type: ignore[attr-defined]
            data, chunks = peek(chunks, size)
            self.stream = io.BufferedReader(ChunkReader(chunks), CHUNK)
            complete = len(data) < size

    def skip_to(self, place: int, here: int) -> None:
        """Move the stream forward, from ``here`` to a place of the decompressed bytes.

        The rest is read from there even if the file is shorter.
        """
        raw, begun = self._raw, self.mark + self.head
        if place - here > CHUNK and raw.seekable():
            before = raw.tell()
            raw.seek(0)
            if raw.read(len(begun)) == begun:  # it is not compressed
                raw.seek(place)
                self.stream = io.BufferedReader(ChunkReader(self._chunks(raw)), CHUNK)
                return
            raw.seek(before)
        while here < place and (chunk := self.stream.read(min(CHUNK, place - here))):
            here += len(chunk)

    def part(self, chunks: Iterator[bytes], extent: Extent) -> Source:
        """Return the source of a part of this file, given its bytes.

        It has the name and the head of the file. The byte order mark is not among the bytes.
        """
        made = copy.copy(self)
        made.stream = io.BufferedReader(ChunkReader(chunks), CHUNK)
        made.extent = extent
        return made

    def is_blank(self) -> bool:
        """Return whether only blanks follow; damaged data raise an error."""
        while chunk := self.stream.read(CHUNK):
            if chunk.strip():
                return False
        return True

    def _skip_line(self, raw: bytes) -> int:
        """Skip the rest of a line that begins with ``raw``; return the number of bytes skipped."""
        skipped = 0
        while raw and not raw.endswith(b"\n"):
            raw = self.stream.readline(CHUNK)
            skipped += len(raw)
        return skipped

    def too_long(self, line: int, what: str) -> ReadError:
        """Return the error for a part of the file that is longer than a line may be."""
        return self.meter.long_line(line, self.name, what)

    def too_large(self, line: int, what: str) -> ReadError:
        """Return the error for a part of the file that would take too much memory."""
        return self.meter.large_part(line, self.name, what)

    def large_json(self, text: str, line: int) -> ReadError | None:
        """Return an error if the values of a JSON text would take too much memory."""
        return self.meter.large_json(text, line, self.name)

    @property
    def room(self) -> int:
        """Number of characters of structured text that a part of the file may have.

        A line counts as `LINE_ROOM` characters more.
        """
        return self.meter.limits.memory // CHARACTER_MEMORY

    def undecodable(self, number: int, bare: bytes, place: int, offset: int) -> ReadError:
        """Return the error for the byte at ``place`` of a line that begins at ``offset``."""
        byte, position = bare[place], len(self.mark) + offset + place
        return self.error(
            f"byte 0x{byte:02x} at byte offset {position} is not valid UTF-8",
            line=number,
            column=len(bare[:place].decode("utf-8")) + 1,
            snippet=bare.decode("utf-8", "replace"),
            hint=self._encoding_hint,
        )

    @lazy_property
    def _encoding_hint(self) -> str:
        return (
            encoding_hint(self.head)
            or "convert the file to UTF-8; if it is in Latin-1, with iconv -f LATIN1 -t UTF-8"
        )

    def error(
        self,
        problem: str,
        *,
        line: int | None = None,
        column: int | None = None,
        snippet: str | None = None,
        hint: str | None = None,
    ) -> ReadError:
        """Return (not raise) an error with the name of this source."""
        return ReadError(
            problem, path=self.name, line=line, column=column, snippet=snippet, hint=hint
        )

    def locate(
        self, failure: StructureError, line: int | None, column: int | None = None
    ) -> ReadError:
        """Return ``failure`` as an error of this source; ``line`` is used if it has none."""
        inside = failure.line is not None
        return self.error(
            failure.problem,
            line=failure.line if inside else line,
            column=failure.column if inside else failure.column or column,
            snippet=failure.snippet,
            hint=failure.hint,
        )

    def origin(self, line: int) -> Origin:
        """Return the origin of an example that starts at ``line``."""
        return Origin(self.name, line)

    def close(self) -> None:
        """Close the file if it was opened here."""
        self._opened.close()


def _last_part(name: str) -> str:
    """Return the file name at the end of a path in a folder or an archive."""
    return name.replace("!", "/").rpartition("/")[2]


def _names(origin: Readable) -> tuple[str, str]:
    """Return the name for messages and the file name, which is empty for unnamed streams."""
    if isinstance(origin, (str, os.PathLike)):
        shown = os.fspath(origin)
        return ("<stdin>", "") if shown == "-" else (shown, Path(shown).name)
    name = getattr(origin, "name", None)
    if isinstance(name, str) and name and not name.startswith("<"):
        return name, Path(name).name
    return (name, "") if isinstance(name, str) and name else ("<stream>", "")


_LOOK = 2048  # bytes that are examined
_MARKS = (  # the longer ones first, since one of them begins with another
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_MANY = 0.3  # of the bytes; more than any text has by chance
_TEXT_CONTROLS = b"\t\n\v\f\r\x1b"


# Beginning of a project of kernelwood review, which is an SQLite file with this application id.
_SQLITE, _APPLICATION, _APPLICATION_PLACE = b"SQLite format 3\0", b"KWP1", slice(68, 72)


def is_project(head: bytes) -> bool:
    """Return whether a file that begins with ``head`` is a project of ``kernelwood review``.

    Examples
    --------
    >>> is_project(b"SQLite format 3" + bytes(53) + b"KWP1"), is_project(b"PK")
    (True, False)
    """
    return head.startswith(_SQLITE) and head[_APPLICATION_PLACE] == _APPLICATION


def encoding_hint(head: bytes) -> str | None:
    """Return a hint for a file that begins with ``head``; None if it looks like UTF-8 text.

    The hint is a guess: it may be added to an error but must not cause one.

    Examples
    --------
    >>> encoding_hint("(S (NP we) (VP go))".encode("utf-16"))
    'the file seems to be in UTF-16; convert it with iconv -f UTF-16 -t UTF-8'
    >>> encoding_hint(bytes(range(32)) * 9)
    'the file seems to hold binary data, not text'
    >>> encoding_hint("Öl".encode("latin-1")) is None
    True
    """
    if is_project(head):
        return (
            "this is a project of kernelwood review; write its documents with kernelwood review "
            "PROJECT.kwp --export DIR --to documents.jsonl"
        )
    head = head[:_LOOK]
    name = next((name for mark, name in _MARKS if head.startswith(mark)), _by_zeros(head))
    if name is not None:
        return f"the file seems to be in {name}; convert it with iconv -f {name} -t UTF-8"
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
    if controls > _MANY / 3 * len(head):
        return "the file seems to hold binary data, not text"
    return None


def _by_zeros(head: bytes) -> str | None:
    """Recognize UTF-16 without a byte order mark by the zeros in every other byte."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd > _MANY * 2 * half and even < odd // 4:
        return "UTF-16LE"
    if even > _MANY * 2 * half and odd < even // 4:
        return "UTF-16BE"
    return None
