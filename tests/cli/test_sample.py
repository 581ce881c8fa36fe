"""Tests of ``kernelwood sample``."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.datasets import interactions_path


def run(*arguments):
    return CliRunner().invoke(main, ["sample", *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "sample"
    assert run(folder).exit_code == 0
    return folder


@pytest.mark.parametrize("part", ["train", "test"])
def test_the_corpus_is_written_as_brat_folders(folder, part):
    written = {path.name: path.read_bytes() for path in (folder / part).iterdir()}
    bundled = interactions_path(part, "brat").iterdir()
    assert written == {path.name: path.read_bytes() for path in bundled}


def test_texts_have_no_annotation(folder):
    texts, annotated = kw.io.read_texts(folder / "texts"), kw.read(folder / "test")
    assert [one.view("document").text for one in texts] == [
        one.view("document").text for one in annotated
    ]
    assert not any(one.view("document").entities for one in texts)


def test_names_are_those_of_the_texts(folder):
    names = kw.Dictionary.read(folder / "names.tsv")
    for one in kw.read(folder / "test"):
        document = one.view("document")
        for entity in document.entities:
            assert [one.text for one in names.find(entity.text)] == [entity.text]
    assert len(names.find((folder / "note.txt").read_text())) == 4


def test_what_is_written_is_named(tmp_path):
    assert [line.partition(": ")[2] for line in run(tmp_path / "made").stdout.splitlines()] == [
        "38 documents, annotated (brat)",
        "16 documents, annotated (brat)",
        "16 documents without annotation",
        "563 names with their types",
        "a short text",
    ]
    made = json.loads(run("--json", tmp_path / "other").stdout)
    assert made["files"]["train"] == 38


def test_files_are_not_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("my text")
    result = run(tmp_path)
    assert result.exit_code == 1
    assert "this is a folder that is not empty; choose a new name" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
