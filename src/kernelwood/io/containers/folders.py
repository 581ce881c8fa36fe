"""Folders of files to read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from kernelwood.errors import ReadError
from kernelwood.io.containers.container import Container


class Folder(Container):
    """All files below a folder except hidden ones; links to folders are not followed.

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
                else:  # opening a pipe would wait forever
                    passed_over.append(name)

    def title(self, name: str) -> str:
        """Return the path of a file."""
        return str(self._root / name)

    def path(self, name: str) -> Path:
        """Return the path of a file."""
        return self._root / name

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        return self._sizes[name]

    def open(self, name: str) -> BinaryIO:
        """Open a file."""
        try:
            return (self._root / name).open("rb")
        except OSError as failure:
            raise _unreadable(self.title(name), failure) from failure

    def close(self) -> None:
        """Do nothing: each file is closed by its reader."""


def _file_size(entry: os.DirEntry[str]) -> int | None:
    """Return the size of a file in bytes; None for a broken link or anything but a file."""
    try:
        return entry.stat().st_size if entry.is_file() else None
    except OSError:  # a link to itself, or a file deleted just now
        return None


def _unreadable(name: str, failure: OSError) -> ReadError:
    return ReadError(
        f"it cannot be opened: {failure.strerror}", path=name, hint="check its permissions"
    )
