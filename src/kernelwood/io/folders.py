"""Folders: their files as input, and as the output of formats made of several files."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.atomic import check_parent, named_if_full, write_text
from kernelwood.io.containers import Container, name_problem

__all__ = ["Folder", "check_vacant", "write_folder"]


class Folder(Container):
    """All files below a folder but the hidden ones; links to folders are not followed.

    Parameters
    ----------
    path : str or PathLike
        The folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self.problems = []
        self._root = Path(path)
        self._sizes: dict[str, int] = {}
        passed_over: list[str] = []
        folders = [""]
        while folders:
            self._scan(folders.pop(), folders, passed_over)
        self.names = tuple(sorted(self._sizes))
        self.passed_over = tuple(sorted(passed_over))

    def _scan(self, folder: str, folders: list[str], passed_over: list[str]) -> None:
        try:
            entries = os.scandir(self._root / folder)
        except OSError as failure:
            if not folder:
                raise
            self.problems.append(_unreadable(self.title(folder), failure))
            return
        with entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif (size := _file_size(entry)) is not None:
                    self._sizes[name] = size
                else:  # opening a pipe would wait for ever
                    passed_over.append(name)

    def title(self, name: str) -> str:
        """Return the path of a file."""
        return str(self._root / name)

    def size(self, name: str) -> int:
        """Return how many bytes a file has."""
        return self._sizes[name]

    def open(self, name: str) -> BinaryIO:
        """Open a file."""
        try:
            return (self._root / name).open("rb")
        except OSError as failure:
            raise _unreadable(self.title(name), failure) from failure

    def close(self) -> None:
        """Do nothing: files are closed by those who opened them."""


def _file_size(entry: os.DirEntry[str]) -> int | None:
    """Return how many bytes a file has; None for what is no file, or leads nowhere."""
    try:
        return entry.stat().st_size if entry.is_file() else None
    except OSError:  # a link to itself, or a file deleted just now
        return None


def _unreadable(name: str, failure: OSError) -> ReadError:
    return ReadError(
        f"it cannot be opened: {failure.strerror}", path=name, hint="check its permissions"
    )


def write_folder(path: str | os.PathLike[str], files: Iterable[tuple[str, str]]) -> None:
    """Write files into a new folder, which appears when all are written.

    Parameters
    ----------
    path : str or PathLike
        Must not exist, or be an empty folder.
    files : iterable of (str, str)
        Relative names, with slashes, and texts.

    Raises
    ------
    FileExistsError
        When there is something at ``path`` already.
    StructureError
        When a name leads out of the folder or comes twice.
    """
    target = Path(path)
    check_vacant(target)
    check_parent(target)
    temporary = target.with_name(f".kernelwood-{secrets.token_hex(8)}.tmp")
    try:
        with named_if_full(target):
            temporary.mkdir()
            for name, text in files:
                _write_file(temporary, name, text)
        if target.exists():
            target.rmdir()
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _write_file(folder: Path, name: str, text: str) -> None:
    if problem := name_problem(name):
        raise StructureError(f"the file name {name!r} {problem}", hint="change the id")
    file = folder / name
    if file.exists():
        raise StructureError(
            f"the file {name!r} would be written twice", hint="every example needs its own id"
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, [text])


def check_vacant(target: Path) -> None:
    """Raise ``FileExistsError`` if a folder cannot be made at ``target``."""
    if target.is_dir() and not any(target.iterdir()):
        return
    if target.exists() or target.is_symlink():
        kind = "a folder that is not empty" if target.is_dir() else "a file"
        raise FileExistsError(
            errno.EEXIST, f"this is {kind}; give a new name, nothing is overwritten", str(target)
        )
