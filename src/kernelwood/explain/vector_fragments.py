"""Features that two vectors share."""

from __future__ import annotations

from itertools import pairwise
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import VectorBatch
from kernelwood.explain.found import Found, Request, Shared
from kernelwood.kernels import VectorKernel


def explain_vectors(kernel: VectorKernel, X: Any, Y: Any, request: Request) -> Found:
    """Return the features of each pair of vectors, or the value where features have no names."""
    fragments: list[list[Shared]] = [[] for _ in range(len(X))]
    found = Found(fragments, np.zeros(len(X), dtype=np.bool_), lambda number: (None, None))
    named = isinstance(X, VectorBatch) and X.width is None and Y.width is None
    if not named or kernel.kind not in ("linear", "cosine"):
        text = f"vectors ({kernel.kind})"
        for own, value in zip(fragments, kernel.pairs(X, Y).tolist(), strict=True):
            own.append(Shared(text, value, 1, 1, value if request.largest else None, 1, 1.0, 0))
        return found
    (columns, own_values, own_rows), (others, values, rows) = (
        _flat(side) for side in (X, Y.in_vocabulary(X.vocabulary))
    )
    width = 1 + max(int(some.max(initial=0)) for some in (columns, others))
    keys = own_rows * width + columns, rows * width + others
    _, left, right = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    order = np.argsort(left)  # names of a row are in alphabetical order
    left, right = left[order], right[order]
    counts = own_values[left], values[right]
    weights = counts[0] * counts[1]
    if kernel.kind == "cosine":
        lengths = _lengths(X)[own_rows[left]], _lengths(Y)[rows[right]]
        weights = (counts[0] / lengths[0]) * (counts[1] / lengths[1])
    names = X.vocabulary.labels(columns[left])
    told = zip(
        own_rows[left].tolist(),
        names,
        weights.tolist(),
        *(side.tolist() for side in counts),
        strict=True,
    )
    for row, name, weight, a, b in told:
        covers = weight if request.largest else None
        fragments[row].append(Shared(name, weight, a, b, covers, 1, 1.0, 0))
    return found


def _flat(batch: VectorBatch) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Return columns, values and rows of all numbers of a sparse batch."""
    part = batch.parts[0].alone()
    columns, values = part.arrays
    return columns.astype(np.int64), values, np.repeat(np.arange(len(batch)), part.sizes)


def _lengths(batch: VectorBatch) -> NDArray[np.float64]:
    part = batch.parts[0].alone()
    values, ends = part.arrays[-1].tolist(), part.offsets.tolist()
    return np.array([hypot(*values[a:b]) for a, b in pairwise(ends)])
