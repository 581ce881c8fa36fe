"""Values of the kernels in a combination for pairs of structures, each computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwood.arrays import ExampleBatch
from kernelwood.kernels import Kernel, OnView, Product, Scaled, Sum

_Inputs = tuple[Any, Any, Any]  # a kernel and what it compares
_Key = tuple[int, int, int, Any]


class PairValues:
    """Values of kernels for pairs of structures, kept for kernels inside others.

    Kernels and batches are recognized by their identity. Values are those of `Kernel.pairs`.

    Examples
    --------
    >>> import kernelwood as kw
    >>> one, other = [kw.Sequence(["a", "b"])], [kw.Sequence(["a"])]
    >>> kernel, values = kw.SubsequenceKernel(), PairValues()
    >>> round(float(values.of(kernel + 2 * kernel, one, other)[0]), 3)
    1.846
    >>> values.known(kernel, one, other).round(3)
    array([0.615])
    """

    def __init__(self) -> None:
        # With what is compared, which must live as long as it is known by its identity.
        self._known: dict[_Key, tuple[_Inputs, Any]] = {}

    def known(self, kernel: Kernel, X: Any, Y: Any) -> Any:
        """Return the values of a kernel in its own number type if they are known, else None."""
        found = self._known.get(_key((kernel, X, Y), kernel._dtype(None)))
        return None if found is None else found[1]

    def of(self, kernel: Kernel, X: Any, Y: Any) -> Any:
        """Return ``kernel.pairs(X, Y)``."""
        number = kernel._dtype(None)
        waiting: list[_Inputs] = [(kernel, X, Y)]
        while waiting:
            inputs = waiting[-1]
            if _key(inputs, number) in self._known:
                waiting.pop()
                continue
            parts = _parts(inputs)
            missing = [part for part in parts if _key(part, number) not in self._known]
            if missing:
                waiting += missing[::-1]
                continue
            waiting.pop()
            one, left, right = inputs
            if not parts:
                values = one.pairs(left, right, dtype=number)
            elif isinstance(one, OnView):
                values = self._known[_key(parts[0], number)][1]
            else:
                with np.errstate(over="ignore"):
                    values = one._combine(
                        [self._known[_key(part, number)][1].copy() for part in parts]
                    )
            self._known[_key(inputs, number)] = (inputs, values)
        values = self._known[_key((kernel, X, Y), number)][1]
        # Which kernel has a value beyond the range of numbers is told by itself.
        return values if np.isfinite(values).all() else kernel.pairs(X, Y)


def _key(inputs: _Inputs, number: Any) -> _Key:
    kernel, X, Y = inputs
    return id(kernel), id(X), id(Y), number


def _parts(inputs: _Inputs) -> list[_Inputs]:
    kernel, X, Y = inputs
    if isinstance(kernel, OnView):
        if isinstance(X, ExampleBatch) and isinstance(Y, ExampleBatch):
            return [(kernel.kernel, kernel._view(X), kernel._view(Y))]
        return []
    if isinstance(kernel, (Sum, Product, Scaled)):
        return [(part, X, Y) for part in kernel._parts()]
    return []
