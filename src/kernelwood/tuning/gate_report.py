"""Report on learned gates: table, JSON and figure."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelwood import figures
from kernelwood.structures import one_line, shorten
from kernelwood.tuning.problem import plain_value

if TYPE_CHECKING:
    from kernelwood.tuning.gates import GateLearner

_LABEL_WIDTH = 32  # characters of a label in a table
_IGNORED, _KEPT = "#c44e52", "#4c72b0"
_FIGURE_WIDTH, _LABEL_HEIGHT, _MARGINS = 7.0, 0.21, 1.6  # inches


@dataclass(frozen=True, slots=True)
class LabelReport:
    """Result of learning for one label.

    Attributes
    ----------
    label : str
        The label.
    gate : float
        Its gate; 0 if it is ignored.
    structures, occurrences : int
        Number of structures with the label, and of nodes or elements.
    loss_open, loss_closed : float
        Objective with the gate open and closed, lower is better; mean over runs. See
        :class:`~kernelwood.GateLearner`.
    ignored_share : float
        Fraction of runs in which the label is ignored.
    decisions, changes : int
        Number of decisions about its gate, and of changes, in all runs.
    """

    label: str
    gate: float
    structures: int
    occurrences: int
    loss_open: float
    loss_closed: float
    ignored_share: float
    decisions: int
    changes: int

    @property
    def ignored(self) -> bool:
        """Whether the gate is closed."""
        return self.gate == 0

    @property
    def gain(self) -> float:
        """Gain of closing the gate: the loss with it open minus the loss with it closed."""
        return self.loss_open - self.loss_closed

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: plain_value(value) for name, value in values.items()} | {
            "ignored": self.ignored,
            "gain": plain_value(self.gain),
        }


@dataclass(frozen=True, slots=True, repr=False)
class GateReport:
    """Report on learned gates; made by :meth:`GateLearner.report`.

    ``print(report)`` shows a table, ``report["det"]`` is the report on one label.

    Attributes
    ----------
    labels : tuple of LabelReport
        Ignored labels first; within ignored and kept labels, by falling gain of closing.
    method : {"neighbors", "information"}
        Learning method.
    classes : tuple of str or number
        The classes of the structures.
    n_runs : int
        Number of runs with different random numbers.
    agreement : float or None
        Fraction of labels on which two runs agree, the mean over all pairs of runs; None for one
        run.
    n_decisions : int
        Number of decisions in all runs.
    parameters : dict
        Kernel parameters learned with the gates.
    seed : int
        The seed that was used.

    Examples
    --------
    >>> import kernelwood as kw
    >>> paths, classes, signal, noise = kw.tuning.planted_paths(200, n_signal=2, n_noise=3)
    >>> learner = kw.GateLearner(kw.SubsequenceKernel(), labels=1.0, random_state=0)
    >>> report = learner.fit(paths, classes).report()
    >>> report
    <GateReport: 3 of 5 labels ignored, by neighbors>
    >>> [row.label for row in report.ignored] == sorted(noise, key=lambda n: -report[n].gain)
    True
    >>> report["s0"].structures == sum("s0" in path.edges for path in paths)
    True
    """

    labels: tuple[LabelReport, ...]
    method: str
    classes: tuple[Any, ...]
    n_runs: int
    agreement: float | None
    n_decisions: int
    parameters: dict[str, Any]
    seed: int

    @classmethod
    def of(cls, learner: GateLearner) -> GateReport:
        """Return the report of a fitted learner."""
        n_runs = int(learner.n_runs)
        return cls(
            labels=_label_reports(learner),
            method=learner.method,
            classes=tuple(learner.classes_.tolist()),
            n_runs=n_runs,
            agreement=_agreement(np.rint(learner.ignored_ * n_runs), n_runs),
            n_decisions=len(learner.trace_),
            parameters=dict(learner.parameters_),
            seed=int(learner.seed_),
        )

    @property
    def ignored(self) -> tuple[LabelReport, ...]:
        """The labels whose gates are closed."""
        return tuple(row for row in self.labels if row.ignored)

    @property
    def kept(self) -> tuple[LabelReport, ...]:
        """The labels whose gates are open."""
        return tuple(row for row in self.labels if not row.ignored)

    def __getitem__(self, label: str) -> LabelReport:
        for row in self.labels:
            if row.label == label:
                return row
        raise KeyError(f"no gate was learned for the label {label!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; other values become strings."""
        return {
            "method": self.method,
            "classes": [plain_value(label) for label in self.classes],
            "n_labels": len(self.labels),
            "n_ignored": len(self.ignored),
            "n_runs": self.n_runs,
            "agreement": self.agreement,
            "n_decisions": self.n_decisions,
            "parameters": {name: plain_value(value) for name, value in self.parameters.items()},
            "seed": self.seed,
            "labels": [row.to_dict() for row in self.labels],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def plot(self, ax: Any = None) -> Any:
        """Draw the gain of closing each gate with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new pyplot figure of sufficient height.

        Returns
        -------
        Axes
        """
        if ax is None:
            figures.import_matplotlib()
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=_size(self), layout="constrained")
        return _draw(self, ax)

    def save_figure(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to a file; the same report gives the same bytes.

        Parameters
        ----------
        path : str or PathLike
            The suffix gives the format: ``.png``, ``.svg`` or ``.pdf``.
        """
        figures.save_figure(lambda ax: _draw(self, ax), path, _size(self))

    def __repr__(self) -> str:
        return (
            f"<GateReport: {len(self.ignored)} of {len(self.labels)} labels ignored, by "
            f"{self.method}>"
        )

    def __str__(self) -> str:
        rows = [self.header(), *(self.cells(row) for row in self.labels)]
        return f"{_aligned(rows)}\n\n{self.note()}"

    def header(self) -> list[str]:
        """Return the column titles of the table."""
        stability = ["ignored in"] if self.n_runs > 1 else []
        titles = ["structures", "occurrences", "open", "closed", "gain of closing", *stability]
        return ["label", "gate", *titles, "changes"]

    def cells(self, row: LabelReport) -> list[str]:
        """Return a row of the table as text."""
        runs = round(row.ignored_share * self.n_runs)
        return [
            label_text(row.label),
            "ignored" if row.ignored else f"{row.gate:g}",
            f"{row.structures:,}",
            f"{row.occurrences:,}",
            f"{row.loss_open:.4f}",
            f"{row.loss_closed:.4f}",
            f"{row.gain:+.4f}",
            *([f"{runs} of {self.n_runs}"] if self.n_runs > 1 else []),
            f"{row.changes} of {row.decisions}",
        ]

    def note(self) -> str:
        """Return notes on the table, one per line."""
        what = (
            "minus the estimated information of codes about classes above chance, in nats"
            if self.method == "information"
            else "mean loss of a structure"
        )
        lines = [
            f"{len(self.ignored)} of {len(self.labels)} labels are ignored; learned by "
            f"{self.method} in {self.n_decisions:,} decisions, seed {self.seed}",
            f"open and closed: {what}",
        ]
        if self.agreement is not None:
            lines.append(f"two runs agree on {self.agreement:.0%} of the labels")
        if self.parameters:
            learned = (f"{name}={plain_value(value)}" for name, value in self.parameters.items())
            lines.append(f"learned parameters: {', '.join(learned)}")
        return "\n".join(lines)


def label_text(label: str, width: int = _LABEL_WIDTH) -> str:
    r"""Return a label as one short line.

    Examples
    --------
    >>> label_text("two\nlines"), label_text(""), label_text("a" * 40, 8)
    ('two lines', '(empty)', 'aaaaa...')
    """
    # Control characters would break the table.
    line = one_line(label)
    return shorten(line, width) if label else "(empty)"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as lines, left-aligned in the first column, right-aligned in others."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )


def _label_reports(learner: GateLearner) -> tuple[LabelReport, ...]:
    decisions = [decision for decision in learner.trace_ if "open" in decision]
    counts = Counter(decision["label"] for decision in decisions)
    changes = Counter(
        decision["label"]
        for decision in decisions
        if decision["open"] != decision["before"] and decision.get("accepted", True)
    )
    rows = [
        LabelReport(
            label=label,
            gate=learner.gates_[label],
            structures=int(learner.structures_[t]),
            occurrences=int(learner.occurrences_[t]),
            loss_open=float(learner.loss_open_[t]),
            loss_closed=float(learner.loss_closed_[t]),
            ignored_share=float(learner.ignored_[t]),
            decisions=counts[label],
            changes=changes[label],
        )
        for t, label in enumerate(learner.labels_)
    ]
    # Sorting is stable: labels with equal gains stay in order of frequency.
    return tuple(sorted(rows, key=lambda row: (not row.ignored, -row.gain)))


def _agreement(ignoring: Any, n_runs: int) -> float | None:
    """Return the fraction of pairs of runs that agree, given how many runs ignore each label."""
    if n_runs < 2 or not len(ignoring):
        return None
    keeping = n_runs - ignoring
    agreeing = (ignoring * (ignoring - 1) + keeping * (keeping - 1)) / (n_runs * (n_runs - 1))
    return float(np.mean(agreeing))


def _draw(report: GateReport, ax: Any) -> Any:
    """Draw a bar of the gain of closing for each label; return ``ax``."""
    from kernelwood.tuning.gate_report import label_text

    rows = report.labels
    places = range(len(rows))
    ax.barh(
        places,
        [row.gain for row in rows],
        color=[_IGNORED if row.ignored else _KEPT for row in rows],
        hatch=["///" if row.ignored else "" for row in rows],  # readable without color
        edgecolor="white",
        height=0.8,
    )
    names = [f"{label_text(row.label)} ({row.structures:,})" for row in rows]
    for text in (*_ticks(ax, places, names), *_stability(report, ax)):
        text.set_fontsize(8)
        text.set_parse_math(False)  # labels can contain dollar signs
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel(
        "gain of closing the gate ("
        + ("nats" if report.method == "information" else "loss per structure")
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
    # Kept labels are below with negative gains, so the lower right corner is free.
    ax.legend(handles=handles, loc="lower right", fontsize=8)


def _size(report: GateReport) -> tuple[float, float]:
    return _FIGURE_WIDTH, max(3.0, _MARGINS + _LABEL_HEIGHT * len(report.labels))
