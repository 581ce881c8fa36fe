"""Searches while other threads add and remove: each finds what some state of the index holds."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from features.indexes import KERNEL, QUERIES, TREES, embedding_index, hash_index
from together import in_threads

import kernelwood as kw
from kernelwood.features import GrowingArray, IdTable
from kernelwood.features.collection import growing_batch
from kernelwood.persist import estimators

MAKE = {
    "codes": hash_index,
    "vectors": embedding_index,
    "examples": lambda: embedding_index(kernel=kw.OnView("tree", KERNEL)),
}
every_index = pytest.mark.parametrize("name", MAKE)


def structures(name, trees):
    if name != "examples":
        return trees
    return [kw.Example(str(n), views={"tree": tree}) for n, tree in enumerate(trees)]


def fitted(name, n=60):
    return MAKE[name]().fit(structures(name, TREES[:n]))


def found(index, name, n_rerank=None):
    ids, scores = index.search(structures(name, QUERIES[:3]), 5, n_rerank=n_rerank)
    return ids.tolist(), scores.tolist()


# Changes of an index: additions, marked removals, and removals that move the other rows.
CHANGES = {
    "add": lambda index, name: index.add(structures(name, TREES[60:])),
    "mark": lambda index, name: index.remove([1, 2]),
    "move": lambda index, name: index.remove(list(range(0, 60, 2))),
    "both": lambda index, name: (
        index.remove(list(range(0, 60, 2))),
        index.add(structures(name, TREES[60:])),
    ),
}
every_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


@every_index
@every_change
@pytest.mark.parametrize("n_rerank", [None, 20])
def test_a_change_during_a_search_has_no_effect_on_it(name, change, n_rerank, monkeypatch):
    index = fitted(name)
    expected = found(index, name, n_rerank)
    plain = type(index)._search_plain

    def changed_meanwhile(self, *arguments):
        result = plain(self, *arguments)
        monkeypatch.undo()
        change(index, name)
        return result

    monkeypatch.setattr(type(index), "_search_plain", changed_meanwhile)
    assert found(index, name, n_rerank) == expected
    assert found(index, name, n_rerank) != expected


@every_index
@every_change
def test_a_search_during_a_change_finds_what_was_there_before(name, change, monkeypatch):
    index = fitted(name)
    expected, seen = found(index, name, 20), []
    for method in ("append", "__init__"):
        monkeypatch.setattr(GrowingArray, method, _then_search(method, index, name, seen))
    change(index, name)
    monkeypatch.undo()
    assert all(one == expected for one in seen) and (seen or change is CHANGES["mark"])
    assert found(index, name, 20) != expected


def _then_search(method, index, name, seen):
    plain = getattr(GrowingArray, method)
    before = index._collection.rows

    def hooked(self, *arguments):
        plain(self, *arguments)
        if index._collection.rows is before:
            seen.append(found(index, name, 20))

    return hooked


@every_index
def test_an_addition_that_fails_changes_nothing(name, monkeypatch):
    index = fitted(name)
    expected, plain = found(index, name, 20), GrowingArray.append

    def failing(n):
        calls = iter(range(1, n))

        def append(self, rows):
            if next(calls, None) is None:
                raise MemoryError
            plain(self, rows)

        return append

    for n_calls in range(1, 20):
        monkeypatch.setattr(GrowingArray, "append", failing(n_calls))
        try:
            index.add(structures(name, TREES[60:70]))
        except MemoryError:
            assert found(index, name, 20) == expected and len(index) == 60
        else:
            break
        finally:
            monkeypatch.undo()
    assert n_calls > 2 and len(index) == 70
    other = fitted(name)
    other.add(structures(name, TREES[60:70]))
    assert found(index, name, 20) == found(other, name, 20)


@every_index
def test_threads_find_what_some_state_holds(name):
    def steps(index):
        for begin in range(60, 120, 10):
            index.add(structures(name, TREES[begin : begin + 10]))
            yield
            index.remove(list(range(begin - 60, begin - 52)))
            yield

    index = fitted(name)
    states = [found(index, name, 20), *(found(index, name, 20) for _ in steps(index))]
    shared, done = fitted(name), threading.Event()

    def work(number):
        if number == 0:
            try:
                for _ in steps(shared):
                    pass
            finally:
                done.set()
            return []
        seen = [found(shared, name, 20)]
        while not done.is_set():
            seen.append(found(shared, name, 20))
        return [*seen, found(shared, name, 20)]

    for seen in in_threads(work)[1:]:
        order = [states.index(one) for one in seen]  # fails unless it is one of the states
        assert order == sorted(order) and seen[-1] == states[-1]


@every_index
def test_additions_of_many_threads_get_their_own_ids(name):
    index = fitted(name)
    parts = in_threads(lambda n: index.add(structures(name, TREES[60 + n : 62 + n])).tolist())
    assert sorted(one for part in parts for one in part) == list(range(60, 60 + 32))
    trees = {i: TREES[60 + n + k] for n, part in enumerate(parts) for k, i in enumerate(part)}
    kept = list(index.structures_)
    for position, i in enumerate(index.ids_.tolist()[60:], start=60):
        tree = kept[position].view("tree") if name == "examples" else kept[position]
        assert tree == trees[i]
    in_threads(lambda n: index.remove(parts[n]))
    assert index.ids_.tolist() == list(range(60))


@every_index
def test_a_file_holds_one_state(name, tmp_path, monkeypatch):
    index = fitted(name)
    index.remove([3])
    expected = found(index, name, 20)
    plain = estimators._add

    def add_meanwhile(*arguments):
        plain(*arguments)
        if len(index) < 90:
            index.add(structures(name, TREES[60:70]))

    monkeypatch.setattr(estimators, "_add", add_meanwhile)
    kw.save(index, tmp_path / "index.kw")
    monkeypatch.undo()
    assert len(index) > 59
    assert found(kw.load(tmp_path / "index.kw"), name, 20) == expected


@every_index
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_are_independent(name, copied):
    index = fitted(name)
    index.add(structures(name, TREES[60:70]))
    index.remove([3])
    expected = found(index, name, 20)
    made = copied(index)
    index.remove(list(range(10, 50)))
    assert found(made, name, 20) == expected
    assert made.add(structures(name, TREES[70:72])).tolist() == [70, 71]
    assert len(made) == 71 and len(index) == 29


def test_a_copy_of_a_table_grows_alone():
    table = IdTable("word", {"size": np.array([3, 5])}, ids=np.array([0, 1]), next_id=2)
    table.append({"size": np.array([4])})
    made = copy.copy(table)
    assert made.append({"size": np.array([7])}).tolist() == [3]
    assert table.append({"size": np.array([8])}).tolist() == [3]
    assert made.attribute("size").tolist() == [3, 5, 4, 7]
    assert table.attribute("size").tolist() == [3, 5, 4, 8]


def test_examples_taken_before_do_not_change():
    examples = kw.batch(structures("examples", TREES[:3]))
    growing = growing_batch(examples, kw.OnView("tree", KERNEL))
    growing.append(kw.batch(structures("examples", TREES[3:5])))
    before = growing.batch
    growing.append(kw.batch(structures("examples", TREES[5:9])))
    assert before.all().ids == ["0", "1", "2", "0", "1"]
    assert [one.view("tree") for one in before.all()] == TREES[:5]


# Classification by neighbors.


@pytest.mark.parametrize("method", ["_buckets", "_search_codes"])
def test_a_change_during_a_prediction_has_no_effect_on_it(method, monkeypatch):
    labels = [str(n % 3) for n in range(120)]
    made = kw.HashNeighborsClassifier(KERNEL, n_references=20, n_candidates=30, random_state=0)
    made.fit(TREES[:60], labels[:60])
    plain = getattr(type(made), method)

    def changed_meanwhile(self, *arguments):
        result = plain(self, *arguments)
        self.remove(self.ids_[::2])
        self.add(TREES[60:90], labels[60:90])
        return result

    for ask in (type(made).predict_proba, type(made).kneighbors):
        expected = np.vstack(ask(made, QUERIES))
        monkeypatch.setattr(type(made), method, changed_meanwhile)
        assert (np.vstack(ask(made, QUERIES)) == expected).all()
        monkeypatch.undo()
        assert (np.vstack(ask(made, QUERIES)) != expected).any()


# faiss.


class StandIn:
    """As much of faiss as an index needs."""

    class IndexBinaryFlat:
        def __init__(self, n_bits):
            self.codes, self.ntotal = np.empty((0, n_bits // 8), dtype=np.uint8), 0

        def add(self, codes):
            self.codes = np.concatenate([self.codes, codes])
            self.ntotal = len(self.codes)

        def search(self, queries, k):
            bits = np.unpackbits(queries[:, None] ^ self.codes, axis=2).sum(axis=2)
            nearest = np.argsort(bits, axis=1, kind="stable")[:, :k]
            return np.take_along_axis(bits, nearest, axis=1).astype(np.int32), nearest

    @staticmethod
    def omp_set_num_threads(n):
        pass


def test_faiss_does_not_grow_while_it_is_searched(monkeypatch):
    monkeypatch.setattr("kernelwood.features.codes._import_faiss", lambda: StandIn)
    index = hash_index(backend="faiss").fit(TREES[:60])
    expected = found(index, "codes")
    plain, sizes = StandIn.IndexBinaryFlat.search, []

    def search(self, queries, k):
        before = self.ntotal
        if len(index) < 90:  # another thread adds and searches
            index.add(TREES[60:90])
            sizes.append(found(index, "codes"))
        assert self.ntotal == before
        return plain(self, queries, k)

    monkeypatch.setattr(StandIn.IndexBinaryFlat, "search", search)
    assert found(index, "codes") == expected
    assert sizes == [found(index, "codes")] and index._search._built.index.ntotal == 90
    index.remove(list(range(0, 60, 2)))
    plain_index = hash_index().fit(TREES[:60])
    plain_index.add(TREES[60:90])
    plain_index.remove(list(range(0, 60, 2)))
    assert found(index, "codes") == found(plain_index, "codes")
