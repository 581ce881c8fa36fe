import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracles import exact_normalized, exact_value
from strategies import sample_sequences, sequences

from kernelwood.errors import KernelInputError
from kernelwood.kernels import SubsequenceKernel
from kernelwood.structures import Sequence

THE_CAT, THE_DOG = Sequence("the cat sat".split()), Sequence("the dog sat".split())


def test_steps_between_first_and_last_are_what_costs():
    # "the", "sat", and "the ... sat" that spans two steps on both sides
    assert SubsequenceKernel(decay=0.5, normalize=False).value(THE_CAT, THE_DOG) == 2 + 0.5**4


def test_max_length_leaves_out_longer_subsequences():
    kernel = SubsequenceKernel(decay=0.5, max_length=1, normalize=False)
    assert kernel.value(THE_CAT, THE_DOG) == 2


@given(sequences(), sequences())
def test_a_max_length_beyond_the_sequences_counts_all(a, b):
    bounded, unbounded = (SubsequenceKernel(max_length=n, normalize=False) for n in (6, None))
    assert bounded.value(a, b) == pytest.approx(unbounded.value(a, b), rel=1e-12)


def test_an_edge_label_is_part_of_the_element():
    kernel = SubsequenceKernel(normalize=False)
    assert kernel.value(Sequence([("x", "a")]), Sequence([("y", "a")])) == 0


def test_an_edge_label_is_no_node_label():
    kernel = SubsequenceKernel(normalize=False)
    assert kernel.value(Sequence([("a", "b")]), Sequence([("b", "a")])) == 0


@given(st.integers(1, 40), st.integers(1, 40))
def test_equal_elements_without_decay_are_counted_by_binomials(n, m):
    kernel = SubsequenceKernel(decay=1.0, normalize=False)
    value = kernel.value(Sequence(["a"] * n), Sequence(["a"] * m))
    assert value == pytest.approx(math.comb(n + m, n) - 1, rel=1e-12)


@pytest.mark.parametrize("max_length", [None, 1, 2, 3, 4, 6, 200])
@pytest.mark.parametrize("decay", [0.05, 0.5, 0.9, 1.0])
def test_long_sequences_agree_with_dynamic_programming(decay, max_length):
    # Of all lengths around where the engine changes its way of computing.
    kernel = SubsequenceKernel(decay=decay, max_length=max_length)
    lengths = [1, 2, 17, 60, 140]
    some = [sample_sequences(30, seed=n, max_length=n, alphabet=("a", "b"))[-1] for n in lengths]
    some.append(Sequence([*some[0], *some[3], *some[2]]))
    matrix = kernel.gram(some)
    for i, j in [(4, 3), (5, 4), (5, 1), (3, 2)]:
        right = exact_normalized(kernel, some[i], some[j])
        assert matrix[i, j] == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("decay", [1e-160, 1e-300])
def test_a_tiny_decay_leaves_the_single_elements(decay):
    matrix = SubsequenceKernel(decay=decay).gram([THE_CAT, THE_DOG, Sequence(["the"])])
    expected = [[1, 2 / 3, 3**-0.5], [2 / 3, 1, 3**-0.5], [3**-0.5, 3**-0.5, 1]]
    np.testing.assert_allclose(matrix, expected, rtol=1e-12)


def test_raw_values_are_exact_where_floats_are():
    kernel = SubsequenceKernel(decay=0.5, normalize=False)
    a, b = sample_sequences(2, seed=4, max_length=7)
    assert kernel.value(a, b) == float(exact_value(kernel, a, b, decay=Fraction(1, 2)))


@pytest.mark.parametrize("max_length", [0, -1, 1.5, "2", True])
def test_a_bad_max_length_is_named(max_length):
    with pytest.raises(KernelInputError, match=f"max_length .* got {max_length!r}"):
        SubsequenceKernel(max_length=max_length).gram([THE_CAT])


def test_a_max_length_from_numpy_is_a_length():
    kernel = SubsequenceKernel(decay=0.5, max_length=np.int64(1), normalize=False)
    assert kernel.value(THE_CAT, THE_DOG) == 2
