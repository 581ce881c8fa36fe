"""Writing text to a file that is either complete or not there."""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from kernelwood.errors import StructureError

__all__ = ["check_parent", "named_if_full", "replacing", "write_text"]

# No space left, quota exceeded (which Windows does not know), file too large.
_NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)


def write_text(path: str | os.PathLike[str] | IO[str], pieces: Iterable[str]) -> None:
    """Write ``pieces`` of text as UTF-8; the file appears, or changes, only when all are written.

    Parameters
    ----------
    path : str, PathLike or text stream
        A name ending in ``.gz`` is compressed; ``"-"`` is standard output. Streams and special
        files (pipes, devices) get the text piece by piece.
    pieces : iterable of str
        Line ends included.
    """
    if path == "-":
        path = sys.stdout
    if not isinstance(path, (str, os.PathLike)):
        path.writelines(pieces)
        return
    # A link keeps pointing to the file it names.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "this is a folder; give the name of a file", os.fspath(path)
        )
    check_parent(Path(path))
    check_parent(target)
    special = target.exists() and not target.is_file()
    with target.open("wb") if special else replacing(target) as file:
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if _is_gzip(target) else file
        for piece in pieces:
            packed.write(_encode(piece))
        if packed is not file:
            packed.close()


def check_parent(target: Path) -> None:
    """Raise ``FileNotFoundError`` with its name if the folder that is to hold ``target`` lacks."""
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "there is no such folder; make it first", str(target.parent)
        )


@contextmanager
def named_if_full(target: Path) -> Iterator[None]:
    """Name what was to be written if there is no room for it.

    Who writes to an open file does not know its name, and nobody has heard of a temporary one.
    """
    try:
        yield
    except OSError as failure:
        if failure.errno not in _NO_ROOM:
            raise
        raise OSError(failure.errno, failure.strerror, str(target)) from failure


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Open a new file beside ``target`` that takes its place when the block ends well."""
    # In the same folder, because a rename is atomic only within one file system.
    temporary = target.with_name(f".kernelwood-{secrets.token_hex(8)}.tmp")
    try:
        with named_if_full(target), _open_new(temporary, target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _open_new(temporary: Path, target: Path) -> BinaryIO:
    try:
        return temporary.open("xb")
    except OSError as failure:  # nobody has heard of the temporary file
        raise OSError(failure.errno, failure.strerror, str(target)) from failure


def _is_gzip(target: Path) -> bool:
    return target.suffix.lower() == ".gz"


def _encode(piece: str) -> bytes:
    try:
        return piece.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise StructureError(
            f"character {piece[failure.start]!r} cannot be written as UTF-8",
            snippet=piece,
            column=failure.start + 1,
            hint="a lone surrogate comes from text decoded with errors='surrogateescape'",
        ) from failure
