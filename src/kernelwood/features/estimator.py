"""Base classes of estimators over structures; checks of arguments, labels and loaded arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Check, ExampleBatch, Instance, Schema, Whole
from kernelwood.compute import config_context, resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.features.scikit_learn import Estimator, Transformer, not_fitted
from kernelwood.kernels import Kernel, drop_unread_views
from kernelwood.parameters import ChecksParameters
from kernelwood.seeds import LARGEST_SEED, check_seed, resolve_seed
from kernelwood.text import Example


class Structures(Check):
    """A batch that ``kernel_`` reads.

    Parameters
    ----------
    size : int or str, optional
        The number of structures.
    """

    def __init__(self, size: int | str | None = None) -> None:
        self.size = size

    def _fault(self, value: Any, state: Any) -> str | None:
        if not isinstance(value, state.values["kernel_"]._accepts()):
            return "must be a batch that the kernel reads"
        if self.size is not None and state.size(self.size, len(value)) != len(value):
            return f"must be a batch of {state.size(self.size, len(value))} structures"
        return None


class Fitted(Check):
    """A fitted estimator of a class, for structures of the kind that ``kernel_`` reads."""

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls

    def _fault(self, value: Any, state: Any) -> str | None:
        if type(value) is not self.cls or not value.__sklearn_is_fitted__():
            return f"must be a fitted {self.cls.__name__}"
        if value.kernel_._accepts() is not state.values["kernel_"]._accepts():
            return "and kernel_ must be for the same kind of structures"
        return None


# Of fitted attributes that many estimators have.
KERNEL = Instance(Kernel)
SEED = Whole(0, LARGEST_SEED)


class StructureEstimator(ChecksParameters, Estimator):
    """Base class of estimators whose ``X`` are structures, compared by a kernel.

    The constructor stores its arguments; ``fit`` checks them. ``X`` is a list of structures or a
    batch. :func:`kernelwood.save` stores the parameters and the attributes declared in ``_fitted``.
    """

    # What fitted attributes must be: arrays, plain values, batches, kernels, other estimators.
    # Of a loaded estimator they are checked before it sees them.
    _fitted: ClassVar[Schema] = {"kernel_": KERNEL}

    kernel: Any
    kernel_: Kernel
    seed_: int
    n_jobs: int | None = None

    def _check_parameters(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        if not isinstance(self.kernel, Kernel):
            raise KernelInputError(
                f"{type(self).__name__}: kernel must be a kernel such as "
                f"kernelwood.SubsetTreeKernel(), got {self.kernel!r}"
            )
        check_seed(getattr(self, "random_state", None))
        if self.n_jobs is not None:
            resolve_jobs(self.n_jobs)

    def _check_restored(self) -> None:
        """Raise ValueError if fitted attributes, which are as declared, are inconsistent."""

    def _start(self, X: Any) -> Any:
        """Check the parameters, set ``kernel_`` and ``seed_``, and return ``X`` as a batch."""
        self._check_parameters()
        self.kernel_ = self.kernel.clone()  # later changes to the caller's kernel have no effect
        if hasattr(self, "random_state"):
            self.seed_ = resolve_seed(self.random_state)
        return self._prepare(X)

    def _prepare(self, X: Any) -> Any:
        """Return ``X`` as the batch that the kernel reads."""
        X = self.kernel_._batch(X)
        if len(X) == 0:
            raise KernelInputError(f"{type(self).__name__}: give at least one structure")
        return X

    def _keep(self, structures: Any) -> Any:
        """Return structures to store; examples keep only the views that the kernel reads."""
        if isinstance(structures, ExampleBatch):
            return drop_unread_views(structures, self.kernel_)
        return structures

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """Let kernels and native code use ``n_jobs`` threads."""
        with nullcontext() if self.n_jobs is None else config_context(n_jobs=self.n_jobs):
            yield

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(f"this {type(self).__name__} is not fitted yet; call fit(X, y) first")

    def __sklearn_is_fitted__(self) -> bool:
        # All of them: a fit that failed half-way has set some.
        return all(hasattr(self, name) for name in self._fitted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.no_validation = True
        return tags


class StructureTransformer(Transformer):
    """Mixin of scikit-learn for estimators with a ``transform``."""


def check_matrix(owner: str, name: str, value: Any, n_columns: int) -> NDArray[Any]:
    """Return rows of finite numbers as an array, or raise KernelInputError.

    Examples
    --------
    >>> check_matrix("Example", "vectors", [[1.0, 2.0]], 3)
    Traceback (most recent call last):
    ...
    kernelwood.errors.KernelInputError: Example: vectors must have 3 columns, got shape (1, 2)
    """
    matrix = np.asarray(value)
    if matrix.ndim != 2 or matrix.shape[1] != n_columns:
        raise KernelInputError(
            f"{owner}: {name} must have {n_columns} columns, got shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "fiu" or not np.isfinite(matrix).all():
        raise KernelInputError(f"{owner}: {name} must be finite numbers")
    return matrix


def check_array(name: str, array: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless a loaded array is finite and has this type and shape.

    Examples
    --------
    >>> check_array("weights_", np.zeros(3), np.float64, (2,))
    Traceback (most recent call last):
    ...
    ValueError: weights_ must be an array of float64 of shape (2,)
    """
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
        raise ValueError(f"{name} must be an array of {np.dtype(dtype)} of shape {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")


def encode_labels(owner: str, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted distinct labels, and the class number of each structure.

    With ``y=None`` the labels are those of the examples in ``X``.
    """
    labels = _labels(owner, X, y)
    if len(labels) != len(X):
        raise KernelInputError(f"{owner}: {len(X):,} structures, but {len(labels):,} labels")
    missing = [i for i, label in enumerate(labels) if label is None or label != label]
    if missing:
        raise KernelInputError(
            f"{owner}: {len(missing):,} of {len(labels):,} labels are missing, the first at "
            f"position {missing[0]}; leave those structures out"
        )
    kinds = {str if isinstance(label, (str, np.str_)) else float for label in labels}
    if len(kinds) > 1:
        raise KernelInputError(f"{owner}: labels must be all strings or all numbers, got both")
    classes, numbers = np.unique(np.array(labels), return_inverse=True)
    if classes.dtype.kind not in "Ubiuf":
        raise KernelInputError(
            f"{owner}: labels must be strings or numbers, got {type(labels[0]).__name__}"
        )
    return classes, numbers.reshape(-1).astype(np.int32)


def _labels(owner: str, X: Any, y: Any) -> list[Any]:
    if y is None:
        if isinstance(X, ExampleBatch):
            return list(X.labels)
        if len(X) and isinstance(X[0], Example):
            return [example.label for example in X]
        raise KernelInputError(f"{owner}: y is missing; only examples have labels of their own")
    if np.ndim(y) != 1:
        raise KernelInputError(
            f"{owner}: y must be one label for each structure, got an array of shape {np.shape(y)}"
        )
    return list(y)


def encode_groups(owner: str, X: Any, groups: Any) -> NDArray[np.int64] | None:
    """Return the group number of each structure; None without groups."""
    if groups is None:
        return None
    if np.ndim(groups) != 1:
        raise KernelInputError(
            f"{owner}: groups must name the group of each structure, got {groups!r}"
        )
    if len(groups) != len(X):
        raise KernelInputError(f"{owner}: {len(X):,} structures, but {len(groups):,} groups")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
