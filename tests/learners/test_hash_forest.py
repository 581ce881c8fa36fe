"""Forests on hashcodes: what they predict, how sure they are, and what they rest on."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.features import KernelHasher
from kernelwood.learners import HashForestClassifier
from kernelwood.learners.hash_forest import best_threshold
from kernelwood.persist.estimators import check_restored

WORDS = {"calm": "sea sky sun sand", "wild": "storm wave wind rain", "cold": "ice snow fog hail"}


def sample(n=90, kinds=("calm", "wild"), seed=0, noise=0.3):
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


def forest(**options):
    small = {"n_estimators": 20, "bits_per_tree": 10, "n_references": 20, "n_bits": 70}
    return HashForestClassifier(kw.SubsequenceKernel(), **{**small, "random_state": 0, **options})


def test_new_structures_are_classified():
    X, y = sample(kinds=("calm", "wild", "cold"))
    new, truth = sample(kinds=("calm", "wild", "cold"), seed=1)
    assert forest().fit(X, y).score(new, truth) > 0.9


@pytest.mark.parametrize("method", ["rmm", "rknn", "kulis"])
def test_accuracy_is_that_of_scikit_learn_on_the_same_bits(method):
    X, y = sample(200, kinds=("calm", "wild", "cold"), noise=0.6)
    new, truth = sample(200, kinds=("calm", "wild", "cold"), seed=1, noise=0.6)
    ours = forest(method=method, n_estimators=60, bits_per_tree=None).fit(X, y)
    theirs = RandomForestClassifier(60, max_features=None, random_state=0)
    theirs.fit(ours.hasher_.transform(X), y)
    expected = theirs.score(ours.hasher_.transform(new), truth)
    assert ours.score(new, truth) == pytest.approx(expected, abs=0.05)


def test_probabilities_sum_to_one_and_the_greatest_is_predicted():
    X, y = sample(kinds=("calm", "wild", "cold"), noise=0.7)
    model = forest(min_samples_leaf=5).fit(X, y)
    probabilities = model.predict_proba(X)
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])


def test_the_codes_are_those_of_the_hasher_with_the_same_seed():
    X, y = sample()
    model = forest(random_state=7).fit(X, y)
    hasher = KernelHasher(kw.SubsequenceKernel(), n_references=20, n_bits=70, random_state=7)
    assert np.array_equal(model.hasher_.codes(X), hasher.fit(X).codes(X))


def test_kernel_evaluations_are_those_of_the_references_alone():
    X, y = sample(90)
    assert forest().fit(X, y).kernel_evaluations_ == 90 * 20 + 20 * 21 // 2


def test_predicting_costs_one_evaluation_for_each_reference():
    X, y = sample()
    model = forest().fit(X, y)
    with kw.compute.counting() as counters:
        model.predict(X[:3])
    assert counters.kernel_evaluations == 3 * 20


@pytest.mark.parametrize("options", [{}, {"bits_per_tree": None}, {"threshold_for": "wild"}])
def test_nothing_depends_on_threads(options, force_threads):
    X, y = sample()
    one, more = (forest(n_jobs=n_jobs, **options).fit(X, y) for n_jobs in (1, 3))
    assert np.array_equal(one.predict_proba(X), more.predict_proba(X))
    assert (one.oob_score_, one.threshold_) == (more.oob_score_, more.threshold_)


def test_a_list_and_a_batch_are_the_same():
    X, y = sample()
    batch = kw.batch(X)
    listed, batched = forest().fit(X, y), forest().fit(batch, y)
    assert np.array_equal(listed.predict_proba(batch), batched.predict_proba(X))


def test_the_same_seed_gives_the_same_forest_and_another_one_another():
    X, y = sample(noise=0.8)
    one, same, other = (forest(random_state=s).fit(X, y).predict_proba(X) for s in (3, 3, 4))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_labels_of_examples_are_used_when_there_is_no_y():
    X, y = sample(30)
    examples = [
        kw.Example(str(i), label=label, views={"words": x})
        for i, (x, label) in enumerate(zip(X, y, strict=True))
    ]
    kernel = kw.OnView("words", kw.SubsequenceKernel())
    model = forest().set_params(kernel=kernel).fit(examples)
    assert np.array_equal(model.predict_proba(examples), forest().fit(X, y).predict_proba(X))


def test_empty_strings_are_labels_too():
    X, y = sample()
    y = ["" if label == "calm" else label for label in y]
    model = forest(threshold_for="").fit(X, y)
    assert set(model.predict(X)) == {"", "wild"}


def test_numbers_are_labels_too():
    X, y = sample()
    model = forest(threshold_for=5).fit(X, [5 if label == "calm" else -1 for label in y])
    assert model.predict(X).dtype.kind == "i"
    assert model.classes_.tolist() == [-1, 5]


def test_one_class_is_always_predicted():
    X, _ = sample(30)
    model = forest(threshold_for="only").fit(X, ["only"] * 30)
    assert set(model.predict(X)) == {"only"}
    assert model.oob_score_ == 1.0


def test_the_least_number_of_structures_is_enough():
    X, _ = sample(2)
    model = forest(n_references=2, subset_size=1, bootstrap=True).fit(X, ["a", "b"])
    assert model.predict_proba(X).shape == (2, 2)


def test_a_hundred_classes_are_told_apart():
    names = [f"kind{i:03}" for i in range(100)]
    X = [kw.Sequence([name, *name]) for name in names for _ in range(2)]
    y = [name for name in names for _ in range(2)]
    model = forest(n_references=100, n_bits=500, bits_per_tree=60).fit(X, y)
    assert model.score(X, y) > 0.9


def test_heavier_classes_are_predicted_more_often():
    X, y = sample(noise=0.9)
    options = {"min_samples_leaf": 8}
    plain, heavy = (
        forest(class_weight=weight, **options).fit(X, y).predict_proba(X)[:, 1].mean()
        for weight in (None, {"wild": 5.0})
    )
    assert heavy > plain + 0.1


def test_balanced_classes_weigh_the_same():
    X, y = sample()
    rare = [i for i, label in enumerate(y) if label == "wild"][:6]
    chosen = rare + [i for i, label in enumerate(y) if label == "calm"]
    X, y = [X[i] for i in chosen], [y[i] for i in chosen]
    share = len(rare) / len(y)
    balanced = {"calm": 0.5 / (1 - share), "wild": 0.5 / share}
    models = [forest(class_weight=w, max_depth=2).fit(X, y) for w in ("balanced", balanced)]
    assert models[0].predict_proba(X) == pytest.approx(models[1].predict_proba(X), abs=1e-12)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, False),
        ({"bits_per_tree": None}, True),
        ({"threshold_for": "wild"}, True),
        ({"bootstrap": True}, True),
        ({"bits_per_tree": None, "bootstrap": False}, False),
    ],
)
def test_examples_are_drawn_when_that_is_asked_for_or_needed(options, expected):
    X, y = sample(40)
    model = forest(**options).fit(X, y)
    assert (model.oob_proba_ is not None) == expected
    assert (model.oob_score_ is not None) == expected
    assert (model.oob_missing_ is not None) == expected


def test_out_of_bag_accuracy_foretells_that_on_new_structures():
    X, y = sample(300, noise=0.8)
    model = forest(n_estimators=60, bootstrap=True).fit(X, y)
    assert model.oob_score_ == pytest.approx(model.score(*sample(300, seed=1, noise=0.8)), abs=0.08)


def test_examples_drawn_for_every_tree_get_the_weights_of_the_classes():
    X, y = sample(40)
    model = forest(n_estimators=1, bootstrap=True).fit(X, y)
    assert 0 < model.oob_missing_ < 40
    share = y.count("wild") / 40
    prior = np.isclose(model.oob_proba_, [1 - share, share]).all(axis=1)
    assert prior.sum() == model.oob_missing_
    assert np.isfinite(model.oob_proba_).all()


def test_the_threshold_gives_the_best_f1_out_of_bag():
    X, y = sample(200, noise=0.85)
    y = np.array(y)
    model = forest(threshold_for="wild", bootstrap=True).fit(X, y)
    scores = model.oob_proba_[:, 1]
    found = f1_score(y == "wild", scores >= model.threshold_)
    assert found == max(f1_score(y == "wild", scores >= cut) for cut in scores)


def test_the_class_with_a_threshold_is_predicted_from_there_on():
    X, y = sample(120, kinds=("calm", "wild", "cold"), noise=0.85)
    model = forest(threshold_for="wild").fit(X, y)
    probabilities = model.predict_proba(X)
    reached = probabilities[:, 2] >= model.threshold_
    others = model.classes_[probabilities[:, :2].argmax(axis=1)]
    assert np.array_equal(model.predict(X), np.where(reached, "wild", others))
    assert (reached != (probabilities.argmax(axis=1) == 2)).any()


def test_threshold_matches_a_search_through_all_cuts():
    random = np.random.default_rng(0)
    for n, levels in itertools.product((1, 2, 5, 30), (1, 3, 50)):
        scores = random.integers(0, levels + 1, size=n) / levels
        positive = random.random(n) < 0.4
        threshold = best_threshold(scores, positive)
        if not positive.any():
            assert threshold == 0.5
            continue
        f1 = {cut: f1_score(positive, scores >= cut) for cut in set(scores.tolist())}
        best = max(cut for cut in f1 if f1[cut] == pytest.approx(max(f1.values())))
        below = max((s for s in scores.tolist() if s < best), default=0.0)
        assert threshold == pytest.approx((best + below) / 2)


def test_threshold_between_neighboring_floats_keeps_them_apart():
    low, high = 0.5, np.nextafter(0.5, 1.0)
    assert best_threshold(np.array([high, low]), np.array([True, False])) == high


def test_importances_of_bits_and_references_sum_to_one():
    X, y = sample()
    model = forest().fit(X, y)
    assert model.bit_importances_.shape == (70,)
    assert model.bit_importances_.sum() == pytest.approx(1.0)
    assert model.reference_importances().shape == (20,)
    assert model.reference_importances().sum() == pytest.approx(1.0)


def test_importance_of_a_bit_goes_to_its_references():
    X, y = sample()
    model = forest(method="rknn").fit(X, y)
    expected = np.zeros(20)
    for bit, subsets in enumerate(model.hasher_.subsets_):
        for reference in subsets.ravel():
            expected[reference] += model.bit_importances_[bit] / 4
    assert model.reference_importances() == pytest.approx(expected)


def test_leaves_are_found_for_every_tree():
    X, y = sample()
    assert forest().fit(X, y).apply(X[:5]).shape == (5, 20)


def test_clone_keeps_the_parameters_and_nothing_learned():
    X, y = sample(30)
    model = forest(threshold_for="wild", class_weight={"wild": 2.0}).fit(X, y)
    copy = clone(model)
    assert {**copy.get_params(deep=False), "kernel": 0} == {
        **model.get_params(deep=False), "kernel": 0,
    }  # fmt: skip
    assert not hasattr(copy, "forest_")


def test_grid_search_reaches_the_kernel():
    X, y = sample(40)
    search = GridSearchCV(forest(), {"kernel__decay": [0.3, 0.9]}, cv=2)
    assert search.fit(kw.batch(X), y).best_params_["kernel__decay"] in (0.3, 0.9)


def test_a_kernel_changed_after_fitting_changes_nothing():
    X, y = sample(40)
    kernel = kw.SubsequenceKernel()
    model = forest().set_params(kernel=kernel).fit(X, y)
    before = model.predict_proba(X)
    kernel.decay = 0.1
    assert np.array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an int of at least 1"),
        ({"bits_per_tree": 0}, "bits_per_tree must be an int of at least 1 or None"),
        ({"bits_per_tree": 71}, "bits_per_tree=71 must not exceed n_bits=70"),
        ({"max_depth": 0}, "max_depth must be an int of at least 1 or None"),
        ({"min_samples_leaf": 0.5}, "min_samples_leaf must be an int"),
        ({"bootstrap": 1}, "bootstrap must be one of"),
        ({"method": "lsh"}, "method must be one of"),
        ({"n_references": 1}, "n_references must be an int of at least 2"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced'"),
        ({"class_weight": {"tame": 2.0}}, "class_weight names 'tame'"),
        ({"threshold_for": "tame"}, "threshold_for names 'tame'"),
        ({"threshold_for": "wild", "bootstrap": False}, "use bootstrap=True"),
        ({"kernel": None}, "kernel must be a kernel"),
    ],
)
def test_parameters_out_of_range_are_named(options, message):
    X, y = sample(30)
    with pytest.raises(KernelInputError, match=message):
        forest().set_params(**options).fit(X, y)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply"])
def test_nothing_is_predicted_before_fitting(method):
    with pytest.raises(NotFittedError):
        getattr(forest(), method)(sample(2)[0])


def test_a_fitted_forest_passes_its_own_check():
    X, y = sample(40)
    check_restored(forest(threshold_for="wild").fit(X, y))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("forest_", None),
        ("hasher_", "hasher"),
        ("threshold_", None),
        ("threshold_", np.nan),
        ("threshold_", 2.0),
        ("threshold_", "0.5"),
        ("classes_", np.array(["calm", "wild", "more"])),
        ("classes_", np.array(["calm", "tame"])),
    ],
)
def test_attributes_that_do_not_fit_are_refused(name, value):
    X, y = sample(40)
    model = forest(threshold_for="wild").fit(X, y)
    setattr(model, name, value)
    with pytest.raises(ValueError):
        check_restored(model)


def test_a_forest_of_other_bits_is_refused():
    X, y = sample(40)
    model = forest().fit(X, y)
    model.forest_ = forest(n_bits=80).fit(X, y).forest_
    with pytest.raises(ValueError, match="70 bits"):
        check_restored(model)


# Streams.


@pytest.mark.parametrize("options", [{}, {"threshold_for": "wild", "class_weight": "balanced"}])
def test_batches_give_the_forest_of_all_structures(options):
    X, y = sample(kinds=("wild", "cold", "calm"))
    hashed = forest(**options).fit(X, y)
    # References are chosen from the first batch, so it is the same in all streams.
    streams = [
        forest(**options).fit_batches(
            (X[a:b], y[a:b]) for a, b in itertools.pairwise([0, 40, *cuts, 90])
        )
        for cuts in ([], [41], [50, 60, 60, 89])
    ]
    for model in streams:
        assert model.predict_proba(X).tobytes() == streams[0].predict_proba(X).tobytes()
        assert model.threshold_ == streams[0].threshold_
        assert model.classes_.tolist() == ["calm", "cold", "wild"]
        assert model.kernel_evaluations_ == 90 * 20 + 20 * 21 // 2
    whole = forest(**options).fit_batches([(X, y)])
    assert whole.predict_proba(X).tobytes() == hashed.predict_proba(X).tobytes()


def test_classes_of_a_stream_are_sorted_whenever_they_appear():
    X, y = sample(kinds=("wild", "calm"))
    order = np.argsort(y)[::-1]
    X, y = [X[i] for i in order], [y[i] for i in order]
    model = forest().fit_batches([(X[:45], y[:45]), (X[45:], y[45:])])
    assert model.classes_.tolist() == ["calm", "wild"]
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("batches", [[], [([], [])]])
def test_a_stream_without_structures_is_refused(batches):
    with pytest.raises(KernelInputError, match="at least one structure"):
        forest().fit_batches(batches)
