"""Tests of Parquet tables as texts, and of tables that other packages write."""

from __future__ import annotations

import gzip
import io
import sys

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import ReadError
from kernelwood.io import Limits, iter_read, read

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = {
    "pmid": [7, 8, 9],
    "abstract": ['Raf binds, "Ras".', "Ærø\nagain", "x"],
    "n": [1.5, None, 2],
}


def stored(table=None, **options):
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(table or ROWS), out, **options)
    return out.getvalue()


def documents(data, **options):
    examples = read(io.BytesIO(data), "parquet", **options)
    return {example.id: example.view("document") for example in examples}


def test_rows_are_documents():
    made = documents(stored())
    assert [(name, document.text) for name, document in made.items()] == [
        ("7", 'Raf binds, "Ras".'), ("8", "Ærø\nagain"), ("9", "x"),
    ]  # fmt: skip
    assert made["7"].metadata == (("n", "1.5"),)


def test_row_groups_are_read_one_after_the_other():
    assert list(documents(stored(row_group_size=1))) == ["7", "8", "9"]


def test_the_format_is_recognized_by_content_and_suffix(tmp_path):
    (tmp_path / "a.parquet").write_bytes(stored())
    assert len(read(tmp_path / "a.parquet")) == len(read(io.BytesIO(stored()))) == 3


def test_a_compressed_file_is_read(tmp_path):
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(stored()))
    assert len(read(tmp_path / "a.parquet.gz")) == 3


def test_a_folder_is_read(tmp_path):
    (tmp_path / "a.parquet").write_bytes(stored())
    assert len(read(tmp_path)) == 3


def test_numbers_with_gaps_are_ids_without_decimals():
    assert list(documents(stored({"id": [1.0, 2.0], "text": ["a", "b"]}))) == ["1", "2"]


def test_lists_and_bytes_are_not_read():
    table = {"id": [1], "text": ["a"], "vector": [[0.5, 0.5]], "raw": [b"x"]}
    assert documents(stored(table))["1"].metadata == ()


def test_categories_are_texts():
    column = pyarrow.array(["a", "b"]).dictionary_encode()
    assert documents(stored({"text": column}))["stream:2"].text == "b"


def test_columns_may_be_named():
    made = documents(stored({"a": ["x"], "b": ["y"]}), text_field=["b", "a"], id_field="a")
    assert made["x"].text == "y\n\nx"


def test_a_missing_column_is_named():
    with pytest.raises(ReadError, match="no column 'abstrct'"):
        documents(stored(), text_field="abstrct")


def test_repeated_ids_are_refused_with_their_row():
    with pytest.raises(ReadError, match=r"<stream>:2: the id '1' was used before, on line 1"):
        documents(stored({"id": [1, 1], "text": ["a", "b"]}))


def test_an_empty_table_gives_no_examples():
    assert documents(stored({"text": pyarrow.array([], pyarrow.string())})) == {}


def test_the_extra_is_named_if_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ReadError, match=r"pip install 'kernelwood\[arrow\]'"):
        documents(stored())


def test_a_value_of_many_rows_is_not_in_memory_for_each(tmp_path):
    path = tmp_path / "a.parquet"
    column = pyarrow.array(["x" * (1 << 22)]).take(pyarrow.array([0] * 100))
    table = pyarrow.table({"text": column})
    parquet.write_table(table, path, dictionary_pagesize_limit=1 << 24, compression="zstd")
    before = pyarrow.total_allocated_bytes()
    with iter_read(path, limits=Limits(ratio=1e6)) as stream:
        next(stream)
        assert pyarrow.total_allocated_bytes() - before < 20 << 22


def test_a_group_that_is_far_larger_than_in_the_file_is_refused():
    table = {"text": ["x" * (1 << 20)] * 80}
    data = stored(table, compression="gzip", use_dictionary=False)
    with pytest.raises(ReadError, match="more than 300 times as much"):
        documents(data)


def test_a_file_that_is_cut_is_an_error():
    with pytest.raises(ReadError, match="the Parquet table cannot be read"):
        documents(stored()[:-10])


@given(st.data())
def test_damaged_tables_give_only_read_errors(data):
    damaged = bytearray(stored())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(4, len(damaged) - 1))
        damaged[place] = data.draw(st.integers(0, 255))
    try:
        documents(bytes(damaged))
    except ReadError as problem:
        assert problem.path == "<stream>"


# Other packages.


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_what_pandas_writes_is_read(tmp_path, suffix):
    pandas = pytest.importorskip("pandas")
    frame, path = pandas.DataFrame(ROWS), tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    check(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "ndjson"])
def test_what_polars_writes_is_read(tmp_path, suffix):
    polars = pytest.importorskip("polars")
    frame, path = polars.DataFrame(ROWS), tmp_path / f"a.{suffix}"
    getattr(frame, f"write_{suffix}")(path)
    check(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_what_duckdb_writes_is_read(tmp_path, suffix):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / f"a.{suffix}"
    source = tmp_path / "source.parquet"
    source.write_bytes(stored())
    with duckdb.connect() as connection:
        connection.sql(f"COPY (SELECT * FROM '{source}') TO '{path}'")
    check(path)


def check(path):
    texts = {example.id: example.view("document").text for example in read(path)}
    assert texts == dict(zip(map(str, ROWS["pmid"]), ROWS["abstract"], strict=True))
