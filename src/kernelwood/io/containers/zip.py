"""Files inside zip archives, within limits; the archive is not unpacked to disk."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from contextlib import ExitStack
from typing import IO, Any, BinaryIO

from kernelwood.errors import ReadError
from kernelwood.io.containers.compression import CHUNK
from kernelwood.io.containers.container import (
    DAMAGE,
    Archive,
    damaged,
    is_hidden,
    name_problem,
    refused,
    unreadable,
)
from kernelwood.io.containers.limits import LimitError, Meter

_ZIP_START = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06" + bytes(16)
_LOCAL_HEADER = 30  # bytes before the first name
_HIGHEST_METHOD = 99  # of compression; text in its place would give thousands
_ENTRY = 256  # mean number of bytes a file may take in the central directory
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_NO_CONTENTS = "fetch the archive again; nothing can be read without its central directory"


def looks_like_zip(head: bytes) -> bool:
    r"""Return whether a file that begins with ``head`` is a zip archive.

    Text may begin with the four bytes of the signature, so the fields after them must be valid.

    Examples
    --------
    >>> looks_like_zip(b"PK\x03\x04 is what such files begin with"), looks_like_zip(b"(S we)")
    (False, False)
    """
    if head.startswith(_EMPTY_ZIP):
        return True
    if not head.startswith(_ZIP_START) or len(head) < _LOCAL_HEADER:
        return False
    method = int.from_bytes(head[8:10], "little")
    name_length = int.from_bytes(head[26:28], "little")
    return method <= _HIGHEST_METHOD and name_length > 0


class ZipArchive(Archive):
    """The files of a zip archive.

    Parameters
    ----------
    file : BinaryIO
        Seekable; closed with the archive.
    name : str
        For messages.
    meter : Meter
        Counts unpacked bytes.
    """

    def __init__(self, file: IO[bytes], name: str, meter: Meter) -> None:
        self.name = name
        self.problems = []
        self._meter = meter
        self._unpacked = 0
        with ExitStack() as opened:
            opened.enter_context(file)
            self._size = file.seek(0, io.SEEK_END)
            self._check_directory(file)
            try:
                self._zip = opened.enter_context(zipfile.ZipFile(file))
            except DAMAGE as failure:
                raise damaged(name, failure, hint=_NO_CONTENTS) from failure
            except OSError as failure:
                raise unreadable(name, failure) from failure
            meter.check_members(len(self._zip.infolist()), name)
            self._infos = self._usable()
            self.names = tuple(sorted(self._infos))
            self._opened = opened.pop_all()

    def _check_directory(self, file: IO[bytes]) -> None:
        """Refuse a central directory that would fill the memory before it can be counted."""
        tail_size = min(self._size, (1 << 16) + 22 + 20 + 56)
        file.seek(self._size - tail_size)
        tail = file.read(tail_size)
        place = tail.rfind(b"PK\x05\x06")
        size = int.from_bytes(tail[place + 12 : place + 16], "little") if place >= 0 else 0
        if size == 0xFFFFFFFF:
            record = tail.rfind(b"PK\x06\x06")
            size = int.from_bytes(tail[record + 40 : record + 48], "little") if record >= 0 else 0
        self._meter.check_members(min(size, self._size) // _ENTRY, self.name)

    def _usable(self) -> dict[str, zipfile.ZipInfo]:
        infos = [info for info in self._zip.infolist() if not info.filename.endswith("/")]
        counts = Counter(info.filename for info in infos)
        usable: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            problem = name_problem(info.orig_filename)
            if problem is None and counts[info.filename] > 1:
                problem = "occurs more than once"
            elif problem is None and is_hidden(info.filename):
                continue
            if problem is not None:
                self.problems.append(refused(self.name, info.orig_filename, problem))
            else:
                usable[info.filename] = info
        return usable

    def size(self, name: str) -> int:
        """Return the size of a file in bytes, according to its header."""
        return self._infos[name].file_size

    def open(self, name: str) -> BinaryIO:
        """Open a file."""
        info, title = self._infos[name], self.title(name)
        if info.flag_bits & 0x1:
            raise ReadError("the file is encrypted", path=title, hint="unpack it with its password")
        if info.compress_type not in _METHODS:
            raise ReadError(
                f"the compression method {info.compress_type} is not supported",
                path=title,
                hint="pack it again with the method deflate, which every zip program has",
            )
        try:
            return io.BufferedReader(_ZipMember(self, info, self._zip.open(info)), CHUNK)
        except DAMAGE as failure:
            raise damaged(title, failure) from failure
        except OSError as failure:
            raise unreadable(title, failure) from failure

    def count(self, info: zipfile.ZipInfo, size: int, unpacked: int) -> None:
        """Count ``size`` more bytes of a file; ``unpacked`` is its total so far."""
        title = self.title(info.filename)
        self._unpacked += size
        self._meter.add(size, title)
        self._meter.compare(unpacked, min(info.compress_size, self._size), title)
        # Files may share packed bytes, so that only their total exceeds the ratio.
        try:
            self._meter.compare(self._unpacked, self._size, self.name)
        except ReadError as failure:
            raise LimitError(failure.problem, path=self.name, hint=failure.hint) from failure

    def close(self) -> None:
        """Close the archive."""
        self._opened.close()


class _ZipMember(io.RawIOBase):
    """A file of a zip archive; its bytes are counted."""

    def __init__(self, archive: ZipArchive, info: zipfile.ZipInfo, file: IO[bytes]) -> None:
        self._archive, self._info, self._file = archive, info, file
        self._unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except DAMAGE as failure:
            raise damaged(self._archive.title(self._info.filename), failure) from failure
        except OSError as failure:
            raise unreadable(self._archive.title(self._info.filename), failure) from failure
        self._unpacked += len(data)
        self._archive.count(self._info, len(data), self._unpacked)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
