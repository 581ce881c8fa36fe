"""Embeddings of sentences: agreement with people on pairs of questions, and clusters of questions.

    python benchmarks/papers/embeddings.py [--data DIR] [--parts sts clustering] [--seeds 5]
                                           [--parses FILE] [--plot FILE] [--json]

After Croce, Filice and Basili, "Evaluating kernel-based sentence embeddings", section 4. The part
"sts" compares 209 pairs of questions (SemEval-2016) by words, tree kernels, Nyström vectors and a
sentence transformer. It needs parses: spaCy makes them, and --parses keeps them in a CoNLL-U file,
from which they are read when it is there. The part "clustering" clusters 5,452 questions, and draws
purity over the number of clusters with --plot. Everything is seeded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embedding_models.figure import check_plot, save_curves
from embedding_models.pairs import Pairs, read_pairs, read_parses
from embedding_models.question_clusters import (
    CLUSTERS,
    METHODS,
    Advance,
    Row,
    cluster_rows,
    curve_rows,
    read_questions,
)
from embedding_models.sts import FACTORS, FOREIGN_SIZES, GRID, Sts
from embedding_models.supervised import N_FOLDS, supervised_rows
from embedding_models.transformer import HOW_TO_INSTALL, NAME, load_transformer
from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

import kernelwood as kw
from kernelwood.datasets import require_data

sys.path.append(str(Path(__file__).parents[1]))

from measure import QUESTIONS, show_table

PAIRS = "sts/question-question.scored209.tsv"
GLOVE = "word-vectors/glove.6B.100d.subset.txt.gz"
BY_LEMMA = "word-vectors/qc-standin-250.txt.gz"
PARTS = ("sts", "clustering")
N_OWN = 20  # at most: two kernels, two factors, five numbers of landmarks


@contextmanager
def shown(progress: Progress, what: str, total: int) -> Iterator[Advance]:
    row = progress.add_task(what, total=total)
    yield lambda n: progress.advance(row, n)


def run_sts(options: argparse.Namespace, progress: Progress) -> dict[str, list[Row]]:
    """Return the tables on pairs of questions."""
    gold, texts = read_pairs(require_data(PAIRS, options.data))
    pairs = Pairs(gold, read_parses(texts, options.parses))
    path = require_data(GLOVE, options.data)
    transformer = load_transformer()
    if transformer is None:
        progress.console.print(f"{NAME} is left out; it needs: {HOW_TO_INSTALL}")
    sts = Sts(pairs, kw.Vectors.load(path), kw.Vectors.load(path, normalize=False), transformer)
    with shown(progress, "terminal factors", len(GRID) * len(FACTORS)) as advance:
        grid = list(sts.grid_rows(advance))
    with shown(progress, "landmarks among the pairs", N_OWN) as advance:
        own = list(sts.nystrom_rows(grid, n_seeds=options.seeds, advance=advance))
    others = kw.read(require_data(QUESTIONS, options.data), views=["loct"])
    with shown(progress, "landmarks elsewhere", 2 * len(FOREIGN_SIZES)) as advance:
        known = kw.batch([example.view("loct") for example in others])
        foreign = list(sts.foreign_rows(known, n_seeds=options.seeds, advance=advance))
    return {
        f"{len(gold)} pairs of questions, parsed by {pairs.parser}": list(sts.model_rows(grid)),
        "Pearson by terminal factor": grid,
        f"landmarks among the {len(texts)} sentences, {options.seeds} seeds": own,
        f"landmarks among {len(known):,} other questions, {options.seeds} seeds": foreign,
        "Pearson after a change of the trees": list(sts.variant_rows()),
        f"kernel ridge regression on pairs, {N_FOLDS} folds that share no question": list(
            supervised_rows(pairs, sts.vectors, sts.agreement)
        ),
    }


def run_clustering(options: argparse.Namespace, progress: Progress) -> dict[str, list[Row]]:
    """Return the tables on clusters, and every run, for --json."""
    vectors = kw.Vectors.load(require_data(BY_LEMMA, options.data))
    questions = read_questions(require_data(QUESTIONS, options.data), vectors)
    total = len(CLUSTERS) * len(METHODS) * options.seeds
    with shown(progress, "clusters", total) as advance:
        rows = list(cluster_rows(questions, n_seeds=options.seeds, advance=advance))
    if options.plot:
        save_curves(rows, options.plot)
    tables = {
        f"clusters of questions, {measure} in %, {options.seeds} seeds": curve_rows(rows, measure)
        for measure in ("purity", "NMI")
    }
    return tables | {"runs": rows}


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--parses", type=Path, help="CoNLL-U file to keep the parses of pairs in")
    parser.add_argument("--plot", type=Path, help="figure of the clusters: .png, .svg or .pdf")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.plot:
        check_plot(options.plot)
    return options


def main() -> None:
    options = parse_options()
    found: dict[str, list[Any]] = {}
    console = Console(stderr=True)
    with Progress(console=console) as progress, kw.config_context(n_jobs=1), threadpool_limits(1):
        if "sts" in options.parts:
            found |= run_sts(options, progress)
        if "clustering" in options.parts:
            found |= run_clustering(options, progress)
    if options.json:
        print(json.dumps(found))
        return
    for title, rows in found.items():
        if title != "runs":
            show_table(title, rows, digits=3 if "cluster" not in title else 1)


if __name__ == "__main__":
    main()
