"""``write``: one way out for every format that can be written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from kernelwood.io import formats
from kernelwood.io.atomic import write_text
from kernelwood.io.folders import check_vacant, write_folder
from kernelwood.io.formats import Format, find_format, format_by_suffix
from kernelwood.text import Example

__all__ = ["format_to_write", "write"]

_NOT_WRITTEN = (".bz2", ".xz", ".zip", ".tar", ".tgz")


def write(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    format: str | None = None,
    **options: Any,
) -> None:
    r"""Write examples to a file; an existing one is replaced only when all is written.

    Parameters
    ----------
    examples : iterable of Example
        What :func:`~kernelwood.io.read` gives, or made by hand.
    path : str, PathLike or text stream
        A name ending in ``.gz`` is compressed; ``"-"`` is standard output. For a format made of
        several files it is a folder, which is new or empty; it appears when all is written.
    format : str, optional
        A name from :data:`~kernelwood.io.FORMATS`; by default the suffix decides.
    **options
        Passed to the writer of the format, for example ``view="tree"``.

    Raises
    ------
    StructureError
        When the format has no way to write a label or a view.
    FileExistsError
        When a folder is to be written and there is something already.
    ValueError
        When the format is unknown, cannot be told, or cannot be written.
    TypeError
        When something is no example.

    Examples
    --------
    >>> import io
    >>> from kernelwood.text import Example
    >>> from kernelwood.structures import Tree
    >>> out = io.StringIO()
    >>> write([Example("a", views={"tree": Tree("NN")})], out, format="kelp")
    >>> out.getvalue()
    '|BT:tree| (NN) |ET|\n'
    """
    row = format_to_write(path, format)
    if row.write is not None:
        write_text(path, row.write(_checked(examples), **options))
    elif row.write_files is not None and isinstance(path, (str, os.PathLike)):
        write_folder(path, row.write_files(_checked(examples), **options))


def _checked(examples: Iterable[Example]) -> Iterator[Example]:
    if isinstance(examples, Example):
        raise TypeError("expected several examples, got one; put it into a list")
    for example in examples:
        if not isinstance(example, Example):
            raise TypeError(
                f"expected examples, got {type(example).__name__}; "
                "make one with kernelwood.Example(id, label, {name: structure})"
            )
        yield example


def format_to_write(path: str | os.PathLike[str] | IO[str], format: str | None) -> Format:
    """Return the format to write to ``path``, or raise ``ValueError`` if that cannot be.

    Examples
    --------
    >>> format_to_write("little.mrg.gz", None).name
    'penn'
    """
    _check_packing(path)
    row = find_format(format) if format is not None else format_by_suffix(_plain_name(path))
    writable = ", ".join(row.name for row in formats.FORMATS if row.write or row.write_files)
    if row is None:
        raise ValueError(f"cannot tell the format from {str(path)!r}; give format= ({writable})")
    if row.write is None and row.write_files is None:
        raise ValueError(f"the {row.name} format can be read only; write one of {writable}")
    if row.write is None:
        if path == "-" or not isinstance(path, (str, os.PathLike)):
            raise ValueError(
                f"the {row.name} format is made of several files; give the name of a folder"
            )
        check_vacant(Path(path))
    return row


def _check_packing(path: str | os.PathLike[str] | IO[str]) -> None:
    suffix = Path(path).suffix.lower() if isinstance(path, (str, os.PathLike)) else ""
    if suffix in _NOT_WRITTEN:
        raise ValueError(
            f"{suffix} files can be read, not written; give a name that ends in .gz, or in neither"
        )


def _plain_name(path: str | os.PathLike[str] | IO[str]) -> str:
    if not isinstance(path, (str, os.PathLike)):
        return ""
    name = Path(path).name.lower()
    return name[:-3] if name.endswith(".gz") else name
