"""What is measured on questions: support vector machines, hash forests, neighbors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from question_models.coverage import CoverageForest

import kernelwood as kw
from kernelwood.evaluate import Evaluation, Spread, cross_validate, train_and_test

SST = kw.SubsetTreeKernel(count_leaves=True)
PTK = kw.PartialTreeKernel(terminal_factor=5.0)
PTK_OF_WORDS = kw.PartialTreeKernel(terminal_factor=20.0)
KERNELS = {"SST": SST, "PTK": PTK, "PTK 20": PTK_OF_WORDS}

MACHINES = [(C, weight) for C in (3.0, 10.0) for weight in (None, "balanced")]
KELP: dict[tuple[str, float, str | None], float] = {
    ("SST", 3.0, None): 91.4,
    ("PTK", 3.0, None): 91.0,
}
SIZES = (30, 60, 100, 137, 200, 300, 500, 1000)
LARGEST_SUBSET = 68

Row = dict[str, Any]
Advance = Callable[[int], object]


class Part(NamedTuple):
    """Questions as trees, and their classes."""

    trees: kw.arrays.TreeBatch
    labels: Sequence[str]


@dataclass(frozen=True)
class ForestSetting:
    """A kind of forest; a subset of None is half of the references, at most LARGEST_SUBSET."""

    kernel: str = "PTK"
    method: str = "rmm"
    subset: int | None = 2
    bits_per_tree: int = 30
    coverage: bool = False

    def model(self, n_references: int) -> kw.HashForestClassifier:
        """Return a forest with this many references."""
        kind = CoverageForest if self.coverage else kw.HashForestClassifier
        return kind(
            KERNELS[self.kernel],
            method=self.method,
            n_references=n_references,
            subset_size=self.subset_size(n_references),
            bits_per_tree=self.bits_per_tree,
            random_state=0,
        )

    def subset_size(self, n_references: int) -> int:
        """Return the size of subsets with this many references."""
        half = n_references // 2
        return min(half, LARGEST_SUBSET if self.subset is None else self.subset)

    def row(self) -> Row:
        """Return what tells this setting from others."""
        return {
            "kernel": self.kernel,
            "references": "coverage" if self.coverage else "random",
            "method": self.method,
            "subsets": "half" if self.subset is None else str(self.subset),
            "bits a tree": self.bits_per_tree,
        }


# In the order in which they were tried; each changes one thing of an earlier one.
FORESTS = (
    ForestSetting("SST"),
    ForestSetting("PTK"),
    ForestSetting("PTK", "rknn"),
    ForestSetting("PTK", "kulis"),
    ForestSetting("PTK", "kulis", 20),
    ForestSetting("PTK", subset=20),
    ForestSetting("PTK", subset=None),
    ForestSetting("PTK 20", subset=None),
    ForestSetting("PTK 20", subset=None, bits_per_tree=60),
    ForestSetting("PTK 20", subset=None, bits_per_tree=60, coverage=True),
)
CURVES = tuple(FORESTS[i] for i in (1, 2, 3, 8, 9))


def percent(spread: Spread) -> tuple[float, float]:
    """Return mean and deviation in percent."""
    return 100 * spread.mean, 100 * spread.deviation


def evaluations(result: Evaluation) -> float:
    """Return the kernel evaluations of one run, for learning and for predicting."""
    spent = result.over_runs
    return spent["fit_kernel_evaluations"].mean + spent["predict_kernel_evaluations"].mean


def cpu_seconds(result: Evaluation) -> float:
    """Return the CPU time of one run, for learning and for predicting."""
    spent = result.over_runs
    return spent["fit_cpu_seconds"].mean + spent["predict_cpu_seconds"].mean


def tested(model: Any, train: Part, test: Part, n_seeds: int | None = None) -> Evaluation:
    """Learn from one part and predict the other, with each of several seeds."""
    seeds = None if n_seeds is None else range(n_seeds)
    return train_and_test(model, *train, *test, random_states=seeds, n_bootstrap=0)


def machine_rows(train: Part, test: Part, advance: Advance) -> Iterator[Row]:
    """Measure support vector machines; KeLP's are those of the same kernel and C."""
    for kernel in ("SST", "PTK", "PTK 20"):
        for C, weight in MACHINES:
            result = tested(kw.KernelSVC(KERNELS[kernel], C=C, class_weight=weight), train, test)
            yield {
                "kernel": kernel,
                "C": C,
                "class weight": weight or "none",
                "accuracy": 100 * float(result.scores.accuracy),
                "KeLP": KELP.get((kernel, C, weight)),
                "evaluations": round(evaluations(result)),
                "CPU seconds": cpu_seconds(result),
            }
            advance(1)


def forest_rows(
    train: Part,
    test: Part,
    machine: Row,
    *,
    n_seeds: int,
    sizes: Sequence[int] = SIZES,
    advance: Advance,
) -> Iterator[Row]:
    """Measure forests with more and more references against a support vector machine."""
    for setting in CURVES:
        for size in sizes:
            result = tested(setting.model(size), train, test, n_seeds)
            mean, deviation = percent(result.over_runs["accuracy"])
            yield {
                **setting.row(),
                "M": size,
                "evaluations": round(evaluations(result)),
                "times fewer": machine["evaluations"] / evaluations(result),
                "accuracy": mean,
                "±": deviation,
                "behind": machine["accuracy"] - mean,
                "CPU seconds": cpu_seconds(result),
            }
            advance(n_seeds)


SEARCHES: tuple[dict[str, Any], ...] = (
    *({"n_candidates": n, "n_bits": 64} for n in (100, 200, 400, None, 1500)),
    *({"n_candidates": None, "n_bits": n} for n in (8, 14, 32)),
)


def neighbor_rows(train: Part, test: Part, *, n_seeds: int, advance: Advance) -> Iterator[Row]:
    """Measure neighbors found by hashcodes against those found by comparing with all."""
    exact = tested(kw.KernelNeighborsClassifier(SST), train, test)
    best = 100 * float(exact.scores.accuracy)
    yield _neighbor_row("all", None, exact, best, len(train.labels))
    advance(1)
    for search in SEARCHES:
        result = tested(kw.HashNeighborsClassifier(SST, **search), train, test, n_seeds)
        wanted = search["n_candidates"] or "default"
        yield _neighbor_row(str(wanted), search["n_bits"], result, best, len(train.labels))
        advance(n_seeds)


def _neighbor_row(
    candidates: str, n_bits: int | None, result: Evaluation, best: float, n: int
) -> Row:
    mean, deviation = percent(result.over_runs["accuracy"])
    return {
        "candidates": candidates,
        "bits": n_bits,
        "evaluations": round(evaluations(result)),
        "of N^1.6": evaluations(result) / n**1.6,
        "accuracy": mean,
        "±": deviation,
        "of exact": 100 * mean / best,
        "CPU seconds": cpu_seconds(result),
    }


def machine_choice(train: Part, advance: Advance) -> Iterator[Row]:
    """Cross-validate support vector machines on questions to learn from, in five parts."""
    for kernel in ("SST", "PTK", "PTK 20"):
        for C, weight in MACHINES:
            model = kw.KernelSVC(KERNELS[kernel], C=C, class_weight=weight)
            result = cross_validate(model, *train, n_bootstrap=0)
            mean, deviation = percent(result.over_runs["accuracy"])
            row = {"kernel": kernel, "C": C, "class weight": weight or "none"}
            yield row | {"accuracy": mean, "±": deviation}
            advance(1)


def forest_choice(
    train: Part,
    *,
    n_splits: int,
    settings: Sequence[ForestSetting] = FORESTS,
    n_references: int = 137,
    held_out: int = 952,
    advance: Advance,
) -> Iterator[Row]:
    """Compare forests, and a machine, on questions held out from those to learn from."""
    splits = [
        _held_out(train, np.random.default_rng(seed).permutation(len(train.labels)), held_out)
        for seed in range(n_splits)
    ]
    models: list[tuple[Row, Any]] = [
        (setting.row(), setting.model(n_references)) for setting in settings
    ]
    machine = dict.fromkeys(settings[0].row(), "") | {"kernel": "PTK", "method": "SVM, C = 10"}
    models.append((machine, kw.KernelSVC(PTK, C=10.0)))
    for row, model in models:
        found = [float(tested(model, *split).scores.accuracy) for split in splits]
        mean, deviation = percent(Spread.of(found))
        yield row | {"accuracy": mean, "±": deviation}
        advance(1)


def _held_out(train: Part, order: Any, n: int) -> tuple[Part, Part]:
    labels = np.asarray(train.labels)
    known, other = order[:-n], order[-n:]
    return (
        Part(train.trees[known], labels[known].tolist()),
        Part(train.trees[other], labels[other].tolist()),
    )
