"""Model files of the first version are read for ever, and give what they gave."""

import importlib.util
import json
import zipfile
from pathlib import Path

import pytest

import kernelwood as kw
from kernelwood.persist import MODELS

FOLDER = Path(__file__).parent / "golden"
FILES = sorted(FOLDER.glob("*/*.kw"))
_TOOL = Path(__file__).parents[2] / "tools" / "golden.py"

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def golden():
    """The tool that writes the files."""
    spec = importlib.util.spec_from_file_location("golden_tool", _TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@every_file
def test_an_old_file_gives_the_same_bits(path, golden):
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert golden.results(kw.load(path)) == expected


@every_file
def test_an_old_file_is_small(path):
    assert path.stat().st_size < 20_000


def test_there_is_a_file_of_every_kind():
    kinds = set()
    for path in FILES:
        with zipfile.ZipFile(path) as archive:
            kinds.add(json.loads(archive.read("manifest.json"))["kind"])
    assert kinds == {row.kind for row in MODELS.values() if _is_ours(row)}


def _is_ours(row):
    """Whether a class is the library's; others may have added theirs before this test."""
    return isinstance(row.cls, str) or row.cls.__module__.startswith("kernelwood.")


def test_every_file_is_of_a_model_that_the_tool_knows(golden):
    assert {path.stem for path in FILES} == set(golden.MODELS)


def test_no_file_would_come_out_differently_today(golden):
    assert golden.missing(golden.FOLDER) == []


@pytest.fixture
def folder(golden, tmp_path, monkeypatch):
    monkeypatch.setattr(golden, "MODELS", {"kernel": lambda: kw.SubtreeKernel(decay=0.5)})
    golden.write(golden.missing(tmp_path), tmp_path)
    return tmp_path


def test_a_file_that_would_change_is_refused(golden, folder, monkeypatch):
    monkeypatch.setitem(golden.MODELS, "kernel", lambda: kw.SubtreeKernel(decay=0.25))
    before = (folder / "kernel.kw").read_bytes()
    with pytest.raises(ValueError, match=r"kernel\.kw would change"):
        golden.missing(folder)
    assert (folder / "kernel.kw").read_bytes() == before


def test_a_file_that_gives_other_results_is_refused(golden, folder):
    (folder / "kernel.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="gives other results"):
        golden.missing(folder)


def test_a_newer_version_alone_changes_no_file(golden, folder, monkeypatch):
    monkeypatch.setattr("kernelwood.persist.files.__version__", "99.0")
    assert golden.missing(folder) == []


def test_a_new_model_gets_a_file(golden, folder, monkeypatch):
    monkeypatch.setitem(golden.MODELS, "other", lambda: kw.SubsetTreeKernel(decay=0.25))
    golden.write(golden.missing(folder), folder)
    assert kw.load(folder / "other.kw") == kw.SubsetTreeKernel(decay=0.25)
