"""Where the bytes come from: a path, standard input or an open stream.

A :class:`Source` hides everything that is not the business of a format: compression, byte order
marks, line ends, text encoding and the name shown in messages. A reader asks it for
:meth:`~Source.lines`, or for the raw :attr:`~Source.stream` when its format is not made of lines.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, NamedTuple, TypeAlias, TypeVar

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.encodings import encoding_hint
from kernelwood.io.limits import Meter, format_size
from kernelwood.io.unpacking import CHUNK, ChunkReader, peek, plain_name, unpack
from kernelwood.text import Example, Origin

C = TypeVar("C", bound="Closing")

__all__ = ["Item", "Line", "Readable", "Remark", "Source"]

Readable: TypeAlias = "str | os.PathLike[str] | IO[str] | IO[bytes]"


class Remark(NamedTuple):
    """Something odd in a part that was read all the same; counted in the tally."""

    reason: str


# What readers yield: good parts, remarks on them, and problems after which they can go on.
Item: TypeAlias = Example | ReadError | Remark

_HEAD = 1 << 14  # enough to see the first line of any format
_SHOWN = 200  # of a line that is too long
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
    name : str, optional
        How to call a stream; for a file in an archive, say.
    stem : str, optional
        What identifiers begin with, if not the stem of the file name.
    meter : Meter, optional
        Counts what is unpacked, against its limits.

    Attributes
    ----------
    name : str
        The path as given, ``"<stdin>"``, or the name of the stream: for messages.
    stem : str
        The file name without ``.gz`` and without one further suffix: for example identifiers.
        In a folder or an archive the path there comes before it.
    suffix : str
        The file name in lower case without ``.gz``, to be compared with the end of a format's
        suffixes; empty for streams without a name.
    position : int
        How many bytes of the file have been read, before decompression.
    size : int or None
        How many there are; None for a stream.
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
        self._meter = Meter() if meter is None else meter
        self._opened = ExitStack()
        stream = self._open(origin)
        try:
            # A stream may have unpacked the file whose name it has.
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
        self.size = Path(origin).stat().st_size
        return self._opened.enter_context(Path(origin).open("rb"))

    def _look_ahead(self, stream: IO[str] | IO[bytes], packed_name: str | None) -> None:
        chunks = unpack(self._chunks(stream), self.name, self._meter, packed_name=packed_name)
        head, chunks = peek(chunks, _HEAD)
        self._start = len(_BOM) if head.startswith(_BOM) else 0
        self.head = head[self._start : _HEAD]
        self.stream = io.BufferedReader(ChunkReader(chunks), CHUNK)
        self.stream.read(self._start)

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
        """Yield the lines, numbered from 1; only a line feed ends a line.

        A carriage return before the line feed belongs to the line end. Other characters that
        Unicode calls line breaks are ordinary text, as they are in every corpus format.
        """
        offset = self._start
        limit = self._meter.limits.line
        read_line = partial(self.stream.readline, limit + 2)  # the line end does not count
        for number, raw in enumerate(iter(read_line, b""), start=1):
            ended = raw.endswith(b"\n")
            bare = raw[:-1] if ended else raw
            if bare.endswith(b"\r"):
                bare = bare[:-1]
            if not ended and len(bare) > limit:
                offset += len(raw) + self._pass_line_end(raw)
                problem = self._meter.long_line(number, self.name)
                yield Line(number, bare[:_SHOWN].decode("utf-8", "replace"), problem)
                continue
            try:
                yield Line(number, bare.decode("utf-8"))
            except UnicodeDecodeError as failure:
                problem = self._undecodable(number, bare, failure.start, offset)
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
            raise self._undecodable(
                number, bare, failure.start - start, self._start + start
            ) from failure

    def is_blank(self) -> bool:
        """Say whether nothing but blanks follows; damaged data are an error and not blank."""
        while chunk := self.stream.read(CHUNK):
            if chunk.strip():
                return False
        return True

    def _pass_line_end(self, raw: bytes) -> int:
        """Read on to the end of a line of which ``raw`` was read; return how far that was."""
        passed = 0
        while raw and not raw.endswith(b"\n"):
            raw = self.stream.readline(CHUNK)
            passed += len(raw)
        return passed

    def _undecodable(self, number: int, bare: bytes, place: int, offset: int) -> ReadError:
        """Return the error for a byte at ``place`` in a line that begins at ``offset``."""
        return self.error(
            f"byte 0x{bare[place]:02x} at byte offset {offset + place} is not valid UTF-8",
            line=number,
            column=len(bare[:place].decode("utf-8")) + 1,
            snippet=bare.decode("utf-8", "replace"),
            hint=self._encoding_hint,
        )

    @cached_property
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
        """Return (not raise) an error that carries the name of this source."""
        return ReadError(
            problem, path=self.name, line=line, column=column, snippet=snippet, hint=hint
        )

    def locate(
        self, failure: StructureError, line: int | None, column: int | None = None
    ) -> ReadError:
        """Return the error of a part of this source; the place is used if it has no line."""
        inside = failure.line is not None
        return self.error(
            failure.problem,
            line=failure.line if inside else line,
            column=failure.column if inside else failure.column or column,
            snippet=failure.snippet,
            hint=failure.hint,
        )

    def origin(self, line: int) -> Origin:
        """Return the place to store with an example that starts at ``line``."""
        return Origin(self.name, line)

    def close(self) -> None:
        """Close the file if it was opened here."""
        self._opened.close()


def _last_part(name: str) -> str:
    """Return the file name at the end of the name of a file in a folder or an archive."""
    return name.replace("!", "/").rpartition("/")[2]


def _names(origin: Readable) -> tuple[str, str]:
    """Return the name to show and the file name, which is empty for unnamed streams."""
    if isinstance(origin, (str, os.PathLike)):
        shown = os.fspath(origin)
        return ("<stdin>", "") if shown == "-" else (shown, Path(shown).name)
    name = getattr(origin, "name", None)
    if isinstance(name, str) and name and not name.startswith("<"):
        return name, Path(name).name
    return (name, "") if isinstance(name, str) and name else ("<stream>", "")
