"""Fitted estimators come back with all they learned, and hostile ones are refused."""

import sys
from pathlib import Path

import numpy as np
import pytest
import strategies

import kernelwood as kw
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.persist import load, save
from kernelwood.persist.archive import array_chunks
from kernelwood.persist.estimators import estimator_state, restore_estimator

sys.path.append(str(Path(__file__).parent))

from fitted import Classifier, Forest, Hasher, add_rows

SEQUENCES = strategies.sample_sequences(6)
KERNEL = kw.SubsequenceKernel(decay=0.5)


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    add_rows(monkeypatch)


def classifier(y=(0, 1, 0, 1, 1, 0), **parameters):
    return Classifier(KERNEL, **parameters).fit(SEQUENCES, y)


# What comes back.


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "né", "", "a\nb", "b"],
        [3, -1, 3, 2**40, 3, 3],
        [True, False, True, True, True, True],
        [0.5, 1.5, 0.5, 0.5, 0.5, 0.5],
        np.array([1, 2, 3, 1, 2, 3], dtype=np.uint8),
        np.array(["no", "yes"] * 3, dtype="U20"),
        np.array(["no", "yes"] * 3, dtype=object),
    ],
    ids=lambda y: f"{np.asarray(y).dtype}",
)
def test_classes_have_the_same_type_and_values(y, round_trip):
    model = classifier(y)
    again = round_trip(model)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()


def test_predictions_are_the_same(round_trip):
    model = classifier(["yes", "no", "yes", "no", "no", "yes"])
    again = round_trip(model)
    X = strategies.sample_sequences(20, seed=5)
    assert again.hasher_.transform(X).tobytes() == model.hasher_.transform(X).tobytes()
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_numbers_strings_tuples_and_dictionaries_come_back(round_trip):
    again = round_trip(classifier())
    assert (again.threshold_, again.history_) == (0.1, ("start", 0.25, (None, -7)))
    assert again.hasher_.note_ is None
    assert list(again.by_class_) == [0, 1] and again.by_class_[0].tolist() == [0, 1, 2]


def test_a_dataclass_of_arrays_comes_back(round_trip):
    model = classifier()
    again = round_trip(model).forest_
    assert type(again) is Forest and again.leaves.tobytes() == model.forest_.leaves.tobytes()


def test_parameters_come_back_with_their_types(round_trip):
    again = round_trip(classifier(class_weight={0: 1.0, 1: 5.0}, random_state=7))
    assert again.get_params(deep=False) == {
        "kernel": KERNEL, "class_weight": {0: 1.0, 1: 5.0}, "random_state": 7, "n_jobs": None,
    }  # fmt: skip
    assert [type(key) for key in again.class_weight] == [int, int]


def test_threads_are_not_saved(round_trip):
    again = round_trip(classifier(n_jobs=4))
    assert again.n_jobs is None and again.hasher_.n_jobs is None


def test_a_kernel_that_two_estimators_share_is_shared_again(round_trip):
    again = round_trip(classifier())
    assert again.kernel is again.hasher_.kernel


def test_one_batch_in_two_places_is_one_batch_again(round_trip):
    model = classifier()
    model.history_ = [model.hasher_.references_]
    again = round_trip(model)
    assert again.history_[0] is again.hasher_.references_


def test_references_may_be_examples(round_trip):
    examples = [kw.Example(str(i), views={"w": s}) for i, s in enumerate(SEQUENCES)]
    model = Hasher(kw.OnView("w", KERNEL)).fit(examples)
    again = round_trip(model)
    assert again.transform(examples).tobytes() == model.transform(examples).tobytes()


@pytest.mark.parametrize("state", [None, 0, 12345])
def test_a_seed_stays_what_it_was(state, round_trip):
    assert round_trip(Hasher(KERNEL, random_state=state).fit(SEQUENCES)).random_state == state


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_becomes_the_seed_that_was_drawn_from_it(make, round_trip):
    model = Hasher(KERNEL, random_state=make(1)).fit(SEQUENCES)
    again = round_trip(model)
    assert again.random_state == model.seed_ and type(again.random_state) is int
    assert again.fit(SEQUENCES).weights_.tobytes() == model.weights_.tobytes()


def test_loaded_arrays_cannot_be_written(round_trip):
    again = round_trip(classifier())
    arrays = [again.classes_, again.counts_, again.hasher_.weights_, again.by_class_[0]]
    assert not any(array.flags.writeable for array in arrays)


def test_saving_leaves_arrays_writeable(tmp_path):
    model = classifier()
    save(model, tmp_path / "model.kw")
    assert model.counts_.flags.writeable


def test_what_was_loaded_gives_the_same_bytes(tmp_path):
    save(classifier(["a", "b", "c"] * 2), tmp_path / "one.kw")
    save(load(tmp_path / "one.kw"), tmp_path / "two.kw")
    assert (tmp_path / "one.kw").read_bytes() == (tmp_path / "two.kw").read_bytes()


def test_a_fitted_name_may_be_that_of_a_parameter_but_for_its_underscore():
    state = estimator_state(Hasher(KERNEL).fit(SEQUENCES))
    assert {"kernel", "fitted-kernel_", "random_state", "fitted-seed_"} <= set(state.parameters)


# What cannot be saved.


def test_an_estimator_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(ModelFormatError, match="this Hasher is not fitted") as caught:
        save(Hasher(KERNEL), tmp_path / "model.kw")
    assert "fit it first" in caught.value.hint and list(tmp_path.iterdir()) == []


def test_an_estimator_inside_that_is_not_fitted_is_refused(tmp_path):
    model = classifier()
    model.hasher_ = Hasher(KERNEL)
    with pytest.raises(ModelFormatError, match="this Hasher is not fitted"):
        save(model, tmp_path / "model.kw")


def test_a_parameter_out_of_range_is_refused(tmp_path):
    model = Hasher(KERNEL).fit(SEQUENCES).set_params(n_bits=0)
    with pytest.raises(KernelInputError, match="n_bits"):
        save(model, tmp_path / "model.kw")


def test_parameters_that_do_not_fit_what_was_learned_are_refused(tmp_path):
    model = Hasher(KERNEL).fit(SEQUENCES).set_params(n_bits=5)
    with pytest.raises(ModelFormatError, match="after fitting: weights_ do not fit") as caught:
        save(model, tmp_path / "model.kw")
    assert caught.value.hint == "fit it again"


@pytest.mark.parametrize(
    "value",
    [np.array([["a"]]), np.array([1, "a"], dtype=object), np.array([1j]), object(), len],
    ids=["matrix of strings", "mixed", "complex", "object", "function"],
)
def test_attributes_of_another_kind_are_refused(value, tmp_path):
    model = classifier()
    model.history_ = value
    with pytest.raises(ModelFormatError, match=r"Classifier: fitted-history_ is or contains"):
        save(model, tmp_path / "model.kw")


def test_an_array_of_strings_inside_a_tuple_is_refused(tmp_path):
    model = classifier()
    model.history_ = (np.array(["a", "b"]),)
    with pytest.raises(ModelFormatError, match="history_ has an array of strings inside"):
        save(model, tmp_path / "model.kw")


# Hostile files.


@pytest.mark.parametrize("name", ["kernel", "class_weight", "random_state"])
def test_a_missing_parameter_is_refused(name, forge):
    with pytest.raises(ModelFormatError, match=f"missing parameter '{name}'"):
        load(forge(classifier(), lambda manifest, members: manifest["parameters"].pop(name)))


@pytest.mark.parametrize("name", ["n_jobs", "self", "evil", "classes_", "__class__"])
def test_an_unknown_parameter_is_refused(name, forge):
    def change(manifest, members):
        manifest["parameters"][name] = 1

    with pytest.raises(ModelFormatError, match=f"unknown parameter '{name}'"):
        load(forge(classifier(), change))


@pytest.mark.parametrize("name", ["__class__", "predict", "_fitted", "more_", ""])
def test_an_unknown_attribute_is_refused(name, forge):
    def change(manifest, members):
        manifest["parameters"][f"fitted-{name}"] = 1

    with pytest.raises(ModelFormatError, match=f"unknown fitted attribute '{name}'"):
        load(forge(classifier(), change))


def test_a_missing_attribute_is_refused(forge):
    def change(manifest, members):
        del manifest["parameters"]["fitted-threshold_"]

    with pytest.raises(ModelFormatError, match="missing fitted attribute 'threshold_'"):
        load(forge(classifier(), change))


def test_an_attribute_that_is_there_twice_is_refused(forge):
    def change(manifest, members):
        manifest["parameters"]["fitted-counts_"] = 7

    with pytest.raises(ModelFormatError, match="'counts_' is stored twice"):
        load(forge(classifier(), change))


@pytest.mark.parametrize("width", [0, 1, -1, True, 2.0, "2", 2**28, 2**70, [2]], ids=repr)
def test_strings_of_an_impossible_width_are_refused(width, forge):
    def change(manifest, members):
        manifest["parameters"]["fitted-classes_"] = width

    with pytest.raises(ModelFormatError, match="do not fit in a width"):
        load(forge(classifier(["no", "yes"] * 3), change))


def test_strings_wider_than_the_budget_are_refused(forge):
    def change(manifest, members):
        manifest["parameters"]["fitted-classes_"] = 2**27

    path = forge(classifier(["no", "yes"] * 3), change)
    with (
        kw.config_context(memory="500MB"),
        pytest.raises(ModelFormatError, match="strings needs more than the memory budget"),
    ):
        load(path)


def test_strings_without_a_width_are_refused(forge):
    def change(manifest, members):
        del manifest["parameters"]["fitted-classes_"]

    with pytest.raises(ModelFormatError, match="the text 'classes_' has no width"):
        load(forge(classifier(["no", "yes"] * 3), change))


def test_a_parameter_out_of_range_is_an_error_of_the_file(forge):
    def change(manifest, members):
        manifest["parameters"]["n_bits"] = -4

    path = forge(Hasher(KERNEL).fit(SEQUENCES), change)
    with pytest.raises(ModelFormatError, match="n_bits must be 1 or more") as caught:
        load(path)
    assert caught.value.path == str(path)


def test_attributes_that_do_not_fit_together_are_an_error_of_the_file(forge):
    def change(manifest, members):
        members["weights_.npy"] = b"".join(array_chunks(np.zeros((6, 3))))

    with pytest.raises(ModelFormatError, match="weights_ do not fit the references"):
        load(forge(Hasher(KERNEL).fit(SEQUENCES), change))


def test_an_object_inside_is_checked_by_itself(forge):
    def change(manifest, members):
        [name] = [name for name in members if name.endswith("bits.npy")]
        members[name] = b"".join(array_chunks(np.array([0, 1, -2, 3], dtype=np.int32)))

    with pytest.raises(ModelFormatError, match=r"parts/\d+/bits\.npy: .*bits must be at least 0"):
        load(forge(classifier(), change))


def test_another_part_in_the_place_of_an_estimator_is_refused(forge):
    def change(manifest, members):
        manifest["parameters"]["fitted-hasher_"] = {"kind": "part", "number": 0}

    with pytest.raises(ModelFormatError, match="hasher_ must be a Hasher"):
        load(forge(classifier(), change))


def test_the_state_of_one_class_does_not_make_another():
    state = estimator_state(classifier())
    with pytest.raises(ValueError, match="unknown fitted attribute"):
        restore_estimator(Hasher, state)
