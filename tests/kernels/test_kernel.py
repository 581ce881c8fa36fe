"""Results: where they go, how large they may be, who is told about progress."""

from functools import partial

import numpy as np
import pytest
from cases import sample
from work import count_calls

import kernelwood as kw
from kernelwood.errors import KernelInputError, MemoryBudgetError
from kernelwood.kernels import PartialTreeKernel, SubsequenceKernel, SubsetTreeKernel
from kernelwood.structures import Sequence, Tree

KERNEL = SubsetTreeKernel()
TREES = sample(KERNEL, 30)


# out=


def test_out_is_filled_and_returned():
    out = np.full((30, 30), np.nan)
    assert KERNEL.gram(TREES, out=out) is out
    np.testing.assert_array_equal(out, KERNEL.gram(TREES))


def test_a_cross_is_written_into_out():
    out = np.full((10, 30), np.nan, dtype=np.float32)
    assert KERNEL.cross(TREES[:10], TREES, out=out) is out
    np.testing.assert_array_equal(out, KERNEL.cross(TREES[:10], TREES, dtype="float32"))


@pytest.mark.parametrize("tile", [8192, 128])
def test_a_memory_map_is_filled(tmp_path, tile, monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.kernel.TILE", tile)
    trees = kw.batch(sample(KERNEL, 200))
    out = np.memmap(tmp_path / "gram.bin", dtype=np.float32, mode="w+", shape=(200, 200))
    KERNEL.gram(trees, out=out)
    out.flush()
    written = np.fromfile(tmp_path / "gram.bin", dtype=np.float32).reshape(200, 200)
    np.testing.assert_array_equal(written, KERNEL.gram(trees, dtype="float32"))


@pytest.mark.parametrize(
    ("out", "complaint"),
    [
        (np.empty((29, 30)), r"shape \(30, 30\).*got \(29, 30\)"),
        (np.empty((30, 30, 1)), r"shape \(30, 30\)"),
        (np.empty(900), r"shape \(30, 30\)"),
        (np.empty((30, 30), dtype=int), "dtype"),
        (np.empty((30, 30), order="F"), "C-ordered"),
        (np.empty((60, 60))[::2, ::2], "C-ordered"),
        ([[0.0] * 30] * 30, "out"),
    ],
)
def test_a_bad_out_is_refused(out, complaint):
    with pytest.raises(KernelInputError, match=complaint):
        KERNEL.gram(TREES, out=out)


def test_a_read_only_out_is_refused():
    out = np.empty((30, 30))
    out.flags.writeable = False
    with pytest.raises(KernelInputError, match="writeable"):
        KERNEL.gram(TREES, out=out)


def test_an_out_of_another_type_than_asked_is_refused():
    with pytest.raises(KernelInputError, match=r"float64.*got.*float32"):
        KERNEL.gram(TREES, dtype="float64", out=np.empty((30, 30), dtype=np.float32))


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32")])
def test_dtypes_come_in_any_spelling(dtype):
    assert SubsetTreeKernel(dtype=dtype).gram(TREES).dtype == np.float32


def test_results_are_c_ordered():
    assert KERNEL.gram(TREES).flags.c_contiguous and KERNEL.cross(TREES, TREES).flags.c_contiguous


# Memory.


def test_a_gram_beyond_the_budget_is_refused_with_size_and_remedies():
    with (
        kw.config_context(memory="1MB"),
        pytest.raises(MemoryBudgetError) as caught,
    ):
        KERNEL.gram(kw.batch(TREES * 20))
    message = str(caught.value)
    for part in ("600", "2.9 MB", "1.0 MB", "neighbors", "float32", "memmap", "config_context"):
        assert part in message


def test_the_remedy_of_a_budget_error_is_large_enough():
    with kw.config_context(memory="1MB"), pytest.raises(MemoryBudgetError) as caught:
        KERNEL.gram(kw.batch(TREES * 20))
    remedy = str(caught.value).partition("memory='")[2].partition("'")[0]
    with kw.config_context(memory=remedy):
        KERNEL.gram(kw.batch(TREES * 20))


def test_a_cross_beyond_the_budget_is_refused():
    with kw.config_context(memory="1MB"), pytest.raises(MemoryBudgetError, match="600 by 300"):
        KERNEL.cross(kw.batch(TREES * 20), kw.batch(TREES * 10))


def test_a_budget_counts_the_number_type():
    with kw.config_context(memory=600 * 600 * 4):
        KERNEL.gram(kw.batch(TREES * 20), dtype="float32")
        with pytest.raises(MemoryBudgetError):
            KERNEL.gram(kw.batch(TREES * 20))


def test_out_is_not_held_to_the_budget():
    with kw.config_context(memory="1kB"):
        KERNEL.gram(TREES, out=np.empty((30, 30)))


def test_neighbors_work_within_a_budget_too_small_for_a_gram():
    trees = kw.batch(TREES * 20)
    with kw.config_context(memory="1MB"):
        indices, _ = KERNEL.neighbors(trees, trees, 3)
    assert indices.shape == (600, 3)


def test_structures_too_large_for_the_budget_are_refused():
    # Every child resembles every other and is needed until the root is done.
    tree = Tree("r", [Tree("n", [Tree("x"), Tree(str(i))]) for i in range(6000)])
    with (
        kw.config_context(memory="1MB"),
        pytest.raises(MemoryBudgetError, match=r"(?s)largest structures.*config_context"),
    ):
        PartialTreeKernel().value(tree, tree)


# Progress and counters.


def record():
    calls = []
    return calls, lambda done, total: calls.append((done, total))


VERBS = {
    "gram": lambda k, X, **o: k.gram(X, **o),
    "cross": lambda k, X, **o: k.cross(X, X[:40], **o),
    "neighbors": lambda k, X, **o: k.neighbors(X, X, 2, **o),
}
COMPOSED = [
    KERNEL,
    KERNEL + PartialTreeKernel(),
    2 * KERNEL * KERNEL,
    kw.Normalized(SubsetTreeKernel(normalize=False) + PartialTreeKernel(normalize=False)),
    SubsetTreeKernel(decay=1.0),
]


def assert_orderly(calls, total):
    assert calls[-1] == (total, total)
    done = [d for d, _ in calls]
    assert done == sorted(done) and {t for _, t in calls} == {total}


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("kernel", COMPOSED, ids=repr)
@pytest.mark.parametrize(("verb", "total"), [("gram", 5050), ("cross", 4000), ("neighbors", 10000)])
def test_progress_rises_to_the_total(kernel, verb, total, threads, request):
    if threads:
        request.getfixturevalue("force_threads")
    calls, progress = record()
    with kw.config_context(n_jobs=3 if threads else 1):
        VERBS[verb](kernel, kw.batch(sample(KERNEL, 100)), progress=progress)
    assert_orderly(calls, total)


@pytest.mark.parametrize("kernel", COMPOSED, ids=repr)
@pytest.mark.parametrize(("verb", "total"), [("gram", 5151), ("cross", 4040), ("neighbors", 10201)])
def test_progress_of_the_settings_rises_to_the_total(kernel, verb, total):
    calls, progress = record()
    huge = Tree("S", [Tree("A", [Tree("x")])] * 1500)
    with kw.config_context(progress=progress):
        VERBS[verb](kernel, kw.batch([huge, *sample(KERNEL, 100)]))
    assert_orderly(calls, total)


def test_progress_of_pairs_rises_to_the_total():
    calls, progress = record()
    with kw.config_context(progress=progress):
        KERNEL.pairs(TREES, TREES)
    assert_orderly(calls, 30)


def test_progress_with_tiles_rises_to_the_total(monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.kernel.TILE", 128)
    calls, progress = record()
    KERNEL.gram(kw.batch(sample(KERNEL, 300)), progress=progress)
    assert len(calls) >= 6
    assert_orderly(calls, 300 * 301 // 2)


def test_an_error_in_a_progress_callback_comes_out(force_threads):
    def fail(done, total):
        raise LookupError("stop here")

    for n_jobs in (1, 2):
        with pytest.raises(LookupError, match="stop here"), kw.config_context(n_jobs=n_jobs):
            KERNEL.gram(TREES, progress=fail)


@pytest.mark.parametrize(
    ("verb", "evaluations"),
    [
        (lambda k, X: k.gram(X), 465),
        (lambda k, X: k.cross(X, X[:5]), 150),
        (lambda k, X: k.diag(X), 30),
        (lambda k, X: k.pairs(X, X), 30),
        (lambda k, X: k.neighbors(X, X[:6], 2), 180),
        (lambda k, X: k.value(X[0], X[1]), 1),
    ],
    ids=["gram", "cross", "diag", "pairs", "neighbors", "value"],
)
def test_evaluations_are_counted(verb, evaluations):
    with kw.compute.counting() as counters:
        verb(KERNEL, TREES)
    assert counters.kernel_evaluations == evaluations
    assert counters.seconds > 0


# Neighbors and pairs.


def test_neighbors_are_the_largest_of_the_cross():
    values = KERNEL.cross(TREES[10:], TREES[:10])
    indices, similarities = KERNEL.neighbors(TREES[:10], TREES[10:], 4)
    order = np.argsort(-values, axis=0, kind="stable")[:4]
    np.testing.assert_array_equal(indices, order.T)
    np.testing.assert_array_equal(similarities, np.take_along_axis(values, order, axis=0).T)


def test_ties_go_to_the_smaller_index():
    indices, similarities = KERNEL.neighbors(TREES[:1], [TREES[1], TREES[0], TREES[0]], 2)
    assert indices.tolist() == [[1, 2]] and similarities[0, 0] == similarities[0, 1]


def test_ties_across_blocks_go_to_the_smaller_index(monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.kernel._SEARCHED", 3)
    indices, _ = KERNEL.neighbors(TREES[:1], [TREES[0]] * 10, 10)
    assert indices.tolist() == [[*range(10)]]


def test_a_view_is_batched_once_for_all_blocks(monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.kernel._SEARCHED", 3)
    examples = kw.batch([kw.Example(str(i), views={"t": tree}) for i, tree in enumerate(TREES)])
    search = partial(kw.OnView("t", KERNEL).neighbors, examples, examples, 2)
    assert count_calls(search, kw.batch) == [1]


def test_neighbors_without_any_similarity_are_the_first():
    strangers = [Tree("q", [Tree(str(i))]) for i in range(5)]
    indices, similarities = KERNEL.neighbors(TREES[:2], strangers, 3)
    assert indices.tolist() == [[0, 1, 2]] * 2 and not similarities.any()


def test_a_structure_can_be_left_out_of_its_own_neighbors():
    indices, _ = KERNEL.neighbors(TREES, TREES, 29, exclude_self=True)
    assert all(i not in row for i, row in enumerate(indices.tolist()))
    assert all(len(set(row)) == 29 for row in indices.tolist())


def test_all_can_be_asked_for():
    indices, _ = KERNEL.neighbors(TREES[:3], TREES, 30)
    assert all(sorted(row) == [*range(30)] for row in indices.tolist())


@pytest.mark.parametrize("k", [0, -1, 31, 1.0, "3", None, True])
def test_a_bad_number_of_neighbors_is_named(k):
    with pytest.raises(KernelInputError, match=f"k must be an int from 1 to 30, got {k!r}"):
        KERNEL.neighbors(TREES, TREES, k)


def test_leaving_out_oneself_needs_the_same_structures():
    with pytest.raises(KernelInputError, match="exclude_self"):
        KERNEL.neighbors(TREES[:3], TREES, 2, exclude_self=True)


def test_pairs_of_different_lengths_are_refused():
    with pytest.raises(KernelInputError, match="30 and 3"):
        KERNEL.pairs(TREES, TREES[:3])


def test_the_zero_warning_names_the_count():
    with pytest.warns(RuntimeWarning, match=r"SubsequenceKernel: 2 structure\(s\)"):
        SubsequenceKernel().gram([Sequence([]), Sequence(["a"]), Sequence([])])


def test_a_cross_warns_of_zeros_once():
    with pytest.warns(RuntimeWarning) as caught:
        SubsequenceKernel().cross([Sequence([])], [Sequence(["a"])])
    assert len(caught) == 1
