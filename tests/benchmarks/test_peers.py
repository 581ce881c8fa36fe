"""Programs beside ours: how they are measured in turn, compared, and left out if not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import history
import peers

ROOT = Path(__file__).parents[2]
DATA_FREE = {
    *("sst", "ptk", "wl", "single-sst", "single-ptk", "sptk", "csptk", "seq3", "seq4"),
    *("hamming1", "hamming10", "hamming100", "forest", "dictionary"),
}


def fixed(*seconds: float, result: object = 0) -> peers.Run:
    """Return a run that takes these times, one after the other."""
    times = iter(seconds)
    return lambda: (next(times), result)


def task(
    theirs: peers.Run, ours: dict[str, peers.Run], number: str = "", agree: Any = None
) -> peers.Task:
    peer = peers.Peer("other", lambda: theirs, agree or peers.same_values(0), number)
    return peers.Task("sum", "sums", "3 numbers", "ms", 1000.0, ours, [peer])


@pytest.fixture
def options(tmp_path: Path) -> peers.Options:
    """Return options of small inputs, without the research data."""
    (tmp_path / "data").mkdir()
    return peers.Options(str(tmp_path / "data"), None, None, tmp_path, peers.TINY)


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def package(name: str, install: str) -> Any:
        raise peers.MissingError(f"pip install {install}")

    monkeypatch.setattr(peers, "package", package)


def only(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[peers.Options], list[peers.Task]]
) -> None:
    monkeypatch.setattr(peers, "TASKS", (make,))


def test_the_smallest_time_of_the_rounds_counts() -> None:
    found = task(fixed(9, 6, 8), {"": fixed(3, 4, 2)}).race(3, 60)
    assert [(row["seconds"], row["figure"], row["rounds"]) for row in found] == [
        (2, 2000, 3),
        (6, 6000, 3),
    ]
    assert [row["ratio"] for row in found] == [None, 3]


def test_programs_run_in_turn() -> None:
    order: list[str] = []

    def named(name: str) -> peers.Run:
        return lambda: (order.append(name) or 1.0, 0)

    task(named("theirs"), {"": named("ours")}).race(2, 60)
    assert order == ["ours", "theirs"] * 2


def test_the_ratio_is_that_to_the_same_number_type() -> None:
    ours = {"float32": fixed(1), "float64": fixed(2)}
    *_, theirs = task(fixed(8), ours, "float64").race(1, 60)
    assert theirs["ratio"] == 4


def test_no_round_begins_after_the_time_of_a_task_but_the_second() -> None:
    found = task(fixed(2, 1, 0), {"": fixed(2, 1, 0)}).race(3, 0.0)
    assert [(row["seconds"], row["rounds"]) for row in found] == [(1, 2), (1, 2)]


def test_a_result_that_differs_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only(monkeypatch, lambda _: [task(fixed(1, result=2), {"": fixed(1, result=5)})])
    assert peers.main(["--repeats", "1"]) == 1
    assert "error: sum: the result of other differs by up to 3.0e+00" in capsys.readouterr().err


def test_a_result_that_agrees_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only(monkeypatch, lambda _: [task(fixed(4, result=5), {"": fixed(2, result=5)})])
    assert peers.main(["--repeats", "1"]) == 0
    shown = capsys.readouterr().out
    [line] = [line for line in shown.splitlines() if "other" in line]
    cells = [cell.strip() for cell in line.strip("│ ").split("│")]
    assert cells == ["sums", "3 numbers", "", "ms", "2,000", "other", "4,000", "2", "same"]


def test_programs_that_are_not_there_are_listed_with_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    nothing_installed: None,
    tmp_path: Path,
) -> None:
    only(monkeypatch, lambda given: list(peers.sequence_tasks(given)))
    assert peers.main(["--tiny", "--repeats", "1", "--data", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "not measured: strkernels (pip install strkernels)" in shown
    assert "not measured: KeLP (build it" in shown and "KELP=" in shown
    assert "bundled sentences" in shown


def test_stored_runs_are_added_and_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "runs.jsonl"
    for seconds in (8, 2):
        made = task(fixed(seconds), {"": fixed(2)})
        only(monkeypatch, lambda _, made=made: [made])
        assert peers.main(["--repeats", "1", "--store", str(path)]) == 0
    runs = history.read(path)
    assert [run["rows"][1]["ratio"] for run in runs] == [4, 1]
    assert "warning: sum, beside other on 3 numbers: ratio 4.0, now 1.0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tiny", "--store", "x"], "--store keeps measured figures"),
        (["--only", "nonsense"], "no task begins with nonsense"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    only(monkeypatch, lambda _: [])
    with pytest.raises(SystemExit, match="2"):
        peers.main(arguments)
    assert message in capsys.readouterr().err


def test_every_task_runs_without_data_and_without_peers(
    options: peers.Options, nothing_installed: None
) -> None:
    rows, missing = peers.measure_all(options, 1, 1.0, sorted(DATA_FREE))
    assert {row["task"] for row in rows} == DATA_FREE
    compared = [row for row in rows if row["program"] != history.OURS]
    by_definition = {row["task"] for row in compared if row["program"] == peers.DEFINITION}
    assert by_definition == {name for name in DATA_FREE if name[:3] not in ("ham", "for", "dic")}
    assert {row["result"] for row in compared if row["task"] in by_definition} == {"same"}
    kernels = [row["input"] for row in rows if row["task"] in by_definition]
    assert all("4 bundled sentences" in text for text in kernels)
    assert {"SVM-light-TK", "KeLP", "strkernels", "GraKeL", "faiss"} <= set(missing)
    packages = {row["program"] for row in compared} | set(missing) - {"SVM-light-TK", "KeLP"}
    assert set(history.PACKAGE_OF) - packages == {"spaCy pipeline"}


def test_sentences_are_parsed_without_data(options: peers.Options, nothing_installed: None) -> None:
    [made] = peers.parsing_tasks(options)
    rows = made.race(1, 1.0)
    assert {row["number"] for row in rows} == set(peers.BACKENDS)
    assert made.input == "3 bundled sentences, 23 to 27 words"
    assert list(made.missing) == ["spaCy pipeline"]


def test_made_up_vectors_are_always_the_same(options: peers.Options) -> None:
    first, again = (list(peers.made_up_vectors(options.trees["lct"])) for _ in range(2))
    assert first == again and len(first) > 10
    assert "LEX" not in "".join(first)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("module", "name", "make"),
    [
        ("strkernels", "strkernels", peers.sequence_tasks),
        ("grakel", "GraKeL", peers.graph_tasks),
        ("faiss", "faiss", peers.hamming_tasks),
    ],
)
def test_installed_peers_have_the_same_results(
    module: str, name: str, make: Any, options: peers.Options
) -> None:
    pytest.importorskip(module)
    rows = [row for made in make(options) for row in made.race(1, 1.0)]
    assert {row["result"] for row in rows if row["program"] == name} == {"same"}


# A program that does what svm_classify does: sums of the kernel over the support vectors.
SVM_CLASSIFY = """#!{python}
import sys
import kernelwood as kw

def trees(path):
    with open(path) as lines:
        return [kw.Tree.from_brackets(line.split("|BT|")[1].split("|ET|")[0])
                for line in lines if "|BT|" in line]

*_, documents, model, found = sys.argv
kernel = kw.SubsetTreeKernel(decay=0.4, normalize=False)
sums = kernel.cross(trees(documents), trees(model)).sum(axis=1) * {factor}
with open(found, "w") as out:
    out.writelines(f"{{value!r}}\\n" for value in sums.tolist())
"""


def program(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(("factor", "result"), [(1, "same"), (2, "differs by up to 1.0e+00")])
def test_the_path_of_svm_light_tk_is_measured(
    factor: int, result: str, options: peers.Options
) -> None:
    text = SVM_CLASSIFY.format(python=sys.executable, factor=factor)
    options.svm_light_tk = program(options.folder / "svm_classify", text)
    made = next(iter(peers.tree_tasks(options)))
    [found] = [row for row in made.race(1, 1.0) if row["program"] == "SVM-light-TK"]
    assert found["result"] == result and found["number"] == "float64"
    assert "SVM-light-TK" not in made.missing


@pytest.mark.parametrize(("factor", "result"), [(1, "same"), (2, "differs by up to 5.0e-01")])
def test_the_class_path_of_kelp_is_measured(
    factor: int, result: str, options: peers.Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    import kernelwood as kw

    raw = kw.SubsetTreeKernel(decay=0.4, normalize=False).gram(options.trees["grct"])
    checksum = factor * sum(raw[i, j] for i in range(len(raw)) for j in range(i + 1))
    answer = json.dumps({"ns_per_pair": 777.0, "checksum": checksum})
    said = options.folder / "arguments"
    program(options.folder / "java", f"#!/bin/sh\necho \"$@\" > '{said}'\necho '{answer}'\n")
    monkeypatch.setenv("PATH", str(options.folder), prepend=os.pathsep)
    options.kelp = "one.jar:two.jar"
    made = next(iter(peers.tree_tasks(options)))
    [found] = [row for row in made.race(1, 1.0) if row["program"] == "KeLP"]
    assert found["result"] == result and found["figure"] == pytest.approx(777)
    words = said.read_text(encoding="utf-8").split()
    assert words[:2] == ["-cp", "one.jar:two.jar"] and words[3] == "sst" and words[-1] == "4"


def test_make_passes_its_variables_on() -> None:
    given = ["KELP=a.jar:b.jar", "SVM_LIGHT_TK=svm", "STORE=runs.jsonl", "BENCH=--only sst"]
    done = subprocess.run(
        ["make", "-n", "bench", *given], cwd=ROOT, capture_output=True, text=True, check=True
    )
    command = " ".join(done.stdout[done.stdout.index("benchmarks/peers.py") :].split())
    wanted = "--kelp 'a.jar:b.jar' \\ --svm-light-tk 'svm' --store 'runs.jsonl' --only sst"
    assert wanted in command
