"""Threads that do the same at the same time, switched as often as possible."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from processes import PATIENCE

N_THREADS = 16


@contextmanager
def frequent_switches():
    """Let the interpreter switch threads after each microsecond."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def in_threads(work, n=N_THREADS):
    """Return what ``work(number)`` returns in each of some threads that begin together."""
    start = threading.Barrier(n)

    def run(number):
        start.wait(PATIENCE)
        return work(number)

    with frequent_switches(), ThreadPoolExecutor(n) as pool:
        return [each.result(PATIENCE) for each in [pool.submit(run, i) for i in range(n)]]


class Steps:
    """Runs parts of two threads in a fixed order: ``turn`` waits for that of a step."""

    def __init__(self):
        self._now = 0
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, number):
        with self._changed:
            assert self._changed.wait_for(lambda: self._now == number, PATIENCE)
        try:
            yield
        finally:
            with self._changed:
                self._now = number + 1
                self._changed.notify_all()


def overlapping(context, alone):
    """Enter contexts in two threads, A and B; leave A, call ``alone`` in B, and leave B."""
    steps = Steps()

    def first():
        with steps.turn(0):
            made = context()
            made.__enter__()
        with steps.turn(2):
            made.__exit__(None, None, None)

    def second():
        with steps.turn(1):
            made = context()
            made.__enter__()
        with steps.turn(3):
            try:
                alone()
            finally:
                made.__exit__(None, None, None)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result(PATIENCE)
