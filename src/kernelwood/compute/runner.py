from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute.config import Progress, get_config, resolve_jobs
from kernelwood.compute.counters import count_evaluations

logger = logging.getLogger("kernelwood")

StopFlag = NDArray[np.int32]
Work = Callable[[int, int, StopFlag], None]

_BLOCK_SECONDS = 0.05  # short enough for progress and Ctrl-C, long enough to drown overheads
_SECONDS_PER_COST = 1e-10  # a first guess, per pair of nodes; later blocks go by the clock
_INLINE_COST = 10**8  # pairs of nodes below which starting threads is not worth it


class Runner:
    """Runs native work in blocks on threads, with progress, prompt Ctrl-C and counters.

    The work is a function ``work(begin, end, stop)`` over a range of units (panels), which
    releases the GIL and returns early when ``stop`` is set. Blocks grow until they take about
    50 ms, whatever the units cost; results must not depend on how they are cut.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads.
    total : int
        Kernel evaluations of the whole computation, for progress.
    progress : callable, optional
        ``progress(done, total)``; by default the one of the settings.
    """

    def __init__(self, n_jobs: int | None, total: int, progress: Progress | None = None) -> None:
        self.n_jobs = resolve_jobs(n_jobs)
        self.total = total
        self.progress = progress or get_config().progress
        self.done = 0
        self.blocks = 0
        self.memo: Any = None  # what parts of the computation leave for each other
        self._started = time.perf_counter()

    def quiet(self) -> Runner:
        """Return a runner for work that is only a means: no progress, no count."""
        quiet = Runner(self.n_jobs, 0)
        quiet.progress = None
        quiet.memo = self.memo
        return quiet

    def run(
        self, work: Work, n_units: int, *, evaluations: int, cost: int, large: bool = False
    ) -> None:
        """Run ``work`` over ``n_units`` units that make up ``evaluations`` kernel values.

        ``cost`` is a rough number of node pairs, from which the first block is sized. With one
        job, and for small work, everything happens in the calling thread, unless single units
        are ``large``: then it must stay free to hear Ctrl-C.
        """
        if n_units == 0:
            return
        inline = cost < _INLINE_COST or (self.n_jobs == 1 and not large)
        threads = 1 if inline else min(self.n_jobs, n_units)
        first = int(n_units * _BLOCK_SECONDS / (_SECONDS_PER_COST * max(cost, 1)))
        job = _Job(work, n_units, threads=threads, first=max(1, min(first, n_units)))
        if inline:
            while job.run_block():
                self._report(self.done + evaluations * job.units_done // n_units)
        else:
            self._run_threads(job, evaluations)
        self.blocks += job.blocks
        self.advance(evaluations)

    def advance(self, evaluations: int) -> None:
        """Count kernel values that are done."""
        self.done += evaluations
        self._report(self.done)

    def finish(self) -> None:
        """Tell the counters what it all cost."""
        seconds = time.perf_counter() - self._started
        count_evaluations(self.done, seconds, self.blocks)
        logger.debug("%d kernel evaluations in %d blocks, %.3f s", self.done, self.blocks, seconds)

    def _report(self, done: int) -> None:
        if self.progress is not None:
            self.progress(min(done, self.total), self.total)

    def _run_threads(self, job: _Job, evaluations: int) -> None:
        threads = [threading.Thread(target=job.run_worker, daemon=True) for _ in range(job.threads)]
        for thread in threads:
            thread.start()
        try:
            while not job.finished.wait(timeout=0.1):
                self._report(self.done + evaluations * job.units_done // job.n_units)
        except BaseException:
            job.stop[0] = 1
            raise
        finally:
            for thread in threads:
                thread.join()
        if job.error is not None:
            raise job.error


class _Job:
    """One piece of work: hands out ranges of units and remembers the first error."""

    def __init__(self, work: Work, n_units: int, threads: int, first: int) -> None:
        self.work, self.n_units, self.threads = work, n_units, threads
        self.stop = np.zeros(1, dtype=np.int32)
        self.finished = threading.Event()
        self.error: BaseException | None = None
        self.units_done = self.blocks = 0
        self._size = first
        self._next = 0
        self._running = threads
        self._lock = threading.Lock()

    def run_block(self) -> bool:
        """Run the next block; return whether there is more."""
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

    def run_worker(self) -> None:
        """Run blocks until there are none, or another worker failed."""
        try:
            while not self.stop[0] and self.run_block():
                pass
        except BaseException as error:
            self.stop[0] = 1
            self.error = self.error or error
        finally:
            with self._lock:
                self._running -= 1
                if self._running == 0:
                    self.finished.set()

    def _claim(self) -> tuple[int, int]:
        with self._lock:
            # Leave the other workers something to do near the end.
            fair = -(-(self.n_units - self._next) // self.threads)
            begin = self._next
            self._next = min(self.n_units, begin + max(1, min(self._size, fair)))
            return begin, self._next
