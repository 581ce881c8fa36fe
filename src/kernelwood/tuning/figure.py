"""The figure of a report on gates."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kernelwood import figures
from kernelwood.figures import FIGURES, check_figure, import_matplotlib

if TYPE_CHECKING:
    from kernelwood.tuning.report import GateReport, LabelReport

__all__ = ["FIGURES", "check_figure", "draw_on_new_figure", "draw_report", "save_figure"]

_IGNORED, _KEPT = "#c44e52", "#4c72b0"
_WIDTH, _LABEL_HEIGHT, _MARGINS = 7.0, 0.21, 1.6  # inches


def draw_on_new_figure(report: GateReport) -> Any:
    """Draw a report on a figure of pyplot, which notebooks and ``show`` know; return its axes."""
    import_matplotlib()
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=_size(report), layout="constrained")
    return draw_report(report, ax)


def save_figure(report: GateReport, path: str | os.PathLike[str]) -> None:
    """Write the figure of a report to a file; the same report gives the same bytes."""
    figures.save_figure(lambda ax: draw_report(report, ax), path, _size(report))


def draw_report(report: GateReport, ax: Any) -> Any:
    """Draw a bar for each label, as long as closing its gate is a gain; return ``ax``."""
    from kernelwood.tuning.report import label_text

    rows = report.labels
    places = range(len(rows))
    ax.barh(
        places,
        [row.gain for row in rows],
        color=[_IGNORED if row.ignored else _KEPT for row in rows],
        hatch=["///" if row.ignored else "" for row in rows],  # not by color alone
        edgecolor="white",
        height=0.8,
    )
    names = [f"{label_text(row.label)} ({row.structures:,})" for row in rows]
    for text in (*_ticks(ax, places, names), *_stability(report, ax)):
        text.set_fontsize(8)
        text.set_parse_math(False)  # a label may have dollars in it
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel(
        "gain of closing the gate ("
        + ("nats" if report.method == "information" else "loss a structure")
        + ")"
    )
    ax.set_ylabel("label (structures)")
    ax.set_title(f"{len(report.ignored)} of {len(rows)} labels ignored", fontsize=10)
    _legend(rows, ax)
    return ax


def _ticks(ax: Any, places: Any, names: list[str]) -> list[Any]:
    ax.set_yticks(places)
    texts: list[Any] = ax.set_yticklabels(names)
    return texts


def _stability(report: GateReport, ax: Any) -> list[Any]:
    """Write at the right how many runs ignore each label."""
    if report.n_runs < 2:
        return []
    beside = ax.get_yaxis_transform()
    texts = [("ignored in", -1.0)] + [
        (f"{round(row.ignored_share * report.n_runs)} of {report.n_runs}", float(place))
        for place, row in enumerate(report.labels)
    ]
    return [
        ax.text(1.02, place, text, transform=beside, va="center", ha="left", clip_on=False)
        for text, place in texts
    ]


def _legend(rows: tuple[LabelReport, ...], ax: Any) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=_IGNORED, hatch="///", edgecolor="white", label="ignored"),
        Patch(facecolor=_KEPT, label="kept"),
    ]
    # Kept labels are below, and closing them is a loss: there the right-hand side is free.
    ax.legend(handles=handles, loc="lower right", fontsize=8)


def _size(report: GateReport) -> tuple[float, float]:
    return _WIDTH, max(3.0, _MARGINS + _LABEL_HEIGHT * len(report.labels))
