"""Tables of texts: fields separated by commas, semicolons or tabs, the first line naming them.

Fields may be in quotation marks and then hold delimiters, line breaks and doubled quotation marks,
as spreadsheets, pandas, polars and databases write them. See `kernelwood.io.formats.records` for
the conversion of a record.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.containers.limits import format_size
from kernelwood.io.formats.records import (
    ID_NAMES,
    TEXT_NAMES,
    Fields,
    check_fields,
    choose_fields,
    record_items,
    usual,
)
from kernelwood.io.ids import UsedIds
from kernelwood.io.lines import Scan
from kernelwood.io.source import Extent, Item, Source
from kernelwood.structures import shorten
from kernelwood.text import Example

_DELIMITERS = (",", ";", "\t", "|")
_MAX_RECORD = 1 << 26  # characters; a text has to be in memory as a whole
_MAX_COLUMNS = 10_000
_LONGEST_NAME = 60
_CUT = 10_000  # characters; a longer text may be the beginning of a file
_UNCLOSED = "unexpected end of data"


def looks_like_csv(head: str) -> bool:
    r"""Return whether a file that begins with ``head`` may be a table with a text column.

    Examples
    --------
    >>> looks_like_csv("pmid,abstract\n1,Raf\n"), looks_like_csv("In this text, we go,\n")
    (True, False)
    """
    return any(_names_text(head, delimiter) for delimiter in _DELIMITERS if delimiter != "\t")


def looks_like_tsv(head: str) -> bool:
    r"""Return whether a file that begins with ``head`` may be such a table with tabs.

    Examples
    --------
    >>> looks_like_tsv("pmid\tabstract\n1\tRaf\n"), looks_like_tsv("pmid,abstract\n1,Raf\n")
    (True, False)
    """
    return _names_text(head, "\t")


def _names_text(head: str, delimiter: str) -> bool:
    columns = header_of(head, delimiter)
    if not usual(columns, TEXT_NAMES):
        return False
    named = all(0 < len(name.strip()) <= _LONGEST_NAME for name in columns)
    return named and _is_regular(head, delimiter, len(columns), least=1, most=1)


def header_of(head: str, delimiter: str) -> list[str]:
    r"""Return the columns that the first line of a text may name; [] if it is not a header.

    Examples
    --------
    >>> header_of("id;text\n", ";"), header_of("id;text\n", ",")
    (['id', 'text'], [])
    """
    first = head.lstrip("\ufeff \t\r\n").partition("\n")[0].rstrip("\r")
    if delimiter not in first:
        return []
    try:
        names = next(csv.reader([first], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []
    return names if len(names) > 1 and len(set(names)) == len(names) else []


def read_csv(
    source: Source,
    views: tuple[str, ...] | None = None,
    *,
    text_field: str | Sequence[str] | None = None,
    id_field: str | None = None,
    delimiter: str | None = None,
) -> Iterator[Item]:
    """Yield a document for each record of a table with a header.

    The delimiter is found in the header: a tab if it has one, otherwise the most frequent of
    comma, semicolon and vertical bar.
    """
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise ValueError(f"delimiter must be one character, got {delimiter!r}")
    return _records(source, views, check_fields(text_field, id_field), delimiter)


def read_tsv(
    source: Source,
    views: tuple[str, ...] | None = None,
    *,
    text_field: str | Sequence[str] | None = None,
    id_field: str | None = None,
) -> Iterator[Item]:
    """Yield a document for each record of a table with tabs and a header."""
    return _records(source, views, check_fields(text_field, id_field), "\t")


def _records(
    source: Source,
    views: tuple[str, ...] | None,
    given: tuple[tuple[str, ...], str | None],
    delimiter: str | None,
) -> Iterator[Item]:
    # The limit of the csv module is one for the whole process, and too low for articles.
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_RECORD))
    rows = iter(_Rows(source, delimiter))
    later = source.extent.start > 0
    header = _header(source, iter(_Rows(_beginning(source), delimiter)) if later else rows, given)
    if header is None:
        return
    columns, fields = header
    yield from () if later else fields.remarks
    used = UsedIds()
    # The header is a record as well, but has no number.
    for number, row in enumerate(rows, start=max(source.extent.records, 1)):
        if isinstance(row, ReadError):
            yield row
            continue
        line, values = row
        if len(values) != len(columns):
            yield source.error(
                f"the record has {len(values)} field{'s' * (len(values) != 1)}, "
                f"the header {len(columns)}",
                line=line,
                column=1,
                hint="fields that contain the delimiter or quotation marks need quotation marks",
            )
            continue
        try:
            items = list(
                record_items(
                    zip(columns, values, strict=True), fields, source, (number, line), views
                )
            )
        except StructureError as failure:
            yield source.locate(failure, line, 1)
            continue
        if fields.id is None:  # the ids are numbers of records
            yield from items
            continue
        for item in items:
            yield (isinstance(item, Example) and used.check(item.id, line, source)) or item


def _header(
    source: Source,
    rows: Iterator[tuple[int, list[str]] | ReadError],
    given: tuple[tuple[str, ...], str | None],
) -> tuple[list[str], Fields] | None:
    """Return the columns, and those of text and id; None if there are no rows."""
    header = next(rows, None)
    if header is None:
        return None
    if isinstance(header, ReadError):
        raise header
    line, columns = header
    if len(columns) > _MAX_COLUMNS:
        raise source.error(f"the table has more than {_MAX_COLUMNS:,} columns", line=line)
    columns = [name.strip() for name in columns]
    try:
        return columns, choose_fields(columns, *given)
    except StructureError as failure:
        raise source.locate(failure, line, 1) from failure


def _beginning(source: Source) -> Source:
    """Return the first lines of a file, as the source of the whole file would."""
    return source.part(iter([source.opening]), Extent())


def scan_csv(
    source: Source,
    *,
    text_field: str | Sequence[str] | None = None,
    id_field: str | None = None,
    delimiter: str | None = None,
) -> Scan | None:
    r"""Return the function that finds records, the header being the first.

    None if something is wrong with the header. In lines without quotation marks, and with a
    character that is not blank, every line is a record; in others the reader decides.

    Examples
    --------
    >>> import io
    >>> scan = scan_csv(Source(io.BytesIO(b"id,text\n1,Raf\n")))
    >>> scan(b'id,text\n1,Raf\n2,"a\nb"\n3,"c\n')
    (22, 3)
    """
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_RECORD))
    rows = _Rows(_beginning(source), delimiter)
    try:
        header = _header(source, iter(rows), check_fields(text_field, id_field))
    except ReadError:
        return None
    if header is None or rows.last > source.opening.count(b"\n"):
        return None
    mark = (delimiter or _find_delimiter(source.head)).encode()
    maybe_blank = re.compile(rb"\n[ \t\r\v\f\x1c-\x1f\x80-\xff" + re.escape(mark) + rb"]*\n")
    begun = False

    def scan(data: bytes) -> tuple[int, int] | None:
        nonlocal begun
        end = data.rfind(b"\n") + 1
        whole = data[:end]
        if len(data) > min(source.meter.limits.line, _MAX_RECORD):
            return None
        if b'"' in whole or maybe_blank.search(b"\n" + whole):
            end, found = _scan_rows(source.part(iter([whole]), Extent()), delimiter, whole)
        else:
            found = whole.count(b"\n")
        if found < 2 and not begun:  # the header needs a record after it
            return 0, 0
        begun = True
        return end, found

    return scan


def scan_tsv(
    source: Source,
    *,
    text_field: str | Sequence[str] | None = None,
    id_field: str | None = None,
) -> Scan | None:
    """Return the function that finds records, as `scan_csv` does."""
    return scan_csv(source, text_field=text_field, id_field=id_field, delimiter="\t")


def _scan_rows(source: Source, delimiter: str | None, whole: bytes) -> tuple[int, int]:
    """Return the end of the last record that is complete, and the number of records."""
    rows = _Rows(source, delimiter)
    found = sum(1 for _ in rows)
    if not rows.unclosed:
        return len(whole), found
    lines = whole.split(b"\n")[: rows.unclosed - 1]
    return sum(map(len, lines)) + len(lines), found - 1


class _Rows:
    """Rows of a table with the lines where they begin; errors in place of broken ones."""

    def __init__(self, source: Source, delimiter: str | None) -> None:
        self._source, self._delimiter = source, delimiter
        self._first = self.last = 0  # lines of the record
        self.unclosed = 0  # the line of a record that does not end
        self._text = ""  # the first line of the record
        self._size = 0
        self._problem: ReadError | None = None
        self._room = source.room  # fields

    def __iter__(self) -> Iterator[tuple[int, list[str]] | ReadError]:
        delimiter = self._delimiter or _find_delimiter(self._source.head)
        lines = self._lines(delimiter)
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            self._first, self._size, self._problem = 0, 0, None
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as failure:
                error = self._error(str(failure))
                yield self._problem or error
                continue
            if self._problem is not None:
                yield self._problem
            elif any(map(str.strip, row)):  # spreadsheets write rows of empty fields
                yield self._first, row

    def _lines(self, delimiter: str) -> Iterator[str]:
        for number, text, problem in self._source.lines():
            if not self._first:
                self._first, self._text = number, text
            self.last = number
            self._size += len(text) + 1
            self._problem = self._problem or problem
            if len(text) > self._room and text.count(delimiter) > self._room:
                self._problem = self._problem or self._source.too_large(self._first, "record")
                text = ""  # the rest of the record, if it has one, is read as it is
            if self._size > _MAX_RECORD:
                raise self._source.error(
                    f"the record has more than {format_size(_MAX_RECORD)}",
                    line=self._first,
                    column=1,
                    hint="perhaps a quotation mark is missing",
                )
            yield f"{text}\n"

    def _error(self, problem: str) -> ReadError:
        if problem == _UNCLOSED:
            self.unclosed = self._first
            said = "a quotation mark is never closed"
            hint = "the rest of the file would belong to this field; add or double the mark"
        else:
            said = f"not a record: {shorten(problem)}"
            hint = "in a field with quotation marks around it, those inside are doubled"
        column = self._text.find('"') + 1 or 1
        return self._source.error(
            said, line=self._first or None, column=column, snippet=self._text, hint=hint
        )


def _find_delimiter(head: bytes) -> str:
    first = head.lstrip().partition(b"\n")[0].decode("utf-8", "replace")
    if "\t" in first:
        return "\t"
    counts = {mark: len(header_of(first, mark)) for mark in _DELIMITERS}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else ","


def looks_like_table(head: str) -> list[str]:
    r"""Return the columns of a text that begins like a table; [] if it does not.

    The first line must name short columns, one of which is usual for texts or ids, or the
    following lines must have as many fields.

    Examples
    --------
    >>> looks_like_table("gene,score,rank\nRaf,0.3,1\nRas,0.2,2\n")
    ['gene', 'score', 'rank']
    >>> looks_like_table("Raf, Ras and MEK are kinases.\nRas, as we know, is small.\n")
    []
    """
    for delimiter in _DELIMITERS:
        columns = header_of(head, delimiter)
        if len(columns) < 2 or any(not _is_name(column) for column in columns):
            continue
        if usual(columns, TEXT_NAMES) and usual(columns, ID_NAMES):
            return columns
        if len(columns) > 2 and _is_regular(head, delimiter, len(columns), least=2, most=20):
            return columns
    return []


def _is_name(text: str) -> bool:
    """Return whether a field may be the name of a column, not a part of a sentence."""
    name = text.strip()
    return 0 < len(name) <= _LONGEST_NAME and len(name.split()) <= 3 and name[-1] not in ".!?:;"


def _is_regular(head: str, delimiter: str, n_columns: int, *, least: int, most: int) -> bool:
    """Return whether the records after the header have as many fields; the last may be cut."""
    lines = head.lstrip("\ufeff \t\r\n").splitlines(keepends=True)[1:]
    try:
        rows = list(islice(filter(None, csv.reader(lines, delimiter=delimiter)), most + 1))
    except csv.Error:
        return False
    complete = rows if len(head) < _CUT and len(rows) <= most else rows[:-1]
    if len(rows) == 1 and not complete:
        return least == 1  # a long first record
    return len(complete) >= least and all(len(row) == n_columns for row in complete)
