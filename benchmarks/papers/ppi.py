"""Interactions of proteins across corpora: learn on AIMed, judge BioInfer, and the other way.

    python benchmarks/papers/ppi.py [--data DIR] [--models KLSH-RF ...] [--kernels path ...]
                                    [--choose] [--json]

Garg et al., "Kernelized Hashcode Representations for Relation Extraction" (AAAI 2019), table 1.
KLSH-kNN, KLSH-RF and SVM, each on the shortest dependency path as in the paper and on the
representation that the training corpus itself chose. References are drawn ten times; figures are
the mean, with the deviation of F1.

Thresholds, and the choice among the settings that ``--choose`` lists, come from held-out documents
of the training corpus. The list itself was made with a look at held-out figures of both corpora;
see docs/experiments/ppi.md. Everything is seeded.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from interactions.experiment import MODELS, Corpus, Settings, Trial, choose, read_corpus, run_trial
from interactions.settings import GRIDS, settings_of
from interactions.thresholds import Rates
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import kernelwood as kw
from kernelwood.datasets import require_data

FILES = {
    "AIMed": "ppi/AImed-learning-format.xml.gz",
    "BioInfer": "ppi/BioInfer-learning-format.xml.gz",
}
VECTORS = "word-vectors/glove.6B.100d.subset.txt.gz"
KERNELS = ("path", "chosen")
DIRECTIONS = (("AIMed", "BioInfer"), ("BioInfer", "AIMed"))

# Table 1 of the paper: precision and recall where it has them, and F1.
PUBLISHED: dict[tuple[str, str], dict[str, tuple[float | None, float | None, float]]] = {
    ("AIMed", "BioInfer"): {
        "KLSH-kNN": (0.41, 0.68, 0.51),
        "KLSH-RF": (0.46, 0.75, 0.57),
        "SVM (Airola 2008, 1)": (None, None, 0.25),
        "SVM (Airola 2008, 2)": (None, None, 0.47),
        "SVM (Miwa 2009)": (None, None, 0.53),
        "SVM (Tikk 2010)": (0.67, 0.29, 0.41),
    },
    ("BioInfer", "AIMed"): {
        "KLSH-kNN": (0.38, 0.80, 0.51),
        "KLSH-RF": (0.37, 0.95, 0.54),
        "SVM (Airola 2008, 1)": (None, None, 0.44),
        "SVM (Airola 2008, 2)": (None, None, 0.47),
        "SVM (Miwa 2009)": (None, None, 0.50),
        "SVM (Tikk 2010)": (0.27, 0.87, 0.42),
    },
}


def read_all(options: argparse.Namespace) -> tuple[dict[str, Corpus], kw.Vectors]:
    corpora = {
        name: read_corpus(name, require_data(file, data=options.data))
        for name, file in FILES.items()
    }
    return corpora, kw.Vectors.load(require_data(VECTORS, data=options.data))


def planned(options: argparse.Namespace) -> list[tuple[str, str, str, Settings]]:
    """Return what is to be run: training corpus, test corpus, kernel and settings."""
    return [
        (training, test, kernel, settings_of(model, kernel, training))
        for training, test in DIRECTIONS
        if training in options.training
        for model in MODELS
        if model in options.models
        for kernel in KERNELS
        if kernel in options.kernels
    ]


def run(options: argparse.Namespace, progress: Progress) -> list[dict[str, Any]]:
    """Return the figures of every model in every direction."""
    corpora, vectors = read_all(options)
    rows = []
    for training, test, kernel, settings in planned(options):
        total = options.references if settings.is_random else 1
        task = progress.add_task(f"{settings.model}, {kernel}, from {training}", total=total)
        trial = run_trial(
            settings,
            corpora[training],
            corpora[test],
            vectors,
            seeds=range(options.seed, options.seed + options.references),
            done=partial(progress.advance, task),
        )
        rows.append(figures(trial, kernel))
    return rows


def figures(trial: Trial, kernel: str) -> dict[str, Any]:
    """Return a trial as plain values."""
    return {
        "training": trial.training,
        "test": trial.test,
        "model": trial.settings.model,
        "kernel": kernel,
        "representation": trial.settings.representation,
        "parameters": trial.settings.parameters,
        "thresholds": asdict(trial.thresholds),
        "cautious": summary(trial.cautious),
        "best": summary(trial.best),
        "cpu_seconds": trial.seconds,
        "kernel_evaluations": trial.evaluations,
    }


def summary(found: list[Rates]) -> dict[str, float]:
    """Return means and deviations over reference sets."""
    result: dict[str, float] = {"n": len(found)}
    for name in ("precision", "recall", "f1"):
        values = [getattr(one, name) for one in found]
        result[name] = float(np.mean(values))
        result[f"{name}_deviation"] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return result


def show(rows: list[dict[str, Any]]) -> None:
    console = Console(width=120)
    for training, test in DIRECTIONS:
        mine = [row for row in rows if row["training"] == training]
        if not mine:
            continue
        table = Table(title=f"Learned on {training}, judged on {test}: pairs that interact")
        table.add_column("model")
        for column in (
            "precision", "recall", "F1", "± references", "F1, best threshold",
            "F1, held out", "CPU seconds", "kernel evaluations",
        ):  # fmt: skip
            table.add_column(column, justify="right")
        for row in mine:
            table.add_row(*cells(row))
        table.add_section()
        for name, (precision, recall, f1) in PUBLISHED[training, test].items():
            rates = ("" if rate is None else f"{rate:.2f}" for rate in (precision, recall))
            table.add_row(f"{name}, published", *rates, f"{f1:.2f}")
        console.print(table)


def cells(row: dict[str, Any]) -> Iterator[str]:
    found = row["cautious"]
    yield f"{row['model']}, {row['representation']}"
    for name in ("precision", "recall", "f1"):
        yield f"{found[name]:.3f}"
    yield f"{found['f1_deviation']:.3f}" if found["n"] > 1 else ""
    yield f"{row['best']['f1']:.3f}"
    yield f"{row['thresholds']['held_out_cautious']['f1']:.3f}"
    yield f"{row['cpu_seconds']:.1f}"
    yield f"{row['kernel_evaluations']:,}"


def run_choice(options: argparse.Namespace, progress: Progress) -> list[dict[str, Any]]:
    """Return what each setting of the grids reaches within each training corpus, best first."""
    corpora, vectors = read_all(options)
    rows = []
    for training in options.training:
        for model in options.models:
            grid = GRIDS[model]
            task = progress.add_task(f"{model} within {training}", total=len(grid))
            for settings, thresholds in choose(corpora[training], grid, vectors):
                rows.append(
                    {"training": training} | asdict(settings) | {"thresholds": asdict(thresholds)}
                )
                progress.advance(task)
    return sorted(rows, key=lambda row: -row["thresholds"]["held_out_best"]["f1"])


def show_choice(rows: list[dict[str, Any]]) -> None:
    table = Table(title="On held-out documents of the training corpus, best first")
    for column in ("training", "model", "representation", "parameters", "F1"):
        table.add_column(column, justify="right" if column == "F1" else "left")
    for row in rows:
        parameters = ", ".join(f"{name}={value}" for name, value in row["parameters"].items())
        f1 = f"{row['thresholds']['held_out_best']['f1']:.3f}"
        table.add_row(row["training"], row["model"], row["representation"], parameters, f1)
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=KERNELS)
    parser.add_argument("--training", nargs="+", choices=tuple(FILES), default=tuple(FILES))
    parser.add_argument("--references", type=int, default=10, help="reference sets to be drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--choose", action="store_true", help="try settings within each corpus")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with Progress(console=Console(stderr=True)) as progress:
        rows = run_choice(options, progress) if options.choose else run(options, progress)
    if options.json:
        print(json.dumps(rows))
    else:
        show_choice(rows) if options.choose else show(rows)


if __name__ == "__main__":
    main()
