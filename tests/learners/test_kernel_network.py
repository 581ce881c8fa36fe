"""Networks on Nyström vectors: what they predict, how they are trained, what they rest on."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.neural_network import MLPClassifier

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.features import SELECTIONS, NystromEmbedder
from kernelwood.learners import KernelNetworkClassifier
from kernelwood.learners.kernel_network import (
    ACTIVATIONS,
    Layers,
    Trainer,
    held_out_part,
    layer_shapes,
    softmax,
)
from kernelwood.persist.estimators import check_restored

WORDS = {"calm": "sea sky sun sand", "wild": "storm wave wind rain", "cold": "ice snow fog hail"}
KINDS = tuple(WORDS)


def sample(n=90, kinds=KINDS, seed=0, noise=0.4):
    """Sentences of words that are mostly those of their class, and their labels."""
    random = np.random.default_rng(seed)
    every = " ".join(WORDS[kind] for kind in kinds).split()
    labels = [kinds[i] for i in random.integers(len(kinds), size=n)]
    sentences = []
    for label in labels:
        own = WORDS[label].split()
        words = [random.choice(every if random.random() < noise else own) for _ in range(6)]
        sentences.append(kw.Sequence(words))
    return sentences, labels


def network(kernel=None, **options):
    small = {
        "n_landmarks": 20, "hidden": (10,), "batch_size": 10, "max_iter": 15, "learning_rate": 0.01,
    }  # fmt: skip
    kernel = kernel or kw.SubsequenceKernel(max_length=3)
    return KernelNetworkClassifier(kernel, **{**small, "random_state": 0, **options})


def trainer(**options):
    usual = {
        "hidden": (8,), "activation": "relu", "alpha": 0.01, "learning_rate": 0.01,
        "batch_size": 10, "max_iter": 20, "validation_fraction": None, "patience": 5,
        "n_classes": 3,
    }  # fmt: skip
    return Trainer(**{**usual, **options})


def points(n=60, n_classes=3, seed=0):
    """Vectors around one center for each class, in dimensions of very different sizes."""
    random = np.random.default_rng(seed)
    numbers = (np.arange(n) % n_classes).astype(np.int32)
    centers = 2 * random.normal(size=(n_classes, 5))
    vectors = (centers[numbers] + random.normal(size=(n, 5))) * [10, 3, 1, 0.1, 0.01] + 4
    return vectors, numbers


def nothing(done):
    pass


# What is predicted.


def test_new_structures_are_classified():
    new, truth = sample(seed=1)
    assert network().fit(*sample()).score(new, truth) > 0.9


def test_probabilities_sum_to_one_and_the_greatest_is_predicted():
    X, y = sample(noise=0.8)
    model = network(n_sets=3).fit(X, y)
    shares = model.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-14)
    assert np.array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])


def test_probabilities_of_several_sets_are_the_mean_of_their_networks():
    X, y = sample(noise=0.8)
    model = network(n_sets=3).fit(X, y)
    parts = [
        softmax(Layers(*layers, "relu").scores(embedder.transform(X)))
        for embedder, *layers in zip(
            model.embedders_, model.weights_, model.intercepts_, strict=True
        )
    ]
    assert np.abs(parts[0] - parts[1]).max() > 0.01
    assert model.predict_proba(X) == pytest.approx(np.mean(parts, axis=0), abs=1e-14)


def test_a_row_does_not_depend_on_other_rows():
    X, y = sample(70, noise=0.8)
    model = network(n_sets=2, activation="tanh").fit(X, y)
    together = model.predict_proba(X)
    alone = np.concatenate([model.predict_proba([x]) for x in X])
    assert together.tobytes() == alone.tobytes()


def test_two_classes_are_told_apart():
    kinds = ("calm", "wild")
    model = network().fit(*sample(kinds=kinds))
    assert model.weights_[0][-1].shape == (10, 2)
    assert model.score(*sample(kinds=kinds, seed=1)) > 0.9


def test_one_class_is_always_predicted():
    X, _ = sample(20)
    model = network().fit(X, ["only"] * 20)
    assert model.predict_proba(X).tolist() == [[1.0]] * 20
    assert set(model.predict(X)) == {"only"}


@pytest.mark.parametrize("hidden", [(), (7,), (7, 5), [7, 5]])
def test_hidden_layers_have_the_sizes_that_are_asked_for(hidden):
    model = network(hidden=hidden).fit(*sample(40))
    assert [weights.shape[1] for weights in model.weights_[0]] == [*hidden, 3]


def test_without_hidden_layers_it_is_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    X, y = sample(noise=0.8)
    model = network(hidden=(), alpha=0.01, max_iter=150, learning_rate=0.1, batch_size=90)
    model.fit(X, y)
    vectors = model.embedders_[0].transform(X)
    scaled = vectors - vectors.mean(axis=0)
    scaled /= np.sqrt((scaled**2).mean())
    peer = LogisticRegression(C=1 / (0.01 * len(X)), max_iter=1000, tol=1e-8).fit(scaled, y)
    assert model.predict_proba(X) == pytest.approx(peer.predict_proba(scaled), abs=0.01)


def test_more_sets_begin_with_the_same_ones():
    X, y = sample(40)
    few, more = (network(n_sets=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(few.weights_[0][0], more.weights_[0][0])
    assert few.embedders_[0].landmark_indices_.tolist() != (
        more.embedders_[1].landmark_indices_.tolist()
    )


def test_the_first_set_has_the_landmarks_of_an_embedder_with_the_same_seed():
    X, y = sample()
    model = network(random_state=7).fit(X, y)
    embedder = NystromEmbedder(model.kernel, n_landmarks=20, random_state=7).fit(X)
    assert np.array_equal(model.embedders_[0].landmark_indices_, embedder.landmark_indices_)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_landmarks_are_chosen_in_every_way(selection):
    X, y = sample()
    model = network(selection=selection).fit(X, np.array(y))
    embedder = NystromEmbedder(
        model.kernel, n_landmarks=20, selection=selection, random_state=0
    ).fit(X, y)
    assert np.array_equal(model.embedders_[0].landmark_indices_, embedder.landmark_indices_)


def test_more_landmarks_than_structures_are_all_structures():
    X, y = sample(30)
    model = network(n_landmarks=100).fit(X, y)
    assert len(model.embedders_[0].landmarks_) == 30
    assert model.score(X, y) > 0.9


def test_duplicates_do_no_harm():
    X, y = sample(30)
    model = network(n_landmarks=90).fit(X * 3, y * 3)
    assert model.embedders_[0].rank_ <= 30
    assert model.score(X, y) > 0.9


def test_structures_that_are_all_equal_get_the_shares_of_their_classes():
    X = [kw.Sequence(["same", "words"])] * 40
    model = network(max_iter=60, batch_size=40, learning_rate=0.05).fit(
        X, ["a", "b", "b", "b"] * 10
    )
    assert model.predict_proba(X[:1])[0] == pytest.approx([0.25, 0.75], abs=0.02)


def test_values_that_are_not_normalized_never_give_nan():
    kernel = kw.SubsequenceKernel(decay=1.0, normalize=False)
    X = [kw.Sequence(["a"] * n) for n in range(1, 60)]
    model = network(kernel, n_landmarks=59).fit(X, ["odd", "even"] * 29 + ["odd"])
    longer = [kw.Sequence(["a"] * n) for n in (300, 400)]
    assert np.isfinite(model.predict_proba([*X, *longer])).all()


def test_kernel_evaluations_are_counted():
    X, y = sample(90)
    with kw.compute.counting() as counters:
        model = network(n_sets=2).fit(X, y)
    assert model.kernel_evaluations_ == counters.kernel_evaluations >= 2 * 90 * 20


def test_a_prediction_costs_one_evaluation_for_each_landmark():
    X, y = sample()
    model = network(n_sets=2).fit(X, y)
    with kw.compute.counting() as counters:
        model.predict(X[:3])
    assert counters.kernel_evaluations == 2 * 3 * 20


# The same, whatever the circumstances.


@pytest.mark.parametrize("options", [{}, {"n_sets": 2}, {"early_stopping": True}])
def test_nothing_depends_on_threads_or_containers(options, force_threads):
    X, y = sample()
    one = network(n_jobs=1, **options).fit(X, y).predict_proba(X)
    more = network(n_jobs=3, **options).fit(kw.batch(X), y).predict_proba(kw.batch(X))
    assert one.tobytes() == more.tobytes()


def test_the_same_seed_gives_the_same_network_and_another_one_another():
    X, y = sample(noise=0.8)
    one, same, other = (network(random_state=s).fit(X, y).predict_proba(X) for s in (3, 3, 4))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_global_seed_is_left_alone():
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    network().fit(*sample(30))
    assert np.random.random() == expected


# Training.


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("hidden", [(), (8,), (8, 4)])
def test_probabilities_are_those_of_scikit_learn(activation, n_classes, hidden, monkeypatch):
    made = []

    def make(*args, **options):
        made.append(MLPClassifier(*args, **options))
        return made[-1]

    monkeypatch.setattr("sklearn.neural_network.MLPClassifier", make)
    vectors, numbers = points(n_classes=n_classes)
    setting = trainer(hidden=hidden, activation=activation, n_classes=n_classes)
    trained = setting.train(vectors, numbers, 0, nothing)
    scaled = vectors - vectors.mean(axis=0)
    scaled /= np.sqrt((scaled**2).mean())
    found = softmax(Layers(trained.weights, trained.intercepts, activation).scores(vectors))
    assert np.abs(found - made[0].predict_proba(scaled)).max() < 1e-10


def test_training_does_not_depend_on_the_scale_of_vectors():
    vectors, numbers = points()
    answers = []
    for factor in (1.0, 2.0**40, 2.0**-40):
        trained = trainer().train(vectors * factor, numbers, 0, nothing)
        layers = Layers(trained.weights, trained.intercepts, "relu")
        answers.append(softmax(layers.scores(vectors * factor)))
    assert answers[1] == pytest.approx(answers[0], abs=1e-9)
    assert answers[2] == pytest.approx(answers[0], abs=1e-9)


def test_the_penalty_does_not_depend_on_the_size_of_batches():
    vectors, numbers = points()
    sizes = []
    for batch_size in (10, 60):
        setting = trainer(hidden=(), alpha=0.5, batch_size=batch_size, max_iter=100)
        sizes.append(np.abs(setting.train(vectors, numbers, 0, nothing).weights[0]).mean())
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)


def test_losses_of_all_epochs_are_kept_and_fall():
    model = network(max_iter=12, n_sets=2).fit(*sample())
    assert [len(losses) for losses in model.loss_curve_] == [12, 12]
    assert model.loss_curve_[0][-1] < model.loss_curve_[0][0] / 2


def test_progress_is_reported_by_epoch():
    seen = []
    with kw.config_context(progress=lambda done, total: seen.append((done, total))):
        network(max_iter=5).fit(*sample(40))
    assert seen[-5:] == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


def test_training_can_be_interrupted_at_an_epoch():
    def interrupt(done, total):
        if (done, total) == (2, 5):
            raise KeyboardInterrupt

    with kw.config_context(progress=interrupt), pytest.raises(KeyboardInterrupt):
        network(max_iter=5).fit(*sample(40))


def test_early_stopping_stops_before_the_last_epoch():
    X, y = sample(200, noise=1.0)  # there is nothing to be learned
    model = network(early_stopping=True, patience=3, max_iter=100).fit(X, y)
    assert len(model.loss_curve_[0]) < 100


def test_early_stopping_keeps_the_best_epoch():
    vectors, numbers = points(200, seed=3)
    numbers = np.where(np.random.default_rng(0).random(200) < 0.3, 0, numbers).astype(np.int32)
    setting = {"learning_rate": 0.05, "hidden": (50,), "max_iter": 60, "patience": 60}
    held = held_out_part(numbers, 0.3, seed=0)

    def held_out_score(setting):
        trained = setting.train(vectors, numbers, 0, nothing)
        scores = Layers(trained.weights, trained.intercepts, "relu").scores(vectors[held])
        return (scores.argmax(axis=1) == numbers[held]).mean()

    best = held_out_score(trainer(validation_fraction=0.3, **setting))
    every = [
        held_out_score(trainer(validation_fraction=0.3, **{**setting, "max_iter": n}))
        for n in (1, 5, 20, 60)
    ]
    assert best == max(every)


def test_too_few_structures_to_hold_out_are_all_learned_from():
    X, y = sample(12)
    stopped = network(early_stopping=True, validation_fraction=0.05).fit(X, y)
    plain = network().fit(X, y)
    assert np.array_equal(stopped.predict_proba(X), plain.predict_proba(X))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.floats(0.01, 0.99))
def test_no_class_is_held_out_entirely(numbers, fraction):
    classes = np.array(numbers, dtype=np.int32)
    held = held_out_part(classes, fraction, seed=0)
    assert set(classes[~held]) == set(classes)
    for number in set(numbers):
        assert held[classes == number].sum() == int(fraction * numbers.count(number))


def test_training_that_diverges_says_what_to_do():
    with pytest.raises(KernelInputError, match="smaller learning_rate"):
        network(learning_rate=1e300, max_iter=5, activation="identity").fit(*sample(40))


# Layers.


@given(st.integers(1, 4), st.sampled_from(sorted(ACTIVATIONS)), st.integers(0, 10**6))
def test_slopes_are_those_of_small_steps(n_layers, activation, seed):
    random = np.random.default_rng(seed)
    shapes = layer_shapes(3, (4,) * (n_layers - 1), 2)
    layers = Layers(
        [random.normal(size=shape) for shape in shapes],
        [random.normal(size=n) for _, n in shapes],
        activation,
    )
    vector, direction, step = random.normal(size=3), random.normal(size=2), 1e-6
    near = [
        [layers.scores((vector + sign * step * axis)[None])[0] @ direction for sign in (1, -1)]
        for axis in np.eye(3)
    ]
    expected = [(above - below) / (2 * step) for above, below in near]
    found = layers.slopes(vector[None], direction[None])[0]
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e308])
def test_scores_are_finite_whatever_comes_in(value):
    weights = (np.array([[1e100, -1e100]]), np.array([[1e100, 1.0], [-1e100, 1.0]]))
    layers = Layers(weights, (np.zeros(2), np.zeros(2)), "identity")
    shares = softmax(layers.scores(np.array([[value]])))
    assert shares.sum() == pytest.approx(1.0)


# Evidence.


def test_landmarks_of_the_class_speak_for_it():
    X, y = sample(120, noise=0.2)
    model = network().fit(X, y)
    evidence = model.evidence(kw.Sequence("ice snow fog hail ice snow".split()), k=3)
    assert evidence.label == "cold"
    assert {support.label for support in evidence.supporting} == {"cold"}
    assert all(support.label == y[support.index] for support in evidence.opposing)


@pytest.mark.parametrize("n_sets", [1, 3])
def test_contributions_and_intercept_add_up_to_the_score(n_sets):
    X, y = sample(60)
    model = network(n_sets=n_sets).fit(X, y)
    evidence = model.evidence(X[0], k=100)
    supports = evidence.supporting + evidence.opposing
    total = evidence.intercept + sum(support.contribution for support in supports)
    assert evidence.score == pytest.approx(total, abs=1e-9)
    assert len({support.index for support in supports}) == len(supports)


@pytest.mark.parametrize("n_sets", [1, 3])
def test_without_hidden_layers_a_contribution_is_lost_with_its_similarity(n_sets):
    X, y = sample(60)
    model = network(n_sets=n_sets, hidden=()).fit(X, y)
    found = model.contributions(X[:4], "calm", against="wild")
    first, second = (model.classes_.tolist().index(name) for name in ("calm", "wild"))
    expected = np.zeros(found.values.shape)
    for embedder, layers in model._networks():
        kept = embedder.similarities(X[:4])
        for place, index in enumerate(embedder.landmark_indices_):
            without = kept.copy()
            without[:, place] = 0.0
            change = layers.scores(embedder.embed(kept)) - layers.scores(embedder.embed(without))
            column = found.indices.tolist().index(index)
            expected[:, column] += (change[:, first] - change[:, second]) / n_sets
    assert found.values == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("n_sets", [1, 3])
def test_contributions_against_all_classes_are_those_of_the_evidence(n_sets):
    X, y = sample(60)
    model = network(n_sets=n_sets).fit(X, y)
    evidence = model.evidence(X[0], k=3, label="calm")
    found = model.contributions(X[:1], "calm")
    assert found.scores[0] == pytest.approx(evidence.score)
    assert found.intercepts[0] == pytest.approx(evidence.intercept)
    values = dict(zip(found.indices.tolist(), found.values[0].tolist(), strict=True))
    for support in evidence.supporting + evidence.opposing:
        assert values[support.index] == pytest.approx(support.contribution)


def test_the_scores_of_all_classes_cancel_out():
    X, y = sample(60)
    model = network(n_sets=2).fit(X, y)
    scores = [model.evidence(X[0], label=label).score for label in model.classes_]
    assert sum(scores) == pytest.approx(0, abs=1e-9)
    assert model.classes_[np.argmax(scores)] == model.predict(X[:1])[0]


def test_evidence_shows_similarities_of_the_kernel():
    X, y = sample(60)
    model = network().fit(X, y)
    support = model.evidence(X[0]).supporting[0]
    assert support.similarity == pytest.approx(model.kernel.value(X[0], X[support.index]))
    assert support.structure == X[support.index]


@pytest.mark.parametrize(
    ("options", "message"), [({"k": 0}, "k must be"), ({"label": "hot"}, "label names 'hot'")]
)
def test_evidence_that_cannot_be_is_refused(options, message):
    X, y = sample(30)
    with pytest.raises(KernelInputError, match=message):
        network().fit(X, y).evidence(X[0], **options)


# What is refused.


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_landmarks", 0),
        ("n_sets", 0),
        ("n_sets", 1.5),
        ("selection", "best"),
        ("hidden", 200),
        ("hidden", (0,)),
        ("hidden", (True,)),
        ("hidden", "ab"),
        ("activation", "step"),
        ("alpha", -1),
        ("alpha", float("nan")),
        ("learning_rate", 0),
        ("batch_size", 0),
        ("max_iter", 0),
        ("early_stopping", 1),
        ("validation_fraction", 1.0),
        ("patience", 0),
    ],
)
def test_a_parameter_out_of_range_is_named(parameter, value):
    with pytest.raises(KernelInputError, match=f"KernelNetworkClassifier: {parameter} must be"):
        network(**{parameter: value}).fit(*sample(20))


def test_vectors_beyond_the_memory_budget_are_refused():
    with (
        kw.config_context(memory="10KB"),
        pytest.raises(kw.errors.MemoryBudgetError, match="the vectors of 90 structures"),
    ):
        network().fit(*sample(90))


# Saving.


@pytest.mark.parametrize("options", [{}, {"n_sets": 2, "hidden": [5, 4]}, {"hidden": ()}])
def test_a_saved_network_answers_to_the_bit(options, tmp_path):
    X, y = sample(40)
    model = network(**options).fit(X, y)
    kw.save(model, tmp_path / "model.kw")
    again = kw.load(tmp_path / "model.kw")
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert again.evidence(X[0]) == model.evidence(X[0])


@pytest.fixture(scope="module")
def fitted():
    return network().fit(*sample(40))


def changed(value, *path):
    """Return what makes of a nested tuple one with another value at a place."""

    def change(old):
        if not path:
            return value
        new = list(old)
        new[path[0]] = changed(value, *path[1:])(old[path[0]])
        return tuple(new)

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("embedders_", changed(())),
        ("embedders_", changed("text")),
        ("embedders_", changed("text", 0)),
        ("weights_", changed(None)),
        ("weights_", changed(np.zeros((2, 2)))),
        ("weights_", changed((), 0)),
        ("weights_", changed("text", 0, 0)),
        ("weights_", changed(np.zeros((3, 10)), 0, 0)),
        ("weights_", changed(np.zeros((10, 3), dtype=np.float32), 0, 1)),
        ("weights_", changed(np.full((10, 3), np.nan), 0, 1)),
        ("weights_", changed(np.full((10, 3), 1e200), 0, 1)),
        ("intercepts_", changed((np.zeros(10),), 0)),
        ("intercepts_", changed(np.zeros(4), 0, 1)),
        ("loss_curve_", changed(np.zeros((2, 2)), 0)),
        ("loss_curve_", changed(np.zeros(10**4), 0)),
        ("loss_curve_", changed(np.full(3, np.inf), 0)),
        ("landmark_classes_", changed(np.full(20, 3, dtype=np.int32), 0)),
        ("landmark_classes_", changed(np.full(20, -1, dtype=np.int32), 0)),
        ("landmark_classes_", changed(np.zeros(19, dtype=np.int32), 0)),
        ("kernel_evaluations_", changed(-1)),
        ("kernel_", changed(kw.SubsetTreeKernel())),
        ("classes_", changed(np.array(["a", "b"]))),
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(name, change, fitted):
    model = copy.copy(fitted)
    check_restored(model)
    setattr(model, name, change(getattr(model, name)))
    with pytest.raises(ValueError):
        check_restored(model)
