"""Counts of public dependency treebanks, when they are on this machine."""

from __future__ import annotations

import io
import tarfile

import pytest
from corpora import data_file

from kernelwood.io import read, write_conllu


def genia(part):
    with tarfile.open(data_file("genia-treebank", "genia_mclosky_split_ptb_ud1.tar.gz")) as archive:
        return read(io.BytesIO(archive.extractfile(f"{part}.conllu").read()), format="conllu")


@pytest.mark.parametrize(
    ("part", "n_sentences", "n_words"),
    [("dev", 1361, 36180), ("test", 1360, 35639), ("future_use", 1494, 40221)],
)
def test_all_genia_dependencies_are_read(part, n_sentences, n_words):
    sentences = [example.views["sentence"] for example in genia(part)]
    assert len(sentences) == n_sentences
    assert sum(len(sentence.tokens) for sentence in sentences) == n_words
    assert sum(len(sentence.dependencies) for sentence in sentences) == n_words


@pytest.mark.slow
def test_genia_is_written_and_read_back_equal():
    examples = genia("dev")
    out = io.StringIO()
    write_conllu(examples, out)
    copies = read(io.StringIO(out.getvalue()), format="conllu")
    assert [(e.id, e.views) for e in copies] == [(e.id, e.views) for e in examples]
