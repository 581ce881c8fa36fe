"""Combining concurrent requests for a model into batches, which one thread computes.

A request is a `Job` of many small units, sentences or claims. The thread of a model repeatedly
takes units of all waiting jobs in turn, up to a number of characters and candidates, computes them
at once and gives each job its results. Many small requests therefore cost about as much as one
large one, a large request does not block small ones, and a request that has timed out, or whose
client has disconnected, costs at most the current batch. Results do not depend on the other units
of a batch.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any, NamedTuple

from kernelwood.compute import config_context
from kernelwood.errors import KernelwoodError
from kernelwood.web.metrics import Metrics
from kernelwood.web.security import ApiError

_LOG = logging.getLogger(__name__)

BATCH_CHARACTERS = 12_000  # at most 8 seconds of the bundled parser, usually less than one
BATCH_CANDIDATES = 2_000
_GATHERING = 1.0  # seconds in which units of a batch are made
_LONGEST_RETRY = 30  # seconds


class Unit(NamedTuple):
    """A part of a job, with its size."""

    content: Any
    n_characters: int
    n_candidates: int


class Job(ABC):
    """A request that waits for its results.

    Parameters
    ----------
    seconds : float
        Time limit.

    Attributes
    ----------
    result : Future of bytes
        The body of the answer, or an ApiError. If it is canceled, the job ends.
    shared : bool
        Whether its units may be computed together with those of other jobs.
    """

    shared = True

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        self.result: Future[bytes] = Future()
        self.started = time.monotonic()

    @abstractmethod
    def peek(self) -> Unit | None:
        """Return the next unit, None after the last."""

    @abstractmethod
    def pop(self) -> None:
        """Remove the next unit."""

    @abstractmethod
    def compute(self, parts: Sequence[tuple[Any, list[Any]]]) -> None:
        """Compute units of several jobs of this class, ``(job, contents)``, and keep the results.

        It is called on the first job. After an error, it is called for each job again.
        """

    @abstractmethod
    def answer(self) -> bytes:
        """Return the body of the answer, after the last unit."""

    def late(self) -> ApiError:
        """Return the error of a job whose time limit is over."""
        return ApiError(504, "timeout", "the time limit of the request is over")

    def fail(self, failure: Exception) -> None:
        """End the job with an error."""
        if isinstance(failure, ApiError):
            error = failure
        elif isinstance(failure, KernelwoodError):
            error = ApiError(422, "invalid", str(failure).partition("\n")[0])
        else:
            _LOG.error("a request failed", exc_info=failure)
            error = ApiError(
                500, "internal", "an internal error; the log of the server has details"
            )
        if not self.result.done():
            self.result.set_exception(error)


class Worker:
    """The thread that computes the jobs of a model.

    Parameters
    ----------
    name : str
        Name of the model.
    metrics : Metrics
        Gets the numbers of batches and units.
    max_queue : int
        Maximum number of jobs that wait or are computed.
    n_jobs : int, optional
        Number of threads for kernels and the bundled parser.
    """

    def __init__(
        self, name: str, metrics: Metrics, *, max_queue: int, n_jobs: int | None = None
    ) -> None:
        self.name, self.metrics, self.max_queue, self.n_jobs = name, metrics, max_queue, n_jobs
        self._waiting: deque[Job] = deque()
        self._active: list[Job] = []  # replaced by the thread, never changed in place
        self._changed = threading.Condition()  # reentrant
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._seconds = 0.1  # of a job, a moving average

    def __len__(self) -> int:
        """Return the number of jobs that wait or are computed, without those that are answered."""
        with self._changed:
            return len(self._waiting) + sum(not job.result.done() for job in self._active)

    def submit(self, job: Job) -> None:
        """Add a job.

        Raises
        ------
        ApiError
            429 if the queue is full, 503 if the worker has stopped.
        """
        with self._changed:
            if self._stopping:
                raise _stopped()
            if len(self) >= self.max_queue:
                seconds = min(_LONGEST_RETRY, math.ceil(len(self) * self._seconds))
                raise ApiError(
                    429,
                    "busy",
                    f"{len(self)} requests are waiting; try again in {seconds} s",
                    headers={"retry-after": str(seconds)},
                )
            self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name=f"kernelwood-{self.name}", daemon=True
                )
                self._thread.start()
            self._changed.notify()

    def stop(self, seconds: float = 5.0) -> None:
        """Stop after the current batch; jobs that are not complete fail with status 503."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        context = nullcontext() if self.n_jobs is None else config_context(n_jobs=self.n_jobs)
        with context:
            while self._take():
                try:
                    self._step()
                except Exception as failure:  # the thread must survive: it serves all requests
                    for job in self._active:
                        job.fail(failure)
                self._active = [job for job in self._active if not job.result.done()]
        for job in self._active:
            job.fail(_stopped())
        self._active = []

    def _take(self) -> bool:
        """Wait for jobs and take them; return whether to continue."""
        with self._changed:
            while not (self._waiting or self._active or self._stopping):
                self._changed.wait()
            self._active = [*self._active, *self._waiting]
            self._waiting.clear()
            return not self._stopping

    def _step(self) -> None:
        """Compute one batch."""
        now = time.monotonic()
        for job in self._active:
            if now > job.deadline:
                job.fail(job.late())
        self._active = [job for job in self._active if not job.result.done()]
        if not self._active:
            return
        first = self._active[0]
        together = [
            job
            for job in self._active
            if job is first or (type(job) is type(first) and job.shared and first.shared)
        ]
        parts = gather(together)
        if parts:
            self._compute(parts)
        for job in together:
            self._finish(job)
        # Jobs of another class, and those that did not fit, are the first of the next batch.
        served = {id(job) for job, _ in parts}
        self._active = sorted(self._active, key=lambda job: id(job) in served)

    def _compute(self, parts: list[tuple[Job, list[Any]]]) -> None:
        n_units = sum(len(contents) for _, contents in parts)
        self.metrics.add("batches_total", 1, model=self.name)
        self.metrics.add("batch_units_total", n_units, model=self.name)
        try:
            parts[0][0].compute(parts)
            return
        except Exception as failure:
            if len(parts) == 1:
                parts[0][0].fail(failure)
                return
        for job, contents in parts:  # which of them is it?
            try:
                job.compute([(job, contents)])
            except Exception as failure:
                job.fail(failure)

    def _finish(self, job: Job) -> None:
        if job.result.done():
            return
        try:
            if job.peek() is None:
                body = job.answer()
                self._seconds += 0.1 * (time.monotonic() - job.started - self._seconds)
                if not job.result.done():  # the client may be gone
                    job.result.set_result(body)
        except Exception as failure:
            job.fail(failure)


def gather(jobs: Sequence[Job]) -> list[tuple[Job, list[Any]]]:
    """Return units for a batch, taken from jobs in turn, by job.

    The batch has at least one unit, if any is left. A job whose next unit cannot be made fails.
    Units are made on demand, which may take time: entities are found in whole documents.
    """
    end = time.monotonic() + _GATHERING
    taken: dict[int, list[Any]] = {}
    n_characters = n_candidates = 0
    ring = deque(enumerate(jobs))
    while ring:
        number, job = ring.popleft()
        if taken and time.monotonic() > end:
            break
        try:
            unit = job.peek()
        except Exception as failure:
            taken.pop(number, None)
            job.fail(failure)
            continue
        if unit is None:
            continue
        n_characters += unit.n_characters
        n_candidates += unit.n_candidates
        if taken and (n_characters > BATCH_CHARACTERS or n_candidates > BATCH_CANDIDATES):
            break
        job.pop()
        taken.setdefault(number, []).append(unit.content)
        ring.append((number, job))
    return [(jobs[number], contents) for number, contents in sorted(taken.items())]


def _stopped() -> ApiError:
    return ApiError(503, "stopping", "the service is stopping", headers={"retry-after": "5"})
