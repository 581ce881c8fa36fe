"""Tables of results, as wide as they are unless a terminal says otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kernelwood.cli.output import plain_table, results

__all__ = ["show_table"]


def show_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show rows of text; a column whose title starts with > is aligned to the right."""
    console = results()
    if not console.is_terminal:  # for files and other programs
        for line in _aligned(titles, rows):
            click.echo(line)
        return
    from rich.text import Text

    table = plain_table(*titles)
    for row in rows:
        table.add_row(*map(Text, row))  # no cell is markup
    console.print(table)


def _aligned(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for each row.

    Examples
    --------
    >>> _aligned(["name", ">size"], [["a", "10"], ["long name", "5"]])
    ['name       size', 'a            10', 'long name     5']
    """
    shown = [[title.lstrip(">") for title in titles], *rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(titles))]
    return [
        "  ".join(
            cell.rjust(width) if title.startswith(">") else cell.ljust(width)
            for title, cell, width in zip(titles, row, widths, strict=True)
        ).rstrip()
        for row in shown
    ]
