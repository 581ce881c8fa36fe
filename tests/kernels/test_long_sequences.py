"""Subsequence kernels of long sequences, which the core compares in blocks of positions."""

import math
import random
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from matching_cases import constant
from oracles import exact_cosine

import kernelwood as kw
from kernelwood.kernels import SubsequenceKernel
from kernelwood.similarity import Lexical
from kernelwood.structures import Sequence
from kernelwood.vectors import Vectors

BLOCK, LONG = 23, 128  # with the default decay
EDGES = [1, BLOCK - 1, BLOCK, BLOCK + 1, LONG - 1, LONG, LONG + 1, 6 * BLOCK, 6 * BLOCK + 1, 200]
GATES = {"b": 0.0, "c": 0.5, "d": 3.0}

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")
every_max_length = pytest.mark.parametrize("max_length", [None, 1, 3, 8])


def draw(length, *, seed, alphabet="abcde"):
    rng = random.Random(seed)
    return Sequence([(rng.choice(("", "", "", "e")), rng.choice(alphabet)) for _ in range(length)])


def recurrence(kernel, a, b):
    """Return the raw value by the textbook recurrence, line by line."""
    kinds, rows, columns = kinds_of(a, b)
    k = np.array([[kernel._element_match(x, y) for y in kinds] for x in kinds])[rows][:, columns]
    decay, total = kernel.decay, 0.0

    def spread(row):
        """Return sums with decay from the left."""
        return list(accumulate(row, lambda before, value: decay * before + value))

    n_layers = 1 if kernel.max_length is None else min(kernel.max_length, len(a), len(b))
    tables = np.zeros((n_layers, len(b)))  # sums over all earlier pairs, by length
    for row in k:
        if not row.any():
            tables = decay * tables
            continue
        before = np.zeros_like(tables)
        before[:, 1:] = decay**2 * tables[:, :-1]
        if kernel.max_length is None:
            found = row * (1 + before)
        else:
            found = np.vstack([row, row * before[:-1]])
        total += found.sum()
        tables = decay * tables + [spread(each) for each in found.tolist()]
    return total


def kinds_of(a, b):
    """Return the distinct elements of two sequences, and the places of the elements among them."""
    kinds = list(dict.fromkeys([*a.elements, *b.elements]))
    place = {kind: i for i, kind in enumerate(kinds)}
    return kinds, [place[x] for x in a.elements], [place[x] for x in b.elements]


def normalized(kernel, a, b):
    own = math.sqrt(recurrence(kernel, a, a)) * math.sqrt(recurrence(kernel, b, b))
    return recurrence(kernel, a, b) / own if own > 0 else 0.0


def vectors(words):
    return Vectors(list(words), np.random.default_rng(0).normal(size=(len(words), 5)))


OPTIONS = {
    "exact": {},
    "gates": {"gates": GATES, "gate_on": "node"},
    "soft": {"similarity": constant("abc", 0.3)},
    "soft, floor": {"similarity": Lexical(vectors("abcd"), floor=0.2)},
    "soft, gates": {"similarity": constant("abc", 0.3), "gates": GATES, "gate_on": "node"},
}


def test_the_recurrence_below_is_the_definition():
    for max_length in (None, 2, 3):
        kernel = SubsequenceKernel(max_length=max_length, similarity=constant("ab", 0.4))
        a, b = draw(6, seed=1, alphabet="abc"), draw(5, seed=2, alphabet="abc")
        assert recurrence(kernel, a, b) == pytest.approx(kernel.reference(a, b), rel=1e-12)


@every_max_length
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_values_around_the_edges_of_blocks_are_those_of_the_recurrence(options, max_length):
    kernel = SubsequenceKernel(max_length=max_length, **options)
    X = [draw(n, seed=n) for n in EDGES]
    pairs = [(len(X) - 1, j) for j in range(len(X) - 1)] + [(6, 3), (6, 5), (7, 6), (8, 7)]
    own = [recurrence(kernel, x, x) for x in X]
    expected = [recurrence(kernel, X[i], X[j]) / math.sqrt(own[i] * own[j]) for i, j in pairs]
    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-5)):
        gram, cross = kernel.gram(X, dtype=dtype), kernel.cross(X, X, dtype=dtype)
        for (i, j), right in zip(pairs, expected, strict=True):
            close = pytest.approx(right, rel=tolerance, abs=1e-37)
            assert gram[i, j] == close and cross[i, j] == close and cross[j, i] == close


@pytest.mark.parametrize("decay", [1.0, 0.5, 0.05, 1e-12, 1e-40])
@pytest.mark.parametrize("max_length", [None, 3])
@pytest.mark.parametrize("options", [OPTIONS["gates"], OPTIONS["soft"]], ids=["gates", "soft"])
def test_any_decay(options, decay, max_length):
    kernel = SubsequenceKernel(decay=decay, max_length=max_length, **options)
    a, b = draw(LONG + 40, seed=1, alphabet="abcdefghij"), draw(BLOCK + 3, seed=2)
    assert kernel.value(a, b) == pytest.approx(normalized(kernel, a, b), rel=1e-9)
    assert kernel.value(b, a) == pytest.approx(normalized(kernel, a, b), rel=1e-9)


@settings(deadline=None)
@given(
    st.integers(LONG - 8, 260),
    st.integers(1, 150),
    st.sampled_from(["a", "ab", "abcd", "abcdefghijklmnopqrstuvwxyz"]),
    st.floats(0.02, 1.0),
    st.sampled_from([None, 2, 5]),
    st.sampled_from(list(OPTIONS)),
    st.integers(0, 1000),
)
def test_random_sequences(n, m, alphabet, decay, max_length, options, seed):
    kernel = SubsequenceKernel(decay=decay, max_length=max_length, **OPTIONS[options])
    a, b = draw(n, seed=seed, alphabet=alphabet), draw(m, seed=seed + 1, alphabet=alphabet)
    right = pytest.approx(normalized(kernel, a, b), rel=1e-9, abs=1e-300)
    assert kernel.value(a, b) == right and kernel.value(b, a) == right


# Beyond the range of floats.


def chosen(n, m, longest, weight=1):
    """Return the value of n and m equal elements without decay, counted by length."""
    up, down = Fraction(weight).as_integer_ratio()
    pairs = (
        math.comb(n, k) * math.comb(m, k) * up**k * down ** (longest - k)
        for k in range(1, longest + 1)
    )
    return Fraction(sum(pairs), down**longest)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("n", "m", "max_length"),
    [(700, 650, None), (1500, 40, None), (600, 500, 8), (200, 190, 16), (200, 190, 17)],
)
def test_equal_elements_are_counted_right(n, m, max_length, dtype):
    kernel = SubsequenceKernel(decay=1.0, max_length=max_length, dtype=dtype)
    counts = [chosen(x, y, min(max_length or x, x, y)) for x, y in ((n, m), (n, n), (m, m))]
    matrix = kernel.gram([Sequence(["a"] * n), Sequence(["a"] * m), Sequence(["a"])])
    tolerance = 1e-9 if dtype == "float64" else 1e-5
    assert matrix[0, 1] == pytest.approx(exact_cosine(*counts), rel=tolerance)
    single = exact_cosine(m, counts[2], 1)
    assert matrix[1, 2] == pytest.approx(single, rel=tolerance, abs=1e-37)


@pytest.mark.parametrize("gate", [1e-40, 1e-3, 30.0, 1e10, 1e30])
def test_equal_elements_with_gates_are_counted_right(gate):
    kernel = SubsequenceKernel(decay=1.0, gates={"a": gate}, gate_on="node")
    weight = Fraction(gate) ** 2
    counts = [chosen(x, y, min(x, y), weight) for x, y in ((300, 280), (300, 300), (280, 280))]
    found = kernel.value(Sequence(["a"] * 300), Sequence(["a"] * 280))
    assert found == pytest.approx(exact_cosine(*counts), rel=1e-9)


def test_values_that_rise_fall_and_rise_again_are_counted_right():
    kernel = SubsequenceKernel(decay=0.8, gates={"x": 0.0}, gate_on="node")
    a, b = (Sequence(["a"] * n + ["x"] * 900 + ["a"] * 120) for n in (500, 480))
    assert 1e150 < recurrence(kernel, a, b) < 1e280
    assert kernel.value(a, b) == pytest.approx(normalized(kernel, a, b), rel=1e-9)


# A value depends on its pair alone.


@pytest.fixture(scope="module")
def mixed():
    lengths = [
        *(3, 140, 500, 20, 129, 300, 64, 900, 40, 250),
        *(135, 12, 400, 160, 220, 131, 310, 90, 700),
    ]
    words = "abcdefghijklmnopqrstuvwxyz"
    return [draw(n, seed=n, alphabet=words[: 3 + n % 20]) for n in lengths]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("max_length", [None, 4])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_partners_threads_and_verbs_change_no_bit(options, max_length, dtype, mixed):
    kernel = SubsequenceKernel(max_length=max_length, dtype=dtype, **options)
    X = kw.batch(mixed)
    matrix = kernel.gram(X)
    np.testing.assert_array_equal(kernel.clone().set_params(n_jobs=2).gram(X), matrix)
    is_long = X.sizes > LONG
    either = np.tril(is_long[:, None] | is_long, -1)
    # The sequence of the larger index of a Gram matrix passes by the other: in `cross`, those of
    # the columns do, with soft matching those of the rows.
    compare = (
        kernel.cross
        if "similarity" in options
        else lambda rows, columns: kernel.cross(columns, rows).T
    )
    np.testing.assert_array_equal(compare(X, X)[either], matrix[either])
    for i, j in np.argwhere(either)[::20].tolist():
        assert kernel.gram(X[[j, i]])[1, 0] == matrix[i, j]
        assert compare(X[[i]], X[[j]])[0, 0] == matrix[i, j]


def test_sequences_beyond_the_range_alone_or_among_others(mixed):
    kernel = SubsequenceKernel(decay=1.0, dtype="float32")
    long = [sequence for sequence in mixed if len(sequence) > LONG]
    alone, among = kernel.gram(long), kernel.gram([*long, Sequence(["a"])])
    np.testing.assert_array_equal(among[:-1, :-1], alone)
    assert np.isfinite(alone).all() and alone.diagonal().tolist() == [1] * len(long)


def test_a_sequence_of_more_labels_than_a_tile_has_room_for():
    words = [f"w{i}" for i in range(9_000)]
    kernel = SubsequenceKernel(decay=0.5, similarity=Lexical(vectors(words), floor=0.95))
    a, b = Sequence(words), Sequence(words[:40] * 16)
    value = kernel.value(a, b)
    assert 0 < value <= 1 and value == pytest.approx(kernel.value(b, a), rel=1e-9)


def test_no_sequences_beside_long_ones(mixed):
    kernel, long = SubsequenceKernel(dtype="float32"), kw.batch(mixed)
    assert kernel.cross(long, long[:0]).shape == (len(long), 0)
    assert kernel.cross(long[:0], long).shape == (0, len(long))
