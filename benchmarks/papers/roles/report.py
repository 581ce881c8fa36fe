"""Tables of the figures, beside those of the paper."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from tables.forest_roles import PUBLISHED

__all__ = ["RATES", "SETTINGS", "show", "show_tuning"]

RATES = ("precision", "recall", "f1")
SETTINGS = ("tree", "forest")


def show(result: dict[str, Any]) -> None:
    console = Console(width=110)
    table = Table(title="Labeled arguments: exact span and role, against all gold arguments, in %")
    for column in ("setting", "precision", "recall", "F1", "paper: precision", "recall", "F1"):
        table.add_column(column, justify="left" if column == "setting" else "right")
    for setting in SETTINGS:
        rows = (result[setting], PUBLISHED[setting])
        table.add_row(setting, *(f"{100 * row[name]:.2f}" for row in rows for name in RATES))
    console.print(table)
    console.print(verdict(result))
    console.print(coverage_table(result))
    console.print(", ".join(f"{k.replace('_', ' ')} {n:,}" for k, n in result["sizes"].items()))
    difference = result["tree"].get("difference_to_subset_tree_kernel")
    if difference is not None:
        console.print(f"largest difference to the subset tree kernel: {difference:.1e}")
    console.print(f"{sum(result['seconds'].values()):.0f} seconds")


def verdict(result: dict[str, Any]) -> str:
    gain = 100 * (result["forest"]["f1"] - result["tree"]["f1"])
    test = result["mcnemar"]
    return (
        f"forest against tree: {gain:+.2f} F1 (paper +2.32), "
        f"approximate randomization p = {result['randomization_p']:.4f}\n"
        f"gold arguments found by the tree alone {test['only_first']:,}, by the forest alone "
        f"{test['only_second']:,}: McNemar chi-square {test['chi2']:.2f}, p = {test['p']:.2g}"
    )


def coverage_table(result: dict[str, Any]) -> Table:
    table = Table(title="What can be found at all")
    for column in ("", "tree", "forest", "paper: tree", "forest"):
        table.add_column(column, justify="left" if not column else "right")
    counts = {setting: result[setting]["coverage"] for setting in SETTINGS}
    published = PUBLISHED["tree"], PUBLISHED["forest"]
    for name, text in (
        ("no_constituent", "gold arguments without constituent, %"),
        ("no_candidate", "gold arguments without candidate, %"),
    ):
        shares = [counts[s][name] / counts[s]["arguments"] for s in counts]
        known = [f"{100 * p[name]:.2f}" if name in p else "" for p in published]
        table.add_row(text, *(f"{100 * share:.2f}" for share in shares), *known)
    for name in ("constituents", "candidates"):
        ratio = counts["forest"][name] / counts["tree"][name]
        paper = f"{published[1][name]:.2f}"
        table.add_row(f"{name}, times those of the tree", "1", f"{ratio:.2f}", "1", paper)
    return table


def show_tuning(result: dict[str, Any]) -> None:
    console = Console(width=110)
    for title, name in (("Both settings", "shared"), ("Forests alone", "of_forests")):
        rows = result.get(name)
        if not rows:
            continue
        table = Table(title=f"{title}: best of {len(rows):,} on held-out sentences")
        for column in rows[0]:
            table.add_column(column, justify="right")
        for row in rows[:12]:
            table.add_row(*(f"{value:.4g}" for value in row.values()))
        console.print(table)
