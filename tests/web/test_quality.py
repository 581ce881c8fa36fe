"""Estimates from checks."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwood.relations import NONE
from kernelwood.web import Decision, TeachingModel, orders
from kernelwood.web.quality import (
    CurvePoint,
    changes,
    curve,
    estimate,
    outlook,
    threshold_table,
)


def decision(candidate, label, predicted, weight=1.0):
    return Decision(
        candidate, candidate, candidate, label, 0.0, "me", "", predicted, 0.5, weight, 1
    )


def log_of(*rows):
    return [decision(number, *row) for number, row in enumerate(rows)]


def model_of(chances, threshold=0.5, classes=("A", NONE)):
    made = np.asarray(chances, dtype=np.float32)
    if made.ndim == 1:
        made = np.stack([made, 1 - made], axis=1)
    return TeachingModel(1, 2, classes, made, threshold)


def test_estimates_are_weighted_fractions():
    log = log_of(
        ("A", "A", 2.0), ("A", NONE, 1.0), (NONE, "A", 0.5), ("B", "A", 1.5), (NONE, NONE, 9.0)
    )
    found = estimate(log)
    assert found.precision == pytest.approx(2 / 4)
    assert found.recall == pytest.approx(2 / 4.5)
    assert found.f1 == pytest.approx(2 * 2 / (4 + 4.5))
    assert (found.n_checks, found.n_relations) == (5, 3)
    for one in (found.f1, found.precision, found.recall):
        assert 0 < one.low < one < one.high < 1


def test_only_checks_that_were_predicted_and_decided_count():
    log = log_of(("A", "A", None), ("A", None, 1.0), (None, "A", 1.0), ("A", NONE, 1.0))
    found = estimate(log)
    assert found.recall == 0 and found.n_checks == 1 and found.precision is None


def test_of_several_decisions_the_last_counts_with_the_weight_of_the_check():
    first, second = decision(7, "A", NONE, 2.0), decision(7, NONE, "A", None)
    found = estimate([first, second])
    assert (found.n_checks, found.n_relations, found.precision) == (1, 0, 0.0)


def test_no_checks_give_no_estimate():
    assert estimate([]) == (None, None, None, 0, 0)
    assert estimate(log_of(("A", "A", None)), model_of([0.9])) == (None, None, None, 0, 0)


def test_directions_that_are_not_known_do_not_count_as_errors():
    assert estimate(log_of(("A(e2,e1)", "A"))).f1 == 1.0
    assert estimate(log_of(("A(e2,e1)", "A(e1,e2)"))).f1 == 0.0


def test_intervals_of_equal_weights_are_those_of_wilson():
    log = log_of(*[("A", "A")] * 30, *[(NONE, "A")] * 10)
    found = estimate(log).precision
    z, n, rate = 1.959964, 40, 0.75
    for end in (found.low, found.high):  # where the score test is on the border
        assert abs(rate - end) == pytest.approx(z * np.sqrt(end * (1 - end) / n), abs=1e-4)


def test_with_a_model_its_predictions_for_the_checks_count():
    model = model_of([0.9, 0.1, 0.8, 0.2])
    log = log_of(("A", NONE, 2.0), ("A", "A", 1.0), (NONE, None, 0.5), ("A", "A", None))
    found = estimate(log, model)
    assert found.precision == pytest.approx(2 / 2.5) and found.recall == pytest.approx(2 / 3)
    assert (found.n_checks, found.n_relations) == (3, 2)


def simulated(seed, n=200):
    """Return estimate and truth for checks drawn from candidates with known classes."""
    rng = np.random.default_rng(seed)
    chances = rng.beta(0.4, 1.2, 2000)
    true = rng.random(2000) < chances
    model = model_of(chances, 0.4)
    left, log = np.ones(2000, dtype=bool), []
    for place in range(n):
        pick = orders.draw_check(model, left, seed, place)
        left[pick.candidate] = False
        predicted = "A" if chances[pick.candidate] >= 0.4 else NONE
        label = "A" if true[pick.candidate] else NONE
        log.append(decision(pick.candidate, label, predicted, pick.weight))
    right = (true & (chances >= 0.4)).sum()
    return estimate(log).f1, 2 * right / (true.sum() + (chances >= 0.4).sum())


def test_estimates_are_unbiased_and_intervals_cover_the_truth():
    made = [simulated(seed) for seed in range(40)]
    errors = np.array([float(found) - truth for found, truth in made])
    assert abs(errors.mean()) < 3 * errors.std() / np.sqrt(len(errors)) + 0.005
    covered = [found.low <= truth <= found.high for found, truth in made]
    assert np.mean(covered) >= 0.9
    assert np.mean([found.high - found.low for found, _ in made]) < 0.25


def test_a_curve_has_a_point_after_every_ten_checks():
    log = log_of(*[("A", NONE if n < 60 else "A", 1.0 if n % 2 else None) for n in range(240)])
    points = curve(log)
    assert [point.n_decisions for point in points] == list(range(20, 241, 20))
    assert points[0].f1 == 0 and points[-1].f1 == 1  # the last 50 checks
    assert points[4].f1 == estimate([one for one in log if one.weight][:50]).f1
    assert all(point.low <= point.f1 <= point.high for point in points)


def points_of(exponent, sizes, width=0.02):
    values = [1 - 1.2 * n**exponent for n in sizes]
    return [CurvePoint(n, f1, f1 - width, f1 + width) for n, f1 in zip(sizes, values, strict=True)]


def test_the_outlook_follows_the_curve():
    sizes = range(50, 1001, 50)
    for exponent in (-0.05, -0.15, -0.3):
        found = outlook(points_of(exponent, sizes, 0.002), more=500)
        expected = 1.2 * (1000**exponent - 1500**exponent)
        assert found.gain == pytest.approx(expected, rel=0.1)
        assert f"{found.gain:.2f}" in found.text and "500 labels" in found.text


def test_an_uncertain_curve_gives_the_typical_outlook():
    flat = [CurvePoint(n, 0.5, 0.1, 0.9) for n in (50, 100, 150)]
    assert outlook(flat).gain == pytest.approx(0.5 * (1 - (350 / 150) ** -0.15), rel=0.1)


def test_a_falling_curve_promises_no_loss():
    found = outlook([CurvePoint(n, 0.9 - n / 2000, 0.0, 0.0) for n in range(100, 1001, 100)])
    assert found.gain == 0.0 and "hardly worth it" in found.text


def test_the_outlook_ends_with_the_last_candidate():
    points = points_of(-0.15, (50, 100, 150))
    assert outlook(points, more=1).text.startswith("The next label is likely")
    assert outlook(points, more=0) == ("", None)


def test_too_few_checks_give_no_outlook():
    found = outlook(points_of(-0.15, (50, 100)))
    assert found.gain is None and "Too few checks" in found.text


def test_thresholds_and_what_to_expect_of_them():
    chances = np.array([[0.6, 0.3, 0.1], [0.2, 0.1, 0.7], [0.1, 0.4, 0.5]])
    model = model_of(chances, classes=("A", "B", NONE))
    [row] = threshold_table(model, thresholds=[0.4])
    assert row.n_predicted == 2 and row.precision == pytest.approx(0.5, abs=1e-6)
    assert row.recall == pytest.approx(1.0 / 1.7, abs=1e-6)
    assert row.f1 == pytest.approx(2 / (2 + 1.7), abs=1e-6)
    assert threshold_table(model, thresholds=[0.99])[0][1:] == (None, 0.0, 0.0, 0)
    assert threshold_table(model, np.array([False, True, False]))[0].n_predicted == 1
    assert len(threshold_table(model)) == 19


def test_changes_are_counted_by_kind():
    before = model_of([[0.9, 0.0, 0.1], [0.1, 0.0, 0.9], [0.9, 0.0, 0.1], [0.1, 0.0, 0.9]],
                      classes=("A", "B", NONE))  # fmt: skip
    after = model_of([0.1, 0.9, 0.9, 0.1], classes=("B", NONE))
    assert changes(before, after) == {"new": 1, "withdrawn": 1, "other_type": 1}
