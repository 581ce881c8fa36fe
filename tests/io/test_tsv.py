"""Tests of tables with tabs as texts."""

from __future__ import annotations

from record_files import documents, problem


def test_fields_are_separated_by_tabs_only():
    assert documents("id\ttext, full\n1\tRaf, Ras\n", "tsv", text_field="text, full")["1"].text == (
        "Raf, Ras"
    )


def test_quoted_fields_may_have_tabs_and_line_breaks():
    assert documents('id\ttext\n1\t"Raf\t\nRas"\n', "tsv")["1"].text == "Raf\t\nRas"


def test_a_table_with_commas_is_not_one_with_tabs():
    assert "does not look like tsv but like csv" in problem("id,text\n1,Raf\n", "tsv").hint


def test_a_lacking_field_is_located():
    said = problem("id\ttext\n1\tRaf\n2\n", "tsv")
    assert (said.problem, said.line) == ("the record has 1 field, the header 2", 3)
