"""Counts of public corpora, when they are on this machine."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from corpora import data_file

from kernelwood.io import read, write_kelp, write_penn

QUESTION_VIEWS = ["quest", "bow", "grct", "lct", "loct", "cgrct", "clct"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"), [("train_5500.coarse.klp.gz", 5452), ("TREC_10.coarse.klp.gz", 500)]
)
def test_all_questions_are_read_with_all_views(name, count):
    examples = read(data_file("question-classification", name))
    assert len(examples) == count
    assert all(list(example.views) == QUESTION_VIEWS for example in examples)


def test_questions_are_written_as_they_were():
    path = data_file("question-classification", "TREC_10.coarse.klp.gz")
    first, second = io.StringIO(), io.StringIO()
    examples = read(path)
    write_kelp(examples, first)
    first.seek(0)
    again = read(first, format="kelp")
    write_kelp(again, second)
    assert [(e.label, e.views) for e in again] == [(e.label, e.views) for e in examples]
    assert first.getvalue() == second.getvalue()


def test_the_whole_penn_sample_is_read():
    archive = zipfile.ZipFile(data_file("ptb-sample", "treebank.zip"))
    names = [name for name in archive.namelist() if name.endswith(".mrg")]
    counts = [len(read(io.BytesIO(archive.read(name)), format="penn")) for name in names]
    assert (len(names), sum(counts)) == (199, 3914)


def test_a_penn_file_is_read_from_disk_and_survives_writing(tmp_path):
    archive = zipfile.ZipFile(data_file("ptb-sample", "treebank.zip"))
    path = Path(archive.extract("treebank/combined/wsj_0003.mrg", tmp_path))
    examples = read(path)
    write_penn(examples, tmp_path / "copy.mrg")
    copies = read(tmp_path / "copy.mrg")
    assert [e.views["tree"] for e in copies] == [e.views["tree"] for e in examples]
    assert all(example.views["tree"].label for example in examples)


@pytest.mark.parametrize(("part", "count"), [("dev", 1361), ("test", 1360), ("future_use", 1494)])
def test_all_genia_trees_are_read(part, count):
    path = data_file("genia-treebank", "genia_mclosky_split_ptb_ud1.tar.gz")
    with tarfile.open(path) as archive:
        examples = read(archive.extractfile(f"mclosky/{part}.trees"), format="penn")
    assert len(examples) == count
