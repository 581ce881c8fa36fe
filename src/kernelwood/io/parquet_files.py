"""Writing and joining Parquet tables, in bounded memory; needs the extra ``arrow``.

A file depends only on its rows: row groups end after 20,000 rows or 32 MB of values, for any
division of the input, and the file has no timestamps. Parts of a run that was split can therefore
be joined to the file that one run would have written, with the same version of pyarrow. Pages have
checksums.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from kernelwood.errors import KernelInputError, MissingPackageError, StructureError
from kernelwood.io.atomic import open_output, unwritable
from kernelwood.io.containers.limits import Limits, Meter
from kernelwood.io.formats.parquet import CONTENT, damaged, open_parquet
from kernelwood.io.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A type of values: str, bool, int or float; [kind] for a list; a dictionary for a record. A value
# of any of these may be missing.
Kind: TypeAlias = "type | list[Kind] | Mapping[str, Kind]"

# Results repeat texts and names, so parts may be far smaller than what is in them.
_PARTS = Limits(ratio=100_000)
_GROUP_ROWS = 20_000
_GROUP_BYTES = 1 << 25
# Rows whose sizes are computed together; fewer if they are long.
_BATCH_ROWS = 1_000
_BATCH_BYTES = 1 << 22
_PORTION = 64  # rows that are Python objects; thousands of these cost time in garbage collection
_NUMBER = 8  # bytes
_OPTIONS = {
    "version": "2.6",
    "compression": "zstd",
    "compression_level": 3,
    "data_page_version": "1.0",
    "data_page_size": 1 << 20,
    "write_batch_size": 1024,
    "dictionary_pagesize_limit": 1 << 20,
    "write_page_checksum": True,
}


def check_parquet(path: object) -> str:
    """Return the path of a Parquet table; raise KernelInputError if it cannot be written there.

    Examples
    --------
    >>> check_parquet("-")
    Traceback (most recent call last):
    ...
    kernelwood.errors.KernelInputError: a Parquet table cannot be written to a stream; name a file
    """
    if not isinstance(path, (str, os.PathLike)) or path == "-":
        raise KernelInputError("a Parquet table cannot be written to a stream; name a file")
    if os.fspath(path).lower().endswith(".gz"):
        raise KernelInputError(
            f"{os.fspath(path)}: Parquet tables are compressed in themselves; leave out .gz"
        )
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as failure:
        raise MissingPackageError(
            "Parquet tables need the package pyarrow; install it with: "
            "pip install 'kernelwood[arrow]'"
        ) from failure
    return os.fspath(path)


def write_parquet(
    path: str | os.PathLike[str],
    columns: Mapping[str, Kind],
    rows: Iterable[Sequence[Any]],
    *,
    content: str,
) -> None:
    """Write rows to a Parquet table, completely or not at all.

    Parameters
    ----------
    path : str or PathLike
        Output file.
    columns : mapping of str to kind
        Names and types of the columns: ``str``, ``bool``, ``int``, ``float``, ``[kind]`` for a
        list, a mapping for a record.
    rows : iterable of sequence
        A value for each column; records are tuples, and None is a missing value. Read one by one,
        so they need not fit in memory together.
    content : str
        Content of the rows, such as ``"predictions"``: the metadata ``kernelwood.table``.

    Raises
    ------
    KernelInputError
        If pyarrow is not installed, or ``path`` is a stream, a pipe or ends in ``.gz``.
    StructureError
        If a value does not have the type of its column.

    Examples
    --------
    >>> import tempfile, pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parquet(
    ...         f"{folder}/a.parquet",
    ...         {"id": str, "span": {"start": int, "end": int}},
    ...         [("a", (0, 3)), ("b", None)],
    ...         content="spans",
    ...     )
    ...     pyarrow.parquet.read_table(f"{folder}/a.parquet").to_pylist()
    [{'id': 'a', 'span': {'start': 0, 'end': 3}}, {'id': 'b', 'span': None}]
    """
    check_parquet(path)
    import pyarrow as pa

    fields = [pa.field(name, _arrow_type(kind)) for name, kind in columns.items()]
    schema = pa.schema(fields, metadata={CONTENT: content})
    with _row_groups(path, schema) as groups:
        for some in _portions(rows):
            values = zip(*some, strict=True)
            groups.add([_array(*pair) for pair in zip(values, schema, strict=True)])


def write_vectors(
    path: str | os.PathLike[str],
    ids: Iterable[str],
    vectors: NDArray[Any],
    labels: Iterable[str | None] | None = None,
) -> None:
    """Write vectors to a Parquet table with the columns ``id``, ``label`` and ``vector``.

    Parameters
    ----------
    path : str or PathLike
        Output file; it appears when it is complete.
    ids : iterable of str
        An id for each row.
    vectors : ndarray of float32 or float64, shape (n, n_dimensions)
        Such as those of `kernelwood.NystromEmbedder`; a list of fixed size in the file.
    labels : iterable of str or None, optional
        A class for each row, if it has one.

    Raises
    ------
    KernelInputError
        If pyarrow is not installed, or shapes or types are wrong.

    Examples
    --------
    >>> import tempfile, numpy, pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_vectors(f"{folder}/v.parquet", ["a"], numpy.array([[0.5, 0.25]]))
    ...     pyarrow.parquet.read_table(f"{folder}/v.parquet").to_pylist()
    [{'id': 'a', 'label': None, 'vector': [0.5, 0.25]}]
    """
    _write_matrix(path, ids, vectors, labels, ("vector", "vectors", ("float32", "float64")))


def write_codes(
    path: str | os.PathLike[str],
    ids: Iterable[str],
    codes: NDArray[Any],
    labels: Iterable[str | None] | None = None,
) -> None:
    """Write packed hashcodes to a Parquet table with the columns ``id``, ``label`` and ``code``.

    Parameters
    ----------
    path : str or PathLike
        Output file; it appears when it is complete.
    ids : iterable of str
        An id for each row.
    codes : ndarray of uint64, shape (n, n_words)
        Such as those of ``KernelHasher.codes``: bit ``l`` is bit ``l % 64``, least significant
        first, of word ``l // 64``. A list of fixed size in the file.
    labels : iterable of str or None, optional
        A class for each row, if it has one.

    Raises
    ------
    KernelInputError
        If pyarrow is not installed, or shapes or types are wrong.

    Examples
    --------
    >>> import tempfile, numpy, pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_codes(f"{folder}/c.parquet", ["a"], numpy.array([[5]], dtype=numpy.uint64), ["x"])
    ...     pyarrow.parquet.read_table(f"{folder}/c.parquet").to_pylist()
    [{'id': 'a', 'label': 'x', 'code': [5]}]
    """
    _write_matrix(path, ids, codes, labels, ("code", "codes", ("uint64",)))


def _write_matrix(
    path: str | os.PathLike[str],
    ids: Iterable[str],
    matrix: Any,
    labels: Iterable[str | None] | None,
    naming: tuple[str, str, tuple[str, ...]],
) -> None:
    """Write ids, labels and the rows of a matrix; ``naming``: column, content, types of numbers."""
    check_parquet(path)
    import pyarrow as pa

    column, content, types = naming
    shape: tuple[int, ...] = getattr(matrix, "shape", ())
    number = str(getattr(matrix, "dtype", type(matrix).__name__))
    if len(shape) != 2 or not shape[1] or number not in types:
        raise KernelInputError(
            f"{content} must be a matrix of {' or '.join(types)} with at least one column, got "
            f"{number} of shape {shape}"
        )
    names = list(ids)
    classes = [None] * shape[0] if labels is None else list(labels)
    for what, some in ("ids", names), ("labels", classes):
        if len(some) != shape[0]:
            raise KernelInputError(f"{shape[0]:,} {content} have {len(some):,} {what}")
    element = pa.field("element", getattr(pa, number)())
    schema = pa.schema(
        [("id", pa.string()), ("label", pa.string()), (column, pa.list_(element, shape[1]))],
        metadata={CONTENT: content},
    )
    with _row_groups(path, schema) as groups:
        for start in range(0, shape[0], _BATCH_ROWS):
            rows = slice(start, start + _BATCH_ROWS)
            values = pa.array(matrix[rows].ravel(), element.type)
            lists = pa.FixedSizeListArray.from_arrays(values, type=schema.field(column).type)
            texts = _array(names[rows], schema.field("id")), _array(classes[rows], schema.field(1))
            groups.add([*texts, lists])


def join_parquet(parts: Iterable[str | os.PathLike[str]], path: str | os.PathLike[str]) -> None:
    """Join Parquet tables to the table that has all their rows, completely or not at all.

    The bytes are those of a file into which all rows were written at once, for parts of any size,
    if the parts were written by the same version of pyarrow. Memory is bounded by the largest row
    group.

    Parameters
    ----------
    parts : iterable of str or PathLike
        Tables with the same columns, in the order of their rows.
    path : str or PathLike
        Output file.

    Raises
    ------
    KernelInputError
        If there are no parts, or pyarrow is not installed.
    ReadError
        If a part is damaged, or its columns are not those of the first one.

    Examples
    --------
    >>> import tempfile, pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = [f"{folder}/{name}.parquet" for name in "ab"]
    ...     for part in parts:
    ...         write_parquet(part, {"n": int}, [(1,), (2,)], content="numbers")
    ...     join_parquet(parts, f"{folder}/all.parquet")
    ...     pyarrow.parquet.read_table(f"{folder}/all.parquet")["n"].to_pylist()
    [1, 2, 1, 2]
    """
    check_parquet(path)
    listed = list(parts)
    if not listed:
        raise KernelInputError("join_parquet needs at least one part, got none")
    with ExitStack() as opened:
        source = opened.enter_context(Source(listed[0], meter=Meter(_PARTS)))
        schema = open_parquet(source, opened).schema_arrow
    with _row_groups(path, schema) as groups:
        for part in listed:
            for batch in _batches(part, schema, os.fspath(listed[0])):
                groups.add(batch.columns)


def _batches(part: str | os.PathLike[str], schema: Any, first: str) -> Iterator[Any]:
    with ExitStack() as opened:
        source = opened.enter_context(Source(part, meter=Meter(_PARTS)))
        table = open_parquet(source, opened)
        if not table.schema_arrow.equals(schema, check_metadata=True):
            raise source.error(
                f"the columns are not those of {first}",
                hint="only tables of the same content and version can be joined",
            )
        # A batch may otherwise hold rows of many groups, which may be long.
        for group in range(table.num_row_groups):
            found = table.iter_batches(_BATCH_ROWS, row_groups=[group], use_threads=False)
            while True:
                try:
                    batch = next(found, None)
                except Exception as failure:  # those of pyarrow have no common class
                    raise damaged(failure, source) from failure
                if batch is None:
                    break
                yield batch


@contextmanager
def _row_groups(path: str | os.PathLike[str], schema: Any) -> Iterator[_RowGroups]:
    """Open a table for writing, which replaces ``path`` when the block ends without an error."""
    from pyarrow import types
    from pyarrow.parquet import ParquetWriter

    # Numbers of vectors hardly repeat.
    plain = [field.name for field in schema if not types.is_fixed_size_list(field.type)]
    dictionary = True if len(plain) == len(schema) else plain
    with open_output(path) as file:
        if not file.seekable():
            raise KernelInputError(
                f"{os.fspath(path)}: a Parquet table cannot be written to a pipe; name a file"
            )
        with ParquetWriter(file, schema, use_dictionary=dictionary, **_OPTIONS) as writer:
            groups = _RowGroups(writer, schema)
            yield groups
            groups.finish()


class _RowGroups:
    """Row groups that depend on the rows, but not on the portions in which these are added."""

    def __init__(self, writer: Any, schema: Any) -> None:
        self._writer, self._schema = writer, schema
        self._added: list[Any] = []  # whose rows have not been measured
        self._added_rows = self._added_bytes = 0
        self._waiting: list[Any] = []  # of the next row group
        self._rows = self._bytes = 0

    def add(self, columns: Sequence[Any]) -> None:
        """Add rows, given as arrays; write the groups that are complete."""
        from pyarrow import RecordBatch

        batch = RecordBatch.from_arrays(columns, schema=self._schema)
        self._added.append(batch)
        self._added_rows += batch.num_rows
        self._added_bytes += batch.nbytes
        if self._added_rows >= _BATCH_ROWS or self._added_bytes >= _BATCH_BYTES:
            self._divide()

    def finish(self) -> None:
        """Write the rows that wait, if there are any."""
        self._divide()
        self._write()

    def _divide(self) -> None:
        """Divide what was added among row groups."""
        added = _joined(self._added, self._schema)
        self._added, self._added_rows, self._added_bytes = [], 0, 0
        for batch in added.to_batches():
            start = 0
            for end, size in enumerate(_row_bytes(batch.to_struct_array()).to_pylist(), start=1):
                self._rows += 1
                self._bytes += size
                if self._rows == _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
                    self._waiting.append(batch.slice(start, end - start))
                    self._write()
                    start = end
            self._waiting.append(batch.slice(start))

    def _write(self) -> None:
        if self._rows:
            # Pages end where arrays end, so there must be one array.
            self._writer.write_table(_joined(self._waiting, self._schema))
        self._waiting, self._rows, self._bytes = [], 0, 0


def _joined(batches: list[Any], schema: Any) -> Any:
    from pyarrow import Table

    return Table.from_batches(batches, schema).combine_chunks()


def _row_bytes(array: Any) -> Any:
    """Return the size of each value: bytes of texts, 8 for a number.

    Unlike the sizes of buffers, it does not depend on how an array was made.
    """
    import pyarrow as pa
    from pyarrow import compute, types

    kind = array.type
    if types.is_struct(kind):
        total = pa.repeat(pa.scalar(0, pa.int64()), len(array))
        for part in array.flatten():
            total = compute.add(total, _row_bytes(part))
        return total
    if types.is_list(kind):
        sizes = compute.cumulative_sum(_row_bytes(array.flatten()))
        until = pa.concat_arrays([pa.array([0], pa.int64()), sizes])
        lengths = compute.fill_null(compute.list_value_length(array), 0).cast(pa.int64())
        ends = compute.cumulative_sum(lengths)
        return compute.subtract(until.take(ends), until.take(compute.subtract(ends, lengths)))
    if types.is_string(kind):
        return compute.fill_null(compute.binary_length(array), 0).cast(pa.int64())
    width = kind.list_size if types.is_fixed_size_list(kind) else 1
    return pa.repeat(pa.scalar(width * _NUMBER, pa.int64()), len(array))


def _portions(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    """Yield rows in lists that fit in memory, also if their texts are long."""
    some: list[Sequence[Any]] = []
    size = 0
    for row in rows:
        some.append(row)
        size += sum(len(value) for value in row if type(value) is str)
        if len(some) == _PORTION or size >= _BATCH_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _array(values: Sequence[Any], field: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values, field.type)
    except UnicodeEncodeError as failure:
        raise unwritable(failure) from failure
    except (pa.ArrowException, OverflowError, TypeError) as failure:
        raise StructureError(
            f"a value of the column {field.name!r} cannot be stored as {field.type}: {failure}"
        ) from failure


def _arrow_type(kind: Kind) -> Any:
    import pyarrow as pa

    if isinstance(kind, Mapping):
        return pa.struct([(name, _arrow_type(one)) for name, one in kind.items()])
    if isinstance(kind, list):
        return pa.list_(pa.field("element", _arrow_type(kind[0])))
    return {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}[kind]
