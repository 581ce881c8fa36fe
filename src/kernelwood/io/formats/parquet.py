"""Parquet tables of texts, read row group by row group; needs the extra ``arrow``.

See `kernelwood.io.formats.records` for the conversion of a record. Only columns of plain values are
read: strings, numbers, dates and truth values. Lists, such as vectors, and bytes are not.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import accumulate
from typing import Any

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.formats.records import Fields, check_fields, choose_fields, record_items
from kernelwood.io.ids import UsedIds
from kernelwood.io.source import Item, Source
from kernelwood.structures import shorten
from kernelwood.text import Example

MAGIC = "PAR1"
CONTENT = "kernelwood.table"  # metadata of tables that kernelwood writes: predictions, facts, ...
_ROWS = 8  # decoded at a time; a value may be stored once, and be long, for all of them
_ROW_SIZE = 50  # bytes for which a row counts, beside its texts
_BUFFER = 1 << 20  # bytes of a column that are buffered
_MAX_COLUMNS = 10_000
_MAX_FOOTER = 1 << 26  # bytes of strings in the metadata of a file
_MAX_PARTS = 1_000_000  # columns of row groups in the metadata of a file


def looks_like_parquet(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be a Parquet table.

    Examples
    --------
    >>> looks_like_parquet("PAR1..."), looks_like_parquet("PARK")
    (True, False)
    """
    return head.startswith(MAGIC)


def read_parquet(
    source: Source,
    views: tuple[str, ...] | None = None,
    *,
    text_field: str | Sequence[str] | None = None,
    id_field: str | None = None,
) -> Iterator[Item]:
    """Yield a document for each row of a Parquet table; the line of its origin is its number."""
    return _rows(source, views, check_fields(text_field, id_field))


def _rows(
    source: Source, views: tuple[str, ...] | None, given: tuple[tuple[str, ...], str | None]
) -> Iterator[Item]:
    if not source.head:
        return
    with ExitStack() as opened:
        table = open_parquet(source, opened)
        columns, fields = _header(table, source, given)
        extent = source.extent
        yield from () if extent.start else fields.remarks
        used = UsedIds()
        for number, row in _records(table, columns, source):
            if number <= extent.start or (extent.stop is not None and number > extent.stop):
                continue
            try:
                items = list(record_items(row.items(), fields, source, (number, number), views))
            except StructureError as failure:
                yield source.locate(failure, number)
                continue
            for item in items:
                yield (isinstance(item, Example) and used.check(item.id, number, source)) or item


def row_groups(
    source: Source,
    *,
    text_field: str | Sequence[str] | None = None,
    id_field: str | None = None,
) -> list[tuple[int, int]]:
    """Return the numbers of rows and of bytes of each row group; [] if the table is damaged."""
    with ExitStack() as opened:
        try:
            table = open_parquet(source, opened)
            _header(table, source, check_fields(text_field, id_field))
        except ReadError:
            return []
        sizes = [(group.num_rows, group.total_byte_size) for group in _groups(table)]
    return sizes if all(n_rows >= 0 for n_rows, _ in sizes) else []


def _groups(table: Any) -> Iterator[Any]:
    return map(table.metadata.row_group, range(table.metadata.num_row_groups))


def _header(
    table: Any, source: Source, given: tuple[tuple[str, ...], str | None]
) -> tuple[list[str], Fields]:
    if not given[0]:
        _refuse_results(table.schema_arrow, source)
    columns = _plain_columns(table.schema_arrow)
    try:
        return columns, choose_fields(columns, *given)
    except StructureError as failure:
        raise source.locate(failure, None) from failure


def open_parquet(source: Source, opened: ExitStack) -> Any:
    """Return a table as a ``pyarrow.parquet.ParquetFile``, whose sizes are checked."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as failure:
        raise source.error(
            "Parquet tables need the package pyarrow",
            hint="install it with pip install 'kernelwood[arrow]'",
        ) from failure
    file = opened.enter_context(source.random_access())
    try:
        table = ParquetFile(
            file,
            buffer_size=_BUFFER,
            pre_buffer=False,
            thrift_string_size_limit=_MAX_FOOTER,
            thrift_container_size_limit=_MAX_PARTS,
            page_checksum_verification=True,
        )
        _check_sizes(table.metadata, file.seek(0, os.SEEK_END), source)
    except ReadError:
        raise
    except Exception as failure:  # those of pyarrow have no common class
        raise damaged(failure, source) from failure
    return table


def _refuse_results(schema: Any, source: Source) -> None:
    """Raise ``ReadError`` for a table of results, which would be taken for texts."""
    content = (schema.metadata or {}).get(CONTENT.encode())
    if content is not None:
        raise source.error(
            f"the table has {shorten(content.decode('utf-8', 'replace'))} written by kernelwood, "
            "not texts",
            hint="give the texts they come from, or name a column of texts with text_field=...",
        )


def _plain_columns(schema: Any) -> list[str]:
    from pyarrow import types

    plain = (
        types.is_string, types.is_large_string, types.is_integer, types.is_floating,
        types.is_boolean, types.is_date, types.is_timestamp, types.is_decimal,
    )  # fmt: skip
    found = []
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        is_view = getattr(types, "is_string_view", lambda kind: False)(kind)
        if is_view or any(test(kind) for test in plain):
            found.append(field.name)
    return found[:_MAX_COLUMNS]


def _records(
    table: Any, columns: list[str], source: Source
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of the row groups that are in the extent of the source, with their numbers."""
    extent = source.extent
    try:
        ends = list(accumulate(group.num_rows for group in _groups(table)))
        first = bisect_right(ends, extent.start)
        last = len(ends) if extent.stop is None else bisect_left(ends, extent.stop) + 1
        number = ends[first - 1] if first else 0
        batches = table.iter_batches(
            batch_size=_ROWS,
            row_groups=list(range(first, min(last, len(ends)))),
            columns=columns,
            use_threads=False,
        )
        size, unpacked = _file_size(source, table), 0
        for batch in batches:
            parts = list(zip(columns, (batch.column(name) for name in columns), strict=True))
            for row in range(batch.num_rows):  # not all at once, for the same reason
                number += 1
                made = {name: part[row].as_py() for name, part in parts}
                unpacked += _ROW_SIZE
                for value in made.values():  # a text that is stored once may be in all rows
                    if type(value) is str:
                        unpacked += len(value)
                source.meter.compare(unpacked, size, source.name)
                yield number, made
    except ReadError:
        raise
    except Exception as failure:
        raise damaged(failure, source) from failure


def _file_size(source: Source, table: Any) -> int:
    """Return the number of bytes of a file, or of its row groups if it is a stream."""
    return source.size or max(1, sum(group.total_byte_size for group in _groups(table)))


def _check_sizes(metadata: Any, size: int, source: Source) -> None:
    """Raise ``ReadError`` if a row group is far larger than the file.

    The metadata of columns would tell more, but reading damaged ones ends the process.
    """
    for number in range(metadata.num_row_groups):
        source.meter.compare(metadata.row_group(number).total_byte_size, size, source.name)


def damaged(failure: Exception, source: Source) -> ReadError:
    """Return the error for a table that pyarrow cannot read."""
    said = str(failure).partition("\n")[0]
    return source.error(
        f"the Parquet table cannot be read: {shorten(said, 200)}",
        hint="it is damaged or not complete; write it again",
    )
