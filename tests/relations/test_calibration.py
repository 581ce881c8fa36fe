"""Class probabilities and decision thresholds from held-out scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import softmax
from sklearn.metrics import average_precision_score

from kernelwood.relations import positive_rate_threshold
from kernelwood.relations.calibration import (
    Calibration,
    best_relation,
    calibrate,
    fit_curve,
    fit_softmax,
    held_out_error,
    ranking,
    rates,
)

NONE = 0
STRAIGHT = np.array([1.0, 1.0, 0.0])


@st.composite
def held_out(draw):
    """Draw scores of three classes, annotated classes and documents."""
    n = draw(st.integers(4, 30))
    numbers = st.integers(-20, 20).map(lambda number: number / 7)
    scores = draw(st.lists(st.tuples(numbers, numbers, numbers), min_size=n, max_size=n))
    classes = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    documents = draw(st.lists(st.sampled_from("abcde"), min_size=n, max_size=n))
    return np.array(scores), np.array([NONE, 1, *classes[2:]]), documents


def f1_of(held, cut):
    """Return F1 by its definition, counting one by one."""
    found = right = 0
    for probability, typed in zip(held.probabilities, held.right, strict=True):
        if probability >= cut:
            found += 1
            right += typed
    return 2 * right / (found + sum(held.positive))


def plain_probabilities(scores, calibration):
    """Return the probabilities of one candidate, class by class."""
    powers = [
        math.exp(a * s + b)
        for a, s, b in zip(calibration.slopes, scores, calibration.offsets, strict=True)
    ]
    soft = [power / sum(powers) for power in powers]
    best = max((c for c in range(len(soft)) if c != NONE), key=lambda c: soft[c])
    a, b, c = calibration.curve
    p = soft[best]
    bent = 1 / (1 + math.exp(-(a * math.log(p) - b * math.log(1 - p) + c)))
    factor = min((1 - bent) / (1 - p), bent / p)
    made = [bent if number == best else factor * q for number, q in enumerate(soft)]
    made[NONE] = 1 - sum(q for number, q in enumerate(made) if number != NONE)
    return made


numbers = st.floats(-3, 3)


@given(
    st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=5),
    st.tuples(*[st.floats(0.1, 3)] * 3),
    st.tuples(*[st.floats(-1, 1)] * 3),
    st.tuples(st.floats(0.1, 2), st.floats(0.1, 2), st.floats(-1, 1)),
)
def test_probabilities_are_those_of_the_formula(scores, slopes, offsets, curve):
    calibration = Calibration(np.array(slopes), np.array(offsets), np.array(curve), 0.5)
    found = calibration.probabilities(np.array(scores), NONE)
    for row, one in zip(found, scores, strict=True):
        assert row == pytest.approx(plain_probabilities(one, calibration), abs=1e-9)
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert (found >= 0).all()
    straight = calibration._replace(curve=STRAIGHT).probabilities(np.array(scores), NONE)
    assert (best_relation(found, NONE) == best_relation(straight, NONE)).all()


@given(held_out())
def test_no_other_softmax_fits_better(rows):
    scores, classes, _ = rows
    counts = np.bincount(classes, minlength=3)
    targets = np.full(scores.shape, 0.0)
    for row, number in enumerate(classes):
        targets[row] = 1 / (counts[number] + 2) / 2
        targets[row, number] = (counts[number] + 1) / (counts[number] + 2)

    def loss(slopes, offsets):
        logs = np.log(softmax(scores * slopes + offsets, axis=1))
        apart = slopes - slopes.mean()
        return -(targets * logs).sum() + 5 * apart @ apart + 0.5 * offsets @ offsets

    slopes, offsets = fit_softmax(scores, classes)
    assert (slopes >= 0).all()
    random = np.random.default_rng(0)
    least = loss(slopes, offsets)
    for step in (0.3, 0.03):
        near = slopes + random.normal(size=3) * step
        assert loss(np.maximum(near, 0), offsets + random.normal(size=3) * step) > least - 1e-4


def test_probabilities_of_overconfident_scores_are_true():
    random = np.random.default_rng(0)
    chances = random.dirichlet([1.0, 1.0, 1.0], size=6000)
    classes = np.array([random.choice(3, p=row) for row in chances])
    scores = 3.0 * np.log(chances)  # three times as sure as they may be
    train, test = slice(None, 3000), slice(3000, None)
    calibration = calibrate(scores[train], classes[train], NONE, ["d"] * 3000, "half")
    held = calibration.held(scores[test], classes[test], NONE)
    for low in np.arange(0.2, 1.0, 0.2):
        some = (held.probabilities >= low) & (held.probabilities < low + 0.2)
        assert held.right[some].mean() == pytest.approx(held.probabilities[some].mean(), abs=0.05)


def test_the_held_out_error_is_that_of_probabilities_from_other_folds():
    random = np.random.default_rng(0)
    chances = random.dirichlet([1.0, 1.0, 1.0], size=3000)
    classes = np.array([random.choice(3, p=row) for row in chances])
    folds = random.integers(3, size=3000)
    true = held_out_error(np.log(chances), classes, NONE, folds, 0.4)
    # Scores of one fold are on another scale: the others calibrate them wrongly.
    mixed = np.where((folds == 1)[:, None], 5.0, 1.0) * np.log(chances)
    assert true < 0.04 < 0.08 < held_out_error(mixed, classes, NONE, folds, 0.4)
    assert held_out_error(np.log(chances), classes, NONE, folds, 1.0) is None


def test_a_curve_corrects_what_a_line_cannot():
    random = np.random.default_rng(0)
    said = random.random(20_000)
    right = random.random(20_000) < said**2  # right less often than said, most of all in between
    a, b, c = fit_curve(said, right)
    bent = 1 / (1 + np.exp(-(a * np.log(said) - b * np.log1p(-said) + c)))
    assert np.abs(bent - said**2).mean() < 0.02


@given(held_out())
def test_no_threshold_has_a_better_f1(rows):
    scores, classes, documents = rows
    calibration = calibrate(scores, classes, NONE, documents, "f1")
    held = calibration.held(scores, classes, NONE)
    reached = rates(held, held.probabilities >= calibration.threshold).f1
    assert reached == pytest.approx(max(f1_of(held, cut) for cut in held.probabilities))


@given(held_out())
def test_the_cautious_threshold_is_not_higher(rows):
    scores, classes, documents = rows
    best = calibrate(scores, classes, NONE, documents, "f1")
    cautious = calibrate(scores, classes, NONE, documents, "cautious")
    assert cautious.threshold <= best.threshold


def standard_error(held, cut, documents, n_draws=4000):
    """Return the deviation of F1 if whole documents are drawn with replacement."""
    found = held.probabilities >= cut
    names = sorted(set(documents))
    members = [np.array([d == name for d in documents]) for name in names]
    right = np.array([(found & held.right)[m].sum() for m in members])
    both = np.array([found[m].sum() + held.positive[m].sum() for m in members])
    drawn = np.random.default_rng(1).integers(len(names), size=(n_draws, len(names)))
    return np.std(2 * right[drawn].sum(axis=1) / both[drawn].sum(axis=1))


@pytest.mark.parametrize("seed", range(5))
def test_the_cautious_threshold_is_the_lowest_within_a_standard_error(seed):
    random = np.random.default_rng(seed)
    classes = (random.random(80) < 0.4).astype(int)
    scores = np.stack([np.zeros(80), random.normal(size=80) + 1.5 * classes], axis=1)
    documents = [f"d{d}" for d in random.integers(10, size=80)]
    calibration = calibrate(scores, classes, NONE, documents, "cautious")
    held = calibration.held(scores, classes, NONE)
    f1 = {cut: f1_of(held, cut) for cut in held.probabilities}
    best = max(held.probabilities, key=f1.get)
    error = standard_error(held, best, documents)
    # A bootstrap is known to some per cent: what lies that close to the bound may be in or out.
    lowest = min(cut for cut in f1 if f1[cut] >= f1[best] - 0.9 * error)
    beyond = min(cut for cut in f1 if f1[cut] >= f1[best] - 1.1 * error)
    taken = held.probabilities[held.probabilities >= calibration.threshold].min()
    assert beyond <= taken <= lowest


@given(held_out(), st.floats(0.01, 0.99))
def test_a_number_is_the_threshold_itself(rows, number):
    scores, classes, documents = rows
    assert calibrate(scores, classes, NONE, documents, number).threshold == number
    for threshold in ("half", {"binds": 0.7}):
        assert calibrate(scores, classes, NONE, documents, threshold).threshold == 0.5


@given(held_out())
def test_the_probability_of_the_best_relation_rises_with_its_score(rows):
    scores, classes, documents = rows
    calibration = calibrate(scores, classes, NONE, documents, "f1")
    asked = np.tile([0.0, 0.0, -50.0], (9, 1))
    asked[:, 1] = np.linspace(-3, 3, 9)
    chances = calibration.probabilities(asked, NONE)[:, 1]
    assert (np.diff(chances) >= -1e-12).all()


@given(held_out())
def test_ranking_is_the_share_of_pairs_in_order(rows):
    scores, classes, _ = rows
    positive, numbers = classes != NONE, scores[:, 0]
    auc, precision = ranking(positive, numbers)
    pairs = [(a, b) for a in numbers[positive] for b in numbers[~positive]]
    expected = np.mean([1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs])
    assert auc == pytest.approx(expected)
    assert precision == pytest.approx(average_precision_score(positive, numbers))


def test_one_class_has_no_ranking():
    assert ranking(np.array([True, True]), np.array([0.1, 0.2])) == (None, None)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_a_share_of_scores_reaches_its_threshold(scores, share):
    line = positive_rate_threshold(scores, share)
    wanted = max(1, round(share * len(scores)))
    assert sum(score >= line for score in scores) >= wanted
    assert sum(score > line for score in scores) < wanted
