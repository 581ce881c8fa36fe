"""Support vector machines on landmarks: the minimum, folds, memory, threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import strategies
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from threadpoolctl import threadpool_info, threadpool_limits

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.learners import KernelSVC

QUESTIONS = load_questions()
TREES = [question.view("tree") for question in QUESTIONS]
LABELS = np.array([question.label for question in QUESTIONS])
KERNEL = kw.SubsetTreeKernel(decay=0.5)
RIDGE = 1e-10  # added to self-similarities of landmarks in double precision


def svc(**parameters):
    options = {"C": 1.0, "n_landmarks": 40, "tol": 1e-7, "random_state": 0, **parameters}
    return KernelSVC(options.pop("kernel", KERNEL), **options)


def projected(kernel, X, Y, landmarks):
    """Return the kernel of the Nyström method, by its definition."""
    gram = kernel.gram(landmarks, dtype="float64")
    gram += RIDGE * gram.diagonal().mean() * np.eye(len(gram))
    similarities = (kernel.cross(some, landmarks, dtype="float64") for some in (X, Y))
    left, right = similarities
    return left @ np.linalg.solve(gram, right.T)


def reference(kernel, X, positive, landmarks, asked, costs):
    """Return the scores of a machine with squared errors.

    It is a machine without errors for the kernel k(x, y) + [x = y] / (2 C).
    """
    gram = projected(kernel, X, X, landmarks) + np.diag(1 / (2 * np.broadcast_to(costs, len(X))))
    machine = SVC(kernel="precomputed", C=1e9, tol=1e-9).fit(gram, positive)
    some = [X[i] for i in machine.support_]
    similarities = projected(kernel, asked, some, landmarks)
    return similarities @ machine.dual_coef_[0] + machine.intercept_


# The minimum.


@given(
    st.lists(strategies.trees(), min_size=3, max_size=12),
    st.integers(1, 12),
    st.sampled_from([0.1, 1.0, 5.0]),
    st.data(),
)
@settings(max_examples=25)
def test_two_classes_have_the_scores_of_the_definition(trees, n_landmarks, C, data):
    positive = data.draw(
        st.lists(st.booleans(), min_size=len(trees), max_size=len(trees)).filter(
            lambda drawn: len(set(drawn)) == 2
        )
    )
    kernel = kw.PartialTreeKernel(decay=0.6)
    fitted = svc(kernel=kernel, C=C, n_landmarks=n_landmarks, tol=1e-9).fit(trees, positive)
    landmarks = list(fitted.supports_)
    assert len(landmarks) == min(n_landmarks, len(trees))
    expected = reference(kernel, trees, np.array(positive), landmarks, trees, C)
    assert fitted.decision_function(trees) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"HUM": 5.0}])
@pytest.mark.parametrize("selection", ["balanced", "uniform", "leverage"])
def test_each_class_has_a_machine_against_the_rest(class_weight, selection):
    fitted = svc(class_weight=class_weight, selection=selection).fit(TREES[:80], LABELS[:80])
    found = fitted.decision_function(TREES)
    for number, label in enumerate(fitted.classes_.tolist()):
        inside = LABELS[:80] == label
        costs = np.ones(80)
        if class_weight == "balanced":
            costs = np.where(inside, 40 / inside.sum(), 40 / (~inside).sum())
        elif class_weight is not None:
            costs = np.where(LABELS[:80] == "HUM", 5.0, 1.0)
        landmarks = list(fitted.supports_)
        expected = reference(KERNEL, TREES[:80], inside, landmarks, TREES, costs)
        assert found[:, number] == pytest.approx(expected, abs=1e-4)


def test_pairs_of_classes_have_machines_of_their_own():
    fitted = svc(strategy="ovo").fit(TREES, LABELS)
    assert len(fitted.intercepts_) == 15
    within = np.isin(LABELS, fitted.classes_[[0, 1]])
    some = [tree for tree, inside in zip(TREES, within, strict=True) if inside]
    first = LABELS[within] == fitted.classes_[0]
    expected = reference(KERNEL, some, first, list(fitted.supports_), TREES, 1.0)
    similarities = KERNEL.cross(TREES, fitted.supports_)
    found = similarities @ fitted.coefficients_[0] + fitted.intercepts_[0]
    assert found == pytest.approx(expected, abs=1e-4)


def test_single_precision_gives_nearly_the_same():
    single = kw.SubsetTreeKernel(decay=0.5, dtype="float32")
    double, other = (svc(kernel=kernel, tol=1e-4) for kernel in (KERNEL, single))
    expected = double.fit(TREES, LABELS).decision_function(TREES)
    found = other.fit(TREES, LABELS).decision_function(TREES)
    assert other.coefficients_.dtype == np.float32
    assert found == pytest.approx(expected, abs=2e-3)


def test_equal_landmarks_are_no_trouble():
    trees, labels = TREES[:30] * 2, np.tile(LABELS[:30], 2)
    for kernel in (KERNEL, kw.SubsetTreeKernel(decay=0.5, dtype="float32")):
        fitted = svc(kernel=kernel, n_landmarks=60, tol=1e-4).fit(trees, labels)
        scores = fitted.decision_function(trees)
        assert scores[:30] == pytest.approx(scores[30:], abs=1e-12)
        assert (fitted.predict(trees) == labels).mean() > 0.9


def test_too_few_steps_are_told():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        svc(max_iter=2).fit(TREES, LABELS)


def test_a_kernel_that_is_not_positive_definite_is_refused():
    class Distance(kw.Kernel):
        accepts = kw.arrays.SequenceBatch

        def reference(self, a, b):
            return float(a != b)

    words = [kw.Sequence([letter]) for letter in "abcdefgh"]
    with pytest.raises(kw.errors.KernelInputError, match="not positive definite"):
        svc(kernel=Distance(), n_landmarks=4).fit(words, [0, 1] * 4)


# Landmarks.


def test_structures_are_compared_with_landmarks_only():
    with kw.compute.counting() as counters:
        fitted = svc().fit(TREES, LABELS)
    assert fitted.kernel_evaluations_ == counters.kernel_evaluations == 120 * 40
    assert list(fitted.supports_) == [TREES[i] for i in fitted.support_indices_]
    assert (fitted.classes_[fitted.support_classes_] == LABELS[fitted.support_indices_]).all()


def test_landmarks_are_those_of_the_embedder():
    fitted = svc(selection="stratified", random_state=3).fit(TREES, LABELS)
    embedder = kw.NystromEmbedder(
        KERNEL, n_landmarks=40, selection="stratified", random_state=3
    ).fit(TREES, LABELS)
    assert fitted.support_indices_.tolist() == sorted(embedder.landmark_indices_.tolist())


# Held-out scores.


def test_held_out_scores_use_landmarks_of_other_folds_only():
    folds = np.arange(120) // 6 % 3
    fitted = svc()
    scores = fitted.fit_held_out(TREES, LABELS, folds)
    for fold in range(3):
        others = [tree for tree, own in zip(TREES, folds, strict=True) if own != fold]
        asked = [tree for tree, own in zip(TREES, folds, strict=True) if own == fold]
        landmarks = [TREES[i] for i in fitted.support_indices_ if folds[i] != fold]
        for number, label in enumerate(fitted.classes_.tolist()):
            inside = LABELS[folds != fold] == label
            expected = reference(KERNEL, others, inside, landmarks, asked, 1.0)
            assert scores[folds == fold, number] == pytest.approx(expected, abs=1e-4)


def test_a_class_that_other_folds_do_not_have_gets_the_lowest_score():
    folds = np.where(LABELS == "HUM", 0, np.arange(120) % 2)
    fitted = svc()
    scores = fitted.fit_held_out(TREES, LABELS, folds)
    number = fitted.classes_.tolist().index("HUM")
    assert (scores[folds == 0, number] == -1).all()


def test_without_landmarks_in_other_folds_scores_are_constant():
    positive = LABELS == "HUM"
    fitted = svc(n_landmarks=1, random_state=4).fit(TREES, positive)
    folds = np.ones(120, dtype=int)
    folds[:20] = 0
    folds[fitted.support_indices_] = 0
    scores = fitted.fit_held_out(TREES, positive, folds)
    # The intercept with the least squared errors.
    expected = np.where(positive, 1.0, -1.0)[folds == 1].mean()
    assert scores[folds == 0] == pytest.approx(expected, abs=1e-6)


def test_held_out_scores_calibrate_probabilities():
    fitted = svc(probability=True, tol=1e-4).fit(TREES, LABELS)
    assert fitted.predict_proba(TREES).sum(axis=1) == pytest.approx(1)
    assert (fitted.sigmoids_[:, 0] > 0).any()


# Memory and threads.


def test_no_bit_depends_on_threads_or_on_where_similarities_are(monkeypatch, tmp_path):
    monkeypatch.setattr("kernelwood.learners.landmark_machines._BLOCK", 40 * 16)
    folds = np.arange(120) // 6 % 3
    plain = svc(n_jobs=1)
    expected = plain.fit_held_out(TREES, LABELS, folds)
    monkeypatch.setattr("kernelwood.compute.runner._INLINE_COST", 0)
    threaded = svc(n_jobs=3)
    assert (threaded.fit_held_out(TREES, LABELS, folds) == expected).all()
    in_file = svc(n_jobs=2)
    with kw.config_context(memory=38_400 - 1, temp_dir=tmp_path):  # they take 38,400 bytes
        assert (in_file.fit_held_out(TREES, LABELS, folds) == expected).all()
    for other in (threaded, in_file):
        assert (other.coefficients_ == plain.coefficients_).all()
        assert (other.intercepts_ == plain.intercepts_).all()


def test_matrix_products_run_in_one_thread(monkeypatch):
    # On more threads BLAS adds up large products in another order.
    seen, cholesky = [], scipy.linalg.cholesky

    def watched(*arguments, **options):
        seen.extend(row["num_threads"] for row in threadpool_info() if row["user_api"] == "blas")
        return cholesky(*arguments, **options)

    monkeypatch.setattr(scipy.linalg, "cholesky", watched)
    with threadpool_limits(2):
        svc().fit(TREES, LABELS)
    assert set(seen) == {1}


def test_landmarks_beyond_memory_are_refused():
    with (
        kw.config_context(memory=10_000),
        pytest.raises(kw.errors.MemoryBudgetError, match=r"(?s)40 landmarks.*fewer landmarks"),
    ):
        svc().fit(TREES, LABELS)
