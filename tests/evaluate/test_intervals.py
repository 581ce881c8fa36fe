"""Intervals of measures: a plain loop, properties, and how often they hold the truth."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from kernelwood import evaluate
from kernelwood.evaluate.intervals import effective_sizes, wilson_interval

CONFIDENCES = st.sampled_from([0.8, 0.95, 0.99])
# Groups of examples: how many are right, of how many.
GROUPS = st.lists(
    st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2
)


def plain_wilson(rate, size, confidence):
    """Return Wilson's interval as in textbooks."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (rate + z * z / (2 * size)) / (1 + z * z / size)
    inside = rate * (1 - rate) / size + z * z / (4 * size * size)
    half = z / (1 + z * z / size) * math.sqrt(inside)
    return middle - half, middle + half


def plain_size(groups):
    """Return the effective sample size of a fraction, group by group."""
    groups = [(part, whole) for part, whole in groups if whole]
    n = sum(whole for _, whole in groups)
    mean = n / len(groups)
    added = [*groups, (mean, mean), (0, mean)]
    total = sum(whole for _, whole in added)
    rate = sum(part for part, _ in added) / total
    between = sum((part - rate * whole) ** 2 for part, whole in added)
    return n / max(1, between / (rate * (1 - rate) * total))


def plain_fraction(groups, confidence):
    part, whole = (sum(column) for column in zip(*groups, strict=True))
    return plain_wilson(part / whole, plain_size(groups), confidence)


def width(estimate):
    return estimate.high - estimate.low


@given(st.integers(0, 50), st.integers(1, 50), CONFIDENCES)
def test_wilson_is_that_of_textbooks(right, more, confidence):
    n = right + more
    low, high = wilson_interval([right / n], [n], confidence)
    assert (low[0], high[0]) == pytest.approx(plain_wilson(right / n, n, confidence), abs=1e-9)


def test_an_empty_sample_tells_nothing():
    low, high = wilson_interval([0.0], [0.0])
    assert (low[0], high[0]) == (0.0, 1.0)


@given(GROUPS)
def test_effective_sizes_are_those_of_a_plain_loop(groups):
    parts, wholes = (
        sparse.csr_matrix([[x] for x in column]) for column in zip(*groups, strict=True)
    )
    found = effective_sizes(parts, wholes, np.ones(len(groups), dtype=np.int64))
    assert found[0] == pytest.approx(plain_size(groups))


@given(GROUPS)
def test_groups_never_add_information(groups):
    assert 0 < plain_size(groups) <= sum(whole for _, whole in groups)


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_examples_without_groups_count_as_they_are(right):
    parts, ones = sparse.csr_matrix([[int(x)] for x in right]), np.ones(len(right), dtype=np.int64)
    found = effective_sizes(parts, sparse.csr_matrix(ones[:, None]), ones)
    assert found[0] == pytest.approx(len(right))


@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_are_those_of_a_plain_loop(grouped):
    rng = np.random.default_rng(5)
    true = rng.integers(0, 3, 120)
    predicted = np.where(rng.random(120) < 0.7, true, rng.integers(0, 3, 120))
    names = np.arange(120) // 4 if grouped else np.arange(120)
    members = [np.flatnonzero(names == name) for name in np.unique(names)]
    drawn = []
    for _ in range(3000):
        chosen = np.concatenate([members[i] for i in rng.integers(len(members), size=len(members))])
        drawn.append(_measures(_counts(true[chosen], predicted[chosen])))
    drawn = np.quantile(drawn, [0.05, 0.95], axis=0)
    by_group = [_counts(true[rows], predicted[rows]) for rows in members]
    wilson = [plain_fraction([row[k] for row in by_group], 0.9) for k in range(4)]
    wilson[3] = tuple(2 * end / (1 + end) for end in wilson[3])
    scores = evaluate.score(
        true,
        predicted,
        positive=1,
        groups=names if grouped else None,
        n_bootstrap=3000,
        confidence=0.9,
    )
    found = [scores.accuracy, scores[1].precision, scores.micro.recall, scores[2].f1]
    for estimate, low, high, (least, most) in zip(found, *drawn, wilson, strict=True):
        assert estimate.low == pytest.approx(min(low, least), abs=0.015)
        assert estimate.high == pytest.approx(max(high, most), abs=0.015)
        assert estimate.low <= least + 1e-12 and most - 1e-12 <= estimate.high


def _counts(true, predicted):
    """Return part and whole of accuracy, precision and recall of 1, the Jaccard index of 2."""
    right = true == predicted
    return [
        (right.sum(), len(true)),
        (right[predicted == 1].sum(), (predicted == 1).sum()),
        (right[true == 1].sum(), (true == 1).sum()),
        ((right & (true == 2)).sum(), ((true == 2) | (predicted == 2)).sum()),
    ]


def _measures(counts):
    values = [part / whole for part, whole in counts]
    return [*values[:3], 2 * values[3] / (1 + values[3])]


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from("abn"), st.sampled_from("abn")),
        min_size=2,
        max_size=25,
    ),
    st.booleans(),
)
def test_every_interval_has_a_width_and_contains_its_measure(rows, grouped):
    groups, true, predicted = map(list, zip(*rows, strict=True))
    scores = evaluate.score(
        true,
        predicted,
        classes=list("abn"),
        positive=["a", "b"],
        groups=groups if grouped and len(set(groups)) > 1 else None,
        n_bootstrap=20,
    )
    averages = (scores.micro, scores.macro, *scores.classes)
    found = [scores.accuracy, *(x for s in averages for x in (s.precision, s.recall, s.f1))]
    occurring = {"a", "b"} & {*true, *predicted}
    for estimate in found:
        assert 0 <= estimate.low <= estimate <= estimate.high <= 1
    for estimate in found if occurring else found[:1]:
        assert width(estimate) > 0.05


@pytest.mark.parametrize("right", [0, 3])
def test_three_examples_prove_little(right):
    found = evaluate.score(["yes"] * 3, ["yes"] * right + ["no"] * (3 - right)).accuracy
    assert found == right / 3 and width(found) > 0.5


@pytest.mark.parametrize("value", [1.0, 0.75])
def test_intervals_narrow_with_the_number_of_groups(value):
    widths = []
    for n in (4, 16, 64, 256):
        predicted = [1] * round(value * 4) + [0] * round((1 - value) * 4)
        groups = np.repeat(np.arange(n), 4)
        widths.append(width(evaluate.score([1] * 4 * n, predicted * n, groups=groups).accuracy))
    assert widths == sorted(widths, reverse=True) and widths[-1] < widths[0] / 5


def test_more_examples_of_the_same_few_documents_do_not_make_perfect_figures_certain():
    few, many = (
        evaluate.score([1] * 4 * n, [1] * 4 * n, groups=np.repeat(range(4), n)).accuracy
        for n in (1, 50)
    )
    assert many.low == pytest.approx(few.low)


def test_a_class_without_examples_does_not_widen_the_mean():
    data = ["a", "a", "n", "n"] * 20, ["a", "n", "n", "n"] * 20
    one = evaluate.score(*data, classes=["a", "n"], positive=["a"]).macro.f1
    two = evaluate.score(*data, classes=["a", "b", "n"], positive=["a", "b"]).macro.f1
    assert width(two) == pytest.approx(width(one) / 2)


@pytest.mark.parametrize("n_groups", [10, 20, 50])
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.9, 0.95, 0.98])
@pytest.mark.parametrize("alike", [0.0, 0.1, 0.3])
def test_more_than_nine_of_ten_intervals_hold_the_truth(n_groups, rate, alike):
    rng, n_corpora = np.random.default_rng(n_groups), 1000
    wholes = rng.integers(1, 9, (n_groups, n_corpora))
    chances = np.full(wholes.shape, rate)
    if alike:  # the intraclass correlation
        scale = (1 - alike) / alike
        chances = rng.beta(rate * scale, (1 - rate) * scale, wholes.shape)
    parts = rng.binomial(wholes, chances)
    sizes = effective_sizes(
        sparse.csr_matrix(parts), sparse.csr_matrix(wholes), np.ones(n_groups, dtype=np.int64)
    )
    low, high = wilson_interval(parts.sum(axis=0) / wholes.sum(axis=0), sizes)
    assert np.mean((low <= rate) & (rate <= high)) >= 0.93
