"""Counts of the BioNLP shared tasks, when they are on this machine."""

from __future__ import annotations

import functools
import io
import tarfile
from pathlib import Path

import pytest
from corpora import data_file

from kernelwood.io import Source
from kernelwood.io.formats.standoff import read_standoff, standoff_files


def parse(files):
    [example] = read_standoff({suffix: Source(io.BytesIO(data)) for suffix, data in files.items()})
    return example


@functools.cache
def documents(archive, part):
    groups = {}
    with tarfile.open(data_file("bionlp-st", f"{archive}.tar.gz")) as packed:
        for member in packed:
            path = Path(member.name)
            if path.parent.name == part and path.suffix in (".txt", ".a1", ".a2"):
                groups.setdefault(path.stem, {})[path.suffix] = packed.extractfile(member).read()
    return [parse(files) for files in groups.values()]


CORPORA = pytest.mark.parametrize(
    ("archive", "part", "n_documents", "n_events"),
    [
        ("bionlp-st-2009", "train", 800, 8615),
        ("bionlp-st-2009", "devel", 150, 1795),
        ("bionlp-st-2013-ge", "train", 222, 2817),
        ("bionlp-st-2013-ge", "devel", 249, 3199),
    ],
)


@CORPORA
def test_all_documents_and_events_are_read(archive, part, n_documents, n_events):
    found = [example.view("document") for example in documents(archive, part)]
    assert (len(found), sum(len(made.events) for made in found)) == (n_documents, n_events)


@pytest.mark.slow
@CORPORA
def test_documents_are_written_as_they_were(archive, part, n_documents, n_events):
    for example in documents(archive, part):
        files = {name[name.rindex(".") :]: text for name, text in standoff_files([example])}
        again = parse({suffix: text.encode() for suffix, text in files.items()})
        assert again.views == example.views


@CORPORA
def test_nine_events_of_ten_are_in_one_sentence(archive, part, n_documents, n_events):
    cuts = [
        example.view("document").split(tokenize=lambda text, boundaries: ())
        for example in documents(archive, part)
    ]
    kept = sum(len(sentence.events) for cut in cuts for sentence in cut.sentences)
    lost = sum(n for cut in cuts for why, n in cut.lost.items() if why.startswith("event"))
    assert (kept + lost, kept > 0.9 * n_events) == (n_events, True)


@CORPORA
def test_no_entity_is_lost_between_sentences(archive, part, n_documents, n_events):
    for example in documents(archive, part):
        lost = example.view("document").split(tokenize=lambda text, boundaries: ()).lost
        assert not any(reason.startswith("entity") for reason in lost)
