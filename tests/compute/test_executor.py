"""Tasks on executors: results, shared data, errors, warnings, Ctrl-C."""

from __future__ import annotations

import operator
import os
import signal
import sys
import threading
import warnings
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest
from executors import Refusing, SeparateWorkers, processes, two_processes  # noqa: F401
from processes import PATIENCE, start_python, stop

import kernelwood as kw
from kernelwood.compute import (
    count_workers,
    executor as library,
    get_config,
    run_tasks,
    uses_executor,
    warn_again,
)
from kernelwood.errors import ExecutorError, KernelInputError

LARGE = 10**12


@pytest.fixture
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


def run(executor, work, shared, items, **settings):
    """Return the values of all tasks, in their order, and the results as they came."""
    results = []
    with kw.config_context(executor=executor, **settings):
        warn_again(run_tasks(work, shared, items, results.append))
    return [r.value for r in sorted(results, key=lambda r: r.position)]


def settings_of_task(_):
    config = get_config()
    return config.executor, config.n_jobs, config.memory, uses_executor(lambda: LARGE)


@pytest.mark.parametrize("bad", ["threads", ThreadPoolExecutor, 3])
def test_a_bad_executor_is_named(bad):
    with (
        pytest.raises(KernelInputError, match="executor must be a concurrent"),
        kw.config_context(executor=bad),
    ):
        pass


@pytest.mark.parametrize("n", [0, 1, 3, 100])
def test_every_item_has_its_result(threads, n):
    assert run(threads, operator.sub, (1000,), range(n)) == [1000 - i for i in range(n)]


def test_processes_give_the_same(processes):  # noqa: F811
    assert run(processes, operator.sub, (1000,), range(30)) == [1000 - i for i in range(30)]


# Shared data.


@pytest.mark.parametrize("n_workers", [1, 2, 5])
def test_each_worker_gets_shared_data_once(n_workers):
    workers = SeparateWorkers(n_workers)
    data = bytes(10_000)
    assert run(workers, operator.getitem, (data,), range(40)) == [0] * 40
    assert workers.n_with_data == n_workers
    assert len(workers.sent) == 40 and sum(workers.sent) < n_workers * 10_000 + 40 * 1000


def test_a_worker_that_is_not_known_gets_shared_data_when_it_asks():
    workers = SeparateWorkers(3, claimed=1)
    assert run(workers, operator.sub, (100,), range(20)) == [100 - i for i in range(20)]
    assert workers.n_with_data >= 3


def test_calls_do_not_share_data():
    workers = SeparateWorkers(2)
    for number in (100, 200, 300):
        assert run(workers, operator.sub, (number,), range(9)) == [number - i for i in range(9)]
    assert workers.n_with_data == 6
    assert all(len(memory) == library._KEPT for memory in workers._memories)


def test_threads_get_the_data_itself(threads):
    data = [object()]
    assert run(threads, operator.getitem, (data,), [0, 0, 0]) == data * 3


def test_nothing_is_kept_after_a_call(threads):
    run(threads, operator.sub, (1000,), range(5))
    with pytest.raises(ZeroDivisionError):
        run(threads, operator.floordiv, (1,), [0])
    assert library._here == {} and len(library._received) == 0


def test_items_are_made_as_they_are_sent(threads):
    made = []

    def items():
        for number in range(50):
            made.append(number)
            yield number

    most = []
    with kw.config_context(executor=threads):
        run_tasks(operator.sub, (0,), items(), lambda result: most.append(len(made)))
    assert most[0] <= 5 and len(made) == 50


# Workers.


def test_workers_are_counted(threads, processes):  # noqa: F811
    class Unknown(Executor):
        pass

    for executor, number in ((threads, 2), (processes, 2), (Unknown(), os.cpu_count())):
        with kw.config_context(executor=executor):
            assert count_workers() == number


def test_a_task_has_the_settings_but_not_the_executor(threads):
    before = get_config()
    try:
        kw.compute.set_config(executor=threads)
        [found] = run(threads, settings_of_task, (), [0], n_jobs=2, memory="1GB")
    finally:
        kw.compute.set_config(executor=before.executor)
    assert found == (None, 2, "1GB", False)


def test_a_thread_of_the_executor_does_not_wait_for_itself(force_executor):
    words = [kw.Sequence(["a", "b"])] * 20

    def compute():
        with kw.config_context(executor=pool):
            return kw.SubsequenceKernel().gram(words)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(compute).result(timeout=PATIENCE).shape == (20, 20)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked")
def test_a_forked_process_has_no_executor(run_python):
    found = run_python(
        "import os, kernelwood as kw",
        "from concurrent.futures import ThreadPoolExecutor",
        "pool = ThreadPoolExecutor(1)",
        "kw.compute.set_config(executor=pool)",
        "with kw.config_context(executor=pool):",
        "    child = os.fork()",
        "    if child == 0:",
        "        os._exit(0 if kw.compute.get_config().executor is None else 7)",
        "if child == 0: os._exit(9)",
        "print(os.waitpid(child, 0)[1], kw.compute.get_config().executor is pool)",
    )
    assert found == "0 True"


def test_small_work_and_none_is_not_for_an_executor(threads):
    assert not uses_executor(lambda: LARGE)
    with kw.config_context(executor=threads):
        assert uses_executor(lambda: LARGE) and not uses_executor(lambda: 10)
    with kw.config_context(executor=Refusing()):
        kw.SubsequenceKernel().gram([kw.Sequence(["a"])] * 50)


# Errors.


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_an_error_of_a_task_is_raised_as_it_is(kind, request):
    with pytest.raises(ZeroDivisionError, match="by zero"):
        run(request.getfixturevalue(kind), operator.floordiv, (1,), [1, 2, 0, 3])


def test_errors_of_the_library_come_from_processes(processes):  # noqa: F811
    with pytest.raises(KernelInputError, match="n_jobs must be"):
        run(processes, kw.compute.resolve_jobs, (), [1, "x"])


class Pending(Executor):
    """Finishes tasks only when told to."""

    _max_workers = 2

    def __init__(self):
        self.futures = []

    def submit(self, function, /, *arguments):
        self.futures.append(Future())
        if len(self.futures) == 4:
            self.finish()
        return self.futures[-1]

    def finish(self):
        raise NotImplementedError


def test_of_several_errors_the_first_in_order_is_raised():
    class LastFails(Pending):
        def finish(self):
            self.futures[2].set_exception(LookupError("third"))
            timer = threading.Timer(0.2, self.futures[1].set_exception, [LookupError("second")])
            self.futures[0].set_result((0, 0, 0.0, 0, []))
            timer.start()

    executor = LastFails()
    with pytest.raises(LookupError, match="second"):
        run(executor, operator.sub, (0,), range(10))
    assert len(executor.futures) == 4 and executor.futures[3].cancelled()


@pytest.mark.parametrize("error", [KeyboardInterrupt, LookupError])
def test_an_interruption_cancels_what_waits(error):
    class OneFinishes(Pending):
        def finish(self):
            self.futures[1].set_result((0, 0, 0.0, 0, []))

    def receive(result):
        raise error

    executor = OneFinishes()
    with kw.config_context(executor=executor), pytest.raises(error):
        run_tasks(operator.sub, (0,), range(10), receive)
    assert [future.cancelled() for future in executor.futures] == [True, False, True, True]
    assert library._here == {}


def test_an_executor_that_is_shut_down_is_named(threads):
    threads.shutdown()
    with pytest.raises(ExecutorError, match=r"takes no tasks .*make a new one"):
        run(threads, operator.sub, (0,), range(3))


def test_a_worker_that_is_killed_is_an_error():
    with two_processes() as pool:
        with pytest.raises(ExecutorError, match="lost a task"):
            run(pool, os._exit, (), [1])
        with pytest.raises(ExecutorError, match="takes no tasks"):
            run(pool, operator.sub, (0,), range(3))


def test_cancelled_tasks_are_an_error():
    class Cancelling(Pending):
        def finish(self):
            for future in self.futures:
                future.cancel()
                future.set_running_or_notify_cancel()

    with pytest.raises(ExecutorError, match="it was cancelled"):
        run(Cancelling(), operator.sub, (0,), range(10))


def test_tasks_in_threads_stop_when_the_call_is_interrupted():
    running, ended = threading.Event(), []

    def work(item):
        if item == 0:
            assert running.wait(timeout=PATIENCE)
            raise LookupError
        running.set()
        progress = get_config().progress
        try:
            while True:
                progress(0, 1)
        finally:
            ended.append(item)

    with ThreadPoolExecutor(2) as pool, pytest.raises(LookupError):
        run(pool, work, (), range(8))
    assert 1 in ended  # and any other that had begun, or the pool would still wait for it


INTERRUPTED = """
import random
import kernelwood as kw
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from kernelwood.kernels import on_executor
if __name__ == "__main__":
    rng = random.Random(0)
    words = [str(i) for i in range(50)]
    X = kw.batch([kw.Sequence(rng.choices(words, k=60)) for _ in range(1000)] * 20)
    on_executor.TASKS_A_WORKER = 4000
    said = []
    def say(done, total):
        if not said:
            print("running", flush=True)
            said.append(done)
    with {pool}(2) as pool:
        try:
            with kw.config_context(executor=pool, progress=say):
                kw.SubsequenceKernel().neighbors(X, X, 1)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("pool", ["ThreadPoolExecutor", "ProcessPoolExecutor"])
def test_ctrl_c_ends_a_long_computation(pool):
    process = start_python("-c", INTERRUPTED.format(pool=pool))
    assert process.stdout.readline() == "running\n", process.communicate()
    done = stop(process, signal.SIGINT)  # it would go on for ten minutes or more
    assert done.stdout == "interrupted\n"


# Warnings.


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_warnings_come_in_the_order_of_tasks(kind, request):
    texts = [f"warning {i}" for i in range(20)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(request.getfixturevalue(kind), warnings.warn, (), texts)
    assert [str(one.message) for one in caught] == texts
    assert {one.category for one in caught} == {UserWarning}


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_filters_are_those_of_the_caller(kind, request):
    executor = request.getfixturevalue(kind)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        run(executor, warnings.warn, (), ["ignored"])
    assert caught == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="raised"):
            run(executor, warnings.warn, (), ["raised"])


def test_warnings_are_as_before_afterwards(threads):
    show, filters = warnings.showwarning, warnings.filters
    run(threads, operator.sub, (0,), range(3))
    assert warnings.showwarning is show and warnings.filters is filters
