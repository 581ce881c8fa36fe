from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

import kernelwood as kw
from kernelwood import _native
from kernelwood.features.vector_search import check_quantized, nearest_vectors, padded, quantize

FLOAT32 = np.finfo(np.float32)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def by_definition(queries, rows, scales, k):
    """Indices and scores: sums that are exact in doubles, times both scales, in a stable order."""
    asked, asked_scales = quantize(queries)
    dots = asked.astype(np.float64) @ rows.astype(np.float64).T
    factors = np.multiply.outer(asked_scales.astype(np.float64), scales.astype(np.float64))
    scores = dots * factors
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return best, np.take_along_axis(scores, best, axis=1)


def check(queries, rows, scales, k, **options):
    indices, scores = nearest_vectors(queries, rows, scales, k, **options)
    expected, values = by_definition(queries, rows, scales, k)
    assert indices.dtype == np.int64 and scores.dtype == np.float64
    assert (indices == expected).all() and (scores == values).all()


def random_vectors(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


# Quantizing.


@given(arrays.arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(0, 40)), elements=FINITE))
def test_numbers_are_multiples_of_the_scale_to_half_a_step(vectors):
    rows, scales = quantize(vectors)
    n, width = vectors.shape
    assert rows.shape == (n, padded(width)) and not rows[:, width:].any()
    assert np.abs(rows.astype(int)).max(initial=0) <= 127
    assert np.isfinite(scales).all() and (scales >= 0).all()
    steps = np.abs(vectors).max(axis=1, initial=0.0) / 127
    usual = (steps > FLOAT32.tiny) & (steps < FLOAT32.max)
    found = rows[usual, :width] * scales[usual, None].astype(np.float64)
    error = np.abs(found - vectors[usual])
    # A scale of 32 bits is off by 2**-24 of itself, 127 times at most.
    assert (error <= 0.50001 * scales[usual, None].astype(np.float64)).all()


def test_the_largest_number_takes_the_whole_range():
    rows, _ = quantize(np.array([[0.25, -3.0], [3e-20, 1e-20], [3e30, -1e30]]))
    assert rows[:, :2].tolist() == [[11, -127], [127, 42], [127, -42]]


def test_rows_of_zeros_have_a_scale_of_zero():
    rows, scales = quantize(np.zeros((3, 5)))
    assert not rows.any() and scales.tolist() == [0, 0, 0]


@pytest.mark.parametrize("number", [5e-324, 1e-300, 1e-46])
def test_what_is_too_small_for_a_scale_becomes_zero(number):
    rows, scales = quantize(np.array([[number, -number]]))
    assert not rows.any() and scales[0] == 0


def test_denormal_scales_stay_in_range():
    vectors = np.array([[3e-43, -3e-43, 1e-43], [2.5e-43, 0.0, -2.6e-43]])
    rows, scales = quantize(vectors)
    assert (scales > 0).all() and (scales < FLOAT32.tiny).all()
    assert np.abs(rows.astype(int)).max() == 127


def test_what_is_too_large_for_a_scale_keeps_its_direction():
    rows, scales = quantize(np.array([[1e300, -5e299], [1.7e308, 1.7e308]]))
    assert scales.tolist() == [FLOAT32.max] * 2
    assert rows[:, :2].tolist() == [[127, -64], [127, 127]]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_other_number_types_are_taken(dtype):
    rows, _ = quantize(np.array([[1, 2, 4]], dtype=dtype))
    assert rows[0, :3].tolist() == [32, 64, 127]


def test_a_row_does_not_depend_on_others():
    vectors = random_vectors(50, 33)
    rows, scales = quantize(vectors)
    for i in range(50):
        alone, scale = quantize(vectors[i : i + 1])
        assert (alone[0] == rows[i]).all() and scale[0] == scales[i]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros(3), "vectors must be rows of numbers"),
        (np.array([["a"]]), "vectors must be rows of numbers"),
        (np.array([[np.nan]]), "vectors must be finite"),
        (np.array([[-np.inf]]), "vectors must be finite"),
        (np.zeros((1, 65537)), "at most 65,536 dimensions, got 65,537"),
    ],
)
def test_what_cannot_be_quantized_is_refused(vectors, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        quantize(vectors)


# Searching.


@pytest.mark.parametrize("n_dimensions", [1, 2, 31, 32, 33, 300, 1000])
@pytest.mark.parametrize("k", [1, 10, 2000])
def test_the_best_are_found_in_order(n_dimensions, k):
    rows, scales = quantize(random_vectors(2000, n_dimensions))
    check(random_vectors(20, n_dimensions, seed=1), rows, scales, k)


@given(st.data())
def test_any_small_vectors(data):
    width = data.draw(st.integers(1, 40))
    few = st.sampled_from([0.0, 1.0, -1.0, 0.5, 127.0, 1e-300, 1e-44, 1e38, -1e300]) | FINITE
    vectors = data.draw(
        arrays.arrays(np.float64, st.tuples(st.integers(1, 30), st.just(width)), elements=few)
    )
    queries = data.draw(
        arrays.arrays(np.float64, st.tuples(st.integers(0, 5), st.just(width)), elements=few)
    )
    k = data.draw(st.integers(1, len(vectors)))
    check(queries, *quantize(vectors), k, n_jobs=data.draw(st.sampled_from([None, 3])))


@pytest.mark.parametrize("k", [1, 7, 500, 999, 1000])
def test_equal_scores_are_in_order_of_index(k):
    few = random_vectors(3, 8)
    rows, scales = quantize(few[np.random.default_rng(2).integers(3, size=1000)])
    check(few, rows, scales, k)


@pytest.mark.parametrize("rising", [True, False])
def test_rows_in_order_of_their_scores(rising):
    lengths = np.arange(1, 3001, dtype=np.float64)[:: 1 if rising else -1]
    rows, scales = quantize(np.outer(lengths, [1.0, 0.5]))
    check(np.array([[1.0, 1.0], [-1.0, 0.0]]), rows, scales, 40)


def test_a_query_of_zeros_finds_the_first_rows():
    rows, scales = quantize(random_vectors(100, 5))
    indices, scores = nearest_vectors(np.zeros((1, 5)), rows, scales, 4)
    assert indices.tolist() == [[0, 1, 2, 3]] and scores.tolist() == [[0, 0, 0, 0]]


def test_rows_of_zeros_stand_between_the_similar_and_the_opposite():
    rows, scales = quantize(np.array([[-1.0], [0.0], [1.0], [0.0]]))
    indices, scores = nearest_vectors(np.array([[2.0]]), rows, scales, 4)
    assert indices.tolist() == [[2, 1, 3, 0]]
    assert scores.round(5).tolist() == [[2.0, 0.0, 0.0, -2.0]]


def test_scores_are_products_but_for_rounding():
    vectors, queries = random_vectors(500, 300), random_vectors(10, 300, seed=1)
    indices, scores = nearest_vectors(queries, *quantize(vectors), 20)
    products = np.take_along_axis(queries @ vectors.T, indices, axis=1)
    assert np.abs(scores - products).max() < 0.02 * np.abs(products).max()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("number", [127, -128])
def test_the_longest_vectors_do_not_overflow(sign, number):
    rows = np.full((3, 65536), number, dtype=np.int8)
    scales = np.ones(3, dtype=np.float32)
    check(np.full((1, 65536), sign), rows, scales, 3)


def test_huge_values_give_finite_scores():
    rows, scales = quantize(random_vectors(50, 64) * 1e300)
    _, scores = nearest_vectors(random_vectors(3, 64, seed=1) * 1e307, rows, scales, 50)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("n_queries", [0, 1, 15, 16, 17, 50])
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_do_not_depend_on_company_or_threads(n_queries, n_jobs):
    rows, scales = quantize(random_vectors(3000, 40))
    check(random_vectors(n_queries, 40, seed=1), rows, scales, 30, n_jobs=n_jobs)


def test_large_searches_on_threads():
    # Enough for threads to be started, and for several blocks of rows.
    rows, scales = quantize(random_vectors(20_000, 96))
    check(random_vectors(60, 96, seed=1), rows, scales, 25, n_jobs=4)


def test_several_searches_at_the_same_time():
    rows, scales = quantize(random_vectors(5000, 64))
    queries = random_vectors(4, 64, seed=1)
    found = [None] * 4

    def search(i):
        found[i] = nearest_vectors(queries, rows, scales, 9)

    threads = [threading.Thread(target=search, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = by_definition(queries, rows, scales, 9)
    assert all((i == expected[0]).all() and (s == expected[1]).all() for i, s in found)


def test_read_only_and_strided_arrays_are_taken():
    rows, scales = quantize(random_vectors(200, 40))
    rows.flags.writeable = scales.flags.writeable = False
    check(random_vectors(8, 80, seed=1)[::2, ::2], rows[::2], scales[::2], 7)


# Arguments.


@pytest.mark.parametrize("k", [0, 11, True, 2.0, None])
def test_k_is_from_one_to_the_number_of_rows(k):
    rows, scales = quantize(random_vectors(10, 4))
    with pytest.raises(kw.errors.KernelInputError, match="k must be an int from 1 to 10"):
        nearest_vectors(random_vectors(1, 4), rows, scales, k)


def test_queries_of_other_dimensions_are_refused():
    rows, scales = quantize(random_vectors(10, 4))
    with pytest.raises(
        kw.errors.KernelInputError, match="queries of 40 dimensions do not fit rows of 32"
    ):
        nearest_vectors(random_vectors(1, 40), rows, scales, 1)


@pytest.mark.parametrize(
    ("rows", "scales", "message"),
    [
        ([[1]], np.ones(1, np.float32), "rows must be an array of int8"),
        (np.zeros((1, 32)), np.ones(1, np.float32), "rows must be an array of int8"),
        (np.zeros(32, np.int8), np.ones(1, np.float32), "rows must be an array of int8"),
        (np.zeros((1, 31), np.int8), np.ones(1, np.float32), "multiple of 32"),
        (np.zeros((1, 0), np.int8), np.ones(1, np.float32), "multiple of 32"),
        (np.zeros((1, 65568), np.int8), np.ones(1, np.float32), "up to 65,536"),
        (np.zeros((1, 32), np.int8), np.ones(1), "scales must be an array of float32"),
        (np.zeros((1, 32), np.int8), np.ones(2, np.float32), "one number for each of 1 rows"),
        (np.zeros((1, 32), np.int8), np.full(1, np.nan, np.float32), "finite"),
        (np.zeros((1, 32), np.int8), np.full(1, np.inf, np.float32), "finite"),
        (np.zeros((1, 32), np.int8), np.full(1, -1, np.float32), "not negative"),
    ],
)
def test_rows_that_quantize_could_not_have_made_are_refused(rows, scales, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        check_quantized(rows, scales)


def native(**changes):
    rows, scales = quantize(random_vectors(10, 4))
    arguments = {
        "queries": rows[:2], "query_scales": scales[:2], "rows": rows, "row_scales": scales,
        "begin": 0, "end": 2, "indices": np.empty((2, 3), dtype=np.int64),
        "scores": np.empty((2, 3)), **changes,
    }  # fmt: skip
    _native.nearest_vectors(**arguments)
    return arguments


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"end": 3}, "no such queries"),
        ({"begin": -1}, "no such queries"),
        ({"queries": np.zeros((2, 64), np.int8)}, "different lengths"),
        ({"rows": np.zeros((10, 48), np.int8)}, "groups of 32"),
        ({"row_scales": np.ones(9, np.float32)}, "a scale for each row"),
        ({"row_scales": np.full(10, np.nan, np.float32)}, "finite"),
        ({"query_scales": np.full(2, -1, np.float32)}, "not negative"),
        ({"indices": np.empty((2, 11), np.int64), "scores": np.empty((2, 11))}, "do not fit"),
        ({"scores": np.empty((2, 4))}, "do not fit"),
        ({"stop": np.empty(0, np.int32)}, "stop needs an element"),
    ],
)
def test_the_core_takes_nothing_for_granted(changes, message):
    with pytest.raises(ValueError, match=message):
        native(**changes)


def test_a_stopped_scan_writes_nothing():
    indices = np.full((2, 3), -1, dtype=np.int64)
    native(indices=indices, stop=np.ones(1, dtype=np.int32))
    assert (indices == -1).all()
