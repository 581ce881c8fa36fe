"""Nearest neighbors among structures with similar hashcodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import counting, get_config
from kernelwood.errors import KernelInputError
from kernelwood.features import Codes, HashCollection, collected, encode_labels
from kernelwood.learners.base import weights_of_classes
from kernelwood.learners.buckets import Buckets, Candidates, Positions
from kernelwood.learners.votes import Neighbors, NeighborsClassifier, without_self

__all__ = ["HashNeighborsClassifier"]

_LONGEST = 64  # bits of a code


class HashNeighborsClassifier(HashCollection, NeighborsClassifier):
    r"""Classes by the votes of similar structures, found in buckets of hashcodes (KLSH-kNN).

    Structures with the same code (:class:`KernelHasher`) share a bucket. A query is compared with
    those in its bucket and, while these are fewer than ``n_candidates``, with those in the nearest
    buckets by Hamming distance. The most similar of them vote. With :math:`N` structures and
    :math:`M` references, ``fit`` costs :math:`N M + M^2 / 2` kernel evaluations, a query :math:`M`
    and one for each candidate, instead of :math:`N`.

    Parameters
    ----------
    kernel : Kernel
        What compares structures, normalized preferably.
    n_neighbors : int
        How many neighbors vote.
    n_bits : int
        Length of the codes, :math:`H`, at most 64. More bits find better candidates at the same
        number of kernel evaluations; fewer make large buckets, whose structures many queries can
        be compared with at once, which takes less time when there are many queries.
    method : {"kulis", "rmm", "rknn"}
        Kind of the bits.
    n_references : int
        Size of the reference set, :math:`M`, taken from what the classifier is fitted on.
    subset_size : int
        References in each of the two subsets of a bit, :math:`\alpha`.
    references : {"random", "information", "coverage"} or ReferenceSelector
        How references are chosen; see :class:`KernelHasher`.
    n_candidates : int, optional
        Buckets are searched until they hold so many structures. By default
        :math:`10 \sqrt N`, and at least ``n_neighbors``.
    weights : {"similarity", "uniform"}
        Votes count as much as their similarity, or all the same. Neighbors with a similarity of 0
        have no vote.
    class_weight : None, "balanced" or dict from label to weight
        Factors of the votes for each class. "balanced": in inverse proportion to how often the
        class occurs in what the classifier was fitted on.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Threads; no result depends on them.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted.
    ids_ : ndarray of int64, shape (n,)
        Ids of the structures, in rising order: 0, 1, ... for those the classifier was fitted on,
        and so on for those that were added. No id is used twice.
    structures_ : batch
        The structures, in that order.
    labels_ : ndarray of int32, shape (n,)
        Number of the class of each.
    codes_ : ndarray of uint64, shape (n, 1)
        Code of each.
    class_weights_ : ndarray of float64, shape (n_classes,)
        Factor of each class.
    hasher_ : KernelHasher
        What makes codes.
    kernel_evaluations_ : int
        Kernel evaluations that ``fit`` and ``add`` spent.
    query_evaluations_ : int
        Kernel evaluations that queries spent so far.
    seed_ : int
        The seed that was used.

    See Also
    --------
    KernelNeighborsClassifier : Compares with all structures.
    HashIndex : Search by long codes alone.

    Notes
    -----
    Kernel evaluations are saved, not always time: candidates are prepared for comparing anew for
    each group of queries, while :class:`KernelNeighborsClassifier` prepares each structure once.
    With exact matching and thousands of short structures it is the faster of the two. Evaluations
    decide when they are dear, with soft matching or large structures. For many queries, few bits
    (8 to 14) take the least time.

    For a graph of the structures themselves (``kneighbors()``), the cost is about
    ``n_references + n_candidates`` evaluations each; choose fewer candidates than for queries.

    Several threads may ask at the same time, but none while another adds or removes.

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

    _fitted = (
        "kernel_", "seed_", "hasher_", "classes_", "ids_", "structures_", "codes_", "labels_",
        "next_id_", "class_weights_", "kernel_evaluations_",
    )  # fmt: skip

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
        """Choose references, and put structures into buckets.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            By default the labels of examples.
        """
        batch = self._start(X)
        numbers = self._encode_labels(X, y)
        self._check_enough(self.n_neighbors, len(batch))
        self.class_weights_ = weights_of_classes(
            type(self).__name__, self.class_weight, self.classes_, numbers
        )
        with self._threads(), counting() as counters:
            codes = self._fit_hasher(batch, numbers).codes(batch)
            self._collect(batch, codes=codes, labels=numbers)
        self.kernel_evaluations_ = counters.kernel_evaluations
        self.query_evaluations_ = 0
        return self

    def add(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Add structures of known classes; return their ids.

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
        labels, numbers = encode_labels(type(self).__name__, X, y)
        known = {label: number for number, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in labels.tolist() if label not in known]
        if unknown:
            raise KernelInputError(
                f"HashNeighborsClassifier: the label {unknown[0]!r} is none of the classes "
                f"{list(known)[:20]}; to have another class, fit again with examples of it"
            )
        translated = np.array([known[label] for label in labels.tolist()], dtype=np.int32)
        with self._threads(), counting() as counters:
            codes = self.hasher_.codes(batch)
        self.kernel_evaluations_ += counters.kernel_evaluations
        return self._collection.add(batch, {"codes": codes, "labels": translated[numbers]})

    def _search(self, X: Any, k: int) -> Neighbors:
        if X is not None:
            return self._search_codes(X, self.hasher_.codes(X), k)
        own = self._collection.positions()
        X, codes = self._collection.take(own), self._collection.column("codes")[own]
        # A structure is similar to itself above all: one more neighbor, and itself is left out.
        found = self._search_codes(X, codes, k + 1)
        return Neighbors(*without_self(found.positions, found.similarities, own), found.compared)

    def _search_codes(self, X: Any, codes: Codes, k: int) -> Neighbors:
        candidates = Candidates(self._buckets(), codes, self._wanted(k))
        found = Neighbors(
            np.empty((len(X), k), dtype=np.int64),
            np.empty((len(X), k), dtype=self.kernel_._dtype(None)),
            np.zeros((len(X), len(self.classes_)), dtype=np.int64),
        )
        progress = _Progress(int(candidates.counts.sum()))
        for queries in candidates.parts():
            self._compare(X, candidates, queries, found, progress)
        return found

    def _compare(
        self,
        X: Any,
        candidates: Candidates,
        queries: Positions,
        found: Neighbors,
        progress: _Progress,
    ) -> None:
        """Compare some queries with their candidates, and write down their neighbors."""
        counts = candidates.counts
        free = np.zeros(len(counts), dtype=np.int64)  # where the next values of a query go
        free[queries] = np.cumsum(counts[queries]) - counts[queries]
        total = int(counts[queries].sum())
        positions = np.empty(total, dtype=np.int64)
        similarities = np.empty(total, dtype=found.similarities.dtype)
        for block in candidates.blocks(queries):
            values = self.kernel_.cross(
                self._collection.take(block.candidates), X[block.queries], progress=progress.within
            )
            into = free[block.queries] + np.arange(len(values))[:, None]
            positions[into], similarities[into] = block.candidates[:, None], values
            free[block.queries] += len(values)
            progress.advance(values.size)
        labels, k = self._class_numbers(), found.positions.shape[1]
        for query, end, n in zip(queries, free[queries], counts[queries], strict=True):
            mine, theirs = positions[end - n : end], similarities[end - n : end]
            best = np.lexsort((mine, -theirs))[:k]
            found.positions[query], found.similarities[query] = mine[best], theirs[best]
            if theirs[best[0]] <= 0:
                found.compared[query] = np.bincount(labels[mine], minlength=len(self.classes_))

    def _wanted(self, k: int) -> int:
        n = len(self._collection)
        rule = math.ceil(10 * math.sqrt(n)) if self.n_candidates is None else self.n_candidates
        return min(max(k, int(rule)), n)

    def _buckets(self) -> Buckets:
        """Return the buckets, made anew if structures came or went."""
        collection = self._collection
        made: tuple[Any, int, Buckets] | None = self.__dict__.get("_made_buckets")
        if made is None or made[0] is not collection or made[1] != collection.version:
            positions = collection.positions()
            buckets = Buckets(collection.column("codes")[positions], positions)
            self._made_buckets = made = (collection, collection.version, buckets)
        return made[2]

    def _n_structures(self) -> int:
        return len(self._collection)

    def _class_numbers(self) -> NDArray[np.int32]:
        return self._collection.column("labels")

    def _ids_at(self, positions: Positions) -> NDArray[np.int64]:
        return self._collection.column("ids")[positions]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_candidates", 1, none=True)
        if self.n_bits > _LONGEST:
            raise KernelInputError(
                f"HashNeighborsClassifier: n_bits must be at most {_LONGEST}, got {self.n_bits}; "
                "buckets of longer codes would hold single structures"
            )

    def _column_types(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        return {**super()._column_types(), "labels": (np.int32, ())}

    def _check_restored(self) -> None:
        super()._check_restored()
        labels = self._collection.column("labels")
        self._check_numbers(labels, len(labels))


class _Progress:
    """Tells how many of all evaluations are done, block by block."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._report = get_config().progress

    def within(self, done: int, total: int) -> None:
        if self._report is not None:
            self._report(self._done + done, self._total)

    def advance(self, evaluations: int) -> None:
        self._done += evaluations
