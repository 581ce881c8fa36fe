from __future__ import annotations

import importlib.metadata
import json
import re

import pytest
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.cli.commands import doctor
from kernelwood.kernels import KERNELS


def _doctor(*arguments):
    return CliRunner().invoke(main, ["doctor", *arguments])


@pytest.fixture(scope="module")
def report():
    return json.loads(_doctor("--json").stdout)


@pytest.fixture(autouse=True)
def little_to_measure(monkeypatch):
    """Let all but the first report, that of the fixture above, do little work."""
    generated = doctor._generated_structures
    monkeypatch.setattr(doctor, "_generated_structures", lambda kernel: generated(kernel, n=9))


@pytest.fixture
def broken_kernel(monkeypatch):
    right = kw.SubsetTreeKernel.reference
    monkeypatch.setattr(
        kw.SubsetTreeKernel, "reference", lambda self, a, b: right(self, a, b) + 0.001
    )


def test_healthy_installation_exits_with_zero():
    assert _doctor().exit_code == 0


def test_json_has_the_promised_keys(report):
    assert list(report) == [
        "ok", "versions", "native", "machine", "extras", "optional", "data", "self_test",
    ]  # fmt: skip


def test_every_kernel_is_tested(report):
    assert [test["kernel"] for test in report["self_test"]] == [*KERNELS, "soft matching"]


def test_speed_is_measured(report):
    assert all(t["ns_per_pair"] > 0 for t in report["self_test"] if t["kernel"] in KERNELS)


def test_entries_of_the_self_test_have_the_same_keys(report):
    entries = report["self_test"]
    assert len({frozenset(entry) for entry in entries}) == 1


def test_soft_matching_agrees_with_its_definition(report):
    soft = report["self_test"][-1]
    assert soft["ok"]


@pytest.mark.parametrize("kernel", [kw.PartialTreeKernel, kw.SubsequenceKernel])
def test_wrong_values_of_soft_matching_are_a_finding(monkeypatch, kernel):
    exact = kernel._label_similarity
    # Wrong for labels that differ only: the exact kernels stay right.
    monkeypatch.setattr(
        kernel, "_label_similarity", lambda self, a, b: exact(self, a, b) * (1 if a == b else 0.99)
    )
    result = _doctor()
    assert result.exit_code == 1
    wrong = [line.split()[1] for line in result.stdout.splitlines() if "✗" in line]
    assert wrong[0] == "soft"


def test_soft_matching_that_raises_is_a_finding(monkeypatch):
    def fail(self, a, b):
        raise ZeroDivisionError("no similarity")

    monkeypatch.setattr(kw.similarity.Gaussian, "value", fail)
    assert "soft matching: ZeroDivisionError: no similarity" in _doctor().stdout


def test_native_build_is_shown():
    from kernelwood import _native

    assert _native.instruction_set() in _doctor().stdout


def test_wrong_values_exit_with_one(broken_kernel):
    assert _doctor().exit_code == 1


def test_wrong_values_are_marked(broken_kernel):
    line = next(line for line in _doctor().stdout.splitlines() if "subset-tree" in line)
    assert "✗" in line


def test_wrong_values_are_in_the_json(broken_kernel):
    report = json.loads(_doctor("--json").stdout)
    assert [test["kernel"] for test in report["self_test"] if not test["ok"]] == ["subset-tree"]


def test_a_kernel_that_raises_is_a_finding(monkeypatch):
    def fail(self, a, b):
        raise ZeroDivisionError("[bold] is no markup")

    monkeypatch.setattr(kw.SubtreeKernel, "reference", fail)
    result = _doctor()
    assert result.exit_code == 1
    assert "ZeroDivisionError: [bold] is no markup" in result.stdout


def test_missing_native_core_is_a_finding(monkeypatch):
    missing = {"ok": False, "build": None, "instruction_set": None, "error": "no module _core"}
    monkeypatch.setattr(doctor, "_native", lambda: missing)
    result = _doctor()
    assert result.exit_code == 1
    assert "missing: no module _core" in result.stdout


def test_every_extra_for_users_is_an_optional_part(report):
    developers = {"dev", "docs", "slow", "bench", "release"}
    metadata = importlib.metadata.metadata("kernelwood")
    extras = set(metadata.get_all("Provides-Extra")) - developers - {"all"}
    assert {part["extra"] for part in report["optional"]} == extras


def test_the_extra_all_combines_the_optional_parts_without_stanza(report):
    lines = importlib.metadata.requires("kernelwood")
    [line] = [line for line in lines if re.search("extra == [\"']all[\"']", line)]
    combined = set(re.search(r"\[(.*?)\]", line)[1].split(","))
    assert combined == {part["extra"] for part in report["optional"]} - {"stanza"}


@pytest.fixture
def without_uvicorn(monkeypatch):
    version = doctor._version
    monkeypatch.setattr(
        doctor, "_version", lambda name: version(name) if name != "uvicorn" else None
    )


def test_a_missing_part_comes_with_the_command_that_installs_it(without_uvicorn):
    [part] = [p for p in json.loads(_doctor("--json").stdout)["optional"] if p["extra"] == "web"]
    assert (part["installed"], part["missing"]) == (False, ["uvicorn"])
    assert part["install"] == "pip install 'kernelwood[web]'"


def test_the_table_shows_the_command_of_a_missing_part(without_uvicorn):
    assert "pip install 'kernelwood[web]'" in _doctor().stdout


def test_a_missing_part_is_not_a_finding(without_uvicorn):
    assert _doctor().exit_code == 0


def test_an_installed_part_needs_no_command(report):
    [part] = [part for part in report["optional"] if part["extra"] == "web"]
    assert part["installed"] and part["missing"] == []
    assert part["install"] not in _doctor().stdout


def test_data_folder_is_named(monkeypatch, tmp_path):
    (tmp_path / "corpus").mkdir()
    monkeypatch.setenv("KERNELWOOD_DATA", str(tmp_path))
    data = json.loads(_doctor("--json").stdout)["data"]
    assert (data["folder"], data["entries"]) == (str(tmp_path), ["corpus"])


def test_absent_data_tells_how_to_name_a_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELWOOD_DATA", str(tmp_path / "nowhere"))
    assert "set KERNELWOOD_DATA" in _doctor().stdout
