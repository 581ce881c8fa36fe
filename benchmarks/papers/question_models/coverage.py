"""The hash forest with references that cover the labels which tell classes apart."""

from __future__ import annotations

from typing import Any

import kernelwood as kw
from kernelwood.features import ReferenceSelector
from kernelwood.features.reference_selection import cover, label_information, label_table

__all__ = ["CoverageForest", "cover", "label_information", "label_table"]


class CoverageForest(kw.HashForestClassifier):
    """The hash forest with references by coverage in place of random ones.

    They are those of ``references="coverage"`` in another order, in which they were when the
    figures of this experiment were measured; the order decides which of them share a bit.
    """

    def _fit_hasher(self, X: Any, y: Any = None) -> kw.KernelHasher:
        selector = ReferenceSelector(
            self.kernel_, strategy="coverage", n_references=self.n_references
        )
        # All that this hasher is fitted on become its references.
        return super()._fit_hasher(X[selector.fit(X, y).indices_])
