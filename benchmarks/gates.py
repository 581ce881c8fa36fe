"""Learning gates: how long it takes, and how well it finds what was planted.

    python benchmarks/gates.py [--parts speed sampling losses passes] [--data DIR] [--seeds 5]
                               [--quick] [--json]

Paths with edge labels of which some tell the class and the others make noise
(kw.tuning.planted_paths). CPU time is that of one thread. The tables follow Garg et al.,
"Stochastic learning of nonstationary kernels for natural language modeling" (2018):

speed     time and kernel evaluations; the paper needs 1 h (25 samples) to 12 h (550) on 16 cores
          for 61 labels of 50,000 paths
sampling  neighborhoods against random structures at equal cost (table 4b)
losses    the sampled loss against that of all structures (table 5)
passes    more passes over the labels, and more runs (table 4a)
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from measure import show_table
from scipy.stats import t

import kernelwood as kw
from kernelwood.datasets import find_data
from kernelwood.tuning import neighbor_loss
from kernelwood.tuning.planted import PlantedPaths

GLOVE = "word-vectors/glove.6B.100d.subset.txt.gz"
LIMIT = 120.0  # CPU seconds for 60 labels of 5,000 paths
N, N_TEST = 4000, 1000
N_TRIALS = 10
Row = dict[str, object]


def learn(
    kernel: kw.Kernel, planted: PlantedPaths, seed: int = 0, **parameters: Any
) -> tuple[kw.GateLearner, float, int]:
    """Return a fitted learner, its CPU seconds and its kernel evaluations."""
    learner = kw.GateLearner(
        kernel, labels=1.0, n_trials=N_TRIALS, random_state=seed, n_jobs=1, **parameters
    )
    paths = kw.batch(planted.paths)
    started = time.process_time()
    with kw.compute.counting() as counters:
        learner.fit(paths, planted.classes)
    return learner, time.process_time() - started, counters.kernel_evaluations


def found(learner: kw.GateLearner, planted: PlantedPaths) -> tuple[float, float]:
    """Return the share of noise that is ignored, and of signal that is kept."""
    ignored = np.mean([learner.gates_[label] == 0 for label in planted.noise])
    kept = np.mean([learner.gates_[label] != 0 for label in planted.signal])
    return float(ignored), float(kept)


def accuracy(kernel: kw.Kernel, planted: PlantedPaths, test: PlantedPaths) -> float:
    """Return how often eight neighbors vote for the right class of paths never seen."""
    model = kw.KernelNeighborsClassifier(kernel).fit(planted.paths, planted.classes)
    return float(np.mean(model.predict(test.paths) == test.classes))


def with_interval(values: list[float]) -> str:
    """Return the mean with its 95 % interval."""
    half = np.std(values, ddof=1) / len(values) ** 0.5 * t.ppf(0.975, len(values) - 1)
    return f"{np.mean(values):.2f} ± {half:.2f}"


def speed_rows(options: argparse.Namespace) -> Iterator[Row]:
    small = kw.tuning.planted_paths(5000, n_signal=20, n_noise=40)
    exact = kw.SubsequenceKernel()
    yield timed(
        "60 labels, 5,000 paths, 100 samples", exact, small, LIMIT, n_samples=100, n_passes=1
    )
    glove = find_data(GLOVE, data=options.data)
    if glove is not None:
        vectors = kw.Vectors.load(glove)
        words = worded(small, list(vectors)[:2000])
        for name in ("Exponential", "Gaussian"):
            soft = kw.SubsequenceKernel(similarity=getattr(kw.similarity, name)(vectors))
            yield timed(f"the same, {name}", soft, words, None, n_samples=100)
    if options.quick:
        return
    large = kw.tuning.planted_paths(50_000, n_signal=20, n_noise=41)
    for n_samples in (25, 100):
        for graph in ("exact", "hashed"):
            what = f"61 labels, 50,000 paths, {n_samples} samples, graph {graph}"
            yield timed(what, exact, large, None, n_samples=n_samples, graph=graph)


def worded(planted: PlantedPaths, words: list[str]) -> PlantedPaths:
    """Return planted paths whose made-up words are real ones, so that they have vectors."""
    names: dict[str, str] = {}
    fresh = iter(words)
    paths = []
    for path in planted.paths:
        for node in path.nodes:
            if node not in names:
                names[node] = next(fresh)
        paths.append(kw.Sequence(zip(path.edges, [names[n] for n in path.nodes], strict=True)))
    return planted._replace(paths=paths)


def timed(
    what: str, kernel: kw.Kernel, planted: PlantedPaths, limit: float | None, **parameters: Any
) -> Row:
    learner, seconds, evaluations = learn(kernel, planted, **{"n_passes": 1, **parameters})
    ignored, kept = found(learner, planted)
    return {
        "what": what,
        "CPU seconds": seconds,
        "limit": limit,
        "kernel evaluations": evaluations,
        "noise ignored": ignored,
        "signal kept": kept,
    }


# Where strangers have nothing in common, and where noise is of use between strangers.
SETS: dict[str, dict[str, Any]] = {
    "4 signal words": {"n_signal_words": 4},
    "40 signal words": {"n_signal_words": 40},
    "100 signal words": {"n_signal_words": 100},
    "biased noise": {
        "n_signal": 5, "n_noise": 5, "n_signal_words": 150, "length": (3, 3), "bias": 0.3,
    },
}  # fmt: skip


def sampling_rows(options: argparse.Namespace) -> Iterator[Row]:
    sizes = (25,) if options.quick else (25, 100)
    for (name, planting), n_samples in product(SETS.items(), sizes):
        rows = [sampled(planting, n_samples, seed) for seed in range(options.seeds)]
        for kind in ("neighbors", "random"):
            mine = [row[kind] for row in rows]
            yield {
                "planted": name,
                "sampling": kind,
                "samples": int(np.mean([one["samples"] for one in mine])),
                "kernel evaluations": int(np.mean([one["evaluations"] for one in mine])),
                "noise ignored": with_interval([one["ignored"] for one in mine]),
                "signal kept": with_interval([one["kept"] for one in mine]),
                "k-NN accuracy": with_interval([one["accuracy"] for one in mine]),
                "plain kernel": with_interval([row["plain"] for row in rows]),
            }


def sampled(planting: dict[str, Any], n_samples: int, seed: int) -> dict[str, Any]:
    """Learn once with neighborhoods, and once with as many kernel evaluations without."""
    kernel = kw.SubsequenceKernel()
    planted, test = (
        kw.tuning.planted_paths(n, random_state=s, **planting)
        for n, s in ((N, seed), (N_TEST, 1000 + seed))
    )
    result: dict[str, Any] = {"plain": accuracy(kernel, planted, test)}
    for kind in ("neighbors", "random"):
        learner, _, evaluations = learn(
            kernel, planted, seed, n_samples=n_samples, n_passes=3, sampling=kind
        )
        ignored, kept = found(learner, planted)
        result[kind] = {
            "samples": n_samples,
            "evaluations": evaluations,
            "ignored": ignored,
            "kept": kept,
            "accuracy": accuracy(learner.kernel_, planted, test),
        }
        # Two states of a gate, each with half of n_samples squared. A pass more or less, and a
        # label that is rarer than n_samples, make the costs differ a little.
        n_samples = int((evaluations / (N_TRIALS * len(learner.trace_))) ** 0.5)
    return result


def loss_rows(options: argparse.Namespace) -> Iterator[Row]:
    planted = kw.tuning.planted_paths(N, n_signal_words=10)
    paths, plain = kw.batch(planted.paths), kw.SubsequenceKernel()
    learned = learn(plain, planted, n_samples=100)[0].kernel_
    for name, kernel in (("plain", plain), ("learned", learned)):
        for sampling in ("neighbors", "random"):
            row: Row = {"kernel": name, "sampling": sampling}
            for n_samples in (25, 100, 200, 500, 1000):
                drawn = [
                    neighbor_loss(
                        kernel, paths, planted.classes,
                        n_samples=n_samples, sampling=sampling, random_state=seed,
                    )
                    for seed in range(5 if options.quick else 25)
                ]  # fmt: skip
                row[str(n_samples)] = f"{np.mean(drawn):.3f} ± {np.std(drawn, ddof=1):.3f}"
            row["all"] = f"{neighbor_loss(kernel, paths, planted.classes):.3f}"
            yield row


def pass_rows(options: argparse.Namespace) -> Iterator[Row]:
    kernel = kw.SubsequenceKernel()
    variants: list[dict[str, Any]] = [{"n_passes": n} for n in (1, 3, 6, 9)]
    variants += [{"n_runs": n, "n_passes": 1} for n in (3, 5)]
    for parameters in variants:
        figures = []
        for seed in range(options.seeds):
            planted = kw.tuning.planted_paths(N, n_signal_words=40, random_state=seed)
            test = kw.tuning.planted_paths(N_TEST, n_signal_words=40, random_state=1000 + seed)
            learner, seconds, _ = learn(kernel, planted, seed, n_samples=25, **parameters)
            right = accuracy(learner.kernel_, planted, test)
            figures.append((*found(learner, planted), right, seconds))
        ignored, kept, right, seconds = (list(column) for column in zip(*figures, strict=True))
        yield {
            "what": ", ".join(f"{name}={value}" for name, value in parameters.items()),
            "noise ignored": with_interval(ignored),
            "signal kept": with_interval(kept),
            "k-NN accuracy": with_interval(right),
            "CPU seconds": float(np.mean(seconds)),
        }


PARTS = {
    "speed": ("Learning gates by neighbors, one thread", speed_rows),
    "sampling": ("Neighborhoods against random structures, equal cost", sampling_rows),
    "losses": ("Loss of a structure by number of samples, mean and deviation", loss_rows),
    "passes": ("Passes and runs, 25 samples", pass_rows),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    parser.add_argument("--data", help="folder with word vectors (default: KERNELWOOD_DATA)")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="leave out what takes long")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # Closed gates leave some paths with nothing to compare.
    warnings.filterwarnings("ignore", ".*self-similarity 0", RuntimeWarning)
    tables = {part: list(PARTS[part][1](options)) for part in options.parts}
    if options.json:
        print(json.dumps(tables))
        return
    for part, rows in tables.items():
        show_table(PARTS[part][0], rows)


if __name__ == "__main__":
    main()
