"""A Gram matrix, hashcodes and cross-validation on threads and processes.

    python benchmarks/executors.py [--data DIR] [--size 5000] [--workers 2] [--repeats 3]

Structures are UIUC questions, compared by a partial tree kernel with soft matching and random
vectors; the kernel in Python counts shared labels. CPU time is that of all processes, wall-clock
time that of the call; both the minimum of several repeats, on pools that are already started.
"Sent" counts the bytes of all tasks as they are pickled.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import resource
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
from measure import QUESTIONS, read_view, show_table

import kernelwood as kw
from kernelwood.datasets import load_interactions, require_data


class SharedLabels(kw.Kernel):
    """Compares trees in Python, as users may write it."""

    accepts = kw.arrays.TreeBatch

    def reference(self, a: kw.Tree, b: kw.Tree) -> float:
        """Return the number of leaf labels that two trees share."""
        return float(len({x.label for x in a.leaves()} & {x.label for x in b.leaves()}))


class Counted(Executor):
    """Another executor, with the bytes of its tasks if they are processes."""

    def __init__(self, pool: Any, count: bool) -> None:
        self._pool, self._count, self.n_bytes = pool, count, 0
        self._max_workers = pool._max_workers

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Any:
        """Submit a task to the other executor."""
        if self._count:
            self.n_bytes += len(pickle.dumps((function, arguments)))
        return self._pool.submit(function, *arguments, **options)


def cpu_of_process(_: int) -> float:
    """Return the CPU time of the process that runs this, after a moment for others to take part."""
    time.sleep(0.2)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def cpu_time(pool: Any) -> float:
    """Return the CPU time of this process and of the worker processes so far."""
    own = time.process_time()
    if not isinstance(pool, ProcessPoolExecutor):
        return own
    return own + sum(pool.map(cpu_of_process, range(pool._max_workers)))


def measure(work: Callable[[], Any], pool: Any, settings: Any, repeats: int) -> tuple[Any, ...]:
    best_cpu = best_wall = float("inf")
    for _ in range(repeats):
        executor = Counted(pool, count=False) if pool else None
        before = cpu_time(pool)
        started = time.perf_counter()
        with kw.config_context(executor=executor, **settings):
            result = work()
        wall = time.perf_counter() - started
        best_wall, best_cpu = min(best_wall, wall), min(best_cpu, cpu_time(pool) - before)
    if not isinstance(pool, ProcessPoolExecutor):
        return result, best_cpu, best_wall, None
    executor = Counted(pool, count=True)
    with kw.config_context(executor=executor, **settings):
        work()
    return result, best_cpu, best_wall, executor.n_bytes / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--size", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    trees = kw.batch(read_view(require_data(QUESTIONS, data=options.data), "grct", options.size))
    labels = [label for label in trees.vocabulary if label]
    vectors = kw.Vectors(labels, np.random.default_rng(0).normal(size=(len(labels), 3)))
    kernel = kw.PartialTreeKernel(similarity=kw.similarity.Gaussian(vectors))
    hasher = kw.KernelHasher(kernel, n_references=1000, n_bits=512, random_state=0).fit(trees)
    extractor = kw.RelationExtractor(random_state=0)
    documents = list(load_interactions("train"))
    works = {
        f"Gram matrix of {len(trees):,} trees": lambda: kernel.gram(trees),
        f"hashcodes of {len(trees):,} trees": lambda: hasher.codes(trees),
        "Gram matrix of 400 trees in Python": lambda: SharedLabels().gram(trees[:400]),
        "5 folds of the bundled interactions": lambda: np.array(
            extractor.cross_validate(documents, n_bootstrap=0).pooled.f1
        ),
    }
    n = options.workers
    rows = []
    with ExitStack() as stack:
        context = multiprocessing.get_context("spawn")
        processes = stack.enter_context(ProcessPoolExecutor(n, mp_context=context))
        threads = stack.enter_context(ThreadPoolExecutor(n))
        ways = {
            "1 thread": (None, {"n_jobs": 1}),
            f"n_jobs={n}": (None, {"n_jobs": n}),
            f"ThreadPoolExecutor({n})": (threads, {}),
            f"ProcessPoolExecutor({n})": (processes, {}),
        }
        for name, work in works.items():
            first = None
            for way, (pool, settings) in ways.items():
                result, cpu, wall, sent = measure(work, pool, settings, options.repeats)
                first = result if first is None else first
                same = "yes" if np.array_equal(result, first) else "NO"
                rows.append(
                    {"work": name, "on": way, "CPU s": cpu, "wall s": wall, "sent MB": sent,
                     "same bits": same}
                )  # fmt: skip
    show_table("Executors", rows)


if __name__ == "__main__":
    main()
