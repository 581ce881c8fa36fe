"""The table of what can be saved, and classes that tell their state by themselves."""

import importlib.util
import sys
from typing import ClassVar

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.arrays import Anything, ArrayOf, Check, Strings
from kernelwood.errors import ModelFormatError
from kernelwood.persist import MODELS, Row, load, save
from kernelwood.persist.models import find_row, from_own_state, own_state, row_of


class AnyArray(Check):
    """An array of any numbers."""

    def _fault(self, value, state):
        return None if isinstance(value, np.ndarray) else "must be an array"


class Classifier:
    """A fitted model as later ones will be: a kernel, labels and weights."""

    _saved: ClassVar = {"kernel": Anything(), "labels": Strings(), "weights": AnyArray()}

    def __init__(self, kernel, labels, weights):
        self.kernel, self.labels, self.weights = kernel, labels, weights

    def _to_saved(self):
        return {"kernel": self.kernel}, {"labels": self.labels}, {"weights": self.weights}

    @classmethod
    def _from_saved(cls, parameters, texts, arrays):
        if len(texts["labels"]) != len(arrays["weights"]):
            raise ValueError("labels and weights do not fit together")
        return cls(parameters["kernel"], texts["labels"], arrays["weights"])


@pytest.fixture(autouse=True)
def row(monkeypatch):
    added = Row("classifier", "test", Classifier, own_state, from_own_state)
    monkeypatch.setitem(MODELS, ("classifier", "test"), added)
    return added


def test_a_class_may_tell_its_state_by_itself(round_trip):
    model = Classifier(0.5 * kw.SubtreeKernel(), ["né", "b\n"], np.arange(2))
    again = round_trip(model)
    assert (again.kernel, again.labels) == (model.kernel, model.labels)
    assert again.weights.tolist() == [0, 1] and again.weights.dtype == model.weights.dtype


def test_what_it_does_not_declare_is_refused(forge):
    def change(manifest, members):
        manifest["parameters"]["more"] = 1

    with pytest.raises(ModelFormatError, match="'more' is unknown"):
        load(forge(Classifier(None, [], np.zeros(0)), change))


def test_what_it_declares_otherwise_is_refused_by_name(forge, monkeypatch):
    monkeypatch.setitem(Classifier._saved, "weights", ArrayOf("float64", "labels"))
    with pytest.raises(ModelFormatError, match="weights must be an array of float64") as caught:
        load(forge(Classifier(None, [], np.zeros(0, int)), lambda manifest, members: None))
    assert caught.value.member == "weights.npy"


def test_a_class_that_declares_nothing_is_not_loaded(forge, monkeypatch):
    path = forge(Classifier(None, [], np.zeros(0)), lambda manifest, members: None)
    monkeypatch.delattr(Classifier, "_saved")
    with pytest.raises(ModelFormatError, match=r"Classifier\._saved must declare"):
        load(path)


def test_its_members_are_not_in_a_folder(tmp_path, forge):
    seen = {}
    forge(Classifier(None, [], np.zeros(0)), lambda manifest, members: seen.update(members))
    assert set(seen) == {"card.md", "labels.txt", "weights.npy"}


def test_what_it_finds_wrong_is_an_error_of_the_file(forge):
    def change(manifest, members):
        members["labels.txt"] = b'"a"\n'

    path = forge(Classifier(None, [], np.zeros(0)), change)
    with pytest.raises(ModelFormatError, match="do not fit together") as caught:
        load(path)
    assert caught.value.path == str(path)


def test_what_it_does_not_expect_is_an_error_of_the_file(forge):
    def change(manifest, members):
        manifest["texts"] = []
        del members["labels.txt"]

    with pytest.raises(ModelFormatError, match="labels is missing"):
        load(forge(Classifier(None, [], np.zeros(0)), change))


@pytest.mark.parametrize(
    "model",
    [
        Classifier(None, ["a", 1], np.zeros(2)),
        Classifier(None, ["a"], np.array([None])),
        Classifier(object(), [], np.zeros(0)),
    ],
    ids=["text", "array", "parameter"],
)
def test_state_that_cannot_be_saved_is_refused(model, tmp_path):
    with pytest.raises(ModelFormatError, match="Classifier: "):
        save(model, tmp_path / "model.kw")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "../weights", "a/b", "a.b", "x" * 200])
def test_names_that_are_no_file_names_are_refused(name, tmp_path, monkeypatch):
    state = ({}, {}, {name: np.zeros(1)})
    monkeypatch.setattr(Classifier, "_to_saved", lambda model: state)
    with pytest.raises(ModelFormatError, match="cannot be the name"):
        save(Classifier(None, [], None), tmp_path / "model.kw")


def test_a_class_is_imported_only_when_a_file_asks_for_it(monkeypatch):
    name = "kernelwood_test_lazy"
    monkeypatch.setitem(MODELS, ("classifier", "lazy"), Row("classifier", "lazy", f"{name}:Lazy"))
    monkeypatch.delitem(MODELS, ("classifier", "test"))
    assert row_of(Classifier(None, [], [])) is None
    spec = importlib.util.spec_from_loader(name, loader=None)
    module = importlib.util.module_from_spec(spec)
    module.Lazy = Classifier
    monkeypatch.setitem(sys.modules, name, module)
    assert find_row("classifier", "lazy")[1] is Classifier


@pytest.mark.parametrize("place", ["kernelwood.no_such_module:Model", "kernelwood.errors:Model"])
def test_a_class_that_is_not_installed_is_an_error_of_the_file(place, monkeypatch):
    monkeypatch.setitem(MODELS, ("classifier", "gone"), Row("classifier", "gone", place))
    with pytest.raises(ModelFormatError, match="cannot be used here"):
        find_row("classifier", "gone")


def test_every_row_is_found_under_its_own_name():
    assert all(key == (row.kind, row.name) for key, row in MODELS.items())
