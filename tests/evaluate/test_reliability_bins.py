"""Reliability diagrams."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import KernelInputError
from kernelwood.evaluate import reliability

rows_of = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40)


def plain_error(rows, n_bins):
    """Return the expected calibration error, prediction by prediction."""
    bins = {}
    for probability, right in rows:
        bins.setdefault(min(int(probability * n_bins), n_bins - 1), []).append((probability, right))
    total = 0.0
    for some in bins.values():
        total += abs(sum(p for p, _ in some) - sum(right for _, right in some))
    return total / len(rows) if rows else 0.0


@given(rows_of, st.integers(1, 12))
def test_the_error_is_that_of_the_definition(rows, n_bins):
    probabilities, right = zip(*rows, strict=True) if rows else ((), ())
    found = reliability(probabilities, right, n_bins=n_bins)
    assert found.error == pytest.approx(plain_error(rows, n_bins), abs=1e-12)
    assert sum(one.n for one in found.bins) == len(rows)
    assert all(one.low - 1e-9 <= one.probability <= one.high + 1e-9 for one in found.bins)


def test_true_probabilities_have_a_small_error():
    random = np.random.default_rng(0)
    chances = random.random(20_000)
    assert reliability(chances, random.random(20_000) < chances).error < 0.01
    assert reliability(chances, random.random(20_000) < chances**3).error > 0.1


@pytest.mark.parametrize(
    ("probabilities", "right"), [([0.5], [True, False]), ([1.5], [True]), ([np.nan], [True])]
)
def test_other_numbers_are_refused(probabilities, right):
    with pytest.raises(KernelInputError, match="reliability"):
        reliability(probabilities, right)


def test_the_table_ends_with_the_error():
    lines = str(reliability([0.95, 0.05], [True, False])).splitlines()
    assert lines[-1] == "expected calibration error 0.050"
    assert len(lines) >= 4
