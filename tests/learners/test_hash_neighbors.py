from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import strategies
from corpora import data_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.learners import HashNeighborsClassifier, KernelNeighborsClassifier
from kernelwood.persist.estimators import estimator_state, restore_estimator

TREES = strategies.sample_trees(150, seed=1, max_nodes=15)
LABELS = [tree.label + str(tree.n_nodes % 2) for tree in TREES]
QUERIES = strategies.sample_trees(40, seed=2, max_nodes=15)
KERNEL = kw.SubsetTreeKernel(decay=0.5)


def classifier(**parameters):
    options = {"n_references": 20, "n_bits": 6, "n_candidates": 30, "random_state": 3, **parameters}
    return HashNeighborsClassifier(options.pop("kernel", KERNEL), **options)


def fitted(**parameters):
    return classifier(**parameters).fit(TREES, LABELS)


def distance(a, b):
    return (int(a) ^ int(b)).bit_count()


def candidates_by_definition(code, codes, wanted):
    """Positions in the nearest buckets, whole ones, until there are enough."""
    found = []
    for bucket in sorted(set(codes), key=lambda c: (distance(c, code), c)):
        found += [i for i, c in enumerate(codes) if c == bucket]
        if len(found) >= wanted:
            break
    return sorted(found)


def neighbors_by_definition(model, queries, k, *, wanted):
    codes, ids = model.codes_[:, 0].tolist(), model.ids_.tolist()
    values = model.kernel_.cross(model.structures_, queries).T.tolist()
    rows = []
    for similar, code in zip(values, model.hasher_.codes(queries)[:, 0].tolist(), strict=True):
        candidates = candidates_by_definition(code, codes, wanted)
        best = sorted(candidates, key=lambda i: (-similar[i], i))
        rows.append([(ids[i], similar[i]) for i in best[:k]])
    return rows


def pairs(found):
    ids, similarities = found
    return [
        list(zip(i, s, strict=True))
        for i, s in zip(ids.tolist(), similarities.tolist(), strict=True)
    ]


# Neighbors.


@pytest.mark.parametrize("n_bits", [1, 4, 12, 64])
@pytest.mark.parametrize("n_candidates", [1, 20, 100])
def test_neighbors_are_those_of_the_definition(n_bits, n_candidates):
    model = fitted(n_bits=n_bits, n_candidates=n_candidates)
    expected = neighbors_by_definition(model, QUERIES, 5, wanted=max(5, n_candidates))
    assert pairs(model.kneighbors(QUERIES, 5)) == expected


def test_with_all_structures_as_candidates_neighbors_are_exact():
    model = fitted(n_candidates=len(TREES))
    exact = KernelNeighborsClassifier(KERNEL).fit(TREES, LABELS)
    assert pairs(model.kneighbors(QUERIES)) == pairs(exact.kneighbors(QUERIES))
    assert (model.predict_proba(QUERIES) == exact.predict_proba(QUERIES)).all()


def test_equally_similar_neighbors_are_in_order_of_their_ids():
    model = classifier(n_candidates=60).fit(TREES[:20] * 3, LABELS[:20] * 3)
    ids, similarities = model.kneighbors(TREES[:20], 60)
    same = np.diff(similarities, axis=1) == 0
    assert same.any() and (np.diff(ids, axis=1)[same] > 0).all()


def test_a_structure_is_not_its_own_neighbor():
    model = fitted()
    ids, similarities = model.kneighbors()
    assert ids.shape == (150, 8)
    assert not (ids == np.arange(150)[:, None]).any()
    others, values = model.kneighbors(TREES, 9)
    for own in range(150):
        mine = [(i, v) for i, v in zip(others[own], values[own], strict=True) if i != own][:8]
        assert list(zip(ids[own], similarities[own], strict=True)) == mine


def test_neighbors_of_themselves_cost_no_hashing():
    model = fitted(n_candidates=150)
    model.kneighbors()
    assert model.query_evaluations_ == 150 * 150


def test_copies_of_a_structure_are_neighbors_of_each_other():
    model = classifier(n_neighbors=3).fit([TREES[0]] * 10 + TREES[:30], ["x"] * 40)
    ids, _ = model.kneighbors()
    assert ids[9].tolist() == [0, 1, 2]
    assert ids[0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("parameters", [{}, {"n_bits": 64}, {"n_bits": 2}])
def test_results_do_not_depend_on_company_order_or_threads(parameters):
    model = fitted(**parameters)
    ids, similarities = model.kneighbors(QUERIES)
    alone = [model.kneighbors([query]) for query in QUERIES]
    assert (np.concatenate([i for i, _ in alone]) == ids).all()
    assert (np.concatenate([s for _, s in alone]) == similarities).all()
    backwards, _ = model.kneighbors(kw.batch(QUERIES[::-1]))
    assert (backwards[::-1] == ids).all()
    threaded = clone(model).set_params(n_jobs=2).fit(kw.batch(TREES), LABELS)
    assert (threaded.predict_proba(QUERIES) == model.predict_proba(QUERIES)).all()


def test_results_do_not_depend_on_how_much_is_held_at_once(monkeypatch):
    model = fitted()
    expected = pairs(model.kneighbors(QUERIES))
    monkeypatch.setattr("kernelwood.learners.hash_neighbors._PAIRS_AT_ONCE", 100)
    monkeypatch.setattr("kernelwood.learners.hash_neighbors._BUCKETS_AT_ONCE", 10)
    assert pairs(model.kneighbors(QUERIES)) == expected


@pytest.mark.parametrize("cost", [0, 10**9])
def test_blocks_by_code_and_by_bucket_give_the_same(cost, monkeypatch):
    model = fitted(n_bits=4)
    expected = pairs(model.kneighbors(QUERIES))
    monkeypatch.setattr("kernelwood.learners.hash_neighbors._BLOCK_COST", cost)
    assert pairs(model.kneighbors(QUERIES)) == expected


# Votes.


def test_votes_count_as_much_as_their_similarity():
    model = fitted(n_neighbors=5)
    ids, similarities = model.kneighbors(QUERIES)
    chances = model.predict_proba(QUERIES)
    for row, (voters, strengths) in enumerate(zip(ids, similarities, strict=True)):
        votes = np.zeros(len(model.classes_))
        np.add.at(votes, model.labels_[voters], strengths)
        if votes.sum():
            assert chances[row] == pytest.approx(votes / votes.sum())


def test_uniform_votes_are_shares_of_neighbors():
    chances = fitted(n_neighbors=5, weights="uniform", n_candidates=150).predict_proba(TREES)
    counts = chances * 5
    whole = np.isclose(counts, counts.round()).all(axis=1)
    assert whole.mean() > 0.5 and chances.sum(axis=1) == pytest.approx(1)


def test_class_weights_are_factors_of_votes():
    plain = fitted().predict_proba(QUERIES)
    weights = {label: 1.0 + i for i, label in enumerate(sorted(set(LABELS)))}
    weighted = plain * np.array(list(weights.values()))
    weighted /= weighted.sum(axis=1, keepdims=True)
    assert fitted(class_weight=weights).predict_proba(QUERIES) == pytest.approx(weighted)


def test_a_structure_unlike_all_gets_the_shares_of_its_candidates():
    stranger = kw.Tree.from_brackets("(nothing like this)")
    model = fitted(n_candidates=150)
    shares = np.bincount(model.labels_) / 150
    assert model.predict_proba([stranger])[0] == pytest.approx(shares)
    few = fitted(n_candidates=10, n_bits=12)
    chances = few.predict_proba([stranger])
    assert np.isfinite(chances).all() and chances.sum() == pytest.approx(1)


def test_huge_and_tiny_similarities_end_in_probabilities():
    kernel = kw.SubsetTreeKernel(decay=0.5, normalize=False)
    plain = fitted(kernel=kernel, n_candidates=150).predict_proba(QUERIES)
    for factor in (1e280, 1e-280):
        scaled = fitted(kernel=factor * kernel, n_candidates=150).predict_proba(QUERIES)
        assert scaled == pytest.approx(plain)


# Coming and going.


def test_added_structures_are_found():
    model = classifier(n_candidates=150).fit(TREES[:100], LABELS[:100])
    assert model.add(TREES[100:120], LABELS[100:120]).tolist() == list(range(100, 120))
    model.add(kw.batch(TREES[120:]), np.array(LABELS[120:]))
    exact = KernelNeighborsClassifier(KERNEL).fit(TREES, LABELS)
    assert pairs(model.kneighbors(QUERIES)) == pairs(exact.kneighbors(QUERIES))
    assert [str(tree) for tree in model.structures_] == [str(tree) for tree in TREES]


def test_removed_structures_are_not_found_and_others_keep_their_ids():
    model = fitted(n_candidates=150)
    model.remove(range(0, 150, 2))
    model.remove([1])
    ids, _ = model.kneighbors(QUERIES)
    assert set(ids.ravel().tolist()) <= set(range(3, 150, 2))
    assert model.ids_.tolist() == list(range(3, 150, 2))
    expected = KernelNeighborsClassifier(KERNEL).fit(TREES[3::2], LABELS[3::2])
    assert (model.ids_[expected.kneighbors(QUERIES)[0]] == ids).all()
    assert (model.predict(QUERIES) == expected.predict(QUERIES)).all()


def test_single_removals_and_additions_in_turn():
    model = classifier(n_candidates=150).fit(TREES[:60], LABELS[:60])
    for i in range(60, 90):
        [added] = model.add([TREES[i]], [LABELS[i]])
        model.remove([i - 60])
        assert added == i and model.kneighbors([TREES[i]], 60)[0].min() == i - 59
    assert model.ids_.tolist() == list(range(30, 90)) and len(model) == 60


def test_ids_are_not_used_again():
    model = fitted()
    model.remove([149])
    assert model.add(TREES[:1], LABELS[:1]).tolist() == [150]


def test_fitting_again_forgets_what_was_there():
    model = fitted(n_candidates=150)
    model.predict(QUERIES)
    model.fit(TREES[100:], LABELS[100:])
    expected = classifier(n_candidates=150).fit(TREES[100:], LABELS[100:])
    assert pairs(model.kneighbors(QUERIES)) == pairs(expected.kneighbors(QUERIES))
    assert model.ids_.tolist() == list(range(50))


def test_an_id_that_is_not_there_removes_nothing():
    model = fitted()
    model.remove([7])
    for ids in ([3, 7], [3, 150], [-1, 3]):
        with pytest.raises(kw.errors.KernelInputError, match="no structure with the id"):
            model.remove(ids)
    assert len(model) == 149
    with pytest.raises(kw.errors.KernelInputError, match="ids must be a list of whole numbers"):
        model.remove([0.5])


def test_another_class_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="'new' is not one of the classes"):
        fitted().add(TREES[:2], ["new", LABELS[0]])


def test_the_callers_vocabulary_does_not_grow():
    trees = kw.batch(TREES)
    known = len(trees.vocabulary)
    model = classifier().fit(trees, LABELS)
    model.add([kw.Tree.from_brackets("(new labels)")], LABELS[:1])
    assert len(trees.vocabulary) == known


# What it costs.


def test_evaluations_are_counted():
    with kw.compute.counting() as counters:
        model = fitted()
        assert model.kernel_evaluations_ == counters.kernel_evaluations == 150 * 20 + 20 * 21 // 2
        model.predict(QUERIES)
        model.kneighbors(QUERIES[:3])
        model.add(TREES[:2], LABELS[:2])
    assert model.kernel_evaluations_ == 152 * 20 + 20 * 21 // 2
    assert model.query_evaluations_ + model.kernel_evaluations_ == counters.kernel_evaluations


def test_only_candidates_are_compared():
    model = fitted(n_bits=10)
    model.predict(QUERIES)
    codes, queries = model.codes_[:, 0].tolist(), model.hasher_.codes(QUERIES)[:, 0].tolist()
    compared = sum(len(candidates_by_definition(code, codes, 30)) for code in queries)
    assert model.query_evaluations_ == 40 * 20 + compared < 40 * (20 + 150)


def test_queries_of_several_threads_are_all_counted():
    model = fitted()
    model.predict(QUERIES)
    once = model.query_evaluations_
    with ThreadPoolExecutor(4) as pool:
        several = list(pool.map(lambda _: model.predict(QUERIES), range(12)))
    assert all((labels == several[0]).all() for labels in several)
    assert model.query_evaluations_ == 13 * once


def test_progress_ends_at_the_total():
    model, calls = fitted(), []
    with kw.config_context(progress=lambda done, total: calls.append((done, total))):
        model.kneighbors()
    assert calls[-1] == (model.query_evaluations_,) * 2
    assert all(done <= total for done, total in calls) and sorted(calls) == calls


# With scikit-learn.


def test_examples_bring_their_labels():
    questions = load_questions()
    kernel = kw.OnView("tree", kw.SubsetTreeKernel())
    model = classifier(kernel=kernel).fit(questions[:100])
    trees = [question.view("tree") for question in questions]
    plain = classifier(kernel=kw.SubsetTreeKernel()).fit(
        trees[:100], [question.label for question in questions[:100]]
    )
    model.add(questions[100:])
    plain.add(trees[100:], [question.label for question in questions[100:]])
    assert (model.predict_proba(questions) == plain.predict_proba(trees)).all()
    model.remove(range(50))
    assert model.structures_[0].id == questions[50].id


def test_forests_and_sequences_can_be_added():
    forests, sequences = strategies.sample_forests(30), strategies.sample_sequences(30)
    for structures, kernel in ((forests, kw.ForestKernel()), (sequences, kw.SubsequenceKernel())):
        model = classifier(kernel=kernel, n_references=10, n_candidates=30)
        model.fit(structures[:20], [0, 1] * 10).add(structures[20:], [1] * 10)
        exact = KernelNeighborsClassifier(kernel).fit(structures, [0, 1] * 10 + [1] * 10)
        assert pairs(model.kneighbors(structures)) == pairs(exact.kneighbors(structures))


def test_a_grid_search_over_the_kernel():
    questions = kw.batch(load_questions())
    grid = {"kernel__decay": [0.2, 0.8], "n_bits": [4, 8]}
    search = GridSearchCV(classifier(), grid, cv=2)
    search.fit(questions.view("tree"), questions.labels)
    assert search.best_score_ > 0.3  # a sixth by chance


def test_the_same_seed_gives_the_same_results():
    first = fitted(random_state=np.random.default_rng(5))
    again = fitted(random_state=first.seed_)
    assert (first.predict_proba(QUERIES) == again.predict_proba(QUERIES)).all()


def test_copies_are_independent():
    model = fitted()
    expected = model.predict_proba(QUERIES)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (other.predict_proba(QUERIES) == expected).all()
        other.remove(range(100))
    assert (model.predict_proba(QUERIES) == expected).all() and len(model) == 150


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an int of at least 1"),
        ({"n_neighbors": 151}, "n_neighbors=151, but there are only 150 structures"),
        ({"n_bits": 65}, "n_bits must be at most 64"),
        ({"n_candidates": 0}, "n_candidates must be an int of at least 1 or None"),
        ({"weights": "distance"}, "weights must be one of"),
        ({"class_weight": "none"}, "class_weight must be"),
        ({"method": "lsh"}, "method must be one of"),
        ({"kernel": None}, "kernel must be a kernel"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        fitted(**parameters)


def test_too_few_structures_are_told():
    model = fitted()
    with pytest.raises(kw.errors.KernelInputError, match="n_neighbors=150, but there are only 149"):
        model.kneighbors(None, 150)
    model.remove(range(145))
    with pytest.raises(kw.errors.KernelInputError, match="n_neighbors=8, but there are only 5"):
        model.predict(QUERIES)
    model.remove(range(145, 150))
    assert len(model) == 0
    model.add(TREES[:8], LABELS[:8])
    assert model.predict(QUERIES).shape == (40,)


def test_what_is_not_fitted_says_so():
    for ask in ("predict", "kneighbors"):
        with pytest.raises(NotFittedError, match="call fit"):
            getattr(classifier(), ask)(QUERIES)
    assert not hasattr(classifier(), "ids_")


# Saving.


def restored(model, **changes):
    state = estimator_state(model)
    for name, value in changes.items():
        state.arrays.pop(name, None)
        state.parameters.pop(f"fitted-{name}", None)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            state.arrays[name] = value
        else:
            state.parameters[f"fitted-{name}"] = value
    return restore_estimator(HashNeighborsClassifier, state)


def test_a_restored_classifier_predicts_the_same_and_goes_on():
    model = fitted()
    model.remove([3, 149])
    again = restored(model)
    assert (again.predict_proba(QUERIES) == model.predict_proba(QUERIES)).all()
    assert again.add(TREES[:1], LABELS[:1]) == model.add(TREES[:1], LABELS[:1])
    again.remove([0])
    assert 3 not in again.ids_ and len(again) == 148


def test_what_is_removed_is_not_saved():
    model = fitted()
    model.remove([3])
    assert len(estimator_state(model).parameters["fitted-structures_"]) == 149


@pytest.mark.parametrize(
    "changes",
    [
        {"ids_": np.arange(149)},
        {"ids_": np.arange(150)[::-1].copy()},
        {"ids_": np.arange(-1, 149)},
        {"ids_": "ids"},
        {"next_id_": 149},
        {"next_id_": None},
        {"codes_": np.zeros((150, 2), dtype=np.uint64)},
        {"codes_": np.full((150, 1), 2**6, dtype=np.uint64)},
        {"labels_": np.full(150, 6, dtype=np.int32)},
        {"labels_": np.full(150, -1, dtype=np.int32)},
        {"labels_": np.zeros(150)},
        {"class_weights_": np.full(6, np.nan)},
        {"class_weights_": np.ones(5)},
        {"structures_": kw.batch(TREES[:149])},
        {"structures_": kw.batch(strategies.sample_sequences(150))},
        {"structures_": None},
        {"hasher_": None},
        {"kernel_": 3},
        {"seed_": None},
        {"kernel_evaluations_": "many"},
        {"classes_": np.arange(3)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_hostile_state_is_refused(changes):
    model = fitted()
    assert len(model.classes_) == 6
    with pytest.raises((ValueError, TypeError, AttributeError)):
        restored(model, **changes)


# Questions.


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [kw.SubsetTreeKernel(), kw.PartialTreeKernel()])
def test_questions_are_classified_with_few_evaluations(kernel):
    train, test = (
        list(kw.read(data_file("question-classification", name)))
        for name in ("train_5500.coarse.klp.gz", "TREC_10.coarse.klp.gz")
    )
    kernel = kw.OnView("grct", kernel)
    labels = [question.label for question in test]
    exact = KernelNeighborsClassifier(kernel).fit(train).score(test, labels)
    model = HashNeighborsClassifier(kernel, random_state=0).fit(train)
    assert model.score(test, labels) > 0.97 * exact
    assert model.kernel_evaluations_ + model.query_evaluations_ < len(train) ** 1.6
