"""Scores of structures by machines that have not seen their fold."""

from __future__ import annotations

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.datasets import load_questions


@pytest.fixture(scope="module")
def questions():
    loaded = load_questions()
    return [q.view("tree") for q in loaded], np.array([q.label for q in loaded])


@pytest.mark.parametrize(
    ("strategy", "weights"), [("ovr", None), ("ovr", "balanced"), ("ovo", None)]
)
def test_scores_are_those_of_machines_trained_without_the_fold(questions, strategy, weights):
    X, y = questions
    folds = np.arange(len(y)) // 6 % 3
    make = {"C": 2.0, "strategy": strategy, "class_weight": weights}
    model = kw.KernelSVC(kw.SubsetTreeKernel(), **make)
    scores = model.fit_held_out(X, y, folds)
    for fold in range(3):
        kept = [x for x, f in zip(X, folds, strict=True) if f != fold]
        other = kw.KernelSVC(kw.SubsetTreeKernel(), **make).fit(kept, y[folds != fold])
        held = [x for x, f in zip(X, folds, strict=True) if f == fold]
        np.testing.assert_allclose(other.decision_function(held), scores[folds == fold], atol=5e-3)


def test_the_model_is_that_of_fit(questions):
    X, y = questions
    held, plain = (kw.KernelSVC(kw.SubsetTreeKernel()) for _ in range(2))
    held.fit_held_out(X, y, np.arange(len(y)) % 2)
    plain.fit(X, y)
    assert np.array_equal(held.coefficients_, plain.coefficients_)
    assert held.kernel_evaluations_ == plain.kernel_evaluations_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(questions, n_jobs):
    X, y = questions
    two = np.where(y == "HUM", "HUM", "other")
    folds = np.arange(len(y)) % 4
    first = kw.KernelSVC(kw.SubsetTreeKernel(), n_jobs=1).fit_held_out(X, two, folds)
    again = kw.KernelSVC(kw.SubsetTreeKernel(), n_jobs=n_jobs).fit_held_out(X, two, folds)
    assert first.shape == (len(y),)
    assert np.array_equal(first, again)


def test_a_class_in_one_fold_only_scores_lowest_there(questions):
    X, y = questions
    folds = (y == "ABBR").astype(int)
    model = kw.KernelSVC(kw.SubsetTreeKernel())
    scores = model.fit_held_out(X, y, folds)
    at = model.classes_.tolist().index("ABBR")
    assert (scores[folds == 1, at] == -1.0).all()


def test_pairs_of_classes_need_every_class_in_two_folds(questions):
    X, y = questions
    model = kw.KernelSVC(kw.SubsetTreeKernel(), strategy="ovo")
    with pytest.raises(kw.errors.KernelInputError, match="'ABBR' is in one fold only"):
        model.fit_held_out(X, y, (y == "ABBR").astype(int))


@pytest.mark.parametrize(
    ("folds", "message"), [([0, 1], "one for each"), (None, "give the fold"), ("same", "two folds")]
)
def test_wrong_folds_are_refused(questions, folds, message):
    X, y = questions
    given = np.zeros(len(y), dtype=int) if folds == "same" else folds
    with pytest.raises(kw.errors.KernelInputError, match=message):
        kw.KernelSVC(kw.SubsetTreeKernel()).fit_held_out(X, y, given)
