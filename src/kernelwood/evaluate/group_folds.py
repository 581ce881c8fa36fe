"""Folds of whole groups with balanced classes, as scikit-learn makes them, in less time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

_PAIRWISE = 8  # so many numbers, or more, are added in pairs by NumPy
_CLOSE = (1e-8, 1e-5)  # tolerances of numpy.isclose


class GroupFolds(StratifiedGroupKFold):  # type: ignore[misc]
    """The folds of scikit-learn's class, found in a fraction of the time."""

    def _find_best_fold(
        self,
        y_counts_per_fold: NDArray[np.float64],
        y_cnt: NDArray[np.int64],
        group_y_counts: NDArray[np.float64],
    ) -> int:
        """Return the fold to which a group of examples is added.

        All folds are tried at once. With more of them, sums would have another order.
        """
        n_folds = len(y_counts_per_fold)
        if n_folds >= _PAIRWISE:
            found: int = super()._find_best_fold(y_counts_per_fold, y_cnt, group_y_counts)
            return found
        tried = np.repeat(y_counts_per_fold[None], n_folds, axis=0)
        tried[np.arange(n_folds), np.arange(n_folds)] += group_y_counts
        tried /= y_cnt
        unequal = np.std(tried, axis=1).mean(axis=1).tolist()
        sizes = y_counts_per_fold.sum(axis=1).tolist()
        best = 0
        for fold in range(1, n_folds):
            least = unequal[best]
            close = abs(unequal[fold] - least) <= _CLOSE[0] + _CLOSE[1] * abs(least)
            if unequal[fold] < least or (close and sizes[fold] < sizes[best]):
                best = fold
        return best
