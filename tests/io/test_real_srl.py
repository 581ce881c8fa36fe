"""Counts of a public corpus of semantic roles, when it is on this machine."""

from __future__ import annotations

import gzip

import pytest
from corpora import data_file

from kernelwood.io import iter_read, read
from kernelwood.io.formats.srl import VERB_ROLES, srl_text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "counts"),
    [("ewt-train", (12_515, 40_391, 81_360, 154)), ("ewt-dev", (1_940, 4_913, 9_506, 20))],
)
def test_all_sentences_predicates_and_arguments_are_read(name, counts):
    n_sentences = n_predicates = n_arguments = n_continued = 0
    for example in iter_read(data_file("srl-propbank", f"{name}.srl.conll.gz")):
        n_sentences += 1
        for predicate in example.views["sentence"].predicates:
            n_predicates += 1
            n_arguments += sum(span.role != "V" for span in predicate.arguments)
            n_continued += sum(span.role == "C-V" for span in predicate.arguments)
    assert (n_sentences, n_predicates, n_arguments, n_continued) == counts
    assert VERB_ROLES == ("V", "C-V")


def test_the_file_is_written_as_it_was():
    path = data_file("srl-propbank", "ewt-dev.srl.conll.gz")
    original = gzip.decompress(path.read_bytes()).decode()
    assert "".join(srl_text(read(path))).rstrip("\n") == original.rstrip("\n")
