"""Support vector machines between classes, on a Gram matrix that they share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernelwood.features import product

__all__ = [
    "REST",
    "Machines",
    "Trainer",
    "class_scores",
    "decide",
    "pairs_of_classes",
]

Floats = NDArray[np.float64]
REST = -1  # stands for all other classes


@dataclass(frozen=True)
class Machines:
    """Weights of the training structures in every machine.

    Attributes
    ----------
    pairs : ndarray of int32, shape (n_machines, 2)
        The class that positive scores speak for, and the other one (``REST``: all others).
    coefficients : ndarray, shape (n_machines, n)
    intercepts : ndarray, shape (n_machines,)
    stopped : int
        How many machines stopped before they were done.
    """

    pairs: NDArray[np.int32]
    coefficients: Floats
    intercepts: Floats
    stopped: int


def pairs_of_classes(strategy: str, n_classes: int) -> NDArray[np.int32]:
    """Return the two sides of each machine; two classes need one machine only.

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


@dataclass(frozen=True)
class Trainer:
    """How machines are trained.

    Attributes
    ----------
    strategy : {"ovr", "ovo"}
    C, tol : float
    max_iter : int
    weights : ndarray, shape (n_classes,)
        Of the structures of a class.
    balanced : bool
        Of a class against the rest, both sides weigh the same instead.
    n_jobs : int
        Threads.
    """

    strategy: str
    C: float
    tol: float
    max_iter: int
    weights: Floats
    balanced: bool
    n_jobs: int

    def train(self, gram: Floats, numbers: NDArray[np.int32]) -> Machines:
        """Return the machines for structures of these classes.

        Of pairs of classes (``"ovo"``), every class must have some structures; of one class
        against the rest, one without any scores as low as machines do.
        """
        with _advice_for_others():
            return self._train(gram, numbers)

    def _train(self, gram: Floats, numbers: NDArray[np.int32]) -> Machines:
        pairs = pairs_of_classes(self.strategy, len(self.weights))
        if self.strategy == "ovo" and len(self.weights) > 2:
            return self._train_pairs(gram, numbers, pairs)
        return self._train_each(gram, numbers, pairs)

    def scores_of_others(
        self, gram: Floats, numbers: NDArray[np.int32], folds: NDArray[np.int64]
    ) -> Floats:
        """Return class scores of each structure by machines that have not seen its fold.

        Parameters
        ----------
        gram : ndarray, shape (n, n)
        numbers : ndarray, shape (n,)
            Classes.
        folds : ndarray, shape (n,)

        Returns
        -------
        ndarray, shape (n, n_classes) or (n, 1)
        """
        n_classes = len(self.weights)
        scores = np.empty((len(numbers), 1 if n_classes == 2 else n_classes))

        def one(fold: int) -> None:
            held = folds == fold
            kept = ~held
            machines = self._train(gram[np.ix_(kept, kept)], numbers[kept])
            similarities = gram[np.ix_(held, kept)]
            margins = product(similarities, machines.coefficients.T) + machines.intercepts
            scores[held] = class_scores(margins, machines.pairs, n_classes)

        with _advice_for_others():
            in_threads(one, np.unique(folds).tolist(), self.n_jobs)
        return scores

    def _train_each(
        self, gram: Floats, numbers: NDArray[np.int32], pairs: NDArray[np.int32]
    ) -> Machines:
        def one(number: int) -> SVC | None:
            inside = numbers == number
            if inside.all() or not inside.any():
                return None
            return self._fit(gram, inside, self._weigh_sides(inside, numbers))

        machines = in_threads(one, pairs[:, 0].tolist(), self.n_jobs)
        coefficients = np.zeros((len(pairs), len(numbers)))
        intercepts = np.where(np.isin(pairs[:, 0], numbers), 1.0, -1.0)
        for row, machine in enumerate(machines):
            if machine is not None:
                coefficients[row, machine.support_] = machine.dual_coef_[0]
                intercepts[row] = machine.intercept_[0]
        stopped = sum(self._stopped(machine) for machine in machines if machine is not None)
        return Machines(pairs, coefficients, intercepts, stopped)

    def _train_pairs(
        self, gram: Floats, numbers: NDArray[np.int32], pairs: NDArray[np.int32]
    ) -> Machines:
        machine = self._fit(gram, numbers, self.weights[numbers])
        coefficients = np.zeros((len(pairs), len(numbers)))
        of = numbers[machine.support_]
        for row, (i, j) in zip(coefficients, pairs.tolist(), strict=True):
            # Weights against class m are in the row m, not counting the structure's own class.
            row[machine.support_[of == i]] = machine.dual_coef_[j - 1, of == i]
            row[machine.support_[of == j]] = machine.dual_coef_[i, of == j]
        return Machines(pairs, coefficients, machine.intercept_.copy(), self._stopped(machine))

    def _weigh_sides(self, inside: NDArray[np.bool_], numbers: NDArray[np.int32]) -> Floats:
        if not self.balanced:
            return self.weights[numbers]
        n, n_inside = len(inside), int(inside.sum())
        return np.where(inside, n / (2 * n_inside), n / (2 * (n - n_inside)))

    def _fit(self, gram: Floats, targets: NDArray[Any], weights: Floats) -> SVC:
        steps = min(int(self.max_iter), 2**31 - 1)
        machine = SVC(kernel="precomputed", C=self.C, tol=self.tol, max_iter=steps)
        return machine.fit(gram, targets, sample_weight=weights)

    def _stopped(self, machine: SVC) -> int:
        return int((machine.n_iter_ >= self.max_iter).sum())


@contextmanager
def _advice_for_others() -> Iterator[None]:
    # What scikit-learn advises is on columns of numbers; what to do here is told by the caller.
    # Around all threads: filters of warnings are those of the process.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        yield


def in_threads(work: Callable[[int], Any], items: list[int], n_jobs: int) -> list[Any]:
    """Return ``work(item)`` of each item, in order."""
    if n_jobs == 1 or len(items) == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(n_jobs, len(items))) as pool:
        return list(pool.map(work, items))


def class_scores(scores: Floats, pairs: NDArray[np.int32], n_classes: int) -> Floats:
    """Return one score for each class (of two: for the second), of those of the machines.

    Of pairs of classes these are the votes, and a part below one half that breaks ties: what
    scikit-learn's ``SVC.decision_function`` returns.
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


def decide(scores: Floats, pairs: NDArray[np.int32], n_classes: int) -> NDArray[np.int64]:
    """Return the number of the class that the machines are for.

    The best score decides, of pairs of classes the most votes, as libsvm counts them; of equal
    ones it is the first class.
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
