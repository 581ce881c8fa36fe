"""Cutting a PENMAN file into parts: some comments and one graph, good or broken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kernelwood.errors import ReadError
from kernelwood.io.penman_comments import read_comment
from kernelwood.io.source import Line

__all__ = ["Part", "iter_parts"]

_MARKS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(?::|[^\s"()/:~#])[^\s"()/:~]*|\#.*|[()]', re.DOTALL)
_ROLE_AT_END = re.compile(r':[^ \t"()/:~]*(?:~[a-z0-9.,]*)?[ \t]*\Z')


class Part:
    """Comments and the lines of a graph, filled line by line.

    Attributes
    ----------
    comments, rows : list of Line
        Before and from the first bracket, without blank lines.
    problem : ReadError or None
        Set when a line is not UTF-8.
    """

    def __init__(self) -> None:
        self.comments: list[Line] = []
        self.rows: list[Line] = []
        self.problem: ReadError | None = None
        self._keys: set[str] = set()
        self._depth = 0
        self._gap = False  # a blank line came last

    @property
    def first_line(self) -> int:
        """Where the part begins."""
        return (self.comments or self.rows)[0].number

    @property
    def is_worth_reading(self) -> bool:
        """Whether there is more than comments that name nothing."""
        return bool(self.rows or self._keys or self.problem)

    def add_blank(self) -> None:
        """Notice a blank line."""
        self._gap = True

    def add(self, line: Line) -> None:
        """Take a line that is not blank."""
        self._gap = False
        if self.problem is None:
            self.problem = line.problem
        if not self.rows and line.text.lstrip().startswith("#"):
            self.comments.append(line)
            self._keys.update(_keys(line.text))
        else:
            begins = not self.rows
            self.rows.append(line)
            if begins or self._depth:
                self._depth = _depth_after(line.text, self._depth)

    def ends_before(self, line: Line) -> bool:
        """Say whether a line that is not blank belongs to the next part."""
        if not self.rows:
            # Comments may stand apart from each other, but a key that comes again begins anew.
            known = not self._keys or not self._keys.isdisjoint(_keys(line.text))
            return self._gap and known
        if not self._depth:
            apart = self._gap or line.problem is not None
            return apart or line.text.lstrip().startswith(("(", "#"))
        if line.text.startswith("("):
            return self._gap or not _ROLE_AT_END.search(self.rows[-1].text)
        return line.text.startswith("#") and bool(_keys(line.text))


def iter_parts(lines: Iterable[Line]) -> Iterator[Part]:
    """Yield the parts of a file; comments that name nothing and stand alone are left out."""
    part = Part()
    for line in lines:
        if not line.text.strip():
            part.add_blank()
            continue
        if part.ends_before(line):
            if part.is_worth_reading:
                yield part
            part = Part()
        part.add(line)
    if part.is_worth_reading:
        yield part


def _keys(text: str) -> list[str]:
    body = text.lstrip()
    if not body.startswith("#"):
        return []
    return [key for key, value in read_comment(body) if value is not None]


def _depth_after(text: str, depth: int) -> int:
    """Return how many brackets are open after a line; 0 once the last was closed."""
    if '"' not in text and "#" not in text:
        n_closed = text.count(")")
        if n_closed < depth:
            return depth + text.count("(") - n_closed
    for match in _MARKS.finditer(text):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth <= 0:
                return 0
    return depth
