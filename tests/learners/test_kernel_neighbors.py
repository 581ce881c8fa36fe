from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.learners import KernelNeighborsClassifier
from kernelwood.learners.kernel_neighbors import Neighbors, probabilities, without_self
from kernelwood.persist.estimators import estimator_state, restore_estimator

TREES = strategies.sample_trees(60, seed=1, max_nodes=15)
LABELS = np.array([tree.label for tree in TREES])
QUERIES = strategies.sample_trees(25, seed=2, max_nodes=15)
KERNEL = kw.PartialTreeKernel(decay=0.5)


def fitted(**parameters):
    options = {"n_neighbors": 5, **parameters}
    kernel = options.pop("kernel", KERNEL)
    return KernelNeighborsClassifier(kernel, **options).fit(TREES, LABELS)


def test_uniform_votes_are_those_of_scikit_learn():
    # Distances rise as similarities fall; the weights then are the same.
    distances = 2 - KERNEL.cross(QUERIES, TREES)
    other = KNeighborsClassifier(5, metric="precomputed")
    other.fit(2 - KERNEL.gram(TREES), LABELS)
    expected = other.predict_proba(distances)
    assert fitted(weights="uniform").predict_proba(QUERIES) == pytest.approx(expected)


def test_similar_votes_are_those_of_scikit_learn():
    distances = 2 - KERNEL.cross(QUERIES, TREES)
    other = KNeighborsClassifier(5, metric="precomputed", weights=lambda distance: 2 - distance)
    other.fit(2 - KERNEL.gram(TREES), LABELS)
    model = fitted()
    assert model.predict_proba(QUERIES) == pytest.approx(other.predict_proba(distances))
    assert (model.predict(QUERIES) == other.predict(distances)).all()


def test_neighbors_are_those_of_the_kernel():
    ids, similarities = fitted().kneighbors(QUERIES, 7)
    expected = KERNEL.neighbors(QUERIES, TREES, 7)
    assert (ids == expected[0]).all() and (similarities == expected[1]).all()


def test_a_structure_is_not_its_own_neighbor():
    ids, similarities = fitted().kneighbors()
    expected = KERNEL.neighbors(TREES, TREES, 5, exclude_self=True)
    assert (ids == expected[0]).all() and (similarities == expected[1]).all()


def test_balanced_classes_vote_in_inverse_proportion():
    plain = fitted().predict_proba(QUERIES)
    _, counts = np.unique(LABELS, return_counts=True)
    expected = plain / counts
    expected /= expected.sum(axis=1, keepdims=True)
    assert fitted(class_weight="balanced").predict_proba(QUERIES) == pytest.approx(expected)


def test_a_structure_unlike_all_gets_the_shares_of_the_classes():
    _, counts = np.unique(LABELS, return_counts=True)
    stranger = kw.Tree.from_brackets("(nothing like this)")
    for weights in ("similarity", "uniform"):
        chances = fitted(weights=weights).predict_proba([stranger])
        assert chances[0] == pytest.approx(counts / counts.sum())


def test_evaluations_are_counted():
    model = fitted()
    model.predict(QUERIES)
    model.kneighbors(QUERIES[:2])
    assert (model.kernel_evaluations_, model.query_evaluations_) == (0, 27 * 60)
    model.fit(TREES, LABELS)
    assert model.query_evaluations_ == 0


def test_results_do_not_depend_on_company_or_threads():
    chances = fitted().predict_proba(QUERIES)
    alone = np.concatenate([fitted().predict_proba([query]) for query in QUERIES])
    threaded = clone(fitted()).set_params(n_jobs=2).fit(kw.batch(TREES), list(LABELS))
    assert (chances == alone).all()
    assert (chances == threaded.predict_proba(kw.batch(QUERIES))).all()


def test_examples_bring_their_labels():
    questions = load_questions()
    model = KernelNeighborsClassifier(kw.OnView("tree", kw.SubsetTreeKernel())).fit(questions)
    assert sorted(model.structures_[0].views) == ["tree"]
    trees = [question.view("tree") for question in questions]
    plain = KernelNeighborsClassifier(kw.SubsetTreeKernel())
    plain.fit(trees, [question.label for question in questions])
    assert (model.predict_proba(questions) == plain.predict_proba(trees)).all()


def test_a_grid_search_over_the_kernel():
    questions = kw.batch(load_questions())
    grid = {"kernel__decay": [0.2, 0.8], "n_neighbors": [1, 3]}
    search = GridSearchCV(KernelNeighborsClassifier(kw.SubsetTreeKernel()), grid, cv=2)
    search.fit(questions.view("tree"), questions.labels)
    assert search.best_score_ > 0.3  # a sixth by chance


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 2.0}, "n_neighbors must be an int of at least 1"),
        ({"n_neighbors": 61}, "n_neighbors=61, but there are only 60 structures"),
        ({"weights": None}, "weights must be one of"),
        ({"class_weight": {"z": 1.0}}, "class_weight names 'z'"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        fitted(**parameters)


@pytest.mark.parametrize("k", [0, 61, True, "many"])
def test_wrong_numbers_of_neighbors_are_refused(k):
    with pytest.raises(kw.errors.KernelInputError, match="n_neighbors"):
        fitted().kneighbors(QUERIES, k)


def test_what_is_not_fitted_says_so():
    with pytest.raises(NotFittedError, match="call fit"):
        KernelNeighborsClassifier(KERNEL).predict(QUERIES)


def restored(**changes):
    state = estimator_state(fitted())
    for name, value in changes.items():
        state.arrays.pop(name, None)
        state.texts.pop(name, None)
        state.parameters.pop(f"fitted-{name}", None)
        if isinstance(value, np.ndarray):
            state.arrays[name] = value
        else:
            state.parameters[f"fitted-{name}"] = value
    return restore_estimator(KernelNeighborsClassifier, state)


def test_a_restored_classifier_predicts_the_same():
    assert (restored().predict_proba(QUERIES) == fitted().predict_proba(QUERIES)).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"labels_": np.full(60, 3, dtype=np.int32)},
        {"labels_": np.zeros(59, dtype=np.int32)},
        {"class_weights_": np.zeros(3)},
        {"structures_": kw.batch(TREES[:59])},
        {"structures_": [1]},
        {"kernel_": None},
        {"kernel_evaluations_": None},
        {"classes_": np.zeros(3)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_hostile_state_is_refused(changes):
    with pytest.raises(ValueError, match=r"must be|name a class"):
        restored(**changes)


# Votes.


@given(st.data(), st.integers(1, 6), st.integers(1, 5), st.booleans())
def test_shares_are_finite_and_add_up_to_one(data, k, n_classes, uniform):
    values = st.sampled_from([0.0, -1.0, 1.0, 0.5, 1e-300, 5e-324, 1e300, 1.7e308])
    similarities = data.draw(arrays.arrays(np.float64, (4, k), elements=values))
    similarities = -np.sort(-similarities, axis=1)
    labels = data.draw(arrays.arrays(np.int32, 10, elements=st.integers(0, n_classes - 1)))
    positions = data.draw(arrays.arrays(np.int64, (4, k), elements=st.integers(0, 9)))
    compared = np.tile(np.bincount(labels, minlength=n_classes), (4, 1))
    weights = data.draw(
        arrays.arrays(np.float64, n_classes, elements=st.sampled_from([5e-324, 1e-3, 1.0, 1e300]))
    )
    shares = probabilities(
        Neighbors(positions, similarities, compared), labels, weights, uniform=uniform
    )
    assert (shares >= 0).all() and shares.sum(axis=1) == pytest.approx(1)


def test_the_last_is_left_out_where_a_structure_is_not_among_its_neighbors():
    positions, similarities = np.array([[4, 5, 6], [4, 5, 6]]), np.array([[3, 2, 1], [3, 2, 1]])
    kept, values = without_self(positions, similarities, np.array([5, 9]))
    assert kept.tolist() == [[4, 6], [4, 5]] and values.tolist() == [[3, 1], [3, 2]]


@pytest.mark.parametrize("weights", ["similarity", "uniform"])
def test_contributions_are_fractions_of_the_votes(weights):
    first, second = sorted(set(LABELS.tolist()))[:2]
    model = fitted(weights=weights, class_weight={first: 2.0})
    found = model.contributions(QUERIES, first, against=second)
    ids, similarities = model.kneighbors(QUERIES)
    for row, (near, values) in enumerate(zip(ids.tolist(), similarities.tolist(), strict=True)):
        votes = {
            i: (value if weights == "similarity" else 1.0) * (2.0 if LABELS[i] == first else 1.0)
            for i, value in zip(near, values, strict=True)
            if value > 0
        }
        sign = {first: 1.0, second: -1.0}
        expected = {i: sign.get(LABELS[i], 0.0) * v / sum(votes.values()) for i, v in votes.items()}
        for column, index in enumerate(found.indices.tolist()):
            assert found.values[row, column] == pytest.approx(expected.get(index, 0.0))


def test_without_votes_the_score_is_an_intercept():
    model = KernelNeighborsClassifier(KERNEL, n_neighbors=2).fit(TREES, LABELS)
    first, second = sorted(set(LABELS.tolist()))[:2]
    found = model.contributions([kw.Tree("unlike all others")], first, against=second)
    assert not found.values.any()
    n_first, n_second = (LABELS.tolist().count(one) for one in (first, second))
    assert found.intercepts == pytest.approx([(n_first - n_second) / len(LABELS)])
