"""Tests of tables and JSON records as texts."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import ReadError
from kernelwood.io import read, read_texts, sections_of

COLUMNS = "pmid,title,abstract,year\n"


def documents(text, format="csv", **options):
    examples = read(io.StringIO(text), format, **options)
    return {example.id: example.view("document") for example in examples}


def problem(text, format="csv", **options):
    with pytest.raises(ReadError) as caught:
        documents(text, format, **options)
    return caught.value


def test_text_and_id_have_usual_names():
    assert documents(f"{COLUMNS}7,T,Raf binds.,2001\n")["7"].text == "Raf binds."


@pytest.mark.parametrize("name", ["Abstract", "ABSTRACT", "abstract_text", "Full Text", "Text"])
def test_case_and_separators_in_usual_names_do_not_matter(name):
    assert documents(f"id,{name}\na,Raf\n")["a"].text == "Raf"


def test_other_columns_are_metadata():
    assert documents(f"{COLUMNS}7,T,Raf binds.,\n")["7"].metadata == (("title", "T"),)


def test_long_values_are_left_out_of_metadata_with_a_remark():
    text = f"id,text,note\n1,Raf,{'x' * 2000}\n"
    examples = read(io.StringIO(text), "csv")
    assert examples[0].view("document").metadata == ()
    assert examples.tally.remarks == {
        "value of more than 1,000 characters is not in the metadata": 1
    }


def test_many_columns_are_cut_with_a_remark():
    names = ",".join(f"c{number}" for number in range(60))
    text = f"id,text,{names}\n1,Raf,{','.join('x' * 60)}\n"
    examples = read(io.StringIO(text), "csv")
    assert len(examples[0].view("document").metadata) == 50
    assert list(examples.tally.remarks) == ["only 50 columns are in the metadata"]


def test_several_text_columns_are_joined_and_recorded():
    made = documents(f"{COLUMNS}7,On Raf,It binds.,\n", text_field=["title", "abstract"])["7"]
    assert made.text == "On Raf\n\nIt binds."
    assert [made.text[s.start : s.end] for s in sections_of(made)] == ["On Raf", "It binds."]
    assert [section.name for section in sections_of(made)] == ["title", "abstract"]


def test_a_blank_text_column_leaves_no_gap():
    made = documents(f"{COLUMNS}7,,It binds.,\n", text_field=["title", "abstract"])["7"]
    assert made.text == "It binds."


def test_an_id_field_may_be_given():
    assert list(documents(f"{COLUMNS}7,T,Raf.,2001\n", id_field="year")) == ["2001"]


def test_without_an_id_column_records_are_numbered():
    assert list(documents("text,year\nRaf,1\nRas,2\n")) == ["stream:1", "stream:2"]


def test_with_several_id_columns_records_are_numbered_with_a_remark():
    examples = read(io.StringIO("pmid,doi,text\n1,2,Raf\n"), "csv")
    assert [example.id for example in examples] == ["stream:1"]
    assert "several columns may hold the id (pmid, doi)" in next(iter(examples.tally.remarks))


def test_records_without_text_are_left_out_with_a_remark():
    examples = read(io.StringIO("id,text\n1,\n2,Raf\n3, \n"), "csv")
    assert [example.id for example in examples] == ["2"]
    assert examples.tally.remarks == {"record without text was left out": 2}


def test_a_missing_column_gets_a_guess_and_the_columns():
    said = problem(f"{COLUMNS}7,T,Raf.,2001\n", text_field="abstrct")
    assert "no column 'abstrct'" in said.problem
    assert said.hint == "did you mean 'abstract'? columns: pmid, title, abstract, year"
    assert said.line == 1


def test_a_table_without_a_text_column_names_its_columns():
    said = problem("gene,score\nRaf,1\n")
    assert said.hint == "give text_field=...; columns: gene, score"


def test_several_text_columns_must_be_chosen():
    assert (
        "several columns may hold the text: text, abstract"
        in problem("text,abstract\na,b\n").problem
    )


def test_a_repeated_column_cannot_be_the_text():
    assert "two columns are called 'a'" in problem("a,a,b\n1,2,3\n", text_field="a").problem


def test_repeated_ids_are_refused_with_their_line():
    said = problem("id,text\n1,a\n1,b\n")
    assert "the id '1' was used before, on line 2" in said.problem
    assert said.line == 3


def test_an_empty_id_is_an_error():
    said = problem("id,text\n ,a\n")
    assert "the id in 'id' is the string ' '" in said.problem
    assert said.line == 2


@pytest.mark.parametrize("value", [3, ["a", 3]])
def test_text_field_must_be_a_name(value):
    with pytest.raises(ValueError, match="text_field must be the name of a column, got 3"):
        documents(COLUMNS, text_field=value)


def test_id_field_must_be_a_name():
    with pytest.raises(ValueError, match="id_field must be the name of a column, got 3"):
        documents(COLUMNS, id_field=3)


# Tables.


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


# JSON.


def test_an_array_of_objects_is_read():
    made = documents('[{"id": 1, "text": "a"},\n {"id": "b", "text": "c"}]', "records")
    assert {name: document.text for name, document in made.items()} == {"1": "a", "b": "c"}


def test_values_of_all_kinds_are_metadata():
    record = '{"id": 1, "text": "a", "n": 1.5, "list": ["x"], "flag": true, "none": null}'
    made = documents(record, "records")["1"]
    assert made.metadata == (("n", "1.5"), ("list", '["x"]'), ("flag", "true"))


def test_a_text_that_is_no_string_is_an_error():
    said = problem('{"text": {"a": 1}}', "records")
    assert "the text in 'text' is an object, not a string" in said.problem


def test_a_list_of_strings_is_joined():
    assert documents('{"id": 1, "text": ["a", "b"]}', "records")["1"].text == "a\nb"


@pytest.mark.parametrize("value", ["true", "null", "[]", '""', "1.5"])
def test_an_id_is_a_string_or_a_whole_number(value):
    assert "the id in 'id' is" in problem(f'{{"id": {value}, "text": "a"}}', "records").problem


def test_a_lacking_text_is_a_record_without_text():
    made = documents('{"id": 1, "text": "a"}\n{"id": 2}\n', "records")
    assert list(made) == ["1"]


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson"])
def test_the_content_tells_records_from_examples(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_text('{"id": "r", "text": "Raf"}\n')
    assert list(read(path)[0].views) == ["document"]
    path.write_text('{"id": "r", "views": {"words": {"sequence": ["Raf"]}}}\n')
    assert list(read(path)[0].views) == ["words"]


def test_a_json_file_is_recognized_by_its_content(tmp_path):
    (tmp_path / "a.json").write_text('[{"id": "r", "abstract": "Raf"}]')
    assert [example.id for example in read_texts(tmp_path / "a.json")] == ["r"]
