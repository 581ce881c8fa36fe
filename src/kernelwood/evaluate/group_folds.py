"""Folds of whole groups, the same as those of scikit-learn, without importing it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Folds = NDArray[np.int64]

_PAIRWISE = 8  # so many numbers, or more, are added in pairs by NumPy
_CLOSE = (1e-8, 1e-5)  # tolerances of numpy.isclose


def even_folds(groups: Folds, n_splits: int) -> Folds:
    """Return the fold of each example: the largest groups first, each to the smallest fold."""
    sizes = np.bincount(groups)
    fold_of = np.zeros(len(sizes), dtype=np.int64)
    filled = np.zeros(n_splits)
    for group in np.argsort(sizes, kind="stable")[::-1]:
        fold_of[group] = np.argmin(filled)
        filled[fold_of[group]] += sizes[group]
    return fold_of[groups]


def stratified_folds(y: Folds, groups: Folds, n_splits: int, seed: int) -> Folds:
    """Return the fold of each example, with the classes of all folds as balanced as possible.

    Groups are added in order of the deviation of their class counts, equal ones at random, each to
    the fold where the shares of the classes differ least afterwards. `y` and `groups` are numbers
    from 0 on, all of which occur.
    """
    n_groups, sizes = int(groups.max()) + 1, np.bincount(y)
    counts = np.zeros((n_groups, len(sizes)))
    np.add.at(counts, (groups, y), 1)
    order = np.arange(n_groups)
    np.random.RandomState(seed).shuffle(order)
    order = order[np.argsort(-np.std(counts[order], axis=1), kind="stable")]
    filled = np.zeros((n_splits, len(sizes)))
    fold_of = np.empty(n_groups, dtype=np.int64)
    for group in order:
        fold_of[group] = _best_fold(filled, sizes, counts[group])
        filled[fold_of[group]] += counts[group]
    return fold_of[groups]


def _best_fold(filled: NDArray[np.float64], sizes: Folds, added: NDArray[np.float64]) -> int:
    """Return the fold that a group is added to."""
    n_folds = len(filled)
    tried = np.repeat(filled[None], n_folds, axis=0)
    tried[np.arange(n_folds), np.arange(n_folds)] += added
    tried /= sizes
    if n_folds < _PAIRWISE:
        unequal = np.std(tried, axis=1).mean(axis=1).tolist()
    else:  # the order of sums depends on the shape
        unequal = [float(np.mean(np.std(one, axis=0))) for one in tried]
    taken = filled.sum(axis=1).tolist()
    best = 0
    for fold in range(1, n_folds):
        least = unequal[best]
        close = abs(unequal[fold] - least) <= _CLOSE[0] + _CLOSE[1] * abs(least)
        if unequal[fold] < least or (close and taken[fold] < taken[best]):
            best = fold
    return best
