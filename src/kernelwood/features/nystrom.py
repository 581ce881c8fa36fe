"""The Nyström method: landmark selection, and vectors whose products approximate a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import LARGE, ArrayOf, Real, Schema
from kernelwood.compute import one_blas_thread
from kernelwood.errors import KernelInputError, KernelOverflowError
from kernelwood.features.estimator import (
    KERNEL,
    SEED,
    StructureEstimator,
    Structures,
    StructureTransformer,
    check_matrix,
    encode_labels,
)
from kernelwood.features.reference_selection import random_references
from kernelwood.features.rowwise import compare_rows, compare_unknown, product
from kernelwood.kernels import Kernel
from kernelwood.parameters import check_int
from kernelwood.seeds import child_generator

Indices = NDArray[np.int64]
Classes = NDArray[np.int32]
Vectors = NDArray[np.float64]

_POOL, _SMALLEST_POOL = 4, 2000  # candidates for each landmark, and in all at least
_PILOT = 2  # structures for each landmark in the pilot sample of leverage scores
_TINY = 1e-12
_NEGATIVE = 1e-3  # relative to the largest eigenvalue; more negative ones are not rounding
_SAME = 1e-9  # eigenvectors of eigenvalues this close depend on rounding
_TIE = 1e-6
_ROWS = 1024
_SAMPLE = 256  # structures that the residual is measured on
# Residuals of added landmarks are less exact than the first Gram matrix.
_GROWN_CUT = 1e-10
# Purposes of child generators.
_STRATA, _CANDIDATES, _SPREAD, _PILOTS, _LEVERAGE, _SAMPLED = range(1, 7)


def _uniform(kernel: Kernel, X: Any, classes: Any, n: int, seed: int) -> Indices:
    return random_references(seed, len(X), n)


def _stratified(kernel: Kernel, X: Any, classes: Any, n: int, seed: int) -> Indices:
    """Return landmarks from all classes, in proportion to their sizes."""
    return _by_class(classes, np.bincount(classes), n, seed)


def _balanced(kernel: Kernel, X: Any, classes: Any, n: int, seed: int) -> Indices:
    """Return landmarks from all classes, in proportion to the square roots of their sizes."""
    return _by_class(classes, np.sqrt(np.bincount(classes)), n, seed)


def _by_class(classes: Any, weights: NDArray[Any], n: int, seed: int) -> Indices:
    """Return landmarks from all classes, in proportion to weights while a class has some left.

    After one of each class, the largest first, the next comes from the class with the largest
    weight / (2 * taken + 1), the Sainte-Laguë method of apportionment.
    """
    sizes = np.bincount(classes)
    members = [
        np.flatnonzero(classes == number)[child_generator(seed, _STRATA, number).permutation(size)]
        for number, size in enumerate(sizes.tolist())
    ]
    order = np.argsort(-sizes, kind="stable")[:n].tolist()
    taken = np.zeros(len(sizes), dtype=np.int64)
    taken[order] = 1
    chosen = [int(members[number][0]) for number in order]
    while len(chosen) < n:
        owed = np.where(taken < sizes, weights / (2 * taken + 1), 0.0)
        number = int(np.argmax(owed))
        chosen.append(int(members[number][taken[number]]))
        taken[number] += 1
    return np.array(chosen, dtype=np.int64)


def _spread(kernel: Kernel, X: Any, classes: Any, n: int, seed: int) -> Indices:
    """Return landmarks drawn with probabilities by their squared distance to earlier ones."""
    pool = _candidates(len(X), n, seed)
    gram = kernel.gram(X[pool], dtype="float64")
    own = gram.diagonal().copy()
    generator = child_generator(seed, _SPREAD)
    number = int(generator.integers(len(pool)))
    chosen = [number]
    distances = np.full(len(pool), np.inf)
    while len(chosen) < n:
        distances = np.minimum(distances, own + own[number] - 2 * gram[number])
        distances[distances <= _TINY * own.max()] = 0.0
        sums = np.cumsum(distances)
        if sums[-1] == 0:  # all others equal a landmark
            break
        number = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
        chosen.append(number)
    return pool[chosen]


def _by_leverage(kernel: Kernel, X: Any, classes: Any, n: int, seed: int) -> Indices:
    r"""Return landmarks drawn with probabilities by ridge leverage scores.

    The score :math:`\phi_i^\top (\Sigma + \lambda)^{-1} \phi_i` of a structure is the error of the
    approximation without it. It is estimated from a uniform pilot sample (C. Musco, C. Musco:
    Recursive sampling for the Nyström method. NIPS 2017); the ridge is the error of n eigenvectors.
    """
    pool = _candidates(len(X), n, seed)
    size = min(_PILOT * n, len(pool))
    pilot = pool[child_generator(seed, _PILOTS).permutation(len(pool))[:size]]
    similarities = kernel.cross(X[pool], X[pilot], dtype="float64")
    own = kernel.diag(X[pool], dtype="float64")
    with one_blas_thread():
        values, vectors = np.linalg.eigh(kernel.gram(X[pilot], dtype="float64"))
        values = np.maximum(values, 0.0)
        ridge = max(values[: max(size - n, 0)].sum() / n, _TINY * values[-1])
        within = (similarities @ vectors) ** 2 @ (1.0 / np.maximum(values + ridge, _TINY))
    scores = np.maximum(own - within, 0.0)
    chances = np.where(scores > 0, scores, np.finfo(float).tiny)
    # The n smallest exponential variates with these rates are a sample without replacement.
    arrivals = child_generator(seed, _LEVERAGE).exponential(size=len(pool)) / chances
    return pool[np.argsort(arrivals, kind="stable")[:n]]


def _candidates(n_structures: int, n: int, seed: int) -> Indices:
    """Return the positions of a random sample, rising, that is small enough for a Gram matrix."""
    size = min(n_structures, max(_POOL * n, _SMALLEST_POOL))
    drawn = child_generator(seed, _CANDIDATES).permutation(n_structures)[:size]
    return np.sort(drawn).astype(np.int64)


# Selections that need classes.
BY_CLASS = ("stratified", "balanced")

# Name -> function from kernel, batch, classes, number and seed to landmark positions.
SELECTIONS: dict[str, Callable[[Kernel, Any, Any, int, int], Indices]] = {
    "uniform": _uniform,
    "kmeans++": _spread,
    "stratified": _stratified,
    "balanced": _balanced,
    "leverage": _by_leverage,
}


def decompose(
    owner: str,
    kernel: Any,
    gram: NDArray[np.float64],
    *,
    cut: float,
    n_components: int | None = None,
    largest: float | None = None,
) -> tuple[Vectors, Vectors]:
    """Return the eigenvalues of a Gram matrix above a relative cut, and the projection on them.

    Parameters
    ----------
    owner : str
        For messages.
    kernel : Kernel
        For messages.
    gram : ndarray of float64, shape (n, n)
    cut : float
        Eigenvalues up to this multiple of the largest one are dropped.
    n_components : int, optional
        Maximum number of eigenvalues.
    largest : float, optional
        Reference for the cut, by default the largest eigenvalue of this matrix.

    Returns
    -------
    eigenvalues : ndarray of float64, shape (rank,)
        :math:`S`, falling.
    projection : ndarray of float64, shape (n, rank)
        :math:`U S^{-1/2}`, the same on every machine up to rounding.

    Examples
    --------
    >>> gram = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> eigenvalues, projection = decompose("Example", None, gram, cut=1e-12)
    >>> eigenvalues.round(3)
    array([1.6, 0.4])
    >>> vectors = gram @ projection
    >>> (vectors @ vectors.T).round(3)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """
    with one_blas_thread():  # the bits of LAPACK depend on the number of threads
        try:
            rising, vectors = np.linalg.eigh((gram + gram.T) / 2)
        except np.linalg.LinAlgError as failure:
            raise KernelInputError(f"{owner}: the similarities are too large: {failure}") from None
        values, vectors = rising[::-1], vectors[:, ::-1]
        top = max(float(values[0]), 0.0) if largest is None else largest
        if values[-1] < -_NEGATIVE * top:
            raise KernelInputError(_not_semidefinite(owner, kernel, float(values[-1]) / top))
        kept = values > cut * top
        values, vectors = values[kept], vectors[:, kept]
        projection = vectors / np.sqrt(values)
        for begin, end in _runs_of_equal(values, _SAME * top):
            rotation = _canonical_rotation(vectors[:, begin:end])
            projection[:, begin:end] = projection[:, begin:end] @ rotation
    return (
        np.ascontiguousarray(values[:n_components]),
        np.ascontiguousarray(projection[:, :n_components]),
    )


def _runs_of_equal(values: NDArray[np.float64], gap: float) -> list[tuple[int, int]]:
    """Return begin and end of runs of falling values with steps no larger than a gap."""
    if len(values) == 0:
        return []
    steps = np.flatnonzero(values[:-1] - values[1:] > gap) + 1
    return list(pairwise([0, *steps.tolist(), len(values)]))


def _canonical_rotation(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a rotation after which orthonormal columns depend only on their span.

    Each axis is the projection of the unit vector with the longest projection, orthogonal to the
    earlier axes. For a single column this makes its largest entry positive.
    """
    rest = vectors.copy()
    axes = np.empty((rest.shape[1], rest.shape[1]))
    for number in range(len(axes)):
        lengths = np.einsum("ij,ij->i", rest, rest)
        # The first of nearly equal ones, so that rounding does not decide.
        axis = rest[np.argmax(lengths >= (1 - _TIE) * lengths.max())]
        axis = axis - axes[:number].T @ (axes[:number] @ axis)
        axes[number] = axis / np.linalg.norm(axis)
        rest -= np.outer(rest @ axes[number], axes[number])
    return axes.T


def _not_semidefinite(owner: str, kernel: Any, smallest: float) -> str:
    return (
        f"{owner}: {kernel!r} is not positive semidefinite on these structures (eigenvalue "
        f"{smallest:.2g} relative to the largest), so no vectors can have its similarities; "
        "use exact matching, or a similarity whose positive_semidefinite is True"
    )


class NystromEmbedder(StructureTransformer, StructureEstimator):
    r"""Vectors of structures whose scalar products approximate a kernel.

    A structure is compared with a few landmarks; with its similarities :math:`c` to them and the
    similarities :math:`W = U S U^\top` among them, its vector is :math:`c\, U S^{-1/2}`. The
    products of vectors are :math:`C W^+ C^\top`: exact in the span of the landmarks, and the best
    approximation from this span elsewhere. A structure costs ``n_landmarks`` kernel evaluations.
    The vectors are input for linear models, k-means, nearest neighbors, networks and maps.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite kernel.
    n_landmarks : int
        Number of landmarks. With fewer structures, all are landmarks and products are exact.
    selection : {"uniform", "kmeans++", "stratified", "balanced", "leverage"}
        Landmark selection: uniform; with probabilities that grow with the squared distance to
        earlier landmarks; from each class in proportion to its size or (``"balanced"``) to the
        square root of its size, but at least one, for which ``fit`` needs classes; or by ridge
        leverage scores.
    n_components : int, optional
        Maximum number of dimensions, those of the largest eigenvalues.
    tolerance : float
        Eigenvalues up to this multiple of the largest are dropped as rounding errors, for example
        of equal landmarks.
    random_state : None, int, Generator or RandomState
        Seed. The first landmarks do not depend on ``n_landmarks`` for ``"uniform"``,
        ``"stratified"`` and ``"balanced"``.
    n_jobs : int, optional
        Number of threads; no vector depends on it.

    Attributes
    ----------
    landmarks_ : batch
        The landmarks.
    landmark_indices_ : ndarray of int64, shape (n_landmarks,)
        Their positions in the structures of ``fit``; -1 if they were added later.
    gram_ : ndarray of float64, shape (n_landmarks, n_landmarks)
        Their similarities, :math:`W`.
    eigenvalues_ : ndarray of float64, shape (rank,)
        The eigenvalues that were kept, falling; those of added landmarks follow.
    projection_ : ndarray of float64, shape (n_landmarks, rank)
        :math:`U S^{-1/2}`.
    rank_ : int
        Number of dimensions.
    residual_ : float
        Mean :meth:`residual` of up to 256 structures of ``fit`` that are not landmarks; 0 if all
        are.
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
    Thread safety: all methods but ``fit`` and ``grow``.

    Signs of eigenvectors, and rotations among equal eigenvalues, are fixed, so that vectors agree
    across machines up to rounding.

    References
    ----------
    C. Williams, M. Seeger: Using the Nyström method to speed up kernel machines. NIPS 2000. D.
    Croce, S. Filice, R. Basili: Evaluating kernel-based sentence embeddings. NL4AI 2018.

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

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "landmarks_": Structures(),
        "landmark_indices_": ArrayOf("int64", "landmarks_", least=-1),
        "gram_": ArrayOf("float64", "landmarks_", "landmarks_", least=-LARGE, most=LARGE),
        "eigenvalues_": ArrayOf("float64", None, least=0),
        "projection_": ArrayOf("float64", "landmarks_", "eigenvalues_", least=-LARGE, most=LARGE),
        "residual_": Real(0, 1),
    }

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
        """Choose landmarks from ``X``, and decompose their Gram matrix.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            Classes, for selections by class; by default the labels of examples.
        """
        batch = self._start(X)
        classes = None
        if self.selection in BY_CLASS:
            classes = encode_labels(type(self).__name__, X, y)[1]
        n = min(int(self.n_landmarks), len(batch))
        with self._threads():
            choose = SELECTIONS[self.selection]
            self.landmark_indices_ = choose(self.kernel_, batch, classes, n, self.seed_)
            self.landmarks_ = self._keep(batch[self.landmark_indices_])
            self.gram_ = np.asarray(self.kernel_.gram(self.landmarks_, dtype="float64"))
            self._take(*self._decompose(self.gram_, float(self.tolerance)))
            self.residual_ = 0.0  # makes the embedder complete
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
        return self._finite(vectors)

    def _finite(self, vectors: Vectors) -> Vectors:
        if not np.isfinite(vectors).all():
            raise KernelOverflowError(
                f"{type(self).__name__}: similarities are so large that their vectors are beyond "
                "the range of float64; use a kernel with smaller values, such as a normalized one"
            )
        return vectors

    def iter_transform(self, structures: Iterable[Any], n_rows: int = _ROWS) -> Iterator[Vectors]:
        """Yield the vectors of a stream of structures.

        Parameters
        ----------
        structures : iterable of structures
            Read only as vectors are requested.
        n_rows : int
            Number of structures at a time; no vector depends on it.

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
        check_int("NystromEmbedder: n_rows", n_rows, 1)
        left = iter(structures)
        while some := list(islice(left, int(n_rows))):
            yield self.transform(some)

    def similarities(self, X: Any, *, known: Vectors | None = None) -> Vectors:
        """Return the similarities of structures to the landmarks.

        Parameters
        ----------
        X : list of structures or batch, length n
        known : ndarray, shape (n, m), optional
            Similarities to the first ``m`` landmarks, which are not recomputed.

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
        """Return the vectors for given similarities to the landmarks.

        Parameters
        ----------
        similarities : ndarray, shape (n, number of landmarks)
            As of :meth:`similarities`.
        """
        self._check_is_fitted()
        name, n = type(self).__name__, len(self.landmarks_)
        similarities = check_matrix(name, "similarities", similarities, n)
        with self._threads():
            return self._finite(product(similarities, self.projection_))

    def grow(self, landmarks: Any) -> NystromEmbedder:
        """Add landmarks; existing dimensions do not change.

        New dimensions, after the others, represent what the new landmarks have beyond the span of
        the old ones. Earlier vectors are prefixes of new ones. ``n_components`` limits the total.

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
            eigenvalues, beyond = self._decompose(own - product(known, known.T), cut, grown=True)
            back = product(self.projection_, product(known.T, beyond))
        nothing = np.zeros((len(added), self.rank_))
        self.projection_ = np.block([[self.projection_, -back], [nothing, beyond]])
        self.eigenvalues_ = np.concatenate([self.eigenvalues_, eigenvalues])
        self.gram_ = np.block([[self.gram_, cross.T], [cross, own]])
        self.landmarks_ = self._prepare([*self.landmarks_, *added])
        unknown = np.full(len(added), -1, dtype=np.int64)
        self.landmark_indices_ = np.concatenate([self.landmark_indices_, unknown])
        return self

    def inverse_neighbors(
        self, vectors: NDArray[Any], k: int = 5
    ) -> tuple[NDArray[np.int64], Vectors]:
        """Return the landmarks with the largest products with vectors.

        Vectors can be those of structures, cluster centers, or weights of a linear model.

        Parameters
        ----------
        vectors : ndarray, shape (n, rank)
        k : int
            Number of landmarks to return, at most all.

        Returns
        -------
        landmarks : ndarray of int64, shape (n, k)
            Their numbers in ``landmarks_``.
        products : ndarray of float64, shape (n, k)
            Falling; equal ones in the order of the landmarks. For the vector of a structure this is
            the approximate similarity.
        """
        self._check_is_fitted()
        vectors = check_matrix(type(self).__name__, "vectors", vectors, self.rank_)
        check_int(f"{type(self).__name__}: k", k, 1)
        with self._threads():
            products = product(vectors, product(self.gram_, self.projection_).T)
        best = np.argsort(-products, axis=1, kind="stable")[:, :k]
        return best.astype(np.int64), np.take_along_axis(products, best, axis=1)

    def residual(self, X: Any) -> Vectors:
        r"""Return the fraction of each structure that its vector does not represent, from 0 to 1.

        This is :math:`1 - |\tilde x|^2 / K(x, x)`, the relative squared distance to the span of the
        landmarks. It is large for structures unlike all landmarks.

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

    def _decompose(
        self, gram: Vectors, cut: float, *, grown: bool = False
    ) -> tuple[Vectors, Vectors]:
        room = self.n_components
        if grown and room is not None:
            room = max(int(room) - self.rank_, 0)
        largest = float(self.eigenvalues_.max()) if grown else None
        name = type(self).__name__
        return decompose(name, self.kernel_, gram, cut=cut, n_components=room, largest=largest)

    def _take(self, eigenvalues: Vectors, projection: Vectors) -> None:
        if len(eigenvalues) == 0:
            raise KernelInputError(
                f"NystromEmbedder: all landmarks have a similarity of 0 to themselves by "
                f"{self.kernel_!r}, so they span no vectors; use other structures or parameters"
            )
        self.eigenvalues_, self.projection_ = eigenvalues, projection

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
        self._prepare(self.landmarks_)
        if not (self.eigenvalues_ > 0).all() or self.rank_ == 0:
            raise ValueError("eigenvalues_ must be above 0")
