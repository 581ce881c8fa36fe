"""Speed of the forest kernel on parsed sentences of about 25 words, beside the subset tree kernel.

    python benchmarks/forest_kernels.py [--data DIR] [--n 1000] [--repeats 5] [--json]

A parser learned from Penn Treebank sample files 1 to 180 parses sentences of 20 to 30 words of the
same sample; what is measured here is time, not accuracy. "Trees" are the best trees of the forests;
"one tree" are the same trees as forests; "packed" are the forests themselves. Every figure is CPU
time of one thread per pair of the upper triangle of a normalized Gram matrix, from a batch, the
minimum of several repeats; and the same per pair of hyper-edges (productions), with the share of
the subset tree kernel's time that it is.
"""

from __future__ import annotations

import argparse
import json
import statistics

from measure import gram_ns
from treebank import read_trees

import kernelwood as kw
from kernelwood.parsing.treebank import prepare_treebank

LIMIT_SECONDS = 60  # for 1,000 by 1,000 packed forests
LIMIT_RATIO = 3  # to the subset tree kernel, structures of equal size


def parsed(data: str | None, n: int) -> list[kw.Forest]:
    """Return forests of n sentences of 20 to 30 words."""
    parser = kw.ForestParser().fit(read_trees(data, 1, 180))
    trees = prepare_treebank(read_trees(data, 1, 199))
    sentences = [[leaf.label for leaf in tree.leaves()] for tree in trees]
    return parser.parse_batch([words for words in sentences if 20 <= len(words) <= 30][:n])


def measure(forests: list[kw.Forest], repeats: int) -> list[dict[str, object]]:
    trees = [forest.best_tree() for forest in forests]
    single = [kw.Forest.from_trees([tree]) for tree in trees]
    sets = {
        "subset tree, trees": (kw.SubsetTreeKernel(n_jobs=1), kw.batch(trees), single),
        "forest, one tree": (kw.ForestKernel(n_jobs=1), kw.batch(single), single),
        "forest, packed": (kw.ForestKernel(n_jobs=1), kw.batch(forests), forests),
    }
    rows = []
    for name, (kernel, batch, sized) in sets.items():
        edges = statistics.mean(forest.n_edges for forest in sized)
        row: dict[str, object] = {"what": name, "n": len(batch), "edges": edges}
        for dtype in ("float32", "float64"):
            row[dtype] = gram_ns(kernel, batch, dtype, repeats)
            row[f"{dtype}_edge_pair"] = row[dtype] / edges**2
            row[f"{dtype}_ratio"] = row[f"{dtype}_edge_pair"] / (
                rows[0][f"{dtype}_edge_pair"] if rows else row[f"{dtype}_edge_pair"]
            )
        row["seconds"] = row["float64"] * 1e-9 * len(batch) * (len(batch) + 1) / 2
        rows.append(row)
    return rows


def show(rows: list[dict[str, object]], forests: list[kw.Forest]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="CPU time, one thread, building included")
    table.add_column("kernel, structures")
    for column in (
        *("n", "hyper-edges", "ns a pair, f32", "f64", "ps a hyper-edge pair, f32", "f64"),
        *(f"ratio (limit {LIMIT_RATIO}), f32", "f64", f"s (limit {LIMIT_SECONDS}), f64"),
    ):
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(
            str(row["what"]), f"{row['n']:,}", f"{row['edges']:.0f}",
            f"{row['float32']:,.0f}", f"{row['float64']:,.0f}",
            f"{1000 * row['float32_edge_pair']:.1f}", f"{1000 * row['float64_edge_pair']:.1f}",
            f"{row['float32_ratio']:.2f}", f"{row['float64_ratio']:.2f}",
            f"{row['seconds']:.2f}",
        )  # fmt: skip
    console = Console(width=150)
    console.print(table)
    console.print(f"median trees a forest: {statistics.median(f.n_trees for f in forests):,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    forests = parsed(options.data, options.n)
    rows = measure(forests, options.repeats)
    if options.json:
        print(json.dumps(rows))
    else:
        show(rows, forests)


if __name__ == "__main__":
    main()
