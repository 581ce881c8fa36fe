"""Values beyond the range of floats: normalized ones are right, raw ones are refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import exact_cosine, exact_normalized, exact_value
from strategies import preterminals, sample_sequences, sample_trees

from kernelwood.errors import KernelOverflowError
from kernelwood.kernels import (
    Normalized,
    PartialTreeKernel,
    RootedTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    SubtreeKernel,
)
from kernelwood.structures import Sequence, Tree

SUBSETS = SubsetTreeKernel(decay=1.0)
PARTS = PartialTreeKernel(decay=1.0, depth_decay=1.0)
ROOTED = RootedTreeKernel(decay=1.0)
STEPS = SubsequenceKernel(decay=1.0)
EXTREME = [SUBSETS, SubsetTreeKernel(decay=1.0, count_leaves=True), PARTS, ROOTED]

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")


def equal_elements(length):
    return Sequence(["a"] * length)


def without_normalization(kernel):
    return kernel.clone().set_params(normalize=False)


def huge_for(kernel):
    """Return a tree whose self-similarity is beyond the range of float64."""
    return preterminals(1100 if kernel in EXTREME[:2] else 560)


# Trees.


@pytest.mark.parametrize("kernel", EXTREME[:2], ids=repr)
def test_two_thousand_pre_terminals_without_decay_are_compared_right(kernel):
    a = preterminals(2000)
    b = Tree("S", [*a.children[10:], *[Tree("A", [Tree("y")])] * 10])
    right = exact_normalized(kernel, a, b, decay=1)
    assert kernel.value(a, b) == pytest.approx(right, rel=1e-9)


def partial_value(n, m):
    """Return the value of n against m equal pre-terminals under one root, without decay."""
    return 3 * n * m + sum(math.comb(n, k) * math.comb(m, k) * 2**k for k in range(n + 1))


def rooted_value(n, m):
    return 1 + sum(math.comb(n, k) * math.comb(m, k) * 2 * k for k in range(n + 1))


@pytest.mark.parametrize(("kernel", "value"), [(PARTS, partial_value), (ROOTED, rooted_value)])
def test_a_thousand_equal_children_without_decay_are_compared_right(kernel, value):
    n, m = 1000, 990
    right = exact_cosine(value(n, m), value(n, n), value(m, m))
    assert kernel.value(preterminals(n), preterminals(m)) == pytest.approx(right, rel=1e-9)


def test_trees_of_very_different_size_are_compared_right():
    small, large = preterminals(3), Tree("T", [preterminals(3), preterminals(1200)])
    right = exact_normalized(SUBSETS, small, large, decay=1)
    assert 0 < right < 1e-150
    assert SUBSETS.value(small, large) == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("kernel", EXTREME, ids=repr)
def test_a_huge_tree_is_completely_similar_to_itself(kernel):
    huge = huge_for(kernel)
    assert kernel.gram([huge])[0, 0] == 1
    assert kernel.diag([huge])[0] == 1
    assert kernel.value(huge, huge) == pytest.approx(1, rel=1e-11)


@pytest.mark.parametrize("kernel", EXTREME, ids=repr)
@pytest.mark.parametrize("method", ["gram", "diag"])
def test_raw_values_beyond_the_range_are_refused(kernel, method):
    with pytest.raises(KernelOverflowError, match=r"float64.*normalize=True"):
        getattr(without_normalization(kernel), method)([huge_for(kernel), Tree("x")])


@pytest.mark.parametrize("kernel", EXTREME, ids=repr)
@pytest.mark.parametrize("method", ["cross", "pairs"])
def test_raw_values_of_pairs_beyond_the_range_are_refused(kernel, method):
    huge = [Tree("x"), huge_for(kernel)]
    with pytest.raises(KernelOverflowError, match=r"float64.*normalize=True"):
        getattr(without_normalization(kernel), method)(huge, huge)


def test_raw_values_within_the_range_are_given_beside_huge_structures():
    raw = without_normalization(SUBSETS)
    huge, small = preterminals(1100), preterminals(2)
    right = exact_value(raw, huge, small, decay=1)
    assert raw.cross([huge], [small])[0, 0] == pytest.approx(right, rel=1e-12)


def test_raw_values_just_below_the_range_are_given():
    raw = without_normalization(SUBSETS)
    large = preterminals(1020)  # 2^1020 and a bit
    right = exact_value(raw, large, large, decay=1)
    for found in (raw.value(large, large), raw.gram([large])[0, 0], raw.diag([large])[0]):
        assert found == pytest.approx(float(right), rel=1e-9)


# Sequences.


@pytest.mark.parametrize(
    ("n", "m"),
    [
        (600, 600),
        (600, 590),
        (3000, 5),
        pytest.param(3000, 2990, marks=pytest.mark.slow),
    ],
)
def test_equal_elements_without_decay_are_compared_right(n, m):
    right = exact_cosine(*(math.comb(i + j, i) - 1 for i, j in ((n, m), (n, n), (m, m))))
    value = STEPS.value(equal_elements(n), equal_elements(m))
    assert value == pytest.approx(right, rel=1e-9)


@pytest.mark.slow
def test_long_sequences_of_bounded_subsequences_are_compared_right():
    kernel = SubsequenceKernel(decay=1.0, max_length=150)
    n, m = 700, 690
    counts = (
        sum(math.comb(i, k) * math.comb(j, k) for k in range(1, 151))
        for i, j in ((n, m), (n, n), (m, m))
    )
    found = kernel.cross([equal_elements(n)], [equal_elements(m)])[0, 0]
    assert found == pytest.approx(exact_cosine(*counts), rel=1e-9)


def test_raw_values_of_long_sequences_are_refused():
    with pytest.raises(KernelOverflowError, match="float64"):
        without_normalization(STEPS).gram([equal_elements(600), equal_elements(2)])


# float32.


@pytest.mark.parametrize(
    ("kernel", "large"),
    [
        (SUBSETS, preterminals(200)),
        (PARTS, preterminals(60)),
        (ROOTED, preterminals(80)),
        (STEPS, equal_elements(90)),
    ],
    ids=["subset", "partial", "rooted", "steps"],
)
class TestValuesBeyondSinglePrecision:
    """About 1e50: fine in float64, beyond float32."""

    def others(self, kernel):
        small = [equal_elements(2), equal_elements(3)]
        return small if kernel is STEPS else [preterminals(2), preterminals(3)]

    def test_are_normalized_in_float32(self, kernel, large):
        structures = [large, *self.others(kernel)]
        single, double = (kernel.gram(structures, dtype=d) for d in ("float32", "float64"))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, double, rtol=1e-5, atol=1e-37)

    def test_are_crossed_in_float32(self, kernel, large):
        structures = [large, *self.others(kernel)]
        single, double = (
            kernel.cross(structures, structures[::-1], dtype=d) for d in ("float32", "float64")
        )
        np.testing.assert_allclose(single, double, rtol=1e-5, atol=1e-37)

    def test_are_refused_raw_in_float32_with_a_remedy(self, kernel, large):
        with pytest.raises(KernelOverflowError, match=r"float32.*dtype='float64'"):
            without_normalization(kernel).gram([large], dtype="float32")

    def test_are_given_raw_in_float64(self, kernel, large):
        raw = without_normalization(kernel)
        right = exact_value(raw, large, large, **dict.fromkeys(_decays(raw), 1))
        assert 1e35 < right < 1e290
        assert raw.value(large, large) == pytest.approx(float(right), rel=1e-9)


def _decays(kernel):
    return [name for name in kernel.get_params() if name.endswith("decay")]


# Mixtures.

# Decays that round, so that the order of sums shows in the last bit.
SOME_TREES = sample_trees(40, alphabet=("S", "A", "x"))
MIXTURES = [
    (SubsetTreeKernel(decay=0.9), [preterminals(1500), preterminals(1400)], SOME_TREES),
    (
        PartialTreeKernel(decay=0.9, depth_decay=0.9),
        [preterminals(560), preterminals(570)],
        SOME_TREES,
    ),
    (RootedTreeKernel(decay=0.99), [preterminals(540), preterminals(530)], SOME_TREES),
    (
        SubsequenceKernel(decay=0.999),
        [equal_elements(540), equal_elements(700)],
        sample_sequences(40),
    ),
]
MIXTURE_IDS = ["subset", "partial", "rooted", "steps"]


@pytest.fixture(scope="module", params=MIXTURES, ids=MIXTURE_IDS)
def mixture(request):
    """Return a kernel, ordinary and huge structures together, and where the ordinary ones are."""
    kernel, huge, ordinary = request.param
    return (
        kernel,
        [huge[0], *ordinary[:20], huge[1], *ordinary[20:]],
        [*range(1, 21), *range(22, 42)],
    )


@pytest.fixture(scope="module", params=["float64", pytest.param("float32", marks=pytest.mark.slow)])
def mixed_gram(request, mixture):
    return mixture[0].gram(mixture[1], dtype=request.param)


def test_the_huge_structures_of_a_mixture_are_huge(mixture):
    kernel, together, _ = mixture
    with pytest.raises(KernelOverflowError):
        without_normalization(kernel).gram(together[:1])


def test_huge_structures_change_no_bit_of_ordinary_pairs_in_a_gram(mixture, mixed_gram):
    kernel, together, where = mixture
    alone = kernel.gram([together[i] for i in where], dtype=mixed_gram.dtype)
    np.testing.assert_array_equal(mixed_gram[np.ix_(where, where)], alone)


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
def test_huge_structures_change_no_bit_of_ordinary_pairs_in_a_cross(mixture, dtype):
    kernel, together, where = mixture
    ordinary = [together[i] for i in where]
    matrix = kernel.cross(together[:21], together[1:30], dtype=dtype)
    alone = kernel.cross(ordinary[:20], [*ordinary[:20], *ordinary[20:28]], dtype=dtype)
    np.testing.assert_array_equal(np.delete(matrix[1:], 20, axis=1), alone)


def test_a_mixture_is_finite(mixed_gram):
    assert np.isfinite(mixed_gram).all()


def test_a_mixture_is_symmetric(mixed_gram):
    np.testing.assert_array_equal(mixed_gram, mixed_gram.T)


def test_rows_of_huge_structures_are_what_pairs_give(mixture, mixed_gram):
    kernel, together, _ = mixture
    some = [0, 1, 8, 40]
    values = [kernel.value(together[21], together[i]) for i in some]
    tolerance = {"rtol": 1e-11} if mixed_gram.dtype == np.float64 else {"rtol": 1e-5, "atol": 1e-37}
    np.testing.assert_allclose(mixed_gram[21, some], values, **tolerance)


@pytest.mark.slow
def test_tile_size_changes_no_bit_of_a_mixture(mixture, monkeypatch):
    kernel, together, where = mixture
    ordinary = [together[i] for i in where]
    structures = [*ordinary, *ordinary, *ordinary, together[0], *ordinary, together[21]]
    whole = kernel.gram(structures)
    monkeypatch.setattr("kernelwood.kernels.kernel.TILE", 128)
    np.testing.assert_array_equal(kernel.gram(structures), whole)


def test_neighbors_find_a_huge_structure(mixture):
    kernel, together, _ = mixture
    indices, similarities = kernel.neighbors([together[21]], together, 3)
    assert indices[0, 0] == 21 and similarities[0, 0] == pytest.approx(1)
    assert np.isfinite(similarities).all()


def test_deep_subtrees_may_weigh_less_than_any_float():
    def binary(depth):
        tree = Tree("A", [Tree("x")])
        for _ in range(depth):
            tree = Tree("S", [tree, tree])
        return tree

    kernel = SubtreeKernel(decay=0.4)
    a, b = binary(10), Tree("S", [binary(10), Tree("B", [Tree("x")])])
    right = exact_normalized(kernel, a, b, decay=Fraction(0.4))
    assert kernel.value(a, b) == pytest.approx(right, rel=1e-9)


def test_normalizing_a_raw_kernel_is_setting_its_parameter():
    trees = [preterminals(1500), *sample_trees(5)]
    wrapped = Normalized(without_normalization(SUBSETS))
    np.testing.assert_array_equal(wrapped.gram(trees), SUBSETS.gram(trees))
    np.testing.assert_array_equal(wrapped.cross(trees, trees[:2]), SUBSETS.cross(trees, trees[:2]))


def test_self_similarities_of_a_normalized_raw_kernel_are_one():
    wrapped = Normalized(without_normalization(SUBSETS))
    assert wrapped.diag([preterminals(1500), preterminals(2)]).tolist() == [1, 1]
