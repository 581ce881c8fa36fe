"""What a similarity says about a list of labels, in arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "Function", "Resolution", "group_ids"]

Function = Literal["cosine", "gaussian", "sigmoid", "exponential"]
Indices = NDArray[np.int64]
Block = Callable[[Indices, Indices], NDArray[np.float64]]


@dataclass(frozen=True, eq=False, slots=True)
class Resolution:
    r"""All that is needed to compare ``n`` distinct labels: no text, only arrays.

    Attributes
    ----------
    groups : ndarray of int32, shape (n,)
        Labels of different groups never match. Numbered from 0 without holes; a label that
        matches only itself has a group of its own.
    rows : ndarray of int64, shape (n,)
        The row of ``vectors`` that belongs to each label, -1 for labels that match only
        themselves; their similarity with themselves is 1.
    vectors : ndarray of float32 or float64, shape (m, d), optional
        C-contiguous. Rows need not be of unit length.
    function : {"cosine", "gaussian", "sigmoid", "exponential"}
        How the cosine :math:`c` of two vectors of one group becomes a similarity: ``weight`` times
        :math:`c`, and 0 if that is below ``floor``; :math:`\exp(2c - 2)`;
        :math:`(1 + \tanh c) / 2`; :math:`\exp(c - 1)`, with a ``floor`` :math:`\gamma` times
        :math:`\max(0, (c - \gamma) / (1 - \gamma))`. Labels that share a row have
        :math:`c = 1`.
    weight : float
        Used by ``"cosine"`` only.
    floor : float, optional
        Used by ``"cosine"`` and ``"exponential"``.
    table : callable, optional
        If given, vectors and function do not count: ``table(left, right)`` returns the
        similarities of labels of one group, which are given by their indices.
    """

    groups: NDArray[np.int32]
    rows: NDArray[np.int64]
    vectors: NDArray[np.floating[Any]] | None = None
    function: Function = "cosine"
    weight: float = 1.0
    floor: float | None = None
    table: Block | None = None

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0

    def values(self, left: Indices, right: Indices) -> NDArray[np.float64]:
        """Return the similarities of labels given by their indices, of any groups.

        Parameters
        ----------
        left, right : ndarray of int64
            Indices into the labels.

        Returns
        -------
        ndarray of float64, shape (len(left), len(right))
        """
        same_group = self.groups[left][:, None] == self.groups[right]
        if self.table is not None:
            block: NDArray[np.float64] = np.where(same_group, self.table(left, right), 0.0)
            return block
        left_rows, right_rows = self.rows[left], self.rows[right]
        both_exact = (left_rows < 0)[:, None] & (right_rows < 0)
        values: NDArray[np.float64] = (same_group & both_exact).astype(np.float64)
        i, j = np.flatnonzero(left_rows >= 0), np.flatnonzero(right_rows >= 0)
        if len(i) and len(j):
            smooth = self._of_cosines(self._cosines(left_rows[i], right_rows[j]))
            values[np.ix_(i, j)] = np.where(same_group[np.ix_(i, j)], smooth, 0.0)
        return values

    def _cosines(self, left_rows: Indices, right_rows: Indices) -> NDArray[np.float64]:
        if self.vectors is None:
            raise ValueError("a resolution whose labels have rows needs vectors")
        left = self.vectors[left_rows].astype(np.float64)
        right = self.vectors[right_rows].astype(np.float64)
        norms = _norms(left)[:, None] * _norms(right)
        cosines = np.zeros(norms.shape)
        np.divide(left @ right.T, norms, out=cosines, where=norms > 0)
        cosines[left_rows[:, None] == right_rows] = 1.0
        np.clip(cosines, -1.0, 1.0, out=cosines)
        return cosines

    def _of_cosines(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.function == "gaussian":
            return np.exp(2 * cosines - 2)
        if self.function == "sigmoid":
            return (1 + np.tanh(cosines)) / 2
        if self.function == "exponential":
            values = np.exp(cosines - 1)
            if self.floor is not None:
                values *= np.maximum(0.0, (cosines - self.floor) / (1 - self.floor))
            return values
        values = self.weight * cosines
        if self.floor is not None:
            values[values < self.floor] = 0.0
        return values


def group_ids(keys: Iterable[Hashable]) -> NDArray[np.int32]:
    """Number the distinct keys from 0 in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), dtype=np.int32)


def _norms(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    norms: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return norms
