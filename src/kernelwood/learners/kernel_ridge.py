"""Regularized least squares over structures, and the matrix factor that grows with examples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import LARGE, ArrayOf, Maybe, Schema
from kernelwood.compute import check_budget, counting, one_blas_thread
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    KERNEL,
    Structures,
    available_if,
    compare_rows,
    encode_groups,
    not_fitted,
    product,
)
from kernelwood.kernels import TILE
from kernelwood.learners.base import (
    EVALUATIONS,
    TWO_CLASSES,
    Contributions,
    Evidence,
    StructureClassifier,
    Support,
    gives_probabilities,
    strongest,
)
from kernelwood.learners.kernel_svc import fit_sigmoid, probabilities
from kernelwood.parameters import check_int, is_number

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

_SIMILARITIES_AT_ONCE = 2**23  # 64 MB in double

_GROWTH = 1.5  # factor by which the space for rows grows


class GrowingFactor:
    r"""Cholesky factor :math:`L L^\top = K + \lambda I` of a Gram matrix that grows by rows.

    It solves kernel ridge regression for any targets, and gives leave-group-out predictions
    without solving it again. Appending :math:`m` structures to :math:`n` costs
    :math:`O(n^2 m + m^3)`, solving :math:`O(n^2)` for each target, and held-out predictions
    :math:`O(n^3 / 3)`. It takes :math:`8 n^2` bytes, up to 2.25 times as much after growing.

    Parameters
    ----------
    ridge : float
        Strength of the regularization, :math:`\lambda > 0`, added to self-similarities.

    Notes
    -----
    Growing by one row, by blocks or at once gives the same results up to rounding; the same calls
    give the same bits for any number of threads. An object must not be used by several threads at
    once.

    Examples
    --------
    >>> factor = GrowingFactor(ridge=1.0)
    >>> factor.append(np.array([[1.0]]))  # a structure similar to itself
    >>> factor.append(np.array([[0.5, 1.0]]))  # one with similarity 0.5 to the first
    >>> factor.solve(np.array([1.0, -1.0])).round(3)
    array([ 0.667, -0.667])
    >>> factor.held_out(np.array([1.0, -1.0]), ["a", "b"])
    array([-0.25,  0.25])
    """

    def __init__(self, ridge: float = 1.0) -> None:
        if not is_number(ridge) or not ridge > 0:
            raise KernelInputError(f"GrowingFactor: ridge must be a number above 0, got {ridge!r}")
        self.ridge = float(ridge)
        self._space = np.empty((0, 0))  # rows of L; what is above the diagonal is undefined
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        return f"<GrowingFactor: {self._n:,} structures, ridge {self.ridge:g}>"

    def append(self, similarities: Any, *, weights: Any = None) -> None:
        r"""Add structures.

        Parameters
        ----------
        similarities : ndarray, shape (m, n + m)
            Similarities of each new structure to the old ones, in their order, and to the new ones.
            Of the latter, only the lower triangle is read.
        weights : ndarray, shape (m,), optional
            Weights :math:`w` of the new structures in the sum of squared errors; their ridge is
            :math:`\lambda / w`. By default 1.

        Raises
        ------
        KernelInputError
            If the shape does not fit, or the matrix is not positive definite. The factor is then
            unchanged.
        """
        from scipy.linalg import lapack

        n, rows = self._n, np.asarray(similarities)
        m = len(rows) if rows.ndim == 2 else -1
        if m < 0 or rows.shape != (m, n + m):
            raise KernelInputError(
                f"GrowingFactor: similarities must be those of m new structures to the {n:,} old "
                f"and the m new ones, shape (m, {n:,} + m); got shape {rows.shape}"
            )
        if rows.dtype.kind not in "fiu" or not np.isfinite(rows).all():
            raise KernelInputError("GrowingFactor: similarities must be finite numbers")
        ridges = self.ridge / self._check_weights(weights, m)
        if m == 0:
            return
        # Rows of L in C order are columns of its transpose in Fortran order, as LAPACK reads them.
        corner = np.array(rows[:, n:], dtype=np.float64, order="C")
        corner[np.diag_indices(m)] += ridges
        with one_blas_thread():
            across = np.array(rows[:, :n].T, dtype=np.float64, order="F")
            if n:
                across, _ = lapack.dtrtrs(self._upper(), across, trans=1, overwrite_b=1)
                corner -= across.T @ across
            upper, failed = lapack.dpotrf(corner.T, lower=0, overwrite_a=1)
        if failed:
            raise KernelInputError(
                f"GrowingFactor: the similarities of the first {n + failed:,} structures, with "
                f"ridge {self.ridge:g}, are not positive definite; use a positive semidefinite "
                "kernel, or a larger ridge"
            )
        if n == 0:
            self._space = upper.T
        else:
            self._reserve(n + m)
            self._space[n : n + m, :n] = across.T
            self._space[n : n + m, n : n + m] = upper.T
        self._n = n + m

    def truncate(self, n: int) -> None:
        """Keep the first ``n`` structures only."""
        if not 0 <= n <= self._n:
            raise KernelInputError(
                f"GrowingFactor: cannot keep {n} structures, there are {self._n:,}"
            )
        self._n = int(n)

    def solve(self, targets: Any) -> Floats:
        r"""Return the weights of the structures, :math:`(K + \lambda I)^{-1} Y`.

        Parameters
        ----------
        targets : ndarray, shape (n,) or (n, k)

        Returns
        -------
        ndarray, of the shape of ``targets``
            The prediction for a structure :math:`x` is the sum of these weights times its
            similarities to the structures.
        """
        values = self._check_targets(targets)
        with one_blas_thread():
            return self._solved(values)

    def held_out(self, targets: Any, groups: Any) -> Floats:
        r"""Return predictions for each structure, learned from the other groups only.

        With :math:`G = K + \lambda I`, the errors on a group :math:`B` that is left out are
        :math:`((G^{-1})_{BB})^{-1} (G^{-1} Y)_B`, exactly as if the rest was solved on its own.

        Parameters
        ----------
        targets : ndarray, shape (n,) or (n, k)
        groups : sequence of length n
            The group of each structure, such as its document or fold.

        Returns
        -------
        ndarray, of the shape of ``targets``
            All predictions are 0 if there is only one group.
        """
        from scipy.linalg import lapack

        values = self._check_targets(targets)
        numbers = encode_groups("GrowingFactor", range(self._n), groups)
        if numbers is None:
            raise KernelInputError("GrowingFactor: give the group of each structure")
        if self._n == 0:
            return values.copy()
        errors = np.empty(values.shape)
        with one_blas_thread():
            solved = self._solved(values)
            inverse, _ = lapack.dtrtri(self._upper(), lower=0, overwrite_c=1)
            by_group = np.argsort(numbers, kind="stable")
            for rows in np.split(by_group, np.cumsum(np.bincount(numbers))[:-1]):
                part = inverse[rows, rows[0] :]  # zero before, since the inverse is triangular
                _, found, _ = lapack.dposv(part @ part.T, solved[rows].reshape(len(rows), -1))
                errors[rows] = found.reshape(solved[rows].shape)
        return values - errors

    def _solved(self, targets: Floats) -> Floats:
        from scipy.linalg import lapack

        if self._n == 0:
            return targets.copy()
        found, _ = lapack.dpotrs(self._upper(), targets.reshape(self._n, -1), lower=0)
        return np.ascontiguousarray(found).reshape(targets.shape)

    def _upper(self) -> Floats:
        """Return a copy of the transposed factor, in Fortran order."""
        return np.array(self._space[: self._n, : self._n], order="C").T

    def _reserve(self, n: int) -> None:
        """Make space for ``n`` rows."""
        if n <= len(self._space):
            return
        size = max(n, int(_GROWTH * len(self._space)))
        larger = np.zeros((size, size))  # zero above the diagonal, and never written there
        larger[: self._n, : self._n] = self._space[: self._n, : self._n]
        self._space = larger

    def _check_targets(self, targets: Any) -> Floats:
        values = np.asarray(targets, dtype=np.float64)
        if values.ndim not in (1, 2) or len(values) != self._n:
            raise KernelInputError(
                f"GrowingFactor: targets must have a row for each of the {self._n:,} structures, "
                f"got shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise KernelInputError("GrowingFactor: targets must be finite")
        return values

    def _check_weights(self, weights: Any, m: int) -> Floats:
        if weights is None:
            return np.ones(m)
        values = np.asarray(weights, dtype=np.float64)
        if values.shape != (m,) or not (np.isfinite(values) & (values > 0)).all():
            raise KernelInputError(
                f"GrowingFactor: weights must be {m:,} numbers above 0, one for each new structure"
            )
        return values


class KernelRidgeClassifier(StructureClassifier):
    r"""Regularized least squares on structures: one regression for each class, in closed form.

    The score of a class is a sum over all training structures :math:`s_i`,

    .. math:: f(x) = \sum_i \alpha_i\, k(x, s_i) , \qquad
        \alpha = (K + \lambda W^{-1})^{-1} y ,

    with the Gram matrix :math:`K`, targets :math:`y` of 1 for the class and -1 for the others, and
    weights :math:`W` of the structures. It minimizes
    :math:`\sum_i w_i (y_i - f(s_i))^2 + \lambda \lVert f \rVert^2`.

    Fitting costs :math:`n(n+1)/2` kernel evaluations, one factorization of :math:`n^3/3`
    multiplications, which all classes share, and :math:`n^2` multiplications for each class. It
    takes :math:`12 n^2` bytes, and :math:`16 n^2` with held-out scores. All training structures
    are kept.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite kernel, preferably normalized.
    ridge : float
        Strength of the regularization, :math:`\lambda > 0`. Small values fit the training set
        more closely.
    class_weight : None, "balanced" or dict from label to weight
        Weights of the structures of a class. "balanced": inversely proportional to class
        frequencies.
    probability : bool
        Whether to calibrate probabilities for :meth:`predict_proba`, by the leave-one-out scores
        of the training structures. This doubles the time of the factorization.
    n_jobs : int, optional
        Number of threads that compute similarities; no result depends on it.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    structures_ : batch
        The training structures.
    labels_ : ndarray of int32, shape (n,)
        Their class numbers.
    coefficients_ : ndarray, shape (n_classes, n) or (1, n) for two classes
        Weights of the training structures, :math:`\alpha`.
    sigmoids_ : ndarray, shape (n_classes, 2) or (1, 2) for two classes; or None
        Slope and offset that convert a score of :meth:`decision_function` to a probability.
    kernel_evaluations_ : int
        Number of kernel evaluations of ``fit``.

    See Also
    --------
    KernelSVC : Keeps support structures only, and fits more structures.
    GrowingFactor : The factor, for training sets that grow.

    Notes
    -----
    Fitting is neither iterative nor random. The regression has no intercept; adding one changes the
    F1 of five folds of AIMed, BioInfer and SemEval-2010 by less than 0.002. Held-out scores are
    exact, by the inverse of the factorized matrix [1]_ [2]_, at the cost of a second factorization
    for any number of folds.

    References
    ----------
    .. [1] \R. Rifkin, R. Lippert, "Notes on regularized least squares", MIT CSAIL TR-2007-025.
    .. [2] \T. Pahikkala, J. Boberg, T. Salakoski, "Fast n-fold cross-validation for regularized
       least-squares", SCAI 2006.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> questions = load_questions()
    >>> trees, labels = [q.view("tree") for q in questions], [q.label for q in questions]
    >>> model = kw.KernelRidgeClassifier(kw.SubsetTreeKernel()).fit(trees[:90], labels[:90])
    >>> model.predict(trees[90:93]).tolist(), labels[90:93]
    (['DESC', 'ENTY', 'ABBR'], ['DESC', 'ENTY', 'ABBR'])
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "classes_": TWO_CLASSES,
        "structures_": Structures(),
        "labels_": ArrayOf("int32", "structures_", least=0, below="classes_"),
        "coefficients_": ArrayOf(
            "float32 float64", "columns", "structures_", least=-LARGE, most=LARGE
        ),
        "sigmoids_": Maybe(ArrayOf("float64", "columns", 2, least=-LARGE, most=LARGE)),
        "kernel_evaluations_": EVALUATIONS,
    }

    def __init__(
        self,
        kernel: Any,
        *,
        ridge: float = 0.2,
        class_weight: Any = None,
        probability: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.ridge = ridge
        self.class_weight = class_weight
        self.probability = probability
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelRidgeClassifier:
        """Train on structures and their labels.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of labels, length n, optional
            By default the labels of examples.
        """
        self._fit(X, y, None)
        return self

    def fit_held_out(self, X: Any, y: Any = None, folds: Any = None) -> Floats:
        """Fit, and return cross-validation scores of the training structures.

        They come from the same factor, without further kernel evaluations.

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
            Scores as of :meth:`decision_function`, of regressions on the other folds. A class that
            the other folds do not have gets the score -1. With ``class_weight="balanced"``, the
            class frequencies are those of all folds.
        """
        scores = self._fit(X, y, folds, held_out=True)
        assert scores is not None
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _fit(self, X: Any, y: Any, folds: Any, *, held_out: bool = False) -> Floats | None:
        X = self._start(X)
        numbers = self._encode_labels(X, y)
        self._check_classes()
        checked = self._check_folds(folds, numbers) if held_out else None
        weights = self._weigh_classes(numbers)[numbers]
        targets = class_targets(numbers, len(self.classes_))
        factor = self._factorize(X, weights, inverse=held_out or self.probability)
        coefficients = factor.solve(targets)
        scores = None if checked is None else factor.held_out(targets, checked)
        if scores is not None and checked is not None:
            set_absent(scores, targets, checked)
        self.sigmoids_: Floats | None = None
        if self.probability:
            alone = factor.held_out(targets, np.arange(len(X)))
            columns = zip(alone.T, targets.T > 0, strict=True)
            self.sigmoids_ = np.array([fit_sigmoid(*column) for column in columns])
        self.structures_ = self._keep(X)
        self.labels_ = numbers
        # More digits than similarities have would only make files larger.
        self.coefficients_ = np.ascontiguousarray(coefficients.T, self.kernel_._dtype(None))
        return scores

    def _factorize(self, X: Any, weights: Floats, *, inverse: bool) -> GrowingFactor:
        n = len(X)
        check_budget(
            (16 if inverse else 12) * n**2,
            f"KernelRidgeClassifier: the Gram matrix of {n:,} structures and its factor",
            "Fit on fewer structures, or use KernelSVC, with n_landmarks for very many structures.",
        )
        with self._threads(), counting() as counters:
            gram = self.kernel_.gram(X)
        self.kernel_evaluations_ = counters.kernel_evaluations
        factor = GrowingFactor(float(self.ridge))
        factor.append(gram, weights=weights)
        return factor

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels of structures, shape (n,)."""
        scores = self._scores(X)
        return self.classes_[_decide(scores)]

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the classes.

        Returns
        -------
        ndarray, shape (n, n_classes) or (n,)
            For two classes one score, positive for the second class. Scores near 1 are like those
            of members, scores near -1 like those of other structures.
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(gives_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, shape (n, n_classes), in the order of ``classes_``."""
        self._check_is_fitted()
        if self.sigmoids_ is None:
            raise not_fitted(
                f"this {type(self).__name__} was fitted without probability=True; fit it again"
            )
        return probabilities(self._scores(X), self.sigmoids_)

    def evidence(self, x: Any, k: int = 5, *, label: Any = None) -> Evidence:
        """Return the training structures with the largest contributions to a score.

        Parameters
        ----------
        x : structure
        k : int
            Maximum number of supporting and of opposing structures.
        label : label, optional
            The class to explain, by default the predicted one.
        """
        self._check_is_fitted()
        check_int("KernelRidgeClassifier.evidence: k", k, 1)
        with self._threads():
            similarities = self.kernel_.cross(self._prepare_one(x), self.structures_)
        weights = self.coefficients_.astype(np.float64)
        number = int(_decide(product(similarities, weights.T))[0])
        if label is not None:
            number = self._class_number("label", label)
        signs = np.zeros((1, len(self.classes_)))
        signs[0, number] = 1.0
        contributions = product(_sides(signs), weights)[0] * similarities[0]
        supporting, opposing = (
            tuple(
                Support(
                    self.structures_[i],
                    self.classes_[self.labels_[i]].item(),
                    int(self._indices()[i]),
                    float(similarities[0, i]),
                    float(contributions[i]),
                )
                for i in some
            )
            for some in strongest(contributions, k)
        )
        score = float(contributions.sum())
        return Evidence(self.classes_[number].item(), score, 0.0, supporting, opposing)

    def contributions(
        self, X: Any, label: Any, *, against: Any = None, training: Any = None
    ) -> Contributions:
        """Return the contribution of each training structure to scores.

        The score is that of the class, minus that of ``against``; with two classes that of
        :meth:`decision_function`, or its negative.

        Parameters
        ----------
        X : list of structures or batch, length n
        label : label, or list of labels of length n
            The class to explain.
        against : label, optional
            The class it is compared with. Without it, the score is that of :meth:`evidence`.
        training : None
            Not used; the training structures are stored.
        """
        self._check_is_fitted()
        X = self._prepare(X)
        sides = _sides(self._signs(len(X), label, against))
        values = product(sides, self.coefficients_.astype(np.float64))
        with self._threads():
            for some, similarities in compare_rows(self.kernel_, X, self.structures_):
                values[some] *= similarities
        return Contributions(self._indices(), values, np.zeros(len(X)))

    def _indices(self) -> NDArray[np.int64]:
        """Return the positions of the stored structures among the training structures."""
        return np.arange(len(self.structures_), dtype=np.int64)

    def _scores(self, X: Any) -> Floats:
        """Return the scores of all regressions, shape (n, n_regressions)."""
        self._check_is_fitted()
        X = self._prepare(X)
        scores = np.empty((len(X), len(self.coefficients_)))
        weights = np.ascontiguousarray(self.coefficients_.T, dtype=np.float64)
        n_rows = max(1, min(TILE, _SIMILARITIES_AT_ONCE // len(self.structures_)))
        with self._threads():
            rows = compare_rows(self.kernel_, X, self.structures_, n_rows=n_rows)
            for some, similarities in rows:
                scores[some] = product(similarities, weights)
        return scores

    # Checks.

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_number("ridge", 0, float("inf"), "(0, inf)")
        self._check_choice("probability", (False, True))

    def _check_classes(self) -> None:
        labels = self.classes_.tolist()
        if len(labels) == 1:
            raise KernelInputError(
                f"{type(self).__name__}: every structure has the label {labels[0]!r}; give at "
                "least two classes"
            )

    def _check_restored(self) -> None:
        super()._check_restored()
        if len(self.structures_) == 0:
            raise ValueError("there must be structures")
        n_classes = len(self.classes_)
        if len(self.coefficients_) != (1 if n_classes == 2 else n_classes):
            raise ValueError("coefficients_ must be those of one regression for each class")
        if self.coefficients_.dtype != self.kernel_._dtype(None):
            raise ValueError("coefficients_ must be of the type of the kernel")
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Raise ValueError unless all classes occur in the loaded ``labels_``."""
        if len(np.unique(self.labels_)) < len(self.classes_):
            raise ValueError("labels_ must be the numbers of all classes")

    def _n_training(self) -> int:
        return int(self._indices()[-1]) + 1


def class_targets(numbers: Numbers, n_classes: int) -> Floats:
    """Return the targets of regressions, one for two classes.

    Examples
    --------
    >>> class_targets(np.array([0, 1, 2], dtype=np.int32), 3).tolist()
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    wanted = np.arange(1 if n_classes == 2 else 0, n_classes)
    return np.where(numbers[:, None] == wanted, 1.0, -1.0)


def set_absent(scores: Floats, targets: Floats, folds: NDArray[np.int64]) -> None:
    """Give scores that were learned from one target only that target."""
    for fold in np.unique(folds):
        test = folds == fold
        kept = targets[~test]
        same = (kept == kept[0]).all(axis=0)
        scores[np.ix_(test, same)] = kept[0, same]


def _decide(scores: Floats) -> NDArray[np.int64]:
    """Return the predicted class numbers: those of the best scores, the first of equal ones."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return np.asarray(scores.argmax(axis=1))


def _sides(signs: Floats) -> Floats:
    """Return the weight of each regression in scores that add classes with these signs.

    Examples
    --------
    >>> _sides(np.array([[1.0, 0.0], [-1.0, 1.0]])).tolist()
    [[-1.0], [1.0]]
    """
    if signs.shape[1] > 2:
        return signs
    return np.sign(signs[:, 1:] - signs[:, :1])
