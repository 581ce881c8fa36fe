"""Similarities computed on executors have the bits of those computed without."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cases import KERNELS, MATCHABLE, MATCHINGS, every_dtype, every_engine, every_variant, sample
from executors import Refusing, SeparateWorkers, processes  # noqa: F401
from scipy.sparse import random as random_sparse
from strategies import sample_sequences, sample_trees

import kernelwood as kw
from kernelwood.errors import KernelInputError, KernelOverflowError
from kernelwood.kernels import on_executor

pytestmark = pytest.mark.usefixtures("force_executor")

N = 270  # more than a window of 256: a Gram matrix has three tiles


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


def compute(kernel, X, dtype="float64"):
    return [
        kernel.gram(X, dtype=dtype),
        kernel.cross(X[:90], X[30:], dtype=dtype),
        kernel.cross(X[30:], X[:90], dtype=dtype),
        *kernel.neighbors(X[:40], X, 7, dtype=dtype),
        *kernel.neighbors(X, X, 3, exclude_self=True, dtype=dtype),
    ]


def check(executor, kernel, X, dtype="float64"):
    X = kernel._batch(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of structures with self-similarity 0
        expected = compute(kernel, X, dtype)
        with kw.config_context(executor=executor):
            found = compute(kernel, X, dtype)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


@every_variant
def test_every_variant_has_the_same_bits(kernel, threads):
    check(threads, kernel, sample(kernel, N))


@every_engine
def test_every_engine_has_the_same_bits_in_single_precision(kernel, threads):
    check(threads, kernel, sample(kernel, N), "float32")


@pytest.mark.parametrize("name", KERNELS)
def test_workers_that_share_no_memory_give_the_same_bits(name):
    kernel = KERNELS[name](**(MATCHINGS["few"] if name in MATCHABLE else {}))
    check(SeparateWorkers(2), kernel, sample(kernel, N))


def examples(n=N):
    return [
        kw.Example(str(i), views={"tree": tree, "words": words, "text": "unread" * 50})
        for i, (tree, words) in enumerate(zip(sample_trees(n), sample_sequences(n), strict=True))
    ]


RAW = kw.SubsetTreeKernel(normalize=False)
WORDS = kw.SubsequenceKernel(normalize=False, **MATCHINGS["gates"])
COMBINED = {
    "normalized": (kw.Normalized(RAW + RAW**2), lambda: sample_trees(N)),
    "views": (
        kw.Normalized(kw.OnView("tree", RAW) + 0.5 * kw.OnView("words", WORDS) ** 2),
        examples,
    ),
    "product": (kw.SubtreeKernel() * kw.PartialTreeKernel(), lambda: sample_trees(N)),
}


@every_dtype
@pytest.mark.parametrize("which", COMBINED)
def test_combined_kernels_have_the_same_bits(which, dtype, threads):
    kernel, make = COMBINED[which]
    check(threads, kernel, make(), dtype)


@pytest.mark.parametrize("kind", ["linear", "polynomial", "rbf", "cosine"])
@pytest.mark.parametrize("dense", [True, False])
def test_kernels_of_vectors_have_the_same_bits(kind, dense, threads):
    rows = np.random.default_rng(0).normal(size=(N, 20))
    X = rows if dense else random_sparse(N, 50, 0.1, "csr", random_state=0)
    check(threads, kw.VectorKernel(kind), X)


class SharedLabels(kw.Kernel):
    """Compares in Python, as users may write it."""

    accepts = kw.arrays.SequenceBatch

    def reference(self, a, b):
        return float(len(set(a.nodes) & set(b.nodes)) + 0.1 * len(a.nodes))


def test_kernels_in_python_have_the_same_bits(threads):
    check(threads, SharedLabels(), sample_sequences(N))


@pytest.mark.parametrize("kernel", [kw.SubsequenceKernel(), kw.SubtreeKernel()], ids=repr)
def test_processes_give_the_same_bits(kernel, processes):  # noqa: F811
    check(processes, kernel, sample(kernel, N))


def test_combined_kernels_have_the_same_bits_in_processes(processes):  # noqa: F811
    check(processes, *(COMBINED["views"][0], examples()), "float32")


@pytest.mark.parametrize(("tasks", "block"), [(1, 10**7), (3, 10**4), (40, 100)])
def test_no_bit_depends_on_the_size_of_tasks(tasks, block, threads, monkeypatch):
    monkeypatch.setattr(on_executor, "TASKS_A_WORKER", tasks)
    monkeypatch.setattr(on_executor, "_LARGEST_BLOCK", block)
    check(threads, kw.SubsequenceKernel(max_length=3), sample_sequences(N))


def test_of_equally_similar_structures_the_first_are_neighbors(threads):
    words = [kw.Sequence(["a", "bc"[i % 2]]) for i in range(200)]
    with kw.config_context(executor=threads):
        indices, values = kw.SubsequenceKernel().neighbors(words[:3], words, 5)
    assert indices.tolist() == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9], [0, 2, 4, 6, 8]]
    assert values == pytest.approx(1)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_structures(n, threads):
    words = sample_sequences(n)
    with kw.config_context(executor=threads):
        assert kw.SubsequenceKernel().gram(words).shape == (n, n)
        assert kw.SubsequenceKernel().cross(words, words[:1]).shape == (n, min(n, 1))
        if n:
            assert kw.SubsequenceKernel().neighbors(words, words, n)[0].shape == (n, n)


def test_results_are_written_into_memory_maps(threads, tmp_path):
    kernel, X = kw.SubtreeKernel(), sample_trees(N)
    out = np.lib.format.open_memmap(tmp_path / "gram.npy", "w+", "float64", (N, N))
    with kw.config_context(executor=threads, memory=1000):  # which out= does not count for
        assert kernel.gram(X, out=out) is out
    np.testing.assert_array_equal(np.load(tmp_path / "gram.npy"), kernel.gram(X))


# Counters, progress, warnings, errors.


def test_kernel_evaluations_are_counted(threads):
    kernel, X = kw.SubtreeKernel() + kw.SubsetTreeKernel(), sample_trees(N)
    counts = []
    for executor in (None, threads, SeparateWorkers(2)):
        with kw.config_context(executor=executor), kw.compute.counting() as counters:
            compute(kernel, X)
        counts.append(counters.kernel_evaluations)
        assert counters.blocks > 0 and counters.seconds > 0
    assert counts[0] == counts[1] == counts[2]


def test_progress_rises_and_ends_at_the_total(threads):
    seen = []
    with kw.config_context(executor=threads):
        kw.SubtreeKernel().gram(sample_trees(N), progress=lambda *now: seen.append(now))
    assert len(seen) >= 3 and seen == sorted(seen)
    assert seen[-1] == (N * (N + 1) // 2,) * 2


def zero_warnings(executor, work):
    with warnings.catch_warnings(record=True) as caught, kw.config_context(executor=executor):
        warnings.simplefilter("always")
        work()
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("workers", ["threads", "separate"])
def test_structures_without_anything_to_count_are_counted_once(workers, threads):
    executor = threads if workers == "threads" else SeparateWorkers(2)
    X = [kw.Sequence(["a"] * (i % 4)) for i in range(N)]
    kernel = kw.SubsequenceKernel() + kw.SubsequenceKernel(max_length=2)
    for work in (lambda: kernel.gram(X), lambda: kw.SubsequenceKernel().gram(X)):
        assert zero_warnings(executor, work) == zero_warnings(None, work) != []
    found = zero_warnings(executor, lambda: kw.SubsequenceKernel().cross(X, X[:8]))
    assert [text.split()[1] for text in found] == ["68", "2"]


@pytest.mark.parametrize("workers", ["threads", "processes"])
def test_errors_are_those_without_an_executor(workers, request):
    bush = "x"
    for _ in range(11):
        bush = f"(A {bush} {bush})"
    trees = [kw.Tree.from_brackets(f"(S {bush} y)")] * 3
    executor = request.getfixturevalue(workers)
    with kw.config_context(executor=executor), pytest.raises(KernelOverflowError, match="exceeds"):
        kw.SubsetTreeKernel(decay=1.0, normalize=False).cross(trees, trees)


def test_input_is_checked_before_it_is_sent():
    with kw.config_context(executor=Refusing()), pytest.raises(KernelInputError, match="decay"):
        kw.SubsequenceKernel(decay=7).gram(sample_sequences(9))


# What is sent.


def test_structures_are_sent_to_each_worker_once():
    X = kw.batch(sample_trees(1000))
    size = sum(array.nbytes for part in X.parts for array in (part.offsets, *part.arrays))
    workers = SeparateWorkers(2)
    with kw.config_context(executor=workers):
        kw.SubtreeKernel().gram(X)
    assert workers.n_with_data == 2 and 2 * size < sum(workers.sent) < 2.5 * size


def test_the_longer_side_is_sent_once_in_all():
    X = kw.batch(sample_trees(1000))
    size = sum(array.nbytes for part in X.parts for array in (part.offsets, *part.arrays))
    for work in (
        lambda: kw.SubtreeKernel().cross(X, X[:10]),
        lambda: kw.SubtreeKernel().cross(X[:10], X),
        lambda: kw.SubtreeKernel().neighbors(X[:10], X, 3),
    ):
        workers = SeparateWorkers(2)
        with kw.config_context(executor=workers):
            work()
        assert size < sum(workers.sent) < 1.5 * size


def test_views_that_the_kernel_does_not_read_are_not_sent():
    workers = SeparateWorkers(2)
    with kw.config_context(executor=workers):
        kw.OnView("words", kw.SubsequenceKernel()).gram(examples())
    assert sum(workers.sent) < 2 * N * 200  # "unread" alone takes 300 bytes


# Other executors.


@pytest.mark.slow
def test_loky_gives_the_same_bits():
    from joblib.externals.loky import ProcessPoolExecutor

    with ProcessPoolExecutor(2) as pool:
        for kernel in (kw.SubsequenceKernel(**MATCHINGS["few"]), SharedLabels()):
            check(pool, kernel, sample_sequences(N))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster
def test_dask_gives_the_same_bits():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
    ) as client:
        executor = client.get_executor(pure=False)
        with kw.config_context(executor=executor):
            assert kw.compute.count_workers() == 2
        check(executor, kw.SubsequenceKernel(**MATCHINGS["few"]), sample_sequences(N))
        check(executor, *COMBINED["views"][:1], examples())
