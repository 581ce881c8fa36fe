"""Choosing the settings on held-out sentences of the training corpus.

First those that trees and forests share, judged by the mean of both; then those that matter to
forests alone: candidates of one tree are certain and do not cross, and its rules need no choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import product

import numpy as np
from roles.candidates import thin_out
from roles.experiment import Instance, Settings, Task, label
from roles.learning import Matrix, train
from roles.scoring import score

import kernelwood as kw

Axes = dict[str, list[float]]
Instances = Sequence[Instance]

__all__ = ["GENEROUS", "tune"]

VIEWS = ("path", "argument")

SHARED: Axes = {
    "decay": [0.3, 0.4, 0.5],
    "theta": [0.6, 0.7, 0.8],
    "C": [4.0, 8.0, 16.0],
    "none_bias": [-0.6, -0.4, -0.2, 0.0],
}
OF_FORESTS: Axes = {
    "sharpness": [0.5, 1.0, 2.0],
    "min_probability": [0.05, 0.1, 0.2, 0.35, 0.5],
    "max_crossing": [1, 4],
    "prior": [0.0, 0.3, 0.6, 0.9, 1.2, 1.6],
}
GENEROUS = Settings(
    min_probability=min(OF_FORESTS["min_probability"]),
    max_crossing=int(max(OF_FORESTS["max_crossing"])),
)

# What a choice of each of these makes necessary to compute again, the dearest first.
OF_KERNELS = ("decay", "sharpness")
OF_CANDIDATES = ("min_probability", "max_crossing")
OF_MACHINES = ("theta", "C")
OF_LABELS = ("none_bias", "prior")


def tune(
    training: dict[str, Instances],
    found: dict[str, Instances],
    tasks: Sequence[Task],
    base: Settings,
    *,
    n_jobs: int = 1,
    done: Callable[[], None] = lambda: None,
) -> dict[str, list[dict[str, float]]]:
    """Return the settings tried, best first.

    Parameters
    ----------
    training, found : dict of str to sequence of Instance
        Candidates to learn from and held-out ones, by setting, thinned out by `GENEROUS`.
    tasks : sequence of Task
        The held-out predicates.
    base : Settings
        What is not tried.
    n_jobs : int
        Threads.
    done : callable
        Called after every training.
    """

    def tried(setting: str, start: Settings, axes: Axes) -> list[dict[str, float]]:
        return list(_grid(training[setting], found[setting], tasks, start, axes, n_jobs, done))

    if not base.uses_probability:
        # What both share stays as it is; only the choice of candidates is made anew.
        axes = {name: OF_FORESTS[name] for name in OF_CANDIDATES}
        return {"of_forests": sorted(tried("forest", base, axes), key=lambda row: -row["f1"])}
    both = zip(tried("tree", base, SHARED), tried("forest", base, SHARED), strict=True)
    shared = [
        {name: tree[name] for name in SHARED} | {"tree": tree["f1"], "forest": forest["f1"]}
        for tree, forest in both
    ]
    shared.sort(key=lambda row: -row["tree"] - row["forest"])
    [chosen] = _choices(base, {name: [shared[0][name]] for name in SHARED}, tuple(SHARED))
    return {
        "shared": shared,
        "of_forests": sorted(tried("forest", chosen, OF_FORESTS), key=lambda row: -row["f1"]),
    }


def _grid(
    training: Instances,
    found: Instances,
    tasks: Sequence[Task],
    base: Settings,
    axes: Axes,
    n_jobs: int,
    done: Callable[[], None],
) -> Iterator[dict[str, float]]:
    """Yield the F1 of every combination, with the settings it belongs to.

    ``training`` and ``found`` hold the candidates of the most generous choice; stricter ones take
    a part of them.
    """
    gold = [task.gold for task in tasks]
    for outer in _choices(base, axes, OF_KERNELS):
        grams = _similarities(training, found, outer, n_jobs)
        for middle in _choices(outer, axes, OF_CANDIDATES):
            rows, columns = _kept(training, middle), _kept(found, middle)
            some = [found[number] for number in columns]
            for inner in _choices(middle, axes, OF_MACHINES):
                gram, cross = (
                    inner.theta * path[np.ix_(chosen, rows)]
                    + (1 - inner.theta) * argument[np.ix_(chosen, rows)]
                    for (path, argument), chosen in zip(grams, (rows, columns), strict=True)
                )
                roles = [training[number].role for number in rows]
                weights = None
                if inner.weigh_negatives:
                    weights = [training[number].weight for number in rows]
                machines = train(gram, roles, C=inner.C, weights=weights, n_jobs=n_jobs)
                values = machines.margins(cross)
                for last in _choices(inner, axes, OF_LABELS):
                    labels = label(len(tasks), some, values, machines.roles, last)
                    yield asdict(last) | {"f1": score(gold, labels).f1}
                done()


def _choices(base: Settings, axes: Axes, names: tuple[str, ...]) -> list[Settings]:
    tried = [axes.get(name, [getattr(base, name)]) for name in names]
    return [replace(base, **dict(zip(names, values, strict=True))) for values in product(*tried)]


def _similarities(
    training: Instances, found: Instances, settings: Settings, n_jobs: int
) -> tuple[list[Matrix], list[Matrix]]:
    """Return Gram and cross matrix of each view."""
    kernel = kw.ForestKernel(decay=settings.decay, sharpness=settings.sharpness, n_jobs=n_jobs)
    known = [kw.batch([i.example.view(view) for i in training]) for view in VIEWS]
    fresh = [kw.batch([i.example.view(view) for i in found]) for view in VIEWS]
    return (
        [kernel.gram(some) for some in known],
        [kernel.cross(new, some) for new, some in zip(fresh, known, strict=True)],
    )


def _kept(found: Instances, settings: Settings) -> list[int]:
    """Return which instances a stricter choice of candidates keeps."""
    by_task: dict[int, list[int]] = {}
    for number, instance in enumerate(found):
        by_task.setdefault(instance.task, []).append(number)
    kept: list[int] = []
    for numbers in by_task.values():
        thinned = thin_out(
            [found[number].candidate for number in numbers],
            min_probability=settings.min_probability,
            max_crossing=settings.max_crossing,
        )
        spans = {candidate.span for candidate in thinned}
        kept += [number for number in numbers if found[number].candidate.span in spans]
    return kept
