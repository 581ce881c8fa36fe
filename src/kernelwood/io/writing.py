"""``write``: one way out for every format that can be written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from kernelwood.io.atomic import write_text
from kernelwood.io.formats import FORMATS, find_format, format_by_suffix
from kernelwood.structures import Example

__all__ = ["write"]


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
        A name ending in ``.gz`` is compressed; ``"-"`` is standard output.
    format : str, optional
        A name from :data:`~kernelwood.io.FORMATS`; by default the suffix decides.
    **options
        Passed to the writer of the format, for example ``view="tree"``.

    Raises
    ------
    StructureError
        When the format has no way to write a label or a view.
    ValueError
        When the format is unknown, cannot be told, or cannot be written.

    Examples
    --------
    >>> import io
    >>> from kernelwood.structures import Example, Tree
    >>> out = io.StringIO()
    >>> write([Example("a", views={"tree": Tree("NN")})], out, format="kelp")
    >>> out.getvalue()
    '|BT:tree| (NN) |ET|\n'
    """
    row = find_format(format) if format is not None else format_by_suffix(_plain_name(path))
    writable = ", ".join(row.name for row in FORMATS if row.write)
    if row is None:
        raise ValueError(f"cannot tell the format from {path!r}; give format= ({writable})")
    if row.write is None:
        raise ValueError(f"the {row.name} format can be read only; write one of {writable}")
    write_text(path, row.write(examples, **options))


def _plain_name(path: str | os.PathLike[str] | IO[str]) -> str:
    if not isinstance(path, (str, os.PathLike)):
        return ""
    name = Path(path).name.lower()
    return name[:-3] if name.endswith(".gz") else name
