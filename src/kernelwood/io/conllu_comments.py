"""The comments of a CoNLL-U sentence: its name, its text, and whatever else is said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile

from kernelwood.errors import StructureError
from kernelwood.io.comments import split_comment
from kernelwood.io.conllu_checks import COLUMNS
from kernelwood.io.source import Line

__all__ = ["Comments", "names_other_columns", "read_comments"]


@dataclass
class Comments:
    """What stands above the words; ``text_line`` is the line that gives the text."""

    n_lines: int = 0
    name: str | None = None
    text: str | None = None
    text_line: Line | None = None
    others: list[tuple[str, str | None]] = field(default_factory=list)


def names_other_columns(key: str, value: str | None) -> bool:
    """Say whether a comment announces columns that are not those of CoNLL-U, as CoNLL-U Plus does.

    Examples
    --------
    >>> names_other_columns("global.columns", "ID FORM UPOS"), names_other_columns("newpar", None)
    (True, False)
    """
    return key == "global.columns" and tuple((value or "").split()) != COLUMNS


def read_comments(block: Iterable[Line]) -> Comments:
    """Read the lines that begin with ``#``, up to the first that does not."""
    found = Comments()
    for line in takewhile(lambda line: line.text.startswith("#"), block):
        found.n_lines += 1
        key, value = split_comment(line.text)
        if value is None or key not in ("sent_id", "text"):
            found.others.append((key, value))
        elif key == "sent_id":
            found.name = _check_name(value, line, found.name)
        elif found.text is not None:
            raise _twice(key, line)
        else:
            found.text, found.text_line = value, line
    return found


def _check_name(value: str, line: Line, before: str | None) -> str:
    if before is not None:
        raise _twice("sent_id", line)
    name = value.strip()
    if not name:
        raise StructureError(
            "the sent_id is empty",
            line=line.number,
            column=len(line.text) + 1,
            snippet=line.text,
            hint="give the sentence a name, or leave the comment out",
        )
    return name


def _twice(key: str, line: Line) -> StructureError:
    return StructureError(
        f"the sentence has a second comment '{key}'",
        line=line.number,
        column=line.text.index(key) + 1,
        snippet=line.text,
        hint="leave one of them out; a blank line is missing if two sentences were joined",
    )
