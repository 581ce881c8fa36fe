"""Speed of the exact kernels on the UIUC questions; peers.py measures other programs beside them.

    python benchmarks/exact_kernels.py [--data DIR] [--sizes 1000 5452] [--repeats 7] [--json]

Every figure is CPU time of one thread per pair of the upper triangle, the minimum of several
repeats. "Gram" starts from a batch and includes everything built from it (interning subtrees,
indexes, normalization, both triangles); "with batch" also lays the structures out; "with file"
also reads and parses the file.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from measure import (
    QUESTIONS,
    WORDS,
    cpu_seconds,
    gram_ns,
    kernel_options,
    peak_memory,
    read_view,
)

import kernelwood as kw
from kernelwood.datasets import require_data

TREES = "grct"
BAGS = "bow"
PTK_SCRIPT = """
import sys, kernelwood as kw
trees = [e.view("grct") for e in kw.read(sys.argv[1], views=["grct"])[: int(sys.argv[2])]]
kw.PartialTreeKernel().gram(trees)
"""

# Row -> (view, kernel, limit in ns at 1,000 and at all questions for float32)
KERNELS: dict[str, tuple[str, kw.Kernel, tuple[float, float | None]]] = {
    "subset tree (SST)": (TREES, kw.SubsetTreeKernel(), (12, 15)),
    "subtree (ST)": (TREES, kw.SubtreeKernel(), (15, None)),
    "partial tree (PTK)": (TREES, kw.PartialTreeKernel(), (45, 40)),
    "rooted tree": (TREES, kw.RootedTreeKernel(), (150, None)),
    "subsequence": (WORDS, kw.SubsequenceKernel(), (14, 14)),
    "subsequence, up to 4": (WORDS, kw.SubsequenceKernel(max_length=4), (float("inf"), None)),
    "vector, bag of words": (BAGS, kw.VectorKernel("cosine"), (float("inf"), None)),
}


def measure(path: Path, name: str, n: int, repeats: int) -> dict[str, object]:
    view, kernel, limits = KERNELS[name]
    structures = read_view(path, view, n)
    n = len(structures)
    pairs = n * (n + 1) / 2
    batch = kw.batch(structures)
    row: dict[str, object] = {"kernel": name, "n": n}
    row["elements"] = batch.n_elements / n
    for dtype in ("float32", "float64"):
        row[dtype] = gram_ns(kernel, batch, dtype, repeats)
    laid_out = cpu_seconds(lambda: kw.batch(structures), min(repeats, 3))
    read = cpu_seconds(lambda: read_view(path, view, n), 1)
    row["with_batch"] = row["float32"] + laid_out / pairs * 1e9
    row["with_file"] = row["with_batch"] + read / pairs * 1e9
    row["limit"] = limits[0] if n <= 1000 else limits[1]
    row["reference"] = reference_ns(kernel, structures) if n <= 1000 else None
    return row


def reference_ns(kernel: kw.Kernel, structures: list[Any]) -> float:
    """Return the cost of a pair by the plain Python definition, on a few small structures."""
    small = sorted(structures, key=lambda s: s.n_nodes if isinstance(s, kw.Tree) else len(s))
    some = small[len(small) // 4 : len(small) // 4 + 4]

    def work() -> None:
        for a in some:
            for b in some:
                kernel.reference(a, b)

    return cpu_seconds(work, 1) / 16 * 1e9


def import_seconds(code: str, repeats: int) -> float:
    """Return the CPU time that running ``code`` adds to an interpreter."""

    def start(code: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(start(code) for _ in range(repeats)) - min(start("") for _ in range(repeats))


def show(rows: list[dict[str, object]], extra: dict[str, float]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="CPU ns per pair, one thread, building included")
    for column in (
        "kernel",
        "questions",
        "float32",
        "limit",
        "float64",
        "with batch",
        "with file",
        "reference",
    ):
        table.add_column(column, justify="left" if column == "kernel" else "right")
    for row in rows:
        limit, reference = row["limit"], row["reference"]
        table.add_row(
            str(row["kernel"]), f"{row['n']:,}", f"{row['float32']:.1f}",
            "" if limit in (None, float("inf")) else f"{limit:g}", f"{row['float64']:.1f}",
            f"{row['with_batch']:.1f}", f"{row['with_file']:.1f}",
            f"{reference:,.0f}" if reference else "",
        )  # fmt: skip
    console = Console(width=140)
    console.print(table)
    for name, value in extra.items():
        console.print(f"{name}: {value:,.0f}")


def main() -> None:
    options = kernel_options(__doc__.splitlines()[0])
    path = require_data(QUESTIONS, data=options.data)
    rows = [
        measure(path, name, n, options.repeats if n <= 1000 else 2)
        for n in options.sizes
        for name in KERNELS
    ]
    extra = {
        f"peak memory of a PTK Gram matrix of {max(options.sizes):,} questions, MB": peak_memory(
            PTK_SCRIPT, path, max(options.sizes)
        ),
        "CPU of `import kernelwood`, ms": 1000 * import_seconds("import kernelwood", 7),
        "CPU of importing its kernels too, with numpy, ms": 1000
        * import_seconds("import kernelwood; kernelwood.SubsetTreeKernel", 7),
    }
    if options.json:
        print(json.dumps({"rows": rows, **extra}))
    else:
        show(rows, extra)


if __name__ == "__main__":
    main()
