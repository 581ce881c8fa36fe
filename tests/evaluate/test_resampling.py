"""Draws and counts of resamples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernelwood.evaluate import resampling
from kernelwood.evaluate.class_labels import encode, encode_groups
from kernelwood.evaluate.resampling import Units, draw_bootstrap, draw_swaps, weigh

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1)


@given(LABELS)
def test_counts_of_weighted_groups_are_those_of_repeated_examples(rows):
    true, predicted, groups = map(list, zip(*rows, strict=True))
    encoded = encode({"t": true, "p": predicted}, range(4))
    grouped = encode_groups(groups, len(rows))
    units = Units.of(encoded, grouped)
    weights = np.arange(1, grouped.n_groups + 1)
    repeats = weights[grouped.codes]
    repeated = [np.repeat(codes, repeats) for codes in encoded.codes]
    right = repeated[0][repeated[0] == repeated[1]]
    expected = [np.bincount(each, minlength=4) for each in (right, *repeated)]
    found = weigh(units.tables[0], weights[np.newaxis])[0]
    assert found.tolist() == np.concatenate(expected).tolist()


@given(LABELS)
def test_units_of_examples_and_of_groups_count_the_same_data(rows):
    true, predicted, groups = map(list, zip(*rows, strict=True))
    encoded = encode({"t": true, "p": predicted})
    by_kind, by_group = (
        Units.of(encoded, g).totals()[0].tolist() for g in (None, encode_groups(groups, len(rows)))
    )
    assert by_kind == by_group


@pytest.mark.parametrize("sizes", [[5, 1, 3], [1] * 7, [4]])
def test_every_resample_has_as_many_members_as_the_data(sizes):
    [weights] = draw_bootstrap(np.array(sizes), 50, np.random.default_rng(0))
    assert set(weights.sum(axis=1).tolist()) == {sum(sizes)}


@pytest.mark.parametrize("sizes", [[50, 10, 40], [1] * 8])
def test_units_are_drawn_by_their_size(sizes):
    [weights] = draw_bootstrap(np.array(sizes), 4000, np.random.default_rng(0))
    assert weights.mean(axis=0) == pytest.approx(np.array(sizes, dtype=float), rel=0.1)
    assert weights.std(axis=0).min() > 0.5


def test_half_of_each_unit_is_swapped():
    [swaps] = draw_swaps(np.array([100, 1]), 4000, np.random.default_rng(0))
    assert swaps.mean(axis=0) == pytest.approx([50, 0.5], rel=0.05)
    assert swaps.std(axis=0) == pytest.approx([5, 0.5], rel=0.1)


@pytest.mark.parametrize("draw", [draw_bootstrap, draw_swaps])
@pytest.mark.parametrize("sizes", [[5, 1, 3], [1] * 7])
def test_draws_do_not_depend_on_the_size_of_pieces(draw, sizes, monkeypatch):
    whole = np.concatenate([*draw(np.array(sizes), 40, np.random.default_rng(1))])
    monkeypatch.setattr(resampling, "_CHUNK", 20)
    pieces = [*draw(np.array(sizes), 40, np.random.default_rng(1))]
    assert len(pieces) > 1 and np.concatenate(pieces).tolist() == whole.tolist()
