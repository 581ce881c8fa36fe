"""Lloyd's algorithm and its starts, beside the textbook and scikit-learn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from clustering.oracles import LinearKernel, clusters_of, inertia, lloyd, points
from hypothesis import assume, given, strategies as st
from sklearn.cluster import KMeans
from strategies import sample_trees, trees

import kernelwood as kw
from kernelwood.clustering.lloyd import (
    Lloyd,
    SelfSimilarities,
    first_nearest,
    order_of_clusters,
    run,
    spread_labels,
)

KERNEL = kw.PartialTreeKernel()


def similarities_of(structures, kernel=KERNEL):
    return SelfSimilarities(kernel, kw.batch(structures))


def settled(similarities, labels, max_iter=100):
    state = Lloyd(similarities, np.array(labels), max_iter)
    run(similarities, [state])
    return state


@st.composite
def partitions(draw):
    """Structures, and starting labels that are all used."""
    structures = draw(st.lists(trees(), min_size=1, max_size=9))
    n_clusters = draw(st.integers(1, min(4, len(structures))))
    rest = st.lists(
        st.integers(0, n_clusters - 1),
        min_size=len(structures) - n_clusters,
        max_size=len(structures) - n_clusters,
    )
    return structures, draw(st.permutations([*range(n_clusters), *draw(rest)]))


@given(partitions())
def test_clusters_are_those_of_the_textbook(case):
    structures, labels = case
    expected = lloyd(KERNEL.gram(structures).tolist(), labels)
    assume(expected is not None)
    state = settled(similarities_of(structures), labels)
    assert clusters_of(state.labels.tolist()) == expected


@given(partitions())
def test_inertia_is_that_of_the_textbook(case):
    structures, labels = case
    state = settled(similarities_of(structures), labels)
    expected = inertia(KERNEL.gram(structures).tolist(), clusters_of(state.labels.tolist()))
    assert state.inertia == pytest.approx(expected, abs=1e-9)


@given(partitions())
def test_inertia_never_rises(case):
    structures, labels = case
    similarities = similarities_of(structures)
    seen = [settled(similarities, labels, max_iter).inertia for max_iter in range(6)]
    assert all(after <= before + 1e-9 for before, after in pairwise(seen))


@given(partitions())
def test_sums_kept_up_to_date_are_those_made_anew(case):
    structures, labels = case
    similarities = similarities_of(structures)
    state = settled(similarities, labels)
    fresh = settled(similarities, state.labels)
    kept = np.bincount(state.labels, minlength=state.n_clusters) > 0
    assert state.distances()[kept] == pytest.approx(fresh.distances()[kept[: fresh.n_clusters]])


@pytest.mark.parametrize("seed", range(5))
def test_a_linear_kernel_gives_the_clusters_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(60, 3)) + rng.integers(4, size=(60, 1))
    start = vectors[:4]
    labels = ((vectors[:, None] - start) ** 2).sum(axis=2).argmin(axis=1)
    expected = KMeans(4, init=start, n_init=1, tol=0).fit(vectors)
    state = settled(similarities_of(points(vectors), LinearKernel()), labels)
    assert (state.labels == expected.labels_).all()
    assert state.inertia == pytest.approx(expected.inertia_)


def test_starts_that_run_together_end_where_they_end_alone():
    similarities = similarities_of(sample_trees(60))
    rng = np.random.default_rng(0)
    starts = [rng.permutation(np.arange(60) % 5) for _ in range(3)]
    together = [Lloyd(similarities, labels, 100) for labels in starts]
    run(similarities, together)
    for state, labels in zip(together, starts, strict=True):
        alone = settled(similarities, labels)
        assert (state.labels == alone.labels).all()
        assert (state.inertia, state.n_iter) == (alone.inertia, alone.n_iter)


def test_an_emptied_cluster_gets_the_farthest_structure():
    # The mean of the first cluster lies on the only member of the second.
    line = points([[-1], [1], [0], [0]])
    state = settled(similarities_of(line, LinearKernel()), [0, 0, 0, 1])
    assert clusters_of(state.labels.tolist()) == [[1, 2, 3], [0]]


def test_rounds_are_counted_and_limited():
    similarities = similarities_of(sample_trees(60))
    labels = np.arange(60) % 5
    whole = settled(similarities, labels)
    short = settled(similarities, labels, max_iter=1)
    assert whole.converged and whole.n_iter > 1
    assert not short.converged and short.n_iter == 1


def test_of_equal_distances_but_for_rounding_the_first_counts():
    distances = np.array([[1.0 + 1e-14, 2.0], [1.0, 1.0]])
    assert first_nearest(distances, np.full(2, 1e-12)).tolist() == [0, 1]


def test_clusters_are_ordered_by_size_then_by_their_first_structure():
    assert order_of_clusters(np.array([3, 1, 1, 0]), 4).tolist() == [1, 3, 0, 2]


# Starts.


def test_starts_spread_over_groups_that_are_far_apart():
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [100, 0], [0, 100], [100, 100], [50, 200]])
    groups = np.arange(50) % 5
    line = points(centers[groups] + rng.normal(size=(50, 2)))
    [labels] = spread_labels(similarities_of(line, LinearKernel()), 5, [np.random.default_rng(1)])
    assert len(set(zip(groups.tolist(), labels.tolist(), strict=True))) == 5


@given(st.lists(trees(), min_size=1, max_size=8), st.integers(1, 8), st.integers(0, 99))
def test_there_are_as_many_starts_as_structures_that_differ(structures, n_clusters, seed):
    similarities = similarities_of(structures)
    [labels] = spread_labels(similarities, n_clusters, [np.random.default_rng(seed)])
    gram = KERNEL.gram(structures)
    differ = len(np.unique(gram.round(9), axis=0))
    assert len(np.unique(labels)) == labels.max() + 1 == min(n_clusters, differ)


def test_structures_are_drawn_in_proportion_to_their_squared_distance():
    # One group far away, and a single structure farther still.
    line = points([[0.0]] * 50 + [[1.0]] * 9 + [[3.0]])
    similarities = similarities_of(line, LinearKernel())
    drawn, rng = 0, _First(np.random.default_rng(0))
    for _ in range(1000):
        [labels] = spread_labels(similarities, 2, [rng])
        drawn += len(set(labels[[0, -1]])) == 2 and labels[50] == labels[0]
    # 9 of 18 for each of two draws; if they differ, the group stays, which leaves less.
    assert drawn / 1000 == pytest.approx(0.25, abs=0.05)


class _First:
    """Random numbers that begin with the first structure."""

    def __init__(self, rng):
        self.random = rng.random

    def integers(self, n):
        return 0


def test_starts_made_side_by_side_are_those_made_alone():
    similarities = similarities_of(sample_trees(40))
    together = spread_labels(similarities, 6, [np.random.default_rng(seed) for seed in range(4)])
    for seed, labels in enumerate(together):
        [alone] = spread_labels(similarities, 6, [np.random.default_rng(seed)])
        assert (labels == alone).all()


# Rows.


def test_the_gram_matrix_is_held_if_it_fits():
    structures = sample_trees(20)
    with kw.config_context(memory=20 * 20 * 8):
        assert similarities_of(structures).held
    with kw.config_context(memory=20 * 20 * 8 - 1):
        assert not similarities_of(structures).held


@pytest.mark.parametrize("memory", [20 * 8 * 2, 20 * 8 * 7, 20 * 20 * 8])
def test_rows_come_in_the_order_asked_for(memory):
    structures = sample_trees(20)
    gram = KERNEL.gram(structures)
    with kw.config_context(memory=memory):
        found = list(similarities_of(structures).rows([5, 19, 0, 3, 5]))
    assert [number for number, _ in found] == [5, 19, 0, 3, 5]
    for number, row in found:
        assert row == pytest.approx(gram[number], abs=1e-12)


@pytest.mark.parametrize("n_rows", [2, 5, 11])
def test_rows_are_the_same_bits_however_many_are_made_at_once(n_rows):
    structures = sample_trees(30)
    with kw.config_context(memory=30 * 8 * 2):
        one_by_one = np.stack([row for _, row in similarities_of(structures).rows(range(30))])
    with kw.config_context(memory=30 * 8 * 2 * n_rows):
        some = np.stack([row for _, row in similarities_of(structures).rows(range(30))])
    assert one_by_one.tobytes() == some.tobytes()


def test_values_too_large_to_add_up_are_refused():
    kernel = 1e299 * kw.SubtreeKernel(normalize=False)
    with pytest.raises(kw.errors.KernelOverflowError, match="normalize=True"):
        similarities_of(sample_trees(20), kernel)
