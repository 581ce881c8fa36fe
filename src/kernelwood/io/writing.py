"""``write``, for every format that has a writer."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from kernelwood.io.atomic import check_vacant, write_folder, write_text
from kernelwood.io.formats import table
from kernelwood.io.formats.table import Format, find_format, format_by_suffix
from kernelwood.text import Example

_NOT_WRITTEN = (".bz2", ".xz", ".zip", ".tar", ".tgz")


def write(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    format: str | None = None,
    **options: Any,
) -> None:
    r"""Write examples to a file; an existing file is replaced only when all are written.

    Parameters
    ----------
    examples : iterable of Example
        The examples to write.
    path : str, PathLike or text stream
        A file ending in ``.gz`` is compressed; ``"-"`` is standard output. For a format of
        several files it is a new or empty folder, which appears when all are written.
    format : str, optional
        A name from :data:`~kernelwood.io.FORMATS`; by default the suffix decides.
    **options
        Passed to the writer of the format, for example ``view="tree"``.

    Raises
    ------
    StructureError
        If the format cannot hold a label or a view.
    FileExistsError
        If the folder to be written is not new or empty.
    ValueError
        If the format is unknown or has no writer.
    TypeError
        If something is not an example.

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
    """Return the format to write to ``path``; raise ``ValueError`` if there is none.

    Examples
    --------
    >>> format_to_write("little.mrg.gz", None).name
    'penn'
    """
    _check_packing(path)
    row = find_format(format) if format is not None else format_by_suffix(_plain_name(path))
    writable = ", ".join(row.name for row in table.FORMATS if row.write or row.write_files)
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


def separated_rows(rows: Iterable[Sequence[Any]], separator: str) -> Iterator[str]:
    r"""Yield the lines of a table; cells with separators are quoted.

    Examples
    --------
    >>> list(separated_rows([["a", "b,c"]], ","))
    ['a,"b,c"\n']
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
