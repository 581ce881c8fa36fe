"""Containers of files: the base classes of folders and archives.

All errors in archives are ``ReadError``.
"""

from __future__ import annotations

import errno
import re
import struct
import tarfile
import zipfile
import zlib
from abc import abstractmethod
from pathlib import Path
from typing import BinaryIO

from kernelwood.errors import ReadError
from kernelwood.io.source import Closing

_DRIVE = re.compile(r"[A-Za-z]:")
_FETCH_AGAIN = 'fetch the archive again, or keep what can be read with errors="skip"'
# Exceptions of the standard library for damaged archives, depending on which byte is wrong.
DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RecursionError,
    RuntimeError,
    ValueError,
)


class Container(Closing):
    """Files by name, the names being relative paths with slashes.

    Attributes
    ----------
    name : str
        The folder or archive as the user calls it.
    names : tuple of str
        The files that can be opened, sorted.
    passed_over : tuple of str
        Entries that are not files: links to folders, pipes.
    problems : list of ReadError
        Errors found while the names were listed.
    """

    name: str
    names: tuple[str, ...]
    passed_over: tuple[str, ...] = ()
    problems: list[ReadError]

    @abstractmethod
    def title(self, name: str) -> str:
        """Return the name of a file for messages and origins."""

    @abstractmethod
    def size(self, name: str) -> int:
        """Return the size of a file in bytes, for showing progress."""

    def path(self, name: str) -> Path | None:
        """Return the path of a file; None if it is in an archive."""
        return None

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """Open a file; damage is reported as ``ReadError``, here or while reading."""


class Archive(Container):
    """Files packed into one; subclasses know the packing."""

    def title(self, name: str) -> str:
        """Return the names of the archive and the file."""
        return f"{self.name}!{name}"


def is_hidden(name: str) -> bool:
    """Return whether a file, or a folder it lies in, is hidden.

    Examples
    --------
    >>> is_hidden("train/.DS_Store"), is_hidden("train/a.mrg")
    (True, False)
    """
    return name.startswith(".") or "/." in name


def name_problem(name: str) -> str | None:
    r"""Return the problem of an unsafe relative path, None if it is safe.

    Examples
    --------
    >>> name_problem("train/a.mrg")
    >>> name_problem("../a.mrg")
    'leads out of the folder'
    >>> name_problem("train\\a.mrg")
    'has a backslash'
    """
    if not name:
        return "is empty"
    if "\0" in name:
        return "has a null character"
    if "\\" in name:
        return "has a backslash"
    if name.startswith("/") or _DRIVE.match(name):
        return "is an absolute path"
    parts = name.split("/")
    if ".." in parts:
        return "leads out of the folder"
    if "" in parts or "." in parts[1:]:
        return "has an empty part"
    return None


def damaged(name: str, failure: BaseException, *, hint: str = _FETCH_AGAIN) -> ReadError:
    """Return the error for an archive that the standard library cannot read."""
    why = str(failure) or type(failure).__name__
    return ReadError(f"the archive is damaged or cut off: {why}", path=name, hint=hint)


def unreadable(name: str, failure: OSError) -> Exception:
    """Return the error for a failed access: damage, unless the system gives another reason."""
    return damaged(name, failure) if failure.errno in (None, errno.EINVAL) else failure


def refused(archive: str, name: str, problem: str) -> ReadError:
    """Return the error for a file whose name, or kind, is not safe."""
    return ReadError(
        f"the name {name[:200]!r} {problem}",
        path=archive,
        hint='such files are not read; errors="skip" leaves them out and counts them',
    )
