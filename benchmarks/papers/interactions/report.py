"""Tables of the experiment for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["show"]

SHOWN = ("best held-out", "training rate", "43 % called", "adjusted count", "test rate", "oracle")


def show(found: dict[str, Any]) -> None:
    """Print the rows of every direction, then filters and trials of every training corpus."""
    console = Console(width=160)
    for direction in found["directions"]:
        names = direction["training"], direction["test"]
        console.print(_rows(found["rows"], *names))
        console.print(
            f"{direction['equal_sentences']:,} of {direction['sentences']:,} test sentences are in "
            f"the training corpus, {direction['near_sentences']:,} nearly, in "
            f"{direction['documents_with_equal_sentences']:,} documents. * uses test labels"
        )
    for training, rules in found["filters"].items():
        table = Table("filter", "interactions", "others", title=f"Pairs removed from {training}")
        for name, counts in rules.items():
            table.add_row(name, f"{counts['interactions']:,}", f"{counts['others']:,}")
        console.print(table)
    console.print(_trials(found["trials"]))


def _rows(rows: list[dict[str, Any]], training: str, test: str) -> Table:
    table = Table(title=f"Trained on {training}, tested on {test}")
    table.add_column("model")
    for column in ("called", "P", "R", "F1"):
        table.add_column(column, justify="right")
    for name in SHOWN:
        marked = name in ("test rate", "oracle")
        table.add_column(f"F1, {name}{' *' if marked else ''}", justify="right")
    for column in ("AUC", "AP"):
        table.add_column(column, justify="right")
    group = None
    for row in rows:
        if (row["training"], row["test"]) != (training, test):
            continue
        if group not in (None, row["group"]):
            table.add_section()
        group = row["group"]
        table.add_row(row["name"], *_cells(row))
    return table


def _cells(row: dict[str, Any]) -> Iterator[str]:
    points = row["points"]
    yield f"{points['own']['positive_rate']:.0%}"
    for name in ("precision", "recall", "f1"):
        yield f"{points['own'][name]:.3f}"
    for name in SHOWN:
        yield f"{points[name]['f1']:.3f}" if name in points else ""
    for name in ("auc", "average_precision"):
        yield f"{row[name]:.3f}"


def _trials(trials: list[dict[str, Any]]) -> Table:
    table = Table(title="Trials: held-out documents of the training corpus")
    for column in ("training", "trial", "model", "representation", "parameters", "F1", "AP"):
        table.add_column(column)
    for one in trials:
        parameters = [f"{name}={value}" for name, value in one["parameters"].items()]
        parameters += [f"without {name}" for name in one["filters"]]
        table.add_row(
            one["training"],
            one["group"],
            one["kind"],
            one["representation"],
            ", ".join(parameters),
            f"{one['held_out']['f1']:.3f}",
            f"{one['held_out']['average_precision']:.3f}",
        )
    return table
