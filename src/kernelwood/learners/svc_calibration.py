"""Probabilities of classes from scores, by Platt's sigmoids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from kernelwood.seeds import child_generator

__all__ = ["deal_folds", "fit_sigmoid", "fit_sigmoids", "probabilities"]

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]


def deal_folds(numbers: Numbers, n_folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each structure; each class is spread over as many folds as it can be.

    Examples
    --------
    >>> folds = deal_folds(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2, seed=0)
    >>> np.bincount(folds[:4]).tolist(), np.bincount(folds[4:]).tolist()
    ([2, 2], [2, 2])
    """
    random = child_generator(seed, 0)
    shuffled = random.permutation(len(numbers))
    by_class = shuffled[np.argsort(numbers[shuffled], kind="stable")]
    folds = np.empty(len(numbers), dtype=np.int64)
    folds[by_class] = np.arange(len(numbers)) % n_folds
    return folds


def fit_sigmoids(scores: Floats, numbers: Numbers, n_classes: int) -> Floats:
    """Return slope and offset of the sigmoid of each column of scores.

    Returns
    -------
    ndarray, shape (number of columns, 2)
    """
    wanted = [1] if n_classes == 2 else range(n_classes)
    columns = zip(scores.T, wanted, strict=True)
    return np.array([fit_sigmoid(column, numbers == number) for column, number in columns])


def fit_sigmoid(scores: Floats, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Return slope and offset such that ``expit(slope * score + offset)`` is most likely.

    Targets are Platt's: short of 0 and 1, so that no set of scores leads to certainty. The slope
    is not negative: a better score never makes a class less likely.

    Examples
    --------
    >>> slope, offset = fit_sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1]) > 0)
    >>> bool(slope > 0), abs(round(offset, 6))
    (True, 0.0)
    """
    targets = _targets(positive)
    level = float(logit(targets.mean()))

    # Sums of products, not products of vectors: threads of a BLAS could change the last bit.
    def loss(line: Floats) -> float:
        z = line[0] * scores + line[1]
        return float((np.logaddexp(0, z) - targets * z).mean())

    def gradient(line: Floats) -> Floats:
        rest = expit(line[0] * scores + line[1]) - targets
        return np.array([(rest * scores).mean(), rest.mean()])

    def curvature(line: Floats) -> Floats:
        p = expit(line[0] * scores + line[1])
        w = p * (1 - p)
        mixed = (w * scores).mean()
        return np.array([[(w * scores * scores).mean(), mixed], [mixed, w.mean()]])

    derivatives = {"jac": gradient, "hess": curvature}
    best = minimize(loss, [0.0, level], method="trust-exact", options={"gtol": 1e-9}, **derivatives)
    slope, offset = best.x.tolist()
    return (slope, offset) if slope > 0 else (0.0, level)


def _targets(positive: NDArray[np.bool_]) -> Floats:
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    return np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def probabilities(scores: Floats, sigmoids: Floats) -> Floats:
    """Return the probabilities of classes, rows that sum to 1."""
    likely = expit(scores * sigmoids[:, 0] + sigmoids[:, 1])
    if likely.shape[1] == 1:
        return np.concatenate([1 - likely, likely], axis=1)
    total = likely.sum(axis=1, keepdims=True)
    # Scores beyond all measure: no class is likely.
    shares: Floats = np.full(likely.shape, 1 / likely.shape[1])
    np.divide(likely, total, out=shares, where=total > 0)
    return shares
