"""Parameters of hashcodes, wherever they are used."""

from __future__ import annotations

from kernelwood.errors import KernelInputError
from kernelwood.features.bit_blocks import METHODS
from kernelwood.features.estimator import StructureEstimator

__all__ = ["HashParameters"]


class HashParameters(StructureEstimator):
    """Base class of estimators that make hashcodes; see :class:`KernelHasher`."""

    method: str
    n_references: int
    n_bits: int
    subset_size: int

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_choice("method", tuple(METHODS))
        self._check_count("n_references", 2)
        self._check_count("n_bits", 1)
        self._check_count("subset_size", 1)

    def _check_subsets(self, n_references: int) -> None:
        if 2 * self.subset_size > n_references:
            raise KernelInputError(
                f"{type(self).__name__}: two subsets of subset_size={self.subset_size} need "
                f"{2 * self.subset_size} references, there are {n_references}"
            )
