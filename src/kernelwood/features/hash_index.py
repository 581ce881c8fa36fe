"""Search for similar structures by their hashcodes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ArrayOf, Schema
from kernelwood.features.codes import BACKENDS, Codes, CodeSearch, check_codes
from kernelwood.features.collection import Ids, Rows, StructureIndex, ids_of, nearest_kept
from kernelwood.features.estimator import KERNEL, SEED, Structures
from kernelwood.features.hashing import HASHER, HashCollection


class HashIndex(StructureIndex, HashCollection):
    r"""Search for the most similar structures by their hashcodes, refined by the kernel.

    Structures are found by the Hamming distance of their codes (:class:`KernelHasher`), in an exact
    scan that evaluates no kernel: a query costs ``n_references`` kernel evaluations. With
    re-ranking, the ``n_rerank`` nearest are compared by the kernel, one evaluation each, and sorted
    by similarity.

    Parameters
    ----------
    kernel : Kernel
        Kernel that compares structures, preferably normalized.
    method : {"rmm", "rknn", "kulis"}
        Hashing method; see :class:`KernelHasher`.
    n_references : int
        Number of references, :math:`M`.
    n_bits : int
        Length of the codes, :math:`H`. A structure takes ``n_bits / 8`` bytes.
    subset_size : int
        Number of references in each of the two subsets of a bit, :math:`\alpha`.
    references : {"random", "information", "coverage"} or ReferenceSelector
        Reference selection; see :class:`KernelHasher`. All but "random" need classes.
    n_rerank : int, optional
        Number of nearest structures to compare by the kernel. By default none.
    backend : {"scan", "faiss"}
        Implementation of the scan. Both give the same results; faiss is an extra
        (``pip install 'kernelwood[faiss]'``), and keeps a second copy of the codes.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Number of threads; no result depends on it.

    Attributes
    ----------
    ids_ : ndarray of int64, shape (n,)
        Ids of the structures, rising: 0, 1, ... for those of ``fit``, then those of ``add``. No id
        is used twice.
    structures_ : batch
        The structures, in that order.
    codes_ : ndarray of uint64, shape (n, ceil(n_bits / 64))
        Their codes.
    hasher_ : KernelHasher
        The hasher that makes codes.
    seed_ : int
        The seed that was used.

    See Also
    --------
    HashNeighborsClassifier : Classification by neighbors, from buckets of short codes.
    Kernel.neighbors : Exact search by the kernel alone.

    Notes
    -----
    Adding and removing do not copy the whole index.

    Thread safety: all methods but ``fit``. A search covers the structures in the index when it
    begins, even if other threads add and remove structures meanwhile.

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

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "hasher_": HASHER,
        "structures_": Structures(),
        **ids_of("structures_"),
        "codes_": ArrayOf("uint64", "structures_", None),
    }
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
        """Choose references from ``X``, and add ``X`` to the index.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            By default the labels of examples. Not used for random references.
        """
        X = self._start(X)
        self._search: CodeSearch = BACKENDS[self.backend]()
        with self._threads():
            self._fit_hasher(X, y)
            self._collect(X, **self._stand_ins(X))
        return self

    def search_codes(self, codes: Codes, k: int = 10) -> tuple[Ids, NDArray[np.int32]]:
        """Return the ids and the Hamming distances of the ``k`` nearest codes of each query.

        Parameters
        ----------
        codes : ndarray of uint64, shape (n, ceil(n_bits / 64))
            As of ``hasher_.codes``.
        k : int
            Number of codes to return.
        """
        self._check_is_fitted()
        rows = self._collection.rows
        self._check_k(k, rows)
        codes = check_codes(codes, self.n_bits)
        with self._threads():
            positions, distances = self._nearest(rows, codes, k)
        return rows.column("ids")[positions], distances

    def _stand_ins(self, X: Any) -> dict[str, NDArray[Any]]:
        return {"codes": self.hasher_.codes(X)}

    def _search_plain(self, rows: Rows, X: Any, k: int) -> tuple[Ids, NDArray[Any]]:
        return self._nearest(rows, self.hasher_.codes(X), k)

    def _nearest(self, rows: Rows, queries: Codes, k: int) -> tuple[Ids, NDArray[np.int32]]:
        find = self._search.finder(rows.column("codes"), rows.layout)
        return nearest_kept(find, queries, k, rows.removed)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_choice("backend", tuple(BACKENDS))

    def _check_restored(self) -> None:
        restored = "_restored" in self.__dict__
        super()._check_restored()
        if restored:
            self._search = BACKENDS[self.backend]()
