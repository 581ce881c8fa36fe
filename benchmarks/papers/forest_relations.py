"""Relation extraction with the forest kernel, against the tree kernel on the best parse.

    python benchmarks/papers/forest_relations.py [--data DIR] [--corpora SemEval AIMed]
                                                 [--all | --quick] [--json]

Zhang, Zhang and Li, "Convolution Kernel over Packed Parse Forest" (ACL 2010), section 4.2 and
table 2, on the training part of SemEval-2010 task 8 and on AIMed in place of ACE 2004:
path-enclosed and minimal complete trees and forests, and composites with a kernel of flat features.

A quarter of the documents is set apart: all settings are chosen there, by cross-validation, and
curves are drawn there. Figures are of cross-validation over the documents of the other three
quarters, with these settings. Of SemEval, half of the sentences are used unless --all is given.
Sentences are parsed once; forests are kept in build/papers/forests. Everything is seeded.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

sys.path.append(str(Path(__file__).parents[1]))

from relation_forests.corpora import (
    NEGATIVE,
    Pair,
    divide,
    documents,
    read_interactions,
    read_nominals,
    sample,
)
from relation_forests.experiment import Laboratory, Settings, figures
from relation_forests.parses import GRAMMARS, PARSES, THRESHOLDS, learn_parser, parse
from relation_forests.trials import Grid, Trials, choose, curves

import kernelwood as kw
from kernelwood.datasets import require_data


@dataclass(frozen=True)
class Corpus:
    """A corpus of the experiment.

    Attributes
    ----------
    file : str
        In the data folder.
    read : callable
        From a path to pairs.
    blind : bool
        Whether entities are renamed, so that no name is learned.
    grid : Grid
        Settings that are tried.
    larger : bool
        Whether the curve has forests that are parsed with a larger threshold.
    """

    file: str
    read: Callable[[Path], list[Pair]]
    blind: bool
    grid: Grid
    larger: bool


CORPORA = {
    "SemEval": Corpus(
        "semeval2010-task8/TRAIN_FILE.TXT.gz",
        read_nominals,
        False,
        Grid(curve_prunings=(1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0)),
        True,
    ),
    "AIMed": Corpus(
        "ppi/AImed-learning-format.xml.gz",
        read_interactions,
        True,
        # Renamed entities leave nothing to flat features of the entities alone.
        Grid(balanced=(False, True), flat=("words",)),
        False,
    ),
}
# Pairs of the part for choices and of the rest, about; None: all.
SIZES: dict[str, tuple[int | None, int | None]] = {"SemEval": (1000, 3000), "AIMed": (None, None)}
QUICK = {"SemEval": (300, 600), "AIMed": (300, 600)}
QUICK_GRID = {
    "decays": (0.4,),
    "costs": (4.0,),
    "thetas": (0.5,),
    "sharpness": (1.0, 2.0),
    "prunings": (4.0,),
    "curve_prunings": (2.0, 4.0),
    "curve_sharpness": (0.5, 1.0),
}

# Pairs of rows that are tested; the first is expected to be better.
COMPARED = (
    ("pet forest", "pet tree"),
    ("pet forest chosen", "pet tree"),
    ("mct forest", "mct tree"),
    ("pet tree", "mct tree"),
    ("pet forest", "mct forest"),
    ("pet+entities forest", "pet+entities tree"),
    ("pet+entities forest chosen", "pet+entities tree"),
    ("pet+words forest", "pet+words tree"),
    ("pet+words forest chosen", "pet+words tree"),
)
RATES = ("precision", "recall", "f1", "macro_f1")


def run_corpus(name: str, options: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Return all figures of a corpus."""
    corpus, started = CORPORA[name], time.process_time()
    grid = replace(corpus.grid, **QUICK_GRID) if options.quick else corpus.grid
    sizes = (None, None) if options.all else (QUICK if options.quick else SIZES)[name]
    parts = divide(corpus.read(require_data(corpus.file, data=options.data)), options.seed)
    tuning, rest = (sample(p, n, options.seed) for p, n in zip(parts, sizes, strict=True))
    task = progress.add_task(f"{name}: parse", total=None)
    parsed = partial(
        parse, name, parser=partial(learn_parser, name, options.data), data=options.data,
        folder=Path(options.parses),
    )  # fmt: skip
    forests = parsed([pair.words for pair in tuning + rest], THRESHOLDS["forests"])

    def laboratory(pairs: list[Pair], forests: Any) -> Laboratory:
        return Laboratory(
            pairs, forests, blind=corpus.blind, negative=NEGATIVE[name], seed=options.seed
        )

    progress.update(task, description=f"{name}: choose settings")
    trials = Trials(laboratory(tuning, forests))
    chosen = choose(trials, grid)
    progress.update(task, description=f"{name}: predict")
    result = {
        "sizes": describe(tuning, rest, forests),
        "grammar": GRAMMARS[name][0],
        "chosen": {row: asdict(settings) for row, settings in chosen.items()},
        **tested(laboratory(rest, forests), chosen, options),
    }
    progress.update(task, description=f"{name}: curves")
    if corpus.larger:
        forests = parsed([pair.words for pair in tuning], THRESHOLDS["larger forests"])
    drawn = curves(laboratory(tuning, forests), chosen["pet tree"], grid)
    result |= {"curves": list(drawn), "trials": trials.rows}
    progress.update(task, description=name, total=1, completed=1)
    return result | {"cpu_seconds": time.process_time() - started}


def describe(tuning: list[Pair], rest: list[Pair], forests: Any) -> dict[str, Any]:
    """Return the sizes of the parts."""
    return {
        "tuning_pairs": len(tuning),
        "tuning_documents": len(set(documents(tuning))),
        "pairs": len(rest),
        "documents": len(set(documents(rest))),
        "sentences": len(forests),
        "fallbacks": sum(forest.fallback for forest in forests.values()),
    }


def tested(
    laboratory: Laboratory, chosen: dict[str, Settings], options: argparse.Namespace
) -> dict[str, Any]:
    """Return the figures of all rows by cross-validation, and the tests of their differences."""
    y, positive = laboratory.y, laboratory.positive
    rows, predicted = [], {}
    order = sorted(chosen, key=lambda row: str(chosen[row].of_structures()))  # matrices are reused
    for row in order:
        settings = chosen[row]
        predicted[row] = laboratory.predict(settings)
        cost = laboratory.structures(settings)[1] if settings.view else {}
        rows.append({"name": row, **figures(y, predicted[row], positive), **cost})
    rows.sort(key=lambda row: list(chosen).index(row["name"]))
    tests = []
    for first, second in COMPARED:
        if first in predicted and second in predicted:
            test = kw.evaluate.compare(
                y,
                predicted[first],
                predicted[second],
                test="randomization",
                metric="f1",
                positive=positive,
                groups=laboratory.groups,
                names=(first, second),
                n_resamples=options.rounds,
                random_state=options.seed,
            )
            tests.append(test.to_dict())
    return {
        "rows": rows,
        "tests": tests,
        "positive_rate": 1 - y.count(laboratory.negative) / len(y),
    }


def show(results: dict[str, Any]) -> None:
    console = Console(width=110)
    for name, result in results.items():
        sizes = result["sizes"]
        table = Table(
            title=f"{name}: cross-validation of {sizes['pairs']:,} pairs in "
            f"{sizes['documents']:,} documents, in %"
        )
        for column in ("kernel", "precision", "recall", "F1", "macro F1", "edges", "kernel, s"):
            table.add_column(column, justify="left" if column == "kernel" else "right")
        for row in result["rows"]:
            cost = (f"{row[key]:.1f}" if key in row else "" for key in ("edges", "kernel_seconds"))
            table.add_row(row["name"], *(f"{100 * row[rate]:.2f}" for rate in RATES), *cost)
        console.print(table)
        for test in result["tests"]:
            gap = test["difference"]
            console.print(
                f"{' - '.join(test['names'])}: {100 * gap['value']:+.2f} F1 "
                f"[{100 * gap['low']:+.2f}, {100 * gap['high']:+.2f}], p = {test['p_value']:.4f}"
            )
        show_curves(console, name, result)
        console.print(f"{result['cpu_seconds']:.0f} seconds of CPU time\n")


def show_curves(console: Console, name: str, result: dict[str, Any]) -> None:
    table = Table(title=f"{name}: curves on the tuning part, path-enclosed")
    for column in ("", "value", "F1", "edges", "kernel, s"):
        table.add_column(column, justify="right" if column else "left")
    for row in result["curves"]:
        table.add_row(
            row["kind"],
            f"{row['value']:g}",
            f"{100 * row['f1']:.2f}",
            f"{row['edges']:.1f}",
            f"{row['kernel_seconds']:.1f}",
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--corpora", nargs="+", choices=tuple(CORPORA), default=tuple(CORPORA))
    parser.add_argument("--parses", default=str(PARSES), help="folder of parsed forests")
    parser.add_argument("--rounds", type=int, default=10_000, help="of randomization")
    parser.add_argument("--seed", type=int, default=0)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--all", action="store_true", help="all sentences of SemEval, not half")
    size.add_argument("--quick", action="store_true", help="few pairs, few trials")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with Progress(console=Console(stderr=True)) as progress:
        results = {name: run_corpus(name, options, progress) for name in options.corpora}
    if options.json:
        print(json.dumps(results))
    else:
        show(results)


if __name__ == "__main__":
    main()
