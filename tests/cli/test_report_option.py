"""``--report`` of ``extract``, ``predict``, ``evaluate`` and ``crossval``."""

from __future__ import annotations

import json
import re

import pytest
from cli.interactions import some_documents
from cli.running import invoke

import kernelwood as kw
from kernelwood.cli.reports import Report
from kernelwood.relations import RelationExtractor

TEXT = "Raf binds Ras. Mek sits beside Raf.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a model, a corpus, texts and terms."""
    made = tmp_path_factory.mktemp("reports")
    documents = some_documents()
    kw.write(documents, made / "corpus.jsonl")
    kw.save(RelationExtractor(views="context", random_state=0).fit(documents), made / "model.kw")
    (made / "note.txt").write_text(TEXT)
    (made / "terms.tsv").write_text("Raf\tprotein\nRas\tprotein\nMek\tprotein\n")
    return made


@pytest.fixture
def run(folder, tmp_path, monkeypatch):
    """Run a command in a folder of its own; names of inputs are those of the files."""

    def call(command, *arguments):
        named = [folder / one if (folder / str(one)).exists() else one for one in arguments]
        return invoke(command, *named)

    monkeypatch.chdir(tmp_path)
    return call


def ok(result):
    assert result.exit_code == 0, result.stderr
    return result


def usage(result):
    assert result.exit_code == 2
    return " ".join(result.stderr.split())


EXTRACT = ("extract", "model.kw", "note.txt", "--entities", "terms.tsv")
PREDICT = ("predict", "model.kw", "corpus.jsonl")


@pytest.mark.parametrize("command", [EXTRACT, PREDICT])
def test_a_report_is_written_beside_the_predictions(run, tmp_path, command):
    ok(run(*command, "-o", "found.jsonl", "--report", "page.html"))
    lines = (tmp_path / "found.jsonl").read_text("utf-8").splitlines()
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count('class="rel ') == len(lines) > 0
    assert json.loads(lines[0])["type"] in page


def test_predictions_are_the_same_with_a_report(run, tmp_path):
    ok(run(*PREDICT, "-o", "a.jsonl", "--report", "page.html"))
    ok(run(*PREDICT, "-o", "b.jsonl"))
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize("command", [EXTRACT, PREDICT])
def test_the_output_may_be_the_report(run, tmp_path, command):
    result = ok(run(*command, "-o", "page.html"))
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert re.fullmatch(r"\d+ relations? among \d+ candidates? in \d+ documents?\n", result.stdout)


def test_without_an_output_file_the_table_is_printed_too(run, tmp_path):
    result = ok(run(*EXTRACT, "--report", "page.html"))
    assert "participants" in result.stdout and (tmp_path / "page.html").exists()


def test_the_title_names_the_texts(run, tmp_path):
    ok(run(*EXTRACT, "-o", "page.html"))
    assert "<title>Relations in note.txt</title>" in (tmp_path / "page.html").read_text("utf-8")


def test_candidates_below_the_threshold_are_shown_with_all(run, tmp_path):
    ok(run(*PREDICT, "-o", "page.html", "--all", "--threshold", "0.99"))
    assert "below the decision threshold</summary>" in (tmp_path / "page.html").read_text("utf-8")


def test_the_same_report_is_written_every_time(run, tmp_path):
    for name in ("a.html", "b.html"):
        ok(run(*PREDICT, "-o", name))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_an_evaluation_has_scores_and_errors(run, tmp_path):
    ok(run("evaluate", "model.kw", "corpus.jsonl", "--report", "page.html"))
    page = (tmp_path / "page.html").read_text("utf-8")
    assert 'id="scores"' in page and "✓ as annotated" in page
    assert "Evaluation of model.kw on corpus.jsonl" in page


def test_a_cross_validation_has_folds_and_evidence(run, tmp_path):
    ok(
        run(
            *("crossval", "corpus.jsonl", "--view", "context", "--folds", "2"),
            *("--report", "page.html"),
        )
    )
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "2 folds of the cross-validation" in page
    assert "data-c=0" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "a.html", "--report", "b.html"), "both reports; leave out one of them"),
        (("--report", "b.txt"), "'b.txt' does not end in .html"),
        (("--report", "-"), "'-' does not end in .html"),
        (("--report", "model.kw"), "does not end in .html"),
        (("-o", "a.html", "--to", "tsv"), "a.html is the name of a report"),
    ],
)
def test_reports_that_cannot_be_written_are_refused(run, arguments, message):
    assert message in usage(run(*PREDICT, *arguments))


@pytest.mark.parametrize("command", ["evaluate", "crossval"])
def test_the_folder_of_a_report_is_checked_before_the_work(run, command):
    sources = ["model.kw"] * (command == "evaluate") + ["corpus.jsonl"]
    result = run(command, *sources, "--report", "no/page.html")
    assert result.exit_code == 1 and "there is no such folder" in result.stderr


def test_a_report_that_fails_leaves_the_old_one(run, tmp_path, monkeypatch):
    (tmp_path / "page.html").write_text("old")

    def fail(*arguments):
        raise OSError(28, "Disk full", "page.html")

    monkeypatch.setattr(RelationExtractor, "explain", fail)
    assert run(*PREDICT, "-o", "page.html").exit_code == 1
    assert (tmp_path / "page.html").read_text() == "old"


def test_titles_name_three_sources(folder):
    options = {"out": None, "report": "page.html"}
    assert Report.of(options, "On", ["a/b.txt", "c", "d", "e"]).title == "On b.txt, c, d and 1 more"


def test_no_report_is_made_unless_asked_for():
    assert Report.of({"out": "a.tsv", "report": None}, "On", ["a"]) is None
