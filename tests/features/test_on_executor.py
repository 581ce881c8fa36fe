"""Hashcodes, vectors, machines and gates computed on executors are those computed without."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from executors import SeparateWorkers
from strategies import sample_sequences, sample_trees

import kernelwood as kw
from kernelwood.features.rowwise import compare_rows

pytestmark = pytest.mark.usefixtures("force_executor")

TREES = sample_trees(120)


@pytest.fixture(scope="module", params=["threads", "separate"])
def executor(request):
    with ThreadPoolExecutor(2) if request.param == "threads" else SeparateWorkers(2) as pool:
        yield pool


def both(executor, compute):
    expected = compute()
    with kw.config_context(executor=executor):
        found = compute()
    return expected, found


@pytest.mark.parametrize("method", ["rmm", "rknn", "kulis"])
def test_hashcodes_are_the_same(method, executor):
    hasher = kw.KernelHasher(
        kw.SubtreeKernel(), method=method, n_references=20, n_bits=70, random_state=0
    )
    expected, found = both(executor, lambda: hasher.fit(TREES).codes(TREES))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(*both(executor, lambda: hasher.transform(TREES)))


def test_vectors_are_the_same(executor):
    embedder = kw.NystromEmbedder(kw.SubsetTreeKernel(), n_landmarks=15, random_state=0)
    expected, found = both(executor, lambda: embedder.fit(TREES).transform(TREES))
    np.testing.assert_array_equal(found, expected)


def test_references_are_sent_once_for_all_structures():
    workers = SeparateWorkers(2)
    hasher = kw.KernelHasher(kw.SubsequenceKernel(), n_references=5, n_bits=8, random_state=0)
    words = kw.batch(sample_sequences(100) * 100)  # more than are compared at once in one process
    hasher.fit(words)
    with kw.config_context(executor=workers):
        codes = hasher.codes(words)
    assert workers.n_with_data == 2
    np.testing.assert_array_equal(codes, hasher.codes(words))


def test_rows_at_once_can_be_chosen(executor):
    kernel, X = kw.SubtreeKernel(), kw.batch(TREES)
    with kw.config_context(executor=executor):
        slices = [some for some, _ in compare_rows(kernel, X, X[:5], n_rows=50)]
    assert [(some.start, some.stop) for some in slices] == [(0, 50), (50, 100), (100, 120)]


def test_machines_on_a_matrix_in_a_file_are_the_same(executor, tmp_path):
    labels = np.arange(120) % 3

    def scores():
        machine = kw.KernelSVC(kw.SubtreeKernel()).fit(TREES, labels)
        return machine.decision_function(TREES[:9])

    expected = scores()
    with kw.config_context(executor=executor, memory=20_000, temp_dir=tmp_path):
        np.testing.assert_array_equal(scores(), expected)


@pytest.mark.parametrize("method", ["neighbors", "information"])
def test_gates_are_the_same(method, executor):
    paths = [kw.Sequence([("abc"[i % 3], "xyz"[i % 2]), ("d", str(i % 5))]) for i in range(40)]
    learner = kw.GateLearner(
        kw.SubsequenceKernel(), method=method, n_samples=20, n_steps=4, random_state=0,
        **({"n_references": 6, "n_bits": 8} if method == "information" else {}),
    )  # fmt: skip

    def learn():
        learner.fit(paths, [i % 2 for i in range(40)])
        return learner.gates_, learner.trace_

    expected, found = both(executor, learn)
    assert found == expected
