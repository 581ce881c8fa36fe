"""Similarity of words that match fully from a cosine on."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernelwood as kw


class Threshold(kw.similarity.Similarity):
    """1 if labels are equal or their vectors have at least a cosine, else 0."""

    def __init__(self, vectors: kw.Vectors, floor: float = 0.0) -> None:
        self.vectors, self.floor = vectors, floor

    def table(self, left: list[str], right: list[str]) -> Any:
        """Return the similarities of two lists of labels."""
        rows = [self.vectors.rows(side) for side in (left, right)]
        matrix = np.asarray(self.vectors.matrix, dtype=np.float64)
        sides = [np.where((one >= 0)[:, None], matrix[one], 0.0) for one in rows]
        cosines = sides[0] @ sides[1].T
        known = (rows[0] >= 0)[:, None] & (rows[1] >= 0)
        equal = np.array(left, dtype=object)[:, None] == np.array(right, dtype=object)
        return np.where(equal | (known & (cosines >= self.floor)), 1.0, 0.0)
