"""Small estimators to save: what fitted ones may hold, without what they learn."""

from dataclasses import dataclass, fields

import numpy as np
from sklearn.base import BaseEstimator

from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel
from kernelwood.persist import MODELS, Row
from kernelwood.persist.estimators import estimator_state, restore_estimator
from kernelwood.persist.models import from_own_state, own_state


class Hasher(BaseEstimator):
    """References and random weights."""

    _fitted = ("kernel_", "references_", "weights_", "seed_", "note_")

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
        if self.weights_.dtype != np.float64 or self.weights_.shape != (n, self.n_bits):
            raise ValueError("weights_ do not fit the references")
        if not np.isfinite(self.weights_).all():
            raise ValueError("weights_ are not finite")
        if type(self.seed_) is not int or self.note_ is not None:
            raise ValueError("seed_ or note_ is wrong")


@dataclass(frozen=True)
class Forest:
    """A dataclass of arrays that tells its state by itself."""

    bits: np.ndarray
    leaves: np.ndarray

    def _to_saved(self):
        return {}, {}, {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def _from_saved(cls, parameters, texts, arrays):
        made = cls(**parameters, **texts, **arrays)
        if made.bits.dtype != np.int32 or made.bits.ndim != 1 or made.bits.min(initial=0) < 0:
            raise ValueError("bits are not bits")
        if made.leaves.dtype != np.float64 or made.leaves.shape[:1] != made.bits.shape:
            raise ValueError("leaves do not fit the bits")
        return made


class Classifier(BaseEstimator):
    """An estimator with another one inside, classes, and a bit of everything."""

    _fitted = ("classes_", "hasher_", "forest_", "counts_", "threshold_", "history_", "by_class_")

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
        if type(self.hasher_) is not Hasher or type(self.forest_) is not Forest:
            raise ValueError("hasher_ or forest_ is none")
        if self.forest_.bits.max(initial=-1) >= self.hasher_.n_bits:
            raise ValueError("forest_ reads bits that are not there")
        if len(self.forest_.bits) != self.hasher_.n_bits:
            raise ValueError("forest_ and hasher_ do not fit together")
        if self.classes_.ndim != 1 or len(self.classes_) == 0:
            raise ValueError("there are no classes_")
        if self.counts_.shape != self.classes_.shape or self.counts_.dtype != np.int64:
            raise ValueError("counts_ do not fit the classes")
        if not isinstance(self.threshold_, float) or not 0 <= self.threshold_ <= 1:
            raise ValueError("threshold_ is no number from 0 to 1")


ROWS = (
    Row("features", "test-hasher", Hasher, estimator_state, restore_estimator),
    Row("learner", "test-classifier", Classifier, estimator_state, restore_estimator),
    Row("learner-part", "test-forest", Forest, own_state, from_own_state),
)


def add_rows(monkeypatch):
    """Make the estimators known to the library, as those of a user would be."""
    for row in ROWS:
        monkeypatch.setitem(MODELS, (row.kind, row.name), row)
