"""Whether two classifiers differ."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom
from sklearn.metrics import precision_recall_fscore_support

from kernelwood import evaluate
from kernelwood.errors import KernelInputError

RESAMPLING = ["bootstrap", "randomization"]


def discordant(only_first, only_second, both=20):
    """Labels, and predictions of two of which so many are right alone."""
    first = [1] * (both + only_first) + [0] * only_second
    second = [1] * both + [0] * only_first + [1] * only_second
    return [1] * len(first), first, second


@pytest.mark.parametrize(
    ("only_first", "only_second", "expected"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 5, 1.0), (10, 0, 2 / 2**10), (8, 2, 2 * (1 + 10 + 45) / 2**10)],
)
def test_mcnemar_is_exact(only_first, only_second, expected):
    result = evaluate.compare(*discordant(only_first, only_second), n_resamples=10)
    assert result.p_value == pytest.approx(expected)
    assert (result.only_first, result.only_second) == (only_first, only_second)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_twice_the_smaller_tail(only_first, only_second):
    n, smaller = only_first + only_second, min(only_first, only_second)
    result = evaluate.compare(*discordant(only_first, only_second), n_resamples=1)
    assert result.p_value == pytest.approx(min(1.0, 2 * binom.cdf(smaller, n, 0.5)) if n else 1.0)


def test_agreement_is_counted():
    result = evaluate.compare([1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 0, 1], [1, 1, 0, 1, 0, 1])
    found = (result.both_right, result.only_first, result.only_second, result.both_wrong)
    assert found == (2, 1, 1, 2)


def test_randomization_of_accuracy_agrees_with_mcnemar():
    data = discordant(14, 4)
    exact = evaluate.compare(*data).p_value
    drawn = evaluate.compare(*data, test="randomization", n_resamples=20_000).p_value
    assert drawn == pytest.approx(exact, abs=0.005)


def test_randomization_of_f1_agrees_with_a_plain_loop():
    rng = np.random.default_rng(1)
    true = rng.integers(0, 3, 60)
    first = np.where(rng.random(60) < 0.8, true, rng.integers(0, 3, 60))
    second = np.where(rng.random(60) < 0.65, true, rng.integers(0, 3, 60))

    def measure(predicted):
        right = (true == predicted) & (true > 0)
        return 2 * right.sum() / ((true > 0).sum() + (predicted > 0).sum())

    observed = abs(measure(first) - measure(second))
    extreme = 0
    for _ in range(2000):
        swap = rng.random(60) < 0.5
        a, b = np.where(swap, second, first), np.where(swap, first, second)
        extreme += abs(measure(a) - measure(b)) >= observed - 1e-12
    result = evaluate.compare(
        true, first, second, test="randomization", metric="f1", positive=[1, 2]
    )
    assert result.p_value == pytest.approx((1 + extreme) / 2001, abs=0.04)


def test_swapping_whole_groups_agrees_with_all_ways_to_do_so():
    true, groups = np.ones(12, dtype=int), np.repeat(range(4), 3)
    first = np.array([1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1])
    second = np.array([0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1])
    gaps = np.bincount(groups, first - second)
    signs = np.array([[1 - 2 * (way >> g & 1) for g in range(4)] for way in range(16)])
    exact = (np.abs(signs @ gaps) >= abs(gaps.sum())).mean()
    result = evaluate.compare(true, first, second, test="randomization", groups=groups)
    assert result.p_value == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("test", RESAMPLING)
@pytest.mark.parametrize("grouped", [False, True])
def test_p_values_are_uniform_if_the_two_are_equally_good(test, grouped):
    rng = np.random.default_rng(7)
    groups = np.arange(200) // 2 if grouped else None
    p_values = []
    for _ in range(200):
        true = rng.integers(0, 3, 200)
        first, second = (
            np.where(rng.random(200) < 0.7, true, rng.integers(0, 3, 200)) for _ in range(2)
        )
        result = evaluate.compare(
            true, first, second, test=test, metric="macro_f1", groups=groups, n_resamples=200
        )
        p_values.append(result.p_value)
    shares = [np.mean(np.array(p_values) <= level) for level in (0.1, 0.25, 0.5, 0.75)]
    assert shares == pytest.approx([0.1, 0.25, 0.5, 0.75], abs=0.1)


def test_examples_taken_alone_see_differences_where_groups_show_none():
    first = np.repeat([1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0], 50)
    true, second, groups = np.ones(600, dtype=int), 1 - first, np.repeat(range(12), 50)
    alone, together = (
        evaluate.compare(true, first, second, test="randomization", groups=g).p_value
        for g in (None, groups)
    )
    assert alone < 0.001 < 0.05 < together


@pytest.mark.parametrize("test", RESAMPLING)
def test_a_clear_difference_gets_the_smallest_p_value(test):
    result = evaluate.compare(*discordant(80, 0, both=40), test=test, n_resamples=999)
    assert result.p_value == 1 / 1000


@pytest.mark.parametrize("test", ["mcnemar", *RESAMPLING])
def test_equal_predictions_have_p_value_one(test):
    result = evaluate.compare([1, 0, 1], [1, 1, 0], [1, 1, 0], test=test, n_resamples=50)
    assert (result.p_value, result.difference, result.difference.low) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("test", ["mcnemar", *RESAMPLING])
def test_exchanging_the_two_turns_the_sign_and_keeps_the_p_value(test):
    true, first, second = discordant(14, 4)
    ahead = evaluate.compare(true, first, second, test=test)
    behind = evaluate.compare(true, second, first, test=test)
    assert ahead.difference == -behind.difference
    assert ahead.p_value == pytest.approx(behind.p_value, abs=0.01)


@pytest.mark.parametrize(
    ("metric", "place", "average"),
    [
        ("precision", 0, "micro"),
        ("recall", 1, "micro"),
        ("f1", 2, "micro"),
        ("macro_precision", 0, "macro"),
        ("macro_recall", 1, "macro"),
        ("macro_f1", 2, "macro"),
    ],
)
def test_metrics_are_those_of_scikit_learn(metric, place, average):
    true, first, second = list("abcabcab"), list("abbaacab"), list("cbcabcbb")
    result = evaluate.compare(
        true, first, second, test="bootstrap", metric=metric, positive=["a", "c"], n_resamples=5
    )
    expected = [
        precision_recall_fscore_support(
            true, predicted, labels=["a", "c"], average=average, zero_division=0
        )[place]
        for predicted in (first, second)
    ]
    assert [result.first, result.second] == pytest.approx(expected)


def test_the_interval_is_that_of_the_paired_difference():
    # One gains exactly what the other has and 10 of 100 more: examples drawn together.
    true, first, second = discordant(10, 0, both=90)
    difference = evaluate.compare(true, first, second).difference
    tails = binom.ppf([0.025, 0.975], 100, 0.1) / 100
    assert (difference.low, difference.high) == pytest.approx(tails, abs=0.011)


def test_equal_seeds_give_equal_comparisons():
    data = discordant(14, 4)
    first, second = (evaluate.compare(*data, test="bootstrap", random_state=5) for _ in range(2))
    assert first.to_dict() == second.to_dict()


def test_different_seeds_give_different_draws():
    data = discordant(14, 8)
    p_values = {evaluate.compare(*data, test="bootstrap", random_state=s).p_value for s in range(5)}
    assert len(p_values) > 1


def test_json_reads_back_as_the_dictionary():
    result = evaluate.compare(*discordant(3, 1), positive=1, metric="f1", test="bootstrap")
    assert json.loads(result.to_json()) == result.to_dict()


def test_the_table_names_the_two_and_the_test():
    text = str(evaluate.compare(*discordant(14, 4), names=("trees", "words")))
    assert [line.split()[0] for line in text.splitlines() if line] == [
        "accuracy",
        "trees",
        "words",
        "difference",
        "p",
    ]
    assert "(mcnemar); 38 examples; 95 % interval from 10,000 resamples" in text


def test_names_are_escaped_in_html():
    html = evaluate.compare([1, 0], [1, 1], [0, 0], names=("<img src=x>", "b"))._repr_html_()
    assert "<img" not in html


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"test": "t"}, "test must be one of mcnemar, bootstrap, randomization; got 't'"),
        ({"metric": "auc"}, "metric must be one of accuracy, precision"),
        ({"metric": "f1"}, "over all classes is the accuracy; name the positive classes"),
        ({"metric": "macro_f1"}, "'mcnemar' compares accuracies, not macro_f1; use"),
        ({"groups": [1, 2]}, "'mcnemar' assumes independent examples"),
        ({"groups": [1, 1], "test": "bootstrap"}, "all examples are in one group"),
        ({"groups": [1], "test": "bootstrap"}, "groups has 1 entries"),
        ({"n_resamples": 0}, "n_resamples must be an int of at least 1"),
        ({"confidence": 2}, "confidence must be"),
        ({"names": "ab"}, "names must be two strings"),
        ({"names": ("a", 1)}, "names must be two strings"),
        ({"positive": 5}, "positive: 5 is not among the classes"),
    ],
)
def test_a_bad_argument_is_named(arguments, message):
    with pytest.raises(KernelInputError, match=message):
        evaluate.compare([1, 0], [1, 1], [0, 0], **arguments)


def test_different_lengths_are_named():
    with pytest.raises(KernelInputError, match="second has 1 labels, but y_true has 2"):
        evaluate.compare([1, 0], [1, 1], [0])
