"""Where the bytes come from: a path, standard input or an open stream.

A :class:`Source` hides everything that is not the business of a format: compression, byte order
marks, line ends, text encoding and the name shown in messages. A reader asks it for
:meth:`~Source.lines`, or for the raw :attr:`~Source.stream` when its format is not made of lines.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

from kernelwood.errors import ReadError
from kernelwood.structures import Example, Origin

C = TypeVar("C", bound="Closing")

__all__ = ["Item", "Line", "Readable", "Source"]

Readable: TypeAlias = "str | os.PathLike[str] | IO[str] | IO[bytes]"

# What readers yield: good parts, and problems after which they can go on.
Item: TypeAlias = Example | ReadError

_CHUNK = 1 << 16
_HEAD = 1 << 14  # enough to see the first line of any format
_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line of text without its line end.

    ``problem`` is set when the bytes are not UTF-8; ``text`` then has replacement characters
    and must not be used for anything but finding the next good place in the file.
    """

    number: int
    text: str
    problem: ReadError | None = None


class Closing:
    """What is closed at the end of a ``with`` block."""

    def close(self) -> None:
        """Let go of what was opened."""
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

    Attributes
    ----------
    name : str
        The path as given, ``"<stdin>"``, or the name of the stream: for messages.
    stem : str
        The file name without ``.gz`` and without one further suffix: for example identifiers.
    suffix : str
        The file name in lower case without ``.gz``, to be compared with the end of a format's
        suffixes; empty for streams without a name.
    head : bytes
        The first bytes after decompression, for sniffing; they stay in the stream.
    stream : BinaryIO
        Everything after decompression and after the byte order mark.

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

    def __init__(self, origin: Readable) -> None:
        self.name, file_name = _names(origin)
        packed_name = file_name.lower().endswith(".gz")
        plain_name = file_name[:-3] if packed_name else file_name
        self.suffix = plain_name.lower()
        self.stem = Path(plain_name).stem or self.name.strip("<>")
        self._opened = ExitStack()
        stream = self._open(origin)
        try:
            # A stream may have unpacked the file whose name it has.
            self._look_ahead(stream, must_be_gzip=packed_name and stream is not origin)
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
        if Path(origin).is_dir():
            raise IsADirectoryError(
                errno.EISDIR, "this is a folder; read its files one by one", self.name
            )
        return self._opened.enter_context(Path(origin).open("rb"))

    def _look_ahead(self, stream: IO[str] | IO[bytes], *, must_be_gzip: bool) -> None:
        start, chunks = _peek(_chunks(stream, self.name), len(_GZIP_MAGIC))
        if start.startswith(_GZIP_MAGIC):
            packed = io.BufferedReader(_ChunkReader(chunks))
            chunks = _decompress(packed, self.name)
        elif must_be_gzip and start:
            raise self.error(
                "the name ends in .gz but the content is not gzip data",
                hint="rename the file, or fetch it again if the download was cut",
            )
        head, chunks = _peek(chunks, _HEAD)
        self._start = len(_BOM) if head.startswith(_BOM) else 0
        self.head = head[self._start : _HEAD]
        self.stream = io.BufferedReader(_ChunkReader(chunks), _CHUNK)
        self.stream.read(self._start)

    def lines(self) -> Iterator[Line]:
        """Yield the lines, numbered from 1; only a line feed ends a line.

        A carriage return before the line feed belongs to the line end. Other characters that
        Unicode calls line breaks are ordinary text, as they are in every corpus format.
        """
        offset = self._start
        for number, raw in enumerate(self.stream, start=1):
            bare = raw[:-1] if raw.endswith(b"\n") else raw
            if bare.endswith(b"\r"):
                bare = bare[:-1]
            try:
                yield Line(number, bare.decode("utf-8"))
            except UnicodeDecodeError as failure:
                yield self._undecodable(number, bare, offset, failure)
            offset += len(raw)

    def _undecodable(
        self, number: int, bare: bytes, offset: int, failure: UnicodeDecodeError
    ) -> Line:
        text = bare.decode("utf-8", "replace")
        problem = self.error(
            f"byte 0x{bare[failure.start]:02x} at byte offset {offset + failure.start} "
            "is not valid UTF-8",
            line=number,
            column=len(bare[: failure.start].decode("utf-8")) + 1,
            snippet=text,
            hint="convert the file to UTF-8, for example with iconv -t UTF-8",
        )
        return Line(number, text, problem)

    def error(
        self,
        problem: str,
        *,
        line: int | None = None,
        column: int | None = None,
        snippet: str | None = None,
        hint: str | None = None,
    ) -> ReadError:
        """Return (not raise) an error that carries the name of this source."""
        return ReadError(
            problem, path=self.name, line=line, column=column, snippet=snippet, hint=hint
        )

    def origin(self, line: int) -> Origin:
        """Return the place to store with an example that starts at ``line``."""
        return Origin(self.name, line)

    def close(self) -> None:
        """Close the file if it was opened here."""
        self._opened.close()


class _ChunkReader(io.RawIOBase):
    """An iterator of byte strings in the shape that ``io.BufferedReader`` wants."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        taken = self._rest[: len(buffer)]
        buffer[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)


def _names(origin: Readable) -> tuple[str, str]:
    """Return the name to show and the file name, which is empty for unnamed streams."""
    if isinstance(origin, (str, os.PathLike)):
        shown = os.fspath(origin)
        return ("<stdin>", "") if shown == "-" else (shown, Path(shown).name)
    name = getattr(origin, "name", None)
    if isinstance(name, str) and name and not name.startswith("<"):
        return name, Path(name).name
    return (name, "") if isinstance(name, str) and name else ("<stream>", "")


def _chunks(stream: IO[str] | IO[bytes], name: str) -> Iterator[bytes]:
    # read1 does not wait for a full chunk, so lines typed or piped slowly arrive at once.
    read = getattr(stream, "read1", stream.read)
    while True:
        try:
            chunk = read(_CHUNK)
        except UnicodeDecodeError as failure:
            raise ReadError(
                f"the text stream cannot be decoded: {failure}",
                path=name,
                hint="open it in binary mode to learn the line, or convert it to UTF-8",
            ) from failure
        if not chunk:
            return
        # Lone surrogates become invalid UTF-8, which lines() reports with their position.
        yield chunk.encode("utf-8", "surrogatepass") if isinstance(chunk, str) else bytes(chunk)


def _decompress(packed: BinaryIO, name: str) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=packed, mode="rb") as unpacked:
        while True:
            try:
                chunk = unpacked.read1(_CHUNK)
            except (EOFError, zlib.error, gzip.BadGzipFile) as failure:
                raise ReadError(
                    f"the gzip data is damaged or cut off: {failure}",
                    path=name,
                    hint='fetch the file again, or keep what can be read with errors="skip"',
                ) from failure
            if not chunk:
                return
            yield chunk


def _peek(chunks: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """Return at least ``size`` bytes if there are as many, and all chunks, these included.

    A failure behind the first bytes is raised by the returned iterator, at its place.
    """
    seen: list[bytes] = []
    rest = chunks
    while sum(map(len, seen)) < size:
        try:
            seen.append(next(chunks))
        except StopIteration:
            break
        except ReadError as failure:
            rest = _raise(failure)
            break
    head = b"".join(seen)
    return head, chain([head] if head else [], rest)


def _raise(failure: ReadError) -> Iterator[bytes]:
    raise failure
    yield b""
