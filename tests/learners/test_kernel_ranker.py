"""Ranking by preferences, against support vector machines on explicit pairs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold

import kernelwood as kw
from kernelwood import _native
from kernelwood.datasets import load_questions
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.learners import KernelRanker
from kernelwood.learners.kernel_ranker import preferences

QUESTIONS = load_questions()
TREES = [question.view("tree") for question in QUESTIONS]
KERNEL = kw.SubsetTreeKernel(decay=0.5)
N = 40
RNG = np.random.default_rng(1)
GROUPS = RNG.integers(0, 5, size=N).tolist()
# What can be learned: how alike a tree is to one of them; in three grades, with noise.
GRADES = np.digitize(
    KERNEL.cross(TREES[:N], TREES[100:101])[:, 0] + RNG.normal(size=N) / 20, [0.05, 0.2]
).astype(float)


def fitted(**options):
    return KernelRanker(KERNEL, **options).fit(TREES[:N], GRADES, groups=GROUPS)


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_scores_are_those_of_a_machine_on_explicit_pairs(C):
    pairs = [
        (i, j)
        for i in range(N)
        for j in range(N)
        if GROUPS[i] == GROUPS[j] and GRADES[i] != GRADES[j]
    ]
    targets = np.array([1 if GRADES[i] > GRADES[j] else -1 for i, j in pairs], np.int8)
    examples = kw.batch([(TREES[i], TREES[j]) for i, j in pairs])
    gram = kw.PairKernel(KERNEL, mode="preference").gram(examples)
    # Squared errors are a ridge; each preference is there twice, with half of the cost.
    gram[np.diag_indices(len(pairs))] += 1 / C
    weights, rows = np.empty(len(pairs)), np.arange(len(pairs))
    bounds = np.full(len(pairs), 1e12)
    bias, *_, converged = _native.solve_svm(gram, rows, targets, bounds, 1e-9, 10**7, weights)
    assert converged and abs(bias) < 1e-6
    left, right = np.array(pairs).T
    similarities = KERNEL.cross(TREES, TREES[:N])
    expected = (similarities[:, left] - similarities[:, right]) @ weights
    model = fitted(C=C, tol=1e-7)
    assert model.n_preferences_ == len(pairs) / 2
    np.testing.assert_allclose(model.decision_function(TREES), expected, atol=2e-6 * max(1, C))


def test_weights_are_a_minimum():
    gram, (better, worse) = KERNEL.gram(TREES[:N]), preferences(GRADES, np.array(GROUPS))

    def objective(weights, C=2.0):
        scores = gram @ weights
        missed = np.maximum(0, 1 - scores[better] + scores[worse])
        return weights @ scores / 2 + C * (missed**2).sum()

    model = fitted(C=2.0, tol=1e-6)
    weights = np.zeros(N)
    weights[model.support_indices_] = model.coefficients_
    assert weights.sum() == pytest.approx(0, abs=1e-9)
    best = objective(weights)
    for _ in range(50):
        assert objective(weights + 1e-3 * RNG.normal(size=N)) > best


def test_preferences_are_pairs_of_a_group_with_different_grades():
    better, worse = preferences(GRADES, np.array(GROUPS))
    expected = {
        (i, j)
        for i in range(N)
        for j in range(N)
        if GROUPS[i] == GROUPS[j] and GRADES[i] > GRADES[j]
    }
    assert set(zip(better.tolist(), worse.tolist(), strict=True)) == expected
    assert len(better) == len(expected)


def test_it_ranks_what_it_has_not_seen():
    grades = (KERNEL.cross(TREES, TREES[100:101])[:, 0] > 0.1).astype(int)
    model = KernelRanker(KERNEL, C=3).fit(TREES[:80], grades[:80])
    scores = model.predict(TREES[80:])
    right, wrong = scores[grades[80:] == 1], scores[grades[80:] == 0]
    assert len(right) >= 5 and (right[:, None] > wrong).mean() > 0.8  # a half by chance


def test_the_score_is_the_mean_of_groups():
    model = fitted()
    grades, groups = np.array([0, 2, 1, 1, 1, -1, 3]), [*"aaabbcc"]
    found, X = [], TREES[50:57]
    for rows in ([0, 1, 2], [5, 6]):  # all grades of b are equal
        scores = model.predict([X[row] for row in rows])
        found.append(ndcg_score([grades[rows] + 1], [scores]))
    assert model.score(X, grades, groups=groups) == pytest.approx(np.mean(found))


def test_pairs_are_ranked_by_kernels_of_pairs():
    trees = [TREES[i] for i in range(30)]
    items = [kw.Example.pair(str(i), trees[i % 3], trees[i]) for i in range(30)]
    kernel = kw.PairKernel(kw.SubsetTreeKernel(), mode="product", symmetric=False)
    model = KernelRanker(kernel).fit(items, GRADES[:30], groups=[i % 3 for i in range(30)])
    assert model.supports_.views == ("left", "right")
    assert np.isfinite(model.predict(items)).all()


def examples():
    return [kw.Example(str(i), GRADES[i], {"tree": TREES[i], "more": TREES[i]}) for i in range(N)]


def test_grades_and_groups_of_examples_are_taken():
    kernel = kw.OnView("tree", KERNEL)
    batch = kw.batch(examples())
    batch.groups = [str(group) for group in GROUPS]
    model = KernelRanker(kernel).fit(batch)
    np.testing.assert_array_equal(model.predict(batch), fitted().predict(TREES[:N]))
    assert model.score(batch) == fitted().score(TREES[:N], GRADES, groups=GROUPS)
    assert model.supports_.views == ("tree",)


def test_grid_searches_take_groups_of_examples():
    batch = kw.batch(examples())
    batch.groups = [str(group) for group in GROUPS]
    search = GridSearchCV(
        KernelRanker(kw.OnView("tree", KERNEL)),
        {"C": [0.1, 1.0]},
        cv=GroupKFold(3),
        error_score="raise",
    ).fit(batch, GRADES, groups=batch.groups)
    assert 0 < search.best_score_ <= 1


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_change_no_bit(n_jobs, force_threads):
    one, other = fitted(), fitted(n_jobs=n_jobs)
    assert one.coefficients_.tobytes() == other.coefficients_.tobytes()
    assert one.predict(TREES).tobytes() == other.predict(TREES).tobytes()


def test_other_structures_change_no_score():
    model = fitted()
    np.testing.assert_array_equal(model.predict(TREES)[7:9], model.predict(TREES[7:9]))
    np.testing.assert_array_equal(model.predict(kw.batch(TREES)), model.predict(TREES))


def test_files_hold_everything(tmp_path):
    model = fitted(C=3.0)
    kw.save(model, tmp_path / "ranker.kw")
    again = kw.load(tmp_path / "ranker.kw")
    assert again.get_params(deep=False) == model.get_params(deep=False)
    assert again.predict(TREES).tobytes() == model.predict(TREES).tobytes()
    assert again.n_preferences_ == model.n_preferences_
    for copy in (pickle.loads(pickle.dumps(model)), clone(model).fit(TREES[:N], GRADES, GROUPS)):
        assert copy.predict(TREES).tobytes() == model.predict(TREES).tobytes()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("support_indices_", lambda array: array[::-1].copy()),
        ("coefficients_", lambda array: array[:-1]),
        ("coefficients_", lambda array: array * np.nan),
    ],
)
def test_what_does_not_fit_together_is_not_saved(name, change, tmp_path):
    model = fitted()
    setattr(model, name, change(getattr(model, name)))
    with pytest.raises(ModelFormatError, match=name):
        kw.save(model, tmp_path / "ranker.kw")


def test_kernel_evaluations_are_those_of_the_structures():
    assert fitted().kernel_evaluations_ == N * (N + 1) // 2


def test_too_few_steps_are_reported():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        fitted(C=1e4, tol=1e-9, max_iter=1)


def test_structures_without_self_similarity_get_the_score_zero():
    with pytest.warns(RuntimeWarning, match="self-similarity 0"):
        model = KernelRanker(kw.SubtreeKernel()).fit([kw.Tree("a"), kw.Tree("b")], [1, 0])
        assert model.predict([kw.Tree("a")]) == [0.0]


@pytest.mark.parametrize(
    ("grades", "groups", "message"),
    [
        ([1, 1, 1], None, "no group has structures with different grades"),
        ([0, 1, 2], [*"abc"], "no group has structures with different grades"),
        (["bad", "good", "best"], None, "grades must be finite numbers"),
        ([1.0, np.inf, 0.0], None, "grades must be finite numbers"),
        ([1, None, 2], None, "missing"),
        ([1, 2], None, "3 structures, but 2 labels"),
        ([1, 2, 3], ["a", "b"], "3 structures, but 2 groups"),
        (None, None, "y is missing"),
    ],
)
def test_grades_that_cannot_be_learned_from_are_refused(grades, groups, message):
    with pytest.raises(KernelInputError, match=message):
        KernelRanker(KERNEL).fit(TREES[:3], grades, groups=groups)


@pytest.mark.parametrize("options", [{"C": 0}, {"tol": -1}, {"max_iter": 0}, {"kernel": "tree"}])
def test_parameters_out_of_range_are_refused(options):
    (name,) = options
    with pytest.raises(KernelInputError, match=name):
        KernelRanker(**{"kernel": KERNEL, **options}).fit(TREES[:3], [1, 2, 3])


def test_it_must_be_fitted_first():
    with pytest.raises(NotFittedError):
        KernelRanker(KERNEL).predict(TREES[:2])


def test_preferences_count_in_the_memory_budget():
    with (
        kw.config_context(memory="100KB"),
        pytest.raises(kw.errors.MemoryBudgetError, match="pref"),
    ):
        KernelRanker(KERNEL).fit(TREES[:100], list(range(100)))
