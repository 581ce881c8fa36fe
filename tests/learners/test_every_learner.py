"""What every learner promises, and the estimators below them where it makes sense."""

from __future__ import annotations

import json
import math
import pickle
import zipfile
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import kernelwood as kw
from kernelwood import learners
from kernelwood.datasets import load_questions

QUESTIONS = load_questions()
TREES = [question.view("tree") for question in QUESTIONS]
LABELS = np.array([question.label for question in QUESTIONS])
KERNEL = kw.SubsetTreeKernel(decay=0.5)
ASKED = slice(60, 100)  # enough to see whether two models are the same

# Small, for small sets; and the smallest, for three structures.
OPTIONS = {
    "KernelSVC": {"C": 3, "probability": True, "random_state": 0},
    "KernelSVC on landmarks": {
        "C": 3, "n_landmarks": 40, "tol": 1e-6, "probability": True, "random_state": 0,
    },
    "KernelRidgeClassifier": {"ridge": 0.2, "probability": True},
    "LandmarkRidgeClassifier": {"n_landmarks": 40, "probability": True, "random_state": 0},
    "KernelNeighborsClassifier": {"n_neighbors": 5},
    "HashNeighborsClassifier": {
        "n_neighbors": 5, "n_references": 20, "n_candidates": 30, "random_state": 0,
    },
    "HashForestClassifier": {
        "n_estimators": 30, "n_references": 20, "n_bits": 200, "random_state": 0,
    },
    "KernelNetworkClassifier": {
        "n_landmarks": 40, "hidden": (30,), "learning_rate": 0.01, "max_iter": 15,
        "random_state": 0,
    },
    "KernelHasher": {"n_references": 20, "n_bits": 100, "random_state": 0},
    "NystromEmbedder": {"n_landmarks": 20, "random_state": 0},
    "EmbeddingIndex": {"n_landmarks": 20, "n_rerank": 10, "random_state": 0},
    "HashIndex": {"n_references": 20, "n_bits": 100, "n_rerank": 10, "random_state": 0},
}  # fmt: skip
SMALLEST = {
    "KernelSVC": {"probability": False},
    "KernelSVC on landmarks": {"probability": False, "n_landmarks": 3},
    "KernelRidgeClassifier": {},
    "LandmarkRidgeClassifier": {"n_landmarks": 3},
    "KernelNeighborsClassifier": {"n_neighbors": 1},
    "HashNeighborsClassifier": {
        "n_neighbors": 1, "n_references": 3, "subset_size": 1, "n_candidates": 2,
    },
    "HashForestClassifier": {"n_references": 3, "subset_size": 1},
    "KernelNetworkClassifier": {"n_landmarks": 3},
}  # fmt: skip


LEARNERS = {cls.__name__: cls for cls in learners.LEARNERS.values()}
LEARNERS["KernelSVC on landmarks"] = kw.KernelSVC
TRANSFORMERS = (kw.KernelHasher, kw.NystromEmbedder, kw.HashIndex, kw.EmbeddingIndex)
ESTIMATORS = LEARNERS | {cls.__name__: cls for cls in TRANSFORMERS}
every_learner = pytest.mark.parametrize("name", LEARNERS)
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def make(name, kernel=KERNEL, **parameters):
    return ESTIMATORS[name](kernel, **{**OPTIONS[name], **parameters})


@cache
def fitted(name, n=None):
    """Return an estimator of the first structures, which all tests share and none changes."""
    return make(name).fit(TREES[:n], LABELS[:n])


def answers(model, X):
    """Return all that a fitted model says about structures, as one row of numbers each."""
    if hasattr(model, "transform"):
        return model.transform(X)
    if not is_classifier(model):
        return np.concatenate(model.search(X, 3), axis=1)
    labels = model.predict(X)
    parts = [np.searchsorted(model.classes_, labels)[:, None]]
    if hasattr(model, "predict_proba"):
        parts.append(model.predict_proba(X))
    if hasattr(model, "decision_function"):
        parts.append(model.decision_function(X).reshape(len(X), -1))
    return np.concatenate(parts, axis=1)


def as_array(structures):
    array = np.empty(len(structures), dtype=object)
    array[:] = structures
    return array


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# Learning.


@every_learner
def test_questions_are_learned(name):
    model = fitted(name, 90)
    assert model.score(TREES[90:], LABELS[90:]) > 0.5  # a sixth by chance


@every_learner
def test_probabilities_are_those_of_the_classes(name):
    model = fitted(name, 90)
    shares = model.predict_proba(TREES)
    assert model.classes_.tolist() == sorted(set(LABELS))
    assert shares.shape == (len(TREES), len(model.classes_))
    assert ((shares >= 0) & (shares <= 1)).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(TREES)))
    right = shares[np.arange(120), np.searchsorted(model.classes_, LABELS)]
    assert right.mean() > 0.3


@cache
def numbered(name):
    """Return the labels of some structures as numbers, and the answers of a model that has them."""
    positive = (LABELS[:60] == "HUM").astype(int)
    return positive, answers(make(name).fit(TREES[:60], positive), TREES[ASKED])


@every_learner
@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["no", "yes"], list),
        ([-1, 1], np.array),
        ([0.5, 1.5], list),
        ([False, True], np.array),
        ([np.str_("no"), np.str_("yes")], list),
        ([np.int8(3), np.int8(4)], np.array),
        ([np.False_, np.True_], list),
    ],
    ids=["str", "int", "float", "bool", "np.str_", "np.int8", "np.bool"],
)
def test_labels_of_any_type_come_back(name, labels, kind):
    positive, expected = numbered(name)
    model = make(name).fit(TREES[:60], kind([labels[number] for number in positive]))
    assert model.classes_.tolist() == labels
    assert type(model.predict(TREES[:1]).tolist()[0]) is type(np.array(labels).tolist()[0])
    assert same_bits(answers(model, TREES[ASKED]), expected)


@every_learner
def test_labels_of_examples_are_the_default(name):
    kernel = kw.OnView("tree", KERNEL)
    expected = fitted(name).predict(TREES)
    for examples in (QUESTIONS, kw.batch(QUESTIONS)):
        model = make(name, kernel).fit(examples)
        assert (model.predict(examples) == expected).all()


@every_estimator
def test_examples_are_compared_by_several_views(name):
    kernel = kw.OnView("tree", KERNEL) + kw.OnView("words", kw.SubsequenceKernel(max_length=2))
    model = make(name, kernel).fit(QUESTIONS, LABELS)
    asked = QUESTIONS[ASKED]
    first = answers(model, asked)
    assert same_bits(first, answers(model, kw.batch(asked)))
    assert same_bits(first, answers(make(name, kernel).fit(kw.batch(QUESTIONS), LABELS), asked))


# Where scikit-learn takes an estimator.


@every_learner
def test_a_learner_is_a_classifier(name):
    assert is_classifier(make(name))


@every_estimator
def test_an_estimator_is_cloned(name):
    model = make(name, n_jobs=2).fit(TREES, LABELS)
    copy = clone(model)
    assert copy.get_params(deep=False) == model.get_params(deep=False)
    assert copy.kernel is not model.kernel
    with pytest.raises(NotFittedError):
        answers(copy, TREES)


@every_estimator
def test_parameters_of_the_kernel_are_parameters(name):
    model = make(name, KERNEL.clone())
    assert model.get_params()["kernel__decay"] == 0.5
    assert model.set_params(kernel__decay=0.2).kernel.decay == 0.2
    assert make(name, KERNEL.clone()).set_params(**model.get_params()).kernel.decay == 0.2


@every_estimator
def test_fitting_leaves_the_parameters_alone(name):
    model = make(name)
    before = repr(model.get_params())
    model.fit(TREES, LABELS)
    assert repr(model.get_params()) == before


@every_estimator
def test_an_estimator_shows_its_kernel(name):
    assert repr(make(name)).startswith(ESTIMATORS[name].__name__)
    assert "SubsetTreeKernel(decay=0.5)" in repr(make(name))


@every_learner
def test_a_decay_is_searched(name):
    grid = {"kernel__decay": [0.1, 0.6], "n_jobs": [1]}
    search = GridSearchCV(make(name), grid, cv=2).fit(kw.batch(TREES), LABELS)
    assert search.best_score_ > 0.4  # a sixth by chance
    assert KERNEL.decay == 0.5
    assert search.predict(TREES[:2]).shape == (2,)


@every_learner
def test_a_pipeline_ends_with_a_learner(name):
    view = FunctionTransformer(lambda examples: examples.view("tree"))
    pipeline = Pipeline([("view", view), ("learner", make(name, KERNEL.clone()))])
    pipeline.fit(kw.batch(QUESTIONS), LABELS)
    expected = fitted(name)
    assert (pipeline.predict(kw.batch(QUESTIONS)) == expected.predict(TREES)).all()
    assert pipeline.set_params(learner__kernel__decay=0.3)[-1].kernel.decay == 0.3


@every_learner
def test_lists_arrays_and_batches_are_cross_validated_alike(name):
    scores = [
        cross_val_score(make(name), X, LABELS, cv=3).tolist()
        for X in (kw.batch(TREES), TREES, as_array(TREES))
    ]
    assert scores[0] == scores[1] == scores[2]
    assert np.mean(scores[0]) > 0.4


# The same, whatever the circumstances.


@every_estimator
def test_a_seed_gives_the_same_again(name):
    first = answers(fitted(name), TREES[ASKED])
    assert same_bits(first, answers(make(name).fit(TREES, LABELS), TREES[ASKED]))
    refitted = make(name).fit(TREES[:50], LABELS[:50] == "HUM").fit(TREES, LABELS)
    assert same_bits(first, answers(refitted, TREES[ASKED]))


@every_estimator
def test_threads_and_containers_change_nothing(name, force_threads):
    expected = answers(make(name, n_jobs=1).fit(TREES, LABELS), TREES[ASKED])
    for kind in (list, kw.batch, as_array):
        model = make(name, n_jobs=3).fit(kind(TREES), LABELS)
        assert same_bits(answers(model, kind(TREES[ASKED])), expected)


@every_estimator
def test_a_structure_alone_is_answered_as_among_others(name):
    model = fitted(name, 90)
    together = answers(model, TREES[80:])
    alone = np.concatenate([answers(model, [tree]) for tree in TREES[80:]])
    assert same_bits(together, alone)
    assert same_bits(together[::-1].copy(), answers(model, TREES[:79:-1]))


@every_estimator
def test_the_callers_kernel_may_change_after_fitting(name):
    kernel = KERNEL.clone()
    model = make(name, kernel).fit(TREES, LABELS)
    before = answers(model, TREES[ASKED])
    kernel.set_params(decay=0.1)
    assert same_bits(before, answers(model, TREES[ASKED]))


@every_estimator
def test_a_fitted_estimator_survives_pickling(name):
    model = fitted(name)
    again = pickle.loads(pickle.dumps(model))
    assert same_bits(answers(model, TREES[ASKED]), answers(again, TREES[ASKED]))


@every_estimator
@pytest.mark.parametrize("labels", [LABELS, LABELS == "HUM"], ids=["six", "two"])
def test_a_saved_estimator_answers_to_the_bit(name, labels, tmp_path):
    model = make(name).fit(TREES[:90], labels[:90])
    kw.save(model, tmp_path / "model.kw")
    again = kw.load(tmp_path / "model.kw")
    assert same_bits(answers(model, TREES[ASKED]), answers(again, TREES[ASKED]))
    if is_classifier(model):
        assert again.predict(TREES).dtype == model.predict(TREES).dtype


@every_estimator
def test_a_saved_estimator_of_examples_answers_to_the_bit(name, tmp_path):
    kernel = kw.OnView("tree", KERNEL) + kw.OnView("words", kw.SubsequenceKernel(max_length=2))
    model = make(name, kernel).fit(QUESTIONS[:90], LABELS[:90])
    kw.save(model, tmp_path / "model.kw")
    again = kw.load(tmp_path / "model.kw")
    assert same_bits(answers(model, QUESTIONS[ASKED]), answers(again, QUESTIONS[ASKED]))


@every_estimator
def test_every_parameter_but_threads_is_in_the_file(name, tmp_path):
    model = fitted(name)
    kw.save(model, tmp_path / "model.kw")
    with zipfile.ZipFile(tmp_path / "model.kw") as archive:
        saved = json.loads(archive.read("manifest.json"))["parameters"]
    parameters = {key for key in saved if not key.startswith("fitted-")}
    assert parameters == set(model.get_params(deep=False)) - {"n_jobs"}
    assert "random_state" not in parameters or saved["fitted-seed_"] == 0


# Small and strange sets.


@every_learner
def test_three_structures_of_two_classes_are_enough(name):
    model = make(name, **SMALLEST[name]).fit(TREES[:3], ["a", "b", "a"])
    assert set(model.predict(TREES)) <= {"a", "b"}


@pytest.mark.filterwarnings("ignore:KernelHasher")  # that equal references tell nothing
@every_learner
def test_equal_structures_with_different_labels_are_undecided(name):
    model = make(name).fit([TREES[0]] * 60, ["a", "b"] * 30)
    assert np.isfinite(answers(model, TREES)).all()
    assert model.predict_proba(TREES[:1])[0] == pytest.approx([0.5, 0.5], abs=0.25)


def unlike(n, prefix):
    """Return trees that have nothing in common."""
    return [kw.Tree.from_brackets(f"({prefix}{i} ({prefix}x{i} y{i}))") for i in range(n)]


@every_learner
def test_a_structure_unlike_all_others_is_answered(name):
    model = make(name).fit(TREES, LABELS)
    shares = model.predict_proba(unlike(4, "u"))
    assert np.isfinite(shares).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(4))
    assert (shares[0] == shares).all()  # there is nothing that tells them apart


@every_learner
def test_structures_all_unlike_each_other_are_learned_from(name):
    trees = unlike(60, "u")
    model = make(name).fit(trees, ["a", "b"] * 30)
    assert np.isfinite(answers(model, [*trees, *unlike(3, "v")])).all()


@every_learner
def test_a_class_of_two_is_learned_beside_large_ones(name):
    labels = np.where(np.arange(120) < 2, "rare", LABELS)
    model = make(name).fit(TREES, labels)
    assert "rare" in model.classes_
    assert model.predict_proba(TREES).shape == (120, 7)


# What is refused.


@every_learner
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (LABELS[:-1], "120 structures, but 119 labels"),
        ([None, *LABELS[1:]], "1 of 120 labels are missing, the first at position 0"),
        ([float("nan")] * 120, "120 of 120 labels are missing"),
        ([1, *LABELS[1:]], "all strings or all numbers, got both"),
        (np.zeros((120, 2)), "one label for each structure"),
        (None, "y is missing"),
    ],
    ids=["short", "None", "nan", "mixed", "2d", "none at all"],
)
def test_labels_that_cannot_be_are_refused(name, labels, message):
    with pytest.raises(
        kw.errors.KernelInputError, match=f"{ESTIMATORS[name].__name__}: .*{message}"
    ):
        make(name).fit(TREES, labels)


@every_estimator
def test_what_is_not_fitted_says_so(name):
    with pytest.raises(NotFittedError, match="call fit"):
        answers(make(name), TREES)


@every_estimator
@pytest.mark.parametrize("kind", [list, lambda trees: kw.batch(trees, kind=kw.arrays.TreeBatch)])
def test_no_structures_are_refused(name, kind):
    with pytest.raises(kw.errors.KernelInputError, match="at least one structure"):
        make(name).fit(kind([]), [])
    with pytest.raises(kw.errors.KernelInputError, match="at least one structure"):
        answers(make(name).fit(TREES, LABELS), kind([]))


@every_estimator
def test_structures_of_the_wrong_kind_are_refused(name):
    words = [question.view("words") for question in QUESTIONS]
    with pytest.raises(kw.errors.KernelInputError, match="tree"):
        make(name).fit(words, LABELS)
    with pytest.raises(kw.errors.KernelInputError, match="tree"):
        answers(make(name).fit(TREES, LABELS), words)


@every_estimator
@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"kernel": "sst"}, "kernel must be a kernel"), ({"n_jobs": 0}, "n_jobs")],
)
def test_parameters_that_cannot_be_are_named(name, parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        make(name, **parameters).fit(TREES, LABELS)


@every_estimator
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"random_state": math.nan}, "random_state must be"),
        ({"random_state": 2**63}, "random_state must be"),
        ({"class_weight": "equal"}, "class_weight must be"),
        ({"class_weight": {"HUM": math.nan}}, "weight of 'HUM' must be a number above 0"),
        ({"class_weight": {"HUM": 10**400}}, "weight of 'HUM' must be a number above 0"),
    ],
)
def test_seeds_and_weights_that_cannot_be_are_not_saved(name, parameters, message, tmp_path):
    [parameter] = parameters
    model = make(name).fit(TREES, LABELS)
    if parameter not in model.get_params():
        return
    model.set_params(**parameters)
    with pytest.raises(kw.errors.KernelInputError, match=message):
        kw.save(model, tmp_path / "model.kw")


# Contributions.

EXPLAINED = {
    "KernelSVC": [{}, {"class_weight": "balanced"}],
    "KernelSVC on landmarks": [{}],
    "KernelRidgeClassifier": [{}, {"class_weight": "balanced"}],
    "LandmarkRidgeClassifier": [{}, {"class_weight": "balanced"}],
    "KernelNeighborsClassifier": [{}, {"weights": "uniform", "class_weight": {"HUM": 3.0}}],
    "HashNeighborsClassifier": [{}, {"weights": "uniform", "class_weight": "balanced"}],
    "HashForestClassifier": [
        {},
        {"bootstrap": True, "class_weight": "balanced", "min_samples_leaf": 3},
    ],
    "KernelNetworkClassifier": [{"hidden": ()}],
}
every_explained = pytest.mark.parametrize(
    ("name", "options"), [(name, each) for name, some in EXPLAINED.items() for each in some]
)


def explained(name, options, n_classes=6):
    """Return a model of the first 60 questions, and these; two classes are DESC and HUM."""
    labels = LABELS[:60] if n_classes == 6 else np.where(LABELS[:60] == "HUM", "HUM", "DESC")
    asked = zip(QUESTIONS, labels.tolist(), strict=False)
    training = kw.batch([kw.Example(q.id, label=label, views=q.views) for q, label in asked])
    # Similarities in double precision, so that sums in any order agree.
    kernel = kw.OnView("tree", kw.SubsetTreeKernel(decay=0.5, dtype="float64"))
    return make(name, kernel, **options).fit(training), training


def class_scores(model, X):
    """Return numbers whose differences are the scores that contributions add up to."""
    if isinstance(model, (kw.KernelSVC, kw.KernelRidgeClassifier)):
        scores = model.decision_function(X)
        return np.stack([0 * scores, scores], axis=1) if scores.ndim == 1 else scores
    probabilities = model.predict_proba(X)
    if isinstance(model, kw.KernelNetworkClassifier):
        return np.log(probabilities)  # differences are those of the inputs of the softmax
    return probabilities


@pytest.mark.parametrize("n_classes", [2, 6])
@every_explained
def test_contributions_and_intercepts_add_up_to_the_difference_of_scores(name, options, n_classes):
    model, training = explained(name, options, n_classes)
    new = QUESTIONS[60:90]
    classes, scores = model.classes_.tolist(), class_scores(model, new)
    against = classes.index("DESC")
    for label in set(classes) - {"DESC"}:
        found = model.contributions(new, label, against="DESC", training=training)
        expected = scores[:, classes.index(label)] - scores[:, against]
        np.testing.assert_allclose(found.scores, expected, rtol=1e-6, atol=1e-9)


@every_explained
def test_each_structure_can_be_explained_for_another_class(name, options):
    model, training = explained(name, options)
    new, labels = QUESTIONS[60:63], ["HUM", "LOC", "HUM"]
    found = model.contributions(new, labels, against="DESC", training=training)
    for row, label in enumerate(labels):
        [one] = model.contributions([new[row]], label, against="DESC", training=training).scores
        assert found.scores[row] == pytest.approx(one, rel=1e-9)


@every_explained
def test_contributions_are_of_training_structures_in_order(name, options):
    model, training = explained(name, options)
    found = model.contributions(QUESTIONS[60:90], "HUM", against="DESC", training=training)
    assert found.values.shape == (30, len(found.indices))
    assert (np.diff(found.indices) > 0).all()
    assert 0 <= found.indices[0] <= found.indices[-1] < 60


@pytest.mark.parametrize("name", ["KernelNeighborsClassifier", "HashForestClassifier"])
def test_structures_of_other_classes_contribute_nothing_to_a_difference(name):
    model, training = explained(name, {})
    found = model.contributions(QUESTIONS[60:90], "HUM", against="DESC", training=training)
    classes = LABELS[:60][found.indices]
    assert (found.values[:, classes == "HUM"] >= 0).all()
    assert (found.values[:, classes == "DESC"] <= 0).all()
    assert not found.values[:, ~np.isin(classes, ["HUM", "DESC"])].any()
    assert (found.values > 0).any() and (found.values < 0).any()


@every_learner
def test_contributions_are_asked_rightly(name):
    model, training = explained(name, EXPLAINED[name][0])
    with pytest.raises(kw.errors.KernelInputError, match="label names 'WHO', but the labels are"):
        model.contributions(QUESTIONS[:1], "WHO", training=training)
    with pytest.raises(kw.errors.KernelInputError, match="against names 'WHO', but the labels"):
        model.contributions(QUESTIONS[:1], "HUM", against="WHO", training=training)
    with pytest.raises(kw.errors.KernelInputError, match="one for each of the 1 structures; got 2"):
        model.contributions(QUESTIONS[:1], ["HUM", "HUM"], training=training)
