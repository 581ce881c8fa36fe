"""What holds for every index: structures come and go, and are found."""

from __future__ import annotations

import numpy as np
import pytest
from features.indexes import (
    KERNEL,
    QUERIES,
    TREES,
    embedding_index,
    hash_index,
    nearest_by_definition,
    pairs,
)
from hypothesis import given, settings, strategies as st

import kernelwood as kw

# Few bits and dimensions, so that there are ties; and what tests of one index use elsewhere.
INDEXES = {
    "codes": hash_index,
    "codes, 5 bits": lambda: hash_index(n_bits=5),
    "vectors": embedding_index,
    "vectors, 3 dimensions": lambda: embedding_index(n_components=3),
}
every_index = pytest.mark.parametrize("make", INDEXES.values(), ids=INDEXES)


@every_index
def test_re_ranking_everything_is_an_exact_search(make):
    ids, similarities = make().fit(TREES).search(QUERIES, 8, n_rerank=10**6)
    expected = KERNEL.neighbors(QUERIES, TREES, 8)
    assert (ids == expected[0]).all() and (similarities == expected[1]).all()


@every_index
def test_added_structures_are_found(make):
    made = make().fit(TREES[:50])
    assert made.add(TREES[50:90]).tolist() == list(range(50, 90))
    assert made.add(kw.batch(TREES[90:])).tolist() == list(range(90, 120))
    assert len(made) == 120
    assert [str(tree) for tree in made.structures_] == [str(tree) for tree in TREES]
    assert pairs(made.search(QUERIES, 9)) == nearest_by_definition(made, QUERIES, 9)
    ids, similarities = made.search(QUERIES, 9, n_rerank=120)
    expected = KERNEL.neighbors(QUERIES, TREES, 9)
    assert (ids == expected[0]).all() and (similarities == expected[1]).all()


@every_index
@pytest.mark.parametrize("removed", [[5], [0, 119], list(range(0, 120, 3)), list(range(100))])
def test_removed_structures_are_not_found(make, removed):
    made = make().fit(TREES)
    made.remove(removed)
    kept = [i for i in range(120) if i not in removed]
    found = pairs(made.search(QUERIES, 10))
    reranked, _ = made.search(QUERIES, 10, n_rerank=len(kept))
    expected, _ = KERNEL.neighbors(QUERIES, [TREES[i] for i in kept], 10)
    assert made.ids_.tolist() == kept and len(made) == len(kept)
    assert found == nearest_by_definition(made, QUERIES, 10)
    assert (reranked == np.array(kept)[expected]).all()


@every_index
@given(st.data())
@settings(max_examples=25)
def test_any_sequence_of_additions_and_removals(make, data):
    made = make().fit(TREES[:30])
    kept = dict(enumerate(TREES[:30]))
    for _ in range(data.draw(st.integers(1, 5))):
        if data.draw(st.booleans()):
            new = data.draw(st.lists(st.sampled_from(TREES), min_size=1, max_size=8))
            kept.update(zip(made.add(new).tolist(), new, strict=True))
        elif kept:
            gone = data.draw(st.lists(st.sampled_from(sorted(kept)), max_size=12))
            made.remove(gone)
            for i in set(gone):
                del kept[i]
    assert len(made) == len(kept)
    if kept:
        ids, similarities = made.search(QUERIES[:3], len(kept), n_rerank=len(kept))
        found = dict(zip(ids[0].tolist(), similarities[0].tolist(), strict=True))
        values = KERNEL.cross(list(kept.values()), QUERIES[:1])[:, 0].tolist()
        assert found == dict(zip(kept, values, strict=True))
    assert made.ids_.tolist() == sorted(kept)
    assert [str(tree) for tree in made.structures_] == [str(kept[i]) for i in sorted(kept)]


@every_index
def test_removal_with_few_results_at_once(make, monkeypatch):
    made = make().fit(TREES)
    monkeypatch.setattr("kernelwood.features.collection._FOUND_AT_ONCE", 20)
    made.remove([3, 8, 11])
    found = pairs(made.search(QUERIES, 7))
    assert found == nearest_by_definition(made, QUERIES, 7)


@every_index
def test_an_empty_index_can_be_filled_again(make):
    made = make().fit(TREES)
    made.remove(made.ids_)
    assert len(made) == 0 and made
    with pytest.raises(kw.errors.KernelInputError, match="k must be an int from 1 to 0"):
        made.search(QUERIES, 1)
    assert made.add(TREES[:1]).tolist() == [120]
    assert made.search(QUERIES, 1)[0].tolist() == [[120]] * 20


@every_index
def test_ids_that_are_not_there_are_named(make):
    made = make().fit(TREES)
    made.remove([2])
    for ids in ([2], [120], [-1]):
        with pytest.raises(kw.errors.KernelInputError, match=rf"no structure with the id {ids[0]}"):
            made.remove(ids)
