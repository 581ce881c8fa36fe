"""Native work in blocks on threads, with progress, Ctrl-C and counters of kernel evaluations."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute.config import Progress, get_config, resolve_jobs
from kernelwood.threads import LOCK

logger = logging.getLogger("kernelwood")

StopFlag = NDArray[np.int32]
Work = Callable[[int, int, StopFlag], None]
S = TypeVar("S")
T = TypeVar("T")

_BLOCK_SECONDS = 0.05  # short enough for progress and Ctrl-C, long enough to hide overheads
_SECONDS_PER_COST = 1e-10  # first guess, per pair of nodes; later blocks are timed
_INLINE_COST = 10**8  # pairs of nodes below which starting threads does not pay


@dataclass
class Counters:
    """Cost of the computations inside a :func:`counting` block.

    Attributes
    ----------
    kernel_evaluations : int
        Number of pairs of structures compared. A combination of kernels compares a pair once.
    seconds : float
        Wall-clock time of these computations.
    blocks : int
        Number of native blocks.
    """

    kernel_evaluations: int = 0
    seconds: float = 0.0
    blocks: int = 0

    def add(self, kernel_evaluations: int, seconds: float, blocks: int) -> None:
        """Add the cost of one computation."""
        with LOCK:
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
    """Add the cost of a computation to every active counter."""
    for counters in _active.get():
        counters.add(kernel_evaluations, seconds, blocks)


class Runner:
    """Runs native work in blocks on threads, with progress, prompt Ctrl-C and counters.

    The work is a function ``work(begin, end, stop)`` over a range of units (panels), which
    releases the GIL and returns early when ``stop`` is set. Block sizes adapt so that a block
    takes about 50 ms; results must not depend on them.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads.
    total : int
        Kernel evaluations of the whole computation, for progress.
    progress : callable, optional
        ``progress(done, total)``; by default that of the settings.
    """

    def __init__(self, n_jobs: int | None, total: int, progress: Progress | None = None) -> None:
        self.n_jobs = resolve_jobs(n_jobs)
        self.total = total
        self.progress = progress or get_config().progress
        self.done = 0
        self.blocks = 0
        self._started = time.perf_counter()

    def quiet(self) -> Runner:
        """Return a runner for auxiliary work: without progress and counters."""
        quiet = Runner(self.n_jobs, 0)
        quiet.progress = None
        return quiet

    def run(
        self, work: Work, n_units: int, *, evaluations: int, cost: int, large: bool = False
    ) -> None:
        """Run ``work`` over ``n_units`` units that make up ``evaluations`` kernel values.

        ``cost`` is a rough number of node pairs, which determines the size of the first block.
        Small work runs in the calling thread. So does all work with one job, unless single units
        are ``large``: then the calling thread only waits, so that it can handle Ctrl-C.
        """
        if n_units == 0:
            return
        inline = cost < _INLINE_COST or (self.n_jobs == 1 and not large)
        threads = 1 if inline else min(self.n_jobs, n_units)
        first = int(n_units * _BLOCK_SECONDS / (_SECONDS_PER_COST * max(cost, 1)))
        job = _Job(work, n_units, threads=threads, first=max(1, min(first, n_units)))

        def report() -> None:
            self._report(self.done + evaluations * job.units_done // n_units)

        if inline:
            while job.run_block():
                report()
        else:
            _run_threads([job.run_blocks] * threads, job.stop, report)
        self.blocks += job.blocks
        self.advance(evaluations)

    def call(self, work: Callable[[StopFlag], T], *, cost: int) -> T:
        """Return ``work(stop)``, run in a thread if its cost in node pairs is large."""
        stop: StopFlag = np.zeros(1, dtype=np.int32)
        if cost < _INLINE_COST:
            return work(stop)
        [result] = _run_threads([lambda: work(stop)], stop, lambda: None)
        return result

    def map(self, work: Callable[[S, StopFlag], T], items: Sequence[S], *, cost: int) -> list[T]:
        """Return ``work(item, stop)`` of each item, run in threads if their cost is large.

        The first items are started first. The calling thread only waits, so that it can handle
        Ctrl-C.
        """
        stop: StopFlag = np.zeros(1, dtype=np.int32)
        if cost < _INLINE_COST or not items:
            return [work(item, stop) for item in items]
        waiting = enumerate(items)
        results: dict[int, T] = {}
        lock = threading.Lock()

        def take() -> tuple[int, S] | None:
            with lock:
                return next(waiting, None)

        def run_items() -> None:
            try:
                while not stop[0] and (taken := take()) is not None:
                    results[taken[0]] = work(taken[1], stop)
            except BaseException:
                stop[0] = 1
                raise

        _run_threads([run_items] * min(self.n_jobs, len(items)), stop, lambda: None)
        return [results[at] for at in range(len(items))]

    def advance(self, evaluations: int) -> None:
        """Count finished kernel evaluations."""
        self.done += evaluations
        self._report(self.done)

    def finish(self) -> None:
        """Add the cost of everything that was run to the active counters."""
        seconds = time.perf_counter() - self._started
        count_evaluations(self.done, seconds, self.blocks)
        logger.debug("%d kernel evaluations in %d blocks, %.3f s", self.done, self.blocks, seconds)

    def _report(self, done: int) -> None:
        if self.progress is not None:
            self.progress(min(done, self.total), self.total)


def _run_threads(
    works: list[Callable[[], T]], stop: StopFlag, report: Callable[[], object]
) -> list[T]:
    """Return the results of functions run in a thread each; any exception sets the stop flag."""
    with ThreadPoolExecutor(len(works)) as pool:
        try:
            futures = [pool.submit(work) for work in works]
            while wait(futures, timeout=0.1).not_done:
                report()
        except BaseException:
            stop[0] = 1
            raise
    return [future.result() for future in futures]


class _Job:
    """Divides one piece of work into blocks and hands them out to threads."""

    def __init__(self, work: Work, n_units: int, threads: int, first: int) -> None:
        self.work, self.n_units, self.threads = work, n_units, threads
        self.stop: StopFlag = np.zeros(1, dtype=np.int32)
        self.units_done = self.blocks = 0
        self._size = first
        self._next = 0
        self._lock = threading.Lock()

    def run_block(self) -> bool:
        """Run the next block; return whether there are more."""
        begin, end = self._claim()
        if begin == end:
            return False
        started = time.perf_counter()
        self.work(begin, end, self.stop)
        seconds = time.perf_counter() - started
        with self._lock:
            self.units_done += end - begin
            self.blocks += 1
            fitting = int((end - begin) * _BLOCK_SECONDS / max(seconds, 1e-6))
            self._size = max(1, min(fitting, 4 * self._size))
        return self._next < self.n_units

    def run_blocks(self) -> None:
        """Run blocks until there are none, or another thread failed."""
        try:
            while not self.stop[0] and self.run_block():
                pass
        except BaseException:
            self.stop[0] = 1
            raise

    def _claim(self) -> tuple[int, int]:
        with self._lock:
            # Near the end, leave some units to the other threads.
            fair = -(-(self.n_units - self._next) // self.threads)
            begin = self._next
            self._next = min(self.n_units, begin + max(1, min(self._size, fair)))
            return begin, self._next
