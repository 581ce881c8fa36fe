"""Small estimators to save: what fitted ones may hold, without what they learn."""

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from kernelwood.arrays import (
    Anything,
    ArrayOf,
    Instance,
    Labels,
    OneOf,
    Real,
    Strings,
    Whole,
)
from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel
from kernelwood.persist import MODELS, Row
from kernelwood.persist.estimators import estimator_state, restore_estimator
from kernelwood.persist.models import from_own_state, own_state


class Hasher(BaseEstimator):
    """References and random weights."""

    _fitted: ClassVar = {
        "kernel_": Instance(Kernel),
        "references_": Anything(),
        "weights_": ArrayOf("float64", None, None),
        "seed_": Whole(),
        "note_": Anything(),
    }

    def __init__(self, kernel, *, n_bits=4, random_state=None, n_jobs=None):
        self.kernel = kernel
        self.n_bits = n_bits
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        self.kernel_ = self.kernel.clone()
        self.references_ = self.kernel._batch(X)
        draw = getattr(self.random_state, "integers", getattr(self.random_state, "randint", None))
        self.seed_ = (self.random_state or 0) if draw is None else int(draw(0, 2**31))
        rng = np.random.default_rng(self.seed_)
        self.weights_ = rng.normal(size=(len(self.references_), self.n_bits))
        self.note_ = None
        return self

    def transform(self, X):
        return np.einsum("ij,jk->ik", self.kernel_.cross(X, self.references_), self.weights_)

    def _check_parameters(self):
        if not isinstance(self.kernel, Kernel):
            raise KernelInputError(f"Hasher: kernel must be a kernel, got {self.kernel!r}")
        if type(self.n_bits) is not int or self.n_bits < 1:
            raise KernelInputError(f"Hasher: n_bits must be 1 or more, got {self.n_bits!r}")

    def _check_restored(self):
        n = len(self.kernel_._batch(self.references_))
        if self.weights_.shape != (n, self.n_bits):
            raise ValueError("weights_ do not fit the references")
        if self.note_ is not None:
            raise ValueError("note_ is wrong")


@dataclass(frozen=True)
class Forest:
    """A dataclass of arrays that tells its state by itself."""

    _saved: ClassVar = {
        "bits": ArrayOf("int32", "bits", least=0),
        "leaves": ArrayOf("float64", "bits"),
    }

    bits: np.ndarray
    leaves: np.ndarray

    def _to_saved(self):
        return {}, {}, {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def _from_saved(cls, parameters, texts, arrays):
        return cls(**parameters, **texts, **arrays)


class Classifier(BaseEstimator):
    """An estimator with another one inside, classes, and a bit of everything."""

    _fitted: ClassVar = {
        "classes_": OneOf(Labels(), Strings()),
        "hasher_": Instance(Hasher),
        "forest_": Instance(Forest),
        "counts_": ArrayOf("int64", "classes_"),
        "threshold_": Real(0, 1),
        "history_": Anything(),
        "by_class_": Anything(),
    }

    def __init__(self, kernel, *, class_weight=None, random_state=None, n_jobs=None):
        self.kernel = kernel
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.hasher_ = Hasher(self.kernel, random_state=3, n_jobs=self.n_jobs).fit(X)
        self.forest_ = Forest(np.arange(4, dtype=np.int32), np.linspace(0, 1, 4))
        self.counts_ = np.bincount(codes).astype(np.int64)
        self.threshold_ = np.float64(0.1)
        self.history_ = ("start", 0.25, (None, -7))
        self.by_class_ = {0: np.arange(3), 1: None}
        return self

    def predict(self, X):
        scores = self.hasher_.transform(X) @ self.forest_.leaves
        return self.classes_[(scores > self.threshold_).astype(int) % len(self.classes_)]

    def _check_parameters(self):
        if not isinstance(self.kernel, Kernel):
            raise KernelInputError(f"Classifier: kernel must be a kernel, got {self.kernel!r}")

    def _check_restored(self):
        if self.forest_.bits.max(initial=-1) >= self.hasher_.n_bits:
            raise ValueError("forest_ reads bits that are not there")
        if len(self.forest_.bits) != self.hasher_.n_bits:
            raise ValueError("forest_ and hasher_ do not fit together")


ROWS = (
    Row("features", "test-hasher", Hasher, estimator_state, restore_estimator),
    Row("learner", "test-classifier", Classifier, estimator_state, restore_estimator),
    Row("learner-part", "test-forest", Forest, own_state, from_own_state),
)


def add_rows(monkeypatch):
    """Make the estimators known to the library, as those of a user would be."""
    for row in ROWS:
        monkeypatch.setitem(MODELS, (row.kind, row.name), row)
