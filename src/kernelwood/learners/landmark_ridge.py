"""Regularized least squares on landmarks, from one pass over any number of structures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ArrayOf, Schema
from kernelwood.compute import check_budget, counting, one_blas_thread
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    SEED,
    SELECTIONS,
    compare_rows,
    decompose,
    encode_labels,
    product,
)
from kernelwood.kernels import TILE
from kernelwood.learners.base import StreamLabels, checked_batches
from kernelwood.learners.kernel_ridge import KernelRidgeClassifier, class_targets, set_absent
from kernelwood.learners.kernel_svc import fit_sigmoid
from kernelwood.learners.normal_equations import NormalEquations

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

# Eigenvalues of the landmarks up to this multiple of the largest are dropped. Rounding errors of
# sums over 10^6 rows, divided by smaller ones, could exceed the ridge.
_CUT = 1e-6
_CALIBRATION = 10_000  # structures that probabilities are calibrated on


class LandmarkRidgeClassifier(KernelRidgeClassifier):
    r"""Regularized least squares on landmarks, for more structures than fit into memory.

    The score of a class is a sum over a few landmarks :math:`s_j`, chosen from the training
    structures,

    .. math:: f(x) = \sum_j \beta_j\, k(x, s_j) , \qquad
        \beta = (C^\top W C + \lambda K)^{-1} C^\top W y ,

    with the similarities :math:`C` of all structures to the landmarks, :math:`K` among the
    landmarks, targets :math:`y` of 1 for the class and -1 for the others, and weights :math:`W` of
    the structures. This is :class:`KernelRidgeClassifier` with the kernel of the Nyström method.

    :math:`C^\top W C` and :math:`C^\top W y` are sums over structures. :meth:`fit_batches` adds
    them batch by batch and keeps neither structures nor similarities: fitting takes :math:`n m`
    kernel evaluations for :math:`m` landmarks, :math:`n m^2` multiplications, and :math:`8 m^2`
    bytes for any number of structures.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite kernel, preferably normalized.
    n_landmarks : int
        Number of landmarks. With fewer structures, all are landmarks.
    selection : {"balanced", "uniform", "kmeans++", "stratified", "leverage"}
        Landmark selection; see :class:`NystromEmbedder`.
    ridge : float
        Strength of the regularization, :math:`\lambda > 0`.
    class_weight : None, "balanced" or dict from label to weight
        Weights of the structures of a class. "balanced": inversely proportional to class
        frequencies; takes :math:`8 m^2` bytes for each class.
    probability : bool
        Whether to calibrate probabilities for :meth:`predict_proba`, by the exact leave-one-out
        scores of up to 10,000 random structures.
    random_state : None, int, Generator or RandomState
        Seed of the landmarks and of the structures for calibration.
    n_jobs : int, optional
        Number of threads that compute similarities; no result depends on it.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    structures_ : batch
        The landmarks.
    landmark_indices_ : ndarray of int64, shape (m,)
        Their positions in the training structures, ascending.
    labels_ : ndarray of int32, shape (m,)
        Their class numbers.
    coefficients_ : ndarray, shape (n_classes, m) or (1, m) for two classes
        Weights of the landmarks, :math:`\beta`.
    sigmoids_ : ndarray, shape (n_classes, 2) or (1, 2) for two classes; or None
        Slope and offset that convert a score of :meth:`decision_function` to a probability.
    kernel_evaluations_ : int
        Number of kernel evaluations of ``fit``.
    seed_ : int
        The seed that was used.

    See Also
    --------
    KernelSVC : With ``n_landmarks``, a support vector machine on landmarks, for structures and
        similarities that fit into memory or a temporary file.
    HashForestClassifier : Its ``fit_batches`` keeps hashcodes only.

    Notes
    -----
    Structures are added in blocks of 1,024 in the order of the stream, so that the same structures
    give the same bits however they are divided into batches, as long as the first batch is the
    same. Directions in which the landmarks hardly differ (eigenvalues up to 1e-6 of the largest)
    are left out. Held-out scores are those of regressions on the landmarks in the other folds.

    References
    ----------
    A. Rudi, R. Camoriano, L. Rosasco: Less is more: Nyström computational regularization. NIPS
    2015.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> questions = load_questions()
    >>> trees, labels = [q.view("tree") for q in questions], [q.label for q in questions]
    >>> batches = [(trees[:60], labels[:60]), (trees[60:90], labels[60:90])]
    >>> model = kw.LandmarkRidgeClassifier(kw.SubsetTreeKernel(), n_landmarks=50, random_state=0)
    >>> model.fit_batches(batches).predict(trees[90:93]).tolist(), labels[90:93]
    (['DESC', 'ENTY', 'ABBR'], ['DESC', 'ENTY', 'ABBR'])
    """

    _fitted: ClassVar[Schema] = {
        **KernelRidgeClassifier._fitted,
        "seed_": SEED,
        "landmark_indices_": ArrayOf("int64", "structures_", least=0, rising=True),
    }

    landmark_indices_: NDArray[np.int64]

    def __init__(
        self,
        kernel: Any,
        *,
        n_landmarks: int = 1000,
        selection: str = "balanced",
        ridge: float = 0.2,
        class_weight: Any = None,
        probability: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            kernel, ridge=ridge, class_weight=class_weight, probability=probability, n_jobs=n_jobs
        )
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> LandmarkRidgeClassifier:
        """Train on structures and their labels.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of labels, length n, optional
            By default the labels of examples.
        """
        return self.fit_batches([(X, y)])

    def fit_batches(self, batches: Iterable[tuple[Any, Any]]) -> LandmarkRidgeClassifier:
        """Train on a stream of batches of structures, with one batch at a time in memory.

        Parameters
        ----------
        batches : iterable of (X, y)
            Structures and their labels; ``y`` can be None for examples with labels. The landmarks
            are chosen from the first batch, which should be a random sample of several times
            ``n_landmarks`` structures.
        """
        self._fit_stream(batches)
        return self

    def fit_held_out(self, X: Any, y: Any = None, folds: Any = None) -> Floats:
        """Fit, and return cross-validation scores of the training structures.

        Similarities to the landmarks are computed twice, and not stored.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of labels, length n, optional
            By default the labels of examples.
        folds : sequence of int, length n
            The fold of each structure, from 0; for example one for each group of documents.

        Returns
        -------
        ndarray, shape (n, n_classes) or (n,)
            Scores as of :meth:`decision_function`, of regressions on the structures and landmarks
            in the other folds. A class that the other folds do not have gets the score -1. With
            ``class_weight="balanced"``, the class frequencies are those of all folds.
        """
        X = self._start(X)
        numbers = encode_labels(type(self).__name__, X, y)[1]
        fold_of = self._check_folds(folds, numbers)
        gram, sums = self._fit_stream([(X, y)], fold_of)
        targets = class_targets(numbers, len(self.classes_))
        scores = np.empty(targets.shape)
        regressions = {}
        for fold in np.unique(fold_of).tolist():
            outside = np.flatnonzero(fold_of[self.landmark_indices_] != fold)
            regressions[fold] = self._solve(gram, sums, outside, without=fold)[0]
        with self._threads():
            for some, similarities in compare_rows(self.kernel_, X, self.structures_):
                for fold, weights in regressions.items():
                    here = np.flatnonzero(fold_of[some] == fold)
                    scores[some.start + here] = product(similarities[here], weights)
        self.kernel_evaluations_ += len(X) * len(self.structures_)
        set_absent(scores, targets, fold_of)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _fit_stream(
        self, batches: Iterable[tuple[Any, Any]], folds: NDArray[np.int64] | None = None
    ) -> tuple[Floats, NormalEquations]:
        """Fit; return the similarities among landmarks, and the sums."""
        owner = type(self).__name__
        seen = StreamLabels(owner)
        sums: NormalEquations | None = None
        with self._threads(), counting() as counters:
            for X, y in checked_batches(owner, batches):
                batch = self._start(X) if sums is None else self._prepare(X)
                numbers = seen.encode(batch, y)
                if sums is None:
                    gram, sums = self._choose_landmarks(batch, encode_labels(owner, batch, y)[1])
                    landmark_numbers = numbers[self.landmark_indices_]
                for some, rows in compare_rows(self.kernel_, batch, self.structures_):
                    sums.add(rows, numbers[some], None if folds is None else folds[some])
        if sums is None:
            raise KernelInputError(f"{owner}: give at least one structure")
        self.kernel_evaluations_ = counters.kernel_evaluations
        self.classes_, order = seen.classes()
        self._check_classes()
        sums.renumber(order)
        self.labels_ = order[landmark_numbers]
        weights, spread = self._solve(gram, sums, np.arange(len(gram)))
        self.coefficients_ = np.ascontiguousarray(weights.T, self.kernel_._dtype(None))
        self.sigmoids_ = self._calibrate(sums, weights, spread) if self.probability else None
        return gram, sums

    def _choose_landmarks(self, batch: Any, numbers: Numbers) -> tuple[Floats, NormalEquations]:
        n = min(int(self.n_landmarks), len(batch))
        by_class = self.class_weight is not None
        n_matrices = 4 + (len(np.unique(numbers)) if by_class else 1)
        n_sampled = _CALIBRATION if self.probability else 0
        check_budget(
            8 * n_matrices * n**2 + 8 * n_sampled * n,
            f"LandmarkRidgeClassifier: the normal equations of {n:,} landmarks",
            "Choose fewer landmarks.",
        )
        choose = SELECTIONS[self.selection]
        self.landmark_indices_ = np.sort(choose(self.kernel_, batch, numbers, n, self.seed_))
        self.structures_ = self._keep(batch[self.landmark_indices_])
        gram: Floats = self.kernel_.gram(self.structures_, dtype="float64").astype(np.float64)
        sums = NormalEquations(
            len(gram),
            by_class=by_class,
            dtype=self.kernel_._dtype(None),
            n_sampled=n_sampled,
            seed=self.seed_,
        )
        return gram, sums

    def _class_values(self, sums: NormalEquations) -> tuple[Floats, Floats]:
        """Return the weights and the targets of classes."""
        n = len(self.classes_)
        return self._weigh_counts(sums.counts(n)), class_targets(np.arange(n, dtype=np.int32), n)

    def _solve(
        self,
        gram: Floats,
        sums: NormalEquations,
        columns: NDArray[np.int64],
        without: int | None = None,
    ) -> tuple[Floats, Floats]:
        r"""Return the weights of landmarks, and a matrix :math:`B` for leave-one-out scores.

        In the coordinates :math:`\phi = c P` of the Nyström method, in which the kernel is a scalar
        product, the normal equations are :math:`(P^\top M P + \lambda I)\, \theta = P^\top r`, and
        :math:`\beta = P \theta`. With the factor :math:`L L^\top` of this matrix,
        :math:`B = P L^{-\top}`.

        Parameters
        ----------
        gram : ndarray, shape (m, m)
        sums : NormalEquations
        columns : ndarray of int64
            Landmarks in use; the weights of the others are 0.
        without : int, optional
            A fold to leave out.
        """
        from scipy.linalg import cholesky, solve_triangular

        products, right = sums.total(*self._class_values(sums), without=without)
        weights = np.zeros(right.shape)
        if len(columns) == 0:
            return weights, np.zeros((len(gram), 0))
        used = np.ix_(columns, columns)
        basis = decompose(type(self).__name__, self.kernel_, gram[used], cut=_CUT)[1]
        with one_blas_thread():
            inner = basis.T @ products[used] @ basis
            inner[np.diag_indices(len(inner))] += float(self.ridge)
            factor = cholesky((inner + inner.T) / 2, lower=True, check_finite=False)
            spread = np.zeros((len(gram), len(inner)))
            spread[columns] = solve_triangular(factor, basis.T, lower=True, check_finite=False).T
            weights[columns] = spread[columns] @ (spread[columns].T @ right[columns])
        return weights, spread

    def _calibrate(self, sums: NormalEquations, weights: Floats, spread: Floats) -> Floats:
        r"""Return sigmoids of the leave-one-out scores of a sample.

        A structure with the score :math:`f`, the target :math:`y`, the weight :math:`w` and the
        leverage :math:`h = |c B|^2` has the score :math:`(f - w h y) / (1 - w h)` without it.
        """
        rows, numbers, positions = sums.sample()
        others = ~np.isin(positions, self.landmark_indices_)
        if len(np.unique(numbers[others])) == len(self.classes_):
            rows, numbers = rows[others], numbers[others]  # landmarks are represented too well
        class_weights, class_values = self._class_values(sums)
        targets = class_values[numbers]
        share = np.empty(len(rows))
        for begin in range(0, len(rows), TILE):
            some = slice(begin, begin + TILE)
            share[some] = (product(rows[some], spread) ** 2).sum(axis=1)
        share = (class_weights[numbers] * share)[:, None]
        scores = (product(rows, weights) - share * targets) / (1 - share)
        columns = zip(scores.T, targets.T > 0, strict=True)
        return np.array([fit_sigmoid(*column) for column in columns])

    def _indices(self) -> NDArray[np.int64]:
        return self.landmark_indices_

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_landmarks", 1)
        self._check_choice("selection", tuple(SELECTIONS))

    def _check_numbers(self) -> None:
        """Landmarks need not be of all classes."""
