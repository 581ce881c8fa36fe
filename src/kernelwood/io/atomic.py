"""Writing files and folders that appear, or change, only when they are complete."""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from kernelwood.errors import StructureError
from kernelwood.io.containers.container import name_problem
from kernelwood.io.temporary import create_temporary, sync_folder, sync_tree

# No space left, quota exceeded (which Windows does not know), file too large.
_NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)


def write_text(path: str | os.PathLike[str] | IO[str], pieces: Iterable[str]) -> None:
    """Write ``pieces`` of text as UTF-8; the file changes only when all are written.

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
    with open_output(path) as file:
        _write_pieces(file, pieces, packed=_is_gzip(path))


def _write_pieces(file: BinaryIO, pieces: Iterable[str], *, packed: bool) -> None:
    target = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if packed else file
    for piece in pieces:
        target.write(_encode(piece))
    if target is not file:
        target.close()


@contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that replaces an older one only when the block ends without an error.

    Special files (pipes, devices) are not replaced, but written to. The target of a link is
    replaced, not the link.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "this is a folder; give the name of a file", os.fspath(path)
        )
    check_parent(Path(path))
    check_parent(target)
    special = target.exists() and not target.is_file()
    with target.open("wb") if special else replacing(target) as file:
        yield file


def check_parent(target: Path) -> None:
    """Raise ``FileNotFoundError`` if the parent folder of ``target`` does not exist."""
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "there is no such folder; make it first", str(target.parent)
        )


@contextmanager
def named_if_full(target: Path) -> Iterator[None]:
    """Add the name of ``target`` to errors about a full disk.

    Otherwise they would have no name, or that of a temporary file.
    """
    try:
        yield
    except OSError as failure:
        if failure.errno not in _NO_ROOM:
            raise
        raise OSError(failure.errno, failure.strerror, str(target)) from failure


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces ``target`` when the block ends without an error.

    File and name are on the disk then: neither the end of the process nor that of the machine can
    leave an incomplete file.
    """
    # In the same folder, because a rename is atomic only within one file system.
    temporary, file = _open_new(target)
    try:
        with named_if_full(target):
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        if sys.platform == "win32":  # where an open file cannot be renamed
            file.close()
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            file.close()
        temporary.unlink(missing_ok=True)
        raise
    file.close()
    sync_folder(target.parent)


def _open_new(target: Path) -> tuple[Path, BinaryIO]:
    """Return the name of a temporary file, and the file, which is locked until it is closed."""
    try:
        temporary, descriptor = create_temporary(target)
    except OSError as failure:  # the temporary file is unknown to the user
        raise OSError(failure.errno, failure.strerror, str(target)) from failure
    assert descriptor is not None
    return temporary, os.fdopen(descriptor, "wb")


def _is_gzip(path: str | os.PathLike[str]) -> bool:
    return Path(os.path.realpath(path)).suffix.lower() == ".gz"


def _encode(piece: str) -> bytes:
    try:
        return piece.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise unwritable(failure) from failure


def unwritable(failure: UnicodeEncodeError) -> StructureError:
    """Return the error for a text that cannot be written as UTF-8."""
    return StructureError(
        f"character {failure.object[failure.start]!r} cannot be written as UTF-8",
        snippet=failure.object,
        column=failure.start + 1,
        hint="a lone surrogate comes from text decoded with errors='surrogateescape'",
    )


def write_folder(path: str | os.PathLike[str], files: Iterable[tuple[str, str]]) -> None:
    """Write files into a new folder, which appears when all files are written.

    Parameters
    ----------
    path : str or PathLike
        A new or empty folder.
    files : iterable of (str, str)
        Relative paths, with slashes, and contents.

    Raises
    ------
    FileExistsError
        If ``path`` exists and is not an empty folder.
    StructureError
        If a name leads out of the folder or occurs twice.
    """
    with new_folder(path) as temporary:
        for name, text in files:
            _write_file(temporary, name, text)


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder that appears under its name when the block ends without an error.

    Yields the folder to write into, beside it. All files in it are on the disk when it appears.

    Raises
    ------
    FileExistsError
        If ``path`` exists and is not an empty folder.
    FileNotFoundError
        If its parent folder does not exist.
    """
    target = Path(path)
    check_vacant(target)
    check_parent(target)
    with named_if_full(target):
        temporary, descriptor = create_temporary(target, folder=True)
        try:
            yield temporary
            sync_tree(temporary)
            if target.exists():
                target.rmdir()
            temporary.rename(target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        finally:
            if descriptor is not None:
                os.close(descriptor)
        sync_folder(target.parent)


def _write_file(folder: Path, name: str, text: str) -> None:
    if problem := name_problem(name):
        raise StructureError(f"the file name {name!r} {problem}", hint="change the id")
    file = folder / name
    if file.exists():
        raise StructureError(
            f"the file {name!r} would be written twice", hint="every example needs its own id"
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as opened:
        _write_pieces(opened, [text], packed=_is_gzip(file))


def check_vacant(target: Path) -> None:
    """Raise ``FileExistsError`` unless ``target`` does not exist or is an empty folder."""
    if target.is_dir() and not any(target.iterdir()):
        return
    if target.exists() or target.is_symlink():
        kind = "a folder that is not empty" if target.is_dir() else "a file"
        raise FileExistsError(
            errno.EEXIST,
            f"this is {kind}; choose a new name, since folders are not overwritten",
            str(target),
        )
