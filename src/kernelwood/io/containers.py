"""What folders and archives have in common: named files in a fixed order."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import BinaryIO

from kernelwood.errors import ReadError
from kernelwood.io.source import Closing

__all__ = ["Container", "is_hidden", "name_problem"]

_DRIVE = re.compile(r"[A-Za-z]:")


class Container(Closing):
    """Files by name, the names being relative paths with slashes.

    Attributes
    ----------
    name : str
        The folder or archive as the user calls it.
    names : tuple of str
        The files that can be opened, sorted.
    passed_over : tuple of str
        What is there but is no file: links to folders, pipes.
    problems : list of ReadError
        What was found wrong while the names were gathered.
    """

    name: str
    names: tuple[str, ...]
    passed_over: tuple[str, ...] = ()
    problems: list[ReadError]

    @abstractmethod
    def title(self, name: str) -> str:
        """Return how to call a file in messages and origins."""

    @abstractmethod
    def size(self, name: str) -> int:
        """Return how many bytes a file has, for showing progress."""

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """Open a file; damage is reported as ``ReadError``, here or while reading."""


def is_hidden(name: str) -> bool:
    """Say whether a file, or a folder it lies in, is hidden.

    Examples
    --------
    >>> is_hidden("train/.DS_Store"), is_hidden("train/a.mrg")
    (True, False)
    """
    return name.startswith(".") or "/." in name


def name_problem(name: str) -> str | None:
    r"""Return what is wrong with a relative path, None if it is safe.

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
