"""What all similarities share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.parameters import Parameterized
from kernelwood.similarity.resolution import Indices, Resolution

__all__ = ["SMALLEST", "BuiltIn", "Similarity"]

SMALLEST = 1e-12  # similarities below count as 0: kernels need no range for them


class Similarity(Parameterized):
    """Base class of all similarities: how well two labels match, from 0 to 1.

    To write your own, subclass it with ``table(left, right)`` and, if it has parameters, a
    constructor that only stores them; the rest is supplied. ``table`` may be called from
    several threads at once.

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
            Values from 0 to 1, with ``table(a, b)`` the transpose of ``table(b, a)``; less than
            1e-12 counts as 0.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no table(left, right)")

    def value(self, a: str, b: str) -> float:
        """Return the similarity of two labels; for many, use :meth:`table`."""
        self.check()
        return float(self._checked_table([a], [b])[0, 0])

    @property
    def positive_semidefinite(self) -> bool | None:
        """Whether every table of labels with themselves is positive semidefinite.

        True if it always is, False if it need not be, None if nobody has said. Such a similarity
        keeps a kernel positive semidefinite that is so with exact matching, and support vector
        machines, Gaussian processes and the Nyström method take that for granted.
        """
        return None

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""

    def smallest_eigenvalue(self, labels: Iterable[str]) -> float:
        """Return the smallest eigenvalue of the table of some labels with themselves.

        A value clearly below 0 shows that the similarity is not positive semidefinite, and how
        far it is from it on labels like these. Rounding alone can give -1e-15 or so.

        Parameters
        ----------
        labels : iterable of str
            A sample, a few thousand at most: the cost is cubic. Repetitions do not count.

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
        gaps = np.abs(table - table.T)
        if gaps.max() > 1e-9 * max(1.0, table.max()):
            i, j = np.unravel_index(int(gaps.argmax()), gaps.shape)
            raise KernelInputError(
                f"{type(self).__name__}.table is not symmetric: {table[i, j]:g} for "
                f"{distinct[i]!r} and {distinct[j]!r}, {table[j, i]:g} the other way round"
            )
        return float(np.linalg.eigvalsh((table + table.T) / 2)[0])

    def resolve(self, labels: list[str]) -> Resolution:
        """Return what an engine needs to compare distinct labels, without their text.

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
        """Return a table, which somebody else may have computed, or say what is wrong with it."""
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
    """A similarity that is defined by what it resolves to."""

    def table(self, left: list[str], right: list[str]) -> NDArray[np.float64]:
        """Return the similarities of two lists of labels.

        Parameters
        ----------
        left, right : list of str
            The labels; repetitions are welcome.

        Returns
        -------
        ndarray of float64, shape (len(left), len(right))
        """
        left, right = as_labels(left, "left"), as_labels(right, "right")
        numbers = {label: i for i, label in enumerate(dict.fromkeys([*left, *right]))}
        resolution = self.resolve(list(numbers))
        sides = [np.array([numbers[x] for x in side], dtype=np.int64) for side in (left, right)]
        return resolution.values(sides[0], sides[1])


def as_labels(labels: Iterable[str], name: str) -> list[str]:
    """Return labels as a list, or say why they are none."""
    if isinstance(labels, str):
        raise KernelInputError(
            f"{name} must be a list of labels, got the string {labels!r}; write [{labels!r}]"
        )
    listed = list(labels)
    for label in listed:
        if not isinstance(label, str):
            raise KernelInputError(f"{name} must be a list of strings, got {label!r} in it")
    return listed
