from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import demo, main, questions


@pytest.fixture(scope="module")
def report():
    return json.loads(CliRunner().invoke(main, ["demo", "--json"]).stdout)


@pytest.fixture(scope="module")
def shown():
    return CliRunner().invoke(main, ["demo"]).stdout


def test_json_has_the_promised_keys(report):
    assert list(report) == [
        "dataset", "comparison", "neighbors", "classification", "note", "seconds",
    ]  # fmt: skip


def test_compared_questions_are_more_similar_than_the_average_pair(report):
    for row in report["comparison"]["similarities"]:
        assert row["similarity"] > row["average_pair"]


def test_shared_fragments_are_explained_for_words_and_tree(report):
    assert {f["view"] for f in report["comparison"]["largest_fragments"]} == {"tree", "words"}


def test_shares_lie_between_zero_and_one(report):
    for fragment in report["comparison"]["heaviest_fragments"]:
        assert 0 < fragment["share"] <= 1


def test_no_question_is_its_own_neighbor(report):
    for search in report["neighbors"]:
        assert search["query"]["id"] not in {found["id"] for found in search["nearest"]}


def test_every_kernel_beats_guessing(report):
    assert min(row["accuracy"] for row in report["classification"]) > 1 / 6


def test_the_sum_of_kernels_is_evaluated_too(report):
    assert [row["name"] for row in report["classification"]][-1] == "all three, summed"


def test_evaluations_are_counted(report):
    # Five folds: a Gram matrix of 96, and 24 against 96.
    assert report["classification"][0]["kernel_evaluations"] == 5 * (96 * 97 // 2 + 24 * 96)


def test_threads_do_not_change_the_accuracies(report):
    other = json.loads(CliRunner().invoke(main, ["demo", "--json", "--n-jobs", "2"]).stdout)
    assert [row["accuracy"] for row in other["classification"]] == [
        row["accuracy"] for row in report["classification"]
    ]


def test_smallness_of_the_data_is_said(shown):
    assert "far too few" in " ".join(shown.split())


def test_output_fits_eighty_columns(shown):
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_no_thread_is_wrong_usage():
    assert CliRunner().invoke(main, ["demo", "--n-jobs", "0"]).exit_code == 2


def test_expected_errors_exit_with_one_and_no_traceback(monkeypatch):
    def fail(*args):
        raise kw.MemoryBudgetError("the matrix needs too much memory")

    monkeypatch.setattr(demo, "run_demo", fail)
    result = CliRunner().invoke(main, ["demo"])
    assert (result.exit_code, result.stderr) == (1, "Error: the matrix needs too much memory\n")


def test_progress_is_silent_where_stderr_is_no_terminal():
    assert CliRunner().invoke(main, ["demo", "--json"]).stderr == ""


def test_phases_are_told_in_order():
    phases = []
    questions.run_demo(step=phases.append)
    assert phases[-1] == "training classifiers"


def test_output_survives_a_terminal_without_unicode():
    done = subprocess.run(
        [sys.executable, "-m", "kernelwood", "demo"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
