"""``kernelwood terms``."""

from __future__ import annotations

from functools import partial

import pytest
from cli.running import answer, invoke, wrong_data

import kernelwood as kw

run = partial(invoke, "terms")
listed = partial(answer, "terms")


@pytest.fixture
def corpus(tmp_path):
    """Return a folder of two annotated texts."""
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / "a.txt").write_text("Ras binds Raf. It was Ras.\n", encoding="utf-8")
    (folder / "a.ann").write_text(
        "T1\tprotein 0 3\tRas\nT2\tprotein 10 13\tRaf\nT3\tprotein 18 21\twas\n"
        "N1\tReference T1 DB:1\tRas\n",
        encoding="utf-8",
    )
    (folder / "b.txt").write_text("Ras was what it was.\n", encoding="utf-8")
    (folder / "b.ann").write_text("T1\tprotein 0 3\tRas\n", encoding="utf-8")
    return folder


def test_the_list_has_terms_types_and_ids(corpus, tmp_path):
    report = listed(corpus, "-o", tmp_path / "terms.tsv")
    written = (tmp_path / "terms.tsv").read_text(encoding="utf-8")
    assert written == "term\ttype\tid\nRaf\tprotein\nRas\tprotein\tDB:1\n"
    assert report["n_terms"] == 2
    assert report["left_out"] == {"term that is rarely an entity": 1}


def test_the_list_is_a_dictionary(corpus, tmp_path):
    listed(corpus, "-o", tmp_path / "terms.tsv", "--min-share", 0)
    made = kw.Dictionary.read(tmp_path / "terms.tsv")
    assert [term.term for term in made.terms] == ["Raf", "Ras", "was"]


def test_options_choose_terms(corpus, tmp_path):
    assert listed(corpus, "-o", tmp_path / "t.tsv", "--min-count", 2)["n_terms"] == 1
    error = wrong_data(run(corpus, "-o", tmp_path / "u.tsv", "--type", "gene"))
    assert "the corpus has no terms: no entities are annotated" in error
    assert not (tmp_path / "u.tsv").exists()


def test_the_list_can_be_standard_output(corpus):
    result = run(corpus, "-o", "-")
    assert result.stdout.splitlines() == ["term\ttype\tid", "Raf\tprotein", "Ras\tprotein\tDB:1"]


def test_names_come_before_numbers(tmp_path):
    (tmp_path / "a.txt").write_text("$1 million for Zak.")
    (tmp_path / "a.ann").write_text("T1\tMoney 0 10\t$1 million\nT2\tPeop 15 18\tZak\n")
    shown = run(tmp_path, "-o", "-").stdout
    assert shown.splitlines()[1:] == ["Zak\tPeop", "$1 million\tMoney"]


def test_quiet_shows_no_table(corpus, tmp_path):
    assert "protein" not in run(corpus, "-q", "-o", tmp_path / "terms.tsv").stdout


def test_terms_are_shown(corpus, tmp_path):
    shown = run(corpus, "-o", tmp_path / "terms.tsv").stdout
    assert "Ras" in shown and "2 terms" in shown
    assert "1 left out: term that is rarely an entity" in shown


def test_a_type_without_entities_is_named(corpus, tmp_path):
    message = wrong_data(run(corpus, "-o", tmp_path / "terms.tsv", "--type", "gene"))
    assert "no entities are annotated as gene" in message
