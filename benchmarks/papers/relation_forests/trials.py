"""Choices on the tuning part, and curves there. Every trial is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any

from relation_forests.experiment import Laboratory, Settings
from relation_forests.structures import FLAT, VIEWS

__all__ = ["Grid", "Trials", "choose", "curves"]

Done = Callable[[], None]


@dataclass(frozen=True)
class Grid:
    """What is tried; a corpus may have fewer values."""

    decays: tuple[float, ...] = (0.2, 0.4, 0.6)
    costs: tuple[float, ...] = (1.0, 4.0, 16.0)
    balanced: tuple[bool, ...] = (False,)
    flat: tuple[str, ...] = FLAT
    thetas: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8)
    sharpness: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    prunings: tuple[float, ...] = (2.0, 4.0, 8.0)
    curve_prunings: tuple[float, ...] = (1.0, 2.0, 4.0, 6.0, 8.0)
    curve_sharpness: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass
class Trials:
    """F1 of settings on the tuning part, in the order in which they were tried."""

    laboratory: Laboratory
    done: Done = lambda: None
    rows: list[dict[str, Any]] = field(default_factory=list)

    def f1(self, step: str, settings: Settings) -> float:
        """Try some settings."""
        found = self.laboratory.f1(settings)
        self.rows.append({"step": step, **asdict(settings), "f1": found})
        self.done()
        return found

    def best(self, step: str, choices: Sequence[Settings]) -> Settings:
        """Return the best of some settings, the first of equals."""
        found = [self.f1(step, settings) for settings in choices]
        return choices[found.index(max(found))]

    def best_of_both(self, step: str, choices: Sequence[Settings]) -> Settings:
        """Return the settings that are best on average of trees and forests."""
        found = [
            sum(self.f1(step, replace(settings, forest=forest)) for forest in (False, True))
            for settings in choices
        ]
        return choices[found.index(max(found))]


def choose(trials: Trials, grid: Grid) -> dict[str, Settings]:
    """Return the settings of each row of the table, all chosen on the tuning part.

    Trees and forests share their settings, which are best on average. Rows with "chosen" then
    have the sharpness and the pruning of their forests chosen as well.
    """
    learners = list(product(grid.costs, grid.balanced))
    chosen: dict[str, Settings] = {}
    for view in VIEWS:
        choices = [
            Settings(view, decay=decay, C=cost, balanced=balanced)
            for decay in grid.decays
            for cost, balanced in learners
        ]
        chosen.update(both(view, trials.best_of_both(view, choices)))
    enclosed = chosen["pet tree"]
    sharpest = [
        replace(enclosed, forest=True, pruning=pruning, sharpness=sharpness)
        for pruning in grid.prunings
        for sharpness in grid.sharpness
    ]
    chosen["pet forest chosen"] = trials.best("pet forest chosen", sharpest)
    for flat in grid.flat:
        alone = [Settings("", flat=flat, C=cost, balanced=b) for cost, b in learners]
        chosen[flat] = trials.best(flat, alone)
        name = f"pet+{flat}"
        composite = [
            replace(enclosed, flat=flat, theta=theta, C=cost, balanced=balanced)
            for theta in grid.thetas
            for cost, balanced in learners
        ]
        chosen.update(both(name, trials.best_of_both(name, composite)))
        ours = chosen["pet forest chosen"]
        chosen[f"{name} forest chosen"] = replace(
            chosen[f"{name} forest"], pruning=ours.pruning, sharpness=ours.sharpness
        )
    return chosen


def both(name: str, settings: Settings) -> dict[str, Settings]:
    """Return the settings for trees and for forests, by the names of their rows."""
    return {
        f"{name} tree": replace(settings, forest=False),
        f"{name} forest": replace(settings, forest=True),
    }


def curves(laboratory: Laboratory, settings: Settings, grid: Grid) -> Iterator[dict[str, Any]]:
    """Yield F1, sizes and CPU seconds of the kernel for larger forests and for sharper ones."""
    varied = [("tree", 0.0, replace(settings, forest=False))]
    base = replace(settings, forest=True)
    varied += [("pruning", x, replace(base, pruning=x)) for x in grid.curve_prunings]
    varied += [("sharpness", x, replace(base, sharpness=x)) for x in grid.curve_sharpness]
    for kind, value, one in varied:
        found = laboratory.f1(one)
        yield {"kind": kind, "value": value, "f1": found, **laboratory.structures(one)[1]}
