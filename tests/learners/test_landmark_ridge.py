"""Least squares on landmarks, from one pass over a stream."""

from itertools import pairwise

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.errors import KernelInputError, MemoryBudgetError
from kernelwood.learners import LandmarkRidgeClassifier, landmark_ridge
from kernelwood.persist.estimators import check_restored

QUESTIONS = load_questions()
TREES = [question.view("tree") for question in QUESTIONS]
LABELS = np.array([question.label for question in QUESTIONS])
TWO = np.where(LABELS == "HUM", "yes", "no")
FOLDS = np.arange(120) % 4
KERNEL = kw.SubsetTreeKernel(decay=0.5, dtype="float64")


def ridge(**options):
    return LandmarkRidgeClassifier(
        options.pop("kernel", KERNEL), **{"n_landmarks": 40, "random_state": 0, **options}
    )


def state(model):
    """Return everything fitted, as bytes."""
    arrays = (model.coefficients_, model.sigmoids_, model.landmark_indices_, model.labels_)
    return [None if array is None else array.tobytes() for array in arrays], model.classes_.tolist()


def split(cuts, X=TREES, y=LABELS):
    edges = [0, *cuts, len(X)]
    return [(X[a:b], y[a:b]) for a, b in pairwise(edges)]


def targets_of(labels):
    classes = sorted(set(labels))
    chosen = classes[1:] if len(classes) == 2 else classes
    return np.array([[1.0 if label == name else -1.0 for name in chosen] for label in labels])


def solved_directly(model, labels, weights=None, rows=None, columns=None):
    """Coefficients of the normal equations on the landmarks, by a least squares solver."""
    rows = np.arange(len(labels)) if rows is None else rows
    m = len(model.structures_)
    columns = np.arange(m) if columns is None else columns
    similarities = KERNEL.cross(TREES[: len(labels)], model.structures_)[np.ix_(rows, columns)]
    gram = KERNEL.gram(model.structures_)[np.ix_(columns, columns)]
    weights = np.ones(len(labels)) if weights is None else weights
    left = similarities.T @ (weights[rows, None] * similarities) + model.ridge * gram
    right = similarities.T @ (weights[rows, None] * targets_of(labels)[rows])
    found = np.zeros((m, right.shape[1]))
    found[columns] = np.linalg.solve(left, right)
    return found


@pytest.mark.parametrize("labels", [LABELS, TWO])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"HUM": 3.0, "yes": 0.25}])
def test_scores_solve_the_normal_equations(labels, class_weight):
    if isinstance(class_weight, dict):
        class_weight = {k: v for k, v in class_weight.items() if k in labels}
    model = ridge(class_weight=class_weight, ridge=0.7).fit(TREES, labels)
    names, counts = np.unique(labels, return_counts=True)
    weight_of = dict.fromkeys(names, 1.0)
    if class_weight == "balanced":
        weight_of = dict(zip(names, len(labels) / (len(names) * counts), strict=True))
    weight_of |= class_weight if isinstance(class_weight, dict) else {}
    weights = np.array([weight_of[label] for label in labels])
    wanted = KERNEL.cross(TREES, model.structures_) @ solved_directly(model, labels, weights)
    found = model.decision_function(TREES).reshape(wanted.shape)
    # Directions that are left out differ by their eigenvalues, up to 1e-6 of the largest.
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_with_all_structures_as_landmarks_it_is_kernel_ridge():
    exact = kw.KernelRidgeClassifier(KERNEL, probability=True).fit(TREES[:60], LABELS[:60])
    model = ridge(n_landmarks=1000, probability=True).fit(TREES[:60], LABELS[:60])
    assert model.landmark_indices_.tolist() == list(range(60))
    np.testing.assert_allclose(
        model.decision_function(TREES), exact.decision_function(TREES), atol=1e-5
    )
    np.testing.assert_allclose(model.predict_proba(TREES), exact.predict_proba(TREES), atol=1e-4)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("rows", [7, 1024])
def test_later_batches_can_be_divided_in_any_way(monkeypatch, class_weight, rows):
    monkeypatch.setattr("kernelwood.learners.normal_equations.BLOCK", rows)
    options = {"class_weight": class_weight, "probability": True}
    wanted = state(ridge(**options).fit_batches(split([50])))
    for cuts in ([50, 51, 90], [50, 60, 70, 80, 90, 100, 110], [50, 119]):
        assert state(ridge(**options).fit_batches(iter(split(cuts)))) == wanted


def test_one_batch_is_fit():
    assert state(ridge().fit_batches([(TREES, LABELS)])) == state(ridge().fit(TREES, LABELS))


@pytest.mark.parametrize("jobs", [1, 2])
def test_threads_change_no_bit(jobs):
    assert state(ridge(n_jobs=jobs).fit(TREES, LABELS)) == state(ridge().fit(TREES, LABELS))


def test_classes_may_appear_late():
    order = np.argsort(LABELS, kind="stable")
    trees, labels = [TREES[i] for i in order], LABELS[order]
    model = ridge(probability=True, class_weight="balanced").fit_batches(split([30], trees, labels))
    assert model.classes_.tolist() == sorted(set(LABELS))
    assert set(model.labels_) < set(range(6))
    predicted = model.predict(trees)
    assert set(predicted) == set(LABELS)
    assert [model.classes_[n] for n in model.labels_] == list(labels[model.landmark_indices_])


def test_labels_in_reverse_order_get_their_own_scores():
    order = np.argsort(LABELS, kind="stable")[::-1]
    trees, labels = [TREES[i] for i in order], LABELS[order]
    model = ridge().fit_batches(split([100], trees, labels))
    wanted = KERNEL.cross(TREES, model.structures_)
    gram = KERNEL.gram(model.structures_)
    similarities = KERNEL.cross(trees, model.structures_)
    left = similarities.T @ similarities + 0.2 * gram
    weights = np.linalg.solve(left, similarities.T @ targets_of(labels))
    np.testing.assert_allclose(model.decision_function(TREES), wanted @ weights, atol=1e-5)


def test_examples_have_labels_of_their_own():
    kernel = kw.OnView("tree", KERNEL)
    given = ridge(kernel=kernel).fit_batches([(QUESTIONS[:70], None), ([], None)])
    wanted = ridge(kernel=kernel).fit(QUESTIONS[:70], LABELS[:70])
    assert state(given) == state(wanted)


def test_held_out_scores_are_those_of_the_other_folds():
    model = ridge()
    found = model.fit_held_out(TREES, LABELS, FOLDS)
    assert state(model)[1] == sorted(set(LABELS))
    for fold in range(4):
        rows = np.flatnonzero(fold != FOLDS)
        columns = np.flatnonzero(FOLDS[model.landmark_indices_] != fold)
        weights = solved_directly(model, LABELS, rows=rows, columns=columns)
        wanted = KERNEL.cross(TREES, model.structures_) @ weights
        np.testing.assert_allclose(found[fold == FOLDS], wanted[fold == FOLDS], atol=1e-5)


def test_held_out_scores_leave_the_model_as_fit_makes_it():
    model = ridge()
    model.fit_held_out(TREES, TWO, FOLDS)
    wanted = ridge().fit(TREES, TWO)
    np.testing.assert_allclose(model.coefficients_, wanted.coefficients_, rtol=1e-6, atol=1e-9)


def test_a_class_that_other_folds_do_not_have_gets_the_lowest_score():
    folds = (LABELS[:60] == "HUM").astype(int) + 3
    scores = ridge().fit_held_out(TREES[:60], LABELS[:60], folds)
    assert (scores[folds == 4][:, sorted(set(LABELS[:60])).index("HUM")] == -1).all()


def test_landmarks_of_one_fold_only_give_scores_of_zero():
    model = ridge(n_landmarks=1, selection="uniform")
    model.fit(TREES, TWO)
    folds = np.zeros(120, dtype=int)
    folds[model.landmark_indices_] = 1
    folds[[0, 1, 2]] = 1
    scores = model.fit_held_out(TREES, TWO, folds)
    assert (scores[folds == 1] == 0).all()


def test_probabilities_are_calibrated_by_leaving_one_out(monkeypatch):
    given = []

    def fit_sigmoid(scores, positive):
        given.append((scores, positive))
        return 1.0, 0.0

    monkeypatch.setattr(landmark_ridge, "fit_sigmoid", fit_sigmoid)
    weight = {"yes": 2.0}
    model = ridge(probability=True, class_weight=weight, ridge=0.5).fit(TREES, TWO)
    others = np.setdiff1d(np.arange(120), model.landmark_indices_)
    weights = np.where(TWO == "yes", 2.0, 1.0)
    wanted = []
    for left_out in others:
        rows = np.delete(np.arange(120), left_out)
        solved = solved_directly(model, TWO, weights, rows)
        wanted.append((KERNEL.cross([TREES[left_out]], model.structures_) @ solved)[0, 0])
    [(scores, positive)] = given
    np.testing.assert_allclose(scores, wanted, atol=1e-5)
    assert (positive == (TWO[others] == "yes")).all()


def test_a_sample_is_enough_for_calibration(monkeypatch):
    monkeypatch.setattr(landmark_ridge, "_CALIBRATION", 50)
    model = ridge(probability=True, n_landmarks=10).fit(TREES, TWO)
    assert model.predict_proba(TREES).sum(axis=1) == pytest.approx(1.0)


def test_evidence_names_landmarks_by_their_positions():
    model = ridge().fit(TREES, LABELS)
    evidence = model.evidence(TREES[5], k=3)
    for support in (*evidence.supporting, *evidence.opposing):
        assert support.structure == TREES[support.index]
        assert support.label == LABELS[support.index]
    contributions = model.contributions(TREES[5:6], evidence.label)
    assert contributions.indices.tolist() == model.landmark_indices_.tolist()
    assert contributions.scores[0] == pytest.approx(evidence.score)


def test_kernel_evaluations_are_counted():
    model = ridge().fit_batches(split([50]))
    assert model.kernel_evaluations_ == 120 * 40 + 40 * 41 // 2


def test_labels_that_predict_better_than_chance():
    model = ridge().fit_batches(split([60], TREES[:100], LABELS[:100]))
    assert model.score(TREES[100:], LABELS[100:]) > 0.5


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "give at least one structure"),
        ([([], [])], "give at least one structure"),
        ([TREES], "batch 0 must be a pair"),
        ([(TREES[:9], LABELS[:9]), (TREES[:2], [1, 2])], "all strings or all numbers"),
        ([(TREES[:9], LABELS[:9]), (TREES[:2], ["a"])], "2 structures, but 1 labels"),
        ([(TREES[:3], ["a"] * 3)], "every structure has the label 'a'"),
    ],
)
def test_bad_batches_are_named(batches, message):
    with pytest.raises(KernelInputError, match=message):
        ridge().fit_batches(batches)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_landmarks": 0}, "n_landmarks"),
        ({"selection": "best"}, "selection"),
        ({"ridge": 0}, "ridge"),
        ({"class_weight": {"X": 1.0}}, "class_weight names 'X'"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(KernelInputError, match=message):
        ridge(**options).fit(TREES[:30], LABELS[:30])


def test_too_many_landmarks_for_the_memory_are_refused():
    with kw.config_context(memory="30KB"), pytest.raises(MemoryBudgetError, match="40 landmarks"):
        ridge().fit(TREES, LABELS)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("landmark_indices_", np.arange(40)[::-1].copy(), "rising order"),
        ("landmark_indices_", np.arange(40) - 1, "must be at least 0"),
        ("landmark_indices_", np.arange(39), "landmark_indices_ must be an array"),
        ("labels_", np.full(40, 6, np.int32), "labels_ must be below 6"),
        ("labels_", np.full(40, -1, np.int32), "labels_ must be at least 0"),
        ("coefficients_", np.zeros((6, 39)), "coefficients_ must be an array"),
        ("classes_", np.array(["a"]), "at least 2 labels"),
    ],
)
def test_damaged_models_are_refused(name, value, message):
    model = ridge().fit(TREES, LABELS)
    check_restored(model)
    setattr(model, name, value)
    if name == "classes_":
        model.coefficients_ = model.coefficients_[:1]
    with pytest.raises(ValueError, match=message):
        check_restored(model)
