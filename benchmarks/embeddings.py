"""Nyström vectors of questions: what they cost, and how well models on them classify.

    python benchmarks/embeddings.py [--data DIR] [--parts speed curve selection] [--json]
    python benchmarks/embeddings.py --parts sets choice

5,452 questions to learn six classes from and 500 to be tested on: grammatical relation centered
trees for the PTK and the SPTK, compositional ones for the CSPTK. Every time is CPU time of one
thread, the minimum of several repeats. Accuracies are means and deviations over seeds, in percent.
The parts "selection", "sets" and "choice" look at the 5,452 alone: the first compares ways of
choosing landmarks, the second several sets of landmarks with one of as many; on the third, the
settings of the models rest.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from measure import QUESTIONS, cpu_seconds, show_table
from rich.console import Console
from rich.progress import Progress
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.evaluate import Spread
from kernelwood.features import SELECTIONS
from kernelwood.learners import KernelNetworkClassifier
from kernelwood.learners.kernel_network import Layers, Trainer

TEST = "question-classification/TREC_10.coarse.klp.gz"
VECTORS = "word-vectors/qc-standin-250.txt.gz"
PARTS = ("speed", "curve", "selection", "sets", "choice")
SIZES = (100, 200, 500, 1000)
C = 10.0  # of linear machines on vectors (--parts choice)
# Of machines on the kernel itself: chosen for the PTK (papers/questions.py --parts choice),
# and taken over for the others, which may do better with another one.
EXACT_C = 10.0
LIMITS = {"PTK": 1.0, "SPTK": 4.0, "CSPTK": None}
# A linear model of KeLP on vectors by random landmarks.
KELP = {
    ("PTK", 100): 77, ("PTK", 200): 83, ("PTK", 500): 86,
    ("SPTK", 100): 81, ("SPTK", 200): 87, ("SPTK", 500): 90,
}  # fmt: skip
N_HELD_OUT = 952
VIEWS = {"PTK": "grct", "SPTK": "grct", "CSPTK": "cgrct"}

Row = dict[str, Any]
Advance = Callable[[], object]


class Part(NamedTuple):
    """Trees of each kind, and the numbers of their classes."""

    trees: dict[str, list[kw.Tree]]
    numbers: np.ndarray


def read_part(name: str, data: str | None) -> Part:
    examples = kw.read(require_data(name, data), views=sorted(set(VIEWS.values())))
    views = {view: [e.view(view) for e in examples] for view in set(VIEWS.values())}
    labels = [str(example.label) for example in examples]
    return Part(views, np.unique(labels, return_inverse=True)[1].astype(np.int32))


def kernels(data: str | None) -> dict[str, kw.Kernel]:
    vectors = kw.Vectors.load(str(require_data(VECTORS, data)))
    kind = kw.PartialTreeKernel
    return {
        "PTK": kind(terminal_factor=5.0),
        "SPTK": kind(terminal_factor=5.0, similarity=kw.similarity.Lexical(vectors)),
        "CSPTK": kind(terminal_factor=5.0, similarity=kw.similarity.Compositional(vectors)),
    }


def linear_machine(c: float = C) -> LinearSVC:
    # There are more questions than dimensions.
    return LinearSVC(C=c, dual=False, random_state=0)


def percent(values: list[float]) -> str:
    spread = Spread.of(values)
    return f"{100 * spread.mean:.1f} ± {100 * spread.deviation:.1f}"


# What vectors cost.


def speed_rows(
    every: dict[str, kw.Kernel], train: Part, test: Part, repeats: int, advance: Advance
) -> Iterator[Row]:
    for name, kernel in every.items():
        trees = train.trees[VIEWS[name]]
        together = [*trees, *test.trees[VIEWS[name]]]
        batch, both = kw.batch(trees), kw.batch(together)
        embedder = kw.NystromEmbedder(kernel, n_landmarks=500, random_state=0)
        row: Row = {"kernel": name, "questions": len(together), "landmarks": 500}
        row["fit"] = cpu_seconds(lambda: embedder.fit(batch), repeats)  # noqa: B023
        row["transform"] = cpu_seconds(lambda: embedder.transform(both), repeats)  # noqa: B023
        row["from trees to vectors"] = cpu_seconds(
            lambda: embedder.fit(trees).transform(together),  # noqa: B023
            repeats,
        )
        yield row | {"limit": LIMITS[name]}
        advance()


# How well models on vectors classify.


def curve_rows(
    every: dict[str, kw.Kernel], train: Part, test: Part, n_seeds: int, advance: Advance
) -> Iterator[Row]:
    for name, kernel in every.items():
        X, Y = (kw.batch(part.trees[VIEWS[name]]) for part in (train, test))
        machine = kw.KernelSVC(kernel, C=EXACT_C).fit(X, train.numbers)
        exact = 100 * float(machine.score(Y, test.numbers))
        advance()
        for size in SIZES:
            found = [accuracies(kernel, size, seed, X, train, Y, test) for seed in range(n_seeds)]
            linear, network = zip(*found, strict=True)
            yield {
                "kernel": name,
                "landmarks": size,
                "linear SVM": percent(list(linear)),
                "network": percent(list(network)),
                "KeLP, linear": KELP.get((name, size)),
                f"exact KernelSVC, C {EXACT_C:g}": exact,
            }
            advance()


def accuracies(
    kernel: kw.Kernel, size: int, seed: int, X: Any, train: Part, Y: Any, test: Part
) -> tuple[float, float]:
    """Return the accuracy of a linear machine and of a network with the same landmarks."""
    network = KernelNetworkClassifier(kernel, n_landmarks=size, random_state=seed)
    network.fit(X, train.numbers)
    embedder = network.embedders_[0]
    linear = linear_machine().fit(embedder.transform(X), train.numbers)
    return (
        float(linear.score(embedder.transform(Y), test.numbers)),
        float(network.score(Y, test.numbers)),
    )


# What is decided on the questions to learn from.


def held_out(train: Part, name: str, seed: int) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return trees and classes to learn from, and others to measure on."""
    order = np.random.default_rng(seed).permutation(len(train.numbers))
    known, other = order[:-N_HELD_OUT], order[-N_HELD_OUT:]
    trees = kw.batch(train.trees[VIEWS[name]])
    return trees[known], train.numbers[known], trees[other], train.numbers[other]


def selection_rows(
    every: dict[str, kw.Kernel], train: Part, n_seeds: int, advance: Advance
) -> Iterator[Row]:
    for name in ("PTK", "SPTK"):
        for size in (100, 300):
            for selection in SELECTIONS:
                residuals, scores, seconds = [], [], []
                for seed in range(n_seeds):
                    X, y, other, truth = held_out(train, name, seed)
                    embedder = kw.NystromEmbedder(
                        every[name], n_landmarks=size, selection=selection, random_state=seed
                    )
                    seconds.append(cpu_seconds(lambda: embedder.fit(X, y), 1))  # noqa: B023
                    residuals.append(float(embedder.residual(other).mean()))
                    machine = linear_machine().fit(embedder.transform(X), y)
                    scores.append(float(machine.score(embedder.transform(other), truth)))
                yield {
                    "kernel": name,
                    "landmarks": size,
                    "selection": selection,
                    "residual, held out": float(np.mean(residuals)),
                    "linear SVM, held out": percent(scores),
                    "fit, s": float(np.mean(seconds)),
                }
                advance()


# The default, as KernelNetworkClassifier has it, and what differs from it.
DEFAULT = Trainer(
    hidden=(200,), activation="relu", alpha=0.005, learning_rate=0.001, batch_size=None,
    max_iter=50, validation_fraction=None, patience=10, n_classes=6,
)  # fmt: skip
CHOICES: dict[str, dict[str, Any]] = {
    "default": {},
    "each dimension scaled": {"scaled": True},
    "alpha 0": {"alpha": 0.0},
    "alpha 0.0005": {"alpha": 0.0005},
    "alpha 0.015": {"alpha": 0.015},
    "alpha 0.05": {"alpha": 0.05},
    "no hidden layer": {"hidden": ()},
    "hidden 100": {"hidden": (100,)},
    "hidden 400": {"hidden": (400,)},
    "hidden 200, 200": {"hidden": (200, 200)},
    "tanh": {"activation": "tanh"},
    "20 epochs": {"max_iter": 20},
    "100 epochs": {"max_iter": 100},
    "batches of 50": {"batch_size": 50},
    "stopped early": {"validation_fraction": 0.1, "max_iter": 100},
}
SETS = ((1, 100), (3, 100), (1, 300), (3, 300))  # number of sets, and of landmarks in each
LINEAR_CHOICES = (1.0, 3.0, 10.0, 30.0)
CHOICE_DATA = (("PTK", 300), ("SPTK", 100), ("SPTK", 500))


def sets_rows(
    every: dict[str, kw.Kernel], train: Part, n_seeds: int, advance: Advance
) -> Iterator[Row]:
    """Compare networks of several sets of landmarks with one that has as many, with a seed each."""
    for name in ("PTK", "SPTK"):
        for n_sets, size in SETS:
            scores = []
            for seed in range(n_seeds):
                X, y, other, truth = held_out(train, name, seed)
                network = KernelNetworkClassifier(
                    every[name], n_landmarks=size, n_sets=n_sets, random_state=seed
                )
                scores.append(float((network.fit(X, y).predict(other) == truth).mean()))
            yield {
                "kernel": name,
                "sets": n_sets,
                "landmarks of each": size,
                "network, held out": percent(scores),
            }
            advance()


def choice_rows(
    every: dict[str, kw.Kernel], train: Part, n_seeds: int, advance: Advance
) -> Iterator[Row]:
    """Compare settings on questions held out from those to learn from, with a seed each."""
    data = {
        key: [_vectors(every, train, *key, seed) for seed in range(n_seeds)] for key in CHOICE_DATA
    }
    for c in LINEAR_CHOICES:
        row: Row = {"model": f"linear SVM, C {c:g}"}
        for (name, size), parts in data.items():
            scores = [
                float(linear_machine(c).fit(X, y).score(other, truth))
                for X, y, other, truth in parts
            ]
            row[f"{name}, {size}"] = percent(scores)
        yield row
        advance()
    for what, changes in CHOICES.items():
        row = {"model": f"network, {what}"}
        for (name, size), parts in data.items():
            scores = [_network_score(part, seed, **changes) for seed, part in enumerate(parts)]
            row[f"{name}, {size}"] = percent(scores)
        yield row
        advance()


def _vectors(
    every: dict[str, kw.Kernel], train: Part, name: str, size: int, seed: int
) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    X, y, other, truth = held_out(train, name, seed)
    embedder = kw.NystromEmbedder(every[name], n_landmarks=size, random_state=seed).fit(X)
    return embedder.transform(X), y, embedder.transform(other), truth


def _network_score(part: Any, seed: int, scaled: bool = False, **changes: Any) -> float:
    X, y, other, truth = part
    if scaled:
        X, other = X / X.std(axis=0), other / X.std(axis=0)
    trainer = replace(DEFAULT, **changes)
    trained = trainer.train(X, y, seed, lambda epoch: None)
    layers = Layers(trained.weights, trained.intercepts, trainer.activation)
    return float((layers.scores(other).argmax(axis=1) == truth).mean())


def run(options: argparse.Namespace, progress: Progress) -> dict[str, list[Row]]:
    """Return the rows of all tables that were asked for."""
    train = read_part(QUESTIONS, options.data)
    test = read_part(TEST, options.data) if {"speed", "curve"} & set(options.parts) else None
    every = kernels(options.data)
    seeds = options.seeds
    tables: dict[str, tuple[int, Callable[[Advance], Iterator[Row]]]] = {
        "speed": (3, lambda step: speed_rows(every, train, test, options.repeats, step)),
        "curve": (15, lambda step: curve_rows(every, train, test, seeds, step)),
        "selection": (16, lambda step: selection_rows(every, train, seeds, step)),
        "sets": (2 * len(SETS), lambda step: sets_rows(every, train, seeds, step)),
        "choice": (
            len(CHOICES) + len(LINEAR_CHOICES),
            lambda step: choice_rows(every, train, seeds, step),
        ),
    }
    found = {}
    for part in options.parts:
        n_steps, rows = tables[part]
        task = progress.add_task(part, total=n_steps)
        found[part] = list(rows(lambda: progress.advance(task)))  # noqa: B023
    return found


TITLES = {
    "speed": "Vectors of questions: CPU seconds of one thread",
    "curve": f"Accuracy on 500 questions, %; linear SVM with C = {C:g}",
    "selection": f"Ways of choosing landmarks, {N_HELD_OUT} of 5,452 questions held out",
    "sets": f"Several sets of landmarks, {N_HELD_OUT} of 5,452 questions held out",
    "choice": f"Accuracy on {N_HELD_OUT} of 5,452 questions held out, %",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS[:3]))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    shown = Progress(console=Console(stderr=True))
    with shown as progress, kw.config_context(n_jobs=1), threadpool_limits(1):
        found = run(options, progress)
    if options.json:
        print(json.dumps(found))
        return
    for part, rows in found.items():
        show_table(TITLES[part], rows)


if __name__ == "__main__":
    main()
