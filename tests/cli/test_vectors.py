"""``kernelwood vectors``."""

from __future__ import annotations

from functools import partial

import pytest
from cli.running import answer, invoke, wrong_data

import kernelwood as kw
from kernelwood.datasets import load_interactions

QUICK = ("--dim", "5", "--min-count", "2")
learned = partial(answer, "vectors")
run = partial(invoke, "vectors")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the same sentences in several forms."""
    folder = tmp_path_factory.mktemp("texts")
    examples = list(load_interactions())[:60]
    kw.write(examples, folder / "parsed.jsonl")
    (folder / "plain").mkdir()
    for number, example in enumerate(examples):
        (folder / "plain" / f"{number}.txt").write_text(example.view("sentence").text)
    (folder / "all.txt").write_text(" ".join(e.view("sentence").text for e in examples))
    return folder


def test_vectors_are_those_of_the_library(folder, tmp_path):
    result = learned(folder / "parsed.jsonl", "-o", tmp_path / "v.npz", *QUICK)
    expected = kw.vectors.learn_vectors(kw.read(folder / "parsed.jsonl"), dim=5, min_count=2)
    assert kw.Vectors.load(tmp_path / "v.npz") == expected
    assert (result["n_texts"], result["n_words"]) == (60, len(expected))
    assert result["n_dimensions"] == 5


def test_options_are_those_of_the_library(folder, tmp_path):
    options = {"dim": 4, "window": 2, "min_count": 3, "smoothing": 1.0, "shift": 2.0, "power": 0.0}
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    learned(folder / "parsed.jsonl", "-o", tmp_path / "v.npz", *flags, "--keep-case")
    expected = kw.vectors.learn_vectors(
        kw.read(folder / "parsed.jsonl"), **options, lowercase=False
    )
    assert kw.Vectors.load(tmp_path / "v.npz") == expected


def test_texts_may_be_folders_files_and_standard_input(folder, tmp_path):
    text = (folder / "all.txt").read_text()
    for sources, n_texts in (([folder / "plain"], 60), ([folder / "all.txt", "-"], 2)):
        result = learned(*sources, "-o", tmp_path / "v.npz", *QUICK, stdin=text)
        assert result["n_texts"] == n_texts


def test_a_format_may_be_given(folder, tmp_path):
    result = learned(folder / "parsed.jsonl", "-o", tmp_path / "v.npz", "--from", "text", *QUICK)
    assert result["n_texts"] == 1  # JSON as plain text


def test_the_table_shows_the_numbers(folder, tmp_path):
    result = run(folder / "plain", "-o", tmp_path / "v.npz", *QUICK)
    assert result.stdout.split()[:5] == ["texts", "words", "dimensions", "seconds", "60"]


def test_too_few_words_are_an_error(tmp_path):
    (tmp_path / "a.txt").write_text("Raf binds Ras.")
    message = wrong_data(run(tmp_path / "a.txt", "-o", tmp_path / "v.npz"))
    assert "dim=100 needs more than 100 different words, but 0 occur" in message
    assert not (tmp_path / "v.npz").exists()


def test_a_corpus_without_text_is_an_error(tmp_path):
    (tmp_path / "a.mrg").write_text("(S (NP we) (VP go))")
    assert "has no text; it has tree" in wrong_data(
        run(tmp_path / "a.mrg", "-o", tmp_path / "v.npz")
    )


def test_standard_input_can_be_given_once(tmp_path):
    assert run("-", "-", "-o", tmp_path / "v.npz").exit_code == 2


def test_the_vectors_serve_training(folder, tmp_path):
    learned(folder / "parsed.jsonl", "-o", tmp_path / "v.npz", *QUICK)
    result = answer(
        "train", folder / "parsed.jsonl", "-o", tmp_path / "m.kw", "--vectors", tmp_path / "v.npz"
    )
    assert result["n_relations"] > 0
