"""Learning curves: the fit, its interval, and the curve of an extractor."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from annotated import documents
from hypothesis import assume, given, strategies as st

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.evaluate import Estimate
from kernelwood.relations import LearningCurve
from kernelwood.relations.learning_curve import doubling_gain, estimate_gain

VALUES = st.lists(st.floats(0, 1), min_size=3, max_size=8)


def plain_gain(sizes, values):
    """Return the gain by a line through points on double logarithmic paper."""
    points = [
        (math.log(size), math.log(max(1 - value, 1e-3)))
        for size, value in zip(sizes, values, strict=True)
    ]
    middle_x, middle_y = (sum(column) / len(points) for column in zip(*points, strict=True))
    slope = sum((x - middle_x) * (y - middle_y) for x, y in points)
    slope /= sum((x - middle_x) ** 2 for x, _ in points)
    return (1 - values[-1]) * (1 - 2 ** min(slope, 0))


@given(VALUES)
def test_the_gain_is_that_of_a_plain_fit(values):
    sizes = [3 * 2**number for number in range(len(values))]
    gain, error = doubling_gain(sizes, values)
    assert gain == pytest.approx(plain_gain(sizes, values), abs=1e-9)
    assert error >= 0


@given(st.floats(0.1, 0.9), st.floats(0.01, 1.0), st.integers(3, 6))
def test_a_planted_curve_is_recovered(start, rate, n):
    sizes = [10 * 2**number for number in range(n + 1)]
    values = [1 - start * (size / sizes[0]) ** -rate for size in sizes]
    assume(1 - values[-1] > 1e-3)
    gain, error = doubling_gain(sizes[:-1], values[:-1])
    assert gain == pytest.approx(values[-1] - values[-2], abs=1e-9)
    assert error == pytest.approx(0, abs=1e-7)


@given(VALUES)
def test_more_documents_never_harm_and_never_exceed_one(values):
    gain, _ = doubling_gain([2**number for number in range(len(values))], values)
    assert -1e-12 <= gain <= 1 - values[-1] + 1e-12


def test_a_falling_curve_has_no_gain():
    assert doubling_gain([1, 2, 4], [0.6, 0.5, 0.4])[0] == 0


COUNTS = st.integers(2, 5).flatmap(
    lambda n: st.lists(
        st.lists(
            st.tuples(st.integers(0, 20), st.integers(20, 40), st.integers(20, 40)),
            min_size=n,
            max_size=n,
        ),
        min_size=4,
        max_size=4,
    )
)


@given(COUNTS)
def test_the_interval_contains_the_gain(counts):
    found = estimate_gain([10, 20, 40, 80], counts)
    right, true, predicted = np.array(counts)[-1].sum(axis=0)
    assert 0 <= found.low <= found + 1e-12
    assert found <= found.high + 1e-12
    assert found.high <= 1 - 2 * right / (true + predicted) + 1e-12


def test_folds_that_differ_widen_the_interval():
    alike = [[(n, 50, 50)] * 5 for n in (10, 18, 24.4, 29.5)]
    mixed = [[(n + d * k, 50, 50) for k in (-2, -1, 0, 1, 2)] for d, (n, _, _) in
             enumerate(row[0] for row in alike)]  # fmt: skip
    narrow, wide = (estimate_gain([10, 20, 40, 80], counts) for counts in (alike, mixed))
    assert narrow.high - narrow.low < 0.01 < wide.high - wide.low


def test_most_intervals_hold_the_gain_that_comes():
    rng = np.random.default_rng(0)
    sizes = [10, 20, 40, 80]
    hits = 0
    for _ in range(200):
        # Relations of five folds, of which a growing share is found.
        rates = [1 - 0.7 * (size / 10) ** -0.25 for size in [*sizes, 160]]
        counts = [[(rng.binomial(200, rate), 200, 200) for _ in range(5)] for rate in rates]
        found = estimate_gain(sizes, counts[:4])
        hits += found.low <= rates[4] - rates[3] <= found.high
    assert hits >= 180


# The curve of an extractor.


@pytest.fixture(scope="module")
def curve():
    model = kw.RelationExtractor(random_state=0)
    return model.learning_curve(documents(16), n_splits=2, n_bootstrap=10)


def test_the_last_point_is_the_cross_validation(curve):
    model = kw.RelationExtractor(random_state=0)
    expected = model.cross_validate(documents(16), n_splits=2, n_bootstrap=10)
    assert curve.validation.to_dict() == expected.to_dict()


def test_sizes_are_fractions_of_the_training_documents(curve):
    # Eight training documents; an eighth of them would be one, and two are needed.
    assert [(point.fraction, point.n_documents) for point in curve.points] == [
        (0.25, 2),
        (0.5, 4),
        (1.0, 8),
    ]
    assert "as many documents (2)" in curve.skipped[0.125]
    assert "not trained on 0.125 of the documents" in str(curve)


def test_test_documents_are_the_same_at_all_sizes(curve):
    sizes = {tuple(part.n_candidates for part in p.validation.parts) for p in curve.points}
    assert len(sizes) == 1


def test_sizes_without_relations_are_skipped():
    # Relations are in one of many documents, which most small parts do not contain.
    corpus = [*documents(2), *documents(14, start=20, patterns=[4, 5])]
    curve = kw.RelationExtractor(random_state=0).learning_curve(
        corpus, n_splits=2, n_bootstrap=0, fractions=[0.2, 1.0]
    )
    assert [point.fraction for point in curve.points] == [1.0]
    assert "is a relation" in curve.skipped[0.2]
    assert curve.gain is None and "Too few" in curve.outlook


def test_the_curve_is_plain_json(curve):
    report = json.loads(json.dumps(curve.to_dict()))
    assert [row["documents"] for row in report["points"]] == [2, 4, 8]
    assert set(report["gain"]) == {"value", "low", "high"}


@pytest.mark.parametrize(
    ("gain", "text"),
    [
        (Estimate(0.021, 0.0, 0.044), "F1 about +0.02 (between +0.00 and +0.04)"),
        (Estimate(0.001, 0.0, 0.012), "no gain in F1 to be expected (at most +0.01)"),
        (None, "Too few documents"),
    ],
)
def test_the_outlook_is_a_sentence(curve, gain, text):
    assert text in LearningCurve(curve.points, gain, {}).outlook


@pytest.mark.parametrize("fractions", [[], [0.5], [1.0, 0.5], [0, 1], [0.5, 0.5, 1], [0.5, 2]])
def test_wrong_fractions_are_told(fractions):
    model = kw.RelationExtractor(random_state=0)
    with pytest.raises(KernelInputError, match="fractions must increase from above 0 up to 1"):
        model.learning_curve(documents(4), n_splits=2, fractions=fractions)


def test_the_curve_is_drawn(curve, tmp_path):
    pytest.importorskip("matplotlib")
    curve.save(tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<?xml")
