"""Candidates on which settings are tried."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwood.relations.learning import trial_rows


def drawn(documents, folds, negative, seed=0):
    return trial_rows(
        [str(one) for one in documents], np.asarray(folds), np.asarray(negative), seed
    )


def test_small_corpora_are_used_whole():
    rows = drawn(np.arange(900) // 9, np.arange(900) % 5, np.arange(900) % 3 > 0)
    assert rows.tolist() == list(range(900))


def test_large_corpora_give_whole_documents():
    documents = np.arange(40_000) // 10
    rows = drawn(documents, documents % 5, np.arange(40_000) % 10 > 0)
    assert 5000 <= len(rows) <= 5010
    assert set(np.unique(documents[rows], return_counts=True)[1]) == {10}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_documents", "every"), [(1, 10), (3, 10), (3, 40_000), (4000, 13_000)])
def test_large_documents_and_rare_relations_keep_the_trial_small(n_documents, every, seed):
    n = 40_000
    documents = np.arange(n) * n_documents // n
    folds = np.arange(n) % 5 if n_documents == 1 else documents % 5
    negative = np.arange(n) % every > 0
    rows = drawn(documents, folds, negative, seed)
    assert len(rows) <= 10_000
    assert (np.diff(rows) > 0).all()
    assert {False, True} == set(negative[rows].tolist())
    assert len(set(folds[rows].tolist())) > 1
