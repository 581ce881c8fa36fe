"""``kernelwood embed``."""

from __future__ import annotations

import csv
import json
from functools import partial

import numpy as np
import pytest
from cli.questions import TEXTS
from cli.running import answer, invoke, wrong_data

import kernelwood as kw

QUICK = ("--landmarks", "6")


run = partial(invoke, "embed")
embedded = partial(answer, "embed")
# What is embedded.


def test_vectors_are_those_of_the_library(corpus, examples, tmp_path):
    embedded(corpus, *QUICK, "-o", tmp_path / "v.npy")
    kernel = kw.OnView("words", kw.SubsequenceKernel())
    embedder = kw.NystromEmbedder(kernel, n_landmarks=6, random_state=0)
    assert (np.load(tmp_path / "v.npy") == embedder.fit(examples).transform(examples)).all()


@pytest.mark.parametrize("suffix", ["npz", "npy", "csv", "tsv"])
def test_the_same_seed_gives_the_same_bytes(corpus, tmp_path, suffix):
    paths = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for path, jobs in zip(paths, (1, 2), strict=True):
        embedded(corpus, *QUICK, "-o", path, "--seed", 3, "--jobs", jobs)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_another_seed_chooses_other_landmarks(corpus, tmp_path):
    for seed in (0, 1):
        embedded(corpus, *QUICK, "-o", tmp_path / f"{seed}.npy", "--seed", seed)
    assert (tmp_path / "0.npy").read_bytes() != (tmp_path / "1.npy").read_bytes()


def test_an_archive_has_ids_labels_and_vectors(corpus, examples, tmp_path):
    embedded(corpus, *QUICK, "-o", tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz") as found:
        assert found["ids"].tolist() == [e.id for e in examples]
        assert found["labels"].tolist() == [e.label for e in examples]
        assert found["vectors"].shape == (10, 6)


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_numbers_in_tables_are_exact(corpus, tmp_path, suffix, separator):
    for name in (f"v.{suffix}", "v.npy"):
        embedded(corpus, *QUICK, "-o", tmp_path / name)
    text = (tmp_path / f"v.{suffix}").read_text()
    header, *rows = csv.reader(text.splitlines(), delimiter=separator)
    assert header[:3] == ["id", "label", "v0"]
    numbers = np.array([[float(cell) for cell in row[2:]] for row in rows])
    assert (numbers == np.load(tmp_path / "v.npy")).all()


def test_labels_are_not_needed(file, examples, tmp_path):
    bare = [kw.Example(e.id, None, dict(e.views)) for e in examples]
    embedded(file(*bare), *QUICK, "-o", tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz") as found:
        assert set(found["labels"].tolist()) == {""}


def test_a_saved_embedder_gives_the_same_vectors(corpus, tmp_path):
    embedded(corpus, *QUICK, "-o", tmp_path / "a.npy", "--model-out", tmp_path / "e.kw")
    embedded(corpus, "-o", tmp_path / "b.npy", "--model", tmp_path / "e.kw")
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()


def test_an_embedder_of_structures_embeds_examples(corpus, examples, tmp_path):
    words = [e.view("words") for e in examples]
    embedder = kw.NystromEmbedder(kw.SubsequenceKernel(), n_landmarks=4, random_state=0).fit(words)
    kw.save(embedder, tmp_path / "e.kw")
    embedded(corpus, "-o", tmp_path / "v.npy", "--model", tmp_path / "e.kw")
    assert (np.load(tmp_path / "v.npy") == embedder.transform(words)).all()


def test_saved_structures_are_embedded(examples, tmp_path):
    kw.save(kw.batch([e.view("words") for e in examples]), tmp_path / "words.kw")
    report = embedded(tmp_path / "words.kw", *QUICK, "-o", tmp_path / "v.csv")
    assert (report["n_examples"], report["views"]) == (10, ["sequence"])


def test_standard_input_is_read(corpus, tmp_path):
    options = ("-", "--from", "jsonl", *QUICK, "-o", tmp_path / "v.npy", "--json")
    assert json.loads(run(*options, stdin=corpus.read_text()).stdout)["n_examples"] == 10


def test_a_saved_kernel_names_its_views(corpus, tmp_path):
    kernel = kw.OnView("words", kw.SubsequenceKernel(decay=0.5))
    kw.save(kernel, tmp_path / "k.kw")
    options = ("--kernel", tmp_path / "k.kw", *QUICK, "-o", tmp_path / "v.npy")
    assert embedded(corpus, *options)["kernel"] == repr(kernel)


def test_kernel_options_are_heard(corpus, tmp_path):
    (tmp_path / "vectors.txt").write_text("song 1.0 0.0\nbook 0.9 0.1\n")
    options = ("--decay", 0.5, "--vectors", tmp_path / "vectors.txt", "-o", tmp_path / "v.npy")
    kernel = embedded(corpus, *QUICK, *options)["kernel"]
    assert "decay=0.5" in kernel and "Gaussian" in kernel


def test_forests_are_embedded(file, tmp_path):
    trees = [kw.Tree.from_brackets(f"(S (NP {a}) (VP {b}))") for a in "xyz" for b in "uvw"]
    forests = [kw.Forest.from_trees([(tree, 1.0)]) for tree in trees]
    path = file(*(kw.Example(str(i), None, {"f": f}) for i, f in enumerate(forests)))
    assert "ForestKernel" in embedded(path, "-o", tmp_path / "v.npy")["kernel"]


def test_a_view_is_chosen_for_sentences(file, tmp_path):
    sentences = [kw.Sentence.from_words(text.split()) for text in TEXTS]
    path = file(*(kw.Example(str(i), None, {"sentence": s}) for i, s in enumerate(sentences)))
    assert embedded(path, "-o", tmp_path / "v.npy")["views"] == ["words"]


def test_landmarks_can_come_from_each_class(corpus, tmp_path):
    options = ("--selection", "stratified", "--landmarks", 2, "-o", tmp_path / "v.npy")
    embedded(corpus, *options, "--model-out", tmp_path / "e.kw")
    landmarks = kw.load(tmp_path / "e.kw").landmarks_
    assert {example.label for example in landmarks} == {"who", "where"}


# What is shown.


def test_json_has_the_promised_keys(corpus, tmp_path):
    assert set(embedded(corpus, *QUICK, "-o", tmp_path / "v.npy")) == {
        "kernel", "views", "n_examples", "skipped", "dropped", "remarks", "n_landmarks",
        "n_dimensions", "residual", "seed", "seconds",
    }  # fmt: skip


def test_json_is_alone_on_standard_output(corpus, tmp_path):
    assert run(corpus, *QUICK, "-o", tmp_path / "v.npy", "--json").stderr == ""


def test_the_table_tells_sizes(corpus, tmp_path):
    result = run(corpus, *QUICK, "--components", 3, "-o", tmp_path / "v.npy")
    header, row = (line.split() for line in result.stdout.splitlines())
    assert dict(zip(header, row[:3], strict=False)) == {
        "examples": "10", "landmarks": "6", "dimensions": "3",
    }  # fmt: skip
    assert "OnView('words'" in result.stderr


def test_broken_parts_can_be_skipped(corpus, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(corpus.read_text() + "{broken\n")
    report = embedded(path, *QUICK, "-o", tmp_path / "v.npy", "--errors", "skip")
    assert sum(report["skipped"].values()) == 1


# Maps.


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_maps_are_drawn_and_the_same_again(corpus, tmp_path, method):
    pytest.importorskip("matplotlib")
    for name in ("one.png", "two.png"):
        embedded(corpus, *QUICK, "--plot", tmp_path / name, "--map", method)
    one, two = ((tmp_path / name).read_bytes() for name in ("one.png", "two.png"))
    assert one.startswith(b"\x89PNG\r\n\x1a\n") and one == two


def test_a_map_can_do_without_labels(corpus, tmp_path):
    pytest.importorskip("matplotlib")
    for color in ("label", "none"):
        path = tmp_path / f"{color}.svg"
        embedded(corpus, *QUICK, "--plot", path, "--map", "pca", "--color-by", color)
    shown = [("where (4)" in (tmp_path / f"{c}.svg").read_text()) for c in ("label", "none")]
    assert shown == [True, False]


def test_a_map_of_many_shows_some(corpus, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("kernelwood.cli.outputs._MOST_POINTS", 7)
    result = run(corpus, *QUICK, "--plot", tmp_path / "map.png", "--map", "pca")
    assert "7 of 10" in result.stderr


# What goes wrong.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "no output is requested"),
        (("-o", "v.xls"), ".npz, .npy, .csv, .tsv"),
        (("-o", "."), "folder"),
        (("--plot", "map.doc"), ".svg"),
        (("-o", "v.npy", "--model-out", "v.npy"), "the same file"),
        (("-o", "v.npy", "--kernel", "nix"), "partial-tree"),
        (("-o", "v.npy", "--kernel", "subtree"), "contains sequences"),
        (("-o", "v.npy", "--similarity", "gaussian"), "--vectors"),
        (("-o", "v.npy", "--landmarks", 0), "--landmarks"),
        (("-o", "v.npy", "--model", "e.kw", "--landmarks", 5), "leave out --landmarks"),
        (("-o", "v.npy", "--model", "e.kw", "--model-out", "f.kw"), "leave out --model-out"),
    ],
)
def test_wrong_usage_is_told(corpus, options, message):
    result = run(corpus, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_the_corpus_is_not_overwritten(corpus):
    before = corpus.read_bytes()
    assert run(corpus, "--model-out", corpus).exit_code == 2
    assert corpus.read_bytes() == before


def test_a_missing_file_is_named(tmp_path):
    assert "nix.jsonl" in wrong_data(run(tmp_path / "nix.jsonl", "-o", tmp_path / "v.npy"))


def test_a_missing_folder_is_told_before_the_work(tmp_path):
    result = run(tmp_path / "nix.jsonl", "-o", tmp_path / "nowhere" / "v.npy")
    assert "nowhere" in wrong_data(result)


def test_an_empty_corpus_is_told(tmp_path):
    (tmp_path / "in.jsonl").write_text("")
    result = run(tmp_path / "in.jsonl", "-o", tmp_path / "v.npy")
    assert "no examples" in wrong_data(result)


def test_examples_without_views_are_told(file, tmp_path):
    result = run(file(kw.Example("a", views={"text": "we go"})), "-o", tmp_path / "v.npy")
    assert "--view" in wrong_data(result)


def test_an_unclear_view_is_told(file, tmp_path):
    words = kw.Sequence(["a"])
    path = file(kw.Example("a", views={"one": words, "two": words}))
    assert "one, two" in wrong_data(run(path, "-o", tmp_path / "v.npy"))


def test_a_model_that_is_no_embedder_is_told(corpus, tmp_path):
    kw.save(kw.SubsequenceKernel(), tmp_path / "k.kw")
    result = run(corpus, "-o", tmp_path / "v.npy", "--model", tmp_path / "k.kw")
    assert "not an embedder" in wrong_data(result)


def test_a_kernel_file_that_holds_no_kernel_is_told(corpus, examples, tmp_path):
    kw.save(kw.batch(examples), tmp_path / "k.kw")
    result = run(corpus, "-o", tmp_path / "v.npy", "--kernel", tmp_path / "k.kw")
    assert "not a kernel" in wrong_data(result)


def test_classes_that_are_missing_are_told(file, examples, tmp_path):
    some = [*examples, kw.Example("x", None, dict(examples[0].views))]
    result = run(file(*some), "-o", tmp_path / "v.npy", "--selection", "stratified")
    assert "1 of 11 examples have no label" in " ".join(result.stderr.split())


def test_a_broken_part_leaves_the_old_file(corpus, tmp_path):
    (tmp_path / "v.npy").write_text("old")
    (tmp_path / "in.jsonl").write_text(corpus.read_text() + "{broken\n")
    assert "in.jsonl:11" in wrong_data(run(tmp_path / "in.jsonl", "-o", tmp_path / "v.npy"))
    assert (tmp_path / "v.npy").read_text() == "old"
