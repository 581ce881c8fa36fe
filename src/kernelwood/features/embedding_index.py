"""Search for similar structures by their vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ArrayOf, Schema
from kernelwood.compute import config_context
from kernelwood.features.collection import (
    Ids,
    Rows,
    StructureIndex,
    collected,
    ids_of,
    nearest_kept,
)
from kernelwood.features.estimator import KERNEL, SEED, Fitted, Structures
from kernelwood.features.nystrom import SELECTIONS, NystromEmbedder
from kernelwood.features.rowwise import compare_rows
from kernelwood.features.vector_search import (
    Rows as Vectors,
    Scales,
    check_quantized,
    nearest_vectors,
    padded,
    quantize,
)


class EmbeddingIndex(StructureIndex):
    r"""Search for the most similar structures by their vectors, refined by the kernel.

    Structures are found by the inner product of their vectors (:class:`NystromEmbedder`, see the
    notes), which approximates the kernel, in an exact scan: a query costs ``n_landmarks`` kernel
    evaluations. With re-ranking, the ``n_rerank`` nearest are compared by the kernel, one
    evaluation each, and sorted by similarity.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite kernel, preferably normalized: with an unnormalized kernel, large
        structures have high similarities to all others.
    n_landmarks : int
        Number of landmarks, chosen from the structures of ``fit``.
    n_components : int, optional
        Maximum number of dimensions, those of the largest eigenvalues. A structure takes one byte
        for each dimension, in multiples of 32.
    selection : {"uniform", "kmeans++", "stratified", "balanced", "leverage"}
        Landmark selection; see :class:`NystromEmbedder`.
    n_rerank : int, optional
        Number of nearest structures to compare by the kernel. By default none.
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
    vectors_ : ndarray of int8, shape (n, rank of the embedder rounded up to a multiple of 32)
        Their rescaled vectors, quantized from -127 to 127.
    scales_ : ndarray of float32, shape (n,)
        Scale of each quantized vector.
    embedder_ : NystromEmbedder
        The embedder that makes vectors.
    seed_ : int
        The seed that was used.

    See Also
    --------
    HashIndex : Search by hashcodes, which take less memory and time.
    NystromEmbedder : The vectors themselves.
    Kernel.neighbors : Exact search by the kernel alone.

    Notes
    -----
    The vector of a structure is shorter than :math:`\sqrt{K(x, x)}` by the part that the landmarks
    do not represent. Products of plain vectors would underestimate similarities, most of all for
    structures unlike all landmarks; cosines would overestimate them. Therefore the vectors in the
    index, not those of queries, are rescaled to the geometric mean of both lengths, which finds
    more of the nearest structures than either.

    Quantization changes a product by some thousandths; re-ranking corrects it. Adding and removing
    do not copy the whole index.

    Thread safety: all methods but ``fit``. A search covers the structures in the index when it
    begins, even if other threads add and remove structures meanwhile.

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

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "embedder_": Fitted(NystromEmbedder),
        "structures_": Structures(),
        **ids_of("structures_"),
        "vectors_": ArrayOf("int8", "structures_", None),
        "scales_": ArrayOf("float32", "structures_", least=0),
    }
    _plain_scores = "approximate similarities"

    embedder_: NystromEmbedder

    vectors_ = collected("vectors", "Quantized vectors of the structures.")
    scales_ = collected("scales", "Scale of each quantized vector.")

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
        """Choose landmarks from ``X``, and add ``X`` to the index.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            Classes, for selections by class; by default the labels of examples.
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

    def _stand_ins(self, X: Any) -> dict[str, NDArray[Any]]:
        numbers, scales = index_vectors(self.embedder_, X)
        return {"vectors": numbers, "scales": scales}

    def _search_plain(self, rows: Rows, X: Any, k: int) -> tuple[Ids, NDArray[Any]]:
        vectors, scales = rows.column("vectors"), rows.column("scales")

        def find(queries: NDArray[np.float64], k: int) -> tuple[Ids, NDArray[np.float64]]:
            return nearest_vectors(queries, vectors, scales, k)

        return nearest_kept(find, self.embedder_.transform(X), k, rows.removed)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_landmarks", 1)
        self._check_count("n_components", 1, none=True)
        self._check_choice("selection", tuple(SELECTIONS))

    def _check_columns(self, columns: dict[str, NDArray[Any]]) -> None:
        if columns["vectors"].shape[1] != padded(self.embedder_.rank_):
            raise ValueError("vectors_ must be those of the embedder")
        check_quantized(columns["vectors"], columns["scales"])
        if columns["vectors"][:, self.embedder_.rank_ :].any():
            raise ValueError("vectors_ must be 0 beyond the dimensions of the embedder")


def index_vectors(embedder: NystromEmbedder, X: Any) -> tuple[Vectors, Scales]:
    """Return the vectors of a batch as an index stores them: rescaled, and quantized to 8 bits."""
    numbers = np.empty((len(X), padded(embedder.rank_)), dtype=np.int8)
    scales = np.empty(len(X), dtype=np.float32)
    with config_context(progress=None):  # progress is that of the comparisons
        own = embedder.kernel_.diag(X, dtype="float64")
    # Not all vectors in double precision at once.
    for some, similarities in compare_rows(
        embedder.kernel_, X, embedder.landmarks_, dtype="float64"
    ):
        vectors = _rescaled(embedder.embed(similarities), own[some])
        numbers[some], scales[some] = quantize(vectors)
    return numbers, scales


def _rescaled(vectors: NDArray[np.float64], own: NDArray[Any]) -> NDArray[np.float64]:
    """Return vectors rescaled to the geometric mean of their length and that of their structures.

    Parameters
    ----------
    vectors : ndarray of float64, shape (n, d)
    own : ndarray, shape (n,)
        Self-similarities of the structures, their squared lengths.

    Examples
    --------
    >>> _rescaled(np.array([[0.6, 0.0], [0.0, 0.0]]), np.array([1.44, 1.0]))
    array([[0.84852814, 0.        ],
           [0.        , 0.        ]])
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    factors = np.divide(np.sqrt(own), lengths, out=np.zeros(len(own)), where=lengths > 0)
    longer: NDArray[np.float64] = vectors * np.sqrt(factors)[:, None]
    return longer
