"""Search for similar structures by their hashcodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.features.code_search import BACKENDS, CodeSearch
from kernelwood.features.codes import Codes, check_codes
from kernelwood.features.hash_collection import HashCollection
from kernelwood.features.structure_index import Ids, StructureIndex, nearest_kept

__all__ = ["HashIndex"]

_FOUND_AT_ONCE = 2**21  # ids of neighbors held while searching, about 24 MB


class HashIndex(StructureIndex, HashCollection):
    r"""Search for the most similar structures by their codes, refined by the kernel.

    Structures are found by the Hamming distance of their codes (:class:`KernelHasher`), an exact
    scan over all of them, which compares no structures: a query costs ``n_references`` kernel
    evaluations. With re-ranking, the ``n_rerank`` nearest are compared by the kernel, at one
    evaluation each, and come back in order of their similarity.

    Parameters
    ----------
    kernel : Kernel
        What compares structures, normalized preferably.
    method : {"rmm", "rknn", "kulis"}
        Kind of the bits.
    n_references : int
        Size of the reference set, :math:`M`, taken from what the index is fitted on.
    n_bits : int
        Length of the codes, :math:`H`. Memory is ``n_bits / 8`` bytes a structure.
    subset_size : int
        References in each of the two subsets of a bit, :math:`\alpha`.
    references : {"random", "information", "coverage"} or ReferenceSelector
        How references are chosen, see :class:`KernelHasher`; by classes if not at random.
    n_rerank : int, optional
        How many of the nearest codes to compare by the kernel. By default none.
    backend : {"scan", "faiss"}
        What scans codes. Both give the same results; faiss is an extra
        (``pip install kernelwood[faiss]``), and holds the codes a second time.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Threads; no result depends on them.

    Attributes
    ----------
    ids_ : ndarray of int64, shape (n,)
        Ids of the structures in the index, in rising order: 0, 1, ... for those it was fitted on,
        and so on for those that were added. No id is used twice.
    structures_ : batch
        The structures, in that order.
    codes_ : ndarray of uint64, shape (n, ceil(n_bits / 64))
        Their codes.
    hasher_ : KernelHasher
        What makes codes.
    seed_ : int
        The seed that was used.

    See Also
    --------
    HashNeighborsClassifier : Classes by neighbors, from buckets of short codes.
    Kernel.neighbors : The most similar structures without codes.

    Notes
    -----
    Additions are amortized, and removals cheap: neither copies what is there. Several threads may
    search at the same time, but none while another adds or removes.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> trees = [question.view("tree") for question in load_questions()]
    >>> index = kw.HashIndex(kw.SubsetTreeKernel(), n_references=30, random_state=0)
    >>> index = index.fit(trees[:100])
    >>> index.add(trees[100:])[:3]
    array([100, 101, 102])
    >>> ids, distances = index.search(trees[105:106], k=3)
    >>> int(ids[0, 0]), int(distances[0, 0])
    (105, 0)
    >>> ids, similarities = index.search(trees[105:106], k=3, n_rerank=20)
    >>> round(float(similarities[0, 0]), 6)
    1.0
    """

    _fitted = ("kernel_", "seed_", "hasher_", "ids_", "codes_", "structures_", "next_id_")
    _plain_scores = "Hamming distances"

    def __init__(
        self,
        kernel: Any,
        *,
        method: str = "rmm",
        n_references: int = 100,
        n_bits: int = 1024,
        subset_size: int = 2,
        references: Any = "random",
        n_rerank: int | None = None,
        backend: str = "scan",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.method = method
        self.n_references = n_references
        self.n_bits = n_bits
        self.subset_size = subset_size
        self.references = references
        self.n_rerank = n_rerank
        self.backend = backend
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> HashIndex:
        """Choose references from ``X``, and put ``X`` into the index.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            By default the labels of examples. Not used if references are drawn at random.
        """
        X = self._start(X)
        self._search: CodeSearch = BACKENDS[self.backend]()
        with self._threads():
            self._fit_hasher(X, y)
            self._collect(X, **self._stand_ins(X))
        return self

    def search(
        self, X: Any, k: int = 10, *, n_rerank: int | None = None
    ) -> tuple[Ids, NDArray[Any]]:
        """Return the ``k`` structures of the index that are most like each query.

        Parameters
        ----------
        X : list of structures or batch, length n
            Queries.
        k : int
            How many to return.
        n_rerank : int, optional
            How many of the nearest codes to compare by the kernel, 0 for none; by default the
            parameter of the index.

        Returns
        -------
        ids : ndarray of int64, shape (n, k)
        scores : ndarray, shape (n, k)
            Without re-ranking Hamming distances (int32), rising; with it similarities, falling.
            Equal ones are in order of their ids.
        """
        return self._found(X, k, n_rerank)

    def search_codes(self, codes: Codes, k: int = 10) -> tuple[Ids, NDArray[np.int32]]:
        """Return the ids of the ``k`` nearest codes of each query, and their Hamming distances.

        Parameters
        ----------
        codes : ndarray of uint64, shape (n, ceil(n_bits / 64))
            As ``hasher_.codes`` makes them.
        k : int
            How many to return.
        """
        self._check_is_fitted()
        self._check_k(k)
        codes = check_codes(codes, self.n_bits)
        with self._threads():
            positions, distances = self._nearest(codes, k)
        return self._collection.column("ids")[positions], distances

    def _stand_ins(self, X: Any) -> dict[str, NDArray[Any]]:
        return {"codes": self.hasher_.codes(X)}

    def _search_plain(self, X: Any, k: int) -> tuple[Ids, NDArray[Any]]:
        return self._nearest(self.hasher_.codes(X), k)

    def _nearest(self, queries: Codes, k: int) -> tuple[Ids, NDArray[np.int32]]:
        collection = self._collection
        find = self._search.finder(collection.column("codes"), collection.layout)
        removed = collection.removed
        return nearest_kept(find, queries, k, removed=removed, most_found=_FOUND_AT_ONCE)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_choice("backend", tuple(BACKENDS))

    def _check_restored(self) -> None:
        restored = "_restored" in self.__dict__
        super()._check_restored()
        if restored:
            self._search = BACKENDS[self.backend]()
