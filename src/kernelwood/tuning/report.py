"""What was learned about gates, for people and for machines."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelwood.structures import one_line, shorten
from kernelwood.tuning.problem import plain_value

if TYPE_CHECKING:
    from kernelwood.tuning.gates import GateLearner

__all__ = ["GateReport", "LabelReport", "label_text"]

_WIDTH = 32  # columns that a label may take


@dataclass(frozen=True, slots=True)
class LabelReport:
    """What was learned about one label.

    Attributes
    ----------
    label : str
        The label.
    gate : float
        Its gate; 0 if it is ignored.
    structures, occurrences : int
        How many structures have the label, and how many nodes or elements.
    loss_open, loss_closed : float
        What is to be small, with the gate open and closed; the mean over runs. See
        :class:`~kernelwood.GateLearner`.
    ignored_share : float
        Share of runs in which the label is ignored.
    decisions, changes : int
        How often its gate was in question, and how often it was changed, in all runs.
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
        """What closing the gate gains: the loss with it open, minus the loss with it closed."""
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
    """What was learned about gates; made by :meth:`GateLearner.report`.

    ``print(report)`` shows a table, ``report["det"]`` is what was learned about one label.

    Attributes
    ----------
    labels : tuple of LabelReport
        The ignored ones first, and of these, as of the others, those first whose closing gains
        most.
    method : {"neighbors", "information"}
        How it was learned.
    classes : tuple of str or number
        The classes of the structures.
    n_runs : int
        How many times it was learned, with other random numbers.
    agreement : float or None
        Share of labels on which two runs agree, the mean over all pairs of runs; None of one run.
    n_decisions : int
        Decisions in all runs.
    parameters : dict
        Parameters of the kernel that were learned along with the gates.
    seed : int
        Where the random numbers came from.

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
        """Return plain JSON values; what is no finite number, string or list becomes a string."""
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
        """Draw how much is gained by closing each gate, with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure of pyplot, which is high enough.

        Returns
        -------
        Axes
        """
        from kernelwood.tuning.figure import draw_on_new_figure, draw_report

        return draw_on_new_figure(self) if ax is None else draw_report(self, ax)

    def save_figure(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to a file, which is either complete or not there.

        Parameters
        ----------
        path : str or PathLike
            Its suffix says what to write: ``.png``, ``.svg`` or ``.pdf``.
        """
        from kernelwood.tuning.figure import save_figure

        save_figure(self, path)

    def __repr__(self) -> str:
        return (
            f"<GateReport: {len(self.ignored)} of {len(self.labels)} labels ignored, by "
            f"{self.method}>"
        )

    def __str__(self) -> str:
        rows = [self.header(), *(self.cells(row) for row in self.labels)]
        return f"{_aligned(rows)}\n\n{self.note()}"

    def header(self) -> list[str]:
        """Return the titles of the columns of the table."""
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
        """Return what the table does not say, in a few lines."""
        what = (
            "minus what codes know of the classes more than by chance, estimated, in nats"
            if self.method == "information"
            else "the loss a structure"
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


def label_text(label: str, width: int = _WIDTH) -> str:
    r"""Return a label as one short line.

    Examples
    --------
    >>> label_text("two\nlines"), label_text(""), label_text("a" * 40, 8)
    ('two lines', '(empty)', 'aaaaa...')
    """
    # Whatever moves the cursor, or cannot be shown, would break the table.
    line = one_line(label)
    return shorten(line, width) if label else "(empty)"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as lines, the first column on the left and the others on the right."""
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
    # Sorting is stable: what gains the same stays in the order of frequency.
    return tuple(sorted(rows, key=lambda row: (not row.ignored, -row.gain)))


def _agreement(ignoring: Any, n_runs: int) -> float | None:
    """Return the share of pairs of runs that agree, given how many runs ignore each label."""
    if n_runs < 2 or not len(ignoring):
        return None
    keeping = n_runs - ignoring
    agreeing = (ignoring * (ignoring - 1) + keeping * (keeping - 1)) / (n_runs * (n_runs - 1))
    return float(np.mean(agreeing))
