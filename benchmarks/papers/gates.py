"""Learned gates on dependency paths: does a kernel that ignores labels classify better?

    python benchmarks/papers/gates.py [--data DIR] [--corpora AIMed ...] [--variants plain ...]
                                      [--models k-NN ...] [--words exact|soft] [--seeds 5]
                                      [--why] [--json]

After Garg et al., "Stochastic learning of nonstationary kernels for natural language modeling"
(2018), tables 2 to 4, on other data: pairs of proteins (AIMed, BioInfer) and relations of nominals
(SemEval-2010 task 8, its training part). Gates and classifiers are learned on one half and judged
on the other, both ways; documents are never divided. Every variant that was tried is in the tables
and none of them was chosen by what it does there. Everything is seeded. With --why nothing is
tested: it shows the loss and the nearest neighbors within the halves that gates are learned from.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from gate_models.corpora import FILES, VECTORS, read_paths
from gate_models.diagnosis import run_diagnosis
from gate_models.protocol import MODELS, VARIANTS, run_corpus
from gate_models.summaries import stability, summarize
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import kernelwood as kw
from kernelwood.datasets import require_data

WORDS = ("exact", "soft")


def path_kernel(words: str, data: str | None) -> kw.Kernel:
    """Return the kernel on paths, with gates on relations; soft: words compare by vectors."""
    if words == "exact":
        return kw.SubsequenceKernel(decay=0.8)
    vectors = kw.Vectors.load(require_data(VECTORS, data=data))
    return kw.SubsequenceKernel(decay=0.8, similarity=kw.similarity.Gaussian(vectors))


def run(options: argparse.Namespace, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield the figures of every division, variant and model."""
    kernel = path_kernel(options.words, options.data)
    variants = ["plain", *(name for name in options.variants if name != "plain")]
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    for name in options.corpora:
        corpus = read_paths(name, options.data)
        if options.why:
            rows = run_diagnosis(corpus, kernel, variants, seeds)
        else:
            rows = run_corpus(corpus, kernel, variants, options.models, seeds)
        total = 2 * len(seeds) * len(variants) * (1 if options.why else len(options.models))
        task = progress.add_task(f"{name}, {options.words} words", total=total)
        for row in rows:
            yield row | {"words": options.words}
            progress.advance(task)


def show_why(rows: list[dict[str, Any]]) -> None:
    """Print the means of what is known of the learning halves."""
    columns = ("votes", "paper", "similarity", "agreement", "empty")
    table = Table(title="Nearest neighbors within the learning halves")
    for column in ("corpus", "gates", *(f"loss, {name}" for name in columns[:2]), *columns[2:]):
        table.add_column(column, justify="left" if column in ("corpus", "gates") else "right")
    for corpus, variant in dict.fromkeys((row["corpus"], row["gates"]) for row in rows):
        mine = [row for row in rows if (row["corpus"], row["gates"]) == (corpus, variant)]
        means = (np.mean([row[column] for row in mine]) for column in columns)
        table.add_row(corpus, variant, *(f"{mean:.3f}" for mean in means))
    Console(width=120).print(table)


def show(rows: list[dict[str, Any]]) -> None:
    """Print a table for each corpus, and which labels are ignored most often."""
    console = Console(width=150)
    for corpus, words in dict.fromkeys((row["corpus"], row["words"]) for row in rows):
        mine = [row for row in rows if (row["corpus"], row["words"]) == (corpus, words)]
        table = Table(title=f"{corpus}, {words} words")
        for column in (
            "model", "gates", "F1", "difference", "F1, voted", "difference", "better : worse",
            "ignored", "CPU seconds", "kernel evaluations",
        ):  # fmt: skip
            table.add_column(column, justify="left" if column in ("model", "gates") else "right")
        for row in summarize(mine):
            table.add_row(*cells(row))
        console.print(table)
        for variant in dict.fromkeys(row["variant"] for row in mine if row["gated"]):
            often = [f"{label or '(first)'} {s:.0%}" for label, s in stability(mine, variant)[:12]]
            console.print(f"{variant}: ignored most often: {', '.join(often)}")


def cells(row: dict[str, Any]) -> Iterator[str]:
    yield from (row["model"], row["gates"])
    for name in ("f1", "f1_voted"):
        yield f"{row[name]:.3f}"
        learned = row["gates"] != "plain"
        yield f"{row[f'{name}_difference']:+.3f} ± {row[f'{name}_interval']:.3f}" if learned else ""
    yield f"{row['clearly_better']} : {row['clearly_worse']}" if learned else ""
    yield f"{row['ignored']:.0f} of {row['gated']:.0f}" if learned else ""
    yield f"{row['cpu_seconds']:.1f}" if learned else ""
    yield f"{row['kernel_evaluations']:,}" if learned else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--corpora", nargs="+", choices=tuple(FILES), default=tuple(FILES))
    parser.add_argument("--variants", nargs="+", choices=tuple(VARIANTS), default=tuple(VARIANTS))
    parser.add_argument("--models", nargs="+", choices=tuple(MODELS), default=tuple(MODELS))
    parser.add_argument("--words", choices=WORDS, default="exact", help="how words compare")
    parser.add_argument("--seeds", type=int, default=5, help="divisions, each used both ways")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--why", action="store_true", help="look at the learning halves alone")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # Closed gates leave some paths with nothing to compare; that is what is studied here.
    warnings.filterwarnings("ignore", ".*self-similarity 0", RuntimeWarning)
    with Progress(console=Console(stderr=True)) as progress:
        rows = list(run(options, progress))
    if options.json:
        print(json.dumps(rows))
    else:
        show_why(rows) if options.why else show(rows)


if __name__ == "__main__":
    main()
