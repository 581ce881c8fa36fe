"""``kernelwood cluster``."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from cli.questions import TEXTS
from cli.running import wrong_data
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.clustering import KernelKMeans


def run(*arguments):
    return CliRunner().invoke(main, ["cluster", *map(str, arguments)])


def clustered(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


# What is found.


def test_clusters_are_those_of_the_library(corpus, examples, tmp_path):
    clustered(corpus, "-k", 3, "-o", tmp_path / "c.jsonl", "--seed", 5)
    rows = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text().splitlines()]
    kernel = kw.OnView("words", kw.SubsequenceKernel())
    model = KernelKMeans(3, kernel, random_state=5).fit(examples)
    assert [row["cluster"] for row in rows] == model.labels_.tolist()
    assert [i for i, row in enumerate(rows) if row["medoid"]] == sorted(model.medoid_indices_)


@pytest.mark.parametrize("options", [("--exact",), ("--landmarks", 5), ()])
def test_questions_of_a_kind_are_together(corpus, options):
    report = clustered(corpus, "-k", 2, *options)
    assert report["scores"]["purity"] == 1.0
    assert [row["classes"] for row in report["clusters"]] == [{"who": 6}, {"where": 4}]


def test_landmarks_are_counted(corpus):
    counts = [clustered(corpus, "-k", 2, *o)["n_landmarks"] for o in ((), ("--landmarks", 5))]
    assert counts == [None, 5]


def test_many_examples_get_landmarks(corpus, monkeypatch):
    monkeypatch.setattr("kernelwood.cli.commands.cluster._EXACT", 9)
    assert clustered(corpus, "-k", 2)["n_landmarks"] == 10
    assert clustered(corpus, "-k", 2, "--exact")["n_landmarks"] is None


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl"])
@pytest.mark.parametrize("way", [("--exact",), ("--landmarks", 5)])
def test_the_same_seed_gives_the_same_bytes(corpus, tmp_path, suffix, way):
    paths = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for path, jobs in zip(paths, (1, 2), strict=True):
        clustered(corpus, "-k", 3, *way, "-o", path, "--jobs", jobs)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_table_has_a_row_for_each_example(corpus, tmp_path):
    clustered(corpus, "-k", 2, "-o", tmp_path / "c.tsv")
    header, *rows = csv.reader((tmp_path / "c.tsv").read_text().splitlines(), delimiter="\t")
    assert header == ["id", "cluster", "medoid", "label", "text"]
    assert [row[4] for row in rows] == TEXTS


def test_purity_is_of_the_labeled(file, examples):
    bare = [kw.Example(f"x{i}", None, dict(e.views)) for i, e in enumerate(examples[:2])]
    report = clustered(file(*examples, *bare), "-k", 2)
    assert report["scores"]["n_examples"] == 10
    assert report["clusters"][0]["classes"] == {"who": 6, "(no label)": 2}
    assert report["clusters"][0]["purity"] == 1.0


def test_without_labels_there_are_no_scores(file, examples):
    bare = [kw.Example(e.id, None, dict(e.views)) for e in examples]
    report = clustered(file(*bare), "-k", 2)
    assert report["scores"] is None
    assert "purity" not in report["clusters"][0]


def test_clusters_can_be_saved(corpus, examples, tmp_path):
    clustered(corpus, "-k", 2, "--model-out", tmp_path / "m.kw")
    assert kw.load(tmp_path / "m.kw").predict(examples).tolist() == [0] * 6 + [1] * 4


def test_trees_of_constituents_are_shown_as_words(file):
    trees = [f"(S (NP (DT the) (NN {noun})) (VP sleeps))" for noun in ("cat", "dog", "cow")]
    path = file(
        *(
            kw.Example(str(i), None, {"tree": kw.Tree.from_brackets(tree)})
            for i, tree in enumerate(trees)
        )
    )
    assert clustered(path, "-k", 3)["clusters"][0]["text"] == "the cat sleeps"


def test_texts_of_sentences_are_kept(file):
    sentences = [kw.Sentence.from_words(text.split()) for text in TEXTS]
    path = file(*(kw.Example(str(i), None, {"sentence": s}) for i, s in enumerate(sentences)))
    assert clustered(path, "-k", 1, "--view", "words")["clusters"][0]["text"] in TEXTS


# What is shown.


def test_json_has_the_promised_keys(corpus):
    report = clustered(corpus, "-k", 2)
    assert set(report) == {
        "kernel", "views", "n_examples", "skipped", "dropped", "remarks", "n_clusters",
        "n_landmarks", "inertia", "scores", "clusters", "seed", "seconds",
    }  # fmt: skip
    assert set(report["clusters"][0]) == {
        "cluster", "size", "medoid", "text", "fragments", "note", "classes", "purity",
    }  # fmt: skip


def test_the_table_tells_clusters_and_scores(corpus):
    shown = run(corpus, "-k", 2).stdout
    assert "where 4" in shown
    assert "the … of" in shown or "where is the" in shown
    assert "purity 1.000, NMI 1.000" in shown


def test_a_terminal_shows_the_same(corpus, monkeypatch):
    import io

    from rich.console import Console

    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=200)
    monkeypatch.setattr("kernelwood.cli.console.results", lambda: terminal)
    assert run(corpus, "-k", 2).exit_code == 0
    assert all(text in shown.getvalue() for text in ("who 6", "where 4", "purity"))


def test_warnings_are_one_line_on_standard_error(file):
    words = kw.Sequence(["a", "b"])
    path = file(*(kw.Example(str(i), None, {"words": words}) for i in range(4)))
    result = run(path, "-k", 2)
    assert result.exit_code == 0
    [told] = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
    assert "1 cluster" in told


@pytest.mark.parametrize("options", [(), ("--landmarks", 5), ("--color-by", "label")])
def test_maps_are_drawn_and_the_same_again(corpus, tmp_path, options):
    pytest.importorskip("matplotlib")
    for name in ("one.png", "two.png"):
        clustered(corpus, "-k", 2, "--plot", tmp_path / name, "--map", "pca", *options)
    one, two = ((tmp_path / name).read_bytes() for name in ("one.png", "two.png"))
    assert one.startswith(b"\x89PNG\r\n\x1a\n") and one == two


# What goes wrong.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "-k"),
        (("-k", 0), "-k"),
        (("-k", 2, "--exact", "--landmarks", 5), "mutually exclusive"),
        (("-k", 2, "-o", "c.xls"), ".tsv, .csv, .jsonl"),
        (("-k", 2, "-o", "."), "folder"),
        (("-k", 2, "--plot", "map.doc"), ".svg"),
        (("-k", 2, "-o", "c.tsv", "--model-out", "c.tsv"), "the same file"),
        (("-k", 2, "--kernel", "forest"), "contains sequences"),
    ],
)
def test_wrong_usage_is_told(corpus, options, message):
    result = run(corpus, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_more_clusters_than_examples_are_refused(corpus):
    assert "-k 11 is more than the number of examples, 10" in wrong_data(run(corpus, "-k", 11))


def test_a_missing_file_is_named(tmp_path):
    assert "nix.jsonl" in wrong_data(run(tmp_path / "nix.jsonl", "-k", 2))


def test_a_missing_folder_is_told_before_the_work(tmp_path):
    result = run(tmp_path / "nix.jsonl", "-k", 2, "-o", tmp_path / "nowhere" / "c.tsv")
    assert "nowhere" in wrong_data(result)


def test_an_empty_corpus_is_told(tmp_path):
    (tmp_path / "in.jsonl").write_text("")
    assert "no examples" in wrong_data(run(tmp_path / "in.jsonl", "-k", 2))


def test_examples_without_views_are_told(file):
    path = file(kw.Example("a", views={"text": "we go"}))
    assert "--view" in wrong_data(run(path, "-k", 1))


def test_numbers_in_json_are_finite(corpus):
    assert np.isfinite(clustered(corpus, "-k", 10)["inertia"])
