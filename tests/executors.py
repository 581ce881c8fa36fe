"""Executors of tests: workers that share no memory, in this process, and real ones."""

from __future__ import annotations

import multiprocessing
import pickle
from collections import OrderedDict
from concurrent.futures import Executor, Future, ProcessPoolExecutor

import pytest

from kernelwood.compute import executor as library


class SeparateWorkers(Executor):
    """Workers that get tasks in turn as bytes, and know only what was sent to them.

    ``sent`` has the sizes of all tasks in bytes, ``n_with_data`` counts those with shared data.
    """

    def __init__(self, n_workers, claimed=None):
        self._max_workers = claimed or n_workers
        self._memories = [OrderedDict() for _ in range(n_workers)]
        self.sent, self.n_with_data, self.n_busy = [], 0, 0

    def submit(self, function, /, *arguments):
        data = pickle.dumps((function, arguments))
        self.n_with_data += arguments[1] is not None
        memory = self._memories[len(self.sent) % len(self._memories)]
        self.sent.append(len(data))
        here, library._here = library._here, {}
        received, library._received = library._received, memory
        future = Future()
        try:
            function, arguments = pickle.loads(data)
            future.set_result(pickle.loads(pickle.dumps(function(*arguments))))
        except Exception as error:
            future.set_exception(error)
        finally:
            library._here, library._received = here, received
        return future


class Refusing(Executor):
    """Takes no tasks."""

    def submit(self, *arguments):
        raise AssertionError("small work was submitted")


def two_processes():
    """Return two worker processes that start without the memory of this one."""
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def processes():
    with two_processes() as pool:
        yield pool
