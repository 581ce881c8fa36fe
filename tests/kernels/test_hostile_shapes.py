"""Depth and width far beyond what language offers."""

from fractions import Fraction
from math import comb, log2

import numpy as np
import pytest
from oracles import exact_normalized
from sizes import DEPTH
from strategies import chain, star

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.kernels import (
    KERNELS,
    ForestKernel,
    PartialTreeKernel,
    RootedTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    SubtreeKernel,
)
from kernelwood.structures import Forest, Sequence, Tree

TREE_KERNELS = [KERNELS[name]() for name in KERNELS if KERNELS[name].accepts is kw.arrays.TreeBatch]
every_tree_kernel = pytest.mark.parametrize("kernel", TREE_KERNELS, ids=repr)


def raw(kernel):
    return kernel.clone().set_params(normalize=False)


def chain_value(kernel, n, m):
    """Return the value of two chains of one label by the recursion from their ends upward."""
    decay, shorter = kernel.decay, min(n, m)
    if isinstance(kernel, SubtreeKernel):  # only subtrees of equal depth are equal
        return sum(decay**productions for productions in range(1, shorter))
    if isinstance(kernel, SubsetTreeKernel):
        deltas = _iterate(0.0, lambda delta: decay * (1 + delta), shorter)
    elif isinstance(kernel, PartialTreeKernel):
        weight = kernel.depth_decay * decay**2
        deltas = _iterate(weight, lambda delta: weight + kernel.depth_decay * delta, shorter)
    else:
        return _iterate(1.0, lambda delta: 1 + decay * delta, shorter)[-1]
    # (n - d) + (m - d) + 1 pairs of nodes have d nodes in the shorter chain below them
    return sum((n + m - 2 * d + 1) * delta for d, delta in enumerate(deltas, start=1))


def _iterate(first, step, times):
    values = [first]
    while len(values) < times:
        values.append(step(values[-1]))
    return values


@every_tree_kernel
@pytest.mark.parametrize(("n", "m"), [(6, 6), (6, 4)])
def test_the_values_of_chains_below_are_right(kernel, n, m):
    assert chain_value(kernel, n, m) == pytest.approx(
        kernel.reference(chain(n), chain(m)), rel=1e-12
    )


@every_tree_kernel
def test_chains_of_one_label_thousands_deep(kernel):
    a, b = chain(5_000), chain(2_000)
    value = raw(kernel).value(a, b)
    assert value == pytest.approx(chain_value(kernel, 5_000, 2_000), rel=1e-9)


@pytest.fixture(scope="module")
def deep_chains():
    return kw.batch([chain(depth, label=str) for depth in (DEPTH, DEPTH, DEPTH * 9 // 10)])


@every_tree_kernel
def test_chains_of_distinct_labels_of_any_depth(kernel, deep_chains):
    matrix = kernel.gram(deep_chains)
    assert matrix[0, 1] == pytest.approx(1, rel=1e-9)
    assert np.isfinite(matrix).all() and matrix.min() >= 0


@every_tree_kernel
def test_five_hundred_distinct_children(kernel):
    a = star(500, label=str)
    b = Tree("n", [a.children[0], *a.children[250:]])
    right = exact_normalized(kernel, a, b)
    assert kernel.value(a, b) == pytest.approx(right, rel=1e-9)


WIDE = [SubtreeKernel(), SubsetTreeKernel(), PartialTreeKernel(), RootedTreeKernel(decay=1e-6)]


@pytest.mark.parametrize(
    "kernel",
    [*WIDE[:2], *(pytest.param(kernel, marks=pytest.mark.slow) for kernel in WIDE[2:])],
    ids=repr,
)
def test_fifty_thousand_distinct_children(kernel):
    a, b = star(50_000, label=str), star(50_000, label=str)
    assert kernel.value(a, b) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(
    "kernel",
    [
        PartialTreeKernel(),
        PartialTreeKernel(decay_over="span", leaf_power=1),
        RootedTreeKernel(decay=0.01),
        RootedTreeKernel(contiguous=True),
    ],
    ids=repr,
)
def test_hundreds_of_children_of_one_label(kernel):
    a, b = star(200), star(90)
    right = exact_normalized(kernel, a, b)
    assert kernel.value(a, b) == pytest.approx(right, rel=1e-9)


# Values beyond the range of float64.


def log2_rooted_star(decay, n, m):
    """Return log2 of the value of two stars of one label, which are trees of depth 1."""
    choices = (comb(n, k) * comb(m, k) for k in range(1, min(n, m) + 1))
    fraction = Fraction(decay)
    total = 1 + sum(k * c * fraction**k for k, c in enumerate(choices, start=1))
    shift = max(total.numerator.bit_length() - total.denominator.bit_length() - 60, 0)
    return log2(Fraction(total.numerator, total.denominator << shift)) + shift


def normalized_rooted_star(decay, n, m):
    both, left, right = (log2_rooted_star(decay, *pair) for pair in ((n, m), (n, n), (m, m)))
    return 2 ** (both - (left + right) / 2)


@pytest.mark.parametrize("decay", [0.5, 1.0])
@pytest.mark.parametrize(
    "similarity", [None, kw.similarity.Table.from_pairs({("x", "y"): 0.5})], ids=["exact", "soft"]
)
def test_a_thousand_children_of_one_label_from_the_root_down(decay, similarity):
    kernel = RootedTreeKernel(decay=decay, similarity=similarity)
    right = normalized_rooted_star(decay, 900, 1000)
    assert kernel.value(star(900), star(1000)) == pytest.approx(right, rel=1e-9)


def exact_rooted(a, b):
    """Return the value of two trees with decay 1, a whole number, by running tables.

    The children of a label that have as many children are equal.
    """
    kernel = RootedTreeKernel(decay=1.0, normalize=False)
    known = {}
    products, sums = ([0] * (len(b.children) + 1) for _ in range(2))
    total = 1
    for m in a.children:
        lines = products.copy(), sums.copy()
        run_products = run_sums = 0
        for j, n in enumerate(b.children):
            if m.label == n.label:
                pair = len(m.children), len(n.children)
                if pair not in known:
                    known[pair] = int(kernel.reference(m, n))
                product = 1 + lines[0][j]
                value = product * known[pair] + lines[1][j]
                run_products += product
                run_sums += value
                total += value
            products[j + 1] = lines[0][j + 1] + run_products
            sums[j + 1] = lines[1][j + 1] + run_sums
    return total


def test_wide_nodes_of_several_labels_from_the_root_down():
    def mixed(n):
        children = [Tree("x", [Tree("y")] * (i % 3)) if i % 5 else Tree("y") for i in range(n)]
        return Tree("n", children)

    a, b = mixed(640), mixed(600)
    both, left, right = (log2(exact_rooted(*pair)) for pair in ((a, b), (a, a), (b, b)))
    assert left > 1024  # beyond float64
    value = RootedTreeKernel(decay=1.0).value(a, b)
    assert value == pytest.approx(2 ** (both - (left + right) / 2), rel=1e-9)


def test_wide_nodes_with_large_gates_from_the_root_down():
    kernel = RootedTreeKernel(decay=0.5, gates={"x": 32.0}, gate_on="node")
    right = normalized_rooted_star(0.5 * 32**2, 200, 210)
    assert kernel.value(star(200), star(210)) == pytest.approx(right, rel=1e-9)


def test_a_thousand_equal_children_without_decay():
    kernel = PartialTreeKernel(decay=1.0, depth_decay=1.0)

    def log2_raw(n, m):
        return log2(n * m + comb(n + m, n))

    right = 2 ** (log2_raw(900, 1000) - (log2_raw(900, 900) + log2_raw(1000, 1000)) / 2)
    assert kernel.value(star(900), star(1000)) == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sequences_of_a_thousand_equal_elements_without_decay(dtype):
    kernel = SubsequenceKernel(decay=1.0, dtype=dtype)

    def log2_raw(n, m):
        return log2(comb(n + m, n) - 1)

    right = 2 ** (log2_raw(900, 1000) - (log2_raw(900, 900) + log2_raw(1000, 1000)) / 2)
    value = kernel.value(Sequence(["x"] * 900), Sequence(["x"] * 1000))
    assert value == pytest.approx(right, rel=1e-9 if dtype == "float64" else 1e-6)


def test_structures_out_of_range_are_compared_once_beyond_it(monkeypatch):
    trees = kw.batch([star(600), star(700), star(3)])

    def compare():
        RootedTreeKernel().cross(trees[:2], trees)

    n_pairs = []

    def count(self, X, Y, *rest):
        n_pairs.append(len(X) * len(Y))
        return fill(self, X, Y, *rest)

    fill = RootedTreeKernel._fill_by_engine
    monkeypatch.setattr(RootedTreeKernel, "_fill_by_engine", count)
    compare()
    assert n_pairs == [6, 6]  # in float64; beyond it, where both of the rows are


def test_five_hundred_children_without_decay():
    kernel = PartialTreeKernel(decay=1.0, depth_decay=1.0, normalize=False)
    assert kernel.value(star(500), star(500)) == pytest.approx(500**2 + comb(1000, 500), rel=1e-9)


@every_tree_kernel
def test_a_comb_of_repeated_leaves(kernel):
    tree = Tree("n", [Tree("x")])
    for _ in range(700):
        tree = Tree("n", [Tree("x"), tree, Tree("x")])
    assert kernel.value(tree, tree) == pytest.approx(1, rel=1e-9)


def test_sequences_of_ten_thousand_distinct_elements():
    kernel = SubsequenceKernel(decay=0.5)
    a, b = Sequence(map(str, range(10_000))), Sequence(map(str, range(5_000, 15_000)))
    matrix = kernel.gram([a, b])

    def raw(n):  # n elements match in order: subsets of a span d, times 0.5 ** (2 * d)
        return n + sum((n - d) * 0.5 ** (d + 1) for d in range(1, 60))

    assert matrix[0, 1] == pytest.approx(raw(5_000) / raw(10_000), rel=1e-9)


def test_wide_and_deep_trees_mix_with_ordinary_ones():
    kernel = PartialTreeKernel()
    trees = [Tree("n", [Tree("x")]), chain(2_000), star(2_000, label=str), star(300)]
    matrix = kernel.gram(trees)
    values = [[kernel.value(a, b) for b in trees] for a in trees]
    np.testing.assert_allclose(matrix, values, rtol=1e-9)


# Trees that would take minutes to compare are refused before the work.


@pytest.fixture(scope="module")
def long_chain():
    return kw.batch([chain(100_000), chain(2)])


@pytest.mark.parametrize(
    "kernel", [SubsetTreeKernel(), PartialTreeKernel(), RootedTreeKernel()], ids=repr
)
@pytest.mark.parametrize(
    "compare",
    [
        lambda kernel, X: kernel.gram(X),
        lambda kernel, X: kernel.diag(X),
        lambda kernel, X: kernel.cross(X[1:], X[:1]),
        lambda kernel, X: raw(kernel).cross(X[:1], X[1:]),
        lambda kernel, X: kernel.neighbors(X[1:], X, 1),
    ],
    ids=["gram", "diag", "cross", "raw", "neighbors"],
)
def test_a_chain_of_100000_equal_nodes_is_refused_at_once(kernel, compare, long_chain):
    with pytest.raises(KernelInputError, match=r"tree of 100,000 nodes with one of 100,000 takes"):
        compare(kernel, long_chain)


def test_a_long_chain_is_compared_by_its_complete_subtrees(long_chain):
    np.testing.assert_array_equal(SubtreeKernel().gram(long_chain).diagonal(), 1)


@pytest.mark.parametrize("kernel", [PartialTreeKernel(), RootedTreeKernel()], ids=repr)
def test_a_node_of_100000_equal_children_is_refused_at_once(kernel):
    with pytest.raises(KernelInputError, match=r"or use SubtreeKernel, which takes linear time"):
        kernel.gram([star(100_000)])


def test_a_large_tree_of_few_distinct_subtrees_is_not_refused():
    # 10,000,000,000 pairs of nodes, but only those of distinct subtrees are compared.
    small = Tree("n", [Tree("n", [Tree("n")])])
    tree = Tree("n", [small] * 33_333)
    assert SubsetTreeKernel(decay=1e-6).value(tree, tree) == pytest.approx(1)


def test_steps_are_those_of_distinct_subtrees_that_match(monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.engine._MOST_STEPS", 5 * 100**2 - 1)
    with pytest.raises(KernelInputError, match=r"takes 50,000 steps"):
        SubsetTreeKernel().gram([chain(101)])  # 100 inner nodes
    assert SubsetTreeKernel().gram([chain(100)]) == 1


@pytest.mark.parametrize("max_length", [None, 3])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "similarity", [None, kw.similarity.Table.from_pairs({("x", "y"): 0.5})], ids=["exact", "soft"]
)
def test_sequences_of_100000_elements_are_refused_at_once(max_length, dtype, similarity):
    kernel = SubsequenceKernel(max_length=max_length, dtype=dtype, similarity=similarity)
    with pytest.raises(KernelInputError, match=r"sequence of 100,000 elements with one of 100,000"):
        kernel.gram([Sequence(["x"] * 100_000)])


def test_long_subsequences_of_long_sequences_are_refused_at_once():
    sequence = Sequence(["x"] * 5_000)
    with pytest.raises(KernelInputError, match=r"smaller max_length"):
        SubsequenceKernel(max_length=4_000).gram([sequence])
    assert SubsequenceKernel(max_length=2).gram([sequence]) == 1


@every_tree_kernel
def test_a_chain_of_100000_similar_nodes_is_refused_at_once(kernel, long_chain):
    soft = kernel.clone().set_params(similarity=kw.similarity.Table.from_pairs({("n", "m"): 0.5}))
    with pytest.raises(KernelInputError, match=r"takes .* steps"):
        soft.gram(long_chain)


def test_chains_of_labels_that_are_not_similar_are_not_refused(monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.engine._MOST_STEPS", 10_000)
    near = kw.similarity.Table.from_pairs({("n", "m"): 0.5})
    tree = chain(200, label=str)
    assert PartialTreeKernel(similarity=near).gram([tree]) == 1
    with pytest.raises(KernelInputError, match=r"tree of 200 nodes"):
        PartialTreeKernel(similarity=near).gram([chain(200, label=lambda i: "nm"[i % 2])])


def test_steps_beyond_the_range_of_float64_count_more(monkeypatch):
    tree = star(600)
    monkeypatch.setattr("kernelwood.kernels.engine._MOST_STEPS", 2 * 5 * 601**2)
    assert PartialTreeKernel().gram([tree]) == 1
    for compare in (RootedTreeKernel().gram, RootedTreeKernel().diag):
        with pytest.raises(KernelInputError, match=r"3 times as many beyond the range of float64"):
            compare([tree])


# Packed forests.


def chain_forest(n):
    return Forest(["n"] * n, [(i, (i + 1,), 1.0) for i in range(n - 1)], root=0)


def ambiguous_chain(n):
    """Return a forest of nodes with two hyper-edges, to the next node and to the one after it."""
    edges = [(i, (i + step,), 0.5) for i in range(n - 2) for step in (1, 2)]
    return Forest(["n"] * n, [*edges, (n - 2, (n - 1,), 1.0)], root=0)


every_forest = pytest.mark.parametrize("forest", [chain_forest, ambiguous_chain])


@pytest.mark.parametrize(("forest", "n"), [(chain_forest, 100_000), (ambiguous_chain, 30_000)])
def test_a_forest_of_equal_nodes_in_a_chain_is_refused_at_once(forest, n):
    with pytest.raises(KernelInputError, match=rf"forest of {n:,} nodes with one of {n:,} takes"):
        ForestKernel().gram([forest(n)])


def test_a_forest_of_100000_equal_nodes_side_by_side():
    n = 50_000
    edges = [(0, tuple(range(1, n + 1)), 1.0), *((i, (n + i,), 1.0) for i in range(1, n + 1))]
    forest = Forest(["n"] + ["n"] * n + ["x"] * n, edges, root=0)
    assert ForestKernel(decay=1e-6).value(forest, forest) == pytest.approx(1, rel=1e-9)


@every_forest
def test_the_rows_of_a_large_forest_are_freed_when_they_have_been_used(forest):
    with kw.config_context(memory="150MB"):  # all of them take 200 MB or more
        matrix = ForestKernel(normalize=False).gram([forest(5_000), forest(30)])
    expected = ForestKernel(normalize=False).reference(forest(30), forest(30))
    assert matrix[1, 1] == pytest.approx(expected, rel=1e-9)
    assert matrix[0, 1] == pytest.approx(matrix[1, 0], rel=1e-12)


def test_a_large_chain_as_a_forest_is_the_tree():
    forests = kw.batch([chain_forest(n) for n in (4_000, 20, 3_500)])
    trees = kw.batch([chain(n) for n in (4_000, 20, 3_500)])
    kernel, other = ForestKernel(normalize=False), SubsetTreeKernel(normalize=False)
    np.testing.assert_allclose(kernel.gram(forests), other.gram(trees), rtol=1e-9)
