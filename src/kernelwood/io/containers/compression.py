"""Decompression chunk by chunk, within limits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import IO, Any, BinaryIO

from kernelwood.errors import ReadError
from kernelwood.io.containers.limits import Meter

CHUNK = 1 << 16
# Suffix -> first bytes of the content.
PACKED_SUFFIXES = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00"}
_LONGEST_MAGIC = 6
_BZIP2_BLOCK = b"1AY&SY"  # after "BZh" and a digit; text may begin with "BZh"
_XZ_MEMORY = 256 << 20  # the header of a file may ask for 4 GiB; level 9 needs 65 MiB


def plain_name(file_name: str) -> str:
    """Return a file name without its compression suffix.

    Examples
    --------
    >>> plain_name("part.one.klp.GZ"), plain_name("little.mrg")
    ('part.one.klp', 'little.mrg')
    """
    for suffix in PACKED_SUFFIXES:
        if file_name.lower().endswith(suffix):
            return file_name[: -len(suffix)]
    return file_name


class ChunkReader(io.RawIOBase):
    """An iterator of byte strings as a raw stream for ``io.BufferedReader``."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer`` from the next chunk."""
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        taken = self._rest[: len(buffer)]
        buffer[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)


def unpack(
    chunks: Iterator[bytes], name: str, meter: Meter, *, packed_name: str | None = None
) -> Iterator[bytes]:
    """Return ``chunks`` decompressed if they begin like compressed data, else unchanged.

    Parameters
    ----------
    chunks : iterator of bytes
        The file.
    name : str
        For messages.
    meter : Meter
        Counts decompressed bytes.
    packed_name : str, optional
        The file name; if its suffix is that of a compression, the content must match.

    Raises
    ------
    ReadError
        When the suffix says that the content is compressed and it is not. Damage is reported by
        the iterator, at its place.
    """
    start, chunks = peek(chunks, _LONGEST_MAGIC + len(_BZIP2_BLOCK))
    for suffix, magic in PACKED_SUFFIXES.items():
        if start.startswith(magic) and (suffix != ".bz2" or start[4:10] == _BZIP2_BLOCK):
            return _metered(chunks, suffix, name, meter)
        if start and (packed_name or "").lower().endswith(suffix):
            kind = _KINDS[suffix]
            raise ReadError(
                f"the name ends in {suffix} but the content is not {kind} data",
                path=name,
                hint="rename the file, or fetch it again if the download was cut",
            )
    return chunks


def _metered(chunks: Iterator[bytes], suffix: str, name: str, meter: Meter) -> Iterator[bytes]:
    packed = unpacked = 0

    def counted() -> Iterator[bytes]:
        nonlocal packed
        for chunk in chunks:
            packed += len(chunk)
            yield chunk

    pieces = _UNPACKERS[suffix](counted())
    while True:
        try:
            piece = next(pieces, b"")
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, _DamageError) as failure:
            raise ReadError(
                f"the {_KINDS[suffix]} data is damaged or cut off: {failure}",
                path=name,
                hint='fetch the file again, or keep what can be read with errors="skip"',
            ) from failure
        if not piece:
            return
        unpacked += len(piece)
        meter.add(len(piece), name)
        meter.compare(unpacked, packed, name)
        yield piece


class _DamageError(Exception):
    """Invalid compressed data."""


def _gunzip(packed: Iterator[bytes]) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=io.BufferedReader(ChunkReader(packed)), mode="rb") as unpacked:
        while piece := unpacked.read1(CHUNK):
            yield piece


def _bunzip2(packed: Iterator[bytes]) -> Iterator[bytes]:
    return _expand(packed, bz2.BZ2Decompressor)


def _unxz(packed: Iterator[bytes]) -> Iterator[bytes]:
    return _expand(packed, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY))


def _expand(packed: Iterator[bytes], begin: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the content of concatenated compressed streams in pieces of bounded size."""
    unpacker, started = begin(), False
    for data in packed:
        while data or (started and not unpacker.needs_input and not unpacker.eof):
            if not started:
                data = data.lstrip(b"\0")  # padding between streams
                started = bool(data)
                continue
            try:
                piece = unpacker.decompress(data, CHUNK)
            except OSError as failure:  # from bz2, for invalid data
                raise _DamageError(str(failure)) from failure
            data = b""
            if piece:
                yield piece
            if unpacker.eof:
                data = unpacker.unused_data
                unpacker, started = begin(), False
    if started:
        raise EOFError("the end is missing")


_UNPACKERS = {".gz": _gunzip, ".bz2": _bunzip2, ".xz": _unxz}
_KINDS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}


def peek(chunks: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """Return at least the first ``size`` bytes, fewer at the end, and an iterator of all chunks.

    A failure after the first bytes is raised by the returned iterator.
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


def spooled(stream: BinaryIO, name: str, meter: Meter) -> IO[bytes]:
    """Return a temporary file with all of ``stream``, for formats that need random access."""
    with ExitStack() as opened:
        file = opened.enter_context(tempfile.TemporaryFile())
        while chunk := stream.read(CHUNK):
            meter.add(len(chunk), name)
            file.write(chunk)
        opened.pop_all()
    return file
