from __future__ import annotations

import copy
import pickle
import sys
import types

import numpy as np
import pytest
import strategies
from features.indexes import (
    KERNEL,
    QUERIES,
    TREES,
    hash_index as index,
    nearest_by_definition,
    pairs,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.features import GrowingArray, HashIndex, pack
from kernelwood.features.collection import growing_batch
from kernelwood.persist.estimators import estimator_state, restore_estimator

# Searching.


@pytest.mark.parametrize("n_bits", [5, 64, 100])
def test_the_nearest_codes_are_found_in_order(n_bits):
    made = index(n_bits=n_bits).fit(TREES)
    assert pairs(made.search(QUERIES, 15)) == nearest_by_definition(made, QUERIES, 15)


def test_re_ranking_orders_the_nearest_codes_by_similarity():
    made = index().fit(TREES)
    ids, similarities = made.search(QUERIES, 5, n_rerank=30)
    values = KERNEL.cross(TREES, QUERIES).T.tolist()
    for row, near in enumerate(nearest_by_definition(made, QUERIES, 30)):
        best = sorted((i for _, i in near), key=lambda i: (-values[row][i], i))[:5]
        assert ids[row].tolist() == best
        assert similarities[row].tolist() == [values[row][i] for i in best]


def test_the_parameter_is_overruled_by_the_argument():
    made = index(n_rerank=30).fit(TREES)
    assert made.search(QUERIES, 3)[1].dtype == np.float64
    assert made.search(QUERIES, 3, n_rerank=0)[1].dtype == np.int32


def test_a_search_costs_references_and_re_ranking():
    made = index().fit(TREES)
    with kw.compute.counting() as counters:
        made.search(QUERIES, 3)
        assert counters.kernel_evaluations == 20 * 20
        made.search(QUERIES, 3, n_rerank=30)
    assert counters.kernel_evaluations == 20 * (20 + 20 + 30)


def test_codes_can_be_searched_for():
    made = index().fit(TREES)
    assert pairs(made.search_codes(made.hasher_.codes(QUERIES), 4)) == pairs(
        made.search(QUERIES, 4)
    )


@pytest.mark.parametrize("n_rerank", [None, 30])
def test_results_do_not_depend_on_company_or_threads(n_rerank):
    made = index(n_rerank=n_rerank).fit(TREES)
    expected = pairs(made.search(QUERIES, 6))
    assert [pairs(made.search([query], 6))[0] for query in QUERIES] == expected
    threaded = clone(made).set_params(n_jobs=2).fit(kw.batch(TREES))
    assert pairs(threaded.search(kw.batch(QUERIES), 6)) == expected


# Coming and going.


def test_arrays_grow_without_a_copy_each_time():
    start = np.arange(3)
    numbers = GrowingArray(start)
    rooms = set()
    for i in range(3, 1000):
        before = numbers.rows
        numbers.append(np.array([i]))
        rooms.add(id(numbers._room))
        assert len(before) == i and not before.flags.writeable
    assert (numbers.rows == np.arange(1000)).all() and start.flags.writeable
    assert len(rooms) < 12


@pytest.mark.parametrize(
    ("structures", "kernel"),
    [
        (strategies.sample_sequences(20), kw.SubsequenceKernel()),
        (strategies.sample_forests(20), kw.ForestKernel()),
        (TREES[:20], KERNEL),
    ],
    ids=["sequences", "forests", "trees"],
)
def test_batches_grow_by_batches_with_other_vocabularies(structures, kernel):
    growing = growing_batch(kw.batch(structures[:5]), kernel)
    for begin in range(5, 20, 5):
        growing.append(kw.batch(structures[: begin + 5])[begin:])
    assert list(growing.batch) == structures
    assert (kernel.gram(growing.batch) == kernel.gram(structures)).all()


def test_examples_are_kept_with_the_views_that_are_read():
    questions = load_questions()
    kernel = kw.OnView("tree", kw.SubsetTreeKernel())
    made = index(kernel=kernel).fit(questions[:80])
    made.add(kw.batch(questions[80:]))
    trees = [question.view("tree") for question in questions]
    plain = index(kernel=kw.SubsetTreeKernel()).fit(trees[:80])
    plain.add(trees[80:])
    assert sorted(made.structures_[0].views) == ["tree"]
    for n_rerank in (0, 20):
        found = made.search(questions[:9], 4, n_rerank=n_rerank)
        assert pairs(found) == pairs(plain.search(trees[:9], 4, n_rerank=n_rerank))


# Parameters.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "lsh"}, "method must be one of"),
        ({"n_bits": 0}, "n_bits must be an int of at least 1"),
        ({"n_rerank": -1}, "n_rerank must be an int of at least 0 or None"),
        ({"backend": "hnsw"}, "backend must be one of"),
        ({"kernel": None}, "kernel must be a kernel"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        index(**parameters).fit(TREES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 121}, "k must be an int from 1 to 120"),
        ({"k": 0}, "k must be an int from 1 to 120"),
        ({"k": 5, "n_rerank": 4}, "n_rerank=4 is smaller than k=5"),
        ({"k": 5, "n_rerank": 7.0}, "n_rerank must be an int"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        index().fit(TREES).search(QUERIES, **arguments)


def test_what_is_not_fitted_says_so():
    for ask in (lambda i: i.search(QUERIES), lambda i: i.add(TREES), len, lambda i: i.remove([0])):
        with pytest.raises(NotFittedError, match="call fit"):
            ask(index())


# Copies and files.


def test_copies_are_independent():
    made = index().fit(TREES)
    expected = pairs(made.search(QUERIES, 5))
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert pairs(other.search(QUERIES, 5)) == expected
        other.remove(range(60))
    assert pairs(made.search(QUERIES, 5)) == expected


def restored(made, **changes):
    state = estimator_state(made)
    for name, value in changes.items():
        state.arrays.pop(name, None)
        state.parameters.pop(f"fitted-{name}", None)
        if isinstance(value, np.ndarray):
            state.arrays[name] = value
        else:
            state.parameters[f"fitted-{name}"] = value
    return restore_estimator(HashIndex, state)


def test_a_restored_index_finds_the_same_and_goes_on():
    made = index(n_rerank=20).fit(TREES[:100])
    made.add(TREES[100:])
    made.remove([0, 119])
    again = restored(made)
    assert pairs(again.search(QUERIES, 5)) == pairs(made.search(QUERIES, 5))
    assert again.add(TREES[:1]) == made.add(TREES[:1]) == 120
    again.remove([5])
    assert len(again) == 118


@pytest.mark.parametrize(
    "changes",
    [
        {"ids_": np.zeros(120, dtype=np.int64)},
        {"ids_": None},
        {"next_id_": 2**63},
        {"codes_": np.zeros((120, 1), dtype=np.uint64)},
        {"codes_": np.full((120, 2), 2**63, dtype=np.uint64)},
        {"codes_": "codes"},
        {"structures_": kw.batch(TREES[:3])},
        {"structures_": 3},
        {"hasher_": 3},
        {"seed_": "x"},
        {"kernel_": kw.SubsequenceKernel()},
        {"kernel_": None},
        {"hasher_": kw.KernelHasher(KERNEL, n_references=9, n_bits=99, random_state=0).fit(TREES)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_hostile_state_is_refused(changes):
    with pytest.raises(ValueError, match=r"must be|have bits set beyond"):
        restored(index().fit(TREES), **changes)


# The faiss backend.


def test_without_faiss_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(kw.errors.KernelInputError, match=r"pip install 'kernelwood\[faiss\]'"):
        index(backend="faiss").fit(TREES)


class FakeIndex:
    """What is used of faiss.IndexBinaryFlat, by a plain sort."""

    made = 0

    def __init__(self, n_bits):
        FakeIndex.made += 1
        self.codes = np.empty((0, n_bits // 8), dtype=np.uint8)
        self.use_heap = True

    @property
    def ntotal(self):
        return len(self.codes)

    def add(self, codes):
        self.codes = np.concatenate([self.codes, codes])

    def search(self, queries, k):
        assert not self.use_heap
        bits, asked = (np.unpackbits(codes, axis=1) for codes in (self.codes, queries))
        distances = (asked[:, None] != bits[None]).sum(axis=2).astype(np.int32)
        best = np.argsort(distances, axis=1, kind="stable")[:, :k].astype(np.int64)
        return np.take_along_axis(distances, best, axis=1), best


@pytest.fixture
def fake_faiss(monkeypatch):
    module = types.SimpleNamespace(IndexBinaryFlat=FakeIndex, omp_set_num_threads=lambda n: None)
    monkeypatch.setitem(sys.modules, "faiss", module)


def check_backends_agree():
    made, plain = index(n_bits=5, backend="faiss").fit(TREES[:80]), index(n_bits=5).fit(TREES[:80])
    for step in range(4):
        for each in (made, plain):
            each.add(TREES[80 + 10 * step : 90 + 10 * step])
            each.remove(range(8 * step, 8 * step + 3))
        for n_rerank in (0, 30):
            found = pairs(made.search(QUERIES, 12, n_rerank=n_rerank))
            assert found == pairs(plain.search(QUERIES, 12, n_rerank=n_rerank))
    again = copy.deepcopy(made)
    assert pairs(again.search(QUERIES, 12)) == pairs(plain.search(QUERIES, 12))
    assert pairs(restored(made).search(QUERIES, 12)) == pairs(plain.search(QUERIES, 12))


def test_backends_agree_with_a_stand_in(fake_faiss):
    check_backends_agree()


def test_backends_agree():
    pytest.importorskip("faiss")
    check_backends_agree()


def test_faiss_orders_many_equal_distances_by_id():
    faiss = pytest.importorskip("faiss")
    random = np.random.default_rng(0)
    codes = pack(random.integers(0, 2, size=(3000, 6)))
    from kernelwood.features.codes import CodeSearch, FaissSearch

    expected, found = (s().finder(codes, 0)(codes[:50], 700) for s in (CodeSearch, FaissSearch))
    assert faiss and (expected[0] == found[0]).all() and (expected[1] == found[1]).all()


def test_additions_extend_the_index_of_faiss(fake_faiss):
    made = index(backend="faiss").fit(TREES[:80])
    made.search(QUERIES, 3)
    before = FakeIndex.made
    made.add(TREES[80:])
    made.remove([0])
    made.search(QUERIES, 3)
    assert FakeIndex.made == before
