"""Tasks on the executor of the settings: in threads, processes, or on other machines."""

from __future__ import annotations

import os
import threading
import uuid
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, cast

from kernelwood.compute.blas import one_blas_thread
from kernelwood.compute.config import config_context, get_config
from kernelwood.compute.runner import counting
from kernelwood.errors import ExecutorError
from kernelwood.threads import Ignored, also_ignored, warnings_ignored_now

TASKS_A_WORKER = 4  # so that the last tasks of a call keep all workers busy
_SMALLEST_COST = 10**9  # pairs of nodes, about 0.1 s, below which sending them does not pay
_IN_FLIGHT = 2  # tasks submitted at once, for each worker
_KEPT = 2  # shared data that a worker process keeps, of the last calls

Shared = tuple[Any, ...]
Work = Callable[..., Any]

_here: dict[str, Shared] = {}  # shared data of the calls that run in this process
_received: OrderedDict[str, Shared] = OrderedDict()  # shared data sent to this process
_lock = threading.Lock()


class Warned(NamedTuple):
    """A warning of a task.

    Attributes
    ----------
    message, category, filename, lineno
        As for ``warnings.showwarning``.
    is_filtered : bool
        Whether the filters of the calling process have let it pass.
    """

    message: Warning
    category: type[Warning]
    filename: str
    lineno: int
    is_filtered: bool


class TaskResult(NamedTuple):
    """The result of a task, and its cost.

    Attributes
    ----------
    position : int
        Number of the task.
    value : object
        Result of the work.
    kernel_evaluations, seconds, blocks
        As in :class:`Counters`, of the worker.
    warned : list of Warned
    """

    position: int
    value: Any
    kernel_evaluations: int
    seconds: float
    blocks: int
    warned: list[Warned]


def uses_executor(cost: Callable[[], int]) -> bool:
    """Return whether work of a cost, in pairs of nodes, runs on the executor of the settings.

    Small work does not, and neither does work in a thread of the executor: it would wait for
    itself.
    """
    executor = get_config().executor
    if executor is None or _is_thread_of(executor):
        return False
    return cost() >= _SMALLEST_COST


def _is_thread_of(executor: object) -> bool:
    """Return whether the calling thread is one of an executor's."""
    # By name as well: a pool lists a thread only after it has started it.
    thread, prefix = threading.current_thread(), getattr(executor, "_thread_name_prefix", None)
    return thread in getattr(executor, "_threads", ()) or (
        bool(prefix) and thread.name.startswith(f"{prefix}_")
    )


def count_workers() -> int:
    """Return the number of workers of the executor if it is known, else the number of cores."""
    executor = get_config().executor
    n_workers = getattr(executor, "_max_workers", None)
    if n_workers is None and hasattr(getattr(executor, "_client", None), "nthreads"):  # Dask
        n_workers = sum(executor._client.nthreads().values())  # type: ignore[union-attr]
    return max(1, n_workers or os.cpu_count() or 1)


def run_tasks(
    work: Work, shared: Shared, items: Iterable[Any], receive: Callable[[TaskResult], object]
) -> list[Warned]:
    """Run ``work(*shared, item)`` for each item on the executor; return the warnings.

    A worker process gets the shared data once: the first tasks contain them, later tasks only their
    name. A process that does not have the data reports this, and the task is sent again with them.
    Threads share them. In a task there is no executor; other settings are those of the caller.

    Parameters
    ----------
    work : callable
        A function of a module.
    shared : tuple
        Data of all tasks.
    items : iterable
        Data of each task; read as tasks are submitted.
    receive : callable
        Called with each result, in the order in which they arrive.

    Returns
    -------
    list of Warned
        In the order of the tasks, for :func:`warn_again`.
    """
    call = _Call(work, shared)
    warned: dict[int, list[Warned]] = {}
    waiting = enumerate(items)
    n_workers = count_workers()
    try:
        with _warnings_by_task(), one_blas_thread():  # or threads would change it for each other
            while True:
                while len(call.running) < _IN_FLIGHT * n_workers and call.failed is None:
                    if (taken := next(waiting, None)) is None:
                        break
                    call.submit(*taken, with_data=taken[0] < n_workers)
                call.check()
                if not call.running:
                    return [one for position in sorted(warned) for one in warned[position]]
                for result in call.finished():
                    warned[result.position] = result.warned
                    receive(result)
    finally:
        call.end()


def warn_again(warned: Iterable[Warned]) -> None:
    """Issue the warnings of tasks in the calling process."""
    registry: dict[Any, Any] = {}  # tasks that warn of the same count as one
    for message, category, filename, lineno, is_filtered in warned:
        if is_filtered:
            warnings.showwarning(message, category, filename, lineno)
        else:
            warnings.warn_explicit(message, category, filename, lineno, registry=registry)


class _Call:
    """The tasks of one call."""

    def __init__(self, work: Work, shared: Shared) -> None:
        config = get_config()
        self.running: dict[Future[Any], tuple[int, Any]] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()
        self.failed: tuple[int, Exception] | None = None  # the first, in the order of tasks
        self._executor: Any = config.executor
        self._work, self._shared = work, shared
        self._settings = {name: getattr(config, name) for name in ("n_jobs", "memory", "temp_dir")}
        self._ignored = warnings_ignored_now()
        self._key = uuid.uuid4().hex
        _here[self._key] = shared

    def submit(self, position: int, item: Any, *, with_data: bool) -> None:
        shared = self._shared if with_data else None
        try:
            future = self._executor.submit(
                _run_task, self._key, shared, self._work, item, self._settings, self._ignored
            )
        except (BrokenExecutor, RuntimeError) as failure:  # broken, or shut down
            raise ExecutorError(
                f"the executor {self._executor!r} takes no tasks ({failure}); make a new one"
            ) from failure
        self.running[future] = position, item
        future.add_done_callback(self._done.put)

    def finished(self) -> Iterator[TaskResult]:
        """Wait for some tasks, and yield their results."""
        # Not futures.wait: an interrupt in it can leave a lock that workers wait for.
        done = []
        with suppress(Empty):
            done.append(self._done.get(timeout=0.1))
            while True:
                done.append(self._done.get_nowait())
        for future in sorted(done, key=lambda one: self.running[one][0]):
            position, item = self.running.pop(future)
            try:
                outcome = self._outcome(future)
            except Exception as error:
                if self.failed is None or position < self.failed[0]:
                    self.failed = position, error
                continue
            if outcome is None:
                self.submit(position, item, with_data=True)
            else:
                yield TaskResult(position, *outcome)

    def check(self) -> None:
        """Raise the error of a task that failed, unless an earlier task may still fail."""
        if self.failed is not None:
            position, error = self.failed
            if all(position < other for other, _ in self.running.values()):
                raise error

    def _outcome(self, future: Future[Any]) -> Any:
        try:
            return future.result()
        except (BrokenExecutor, CancelledError) as failure:
            reason = str(failure) or "it was cancelled"
            raise ExecutorError(
                f"the executor {self._executor!r} lost a task ({reason}); "
                "a worker was killed, perhaps for lack of memory, or ended before it was ready; "
                "make a new executor, with fewer workers if memory is scarce"
            ) from failure

    def end(self) -> None:
        """Cancel the tasks that are left; those that run in threads of this process stop soon."""
        del _here[self._key]
        for future in self.running:
            future.cancel()


# In the worker.


def _run_task(
    key: str,
    sent: Shared | None,
    work: Work,
    item: Any,
    settings: Any,
    ignored: tuple[Ignored, ...],
) -> Any:
    """Return what the work returns, its cost and its warnings; None if the data is missing."""
    is_here = key in _here
    shared = _find_shared(key, sent)
    if shared is None:
        return None

    def stop_if_cancelled(done: int, total: int) -> None:
        if is_here and key not in _here:
            raise CancelledError

    progress = stop_if_cancelled if is_here else None

    def run() -> Any:
        with (
            also_ignored(ignored),
            config_context(**settings, executor=None, progress=progress),
            counting() as counters,
            _recorded(is_here) as warned,
        ):
            value = work(*shared, item)
        return value, counters.kernel_evaluations, counters.seconds, counters.blocks, warned

    return Context().run(run)  # nothing of the caller's, even if it is in the same thread


def _find_shared(key: str, sent: Shared | None) -> Shared | None:
    if (here := _here.get(key)) is not None:
        return here
    with _lock:
        if sent is not None:
            _received[key] = sent
            while len(_received) > _KEPT:
                _received.popitem(last=False)
        return sent or _received.get(key)


def _forget() -> None:
    """Leave the data, and a lock that another thread may hold, to the process forked from."""
    global _lock
    _lock = threading.Lock()
    _here.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# Warnings. ``warnings`` has one state for all threads of a process: tasks in threads do not change
# it, but the caller does, who then shows their warnings in the order of tasks.

_warned: ContextVar[list[Warned] | None] = ContextVar("kernelwood_warned", default=None)
_show_before = warnings.showwarning
_n_calls = 0


@contextmanager
def _recorded(is_here: bool) -> Iterator[list[Warned]]:
    """Collect the warnings of a task."""
    warned: list[Warned] = []
    if is_here:
        token = _warned.set(warned)
        try:
            yield warned
        finally:
            _warned.reset(token)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield warned
    warned += [
        Warned(cast("Warning", w.message), w.category, w.filename, w.lineno, False) for w in caught
    ]


@contextmanager
def _warnings_by_task() -> Iterator[None]:
    """Let tasks in threads of this process collect their warnings."""
    global _n_calls, _show_before
    filters = warnings.filters
    with _lock:
        _n_calls += 1
        if _n_calls == 1:
            _show_before, warnings.showwarning = warnings.showwarning, _show
    try:
        yield
    finally:
        with _lock:
            _n_calls -= 1
            if _n_calls == 0:
                warnings.showwarning = _show_before
                warnings.filters = filters  # tasks that change filters at once may leave them so


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    warned = _warned.get()
    if warned is not None:
        warned.append(Warned(cast("Warning", message), category, filename, lineno, True))
    else:
        _show_before(message, category, filename, lineno, file, line)
