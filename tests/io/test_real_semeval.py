"""The training file of SemEval-2010 task 8, when it is on this machine."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import pytest
from corpora import data_file

from kernelwood.io import read, write_semeval


@pytest.fixture(scope="module")
def path() -> Path:
    return data_file("semeval2010-task8", "TRAIN_FILE.TXT.gz")


@pytest.fixture(scope="module")
def examples(path):
    return read(path)


def test_all_sentences_are_read(examples):
    assert (len(examples), examples.tally.skipped) == (8000, 0)


def test_there_are_nineteen_labels(examples):
    labels = [example.label for example in examples]
    assert len(set(labels)) == 19
    assert labels.count("Other") == 1410


def test_nominals_begin_and_end_with_a_token(examples):
    for example in examples:
        sentence = example.view("sentence")
        starts = {token.start for token in sentence.tokens}
        ends = {token.end for token in sentence.tokens}
        assert all(e.start in starts and e.end in ends for e in sentence.entities)


@pytest.mark.slow
def test_the_file_is_written_as_it_was(path, examples):
    out = io.StringIO()
    write_semeval(examples, out)
    original = gzip.decompress(path.read_bytes()).decode()
    tidy = re.sub(r"^Comment:[ \t]*", "Comment: ", original, flags=re.MULTILINE)
    assert out.getvalue().splitlines() == [line.rstrip() for line in tidy.splitlines()]
