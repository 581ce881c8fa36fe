"""The demo: the main job on the bundled corpus, as data, as text and as a page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from processes import run_python

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.cli.commands import demo
from kernelwood.relations import relation_name

NAMES = {"RAK2", "TORP1", "SMK3", "Velin", "Crynin", "HAB1"}


def run(*arguments):
    return CliRunner().invoke(main, ["demo", *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def done(folder):
    return run("--json", "-o", folder / "demo.html")


@pytest.fixture(scope="module")
def report(done):
    return json.loads(done.stdout)


@pytest.fixture
def shown(report, monkeypatch):
    monkeypatch.setattr(demo, "run_demo", lambda *arguments: report)
    return run().stdout


def test_json_has_the_promised_keys(report):
    assert list(report) == [
        "dataset", "model", "evaluation", "gates", "text", "entities", "relations", "report",
        "note", "timings", "seconds",
    ]  # fmt: skip


def test_it_learns_and_evaluates_on_different_documents(report):
    sizes = report["dataset"]
    assert min(sizes["train"]["documents"], sizes["test"]["documents"]) > 0
    assert report["evaluation"]["documents"] == sizes["test"]["documents"]


def test_it_ranks_better_than_chance(report):
    assert report["evaluation"]["auc"] > 0.6


def test_scores_have_intervals(report):
    f1 = report["evaluation"]["scores"]["micro"]["f1"]
    assert f1["low"] <= f1["value"] <= f1["high"]


def test_gates_are_learned(report):
    assert report["gates"]["n_labels"] > 1


def test_relations_are_found_in_the_new_text(report):
    assert len(report["relations"]) > 0


def test_offsets_lead_to_the_entities_of_the_text(report):
    for relation in report["relations"]:
        for one in relation["participants"]:
            [(start, end)] = one["spans"]
            assert report["text"][start:end] == one["text"]


def test_every_relation_reaches_the_threshold(report):
    assert all(row["probability"] >= row["threshold"] for row in report["relations"])


def test_every_relation_has_evidence(report):
    assert all(row["evidence"]["cases"][0]["supports"] for row in report["relations"])


def test_the_evidence_of_the_most_probable_relation_is_shown(report, shown):
    best = max(report["relations"], key=lambda row: row["probability"])
    n_supporting = sum(case["supports"] for case in best["evidence"]["cases"])
    lines = shown.splitlines()
    assert best["id"] in lines
    name = relation_name(best["relation"]).replace("\N{NO-BREAK SPACE}", " ")
    assert f"for {name}: {n_supporting} training cases" in lines
    assert any(
        line.startswith(f"decision score {best['evidence']['score']:+.3f}") for line in lines
    )


def test_the_names_of_the_new_text_were_never_seen():
    from kernelwood.datasets import load_interactions

    seen = {
        entity.text for example in load_interactions("all")
        for entity in example.view("sentence").entities
    }  # fmt: skip
    assert seen.isdisjoint(NAMES)


def test_the_names_of_the_new_text_are_found(report):
    assert {one["text"] for one in report["entities"]} == NAMES
    assert all(report["text"][slice(*one["spans"][0])] == one["text"] for one in report["entities"])


def test_the_scores_of_entities_are_shown(report, shown):
    assert f"F1 {report['model']['entities']['f1']:.2f} on held-out documents" in " ".join(
        shown.split()
    )


def test_the_page_is_where_it_says(report):
    assert "<h1>kernelwood demo" in Path(report["report"]).read_text("utf-8")


@pytest.mark.parametrize("section", ["relations", "scores", "gates", "model", "time"])
def test_the_page_has_every_section(report, section):
    assert f'<section id="{section}"' in Path(report["report"]).read_text("utf-8")


def test_nothing_but_the_page_is_left_behind(report):
    path = Path(report["report"])
    assert list(path.parent.iterdir()) == [path]


def test_every_phase_is_timed(report):
    assert list(report["timings"]) == list(demo._PHASES)


def test_progress_is_silent_where_stderr_is_no_terminal(done):
    assert (done.exit_code, done.stderr) == (0, "")


def without_times(report):
    return {k: v for k, v in report.items() if k not in ("report", "timings", "seconds")}


def test_threads_change_nothing_but_the_time(report, folder):
    phases = []
    other = demo.run_demo(str(folder / "threads.html"), 2, phases.append)
    Path(other["report"]).unlink()
    assert without_times(json.loads(json.dumps(other))) == without_times(report)
    assert phases == list(demo._PHASES)


def test_smallness_of_the_data_is_said(shown):
    assert "too few and too simple" in " ".join(shown.split())


def test_the_path_of_the_page_is_printed_unbroken(report, shown):
    assert report["report"] in shown.splitlines()


def test_output_fits_eighty_columns(report, shown):
    lines = [line for line in shown.splitlines() if line != report["report"]]
    assert max(map(len, lines)) <= 80


def test_no_thread_is_wrong_usage():
    assert run("--n-jobs", "0").exit_code == 2


@pytest.mark.parametrize("name", ["demo.txt", "."])
def test_a_file_that_cannot_be_a_page_is_wrong_usage(tmp_path, name):
    assert run("-o", tmp_path / name).exit_code == 2


def test_a_missing_folder_is_told_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "run_demo", lambda *arguments: pytest.fail("worked"))
    result = run("-o", tmp_path / "no" / "demo.html")
    assert (result.exit_code, "no such folder" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            kw.errors.MemoryBudgetError("it needs too much memory"),
            1,
            "Error: it needs too much memory\n",
        ),
        (OSError(28, "Disk full", "demo.html"), 1, "Error: demo.html: Disk full\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_expected_failures_are_one_message(tmp_path, monkeypatch, error, code, said):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(demo, "run_demo", fail)
    result = run("-o", tmp_path / "demo.html")
    assert (result.exit_code, result.stderr, list(tmp_path.iterdir())) == (code, said, [])


def test_output_survives_a_terminal_without_unicode(report, tmp_path):
    (tmp_path / "report.json").write_text(json.dumps(report))
    code = (
        "import json, pathlib; from kernelwood.cli import main; "
        "from kernelwood.cli.commands import demo; "
        "demo.run_demo = lambda *a: json.loads(pathlib.Path('report.json').read_text()); "
        "main(['demo'])"
    )
    variables = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run_python("-c", code, cwd=tmp_path, env=variables)
    assert (done.returncode, done.stderr) == (0, "")
