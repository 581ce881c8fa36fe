"""How well clusters agree with classes."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import kernelwood as kw
from kernelwood.evaluate import ClusterScores, cluster_scores

pairs = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=20)


def split(examples):
    return tuple(map(list, zip(*examples, strict=True)))


@given(pairs)
@settings(max_examples=25)
def test_purity_is_the_share_of_the_most_frequent_class(examples):
    right = 0
    for cluster in {found for _, found in examples}:
        classes = Counter(true for true, found in examples if found == cluster)
        right += classes.most_common(1)[0][1]
    assert cluster_scores(*split(examples)).purity == right / len(examples)


@given(pairs)
@settings(max_examples=25)
def test_names_of_clusters_do_not_matter(examples):
    true, found = split(examples)
    renamed = cluster_scores(true, [f"cluster {7 - number}" for number in found])
    expected = cluster_scores(true, found)
    assert renamed.purity == expected.purity
    assert renamed.nmi == pytest.approx(expected.nmi)
    assert renamed.ari == pytest.approx(expected.ari)


@given(pairs)
@settings(max_examples=25)
def test_shares_lie_between_0_and_1(examples):
    scores = cluster_scores(*split(examples))
    for value in (scores.purity, scores.nmi, scores.homogeneity, scores.completeness):
        assert -1e-9 <= value <= 1 + 1e-9


def test_clusters_that_are_classes_are_perfect():
    scores = cluster_scores(["x", "y", "x", "z"], [2, 0, 2, 1])
    assert (scores.purity, scores.nmi, scores.ari) == (1.0, pytest.approx(1.0), 1.0)


def test_one_cluster_tells_nothing():
    scores = cluster_scores(["x", "y", "x", "y"], [0, 0, 0, 0])
    assert (scores.purity, scores.nmi, scores.ari) == (0.5, 0.0, 0.0)


def test_single_examples_are_pure_but_no_better_than_chance():
    scores = cluster_scores(["x", "x", "y", "y"], [0, 1, 2, 3])
    assert (scores.purity, scores.ari) == (1.0, 0.0)


def test_mutual_information_is_that_of_a_table_worked_out_by_hand():
    true, found = ["a"] * 4 + ["b"] * 4, [0, 0, 0, 1, 1, 1, 1, 1]
    shares = {("a", 0): 3 / 8, ("a", 1): 1 / 8, ("b", 1): 4 / 8}
    by_class, by_cluster = {"a": 0.5, "b": 0.5}, {0: 3 / 8, 1: 5 / 8}
    information = sum(p * np.log(p / by_class[a] / by_cluster[c]) for (a, c), p in shares.items())
    entropies = [-sum(p * np.log(p) for p in t.values()) for t in (by_class, by_cluster)]
    assert cluster_scores(true, found).nmi == pytest.approx(information / np.mean(entropies))


def test_everything_is_counted():
    scores = cluster_scores(np.array(["x", "y", "x"]), np.array([5, 5, 6]))
    assert (scores.n_examples, scores.n_clusters, scores.n_classes) == (3, 2, 2)


@pytest.mark.parametrize(
    ("true", "found", "message"),
    [
        (["a", "b"], [0], "y_pred has 1 clusters, but y_true has 2 classes"),
        ([], [], "y_true is empty"),
        (["a", None], [0, 1], r"y_true\[1\] is None"),
        (["a", "b"], [0, float("nan")], r"y_pred\[1\] is nan"),
        ("ab", [0, 1], "y_true must be a list"),
    ],
)
def test_labels_that_do_not_fit_are_refused(true, found, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        cluster_scores(true, found)


def test_scores_are_plain_json():
    scores = cluster_scores(["x", "y"], [0, 1])
    assert ClusterScores(**json.loads(scores.to_json())) == scores


def test_a_table_shows_all_measures():
    lines = str(cluster_scores(["x", "x", "y"], [0, 0, 0])).splitlines()
    assert lines[0].split() == ["measure", "value"]
    assert lines[1].split() == ["purity", "0.667"]
    assert lines[-1] == "3 examples, 1 clusters, 2 classes"


def test_the_representation_is_one_line():
    text = repr(cluster_scores(["x", "x", "y"], [0, 0, 1]))
    assert text == "<ClusterScores: 3 examples, 2 clusters, purity 1.000, NMI 1.000, ARI 1.000>"


def test_notebooks_get_a_table():
    assert "<td" in cluster_scores(["x"], [0])._repr_html_()
