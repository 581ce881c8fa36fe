"""Figure files, maps of structures as points, and learning curves."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError, MissingPackageError
from kernelwood.io import replacing
from kernelwood.structures import one_line, shorten

# Suffix -> metadata that keeps the date out of the file.
FIGURES: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
_DOTS = 150  # per inch

# Colors that color-blind people can distinguish (Okabe and Ito, without yellow, which is invisible
# on white), and shapes for gray prints: no two groups share both.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
_MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*", "<", ">", "p", "h")
_OTHERS = "#b3b3b3"
_SIZES = (5.0, 36.0)  # areas of markers for many points and for few
_INK = 6000.0  # area of all markers together
_FONT = 8
_LONGEST = 40  # characters of a name or text


def check_figure(path: str | os.PathLike[str]) -> None:
    """Raise KernelInputError if a figure cannot be written to ``path``.

    Examples
    --------
    >>> check_figure("map.docx")
    Traceback (most recent call last):
    ...
    kernelwood.errors.KernelInputError: map.docx: a figure is a file that ends in .png, .svg or .pdf
    """
    if Path(path).suffix.lower() not in FIGURES:
        raise KernelInputError(
            f"{os.fspath(path)}: a figure is a file that ends in .png, .svg or .pdf"
        )
    import_matplotlib()


def import_matplotlib() -> None:
    """Raise MissingPackageError with an installation command if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as failure:
        raise MissingPackageError(
            "figures need matplotlib; install it with: pip install 'kernelwood[plot]'"
        ) from failure


def save_figure(
    draw: Callable[[Any], object], path: str | os.PathLike[str], size: tuple[float, float]
) -> None:
    """Write a figure to a file atomically; equal figures give equal bytes.

    Parameters
    ----------
    draw : callable
        Called with the axes of a new figure.
    path : str or PathLike
        File with the suffix ``.png``, ``.svg`` or ``.pdf``, which selects the format.
    size : (float, float)
        Width and height in inches.
    """
    check_figure(path)
    import matplotlib
    from matplotlib.figure import Figure

    # Not made by pyplot, which would keep a reference to it.
    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    target = Path(os.path.realpath(path))
    suffix = Path(path).suffix.lower()
    with matplotlib.rc_context({"svg.hashsalt": "kernelwood"}), replacing(target) as file:
        figure.savefig(file, format=suffix[1:], dpi=_DOTS, metadata=FIGURES[suffix])


def draw_map(
    ax: Any,
    points: Any,
    groups: Sequence[Any] | None = None,
    *,
    title: str = "",
    texts: Mapping[int, str] | None = None,
    most: int = len(_MARKERS),
) -> Any:
    """Draw points with the color and shape of their group, and a legend.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    points : ndarray, shape (n, 2)
        Position of each structure.
    groups : sequence of labels, length n, optional
        Class or cluster of each point; None for no label.
    title : str
        Title of the map.
    texts : mapping of int to str, optional
        Short texts of some points, such as the medoids of clusters.
    most : int
        Number of groups with a name, the largest ones; the rest are "other".

    Returns
    -------
    Axes

    Raises
    ------
    KernelInputError
        If the numbers of points and groups differ, or points are not finite pairs of numbers.
    """
    places = _checked_points(points)
    n = len(places)
    if groups is not None and len(groups) != n:
        raise KernelInputError(f"a map of {n:,} points cannot have {len(groups):,} groups")
    area = float(np.clip(_INK / max(n, 1), *_SIZES))
    rows = _legend_rows([""] * n if groups is None else groups, min(most, len(_MARKERS)))
    for name, chosen, style in reversed(rows):  # large groups are drawn last, on top
        ax.scatter(*places[chosen].T, s=area, linewidths=0, alpha=0.8, label=name, **style)
    if groups is not None:
        _draw_legend(ax)
    middle = (places[:, 0].min() + places[:, 0].max()) / 2 if n else 0.0
    for number, text in (texts or {}).items():
        # Towards the middle, where there is space.
        _draw_text(ax, places[number], text, area, left=bool(places[number, 0] > middle))
    ax.set_xticks([])  # only distances are meaningful
    ax.set_yticks([])
    ax.set_title(title, fontsize=_FONT + 2).set_parse_math(False)
    return ax


def draw_curve(ax: Any, sizes: Sequence[float], values: Any, expected: Any = None) -> Any:
    """Draw a learning curve with intervals, and the value to be expected at twice the size.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    sizes : sequence of float
        Numbers of training documents, increasing.
    values : sequence of Estimate
        F1 at each size.
    expected : Estimate, optional
        F1 at twice the largest size.

    Returns
    -------
    Axes
    """
    _draw_estimates(ax, sizes, values, color=_COLORS[0], marker="o", label="cross-validated")
    ticks = list(sizes)
    if expected is not None:
        ticks.append(2 * sizes[-1])
        ax.plot(ticks[-2:], [values[-1], expected], color=_OTHERS, linestyle=":")
        style = {"color": _COLORS[1], "marker": "^", "label": "expected"}
        _draw_estimates(ax, ticks[-1:], [expected], **style)
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=_FONT)
    ax.set_xticks([], minor=True)
    ax.set_ylim(0, 1)
    ax.set_xlabel("training documents", fontsize=_FONT)
    ax.set_ylabel("F1", fontsize=_FONT)
    ax.legend(loc="lower right", fontsize=_FONT, frameon=False)
    return ax


def _draw_estimates(ax: Any, sizes: Sequence[float], values: Any, **style: Any) -> None:
    heights = [float(value) for value in values]
    if any(value.low is None for value in values):
        ax.plot(sizes, heights, **style)
        return
    errors = [
        [height - value.low for height, value in zip(heights, values, strict=True)],
        [value.high - height for height, value in zip(heights, values, strict=True)],
    ]
    ax.errorbar(sizes, heights, yerr=errors, capsize=3, **style)


def _checked_points(points: Any) -> NDArray[np.float64]:
    places = np.asarray(points, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] != 2:
        raise KernelInputError(f"points of a map need two coordinates, got shape {places.shape}")
    if not np.isfinite(places).all():
        raise KernelInputError("points of a map must be finite numbers")
    return places


def _legend_rows(
    groups: Sequence[Any], most: int
) -> list[tuple[str, NDArray[np.int64], dict[str, str]]]:
    """Return name, points and style of each group, the largest first, and of the other points."""
    counts = Counter(groups)
    ranked = sorted(counts, key=lambda group: (-counts[group], group is None, str(group)))
    if len(ranked) > most:
        ranked = ranked[: most - 1]
    numbers = {group: number for number, group in enumerate(ranked)}
    of_point = np.array([numbers.get(group, len(ranked)) for group in groups], dtype=np.int64)
    rows = [
        (
            f"{_name(group)} ({counts[group]:,})",
            np.flatnonzero(of_point == number),
            {"color": _COLORS[number % len(_COLORS)], "marker": _MARKERS[number]},
        )
        for number, group in enumerate(ranked)
    ]
    others = np.flatnonzero(of_point == len(ranked))
    if len(others):
        rows.append((f"other ({len(others):,})", others, {"color": _OTHERS, "marker": "."}))
    return rows


def _name(group: Any) -> str:
    return "no label" if group is None else _short(str(group))


def _short(text: str) -> str:
    return shorten(one_line(text), _LONGEST)


def _draw_legend(ax: Any) -> None:
    handles, names = ax.get_legend_handles_labels()
    legend = ax.legend(
        handles[::-1],
        names[::-1],
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize=_FONT,
        frameon=False,
    )
    for handle in legend.legend_handles:
        handle.set_sizes([_SIZES[1]])  # legible even if the points are small
        handle.set_alpha(1.0)
    for text in legend.get_texts():
        text.set_parse_math(False)  # a label may contain dollar signs


def _draw_text(ax: Any, place: NDArray[np.float64], text: str, area: float, *, left: bool) -> None:
    ax.scatter(*place, s=2 * area, facecolors="none", edgecolors="black", linewidths=1)
    box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    written = ax.annotate(
        _short(text),
        place,
        xytext=(-4 if left else 4, 4),
        textcoords="offset points",
        ha="right" if left else "left",
        fontsize=_FONT - 1,
        bbox=box,
    )
    written.set_parse_math(False)
