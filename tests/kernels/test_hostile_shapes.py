"""Depth and width far beyond what language offers."""

from math import comb

import numpy as np
import pytest
from oracles import exact_normalized
from sizes import DEPTH
from strategies import chain, star

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.kernels import (
    KERNELS,
    PartialTreeKernel,
    RootedTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    SubtreeKernel,
)
from kernelwood.structures import Sequence, Tree

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
    with pytest.raises(KernelInputError, match=r"SubtreeKernel, which takes linear time"):
        kernel.gram([star(100_000)])


def test_a_large_tree_of_few_distinct_subtrees_is_not_refused():
    # 10,000,000,000 pairs of nodes, but only those of distinct subtrees are compared.
    small = Tree("n", [Tree("n", [Tree("n")])])
    tree = Tree("n", [small] * 33_333)
    assert SubsetTreeKernel(decay=1e-6).value(tree, tree) == pytest.approx(1)


def test_steps_are_those_of_distinct_subtrees_that_match(monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.tree_kernels._MOST_STEPS", 4 * 100**2 - 1)
    with pytest.raises(KernelInputError, match=r"takes 40,000 steps"):
        SubsetTreeKernel().gram([chain(101)])  # 100 inner nodes
    assert SubsetTreeKernel().gram([chain(100)]) == 1
