"""Searches in a folder while other threads append to it."""

from __future__ import annotations

import threading

import pytest
import strategies
from together import in_threads

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.scale import index_folder
from kernelwood.scale.index_folder import IndexFolder

TREES = strategies.sample_trees(120, seed=1, max_nodes=15)
QUERIES = strategies.sample_trees(3, seed=2, max_nodes=15)
KERNEL = kw.SubsetTreeKernel(decay=0.5)
ENCODERS = {
    "codes": kw.KernelHasher(KERNEL, n_references=20, n_bits=100, random_state=0),
    "vectors": kw.NystromEmbedder(KERNEL, n_landmarks=20, random_state=0),
}
every_kind = pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)


def made(folder, encoder):
    index = IndexFolder.create(folder, encoder.fit(TREES))
    index.append(TREES[:40], names=[f"name {n}" for n in range(40)])
    return index


def append(index, begin, end):
    index.append(TREES[begin:end], names=[f"name {n}" for n in range(begin, end)])


def found(index):
    ids, scores = index.search(QUERIES, 5, n_rerank=30)
    return ids.tolist(), scores.tolist(), index.names(ids[0])


@every_kind
def test_threads_find_what_some_state_holds(encoder, tmp_path):
    index = made(tmp_path / "one", encoder)
    states = [found(index)]
    for begin in range(40, 120, 20):
        append(index, begin, begin + 20)
        states.append(found(index))
    shared, done = made(tmp_path / "other", encoder), threading.Event()

    def work(number):
        if number == 0:
            try:
                for begin in range(40, 120, 20):
                    append(shared, begin, begin + 20)
            finally:
                done.set()
            return []
        seen = [found(shared)]
        while not done.is_set():
            seen.append(found(shared))
        return [*seen, found(shared)]

    for seen in in_threads(work)[1:]:
        order = [states.index(one) for one in seen]
        assert order == sorted(order) and order[-1] == len(states) - 1


@every_kind
def test_an_addition_during_a_search_has_no_effect_on_it(encoder, tmp_path, monkeypatch):
    index = made(tmp_path / "index", encoder)
    expected = index.search(QUERIES, 50)
    plain = IndexFolder._nearest

    def added_meanwhile(self, *arguments):
        monkeypatch.undo()
        append(index, 40, 120)
        return plain(self, *arguments)

    monkeypatch.setattr(IndexFolder, "_nearest", added_meanwhile)
    for one, other in zip(index.search(QUERIES, 50), expected, strict=True):
        assert one.tolist() == other.tolist()
    assert index.search(QUERIES, 50)[0].shape == (3, 50)


@every_kind
def test_a_second_writer_is_refused_and_nothing_is_lost(encoder, tmp_path, monkeypatch):
    index = made(tmp_path / "index", encoder)
    plain, refused = index_folder.write_manifest, []

    def second_writer(*arguments):
        with pytest.raises(KernelInputError, match="is adding to"):
            append(index, 80, 120)
        refused.append(1)
        plain(*arguments)

    monkeypatch.setattr(index_folder, "write_manifest", second_writer)
    append(index, 40, 80)
    monkeypatch.undo()
    append(index, 80, 120)
    assert refused == [1] and index.names(range(120)) == [f"name {n}" for n in range(120)]
    index.verify()
