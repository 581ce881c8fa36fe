from __future__ import annotations

import copy
import functools
import pickle

import numpy as np
import pytest
import strategies
from features.indexes import (
    KERNEL,
    QUERIES,
    TREES,
    embedding_index as index,
    nearest_by_definition,
    pairs,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.features import EmbeddingIndex, NystromEmbedder, embedding_index
from kernelwood.features.vector_search import nearest_vectors, quantize
from kernelwood.persist.estimators import estimator_state, restore_estimator

# Searching.


@pytest.mark.parametrize("options", [{}, {"n_landmarks": 1}, {"n_components": 7}])
def test_the_nearest_vectors_are_found_in_order(options):
    made = index(**options).fit(TREES)
    assert pairs(made.search(QUERIES, 15)) == nearest_by_definition(made, QUERIES, 15)


def test_scores_approximate_the_kernel():
    made = index(n_landmarks=120).fit(TREES)
    ids, scores = made.search(QUERIES, 10)
    exact = np.take_along_axis(KERNEL.cross(QUERIES, TREES), ids, axis=1)
    assert np.abs(scores - exact).max() < 0.02


def test_re_ranking_orders_the_nearest_vectors_by_similarity():
    made = index().fit(TREES)
    ids, similarities = made.search(QUERIES, 5, n_rerank=30)
    values = KERNEL.cross(TREES, QUERIES).T.tolist()
    for row, near in enumerate(nearest_by_definition(made, QUERIES, 30)):
        best = sorted((i for _, i in near), key=lambda i: (-values[row][i], i))[:5]
        assert ids[row].tolist() == best
        assert similarities[row].tolist() == [values[row][i] for i in best]


def test_the_parameter_is_overruled_by_the_argument():
    made = index(n_rerank=120).fit(TREES)
    exact = made.search(QUERIES, 3)
    assert (exact[1] == KERNEL.neighbors(QUERIES, TREES, 3)[1]).all()
    assert pairs(made.search(QUERIES, 3, n_rerank=0)) == nearest_by_definition(made, QUERIES, 3)


def test_a_search_costs_landmarks_and_re_ranking():
    made = index().fit(TREES)
    with kw.compute.counting() as counters:
        made.search(QUERIES, 3)
        assert counters.kernel_evaluations == 20 * 25
        made.search(QUERIES, 3, n_rerank=30)
    assert counters.kernel_evaluations == 20 * (25 + 25 + 30)


@pytest.mark.parametrize("n_rerank", [None, 30])
def test_results_do_not_depend_on_company_or_threads(n_rerank):
    made = index(n_rerank=n_rerank).fit(TREES)
    expected = pairs(made.search(QUERIES, 6))
    assert [pairs(made.search([query], 6))[0] for query in QUERIES] == expected
    threaded = clone(made).set_params(n_jobs=2).fit(kw.batch(TREES))
    assert pairs(threaded.search(kw.batch(QUERIES), 6)) == expected


def test_vectors_do_not_depend_on_blocks(monkeypatch):
    whole = index().fit(TREES)
    few = functools.partial(embedding_index.compare_rows, n_rows=7)
    monkeypatch.setattr(embedding_index, "compare_rows", few)
    made = index().fit(TREES)
    assert (made.vectors_ == whole.vectors_).all() and (made.scales_ == whole.scales_).all()


def test_progress_is_that_of_the_whole_of_an_addition():
    made, seen = index().fit(TREES), []
    with kw.config_context(progress=lambda done, total: seen.append((done, total))):
        made.add(TREES[:50])
    assert seen[-1] == (1250, 1250) and {total for _, total in seen} == {1250}


def test_landmarks_can_be_chosen_by_class():
    made = index(selection="stratified").fit(TREES, ["a", "b"] * 60)
    chosen = made.embedder_.landmark_indices_ % 2
    assert 12 <= chosen.sum() <= 13


def test_kernels_that_are_not_normalized_give_finite_scores():
    kernel = kw.SubsetTreeKernel(decay=1.0, normalize=False)
    made = index(kernel=kernel).fit(TREES)
    assert np.isfinite(made.search(QUERIES, 120)[1]).all()


def test_float32_kernels_are_searched_alike():
    made = index(kernel=kw.SubsetTreeKernel(decay=0.5, dtype="float32")).fit(TREES)
    assert pairs(made.search(QUERIES, 6)) == nearest_by_definition(made, QUERIES, 6)
    assert made.search(QUERIES, 6, n_rerank=20)[1].dtype == np.float32


# Coming and going.


def test_examples_are_kept_with_the_views_that_are_read():
    questions = load_questions()
    kernel = kw.OnView("tree", kw.SubsetTreeKernel())
    made = index(kernel=kernel).fit(questions[:80])
    made.add(kw.batch(questions[80:]))
    trees = [question.view("tree") for question in questions]
    plain = index(kernel=kw.SubsetTreeKernel()).fit(trees[:80])
    plain.add(trees[80:])
    assert sorted(made.structures_[0].views) == ["tree"]
    for n_rerank in (0, 20):
        found = made.search(questions[:9], 4, n_rerank=n_rerank)
        assert pairs(found) == pairs(plain.search(trees[:9], 4, n_rerank=n_rerank))


# Parameters.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 0}, "EmbeddingIndex: n_landmarks must be an int of at least 1"),
        ({"n_components": 0}, "EmbeddingIndex: n_components must be an int of at least 1 or None"),
        ({"selection": "first"}, "EmbeddingIndex: selection must be one of"),
        ({"n_rerank": -1}, "EmbeddingIndex: n_rerank must be an int of at least 0 or None"),
        ({"kernel": None}, "EmbeddingIndex: kernel must be a kernel"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        index(**parameters).fit(TREES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 121}, "EmbeddingIndex: k must be an int from 1 to 120"),
        ({"k": 0}, "k must be an int from 1 to 120"),
        ({"k": 5, "n_rerank": 4}, "n_rerank=0 for approximate similarities"),
        ({"k": 5, "n_rerank": 7.0}, "n_rerank must be an int"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        index().fit(TREES).search(QUERIES, **arguments)


def test_what_is_not_fitted_says_so():
    for ask in (lambda i: i.search(QUERIES), lambda i: i.add(TREES), len, lambda i: i.remove([0])):
        with pytest.raises(NotFittedError, match="call fit"):
            ask(index())


# Copies and files.


def test_copies_are_independent():
    made = index().fit(TREES)
    expected = pairs(made.search(QUERIES, 5))
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert pairs(other.search(QUERIES, 5)) == expected
        other.remove(range(60))
    assert pairs(made.search(QUERIES, 5)) == expected


def restored(made, **changes):
    state = estimator_state(made)
    for name, value in changes.items():
        state.arrays.pop(name, None)
        state.parameters.pop(f"fitted-{name}", None)
        if isinstance(value, np.ndarray):
            state.arrays[name] = value
        else:
            state.parameters[f"fitted-{name}"] = value
    return restore_estimator(EmbeddingIndex, state)


def test_a_restored_index_finds_the_same_and_goes_on():
    made = index(n_rerank=20).fit(TREES[:100])
    made.add(TREES[100:])
    made.remove([0, 119])
    again = restored(made)
    for n_rerank in (None, 0):
        expected = pairs(made.search(QUERIES, 5, n_rerank=n_rerank))
        assert pairs(again.search(QUERIES, 5, n_rerank=n_rerank)) == expected
    assert again.add(TREES[:1]) == made.add(TREES[:1]) == 120
    again.remove([5])
    assert len(again) == 118


@pytest.mark.parametrize(
    "changes",
    [
        {"ids_": np.zeros(120, dtype=np.int64)},
        {"ids_": None},
        {"next_id_": 2**63},
        {"vectors_": np.zeros((120, 64), dtype=np.int8)},
        {"vectors_": np.zeros((119, 32), dtype=np.int8)},
        {"vectors_": np.zeros((120, 32))},
        {"vectors_": np.ones((120, 32), dtype=np.int8)},
        {"vectors_": "vectors"},
        {"scales_": np.full(120, np.nan, dtype=np.float32)},
        {"scales_": np.full(120, np.inf, dtype=np.float32)},
        {"scales_": np.full(120, -1, dtype=np.float32)},
        {"scales_": np.zeros(120)},
        {"scales_": np.zeros(119, dtype=np.float32)},
        {"scales_": None},
        {"structures_": kw.batch(TREES[:3])},
        {"structures_": 3},
        {"embedder_": 3},
        {"embedder_": None},
        {"seed_": "x"},
        {"kernel_": kw.SubsequenceKernel()},
        {"kernel_": None},
        {"embedder_": NystromEmbedder(KERNEL, n_landmarks=40, random_state=0).fit(TREES)},
        {
            "embedder_": NystromEmbedder(kw.SubsequenceKernel(), n_landmarks=25).fit(
                strategies.sample_sequences(40)
            )
        },
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_hostile_state_is_refused(changes):
    with pytest.raises(ValueError, match=r"must be"):
        restored(index().fit(TREES), **changes)


def test_vectors_can_be_searched_without_an_index():
    made = index().fit(TREES)
    vectors = made.embedder_.transform(QUERIES)
    found = nearest_vectors(vectors, made.vectors_, made.scales_, 6)
    assert pairs(found) == pairs(made.search(QUERIES, 6))


def test_what_is_unlike_all_landmarks_finds_itself():
    """Its vector is short, and its products with longer ones are larger than with itself."""
    random = np.random.default_rng(0)
    texts = [
        kw.Sequence([f"w{word}" for word in random.zipf(1.3, size=8) % 5000]) for _ in range(3000)
    ]
    made = EmbeddingIndex(kw.SubsequenceKernel(), n_landmarks=100, random_state=0).fit(texts)
    assert made.embedder_.residual_ > 0.8
    ids, _ = made.search(texts[:200], k=10)
    plain = made.embedder_.transform(texts)
    by_products, _ = nearest_vectors(plain[:200], *quantize(plain), 10)
    own = np.arange(200)[:, None]
    assert (ids == own).any(axis=1).sum() > 2 * (by_products == own).any(axis=1).sum()
