"""Combinations of kernels and views of examples."""

from __future__ import annotations

import copy
import functools
import pickle
import tracemalloc

import numpy as np
import pytest
import sklearn.base
from cases import sample
from strategies import preterminals

import kernelwood as kw
from kernelwood.errors import KernelInputError, KernelOverflowError, StructureError
from kernelwood.kernels import (
    Normalized,
    OnView,
    PartialTreeKernel,
    Product,
    Scaled,
    SubsequenceKernel,
    SubsetTreeKernel,
    Sum,
    drop_unread_views,
    needed_views,
)
from kernelwood.structures import Sequence, Tree

SST, PTK = SubsetTreeKernel(), PartialTreeKernel()
RAW_SST, RAW_PTK = SubsetTreeKernel(normalize=False), PartialTreeKernel(normalize=False)
WORDS = SubsequenceKernel()
TREES = sample(SST, 25)

ON_WORDS = kw.OnView("words", kw.SubsequenceKernel())
ON_TREE = kw.OnView("tree", kw.SubsetTreeKernel())


def examples(n=25):
    sequences = sample(WORDS, n, seed=8)
    return [
        kw.Example(str(i), label=i % 2, views={"tree": TREES[i], "words": sequences[i]})
        for i in range(n)
    ]


COMBINED = [
    (SST + PTK, lambda s, p: s + p),
    (SST * PTK, lambda s, p: s * p),
    (0.3 * SST, lambda s, p: 0.3 * s),
    (SST * 2, lambda s, p: 2 * s),
    (SST**3, lambda s, p: s**3),
    (0.5 * SST + PTK**2 * SST, lambda s, p: 0.5 * s + p**2 * s),
    (SST + SST, lambda s, p: 2 * s),
    (Normalized(PTK), lambda s, p: p),
    (0 * SST + PTK, lambda s, p: p),
]


every_combination = pytest.mark.parametrize(
    ("kernel", "formula"), COMBINED, ids=[repr(k) for k, _ in COMBINED]
)


@every_combination
def test_gram_is_combined_entry_by_entry(kernel, formula):
    expected = formula(SST.gram(TREES), PTK.gram(TREES))
    np.testing.assert_allclose(kernel.gram(TREES), expected, rtol=1e-14)


@every_combination
def test_cross_is_combined_entry_by_entry(kernel, formula):
    expected = formula(*(k.cross(TREES[:9], TREES[5:]) for k in (SST, PTK)))
    np.testing.assert_allclose(kernel.cross(TREES[:9], TREES[5:]), expected, rtol=1e-14)


@every_combination
def test_diag_and_pairs_are_combined(kernel, formula):
    np.testing.assert_allclose(kernel.diag(TREES), kernel.gram(TREES).diagonal(), rtol=1e-13)
    np.testing.assert_allclose(
        kernel.pairs(TREES, TREES[::-1]), kernel.gram(TREES)[:, ::-1].diagonal(), rtol=1e-13
    )


@every_combination
def test_a_value_is_that_of_pairs(kernel, formula):
    expected = kernel.pairs(TREES, TREES[::-1])
    assert [kernel.value(*pair) for pair in zip(TREES, TREES[::-1], strict=True)] == list(expected)


@every_combination
def test_neighbors_of_a_combination_are_those_of_its_cross(kernel, formula):
    indices, values = kernel.neighbors(TREES[:4], TREES, 25)
    np.testing.assert_allclose(
        values, np.take_along_axis(kernel.cross(TREES[:4], TREES), indices, axis=1), rtol=1e-13
    )


@every_combination
def test_the_reference_of_a_combination_is_its_value(kernel, formula):
    for a, b in [(TREES[0], TREES[1]), (TREES[2], TREES[2])]:
        assert kernel.reference(a, b) == pytest.approx(kernel.value(a, b), rel=1e-12)


@every_combination
def test_combinations_come_in_float32(kernel, formula):
    single = kernel.gram(TREES, dtype="float32")
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, kernel.gram(TREES), rtol=1e-5)


@every_combination
def test_combinations_can_be_cloned_pickled_and_compared(kernel, formula):
    assert kernel.clone() == kernel == pickle.loads(pickle.dumps(kernel))
    assert hash(kernel.clone()) == hash(kernel)


@every_combination
def test_the_repr_of_a_combination_can_be_evaluated(kernel, formula):
    assert eval(repr(kernel), vars(kw.kernels)) == kernel


@every_combination
def test_tile_size_changes_no_bit_of_a_combination(kernel, formula, monkeypatch):
    trees = kw.batch(TREES * 10)
    whole = kernel.gram(trees)
    monkeypatch.setattr("kernelwood.kernels.kernel.TILE", 128)
    np.testing.assert_array_equal(kernel.gram(trees), whole)


class Counting(SubsetTreeKernel):
    """Counts how often it is asked for a matrix."""

    asked = 0

    def _fill_cross(self, X, Y, out, runner):
        Counting.asked += 1
        super()._fill_cross(X, Y, out, runner)


@pytest.mark.parametrize(
    ("combine", "formula"),
    [
        (lambda a, b: (a + b) * (b + 0.5 * a), lambda s, p: (s + p) * (p + 0.5 * s)),
        (lambda a, b: (b + 0.5 * (a + b)) * (a + b), lambda s, p: (p + 0.5 * (s + p)) * (s + p)),
        (lambda a, b: Normalized(a + b) * a, None),
    ],
)
def test_what_comes_twice_is_computed_once(combine, formula):
    Counting.asked = 0
    found = combine(Counting(), PartialTreeKernel()).cross(TREES, TREES[:9])
    assert Counting.asked == 1
    plain = combine(SST, PTK).cross(TREES, TREES[:9])
    np.testing.assert_array_equal(found, plain)
    if formula is not None:
        expected = formula(SST.cross(TREES, TREES[:9]), PTK.cross(TREES, TREES[:9]))
        np.testing.assert_array_equal(found, expected)


def test_what_comes_twice_is_not_kept_from_block_to_block(monkeypatch):
    # Neighbors are found block by block, so that the matrix is never held.
    monkeypatch.setattr("kernelwood.kernels.kernel._QUERIES", 128)
    monkeypatch.setattr("kernelwood.kernels.kernel._SEARCHED", 512)
    sequences = kw.batch(sample(WORDS, 3000, seed=5))
    kernel = (WORDS + WORDS**2) * (WORDS + 0.5 * WORDS**2)
    tracemalloc.start()
    try:
        kernel.neighbors(sequences, sequences, 1)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    matrix = 8 * len(sequences) ** 2
    assert held < matrix / 10
    assert peak < matrix / 2


def test_views_are_not_taken_for_each_other():
    # The same kernels on two views: their structures differ, and so must what is kept.
    inner = WORDS + WORDS**2
    pairs = [
        kw.Example(str(i), views={"a": one, "b": other})
        for i, (one, other) in enumerate(
            zip(sample(WORDS, 20, seed=1), sample(WORDS, 20, seed=2), strict=True)
        )
    ]
    kernel = OnView("a", inner) * OnView("b", inner) + OnView("a", inner)
    a, b = (inner.gram([example.view(name) for example in pairs]) for name in "ab")
    np.testing.assert_array_equal(kernel.gram(pairs), a * b + a)


def test_parameters_inside_are_reached_by_name():
    kernel = Normalized(0.5 * SubsetTreeKernel() + PartialTreeKernel())
    assert kernel.get_params()["kernel__left__kernel__decay"] == 0.4
    kernel.set_params(kernel__left__kernel__decay=0.7, kernel__left__factor=2)
    assert kernel.kernel.left == 2 * SubsetTreeKernel(decay=0.7)


def test_a_clone_shares_nothing():
    kernel = SST + PTK
    kernel.clone().set_params(left__decay=0.9)
    assert kernel.left.decay == 0.4


@pytest.mark.parametrize("factor", [np.float64(0.5), np.float32(0.5), np.int64(2)])
def test_factors_come_from_numpy_too(factor):
    expected = float(factor) * SST.gram(TREES)
    np.testing.assert_array_equal((factor * SST).gram(TREES), expected)
    np.testing.assert_array_equal((SST * factor).gram(TREES), expected)


# Normalization.


def test_a_normalized_sum_is_divided_by_its_own_self_similarities():
    raw = RAW_SST.gram(TREES) + RAW_PTK.gram(TREES)
    expected = raw / np.sqrt(np.outer(raw.diagonal(), raw.diagonal()))
    np.testing.assert_allclose(Normalized(RAW_SST + RAW_PTK).gram(TREES), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [
        Normalized(RAW_SST + RAW_PTK),
        Normalized(Normalized(RAW_SST) + RAW_PTK**2),
        Normalized(Normalized(RAW_SST)),
    ],
    ids=repr,
)
def test_every_verb_of_a_normalized_kernel_agrees(kernel):
    gram = kernel.gram(TREES)
    np.testing.assert_array_equal(gram.diagonal(), 1)
    np.testing.assert_allclose(kernel.cross(TREES, TREES), gram, rtol=1e-13)
    np.testing.assert_array_equal(kernel.diag(TREES), 1)
    assert kernel.reference(*TREES[:2]) == pytest.approx(gram[0, 1], rel=1e-12)


def test_normalizing_gives_zero_where_there_is_nothing():
    nothing = Tree("x")
    with pytest.warns(RuntimeWarning, match="self-similarity 0"):
        matrix = Normalized(RAW_SST + RAW_SST).gram([nothing, TREES[0]])
    assert matrix.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda raw: Normalized(raw),
        lambda raw: Normalized(Normalized(raw)),
    ],
    ids=["once", "twice"],
)
@pytest.mark.parametrize("method", ["gram", "diag"])
def test_normalizing_is_safe_where_raw_values_overflow(wrap, method):
    huge = preterminals(1500)
    found = getattr(wrap(SubsetTreeKernel(decay=1.0, normalize=False)), method)([huge])
    np.testing.assert_array_equal(found.ravel(), [1])


def test_normalizing_is_safe_where_raw_values_underflow():
    kernel = Normalized(SubsetTreeKernel(decay=1e-200, normalize=False))
    a, b = (Tree.from_brackets(t) for t in ("(S (A x) (B y))", "(S (A x) (B z))"))
    assert kernel.reference(a, b) == pytest.approx(kernel.value(a, b), rel=1e-9)


def test_a_sum_that_overflows_is_refused():
    large = SubsetTreeKernel(decay=1.0, normalize=False)
    with pytest.raises(KernelOverflowError, match=r"Product.*float64"):
        (large * large).gram([preterminals(700)])


def test_a_power_that_overflows_float32_is_refused():
    with pytest.raises(KernelOverflowError, match="float32"):
        (SubsetTreeKernel(decay=1.0, normalize=False) ** 9).gram(
            [preterminals(20)], dtype="float32"
        )


# Views.


def test_views_are_compared_by_their_kernels():
    kernel = 0.3 * OnView("words", WORDS) + 0.7 * OnView("tree", SST)
    some = examples()
    expected = 0.3 * WORDS.gram([e.view("words") for e in some]) + 0.7 * SST.gram(TREES)
    np.testing.assert_allclose(kernel.gram(some), expected, rtol=1e-14)


def test_a_batch_of_examples_gives_what_a_list_gives():
    kernel = OnView("words", WORDS) * OnView("tree", SST)
    some = examples()
    np.testing.assert_array_equal(kernel.gram(kw.batch(some)), kernel.gram(some))


def test_slices_of_a_batch_of_examples_are_compared():
    kernel = OnView("tree", SST)
    batch = kw.batch(examples())
    whole = kernel.cross(batch, batch)
    np.testing.assert_array_equal(kernel.cross(batch[3:9], batch[[20, 1]]), whole[3:9][:, [20, 1]])


def test_every_verb_works_on_views():
    kernel = OnView("tree", SST)
    some = examples()
    gram = SST.gram(TREES)
    np.testing.assert_allclose(kernel.cross(some, some), gram, rtol=1e-14)
    np.testing.assert_array_equal(kernel.diag(some), 1)
    np.testing.assert_allclose(kernel.pairs(some, some), 1, rtol=1e-14)
    assert kernel.value(some[0], some[1]) == pytest.approx(gram[0, 1], rel=1e-14)
    assert kernel.reference(some[0], some[1]) == pytest.approx(gram[0, 1], rel=1e-14)
    assert kernel.neighbors(some, some, 1)[1] == pytest.approx(1)


def test_no_examples_give_empty_results():
    kernel = OnView("tree", SST)
    shapes = [kernel.gram([]).shape, kernel.cross([], examples()).shape, kernel.diag([]).shape]
    assert shapes == [(0, 0), (0, 25), (0,)]


def test_a_view_inside_a_view_kernel_is_normalized():
    kernel = Normalized(OnView("tree", RAW_SST) + OnView("words", WORDS))
    np.testing.assert_array_equal(kernel.gram(examples()).diagonal(), 1)


def test_a_missing_view_is_named():
    with pytest.raises(KernelInputError, match=r"no view 'tre'\n.*did you mean 'tree'"):
        OnView("tre", SST).gram(examples())


def test_a_view_of_the_wrong_kind_is_named():
    with pytest.raises(KernelInputError, match="expected trees, got a batch of sequences"):
        OnView("words", SST).gram(examples())


def test_a_view_that_is_text_is_named():
    example = kw.Example("1", views={"text": "the cat"})
    with pytest.raises(KernelInputError, match=r"view 'text'.*got str"):
        OnView("text", SST).gram([example])


def test_trees_given_to_a_view_kernel_are_refused():
    with pytest.raises(KernelInputError, match="should be an example, got Tree"):
        OnView("tree", SST).gram(TREES)


def test_mixed_kinds_without_views_are_refused_with_the_remedy():
    with pytest.raises(KernelInputError, match=r"sequences and trees.*OnView"):
        (SST + WORDS).gram(TREES)


# Nonsense.


@pytest.mark.parametrize("exponent", [0, -1, 0.5, "2", None, True, np.float64(2), 10**400])
def test_an_exponent_that_makes_no_kernel_is_named(exponent):
    with pytest.raises(KernelInputError, match="exponent must be an int from 1 to"):
        (SST**exponent).gram(TREES)


@pytest.mark.parametrize("factor", [-1, -0.5, float("nan"), float("inf")])
def test_a_factor_that_makes_no_kernel_is_named(factor):
    with pytest.raises(KernelInputError, match=f"got {factor!r}"):
        (factor * SST).gram(TREES)


@pytest.mark.parametrize("other", ["x", None, [1]])
def test_kernels_and_other_things_do_not_combine(other):
    with pytest.raises(TypeError):
        SST + other
    with pytest.raises(TypeError):
        SST * other


@pytest.mark.parametrize(
    "kernel",
    [
        Sum(SST, 3),
        Product("x", SST),
        Normalized("x"),
        OnView("tree", 3),
        Scaled(SST, "x"),
        Scaled(3, 3),
    ],
    ids=["Sum", "Product", "Normalized", "OnView", "factor", "Scaled"],
)
def test_what_is_no_kernel_inside_is_named(kernel):
    data = examples() if isinstance(kernel, OnView) else TREES
    with pytest.raises(KernelInputError, match=type(kernel).__name__ + "|scaled by"):
        kernel.gram(data)


# Kernels written by users.


class LeafOverlapKernel(kw.Kernel):
    accepts = kw.arrays.TreeBatch

    def __init__(self, *, weight=1.0):
        self.weight = weight

    def reference(self, a, b):
        labels = [{leaf.label for leaf in tree.leaves()} for tree in (a, b)]
        return self.weight * len(labels[0] & labels[1])


class SameRootKernel(kw.Kernel):
    """No parameters, hence no constructor."""

    accepts = kw.arrays.TreeBatch

    def reference(self, a, b):
        return float(a.label == b.label)


def test_a_kernel_with_only_a_reference_has_every_verb():
    kernel = LeafOverlapKernel(weight=2.0)
    right = np.array([[kernel.reference(a, b) for b in TREES] for a in TREES])
    np.testing.assert_array_equal(kernel.gram(TREES), right)
    np.testing.assert_array_equal(kernel.cross(TREES[:4], TREES), right[:4])
    np.testing.assert_array_equal(kernel.diag(TREES), right.diagonal())
    np.testing.assert_array_equal(kernel.pairs(TREES, TREES), right.diagonal())
    np.testing.assert_array_equal(kernel.neighbors(TREES, TREES, 1)[1][:, 0], right.max(axis=1))
    assert kernel.value(TREES[0], TREES[1]) == right[0, 1]


def test_a_kernel_with_only_a_reference_combines():
    kernel = Normalized(LeafOverlapKernel() + SST)
    np.testing.assert_array_equal(kernel.gram(TREES).diagonal(), 1)


def test_a_kernel_with_only_a_reference_ignores_tiles(monkeypatch):
    trees = TREES * 6
    whole = LeafOverlapKernel().gram(trees)
    monkeypatch.setattr("kernelwood.kernels.kernel.TILE", 128)
    np.testing.assert_array_equal(LeafOverlapKernel().gram(trees), whole)


def test_a_kernel_without_constructor_has_no_parameters():
    kernel = SameRootKernel()
    assert (kernel.get_params(), repr(kernel)) == ({}, "SameRootKernel()")
    assert kernel.clone() == kernel


def test_a_kernel_without_reference_says_so():
    class Empty(kw.Kernel):
        accepts = kw.arrays.TreeBatch

        def __init__(self):
            pass

    with pytest.raises(NotImplementedError, match="Empty does not define reference"):
        Empty().gram([Tree("x")])


def test_a_user_kernel_that_is_not_finite_is_refused():
    class Broken(LeafOverlapKernel):
        def reference(self, a, b):
            return float("nan")

    with pytest.raises((KernelInputError, KernelOverflowError)):
        Broken().gram(TREES[:2])


def test_sequences_work_in_combinations_too():
    kernel = WORDS + WORDS**2
    sequences = [Sequence(["a"]), Sequence(["a", "b"])]
    single = WORDS.value(*sequences)
    assert kernel.value(*sequences) == pytest.approx(single + single**2)


class Whole(kw.Kernel):
    """A kernel of somebody else that looks at three_examples as it likes."""

    accepts = kw.arrays.ExampleBatch

    def reference(self, a, b):
        return float(a.view("text") == b.view("text"))


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (kw.SubsetTreeKernel(), ()),
        (0.5 * kw.SubsetTreeKernel() + kw.SubtreeKernel(), ()),
        (ON_WORDS, ("words",)),
        (kw.Normalized(2 * ON_TREE**3) * ON_WORDS, ("tree", "words")),
        (ON_WORDS + ON_TREE + ON_WORDS, ("words", "tree")),
        (Whole(), None),
        (ON_WORDS + 0.5 * Whole(), None),
    ],
    ids=repr,
)
def test_the_views_of_a_kernel_are_those_it_names(kernel, names):
    assert needed_views(kernel) == names


def test_a_combination_of_100000_kernels_is_walked_without_recursion():
    kernel = ON_WORDS
    for _ in range(100_000):
        kernel = kernel + ON_TREE
    assert needed_views(kernel) == ("words", "tree")


def test_a_kernel_that_is_inside_again_and_again_is_looked_at_once():
    kernel = ON_WORDS
    for _ in range(200):
        kernel = kernel + kernel
    assert needed_views(kernel) == ("words",)


@pytest.fixture
def three_examples():
    views = {"words": kw.Sequence(["a"]), "tree": kw.Tree("a"), "text": "a"}
    return kw.batch([kw.Example(str(i), i, views, kw.text.Origin("f")) for i in range(3)])


def test_other_views_are_dropped_and_the_rest_of_an_example_is_kept(three_examples):
    kept = drop_unread_views(three_examples, ON_TREE)
    assert list(kept) == [
        kw.Example(str(i), i, {"tree": kw.Tree("a")}, kw.text.Origin("f")) for i in range(3)
    ]


def test_views_that_are_batched_stay_so(three_examples):
    assert drop_unread_views(three_examples, ON_WORDS).view("words") is three_examples.view("words")


def test_all_views_are_kept_if_nobody_knows_which_are_read(three_examples):
    assert drop_unread_views(three_examples, Whole()) is three_examples


def test_no_examples_have_no_views():
    assert len(drop_unread_views(kw.batch([], kind=kw.arrays.ExampleBatch), ON_WORDS)) == 0


def test_a_missing_view_is_an_error(three_examples):
    with pytest.raises(StructureError, match="has no view 'path'"):
        drop_unread_views(three_examples, kw.OnView("path", kw.SubsequenceKernel()))


# Combinations of any depth. A recursion would need several frames per level.

N_DEEP = 2_001


def many_kernels(n=N_DEEP):
    return [SubsetTreeKernel(decay=1 / (1 + i % 3)) for i in range(n)]


def sum_from_the_left(n=N_DEEP):
    return functools.reduce(lambda total, kernel: total + kernel, many_kernels(n))


def sum_from_the_right(n=N_DEEP):
    return functools.reduce(lambda total, kernel: kernel + total, many_kernels(n))


def normalized_again_and_again():
    kernel = SST
    for i in range(N_DEEP // 3):
        kernel = Normalized(0.5 * (kernel + SubsetTreeKernel(decay=1 / (1 + i % 3))))
    return kernel


def powers_and_products():
    kernel = SST
    for _ in range(N_DEEP // 2):
        kernel = PTK * kernel**1
    return kernel


def shared_exponentially():
    kernel = SST
    for _ in range(64):
        kernel = Normalized(kernel + 0.5 * kernel)
    return kernel


DEEP = [sum_from_the_left, sum_from_the_right, normalized_again_and_again, powers_and_products]
every_deep_kernel = pytest.mark.parametrize("make", DEEP, ids=lambda make: make.__name__)


@pytest.mark.parametrize("order", [sum_from_the_left, sum_from_the_right])
def test_a_sum_of_thousands_of_kernels_has_the_sum_of_their_values(order):
    parts = [SubsetTreeKernel(decay=1 / (1 + i)).gram(TREES[:3]) for i in range(3)]
    total = functools.reduce(np.add, [parts[i % 3] for i in range(5_001)])
    np.testing.assert_array_equal(order(5_001).gram(TREES[:3]), total)


@every_deep_kernel
def test_every_verb_works_at_any_depth(make):
    kernel, some = make(), TREES[:2]
    gram = kernel.gram(some)
    np.testing.assert_allclose(kernel.cross(some, some), gram, rtol=1e-9)
    np.testing.assert_allclose(kernel.diag(some), gram.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(kernel.pairs(some, some), gram.diagonal(), rtol=1e-9)
    assert kernel.neighbors(some, some, 1)[1].ravel() == pytest.approx(gram.diagonal(), rel=1e-9)


@every_deep_kernel
def test_copies_at_any_depth_are_equal_and_independent(make):
    kernel = make()
    duplicates = [
        kernel.clone(),
        sklearn.base.clone(kernel),
        copy.copy(kernel),
        copy.deepcopy(kernel),
        pickle.loads(pickle.dumps(kernel)),
    ]
    for other in duplicates:
        assert other is not kernel and other == kernel and hash(other) == hash(kernel)
    for other in duplicates:
        name = other._inside[0]
        other.set_params(**{name: SubsequenceKernel()})
        assert other != kernel


def test_deep_kernels_that_differ_at_the_bottom_are_not_equal():
    one, other = (
        functools.reduce(lambda k, _: Scaled(k, 0.5), range(N_DEEP), start)
        for start in (SST, SubsetTreeKernel(decay=0.3))
    )
    assert one != other


def test_a_deep_kernel_is_represented_whole():
    assert repr(sum_from_the_left()) == " + ".join(map(repr, many_kernels()))


def test_parameters_of_a_very_deep_kernel_are_not_listed():
    kernel = sum_from_the_left(5_001)
    with pytest.raises(KernelInputError, match="nested too deeply to list all parameters"):
        kernel.get_params()
    assert set(kernel.get_params(deep=False)) == {"left", "right"}


def test_parameters_are_set_at_any_depth():
    kernel = functools.reduce(lambda k, _: Scaled(k, 1), range(1_500), SubsetTreeKernel())
    kernel.set_params(**{"kernel__" * 1_500 + "decay": 0.125})
    assert repr(kernel).endswith(f"SubsetTreeKernel(decay=0.125){')' * 1_499}")


def test_matrices_of_a_sum_from_the_right_are_not_held_at_once():
    trees = kw.batch(TREES * 20)
    kernel = functools.reduce(lambda total, _: SST + (0.5 * total), range(60), SST)
    kernel.gram(trees)
    tracemalloc.start()
    try:
        kernel.gram(trees)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * 8 * len(trees) ** 2


def test_kernels_shared_exponentially_often_are_computed_once():
    kernel = shared_exponentially()
    np.testing.assert_allclose(kernel.gram(TREES), SST.gram(TREES), rtol=1e-13)
    np.testing.assert_allclose(kernel.cross(TREES, TREES[:3]), SST.cross(TREES, TREES[:3]), 1e-13)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert "..." in repr(kernel)


def test_kernels_shared_exponentially_often_cannot_be_cloned(monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.combined._MOST_COPIES", 1_000)
    with pytest.raises(KernelInputError, match="combines more than 1,000 kernels"):
        shared_exponentially().clone()


def test_a_clone_shares_no_kernel_that_was_shared():
    kernel = (SST + SST).clone()
    assert kernel.left == kernel.right and kernel.left is not kernel.right


def test_a_pickle_shares_what_was_shared():
    inner = SST + PTK
    again = pickle.loads(pickle.dumps(inner * inner))
    assert again.left is again.right


def kernel_inside_itself():
    kernel = Scaled(SST, 0.5)
    kernel.kernel = Normalized(kernel)
    return kernel


@pytest.mark.parametrize(
    "use",
    [
        lambda kernel: kernel.gram(TREES),
        lambda kernel: kernel.dtype,
        lambda kernel: kernel.get_params(),
        lambda kernel: kernel.clone(),
        pickle.dumps,
    ],
    ids=["gram", "dtype", "get_params", "clone", "pickle"],
)
def test_a_kernel_inside_itself_is_an_error(use, monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.combined._MOST_COPIES", 1_000)
    monkeypatch.setattr("kernelwood.parameters._MOST_CHARACTERS", 1_000)
    with pytest.raises(KernelInputError):
        use(kernel_inside_itself())


def test_a_view_of_a_view_is_refused():
    kernel = functools.reduce(lambda k, _: OnView("tree", k), range(N_DEEP), SST)
    with pytest.raises(KernelInputError, match="do not nest OnView"):
        kernel.gram([])


# Bounds of normalized values.


def bit_noise(n=60):
    """Return trees that are equal or nearly so, whose normalized values round to above 1."""
    return [tree for tree in sample(SST, n // 3, seed=3) for _ in range(3)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "inner",
    [RAW_SST + RAW_PTK, RAW_SST * RAW_PTK**2, 0.1 * RAW_SST, 0.1 * (RAW_PTK + 0.7 * RAW_SST)],
    ids=repr,
)
def test_normalized_combinations_are_at_most_1(inner, dtype):
    kernel, trees = Normalized(inner), bit_noise()
    for values in (kernel.gram(trees, dtype=dtype), kernel.cross(trees, trees[::-1], dtype=dtype)):
        assert values.min() >= 0 and values.max() == 1
    assert max(kernel.reference(tree, tree) for tree in trees) <= 1


@pytest.mark.parametrize("kind", ["linear", "polynomial", "cosine"])
def test_normalized_kernels_of_vectors_are_from_minus_1_to_1(kind):
    generator = np.random.default_rng(2)
    rows = generator.normal(size=(40, 3)) * 10.0 ** generator.integers(-9, 9, size=(40, 1))
    kernel = Normalized(0.3 * kw.VectorKernel(kind, degree=3, gamma=0.7, coef0=0.0))
    values = kernel.cross(rows, np.concatenate([rows, -rows]))
    assert values.min() == -1 and values.max() == 1
    assert kernel.reference(rows[0], -rows[0]) >= -1


def test_a_kernel_that_is_not_known_to_be_definite_keeps_its_values():
    class Indefinite(kw.Kernel):
        accepts = kw.arrays.TreeBatch

        def reference(self, a, b):
            return 1.0 if a == b else 3.0

    kernel = Normalized(Indefinite())
    assert kernel.value(*TREES[:2]) == kernel.reference(*TREES[:2]) == 3


@pytest.mark.parametrize("value", ["3", None, float("nan"), 1j, np.ones(2)])
def test_values_of_a_kernel_of_your_own_must_be_finite_numbers(value):
    class Odd(SameRootKernel):
        def reference(self, a, b):
            return value

    with pytest.raises(KernelInputError, match=r"Odd.reference gave .* must be finite numbers"):
        Odd().gram(TREES[:2])


def test_a_kernel_of_your_own_says_what_it_compares():
    class Undeclared(kw.Kernel):
        def reference(self, a, b):
            return 1.0

    with pytest.raises(KernelInputError, match="Undeclared does not define accepts"):
        Undeclared().gram(TREES[:2])
