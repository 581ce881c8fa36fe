"""Cutting a PENMAN file into parts: some comments and one graph, good or broken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kernelwood.io.blocks import Block
from kernelwood.io.penman_comments import read_comment
from kernelwood.io.source import Line

__all__ = ["is_comment", "iter_parts"]

_OTHERS = r'(?::|[^\s"()/:~#])[^\s"()/:~]*|\#.*|[()]'
_MARKS = re.compile(rf'"[^"\\]*(?:\\.[^"\\]*)*"|"|{_OTHERS}', re.DOTALL)
_UNQUOTED = re.compile(_OTHERS, re.DOTALL)
_ROLE_AT_END = re.compile(r':[^ \t"()/:~]*(?:~[a-z0-9.,]*)?[ \t]*\Z')


class _Part:
    """The comments and lines of a graph, filled line by line, without blank lines."""

    def __init__(self) -> None:
        self.lines: Block = []
        self._in_graph = False
        self._keys: set[str] = set()
        self._depth = 0
        self._gap = False  # a blank line came last

    @property
    def is_worth_reading(self) -> bool:
        """Whether there is more than comments that name nothing."""
        broken = any(line.problem is not None for line in self.lines)
        return self._in_graph or bool(self._keys) or broken

    def add_blank(self) -> None:
        """Notice a blank line."""
        self._gap = True

    def add(self, line: Line) -> None:
        """Take a line that is not blank."""
        self._gap = False
        self.lines.append(line)
        if not self._in_graph and is_comment(line):
            self._keys.update(_keys(line.text))
        elif not self._in_graph or self._depth:
            self._in_graph = True
            self._depth = _depth_after(line.text, self._depth)

    def ends_before(self, line: Line) -> bool:
        """Say whether a line that is not blank belongs to the next part."""
        if not self._in_graph:
            # Comments may stand apart from each other, but a key that comes again begins anew.
            known = not self._keys or not self._keys.isdisjoint(_keys(line.text))
            return self._gap and known
        if not self._depth:
            apart = self._gap or line.problem is not None
            return apart or line.text.lstrip().startswith(("(", "#"))
        if line.text.startswith("("):
            return self._gap or not _ROLE_AT_END.search(self.lines[-1].text)
        return line.text.startswith("#") and bool(_keys(line.text))


def iter_parts(lines: Iterable[Line]) -> Iterator[Block]:
    """Yield the parts of a file; comments that name nothing and stand alone are left out."""
    part = _Part()
    for line in lines:
        if not line.text.strip():
            part.add_blank()
            continue
        if part.ends_before(line):
            if part.is_worth_reading:
                yield part.lines
            part = _Part()
        part.add(line)
    if part.is_worth_reading:
        yield part.lines


def is_comment(line: Line) -> bool:
    """Say whether a line before a graph is a comment."""
    return line.text.lstrip().startswith("#")


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
    for match in _marks(text):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth <= 0:
                return 0
    return depth


def _marks(text: str) -> Iterator[re.Match[str]]:
    for match in _MARKS.finditer(text):
        if match[0] == '"':  # never closed; then none that follows is, and each would be tried
            yield from _UNQUOTED.finditer(text, match.end())
            return
        yield match
