"""Maps: vectors as points in the plane."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

import kernelwood as kw
from kernelwood.features import map_2d
from kernelwood.features.maps import MAPS


def groups(n_each=15, seed=0):
    """Return vectors around three centers, and the number of the center of each."""
    draw = np.random.default_rng(seed)
    centers = np.repeat(10.0 * np.eye(3, 8), n_each, axis=0)
    return centers + draw.normal(size=centers.shape), np.repeat(np.arange(3), n_each)


@pytest.mark.parametrize("method", MAPS)
def test_maps_do_not_depend_on_threads(method):
    vectors, _ = groups()
    one = map_2d(vectors, method)
    with threadpool_limits(2):
        assert (map_2d(vectors, method) == one).all()


def test_neighbors_stay_together():
    vectors, centers = groups()
    points = map_2d(vectors, "tsne")
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (centers[distances.argmin(axis=1)] == centers).all()


def test_seeds_of_neighbor_maps_can_be_any(method="tsne"):
    vectors, _ = groups(4)
    assert np.isfinite(map_2d(vectors, method, seed=2**62)).all()


def test_principal_axes_keep_distances_in_a_plane():
    flat = np.random.default_rng(1).normal(size=(20, 2)) @ np.array([[3.0, 0, 4], [0, 2, 0]]) / 5
    points = map_2d(flat, "pca")

    def distances(rows):
        return ((rows[:, None] - rows[None]) ** 2).sum(axis=2)

    np.testing.assert_allclose(distances(points), distances(flat), atol=1e-12)


def test_the_direction_of_axes_is_fixed():
    vectors, _ = groups()
    np.testing.assert_allclose(map_2d(-vectors, "pca"), -map_2d(vectors, "pca"), atol=1e-9)


@pytest.mark.parametrize("method", MAPS)
@pytest.mark.parametrize("n", [1, 2, 4, 5, 6])
def test_few_structures_have_a_map(method, n):
    assert np.isfinite(map_2d(groups()[0][:n], method)).all()


@pytest.mark.parametrize("method", MAPS)
@pytest.mark.parametrize("vectors", [np.ones((9, 4)), np.ones((9, 1)), np.zeros((1, 3))])
def test_equal_structures_are_one_point(method, vectors):
    assert (map_2d(vectors, method) == 0).all()


@given(
    arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.floats(-9, 9))
)
def test_principal_axes_are_ordered_by_what_they_tell(vectors):
    first, second = map_2d(vectors, "pca").var(axis=0)
    assert first >= second * (1 - 1e-9) >= 0


def test_an_unknown_map_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match=r"\('tsne', 'pca'\), got 'umap'"):
        map_2d(np.eye(3), "umap")


@pytest.mark.parametrize("vectors", [np.ones(3), np.ones((0, 2)), np.array([[np.nan, 1.0]])])
def test_what_is_no_matrix_is_refused(vectors):
    with pytest.raises(kw.errors.KernelInputError, match="matrix of finite numbers"):
        map_2d(vectors)
