"""The scan for the nearest codes finds what the definition says, for any shape."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kernelwood.features import nearest_codes


def by_definition(queries, codes, k):
    """Indices and distances, by distance and index."""
    differing = np.bitwise_count(queries[:, None] ^ codes[None]).sum(axis=2).astype(np.int32)
    order = np.argsort(differing, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(differing, order, axis=1)


def check(queries, codes, k, **options):
    found, expected = nearest_codes(queries, codes, k, **options), by_definition(queries, codes, k)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def random_codes(n, words, seed, n_kinds=None):
    random = np.random.default_rng(seed)
    codes = random.integers(2**64, size=(n, words), dtype=np.uint64)
    return codes if n_kinds is None else codes[random.integers(n_kinds, size=n) % n]


# Fewer, as many and more words than are counted together; queries that are read together or not.
@pytest.mark.parametrize("words", [1, 2, 7, 15, 16, 17, 31, 32, 35])
@pytest.mark.parametrize("n_queries", [1, 3, 4, 65])
def test_codes_of_any_length_are_compared(words, n_queries):
    codes = random_codes(700, words, seed=words)
    check(random_codes(n_queries, words, seed=99), codes, 9)


@settings(max_examples=60)
@given(
    n=st.integers(1, 300),
    words=st.integers(1, 18),
    n_queries=st.integers(1, 9),
    n_kinds=st.integers(1, 20),
    data=st.data(),
)
def test_equal_distances_are_ordered_by_index(n, words, n_queries, n_kinds, data):
    codes = random_codes(n, words, seed=n, n_kinds=n_kinds)
    queries = random_codes(n_queries, words, seed=n_queries)
    check(queries, codes, data.draw(st.integers(1, n)))


def test_all_of_several_blocks_are_ordered():
    codes = random_codes(9000, 16, seed=1, n_kinds=3000)
    check(codes[:5], codes, 9000)


@pytest.mark.parametrize("reverse", [True, False])
def test_codes_that_come_by_falling_or_rising_distance_are_found(reverse):
    words = 16
    codes = np.zeros((1025, words), dtype=np.uint64)
    for n in range(1025):
        full, rest = divmod(n, 64)
        codes[n, :full] = 2**64 - 1
        codes[n, full : full + 1] = 2**rest - 1
    codes = np.repeat(codes, 4, axis=0)[:: -1 if reverse else 1]
    queries = np.zeros((4, words), dtype=np.uint64)
    queries[1:] = random_codes(3, words, seed=0)
    for k in (1, 10, 500, len(codes)):
        check(queries, codes, k)


def test_the_largest_distance_is_counted():
    codes = np.full((40, 64), 2**64 - 1, dtype=np.uint64)
    check(np.zeros((5, 64), dtype=np.uint64), codes, 3)


def test_results_do_not_depend_on_threads_or_other_queries(force_threads):
    codes, queries = random_codes(3000, 5, seed=1, n_kinds=500), random_codes(37, 5, seed=2)
    check(queries, codes, 20, n_jobs=3)
    together = nearest_codes(queries, codes, 20)
    for i in range(len(queries)):
        for one, other in zip(nearest_codes(queries[i : i + 1], codes, 20), together, strict=True):
            np.testing.assert_array_equal(one[0], other[i])


def test_no_query_has_no_result():
    indices, distances = nearest_codes(np.empty((0, 2), np.uint64), random_codes(5, 2, seed=0), 3)
    assert indices.shape == distances.shape == (0, 3)
