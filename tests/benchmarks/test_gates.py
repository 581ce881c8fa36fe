"""The experiment on learned gates, on paths small enough to check by hand."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import kernelwood as kw

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

from gate_models.corpora import PathCorpus, nominal_path, read_nominals
from gate_models.diagnosis import neighbors_of
from gate_models.protocol import f1, halves, judge, run_corpus
from gate_models.summaries import interval, stability, summarize

PLANTED = kw.tuning.planted_paths(160, length=(1, 3), random_state=0)
CORPUS = PathCorpus(
    "planted",
    kw.batch(PLANTED.paths),
    PLANTED.classes,
    [f"d{i // 4}" for i in range(160)],
    [1],
)
KERNEL = kw.SubsequenceKernel()


def row(variant: str, seed: int, half: int, score: float, **others: object) -> dict:
    common = {"model": "k-NN", "gated": ["a", "b"], "ignored": [], "p_value": None}
    costs = {"f1_voted": score, "cpu_seconds": 1.0, "kernel_evaluations": 10}
    return {"variant": variant, "seed": seed, "half": half, "f1": score} | common | costs | others


def test_nominal_path_pairs_relations_with_the_words_after_them() -> None:
    path = nominal_path(["Lid", "nmod", "covers", "dobj", "Pot"])
    assert list(path) == [("", "lid"), ("nmod", "covers"), ("dobj", "pot")]


def test_nominals_without_a_path_are_kept(tmp_path: Path) -> None:
    common = {"label": "Other", "words": ["a", "lid", "a", "pot"], "sdp": None}
    lines = [json.dumps({**common, "e1_tokens": [1], "e2_tokens": [3]})] * 2
    file = tmp_path / "paths.jsonl.gz"
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.write("\n".join(lines))
    assert list(read_nominals(file).X[0]) == [("", "pot"), ("none", "lid")]


def test_no_document_is_in_both_halves() -> None:
    for _, learning, testing in halves(CORPUS, [0, 1]):
        documents = [{CORPUS.groups[i] for i in half} for half in (learning, testing)]
        assert not documents[0] & documents[1]


def test_f1_is_the_mean_of_the_positive_classes() -> None:
    corpus = PathCorpus("three", CORPUS.X, CORPUS.y, CORPUS.groups, ["a", "b"])
    truth, predicted = np.array(["a", "a", "b", "other"]), np.array(["a", "b", "b", "b"])
    assert f1(corpus, truth, predicted) == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_testing_half_does_not_change_what_is_predicted_for_the_rest() -> None:
    _, learning, testing = next(halves(CORPUS, [0]))
    whole = judge(CORPUS, learning, testing, KERNEL, "k-NN", 0).predicted
    part = judge(CORPUS, learning, testing[:20], KERNEL, "k-NN", 0).predicted
    assert np.array_equal(whole[:20], part)


def test_labels_of_the_testing_half_do_not_change_predictions() -> None:
    _, learning, testing = next(halves(CORPUS, [0]))
    y = CORPUS.y.copy()
    y[testing] = 1 - y[testing]
    turned = PathCorpus("turned", CORPUS.X, y, CORPUS.groups, [1])
    first, second = (judge(c, learning, testing, KERNEL, "k-NN", 0) for c in (CORPUS, turned))
    assert np.array_equal(first.predicted, second.predicted)


def test_every_division_has_a_row_for_each_variant() -> None:
    rows = list(run_corpus(CORPUS, KERNEL, ["plain", "votes"], ["k-NN"], [0]))
    assert [(r["half"], r["variant"]) for r in rows] == [
        (0, "plain"), (0, "votes"), (1, "plain"), (1, "votes"),
    ]  # fmt: skip


def test_interval_of_two_values_is_wide() -> None:
    mean, half = interval([0.0, 2.0])
    assert (mean, round(half, 3)) == (1.0, 12.706)


def test_difference_is_taken_within_each_half() -> None:
    rows = [row("plain", 0, 0, 0.1), row("plain", 0, 1, 0.9), row("plain", 1, 0, 0.5)]
    rows += [row("votes", 0, 0, 0.2), row("votes", 0, 1, 1.0), row("votes", 1, 0, 0.6)]
    [_, votes] = summarize(rows)
    assert (votes["f1_difference"], votes["f1_interval"]) == pytest.approx((0.1, 0.0))


def test_clear_differences_are_counted_by_their_sign() -> None:
    rows = [row("plain", s, 0, 0.5) for s in range(3)]
    rows += [row("votes", s, 0, v, p_value=p) for s, (v, p) in
             enumerate([(0.6, 0.01), (0.4, 0.01), (0.9, 0.2)])]  # fmt: skip
    [_, votes] = summarize(rows)
    assert (votes["clearly_better"], votes["clearly_worse"]) == (1, 1)


def test_stability_is_the_share_of_divisions_that_ignore_a_label() -> None:
    rows = [row("votes", 0, half, 0.5, ignored=["a"] if half else ["a", "b"]) for half in (0, 1)]
    assert stability(rows, "votes") == [("a", 1.0), ("b", 0.5)]


def test_neighbors_of_equal_paths_agree() -> None:
    paths = kw.batch([kw.Sequence(list(text)) for text in ("ab", "ab", "xy", "xy")])
    figures = neighbors_of(KERNEL, paths, np.array([0, 0, 1, 1]), np.arange(4))
    assert figures == pytest.approx((1.0, 1.0, 0.0))


def test_neighbors_of_the_same_document_do_not_count() -> None:
    paths = kw.batch([kw.Sequence(list(text)) for text in ("ab", "ab", "xy", "xy")])
    _, _, empty = neighbors_of(KERNEL, paths, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    assert empty == 1.0
