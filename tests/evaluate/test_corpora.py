"""Learning from one corpus and testing on another."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import kernelwood as kw
from kernelwood import evaluate
from kernelwood.errors import KernelInputError
from kernelwood.evaluate.corpora import join_structures

CORPORA = {"A": (["a1", "a2"], [0, 1]), "B": (["b1"], [1]), "C": (["c1"], [0])}


def test_pairs_are_all_ordered_pairs():
    names = [(split.train, split.test) for split in evaluate.cross_corpus(CORPORA)]
    assert names == [
        (("A",), "B"),
        (("A",), "C"),
        (("B",), "A"),
        (("B",), "C"),
        (("C",), "A"),
        (("C",), "B"),
    ]


def test_leaving_one_out_learns_from_all_others():
    splits = evaluate.cross_corpus(CORPORA, scheme="leave_one_out")
    assert [split.data for split in splits] == [
        (["b1", "c1"], [1, 0], ["a1", "a2"], [0, 1]),
        (["a1", "a2", "c1"], [0, 1, 0], ["b1"], [1]),
        (["a1", "a2", "b1"], [0, 1, 1], ["c1"], [0]),
    ]


def test_a_pair_has_the_data_of_its_corpora():
    split = next(evaluate.cross_corpus(CORPORA))
    assert split.data == (["a1", "a2"], [0, 1], ["b1"], [1])
    assert repr(split) == "<CorpusSplit: A → B, 2 and 1 examples>"


def test_batches_are_joined_in_one_vocabulary():
    words = [[kw.Sequence(["a", "b"])], [kw.Sequence(["b", "c"]), kw.Sequence(["d"])]]
    joined = join_structures([kw.batch(part) for part in words])
    assert list(joined) == [*words[0], *words[1]]


@pytest.mark.parametrize("make", [np.array, sparse.csr_matrix], ids=["dense", "sparse"])
def test_arrays_are_joined_by_rows(make):
    joined = join_structures([make([[1, 2]]), make([[3, 4], [5, 6]])])
    assert (joined.toarray() if sparse.issparse(joined) else joined).tolist() == [
        [1, 2],
        [3, 4],
        [5, 6],
    ]


def test_labels_come_from_examples_if_there_are_none():
    corpora = {name: ([kw.Example("1", label=name)], None) for name in "AB"}
    assert [split.y_test for split in evaluate.cross_corpus(corpora)] == [["B"], ["A"]]


@pytest.mark.parametrize(
    ("corpora", "message"),
    [
        ({"A": (["a"], [0])}, "needs two corpora or more"),
        ([1, 2], "needs two corpora or more"),
        (
            {"A": (["a"], [0]), "B": (["b"], [0, 1])},
            "y of corpus 'B' has 2 labels, but X of corpus",
        ),
        ({"A": (["a"], [0]), "B": ["b"]}, r"corpus 'B' must be a pair \(X, y\)"),
        ({"A": (["a"], [0]), "B": ([], [])}, "X of corpus 'B' is empty"),
    ],
)
def test_corpora_that_do_not_do_are_named_at_once(corpora, message):
    with pytest.raises(KernelInputError, match=message):
        evaluate.cross_corpus(corpora)


def test_an_unknown_scheme_is_named():
    with pytest.raises(
        KernelInputError, match="scheme must be one of pairs, leave_one_out; got 'x'"
    ):
        evaluate.cross_corpus(CORPORA, scheme="x")
