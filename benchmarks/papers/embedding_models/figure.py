"""The curve of purity over the number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernelwood.evaluate import Spread

__all__ = ["check_plot", "draw_curves", "save_curves"]

SUFFIXES = (".png", ".svg", ".pdf")
# Told apart by markers and dashes, not by color alone.
STYLES = (
    ("#666666", ":", "s"), ("#1f5a96", "-", "o"), ("#1f5a96", "--", "^"), ("#d95f02", "-", "o"),
    ("#d95f02", "--", "^"),
)  # fmt: skip


def check_plot(path: Path) -> None:
    """Refuse, before hours of work, a figure that could not be written."""
    if path.suffix.lower() not in SUFFIXES:
        raise SystemExit(f"{path}: a figure is a file that ends in .png, .svg or .pdf")
    try:
        import matplotlib  # noqa: F401
    except ImportError as failure:
        raise SystemExit(
            "figures need matplotlib; install it with: pip install 'kernelwood[plot]'"
        ) from failure


def save_curves(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the figure of the rows of `cluster_rows`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    draw_curves(rows, figure.subplots())
    figure.savefig(path, dpi=150)


def draw_curves(rows: Sequence[dict[str, Any]], ax: Any) -> None:
    """Draw mean purity with its deviation over seeds, a line for each method."""
    names = dict.fromkeys(row["method"] for row in rows)
    for name, (color, dashes, marker) in zip(names, STYLES, strict=False):
        mine = [row for row in rows if row["method"] == name]
        counts = list(dict.fromkeys(row["K"] for row in mine))
        spreads = [
            Spread.of([100 * row["purity"] for row in mine if row["K"] == count])
            for count in counts
        ]
        ax.errorbar(
            counts,
            [spread.mean for spread in spreads],
            [spread.deviation for spread in spreads],
            color=color, linestyle=dashes, marker=marker, capsize=3, label=name,
        )  # fmt: skip
    ax.set_xlabel("number of clusters, K")
    ax.set_ylabel("purity, %")
    ax.legend()
