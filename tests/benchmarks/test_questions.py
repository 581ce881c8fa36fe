"""The experiment on questions, on trees small enough to check by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import kernelwood as kw

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

from question_models.coverage import CoverageForest, cover, label_information, label_table
from question_models.experiments import (
    LARGEST_SUBSET,
    ForestSetting,
    Part,
    forest_choice,
    forest_rows,
    machine_rows,
    neighbor_rows,
)

ASKING = {"NUM": ("many", "long"), "LOC": ("city", "country"), "HUM": ("person", "author")}


def questions(n: int) -> Part:
    """Return trees whose class shows in one word; another word says nothing."""
    draw = np.random.default_rng(0)
    trees, labels = [], []
    for i in range(n):
        label = list(ASKING)[i % len(ASKING)]
        word = ASKING[label][draw.integers(2)]
        filler = f"w{draw.integers(4)}"
        trees.append(kw.Tree.from_brackets(f"(Q (W {word}) (V is) (N {filler}))"))
        labels.append(label)
    return Part(kw.batch(trees), labels)


def nothing(n: int) -> None:
    """Report no progress."""


@pytest.fixture(scope="module")
def train() -> Part:
    return questions(150)


@pytest.fixture(scope="module")
def test() -> Part:
    return questions(30)


def trees(*texts: str) -> kw.arrays.TreeBatch:
    return kw.batch([kw.Tree.from_brackets(text) for text in texts])


def test_label_table_has_one_for_each_label_of_a_tree() -> None:
    batch = trees("(A b b)", "(A c)")
    table = label_table(batch).toarray()
    found = [set(batch.vocabulary.labels(np.flatnonzero(row))) for row in table]
    assert found == [{"A", "b"}, {"A", "c"}]
    assert table.max() == 1


def test_label_table_of_some_trees_has_their_rows() -> None:
    batch = trees("(A b)", "(A c)", "(D c)", "(A d)")
    whole = label_table(batch).toarray()
    some = label_table(batch[1:3]).toarray()
    np.testing.assert_array_equal(some, whole[1:3, : some.shape[1]])


def test_label_information_is_the_entropy_of_classes_for_a_label_that_decides() -> None:
    batch = trees("(A b)", "(A c)", "(A b)", "(A c)")
    information = label_information(label_table(batch), np.array([0, 1, 0, 1], dtype=np.int32))
    decides = information[[batch.vocabulary.get("b"), batch.vocabulary.get("c")]]
    np.testing.assert_allclose(decides, np.log(2))


def test_label_information_is_0_for_a_label_that_all_trees_have() -> None:
    batch = trees("(A b)", "(A c)")
    information = label_information(label_table(batch), np.array([0, 1], dtype=np.int32))
    assert information[batch.vocabulary.get("A")] == 0


def test_cover_takes_other_labels_once_one_is_covered() -> None:
    batch = trees("(A x)", "(A x)", "(A y)")
    weights = np.zeros(len(batch.vocabulary))
    weights[batch.vocabulary.get("x")], weights[batch.vocabulary.get("y")] = 1.0, 0.9
    assert cover(label_table(batch), weights, 2).tolist() == [0, 2]


def test_cover_takes_each_tree_once() -> None:
    table = label_table(trees("(A x)", "(A x)", "(A y)"))
    assert sorted(cover(table, np.zeros(table.shape[1]), 5).tolist()) == [0, 1, 2]


def test_coverage_forest_spends_what_the_hash_forest_spends(train: Part) -> None:
    options = {"n_references": 20, "n_estimators": 5, "random_state": 0}
    covering = CoverageForest(kw.SubsetTreeKernel(), **options).fit(*train)
    random = kw.HashForestClassifier(kw.SubsetTreeKernel(), **options).fit(*train)
    assert covering.kernel_evaluations_ == random.kernel_evaluations_


def test_coverage_forest_has_references_with_all_words_that_decide(train: Part) -> None:
    forest = CoverageForest(kw.SubsetTreeKernel(), n_references=6, n_estimators=5, random_state=0)
    references = forest.fit(*train).hasher_.references_
    words = {label for tree in references for label in str(tree.to_brackets()).split()}
    for pair in ASKING.values():
        assert any(f"{word})" in words for word in pair)


@pytest.mark.parametrize(("subset", "size"), [(None, 15), (2, 2), (40, 15)])
def test_subsets_are_never_larger_than_half_of_the_references(
    subset: int | None, size: int
) -> None:
    assert ForestSetting(subset=subset).subset_size(30) == size


def test_half_of_the_references_is_bounded() -> None:
    assert ForestSetting(subset=None).subset_size(1000) == LARGEST_SUBSET


def test_machine_rows_count_the_gram_matrix_and_the_supports(train: Part, test: Part) -> None:
    row = next(machine_rows(train, test, nothing))
    gram = 150 * 151 // 2
    assert gram + 30 * 3 <= row["evaluations"] <= gram + 30 * 150


def test_forest_rows_say_how_far_they_are_behind_the_machine(train: Part, test: Part) -> None:
    machine = {"accuracy": 100.0, "evaluations": 30_000}
    rows = forest_rows(train, test, machine, n_seeds=1, sizes=[10], advance=nothing)
    row = next(rows)
    assert row["behind"] == pytest.approx(100 - row["accuracy"])
    assert row["times fewer"] == pytest.approx(30_000 / (150 * 10 + 55 + 30 * 10))


def test_neighbors_begin_with_those_that_compare_with_all(train: Part, test: Part) -> None:
    row = next(neighbor_rows(train, test, n_seeds=1, advance=nothing))
    assert (row["evaluations"], row["of exact"]) == (30 * 150, 100)


def test_choice_of_forests_ends_with_the_machine(train: Part) -> None:
    some = [ForestSetting("SST")]
    rows = forest_choice(
        train, n_splits=1, settings=some, n_references=20, held_out=30, advance=nothing
    )
    methods, accuracies = zip(*((row["method"], row["accuracy"]) for row in rows), strict=True)
    assert methods == ("rmm", "SVM, C = 10")
    assert min(accuracies) > 90
