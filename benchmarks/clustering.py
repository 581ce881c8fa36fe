"""Speed and memory of k-means by the exact kernel and by vectors, on the UIUC questions.

    python benchmarks/clustering.py [--data DIR] [--n 5452] [--clusters 50 100] [--repeats 3]

Every figure is CPU time of one thread with four starts, that of the fastest of several repeats.
"Compare" is its part for the Gram matrix, or for the vectors of 500 landmarks; "cluster" is the
rest: k-means++ and all rounds of all starts. The last rows show what it costs not to hold the Gram
matrix, on the first 2,000 questions, with room for a tenth of it. Peak memory is that of a fresh
process, Python and libraries included.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from measure import QUESTIONS, peak_memory, read_view, show_table

import kernelwood as kw
from kernelwood.clustering.lloyd import SelfSimilarities
from kernelwood.datasets import require_data

BY_LEMMA = "word-vectors/qc-standin-250.txt.gz"
N_LANDMARKS = 500
IN_BLOCKS = 2000

PEAK_SCRIPT = """
import itertools, sys, kernelwood as kw
from kernelwood.io import iter_read
path, n, k, landmarks, memory = sys.argv[1], *map(int, sys.argv[2:])
with iter_read(path, views=["grct"]) as examples:
    trees = kw.batch([e.view("grct") for e in itertools.islice(examples, n)])
kernel = kw.PartialTreeKernel()
embedder = kw.NystromEmbedder(kernel, n_landmarks=landmarks) if landmarks else None
if k:
    with kw.config_context(memory=memory or None):
        kw.KernelKMeans(k, kernel, embedder=embedder, random_state=0).fit(trees)
"""


@contextmanager
def timing(*calls: tuple[type, str]) -> Iterator[list[float]]:
    """Gather the CPU seconds of each call of some methods while the block runs."""
    seconds: list[float] = []
    originals = [getattr(owner, name) for owner, name in calls]

    def timed(call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def run(*args: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return call(*args, **options)
            finally:
                seconds.append(time.process_time() - started)

        return run

    try:
        for (owner, name), original in zip(calls, originals, strict=True):
            setattr(owner, name, timed(original))
        yield seconds
    finally:
        for (owner, name), original in zip(calls, originals, strict=True):
            setattr(owner, name, original)


def fastest(
    model: kw.KernelKMeans, batch: kw.arrays.TreeBatch, repeats: int
) -> tuple[float, float]:
    """Return the CPU seconds of the fastest fit, and how many of them went into the kernel."""
    exact = (SelfSimilarities, "__init__")
    calls = [exact] if model.embedder is None else [(kw.KernelKMeans, "_embed")]
    runs = []
    for _ in range(repeats):
        with timing(*calls) as comparing:
            started = time.process_time()
            model.fit(batch)
            runs.append((time.process_time() - started, sum(comparing)))
    return min(runs)


def fit_rows(
    name: str, kernel: kw.Kernel, batch: kw.arrays.TreeBatch, clusters: list[int], repeats: int
) -> Iterator[dict[str, object]]:
    embedder = kw.NystromEmbedder(kernel, n_landmarks=N_LANDMARKS, random_state=0)
    for route, given in (("exact", None), (f"Nyström {N_LANDMARKS}", embedder)):
        for n_clusters in clusters:
            model = kw.KernelKMeans(n_clusters, kernel, embedder=given, random_state=0)
            yield row(name, route, len(batch), model, *fastest(model, batch, repeats))


def block_rows(
    kernel: kw.Kernel, batch: kw.arrays.TreeBatch, n_clusters: int, repeats: int
) -> Iterator[dict[str, object]]:
    for route, share in (("exact, held", 1), ("exact, in blocks", 10)):
        model = kw.KernelKMeans(n_clusters, kernel, random_state=0)
        with kw.config_context(memory=len(batch) ** 2 * 8 // share):
            total, comparing = fastest(model, batch, repeats)
        # In blocks, rows are made all along.
        held = comparing if share == 1 else None
        yield row("PTK, grct", route, len(batch), model, total, held)


def row(
    name: str, route: str, n: int, model: kw.KernelKMeans, total: float, comparing: float | None
) -> dict[str, object]:
    return {
        "kernel": name,
        "route": route,
        "n": n,
        "K": model.n_clusters,
        "rounds": model.n_iter_,
        "compare": comparing,
        "cluster": None if comparing is None else total - comparing,
        "total": total,
    }


def peak_rows(path: Path, n: int, n_clusters: int) -> Iterator[dict[str, object]]:
    for what, arguments in (
        (f"reading {n:,} questions", (n, 0, 0, 0)),
        (f"exact, {n:,} questions", (n, n_clusters, 0, 0)),
        (f"exact in blocks, {n:,} questions, memory='50MB'", (n, n_clusters, 0, 50_000_000)),
        (f"Nyström {N_LANDMARKS}, {n:,} questions", (n, n_clusters, N_LANDMARKS, 0)),
    ):
        yield {"PTK, grct": what, "peak MB": peak_memory(PEAK_SCRIPT, path, *arguments)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--n", type=int, default=5452)
    parser.add_argument("--clusters", type=int, nargs="+", default=[50, 100])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    path = require_data(QUESTIONS, data=options.data)
    # First: the peak of a process begins with the memory of the one that starts it.
    peaks = list(peak_rows(path, options.n, options.clusters[0]))
    lemmas = kw.Vectors.load(require_data(BY_LEMMA, data=options.data))
    rows = []
    for name, view, kernel, repeats in (
        ("PTK, grct", "grct", kw.PartialTreeKernel(), options.repeats),
        ("CSPTK, cgrct", "cgrct", kw.PartialTreeKernel.csptk(lemmas), 2),
    ):
        batch = kw.batch(read_view(path, view, options.n))
        rows += fit_rows(name, kernel, batch, options.clusters, repeats)
    some = kw.batch(read_view(path, "grct", min(options.n, IN_BLOCKS)))
    rows += block_rows(kw.PartialTreeKernel(), some, options.clusters[0], options.repeats)
    if options.json:
        print(json.dumps({"rows": rows, "peaks": peaks}))
        return
    show_table("k-means, four starts: CPU seconds of one thread", rows)
    show_table("Peak memory", peaks, digits=0)


if __name__ == "__main__":
    main()
