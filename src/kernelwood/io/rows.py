"""Lines made of columns, as in CoNLL-U and semantic roles."""

from __future__ import annotations

import re
from typing import NamedTuple

from kernelwood.errors import StructureError
from kernelwood.io.source import Line

__all__ = ["Row", "split_row"]

_FIELD = re.compile(r"[^ \t]+")


class Row(NamedTuple):
    """A line and its fields."""

    line: Line
    fields: list[str]

    def position(self, field: int) -> int:
        """Return the column, from 1, at which a field begins; the end if there are too few."""
        text = self.line.text
        if "\t" in text or self.fields == [text]:
            return min(sum(map(len, self.fields[:field])) + field, len(text)) + 1
        starts = [match.start() for match in _FIELD.finditer(text)]
        return (starts[field] if field < len(starts) else len(text)) + 1

    def error(
        self, field: int, problem: str, hint: str | None = None, *, offset: int = 0
    ) -> StructureError:
        """Return (not raise) an error at a field, or some characters behind its beginning."""
        return StructureError(
            problem,
            line=self.line.number,
            column=self.position(field) + offset,
            snippet=self.line.text,
            hint=hint,
        )


def split_row(line: Line) -> Row:
    r"""Split a line at its tabs or, if it has none, at its blanks.

    Examples
    --------
    >>> split_row(Line(1, "0\tNew York\tNNP")).fields, split_row(Line(2, "0   we  PRP")).fields
    (['0', 'New York', 'NNP'], ['0', 'we', 'PRP'])
    """
    return Row(line, line.text.split("\t") if "\t" in line.text else _FIELD.findall(line.text))
