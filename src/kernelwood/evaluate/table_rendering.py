"""Results shown as tables, in aligned text and in HTML."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

from kernelwood.structures import escape

_MAX_LABEL = 24
_STYLE = "text-align: {}; padding: 2px 8px; white-space: nowrap"


class TabularResult:
    """A result that is shown as a table with a note, and written as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        raise NotImplementedError

    def to_json(self, indent: int | None = 2) -> str:
        """Return JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return the header and the rows."""
        raise NotImplementedError

    def _note(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{text_table(*self._table())}\n\n{self._note()}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), self._note())


def label_text(label: object, width: int = _MAX_LABEL) -> str:
    r"""Return a label on one line, cut to ``width`` characters.

    Examples
    --------
    >>> label_text("two\nlines"), label_text("a" * 30, 5)
    ('two lines', 'aaaa…')
    """
    text = label if isinstance(label, str) else str(label)
    if len(text) > width:
        text = text[: width - 1] + "…"
    # Control characters would break the table.
    return "".join(
        " "
        if c.isspace()
        else "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(c)[0] == "C"
        else c
        for c in text
    )


def text_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    align: Literal["left", "right"] = "right",
) -> str:
    """Return a table with the first column aligned left, and the others as ``align`` says.

    Examples
    --------
    >>> print(text_table(["class", "F1"], [["yes", "0.5"], ["no", "0.25"]]))
    class    F1
    yes     0.5
    no     0.25
    """
    lines = [header, *rows]
    widths = [max(_width(line[k]) for line in lines) for k in range(len(header))]
    text = []
    for first, *others in lines:
        cells = [first + " " * (widths[0] - _width(first))]
        for width, cell in zip(widths[1:], others, strict=True):
            blanks = " " * (width - _width(cell))
            cells.append(blanks + cell if align == "right" else cell + blanks)
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Return a table for a notebook; every cell is escaped.

    Examples
    --------
    >>> "<b>" in html_table(["class"], [["<b>"]])
    False
    """
    lines = [_html_row(header, "th"), *(_html_row(row, "td") for row in rows)]
    caption = f"<caption>{escape(note)}</caption>" if note else ""
    return f"<table>{caption}{''.join(lines)}</table>"


def _html_row(cells: Sequence[str], tag: str) -> str:
    styles = [_STYLE.format("right" if place else "left") for place in range(len(cells))]
    inner = "".join(
        f'<{tag} style="{style}">{escape(cell)}</{tag}>'
        for style, cell in zip(styles, cells, strict=True)
    )
    return f"<tr>{inner}</tr>"


def _width(text: str) -> int:
    """Return the number of columns a text takes in a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
