"""The index underneath: structures found by their vectors or by their codes."""

from __future__ import annotations

import warnings
from typing import Any

from kernelwood.errors import KernelInputError
from kernelwood.features import EmbeddingIndex, HashIndex
from kernelwood.kernels import Kernel

__all__ = ["WAYS", "fitted_index", "index_class"]

WAYS = ("vectors", "codes")  # what structures can be found by


def index_class(by: str) -> Any:
    """Return the class of index that finds structures by their vectors or codes."""
    return HashIndex if by == "codes" else EmbeddingIndex


def fitted_index(
    by: str, kernel: Kernel, structures: Any, *, n_landmarks: int, n_bits: int, seed: int
) -> Any:
    """Return an index of structures; if there are few, all of them are landmarks.

    Parameters
    ----------
    by : {"vectors", "codes"}
    kernel : Kernel
    structures : list of structures or batch
    n_landmarks : int
        Landmarks of vectors, or references of codes.
    n_bits : int
        Length of codes.
    seed : int
    """
    n = min(n_landmarks, len(structures))
    if by == "vectors":
        return index_class(by)(kernel, n_landmarks=n, random_state=seed).fit(structures)
    if n < 2:
        raise KernelInputError(
            "codes compare structures with two references at least; fit on more sentences, or "
            "find them by vectors: by='vectors'"
        )
    index = HashIndex(
        kernel, n_references=n, n_bits=n_bits, subset_size=min(2, n // 2), random_state=seed
    )
    with warnings.catch_warnings():
        if n < n_landmarks:  # of so few, bits that tell nothing are no news
            warnings.filterwarnings("ignore", "KernelHasher: .* bits are the same")
        return index.fit(structures)
