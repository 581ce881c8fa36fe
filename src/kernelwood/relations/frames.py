"""Tables of results: rows with typed columns, as text, or as data frames of pandas and Polars."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernelwood.errors import MissingPackageError
from kernelwood.structures import one_line

if TYPE_CHECKING:
    import pandas
    import polars

# The name of each column, and the type of its values; a value may also be None.
Columns = Mapping[str, type]


def separated_lines(
    columns: Iterable[str], rows: Iterable[Sequence[Any]], separator: str = "\t"
) -> Iterator[str]:
    r"""Yield the lines of a table, header first.

    Cells with separators or quotation marks are quoted as in spreadsheets. Tabs and line ends in
    texts become spaces. Numbers have full precision, booleans are yes or no.

    Examples
    --------
    >>> list(separated_lines(["name", "holds"], [["two lines", True]]))
    ['name\tholds\n', 'two lines\tyes\n']
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    yield buffer.getvalue()
    for row in rows:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow(map(_cell, row))
        yield buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return one_line(value) if isinstance(value, str) else value


def pandas_frame(columns: Columns, rows: Iterable[Sequence[Any]]) -> pandas.DataFrame:
    """Return a DataFrame of pandas."""
    package = _package("pandas", "to_pandas")
    frame: pandas.DataFrame = package.DataFrame(list(rows), columns=list(columns))
    return frame.astype({name: "string" if kind is str else kind for name, kind in columns.items()})


def polars_frame(columns: Columns, rows: Iterable[Sequence[Any]]) -> polars.DataFrame:
    """Return a DataFrame of Polars."""
    package = _package("polars", "to_polars")
    frame: polars.DataFrame = package.DataFrame(list(rows), schema=dict(columns), orient="row")
    return frame


def _package(name: str, method: str) -> Any:
    try:
        return import_module(name)
    except ImportError as failure:
        raise MissingPackageError(
            f"{method} needs the package {name}; install it with: pip install 'kernelwood[{name}]'"
        ) from failure
