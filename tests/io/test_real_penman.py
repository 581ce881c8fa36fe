"""Counts of public meaning representations, when they are on this machine."""

from __future__ import annotations

import penman
import pytest
from corpora import data_file
from penman.models import amr

from kernelwood.io import Source, read
from kernelwood.io.formats.penman import penman_text


def plain(example):
    return example.id, example.views


@pytest.mark.slow
@pytest.mark.parametrize("part", ["dev", "test"])
def test_all_graphs_are_read_and_survive_writing(part, tmp_path):
    examples = read(data_file("bio-amr", f"amr-release-{part}-bio.txt.gz"))
    assert len(examples) == 500
    copy = tmp_path / "copy.amr"
    copy.write_text("".join(penman_text(examples)))
    assert [plain(example) for example in read(copy)] == [plain(example) for example in examples]


def test_a_file_that_was_cut_gives_all_but_the_last_graph():
    path = data_file("bio-amr", "amr-release-training-bio.TRUNCATED1MB.txt.gz")
    examples = read(path, errors="collect")
    [problem] = examples.tally.problems
    assert len(examples) == 838
    assert (problem.line, problem.column) == (19_725, 37)


def test_token_alignments_are_read():
    examples = read(data_file("bio-amr", "rao-alignment-release-bio-training.txt.gz"))
    assert len(examples) == 877
    assert all(example.views["sentence"].alignments for example in examples)


def test_edges_are_those_of_penman():
    path = data_file("bio-amr", "amr-release-dev-bio.txt.gz")
    with Source(path) as source:
        text = source.stream.read().decode()
    theirs = penman.loads(text, model=amr.model)
    examples = read(path)
    assert len(theirs) == len(examples)
    for graph, example in zip(theirs, examples, strict=True):
        found = example.views["sentence"].amr
        expected = {(s, r[1:], t) for s, r, t in graph.triples if t in graph.variables()}
        assert {edge for edge in found.edges if edge[2] in graph.variables()} == expected
