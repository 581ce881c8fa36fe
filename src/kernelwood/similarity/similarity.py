"""The base class of similarities, and the arrays that a similarity is resolved to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.parameters import Parameterized

SMALLEST = 1e-12  # similarities below this count as 0, which bounds the range of kernel values
_ROUNDING = 1e-9  # asymmetry of a table that counts as rounding

Function = Literal["cosine", "gaussian", "sigmoid", "exponential", "threshold"]
Indices = NDArray[np.int64]
Block = Callable[[Indices, Indices], NDArray[np.float64]]


class Similarity(Parameterized):
    """Base class of all similarities of labels, with values from 0 to 1.

    A subclass defines ``table(left, right)`` and, if it has parameters, a constructor that only
    stores them; everything else is inherited. ``table`` may be called from several threads at once.

    Examples
    --------
    Labels that match in proportion to the prefix they share:

    >>> import os
    >>> from kernelwood.similarity import Similarity
    >>> class SharedPrefix(Similarity):
    ...     def table(self, left, right):
    ...         return [[self.shared(a, b) for b in right] for a in left]
    ...     def shared(self, a, b):
    ...         return len(os.path.commonprefix([a, b])) / max(len(a), len(b), 1)
    >>> SharedPrefix().value("playing", "played")
    0.5714285714285714
    >>> round(SharedPrefix().smallest_eigenvalue(["play", "played", "plan"]), 3)
    0.21
    """

    def table(self, left: list[str], right: list[str]) -> Any:
        """Return the similarities of two lists of labels.

        Parameters
        ----------
        left, right : list of str
            The labels.

        Returns
        -------
        array_like, shape (len(left), len(right))
            Values from 0 to 1, with ``table(a, b)`` the transpose of ``table(b, a)``; values below
            1e-12 count as 0.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define table(left, right)")

    def value(self, a: str, b: str) -> float:
        """Return the similarity of two labels; for many, use :meth:`table`."""
        self.check()
        return float(self._checked_table([a], [b])[0, 0])

    @property
    def positive_semidefinite(self) -> bool | None:
        """Whether every table of labels with themselves is positive semidefinite.

        True if it always is, False if it need not be, None if unknown. A kernel that is positive
        semidefinite with exact matching stays so with such a similarity; support vector machines,
        Gaussian processes and the Nyström method assume it.
        """
        return None

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""

    def smallest_eigenvalue(self, labels: Iterable[str]) -> float:
        """Return the smallest eigenvalue of the table of some labels with themselves.

        A value clearly below 0 shows that the similarity is not positive semidefinite; rounding
        alone can give about -1e-15.

        Parameters
        ----------
        labels : iterable of str
            A sample, a few thousand at most: the cost is cubic. Repetitions are ignored.

        Returns
        -------
        float
        """
        distinct = list(dict.fromkeys(as_labels(labels, "labels")))
        if not distinct:
            raise KernelInputError(
                f"{type(self).__name__}.smallest_eigenvalue: give at least one label"
            )
        self.check()
        table = self._checked_table(distinct, distinct)
        self._check_symmetric(table, distinct)
        return float(np.linalg.eigvalsh((table + table.T) / 2)[0])

    def _check_symmetric(self, table: NDArray[np.float64], labels: list[str]) -> None:
        """Raise KernelInputError if a table of labels with themselves is not symmetric."""
        gaps = np.abs(table - table.T)
        if gaps.max() > _ROUNDING:
            i, j = np.unravel_index(int(gaps.argmax()), gaps.shape)
            raise KernelInputError(
                f"{type(self).__name__}.table is not symmetric: {table[i, j]:g} for "
                f"{labels[i]!r} and {labels[j]!r}, {table[j, i]:g} in reverse order"
            )

    def resolve(self, labels: list[str]) -> Resolution:
        """Return the arrays by which an engine compares distinct labels.

        Parameters
        ----------
        labels : list of str
            Distinct labels.

        Returns
        -------
        Resolution
        """
        self.check()

        def block(left: Indices, right: Indices) -> NDArray[np.float64]:
            sides = ([labels[i] for i in side.tolist()] for side in (left, right))
            return self._checked_table(*sides)

        n = len(labels)
        return Resolution(
            groups=np.zeros(n, dtype=np.int32), rows=np.full(n, -1, dtype=np.int64), table=block
        )

    def _checked_table(self, left: list[str], right: list[str]) -> NDArray[np.float64]:
        """Return the table of two lists of labels after checking its shape and values."""
        name, shape = type(self).__name__, (len(left), len(right))
        table = np.asarray(self.table(left, right), dtype=np.float64)
        if table.shape != shape and table.size + shape[0] * shape[1]:
            raise KernelInputError(
                f"{name}.table returned shape {table.shape} for {shape[0]} and {shape[1]} labels; "
                f"it must be {shape}"
            )
        table = table.reshape(shape)
        wrong = ~((table >= 0) & (table <= 1))
        if wrong.any():
            i, j = np.argwhere(wrong)[0].tolist()
            raise KernelInputError(
                f"{name}.table gave {float(table[i, j])!r} for {left[i]!r} and {right[j]!r}; "
                "similarities must lie between 0 and 1"
            )
        return np.where(table < SMALLEST, 0.0, table)


class BuiltIn(Similarity):
    """A similarity whose table is that of its resolution."""

    def table(self, left: list[str], right: list[str]) -> NDArray[np.float64]:
        """Return the similarities of two lists of labels.

        Parameters
        ----------
        left, right : list of str
            The labels, in which repetitions are allowed.

        Returns
        -------
        ndarray of float64, shape (len(left), len(right))
        """
        left, right = as_labels(left, "left"), as_labels(right, "right")
        numbers = {label: i for i, label in enumerate(dict.fromkeys([*left, *right]))}
        resolution = self.resolve(list(numbers))
        sides = [np.array([numbers[x] for x in side], dtype=np.int64) for side in (left, right)]
        return resolution.values(sides[0], sides[1])


class Exact(BuiltIn):
    r"""Labels match if they are equal.

    .. math:: k(a, b) = [a = b]

    The default of every kernel. Always positive semidefinite.

    Examples
    --------
    >>> from kernelwood.similarity import Exact
    >>> Exact().table(["cat", "dog"], ["cat", "cow"])
    array([[1., 0.],
           [0., 0.]])
    """

    @property
    def positive_semidefinite(self) -> bool:
        """True: a table of distinct labels is the identity matrix."""
        return True

    def value(self, a: str, b: str) -> float:
        """Return 1 if the labels are equal, else 0."""
        return float(a == b)

    def resolve(self, labels: list[str]) -> Resolution:
        """Return a group for each label."""
        return Resolution(groups=group_ids(labels), rows=np.full(len(labels), -1, dtype=np.int64))


def as_labels(labels: Iterable[str], name: str) -> list[str]:
    """Return labels as a list; raise KernelInputError if they are not strings."""
    if isinstance(labels, str):
        raise KernelInputError(
            f"{name} must be a list of labels, got the string {labels!r}; write [{labels!r}]"
        )
    listed = list(labels)
    for label in listed:
        if not isinstance(label, str):
            raise KernelInputError(f"{name} must be a list of strings, got {label!r} in it")
    return listed


@dataclass(frozen=True, eq=False, slots=True)
class Resolution:
    r"""Arrays by which ``n`` distinct labels are compared without their text.

    Attributes
    ----------
    groups : ndarray of int32, shape (n,)
        Labels of different groups never match. Numbered from 0 without gaps; a label that
        matches only itself has a group of its own.
    rows : ndarray of int64, shape (n,)
        The row of ``vectors`` of each label, -1 for labels that match only themselves, with
        similarity 1.
    vectors : ndarray of float32 or float64, shape (m, d), optional
        C-contiguous. Rows need not be of unit length.
    function : {"cosine", "gaussian", "sigmoid", "exponential", "threshold"}
        The similarity as a function of the cosine :math:`c` of two vectors: ``weight`` times
        :math:`c`, and 0 if this is below ``floor``; :math:`\exp(2c - 2)`;
        :math:`(1 + \tanh c) / 2`; :math:`\exp(c - 1)`, with a ``floor`` :math:`\gamma` times
        :math:`\max(0, (c - \gamma) / (1 - \gamma))`; 1 if :math:`c` is at least ``floor``,
        otherwise 0. Labels that share a row have :math:`c = 1`.
    weight : float
        Used by ``"cosine"`` only.
    floor : float, optional
        Used by ``"cosine"``, ``"exponential"`` and ``"threshold"``, which takes None as 0.
    table : callable, optional
        If given, vectors and function are ignored: ``table(left, right)`` returns the
        similarities of labels of one group, given by their indices.
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
            raise ValueError("labels have rows, but there are no vectors")
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
        if self.function == "threshold":
            return (cosines >= (self.floor or 0.0)).astype(np.float64)
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
