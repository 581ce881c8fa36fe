"""Runs of programs beside each other: the table, the file of runs, the trend, the page."""

from __future__ import annotations

import copy
import json
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import history

ROOT = Path(__file__).parents[2]
STORED = history.read(history.STORED)


def row(program: str, seconds: float, number: str = "float64", **others: Any) -> dict[str, Any]:
    row = {
        "task": "sst",
        "title": "SubsetTreeKernel",
        "input": "4 trees",
        "program": program,
        "number": number,
        "seconds": seconds,
        "rounds": 2,
        "figure": seconds * 1000,
        "unit": "ms",
        "ratio": None,
        "result": "",
    }
    return row | others


def run(ratio: float, **others: Any) -> dict[str, Any]:
    """Return a run with one peer."""
    rows = [
        row("kernelwood", 1.0),
        row("strkernels", ratio, ratio=ratio, result="same", **others),
    ]
    return {
        "format": history.FORMAT,
        "date": "2030-01-02T03:04:05+00:00",
        "commit": "abc",
        "machine": {"processor": "P", "cores": 2, "instruction set": "avx2", "system": "Linux"},
        "versions": {"python": "3.12.1", "strkernels": "1.0"},
        "rows": rows,
    }


def changed(found: dict[str, Any], part: str, **values: Any) -> dict[str, Any]:
    found = copy.deepcopy(found)
    found[part] |= values
    return found


def test_a_peer_stands_beside_ours_of_the_same_number_type() -> None:
    rows = [
        row("kernelwood", 0.001, "float32"),
        row("kernelwood", 0.002, "float64"),
        row("strkernels", 0.010, ratio=5.0, result="same"),
    ]
    [found] = history.comparison(rows)
    assert (found["kernelwood"], found["peer"], found["its time"]) == (2, "strkernels", 10)
    assert (found["ratio"], found["result"], found["variant"]) == (5, "same", "float64")


def test_a_task_without_peers_is_in_the_table() -> None:
    rows = [row("kernelwood", 0.001, "float32"), row("kernelwood", 0.002, "float64")]
    found = history.comparison(rows)
    assert [(one["kernelwood"], one["peer"], one["ratio"]) for one in found] == [
        (1, "-", None),
        (2, "-", None),
    ]


@pytest.mark.parametrize(
    ("value", "shown"), [(123_456, "123000"), (99.96, "100"), (1.2345, "1.23"), (0.01234, "0.0123")]
)
def test_three_digits_of_figures_count(value: float, shown: str) -> None:
    assert f"{history.short(value)}" == shown


def test_runs_are_read_as_they_were_added(tmp_path: Path) -> None:
    path = tmp_path / "new" / "runs.jsonl"
    history.append(path, run(5))
    history.append(path, run(6))
    assert history.read(path) == [run(5), run(6)]


@pytest.mark.parametrize("line", ["{", "[]", '{"date": "2030"}', '{"format": 99, "rows": []}'])
def test_a_line_that_is_not_a_run_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    history.append(path, run(5))
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"runs.jsonl:2: not a run of format 1"):
        history.read(path)


def test_a_described_run_has_machine_and_versions_but_no_names_of_it() -> None:
    found = history.describe([row("kernelwood", 1 / 3)])
    assert found["rows"][0]["seconds"] == 0.33333
    assert found["versions"]["python"] == platform.python_version()
    assert {"kernelwood", "numpy", "scikit-learn"} <= set(found["versions"])
    assert {"processor", "instruction set", "cores"} <= set(found["machine"])
    text = json.dumps(found)
    assert str(Path.home()) not in text and str(ROOT) not in text
    assert platform.node() not in found["machine"].values()


def test_the_trend_has_the_first_the_previous_and_the_last_ratio() -> None:
    [found] = history.trend([run(8), run(10), run(11)])
    ratios = found["first"], found["previous"], found["this"], found["change"]
    assert ratios == (8, 10, 11, "+10%")
    assert found["note"] == ""


def test_a_first_run_has_no_change() -> None:
    [found] = history.trend([run(8)])
    assert (found["first"], found["previous"], found["change"]) == (8, None, None)


@pytest.mark.parametrize(("ratio", "worse"), [(86, False), (84, True), (200, False)])
def test_a_ratio_that_falls_by_more_than_15_percent_is_worse(ratio: float, worse: bool) -> None:
    [found] = history.trend([run(100), run(ratio)])
    assert history.is_worse(found) == worse


def test_the_change_is_that_from_the_run_before_not_from_the_first() -> None:
    [found] = history.trend([run(100), run(50), run(49)])
    assert not history.is_worse(found)


def test_other_inputs_are_not_compared() -> None:
    [found] = history.trend([run(100), run(10, input="9 trees")])
    assert (found["first"], found["previous"]) == (10, None)


def test_runs_in_which_a_peer_was_not_measured_are_passed_over() -> None:
    without = run(1)
    without["rows"] = without["rows"][:1]
    [found] = history.trend([run(100), without, run(90)])
    assert (found["previous"], found["this"]) == (100, 90)
    assert history.trend([run(100), without]) == []


def test_new_versions_and_other_machines_are_noted() -> None:
    newer = changed(run(10), "versions", strkernels="1.1")
    assert history.trend([run(10), newer])[0]["note"] == "strkernels 1.0, now 1.1"
    other = changed(run(5), "machine", processor="Q")
    assert history.trend([run(10), other])[0]["note"] == "worse, other machine"


def test_what_is_worse_is_a_warning_and_an_exit_code_if_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.jsonl"
    for ratio in (10, 5):
        history.append(path, run(ratio))
    assert history.main([str(path)]) == 0
    assert history.main([str(path), "--fail"]) == 1
    warning = "warning: sst, beside strkernels on 4 trees: ratio 10.0, now 5.0\n"
    assert capsys.readouterr().err == warning * 2
    history.append(path, run(5))
    assert history.main([str(path), "--fail"]) == 0


def test_the_trend_can_be_had_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.jsonl"
    history.append(path, run(10))
    assert history.main([str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == history.trend([run(10)])


def test_only_the_table_of_a_page_is_written(tmp_path: Path) -> None:
    page, path = tmp_path / "page.md", tmp_path / "runs.jsonl"
    page.write_text(f"before\n{history.BEGIN}old\n{history.END}after\n", encoding="utf-8")
    history.append(path, run(10))
    assert history.main([str(path), "--page", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    table = history.page_table(run(10))
    assert text == f"before\n{history.BEGIN}{table}{history.END}after\n"
    assert table.startswith("Measured 2030-01-02 at commit abc: P, 2 cores, avx2, Linux; python")
    assert "Not there, and not measured: KeLP, SVM-light-TK, GraKeL, faiss, " in table
    assert "| SubsetTreeKernel | 4 trees | ms | 1,000 (float64) | strkernels | 10,000 |" in table


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="must be there once"):
        history.write_page(page, run(10))


def test_the_page_on_speed_has_the_figures_of_the_last_stored_run() -> None:
    text = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    _, _, rest = text.partition(history.BEGIN)
    table, mark, _ = rest.partition(history.END)
    assert mark and table == history.page_table(STORED[-1])


def test_results_of_stored_runs_agree() -> None:
    assert STORED
    for stored in STORED:
        peers = [one for one in stored["rows"] if one["program"] != history.OURS]
        assert peers and not [one for one in peers if one["result"].startswith("differs")]
        assert stored["commit"] and not stored["commit"].endswith("+")
