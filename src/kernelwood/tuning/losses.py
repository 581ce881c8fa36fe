"""What is wrong with the nearest neighbors of structures, given their classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel

__all__ = ["LOSSES", "NeighborLoss", "nearest_others"]

LOSSES = ("votes", "paper")

Numbers = NDArray[np.int32]
Groups = NDArray[np.int64]

_WHOLE = 4096  # structures whose Gram matrix is held: 128 MB
_QUERIES, _SEARCHED = 1024, 8192  # the same, of more
_DIGITS = {"float64": 12, "float32": 5}  # beyond these, similarities are rounding


@dataclass(frozen=True)
class NeighborLoss:
    r"""A loss for each structure, by its nearest neighbors among some structures.

    ``"votes"``
        :math:`1 - s_i / p_i`, where :math:`s_i` is the share of structures of its class among the
        ``n_votes`` nearest, weighted by similarity, and :math:`p_i` the share of its class among
        all. It is 0 at chance, and for a structure that is not like any other; but 1 if closed
        gates have left nothing of it, which must not be a way out.
    ``"paper"``
        The similarity to the nearest neighbor if that is of another class; minus the similarity if
        both are of one class, but 0 if that is the negative one.

    Parameters
    ----------
    kind : {"votes", "paper"}
    n_votes : int
    weights : ndarray of float64, shape (n_classes,)
        The share of each class, or what its neighbors are a gain.
    """

    kind: str
    n_votes: int
    weights: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        owner: str,
        kind: str,
        classes: NDArray[Any],
        numbers: Numbers,
        *,
        n_votes: int = 8,
        negative_label: Any = "auto",
    ) -> NeighborLoss:
        """Return the loss for structures whose classes have these numbers.

        Examples
        --------
        >>> classes, numbers = np.array(["no", "yes"]), np.array([0, 0, 0, 1], dtype=np.int32)
        >>> NeighborLoss.of("example", "votes", classes, numbers).weights
        array([0.75, 0.25])
        >>> NeighborLoss.of("example", "paper", classes, numbers).weights
        array([0., 1.])
        """
        labels = classes.tolist()
        negative = negative_label
        if isinstance(negative, str) and negative == "auto" and "auto" not in labels:
            negative = labels[0] if len(labels) == 2 else None
        if negative is not None and negative not in labels:
            raise KernelInputError(
                f"{owner}: negative_label={negative!r} is none of the classes {labels[:20]}"
            )
        if kind == "votes":
            return cls(kind, n_votes, np.bincount(numbers) / len(numbers))
        return cls(kind, 1, np.array([0.0 if label == negative else 1.0 for label in labels]))

    def __call__(
        self, kernel: Kernel, X: Any, classes: Numbers, groups: Groups | None = None
    ) -> NDArray[np.float64]:
        """Return the loss of each structure of ``X``; neighbors of its own group do not count."""
        neighbors, similarities = nearest_others(kernel, X, self.n_votes, groups)
        same = classes[neighbors] == classes[:, None]
        own = self.weights[classes]
        if self.kind == "paper":
            return np.asarray(np.where(same[:, 0], -own, 1.0) * similarities[:, 0])
        total = similarities.sum(axis=1)
        agreeing = (similarities * same).sum(axis=1)
        unlike = np.where(kernel.diag(X) > 0, own, 0.0)
        share = np.divide(agreeing, total, out=unlike, where=total > 0)
        return np.asarray(1 - share / own)


def nearest_others(
    kernel: Kernel, X: Any, k: int, groups: Groups | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nearest neighbors of each structure that are in another group, and similarities.

    Of equal ones the first are taken, whatever rounding favors. Where there are fewer than ``k``,
    the rest have the similarity 0.

    Examples
    --------
    >>> import kernelwood as kw
    >>> paths = kw.batch([kw.Sequence(list(text)) for text in ("ab", "ab", "abc", "x")])
    >>> nearest_others(kw.SubsequenceKernel(), paths, 1)[0][:, 0].tolist()
    [1, 0, 0, 0]
    >>> nearest_others(kw.SubsequenceKernel(), paths, 1, np.array([0, 0, 1, 2]))[0][:, 0].tolist()
    [2, 2, 0, 0]
    """
    n = len(X)
    found = np.full((n, min(k, n - 1)), -1, dtype=np.int64)
    values = np.full(found.shape, -np.inf, dtype=kernel._dtype(None))
    own = np.arange(n)
    for searched, queries, block in _blocks(kernel, X):
        np.round(block, _DIGITS[block.dtype.name], out=block)
        if groups is not None:
            block[groups[searched][:, None] == groups[queries]] = -np.inf
        _native.keep_best(block, searched.start, own[queries], found[queries], values[queries])
    values[~np.isfinite(values)] = 0
    return np.maximum(found, 0), np.maximum(values, 0).astype(np.float64)


def _blocks(kernel: Kernel, X: Any) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
    """Yield similarities of some structures, as rows, to some queries."""
    n = len(X)
    if n <= _WHOLE:  # half the work, as long as it can be held
        yield slice(0, n), slice(0, n), kernel.gram(X)
        return
    for top in range(0, n, _QUERIES):
        queries = slice(top, min(top + _QUERIES, n))
        for left in range(0, n, _SEARCHED):
            searched = slice(left, min(left + _SEARCHED, n))
            yield searched, queries, kernel.cross(X[searched], X[queries])
