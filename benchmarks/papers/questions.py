"""Question classification: hash forests and hashed neighbors against machines that compare all.

    python benchmarks/papers/questions.py [--data DIR] [--parts svm forest neighbors] [--json]
    python benchmarks/papers/questions.py --parts choice

5,452 questions to learn six classes from and 500 to be tested on, as grammatical relation centered
trees. The currency is kernel evaluations, pairs of trees compared; CPU times are of one thread.
The part "choice" shows how settings were chosen: on the 5,452 alone. Everything is seeded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from question_models.experiments import (
    CURVES,
    FORESTS,
    MACHINES,
    SEARCHES,
    SIZES,
    Advance,
    Part,
    Row,
    forest_choice,
    forest_rows,
    machine_choice,
    machine_rows,
    neighbor_rows,
)
from rich.console import Console
from rich.progress import Progress

import kernelwood as kw
from kernelwood.datasets import require_data

sys.path.append(str(Path(__file__).parents[1]))

from measure import QUESTIONS, show_table

TEST = "question-classification/TREC_10.coarse.klp.gz"
PARTS = ("svm", "forest", "neighbors", "choice")
# What forests are measured against: of KeLP's two kernels, cross-validation on the questions to
# learn from prefers this one with this C, balanced or not alike (--parts choice).
CHOSEN = {"kernel": "PTK", "C": 10.0, "class weight": "none"}
N_MACHINES = 3 * len(MACHINES)


def read_part(name: str, data: str | None) -> Part:
    examples = kw.read(require_data(name, data), views=["grct"])
    labels = [str(example.label) for example in examples]
    return Part(kw.batch([example.view("grct") for example in examples]), labels)


@contextmanager
def shown(progress: Progress, what: str, total: int) -> Iterator[Advance]:
    row = progress.add_task(what, total=total)
    yield lambda n: progress.advance(row, n)


def run(options: argparse.Namespace, progress: Progress) -> dict[str, list[Row]]:
    """Return the rows of all tables that were asked for."""
    train, seeds = read_part(QUESTIONS, options.data), options.seeds
    found: dict[str, list[Row]] = {}
    if "choice" in options.parts:
        with shown(progress, "choice of machines", N_MACHINES) as advance:
            found["machines, held out"] = list(machine_choice(train, advance))
        with shown(progress, "choice of forests", len(FORESTS) + 1) as advance:
            rows = forest_choice(train, n_splits=seeds, advance=advance)
            found["forests, held out"] = list(rows)
    if set(options.parts) == {"choice"}:
        return found
    test = read_part(TEST, options.data)
    if {"svm", "forest"} & set(options.parts):
        with shown(progress, "support vector machines", N_MACHINES) as advance:
            found["machines"] = list(machine_rows(train, test, advance))
    if "forest" in options.parts:
        machine = chosen_machine(found["machines"])
        with shown(progress, "forests", len(CURVES) * len(SIZES) * seeds) as advance:
            rows = forest_rows(train, test, machine, n_seeds=seeds, advance=advance)
            found["forests"] = list(rows)
    if "neighbors" in options.parts:
        with shown(progress, "neighbors", len(SEARCHES) * seeds + 1) as advance:
            rows = neighbor_rows(train, test, n_seeds=seeds, advance=advance)
            found["neighbors"] = list(rows)
    return found


def chosen_machine(rows: Iterable[Row]) -> Row:
    return next(row for row in rows if all(row[name] == CHOSEN[name] for name in CHOSEN))


def show(found: dict[str, list[Row]]) -> None:
    for title, rows in found.items():
        if title != "forests":
            show_table(title, rows)
            continue
        setting = list(FORESTS[0].row())
        for values, some in groupby(rows, key=lambda row: [row[name] for name in setting]):
            pairs = ", ".join(f"{n} {v}" for n, v in zip(setting, values, strict=True))
            curve = [{n: v for n, v in row.items() if n not in setting} for row in some]
            show_table(f"forest: {pairs}", curve)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS[:-1]))
    parser.add_argument("--seeds", type=int, default=5, help="seeds, or splits for the choice")
    parser.add_argument("--json", action="store_true")
    options: Any = parser.parse_args()
    with Progress(console=Console(stderr=True)) as progress, kw.config_context(n_jobs=1):
        found = run(options, progress)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    main()
