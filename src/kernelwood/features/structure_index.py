"""What searches among structures share: they come and go, are found, and are compared again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.features.collection import CollectionEstimator

__all__ = ["Find", "Ids", "StructureIndex", "nearest_kept"]

Ids = NDArray[np.int64]
# find(queries, k) -> positions and scores, best first; where scores are equal, by position.
Find = Callable[[Any, int], tuple[Ids, NDArray[Any]]]


class StructureIndex(CollectionEstimator):
    """Base class of searches by a stand-in for structures, such as a code or a vector.

    A subclass makes stand-ins of structures, which are columns of the collection, and finds the
    nearest ones. Adding, removing and re-ranking by the kernel are the same for all.
    """

    _plain_scores: ClassVar[str]  # what a search without re-ranking returns, for messages

    n_rerank: int | None

    @abstractmethod
    def _stand_ins(self, X: Any) -> dict[str, NDArray[Any]]:
        """Return the columns of a batch: arrays with a row for each structure."""

    @abstractmethod
    def _search_plain(self, X: Any, k: int) -> tuple[Ids, NDArray[Any]]:
        """Return positions and scores of what is nearest to a batch by the stand-ins."""

    def add(self, X: Any) -> Ids:
        """Add structures; return their ids.

        Parameters
        ----------
        X : list of structures or batch, length n

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        self._check_is_fitted()
        X = self._prepare(X)
        with self._threads():
            return self._collection.add(X, self._stand_ins(X))

    def _found(self, X: Any, k: int, n_rerank: int | None) -> tuple[Ids, NDArray[Any]]:
        """Return ids and scores of the nearest structures, compared by the kernel or not."""
        self._check_is_fitted()
        self._check_k(k)
        n_rerank = self._check_rerank(k, n_rerank)
        X = self._prepare(X)
        with self._threads():
            positions, scores = self._search_plain(X, max(k, n_rerank))
            if n_rerank:
                positions, scores = self._rerank(X, positions, k)
        return self._collection.column("ids")[positions], scores

    def _rerank(self, X: Any, positions: Ids, k: int) -> tuple[Ids, NDArray[Any]]:
        best = np.empty((len(X), k), dtype=np.int64)
        similarities = np.empty(best.shape, dtype=self.kernel_._dtype(None))
        for row in range(len(X)):
            candidates = np.sort(positions[row])
            found, values = self.kernel_.neighbors(
                X[row : row + 1], self._collection.take(candidates), k
            )
            best[row], similarities[row] = candidates[found[0]], values[0]
        return best, similarities

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_rerank", 0, none=True)

    def _check_k(self, k: Any) -> None:
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= len(self):
            raise KernelInputError(
                f"{type(self).__name__}: k must be an int from 1 to {len(self)}, the number of "
                f"structures in the index, got {k!r}"
            )

    def _check_rerank(self, k: int, n_rerank: Any) -> int:
        given = self.n_rerank if n_rerank is None else n_rerank
        if given is None:
            return 0
        if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 0:
            raise KernelInputError(
                f"{type(self).__name__}: n_rerank must be an int of at least 0 or None, got "
                f"{given!r}"
            )
        if 0 < given < k:
            raise KernelInputError(
                f"{type(self).__name__}: n_rerank={given} structures are too few to choose k={k} "
                f"from; raise it, some ten times k, or give n_rerank=0 for {self._plain_scores}"
            )
        return min(int(given), len(self))


def nearest_kept(
    find: Find, queries: NDArray[Any], k: int, *, removed: Ids, most_found: int
) -> tuple[Ids, NDArray[Any]]:
    """Return positions and scores of the nearest that are not removed, for each query.

    Those marked as removed may be among the nearest: so many more are asked for, and they are left
    out. Queries are taken in blocks that find ``most_found`` in all.
    """
    at_once = max(1, most_found // (k + len(removed)))
    blocks = [
        _leave_out(*find(queries[begin : begin + at_once], k + len(removed)), k, removed)
        for begin in range(0, len(queries), at_once)
    ]
    positions, scores = zip(*blocks, strict=True)
    return np.concatenate(positions), np.concatenate(scores)


def _leave_out(
    positions: Ids, scores: NDArray[Any], k: int, removed: Ids
) -> tuple[Ids, NDArray[Any]]:
    if len(removed) == 0:
        return positions, scores
    kept = ~np.isin(positions, removed)
    kept &= np.cumsum(kept, axis=1) <= k
    return positions[kept].reshape(-1, k), scores[kept].reshape(-1, k)
