"""Support vector machines between classes, trained on one Gram matrix."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner, StopFlag, allocate_matrix, get_config
from kernelwood.errors import KernelOverflowError
from kernelwood.features import product
from kernelwood.kernels import Kernel

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]
Rows = NDArray[np.int64]
Gram = NDArray[np.float32]

REST = -1  # all other classes
_TILE = (
    4096  # structures compared at once: 134 MB in double; like TILE of kernels, a multiple of 256
)
_SIMILARITIES_AT_ONCE = 2**23  # 32 MB in single precision
_COPIED_AT_ONCE = 2**25  # similarities of samples that a solver copies: 128 MB in all threads
_SOLVER_COST = 400  # for each pair of structures, in the unit of Runner: iterations may be many


def compute_gram(kernel: Kernel, X: Any) -> Gram:
    """Return the Gram matrix in single precision, beyond the memory budget in a temporary file.

    Values are computed in the number type of the kernel. Solvers of support vector machines read
    them in single precision in any case, as in LIBSVM.

    Parameters
    ----------
    kernel : Kernel
    X : batch, length n
    """
    n = len(X)
    gram: Gram = allocate_matrix(
        (n, n),
        np.float32,
        f"KernelSVC: the Gram matrix of {n:,} structures",
        "Fit on fewer structures, or give n_landmarks: then they are compared with landmarks only.",
    )
    number = kernel._dtype(None)
    if number == gram.dtype:
        kernel.gram(X, out=gram)
        return gram
    for rows, columns, tile in _lower_tiles(kernel, X):
        with np.errstate(over="ignore"):
            gram[rows, columns] = tile
            gram[columns, rows] = tile.T
        if not np.isfinite(gram[rows, columns]).all():
            raise KernelOverflowError(
                f"KernelSVC: a value of {type(kernel).__name__} exceeds the range of float32; "
                "normalize the kernel, e.g. kw.Normalized(kernel)"
            )
    return gram


def add_gram(kernel: Kernel, X: Any, gram: Gram) -> None:
    """Add the similarities of a kernel in single precision to the Gram matrix of another one.

    The result is the Gram matrix of the sum of both, to the bit.

    Parameters
    ----------
    kernel : Kernel
        Kernel of the dtype float32.
    X : batch, length n
    gram : ndarray of float32, shape (n, n)

    Examples
    --------
    >>> import kernelwood as kw
    >>> X = kw.batch([kw.Sequence(["a", "b"]), kw.Sequence(["a", "c"])])
    >>> one, two = (kw.SubsequenceKernel(max_length=n, dtype="float32") for n in (1, 2))
    >>> gram = compute_gram(one, X)
    >>> add_gram(two, X, gram)
    >>> bool((gram == compute_gram(one + two, X)).all())
    True
    """
    for rows, columns, tile in _lower_tiles(kernel, X):
        tile += gram[rows, columns]
        gram[rows, columns] = tile
        gram[columns, rows] = tile.T


def _lower_tiles(kernel: Kernel, X: Any) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
    """Yield tiles of the Gram matrix, on the diagonal and below, that the caller may change."""
    n = len(X)
    report = get_config().progress
    total, done = n * (n + 1) // 2, 0

    def progress(now: int, _: int) -> None:
        if report is not None:
            report(done + now, total)

    tiles = [(some, X[some]) for some in _slices(n, _TILE)]
    space = np.empty(min(n, _TILE) ** 2, dtype=kernel._dtype(None))
    for rows, structures in tiles:
        for columns, others in tiles[: rows.start // _TILE + 1]:
            shape = (len(structures), len(others))
            tile = space[: shape[0] * shape[1]].reshape(shape)
            if rows == columns:
                kernel.gram(structures, out=tile, progress=progress)
                done += shape[0] * (shape[0] + 1) // 2
            else:
                kernel._below(structures, others, tile, progress)
                done += tile.size
            yield rows, columns, tile


def _slices(n: int, size: int) -> Iterator[slice]:
    for begin in range(0, n, size):
        yield slice(begin, min(begin + size, n))


@dataclass(frozen=True)
class Machines:
    """Trained machines.

    Attributes
    ----------
    pairs : ndarray of int32, shape (n_machines, 2)
        Class numbers of positive and of negative scores (``REST``: all other classes).
    supports : ndarray of int64, shape (n_supports,)
        Rows of the Gram matrix with a nonzero weight in any machine, ascending.
    coefficients : ndarray, shape (n_machines, n_supports)
        Their weights.
    intercepts : ndarray, shape (n_machines,)
    stopped : int
        Number of machines that reached the maximum number of iterations.
    """

    pairs: Numbers
    supports: Rows
    coefficients: Floats
    intercepts: Floats
    stopped: int

    def class_scores(self, gram: Gram, rows: Rows, n_classes: int, n_jobs: int) -> Floats:
        """Return the class scores of some rows of the Gram matrix that they were trained on."""
        scores = np.empty((len(rows), len(self.pairs)))
        weights = np.ascontiguousarray(self.coefficients.T)
        for some in _slices(len(rows), max(1, _SIMILARITIES_AT_ONCE // max(1, len(self.supports)))):
            similarities = gram[np.ix_(rows[some], self.supports)]
            scores[some] = product(similarities, weights, n_jobs=n_jobs)
        return class_scores(scores + self.intercepts, self.pairs, n_classes)


@dataclass(frozen=True)
class _Problem:
    """The training set of one machine: rows of the Gram matrix, the side and bound of each.

    The side with the smaller class number is +1, as in LIBSVM; ``sign`` is +1 if that is the side
    of positive scores, else -1.
    """

    rows: Rows
    targets: NDArray[np.int8]
    bounds: Floats
    sign: int


@dataclass(frozen=True)
class _Solution:
    """Rows with a nonzero weight, their weights, the intercept, and whether it is the optimum."""

    supports: Rows
    coefficients: Floats
    intercept: float
    converged: bool


@dataclass(frozen=True)
class Trainer:
    """Trains machines on parts of a Gram matrix.

    Parameters
    ----------
    strategy : {"ovr", "ovo"}
    weights : ndarray, shape (n_classes,)
        Factors of ``C`` for the classes.
    balanced : bool
        Whether both sides of a machine weigh the same, instead, unless it is one of ``"ovo"``.
    C, tol, max_iter
        As of KernelSVC.
    n_jobs : int
        Number of threads; no result depends on it.
    """

    strategy: str
    weights: Floats
    balanced: bool
    C: float
    tol: float
    max_iter: int
    n_jobs: int

    def train(
        self, gram: Gram, numbers: Numbers, foldings: Sequence[Rows] = ()
    ) -> tuple[Machines, list[Floats]]:
        """Return the machines for all structures, and held-out scores for each division into folds.

        Parameters
        ----------
        gram : ndarray of float32, shape (n, n)
        numbers : ndarray, shape (n,)
            Class numbers.
        foldings : sequence of ndarrays, shape (n,)
            The fold of each structure.

        Returns
        -------
        machines : Machines
        scores : list of ndarrays, shape (n, n_classes) or (n, 1)
            Class scores of each structure by machines trained on the other folds.
        """
        kept = [rows for folds in foldings for rows in _other_folds(folds)]
        machines, *of_folds = self.train_parts(gram, numbers, [np.arange(len(numbers)), *kept])
        tested = iter(of_folds)
        return machines, [self._held_out_scores(gram, folds, tested) for folds in foldings]

    def held_out(self, gram: Gram, numbers: Numbers, folds: Rows) -> Floats:
        """Return the held-out scores of :meth:`train` only."""
        machines = self.train_parts(gram, numbers, _other_folds(folds))
        return self._held_out_scores(gram, folds, iter(machines))

    def _held_out_scores(self, gram: Gram, folds: Rows, machines: Iterator[Machines]) -> Floats:
        n_classes = len(self.weights)
        scores = np.empty((len(folds), 1 if n_classes == 2 else n_classes))
        for fold, trained in zip(np.unique(folds), machines, strict=False):
            rows = np.flatnonzero(folds == fold)
            scores[rows] = trained.class_scores(gram, rows, n_classes, self.n_jobs)
        return scores

    def train_parts(self, gram: Gram, numbers: Numbers, parts: Sequence[Rows]) -> list[Machines]:
        """Return the machines for each of some parts of the structures.

        With ``"ovo"`` every class must have structures in each part; with ``"ovr"`` a class
        without structures gets the constant score -1.

        Parameters
        ----------
        gram, numbers
            As of :meth:`train`.
        parts : sequence of ndarrays of int64
            Rows of the Gram matrix, ascending.
        """
        pairs = pairs_of_classes(self.strategy, len(self.weights))
        problems = [self._problem(numbers, rows, i, j) for rows in parts for i, j in pairs.tolist()]

        of_thread = threading.local()

        def solve(problem: _Problem | float, stop: StopFlag) -> _Solution:
            if isinstance(problem, float):
                return _Solution(np.empty(0, np.int64), np.empty(0), problem, True)
            if not hasattr(of_thread, "space"):
                of_thread.space = np.empty(_COPIED_AT_ONCE // self.n_jobs, dtype=gram.dtype)
            return self._solve(gram, problem, stop, of_thread.space)

        cost = sum(_SOLVER_COST * len(p.rows) ** 2 for p in problems if isinstance(p, _Problem))
        solutions = Runner(self.n_jobs, 0).quiet().map(solve, problems, cost=cost)
        m = len(pairs)
        return [_collect(pairs, solutions[k : k + m]) for k in range(0, len(solutions), m)]

    def _problem(self, numbers: Numbers, rows: Rows, i: int, j: int) -> _Problem | float:
        """Return the training set of a machine, or its constant score."""
        of = numbers[rows]
        if self.strategy == "ovo" and len(self.weights) > 2:
            rows, of = (part[(of == i) | (of == j)] for part in (rows, of))
            return _Problem(rows, _sides(of == i), self.C * self.weights[of], 1)
        inside = of == i
        if inside.all() or not inside.any():
            return 1.0 if inside.any() else -1.0
        weights = self.weights[of]
        if self.balanced:
            n, n_inside = len(inside), int(inside.sum())
            weights = np.where(inside, n / (2 * n_inside), n / (2 * (n - n_inside)))
        return _Problem(rows, _sides(~inside), self.C * weights, -1)

    def _solve(self, gram: Gram, problem: _Problem, stop: StopFlag, space: Gram) -> _Solution:
        found = np.empty(len(problem.rows))
        steps = min(self.max_iter, 2**62)
        data = (gram, problem.rows, problem.targets, problem.bounds)
        intercept, _, _, converged = _native.solve_svm(*data, self.tol, steps, found, stop, space)
        at = np.flatnonzero(found)
        sign = problem.sign
        return _Solution(problem.rows[at], sign * found[at], sign * intercept, converged)


def _other_folds(folds: Rows) -> list[Rows]:
    """Return the rows that are not in a fold, for each fold."""
    return [np.flatnonzero(folds != fold) for fold in np.unique(folds)]


def _sides(positive: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(positive, 1, -1).astype(np.int8)


def _collect(pairs: Numbers, solutions: list[_Solution]) -> Machines:
    supports = np.unique(np.concatenate([solution.supports for solution in solutions]))
    coefficients = np.zeros((len(pairs), len(supports)))
    for row, solution in zip(coefficients, solutions, strict=True):
        row[np.searchsorted(supports, solution.supports)] = solution.coefficients
    intercepts = np.array([solution.intercept for solution in solutions])
    stopped = sum(not solution.converged for solution in solutions)
    return Machines(pairs, supports, coefficients, intercepts, stopped)


def pairs_of_classes(strategy: str, n_classes: int) -> Numbers:
    """Return the class numbers of both sides of each machine; two classes need one machine.

    Examples
    --------
    >>> pairs_of_classes("ovo", 3).tolist(), pairs_of_classes("ovr", 3).tolist()
    ([[0, 1], [0, 2], [1, 2]], [[0, -1], [1, -1], [2, -1]])
    """
    if n_classes == 2:
        pairs = [(1, 0)]
    elif strategy == "ovr":
        pairs = [(number, REST) for number in range(n_classes)]
    else:
        pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    return np.array(pairs, dtype=np.int32)


def class_scores(scores: Floats, pairs: Numbers, n_classes: int) -> Floats:
    """Return one score for each class (of two classes: for the second) from machine scores.

    For pairs of classes these are votes plus a tie-breaking term below one half, as in
    scikit-learn's ``SVC.decision_function``.
    """
    if n_classes == 2 or pairs[0, 1] == REST:
        return scores
    votes = np.zeros((len(scores), n_classes))
    sums = np.zeros((len(scores), n_classes))
    for column, (i, j) in zip(scores.T, pairs.tolist(), strict=True):
        votes[:, i] += column >= 0
        votes[:, j] += column < 0
        sums[:, i] += column
        sums[:, j] -= column
    votes += sums / (3 * (np.abs(sums) + 1))
    return votes


def decide(scores: Floats, pairs: Numbers, n_classes: int) -> NDArray[np.int64]:
    """Return the predicted class numbers from machine scores.

    The class with the best score, or with the most votes of pairs, as libsvm counts them; the
    first of equal ones.
    """
    if n_classes == 2:
        return (scores[:, 0] > 0).astype(np.int64)
    if pairs[0, 1] == REST:
        return np.asarray(scores.argmax(axis=1))
    votes = np.zeros((len(scores), n_classes), dtype=np.int64)
    for column, (i, j) in zip(scores.T, pairs.tolist(), strict=True):
        votes[:, i] += column > 0
        votes[:, j] += column <= 0
    return np.asarray(votes.argmax(axis=1))
