"""Blocks on threads, progress, Ctrl-C, counters."""

from __future__ import annotations

import signal
import sys
import threading
import time

import numpy as np
import pytest
from processes import PATIENCE, start_python, stop
from strategies import sample_sequences, sample_trees

import kernelwood as kw
from kernelwood.compute import Counters, Runner, count_evaluations
from kernelwood.errors import KernelInputError
from kernelwood.structures import Sequence

LARGE, SMALL = 10**12, 0  # costs that run on threads, and inline

KERNEL = kw.SubsequenceKernel()
SEQUENCES = [Sequence(["a", "b"]), Sequence(["b"]), Sequence(["a"])]


def run(work, n_units, *, n_jobs=2, cost=LARGE, progress=None):
    runner = Runner(n_jobs, 10 * n_units, progress)
    runner.run(work, n_units, evaluations=10 * n_units, cost=cost)
    return runner


@pytest.mark.parametrize("cost", [LARGE, SMALL])
@pytest.mark.parametrize("n_jobs", [1, 2, 7])
@pytest.mark.parametrize("n_units", [1, 2, 100, 1001])
def test_every_unit_is_worked_once(n_units, n_jobs, cost):
    visits = np.zeros(n_units, dtype=int)
    lock = threading.Lock()

    def work(begin, end, stop):
        with lock:
            visits[begin:end] += 1

    run(work, n_units, n_jobs=n_jobs, cost=cost)
    assert (visits == 1).all()


def test_no_units_are_no_work():
    run(lambda *_: pytest.fail("nothing to do"), 0)


def test_small_work_stays_in_the_calling_thread():
    seen = []
    run(lambda *_: seen.append(threading.current_thread()), 5, cost=SMALL)
    assert set(seen) == {threading.current_thread()}


def test_several_threads_work_at_once():
    together = threading.Barrier(3, timeout=PATIENCE)
    run(lambda *_: together.wait(), 3, n_jobs=3)


@pytest.mark.parametrize("cost", [LARGE, SMALL])
def test_an_error_in_the_work_comes_out(cost):
    def work(begin, end, stop):
        raise LookupError("in the work")

    with pytest.raises(LookupError, match="in the work"):
        run(work, 50, n_jobs=3, cost=cost)


def test_an_error_stops_the_other_threads():
    stopped = []
    started = threading.Event()

    def work(begin, end, stop):
        if begin == 0:
            started.wait(timeout=PATIENCE)
            raise LookupError
        started.set()
        for _ in range(100 * PATIENCE):
            if stop[0]:
                stopped.append(begin)
                return
            time.sleep(0.01)

    with pytest.raises(LookupError):
        run(work, 2, n_jobs=2)
    assert stopped == [1]


def test_progress_rises_and_ends_at_the_total():
    calls = []
    run(
        lambda *_: time.sleep(0.03),
        12,
        n_jobs=2,
        progress=lambda done, total: calls.append((done, total)),
    )
    done = [d for d, _ in calls]
    assert len(calls) > 1 and done == sorted(done) and calls[-1] == (120, 120)


def test_an_error_in_the_progress_callback_stops_the_work():
    ended = threading.Event()

    def work(begin, end, stop):
        while not stop[0]:
            time.sleep(0.01)
        ended.set()

    def fail(done, total):
        raise LookupError("in the callback")

    with pytest.raises(LookupError, match="in the callback"):
        run(work, 1, progress=fail)
    assert ended.is_set()


def test_a_bad_number_of_threads_is_named():
    with pytest.raises(KernelInputError, match="n_jobs"):
        Runner(0, 10)


INTERRUPTED = """
import random
import kernelwood as kw
rng = random.Random(0)
{make}
said = []
def say(done, total):
    if not said:
        print("running", flush=True)
        said.append(done)
try:
    with kw.config_context(progress=say):
        compute()
except KeyboardInterrupt:
    print("interrupted")
"""


MANY_SEQUENCES = """
words = [str(i) for i in range(50)]
X = kw.batch([kw.Sequence(rng.choices(words, k=60)) for _ in range(3000)] * 14)
compute = lambda: kw.SubsequenceKernel(n_jobs={n_jobs}).neighbors(X, X, 1)
"""


LONG_SEQUENCES = """
X = kw.batch([kw.Sequence(rng.choices("ab", k=3_000)) for _ in range(430)])
compute = lambda: kw.SubsequenceKernel(decay=0.5, n_jobs={n_jobs}).gram(X)
"""


WIDE_TREES = """
X = kw.batch([kw.Tree("n", [kw.Tree("x")] * n) for n in range(20_000, 20_200)])
compute = lambda: kw.PartialTreeKernel(decay=0.5, n_jobs={n_jobs}).gram(X)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize(
    ("make", "n_jobs"),
    [
        pytest.param(MANY_SEQUENCES, 1, id="many sequences"),
        pytest.param(MANY_SEQUENCES, 2, id="many sequences on threads"),
        pytest.param(LONG_SEQUENCES, 1, id="long sequences"),
        pytest.param(WIDE_TREES, 1, id="few wide trees"),
    ],
)
def test_ctrl_c_ends_a_long_computation(make, n_jobs):
    process = start_python("-c", INTERRUPTED.format(make=make.format(n_jobs=n_jobs)))
    assert process.stdout.readline() == "running\n", process.communicate()
    done = stop(process, signal.SIGINT)  # each would go on for ten minutes or more
    assert done.stdout == "interrupted\n"


def test_building_for_longish_sequences_leaves_the_main_thread_free(monkeypatch):
    called, call = [], Runner.call

    def recorded(self, work, *, cost):
        def traced(stop):
            called.append(threading.current_thread())
            return work(stop)

        return call(self, traced, cost=cost)

    monkeypatch.setattr(Runner, "call", recorded)
    # All different: equal sequences are compared once.
    sequences = kw.batch([kw.Sequence(map(str, range(n, n + 2000))) for n in range(30)])
    kw.SubsequenceKernel(n_jobs=1).cross(sequences[:1], sequences)
    # The engine, which compares each sequence with itself.
    assert any(thread is not threading.main_thread() for thread in called)


@pytest.mark.parametrize(
    ("kernel", "structures"),
    [
        (kw.PartialTreeKernel(n_jobs=2), sample_trees(150)),
        (kw.SubsequenceKernel(n_jobs=2), sample_sequences(150)),
    ],
    ids=["trees", "sequences"],
)
def test_computing_in_two_threads_at_once_changes_no_bit(kernel, structures, monkeypatch):
    monkeypatch.setattr("kernelwood.compute.runner._INLINE_COST", 0)
    batch = kw.batch(structures)
    alone = kernel.gram(batch)
    found = [[], []]

    def compute(results):
        results.extend(kernel.gram(batch) for _ in range(5))

    threads = [threading.Thread(target=compute, args=(results,)) for results in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for matrix in (*found[0], *found[1]):
        np.testing.assert_array_equal(matrix, alone)


def test_counting_starts_at_nothing():
    with kw.compute.counting() as counters:
        pass
    assert counters == Counters()


def test_computations_add_up():
    with kw.compute.counting() as counters:
        KERNEL.gram(SEQUENCES)
        KERNEL.cross(SEQUENCES, SEQUENCES[:1])
    assert counters.kernel_evaluations == 6 + 3
    assert counters.blocks >= 2 and counters.seconds > 0


def test_counting_ends_with_its_block():
    with kw.compute.counting() as counters:
        KERNEL.gram(SEQUENCES)
    KERNEL.gram(SEQUENCES)
    assert counters.kernel_evaluations == 6


def test_nested_counters_count_the_same():
    with kw.compute.counting() as outer:
        KERNEL.gram(SEQUENCES)
        with kw.compute.counting() as inner:
            KERNEL.gram(SEQUENCES)
    assert (outer.kernel_evaluations, inner.kernel_evaluations) == (12, 6)


def test_counters_add_up_across_threads():
    counters = Counters()
    threads = [
        threading.Thread(target=lambda: [counters.add(1, 0.0, 1) for _ in range(5000)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counters.kernel_evaluations, counters.blocks) == (20_000, 20_000)


def test_counting_nothing_is_harmless():
    count_evaluations(1, 0.1, 1)


# Items.


@pytest.mark.parametrize("cost", [LARGE, SMALL])
@pytest.mark.parametrize("n_jobs", [1, 2, 7])
@pytest.mark.parametrize("n", [0, 1, 3, 500])
def test_each_item_has_its_result(n, n_jobs, cost):
    taken = []

    def square(item, stop):
        taken.append(item)
        return item**2

    assert Runner(n_jobs, 0).map(square, range(n), cost=cost) == [i**2 for i in range(n)]
    assert sorted(taken) == list(range(n))


def test_items_are_worked_on_at_once():
    together = threading.Barrier(3, timeout=PATIENCE)
    Runner(3, 0).map(lambda *_: together.wait(), range(3), cost=LARGE)


def test_an_error_in_an_item_stops_the_others():
    started, seen = threading.Event(), []

    def work(item, stop):
        seen.append(item)
        if item == 0:
            started.wait(timeout=PATIENCE)
            raise LookupError("in the item")
        started.set()
        while not stop[0]:
            time.sleep(0.01)

    with pytest.raises(LookupError, match="in the item"):
        Runner(2, 0).map(work, range(50), cost=LARGE)
    assert sorted(seen) == [0, 1]
