"""Support vector machines whose weights are on landmarks, trained on similarities to these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import Runner, StopFlag, allocate_matrix, check_budget, one_blas_thread
from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel
from kernelwood.learners.svm_machines import Machines, Trainer, pairs_of_classes

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]
Rows = NDArray[np.int64]

# Added to self-similarities of landmarks, relative to their mean: equal landmarks have no inverse.
_RIDGE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-10}
_BLOCK = 2**22  # similarities multiplied at once: 16 MB in single precision
_ACTIVE = 0.25  # assumed fraction of structures with an error: for the metric, not the minimum
_SAMPLED = 4  # structures for each landmark, at least, that the metric is made of
_MEMORY = 20  # steps that the approximate curvature is made of
_MAX_STEPS, _TOO_MANY_STEPS = 2**31 - 1, 1  # the latter as of scipy's L-BFGS-B


def compare_landmarks(kernel: Kernel, X: Any, landmarks: Rows) -> NDArray[Any]:
    """Return similarities to landmarks, beyond the memory budget in a temporary file.

    Parameters
    ----------
    kernel : Kernel
    X : batch, length n
    landmarks : ndarray of int64, shape (m,)
        Positions in ``X``.

    Returns
    -------
    ndarray, shape (n, m)
        In the number type of the kernel.
    """
    n, m = len(X), len(landmarks)
    check_budget(
        2 * 8 * m * m,
        f"KernelSVC: the Gram matrix of {m:,} landmarks, with copies,",
        "Choose fewer landmarks.",
    )
    similarities = allocate_matrix(
        (n, m),
        kernel._dtype(None),
        f"KernelSVC: the similarities of {n:,} structures to {m:,} landmarks",
        "Choose fewer landmarks, or fit on fewer structures.",
    )
    kernel.cross(X, X[landmarks], out=similarities)
    return similarities


@dataclass(frozen=True)
class LandmarkTrainer(Trainer):
    r"""Trains machines on similarities to landmarks, instead of a Gram matrix.

    With the similarities :math:`c_i` of structures to landmarks, and :math:`W` among the landmarks,
    a machine minimizes

    .. math::

        \tfrac12 \beta^\top W \beta
        + \sum_i C_i \max(0, 1 - t_i (\beta^\top c_i + b))^2 .

    This is the machine on the Nyström vectors :math:`W^{-1/2} c_i`, which are never computed. The
    machines of a part use the landmarks in this part only, so that held-out structures are not
    represented better than new ones.

    Parameters
    ----------
    landmarks : ndarray of int64, shape (m,)
        Rows of the landmarks, ascending; columns of the matrix are in the same order.
    """

    landmarks: Rows

    def train_parts(
        self, gram: NDArray[Any], numbers: Numbers, parts: Sequence[Rows]
    ) -> list[Machines]:
        """Return the machines for each of some parts; ``supports`` are columns of the matrix.

        Parameters
        ----------
        gram : ndarray, shape (n, m)
            Similarities to the landmarks.
        numbers, parts
            As of :meth:`Trainer.train_parts`.
        """
        with one_blas_thread():
            moments = _moments(gram)
            _check_definite(_with_ridge(gram[self.landmarks]))
            return [self._train_part(gram, moments, numbers, rows) for rows in parts]

    def _train_part(
        self, similarities: NDArray[Any], moments: Floats, numbers: Numbers, rows: Rows
    ) -> Machines:
        from scipy.linalg import LinAlgError, cholesky

        pairs = pairs_of_classes(self.strategy, len(self.weights))
        targets = np.ones((len(numbers), len(pairs)), dtype=np.int8)
        bounds = np.zeros(targets.shape)  # 0 for structures that are not in the training set
        constants = np.zeros(len(pairs))
        for column, (i, j) in enumerate(pairs.tolist()):
            problem = self._problem(numbers, rows, i, j)
            if isinstance(problem, float):
                constants[column] = problem
                continue
            targets[problem.rows, column] = problem.sign * problem.targets
            bounds[problem.rows, column] = problem.bounds
        columns = np.flatnonzero(np.isin(self.landmarks, rows))
        gram = _with_ridge(similarities[np.ix_(self.landmarks[columns], columns)])
        used = np.append(columns, len(self.landmarks))
        metric = 2.0 * _ACTIVE * self.C * moments[np.ix_(used, used)]
        metric[:-1, :-1] += gram
        try:
            factor = cholesky(metric, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise _indefinite() from None
        objective = _Objective(similarities, columns, gram, factor, targets, bounds, self.n_jobs)
        coefficients, intercepts, converged = objective.minimize(self.tol, self.max_iter)
        intercepts = np.where(constants, constants, intercepts)
        return Machines(pairs, columns, coefficients, intercepts, 0 if converged else len(pairs))


@dataclass(frozen=True)
class _Objective:
    r"""The loss of all machines of a part.

    It is a function of :math:`L^\top (\beta, b)` with a metric :math:`L L^\top` that is close to
    the second derivatives, so that few steps are needed.

    Attributes
    ----------
    similarities : ndarray, shape (n, m)
    columns : ndarray of int64, shape (k,)
        The landmarks in use.
    gram : ndarray, shape (k, k)
        Their similarities.
    factor : ndarray, shape (k + 1, k + 1)
        :math:`L`, lower triangular.
    targets, bounds : ndarray, shape (n, n_machines)
    n_jobs : int
    """

    similarities: NDArray[Any]
    columns: Rows
    gram: Floats
    factor: Floats
    targets: NDArray[np.int8]
    bounds: Floats
    n_jobs: int

    def minimize(self, tol: float, max_iter: int) -> tuple[Floats, Floats, bool]:
        """Return coefficients, shape (n_machines, k), intercepts, and whether this is the minimum.

        The largest derivative is then at most ``tol`` times that at zero, or further steps would be
        smaller than rounding errors.
        """
        from scipy.optimize import minimize

        start = np.zeros(len(self.factor) * self.targets.shape[1])
        steepest = float(np.abs(self(start)[1]).max())
        found = minimize(
            self,
            start,
            jac=True,
            method="L-BFGS-B",
            options={
                "maxcor": _MEMORY,
                "maxiter": min(max_iter, _MAX_STEPS),
                "maxfun": _MAX_STEPS,
                "ftol": 0.0,
                "gtol": tol * steepest,
            },
        )
        weights = self._weights(found.x)
        return weights[:-1].T, weights[-1], found.status != _TOO_MANY_STEPS

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        from scipy.linalg import solve_triangular

        weights = self._weights(point)
        (n, m), number = self.similarities.shape, self.similarities.dtype
        spread = np.zeros((m, weights.shape[1]), dtype=number)
        spread[self.columns] = weights[:-1]
        step = max(1, _BLOCK // m)

        def block(begin: int, stop: StopFlag) -> tuple[float, NDArray[Any], Floats]:
            some = slice(begin, min(begin + step, n))
            rows = self.similarities[some]
            targets, bounds = self.targets[some], self.bounds[some]
            short = np.maximum(0.0, 1.0 - targets * (rows @ spread + weights[-1]))
            slopes = -2.0 * bounds * targets * short
            loss = float((bounds * short * short).sum())
            return loss, rows.T @ slopes.astype(number), slopes.sum(axis=0)

        cost = 4 * n * m * weights.shape[1]
        done = Runner(self.n_jobs, 0).quiet().map(block, list(range(0, n, step)), cost=cost)
        bent = self.gram @ weights[:-1]
        loss, gradient = 0.5 * float((weights[:-1] * bent).sum()), np.zeros((m, weights.shape[1]))
        for part in done:  # in order, whatever the threads
            loss += part[0]
            gradient += part[1]
        slopes = np.vstack([gradient[self.columns] + bent, sum(part[2] for part in done)])
        return loss, solve_triangular(self.factor, slopes, lower=True, check_finite=False).ravel()

    def _weights(self, point: Floats) -> Floats:
        """Return the weights of landmarks, and intercepts as the last row."""
        from scipy.linalg import solve_triangular

        square = point.reshape(len(self.factor), -1)
        found: Floats = solve_triangular(
            self.factor, square, lower=True, trans="T", check_finite=False
        )
        return found


def _with_ridge(gram: NDArray[Any]) -> Floats:
    """Return similarities among landmarks with a small ridge."""
    matrix = gram.astype(np.float64)
    if len(matrix):
        matrix[np.diag_indices(len(matrix))] += _RIDGE[gram.dtype] * matrix.diagonal().mean()
    return matrix


def _check_definite(matrix: Floats) -> None:
    """Raise KernelInputError if similarities among landmarks are not positive definite.

    If they are, so are those of each part of the landmarks.
    """
    from scipy.linalg import LinAlgError, cholesky

    try:
        cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise _indefinite() from None


def _indefinite() -> KernelInputError:
    return KernelInputError(
        "KernelSVC: the similarities of the landmarks are not positive definite, so no vectors "
        "can have them; use exact matching, or a similarity whose positive_semidefinite is "
        "True, or n_landmarks=None"
    )


def _moments(similarities: NDArray[Any]) -> Floats:
    """Return sums of products of similarities, and of 1 as a last column, over structures.

    Of many structures, some at equal distances stand for all.
    """
    n, m = similarities.shape
    chosen = similarities[:: max(1, n // (_SAMPLED * m))]
    moments = np.zeros((m + 1, m + 1))
    step = max(1, _BLOCK // m)
    for begin in range(0, len(chosen), step):
        rows = np.ones((len(chosen[begin : begin + step]), m + 1))
        rows[:, :-1] = chosen[begin : begin + step]
        moments += rows.T @ rows
    moments *= n / len(chosen)
    return moments
