"""k-means with the distances of a kernel."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import LARGE, ArrayOf, Maybe, Real, Schema, Whole
from kernelwood.clustering.description import (
    MOST_REPRESENTATIVES,
    ClusterDescription,
    describe_clusters,
)
from kernelwood.clustering.lloyd import (
    Lloyd,
    SelfSimilarities,
    cluster_vectors,
    first_nearest,
    noise_of,
    order_of_clusters,
    run,
    spread_labels,
    squared_distances,
    squared_lengths,
)
from kernelwood.compute import budget
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    KERNEL,
    SEED,
    Clusterer,
    Fitted,
    NystromEmbedder,
    StructureEstimator,
    Structures,
    StructureTransformer,
    compare_rows,
)
from kernelwood.kernels import TILE
from kernelwood.seeds import child_generator

Array = NDArray[np.float64]
_EMBEDDER = 2  # purpose of a child generator


class KernelKMeans(StructureTransformer, Clusterer, StructureEstimator):
    r"""Clusters of structures, each around a center in the space of a kernel.

    The squared distance of a structure to the center of a cluster :math:`c` is

    .. math:: d^2(x, c) = K(x, x) - \frac{2}{|c|} \sum_{j \in c} K(x, x_j)
              + \frac{1}{|c|^2} \sum_{j, l \in c} K(x_j, x_l) .

    Starting from structures that are far apart (k-means++), every structure is assigned to the
    nearest center until none moves. The Gram matrix is computed once and held if it fits the memory
    budget; otherwise the rows of moved structures are computed in each iteration. An iteration
    costs at most :math:`O(n^2)` additions, in proportion to the number of structures that move.

    With an embedder, k-means runs on vectors, which cost ``n_landmarks`` kernel evaluations per
    structure. Prefer it for many structures.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, :math:`K`; fewer, with a warning, if fewer structures are distinct.
    kernel : Kernel
        The kernel, preferably normalized.
    embedder : NystromEmbedder, optional
        Unfitted embedder with the same kernel, whose vectors are clustered. By default the exact
        kernel is used. If its ``random_state`` is None, it gets one derived from the seed.
    n_init : int
        Number of starts. The one with the smallest inertia is used.
    max_iter : int
        Maximum number of iterations of each start.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Number of threads; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int32, shape (n,)
        Cluster of each structure. Clusters are numbered by descending size; ties are broken by the
        earliest structure.
    inertia_ : float
        Sum of the squared distances of structures to their centers.
    n_iter_ : int
        Iterations of the best start.
    cluster_sizes_ : ndarray of int64, shape (n_clusters,)
        Number of structures in each cluster.
    medoid_indices_ : ndarray of int64, shape (n_clusters,)
        The structure nearest to the center of each cluster.
    medoids_ : batch
        These structures.
    representative_indices_ : ndarray of int64, shape (n_clusters, up to 12)
        The structures nearest to each center, medoids first; -1 fills the rows of small clusters.
    representatives_ : batch
        These structures, cluster by cluster.
    center_norms_ : ndarray of float64, shape (n_clusters,)
        Self-similarity of each center, the last term of the formula.
    structures_ : batch or None
        The structures the clusters were fitted on, needed for predictions by the exact kernel; None
        with an embedder.
    embedder_ : NystromEmbedder or None
        The fitted embedder.
    centers_ : ndarray of float64, shape (n_clusters, rank of the embedder), or None
        Vectors of the centers.
    seed_ : int
        The seed that was used.

    See Also
    --------
    NystromEmbedder : Vectors of structures.
    kernelwood.evaluate.cluster_scores : Agreement of clusters with classes.

    Notes
    -----
    A structure at the same distance from two centers, except for rounding, is assigned to the
    larger cluster. A cluster that becomes empty gets the structure that is farthest from its
    center. If the kernel is not positive semidefinite, squared distances below 0 count as 0, and
    the algorithm may not converge within ``max_iter`` iterations.

    References
    ----------
    B. Schölkopf, A. Smola, K.-R. Müller: Nonlinear component analysis as a kernel eigenvalue
    problem. Neural Computation 1998. D. Arthur, S. Vassilvitskii: k-means++, the advantages of
    careful seeding. SODA 2007.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> trees = [question.view("tree") for question in load_questions()]
    >>> model = kw.KernelKMeans(4, kw.SubsetTreeKernel(), random_state=0).fit(trees)
    >>> model.cluster_sizes_
    array([38, 34, 30, 18])
    >>> " ".join(leaf.label for leaf in model.medoids_[3].leaves())
    'What does the acronym LIDAR stand for ?'
    >>> model.predict(trees[:3]), model.transform(trees[:3]).shape
    (array([0, 2, 3], dtype=int32), (3, 4))
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "labels_": ArrayOf("int32", None, least=0, below="n_clusters"),
        "inertia_": Real(0),
        "n_iter_": Whole(),
        "center_norms_": ArrayOf("float64", "clusters", least=-LARGE, most=LARGE),
        "representative_indices_": ArrayOf("int64", "clusters", None, least=-1, below="labels_"),
        "representatives_": Structures(),
        "structures_": Maybe(Structures("labels_")),
        "embedder_": Maybe(Fitted(NystromEmbedder)),
        "centers_": Maybe(
            ArrayOf("float64", "clusters", "embedder_.rank_", least=-LARGE, most=LARGE)
        ),
    }

    labels_: NDArray[np.int32]
    inertia_: float
    n_iter_: int
    center_norms_: Array
    representative_indices_: NDArray[np.int64]
    representatives_: Any
    structures_: Any
    embedder_: NystromEmbedder | None
    centers_: Array | None

    def __init__(
        self,
        n_clusters: int,
        kernel: Any,
        *,
        embedder: Any = None,
        n_init: int = 4,
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.embedder = embedder
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelKMeans:
        """Find clusters.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            For an embedder with stratified landmarks; not used otherwise.
        """
        X = self._start(X)
        if self.n_clusters > len(X):
            raise KernelInputError(
                f"KernelKMeans: there are {len(X)} structures for n_clusters={self.n_clusters}; "
                "use fewer clusters"
            )
        with self._threads():
            if self.embedder is None:
                inside, converged = self._fit_exact(X)
            else:
                inside, converged = self._fit_vectors(X, y)
        self.inertia_ = float(np.add.accumulate(np.maximum(inside, 0.0))[-1])
        self.representative_indices_ = _choose_representatives(
            self.labels_, inside, noise_of(self.kernel_)
        )
        chosen = self.representative_indices_[self.representative_indices_ >= 0]
        self.representatives_ = self._keep(X[chosen])
        self._warn(converged)
        return self

    def _fit_exact(self, X: Any) -> tuple[Array, bool]:
        """Return the squared distance of each structure to its center, and the convergence."""
        similarities = SelfSimilarities(self.kernel_, X)
        draws = [child_generator(self.seed_, 1, number) for number in range(self.n_init)]
        starts = spread_labels(similarities, int(self.n_clusters), draws)
        states = [Lloyd(similarities, labels, self.max_iter) for labels in starts]
        run(similarities, states)
        least = min(state.inertia for state in states)
        slack = similarities.noise * (least + float(np.abs(similarities.own).sum()))
        best = next(state for state in states if state.inertia <= least + slack)
        # Again without the rounding errors of added and subtracted rows.
        best.forget()
        run(similarities, [best])
        order = order_of_clusters(best.labels, best.n_clusters)
        order = order[: len(np.unique(best.labels))]
        places = np.empty(best.n_clusters, dtype=np.int32)
        places[order] = np.arange(len(order))
        self.labels_ = places[best.labels]
        self.center_norms_ = best.norms()[order]
        self.n_iter_ = best.n_iter
        self.structures_ = self._keep(X)
        self.embedder_ = self.centers_ = None
        return best.distances()[best.labels, np.arange(len(X))], best.converged

    def _embed(self, X: Any, y: Any) -> Array:
        """Fit a copy of the embedder and return the vectors of structures."""
        from sklearn.base import clone

        embedder: NystromEmbedder = clone(self.embedder)
        if embedder.random_state is None:
            drawn = child_generator(self.seed_, _EMBEDDER).integers(2**62)
            embedder.random_state = int(drawn)
        self.embedder_ = embedder.fit(X, y)
        return embedder.transform(X)

    def _fit_vectors(self, X: Any, y: Any) -> tuple[Array, bool]:
        vectors = self._embed(X, y)
        labels, self.centers_, self.n_iter_, converged = cluster_vectors(
            vectors,
            int(self.n_clusters),
            n_init=int(self.n_init),
            max_iter=int(self.max_iter),
            seed=self.seed_,
            noise=noise_of(self.kernel_),
        )
        self.labels_ = labels.astype(np.int32)
        self.center_norms_ = squared_lengths(self.centers_)
        self.structures_ = None
        distances = squared_distances(vectors, self.centers_)
        return distances[np.arange(len(vectors)), labels], converged

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster with the nearest center for each structure, shape (n,)."""
        labels = [
            first_nearest(distances.T, noise_of(self.kernel_) * scale)
            for distances, scale in self._distances(X)
        ]
        return np.concatenate(labels).astype(np.int32)

    def transform(self, X: Any) -> Array:
        """Return the distances of structures to the centers, shape (n, n_clusters).

        Distances in the space of the kernel or, with an embedder, of vectors.
        """
        blocks = [np.sqrt(np.maximum(distances, 0.0)) for distances, _ in self._distances(X)]
        return np.concatenate(blocks)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the negative sum of squared distances of structures to the nearest centers."""
        nearest = [distances.min(axis=1) for distances, _ in self._distances(X)]
        return -float(np.add.accumulate(np.maximum(np.concatenate(nearest), 0.0))[-1])

    def describe(
        self, y: Any = None, *, n_medoids: int = 3, n_fragments: int = 5
    ) -> list[ClusterDescription]:
        """Return descriptions of the clusters: typical structures, shared fragments, classes.

        Parameters
        ----------
        y : list or ndarray of labels, length n, optional
            Classes of the structures that the clusters were fitted on, to be counted.
        n_medoids : int
            Number of structures nearest to the center to show, at most 12.
        n_fragments : int
            Number of fragments to show that the medoid shares with the structures nearest to the
            center; 0 for none.

        Returns
        -------
        list of ClusterDescription
            One for each cluster; ``print`` shows it.

        See Also
        --------
        kernelwood.shared_fragments : Fragments that two structures share.

        Examples
        --------
        >>> import kernelwood as kw
        >>> texts = ["who sang it", "who wrote it", "when did it end", "when did it start"]
        >>> texts = [kw.Sequence(text.split()) for text in texts]
        >>> model = kw.KernelKMeans(2, kw.SubsequenceKernel(), random_state=0).fit(texts)
        >>> print(model.describe(["HUM", "HUM", "NUM", "NUM"])[0])
        cluster 0: 2 structures (2 HUM)
          [0] who sang it
          [1] who wrote it
          fragments of the first, with the number of structures near the center that share them:
            1 of 1  who … it
        """
        self._check_is_fitted()
        return describe_clusters(self, y, n_medoids=n_medoids, n_fragments=n_fragments)

    @property
    def cluster_sizes_(self) -> NDArray[np.int64]:
        """Number of structures in each cluster, in descending order."""
        return np.bincount(self.labels_).astype(np.int64)

    @property
    def medoid_indices_(self) -> NDArray[np.int64]:
        """The structure nearest to the center of each cluster."""
        medoids: NDArray[np.int64] = self.representative_indices_[:, 0]
        return medoids

    @property
    def medoids_(self) -> Any:
        """The structures nearest to the centers."""
        counts = np.count_nonzero(self.representative_indices_ >= 0, axis=1)
        return self.representatives_[np.cumsum(counts) - counts]

    @property
    def _n_features_out(self) -> int:
        return len(self.center_norms_)

    def _distances(self, X: Any) -> Iterator[tuple[Array, Array]]:
        """Yield squared distances to the centers and their scale, some structures at a time."""
        self._check_is_fitted()
        X = self._prepare(X)
        with self._threads():
            if self.embedder_ is not None and self.centers_ is not None:
                vectors = self.embedder_.transform(X)
                distances = squared_distances(vectors, self.centers_)
                yield distances, squared_lengths(vectors) + self._nearest_norms(distances)
                return
            own = self.kernel_.diag(X).astype(np.float64)
            sizes = self.cluster_sizes_
            begins = np.cumsum(sizes) - sizes
            by_cluster = np.argsort(self.labels_, kind="stable")
            row_bytes = 8 * len(self.labels_)
            n_rows = max(1, min(TILE, budget() // (4 * row_bytes)))
            for some, rows in compare_rows(self.kernel_, X, self.structures_, n_rows=n_rows):
                sorted_rows = rows[:, by_cluster].astype(np.float64, copy=False)
                distances = np.add.reduceat(sorted_rows, begins, axis=1) * (-2.0 / sizes)
                distances += self.center_norms_
                distances += own[some, None]
                yield distances, np.abs(own[some]) + self._nearest_norms(distances)

    def _nearest_norms(self, distances: Array) -> Array:
        norms: Array = np.abs(self.center_norms_[distances.argmin(axis=1)])
        return norms

    def _warn(self, converged: bool) -> None:
        from sklearn.exceptions import ConvergenceWarning

        found = len(self.center_norms_)
        if found < self.n_clusters:
            warnings.warn(
                f"KernelKMeans: only {found} structures differ according to the kernel, so that "
                f"there are {found} clusters instead of n_clusters={self.n_clusters}",
                ConvergenceWarning,
                stacklevel=3,
            )
        if not converged:
            warnings.warn(
                f"KernelKMeans: not converged after max_iter={self.max_iter} iterations; "
                "raise it, or check that the kernel is positive semidefinite",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_clusters", 1)
        self._check_count("n_init", 1)
        self._check_count("max_iter", 1)
        if self.embedder is None:
            return
        if not isinstance(self.embedder, NystromEmbedder):
            raise KernelInputError(
                "KernelKMeans: embedder must be None or a kernelwood.NystromEmbedder, "
                f"got {self.embedder!r}"
            )
        self.embedder._check_parameters()
        if self.embedder.kernel != self.kernel:
            raise KernelInputError(
                f"KernelKMeans: the kernel of the embedder, {self.embedder.kernel!r}, differs from "
                f"that of the clusters, {self.kernel!r}; give both the same"
            )

    def _check_restored(self) -> None:
        super()._check_restored()
        sizes = np.bincount(self.labels_)
        if not len(sizes) or not sizes.all() or (sizes[1:] > sizes[:-1]).any():
            raise ValueError("clusters must not be empty, and be numbered by descending size")
        if len(self.center_norms_) != len(sizes):
            raise ValueError("center_norms_ must be those of all clusters")
        _check_representatives(self.representative_indices_, self.labels_)
        if np.count_nonzero(self.representative_indices_ >= 0) != len(self.representatives_):
            raise ValueError("representatives_ must be those of representative_indices_")
        by_vectors = self.embedder is not None
        for name in ("embedder_", "centers_"):
            if (getattr(self, name) is not None) != by_vectors:
                raise ValueError(f"{name} must be None if and only if embedder is None")
        if (self.structures_ is None) != by_vectors:
            raise ValueError("structures_ must be None if and only if there is an embedder")


def _choose_representatives(
    labels: NDArray[np.int32], distances: NDArray[np.float64], noise: float
) -> NDArray[np.int64]:
    """Return the members nearest to each center, in order, a row for each cluster.

    Parameters
    ----------
    labels : ndarray of int32, shape (n,)
        Numbers of clusters, each of which occurs.
    distances : ndarray of float64, shape (n,)
        Squared distance to the center of its cluster.
    noise : float
        Size of rounding errors; members whose distances differ by less are in order of position.

    Returns
    -------
    ndarray of int64, shape (n_clusters, up to 12)
        Filled with -1.

    Examples
    --------
    >>> distances = np.array([1.0, 0.5, 1.0 - 1e-16, 0.5])
    >>> _choose_representatives(np.array([0, 1, 0, 0]), distances, 1e-12)
    array([[ 3,  0,  2],
           [ 1, -1, -1]])
    """
    scale = float(distances.max())
    digits = max(0, round(-math.log10(noise)) - 3)
    rounded = np.round(distances / scale, digits) if scale > 0 else np.zeros(len(distances))
    order = np.lexsort((np.arange(len(labels)), rounded, labels))
    sizes = np.bincount(labels)
    begins = np.cumsum(sizes) - sizes
    places = np.arange(len(labels)) - np.repeat(begins, sizes)
    nearest = np.full((len(sizes), min(MOST_REPRESENTATIVES, int(sizes.max()))), -1, dtype=np.int64)
    near = places < nearest.shape[1]
    nearest[labels[order][near], places[near]] = order[near]
    return nearest


def _check_representatives(indices: Any, labels: NDArray[np.int32]) -> None:
    """Raise ValueError unless these can be the representatives of the clusters."""
    sizes = np.bincount(labels)
    width = min(MOST_REPRESENTATIVES, int(sizes.max()))
    if indices.shape != (len(sizes), width):
        raise ValueError(f"representative_indices_ must be of shape {(len(sizes), width)}")
    there = np.arange(width) < sizes[:, None]
    if (indices[~there] != -1).any() or (indices[there] < 0).any():
        raise ValueError("representative_indices_ must be filled with members, then with -1")
    clusters = np.broadcast_to(np.arange(len(sizes))[:, None], indices.shape)
    if (labels[indices[there]] != clusters[there]).any():
        raise ValueError("representative_indices_ must be members of their clusters")
    if len(np.unique(indices[there])) < np.count_nonzero(there):
        raise ValueError("representative_indices_ must be different structures")
