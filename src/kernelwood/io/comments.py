"""Comments such as ``# key = value``, as in CoNLL-U and semantic roles."""

from __future__ import annotations

from kernelwood.errors import StructureError
from kernelwood.structures import shorten

__all__ = ["comment_line", "split_comment"]


def split_comment(line: str) -> tuple[str, str | None]:
    """Return key and value of a comment, or all it says and None.

    One blank after ``#`` and after ``=`` belongs to the notation, and so do those around the key.

    Examples
    --------
    >>> split_comment("# source = a letter"), split_comment("# newpar")
    (('source', 'a letter'), ('newpar', None))
    """
    key, equals, value = line[1:].partition("=")
    if equals:
        return key.strip(), value.removeprefix(" ")
    return key.removeprefix(" "), None


def comment_line(key: str, value: str | None) -> str:
    """Return the line that :func:`split_comment` takes apart, or say why there is none.

    Examples
    --------
    >>> comment_line("source", "a letter"), comment_line("newpar", None)
    ('# source = a letter', '# newpar')
    """
    line = f"# {key}" if value is None else f"# {key} = {value}"
    if "\n" in line or "\r" in line or split_comment(line) != (key, value):
        raise StructureError(
            f"the comment {shorten(repr((key, value)))} would not read back",
            hint="a comment is one line without line breaks; a key has no '=' and no blanks "
            "around it, a text without a value no '='",
        )
    return line
