"""Score intervals of measures, which have a width even if all predictions are right.

Precision, recall and accuracy are fractions, and F1 is a function of one: with t correct, n true
and p predicted examples, F1 = 2J / (1 + J), where J = t / (n + p - t) is the Jaccard index. A
fraction gets Wilson's interval [1]_ for its effective sample size, which is lower than the number
of examples if examples of one group are alike; F1 gets that of J, transformed [2]_.

The effective sample size is the number of examples divided by the design effect: the variance
between groups over that of independent examples [3]_. That variance cannot be estimated well from
few errors, and not at all from none. It is therefore estimated after adding two groups of average
size, one all right and one all wrong, as Agresti and Coull [4]_ add examples.

The interval of a mean over classes is combined from those of the classes [5]_.

References
----------
.. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
   *JASA* 22, 1927.
.. [2] K. F. Y. Lam, V. Gopal, J. Qian, "Confidence intervals for the F1 score: a comparison of
   four methods", arXiv:2309.14621, 2023.
.. [3] E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number
   of positive counts estimated from survey data", *Survey Methodology* 24, 1998.
.. [4] A. Agresti, B. A. Coull, "Approximate is better than exact for interval estimation of
   binomial proportions", *The American Statistician* 52, 1998.
.. [5] G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general
   approach", *Statistics in Medicine* 27, 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.evaluate.resampling import Units

Values = NDArray[np.float64]


def wilson_interval(rates: Any, sizes: Any, confidence: float = 0.95) -> tuple[Values, Values]:
    """Return the ends of Wilson's score intervals; 0 and 1 where a sample is empty.

    Parameters
    ----------
    rates : array-like, shape (n,)
        Observed fractions.
    sizes : array-like, shape (n,)
        Sample sizes; they need not be whole numbers.
    confidence : float
        Confidence level.

    Examples
    --------
    >>> low, high = wilson_interval([1.0, 0.5], [3, 100])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.439, 0.404], [1.0, 0.596])
    """
    from scipy.special import ndtri

    rates, sizes = np.asarray(rates, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    squared = float(ndtri((1 + confidence) / 2)) ** 2
    # All terms times the sample size, so that an empty sample needs no exception.
    middle = rates * sizes + squared / 2
    half = np.sqrt(squared * (rates * (1 - rates) * sizes + squared / 4))
    low, high = (middle - half) / (sizes + squared), (middle + half) / (sizes + squared)
    return np.clip(low, 0.0, rates), np.clip(high, rates, 1.0)


def effective_sizes(parts: Any, wholes: Any, weights: NDArray[np.int64]) -> Values:
    """Return effective sample sizes of fractions whose examples are in groups.

    Parameters
    ----------
    parts, wholes : sparse matrices, shape (n_groups, n)
        Numerators and denominators of ``n`` fractions in each group.
    weights : ndarray of int64, shape (n_groups,)
        How many groups there are of each kind.

    Examples
    --------
    >>> from scipy import sparse
    >>> wholes = sparse.csr_matrix([[5], [5], [5], [5]])
    >>> alike, mixed = sparse.csr_matrix([[5], [5], [0], [0]]), sparse.csr_matrix([[3], [2]] * 2)
    >>> one = np.ones(4, dtype=np.int64)
    >>> [float(effective_sizes(parts, wholes, one)[0].round(1)) for parts in (alike, mixed)]
    [4.0, 11.1]
    """
    n, right = _weighed(wholes, weights), _weighed(parts, weights)
    n_groups = _weighed(wholes != 0, weights)
    size = n / np.maximum(n_groups, 1)  # mean of the groups; two of that size are added
    total = n + 2 * size
    rate = np.divide(right + size, total, out=np.full(len(n), 0.5), where=total > 0)
    squares = (
        _weighed(parts.multiply(parts), weights)
        - 2 * rate * _weighed(parts.multiply(wholes), weights)
        + rate**2 * _weighed(wholes.multiply(wholes), weights)
        + size**2 * ((1 - rate) ** 2 + rate**2)
    )
    independent = rate * (1 - rate) * total
    effect = np.divide(squares, independent, out=np.ones(len(n)), where=independent > 0)
    sizes: Values = n / np.maximum(effect, 1.0)
    return sizes


def score_intervals(
    units: Units, positive: Sequence[int], confidence: float
) -> tuple[Values, Values]:
    """Return the ends of the intervals of all measures.

    Parameters
    ----------
    units : Units
        Counts of one vector of predictions by group.
    positive : sequence of int
        The classes that are averaged.
    confidence : float
        Confidence level.

    Returns
    -------
    low, high : ndarray, shape (7 + 3 * n_classes,)
        Those of `kernelwood.evaluate.METRICS`, then precision, recall and F1 of all classes.
    """
    from scipy import sparse

    table = units.tables[0].tocsc()
    n_classes = table.shape[1] // 3
    right, true, predicted = (table[:, k * n_classes : (k + 1) * n_classes] for k in range(3))
    chosen = list(positive)
    pooled = [_row_sums(each[:, chosen]) for each in (right, true, predicted)]
    columns = [(_row_sums(right), _row_sums(true)), *_fractions(*pooled)]
    columns += _fractions(right, true, predicted)
    parts, wholes = (sparse.hstack(each, format="csr") for each in zip(*columns, strict=True))
    sums = _weighed(wholes, units.sizes)
    rates = np.divide(_weighed(parts, units.sizes), sums, out=np.zeros(len(sums)), where=sums > 0)
    ends = wilson_interval(rates, effective_sizes(parts, wholes, units.sizes), confidence)
    values, low, high = (_with_f1(each, n_classes) for each in (rates, *ends))
    means = [
        _mean_interval(
            *(each[first : first + n_classes][chosen] for each in (values, low, high, sums))
        )
        for first in range(4, 4 + 3 * n_classes, n_classes)
    ]
    low, high = (
        np.concatenate([end[:4], [mean[side] for mean in means], end[4:]])
        for side, end in enumerate((low, high))
    )
    return low, high


def _fractions(right: Any, true: Any, predicted: Any) -> list[tuple[Any, Any]]:
    """Return numerators and denominators of precision, recall and the Jaccard index."""
    return [(right, predicted), (right, true), (right, true + predicted - right)]


def _with_f1(values: Values, n_classes: int) -> Values:
    """Return values with Jaccard indices replaced by F1."""
    made = values.copy()
    for places in (slice(3, 4), slice(4 + 2 * n_classes, None)):
        made[places] = 2 * made[places] / (1 + made[places])
    return made


def _mean_interval(values: Values, low: Values, high: Values, sizes: Values) -> tuple[float, float]:
    """Return the interval of a mean; a class without examples is 0 by definition."""
    known, n = sizes > 0, len(values)
    mean = float(values.mean())
    below = float(np.sqrt(np.sum((values - low)[known] ** 2))) / n
    above = float(np.sqrt(np.sum((high - values)[known] ** 2))) / n
    return max(0.0, mean - below), min(1.0, mean + above)


def _row_sums(table: Any) -> Any:
    from scipy import sparse

    return sparse.csc_matrix(table.sum(axis=1))


def _weighed(table: Any, weights: NDArray[np.int64]) -> Values:
    return np.asarray(table.T @ weights, dtype=np.float64)
