"""Vectors of structures whose products are the values of a kernel: the Nyström method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.features.checks import check_array, check_matrix, check_positive
from kernelwood.features.comparing import compare_rows, compare_unknown
from kernelwood.features.estimator import StructureEstimator, StructureTransformer
from kernelwood.features.landmarks import SELECTIONS, choose_landmarks
from kernelwood.features.products import product
from kernelwood.features.spectrum import Spectrum, decompose
from kernelwood.features.targets import encode_labels
from kernelwood.seeds import child_generator

__all__ = ["NystromEmbedder"]

Vectors = NDArray[np.float64]

_ROWS = 1024
_SAMPLE = 256  # structures that the residual is measured on
_SAMPLED = 6  # what the random numbers of a child generator are for
# What is left of landmarks that are added is known less exactly than what there was at first.
_GROWN_CUT = 1e-10


class NystromEmbedder(StructureTransformer, StructureEstimator):
    r"""Vectors of structures whose scalar products approximate a kernel.

    A structure is compared with a few landmarks; with its similarities :math:`c` to them and the
    similarities :math:`W = U S U^\top` among them, its vector is :math:`c\, U S^{-1/2}`. The
    products of vectors are :math:`C W^+ C^\top`: exact for landmarks and for whatever lies in their
    span, and as near as the span allows for the rest. A structure costs ``n_landmarks`` kernel
    evaluations. On vectors, everything works that works on numbers: linear models, k-means, nearest
    neighbors, networks, maps.

    Parameters
    ----------
    kernel : Kernel
        What compares structures. It must be positive semidefinite.
    n_landmarks : int
        How many landmarks to choose. If there are fewer structures, all become landmarks and
        products are exact.
    selection : {"uniform", "kmeans++", "stratified", "leverage"}
        How to choose them: all alike; far from each other (each at random, with a chance that grows
        with the squared distance to those before); from each class in proportion to its size, but
        one at least, for which ``fit`` needs the classes; or by how much would be missed without
        them (ridge leverage scores).
    n_components : int, optional
        How many dimensions to keep at most, those of the largest eigenvalues.
    tolerance : float
        Eigenvalues up to this multiple of the largest are dropped: they are rounding errors, such
        as equal landmarks give.
    random_state : None, int, Generator or RandomState
        Seed. More landmarks of the same seed begin with the same ones for ``"uniform"`` and
        ``"stratified"``.
    n_jobs : int, optional
        Threads; no vector depends on them.

    Attributes
    ----------
    landmarks_ : batch
        The landmarks.
    landmark_indices_ : ndarray of int64, shape (n_landmarks,)
        Where they were in what the embedder was fitted on; -1 if they were added later.
    gram_ : ndarray of float64, shape (n_landmarks, n_landmarks)
        Their similarities, :math:`W`.
    eigenvalues_ : ndarray of float64, shape (rank,)
        The eigenvalues that were kept, falling; those of landmarks that were added follow.
    projection_ : ndarray of float64, shape (n_landmarks, rank)
        :math:`U S^{-1/2}`.
    rank_ : int
        Number of dimensions.
    residual_ : float
        What vectors miss: the mean of :meth:`residual` over up to 256 structures that are no
        landmarks, when the embedder was fitted. 0 if there are none.
    seed_ : int
        The seed that was used.

    See Also
    --------
    KernelHasher : Hashcodes, by similarities to references.
    EmbeddingIndex : Search among vectors.
    KernelNetworkClassifier : A network on top of vectors.
    KernelKMeans : Clusters, with or without vectors.

    Notes
    -----
    Eigenvectors are determined up to their sign, or, where eigenvalues are equal, up to a rotation.
    Both are fixed, so that vectors agree across machines but for rounding.

    References
    ----------
    C. Williams, M. Seeger: Using the Nyström method to speed up kernel machines. NIPS 2000. D.
    Croce, S. Filice, R. Basili: Evaluating kernel-based sentence embeddings.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> trees = [question.view("tree") for question in load_questions()]
    >>> kernel = kw.PartialTreeKernel()
    >>> embedder = kw.NystromEmbedder(kernel, n_landmarks=40, random_state=0).fit(trees)
    >>> vectors = embedder.transform(trees)
    >>> vectors.shape, embedder.rank_
    ((120, 40), 40)
    >>> print(f"{abs(vectors @ vectors.T - kernel.gram(trees)).mean():.2f}")
    0.01
    """

    _fitted = (
        "kernel_", "seed_", "landmark_indices_", "landmarks_", "gram_", "eigenvalues_",
        "projection_", "residual_",
    )  # fmt: skip

    _saved_unfitted = True  # as a parameter of KernelKMeans

    landmark_indices_: NDArray[np.int64]
    gram_: Vectors
    eigenvalues_: Vectors
    projection_: Vectors
    residual_: float

    def __init__(
        self,
        kernel: Any,
        *,
        n_landmarks: int = 300,
        selection: str = "uniform",
        n_components: int | None = None,
        tolerance: float = 1e-12,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.n_components = n_components
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> NystromEmbedder:
        """Choose landmarks from ``X``, and find the dimensions they span.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            Classes, for ``selection="stratified"``; by default the labels of examples.
        """
        batch = self._start(X)
        classes = None
        if self.selection == "stratified":
            classes = encode_labels(type(self).__name__, X, y)[1]
        n = min(int(self.n_landmarks), len(batch))
        with self._threads():
            self.landmark_indices_ = choose_landmarks(
                self.selection, self.kernel_, batch, classes, n, seed=self.seed_
            )
            self.landmarks_ = self._keep(batch[self.landmark_indices_])
            self.gram_ = np.asarray(self.kernel_.gram(self.landmarks_, dtype="float64"))
            self._take(self._decompose(self.gram_, float(self.tolerance)))
            self.residual_ = 0.0  # with which the embedder is complete
            self.residual_ = self._mean_residual(batch)
        return self

    def transform(self, X: Any) -> Vectors:
        """Return the vectors of structures, shape (n, rank)."""
        self._check_is_fitted()
        X = self._prepare(X)
        vectors = np.empty((len(X), self.rank_))
        with self._threads():
            rows = compare_rows(self.kernel_, X, self.landmarks_, dtype="float64")
            for some, similarities in rows:
                vectors[some] = product(similarities, self.projection_)
        return vectors

    def iter_transform(self, structures: Iterable[Any], n_rows: int = _ROWS) -> Iterator[Vectors]:
        """Yield the vectors of structures that may never be in memory all at once.

        Parameters
        ----------
        structures : iterable of structures
            Read as far as vectors are asked for.
        n_rows : int
            How many structures to take at once; no vector depends on it.

        Yields
        ------
        ndarray, shape (up to n_rows, rank)

        Examples
        --------
        >>> import kernelwood as kw
        >>> texts = (kw.Sequence(f"the number {i}".split()) for i in range(5))
        >>> embedder = kw.NystromEmbedder(kw.SubsequenceKernel(), random_state=0)
        >>> embedder = embedder.fit([kw.Sequence(["the", "number", "one"])])
        >>> [vectors.shape for vectors in embedder.iter_transform(texts, n_rows=2)]
        [(2, 1), (2, 1), (1, 1)]
        """
        self._check_is_fitted()
        if isinstance(n_rows, bool) or not isinstance(n_rows, (int, np.integer)) or n_rows < 1:
            raise KernelInputError(
                f"NystromEmbedder: n_rows must be an int above 0, got {n_rows!r}"
            )
        left = iter(structures)
        while some := list(islice(left, int(n_rows))):
            yield self.transform(some)

    def similarities(self, X: Any, *, known: Vectors | None = None) -> Vectors:
        """Return the similarities of structures to the landmarks, from which vectors are made.

        Parameters
        ----------
        X : list of structures or batch, length n
        known : ndarray, shape (n, m), optional
            Similarities to the first ``m`` landmarks, which are not computed again.

        Returns
        -------
        ndarray, shape (n, number of landmarks)
        """
        self._check_is_fitted()
        X = self._prepare(X)
        with self._threads():
            return compare_unknown(
                type(self).__name__, self.kernel_, X, self.landmarks_, known, dtype="float64"
            )

    def embed(self, similarities: NDArray[Any]) -> Vectors:
        """Return the vectors of structures with these similarities to the landmarks.

        Parameters
        ----------
        similarities : ndarray, shape (n, number of landmarks)
            As :meth:`similarities` returns them.
        """
        self._check_is_fitted()
        name, n = type(self).__name__, len(self.landmarks_)
        similarities = check_matrix(name, "similarities", similarities, n)
        with self._threads():
            return product(similarities, self.projection_)

    def grow(self, landmarks: Any) -> NystromEmbedder:
        """Add landmarks; the dimensions that are there stay what they are.

        New dimensions, behind the others, are for what the new landmarks have beyond the span of
        the old ones. Vectors made before are the beginnings of those made from now on. The number
        of dimensions to keep, ``n_components``, holds for what is added, too.

        Parameters
        ----------
        landmarks : list of structures or batch

        Examples
        --------
        >>> import kernelwood as kw
        >>> texts = [kw.Sequence(text.split()) for text in ("a b c", "b c d", "c d e", "d e f")]
        >>> embedder = kw.NystromEmbedder(kw.SubsequenceKernel(), random_state=0).fit(texts[:2])
        >>> before = embedder.transform(texts)
        >>> after = embedder.grow(texts[2:]).transform(texts)
        >>> after.shape, bool((after[:, :2] == before).all())
        ((4, 4), True)
        """
        self._check_is_fitted()
        added = self._keep(self._prepare(landmarks))
        with self._threads():
            cross = self.kernel_.cross(added, self.landmarks_, dtype="float64")
            own = self.kernel_.gram(added, dtype="float64")
            known = product(cross, self.projection_)
            cut = max(float(self.tolerance), _GROWN_CUT)
            beyond = self._decompose(own - product(known, known.T), cut, grown=True)
            back = product(self.projection_, product(known.T, beyond.projection))
        nothing = np.zeros((len(added), self.rank_))
        self.projection_ = np.block([[self.projection_, -back], [nothing, beyond.projection]])
        self.eigenvalues_ = np.concatenate([self.eigenvalues_, beyond.eigenvalues])
        self.gram_ = np.block([[self.gram_, cross.T], [cross, own]])
        self.landmarks_ = self._prepare([*self.landmarks_, *added])
        unknown = np.full(len(added), -1, dtype=np.int64)
        self.landmark_indices_ = np.concatenate([self.landmark_indices_, unknown])
        return self

    def inverse_neighbors(
        self, vectors: NDArray[Any], k: int = 5
    ) -> tuple[NDArray[np.int64], Vectors]:
        """Return the landmarks that speak for vectors: those with the largest products.

        Vectors may be those of structures, or anything in their space: the center of a cluster, the
        weights of a linear model.

        Parameters
        ----------
        vectors : ndarray, shape (n, rank)
        k : int
            How many landmarks to return, at most as many as there are.

        Returns
        -------
        landmarks : ndarray of int64, shape (n, k)
            Their numbers, as in ``landmarks_``.
        products : ndarray of float64, shape (n, k)
            Falling; equal ones in the order of the landmarks. For the vector of a structure this is
            the approximate similarity.
        """
        self._check_is_fitted()
        vectors = check_matrix(type(self).__name__, "vectors", vectors, self.rank_)
        check_positive(type(self).__name__, "k", k)
        with self._threads():
            products = product(vectors, product(self.gram_, self.projection_).T)
        best = np.argsort(-products, axis=1, kind="stable")[:, :k]
        return best.astype(np.int64), np.take_along_axis(products, best, axis=1)

    def residual(self, X: Any) -> Vectors:
        r"""Return what vectors miss of each structure, from 0 for nothing to 1 for everything.

        That is :math:`1 - |\tilde x|^2 / K(x, x)`, the squared distance of a structure to the span
        of the landmarks. A structure unlike all landmarks has a large one.

        Parameters
        ----------
        X : list of structures or batch, length n

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        vectors = self.transform(X)
        with self._threads():
            own = self.kernel_.diag(self._prepare(X), dtype="float64")
        held = np.einsum("ij,ij->i", vectors, vectors)
        shares: Vectors = np.divide(held, own, out=np.ones(len(own)), where=own > 0)
        return np.clip(1.0 - shares, 0.0, 1.0)

    @property
    def rank_(self) -> int:
        """Number of dimensions."""
        if "projection_" not in self.__dict__:
            raise AttributeError("this NystromEmbedder is not fitted yet")
        return int(self.projection_.shape[1])

    @property
    def _n_features_out(self) -> int:
        return self.rank_

    def _decompose(self, gram: Vectors, cut: float, *, grown: bool = False) -> Spectrum:
        room = self.n_components
        if grown and room is not None:
            room = max(int(room) - self.rank_, 0)
        largest = float(self.eigenvalues_.max()) if grown else None
        name = type(self).__name__
        return decompose(name, self.kernel_, gram, cut=cut, n_components=room, largest=largest)

    def _take(self, spectrum: Spectrum) -> None:
        if len(spectrum.eigenvalues) == 0:
            raise KernelInputError(
                f"NystromEmbedder: all landmarks have a similarity of 0 to themselves by "
                f"{self.kernel_!r}; there is nothing to make vectors of"
            )
        self.eigenvalues_, self.projection_ = spectrum.eigenvalues, spectrum.projection

    def _mean_residual(self, X: Any) -> float:
        others = np.setdiff1d(np.arange(len(X)), self.landmark_indices_)
        if len(others) == 0:
            return 0.0
        drawn = child_generator(self.seed_, _SAMPLED).permutation(others)[:_SAMPLE]
        return float(self.residual(X[np.sort(drawn)]).mean())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_landmarks", 1)
        self._check_choice("selection", tuple(SELECTIONS))
        self._check_count("n_components", 1, none=True)
        self._check_number("tolerance", 0.0, 1.0, "[0, 1)")

    def _check_restored(self) -> None:
        super()._check_restored()
        n = len(self._prepare(self.landmarks_))
        check_array("gram_", self.gram_, np.float64, (n, n))
        check_array("projection_", self.projection_, np.float64, (n, len(self.eigenvalues_)))
        check_array("eigenvalues_", self.eigenvalues_, np.float64, (self.rank_,))
        check_array("landmark_indices_", self.landmark_indices_, np.int64, (n,))
        if not (self.eigenvalues_ > 0).all() or self.rank_ == 0:
            raise ValueError("eigenvalues_ must be above 0")
        if not isinstance(self.residual_, float) or not 0 <= self.residual_ <= 1:
            raise ValueError("residual_ must be a number from 0 to 1")
