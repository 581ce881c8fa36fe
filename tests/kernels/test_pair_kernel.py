"""Kernels of pairs against their definitions."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from strategies import sample_sequences, sample_trees

import kernelwood as kw
from kernelwood.compute import counting
from kernelwood.errors import KernelInputError, KernelOverflowError, StructureError
from kernelwood.kernels import needed_views
from kernelwood.kernels.pair_kernel import MODES

SST = kw.SubsetTreeKernel(normalize=False)
WORDS = kw.SubsequenceKernel()
BOTH = kw.OnView("tree", kw.SubsetTreeKernel()) + 0.5 * kw.OnView("words", WORDS)
VARIANTS = [{"mode": mode} for mode in MODES] + [
    {"mode": "sum", "symmetric": False},
    {"mode": "product", "symmetric": False},
    {"mode": "best", "sharpness": 2},
]
every_variant = pytest.mark.parametrize(
    "options", VARIANTS, ids=["-".join(map(str, options.values())) for options in VARIANTS]
)


def tree_pairs(n, seed=0):
    trees = sample_trees(2 * n, seed=seed)
    return list(zip(trees[:n], trees[n:], strict=True))


def example_pairs(n, seed=0):
    trees, words = sample_trees(2 * n, seed=seed), sample_sequences(2 * n, seed=seed)
    parts = [
        kw.Example(str(i), views={"tree": tree, "words": sequence})
        for i, (tree, sequence) in enumerate(zip(trees, words, strict=True))
    ]
    return [
        kw.Example.pair(str(i), a, b)
        for i, (a, b) in enumerate(zip(parts[:n], parts[n:], strict=1))
    ]


def definition(k, a, b, mode, symmetric=True, sharpness=4):
    """Return the value by the formulas of the documentation."""
    parallel, crossed = (k(a[0], b[0]), k(a[1], b[1])), (k(a[0], b[1]), k(a[1], b[0]))
    if mode == "preference":
        return sum(parallel) - sum(crossed)
    join = {"sum": sum, "product": np.prod}.get(mode, lambda v: np.prod(v) ** sharpness)
    return join(parallel) + (join(crossed) if symmetric else 0)


@every_variant
def test_values_are_those_of_the_definition(options):
    pairs, kernel = tree_pairs(9), kw.PairKernel(SST, **options)
    expected = [[definition(SST.value, a, b, **options) for b in pairs] for a in pairs]
    np.testing.assert_allclose(kernel.gram(pairs), expected, rtol=1e-9, atol=1e-9)
    batch = kw.batch(pairs)
    reference = [[kernel.reference(a, b) for b in batch] for a in batch]
    np.testing.assert_allclose(reference, expected, rtol=1e-12, atol=1e-12)


@every_variant
def test_kernels_of_examples_read_both_parts(options):
    pairs, kernel = example_pairs(9), kw.PairKernel(BOTH, **options)
    parts = [(pair.part("left"), pair.part("right")) for pair in pairs]
    expected = [[definition(BOTH.value, a, b, **options) for b in parts] for a in parts]
    np.testing.assert_allclose(kernel.gram(pairs), expected, rtol=1e-9, atol=1e-12)


@every_variant
def test_all_ways_to_compare_agree(options):
    pairs, kernel = kw.batch(example_pairs(30)), kw.PairKernel(BOTH, **options)
    gram = kernel.gram(pairs)
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(kernel.cross(pairs[:9], pairs), gram[:9], **close)
    np.testing.assert_allclose(kernel.diag(pairs), gram.diagonal(), **close)
    np.testing.assert_allclose(kernel.pairs(pairs, pairs[::-1]), gram[:, ::-1].diagonal(), **close)
    assert kernel.value(pairs[0], pairs[5]) == kernel.pairs(pairs[:1], pairs[5:6])[0]
    indices, values = kernel.neighbors(pairs[:4], pairs, 30)
    np.testing.assert_allclose(values, np.take_along_axis(gram[:4], indices, axis=1), **close)
    np.testing.assert_allclose(kernel.gram(pairs, dtype="float32"), gram, rtol=1e-4, atol=1e-5)


@every_variant
def test_gram_is_symmetric_and_positive_semidefinite(options):
    for kernel, pairs in ((SST, tree_pairs(60)), (BOTH, example_pairs(60))):
        gram = kw.PairKernel(kernel, **options).gram(pairs)
        np.testing.assert_array_equal(gram, gram.T)
        values = np.linalg.eigvalsh(gram)
        assert values[0] >= -1e-9 * values[-1]


@every_variant
def test_normalized_values_are_from_minus_one_to_one(options):
    pairs = tree_pairs(40) * 2
    kernel = kw.Normalized(kw.PairKernel(SST, **options))
    assert kernel._is_definite()
    gram = kernel.gram(pairs)
    assert np.abs(gram).max() == 1 and (gram.diagonal() == 1).all()


def test_the_larger_alignment_itself_is_not_positive_semidefinite():
    # Why "best" is a sum of powers.
    rows = np.abs(np.random.default_rng(3).normal(size=(200, 2, 3)))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    k = np.einsum("ipd,jqd->ijpq", rows, rows)
    largest = np.maximum(k[..., 0, 0] * k[..., 1, 1], k[..., 0, 1] * k[..., 1, 0])
    soft = np.logaddexp(100 * k[..., 0, 0] * k[..., 1, 1], 100 * k[..., 0, 1] * k[..., 1, 0]) / 100
    for matrix in (largest, soft):
        values = np.linalg.eigvalsh(matrix)
        assert values[0] < -1e-3 * values[-1]


def test_the_better_alignment_prevails():
    words = ("the cat", "the dog", "the big dog", "the old cat")
    a, b, c, d = (kw.Sequence(text.split()) for text in words)
    kernel = kw.SubsequenceKernel()
    alignments = [
        kernel.value(a, c) * kernel.value(b, d),
        kernel.value(a, d) * kernel.value(b, c),
    ]
    root = kw.PairKernel(kernel, mode="best", sharpness=60).value((a, b), (c, d)) ** (1 / 60)
    assert min(alignments) > 0 and root == pytest.approx(max(alignments), rel=0.02)
    once = kw.PairKernel(kernel, mode="best", sharpness=1)
    assert once.value((a, b), (c, d)) == pytest.approx(sum(alignments))


@pytest.mark.parametrize(
    ("options", "sign"),
    [
        ({"mode": "sum"}, 1),
        ({"mode": "product"}, 1),
        ({"mode": "best"}, 1),
        ({"mode": "preference"}, -1),
    ],
)
def test_swapped_parts_are_the_same_pair_or_the_opposite_preference(options, sign):
    pairs = tree_pairs(8)
    swapped = [(b, a) for a, b in pairs]
    kernel = kw.PairKernel(SST, **options)
    np.testing.assert_allclose(
        kernel.cross(swapped, pairs), sign * kernel.gram(pairs), rtol=1e-12, atol=1e-9
    )


def test_without_crossed_terms_the_order_of_parts_matters():
    (a, b), kernel = tree_pairs(1)[0], kw.PairKernel(kw.SubsetTreeKernel(), symmetric=False)
    assert kernel.value((a, b), (a, b)) == 2
    assert kernel.value((a, b), (b, a)) == 2 * kw.SubsetTreeKernel().value(a, b) < 2


@every_variant
def test_tiles_and_threads_change_no_bit(options, monkeypatch, force_threads):
    pairs = kw.batch(example_pairs(300))
    alone, together = (
        kw.PairKernel(kw.OnView("tree", kw.PartialTreeKernel(n_jobs=n)), **options) for n in (1, 3)
    )
    gram, neighbors = alone.gram(pairs), alone.neighbors(pairs[:50], pairs, 5)
    np.testing.assert_array_equal(together.gram(pairs), gram)
    monkeypatch.setattr("kernelwood.kernels.kernel.TILE", 128)
    monkeypatch.setattr("kernelwood.kernels.kernel._SEARCHED", 64)
    np.testing.assert_array_equal(alone.gram(pairs), gram)
    np.testing.assert_array_equal(alone.neighbors(pairs[:50], pairs, 5)[1], neighbors[1])


def test_an_executor_changes_no_bit(force_executor):
    pairs, kernel = kw.batch(example_pairs(40)), kw.PairKernel(BOTH, mode="product")
    expected = kernel.gram(pairs)
    with ThreadPoolExecutor(2) as pool, kw.config_context(executor=pool):
        np.testing.assert_array_equal(kernel.gram(pairs), expected)


def test_the_kernel_of_the_parts_computes_whole_matrices(monkeypatch):
    calls = []
    for how in ("_fill_gram", "_fill_cross", "_fill_pairs"):
        fill = getattr(kw.SubsetTreeKernel, how)

        def counted(self, *data, how=how, fill=fill):
            calls.append((how, *(len(one) for one in data[:-2])))
            fill(self, *data)

        monkeypatch.setattr(kw.SubsetTreeKernel, how, counted)
    kw.PairKernel(kw.SubsetTreeKernel()).gram(tree_pairs(20))
    assert calls == [("_fill_gram", 20), ("_fill_gram", 20), ("_fill_cross", 20, 20)]


def test_matrices_of_the_parts_are_shared_by_modes():
    kernel, pairs = kw.SubsetTreeKernel(), kw.batch(tree_pairs(20))
    modes = [kw.PairKernel(kernel, mode=mode) for mode in ("sum", "product")]
    with counting() as alone:
        one = modes[0].gram(pairs)
    with counting() as both:
        two = (modes[0] + modes[1]).gram(pairs)
    assert both.kernel_evaluations == alone.kernel_evaluations
    np.testing.assert_allclose(two, one + modes[1].gram(pairs), rtol=1e-12)


def test_parts_of_slices_are_those_of_the_batch():
    pairs = kw.batch(example_pairs(12))
    kernel = kw.PairKernel(BOTH)
    gram = kernel.gram(pairs)
    np.testing.assert_array_equal(kernel.gram(pairs[[7, 2, 9]]), gram[np.ix_(*2 * [[7, 2, 9]])])
    again = pickle.loads(pickle.dumps(pairs))
    np.testing.assert_array_equal(kernel.gram(again), gram)


def test_vectors_are_parts_too():
    pairs = [((1.0, 2.0), (0.5, 1.0)), (np.array([0.0, 1.0]), np.array([3.0, 1.0]))]
    kernel = kw.PairKernel(kw.VectorKernel("linear"), mode="preference")
    differences = np.array([[0.5, 1.0], [-3.0, 0.0]])
    np.testing.assert_allclose(kernel.gram(pairs), differences @ differences.T)


def test_pairs_of_pairs_are_preferences_between_pairs():
    trees = sample_trees(24)
    pairs = [kw.Example.pair(str(i), *trees[2 * i : 2 * i + 2]) for i in range(12)]
    nested = [kw.Example.pair(str(i), *pairs[2 * i : 2 * i + 2]) for i in range(6)]
    inner = kw.PairKernel(kw.SubsetTreeKernel(), mode="product")
    gram = inner.gram(pairs)
    D = np.kron(np.eye(6), [1.0, -1.0])
    kernel = kw.PairKernel(inner, mode="preference")
    np.testing.assert_allclose(kernel.gram(nested), D @ gram @ D.T, atol=1e-12)
    assert needed_views(kernel) == tuple(map(".".join, product(("left", "right"), repeat=2)))


def test_needed_views_are_those_of_both_parts():
    assert needed_views(kw.PairKernel(SST)) == ("left", "right")
    assert needed_views(kw.PairKernel(BOTH) + kw.OnView("x", SST)) == (
        "left.tree", "left.words", "right.tree", "right.words", "x",
    )  # fmt: skip


def test_parameters_are_shown_cloned_and_compared():
    kernel = kw.PairKernel(BOTH, mode="best", sharpness=3)
    shown = "PairKernel(OnView('tree', SubsetTreeKernel()), mode='product')"
    assert repr(kw.PairKernel(kw.OnView("tree", kw.SubsetTreeKernel()), mode="product")) == shown
    assert kernel.clone() == kernel == pickle.loads(pickle.dumps(kernel))
    changed = kernel.clone().set_params(kernel__left__kernel__decay=0.1, sharpness=2)
    assert changed != kernel and changed.kernel.left.kernel.decay == 0.1


def test_gates_are_learned_for_both_parts():
    from kernelwood.tuning.problem import find_gated, tabulate_labels, with_gates

    kernel = kw.PairKernel(kw.OnView("words", WORDS))
    assert [part.view for part in find_gated(kernel)] == ["left.words", "right.words"]
    assert with_gates(kernel, {"e": 0.0}).kernel.kernel.gates == {"e": 0.0}
    table = tabulate_labels(kernel, kw.batch(example_pairs(5)))
    assert table.occurrences.sum() == sum(
        len(pair.view(f"{side}.words").nodes)
        for pair in example_pairs(5)
        for side in ("left", "right")
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "mean"}, "mode must be one of"),
        ({"mode": ["sum"]}, "mode must be one of"),
        ({"mode": "best", "symmetric": False}, "needs the crossed terms"),
        ({"mode": "preference", "symmetric": False}, "needs the crossed terms"),
        ({"symmetric": "yes"}, "symmetric must be True or False"),
        ({"sharpness": 0}, "sharpness"),
        ({"sharpness": 2.5}, "sharpness"),
    ],
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(KernelInputError, match=message):
        kw.PairKernel(SST, **options).gram(tree_pairs(2))


@pytest.mark.parametrize(
    ("kernel", "pairs", "message"),
    [
        (SST, [kw.Tree("A")], "Tree"),
        (BOTH, tree_pairs(2), r"left parts of pairs, from views called left.name"),
        (SST, example_pairs(2), r"(?s)left parts .* called left: .*no view 'left'.*Give pairs"),
        (BOTH, [kw.Example("1", views={"left.tree": kw.Tree("A")})], "left.name"),
    ],
)
def test_what_is_not_a_pair_is_refused(kernel, pairs, message):
    with pytest.raises(KernelInputError, match=message):
        kw.PairKernel(kernel).gram(pairs)


def test_a_view_cannot_be_a_pair():
    with pytest.raises(KernelInputError, match="views hold structures"):
        kw.OnView("tree", kw.PairKernel(SST)).gram(example_pairs(2))


def test_pairs_are_not_nested_without_end():
    kernel = SST
    for _ in range(9):
        kernel = kw.PairKernel(kernel)
    with pytest.raises(KernelInputError, match="nested more than 8 deep"):
        kernel.gram(tree_pairs(2))


def test_values_beyond_the_range_of_numbers_are_refused():
    with pytest.raises(KernelOverflowError, match="PairKernel"):
        kw.PairKernel(kw.VectorKernel("linear"), mode="best", sharpness=200).gram(
            [((1e3, 1.0), (1e3, 0.0))]
        )


def test_fragments_are_those_of_parts():
    a, b = kw.batch(tree_pairs(2))
    with pytest.raises(KernelInputError, match="explain parts of the pairs"):
        kw.shared_fragments(kw.PairKernel(SST), a, b)


def test_tuples_are_pairs():
    (a, b), (c, d) = tree_pairs(2)
    batch = kw.batch([(a, b), (c, d)])
    assert batch.ids == ["0", "1"] and batch.views == ("left", "right")
    assert batch[1].view("right") == d
    with pytest.raises(StructureError, match="should be"):
        kw.batch([(a, b, c)])
    assert kw.batch([(1.0, 2.0)]).kind == "vector"


def test_part_of_a_batch_is_that_of_its_examples():
    pairs = example_pairs(4)
    assert list(kw.batch(pairs).part("right")) == [pair.part("right") for pair in pairs]
    for holder in (pairs[0], kw.batch(pairs)):
        with pytest.raises(StructureError, match="'left' and 'right', not 'middle'"):
            holder.part("middle")
