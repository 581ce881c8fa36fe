"""Sums over a stream of rows equal plain sums, and do not depend on how the rows arrive."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernelwood.learners import normal_equations
from kernelwood.learners.normal_equations import NormalEquations

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(60, 4))
CLASSES = RANDOM.integers(0, 3, size=60)
FOLDS = RANDOM.integers(0, 4, size=60)
WEIGHTS = np.array([1.0, 0.5, 3.0])
TARGETS = np.array([[1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])


def made(cuts, by_class=True, folds=FOLDS, **options):
    sums = NormalEquations(4, by_class=by_class, dtype="float64", **options)
    for begin, end in zip([0, *cuts], [*cuts, 60], strict=True):
        sums.add(ROWS[begin:end], CLASSES[begin:end], None if folds is None else folds[begin:end])
    return sums


cuts = st.lists(st.integers(0, 60), max_size=5).map(sorted)


@given(cuts=cuts, without=st.sampled_from([None, 0, 3]), by_class=st.booleans())
def test_sums_are_those_of_a_loop(cuts, without, by_class):
    weights = WEIGHTS if by_class else np.ones(3)
    products, right = np.zeros((4, 4)), np.zeros((4, 2))
    for row, number, fold in zip(ROWS, CLASSES, FOLDS, strict=True):
        if fold != without:
            products += weights[number] * np.outer(row, row)
            right += weights[number] * np.outer(row, TARGETS[number])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normal_equations, "BLOCK", 7)
        found = made(cuts, by_class).total(weights, TARGETS, without=without)
    np.testing.assert_allclose(found[0], products, atol=1e-12)
    np.testing.assert_allclose(found[1], right, atol=1e-12)


@given(cuts=cuts)
def test_batches_change_no_bit(cuts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normal_equations, "BLOCK", 7)
        wanted, found = made([], n_sampled=9, seed=3), made(cuts, n_sampled=9, seed=3)
        for a, b in zip(wanted.total(WEIGHTS, TARGETS), found.total(WEIGHTS, TARGETS), strict=True):
            assert a.tobytes() == b.tobytes()
        for a, b in zip(wanted.sample(), found.sample(), strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("n", [1, 10, 60, 100])
def test_the_sample_has_different_rows_of_the_stream(monkeypatch, n):
    monkeypatch.setattr(normal_equations, "BLOCK", 7)
    rows, classes, positions = made([20], n_sampled=n, seed=1).sample()
    assert len(rows) == min(n, 60)
    assert (np.diff(positions) > 0).all()
    assert (rows == ROWS[positions]).all()
    assert (classes == CLASSES[positions]).all()


def test_every_row_is_sampled_equally_often(monkeypatch):
    monkeypatch.setattr(normal_equations, "BLOCK", 7)
    drawn = np.zeros(60)
    for seed in range(100):
        drawn[made([], n_sampled=15, seed=seed).sample()[2]] += 1
    # 25 times on average, with a standard deviation of 4.3.
    assert drawn.min() > 5
    assert drawn.max() < 45


@pytest.mark.parametrize("by_class", [True, False])
def test_classes_can_be_renumbered(by_class):
    order = np.array([2, 0, 1])
    weights = WEIGHTS if by_class else np.ones(3)
    before = made([], by_class, n_sampled=60)
    wanted = before.total(weights[order], TARGETS[order])
    counts, numbers = before.counts(3), before.sample()[1]
    before.renumber(order)
    found = before.total(weights, TARGETS)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-12)
    assert before.counts(3)[order].tolist() == counts.tolist() == np.bincount(CLASSES).tolist()
    assert (before.sample()[1] == order[numbers]).all()
