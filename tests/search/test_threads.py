"""Sentences found while other threads add, remove and fit again."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest
import strategies
from together import in_threads

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.persist import estimators
from kernelwood.search.sentence_index import _Records

TREES = strategies.sample_trees(120, seed=1, max_nodes=15)
QUERIES = strategies.sample_trees(3, seed=2, max_nodes=15)
KERNEL = kw.SubsetTreeKernel(decay=0.5)
by = pytest.mark.parametrize("by", ["vectors", "codes"])


def examples(begin, end):
    return [kw.Example(f"name {n}", views={"tree": TREES[n]}) for n in range(begin, end)]


def fitted(by, n=60):
    kernel = kw.OnView("tree", KERNEL)
    index = kw.SentenceIndex(kernel, by=by, n_landmarks=20, n_rerank=30, random_state=0)
    return index.fit(examples(0, n))


def found(index):
    queries = [kw.Example("query", views={"tree": tree}) for tree in QUERIES]
    return [[(one.id, one.similarity, one.name) for one in row] for row in index.search(queries, 5)]


CHANGES = {
    "add": lambda index: index.add(examples(60, 120)),
    "remove": lambda index: index.remove(list(range(0, 60, 2))),
    "read": lambda index: (index.remove([1]), index.index_.structures_),
    "refit": lambda index: (index.remove(list(range(0, 60, 2))), index.refit()),
}
every_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


@by
@every_change
def test_a_change_during_a_search_has_no_effect_on_it(by, change, monkeypatch):
    index = fitted(by)
    expected = found(index)
    kind = type(index.index_)
    plain = kind._search_rows

    def changed_meanwhile(self, *arguments):
        result = plain(self, *arguments)
        monkeypatch.undo()
        change(index)
        return result

    monkeypatch.setattr(kind, "_search_rows", changed_meanwhile)
    assert found(index) == expected
    again = found(index)
    assert {one[0] for row in again for one in row} <= set(index.ids_.tolist())
    assert all(name == f"name {i}" for row in again for i, _, name in row)


@by
@pytest.mark.parametrize("method", ["append", "remove", "_fill"])
def test_a_search_during_a_change_finds_what_was_there_before(by, method, monkeypatch):
    index = fitted(by)
    expected, seen = found(index), []
    plain = getattr(_Records, method)

    def searched_meanwhile(self, *arguments):
        seen.append(found(index))  # the inner index has changed, the records have not
        return plain(self, *arguments)

    monkeypatch.setattr(_Records, method, searched_meanwhile)
    index.add(examples(60, 120)) if method == "append" else index.remove(list(range(0, 60, 2)))
    assert seen and all(one == expected for one in seen)


@by
def test_threads_find_what_some_state_holds(by):
    def steps(index):
        for begin in range(60, 120, 20):
            index.add(examples(begin, begin + 20))
            yield
            index.remove(list(range(begin - 60, begin - 45)))
            yield
            index.refit()
            yield

    index = fitted(by)
    states = [found(index), *(found(index) for _ in steps(index))]
    shared, done = fitted(by), threading.Event()

    def work(number):
        if number == 0:
            try:
                for _ in steps(shared):
                    pass
            finally:
                done.set()
            return []
        seen = [found(shared)]
        while not done.is_set():
            seen.append(found(shared))
        return seen

    for seen in in_threads(work)[1:]:
        assert all(one in states for one in seen)
    assert found(shared) == states[-1]


@by
def test_changes_of_many_threads(by):
    index = fitted(by)

    def work(n):
        ids = index.add(examples(60 + 2 * n, 62 + 2 * n))
        index.remove(ids[:1])
        return int(ids[1])

    kept = in_threads(work)
    assert index.ids_.tolist() == [*range(60), *sorted(kept)]
    assert len(index) == len(index.index_) == 76
    names = dict(zip(index.ids_.tolist(), index.names_.tolist(), strict=True))
    assert [names[i] for i in kept] == [f"name {61 + 2 * n}" for n in range(16)]


@by
def test_an_addition_while_it_is_fitted_again_is_made_to_the_new_index(by, monkeypatch):
    index = fitted(by)
    kind = type(index.index_)
    plain = kind._stand_ins

    def refitted_meanwhile(self, X):
        monkeypatch.undo()
        made = plain(self, X)
        index.refit()
        return made

    monkeypatch.setattr(kind, "_stand_ins", refitted_meanwhile)
    index.add(examples(60, 70))
    other = fitted(by).refit()
    other.add(examples(60, 70))
    assert found(index) == found(other) and len(index) == len(index.index_) == 70


@by
def test_fitting_again_says_if_sentences_came_meanwhile(by, monkeypatch):
    index = fitted(by)
    plain = index._fit_index

    def added_meanwhile(structures):
        index.add(examples(60, 70))
        return plain(structures)

    monkeypatch.setattr(index, "_fit_index", added_meanwhile)
    with pytest.raises(KernelInputError, match="added or removed during refit; call it again"):
        index.refit()
    monkeypatch.undo()
    assert len(index) == len(index.refit().index_) == 70


@by
def test_a_file_and_a_copy_hold_one_state(by, tmp_path, monkeypatch):
    index = fitted(by)
    index.remove([3])
    expected = found(index)
    plain = estimators._add

    def add_meanwhile(*arguments):
        plain(*arguments)
        if len(index) < 100:
            index.add(examples(60, 70))

    monkeypatch.setattr(estimators, "_add", add_meanwhile)
    kw.save(index, tmp_path / "index.kw")
    monkeypatch.undo()
    assert len(index) > 59 and found(kw.load(tmp_path / "index.kw")) == expected
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        made, before = copied(index), found(index)
        index.remove(index.ids_[:5])
        assert found(made) == before


def test_rows_that_were_moved_are_not_kept_twice():
    index = fitted("vectors")
    index.remove([1])
    expected = found(index)
    index.index_.structures_  # noqa: B018 - moves the rows
    assert found(index) == expected
    assert index._state.rows is index.index_._collection.rows
