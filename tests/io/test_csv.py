"""Tests of tables as texts."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import given, strategies as st
from record_files import COLUMNS, documents, problem

from kernelwood.io import read


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(mark):
    assert documents(f"id{mark}text\n1{mark}Raf\n")["1"].text == "Raf"


def test_a_delimiter_may_be_given():
    assert documents("id:text,x\n1:Raf\n", delimiter=":", text_field="text,x")["1"].text == "Raf"


@pytest.mark.parametrize("value", ["", ",,", 3])
def test_a_delimiter_is_one_character(value):
    with pytest.raises(ValueError, match="delimiter must be one character"):
        documents(COLUMNS, delimiter=value)


def test_a_quoted_field_may_have_line_breaks_and_the_origin_is_its_first_line():
    text = 'id,text\n1,"Raf\n\nbinds, ""Ras"""\n2,b\n'
    examples = read(io.StringIO(text), "csv")
    assert examples[0].view("document").text == 'Raf\n\nbinds, "Ras"'
    assert [example.origin.line for example in examples] == [2, 5]


def test_a_quotation_mark_inside_a_field_is_text():
    assert documents('id,text\n1,a 5" pipe\n')["1"].text == 'a 5" pipe'


def test_a_quotation_mark_that_is_never_closed_is_located():
    said = problem('id,text\n1,a\n2,"b\n3,c\n')
    assert (said.problem, said.line, said.column) == ("a quotation mark is never closed", 3, 3)


def test_text_after_a_quoted_field_is_an_error_of_its_record_only():
    examples = read(io.StringIO('id,text\n1,"a"b\n2,c\n'), "csv", "collect")
    assert [example.id for example in examples] == ["2"]
    assert [problem.line for problem in examples.tally.problems] == [2]


def test_a_ragged_record_is_an_error_of_its_line():
    said = problem("id,text,year\n1,Raf, and Ras,3,4\n")
    assert said.problem == "the record has 5 fields, the header 3"
    assert said.line == 2


def test_rows_of_empty_fields_are_ignored():
    assert list(documents("id,text\n,\n1,a\n,\n")) == ["1"]


def test_a_field_may_be_longer_than_the_limit_of_the_csv_module():
    long = "Raf " * 100_000
    assert documents(f"id,text\n1,{long}\n")["1"].text == long


def test_a_record_without_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr("kernelwood.io.formats.delimited._MAX_RECORD", 1000)
    said = problem('id,text\n1,"' + "x\n" * 1000)
    assert (said.problem, said.line) == ("the record has more than 1,000 bytes", 2)


def test_bytes_that_are_not_utf8_cost_one_record():
    data = b"id,text\n1,a\n2,\xff\n3,c\n"
    examples = read(io.BytesIO(data), "csv", "collect")
    assert [example.id for example in examples] == ["1", "3"]
    assert [problem.line for problem in examples.tally.problems] == [3]


def test_compressed_tables_are_read(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"text\nRaf\n"))
    assert [example.id for example in read(path)] == ["a:1"]


CELLS = st.text(
    st.characters(blacklist_characters="\r\0", blacklist_categories=("Cs",)), min_size=1
)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, unique_by=lambda row: row[0].strip()))
def test_what_the_csv_module_writes_is_read(rows):
    rows = [row for row in rows if row[0].strip() and row[1].strip()]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("id", "text"), *rows])
    made = documents(out.getvalue())
    assert {name: document.text for name, document in made.items()} == {
        name.strip(): text for name, text in rows
    }
