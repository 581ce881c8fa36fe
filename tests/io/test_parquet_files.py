"""Parquet tables that are written and joined."""

from __future__ import annotations

import errno
import gzip
import io
import os
import sys
from unittest.mock import patch

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.errors import KernelInputError, ReadError, StructureError
from kernelwood.io import (
    check_parquet,
    join_parquet,
    parquet_files,
    write_codes,
    write_parquet,
    write_vectors,
)

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

COLUMNS = {
    "id": str,
    "n": int,
    "holds": bool,
    "parts": [{"text": str, "weight": float, "spans": [{"start": int, "end": int}]}],
    "best": {"name": str, "words": [str]},
}
ROWS = [
    ("a", 1, True, [("Raf", 0.5, [(0, 3), (5, 9)]), ("Ærø\n鳥\0", None, [])], ("x", ["y", ""])),
    ("b", None, None, [], None),
    (None, -(2**63), False, None, (None, None)),
]
TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
INTEGERS = st.integers(-(2**63), 2**63 - 1)


def maybe(values):
    return st.none() | values


def records():
    """Return a strategy for rows of the columns."""
    spans = st.lists(st.tuples(INTEGERS, INTEGERS), max_size=3)
    part = st.tuples(maybe(TEXTS), maybe(st.floats(allow_nan=False)), maybe(spans))
    return st.tuples(
        maybe(TEXTS),
        maybe(INTEGERS),
        maybe(st.booleans()),
        maybe(st.lists(maybe(part), max_size=3)),
        maybe(st.tuples(maybe(TEXTS), maybe(st.lists(maybe(TEXTS), max_size=3)))),
    )


def plain(value, kind):
    """Return a value as pyarrow returns it."""
    if value is None or isinstance(kind, type):
        return value
    if isinstance(kind, list):
        return [plain(one, kind[0]) for one in value]
    return {name: plain(one, kind[name]) for name, one in zip(kind, value, strict=True)}


def size(value, kind):
    """Return the bytes of the texts of a value, and 8 for each of its numbers."""
    if isinstance(kind, dict):
        parts = (None,) * len(kind) if value is None else value
        return sum(map(size, parts, kind.values()))
    if isinstance(kind, list):
        return sum(size(one, kind[0]) for one in value or ())
    return 8 if kind is not str else len((value or "").encode())


def group_sizes(rows, most_rows, most_bytes):
    """Return the number of rows of each row group."""
    groups, n_rows, n_bytes = [], 0, 0
    for row in rows:
        n_rows, n_bytes = n_rows + 1, n_bytes + size(row, COLUMNS)
        if n_rows == most_rows or n_bytes >= most_bytes:
            groups.append(n_rows)
            n_rows = n_bytes = 0
    return [*groups, n_rows] if n_rows else groups


def limits(rows=parquet_files._GROUP_ROWS, n_bytes=parquet_files._GROUP_BYTES, batch=2):
    return patch.multiple(
        parquet_files,
        _GROUP_ROWS=rows,
        _GROUP_BYTES=n_bytes,
        _BATCH_ROWS=batch,
        _PORTION=max(batch // 2, 1),
    )


def written(path, rows=ROWS, columns=COLUMNS, content="things"):
    write_parquet(path, columns, rows, content=content)
    return path.read_bytes()


def read_rows(path):
    return parquet.read_table(path).to_pylist()


# What is written.


def test_values_are_read_as_they_were_written(tmp_path):
    written(tmp_path / "a.parquet")
    assert read_rows(tmp_path / "a.parquet") == [plain(row, COLUMNS) for row in ROWS]


def test_columns_have_the_types_that_are_asked_for(tmp_path):
    written(tmp_path / "a.parquet", [])
    schema = parquet.read_schema(tmp_path / "a.parquet")
    kinds = [str(field.type) for field in schema]
    assert kinds[:3] == ["string", "int64", "bool"]
    assert kinds[4] == "struct<name: string, words: list<element: string>>"
    assert schema.metadata == {b"kernelwood.table": b"things"}


@given(rows=st.lists(records(), max_size=12), data=st.data())
def test_files_depend_on_rows_only(tmp_path_factory, rows, data):
    """Rows and row groups are as defined, and any parts are joined to the same bytes."""
    folder = tmp_path_factory.mktemp("random")
    most_rows, most_bytes = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 400))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    with limits(most_rows, most_bytes, data.draw(st.integers(1, 5))):
        whole = written(folder / "whole.parquet", rows)
    file = parquet.ParquetFile(folder / "whole.parquet")
    assert file.read().to_pylist() == [plain(row, COLUMNS) for row in rows]
    sizes = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
    assert sizes == group_sizes(rows, most_rows, most_bytes)
    ends = [*cuts, len(rows)]
    paths = [folder / f"{n}.parquet" for n in range(len(ends))]
    with limits(most_rows, most_bytes, data.draw(st.integers(1, 5))):
        for path, start, end in zip(paths, [0, *cuts], ends, strict=True):
            written(path, rows[start:end])
        join_parquet(paths, folder / "joined.parquet")
    assert (folder / "joined.parquet").read_bytes() == whole


def test_a_group_ends_with_the_row_that_reaches_the_limit(tmp_path):
    with limits(n_bytes=16):
        written(tmp_path / "a.parquet", [(n,) for n in range(5)], {"n": int})
    found = parquet.read_metadata(tmp_path / "a.parquet")
    assert [found.row_group(n).num_rows for n in range(found.num_row_groups)] == [2, 2, 1]


def test_pages_of_joined_tables_are_the_same(tmp_path):
    """Row groups with many pages and dictionaries: what the small random tables do not have."""
    names = [f"name {n % 7} {'x' * (n % 90)}{n}" for n in range(9999)]
    rows = [(name, n * 77 % 1009, None, [], None) for n, name in enumerate(names)]
    with limits(4000, batch=1000), patch.dict(parquet_files._OPTIONS, data_page_size=2000):
        whole = written(tmp_path / "whole.parquet", rows)
        cuts = [0, 1, 3999, 3999, 6500, 9999]
        paths = [tmp_path / f"{n}.parquet" for n in range(5)]
        for path, start, end in zip(paths, cuts, cuts[1:], strict=False):
            written(path, rows[start:end])
        join_parquet(paths, tmp_path / "joined.parquet")
    assert (tmp_path / "joined.parquet").read_bytes() == whole


def test_long_texts_end_a_row_group(tmp_path):
    long = "é" * (20 << 20)
    rows = [(text, None, None, None, None) for text in ("a", long, "b", long, "c")]
    with limits(batch=1000):
        whole = written(tmp_path / "whole.parquet", rows)
        for n in range(5):
            written(tmp_path / f"{n}.parquet", rows[n : n + 1])
        join_parquet([tmp_path / f"{n}.parquet" for n in range(5)], tmp_path / "all.parquet")
    file = parquet.ParquetFile(tmp_path / "whole.parquet")
    assert [file.metadata.row_group(n).num_rows for n in range(3)] == [2, 2, 1]
    assert file.read(["id"])["id"].to_pylist() == [row[0] for row in rows]
    assert (tmp_path / "all.parquet").read_bytes() == whole


def test_few_rows_wait_for_being_written(tmp_path):
    """Rows are read as the file grows; long ones are not collected."""
    sizes = []

    def rows():
        for n in range(40):
            sizes.append(sum(path.stat().st_size for path in tmp_path.iterdir()))
            yield (os.urandom(1 << 19).hex(), n, None, None, None)

    written(tmp_path / "a.parquet", rows())
    assert len(set(sizes)) > 1


def test_other_packages_read_it(tmp_path):
    path = tmp_path / "a.parquet"
    written(path)
    assert pd.read_parquet(path)["id"].tolist()[:2] == ["a", "b"]
    assert pl.read_parquet(path)["parts"].to_list()[0] == plain(ROWS[0], COLUMNS)["parts"]
    parts = f"select unnest(parts) p from '{path}'"
    found = duckdb.sql(f"select p.text from ({parts}) order by p.weight nulls last")
    assert found.fetchall() == [("Raf",), ("Ærø\n鳥\0",)]


# What cannot be written.


def test_an_error_leaves_the_older_file(tmp_path):
    before = written(tmp_path / "a.parquet")

    def rows():
        yield from ROWS
        raise RuntimeError("stopped")

    with limits(1), pytest.raises(RuntimeError, match="stopped"):
        written(tmp_path / "a.parquet", rows())
    assert (tmp_path / "a.parquet").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_a_full_disk_is_named_with_the_file(tmp_path, monkeypatch):
    class Full(io.FileIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    temporary = tmp_path / "temporary"
    monkeypatch.setattr(
        "kernelwood.io.atomic._open_new", lambda target: (temporary, Full(temporary, "xb"))
    )
    with pytest.raises(OSError, match=r"No space left on device.*a\.parquet"):
        written(tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_lone_surrogate_is_refused(tmp_path):
    with pytest.raises(StructureError, match="cannot be written as UTF-8"):
        written(tmp_path / "a.parquet", [("x\ud800", 1, None, None, None)])


@pytest.mark.parametrize("n", ["one", 2**63])
def test_a_value_of_another_type_is_refused_with_its_column(tmp_path, n):
    with pytest.raises(StructureError, match="column 'n' cannot be stored as int64"):
        written(tmp_path / "a.parquet", [("x", n, None, None, None)])


@pytest.mark.parametrize("path", ["-", sys.stdout, None])
def test_streams_are_refused(path):
    with pytest.raises(KernelInputError, match="cannot be written to a stream; name a file"):
        check_parquet(path)


def test_a_second_compression_is_refused(tmp_path):
    with pytest.raises(KernelInputError, match=r"a\.parquet\.GZ: .*leave out \.gz"):
        written(tmp_path / "a.parquet.GZ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(KernelInputError, match="cannot be written to a pipe"):
            written(tmp_path / "pipe")
    finally:
        os.close(reader)


def test_the_extra_is_named_if_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(KernelInputError, match=r"pyarrow; .*pip install 'kernelwood\[arrow\]'"):
        written(tmp_path / "a.parquet")


# Joining.


def test_a_table_may_be_joined_to_itself(tmp_path):
    written(tmp_path / "a.parquet")
    join_parquet([tmp_path / "a.parquet"] * 2, tmp_path / "a.parquet")
    assert read_rows(tmp_path / "a.parquet") == [plain(row, COLUMNS) for row in ROWS * 2]


def test_no_parts_are_refused(tmp_path):
    with pytest.raises(KernelInputError, match="needs at least one part"):
        join_parquet([], tmp_path / "a.parquet")


@pytest.mark.parametrize(
    "change", [{"content": "others"}, {"columns": {"id": str}, "rows": [("a",)]}]
)
def test_parts_of_other_columns_or_content_are_refused(tmp_path, change):
    written(tmp_path / "a.parquet")
    written(tmp_path / "b.parquet", **change)
    with pytest.raises(ReadError, match=r"b\.parquet.*the columns are not those of .*a\.parquet"):
        join_parquet([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "c.parquet")
    assert not (tmp_path / "c.parquet").exists()


def test_damaged_parts_are_named(tmp_path):
    """Files that were cut, and one with a changed byte in a page."""
    whole = written(tmp_path / "a.parquet")
    for n in range(0, len(whole), 7):
        (tmp_path / "b.parquet").write_bytes(whole[:n])
        with pytest.raises(ReadError, match=r"b\.parquet"):
            join_parquet([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "c.parquet")
    data = bytearray(whole)
    column = parquet.read_metadata(tmp_path / "a.parquet").row_group(0).column(0)
    data[column.dictionary_page_offset + column.total_compressed_size - 1] ^= 1
    (tmp_path / "b.parquet").write_bytes(data)
    with pytest.raises(ReadError, match=r"b\.parquet.*cannot be read"):
        join_parquet([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "c.parquet")
    assert not (tmp_path / "c.parquet").exists()


# Vectors and codes.


@pytest.mark.parametrize(("kind", "name"), [("float32", "float"), ("float64", "double")])
def test_vectors_keep_every_bit(tmp_path, kind, name):
    vectors = np.random.default_rng(0).normal(size=(5, 3)).astype(kind)
    with limits(2):
        write_vectors(tmp_path / "v.parquet", list("abcde"), vectors, ["x", None, "y", "é", ""])
    table = parquet.read_table(tmp_path / "v.parquet")
    assert str(table.schema.field("vector").type) == f"fixed_size_list<element: {name}>[3]"
    assert table["id"].to_pylist() == list("abcde")
    assert table["label"].to_pylist() == ["x", None, "y", "é", ""]
    assert (np.array(table["vector"].to_pylist(), dtype=kind) == vectors).all()


def test_parts_of_vectors_are_joined_to_the_same_bytes(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(3000, 5))
    names = [f"n{n}" for n in range(3000)]
    with limits(700, batch=64):
        write_vectors(tmp_path / "whole.parquet", names, vectors)
        cuts = [0, 10, 1999, 3000]
        paths = [tmp_path / f"{n}.parquet" for n in range(3)]
        for path, start, end in zip(paths, cuts, cuts[1:], strict=False):
            write_vectors(path, names[start:end], vectors[start:end])
        join_parquet(paths, tmp_path / "joined.parquet")
    assert (tmp_path / "joined.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_numbers_of_vectors_count_and_have_no_dictionary(tmp_path):
    with limits(n_bytes=2 * (1 + 3 * 8)):
        write_vectors(tmp_path / "v.parquet", "abcde", np.zeros((5, 3)))
    found = parquet.read_metadata(tmp_path / "v.parquet")
    assert [found.row_group(n).num_rows for n in range(found.num_row_groups)] == [2, 2, 1]
    dictionaries = [found.row_group(0).column(n).has_dictionary_page for n in range(3)]
    assert dictionaries == [True, True, False]


def test_any_layout_of_a_matrix_is_written(tmp_path):
    vectors = np.arange(24.0).reshape(4, 6)
    write_vectors(tmp_path / "a.parquet", "abcd", vectors[:, ::2])
    write_vectors(tmp_path / "b.parquet", "abcd", np.asfortranarray(vectors[:, ::2]))
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert read_rows(tmp_path / "a.parquet")[1]["vector"] == [6, 8, 10]


def test_codes_are_words(tmp_path):
    trees = [kw.Tree.from_brackets(f"(S ({a} {b}))") for a in "xyz" for b in "uv"]
    hasher = kw.KernelHasher(kw.SubtreeKernel(), n_references=6, n_bits=70, random_state=0)
    codes = hasher.fit(trees).codes(trees)
    write_codes(tmp_path / "c.parquet", [str(n) for n in range(6)], codes)
    found = pl.read_parquet(tmp_path / "c.parquet")["code"]
    assert found.dtype == pl.Array(pl.UInt64, 2)
    assert (found.to_numpy() == codes).all()
    [[far]] = duckdb.sql(
        "select list_sum([bit_count(xor(x[1], x[2])) for x in list_zip(a.code, b.code)])"
        f" from '{tmp_path}/c.parquet' a, '{tmp_path}/c.parquet' b where a.id = '0' and b.id = '5'"
    ).fetchall()
    assert far == (hasher.transform(trees)[0] != hasher.transform(trees)[5]).sum()


@pytest.mark.parametrize(
    ("write", "matrix", "message"),
    [
        (write_vectors, np.zeros(3), r"vectors must be a matrix .* got float64 of shape \(3,\)"),
        (write_vectors, np.zeros((3, 0)), "with at least one column"),
        (write_vectors, np.zeros((3, 2), int), "matrix of float32 or float64 .* got int64"),
        (write_vectors, np.zeros((3, 2), ">f8"), "got >f8"),
        (write_vectors, [[1.0]], "got list"),
        (write_codes, np.zeros((3, 2)), "matrix of uint64 .* got float64"),
        (write_vectors, np.zeros((2, 2)), "2 vectors have 3 ids"),
    ],
)
def test_other_matrices_are_refused(tmp_path, write, matrix, message):
    with pytest.raises(KernelInputError, match=message):
        write(tmp_path / "v.parquet", list("abc"), matrix)


def test_labels_are_counted(tmp_path):
    with pytest.raises(KernelInputError, match="3 vectors have 1 labels"):
        write_vectors(tmp_path / "v.parquet", list("abc"), np.zeros((3, 2)), ["x"])


# Reading it as texts.


def test_results_are_not_read_as_texts(tmp_path):
    columns = {"id": str, "text": str}
    rows = [("a", "Raf binds Ras.")]
    written(tmp_path / "a.parquet", rows, columns, content="predictions")
    (tmp_path / "b.parquet.gz").write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    for name in "a.parquet", "b.parquet.gz":
        with pytest.raises(ReadError, match="the table has predictions written by kernelwood"):
            kw.read(tmp_path / name)
    [example] = kw.read(tmp_path / "a.parquet", "parquet", text_field="text")
    assert example.view("document").text == "Raf binds Ras."
