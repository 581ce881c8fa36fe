"""Clusters by the exact kernel and by vectors: results, limits, determinism, saving."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from clustering.oracles import LinearKernel, clusters_of, inertia, points, squared_distances
from hypothesis import given, strategies as st
from sizes import DEPTH
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from strategies import chain, sample_forests, sample_sequences, sample_trees, trees

import kernelwood as kw
from kernelwood.clustering import KernelKMeans
from kernelwood.datasets import load_questions
from kernelwood.features import NystromEmbedder
from kernelwood.persist.estimators import check_restored

QUESTIONS = load_questions()
TREES = [question.view("tree") for question in QUESTIONS]
KERNEL = kw.SubsetTreeKernel(decay=0.5)
PARTIAL = kw.PartialTreeKernel()
ROUTES = ("exact", "vectors")
every_route = pytest.mark.parametrize("route", ROUTES)


def make(route, n_clusters=5, kernel=KERNEL, *, n_landmarks=50, **parameters):
    embedder = NystromEmbedder(kernel, n_landmarks=n_landmarks) if route == "vectors" else None
    return KernelKMeans(
        n_clusters, kernel, **{"embedder": embedder, "random_state": 0, **parameters}
    )


def quiet_fit(model, structures):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(structures)


def bits(model, structures=TREES):
    """Return all that a fitted model has learned and says, as bytes."""
    arrays = [
        model.labels_,
        np.array([model.inertia_, model.n_iter_]),
        model.center_norms_,
        model.representative_indices_,
        model.predict(structures),
        model.transform(structures),
    ]
    return [array.tobytes() for array in arrays]


# What is found.


@every_route
def test_groups_that_are_far_apart_are_found(route):
    texts = ["who sang it", "when did it end", "who wrote it", "when did it start", "who is it"]
    sequences = [kw.Sequence(text.split()) for text in texts]
    model = make(route, 2, kw.SubsequenceKernel()).fit(sequences)
    assert model.labels_.tolist() == [0, 1, 0, 1, 0]


@every_route
def test_structures_of_fit_are_predicted_to_be_where_they_are(route):
    model = make(route).fit(TREES)
    assert (model.predict(TREES) == model.labels_).all()


@every_route
def test_fit_predict_returns_the_labels(route):
    labels = make(route).fit_predict(TREES)
    assert labels.dtype == np.int32
    assert (labels == make(route).fit(TREES).labels_).all()


@every_route
def test_clusters_are_numbered_by_falling_size(route):
    model = make(route, 8).fit(TREES)
    assert model.cluster_sizes_.tolist() == np.bincount(model.labels_).tolist()
    assert (np.diff(model.cluster_sizes_) <= 0).all()
    members = clusters_of(model.labels_.tolist())
    assert [model.labels_[cluster[0]] for cluster in members] == list(range(8))


def test_distances_are_those_of_the_definition():
    model = make("exact").fit(TREES)
    gram = KERNEL.gram(TREES).tolist()
    clusters = clusters_of(model.labels_.tolist())
    expected = [squared_distances(gram, clusters, i) for i in range(len(TREES))]
    assert model.transform(TREES) ** 2 == pytest.approx(np.array(expected), abs=1e-9)
    assert model.inertia_ == pytest.approx(inertia(gram, clusters))


def test_distances_to_other_structures_are_those_of_the_definition():
    model = make("exact").fit(TREES[:100])
    gram = KERNEL.gram(TREES).tolist()
    clusters = clusters_of(model.labels_.tolist())
    expected = [squared_distances(gram, clusters, i) for i in range(100, 120)]
    assert model.transform(TREES[100:]) ** 2 == pytest.approx(np.array(expected), abs=1e-9)


def test_vectors_with_all_landmarks_have_the_distances_of_the_exact_kernel():
    model = make("vectors", n_landmarks=120).fit(TREES)
    gram = KERNEL.gram(TREES).tolist()
    clusters = clusters_of(model.labels_.tolist())
    expected = [squared_distances(gram, clusters, i) for i in range(len(TREES))]
    assert model.transform(TREES) ** 2 == pytest.approx(np.array(expected), abs=1e-8)


@every_route
def test_the_score_of_the_structures_of_fit_is_minus_the_inertia(route):
    model = make(route).fit(TREES)
    assert model.score(TREES) == pytest.approx(-model.inertia_)


@every_route
def test_medoids_are_the_members_nearest_to_their_centers(route):
    model = make(route).fit(TREES)
    distances = model.transform(TREES)
    for cluster, medoid in enumerate(model.medoid_indices_):
        assert model.labels_[medoid] == cluster
        members = distances[model.labels_ == cluster, cluster]
        assert distances[medoid, cluster] == pytest.approx(members.min())
    assert list(model.medoids_) == [TREES[medoid] for medoid in model.medoid_indices_]


@every_route
def test_representatives_are_the_members_nearest_to_their_centers_in_order(route):
    model = make(route).fit(TREES)
    distances = model.transform(TREES)
    for cluster, row in enumerate(model.representative_indices_):
        members = np.sort(distances[model.labels_ == cluster, cluster])
        there = row[row >= 0]
        assert len(there) == min(12, len(members))
        assert distances[there, cluster] == pytest.approx(members[: len(there)])
    chosen = model.representative_indices_[model.representative_indices_ >= 0]
    assert list(model.representatives_) == [TREES[index] for index in chosen]


def test_of_two_members_the_first_is_the_medoid():
    model = make("exact", 3, LinearKernel()).fit(
        points([[0.1], [0.4], [7.1], [7.3], [-5.2], [-5.9]])
    )
    assert sorted(model.medoid_indices_.tolist()) == [0, 2, 4]


def test_more_starts_are_never_worse():
    found = [make("exact", 10, n_init=n_init).fit(TREES).inertia_ for n_init in (1, 3, 6)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


@pytest.mark.parametrize("seed", range(3))
def test_a_linear_kernel_reaches_the_inertia_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(90, 2)) + 20 * rng.normal(size=(6, 2))[np.arange(90) % 6]
    expected = KMeans(6, n_init=10, random_state=0).fit(vectors)
    model = make("exact", 6, LinearKernel(), n_init=10).fit(points(vectors))
    assert model.inertia_ == pytest.approx(expected.inertia_)


# Structures of every kind.


@pytest.mark.parametrize(
    ("kernel", "structures"),
    [
        (kw.SubsequenceKernel(), sample_sequences(30)),
        (kw.PartialTreeKernel(), sample_trees(30)),
        (kw.ForestKernel(), sample_forests(15)),
        (kw.SubsetTreeKernel(normalize=False), sample_trees(30)),
        (kw.SubsetTreeKernel(dtype="float32"), sample_trees(30)),
        (kw.SubtreeKernel() + 2 * kw.PartialTreeKernel(), sample_trees(30)),
    ],
    ids=["sequences", "trees", "forests", "not normalized", "float32", "sum"],
)
@every_route
def test_any_kernel_can_cluster(route, kernel, structures):
    model = make(route, 4, kernel, n_landmarks=10).fit(structures)
    assert (model.predict(structures) == model.labels_).all()
    assert np.isfinite(model.transform(structures)).all()


@every_route
def test_examples_are_clustered_by_their_views(route):
    kernel = kw.OnView("tree", KERNEL) + kw.OnView("words", kw.SubsequenceKernel(max_length=2))
    model = make(route, kernel=kernel).fit(QUESTIONS)
    assert bits(model, QUESTIONS) == bits(
        make(route, kernel=kernel).fit(kw.batch(QUESTIONS)), QUESTIONS
    )
    assert sorted(model.medoids_[0].views) == ["tree", "words"]


def test_deep_trees_can_be_clustered():
    deep = chain(DEPTH)
    model = make("exact", 2, kw.SubtreeKernel()).fit([deep, chain(3), deep])
    assert model.labels_.tolist() == [0, 1, 0]


# Limits.


@every_route
def test_one_cluster_holds_everything(route):
    model = make(route, 1).fit(TREES)
    assert not model.labels_.any()
    assert model.transform(TREES).shape == (120, 1)


def test_as_many_clusters_as_structures_hold_one_each():
    model = make("exact", 30).fit(TREES[:30])
    assert model.labels_.tolist() == list(range(30))
    assert model.inertia_ == pytest.approx(0, abs=1e-9)


@every_route
def test_a_single_structure_is_a_cluster(route):
    model = make(route, 1).fit(TREES[:1])
    assert model.labels_.tolist() == [0]
    assert model.inertia_ == pytest.approx(0, abs=1e-9)


@every_route
def test_more_clusters_than_structures_are_refused(route):
    with pytest.raises(kw.errors.KernelInputError, match="there are 5 structures for n_clusters=6"):
        make(route, 6).fit(TREES[:5])


@every_route
def test_more_clusters_than_structures_that_differ_become_fewer(route):
    with pytest.warns(ConvergenceWarning, match="only 3 structures differ"):
        model = make(route, 5).fit(TREES[:3] * 4)
    assert model.labels_.tolist() == [0, 1, 2] * 4
    assert model.transform(TREES[:2]).shape == (2, 3)
    assert len(model.medoids_) == len(model.describe()) == 3


def test_structures_with_a_similarity_of_0_to_themselves_are_one_cluster():
    nothing, something = kw.Sequence([]), kw.Sequence(["a", "b"])
    with pytest.warns(RuntimeWarning, match="self-similarity 0"):
        model = make("exact", 2, kw.SubsequenceKernel()).fit([nothing, something, nothing])
    assert model.labels_.tolist() == [0, 1, 0]


def test_only_structures_with_a_similarity_of_0_to_themselves_are_one_cluster():
    with pytest.warns() as seen:
        model = make("exact", 2, kw.SubsequenceKernel()).fit([kw.Sequence([])] * 3)
    assert {warning.category for warning in seen} == {RuntimeWarning, ConvergenceWarning}
    assert model.labels_.tolist() == [0, 0, 0]
    assert model.inertia_ == 0


@every_route
def test_a_limit_that_is_reached_is_told(route):
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        model = make(route, 6, max_iter=1, n_init=1).fit(TREES)
    assert model.n_iter_ == 1


def test_values_of_very_different_size_give_finite_distances():
    kernel = kw.SubsetTreeKernel(decay=1.0, normalize=False)
    structures = [*sample_trees(20), kw.Tree("S", [kw.Tree("A", [kw.Tree("x")])] * 200)]
    model = make("exact", 4, kernel).fit(structures)
    assert np.isfinite(model.transform(structures)).all()
    assert np.isfinite(model.inertia_)


@given(st.lists(trees(), min_size=1, max_size=8), st.integers(1, 8), st.booleans())
def test_whatever_is_clustered_gives_finite_numbers_and_full_clusters(structures, k, normalize):
    kernel = kw.PartialTreeKernel(normalize=normalize)
    model = quiet_fit(make("exact", min(k, len(structures)), kernel), structures)
    assert model.cluster_sizes_.min() >= 1
    assert np.isfinite(model.transform(structures)).all()
    assert (model.predict(structures) == model.labels_).all()


@given(st.lists(trees(), min_size=1, max_size=6), st.integers(1, 6))
def test_equal_structures_are_in_one_cluster(structures, k):
    model = quiet_fit(make("exact", min(k, len(structures)), PARTIAL), structures * 2)
    assert (model.labels_[: len(structures)] == model.labels_[len(structures) :]).all()


# Parameters.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an int of at least 1"),
        ({"n_clusters": 2.0}, "n_clusters must be an int of at least 1"),
        ({"n_init": 0}, "n_init must be an int of at least 1"),
        ({"max_iter": 0}, "max_iter must be an int of at least 1"),
        ({"kernel": "linear"}, "kernel must be a kernel"),
        ({"random_state": "x"}, "random_state must be"),
        ({"embedder": KMeans()}, "embedder must be None or a kernelwood.NystromEmbedder"),
        ({"embedder": NystromEmbedder(kw.SubtreeKernel())}, "the kernel of the embedder"),
        ({"embedder": NystromEmbedder(KERNEL, n_landmarks=0)}, "n_landmarks must be"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    given = {"n_clusters": 2, "kernel": KERNEL, **parameters}
    with pytest.raises(kw.errors.KernelInputError, match=message):
        KernelKMeans(**given).fit(TREES)


def test_the_number_of_clusters_and_the_kernel_come_first():
    model = KernelKMeans(3, KERNEL)
    assert (model.n_clusters, model.kernel) == (3, KERNEL)


@pytest.mark.parametrize("call", ["predict", "transform", "score"])
def test_what_is_not_fitted_says_so(call):
    with pytest.raises(NotFittedError, match="KernelKMeans is not fitted"):
        getattr(make("exact"), call)(TREES)


def test_no_structures_are_refused():
    with pytest.raises(kw.errors.KernelInputError, match="at least one structure"):
        make("exact").fit([])


def test_an_equal_kernel_of_the_embedder_is_the_same_kernel():
    embedder = NystromEmbedder(kw.SubsetTreeKernel(decay=0.5), n_landmarks=30)
    assert len(make("exact", embedder=embedder).fit(TREES).cluster_sizes_) == 5


def test_the_embedder_that_is_given_stays_as_it_is():
    embedder = NystromEmbedder(KERNEL, n_landmarks=30)
    make("exact", embedder=embedder).fit(TREES)
    assert embedder.random_state is None
    assert not hasattr(embedder, "projection_")


def test_landmarks_can_be_stratified_by_classes():
    embedder = NystromEmbedder(KERNEL, n_landmarks=12, selection="stratified")
    labels = np.array([question.label for question in QUESTIONS])
    model = make("exact", embedder=embedder).fit(TREES, labels)
    assert set(labels[model.embedder_.landmark_indices_]) == set(labels)


def test_a_later_change_of_the_kernel_changes_no_prediction():
    kernel = kw.SubsetTreeKernel(decay=0.5)
    model = make("exact", kernel=kernel).fit(TREES)
    before = model.transform(TREES)
    kernel.decay = 0.1
    assert (model.transform(TREES) == before).all()


@every_route
def test_a_clone_learns_the_same(route):
    model = make(route)
    assert bits(model.fit(TREES)) == bits(clone(model).fit(TREES))


def test_names_of_distances_are_those_scikit_learn_gives():
    model = make("exact", 3).fit(TREES)
    assert model.get_feature_names_out().tolist() == [f"kernelkmeans{i}" for i in range(3)]


# Nothing depends on how it is computed.


@every_route
@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_no_bit(route, n_jobs):
    assert bits(make(route).fit(TREES)) == bits(make(route, n_jobs=n_jobs).fit(TREES))


@every_route
def test_a_batch_gives_the_same_bits_as_a_list(route):
    batch = kw.batch(TREES)
    assert bits(make(route).fit(TREES)) == bits(make(route).fit(batch), batch)


@every_route
def test_a_prediction_is_the_same_alone_and_in_company(route):
    model = make(route).fit(TREES)
    together = model.transform(TREES)
    alone = np.concatenate([model.transform([tree]) for tree in TREES])
    assert together.tobytes() == alone.tobytes()


@every_route
def test_the_seed_decides(route):
    first, again, other = (make(route, 10, n_init=1, random_state=s).fit(TREES) for s in (1, 1, 2))
    assert bits(first) == bits(again)
    assert bits(first) != bits(other)


def test_a_generator_is_used_as_a_seed():
    one, two = (make("vectors", random_state=np.random.default_rng(5)).fit(TREES) for _ in range(2))
    assert bits(one) == bits(two)


@pytest.mark.parametrize("rows", [6, 200])
def test_without_room_for_the_gram_matrix_clusters_are_the_same(rows):
    held = make("exact", 8).fit(TREES)
    with kw.config_context(memory=len(TREES) * 8 * min(rows, len(TREES) - 1)):
        blocks = make("exact", 8).fit(TREES)
        predicted = blocks.predict(TREES)
    assert (blocks.labels_ == held.labels_).all()
    assert (blocks.representative_indices_ == held.representative_indices_).all()
    assert blocks.inertia_ == pytest.approx(held.inertia_)
    assert (predicted == held.labels_).all()


def test_blocks_of_any_size_give_the_same_bits():
    found, trees = [], TREES[:50]
    for rows in (2, 14, 40):
        with kw.config_context(memory=len(trees) * 8 * rows):
            found.append(bits(make("exact", 5).fit(trees), trees))
    assert found[0] == found[1] == found[2]


def test_without_room_for_the_gram_matrix_rows_are_made_for_what_moves_only():
    trees = sample_trees(300)
    n = len(trees)
    with kw.config_context(memory=n * 8 * 10), kw.compute.counting() as counters:
        model = make("exact", 5, n_init=2).fit(trees)
    assert model.n_iter_ >= 4
    # Two passes, and a share of one for each round; passes alone would be 2 + n_iter_.
    assert counters.kernel_evaluations < (2 + 0.6 * model.n_iter_) * n * n


# Saving.


@every_route
def test_what_is_saved_and_loaded_says_the_same(route, tmp_path):
    model = make(route, random_state=np.random.default_rng(0)).fit(TREES)
    kw.save(model, tmp_path / "model.kw")
    loaded = kw.load(tmp_path / "model.kw")
    assert bits(loaded) == bits(model)
    assert list(map(str, loaded.describe())) == list(map(str, model.describe()))


@every_route
def test_pickle_keeps_everything(route):
    model = make(route).fit(TREES)
    assert bits(pickle.loads(pickle.dumps(model))) == bits(model)


WRONG = {
    "labels_": [
        lambda model: model.labels_[:-1],
        lambda model: model.labels_.astype(np.int64),
        lambda model: model.labels_ - 1,
        lambda model: model.labels_ + 1,
        lambda model: 4 - model.labels_,
        lambda model: np.empty(0, dtype=np.int32),
        lambda model: "text",
        lambda model: None,
    ],
    "inertia_": [lambda model: -1.0, lambda model: float("nan"), lambda model: "0"],
    "n_iter_": [lambda model: -1, lambda model: 1.5, lambda model: True],
    "seed_": [lambda model: -1],
    "kernel_": [lambda model: 3],
    "center_norms_": [
        lambda model: model.center_norms_[1:],
        lambda model: model.center_norms_ * np.nan,
        lambda model: None,
    ],
    "representative_indices_": [
        lambda model: model.representative_indices_[:, :1],
        lambda model: model.representative_indices_ + 1,
        lambda model: model.representative_indices_[::-1].copy(),
        lambda model: np.repeat(model.representative_indices_[:, :1], 12, axis=1),
        lambda model: model.representative_indices_ * 0 - 1,
        lambda model: 10**6 * (model.representative_indices_ >= 0) + model.representative_indices_,
        lambda model: [],
    ],
    "representatives_": [lambda model: model.representatives_[:3], lambda model: None],
}  # fmt: skip
WRONG_EXACT = {
    "structures_": [lambda model: model.structures_[:3], lambda model: None],
    "embedder_": [lambda model: NystromEmbedder(KERNEL)],
    "centers_": [lambda model: np.zeros((5, 5))],
}
WRONG_VECTORS = {
    "structures_": [lambda model: model.representatives_],
    "embedder_": [lambda model: NystromEmbedder(KERNEL), lambda model: KERNEL, lambda model: None],
    "centers_": [lambda model: model.centers_[:, 1:], lambda model: None],
}
CASES = [
    (route, name, number)
    for route, table in (("exact", WRONG | WRONG_EXACT), ("vectors", WRONG | WRONG_VECTORS))
    for name, wrong in table.items()
    for number in range(len(wrong))
]


@pytest.fixture(scope="module")
def fitted():
    return {route: make(route).fit(TREES) for route in ROUTES}


@every_route
def test_what_fit_leaves_is_accepted(route, fitted):
    check_restored(fitted[route])


@pytest.mark.parametrize(("route", "name", "number"), CASES)
def test_a_file_that_does_not_fit_is_refused(route, name, number, fitted):
    table = WRONG | (WRONG_EXACT if route == "exact" else WRONG_VECTORS)
    model = pickle.loads(pickle.dumps(fitted[route]))
    setattr(model, name, table[name][number](model))
    with pytest.raises(ValueError, match=r"must|clusters"):
        check_restored(model)
