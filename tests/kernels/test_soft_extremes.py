"""Soft matching and gates far from what language offers: huge and tiny values, deep, wide, many."""

import math
from fractions import Fraction

import numpy as np
import pytest
from cases import sample
from matching_cases import constant, every_name, relabeled
from oracles import exact_cosine, exact_normalized
from sizes import DEPTH
from strategies import chain, preterminals, star

import kernelwood as kw
from kernelwood.errors import KernelOverflowError
from kernelwood.kernels import (
    KERNELS,
    PartialTreeKernel,
    RootedTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    SubtreeKernel,
)
from kernelwood.similarity import Gaussian, Table
from kernelwood.structures import Sequence, Tree
from kernelwood.vectors import Vectors

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")

every_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])
TOLERANCE = {"float64": {"rel": 1e-9}, "float32": {"rel": 1e-5, "abs": 1e-37}}
HALF, NEAR = Fraction(1, 2), Fraction(1023, 1024)


def of(label, structure):
    """Return a structure in which every pre-terminal or element has the given label."""
    return relabeled(structure, lambda edge, old: (edge, label if old in "Aa" else old))


def check(kernel, a, b, right, dtype):
    """Compare all verbs with the normalized value of two structures."""
    expected = pytest.approx(right, **TOLERANCE[dtype])
    assert kernel.cross([a], [b], dtype=dtype)[0, 0] == expected
    matrix = kernel.gram([a, b], dtype=dtype)
    assert matrix[0, 1] == matrix[1, 0] == expected
    assert matrix.diagonal().tolist() == kernel.diag([a, b], dtype=dtype).tolist() == [1, 1]


# Values beyond the range of floats.


@pytest.mark.parametrize(("n", "m"), [(90, 80), (540, 530)])
@every_dtype
def test_long_sequences_of_similar_words_are_compared_right(n, m, dtype):
    kernel = SubsequenceKernel(decay=1.0, similarity=constant("ab", float(HALF)))
    mixed = sum(math.comb(n, k) * math.comb(m, k) * HALF**k for k in range(1, m + 1))
    right = exact_cosine(mixed, math.comb(2 * n, n) - 1, math.comb(2 * m, m) - 1)
    check(kernel, Sequence(["a"] * n), Sequence(["b"] * m), right, dtype)


def subset_value(n, m, s):
    return (n == m) * (2 * s) ** n + n * m * s


def partial_value(n, m, s):
    sums = sum(math.comb(n, k) * math.comb(m, k) * (2 * s) ** k for k in range(min(n, m) + 1))
    return n * m * (1 + 2 * s) + sums


def rooted_value(n, m, s):
    each = s * (s + 1)
    return 1 + sum(
        math.comb(n, k) * math.comb(m, k) * k * each * s**k for k in range(min(n, m) + 1)
    )


WIDE = {
    "subset": (SubsetTreeKernel(decay=1.0), subset_value, (1100, 1100)),
    "partial": (PartialTreeKernel(decay=1.0, depth_decay=1.0), partial_value, (560, 550)),
    "rooted": (RootedTreeKernel(decay=1.0), rooted_value, (560, 550)),
}


@pytest.mark.parametrize(("kernel", "value", "size"), WIDE.values(), ids=WIDE)
def test_the_values_of_wide_trees_below_are_right(kernel, value, size):
    kernel = kernel.clone().set_params(similarity=constant("AB", float(NEAR)))
    a, b = (of(label, preterminals(4)) for label in "AB")
    assert value(4, 4, NEAR) == pytest.approx(kernel.reference(a, b), rel=1e-12)


@pytest.mark.parametrize(("kernel", "value", "size"), WIDE.values(), ids=WIDE)
@every_dtype
def test_wide_trees_of_similar_labels_are_compared_right(kernel, value, size, dtype):
    kernel = kernel.clone().set_params(similarity=constant("AB", float(NEAR)))
    n, m = size if dtype == "float64" else (size[0] // 4, size[1] // 4)  # about 1e75 is beyond it
    right = exact_cosine(value(n, m, NEAR), value(n, n, 1), value(m, m, 1))
    check(kernel, of("A", preterminals(n)), of("B", preterminals(m)), right, dtype)


@pytest.mark.parametrize(("kernel", "value", "size"), WIDE.values(), ids=WIDE)
def test_raw_values_of_wide_trees_are_refused(kernel, value, size):
    raw = kernel.clone().set_params(similarity=constant("AB", float(NEAR)), normalize=False)
    with pytest.raises(KernelOverflowError, match=r"float64.*normalize=True"):
        raw.gram([of("A", preterminals(size[0])), Tree("x")])


def test_huge_structures_change_no_bit_of_ordinary_pairs():
    kernel = PartialTreeKernel(decay=0.9, depth_decay=0.9, similarity=constant("abAB", 0.7))
    trees = sample(kernel, 20)
    huge = of("B", preterminals(560))
    together = kernel.gram([*trees[:7], huge, *trees[7:]])
    rest = np.delete(np.delete(together, 7, axis=0), 7, axis=1)
    np.testing.assert_array_equal(rest, kernel.gram(trees))
    assert np.isfinite(together).all() and (together == together.T).all()


def test_deep_soft_subtrees_may_weigh_less_than_any_float():
    def binary(depth, label):
        tree = Tree(label, [Tree("x")])
        for _ in range(depth):
            tree = Tree("S", [tree, tree])
        return tree

    kernel = SubtreeKernel(decay=0.4, similarity=constant("AB", float(NEAR)))
    a, b = binary(10, "A"), Tree("S", [binary(10, "B"), Tree("B", [Tree("x")])])
    right = exact_normalized(kernel, a, b, decay=Fraction(0.4))
    assert kernel.value(a, b) == pytest.approx(right, rel=1e-9)


TINY = [
    {"a": 1e-30, "b": 1e-30, "c": 1e-30},
    {"a": 1e20, "b": 1e20, "c": 1e20},
    {"a": 1e-30, "b": 1e20},
    {"a": 1e-100, "b": 1e-100, "c": 1e-100},
    {"a": 1e100, "b": 1e100, "c": 1e-100},
    {"a": 1e-30, "b": 0},
]


@every_name
@every_dtype
@pytest.mark.parametrize("gates", TINY, ids=repr)
@pytest.mark.parametrize("similarity", [None, constant("abc", 0.5)], ids=["exact", "soft"])
def test_tiny_and_huge_gates_leave_normalized_values_right(name, gates, similarity, dtype):
    kernel = KERNELS[name](similarity=similarity, gates=gates, gate_on="node", dtype=dtype)
    X = sample(kernel, 4, seed=1, **({"max_nodes": 7} if name != "subsequence" else {}))
    decay = Fraction(kernel.decay)
    found = kernel.cross(X, X)
    assert np.isfinite(found).all()
    for i, a in enumerate(X):
        for j, b in enumerate(X[: i + 1]):
            right = normalized_or_zero(kernel, a, b, decay)
            expected = pytest.approx(right, **{**TOLERANCE[dtype], "abs": 1e-37})
            assert found[i, j] == expected and found[j, i] == expected


def normalized_or_zero(kernel, a, b, decay):
    try:
        return exact_normalized(kernel, a, b, decay=decay)
    except ZeroDivisionError:  # all of a structure is gated away
        return 0.0


@every_name
@every_dtype
def test_tiny_similarities_leave_normalized_values_right(name, dtype):
    """A label may hardly resemble itself."""
    kernel = KERNELS[name](similarity=Table(["a"], [[1e-8]]), dtype=dtype)
    for x in sample(kernel, 4, alphabet=["a"]):
        assert kernel.value(x, x) == pytest.approx(1, rel=1e-5)


# Deep and wide.


def deep_pair(depth):
    """Return chains of distinct labels; some labels of the one resemble some of the other."""
    a = chain(depth, label=lambda level: f"a{level % 7}" if level % 1000 == 3 else str(level))
    b = chain(depth, label=lambda level: f"b{level % 7}" if level % 1000 == 3 else str(level))
    return a, b


@pytest.fixture(scope="module")
def deep_chains():
    return kw.batch(deep_pair(DEPTH))


@pytest.mark.parametrize("name", [n for n in KERNELS if KERNELS[n].accepts is kw.arrays.TreeBatch])
def test_deep_soft_chains(name, deep_chains):
    words = [f"{side}{i}" for side in "ab" for i in range(7)]
    kernel = KERNELS[name](similarity=constant(words, 0.5), gates={"77": 0.5}, gate_on="node")
    matrix = kernel.gram(deep_chains)
    assert matrix.diagonal().tolist() == [1, 1]
    assert 0 < matrix[0, 1] < 1 and matrix[0, 1] == matrix[1, 0]


@pytest.mark.parametrize("name", [n for n in KERNELS if KERNELS[n].accepts is kw.arrays.TreeBatch])
def test_soft_chains_in_which_everything_matches(name):
    kernel = KERNELS[name](similarity=constant(["n", "m"], 1.0), normalize=False)
    plain = KERNELS[name](normalize=False)
    mixed = chain(2_000, label=lambda level: "nm"[level % 2])
    expected = plain.value(chain(2_000), chain(700))
    assert kernel.value(mixed, chain(700)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["partial-tree", "rooted-tree"])
def test_five_hundred_similar_children(name):
    soft = KERNELS[name](similarity=constant("xy", 0.5), normalize=False)
    gated = KERNELS[name](gates={"x": math.sqrt(0.5)}, gate_on="node", normalize=False)
    x, y = (star(500, label=lambda i, label=label: label) for label in "xy")
    assert soft.value(x, y) == pytest.approx(gated.value(x, x), rel=1e-9)


def test_five_thousand_distinct_similar_words():
    words = [f"w{i}" for i in range(5_000)]
    vectors = Vectors(words, np.random.default_rng(0).normal(size=(5_000, 8)))
    kernel = SubsequenceKernel(decay=0.5, similarity=Gaussian(vectors))
    a, b = Sequence(words[:2_500]), Sequence(words[2_500:])
    matrix = kernel.gram([a, b])
    assert matrix.diagonal().tolist() == [1, 1] and 0 < matrix[0, 1] < 1


# Many labels in little memory.

MANY_LABELS = """
import resource
import numpy as np
import kernelwood as kw
n = 200_000
words = [f"w{i}" for i in range(n)]
vectors = kw.Vectors(words, np.random.default_rng(0).normal(size=(n, 16)))
similarity = kw.similarity.Gaussian(vectors)
groups = [words[i : i + 8] for i in range(0, n, 8)]
sequences = kw.batch([kw.Sequence(group) for group in groups])
trees = kw.batch([kw.Tree(group[0], [kw.Tree(word) for word in group[1:]]) for group in groups])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for kernel, batch, n_queries in (
    (kw.SubsequenceKernel(similarity=similarity, dtype="float32"), sequences, 40),
    (kw.PartialTreeKernel(similarity=similarity, dtype="float32"), trees, 4),
):
    indices, values = kernel.neighbors(batch[:n_queries], batch, 2)
    assert indices[:, 0].tolist() == list(range(n_queries)) and np.isfinite(values).all()
    block = kernel.cross(batch[:n_queries], batch[:5000])
    assert np.isfinite(block).all() and block.max() <= 1.001
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
def test_two_hundred_thousand_labels_need_little_memory(run_python):
    assert int(run_python(*MANY_LABELS.strip().splitlines())) < 500
