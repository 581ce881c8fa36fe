"""Sequential minimal optimization in plain Python, and problems to solve with it."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st


def textbook_smo(gram, targets, bounds, tolerance):
    """Return coefficients and intercept: second-order working sets, all gradients anew each time.

    R.-E. Fan, P.-H. Chen, C.-J. Lin: Working set selection using second order information. JMLR 6,
    2005, algorithm 2.
    """
    n = len(targets)
    beta = [0.0] * n  # y a, between low and high
    low = [0.0 if y > 0 else -c for y, c in zip(targets, bounds, strict=True)]
    high = [c if y > 0 else 0.0 for y, c in zip(targets, bounds, strict=True)]
    while True:
        # The score of each sample that would be exactly right, without the intercept.
        missing = [targets[p] - math.fsum(gram[p][q] * beta[q] for q in range(n)) for p in range(n)]
        up = [p for p in range(n) if beta[p] < high[p]]
        down = [p for p in range(n) if beta[p] > low[p]]
        i = max(up, key=lambda p: missing[p])
        if missing[i] - min(missing[p] for p in down) < tolerance:
            break

        def curvature(p, i=i):
            found = gram[i][i] + gram[p][p] - 2 * gram[i][p]
            return found if found > 0 else 1e-12

        violating = [p for p in down if missing[p] < missing[i]]
        gain = {p: (missing[i] - missing[p]) ** 2 / curvature(p) for p in violating}
        j = max(gain, key=gain.__getitem__)
        step = min((missing[i] - missing[j]) / curvature(j), high[i] - beta[i], beta[j] - low[j])
        beta[i] = high[i] if step == high[i] - beta[i] else beta[i] + step
        beta[j] = low[j] if step == beta[j] - low[j] else beta[j] - step
    free = [missing[p] for p in range(n) if low[p] < beta[p] < high[p]]
    if free:
        return beta, math.fsum(free) / len(free)
    return beta, (max(missing[p] for p in up) + min(missing[p] for p in down)) / 2


@st.composite
def problems(draw, max_size=30):
    """Draw a positive semidefinite Gram matrix, targets and bounds.

    Some samples are equal, some matrices are singular, some bounds are so small that all variables
    end at them, and some so large that none do.
    """
    n = draw(st.integers(2, max_size))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    points = np.round(2 * random.normal(size=(n, draw(st.integers(1, 8))))) / 2
    if draw(st.booleans()):
        points = points[random.integers(0, n, size=n)]
    gram = points @ points.T
    kind = draw(st.sampled_from(["linear", "quadratic", "regular"]))
    if kind == "quadratic":
        gram = (1 + gram) ** 2
    elif kind == "regular":
        gram += np.eye(n)
    targets = np.where(random.random(n) < draw(st.sampled_from([0.1, 0.5])), 1, -1).astype(np.int8)
    targets[:2] = 1, -1
    bounds = draw(st.sampled_from([0.001, 1.0, 30.0])) * random.choice([1.0, 2.5], size=n)
    assert (gram == gram.astype(np.float32)).all()  # exact, or it would not be semidefinite
    return gram, targets, bounds
