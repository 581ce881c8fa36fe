"""Parts of whole groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.model_selection import KFold, StratifiedKFold

from kernelwood import evaluate
from kernelwood.errors import KernelInputError
from kernelwood.evaluate.labels import encode_groups
from kernelwood.evaluate.splits import check_splits, split_examples

GROUPS = st.lists(st.sampled_from("abcdefgh"), min_size=6, max_size=60).filter(
    lambda groups: len(set(groups)) >= 3
)


def lists(splits):
    return [(train.tolist(), test.tolist()) for train, test in splits]


@given(GROUPS, st.booleans(), st.integers(0, 50), st.data())
def test_no_group_is_in_both_parts(groups, stratified, seed, data):
    labels = st.lists(st.sampled_from(["x", "y"]), min_size=len(groups), max_size=len(groups))
    y = data.draw(labels.filter(lambda y: max(map(y.count, y)) >= 3)) if stratified else None
    names = np.array(groups)
    for train, test in evaluate.group_splits(groups, y, n_splits=3, random_state=seed):
        assert set(names[train]).isdisjoint(names[test])


@given(GROUPS, st.booleans())
def test_every_example_is_tested_once_and_learned_from_otherwise(groups, stratified):
    y = ["x"] * len(groups) if stratified else None
    splits = evaluate.group_splits(groups, y, n_splits=3)
    everything = list(range(len(groups)))
    assert sorted(i for _, test in splits for i in test) == everything
    assert all(sorted([*train, *test]) == everything for train, test in splits)
    assert all(len(test) for _, test in splits)


@pytest.mark.parametrize("y", [None, [0, 1] * 50])
def test_equal_seeds_give_equal_splits(y):
    groups = np.arange(100) // 4
    first, again = (evaluate.group_splits(groups, y, random_state=3) for _ in range(2))
    assert lists(first) == lists(again)


@pytest.mark.parametrize("y", [None, [0, 1] * 50])
def test_different_seeds_give_different_splits(y):
    groups = np.arange(100) // 4
    first, other = (evaluate.group_splits(groups, y, random_state=seed) for seed in (3, 4))
    assert lists(first) != lists(other)


def test_labels_spread_a_rare_class_over_the_parts():
    groups = np.arange(200) // 2
    y = np.where(groups % 10 == 0, "rare", "common")
    splits = evaluate.group_splits(groups, y, n_splits=5)
    assert [int((y[test] == "rare").sum()) for _, test in splits] == [4] * 5


def test_parts_without_labels_are_of_equal_size():
    splits = evaluate.group_splits(np.arange(100) // 5, n_splits=4)
    assert {len(test) for _, test in splits} == {25}


def test_a_class_rarer_than_the_parts_gives_no_warning():
    assert len(evaluate.group_splits(range(9), ["a"] * 8 + ["b"], n_splits=3)) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 1, 2],), "5 splits need at least 5 groups, but there are only 2; ask for at most 2"),
        (([1, 1, 1],), "but there is only 1; give finer groups"),
        (([1, 2, 3], [0, 1]), "groups has 3 entries, but there are 2 examples"),
    ],
)
def test_groups_that_do_not_do_are_named(arguments, message):
    with pytest.raises(KernelInputError, match=message):
        evaluate.group_splits(*arguments)


@pytest.mark.parametrize("n_splits", [1, 0, 2.0, True, "3"])
def test_a_bad_number_of_splits_is_named(n_splits):
    with pytest.raises(KernelInputError, match="number of splits must be an int of at least 2"):
        evaluate.group_splits(range(10), n_splits=n_splits)


def test_classes_too_small_for_the_parts_are_named():
    with pytest.raises(KernelInputError, match="the largest class has 2 examples, too few for 3"):
        evaluate.group_splits(range(4), [0, 0, 1, 1], n_splits=3)


def test_a_number_without_groups_splits_each_class_evenly():
    y = np.repeat([0, 1], [20, 10])
    splits = split_examples(5, y, None, seed=0)
    assert [np.bincount(y[test]).tolist() for _, test in splits] == [[4, 2]] * 5


def test_a_splitter_of_scikit_learn_is_asked():
    y = np.repeat([0, 1], 6)
    splitter = StratifiedKFold(3)
    expected = lists(splitter.split(np.zeros((12, 1)), y))
    assert lists(split_examples(splitter, y, None, seed=0)) == expected


def test_a_number_with_groups_keeps_them_whole():
    groups = encode_groups(np.arange(12) // 3, 12)
    for train, test in split_examples(2, np.zeros(12, dtype=np.int64), groups, seed=0):
        assert not set(groups.codes[train]) & set(groups.codes[test])


def test_masks_are_splits_too():
    mask = np.array([True, False, True])
    assert lists(check_splits([(mask, ~mask)], 3)) == [([0, 2], [1])]


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([], "splits is empty"),
        ([([0], [])], r"splits\[0\]: the test part is empty"),
        ([([], [0])], r"splits\[0\]: the train part is empty"),
        ([([0], [3])], r"splits\[0\]: the test part has the index 3, but there are 3 examples"),
        ([([-1], [0])], r"the train part has the index -1"),
        ([([0], [1]), ([0, 2], [2])], r"splits\[1\]: example 2 is in both parts"),
        ([([0], [1]), ([0], [1])], "example 1 is tested more than once"),
        ([([0, 0], [1])], "the train part has an index twice"),
        ([([0.5], [1])], "must be a vector of indices"),
        ([([[0]], [1])], "must be a vector of indices"),
        ([0, 1], "splits must be a number of parts or a list"),
        (None, "splits must be a number of parts or a list"),
    ],
)
def test_splits_that_would_mislead_are_named(splits, message):
    with pytest.raises(KernelInputError, match=message):
        check_splits(splits, 3)


def test_folds_of_scikit_learn_pass():
    assert len(check_splits(KFold(4).split(np.zeros(8)), 8)) == 4
