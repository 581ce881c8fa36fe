"""Files inside tar archives, within limits.

A tar archive has no directory and no random access, so its files are copied one after another into
an unnamed temporary file, from which they can be read in any order.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from contextlib import ExitStack
from typing import IO, Any, BinaryIO, NamedTuple, cast

from kernelwood.errors import ReadError
from kernelwood.io.containers.compression import CHUNK
from kernelwood.io.containers.container import (
    DAMAGE,
    Archive,
    damaged,
    is_hidden,
    name_problem,
    refused,
)
from kernelwood.io.containers.limits import LimitError, Meter

_BLOCK = tarfile.BLOCKSIZE
_HEADERS = 1 << 20  # bytes of headers before one file
_GLOBAL_HEADERS = 100  # fields that apply to all files; each file gets a copy of them


def looks_like_tar(head: bytes) -> bool:
    """Return whether a file that begins with ``head`` is a tar archive, by its checksum.

    Examples
    --------
    >>> looks_like_tar(tarfile.TarInfo("a.mrg").tobuf()), looks_like_tar(b"(S (NP we))" * 99)
    (True, False)
    """
    if len(head) < _BLOCK or not head[0]:
        return False
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK], "utf-8", "replace")
    except tarfile.HeaderError:
        return False
    return True


class _Place(NamedTuple):
    """The place of a file in the temporary copy."""

    offset: int
    size: int


class TarArchive(Archive):
    """The files of a tar archive.

    Parameters
    ----------
    stream : BinaryIO
        The archive without its compression; read to its end at once.
    name : str
        For messages.
    meter : Meter
        Has the limit for the number of files.
    """

    def __init__(self, stream: BinaryIO, name: str, meter: Meter) -> None:
        self.name = name
        self.problems = []
        self._places: dict[str, _Place] = {}
        with ExitStack() as opened:
            self._copy = opened.enter_context(tempfile.TemporaryFile())
            self._fill(_Forward(stream, name), meter)
            self._opened = opened.pop_all()
        self.names = tuple(sorted(self._places))

    def _fill(self, archive: _Forward, meter: Meter) -> None:
        self._seen: set[str] = set()
        try:
            with tarfile.open(
                fileobj=cast(Any, archive), mode="r:", errors="backslashreplace"
            ) as tar:
                while (member := tar.next()) is not None:
                    tar.members.clear()  # type: ignore[attr-defined]  # tarfile would keep them all
                    if not member.isdir():
                        self._take(member, archive)
                        meter.check_members(len(self._seen), self.name)
                    if len(tar.pax_headers) > _GLOBAL_HEADERS:
                        raise archive.too_long(f"more than {_GLOBAL_HEADERS} headers for all files")
                    archive.begin_headers()
                archive.check_end()
        except (LimitError, OSError):
            raise
        except ReadError as failure:
            self.problems.append(failure)
        except DAMAGE as failure:
            self.problems.append(damaged(self.name, failure))

    def _take(self, member: tarfile.TarInfo, archive: _Forward) -> None:
        name = member.name.removeprefix("./")
        problem = name_problem(name)
        if problem is None and not member.isreg():
            problem = "is a link, a device or the like, not a file"
        elif problem is None and member.issparse():
            problem = "is stored as a sparse file"
        elif problem is None and name in self._seen:
            problem = "occurs more than once"
            self._places.pop(name, None)
        self._seen.add(name)
        if problem is None and is_hidden(name):
            return
        if problem is not None:
            self.problems.append(refused(self.name, member.name, problem))
            return
        offset = self._copy.seek(0, io.SEEK_END)
        archive.copy(member.offset_data, member.size, self._copy)
        self._places[name] = _Place(offset, member.size)

    def size(self, name: str) -> int:
        """Return the size of a file in bytes, according to its header."""
        return self._places[name].size

    def open(self, name: str) -> BinaryIO:
        """Open a file."""
        return io.BufferedReader(_Slice(self._copy, self._places[name]), CHUNK)

    def close(self) -> None:
        """Delete the temporary copy."""
        self._opened.close()


class _Slice(io.RawIOBase):
    """A part of a file."""

    def __init__(self, file: IO[bytes], place: _Place) -> None:
        self._file, self._offset, self._left = file, place.offset, place.size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._offset)
        data = self._file.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._offset += len(data)
        self._left -= len(data)
        return len(data)


class _Forward:
    """A stream that can seek forward, as ``tarfile`` needs it, with a limit on header size."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._position = 0
        self._last = b""  # the last bytes read
        self._headers = 0

    def begin_headers(self) -> None:
        self._headers = 0

    def too_long(self, what: str) -> LimitError:
        return LimitError(
            f"the archive has {what}",
            path=self._name,
            hint="unpack the archive with another program and read the folder",
        )

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> int:
        if position < self._position:
            raise EOFError("the headers lead backward")
        self._move(position - self._position, None)
        self._position = position
        return position

    def read(self, size: int) -> bytes:
        self._headers += size
        if self._headers > _HEADERS:
            raise self.too_long(f"headers of one file longer than {_HEADERS:,} bytes")
        data = self._stream.read(size)
        self._position += len(data)
        self._last = data or self._last
        return data

    def copy(self, offset: int, size: int, target: IO[bytes]) -> None:
        if size < 0:
            raise EOFError("a size is negative")
        self.seek(offset)
        self._move(size, target)
        self._position += size

    def _move(self, size: int, target: IO[bytes] | None) -> None:
        while size > 0:
            data = self._stream.read(min(size, CHUNK))
            if not data:
                raise EOFError("the end is missing")
            size -= len(data)
            self._last = data
            if target is not None:
                target.write(data)

    def check_end(self) -> None:
        """Raise if the last block is not the end mark: ``tarfile`` also stops at a bad header."""
        if self._last != bytes(_BLOCK):
            raise EOFError("the end mark is missing, or a header is not valid")
        while self._stream.read(CHUNK):  # a checksum may stand at the end of compressed data
            pass
