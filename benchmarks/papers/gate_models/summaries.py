"""Figures of many divisions, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import t

__all__ = ["interval", "stability", "summarize"]

Row = dict[str, Any]
PROBABLE = 0.05


def interval(values: Iterable[float], confidence: float = 0.95) -> tuple[float, float]:
    """Return the mean, and half the width of its t interval; nan for a single value."""
    found = np.array(list(values), dtype=np.float64)
    if len(found) < 2:
        return float(found.mean()), float("nan")
    error = found.std(ddof=1) / len(found) ** 0.5
    return float(found.mean()), float(error * t.ppf((1 + confidence) / 2, len(found) - 1))


def summarize(rows: list[Row], plain: str = "plain") -> list[Row]:
    """Return a row for each model and variant, with the difference to the plain kernel.

    The two halves of a seed are one value of the interval, as each is learned from what the other
    is tested on.
    """
    models = dict.fromkeys(row["model"] for row in rows)
    variants = dict.fromkeys(row["variant"] for row in rows)
    return [_summary(rows, model, variant, plain) for model in models for variant in variants]


def _summary(rows: list[Row], model: str, variant: str, plain: str) -> Row:
    mine, base = _of(rows, model, variant), _of(rows, model, plain)
    seeds = sorted({seed for seed, _ in mine})
    result: Row = {"model": model, "gates": variant}
    for name in ("f1", "f1_voted"):
        differences = [
            np.mean([mine[key][name] - base[key][name] for key in mine if key[0] == seed])
            for seed in seeds
        ]
        result[name] = float(np.mean([row[name] for row in mine.values()]))
        result[f"{name}_difference"], result[f"{name}_interval"] = interval(differences)
    clear = [r for r in mine.values() if r["p_value"] is not None and r["p_value"] < PROBABLE]
    gains = [mine[r["seed"], r["half"]]["f1"] - base[r["seed"], r["half"]]["f1"] for r in clear]
    return result | {
        "divisions": len(mine),
        "clearly_better": sum(gain > 0 for gain in gains),
        "clearly_worse": sum(gain < 0 for gain in gains),
        "gated": float(np.mean([len(row["gated"]) for row in mine.values()])),
        "ignored": float(np.mean([len(row["ignored"]) for row in mine.values()])),
        "cpu_seconds": float(np.mean([row["cpu_seconds"] for row in mine.values()])),
        "kernel_evaluations": int(np.mean([row["kernel_evaluations"] for row in mine.values()])),
    }


def _of(rows: list[Row], model: str, variant: str) -> dict[tuple[int, int], Row]:
    return {
        (row["seed"], row["half"]): row
        for row in rows
        if row["model"] == model and row["variant"] == variant
    }


def stability(rows: list[Row], variant: str) -> list[tuple[str, float]]:
    """Return labels with the share of divisions that ignore them, of those that have their gate."""
    model = rows[0]["model"]
    found = list(_of(rows, model, variant).values())
    gated = Counter(label for row in found for label in row["gated"])
    ignored = Counter(label for row in found for label in row["ignored"])
    shares = [(label, ignored[label] / n) for label, n in gated.items() if 2 * n > len(found)]
    return sorted(shares, key=lambda pair: (-pair[1], -gated[pair[0]], pair[0]))
