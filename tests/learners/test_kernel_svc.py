"""Scores of structures by machines that have not seen their fold."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
import strategies
from corpora import data_file
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.learners import KernelSVC, fit_sigmoid
from kernelwood.learners.base import Evidence, Support
from kernelwood.learners.kernel_svc import (
    class_scores,
    deal_folds,
    decide,
    pairs_of_classes,
    probabilities,
)
from kernelwood.persist.estimators import check_restored

QUESTIONS = load_questions()
TREES = [question.view("tree") for question in QUESTIONS]
LABELS = np.array([question.label for question in QUESTIONS])
KERNEL = kw.SubsetTreeKernel(decay=0.5)
STRATEGIES = ("ovr", "ovo")
TWO = LABELS == "HUM"


def svc(**parameters):
    return KernelSVC(parameters.pop("kernel", KERNEL), **{"C": 3, **parameters})


def half(labels=LABELS):
    return TREES[:60], labels[:60]


# The same machines as scikit-learn's.


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("C", [0.1, 3])
def test_one_against_the_rest_predicts_like_scikit_learn(C, class_weight):
    trees, labels = half()
    labels = np.where(labels == "ABBR", "DESC", labels)  # classes of different sizes
    ours = svc(C=C, class_weight=class_weight).fit(trees, labels)
    machines = OneVsRestClassifier(SVC(kernel="precomputed", C=C, class_weight=class_weight))
    gram, cross = KERNEL.gram(trees), KERNEL.cross(TREES, trees)
    machines.fit(gram, labels)
    assert (ours.predict(TREES) == machines.predict(cross)).all()
    assert ours.decision_function(TREES) == pytest.approx(
        machines.decision_function(cross), abs=1e-9
    )


@pytest.mark.parametrize("class_weight", [None, "balanced", {"HUM": 5.0}])
def test_pairs_of_classes_predict_like_scikit_learn(class_weight):
    trees, labels = half()
    ours = svc(strategy="ovo", class_weight=class_weight).fit(trees, labels)
    theirs = SVC(kernel=KERNEL, C=3, class_weight=class_weight).fit(kw.batch(trees), labels)
    assert (ours.predict(TREES) == theirs.predict(TREES)).all()
    assert ours.decision_function(TREES) == pytest.approx(theirs.decision_function(TREES), abs=1e-9)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_two_classes_need_one_machine(strategy):
    trees, labels = half(TWO)
    ours = svc(strategy=strategy).fit(trees, labels)
    theirs = SVC(kernel=KERNEL, C=3).fit(kw.batch(trees), labels)
    assert ours.machines_.tolist() == [[1, 0]]
    assert ours.decision_function(TREES) == pytest.approx(theirs.decision_function(TREES), abs=1e-9)
    assert (ours.predict(TREES) == theirs.predict(TREES)).all()
    assert ours.support_indices_.tolist() == sorted(theirs.support_.tolist())
    assert ours.n_support_.tolist() == theirs.n_support_.tolist()


def test_weights_of_classes_are_factors_of_c():
    # A class that weighs much pulls decisions to its side.
    plain, heavy = (
        svc(C=0.05, class_weight=weight).fit(*half(TWO)) for weight in (None, {True: 20.0})
    )
    assert (plain.predict(TREES)).sum() < (heavy.predict(TREES)).sum()


@given(st.integers(0, 2**32), st.integers(3, 6))
@settings(max_examples=30)
def test_votes_are_those_of_scikit_learn(seed, n_classes):
    # Few different scores, so that there are ties.
    random = np.random.default_rng(seed)
    points = random.integers(0, 3, size=(40, 2)).astype(float)
    labels = np.concatenate([np.arange(n_classes), random.integers(0, n_classes, 40 - n_classes)])
    machine = SVC(kernel="linear", decision_function_shape="ovo").fit(points, labels)
    scores = machine.decision_function(points)
    pairs = pairs_of_classes("ovo", n_classes)
    assert (decide(scores, pairs, n_classes) == machine.predict(points)).all()
    expected = machine.set_params(decision_function_shape="ovr").decision_function(points)
    assert class_scores(scores, pairs, n_classes) == pytest.approx(expected)


def test_equal_votes_go_to_the_first_class():
    pairs = pairs_of_classes("ovo", 3)
    circle = np.array([[1.0, -1.0, 1.0]])  # 0 beats 1, 2 beats 0, 1 beats 2
    assert decide(circle, pairs, 3).tolist() == [0]


# What is kept.


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_only_support_structures_are_kept(strategy):
    words = ["who", "where", "when"] * 20
    trees = [
        kw.Tree.from_brackets(f"(S (W {word}) (V is) (N {'abcd'[i % 4]}))")
        for i, word in enumerate(words)
    ]
    labels = np.array(words)
    fitted = svc(strategy=strategy, C=100).fit(trees, labels)
    assert list(fitted.supports_) == [trees[i] for i in fitted.support_indices_]
    assert len(fitted.supports_) < len(trees)
    assert fitted.coefficients_.shape == (3, len(fitted.supports_))
    assert fitted.coefficients_.any(axis=0).all()
    assert (fitted.classes_[fitted.support_classes_] == labels[fitted.support_indices_]).all()
    assert fitted.n_support_.sum() == len(fitted.supports_)


def test_predicting_costs_one_evaluation_for_each_support():
    fitted = svc(C=100).fit(*half(TWO))
    with kw.compute.counting() as counters:
        fitted.predict(TREES)
    assert counters.kernel_evaluations == len(TREES) * len(fitted.supports_)


@pytest.mark.parametrize("probability", [False, True])
def test_fitting_costs_one_gram_matrix(probability):
    with kw.compute.counting() as counters:
        fitted = svc(probability=probability).fit(*half())
    assert fitted.kernel_evaluations_ == counters.kernel_evaluations == 60 * 61 // 2


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_scores_do_not_depend_on_the_rows_at_once(strategy, monkeypatch):
    fitted = svc(strategy=strategy).fit(*half())
    scores = fitted.decision_function(TREES)
    monkeypatch.setattr("kernelwood.learners.kernel_svc._SIMILARITIES_AT_ONCE", 400)
    assert (fitted.decision_function(TREES) == scores).all()


def test_progress_covers_all_rows(monkeypatch):
    fitted = svc().fit(*half())
    monkeypatch.setattr("kernelwood.learners.kernel_svc._SIMILARITIES_AT_ONCE", 1000)
    steps = []
    with kw.config_context(progress=lambda done, total: steps.append((done, total))):
        fitted.predict(TREES)
    total = len(TREES) * len(fitted.supports_)
    assert steps[-1] == (total, total)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


def test_machines_on_threads_are_the_same(force_threads):
    alone, threaded = (svc(n_jobs=n, probability=True, random_state=1) for n in (1, 3))
    alone.fit(*half()), threaded.fit(*half())
    assert (alone.coefficients_ == threaded.coefficients_).all()
    assert (alone.sigmoids_ == threaded.sigmoids_).all()


def test_examples_keep_the_views_that_the_kernel_reads():
    kernel = kw.OnView("words", kw.SubsequenceKernel(max_length=2))
    fitted = svc(kernel=kernel).fit(QUESTIONS)
    assert {name for example in fitted.supports_ for name in example.views} == {"words"}
    assert (fitted.classes_ == np.unique(LABELS)).all()


def test_float32_kernels_are_learned_from():
    fitted = svc(kernel=kw.SubsetTreeKernel(decay=0.5, dtype="float32")).fit(*half())
    double = svc().fit(*half())
    assert fitted.decision_function(TREES) == pytest.approx(
        double.decision_function(TREES), abs=1e-3
    )


# Probabilities.


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("labels", [LABELS, TWO], ids=["six", "two"])
def test_probabilities_tell_classes_apart(strategy, labels):
    fitted = svc(strategy=strategy, probability=True, random_state=0).fit(*half(labels))
    found = fitted.predict_proba(TREES[60:])
    assert found.shape == (60, len(np.unique(labels)))
    assert found.sum(axis=1) == pytest.approx(np.ones(60))
    right = found[np.arange(60), np.searchsorted(fitted.classes_, labels[60:])]
    by_chance = [(labels == label).mean() for label in labels]
    assert np.log(right).mean() > 0.7 * np.log(by_chance).mean()


def test_probabilities_depend_on_the_seed_alone():
    first, again, other = (
        svc(probability=True, random_state=seed).fit(*half()).predict_proba(TREES)
        for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()


def test_probabilities_are_learned_from_structures_not_trained_on():
    # With labels by chance, machines remember what they saw; probabilities must not.
    trees = strategies.sample_trees(80, seed=5, max_nodes=12)
    labels = np.random.default_rng(0).integers(0, 2, 80)
    fitted = svc(C=100, probability=True, random_state=0).fit(trees, labels)
    assert (fitted.predict(trees) == labels).mean() > 0.9
    assert np.abs(fitted.predict_proba(trees) - 0.5).max() < 0.4


@given(st.integers(0, 2**32))
@settings(max_examples=10)
def test_sigmoids_are_those_of_a_logistic_regression(seed):
    random = np.random.default_rng(seed)
    positive = np.concatenate([[True, False], random.random(40) < 0.4])
    scores = random.normal(size=42) + 2 * positive
    n = positive.sum()
    targets = np.where(positive, (n + 1) / (n + 2), 1 / (42 - n + 2))
    model = LogisticRegression(C=1e12, tol=1e-10, max_iter=1000)
    model.fit(
        np.concatenate([scores, scores])[:, None],
        np.repeat([True, False], 42),
        sample_weight=np.concatenate([targets, 1 - targets]),
    )
    slope, offset = fit_sigmoid(scores, positive)
    if slope > 0:
        assert slope == pytest.approx(model.coef_[0, 0], abs=1e-4)
        assert offset == pytest.approx(model.intercept_[0], abs=1e-4)


def test_a_better_score_never_makes_a_class_less_likely():
    slope, offset = fit_sigmoid(np.array([2.0, 1.0, -1.0, -2.0]), np.array([0, 0, 1, 1]) > 0)
    assert (slope, offset) == (0, pytest.approx(0))


@pytest.mark.parametrize("scale", [0, 1e-9, 1e9])
def test_sigmoids_of_scores_of_any_size_are_finite(scale):
    scores = scale * np.array([-2.0, -1.0, 1.0, 2.0])
    slope, offset = fit_sigmoid(scores, np.array([0, 0, 1, 1]) > 0)
    assert np.isfinite([slope, offset]).all()


def test_scores_beyond_measure_give_probabilities():
    found = probabilities(np.full((1, 3), -1e6), np.array([[1.0, 0.0]] * 3))
    assert found.tolist() == [[1 / 3] * 3]


@given(st.lists(st.integers(0, 3), min_size=4, max_size=40), st.integers(2, 6))
def test_every_class_of_two_is_in_the_rest_of_every_fold(numbers, n_folds):
    numbers = np.array(numbers)
    n_folds = min(n_folds, len(numbers))
    folds = deal_folds(numbers, n_folds, seed=0)
    assert set(folds.tolist()) == set(range(n_folds))
    for fold in range(n_folds):
        for number in np.flatnonzero(np.bincount(numbers) >= 2):
            of_class = (folds == fold)[numbers == number]
            assert not of_class.all()
            assert of_class.sum() <= -(-len(of_class) // n_folds)


def test_a_class_of_two_structures_has_probabilities():
    labels = np.where(np.arange(120) < 2, "rare", LABELS)
    fitted = svc(probability=True, random_state=0).fit(TREES, labels)
    assert fitted.predict_proba(TREES).shape == (120, 7)


def test_a_class_of_one_structure_has_none():
    labels = np.where(np.arange(120) < 1, "rare", LABELS)
    with pytest.raises(
        kw.errors.KernelInputError, match=r"needs at least 2 structures of each class.*'rare'"
    ):
        svc(probability=True).fit(TREES, labels)
    assert "rare" in svc().fit(TREES, labels).classes_


def test_without_probability_there_is_no_predict_proba():
    fitted = svc().fit(*half())
    assert not hasattr(fitted, "predict_proba")
    fitted.set_params(probability=True)
    with pytest.raises(NotFittedError, match="without probability=True"):
        fitted.predict_proba(TREES)


# Evidence.


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("labels", [LABELS, TWO], ids=["six", "two"])
def test_evidence_adds_up_to_the_score(strategy, labels):
    fitted = svc(strategy=strategy).fit(*half(labels))
    evidence = fitted.evidence(TREES[70], k=1000)
    listed = [*evidence.supporting, *evidence.opposing]
    total = sum(support.contribution for support in listed)
    assert evidence.intercept + total == pytest.approx(evidence.score)
    assert evidence.label == fitted.predict([TREES[70]])[0]


def test_evidence_is_a_table_in_notebooks_and_markup_in_words_is_text():
    support = Support(kw.Tree.from_brackets("(S <b>)"), "<i>", 0, 0.5, -0.25)
    shown = Evidence("x & y", -0.25, 0.0, (), (support,))._repr_html_()
    cells = re.findall("<td[^>]*>([^<]*)</td>", shown)
    assert cells == ["against", "-0.250", "0.500", "&lt;i&gt;", "(S &lt;b&gt;)"]
    assert "x &amp; y: score -0.250" in shown


@pytest.mark.parametrize("several", [TREES[:2], kw.batch(TREES[:2])])
def test_evidence_is_that_of_one_structure(several):
    model = svc().fit(TREES[:40], LABELS[:40])
    with pytest.raises(
        kw.errors.KernelInputError, match=r"evidence: give one structure, not a \w+ of 2"
    ):
        model.evidence(several)


def test_evidence_is_about_the_score_of_the_class():
    fitted = svc().fit(*half())
    scores = fitted.decision_function([TREES[70]])[0]
    for label, score in zip(fitted.classes_, scores, strict=True):
        assert fitted.evidence(TREES[70], label=label).score == pytest.approx(score)


def test_evidence_of_two_classes_is_the_opposite_of_the_other():
    fitted = svc().fit(*half(TWO))
    score = fitted.decision_function([TREES[70]])[0]
    assert fitted.evidence(TREES[70], label=True).score == pytest.approx(score)
    assert fitted.evidence(TREES[70], label=False).score == pytest.approx(-score)


def test_evidence_names_structures_of_the_training_set():
    trees, labels = half()
    fitted = svc().fit(trees, labels)
    evidence = fitted.evidence(TREES[93], k=3)
    assert len(evidence.supporting) == len(evidence.opposing) == 3
    for support in (*evidence.supporting, *evidence.opposing):
        assert support.structure == trees[support.index]
        assert support.label == labels[support.index]
        assert support.similarity == KERNEL.value(TREES[93], support.structure)
    amounts = [support.contribution for support in evidence.supporting]
    assert amounts == sorted(amounts, reverse=True) and amounts[-1] > 0
    amounts = [support.contribution for support in evidence.opposing]
    assert amounts == sorted(amounts) and amounts[-1] < 0


def test_evidence_is_a_table_to_read():
    lines = str(svc().fit(*half()).evidence(TREES[93], k=2)).splitlines()
    assert lines[0].startswith("HUM: score +")
    assert [line.split()[0] for line in lines[1:]] == ["for", "for", "against", "against"]
    assert "HUM  (ROOT" in lines[1] and max(map(len, lines)) < 120


def test_evidence_is_asked_rightly():
    fitted = svc().fit(*half())
    with pytest.raises(kw.errors.KernelInputError, match="k must be an int of at least 1, got 0"):
        fitted.evidence(TREES[0], k=0)
    with pytest.raises(kw.errors.KernelInputError, match="label names 'WHO', but the labels are"):
        fitted.evidence(TREES[0], label="WHO")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("labels", [LABELS, TWO], ids=["six", "two"])
def test_contributions_are_weights_times_similarities(strategy, labels):
    trees, y = half(labels)
    fitted = svc(strategy=strategy).fit(trees, y)
    similarity = [
        [KERNEL.value(tree, trees[index]) for index in fitted.support_indices_]
        for tree in TREES[70:73]
    ]
    for label in fitted.classes_[1:]:
        found = fitted.contributions(TREES[70:73], label, against=fitted.classes_[0])
        expected = np.zeros((3, len(fitted.supports_)))
        for number, pair in enumerate(fitted.machines_.tolist()):
            names = [None if n < 0 else fitted.classes_[n] for n in pair]
            sign = {
                (label, fitted.classes_[0]): 1, (fitted.classes_[0], label): -1,
                (label, None): 1, (fitted.classes_[0], None): -1,
            }.get(tuple(names), 0)  # fmt: skip
            expected += sign * fitted.coefficients_[number] * similarity
        np.testing.assert_allclose(found.values, expected, rtol=1e-6, atol=1e-12)
        assert found.indices.tolist() == fitted.support_indices_.tolist()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("labels", [LABELS, TWO], ids=["six", "two"])
def test_contributions_without_another_class_are_those_of_the_evidence(strategy, labels):
    fitted = svc(strategy=strategy).fit(*half(labels))
    for label in fitted.classes_.tolist():
        evidence = fitted.evidence(TREES[70], k=3, label=label)
        found = fitted.contributions(TREES[70:71], label)
        assert found.scores[0] == pytest.approx(evidence.score)
        assert found.intercepts[0] == pytest.approx(evidence.intercept)
        values = dict(zip(found.indices.tolist(), found.values[0].tolist(), strict=True))
        for support in (*evidence.supporting, *evidence.opposing):
            assert values[support.index] == pytest.approx(support.contribution)


# What is refused.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, r"C must be a number in \(0, inf\), got 0"),
        ({"C": float("nan")}, "C must be a number"),
        ({"tol": -1.0}, "tol must be a number"),
        ({"strategy": "crammer"}, "strategy must be one of"),
        ({"probability": "yes"}, "probability must be one of"),
        ({"calibration_folds": 1}, "calibration_folds must be an int of at least 2"),
        ({"max_iter": 0}, "max_iter must be an int of at least 1"),
        ({"class_weight": {"WHO": 1.0}}, "class_weight names 'WHO'"),
        ({"class_weight": "even"}, "class_weight must be"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        svc(**parameters).fit(*half())


def test_one_class_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="every structure has the label 'x'"):
        svc().fit(TREES, ["x"] * len(TREES))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_gram_matrix_beyond_the_budget_is_in_a_file(dtype, tmp_path):
    kernel = kw.SubsetTreeKernel(decay=0.5, dtype=dtype)
    folds = np.arange(120) % 3
    parameters = {"kernel": kernel, "probability": True, "random_state": 1}
    in_memory, in_file = svc(**parameters), svc(**parameters)
    expected = in_memory.fit_held_out(TREES, LABELS, folds)
    with kw.config_context(memory=50_000, temp_dir=tmp_path):
        scores = in_file.fit_held_out(TREES, LABELS, folds)
    assert (scores == expected).all()
    assert (in_file.coefficients_ == in_memory.coefficients_).all()
    assert (in_file.sigmoids_ == in_memory.sigmoids_).all()
    assert list(tmp_path.iterdir()) == []


def test_a_gram_matrix_beyond_memory_and_disk_is_refused(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=9))
    with (
        kw.config_context(memory=50_000),
        pytest.raises(
            kw.errors.MemoryBudgetError,
            match=r"(?s)120 structures needs 57\.6 kB, but the memory budget is 50\.0 kB, and the "
            r"disk of .* has 9 bytes free.*n_landmarks.*temp_dir",
        ),
    ):
        svc().fit(TREES, LABELS)


def test_a_machine_that_does_not_end_is_stopped():
    with pytest.warns(ConvergenceWarning, match="6 of 6 machines stopped after max_iter=2 steps"):
        svc(max_iter=2).fit(*half())
    with pytest.warns(ConvergenceWarning, match="15 of 15 machines"):
        svc(max_iter=2, strategy="ovo").fit(*half())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("machines_", np.array([[0, 7]] * 6, dtype=np.int32)),
        ("machines_", "text"),
        ("coefficients_", np.zeros((6, 1))),
        ("coefficients_", None),
        ("intercepts_", np.full(6, np.nan)),
        ("support_classes_", np.full(60, 6, dtype=np.int32)),
        ("support_indices_", np.zeros(60, dtype=np.int64)),
        ("support_indices_", np.arange(60.0)),
        ("sigmoids_", np.zeros((2, 2))),
        ("supports_", "text"),
        ("supports_", kw.batch([], kind=kw.arrays.TreeBatch)),
        ("kernel_", "text"),
        ("kernel_evaluations_", -1),
        ("classes_", np.array(["a", "a"])),
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(name, value):
    fitted = svc().fit(*half())
    check_restored(fitted)
    assert len(fitted.supports_) == 60
    setattr(fitted, name, value)
    with pytest.raises(ValueError):
        check_restored(fitted)


# Real questions.


@pytest.fixture(scope="module")
def questions():
    files = ("train_5500.coarse.klp.gz", "TREC_10.coarse.klp.gz")
    sets = [list(kw.read(data_file("question-classification", file))) for file in files]
    return [
        (kw.batch([e.view("grct") for e in examples]), [e.label for e in examples])
        for examples in sets
    ]


SST = kw.SubsetTreeKernel(count_leaves=True)
PTK = kw.PartialTreeKernel(terminal_factor=5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "class_weight"), [(SST, "balanced"), (PTK, None)], ids=["subset", "partial"]
)
def test_real_questions_are_classified(questions, kernel, class_weight):
    # C and weights are the best of a cross-validation on the training questions.
    train, test = questions
    assert KernelSVC(kernel, C=10, class_weight=class_weight).fit(*train).score(*test) >= 0.91


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "kelp"), [(SST, 0.914), (PTK, 0.910)], ids=["subset", "partial"]
)
def test_real_questions_are_classified_as_by_kelp(questions, kernel, kelp):
    # With its settings, but for a factor of C that differs from machine to machine.
    train, test = questions
    fitted = KernelSVC(kernel, C=3, class_weight="balanced").fit(*train)
    assert fitted.score(*test) == pytest.approx(kelp, abs=0.006)


# Cross-validation scores.


@pytest.fixture(scope="module")
def sample():
    loaded = load_questions()
    return [q.view("tree") for q in loaded], np.array([q.label for q in loaded])


@pytest.mark.parametrize(
    ("strategy", "weights"), [("ovr", None), ("ovr", "balanced"), ("ovo", None)]
)
def test_scores_are_those_of_machines_trained_without_the_fold(sample, strategy, weights):
    X, y = sample
    folds = np.arange(len(y)) // 6 % 3
    make = {"C": 2.0, "strategy": strategy, "class_weight": weights}
    model = kw.KernelSVC(kw.SubsetTreeKernel(), **make)
    scores = model.fit_held_out(X, y, folds)
    for fold in range(3):
        kept = [x for x, f in zip(X, folds, strict=True) if f != fold]
        other = kw.KernelSVC(kw.SubsetTreeKernel(), **make).fit(kept, y[folds != fold])
        held = [x for x, f in zip(X, folds, strict=True) if f == fold]
        np.testing.assert_allclose(other.decision_function(held), scores[folds == fold], atol=5e-3)


def test_the_model_is_that_of_fit(sample):
    X, y = sample
    held, plain = (kw.KernelSVC(kw.SubsetTreeKernel()) for _ in range(2))
    held.fit_held_out(X, y, np.arange(len(y)) % 2)
    plain.fit(X, y)
    assert np.array_equal(held.coefficients_, plain.coefficients_)
    assert held.kernel_evaluations_ == plain.kernel_evaluations_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(sample, n_jobs):
    X, y = sample
    two = np.where(y == "HUM", "HUM", "other")
    folds = np.arange(len(y)) % 4
    first = kw.KernelSVC(kw.SubsetTreeKernel(), n_jobs=1).fit_held_out(X, two, folds)
    again = kw.KernelSVC(kw.SubsetTreeKernel(), n_jobs=n_jobs).fit_held_out(X, two, folds)
    assert first.shape == (len(y),)
    assert np.array_equal(first, again)


def test_a_class_in_one_fold_only_scores_lowest_there(sample):
    X, y = sample
    folds = (y == "ABBR").astype(int)
    model = kw.KernelSVC(kw.SubsetTreeKernel())
    scores = model.fit_held_out(X, y, folds)
    at = model.classes_.tolist().index("ABBR")
    assert (scores[folds == 1, at] == -1.0).all()


def test_pairs_of_classes_need_every_class_in_two_folds(sample):
    X, y = sample
    model = kw.KernelSVC(kw.SubsetTreeKernel(), strategy="ovo")
    with pytest.raises(kw.errors.KernelInputError, match="'ABBR' is in one fold only"):
        model.fit_held_out(X, y, (y == "ABBR").astype(int))


@pytest.mark.parametrize(
    ("folds", "message"),
    [([0, 1], "one for each"), (None, "give the fold"), ("same", "two different numbers")],
)
def test_wrong_folds_are_refused(sample, folds, message):
    X, y = sample
    given = np.zeros(len(y), dtype=int) if folds == "same" else folds
    with pytest.raises(kw.errors.KernelInputError, match=message):
        kw.KernelSVC(kw.SubsetTreeKernel()).fit_held_out(X, y, given)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_given_matrix_is_not_computed_again(strategy):
    folds = np.arange(len(TREES)) // 6 % 3
    expected = svc(strategy=strategy)
    scores = expected.fit_held_out(TREES, LABELS, folds)
    gram = KERNEL.gram(TREES).astype(np.float32)
    model = svc(strategy=strategy)
    with kw.compute.counting() as counters:
        found = model.fit_held_out(TREES, LABELS, folds, gram=gram)
        alone = svc(strategy=strategy).held_out(TREES, LABELS, folds, gram=gram)
    assert counters.kernel_evaluations == 0
    assert (found == scores).all() and (alone == scores).all()
    assert (model.coefficients_ == expected.coefficients_).all()
    assert model.kernel_evaluations_ == expected.kernel_evaluations_


def test_held_out_scores_without_fitting_leave_the_model_as_it_is():
    model = svc(random_state=0)
    scores = model.held_out(TREES, TWO, np.arange(len(TREES)) % 2)
    assert scores.shape == (len(TREES),)
    with pytest.raises(NotFittedError):
        model.predict(TREES)


@pytest.mark.parametrize(
    ("gram", "options"),
    [
        (np.eye(3, dtype=np.float32), {}),
        (np.eye(len(TREES)), {}),
        (np.eye(len(TREES), dtype=np.float32)[::-1], {}),
        ([[1.0]], {}),
        (np.eye(len(TREES), dtype=np.float32), {"n_landmarks": 5}),
    ],
)
def test_a_matrix_that_cannot_be_used_is_refused(gram, options):
    with pytest.raises(kw.errors.KernelInputError, match="gram"):
        svc(**options).held_out(TREES, LABELS, np.arange(len(TREES)) % 2, gram=gram)
