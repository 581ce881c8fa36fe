"""What the methods of learning gates are given."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel
from kernelwood.tuning.labels import LabelTable, find_gated, with_gates
from kernelwood.tuning.losses import NeighborLoss

__all__ = ["Decision", "Earlier", "GateProblem", "plain_value", "quiet_zeros"]

# What was decided, in plain values that JSON can hold.
Decision = dict[str, Any]
Open = NDArray[np.bool_]


@dataclass(frozen=True)
class GateProblem:
    """Structures with classes, a kernel, and the labels whose gates are sought.

    Parameters
    ----------
    kernel : Kernel
        Its own gates are where the search begins.
    X : batch
    classes : ndarray of int32, shape (n,)
        The number of the class of each structure.
    loss : NeighborLoss
        What is wrong with neighbors.
    groups : ndarray of int64, shape (n,), or None
        Neighbors in the same group do not count.
    table : LabelTable
        The labels whose gates are sought.
    seed : int
    run : int
        Number of the run, on which random numbers depend too.
    """

    kernel: Kernel
    X: Any
    classes: NDArray[np.int32]
    loss: NeighborLoss
    groups: NDArray[np.int64] | None
    table: LabelTable
    seed: int
    run: int = 0

    def in_run(self, run: int) -> GateProblem:
        """Return the same with other random numbers."""
        return replace(self, run=run)

    @property
    def _given(self) -> dict[str, float]:
        return {
            label: float(gate)
            for part in find_gated(self.kernel)
            for label, gate in (part.kernel.gates or {}).items()
        }

    def start(self) -> Open:
        """Return which gates are open at the beginning: those that the kernel does not close."""
        given = self._given
        return np.array([given.get(label, 1.0) != 0 for label in self.table.labels])

    def gates(self, is_open: Open) -> dict[str, float]:
        """Return gates as kernels take them; an open one has the kernel's value, 1 by default."""
        given = self._given
        return {
            label: (given.get(label, 1.0) or 1.0) if opened else 0.0
            for label, opened in zip(self.table.labels, is_open.tolist(), strict=True)
        }

    def losses(self, kernel: Kernel, some: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of each of some structures, among these."""
        groups = None if self.groups is None else self.groups[some]
        return self.loss(kernel, self.X[some], self.classes[some], groups)

    def kernel_with(self, is_open: Open, kernel: Kernel | None = None) -> Kernel:
        """Return the kernel, or another one in its place, with these gates."""
        return with_gates(self.kernel if kernel is None else kernel, self.gates(is_open))


class Earlier:
    """Decisions of a search that was broken off, which need not be computed again.

    Parameters
    ----------
    decisions : list of Decision
        In the order in which they were made.
    """

    def __init__(self, decisions: Any = ()) -> None:
        self._decisions = list(decisions or ())
        self._next = 0

    def take(self, **expected: Any) -> Decision | None:
        """Return the next decision, which must be about what is expected, or None at the end."""
        if self._next == len(self._decisions):
            return None
        decision = self._decisions[self._next]
        self._next += 1
        for name, value in expected.items():
            found = decision.get(name) if isinstance(decision, dict) else None
            if found != value:
                raise KernelInputError(
                    f"decision {self._next} to resume from has {name}={found!r}, where this search "
                    f"has {value!r}; resume with the same data, parameters and random_state"
                )
        return dict(decision)

    def finish(self) -> None:
        """Raise KernelInputError if decisions are left that this search does not make."""
        left = len(self._decisions) - self._next
        if left:
            raise KernelInputError(
                f"{left} of {len(self._decisions)} decisions to resume from are beyond the end of "
                "this search; resume with the same data, parameters and random_state"
            )


def plain_value(value: Any) -> Any:
    """Return a value as JSON can hold it: a similarity, say, as the text that makes it.

    Examples
    --------
    >>> plain_value(np.float64(0.5)), plain_value(float("nan")), plain_value((1, 2))
    (0.5, None, '(1, 2)')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else repr(value)


@contextmanager
def quiet_zeros() -> Iterator[None]:
    """Say nothing of structures that closed gates leave without anything to compare.

    A search tries such gates. What it finds is warned of when the learned kernel is used.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*self-similarity 0", RuntimeWarning)
        yield
