"""Where the search for latent variables starts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.information.checks import Bits
from kernelwood.seeds import child_generator

__all__ = ["random_start"]

_NEAR, _BETWEEN, _FAR = 0.95, 0.5, 0.05
_ROWS = 4096  # examples compared at a time, for the sake of memory
_COLUMNS = 16  # of a product, or a multiple


def random_start(bits: Bits, n_latent: int, seed: int, number: int) -> NDArray[np.float64]:
    """Return the responsibilities that restart ``number`` begins with.

    Each latent variable begins as the question which of two random examples a code resembles
    more. That depends neither on the order of the bits nor on which value of one is called 1.

    Examples
    --------
    >>> bits = np.array([[0, 0, 0], [1, 1, 1]], dtype=np.uint8)
    >>> sorted(random_start(bits, 1, 0, 0).ravel().tolist())
    [0.05, 0.95]
    """
    random, n = child_generator(seed, number), len(bits)
    first = random.integers(n, size=n_latent)
    second = (first + random.integers(1, max(n, 2), size=n_latent)) % n
    # Whole numbers, so that the products are exact; a BLAS would start threads for them.
    apart = np.zeros((bits.shape[1], -(-n_latent // _COLUMNS) * _COLUMNS))
    apart[:, :n_latent] = (bits[first].astype(np.float64) - bits[second]).T
    start = np.empty((n, n_latent))
    for begin in range(0, n, _ROWS):
        rows = bits[begin : begin + _ROWS].astype(np.float32)
        sums = np.empty((len(rows), apart.shape[1]))
        _native.ordered_product(rows, apart, 0, len(rows), sums)
        nearer = (2 * sums - apart.sum(axis=0))[:, :n_latent]
        start[begin : begin + _ROWS] = np.where(
            nearer > 0, _NEAR, np.where(nearer < 0, _FAR, _BETWEEN)
        )
    return start
