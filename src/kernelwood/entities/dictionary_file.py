"""Rows of terms, and files of them: a line for each, its columns separated by tabs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kernelwood.errors import StructureError
from kernelwood.io import Line, Source
from kernelwood.structures import check_label, share, shorten

__all__ = ["Term", "check_term", "read_terms"]

_BLANKS = " \t"
_COLUMNS = ("term", "type", "id")
_FORM = "write term<TAB>type, or term<TAB>type<TAB>id"


class Term(NamedTuple):
    """A term, the type of entity it stands for, and its id in a database, if any."""

    term: str
    type: str
    id: str = ""


def read_terms(source: Source) -> Iterator[Term]:
    r"""Yield the terms of a file.

    Lines that are blank or begin with ``#`` are passed over, and so is a first row with the names
    of the columns.

    Raises
    ------
    ReadError
        With the line, if it is not UTF-8, has other than two or three columns, or an empty one.

    Examples
    --------
    >>> import io
    >>> lines = "# kinases\nterm\ttype\nRaf-1\tprotein\tUniProt:P04049\n"
    >>> list(read_terms(Source(io.StringIO(lines))))
    [Term(term='Raf-1', type='protein', id='UniProt:P04049')]
    """
    first = True
    for line in source.lines():
        if line.problem is not None:
            raise line.problem
        if line.text.startswith("#") or not line.text.strip():
            continue
        columns = tuple(column.strip() for column in line.text.rstrip(_BLANKS).split("\t"))
        if not (first and _is_header(columns)):
            yield _term(source, line, columns)
        first = False


def _is_header(columns: tuple[str, ...]) -> bool:
    names = tuple(column.lower() for column in columns)
    return len(names) > 1 and names == _COLUMNS[: len(names)]


def _term(source: Source, line: Line, columns: tuple[str, ...]) -> Term:
    if not 2 <= len(columns) <= len(_COLUMNS):
        raise source.error(
            f"expected 2 or 3 columns, found {len(columns)}",
            line=line.number,
            column=1,
            snippet=line.text,
            hint=f"{_FORM}; columns are separated by tabs",
        )
    for name, column in zip(_COLUMNS, columns, strict=False):
        if not column:
            raise source.error(
                f"the column of the {name} is empty",
                line=line.number,
                column=1,
                snippet=line.text,
                hint=_FORM,
            )
    return Term(*columns)


def check_term(given: object, number: int) -> Term:
    r"""Return a row of terms; ``number``, counted from 0, is for the message.

    Raises
    ------
    StructureError
        If it is not made of a term, a type and perhaps an id.

    Examples
    --------
    >>> check_term(("Sonic\n hedgehog", "protein"), 0)
    Term(term='Sonic hedgehog', type='protein', id='')
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise _bad_row(given, number)
    row = tuple(given)
    if len(row) not in (2, 3):
        raise _bad_row(given, number)
    for name, part in zip(_COLUMNS, row, strict=False):
        if type(part) is not str:
            check_label(part, f"the {name} in row {number} of the terms")
    # Terms are written in one line, whatever they were in.
    columns = [" ".join(part.split()) for part in row]
    if not (columns[0] and columns[1]):
        raise _bad_row(given, number)
    return Term(columns[0], share(columns[1]), *columns[2:])


def _bad_row(given: object, number: int) -> StructureError:
    return StructureError(
        f"row {number} of the terms is {shorten(repr(given))}",
        hint='a row has a term, a type and perhaps an id: ("Raf-1", "protein", "UniProt:P04049")',
    )
