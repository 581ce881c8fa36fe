"""Running plans on the workers of a Dask cluster; needs the extra ``dask``.

A shard is a task. Driver, scheduler and workers exchange only the name of a function of this
module, the folder of the plan, the number of the shard, and a small dictionary of strings and
numbers as its result: errors are returned, not raised. The workers write results to the folder of
the plan, which must be on a file system that all of them share.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import signal
import socket
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from kernelwood import __version__
from kernelwood.compute import budget, config_context, format_bytes
from kernelwood.errors import KernelInputError, KernelwoodError, MissingPackageError
from kernelwood.scale.parts import is_complete, lock_file, note_failure
from kernelwood.scale.plan import Plan, PlanError, open_plan
from kernelwood.scale.running import Run, run_shard
from kernelwood.structures import shorten

_PER_THREAD = 4  # tasks for each thread of the cluster, so that no worker waits for the next one
_FEWEST = 16  # tasks for a cluster of few workers, which may grow
_POLL = 0.05  # seconds between looks at finished tasks
_ASKED = 5.0  # seconds after which the size of the cluster is asked for again
_DEATHS = 3  # workers that a shard may kill
_ATTEMPTS = 3  # submissions of a shard that only waited on workers that died
_BUDGET = 0.75  # fraction of the memory limit of a worker, see `kernelwood.compute.budget`
_START = 120  # seconds for the start of a worker
_CLOSE = 60  # seconds for the end of a local cluster
_MOST_WORKERS = 1024  # of a local cluster
_LARGEST = 1 << 20  # bytes of a scheduler file
_REPEAT = "run the plan again: shards that are finished are not computed again"


class ClusterError(KernelwoodError, ConnectionError):
    """A cluster cannot be started or reached, or was lost during a run."""


# Work, on the workers. These functions are sent by their names.


def compute_shard(folder: str, number: int, base: str | None = None) -> dict[str, Any]:
    """Compute a shard on a worker, within the memory of the worker.

    Parameters
    ----------
    folder : str
        Folder of the plan.
    number : int
    base : str, optional
        Folder to which the paths of inputs are relative.

    Returns
    -------
    dict
        As from `run_shard`; the state may also be ``"failed"``, or ``"refused"`` if the plan cannot
        be used on this worker, with the ``error``.
    """
    try:
        with config_context(**_settings()):
            return run_shard(folder, number, base=base)
    except PlanError as failure:
        error = f"{failure}\n    on the worker {worker_name()}"
        return {"shard": number, "state": "refused", "error": error}
    except (KernelwoodError, OSError) as failure:
        return {"shard": number, "state": "failed", "error": str(failure)}


def inspect_worker(folder: str) -> dict[str, Any]:
    """Return the version of kernelwood on a worker, and the plan that it finds in a folder."""
    made: dict[str, Any] = {"kernelwood": __version__, "name": worker_name()}
    try:
        made["plan"] = open_plan(folder).id
    except (KernelwoodError, OSError) as failure:
        made["error"] = str(failure)
    return made


def worker_name() -> str:
    """Return the host and process of a worker, for messages."""
    return f"{socket.gethostname()}, process {os.getpid()}"


def _settings() -> dict[str, Any]:
    """Return the memory budget that fits the memory limit of the worker."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:  # not on a worker
        return {}
    limit = worker.memory_manager.memory_limit
    threads = max(1, worker.state.nthreads)
    return {"memory": max(1, int(limit * _BUDGET / threads))} if limit else {}


# Runs, on the driver.


def run_on_cluster(
    plan: Plan,
    todo: Iterable[int],
    client: Any,
    *,
    base: str | None = None,
    finished: Callable[[int], object] = lambda number: None,
) -> Run:
    """Compute shards on the workers of a cluster.

    A shard that fails, or that kills three workers, does not stop the others.

    Parameters
    ----------
    plan : Plan
        In a folder that has the same path for the workers.
    todo : iterable of int
        Shards to compute.
    client : dask.distributed.Client
    base : str, optional
        Folder to which the paths of inputs are relative; by default the one at planning.
    finished : callable
        Called with the number of each shard that is done, busy or failed.

    Returns
    -------
    Run

    Raises
    ------
    PlanError
        If a worker has another version of kernelwood, or does not find the plan.
    ClusterError
        If the scheduler was lost.

    Warns
    -----
    UserWarning
        If workers have several threads, or the cluster has no workers yet.
    """
    wanted = list(todo)
    made = Run()
    if not wanted:
        return made
    tasks = _Tasks(client, plan, base)
    with tasks:
        with _naming_losses():
            _check_workers(plan, client)
        for number, outcome in tasks.outcomes(wanted):
            _note(plan, made, number, outcome)
            if outcome["state"] != "busy":
                finished(number)
        # The process that was busy may have been killed meanwhile, or its worker was lost.
        again, made.busy = made.busy, []
        for number, outcome in tasks.outcomes(again):
            _note(plan, made, number, outcome)
            finished(number)
    made.busy = [number for number in made.busy if not is_complete(plan, number)]
    made.done.sort()
    return made


def _note(plan: Plan, made: Run, number: int, outcome: dict[str, Any]) -> None:
    state = outcome["state"]
    if state == "refused":
        raise PlanError(outcome["error"])
    if state == "failed":
        made.failed[number] = outcome["error"]
    else:
        (made.busy if state == "busy" else made.done).append(number)
    if state == "failed" and outcome.get("killed"):
        note_failure(plan, number, outcome["error"])


class _Tasks:
    """Shards as tasks of a cluster, some of them at a time; the others are canceled at the end."""

    def __init__(self, client: Any, plan: Plan, base: str | None) -> None:
        self._client, self._plan, self._base = client, plan, base
        # Runs do not share tasks: the result of an earlier one may be an error.
        self._prefix = f"kernelwood-{plan.id[:12]}-{secrets.token_hex(4)}"
        self._attempts: Counter[int] = Counter()
        self._running: dict[str, tuple[int, Any]] = {}
        self._limit, self._asked, self._alive = 0, float("-inf"), time.monotonic()

    def __enter__(self) -> _Tasks:
        return self

    def __exit__(self, *failure: Any) -> None:
        futures = [future for _, future in self._running.values()]
        self._running.clear()
        if futures and self._client.status == "running":
            with suppress(OSError, TimeoutError):  # the scheduler is gone, and with it the tasks
                self._client.cancel(futures, force=True)

    def outcomes(self, numbers: Iterable[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the outcome of each shard when it is known."""
        from distributed import as_completed

        waiting = iter(numbers)
        with _naming_losses():
            completed = as_completed(loop=self._client.loop, with_results=True, raise_errors=False)
            while True:
                for number in islice(waiting, max(0, self._capacity() - len(self._running))):
                    completed.add(self._submit(number))
                if not self._running:
                    return
                if not completed.has_ready():
                    time.sleep(_POLL)
                for future, result in completed.next_batch(block=False):
                    number, _ = self._running.pop(future.key)
                    try:
                        outcome = self._outcome(number, future, result)
                    finally:
                        future.release()  # the scheduler forgets the task
                    if outcome is None:
                        completed.add(self._submit(number))
                    else:
                        yield number, outcome

    def _submit(self, number: int) -> Any:
        self._attempts[number] += 1
        key = f"{self._prefix}-{number}-{self._attempts[number]}"
        arguments = (os.fspath(self._plan.folder.absolute()), number, self._base)
        future = self._client.submit(compute_shard, *arguments, key=key, pure=False)
        self._running[key] = (number, future)
        return future

    def _outcome(self, number: int, future: Any, result: Any) -> dict[str, Any] | None:
        """Return the outcome of a shard; None if it has to be computed again."""
        from distributed import KilledWorker

        if isinstance(result, dict):  # also if the worker died afterwards, and the task runs again
            return result
        if future.cancelled():
            raise ClusterError(f"the tasks were canceled: {result}\n    {_REPEAT}")
        _, failure, trace = result
        if not isinstance(failure, KilledWorker):
            raise failure.with_traceback(trace)
        # Workers that die are blamed on all tasks they have; only one that has begun is locked.
        begun = lock_file(self._plan, number).exists()
        if not begun and self._attempts[number] < _ATTEMPTS:
            return None
        error = (
            f"{failure.allowed_failures + 1} workers ended while they computed the shard, the last "
            f"one at {failure.last_worker.address}; often they need more memory than they have"
        )
        return {"shard": number, "state": "failed", "error": error, "killed": True}

    def _capacity(self) -> int:
        """Return the number of tasks that the cluster may have, which changes with its size."""
        now = time.monotonic()
        if now - self._asked >= _ASKED:
            threads = sum(self._client.nthreads().values())
            self._limit = max(_FEWEST, _PER_THREAD * threads)
            self._asked = now
            self._alive = now if threads else self._alive
            if now - self._alive > _START and _is_local(self._client):
                raise ClusterError(f"the workers ended and do not start again\n    {_REPEAT}")
        return self._limit


def _is_local(client: Any) -> bool:
    """Return whether the workers of a cluster were started here; no others will come."""
    from distributed import LocalCluster

    return isinstance(client.cluster, LocalCluster)


def _check_workers(plan: Plan, client: Any) -> None:
    """Raise `PlanError` if workers cannot compute a plan; those that join later check it, too."""
    threads = client.nthreads()
    if not threads:
        warnings.warn("the cluster has no workers yet; the run waits for them", stacklevel=4)
        return
    several = [address for address, n in threads.items() if n > 1]
    if several:
        warnings.warn(
            f"{len(several)} of {len(threads)} workers have several threads, such as {several[0]}; "
            "workers of one thread are faster: dask worker --nworkers N --nthreads 1",
            stacklevel=4,
        )
    folder = os.fspath(plan.folder.absolute())
    found = client.run(inspect_worker, folder, workers=list(threads), on_error="return")
    for address, about in found.items():
        if isinstance(about, OSError):  # a worker that was lost meanwhile
            continue
        if isinstance(about, Exception):
            raise PlanError(
                f"the worker {address} cannot import kernelwood {__version__}: "
                f"{shorten(str(about))}",
                hint="install the same version on all machines",
            )
        if about["kernelwood"] != plan.versions["kernelwood"]:
            raise PlanError(
                f"the plan was made by kernelwood {plan.versions['kernelwood']}, but the worker "
                f"{address} ({about['name']}) has {about['kernelwood']}",
                path=plan.folder,
                hint="install the same version on all machines",
            )
        if about.get("plan") != plan.id:
            raise PlanError(
                f"the worker {address} ({about['name']}) does not find the plan: "
                f"{about.get('error', 'another plan is there')}",
                hint="put the plan into a folder that all machines share, under the same path",
            )


@contextmanager
def _naming_losses() -> Iterator[None]:
    """Name the loss if the scheduler cannot be reached any more."""
    from distributed import CancelledError

    try:
        yield
    except KernelwoodError:
        raise
    except (OSError, CancelledError, TimeoutError) as failure:
        raise ClusterError(
            f"the scheduler of the cluster was lost: {shorten(str(failure))}\n    {_REPEAT}"
        ) from failure


# Clusters.


def check_cluster(spec: str | os.PathLike[str]) -> None:
    """Raise an error if `open_cluster` does not accept a description; no connection is made."""
    _described(spec)
    _distributed()


def _described(spec: str | os.PathLike[str]) -> int | str:
    """Return the number of local workers, or the address of a scheduler."""
    text = os.fspath(spec)
    if (workers := _local_workers(text)) is not None:
        return workers
    return text if re.match(r"(tcp|tls)://.", text) else _scheduler_address(text)


@contextmanager
def open_cluster(spec: str | os.PathLike[str], *, timeout: float = 30) -> Iterator[Any]:
    """Connect to a cluster, or start one on this machine; a context that gives a client.

    Parameters
    ----------
    spec : str or PathLike
        ``"local:4"`` for 4 processes on this machine, which share the memory budget and end with
        the context; ``"local"`` for one process for each core; ``"tcp://host:8786"`` for a
        scheduler that runs; or the file that ``dask scheduler --scheduler-file`` writes.
    timeout : float
        Seconds to wait for a scheduler.

    Yields
    ------
    dask.distributed.Client

    Raises
    ------
    KernelInputError
        If ``spec`` does not describe a cluster.
    ClusterError
        If the scheduler does not answer, or workers do not start.

    Examples
    --------
    >>> with open_cluster("local:1") as client:
    ...     client.submit(len, "abc").result()
    3
    """
    found = _described(spec)
    with ExitStack() as opened:
        if isinstance(found, int):
            yield opened.enter_context(_local_client(found, timeout))
            return
        package = _distributed()
        try:
            client = package.Client(found, timeout=timeout, set_as_default=False)
        except (OSError, ValueError, TypeError) as failure:
            raise ClusterError(
                f"no scheduler answers at {found}: {shorten(str(failure))}\n"
                "    start one with: dask scheduler"
            ) from failure
        with client:
            yield client


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as failure:
        raise MissingPackageError(
            "clusters need the package distributed; install it with: pip install 'kernelwood[dask]'"
        ) from failure
    return distributed


def _local_workers(spec: str) -> int | None:
    """Return the number of workers of ``local:N``; None if the text describes something else."""
    if spec == "local":
        return max(1, os.cpu_count() or 1)
    match = re.fullmatch(r"local:(.*)", spec, re.DOTALL)
    if match is None:
        return None
    digits = match[1] if re.fullmatch(r"[0-9]{1,6}", match[1]) else "0"
    if not 1 <= int(digits) <= _MOST_WORKERS:
        raise KernelInputError(
            f"local:N starts N workers, from 1 to {_MOST_WORKERS}, got {shorten(repr(spec))}"
        )
    return int(digits)


def _scheduler_address(path: str) -> str:
    """Return the address in a scheduler file."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST)
    except (OSError, ValueError) as failure:
        raise KernelInputError(
            f"{shorten(repr(path))} is not a cluster: {getattr(failure, 'strerror', failure)}\n"
            "    give local:N, tcp://host:8786, or the file of dask scheduler --scheduler-file"
        ) from None
    try:
        address = json.loads(data)["address"]
        if not isinstance(address, str) or not re.match(r"(tcp|tls)://.", address):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise KernelInputError(
            f"{path} is not a scheduler file: it must be a JSON object with an address such as "
            "tcp://host:8786\n    dask scheduler --scheduler-file writes one"
        ) from None
    return address


# Forks of a process with system frameworks, as on macOS, are not safe.
_START_METHOD = "forkserver" if sys.platform == "linux" else "spawn"

# Settings of clusters that are started here.
_LOCAL: dict[str, Any] = {
    # Returns every freed block to the system, which doubles the CPU time of small objects.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    "distributed.scheduler.allowed-failures": _DEATHS - 1,
    # A task waits at the scheduler until a worker is free, so that workers that die have one task.
    "distributed.scheduler.worker-saturation": 1.0,
    # Results are small, models stay: nothing to write to disk, and waiting frees no memory.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    # Histories, which grow with the number of tasks and with time.
    "distributed.admin.system-monitor.log-length": 10,
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.log-length": 100,
    # Pages about the state of the cluster, which nobody reads.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # A worker that was killed is started again, however often; Dask gives up if it is slow.
    "distributed.deploy.lost-worker-timeout": "365 days",
    "distributed.comm.timeouts.connect": "60s",
    # Workers are forks of one process that has imported everything, see `_start_fork_server`.
    "distributed.worker.multiprocessing-method": _START_METHOD,
}
# What computing a shard of the usual commands imports; workers import the rest one by one.
_IMPORTED = (
    "distributed",
    "distributed.nanny",
    "kernelwood.scale.cluster",
    "kernelwood.scale.tasks",
    "kernelwood.persist.models",
    "kernelwood.relations.extractor",
    "kernelwood.relations.prediction_stream",
    "kernelwood.relations.writers",
    "kernelwood.learners.kernel_svc",
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # of a worker


@contextmanager
def _local_client(workers: int, timeout: float) -> Iterator[Any]:
    _start_fork_server()  # imports meanwhile
    package = _distributed()
    import dask

    # It reports lost connections, with tracebacks, also after the cluster was closed.
    logging.getLogger("distributed.batched").setLevel(logging.WARNING)
    limit = budget() // workers
    # Dask sets the variables of workers in this process.
    variables = dask.config.get("distributed.nanny.pre-spawn-environ")
    with (
        _kept_variables(("PYTHONHASHSEED", "__DASK_PARENT_PID", *variables)),
        dask.config.set(_LOCAL),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", module="distributed")
        try:
            with _interrupts_blocked():
                cluster = package.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    # Not the usual port, which another cluster may use.
                    scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                    memory_limit=limit,
                    death_timeout=_START,
                    silence_logs=logging.CRITICAL,
                )
        except (OSError, RuntimeError, TimeoutError) as failure:
            raise ClusterError(
                f"{workers} workers with {format_bytes(limit)} each do not start: "
                f"{shorten(str(failure))}\n    in a program, open the cluster below: "
                'if __name__ == "__main__":'
            ) from failure
        try:
            with package.Client(cluster, timeout=timeout, set_as_default=False) as client:
                yield client
        finally:
            _kill_workers(cluster)
            with suppress(TimeoutError):
                cluster.close(timeout=_CLOSE)


def _kill_workers(cluster: Any) -> None:
    """End the workers of a local cluster, which have nothing to lose, and are not replaced."""
    nannies = list(cluster.workers.values())
    for nanny in nannies:
        nanny.close_gracefully(reason="kernelwood has finished")
    for nanny in nannies:
        if (number := nanny.pid) is not None:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)


def _start_fork_server() -> None:
    """Start the process of which workers are forks, which imports what they need.

    It has no threads that a fork would miss: libraries for linear algebra are told to use one
    thread. It ends with this process; one that runs already is used as it is.
    """
    if _START_METHOD != "forkserver":
        return
    from multiprocessing import forkserver

    with _kept_variables(_THREADS), _interrupts_blocked():
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        forkserver.set_forkserver_preload(list(_IMPORTED))
        forkserver.ensure_running()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C for threads and processes that are started here, which the driver ends."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # otherwise it is started by a thread, and unblocks it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _kept_variables(names: Iterable[str]) -> Iterator[None]:
    """Undo changes to variables of the environment."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
