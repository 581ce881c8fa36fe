"""Duplicates: all pairs of similar structures, and the groups they form."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Batch, ExampleBatch
from kernelwood.compute import check_budget
from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel, needed_views
from kernelwood.parameters import check_int, is_number
from kernelwood.search.block_comparison import BlockComparison, pairs_at_once
from kernelwood.search.sentence_index import WAYS, fitted_index, index_class
from kernelwood.search.structure_inputs import as_inputs, choose_view, make_structures

Positions = NDArray[np.int64]
Found = tuple[Positions, Positions, NDArray[Any]]  # first and second of each pair, similarity

_BYTES = 24  # of a pair with its similarity
_N_LANDMARKS, _N_BITS = 300, 1024  # of indexes given by name
_ROWS_AT_ONCE = 16  # structures compared with their candidates in one call


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Pairs of similar structures, and groups of them.

    Attributes
    ----------
    pairs : ndarray of int64, shape (n, 2)
        Positions of two structures, the smaller first. The most similar pairs first, ties in order
        of their positions.
    similarities : ndarray, shape (n,)
        Similarities by the kernel, in descending order.
    groups : tuple of tuples of int
        Positions of structures connected by pairs; the largest group first, ties in order of their
        first members.
    """

    pairs: NDArray[np.int64]
    similarities: NDArray[Any]
    groups: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"Duplicates({len(self):,} pairs, {len(self.groups):,} groups)"


def find_duplicates(
    structures: Any,
    kernel: Kernel,
    *,
    threshold: float = 0.9,
    candidates: Any = None,
    n_candidates: int = 20,
    view: str | None = None,
) -> Duplicates:
    r"""Return all pairs of structures whose similarity reaches a threshold, and their groups.

    Only the first of equal structures is compared with others; each copy is paired only with it.
    Thus 1,000 copies give 999 pairs instead of half a million; groups are the same.

    Parameters
    ----------
    structures : list of Sentence, Candidate, Example or structures, or batch
        The structures.
    kernel : Kernel
        The kernel, preferably normalized.
    threshold : float
        The smallest similarity of a pair, above 0.
    candidates : None, {"vectors", "codes"}, EmbeddingIndex or HashIndex
        Pairs to compare. By default all, :math:`n (n - 1) / 2` for n distinct structures.
        Otherwise each structure is compared with its nearest by vectors or codes, which may miss
        some pairs; an index sets the options. A fitted index must hold these structures in this
        order; an unfitted one is copied and fitted on the distinct structures.
    n_candidates : int
        Number of nearest structures to compare each with. Not used if all pairs are compared.
    view : str, optional
        The view of sentences, as in :class:`SentenceIndex`.

    Returns
    -------
    Duplicates

    Raises
    ------
    MemoryBudgetError
        If the list of pairs exceeds the memory budget.

    Notes
    -----
    Similarities have rounding errors. To find different structures with similarity 1, use a
    threshold slightly below 1.

    Examples
    --------
    >>> import kernelwood as kw
    >>> texts = ["the cat sat", "a dog ran", "the cat sat", "the old cat sat"]
    >>> sequences = [kw.Sequence(text.split()) for text in texts]
    >>> found = kw.find_duplicates(sequences, kw.SubsequenceKernel(), threshold=0.7)
    >>> found.pairs.tolist(), found.similarities.round(2).tolist()
    ([[0, 2], [0, 3]], [1.0, 0.73])
    >>> found.groups
    ((0, 2, 3),)
    """
    _check(kernel, threshold, candidates, n_candidates)
    inputs = as_inputs(structures, "find_duplicates")
    if view is None:
        view = choose_view(inputs, kernel, "find_duplicates")
    X = kernel._batch(make_structures(inputs, kernel, view, "find_duplicates"))
    first = _first_equals(X, kernel)
    distinct = np.flatnonzero(first == np.arange(len(X)))
    alike = _Pairs(threshold)
    alike.add(*_copies(X, first, kernel))
    if candidates is None:
        compared = _all_pairs(X[distinct], kernel, threshold)
    else:
        nearest = _nearest(X, kernel, first, distinct, candidates, n_candidates)
        compared = _some_pairs(X[distinct], kernel, *nearest)
    for left, right, similarities in compared:
        alike.add(distinct[left], distinct[right], similarities)
    return alike.sorted(len(X), kernel._dtype(None))


class _Pairs:
    """Pairs that reach a threshold."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._found: list[Found] = []
        self._n = 0

    def add(self, left: Positions, right: Positions, similarities: NDArray[Any]) -> None:
        """Add the pairs that reach the threshold."""
        kept = similarities >= self._threshold
        self._n += int(np.count_nonzero(kept))
        check_budget(
            2 * _BYTES * self._n,  # once as found, once in order
            f"the list of pairs with a similarity of {self._threshold} or more",
            "Raise the threshold.",
        )
        self._found.append((left[kept], right[kept], similarities[kept]))

    def sorted(self, n: int, dtype: Any) -> Duplicates:
        """Return the sorted pairs and the groups of ``n`` structures."""
        left, right = (
            np.concatenate([found[side] for found in self._found]).astype(np.int64)
            for side in (0, 1)
        )
        similarities = np.concatenate([found[2] for found in self._found]).astype(dtype)
        order = np.lexsort((right, left, -similarities))
        pairs = np.stack([left, right], axis=1)[order]
        return Duplicates(pairs, similarities[order], _groups(pairs, n))


def _groups(pairs: NDArray[np.int64], n: int) -> tuple[tuple[int, ...], ...]:
    """Return the connected components with more than one structure."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    joined = coo_matrix((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, component = connected_components(joined, directed=False)
    order = np.argsort(component, kind="stable")
    ends = np.flatnonzero(np.diff(component[order])) + 1
    groups = [tuple(part.tolist()) for part in np.split(order, ends) if len(part) > 1]
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))


# Equal structures.


def _first_equals(X: Any, kernel: Kernel) -> Positions:
    """Return for every structure the position of the first structure equal to it."""
    if isinstance(X, ExampleBatch):
        names = needed_views(kernel)
        if names is None:  # a kernel that may read anything
            return np.arange(len(X))
        keys = [b"".join(row) for row in zip(*(_digests(X.view(n)) for n in names), strict=True)]
    else:
        keys = list(_digests(X))
    seen: dict[bytes, int] = {}
    firsts = [seen.setdefault(key, position) for position, key in enumerate(keys)]
    return np.array(firsts, dtype=np.int64)


def _digests(batch: Batch) -> Iterator[bytes]:
    """Yield the digest of each structure of a batch."""
    for position in range(len(batch)):
        digest = blake2b(digest_size=16)
        for part in batch.parts:
            piece = part.piece(position)
            digest.update((piece.stop - piece.start).to_bytes(8, "little"))
            for array in part.arrays:
                digest.update(array[piece].tobytes())
        yield digest.digest()


def _copies(X: Any, first: Positions, kernel: Kernel) -> Found:
    """Return the pairs of equal structures: the first of them and each copy."""
    copies = np.flatnonzero(first != np.arange(len(X)))
    originals, place = np.unique(first[copies], return_inverse=True)
    return first[copies], copies, kernel.diag(X[originals])[place]


# Different structures.


def _all_pairs(X: Any, kernel: Kernel, threshold: float) -> Iterator[Found]:
    """Yield all pairs that reach a threshold, by blocks of the upper triangle."""
    side = max(1, math.isqrt(pairs_at_once()))
    tops = range(0, len(X), side)
    total = sum(min(side, len(X) - top) * (len(X) - top) for top in tops)
    comparison = BlockComparison(kernel, total)
    for top in tops:
        rows = X[top : top + side]
        for begin in range(top, len(X), side):
            similarities = comparison.cross(rows, X[begin : begin + side])
            left, right = np.nonzero(similarities >= threshold)
            above = left + top < right + begin
            left, right = left[above], right[above]
            yield left + top, right + begin, similarities[left, right]


def _some_pairs(X: Any, kernel: Kernel, left: Positions, right: Positions) -> Iterator[Found]:
    """Yield the similarities of given pairs, a few structures at a time; ``left`` is sorted.

    These are compared with the candidates of all of them: a call of the kernel costs more than a
    few thousand values.
    """
    steps = np.flatnonzero(np.diff(left, prepend=-1))[::_ROWS_AT_ONCE].tolist()
    spans = [slice(*span) for span in pairwise([*steps, len(left)])]
    sides = [
        [np.unique(side[span], return_inverse=True) for side in (left, right)] for span in spans
    ]
    comparison = BlockComparison(
        kernel, sum(len(rows[0]) * len(columns[0]) for rows, columns in sides)
    )
    for span, ((rows, row), (columns, column)) in zip(spans, sides, strict=True):
        block = comparison.cross(X[rows], X[columns])
        yield left[span], right[span], block[row, column]


def _nearest(
    X: Any, kernel: Kernel, first: Positions, distinct: Positions, candidates: Any, k: int
) -> tuple[Positions, Positions]:
    """Return pairs of distinct structures, by number, in which one is near to the other."""
    from sklearn.base import clone

    if len(distinct) < 2:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    queries = X[distinct]
    held = distinct
    if isinstance(candidates, str):
        options = {"n_landmarks": _N_LANDMARKS, "n_bits": _N_BITS, "seed": 0}
        index = fitted_index(candidates, kernel, queries, **options)
    elif candidates.__sklearn_is_fitted__():
        index, held = candidates, np.arange(len(X))
        if len(index) != len(X):
            raise KernelInputError(
                f"find_duplicates: the index holds {len(index)} structures, but {len(X)} are "
                "given; pass an index of the same structures, or one that is not fitted"
            )
    else:
        index = clone(candidates).fit(queries)
    ids, _ = index.search(queries, min(k + 1, len(index)), n_rerank=0)  # includes the query itself
    number_of = np.searchsorted(distinct, first[held[np.searchsorted(index.ids_, ids)]])
    queried = np.broadcast_to(np.arange(len(distinct))[:, None], ids.shape)
    left, right = np.minimum(queried, number_of), np.maximum(queried, number_of)
    pairs = np.unique(np.stack([left[left < right], right[left < right]], axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _check(kernel: Any, threshold: Any, candidates: Any, n_candidates: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise KernelInputError(
            "find_duplicates: kernel must be a kernel such as kw.PartialTreeKernel(), got "
            f"{kernel!r}"
        )
    if not is_number(threshold) or not threshold > 0:
        raise KernelInputError(
            f"find_duplicates: threshold must be a number above 0, got {threshold!r}"
        )
    if isinstance(candidates, str) or candidates is None:
        known = candidates is None or candidates in WAYS
    else:
        known = isinstance(candidates, tuple(index_class(by) for by in WAYS))
    if not known:
        raise KernelInputError(
            f"find_duplicates: candidates must be None, one of {WAYS}, or an index, got "
            f"{candidates!r}"
        )
    check_int("find_duplicates: n_candidates", n_candidates, 1)
