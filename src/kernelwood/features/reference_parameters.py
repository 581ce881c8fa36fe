"""The choice of references, wherever hashcodes are used."""

from __future__ import annotations

from typing import Any, ClassVar

from kernelwood.errors import KernelInputError
from kernelwood.features.hash_parameters import HashParameters
from kernelwood.features.reference_selection import STRATEGIES, ReferenceSelector
from kernelwood.text import Example

__all__ = ["ReferenceParameters"]

_RANDOM = "random"
_OF_SELECTORS = ("strategy", "n_candidates", "n_samples", "n_steps")


class ReferenceParameters(HashParameters):
    """Base class of estimators that choose references; see :class:`KernelHasher`."""

    # Files that were written before there was a choice mean this.
    _added_parameters: ClassVar[dict[str, Any]] = {"references": _RANDOM}

    references: Any

    def _selector(self, n_references: int) -> ReferenceSelector | None:
        """Return what chooses so many references for the hashcodes of this estimator.

        None if they are drawn at random.
        """
        options: dict[str, Any] = {"strategy": self.references}
        if isinstance(self.references, ReferenceSelector):
            options = {name: getattr(self.references, name) for name in _OF_SELECTORS}
        elif self.references == _RANDOM:
            return None
        return ReferenceSelector(
            getattr(self, "kernel_", self.kernel),
            n_references=n_references,
            method=self.method,
            n_bits=self.n_bits,
            subset_size=self.subset_size,
            random_state=getattr(self, "seed_", None),
            **options,
        )

    def _check_labels(self, X: Any, y: Any) -> None:
        """Raise KernelInputError if references are chosen by classes that are not there."""
        if y is None and not (len(X) and isinstance(X[0], Example)):
            raise KernelInputError(
                f"{type(self).__name__}: y is missing, the classes that references are chosen by; "
                "call fit(X, y), or draw them with references='random'"
            )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        names = (_RANDOM, *STRATEGIES)
        if isinstance(self.references, ReferenceSelector):
            selector = self._selector(self.n_references)
            assert selector is not None
            selector._check_parameters()
        elif not isinstance(self.references, str) or self.references not in names:
            raise KernelInputError(
                f"{type(self).__name__}: references must be one of {names} or a "
                f"ReferenceSelector, got {self.references!r}"
            )
