"""Ranking of structures, learned from preferences between them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import LARGE, ArrayOf, ExampleBatch, Schema, Whole
from kernelwood.compute import check_budget, counting, resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    KERNEL,
    StructureEstimator,
    Structures,
    compare_rows,
    encode_groups,
    encode_labels,
    product,
)
from kernelwood.learners.base import EVALUATIONS
from kernelwood.learners.svm_machines import compute_gram

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
Times = Callable[[Floats], Floats]

_BYTES_A_PAIR = 64  # two numbers, and what a step computes
_SUFFICIENT = 1e-4  # decrease of the objective, as a fraction of that of its slope
_ACCURACY = 0.1  # of the solution of a step, relative to its right side


class KernelRanker(StructureEstimator):
    r"""Support vector machine that learns to rank from preferences.

    Structures of a group, such as the answers to a question, have grades. Each pair of a group
    with different grades is a preference. The ranker scores a structure :math:`x` by the training
    structures with a nonzero weight,

    .. math:: f(x) = \sum_i \beta_i\, k(x, s_i) ,

    and :math:`f` is the minimum of

    .. math:: \tfrac{1}{2} \lVert f \rVert^2 + C \sum_{a \succ b} \max(0, 1 - f(a) + f(b))^2 ,

    which is a support vector machine without intercept whose examples are the preferences, compared
    by ``PairKernel(kernel, mode="preference")``. Their Gram matrix is never computed: fitting takes
    :math:`n(n+1)/2` kernel evaluations and :math:`4 n^2` bytes for :math:`n` structures,
    independently of the number of preferences, and about 64 bytes for each preference.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite kernel of the structures that are ranked, preferably normalized.
        For answers to a question it can be a kernel of pairs (:class:`PairKernel`).
    C : float
        Cost of a preference that is missed, above 0.
    tol : float
        Tolerance of the stopping criterion, above 0: the norm of the gradient as a fraction of
        that at zero.
    max_iter : int
        Maximum number of Newton steps; a warning is issued when it is reached.
    n_jobs : int, optional
        Number of threads; no result depends on it.

    Attributes
    ----------
    supports_ : batch
        The training structures with a weight, in order.
    support_indices_ : ndarray of int64, shape (n_supports,)
        Their positions, ascending.
    coefficients_ : ndarray, shape (n_supports,)
        Their weights, :math:`\beta`; they sum to 0.
    n_preferences_ : int
        Number of pairs learned from.
    kernel_evaluations_ : int
        Number of kernel evaluations of ``fit``.

    See Also
    --------
    PairKernel : Kernels of pairs, with ``mode="preference"``.
    KernelSVC : Classifiers.

    Notes
    -----
    The objective is minimized by Newton's method on the preferences that are missed or nearly so,
    with conjugate gradients that multiply by the Gram matrix of the structures.

    References
    ----------
    R. Herbrich, T. Graepel, K. Obermayer: Large margin rank boundaries for ordinal regression.
    2000. O. Chapelle, S. Keerthi: Efficient algorithms for ranking with SVMs. Information
    Retrieval 13, 2010.

    Examples
    --------
    >>> import kernelwood as kw
    >>> answers = "she is six", "she is tall", "no", "it is two meters", "two meters", "he sat"
    >>> answers = [kw.Sequence(answer.split()) for answer in answers]
    >>> grades, asked = [2, 1, 0, 2, 1, 0], ["age"] * 3 + ["height"] * 3
    >>> ranker = kw.KernelRanker(kw.SubsequenceKernel(), C=10).fit(answers, grades, groups=asked)
    >>> ranker.n_preferences_, ranker.score(answers, grades, groups=asked)
    (6, 1.0)
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "supports_": Structures(),
        "support_indices_": ArrayOf("int64", "supports_", least=0, rising=True),
        "coefficients_": ArrayOf("float32 float64", "supports_", least=-LARGE, most=LARGE),
        "n_preferences_": Whole(),
        "kernel_evaluations_": EVALUATIONS,
    }

    def __init__(
        self,
        kernel: Any,
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> KernelRanker:
        """Train on structures and their grades.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of numbers, length n, optional
            The higher, the better. By default the labels of examples.
        groups : sequence, length n, optional
            The group of each structure; only structures of a group are compared. By default the
            groups of a batch of examples, else all structures are one group.
        """
        X = self._start(X)
        grades, numbers = self._read_grades(X, y), self._read_groups(X, groups)
        better, worse = preferences(grades, numbers)
        if len(better) == 0:
            raise KernelInputError(
                "KernelRanker: no group has structures with different grades; give at least one "
                "group with two grades"
            )
        with self._threads():
            with counting() as counters:
                gram = compute_gram(self.kernel_, X)
            problem = _Problem(gram, better, worse, float(self.C), resolve_jobs(self.n_jobs))
            weights, converged = problem.solve(float(self.tol), int(self.max_iter))
        self.kernel_evaluations_ = counters.kernel_evaluations
        self.n_preferences_ = len(better)
        self.support_indices_ = np.flatnonzero(weights)
        self.supports_ = self._keep(X[self.support_indices_])
        self.coefficients_ = weights[self.support_indices_].astype(self.kernel_._dtype(None))
        if not converged:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"KernelRanker stopped after max_iter={self.max_iter:,} steps; normalize the "
                "kernel, or choose a smaller C or a larger tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of structures, shape (n,); their order in a group is the ranking."""
        self._check_is_fitted()
        X = self._prepare(X)
        scores = np.empty(len(X))
        weights = self.coefficients_.astype(np.float64)[:, None]
        with self._threads():
            for some, similarities in compare_rows(self.kernel_, X, self.supports_):
                scores[some] = product(similarities, weights)[:, 0]
        return scores

    def predict(self, X: Any) -> Floats:
        """Return the scores of structures, those of :meth:`decision_function`."""
        return self.decision_function(X)

    def score(self, X: Any, y: Any = None, groups: Any = None) -> float:
        """Return the mean NDCG of the groups, 1 if all are ranked by their grades.

        The gain of a structure is its grade minus the lowest one in ``y``; equal scores share
        their ranks (``sklearn.metrics.ndcg_score``). Groups in which all grades are equal do not
        count. Parameters are those of :meth:`fit`.
        """
        from sklearn.metrics import ndcg_score

        self._check_is_fitted()
        X = self._prepare(X)
        grades, numbers = self._read_grades(X, y), self._read_groups(X, groups)
        gains, scores = grades - grades.min(), self.decision_function(X)
        values = []
        for number in range(int(numbers.max()) + 1):
            rows = numbers == number
            if np.ptp(gains[rows]) > 0:
                values.append(float(ndcg_score(gains[None, rows], scores[None, rows])))
        if not values:
            raise KernelInputError(
                "KernelRanker.score: no group has structures with different grades"
            )
        return float(np.mean(values))

    def _read_grades(self, X: Any, y: Any) -> Floats:
        classes, numbers = encode_labels("KernelRanker", X, y)
        if classes.dtype.kind not in "biuf" or not np.isfinite(classes.astype(float)).all():
            raise KernelInputError(
                "KernelRanker: grades must be finite numbers, the higher the better; got "
                f"{classes[0].item()!r}"
            )
        return np.asarray(classes.astype(np.float64)[numbers])

    def _read_groups(self, X: Any, groups: Any) -> NDArray[np.int64]:
        if groups is None and isinstance(X, ExampleBatch):
            groups = X.groups
        numbers = encode_groups("KernelRanker", X, groups)
        return np.zeros(len(X), np.int64) if numbers is None else numbers

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_number("C", 0, float("inf"), "(0, inf)")
        self._check_number("tol", 0, float("inf"), "(0, inf)")
        self._check_count("max_iter", 1)


def preferences(grades: Floats, groups: NDArray[np.int64]) -> tuple[Rows, Rows]:
    """Return the better and the worse structure of each pair of a group with different grades.

    Examples
    --------
    >>> better, worse = preferences(np.array([1.0, 2.0, 1.0, 5.0]), np.array([0, 0, 0, 1]))
    >>> better.tolist(), worse.tolist()
    ([1, 1], [0, 2])
    """
    members = np.split(
        np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1].tolist()
    )
    most = sum(len(rows) * (len(rows) - 1) // 2 for rows in members)
    check_budget(
        most * _BYTES_A_PAIR,
        f"{most:,} preferences",
        "Give smaller groups, or fewer structures of each.",
    )
    found: list[tuple[Rows, Rows]] = [(np.empty(0, np.int32), np.empty(0, np.int32))]
    for rows in members:
        of = grades[rows]
        better, worse = np.nonzero(of[:, None] > of)
        found.append((rows[better].astype(np.int32), rows[worse].astype(np.int32)))
    one, other = (np.concatenate(side) for side in zip(*found, strict=True))
    return one, other


def _dot(left: Floats, right: Floats) -> float:
    """Return an inner product, whose terms BLAS would add in an order that depends on threads."""
    return float(np.sum(left * right))


class _Problem(NamedTuple):
    """Preferences and the Gram matrix of the structures they compare.

    A function is given by weights of the structures. The inner product of two functions is that of
    their feature vectors: the weights of one times the scores of the other.
    """

    gram: NDArray[np.float32]
    better: Rows
    worse: Rows
    C: float
    n_jobs: int

    def solve(self, tol: float, max_iter: int) -> tuple[Floats, bool]:
        """Return the weights of the structures, and whether they are the optimum."""
        weights = np.zeros(len(self.gram))
        scores, limit, converged = weights.copy(), None, False
        for _ in range(max_iter + 1):
            slacks = 1.0 - self._differences(scores)
            missed = np.flatnonzero(slacks > 0)
            pull = 2.0 * self.C * self._spread(missed, slacks[missed])
            gradient = weights - pull
            turned = self._scores(gradient)
            size = _dot(gradient, turned)
            limit = tol**2 * size if limit is None else limit
            converged = size <= limit
            if converged:
                break
            step, moved = self._newton_step(gradient, turned, missed)
            length = self._line_search(weights, moved, step, slacks, _dot(gradient, moved))
            weights += length * step
            scores += length * moved
        return pull, converged  # at the optimum these are the weights, without rounded zeros

    def _scores(self, weights: Floats) -> Floats:
        return product(self.gram, weights[:, None], n_jobs=self.n_jobs)[:, 0]

    def _differences(self, scores: Floats) -> Floats:
        return np.asarray(scores[self.better] - scores[self.worse])

    def _spread(self, pairs: NDArray[np.int64], values: Floats) -> Floats:
        """Return the sums of values over the pairs that a structure wins, less those it loses."""
        n = len(self.gram)
        won = np.bincount(self.better[pairs], values, n)
        return np.asarray(won - np.bincount(self.worse[pairs], values, n))

    def _newton_step(
        self, gradient: Floats, turned: Floats, missed: NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Return the weights and scores of a Newton step, by conjugate gradients."""
        step, moved = np.zeros_like(gradient), np.zeros_like(gradient)
        rest, rest_scores = -gradient, -turned
        way, way_scores = rest.copy(), rest_scores.copy()
        size = first = _dot(rest, rest_scores)
        for _ in range(len(gradient)):
            bend = self._differences(way_scores)[missed]
            curved = way + 2.0 * self.C * self._spread(missed, bend)
            curvature = _dot(curved, way_scores)
            if curvature <= 0:  # rounding only
                break
            length = size / curvature
            step += length * way
            moved += length * way_scores
            rest -= length * curved
            rest_scores = self._scores(rest)
            before, size = size, _dot(rest, rest_scores)
            if size <= _ACCURACY**2 * first:
                break
            way = rest + size / before * way
            way_scores = rest_scores + size / before * way_scores
        return step, moved

    def _line_search(
        self, weights: Floats, moved: Floats, step: Floats, slacks: Floats, slope: float
    ) -> float:
        """Return the first of the lengths 1, 1/2, 1/4, ... that lowers the objective enough."""
        gains = self._differences(moved)
        along, across = _dot(weights, moved), _dot(step, moved)
        before = float((np.maximum(slacks, 0.0) ** 2).sum())
        length = 1.0
        for _ in range(60):
            after = float((np.maximum(slacks - length * gains, 0.0) ** 2).sum())
            change = length * along + length**2 * across / 2 + self.C * (after - before)
            if change <= _SUFFICIENT * length * slope:
                break
            length /= 2
        return length
