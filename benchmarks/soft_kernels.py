"""Speed of soft matching and of gates on the UIUC questions; peers.py measures other programs.

    python benchmarks/soft_kernels.py [--data DIR] [--sizes 1000 5452] [--repeats 7] [--json]

Every figure is CPU time of one thread per pair of the upper triangle, the minimum of several
repeats. It starts from a batch and includes everything built from it. "Of which labels" is the
part of the float32 time before structures are compared: numbering the labels, looking up their
vectors and, for trees, the table of their similarities (sequences make theirs as they go). The
trees have word vectors of 250 dimensions by lemma and part of speech, the questions as sequences
of 10 tokens GloVe vectors of 100.

Gated kernels are measured in turn with the same kernels without gates.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from measure import QUESTIONS, WORDS, gram_ns, kernel_options, peak_memory, read_view

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.kernels.engine import EngineKernel
from kernelwood.similarity import Exponential, Gaussian, Lexical, Sigmoid, Threshold

BY_LEMMA = "word-vectors/qc-standin-250.txt.gz"
GLOVE = "word-vectors/glove.6B.100d.subset.txt.gz"
NUMBERS = ("float32", "float64")

# What a kernel does with labels before its engine compares structures.
LABEL_STEPS = ("_align", "_too_many_labels", "_native_matching")

NO_LIMIT = float("inf")

TREE_GATES = {"SYNT##det": 0.0, "SYNT##root": 0.5}
WORD_GATES = {"the": 0.0, "of": 0.5}
GATED: dict[str, tuple[str, type[kw.Kernel], dict[str, float]]] = {
    "subset tree (SST)": ("grct", kw.SubsetTreeKernel, TREE_GATES),
    "subtree (ST)": ("grct", kw.SubtreeKernel, TREE_GATES),
    "partial tree (PTK)": ("grct", kw.PartialTreeKernel, TREE_GATES),
    "rooted tree": ("grct", kw.RootedTreeKernel, TREE_GATES),
    "subsequence": (WORDS, kw.SubsequenceKernel, WORD_GATES),
}

SPTK_SCRIPT = """
import sys, kernelwood as kw
trees = [e.view("lct") for e in kw.read(sys.argv[1], views=["lct"])[: int(sys.argv[2])]]
kw.PartialTreeKernel.sptk(kw.Vectors.load(sys.argv[3])).gram(trees)
"""


def soft_kernels(data: str | None) -> dict[str, tuple[str, kw.Kernel, float]]:
    """Return the rows: name -> (view, kernel, limit in ns for float32)."""
    lemmas = kw.Vectors.load(require_data(BY_LEMMA, data=data))
    glove = kw.Vectors.load(require_data(GLOVE, data=data), lowercase=True)
    sptk, csptk = kw.PartialTreeKernel.sptk, kw.PartialTreeKernel.csptk
    as_kelp = csptk(lemmas, same_relation=False, lexical=False)
    rows: dict[str, tuple[str, kw.Kernel, float]] = {
        "SPTK, lct": ("lct", sptk(lemmas), 700),
        "SPTK, grct": ("grct", sptk(lemmas), NO_LIMIT),
        "CSPTK as in KeLP, cgrct": ("cgrct", as_kelp, 900),
        "CSPTK, cgrct": ("cgrct", csptk(lemmas), 900),
    }
    words = {
        "Gaussian": Gaussian(glove),
        "Exponential": Exponential(glove),
        "Exponential, floor 0.5": Exponential(glove, floor=0.5),
        "Sigmoid": Sigmoid(glove),
    }
    for name, similarity in words.items():
        kernel = kw.SubsequenceKernel(similarity=similarity)
        rows[f"subsequence, {name}"] = (WORDS, kernel, 80)
    full = kw.SubsequenceKernel(similarity=Threshold(glove))  # cosines in float64 for both
    rows["subsequence, Threshold, floor 0.5"] = (WORDS, full, NO_LIMIT)
    lexical = Lexical(lemmas)
    rows["rooted tree, Lexical, lct"] = (
        "lct",
        kw.RootedTreeKernel(similarity=lexical),
        NO_LIMIT,
    )
    rows["SST, Lexical, grct"] = ("grct", kw.SubsetTreeKernel(similarity=lexical), NO_LIMIT)
    return rows


class Stopwatch:
    """CPU seconds spent in some calls."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._running = False

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call that adds its CPU time."""

        @wraps(call)
        def run(*args: Any, **options: Any) -> Any:
            if self._running:  # one step may call another
                return call(*args, **options)
            self._running, started = True, time.process_time()
            try:
                return call(*args, **options)
            finally:
                self.seconds += time.process_time() - started
                self._running = False

        return run


@contextmanager
def timing_labels() -> Iterator[Stopwatch]:
    """Time what kernels do with labels while the block runs."""
    watch = Stopwatch()
    steps = {name: getattr(EngineKernel, name) for name in LABEL_STEPS}
    try:
        for name, step in steps.items():
            setattr(EngineKernel, name, watch.timed(step))
        yield watch
    finally:
        for name, step in steps.items():
            setattr(EngineKernel, name, step)


def label_ns(kernel: kw.Kernel, batch: kw.arrays.TreeBatch, repeats: int) -> float:
    """Return the CPU time of everything about labels in a float32 Gram matrix, in ns per pair."""
    best = float("inf")
    for _ in range(repeats):
        with timing_labels() as watch:
            kernel.gram(batch, dtype="float32")
        best = min(best, watch.seconds)
    return best / (len(batch) * (len(batch) + 1) / 2) * 1e9


def measure_soft(
    rows: dict[str, tuple[str, kw.Kernel, float]],
    batches: dict[str, kw.arrays.TreeBatch],
    repeats: int,
) -> list[dict[str, object]]:
    found = []
    for name, (view, kernel, limit) in rows.items():
        batch = batches[view]
        row: dict[str, object] = {"kernel": name, "n": len(batch)}
        for number in NUMBERS:
            row[number] = gram_ns(kernel, batch, number, repeats)
        row["labels"] = label_ns(kernel, batch, min(repeats, 3))
        row["limit"] = None if limit == NO_LIMIT else limit
        found.append(row)
    return found


def measure_gates(batches: dict[str, kw.arrays.TreeBatch], repeats: int) -> list[dict[str, object]]:
    found = []
    for name, (view, kind, gates) in GATED.items():
        batch = batches[view]
        row: dict[str, object] = {"kernel": name, "n": len(batch)}
        kernels = (kind(), kind(gates=gates, gate_on="node"))
        for number in NUMBERS:
            # In turn, so that whatever else the machine does meets both.
            turns = [[gram_ns(k, batch, number, 1) for k in kernels] for _ in range(repeats)]
            plain, gated = (min(times) for times in zip(*turns, strict=True))
            row |= {number: plain, f"{number} gated": gated, f"{number} ratio": gated / plain}
        found.append(row)
    return found


def show(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=140)
    soft = Table(title="Soft matching: CPU ns per pair, one thread, building included")
    gated = Table(title="Gates: CPU ns per pair, one thread, building included")
    for table, key in ((soft, "soft"), (gated, "gated")):
        for column in result[key][0]:
            title = {"n": "questions", "labels": "of which labels"}.get(column, column)
            table.add_column(title, justify="left" if column == "kernel" else "right")
        for row in result[key]:
            table.add_row(*(as_text(column, value) for column, value in row.items()))
        console.print(table)
    console.print(f"peak memory of {result['peak']['what']}, MB: {result['peak']['MB']:,.0f}")


def as_text(column: str, value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if column.endswith("ratio") else f"{value:.1f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def main() -> None:
    options = kernel_options(__doc__.splitlines()[0])
    path = require_data(QUESTIONS, data=options.data)
    rows = soft_kernels(options.data)
    views = {view for view, *_ in (*rows.values(), *GATED.values())}
    result: dict[str, Any] = {"soft": [], "gated": []}
    for n in options.sizes:
        batches = {view: kw.batch(read_view(path, view, n)) for view in sorted(views)}
        repeats = options.repeats if n <= 1000 else 2
        result["soft"] += measure_soft(rows, batches, repeats)
        result["gated"] += measure_gates(batches, repeats)
    largest = max(options.sizes)
    result["peak"] = {
        "what": f"an SPTK Gram matrix of {largest:,} questions in float64",
        "MB": peak_memory(
            SPTK_SCRIPT, path, largest, Path(require_data(BY_LEMMA, data=options.data))
        ),
    }
    print(json.dumps(result)) if options.json else show(result)


if __name__ == "__main__":
    main()
