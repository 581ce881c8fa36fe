"""Nearest neighbors among structures with similar hashcodes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ArrayOf, Schema
from kernelwood.compute import counting, get_config
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    HASHER,
    KERNEL,
    SEED,
    Codes,
    HashCollection,
    Rows,
    Structures,
    collected,
    encode_labels,
    ids_of,
    nearest_codes,
)
from kernelwood.learners.base import CLASS_WEIGHTS, CLASSES, EVALUATIONS
from kernelwood.learners.kernel_neighbors import (
    Neighbors,
    NeighborsClassifier,
    Stored,
    without_self,
)
from kernelwood.threads import LOCK

Positions = NDArray[np.int64]

_BUCKETS_AT_ONCE = 2**20  # buckets held while searching for the nearest ones
_PAIRS_AT_ONCE = 2**21  # pairs of a query and a candidate held at the same time
_BLOCK_COST = 50  # of starting a block, relative to preparing one structure


class _Buckets:
    """Positions of structures, grouped by equal codes.

    Parameters
    ----------
    codes : ndarray of uint64, shape (n, 1)
        Codes of up to 64 bits.
    positions : ndarray of int64, shape (n,)
        Positions of the structures, in rising order.
    """

    def __init__(self, codes: Codes, positions: Positions) -> None:
        distinct, which, sizes = np.unique(codes[:, 0], return_inverse=True, return_counts=True)
        self.codes: Codes = distinct[:, None]
        self.sizes: Positions = sizes.astype(np.int64)
        self._members = positions[np.argsort(which.reshape(-1), kind="stable")]
        self._ends: Positions = np.cumsum(self.sizes)

    def members(self, bucket: int) -> Positions:
        """Return the positions in a bucket, in rising order."""
        end = int(self._ends[bucket])
        return self._members[end - int(self.sizes[bucket]) : end]

    def nearest(self, queries: Codes, wanted: int) -> list[Positions]:
        """Return the nearest buckets of each code that together hold ``wanted`` structures or more.

        Buckets are ordered by Hamming distance; equal distances by rising code.
        """
        k = min(wanted, len(self.codes))  # no bucket is empty
        at_once = max(1, _BUCKETS_AT_ONCE // k)
        chosen: list[Positions] = []
        for begin in range(0, len(queries), at_once):
            near, _ = nearest_codes(queries[begin : begin + at_once], self.codes, k)
            held = np.cumsum(self.sizes[near], axis=1)
            used = np.count_nonzero(held < wanted, axis=1) + 1
            chosen += [row[:n].copy() for row, n in zip(near, used.tolist(), strict=True)]
        return chosen


class Candidates:
    """Structures that each query is compared with.

    Parameters
    ----------
    buckets : buckets of the structures
    codes : ndarray of uint64, shape (n, 1)
        Codes of the queries.
    wanted : int
        Minimum number of structures in the buckets of a query.
    """

    def __init__(self, buckets: _Buckets, codes: Codes, wanted: int) -> None:
        self._buckets = buckets
        distinct, which = np.unique(codes[:, 0], return_inverse=True)
        self._which: Positions = which.reshape(-1)
        self._near = buckets.nearest(distinct[:, None], wanted)
        held = np.array([buckets.sizes[near].sum() for near in self._near], dtype=np.int64)
        self.counts: Positions = held[self._which]  # number of candidates of each query

    def parts(self) -> Iterator[Positions]:
        """Yield queries in parts that fit in memory, similar codes together."""
        order = np.argsort(self._which, kind="stable").astype(np.int64)
        part = np.cumsum(self.counts[order]) // _PAIRS_AT_ONCE
        yield from np.split(order, np.flatnonzero(np.diff(part)) + 1)

    def blocks(self, queries: Positions) -> list[tuple[Positions, Positions]]:
        """Return queries and the candidates to compare them with, in blocks, each rising.

        The blocks contain every pair of a query and one of its candidates once. A block has the
        queries with one code, or the queries that need one bucket: whichever makes fewer and
        larger blocks, because each block prepares its structures for comparison anew.
        """
        by_code = _grouped(self._which[queries], queries)
        near = [self._near[code] for code in self._which[queries].tolist()]
        by_bucket = _grouped(np.concatenate(near), np.repeat(queries, [len(row) for row in near]))
        cost_by_code = sum(len(group) + self.counts[group[0]] + _BLOCK_COST for _, group in by_code)
        cost_by_bucket = sum(
            len(group) + self._buckets.sizes[bucket] + _BLOCK_COST for bucket, group in by_bucket
        )
        if cost_by_bucket < cost_by_code:
            return [(group, self._buckets.members(bucket)) for bucket, group in by_bucket]
        return [
            (group, np.sort(np.concatenate([*map(self._buckets.members, self._near[code])])))
            for code, group in by_code
        ]


def _grouped(keys: Positions, values: Positions) -> list[tuple[int, Positions]]:
    """Return distinct keys and the values of each, both rising."""
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    begins = np.flatnonzero(np.diff(keys)) + 1
    firsts = keys[np.concatenate([[0], begins])] if len(keys) else keys
    return list(zip(firsts.tolist(), np.split(values, begins), strict=True))


_LONGEST = 64  # bits of a code


class HashNeighborsClassifier(HashCollection, NeighborsClassifier):
    r"""Nearest-neighbor classifier with candidates from buckets of hashcodes (KLSH-kNN).

    Structures with the same code (:class:`KernelHasher`) share a bucket. A query is compared with
    the structures in its bucket and, while these are fewer than ``n_candidates``, in the nearest
    buckets by Hamming distance. The most similar of them vote. With :math:`N` structures and
    :math:`M` references, ``fit`` costs :math:`N M + M^2 / 2` kernel evaluations, a query :math:`M`
    plus one for each candidate, instead of :math:`N`.

    Parameters
    ----------
    kernel : Kernel
        Kernel that compares structures, preferably normalized.
    n_neighbors : int
        Number of neighbors that vote.
    n_bits : int
        Length of the codes, :math:`H`, at most 64. More bits find better candidates at the same
        number of kernel evaluations; fewer bits make larger buckets, which take less time when
        there are many queries.
    method : {"kulis", "rmm", "rknn"}
        Hashing method; see :class:`KernelHasher`.
    n_references : int
        Number of references, :math:`M`.
    subset_size : int
        Number of references in each of the two subsets of a bit, :math:`\alpha`.
    references : {"random", "information", "coverage"} or ReferenceSelector
        Reference selection; see :class:`KernelHasher`.
    n_candidates : int, optional
        Minimum number of candidates of a query. By default :math:`10 \sqrt N`, and at least
        ``n_neighbors``.
    weights : {"similarity", "uniform"}
        Weights of the votes. Neighbors with a similarity of 0 have no vote.
    class_weight : None, "balanced" or dict from label to weight
        Factors of the votes for each class. "balanced": inversely proportional to class
        frequencies.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Number of threads; no result depends on it.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted.
    ids_ : ndarray of int64, shape (n,)
        Ids of the structures, rising: 0, 1, ... for those of ``fit``, then those of ``add``. No id
        is used twice.
    structures_ : batch
        The structures, in that order.
    labels_ : ndarray of int32, shape (n,)
        Their class numbers.
    codes_ : ndarray of uint64, shape (n, 1)
        Their codes.
    class_weights_ : ndarray of float64, shape (n_classes,)
        Factor of each class.
    hasher_ : KernelHasher
        The hasher that makes codes.
    kernel_evaluations_ : int
        Number of kernel evaluations of ``fit`` and ``add``.
    query_evaluations_ : int
        Number of kernel evaluations of queries so far.
    seed_ : int
        The seed that was used.

    See Also
    --------
    KernelNeighborsClassifier : Compares with all structures.
    HashIndex : Search by long codes alone.

    Notes
    -----
    Fewer kernel evaluations do not always mean less time: candidates are prepared for comparison
    anew for each group of queries, while :class:`KernelNeighborsClassifier` prepares each structure
    once and is faster for exact matching and thousands of short structures. Hashing pays for
    expensive evaluations: soft matching or large structures. For many queries, few bits (8 to 14)
    take the least time.

    A neighbor graph of the training structures (``kneighbors()``) costs about
    ``n_references + n_candidates`` evaluations per structure; set fewer candidates than for
    queries.

    Thread safety: all methods but ``fit``. A query uses the structures in the classifier when it
    begins, even if other threads add and remove structures meanwhile.

    References
    ----------
    S. Garg, A. Galstyan, G. Ver Steeg, I. Rish, G. Cecchi, S. Gao: Kernelized hashcode
    representations for relation extraction. AAAI 2019.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> questions = load_questions()
    >>> trees, labels = [q.view("tree") for q in questions], [q.label for q in questions]
    >>> model = kw.HashNeighborsClassifier(
    ...     kw.SubsetTreeKernel(), n_references=20, n_candidates=40, random_state=0
    ... ).fit(trees[:100], labels[:100])
    >>> model.predict(trees[100:]).shape, model.kernel_evaluations_
    ((20,), 2210)
    >>> model.query_evaluations_ < 20 * (20 + 100)
    True
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "hasher_": HASHER,
        "classes_": CLASSES,
        "structures_": Structures(),
        **ids_of("structures_"),
        "codes_": ArrayOf("uint64", "structures_", None),
        "labels_": ArrayOf("int32", "structures_", least=0, below="classes_"),
        "class_weights_": CLASS_WEIGHTS,
        "kernel_evaluations_": EVALUATIONS,
    }

    labels_ = collected("labels", "Number of the class of each structure.")

    def __init__(
        self,
        kernel: Any,
        *,
        n_neighbors: int = 8,
        n_bits: int = 64,
        method: str = "kulis",
        n_references: int = 50,
        subset_size: int = 2,
        references: Any = "random",
        n_candidates: int | None = None,
        weights: str = "similarity",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.n_bits = n_bits
        self.method = method
        self.n_references = n_references
        self.subset_size = subset_size
        self.references = references
        self.n_candidates = n_candidates
        self.weights = weights
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> HashNeighborsClassifier:
        """Choose references, and group structures into buckets by their codes.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            By default the labels of examples.
        """
        batch = self._start(X)
        numbers = self._encode_labels(batch, y)
        self._check_enough(self.n_neighbors, len(batch))
        self.class_weights_ = self._weigh_classes(numbers)
        with self._threads(), counting() as counters:
            codes = self._fit_hasher(batch, numbers).codes(batch)
            self._collect(batch, codes=codes, labels=numbers)
        self.kernel_evaluations_ = counters.kernel_evaluations
        self.query_evaluations_ = 0
        return self

    def add(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Add structures with known classes, and return their ids.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            By default the labels of examples.

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        self._check_is_fitted()
        batch = self._prepare(X)
        labels, numbers = encode_labels(type(self).__name__, batch, y)
        known = {label: number for number, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in labels.tolist() if label not in known]
        if unknown:
            raise KernelInputError(
                f"HashNeighborsClassifier: the label {unknown[0]!r} is not one of the classes "
                f"{list(known)[:20]}; fit again with examples of it to add a class"
            )
        translated = np.array([known[label] for label in labels.tolist()], dtype=np.int32)
        with self._threads(), counting() as counters:
            codes = self.hasher_.codes(batch)
        with LOCK:
            self.kernel_evaluations_ += counters.kernel_evaluations
            return self._collection.add(batch, {"codes": codes, "labels": translated[numbers]})

    def _stored(self) -> Stored:
        rows = self._collection.rows
        return Stored(len(rows), rows.column("labels"), rows)

    def _search(self, stored: Stored, X: Any, k: int) -> Neighbors:
        assert stored.rows is not None
        rows = stored.rows
        if X is not None:
            return self._search_codes(rows, X, self.hasher_.codes(X), k)
        own = rows.positions()
        X, codes = rows.take(own), rows.column("codes")[own]
        # One more neighbor: the structure itself is removed.
        found = self._search_codes(rows, X, codes, k + 1)
        return Neighbors(*without_self(found.positions, found.similarities, own), found.compared)

    def _search_codes(self, rows: Rows, X: Any, codes: Codes, k: int) -> Neighbors:
        candidates = Candidates(self._buckets(rows), codes, self._wanted(len(rows), k))
        found = Neighbors(
            np.empty((len(X), k), dtype=np.int64),
            np.empty((len(X), k), dtype=self.kernel_._dtype(None)),
            np.zeros((len(X), len(self.classes_)), dtype=np.int64),
        )
        progress = _Progress(int(candidates.counts.sum()))
        for queries in candidates.parts():
            self._compare(rows, X, candidates, queries, found, progress)
        return found

    def _compare(
        self,
        rows: Rows,
        X: Any,
        candidates: Candidates,
        queries: Positions,
        found: Neighbors,
        progress: _Progress,
    ) -> None:
        """Compare queries with their candidates, and write their neighbors to ``found``."""
        counts = candidates.counts
        free = np.zeros(len(counts), dtype=np.int64)  # next free entry of a query
        free[queries] = np.cumsum(counts[queries]) - counts[queries]
        total = int(counts[queries].sum())
        positions = np.empty(total, dtype=np.int64)
        similarities = np.empty(total, dtype=found.similarities.dtype)
        for group, members in candidates.blocks(queries):
            some, asked = rows.take(members), X[group]
            values = np.empty((len(some), len(asked)), dtype=similarities.dtype)
            self.kernel_._below(some, asked, values, progress.within)  # as `neighbors` does
            into = free[group] + np.arange(len(values))[:, None]
            positions[into], similarities[into] = members[:, None], values
            free[group] += len(values)
            progress.advance(values.size)
        labels, k = rows.column("labels"), found.positions.shape[1]
        for query, end, n in zip(queries, free[queries], counts[queries], strict=True):
            mine, theirs = positions[end - n : end], similarities[end - n : end]
            best = np.lexsort((mine, -theirs))[:k]
            found.positions[query], found.similarities[query] = mine[best], theirs[best]
            if theirs[best[0]] <= 0:
                found.compared[query] = np.bincount(labels[mine], minlength=len(self.classes_))

    def _wanted(self, n: int, k: int) -> int:
        rule = math.ceil(10 * math.sqrt(n)) if self.n_candidates is None else self.n_candidates
        return min(max(k, int(rule)), n)

    def _buckets(self, rows: Rows) -> _Buckets:
        """Return the buckets, rebuilt after structures were added or removed."""
        state = (self._collection, rows.version, rows.layout)
        made: tuple[Any, _Buckets] | None = self.__dict__.get("_made_buckets")
        if made is None or made[0] != state:
            positions = rows.positions()
            buckets = _Buckets(rows.column("codes")[positions], positions)
            self._made_buckets = made = (state, buckets)
        return made[1]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_candidates", 1, none=True)
        if self.n_bits > _LONGEST:
            raise KernelInputError(
                f"HashNeighborsClassifier: n_bits must be at most {_LONGEST}, got {self.n_bits}; "
                "buckets of longer codes would hold single structures"
            )

    def _n_training(self) -> int:
        ids = self._collection.rows.column("ids")
        return int(ids[-1]) + 1 if len(ids) else 0


class _Progress:
    """Reports the progress of all evaluations, block by block."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._report = get_config().progress

    def within(self, done: int, total: int) -> None:
        if self._report is not None:
            self._report(self._done + done, self._total)

    def advance(self, evaluations: int) -> None:
        self._done += evaluations
