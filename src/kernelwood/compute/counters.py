from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class Counters:
    """What computations inside a :func:`counting` block cost.

    Attributes
    ----------
    kernel_evaluations : int
        Pairs of structures compared, the currency of the papers. A combination of kernels
        compares a pair once.
    seconds : float
        Wall-clock time spent in them.
    blocks : int
        Native blocks they were cut into.
    """

    kernel_evaluations: int = 0
    seconds: float = 0.0
    blocks: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, kernel_evaluations: int, seconds: float, blocks: int) -> None:
        """Add the cost of one computation."""
        with self._lock:
            self.kernel_evaluations += kernel_evaluations
            self.seconds += seconds
            self.blocks += blocks


_active: ContextVar[tuple[Counters, ...]] = ContextVar("kernelwood_counters", default=())


@contextmanager
def counting() -> Iterator[Counters]:
    """Count the kernel evaluations made inside a ``with`` block.

    Examples
    --------
    >>> import kernelwood as kw
    >>> sequences = [kw.Sequence("a b".split()), kw.Sequence("b c".split())]
    >>> with kw.compute.counting() as counters:
    ...     _ = kw.SubsequenceKernel(normalize=False).cross(sequences, sequences[:1])
    >>> counters.kernel_evaluations
    2
    """
    counters = Counters()
    token = _active.set((*_active.get(), counters))
    try:
        yield counters
    finally:
        _active.reset(token)


def count_evaluations(kernel_evaluations: int, seconds: float, blocks: int) -> None:
    """Tell every active counter what a computation cost."""
    for counters in _active.get():
        counters.add(kernel_evaluations, seconds, blocks)
