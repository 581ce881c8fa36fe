"""``kernelwood convert --candidates``."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main

RAF = kw.text.Entity("e1", "protein", ((0, 3),), "Raf")
RAS = kw.text.Entity("e2", "protein", ((10, 13),), "Ras")
MEK = kw.text.Entity("e3", "kinase", ((18, 21),), "Mek")


@pytest.fixture
def corpus(tmp_path):
    sentence = kw.Sentence.from_words(
        ["Raf", "binds", "Ras", "and", "Mek"],
        dependencies=[(1, "nsubj", 0), (1, "dobj", 2)],
        entities=[RAF, RAS, MEK],
        relations=[
            kw.text.Relation(
                "p1", "binds", (kw.text.Argument("", "e2"), kw.text.Argument("", "e1"))
            )
        ],
    )
    path = tmp_path / "in.jsonl"
    kw.write([kw.Example("s1", views={"sentence": sentence})], path)
    return path


def convert(*arguments):
    return CliRunner().invoke(main, ["convert", *map(str, arguments)])


def converted(corpus, *options):
    out = corpus.parent / "out.jsonl"
    result = convert(corpus, out, *options)
    assert result.exit_code == 0, result.output
    return kw.read(out)


def test_pairs_are_written_with_their_paths(corpus):
    examples = converted(corpus, "--candidates", "pairs")
    assert [(example.id, example.label) for example in examples] == [
        ("s1.e1-e2", 1),
        ("s1.e1-e3", 0),
        ("s1.e2-e3", 0),
    ]
    assert examples[0].view("path").edges == ("", "nsubj-of", "dobj")


def test_views_types_and_labels_can_be_chosen(corpus):
    options = ["--view", "context", "--view", "loct", "--type", "protein", "--labels", "directed"]
    [example] = converted(corpus, "--candidates", "pairs", *options)
    assert list(example.views) == ["context", "loct"]
    assert example.label == "binds(e2,e1)"


def test_fallbacks_and_dropped_candidates_are_reported(corpus):
    out = corpus.parent / "out.jsonl"
    report = json.loads(convert(corpus, out, "--candidates", "pairs", "--json").output)
    assert (report["read"], report["written"]) == (1, 3)
    assert report["remarks"] == {"path: no path": 2}
    far = convert(corpus, out, "--candidates", "pairs", "--view", "pet", "--view", "path")
    assert far.exit_code == 1
    assert "3 × pet: the sentence has no constituency tree" in far.output


def test_a_file_is_kept_when_all_candidates_are_dropped(corpus):
    out = corpus.parent / "out.jsonl"
    out.write_text("what was there before")
    result = convert(corpus, out, "--candidates", "pairs", "--view", "pet")
    assert (result.exit_code, out.read_text()) == (1, "what was there before")


def test_events_are_written_with_their_walks(corpus):
    trigger = kw.text.Entity("t", "Binding", ((4, 9),), "binds")
    theme = kw.text.Event("E1", "Binding", "t", (kw.text.Argument("Theme", "e2"),))
    [example] = kw.read(corpus)
    sentence = example.view("sentence").with_parts(entities=[RAF, RAS, trigger], events=[theme])
    kw.write([kw.Example("s1", views={"sentence": sentence})], corpus)
    examples = converted(corpus, "--candidates", "events")
    assert [example.id for example in examples if example.label == 1] == ["s1.t(e2)"]
    assert "trigger-path" in examples[0].views


def test_views_of_candidates_need_candidates(corpus):
    result = convert(corpus, corpus.parent / "out.jsonl", "--view", "path")
    assert result.exit_code == 2
    assert "--candidates" in result.output


def test_unknown_views_are_a_wrong_call(corpus):
    result = convert(corpus, corpus.parent / "o.jsonl", "--candidates", "pairs", "--view", "paht")
    assert result.exit_code == 2
    assert "did you mean 'path'" in result.output
