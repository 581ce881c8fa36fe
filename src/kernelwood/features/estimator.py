"""What all estimators over structures share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from kernelwood.arrays import ExampleBatch
from kernelwood.compute import config_context, resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel, drop_unread_views
from kernelwood.parameters import ChecksParameters
from kernelwood.seeds import resolve_seed

__all__ = ["StructureEstimator", "StructureTransformer"]


class StructureEstimator(ChecksParameters, BaseEstimator):  # type: ignore[misc]
    """Base class of estimators whose ``X`` are structures, compared by a kernel.

    The constructor stores its arguments; checks wait for ``fit``. ``X`` is a list of structures or
    a batch. What ``fit`` learns is named in ``_fitted``: that, and the parameters, is what
    :func:`kernelwood.save` stores.
    """

    # Names of fitted attributes: arrays, plain values, batches, kernels, other estimators.
    _fitted: ClassVar[tuple[str, ...]] = ("kernel_",)

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
        if self.n_jobs is not None:
            resolve_jobs(self.n_jobs)

    def _check_restored(self) -> None:
        """Raise ValueError if fitted attributes that were loaded from a file do not fit."""
        if not isinstance(self.kernel_, Kernel):
            raise ValueError("kernel_ must be a kernel")
        if "seed_" in self._fitted and resolve_seed(self.seed_) != self.seed_:
            raise ValueError("seed_ must be a whole number")

    def _start(self, X: Any) -> Any:
        """Check the parameters, keep a copy of the kernel and the seed, return ``X`` as a batch."""
        self._check_parameters()
        # A copy: what is learned must not change when the caller's kernel does.
        self.kernel_ = self.kernel.clone()
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
        """Return structures as an estimator keeps them: examples with the views that are read."""
        if isinstance(structures, ExampleBatch):
            return drop_unread_views(structures, self.kernel_)
        return structures

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """Let kernels and native work use the threads of ``n_jobs``."""
        with nullcontext() if self.n_jobs is None else config_context(n_jobs=self.n_jobs):
            yield

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call fit(X, y) first"
            )

    def __sklearn_is_fitted__(self) -> bool:
        # All of them: a fit that failed half-way has left some.
        return all(hasattr(self, name) for name in self._fitted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.no_validation = True
        return tags


class StructureTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):  # type: ignore[misc]
    """What scikit-learn expects of something with a ``transform``; a base beside the one above."""
