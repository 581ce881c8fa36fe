"""Regularized least squares, against plain linear algebra and scikit-learn's KernelRidge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.learners import GrowingFactor, KernelRidgeClassifier
from kernelwood.persist.estimators import check_restored

QUESTIONS = load_questions()
TREES = [question.view("tree") for question in QUESTIONS]
LABELS = np.array([question.label for question in QUESTIONS])
KERNEL = kw.SubsetTreeKernel(decay=0.5, dtype="float64")
TWO = np.where(LABELS == "HUM", "HUM", "DESC")
FOLDS = np.arange(60) % 4


# Plain definitions.


def gram(n, seed=0, rank=20):
    """Return a positive semidefinite matrix, with a rank below its size."""
    vectors = np.random.default_rng(seed).normal(size=(n, rank)) / np.sqrt(rank)
    return vectors @ vectors.T


def solved(K, Y, ridge, weights=None):
    """Return the weights of the structures by the definition."""
    return np.linalg.solve(
        K + ridge * np.diag(1 / (np.ones(len(K)) if weights is None else weights)), Y
    )


def left_out(K, Y, groups, ridge, weights=None):
    """Return predictions for each group by a regression on the other groups."""
    groups, weights = np.asarray(groups), np.ones(len(K)) if weights is None else weights
    found = np.zeros(Y.shape)
    for group in set(groups.tolist()):
        test = groups == group
        if not test.all():
            alpha = solved(K[np.ix_(~test, ~test)], Y[~test], ridge, weights[~test])
            found[test] = K[np.ix_(test, ~test)] @ alpha
    return found


def grown(K, sizes, ridge=0.3, weights=None):
    """Return the factor of a matrix that is appended in parts."""
    factor = GrowingFactor(ridge)
    for size in sizes:
        end = len(factor) + size
        rows = slice(len(factor), end)
        factor.append(K[rows, :end], weights=None if weights is None else weights[rows])
    return factor


# The factor.


@pytest.mark.parametrize("sizes", [[30], [1] * 30, [10, 1, 12, 7], [0, 29, 0, 1]])
def test_growing_in_any_way_solves_the_same_equations(sizes):
    K, Y = gram(30), np.random.default_rng(1).normal(size=(30, 3))
    factor = grown(K, sizes)
    assert len(factor) == 30
    np.testing.assert_allclose(factor.solve(Y), solved(K, Y, 0.3), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("sizes", [[30], [1] * 30, [10, 1, 12, 7]])
@pytest.mark.parametrize("n_groups", [1, 2, 7, 30])
def test_held_out_predictions_are_those_of_the_other_groups(sizes, n_groups):
    K, Y = gram(30), np.random.default_rng(1).normal(size=(30, 2))
    groups = [f"d{number}" for number in np.random.default_rng(2).permutation(30) % n_groups]
    found = grown(K, sizes).held_out(Y, groups)
    np.testing.assert_allclose(found, left_out(K, Y, groups, 0.3), rtol=1e-9, atol=1e-11)


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=6),
    st.integers(0, 20),
    st.integers(0, 1000),
    st.floats(1e-3, 100),
)
def test_random_factors_agree_with_the_definition(sizes, kept, seed, ridge):
    K, rng = gram(sum(sizes) + 4, seed, rank=3), np.random.default_rng(seed)
    n = len(K)
    factor = grown(K, sizes, ridge)
    factor.truncate(min(kept, len(factor)))
    factor.append(K[len(factor) :])
    Y, groups = rng.normal(size=n), rng.integers(0, 4, n)
    np.testing.assert_allclose(factor.solve(Y), solved(K, Y, ridge), rtol=1e-6, atol=1e-8)
    expected = left_out(K, Y, groups, ridge)
    np.testing.assert_allclose(factor.held_out(Y, groups), expected, rtol=1e-6, atol=1e-8)


def test_weights_divide_the_ridge():
    K, Y = gram(20), np.random.default_rng(1).normal(size=20)
    weights = np.random.default_rng(2).uniform(0.1, 3, 20)
    factor = grown(K, [12, 8], weights=weights)
    np.testing.assert_allclose(factor.solve(Y), solved(K, Y, 0.3, weights), rtol=1e-9)
    groups = np.arange(20) % 3
    expected = left_out(K, Y, groups, 0.3, weights)
    np.testing.assert_allclose(factor.held_out(Y, groups), expected, rtol=1e-9, atol=1e-12)


def test_structures_after_a_truncation_replace_those_before():
    K, other = gram(20), gram(20, seed=5)
    factor = grown(K, [20])
    factor.truncate(8)
    assert factor.solve(np.ones(8)) == pytest.approx(solved(K[:8, :8], np.ones(8), 0.3))
    factor = grown(K, [10, 10])
    factor.truncate(0)
    factor.append(other)
    Y = np.arange(20.0)
    assert factor.solve(Y) == pytest.approx(solved(other, Y, 0.3))
    assert factor.held_out(Y, Y) == pytest.approx(left_out(other, Y, Y, 0.3))


def test_one_target_has_the_shape_of_one():
    factor = grown(gram(5), [5])
    assert factor.solve(np.ones(5)).shape == factor.held_out(np.ones(5), range(5)).shape == (5,)
    assert factor.solve(np.ones((5, 1))).shape == (5, 1)


def test_a_factor_without_structures_solves_for_none():
    factor = GrowingFactor()
    assert factor.solve(np.empty((0, 2))).shape == (0, 2)
    assert factor.held_out(np.empty(0), []).shape == (0,)


def test_similarities_are_not_changed():
    K = gram(9)
    before = K.copy()
    grown(K, [4, 5]).held_out(np.ones(9), range(9))
    assert (before == K).all()


def test_only_the_lower_triangle_of_new_structures_is_read():
    K, Y = gram(9), np.arange(9.0)
    lower = K.copy()
    lower[np.triu_indices(9, 1)] = 77.0
    assert (grown(lower, [9]).solve(Y) == grown(K, [9]).solve(Y)).all()


def test_the_number_of_threads_of_blas_changes_no_bit():
    K, Y = gram(300), np.random.default_rng(1).normal(size=(300, 3))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            factor = grown(K, [200, 100])
            found.append((factor.solve(Y), factor.held_out(Y, np.arange(300) % 5)))
    assert all((one == other).all() for one, other in zip(*found, strict=True))


def test_a_matrix_that_is_not_positive_definite_is_refused():
    factor = grown(gram(3), [3])
    bad = np.full((2, 5), 5.0)
    with pytest.raises(kw.errors.KernelInputError, match=r"first 4 structures, with ridge 0\.3"):
        factor.append(bad)
    assert len(factor) == 3
    assert factor.solve(np.ones(3)) == pytest.approx(solved(gram(3), np.ones(3), 0.3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.append(np.ones((2, 4))), r"shape \(m, 3 \+ m\); got shape \(2, 4\)"),
        (lambda f: f.append(np.ones(4)), r"got shape \(4,\)"),
        (lambda f: f.append([[0.1, 0.1, np.nan, 1.0]]), "must be finite numbers"),
        (lambda f: f.append([["a", "b", "c", "d"]]), "must be finite numbers"),
        (lambda f: f.append([[0.1, 0.1, 0.1, 1.0]], weights=[0.0]), "weights must be 1 numbers"),
        (lambda f: f.append([[0.1, 0.1, 0.1, 1.0]], weights=[1, 1]), "weights must be 1 numbers"),
        (lambda f: f.truncate(4), "cannot keep 4 structures, there are 3"),
        (lambda f: f.truncate(-1), "cannot keep -1 structures"),
        (lambda f: f.solve(np.ones(2)), "a row for each of the 3 structures"),
        (lambda f: f.solve([1.0, np.inf, 0.0]), "targets must be finite"),
        (lambda f: f.held_out(np.ones(3), [0, 1]), "3 structures, but 2 groups"),
        (lambda f: f.held_out(np.ones(3), None), "give the group of each structure"),
        (lambda f: GrowingFactor("strong"), "ridge must be a number above 0, got 'strong'"),
        (lambda f: GrowingFactor(0.0), "ridge must be a number above 0"),
    ],
)
def test_wrong_arguments_of_a_factor_are_named(call, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        call(grown(gram(3), [3]))


def test_a_factor_says_how_large_it_is():
    assert repr(grown(gram(3), [3])) == "<GrowingFactor: 3 structures, ridge 0.3>"


# The classifier.


def ridge(**parameters):
    return KernelRidgeClassifier(parameters.pop("kernel", KERNEL), **{"ridge": 0.2, **parameters})


def targets(labels):
    return np.where(labels[:, None] == np.unique(labels), 1.0, -1.0)


@pytest.mark.parametrize("strength", [0.05, 2.0])
def test_scores_are_those_of_scikit_learn(strength):
    model = ridge(ridge=strength).fit(TREES[:60], LABELS[:60])
    reference = KernelRidge(alpha=strength, kernel="precomputed")
    reference.fit(KERNEL.gram(TREES[:60]), targets(LABELS[:60]))
    expected = reference.predict(KERNEL.cross(TREES, TREES[:60]))
    assert model.decision_function(TREES) == pytest.approx(expected, abs=1e-9)
    assert (model.predict(TREES) == model.classes_[expected.argmax(axis=1)]).all()
    assert model.kernel_evaluations_ == 60 * 61 // 2


def test_two_classes_have_one_score():
    model = ridge().fit(TREES[:60], TWO[:60])
    reference = KernelRidge(alpha=0.2, kernel="precomputed")
    reference.fit(KERNEL.gram(TREES[:60]), np.where(TWO[:60] == "HUM", 1.0, -1.0))
    expected = reference.predict(KERNEL.cross(TREES, TREES[:60]))
    assert model.coefficients_.shape == (1, 60)
    assert model.decision_function(TREES) == pytest.approx(expected, abs=1e-9)
    assert (model.predict(TREES) == np.where(expected > 0, "HUM", "DESC")).all()


@pytest.mark.parametrize("class_weight", ["balanced", {"HUM": 5.0}])
def test_class_weights_are_weights_of_structures(class_weight):
    labels = np.where(LABELS[:60] == "ABBR", "DESC", LABELS[:60])
    weights = np.where(labels == "HUM", 5.0, 1.0)
    if class_weight == "balanced":
        names, numbers = np.unique(labels, return_inverse=True)
        weights = (60 / (len(names) * np.bincount(numbers)))[numbers]
    model = ridge(class_weight=class_weight).fit(TREES[:60], labels)
    reference = KernelRidge(alpha=0.2, kernel="precomputed")
    reference.fit(KERNEL.gram(TREES[:60]), targets(labels), sample_weight=weights)
    expected = reference.predict(KERNEL.cross(TREES, TREES[:60]))
    assert model.decision_function(TREES) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("labels", [LABELS[:60], TWO[:60]])
@pytest.mark.parametrize("class_weight", [None, {"HUM": 3.0}])
def test_held_out_scores_are_those_of_models_of_the_other_folds(labels, class_weight):
    model = ridge(class_weight=class_weight)
    found = model.fit_held_out(TREES[:60], labels, FOLDS)
    expected = np.empty(found.shape)
    for fold in range(4):
        test = fold == FOLDS
        part = ridge(class_weight=class_weight)
        part.fit([TREES[i] for i in np.flatnonzero(~test)], labels[~test])
        expected[test] = part.decision_function([TREES[i] for i in np.flatnonzero(test)])
    assert found == pytest.approx(expected, abs=1e-9)
    alone = ridge(class_weight=class_weight).fit(TREES[:60], labels)
    assert (model.coefficients_ == alone.coefficients_).all()


def test_a_class_that_other_folds_lack_has_the_lowest_score():
    labels = np.where(np.arange(60) < 15, "new", LABELS[:60])
    folds = np.arange(60) // 15
    scores = ridge().fit_held_out(TREES[:60], labels, folds)
    column = np.unique(labels).tolist().index("new")
    assert (scores[:15, column] == -1).all() and (scores[15:, column] != -1).all()


def test_held_out_scores_of_one_remaining_class_are_its_target():
    labels = np.array(["a", "b"] * 5 + ["b"] * 10)
    folds = np.array([0] * 10 + [1] * 10)
    scores = ridge().fit_held_out(TREES[:20], labels, folds)
    assert (scores[:10] == 1).all() and (scores[10:] != 1).any()


def test_probabilities_come_from_scores_without_the_structure_itself():
    model = ridge(probability=True).fit(TREES[:60], TWO[:60])
    alone = ridge().fit_held_out(TREES[:60], TWO[:60], np.arange(60))
    slope, offset = kw.learners.fit_sigmoid(alone, TWO[:60] == "HUM")
    assert model.sigmoids_ == pytest.approx(np.array([[slope, offset]]))
    shares = model.predict_proba(TREES[60:])
    expected = 1 / (1 + np.exp(-(slope * model.decision_function(TREES[60:]) + offset)))
    assert shares[:, 1] == pytest.approx(expected)


def test_probabilities_must_be_asked_for():
    model = ridge().fit(TREES[:60], LABELS[:60])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NotFittedError, match="without probability=True"):
        model.set_params(probability=True).predict_proba(TREES)


@pytest.mark.parametrize("labels", [LABELS[:60], TWO[:60]])
def test_evidence_adds_up_to_the_score(labels):
    model = ridge().fit(TREES[:60], labels)
    evidence = model.evidence(TREES[70], k=60)
    column = model.classes_.tolist().index(evidence.label)
    scores = model.decision_function(TREES[70:71])
    expected = scores[0] if scores.ndim == 1 else scores[0, column]
    expected *= -1 if scores.ndim == 1 and column == 0 else 1
    shown = [*evidence.supporting, *evidence.opposing]
    assert evidence.label == model.predict(TREES[70:71])[0]
    assert evidence.score == pytest.approx(expected)
    assert sum(one.contribution for one in shown) == pytest.approx(evidence.score)
    for one in shown:
        assert one.label == labels[one.index]
        assert one.similarity == pytest.approx(KERNEL.value(TREES[70], TREES[one.index]))
        assert one.structure == TREES[one.index]


def test_evidence_can_be_asked_for_another_class():
    model = ridge().fit(TREES[:60], LABELS[:60])
    scores = model.decision_function(TREES[70:71])[0]
    for number, label in enumerate(model.classes_.tolist()):
        assert model.evidence(TREES[70], label=label).score == pytest.approx(scores[number])
    with pytest.raises(kw.errors.KernelInputError, match="label names 'WHO'"):
        model.evidence(TREES[70], label="WHO")
    with pytest.raises(ValueError, match="k"):
        model.evidence(TREES[70], k=0)


def test_contributions_to_the_first_of_two_classes_are_the_opposite():
    model = ridge().fit(TREES[:60], TWO[:60])
    scores = model.decision_function(TREES[60:65])
    for against in (None, "HUM"):
        found = model.contributions(TREES[60:65], "DESC", against=against)
        assert found.scores == pytest.approx(-scores)
    assert model.contributions(TREES[60:65], "HUM").scores == pytest.approx(scores)


def test_a_gram_matrix_beyond_the_memory_budget_is_refused():
    refused = pytest.raises(kw.errors.MemoryBudgetError, match="60 structures and its factor needs")
    with kw.config_context(memory="40KB"), refused:  # 60² × 12 bytes
        ridge().fit(TREES[:60], LABELS[:60])
    with kw.config_context(memory="50KB"):  # held-out scores need 60² × 16 bytes
        ridge().fit(TREES[:60], LABELS[:60])
        with pytest.raises(kw.errors.MemoryBudgetError, match=r"57\.6 kB"):
            ridge().fit_held_out(TREES[:60], LABELS[:60], FOLDS)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": 0}, "ridge must be a number in"),
        ({"ridge": float("inf")}, "ridge must be a number in"),
        ({"ridge": "strong"}, "ridge"),
        ({"probability": "yes"}, "probability"),
        ({"class_weight": "even"}, "class_weight must be"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        ridge(**parameters).fit(TREES[:60], LABELS[:60])


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (None, "give the fold of each structure"),
        (np.arange(59), "folds must be 60 whole numbers"),
        (np.linspace(0, 1, 60), "folds must be 60 whole numbers"),
        (np.zeros(60, int), "at least two different numbers"),
        (np.arange(60) - 1, "whole numbers from 0"),
    ],
)
def test_wrong_folds_are_named(folds, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        ridge().fit_held_out(TREES[:60], LABELS[:60], folds)


def test_one_class_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="every structure has the label 'a'"):
        ridge().fit(TREES[:9], ["a"] * 9)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("labels_", np.zeros(60, np.int32), "numbers of all classes"),
        ("labels_", np.zeros(59, np.int32), "labels_ must be an array of shape"),
        ("coefficients_", np.zeros((6, 59)), "coefficients_ must be an array of shape"),
        ("coefficients_", np.full((6, 60), np.nan), "coefficients_ must be finite"),
        ("sigmoids_", np.zeros((5, 2)), "sigmoids_ must be an array"),
        ("structures_", [], "structures_ must be a batch"),
        ("kernel_evaluations_", -1, "kernel_evaluations_ must be"),
    ],
)
def test_damaged_models_are_refused(name, value, message):
    model = ridge(probability=True).fit(TREES[:60], LABELS[:60])
    check_restored(model)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=message):
        check_restored(model)
