"""Tests and crafted models with a core that has sanitizers."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kernelwood import _core

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import sanitize

ROOT = Path(__file__).parents[2]


def test_the_core_is_taken_from_a_wheel(tmp_path):
    wheel = tmp_path / "kernelwood-1.0-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("__init__.py", "_core.pyi", "_core.cpython-311.so"):
            archive.writestr(f"kernelwood/{name}", name)
    assert sanitize.extract(wheel, tmp_path).read_text() == "_core.cpython-311.so"


def test_a_core_is_taken_as_it_is(tmp_path):
    assert sanitize.extract(tmp_path / "_core.so", tmp_path) == tmp_path / "_core.so"


def test_the_tests_that_run_by_default_exist():
    assert [test for test in sanitize.TESTS if not (ROOT / test).exists()] == []


def test_the_tests_of_every_package_that_calls_the_core_run():
    calls = re.compile(r"kernelwood import (\w+, )*_(native|core)\b|kernelwood\._(native|core)\b")
    packages = {
        path.relative_to(ROOT / "src" / "kernelwood").parts[0]
        for path in (ROOT / "src" / "kernelwood").glob("*/**/*.py")
        if calls.search(path.read_text(encoding="utf-8"))
    }
    covered = {Path(test).parts[1] for test in sanitize.TESTS}
    assert packages - covered == {"cli"}  # which asks for the version only


@pytest.mark.parametrize(
    ("what", "arguments", "expected"),
    [
        ("tests", ["tests/kernels", "-k", "soft"], "worksteal tests/kernels -k soft"),
        ("fuzz", [], "--memory 0 --cpu 120 --only model --inputs 150"),
        ("fuzz", ["--only", "model/parser"], "--memory 0 --cpu 120 --only model/parser"),
    ],
)
def test_arguments_are_those_of_the_program_that_runs(what, arguments, expected):
    assert " ".join(sanitize.command_of(what, arguments)).endswith(expected)


def test_processes_load_the_given_core(tmp_path, monkeypatch):
    copy = tmp_path / Path(_core.__file__).name
    copy.write_bytes(Path(_core.__file__).read_bytes())
    monkeypatch.setattr(sanitize, "_runtimes", list)
    folder = tmp_path / "run"
    folder.mkdir()
    said = subprocess.run(
        [sys.executable, "-c", "from kernelwood import _native; print(_native._core.__file__)"],
        env=sanitize.environment(copy, folder),
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == str(copy)


def test_a_report_is_shown_once_for_each_kind(tmp_path, capsys):
    for number, place in enumerate(("a.cpp:1", "a.cpp:1", "b.cpp:2")):
        (tmp_path / f"report.{number}").write_text(f"==7==ERROR\nSUMMARY: overflow {place}\n")
    assert sanitize.show_reports(tmp_path) == 3
    said = capsys.readouterr().err
    assert said.count("a.cpp:1") == 1 and "3 reports of sanitizers, 2 different" in said


@pytest.mark.parametrize("arguments", [[], ["core.so"], ["core.so", "mutants"]])
def test_without_a_core_and_a_program_the_usage_is_shown(arguments, capsys):
    assert sanitize.main(arguments) == 2
    assert "sanitize.py CORE" in capsys.readouterr().err
