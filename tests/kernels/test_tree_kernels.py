"""Tree kernels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracles import exact_normalized, exact_value
from strategies import sample_trees, trees

from kernelwood.errors import KernelInputError
from kernelwood.kernels import PartialTreeKernel, RootedTreeKernel, SubsetTreeKernel, SubtreeKernel
from kernelwood.structures import Tree

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")


def tree(brackets):
    return Tree.from_brackets(brackets)


BANK = tree("(PP (IN in) (DT the) (NN bank))")


CAT_SAT = tree("(S (NP (DT the) (NN cat)) (VP (VB sat)))")


CAT_RAN = tree("(S (NP (DT the) (NN cat)) (VP (VB ran)))")


# Subtree kernel.


def test_complete_subtrees_are_weighed_by_their_productions():
    # (DT the), (NN cat), and (NP (DT the) (NN cat)) with its three productions
    kernel = SubtreeKernel(decay=0.5, normalize=False)
    assert kernel.value(CAT_SAT, CAT_RAN) == 0.5 + 0.5 + 0.5**3


def test_without_decay_subtrees_are_counted():
    assert SubtreeKernel(decay=1.0, normalize=False).value(CAT_SAT, CAT_RAN) == 3


def test_leaves_alone_are_no_subtrees():
    assert SubtreeKernel(normalize=False).value(Tree("x"), Tree("x")) == 0


def test_a_subtree_that_repeats_counts_for_each_pair():
    kernel = SubtreeKernel(decay=1.0, normalize=False)
    assert kernel.value(tree("(S (A x) (A x))"), tree("(T (A x) (A x) (A x))")) == 6


# Subset tree kernel.


def test_the_phrase_of_the_forest_paper_has_eleven_fragments():
    assert SubsetTreeKernel(decay=1.0, normalize=False).value(BANK, BANK) == 11


def test_a_production_is_taken_whole():
    kernel = SubsetTreeKernel(decay=1.0, normalize=False)
    assert kernel.value(tree("(S (A x) (B y))"), tree("(S (A x) (B y) (C z))")) == 2


def test_decay_weighs_each_production_of_a_fragment():
    kernel = SubsetTreeKernel(decay=0.5, normalize=False)
    one, two = tree("(S (A x))"), tree("(S (A x))")
    assert kernel.value(one, two) == 0.5 + 0.5 * (1 + 0.5)  # (A x); (S (A)) and (S (A x))


def test_counted_leaves_add_decay_for_each_equal_pair():
    plain, counted = (
        SubsetTreeKernel(decay=0.5, count_leaves=c, normalize=False) for c in (False, True)
    )
    a, b = tree("(S (A x) (B x))"), tree("(S (A x) (B y))")
    assert counted.value(a, b) == plain.value(a, b) + 2 * 0.5


def test_counted_leaves_do_not_enter_larger_fragments():
    kernel = SubsetTreeKernel(decay=0.5, count_leaves=True, normalize=False)
    assert kernel.value(tree("(A x)"), tree("(A x)")) == 0.5 + 0.5


def test_an_inner_node_labeled_like_a_leaf_is_no_leaf():
    kernel = SubsetTreeKernel(decay=1.0, count_leaves=True, normalize=False)
    assert kernel.value(tree("(S x)"), tree("(S (x y))")) == 1  # the production S -> x alone


@given(trees(), trees())
def test_subset_trees_contain_subtrees(a, b):
    subtrees, subsets = (k(decay=1.0, normalize=False) for k in (SubtreeKernel, SubsetTreeKernel))
    assert subtrees.value(a, b) <= subsets.value(a, b)


@given(trees(), trees())
def test_without_decay_fragments_are_counted_exactly(a, b):
    kernel = SubsetTreeKernel(decay=1.0, normalize=False)
    assert kernel.value(a, b) == exact_value(kernel, a, b, decay=1)


# Partial tree kernel.


def test_the_value_of_the_specification():
    value = PartialTreeKernel(normalize=False).value(tree("(A (b) (c))"), tree("(A (b) (d) (c))"))
    assert value == pytest.approx(0.24385536, rel=1e-14)


@pytest.mark.parametrize("leaf_power", [0, 1, 2, 0.5])
def test_two_leaves_weigh_decay_to_the_leaf_power(leaf_power):
    kernel = PartialTreeKernel(decay=0.25, depth_decay=0.5, leaf_power=leaf_power, normalize=False)
    assert kernel.value(Tree("a"), Tree("a")) == pytest.approx(0.5 * 0.25**leaf_power, rel=1e-14)


def test_a_leaf_and_an_inner_node_weigh_decay_squared():
    kernel = PartialTreeKernel(decay=0.25, depth_decay=0.5, leaf_power=1, normalize=False)
    assert kernel.value(Tree("a"), tree("(a (b))")) == 0.5 * 0.25**2


def test_the_terminal_factor_multiplies_where_either_is_a_leaf():
    plain, five = (PartialTreeKernel(terminal_factor=f, normalize=False) for f in (1, 5))
    for a, b in [("a", "a"), ("a", "(a (b))")]:
        a, b = (tree(t) if "(" in t else Tree(t) for t in (a, b))
        assert five.value(a, b) == pytest.approx(5 * plain.value(a, b), rel=1e-14)


def test_skipped_children_cost_by_gaps_or_by_span():
    a, b = tree("(A (b) (c))"), tree("(A (b) (d) (c))")
    gaps, span = (
        exact_value(PartialTreeKernel(decay_over=over), a, b, decay=Fraction(1, 2), depth_decay=1)
        for over in ("gaps", "span")
    )
    leaf = Fraction(1, 4)
    assert gaps == 2 * leaf + leaf + 2 * leaf + leaf**2 / 2
    assert span == 2 * leaf + leaf + 2 * leaf / 4 + leaf**2 / 2**5
    for over, right in (("gaps", gaps), ("span", span)):
        kernel = PartialTreeKernel(decay=0.5, depth_decay=1, decay_over=over, normalize=False)
        assert kernel.value(a, b) == right


@given(st.integers(1, 30), st.integers(1, 30))
def test_equal_leaves_without_decay_are_counted_by_binomials(n, m):
    from math import comb

    kernel = PartialTreeKernel(decay=1.0, depth_decay=1.0, normalize=False)
    value = kernel.value(Tree("r", [Tree("x")] * n), Tree("r", [Tree("x")] * m))
    assert value == pytest.approx(n * m + comb(n + m, n), rel=1e-12)


def test_a_few_children_and_many_are_summed_alike():
    # Around where pairs of children become so many that the engine uses a table.
    kernel = PartialTreeKernel()
    stars = [Tree("r", [Tree("xy"[i % 3 == 0]) for i in range(n)]) for n in range(1, 24)]
    matrix = kernel.gram(stars)
    for i in range(len(stars)):
        right = exact_normalized(kernel, stars[i], stars[-1])
        assert matrix[i, -1] == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("depth_decay", 0),
        ("depth_decay", 1.1),
        ("leaf_power", -1),
        ("leaf_power", float("nan")),
        ("terminal_factor", 0),
        ("terminal_factor", -2.0),
        ("decay_over", "gap"),
        ("decay_over", None),
    ],
)
def test_a_bad_parameter_of_the_partial_tree_kernel_is_named(name, value):
    with pytest.raises(KernelInputError, match=f"PartialTreeKernel: {name} .* got {value!r}"):
        PartialTreeKernel(**{name: value}).gram([BANK])


@pytest.mark.parametrize("count_leaves", ["yes", None, 2])
def test_a_bad_count_leaves_is_named(count_leaves):
    with pytest.raises(KernelInputError, match=f"count_leaves .* got {count_leaves!r}"):
        SubsetTreeKernel(count_leaves=count_leaves).gram([BANK])


# Decays so small that raw values leave the range of floats.


@pytest.mark.parametrize(
    ("decay", "dtype"),
    [
        (1e-30, "float32"),
        (1e-100, "float64"),
        (1e-160, "float64"),
        (1e-160, "float32"),
        (1e-300, "float64"),
    ],
)
@pytest.mark.parametrize(
    "kernel",
    [
        SubtreeKernel(),
        SubsetTreeKernel(),
        SubsetTreeKernel(count_leaves=True),
        PartialTreeKernel(),
        PartialTreeKernel(leaf_power=1),
        PartialTreeKernel(decay_over="span"),
        PartialTreeKernel(terminal_factor=3.0),
    ],
    ids=repr,
)
def test_a_tiny_decay_leaves_normalized_values_right(kernel, decay, dtype):
    a, *some = sample_trees(5, seed=2, max_nodes=8, alphabet=("a", "b"))
    values = kernel.clone().set_params(decay=decay, dtype=dtype).cross([a], some)[0]
    right = [exact_normalized(kernel, a, b, decay=Fraction(decay)) for b in some]
    tolerance = {"rtol": 1e-9} if dtype == "float64" else {"rtol": 1e-5, "atol": 1e-37}
    np.testing.assert_allclose(values, right, **tolerance)


@pytest.mark.parametrize("decay", [1e-100, 1e-160, 1e-200])
def test_a_tiny_decay_leaves_normalized_self_similarities_one(decay):
    for kernel in (SubtreeKernel, SubsetTreeKernel, PartialTreeKernel):
        assert kernel(decay=decay).diag([BANK, CAT_SAT]).tolist() == [1, 1]


def test_a_large_leaf_power_leaves_leaves_similar():
    kernel = PartialTreeKernel(decay=1e-4, leaf_power=100)
    assert kernel.value(Tree("a"), Tree("a")) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"decay": 1.0, "depth_decay": 1.0, "terminal_factor": 1e-9},
        {"terminal_factor": 1e-17},
        {"leaf_power": 60},
    ],
    ids=["float32", "float64", "power"],
)
def test_children_too_small_to_show_are_counted_once(parameters, dtype):
    # b is too small to change the sum it is added to; (c d) below the same node is not.
    trees = [Tree.from_brackets(t) for t in ("(A b (c (d e)) f)", "(A b (c (d e)) g)")]
    kernel = PartialTreeKernel(**parameters, normalize=False)
    value = kernel.cross(trees, trees, dtype=dtype)
    expected = [[kernel.reference(a, b) for b in trees] for a in trees]
    np.testing.assert_allclose(value, expected, rtol=1e-5)


def raw(**parameters):
    return RootedTreeKernel(normalize=False, **parameters)


def test_a_single_node_counts_one():
    assert raw().value(Tree("a"), Tree("a")) == 1


def test_trees_with_different_roots_have_nothing_in_common():
    assert raw().value(tree("(a (x))"), tree("(b (x))")) == 0


def test_only_nodes_below_matching_nodes_count():
    assert raw().value(tree("(a (x (y)))"), tree("(a (z (y)))")) == 1


def test_children_are_summed_over_pairs_of_subsequences():
    # four pairs of one child, one pair of two children with two values in its sum
    pair = tree("(bind (protein) (protein))")
    assert raw(decay=0.5).value(pair, pair) == 1 + 4 * 0.5 + 0.5**2 * 2


def test_contiguous_leaves_out_subsequences_with_gaps():
    gapped, joined = tree("(a (b) (x) (c))"), tree("(a (b) (c))")
    assert raw(decay=0.5).value(gapped, joined) == 1 + 2 * 0.5 + 0.25 * 2
    assert raw(decay=0.5, contiguous=True).value(gapped, joined) == 1 + 2 * 0.5


@given(trees(), trees())
def test_contiguous_never_counts_more(a, b):
    assert raw(contiguous=True).value(a, b) <= raw().value(a, b) * (1 + 1e-12)


def test_the_edge_of_a_node_must_match():
    assert raw().value(Tree("a", (), "x"), Tree("a", (), "y")) == 0


@pytest.mark.parametrize("decay", [1e-160, 1e-300])
def test_a_tiny_decay_leaves_the_roots(decay):
    kernel = RootedTreeKernel(decay=decay)
    assert kernel.value(tree("(a (x))"), tree("(a (x) (y))")) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("contiguous", ["yes", None, 3])
def test_a_bad_contiguous_is_named(contiguous):
    with pytest.raises(KernelInputError, match=f"contiguous .* got {contiguous!r}"):
        RootedTreeKernel(contiguous=contiguous).gram([Tree("a")])
