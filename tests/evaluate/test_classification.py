"""Measures of predictions and their intervals."""

from __future__ import annotations

import copy
import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from kernelwood import evaluate
from kernelwood.errors import KernelInputError

LABELS = st.sampled_from(
    [["a"], ["no", "yes"], ["DESC", "ENTY", "HUM", "LOC"], [0, 1, 2], [False, True], [-1.0, 2.0]]
)


@st.composite
def predictions(draw):
    labels = draw(LABELS)
    n = draw(st.integers(1, 30))
    true = draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n))
    # Sometimes a class is never predicted.
    given_ = st.sampled_from(labels[: draw(st.integers(1, len(labels)))])
    return true, draw(st.lists(given_, min_size=n, max_size=n))


def plain(average):
    return average.precision, average.recall, average.f1


@given(predictions())
def test_classes_score_as_in_scikit_learn(data):
    scores = evaluate.score(*data, n_bootstrap=0)
    labels = [each.label for each in scores.classes]
    expected = precision_recall_fscore_support(*data, labels=labels, zero_division=0)
    found = [(*plain(each), each.support) for each in scores.classes]
    assert np.array(found) == pytest.approx(np.array(expected).T)


@given(predictions(), st.sampled_from(["micro", "macro"]), st.data())
def test_averages_are_those_of_scikit_learn(data, average, choice):
    classes = sorted(set(data[0]) | set(data[1]))
    positive = choice.draw(st.lists(st.sampled_from(classes), min_size=1, unique=True))
    scores = evaluate.score(*data, positive=positive, n_bootstrap=0)
    expected = precision_recall_fscore_support(
        *data, labels=positive, average=average, zero_division=0
    )
    assert plain(getattr(scores, average)) == pytest.approx(expected[:3])


@given(predictions())
def test_accuracy_and_confusion_are_those_of_scikit_learn(data):
    scores = evaluate.score(*data, n_bootstrap=0)
    labels = [each.label for each in scores.classes]
    assert scores.accuracy == pytest.approx(accuracy_score(*data))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A single label was found", UserWarning)
        expected = confusion_matrix(*data, labels=labels)
    assert scores.confusion.tolist() == expected.tolist()
    assert [each.predicted for each in scores.classes] == scores.confusion.sum(axis=0).tolist()


def test_averages_are_over_all_classes_by_default():
    scores = evaluate.score(list("aab"), list("abb"), n_bootstrap=0)
    assert scores.positive == ("a", "b")


def test_a_class_that_never_occurs_scores_zero():
    scores = evaluate.score(["a"], ["a"], classes=["a", "z"])
    assert plain(scores["z"]) == (0, 0, 0) and scores.macro.f1 == 0.5


def test_an_average_over_a_class_that_is_never_predicted_is_zero_not_nan():
    scores = evaluate.score(["a", "b"], ["b", "b"], positive="a")
    precision, recall, f1 = plain(scores.micro)
    assert (precision, recall, f1) == (0, 0, 0)
    assert (precision.low, precision.high) == (0, 1)  # nothing was predicted
    assert recall.low == f1.low == 0 and 0.5 < recall.high < 1 and 0.5 < f1.high < 1


def test_groups_widen_the_interval_where_their_examples_are_alike():
    true, groups = np.ones(400, dtype=int), np.arange(400) // 20
    predicted = (groups % 2).astype(int)
    alone = evaluate.score(true, predicted)
    together = evaluate.score(true, predicted, groups=groups)
    width = [x.accuracy.high - x.accuracy.low for x in (alone, together)]
    assert width[1] > 3 * width[0]


def test_groups_of_one_example_give_about_the_same_interval_as_none():
    true, predicted = [1] * 300, [1] * 240 + [0] * 60
    alone = evaluate.score(true, predicted, n_bootstrap=4000).accuracy
    groups = evaluate.score(true, predicted, n_bootstrap=4000, groups=range(300)).accuracy
    assert (groups.low, groups.high) == pytest.approx((alone.low, alone.high), abs=0.01)


def test_about_the_right_share_of_intervals_holds_the_truth():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        right = rng.random(150) < 0.7
        accuracy = evaluate.score(np.ones(150), right.astype(float), n_bootstrap=300).accuracy
        hits += accuracy.low <= 0.7 <= accuracy.high
    assert 178 <= hits <= 199  # 190 expected, 3 deviations


def test_a_higher_confidence_gives_a_wider_interval():
    data = [1, 1, 1, 0, 0] * 20, [1, 1, 0, 0, 1] * 20
    narrow, wide = (evaluate.score(*data, confidence=c).accuracy for c in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_equal_seeds_give_equal_scores():
    data = [1, 1, 1, 0] * 9, [1, 0, 1, 0] * 9
    assert evaluate.score(*data, random_state=3) == evaluate.score(*data, random_state=3)


def test_different_seeds_give_different_intervals():
    data = [1, 1, 1, 0] * 9, [1, 0, 1, 0] * 9
    first, second = (evaluate.score(*data, confidence=0.77, random_state=s) for s in (1, 2))
    assert first != second


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_gives_a_seed_that_is_kept(make):
    data = [1, 1, 1, 0] * 9, [1, 0, 1, 0] * 9
    scores = evaluate.score(*data, random_state=make(4))
    assert evaluate.score(*data, random_state=scores.seed) == scores


def test_the_order_of_examples_does_not_matter():
    true, predicted = np.array([1, 1, 1, 0] * 9), np.array([1, 0, 1, 0] * 9)
    order = np.random.default_rng(0).permutation(36)
    assert evaluate.score(true, predicted) == evaluate.score(true[order], predicted[order])


def test_no_bootstrap_gives_no_intervals():
    scores = evaluate.score([1, 0], [1, 1], n_bootstrap=0)
    assert (scores.accuracy.low, scores.accuracy.high) == (None, None)


def test_json_reads_back_as_the_dictionary():
    labels = [("a", 1), ("ü", 2.5), ("<b>", 0)]
    scores = evaluate.score(labels, labels[::-1], positive=labels[:1], groups=[1, 1, 2])
    assert json.loads(scores.to_json()) == scores.to_dict()


def test_json_holds_every_measure_with_its_interval():
    found = evaluate.score(["yes", "no"], ["yes", "yes"]).to_dict()
    assert set(found["accuracy"]) == {"value", "low", "high"}
    assert [each["label"] for each in found["classes"]] == ["no", "yes"]
    assert found["confusion"] == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda scores: pickle.loads(pickle.dumps(scores))]
)
def test_scores_survive_copying(again):
    scores = evaluate.score(["yes", "no"], ["yes", "yes"])
    assert again(scores) == scores


def test_scores_cannot_be_changed():
    scores = evaluate.score(["yes", "no"], ["yes", "yes"])
    with pytest.raises(AttributeError):
        scores.n_examples = 5
    with pytest.raises(ValueError, match="read-only"):
        scores.confusion[0, 0] = 5


def test_the_table_has_a_line_for_each_class_and_average():
    lines = str(evaluate.score(["yes", "no"], ["yes", "yes"], positive="yes")).splitlines()
    starts = [line.split()[0] for line in lines if line]
    assert starts == ["class", "no", "yes", "micro", "macro", "accuracy", "2"]
    assert (
        lines[-1]
        == "2 examples; averages over yes; 95 % intervals from 1,000 resamples of examples"
    )


def test_columns_of_the_table_are_aligned():
    lines = str(evaluate.score(["a", "a very long name"], ["a", "a"], n_bootstrap=0)).splitlines()
    assert {line.index("0.", 10) for line in lines[1:5]} == {
        line.index("0.", 10) for line in lines[1:2]
    }


def test_long_labels_are_cut_in_the_table():
    scores = evaluate.score(["x" * 10_000], ["y" * 10_000], n_bootstrap=0)
    assert max(map(len, str(scores).splitlines())) < 100
    assert len(scores._repr_html_()) < 5000


def test_a_label_cannot_break_the_lines_of_the_table():
    scores = evaluate.score(["a\nb\x1b[31m"], ["a\nb\x1b[31m"], n_bootstrap=0)
    assert "\x1b" not in str(scores) and "a b" in str(scores)


@pytest.mark.parametrize("label", ["<script>x()</script>", '" onload="x()', "a&b", "\x00\ud800"])
def test_html_is_escaped(label):
    html = evaluate.score([label], [label], positive=label)._repr_html_()
    assert "<script" not in html and ' onload="' not in html and "a&b" not in html
    html.encode("utf-8")


def test_the_confusion_matrix_is_shown_by_true_class():
    table = evaluate.score(["yes", "yes", "no"], ["yes", "no", "no"]).confusion_table()
    assert [line.split() for line in table.splitlines()[1:]] == [
        ["no", "1", "0"],
        ["yes", "1", "1"],
    ]


def test_measures_are_found_by_name():
    scores = evaluate.score(list("aab"), list("abb"), positive="a")
    assert [scores.metric(name) for name in ("accuracy", "f1", "macro_recall")] == [
        scores.accuracy,
        scores.micro.f1,
        scores.macro.recall,
    ]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_bootstrap", -1, "n_bootstrap must be an int of at least 0, got -1"),
        ("n_bootstrap", 1.5, "n_bootstrap must be an int"),
        ("n_bootstrap", True, "n_bootstrap must be an int"),
        ("confidence", 95, "confidence must be a number between 0 and 1, such as 0.95, got 95"),
        ("confidence", 1.0, "confidence must be"),
        ("random_state", "x", "random_state must be None, an int"),
        ("random_state", -1, "random_state must be None, an int"),
        ("groups", [1, 1], "all examples are in one group"),
        ("groups", [1], "groups has 1 entries"),
        ("positive", "maybe", "'maybe' is not among the classes"),
        ("classes", ["yes"], r"y_true\[1\] is 'no', which is not among the classes"),
    ],
)
def test_a_bad_argument_is_named(name, value, message):
    with pytest.raises(KernelInputError, match=message):
        evaluate.score(["yes", "no"], ["yes", "no"], **{name: value})


def test_an_unknown_class_or_metric_is_named():
    scores = evaluate.score(["yes", "no"], ["yes", "no"])
    with pytest.raises(KernelInputError, match="no class 'maybe'; the classes are 'no', 'yes'"):
        scores["maybe"]
    with pytest.raises(KernelInputError, match="metric must be one of accuracy"):
        scores.metric("auc")
