"""Similarities given by a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelwood.errors import KernelInputError
from kernelwood.similarity.similarity import SMALLEST, BuiltIn, Indices, Resolution, group_ids

_ROUNDING = 1e-9  # relative asymmetry of a matrix that counts as rounding


class Table(BuiltIn):
    r"""Similarities from a symmetric matrix.

    .. math:: k(a, b) = M_{ab}

    Labels that are not in the table match only themselves.

    Parameters
    ----------
    labels : sequence of str
        Distinct labels, one for each row and column.
    matrix : array_like, shape (len(labels), len(labels))
        Symmetric; values from 0 to 1. Values below 1e-12 count as 0.

    See Also
    --------
    Table.from_pairs : Makes a table from a dictionary of pairs.

    Examples
    --------
    >>> from kernelwood.similarity import Table
    >>> synonyms = Table.from_pairs({("big", "large"): 0.9, ("big", "huge"): 0.7})
    >>> synonyms.table(["big", "huge", "red"], ["large", "huge", "red"])
    array([[0.9, 0.7, 0. ],
           [0. , 1. , 0. ],
           [0. , 0. , 1. ]])
    >>> synonyms.positive_semidefinite
    False
    """

    def __init__(self, labels: Sequence[str], matrix: ArrayLike) -> None:
        self.labels = labels
        self.matrix = matrix

    @classmethod
    def from_pairs(cls, pairs: Mapping[tuple[str, str], float]) -> Table:
        """Make a table from the similarities of pairs of labels.

        Parameters
        ----------
        pairs : mapping from (label, label) to float
            Each pair counts in both directions. Missing pairs have similarity 0, labels with
            themselves 1.

        Returns
        -------
        Table

        Raises
        ------
        KernelInputError
            If a pair is given twice with different values.
        """
        numbers = {x: i for i, x in enumerate(dict.fromkeys(x for pair in pairs for x in pair))}
        matrix = np.eye(len(numbers))
        for (a, b), value in pairs.items():
            other = pairs.get((b, a), value)
            if other != value:
                raise KernelInputError(
                    f"Table.from_pairs: ({a!r}, {b!r}) is {value!r} but ({b!r}, {a!r}) is "
                    f"{other!r}; a similarity is symmetric, so keep one of them"
                )
            matrix[numbers[a], numbers[b]] = matrix[numbers[b], numbers[a]] = value
        return cls(list(numbers), matrix)

    @property
    def positive_semidefinite(self) -> bool:
        """Whether the smallest eigenvalue of the matrix is 0 or more, except for rounding."""
        self.check()
        matrix = self._symmetric()
        return _is_definite(matrix.tobytes(), len(matrix))

    def check(self) -> None:
        """Raise KernelInputError unless the matrix is symmetric, with values from 0 to 1."""
        labels = self.labels
        if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
            raise KernelInputError(f"Table: labels must be a list of strings, got {labels!r}")
        if len(set(labels)) < len(labels):
            twice = next(x for i, x in enumerate(labels) if x in labels[:i])
            raise KernelInputError(f"Table: the label {twice!r} occurs twice; merge its rows")
        try:
            matrix = np.asarray(self.matrix, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise KernelInputError(f"Table: matrix must hold numbers: {error}") from None
        n = len(labels)
        if matrix.shape != (n, n) and (n or matrix.size):
            raise KernelInputError(
                f"Table: {n} labels need a matrix of shape {(n, n)}, got {matrix.shape}"
            )
        self._check_values(matrix.reshape(n, n))

    def _check_values(self, matrix: NDArray[np.float64]) -> None:
        wrong = ~((matrix >= 0) & (matrix <= 1))
        if wrong.any():
            i, j = np.argwhere(wrong)[0].tolist()
            raise KernelInputError(
                f"Table: the similarity of {self.labels[i]!r} and {self.labels[j]!r} is "
                f"{float(matrix[i, j])!r}; similarities must lie between 0 and 1"
            )
        wrong = np.abs(matrix - matrix.T) > _ROUNDING * np.maximum(matrix, matrix.T)
        if wrong.any():
            i, j = np.argwhere(wrong)[0].tolist()
            raise KernelInputError(
                f"Table: ({self.labels[i]!r}, {self.labels[j]!r}) is {float(matrix[i, j])!r} but "
                f"{float(matrix[j, i])!r} in reverse order; make the matrix symmetric, for "
                "instance (matrix + matrix.T) / 2"
            )

    def value(self, a: str, b: str) -> float:
        """Return the similarity of two labels, in plain Python."""
        self.check()
        labels = list(self.labels)
        if a not in labels or b not in labels:
            return float(a == b)
        i, j = labels.index(a), labels.index(b)
        matrix = np.asarray(self.matrix, dtype=np.float64)
        value = (float(matrix[i, j]) + float(matrix[j, i])) / 2
        return value if value >= SMALLEST else 0.0

    def resolve(self, labels: list[str]) -> Resolution:
        """Return a table with a group for each connected component of labels that match."""
        self.check()
        numbers = {label: i for i, label in enumerate(self.labels)}
        places = np.array([numbers.get(label, -1) for label in labels], dtype=np.int64)
        matrix = self._symmetric()

        def block(left: Indices, right: Indices) -> NDArray[np.float64]:
            a, b = places[left], places[right]
            values: NDArray[np.float64] = (left[:, None] == right).astype(np.float64)
            values[np.ix_(a >= 0, b >= 0)] = matrix[np.ix_(a[a >= 0], b[b >= 0])]
            return values

        inside = places[places >= 0]
        chains = iter(_components(matrix[np.ix_(inside, inside)] > 0))
        keys = zip(labels, places.tolist(), strict=True)
        return Resolution(
            groups=group_ids(label if place < 0 else next(chains) for label, place in keys),
            rows=np.full(len(labels), -1, dtype=np.int64),
            table=block,
        )

    def _symmetric(self) -> NDArray[np.float64]:
        n = len(self.labels)
        matrix = np.asarray(self.matrix, dtype=np.float64).reshape(n, n)
        symmetric: NDArray[np.float64] = (matrix + matrix.T) / 2
        symmetric[symmetric < SMALLEST] = 0.0
        return symmetric

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Table):
            return NotImplemented
        return list(self.labels) == list(other.labels) and np.array_equal(self.matrix, other.matrix)

    __hash__ = BuiltIn.__hash__


def _components(adjacent: NDArray[np.bool_]) -> list[int]:
    """Return the connected component of each node of an undirected graph."""
    component = np.full(len(adjacent), -1)
    for start in range(len(adjacent)):
        frontier = np.array([start] if component[start] < 0 else [], dtype=np.int64)
        while len(frontier):
            component[frontier] = start
            frontier = np.flatnonzero(adjacent[frontier].any(axis=0) & (component < 0))
    numbers: list[int] = component.tolist()
    return numbers


@lru_cache(maxsize=8)
def _is_definite(values: bytes, n: int) -> bool:
    """Whether a symmetric n by n matrix is positive semidefinite; kernels ask for it often."""
    if n == 0:
        return True
    found = np.linalg.eigvalsh(np.frombuffer(values, dtype=np.float64).reshape(n, n))
    return bool(found[0] >= -_ROUNDING * max(found[-1], 0.0))
