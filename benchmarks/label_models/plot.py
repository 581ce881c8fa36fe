"""F1 by number of labels, a panel for each corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["save_plot"]

# Told apart by markers and dashes, not by color alone: recipes are solid, the others dashed.
STYLES = {
    "svm": ("#1f5a96", "-", "o"),
    "ridge": ("#1f5a96", "-", "s"),
    "klsh-rf": ("#5b9bd5", "-", "^"),
    "nystrom": ("#5b9bd5", "-", "v"),
    "tf-idf": ("#666666", "--", "o"),
    "glove": ("#d95f02", "--", "s"),
    "minilm": ("#7b3294", "--", "v"),
    "all": ("#aaaaaa", ":", "x"),
}


def save_plot(found: list[dict[str, Any]], path: Path) -> None:
    """Write the figure of the rows of `label_efficiency.summary`."""
    from matplotlib.figure import Figure

    corpora = list(dict.fromkeys(row["corpus"] for row in found))
    figure = Figure(figsize=(4 * len(corpora), 4), layout="constrained")
    panels = figure.subplots(1, len(corpora), squeeze=False)[0]
    for ax, corpus in zip(panels, corpora, strict=True):
        mine = [row for row in found if row["corpus"] == corpus]
        for method in dict.fromkeys(row["method"] for row in mine):
            some = [row for row in mine if row["method"] == method]
            color, dashes, marker = STYLES[method]
            ax.errorbar(
                [row["labels"] for row in some],
                [row["f1"] for row in some],
                [row["interval"] or 0.0 for row in some],
                color=color, linestyle=dashes, marker=marker, capsize=3, label=method,
            )  # fmt: skip
        ax.set_xscale("log")
        ax.set_xlabel("labeled candidates")
        ax.set_ylabel(mine[0]["measure"])
        ax.set_title(corpus)
    panels[0].legend()
    figure.savefig(path, dpi=150)
