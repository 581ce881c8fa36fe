"""Files of a shard: arrays and rows of bytes, with checksums, read without loading them whole."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood.errors import ModelFormatError
from kernelwood.io import replacing
from kernelwood.persist import array_chunks, array_header

_STEP = 2**20  # bytes written or read at once
_DAMAGED = "the folder was changed or damaged; copy it again, or build it again"


class StoredFile(NamedTuple):
    """Size and checksum of a file."""

    size: int
    sha256: str


def write_chunks(path: Path, chunks: Iterable[bytes]) -> StoredFile:
    """Write chunks of bytes to a file, durably, and return its size and checksum."""
    size, checksum = 0, hashlib.sha256()
    with replacing(path) as file:
        for chunk in chunks:
            checksum.update(chunk)
            size += file.write(chunk)
    return StoredFile(size, checksum.hexdigest())


def describe(path: Path) -> StoredFile:
    """Return the size and the checksum of a file."""
    checksum = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_STEP):
            checksum.update(chunk)
        return StoredFile(file.tell(), checksum.hexdigest())


def write_array(path: Path, array: NDArray[Any]) -> StoredFile:
    """Write an array in numpy's format; a memory-mapped array is never loaded whole."""
    return write_chunks(path, array_chunks(array))


def array_size(dtype: DTypeLike, shape: tuple[int, ...]) -> int:
    """Return the size of the file of an array, exact for any shape.

    Examples
    --------
    >>> array_size("uint64", (2**40, 2**40)) == 128 + 8 * 2**80
    True
    """
    number = np.dtype(dtype)
    return len(array_header(number, shape)) + math.prod(shape) * number.itemsize


def map_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the array in a file as a read-only memory map.

    Raises
    ------
    ModelFormatError
        If the file does not hold an array of this type and shape.
    """
    header = array_header(np.dtype(dtype), shape)
    with path.open("rb") as file:
        begins = file.read(len(header)) == header
        if not begins or os.fstat(file.fileno()).st_size != array_size(dtype, shape):
            raise ModelFormatError(
                f"not an array of {np.dtype(dtype)} of shape {shape}", path=str(path), hint=_DAMAGED
            )
        return np.asarray(np.memmap(file, dtype, "r", offset=len(header), shape=shape))


def write_rows(folder: Path, name: str, rows: Iterable[bytes]) -> dict[str, StoredFile]:
    """Write rows of bytes as one file, and an array of their offsets; return both files."""
    sizes: list[int] = []

    def chunks() -> Iterator[bytes]:
        chunk = bytearray()
        for row in rows:
            sizes.append(len(row))
            chunk += row
            if len(chunk) >= _STEP:
                yield bytes(chunk)
                chunk.clear()
        yield bytes(chunk)

    content = write_chunks(folder / f"{name}.bin", chunks())
    offsets = np.fromiter(accumulate(sizes, initial=0), np.int64, len(sizes) + 1)
    array = write_array(folder / f"{name}_offsets.npy", offsets)
    return {f"{name}.bin": content, f"{name}_offsets.npy": array}


def read_row(path: Path, offsets: NDArray[np.int64], row: int) -> bytes:
    """Return a row of bytes.

    Raises
    ------
    ModelFormatError
        If the offsets lead out of the file.
    """
    begin, end = (int(offset) for offset in offsets[row : row + 2])
    with path.open("rb") as file:
        if 0 <= begin <= end <= os.fstat(file.fileno()).st_size:
            file.seek(begin)
            content = file.read(end - begin)
            if len(content) == end - begin:
                return content
    raise ModelFormatError(
        f"row {row:,} would be bytes {begin:,} to {end:,}, which the file does not have",
        path=str(path),
        hint=_DAMAGED,
    )
