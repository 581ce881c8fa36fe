"""The search for latent variables: several starts, for several sets of codes, on threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner, StopFlag
from kernelwood.errors import KernelInputError
from kernelwood.information.checks import Bits, check_count
from kernelwood.information.starts import random_start
from kernelwood.seeds import resolve_seed

__all__ = ["MAX_ITERATIONS", "N_LATENT", "N_RESTARTS", "TOLERANCE", "Found", "Search", "lanes"]

Floats = NDArray[np.float64]

# Eight latent variables fill the vectors of the native core. On hashcodes of questions, four
# restarts bring the estimates within 0.5% of those of many, and single ones within 1.5%.
N_LATENT, N_RESTARTS = 8, 4
MAX_ITERATIONS, TOLERANCE = 200, 1e-3

_ENTRY_COST = 20  # of a bit of an example in one iteration, eight latents, in pairs of nodes
_USUAL_ITERATIONS = 30
_LARGE = 10**10  # about a second


class Found(NamedTuple):
    """Where the search ended."""

    total_correlation: float
    sum_of_entropies: float  # of the bits
    responsibilities: Floats
    owners: NDArray[np.int32]  # the latent variable of each bit, or -1
    n_iterations: int


class Search:
    """How to search; checks its parameters, which are those of :func:`explain`."""

    tolerance: float
    seed: int
    n_jobs: int | None

    def __init__(
        self,
        n_latent: int,
        n_restarts: int,
        max_iterations: int,
        tolerance: float,
        random_state: Any,
        n_jobs: int | None,
    ) -> None:
        self.n_latent = check_count("n_latent", n_latent, 1)
        self.n_restarts = check_count("n_restarts", n_restarts, 1)
        self.max_iterations = check_count("max_iterations", max_iterations, 0)
        if (
            not isinstance(tolerance, Real)
            or isinstance(tolerance, bool)
            or not math.isfinite(tolerance)
            or tolerance < 0
        ):
            raise KernelInputError(f"tolerance must be a number of at least 0, got {tolerance!r}")
        self.tolerance = float(tolerance)
        self.seed = resolve_seed(random_state)
        self.n_jobs = n_jobs

    def run(self, parts: Sequence[Bits], starts: Sequence[Floats] | None) -> list[Found]:
        """Return the best explanation of each part; with starts, what each of them leads to."""
        n_each = 1 if starts is not None else self.n_restarts
        found: list[Found | None] = [None] * (n_each * len(parts))

        def work(begin: int, end: int, stop: StopFlag) -> None:
            for unit in range(begin, end):
                part, number = divmod(unit, n_each)
                bits = parts[part]
                if starts is not None:
                    start = starts[part].copy()
                else:
                    start = random_start(bits, self.n_latent, self.seed, number)
                if not stop[0]:
                    found[unit] = self._improve(bits, start, starts is None, stop)

        iterations = min(self.max_iterations, _USUAL_ITERATIONS) + 1
        costs = [_ENTRY_COST * bits.size * iterations * lanes(self.n_latent) for bits in parts]
        Runner(self.n_jobs, 0).quiet().run(
            work, len(found), evaluations=0, cost=n_each * sum(costs), large=max(costs) > _LARGE
        )
        done = [each for each in found if each is not None]
        return [
            max(done[i : i + n_each], key=lambda each: each.total_correlation)
            for i in range(0, len(done), n_each)
        ]

    def _improve(self, bits: Bits, start: Floats, from_afar: bool, stop: StopFlag) -> Found:
        owners = np.empty(bits.shape[1], dtype=np.int32)
        explained, entropies, n_iterations = _native.explain_codes(
            bits, start, owners, from_afar, self.max_iterations, self.tolerance, stop
        )
        return Found(explained, entropies, start, owners, n_iterations)


def lanes(n_latent: int) -> int:
    """Return how many times eight latent variables are computed."""
    return -(-n_latent // 8)
