"""Which structures speak for all others: the choice of landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kernelwood.features.reference_selection import random_references
from kernelwood.kernels import Kernel
from kernelwood.seeds import child_generator

__all__ = ["SELECTIONS", "choose_landmarks"]

Indices = NDArray[np.int64]
Classes = NDArray[np.int32]

_POOL, _SMALLEST_POOL = 4, 2000  # candidates for each landmark, and at least
_PILOT = 2  # structures by which leverage is estimated, for each landmark
_TINY = 1e-12
# What the random numbers of a child generator are for.
_STRATA, _CANDIDATES, _SPREAD, _PILOTS, _LEVERAGE = range(1, 6)


def choose_landmarks(
    selection: str, kernel: Kernel, X: Any, classes: Classes | None, n: int, *, seed: int
) -> Indices:
    """Return the positions of ``n`` landmarks in a batch, in the order in which they were chosen.

    Parameters
    ----------
    selection : str
        A name in ``SELECTIONS``.
    kernel : Kernel
    X : batch
    classes : ndarray of int32 or None
        Number of the class of each structure, for ``"stratified"``.
    n : int
        How many, at most ``len(X)``. There are fewer if ``"kmeans++"`` finds no others.
    seed : int

    Examples
    --------
    >>> import kernelwood as kw
    >>> texts = kw.batch([kw.Sequence(text.split()) for text in ("a b", "a b", "a b", "x y")])
    >>> chosen = choose_landmarks("kmeans++", kw.SubsequenceKernel(), texts, None, 3, seed=0)
    >>> len(chosen), 3 in chosen
    (2, True)
    """
    return SELECTIONS[selection](kernel, X, classes, n, seed)


def _uniform(kernel: Kernel, X: Any, classes: Any, n: int, seed: int) -> Indices:
    return random_references(seed, len(X), n)


def _stratified(kernel: Kernel, X: Any, classes: Any, n: int, seed: int) -> Indices:
    """One of each class, the largest first, then always from the class that is owed most.

    The next one goes to the class with the largest size / (2 * taken + 1): Sainte-Laguë's way to
    deal out seats, by which shares are as near to those of the classes as whole numbers can be.
    """
    sizes = np.bincount(classes)
    members = [
        np.flatnonzero(classes == number)[child_generator(seed, _STRATA, number).permutation(size)]
        for number, size in enumerate(sizes.tolist())
    ]
    order = np.argsort(-sizes, kind="stable")[:n].tolist()
    taken = np.zeros(len(sizes), dtype=np.int64)
    taken[order] = 1
    chosen = [int(members[number][0]) for number in order]
    while len(chosen) < n:
        owed = np.where(taken < sizes, sizes / (2 * taken + 1), 0.0)
        number = int(np.argmax(owed))
        chosen.append(int(members[number][taken[number]]))
        taken[number] += 1
    return np.array(chosen, dtype=np.int64)


def _spread(kernel: Kernel, X: Any, classes: Any, n: int, seed: int) -> Indices:
    """Each at random, with a chance that grows with its squared distance to those before."""
    pool = _candidates(len(X), n, seed)
    gram = kernel.gram(X[pool], dtype="float64")
    own = gram.diagonal().copy()
    generator = child_generator(seed, _SPREAD)
    number = int(generator.integers(len(pool)))
    chosen = [number]
    distances = np.full(len(pool), np.inf)
    while len(chosen) < n:
        distances = np.minimum(distances, own + own[number] - 2 * gram[number])
        distances[distances <= _TINY * own.max()] = 0.0
        sums = np.cumsum(distances)
        if sums[-1] == 0:  # whatever is left equals a landmark
            break
        number = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
        chosen.append(number)
    return pool[chosen]


def _by_leverage(kernel: Kernel, X: Any, classes: Any, n: int, seed: int) -> Indices:
    r"""At random, with chances by ridge leverage scores.

    The score :math:`\phi_i^\top (\Sigma + \lambda)^{-1} \phi_i` of a structure tells how much the
    approximation misses without it. It is estimated by a uniform pilot sample (C. Musco, C. Musco:
    Recursive sampling for the Nyström method. NIPS 2017); the ridge is what n eigenvectors would
    leave.
    """
    pool = _candidates(len(X), n, seed)
    size = min(_PILOT * n, len(pool))
    pilot = pool[child_generator(seed, _PILOTS).permutation(len(pool))[:size]]
    similarities = kernel.cross(X[pool], X[pilot], dtype="float64")
    own = kernel.diag(X[pool], dtype="float64")
    with threadpool_limits(1):
        values, vectors = np.linalg.eigh(kernel.gram(X[pilot], dtype="float64"))
        values = np.maximum(values, 0.0)
        ridge = max(values[: max(size - n, 0)].sum() / n, _TINY * values[-1])
        within = (similarities @ vectors) ** 2 @ (1.0 / np.maximum(values + ridge, _TINY))
    scores = np.maximum(own - within, 0.0)
    chances = np.where(scores > 0, scores, np.finfo(float).tiny)
    # The n smallest of exponential numbers with these rates are a sample without replacement.
    arrivals = child_generator(seed, _LEVERAGE).exponential(size=len(pool)) / chances
    return pool[np.argsort(arrivals, kind="stable")[:n]]


def _candidates(n_structures: int, n: int, seed: int) -> Indices:
    """Return the positions of so many structures, in rising order, that all can be compared."""
    size = min(n_structures, max(_POOL * n, _SMALLEST_POOL))
    drawn = child_generator(seed, _CANDIDATES).permutation(n_structures)[:size]
    return np.sort(drawn).astype(np.int64)


# Name -> what chooses n landmarks; a new way adds a row.
SELECTIONS: dict[str, Callable[[Kernel, Any, Any, int, int], Indices]] = {
    "uniform": _uniform,
    "kmeans++": _spread,
    "stratified": _stratified,
    "leverage": _by_leverage,
}
