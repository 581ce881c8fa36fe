"""Speed of the graph kernels on question trees and on sentences of about 25 words.

    python benchmarks/graph_kernels.py [--data DIR] [--sizes 1000 5452] [--repeats 7] [--json]

"Question trees" are the dependency trees (view grct) of the UIUC questions as graphs. "Sentences"
are the graphs of pairs of proteins in AIMed, in sentences of 20 to 30 words (view all-paths-graph;
tagged: tagged-all-paths-graph, the graph of Airola et al.). Every figure is CPU time of one
thread: per pair of the upper triangle of a normalized Gram matrix from a batch, with all features
made anew; per pair with features that are kept; and of the features per graph. GraKeL is measured
on the same question trees, as graphs without directions and edge labels, if it is installed.
"""

from __future__ import annotations

import json
from typing import Any

from measure import QUESTIONS, cpu_seconds, kernel_options, read_view, show_table

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.relations import pair_candidates

CORPUS = "ppi/AImed-learning-format.xml.gz"
TREES = "grct"
VIEWS = {"": "all-paths-graph", ", tagged": "tagged-all-paths-graph"}
KERNELS: dict[str, kw.Kernel] = {
    "all paths": kw.AllPathsGraphKernel(n_jobs=1),
    "all paths, best": kw.AllPathsGraphKernel(variant="max", n_jobs=1),
    "Weisfeiler-Lehman, h=3": kw.WeisfeilerLehmanKernel(n_jobs=1),
    "Weisfeiler-Lehman, h=3, assignment": kw.WeisfeilerLehmanKernel(base="assignment", n_jobs=1),
}


def as_graph(tree: kw.Tree) -> kw.Graph:
    """Return a tree as a graph with edges from parents to children."""
    labels: list[str] = []
    edges: list[tuple[int, str, int]] = []
    waiting: list[tuple[kw.Tree, int | None]] = [(tree, None)]
    while waiting:
        node, parent = waiting.pop()
        if parent is not None:
            edges.append((parent, node.edge, len(labels)))
        waiting.extend((child, len(labels)) for child in node.children)
        labels.append(node.label)
    return kw.Graph(labels, edges, 0)


def sentences(data: str | None, view: str, n: int) -> list[kw.Graph]:
    """Return graphs of the first pairs of proteins in sentences of 20 to 30 words."""
    examples = kw.read(require_data(CORPUS, data))
    chosen = [one for one in examples if 20 <= len(one.view("sentence").tokens) <= 30]
    pairs = pair_candidates(chosen).examples(view)
    return [pair.view(view) for pair in pairs[:n]]


def grakel_ns(trees: list[kw.Tree], repeats: int) -> float | None:
    """Return the time of GraKeL's kernel per pair, None if it is not installed."""
    try:
        import grakel
    except ImportError:
        return None
    graphs = [as_graph(tree) for tree in trees]

    def run() -> Any:
        made = [
            grakel.Graph([(a, b) for a, _, b in graph.edges] or {0: {}}, dict(graph.nodes))
            for graph in graphs
        ]
        return grakel.WeisfeilerLehman(n_iter=3, normalize=True).fit_transform(made)

    return cpu_seconds(run, repeats) / (len(trees) * (len(trees) + 1) / 2) * 1e9


def measure(what: str, graphs: list[kw.Graph], repeats: int) -> list[dict[str, object]]:
    batch = kw.batch(graphs)
    pairs = len(batch) * (len(batch) + 1) / 2
    rows: list[dict[str, object]] = []

    def anew(work: Any) -> None:
        batch.forget()
        work(batch)

    for name, kernel in KERNELS.items():
        whole = cpu_seconds(lambda run=kernel.gram: anew(run), repeats) / pairs * 1e9
        kept = cpu_seconds(lambda run=kernel.gram: run(batch), repeats) / pairs * 1e9
        features = cpu_seconds(lambda run=kernel.diag: anew(run), repeats) / len(batch) * 1e6
        rows.append(
            {
                "graphs": what,
                "kernel": name,
                "n": len(batch),
                "nodes": sum(len(graph.nodes) for graph in graphs) / len(graphs),
                "ns a pair": whole,
                "features kept": kept,
                "µs a graph": features,
            }
        )
    return rows


def main() -> None:
    options = kernel_options(__doc__.splitlines()[0])
    rows = []
    for n in options.sizes:
        trees = read_view(require_data(QUESTIONS, options.data), TREES, n)
        rows += measure("question trees", [as_graph(tree) for tree in trees], options.repeats)
        other = grakel_ns(trees, options.repeats)
        if other is not None:
            row = {"graphs": "question trees", "kernel": "GraKeL, Weisfeiler-Lehman", "n": n}
            empty = {key: None for key in rows[0] if key not in row}
            rows.append({**row, **empty, "ns a pair": other})
    for kind, view in VIEWS.items():
        graphs = sentences(options.data, view, min(options.sizes))
        rows += measure(f"sentences{kind}", graphs, options.repeats)
    if options.json:
        print(json.dumps(rows))
    else:
        show_table("CPU time, one thread", rows)


if __name__ == "__main__":
    main()
