"""Vectors in numpy's ``.npz`` archives: two arrays, ``words`` and ``matrix``, and no pickle."""

from __future__ import annotations

import math
import os
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import check_budget
from kernelwood.errors import StructureError
from kernelwood.io import replacing
from kernelwood.vectors.collect import (
    Loaded,
    assemble,
    check_finite,
    check_words,
    first_of_each,
    warn_of_repeated,
)
from kernelwood.vectors.feed import Feed

__all__ = ["DAMAGED", "read_npz", "write_npz"]

# What zipfile and numpy raise when bytes are not what they should be.
DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, ValueError, TypeError,
    EOFError, OSError, KeyError, NotImplementedError, RuntimeError, OverflowError, SyntaxError,
)  # fmt: skip

_DEFLATE_GAIN = 1032  # the most that deflate can make of a byte
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npz(feed: Feed, normalize: bool) -> Loaded:
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
    except DAMAGED as failure:
        raise feed.error(
            f"the archive cannot be read: {failure}",
            hint="it must have the arrays words and matrix, as Vectors.save writes them",
        ) from failure
    return _assemble(feed, words, matrix, normalize)


def write_npz(
    path: str | os.PathLike[str], words: tuple[str, ...], matrix: NDArray[np.float32]
) -> None:
    """Write an archive that is either complete or not there.

    The words are one text with a line for each: an array of strings would give every word the
    length of the longest.
    """
    text = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    with replacing(Path(os.path.realpath(path))) as file:
        np.savez(file, words=text, matrix=matrix)


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read one array, having checked that it is as large as the archive says."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as member:
        shape, _, dtype = _HEADERS[np.lib.format.read_magic(member)](member)
        expected = member.tell() + math.prod(shape) * dtype.itemsize
    if dtype.hasobject:
        raise ValueError(f"the array {name} holds Python objects, which are not read")
    if info.file_size != expected or info.file_size > _DEFLATE_GAIN * (info.compress_size + 1):
        raise ValueError(f"the array {name} is not as large as it says")
    check_budget(expected, f"the array {name}", "Use a file with fewer words or shorter vectors.")
    with archive.open(info) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        # Only at the end is the checksum compared.
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
            f"there are {len(words):,} words for {len(matrix):,} rows",
            hint="the archive was not written by Vectors.save, or not from one list of words",
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
