"""Events of the shared tasks BioNLP 2009 and 2013 (GE) by kernels on dependency paths.

    python benchmarks/papers/events.py [--protocol halves|task] [--parts core ...] [--data DIR]
                                       [--size 30000] [--trials 5] [--seed 0] [--quick] [--json]

A candidate is an annotated trigger with one or two proteins and perhaps a third as catalyst; it is
positive if the event is annotated.

``halves`` is the protocol of Garg et al., "Stochastic learning of nonstationary kernels for natural
language modeling" (2018), tables 2 to 6: candidates with different paths, in random halves.
``task`` is that of Garg et al., "Kernelized hashcode representations for relation extraction" (AAAI
2019), table 2, and of table 3(d) of the other: all candidates, trained on the training parts and
the development part of 2009, tested on the development part of 2013. Parsed candidates are kept in
build/papers/events. Everything is seeded; no choice is made on test candidates.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from event_models.candidates import PATH, TEST, Part, prepare, unique
from event_models.halves import SETTINGS, Halves, run_halves
from event_models.losses import sample_losses
from event_models.repeats import shared
from event_models.task import MODELS, Task, run_task
from rich.console import Console
from rich.table import Table

import kernelwood as kw

KEPT = Path(__file__).parents[2] / "build" / "papers" / "events"
CHOICES = {"halves": [*SETTINGS, "loss"], "task": list(MODELS)}
QUICK = {"documents": 20, "size": 1000, "trials": 2}
# Candidates of BioNLP 2009, 2011 and 2013 in table 3 of the paper on hashcodes.
PUBLISHED_COUNTS = {"valid": 6527, "invalid": 34958}


def counts(parts: list[Part]) -> dict[str, Any]:
    """Return the numbers of candidates, valid and invalid."""
    return {
        part.name: {
            "documents": len(part.texts),
            "valid": int(part.y.sum()),
            "invalid": int((1 - part.y).sum()),
            "dropped": dict(part.dropped),
        }
        for part in parts
    }


def joined(parts: list[Part]) -> tuple[Any, Any]:
    """Return the candidates of several parts, and their classes."""
    examples = [example for part in parts for example in part.X]
    return kw.batch(examples), np.concatenate([part.y for part in parts])


def run_protocol_halves(parts: list[Part], options: argparse.Namespace, say: Any) -> dict[str, Any]:
    """Return the figures of tables 2 to 6 of the paper on nonstationary kernels."""
    X, y = joined(parts)
    found = unique(X.view(PATH), y)
    rng = np.random.default_rng([options.seed, 4])
    size = min(options.size, len(found.rows))
    drawn = np.sort(rng.choice(len(found.rows), size, replace=False))
    halves = Halves(X[found.rows[drawn]], found.y[drawn], data=options.data, seed=options.seed)
    paths = {
        "unique": len(found.rows),
        "unique_valid": int(found.y.sum()),
        "conflicts": found.conflicts,
        "used": size,
        "used_valid": int(found.y[drawn].sum()),
    }
    chosen = [name for name in options.parts if name in SETTINGS]
    rows = list(say(run_halves(halves, chosen, options.trials)))
    losses = sample_losses(halves) if "loss" in options.parts else []
    return {"paths": paths, "rows": rows, "losses": losses}


def run_protocol_task(parts: list[Part], options: argparse.Namespace, say: Any) -> dict[str, Any]:
    """Return the figures of the shared task."""
    training, [test] = [p for p in parts if p.name != TEST], [p for p in parts if p.name == TEST]
    task = Task(*joined(training), test.X, test.y, seed=options.seed)
    rows = list(say(run_task(task, options.parts, options.trials)))
    by_year = [part for part in parts if part.name.startswith("2009")]
    return {
        "shared": [
            shared(training, test),
            *(shared(by_year, part) for part in parts if part.name.startswith("2013")),
        ],
        "learned": task.learned,
        "neighborhood": task.neighborhood(),
        "rows": rows,
    }


def label(row: dict[str, Any]) -> str:
    """Return the name of a row."""
    if "model" in row:
        learned = "" if row["kernel"] == "plain" else f", kernel by {row['kernel']}"
        references = ", learned references" if row["references"] == "learned" else ""
        return f"{row['model']}{learned}{references}"
    marks = [row["kernel"], row["classifier"], row["gates"] or "plain"]
    marks += [f"k = {row['k']}"] * (row["k"] != 8) + [f"{row['passes']} passes"] * (
        row["passes"] > 1
    )
    marks += [f"{row['share']:.0%}"] * (row["share"] < 1) + ["unseen half"] * row["unseen"]
    return ", ".join(marks)


def show(result: dict[str, Any], console: Console) -> None:
    """Print all tables."""
    console.print_json(data={k: v for k, v in result.items() if k not in ("rows", "counts")})
    table = Table(title="Candidates")
    for column in ("part", "documents", "valid", "invalid"):
        table.add_column(column, justify="left" if column == "part" else "right")
    for name, row in result["counts"].items():
        table.add_row(name, *(f"{row[column]:,}" for column in ("documents", "valid", "invalid")))
    console.print(table)
    table = Table(title="Positive class, in percent")
    for column in ("table", "row", "F1", "±", "P", "R", "trials", "CPU s", "ignored"):
        table.add_column(column, justify="left" if column in ("table", "row") else "right")
    for row in result["rows"]:
        table.add_row(*cells(row))
    console.print(table)


def cells(row: dict[str, Any]) -> Iterator[str]:
    yield from (row["table"], label(row))
    for name in ("f1", "f1_deviation", "precision", "recall"):
        yield f"{100 * row[name]:.1f}"
    yield from (str(row["n"]), f"{row['cpu_seconds']:.1f}")
    yield f"{len(row['ignored'])} of {row['gated']}" if row.get("gates") else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--protocol", choices=tuple(CHOICES), default="halves")
    parser.add_argument("--parts", nargs="+", help="rows of these names only; see --list")
    parser.add_argument("--list", action="store_true", help="list the names of parts")
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--size", type=int, default=30_000, help="different paths that are used")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few documents, paths and trials")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name}: {' '.join(parts)}" for name, parts in CHOICES.items()))
        return
    known = CHOICES[options.protocol]
    options.parts = options.parts or known
    if unknown := set(options.parts) - set(known):
        parser.error(f"--parts of {options.protocol}: {', '.join(known)}; got {sorted(unknown)}")
    if options.quick:
        options.size = min(options.size, QUICK["size"])
        options.trials = min(options.trials, QUICK["trials"])
    # Closed gates leave some paths with nothing to compare.
    warnings.filterwarnings("ignore", ".*self-similarity 0", RuntimeWarning)
    result = run(options)
    if options.json:
        print(json.dumps(result))
    else:
        show(result, Console(width=120))


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Return all figures of a protocol."""
    progress = Console(stderr=True)

    def say(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for row in rows:
            progress.print(f"{row['table']}: {label(row)}: F1 {row['f1']:.3f}")
            yield row

    limit = {"limit": QUICK["documents"]} if options.quick else {"folder": KEPT}
    parts = prepare(options.data, **limit)
    protocols = {"halves": run_protocol_halves, "task": run_protocol_task}
    return {
        "protocol": options.protocol,
        "counts": counts(parts),
        "published_counts": PUBLISHED_COUNTS,
        **protocols[options.protocol](parts, options, say),
    }


if __name__ == "__main__":
    main()
