"""Search for similar structures by their vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import config_context
from kernelwood.features.collection import collected
from kernelwood.features.comparing import compare_rows
from kernelwood.features.landmarks import SELECTIONS
from kernelwood.features.nystrom import NystromEmbedder
from kernelwood.features.structure_index import Ids, StructureIndex, nearest_kept
from kernelwood.features.vector_search import check_quantized, nearest_vectors, padded, quantize

__all__ = ["EmbeddingIndex", "stretched"]

_FOUND_AT_ONCE = 2**21  # ids of neighbors held while searching, about 32 MB


class EmbeddingIndex(StructureIndex):
    r"""Search for the most similar structures by their vectors, refined by the kernel.

    Structures are found by the product of their vectors (:class:`NystromEmbedder`, see the notes),
    which approximates the kernel: an exact scan over all of them, which compares no structures. A
    query costs ``n_landmarks`` kernel evaluations. With re-ranking, the ``n_rerank`` nearest are
    compared by the kernel, at one evaluation each, and come back in order of their similarity.

    Parameters
    ----------
    kernel : Kernel
        What compares structures, positive semidefinite, and normalized preferably: without that,
        large structures are similar to everything.
    n_landmarks : int
        How many landmarks to choose from what the index is fitted on.
    n_components : int, optional
        How many dimensions to keep at most, those of the largest eigenvalues. Memory is a byte for
        each dimension of a structure, in groups of 32.
    selection : {"uniform", "kmeans++", "stratified", "leverage"}
        How landmarks are chosen, see :class:`NystromEmbedder`.
    n_rerank : int, optional
        How many of the nearest vectors to compare by the kernel. By default none.
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
    vectors_ : ndarray of int8, shape (n, rank of the embedder rounded up to a multiple of 32)
        Their vectors, stretched, as whole numbers from -127 to 127.
    scales_ : ndarray of float32, shape (n,)
        What the numbers of each are multiplied by.
    embedder_ : NystromEmbedder
        What makes vectors.
    seed_ : int
        The seed that was used.

    See Also
    --------
    HashIndex : Search by hashcodes, which take less memory and time.
    NystromEmbedder : The vectors themselves.
    Kernel.neighbors : The most similar structures without vectors.

    Notes
    -----
    The vector of a structure is shorter than the structure itself, :math:`\sqrt{K(x, x)}`, by what
    the landmarks miss of it. Products of vectors as they are would be too small, most of all for
    structures unlike all landmarks, which might not even find themselves; cosines would be too
    large. So the vectors in the index, not those of queries, are stretched to the geometric mean of
    both lengths: more of the nearest are found than by either.

    Numbers of 8 bits change a product by some thousandths; re-ranking makes up for it. Additions
    are amortized, and removals cheap: neither copies what is there. Several threads may search at
    the same time, but none while another adds or removes.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> trees = [question.view("tree") for question in load_questions()]
    >>> index = kw.EmbeddingIndex(kw.SubsetTreeKernel(), n_landmarks=40, random_state=0)
    >>> index = index.fit(trees[:100])
    >>> index.add(trees[100:])[:3]
    array([100, 101, 102])
    >>> ids, similarities = index.search(trees[105:106], k=3, n_rerank=20)
    >>> int(ids[0, 0]), round(float(similarities[0, 0]), 6)
    (105, 1.0)
    """

    _fitted = (
        "kernel_", "seed_", "embedder_", "ids_", "vectors_", "scales_", "structures_", "next_id_",
    )  # fmt: skip
    _plain_scores = "approximate similarities"

    embedder_: NystromEmbedder

    vectors_ = collected("vectors", "Vectors of the structures, as whole numbers.")
    scales_ = collected("scales", "What the numbers of each vector are multiplied by.")

    def __init__(
        self,
        kernel: Any,
        *,
        n_landmarks: int = 300,
        n_components: int | None = None,
        selection: str = "uniform",
        n_rerank: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.n_components = n_components
        self.selection = selection
        self.n_rerank = n_rerank
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> EmbeddingIndex:
        """Choose landmarks from ``X``, and put ``X`` into the index.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            Classes, for ``selection="stratified"``; by default the labels of examples.
        """
        X = self._start(X)
        embedder = NystromEmbedder(
            self.kernel_,
            n_landmarks=self.n_landmarks,
            n_components=self.n_components,
            selection=self.selection,
            random_state=self.seed_,
        )
        with self._threads():
            self.embedder_ = embedder.fit(X, y)
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
            How many of the nearest vectors to compare by the kernel, 0 for none; by default the
            parameter of the index.

        Returns
        -------
        ids : ndarray of int64, shape (n, k)
        scores : ndarray, shape (n, k)
            Similarities, falling: approximate ones without re-ranking, exact ones with it. Equal
            ones are in order of their ids.
        """
        return self._found(X, k, n_rerank)

    def _stand_ins(self, X: Any) -> dict[str, NDArray[Any]]:
        embedder = self.embedder_
        numbers = np.empty((len(X), padded(embedder.rank_)), dtype=np.int8)
        scales = np.empty(len(X), dtype=np.float32)
        with config_context(progress=None):  # that of the comparisons is enough
            own = embedder.kernel_.diag(X, dtype="float64")
        # Vectors in double precision are never held all at once.
        for some, similarities in compare_rows(
            embedder.kernel_, X, embedder.landmarks_, dtype="float64"
        ):
            vectors = stretched(embedder.embed(similarities), own[some])
            numbers[some], scales[some] = quantize(vectors)
        return {"vectors": numbers, "scales": scales}

    def _search_plain(self, X: Any, k: int) -> tuple[Ids, NDArray[Any]]:
        collection = self._collection
        rows, scales = collection.column("vectors"), collection.column("scales")

        def find(queries: NDArray[np.float64], k: int) -> tuple[Ids, NDArray[np.float64]]:
            return nearest_vectors(queries, rows, scales, k)

        vectors, removed = self.embedder_.transform(X), collection.removed
        return nearest_kept(find, vectors, k, removed=removed, most_found=_FOUND_AT_ONCE)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_landmarks", 1)
        self._check_count("n_components", 1, none=True)
        self._check_choice("selection", tuple(SELECTIONS))

    def _column_types(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        return {
            "vectors": (np.int8, (padded(self.embedder_.rank_),)),
            "scales": (np.float32, ()),
        }

    def _check_columns(self, columns: dict[str, NDArray[Any]]) -> None:
        check_quantized(columns["vectors"], columns["scales"])
        if columns["vectors"][:, self.embedder_.rank_ :].any():
            raise ValueError("vectors_ must be 0 beyond the dimensions of the embedder")

    def _check_restored(self) -> None:
        # Before the columns, whose shape depends on it.
        if type(self.embedder_) is not NystromEmbedder:
            raise ValueError("embedder_ must be a NystromEmbedder")
        super()._check_restored()
        if self.embedder_.kernel_._accepts() is not self.kernel_._accepts():
            raise ValueError("embedder_ and kernel_ must be for the same structures")


def stretched(vectors: NDArray[np.float64], own: NDArray[Any]) -> NDArray[np.float64]:
    """Return vectors with the geometric mean of their length and that of their structures.

    Parameters
    ----------
    vectors : ndarray of float64, shape (n, d)
    own : ndarray, shape (n,)
        Similarities of structures with themselves, which are their squared lengths.

    Examples
    --------
    >>> stretched(np.array([[0.6, 0.0], [0.0, 0.0]]), np.array([1.44, 1.0]))
    array([[0.84852814, 0.        ],
           [0.        , 0.        ]])
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    factors = np.divide(np.sqrt(own), lengths, out=np.zeros(len(own)), where=lengths > 0)
    longer: NDArray[np.float64] = vectors * np.sqrt(factors)[:, None]
    return longer
