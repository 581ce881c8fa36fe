"""What came of training and testing a model, once or several times."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.evaluate.estimates import Spread
from kernelwood.evaluate.labels import ClassLabel
from kernelwood.evaluate.measures import METRICS
from kernelwood.evaluate.scores import Scores
from kernelwood.evaluate.tables import html_table, text_table
from kernelwood.structures import shorten

__all__ = ["Cost", "Evaluation", "Run"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a piece of work took.

    Attributes
    ----------
    seconds : float
        Time on the clock.
    cpu_seconds : float
        Time of all processors together.
    kernel_evaluations : int
        Pairs of structures compared.

    Examples
    --------
    >>> Cost(1.0, 1.5, 10) + Cost(0.5, 0.5, 5)
    Cost(seconds=1.5, cpu_seconds=2.0, kernel_evaluations=15)
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    kernel_evaluations: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.seconds + other.seconds,
            self.cpu_seconds + other.cpu_seconds,
            self.kernel_evaluations + other.kernel_evaluations,
        )

    def to_dict(self) -> dict[str, float]:
        """Return plain JSON values."""
        return {
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "kernel_evaluations": self.kernel_evaluations,
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """A model trained once and tested once.

    Attributes
    ----------
    name : str
        Which part or seed this is.
    indices : ndarray of int64, read-only
        The examples that were tested on.
    y_pred : tuple of labels
        What was predicted for them.
    scores : Scores
        How good that is, without intervals; over the classes that occur in this run.
    n_train : int
        Number of examples that were learned from.
    fitting, predicting : Cost
        What it took.
    """

    name: str
    indices: NDArray[np.int64]
    y_pred: tuple[ClassLabel, ...]
    scores: Scores
    n_train: int
    fitting: Cost
    predicting: Cost

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, without the predictions."""
        return {
            "name": self.name,
            "n_train": self.n_train,
            "n_test": len(self.indices),
            **{name: float(self.scores.metric(name)) for name in METRICS},
            "fitting": self.fitting.to_dict(),
            "predicting": self.predicting.to_dict(),
        }

    def __repr__(self) -> str:
        sizes = f"{self.n_train:,} and {len(self.indices):,} examples"
        return f"<Run: {self.name}, {sizes}, accuracy {self.scores.accuracy:.3f}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation:
    """How good a model is, and what it costs.

    Made by :func:`cross_validate` and :func:`train_and_test`.

    Attributes
    ----------
    model : str
        The model with its parameters.
    scores : Scores
        Of all predictions together, with intervals. After several runs on the same examples these
        are drawn with all their predictions, so that repetition does not narrow the intervals.
    runs : tuple of Run
        One for each part or seed.
    indices : ndarray of int64, read-only
        The examples that were tested on, in order; after several runs on the same examples, run
        by run.
    y_true, y_pred : tuples of labels
        Their labels, and what was predicted.
    """

    model: str
    scores: Scores
    runs: tuple[Run, ...]
    indices: NDArray[np.int64]
    y_true: tuple[ClassLabel, ...]
    y_pred: tuple[ClassLabel, ...]

    @property
    def fitting(self) -> Cost:
        """What fitting took in all runs together."""
        return sum((run.fitting for run in self.runs), Cost())

    @property
    def predicting(self) -> Cost:
        """What predicting took in all runs together."""
        return sum((run.predicting for run in self.runs), Cost())

    @property
    def over_runs(self) -> Mapping[str, Spread]:
        """Mean and deviation over the runs: of each metric, and of what a run costs."""
        spreads = {
            name: Spread.of([run.scores.metric(name) for run in self.runs]) for name in METRICS
        }
        for work, costs in (
            ("fit", [run.fitting for run in self.runs]),
            ("predict", [run.predicting for run in self.runs]),
        ):
            for name in ("seconds", "cpu_seconds", "kernel_evaluations"):
                spreads[f"{work}_{name}"] = Spread.of([getattr(cost, name) for cost in costs])
        return spreads

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, without the predictions."""
        return {
            "model": self.model,
            "scores": self.scores.to_dict(),
            "over_runs": {name: spread.to_dict() for name, spread in self.over_runs.items()},
            "fitting": self.fitting.to_dict(),
            "predicting": self.predicting.to_dict(),
            "runs": [run.to_dict() for run in self.runs],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        runs = "1 run" if len(self.runs) == 1 else f"{len(self.runs)} runs"
        return (
            f"<Evaluation: {shorten(self.model)}, {runs}, accuracy {self.scores.accuracy:.3f}, "
            f"macro F1 {self.scores.macro.f1:.3f}>"
        )

    def __str__(self) -> str:
        parts = (shorten(self.model, 100), str(self.scores), text_table(*self._table()))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        costs = html_table(*self._table(), shorten(self.model, 200))
        return f"<div>{costs}{self.scores._repr_html_()}</div>"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        spreads = self.over_runs
        rows = [
            [name.replace("_", " ").replace("f1", "F1"), _spread_text(name, spread)]
            for name, spread in spreads.items()
            if name not in self._repeating()
        ]
        heading = "1 run" if len(self.runs) == 1 else f"mean ± deviation of {len(self.runs)} runs"
        return ["", heading], rows

    def _repeating(self) -> tuple[str, ...]:
        """Return the metrics that say again what another one says."""
        if len(self.scores.positive) == len(self.scores.classes):
            return METRICS[1:4]  # micro averages over all classes are the accuracy
        return METRICS[4:] if len(self.scores.positive) == 1 else ()


def _spread_text(name: str, spread: Spread) -> str:
    if not name.endswith("evaluations"):
        return str(spread)
    return f"{spread.mean:,.0f}" + (f" ± {spread.deviation:,.0f}" if spread.n_runs > 1 else "")
