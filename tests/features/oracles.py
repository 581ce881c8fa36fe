"""Hashcodes by their definition, in plain Python."""

from __future__ import annotations

import itertools
import math

import numpy as np


def nearest_bit(k, first, second):
    return int(max(k[j] for j in first) < max(k[j] for j in second))


def subsets_of(points):
    return itertools.chain.from_iterable(
        itertools.combinations(points, n) for n in range(1, len(points) + 1)
    )


def hull_weights(gram, first, second):
    """Signed weights of the nearest points of two convex hulls: of all faces, the nearest.

    The nearest points of the planes through two faces solve a linear system; they count if they
    lie within the faces.
    """
    gram, nearest = np.asarray(gram), (math.inf, {})
    for one, two in itertools.product(subsets_of(first), subsets_of(second)):
        points, n = [*one, *two], len(one) + len(two)
        signs = np.array([-1.0] * len(one) + [1.0] * len(two))
        inner = gram[np.ix_(points, points)] * np.outer(signs, signs)
        sides = np.array([signs < 0, signs > 0], dtype=float)
        system = np.block([[inner, sides.T], [sides, np.zeros((2, 2))]])
        shares = np.linalg.lstsq(system, np.r_[np.zeros(n), 1.0, 1.0], rcond=None)[0][:n]
        length = shares @ inner @ shares
        if (shares > -1e-12).all() and length < nearest[0] - 1e-13:
            nearest = (length, dict(zip(points, (signs * shares).tolist(), strict=True)))
    return {point: nearest[1].get(point, 0.0) for point in [*first, *second]}


def boundary(gram, first, second):
    """Weights and threshold of the maximum-margin boundary between two sets of points."""
    weights = hull_weights(gram, first, second)
    middle = 0.0
    for side in (first, second):
        total = sum(abs(weights[i]) for i in side)
        for i in side:
            along = math.fsum(w * gram[i][j] for j, w in weights.items())
            middle += abs(weights[i]) / total * along / 2
    return weights, middle


def kulis_score(k, gram, sampled):
    """Score of a point before the random hyperplane: (k - mean) K^(-1/2) e, K centered."""
    gram = np.asarray(gram)
    n = len(gram)
    centering = np.eye(n) - np.ones((n, n)) / n
    values, vectors = np.linalg.eigh(centering @ gram @ centering)
    root = np.zeros((n, n))
    for value, vector in zip(values, vectors.T, strict=True):
        if value > 1e-9 * values.max():
            root += np.outer(vector, vector) / math.sqrt(value)
    centered = np.asarray(k) - gram.mean(axis=0)
    return float(sum((centered @ centering @ root)[j] for j in sampled))


def projected_product(left, right, gram):
    """Product of two structures in the span of landmarks, by Gram-Schmidt, one after the other.

    ``left`` and ``right`` are their similarities to the landmarks. A landmark in the span of those
    before adds nothing.
    """
    axes, total = [], 0.0  # an axis is a combination of landmarks of length 1
    for number in range(len(gram)):
        axis = [0.0] * len(gram)
        axis[number] = 1.0
        for _ in range(2):  # once more for what rounding has left
            for other in axes:
                inner = sum(
                    axis[i] * other[j] * gram[i][j]
                    for i in range(number + 1)
                    for j in range(number + 1)
                )
                axis = [a - inner * b for a, b in zip(axis, other, strict=True)]
        length = sum(
            axis[i] * axis[j] * gram[i][j] for i in range(number + 1) for j in range(number + 1)
        )
        if length > 1e-9:
            axes.append([a / math.sqrt(length) for a in axis])
    for axis in axes:
        total += math.fsum(a * k for a, k in zip(axis, left, strict=True)) * math.fsum(
            a * k for a, k in zip(axis, right, strict=True)
        )
    return total
