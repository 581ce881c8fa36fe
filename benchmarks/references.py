"""Time and effect of choosing references, beside random ones, and of other parameters.

    python benchmarks/references.py [--data DIR] [--sizes 30 100] [--seeds 3]
                                    [--parts speed effect parameters] [--json]

Speed: 100 references of 5,000 structures by information, with 1,000 candidates and 300 examples in
each of 100 steps, for codes of 1,000 bits; random dependency paths, and trees of questions. CPU
time of one thread, measured once. The authors' code needs 2 to 3 hours on four cores.

Effect: hash forests learn from questions with random and with chosen references, and are asked
about 952 others, held out from those to learn from; the questions to test on are never read. The
mutual information of codes and classes is that of the held-out questions, in nats.

Parameters: the rank correlation of Hamming distance and similarity over all pairs of 600 questions,
for methods and sizes of subsets, and for numbers of bits; mean and standard deviation over the
seeds. The accuracy of forests with these parameters is that of papers/questions.py.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from hashing import RELATIONS, random_paths
from measure import QUESTIONS, show_table
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.features import ReferenceSelector
from kernelwood.information import mutual_information

N = 5000
HELD_OUT = 952
TREE_KERNEL = kw.PartialTreeKernel(terminal_factor=5.0)
CHOICES = ("random", "information", "coverage")
N_PARAMETERS = 136  # references
PARAMETERS = [
    *(("rknn", size) for size in (1, 2, 20)),
    *(("rmm", size) for size in (2, 20, 40)),
    *(("kulis", size) for size in (2, 20)),
]
BITS = (16, 64, 256, 1000, 4000)
N_CORRELATED = 600

Row = dict[str, Any]


def labeled_paths(n: int) -> tuple[kw.arrays.SequenceBatch, list[bool]]:
    """Return random paths, and whether they have one of five relations."""
    telling = set(RELATIONS[:5])
    paths = random_paths([f"word{i}" for i in range(5000)], n)
    return kw.batch(paths), [not telling.isdisjoint(path.edges) for path in paths]


def labeled_trees(path: Any) -> tuple[kw.arrays.TreeBatch, list[str]]:
    """Return the trees of all questions to learn from, and their classes."""
    examples = kw.read(path)
    return kw.batch([e.view("grct") for e in examples]), [e.label for e in examples]


def speed_row(what: str, selector: ReferenceSelector, X: Any, y: Any) -> Row:
    started = time.process_time()
    with kw.compute.counting() as counters:
        selector.fit(X, y)
    changed = sum(step["chosen"] != step["removed"] for step in selector.trace_)
    return {
        "structures": what,
        "choice": selector.strategy,
        "CPU seconds": time.process_time() - started,
        "evaluations": counters.kernel_evaluations,
        "of N^2 / 2": counters.kernel_evaluations / (len(X) ** 2 / 2),
        "changed": changed,
    }


def speed_rows(trees: kw.arrays.TreeBatch, labels: list[str]) -> Iterator[Row]:
    paths = labeled_paths(N)
    for what, kernel, (X, y) in (
        ("paths", kw.SubsequenceKernel(), paths),
        ("questions", TREE_KERNEL, (trees[:N], labels[:N])),
    ):
        for strategy in ("information", "coverage"):
            yield speed_row(
                what, ReferenceSelector(kernel, strategy=strategy, random_state=0), X, y
            )


def effect_rows(
    trees: kw.arrays.TreeBatch, labels: list[str], sizes: list[int], n_seeds: int
) -> Iterator[Row]:
    for size in sizes:
        for choice in CHOICES:
            found = [measured(trees, labels, size, choice, seed) for seed in range(n_seeds)]
            means = {name: float(np.mean([run[name] for run in found])) for name in found[0]}
            spread = float(np.std([run["accuracy"] for run in found]))
            yield {"M": size, "references": choice, **means, "± accuracy": spread}


def measured(
    trees: kw.arrays.TreeBatch, labels: list[str], size: int, choice: str, seed: int
) -> dict[str, float]:
    order = np.random.default_rng(seed).permutation(len(labels))
    known, other = order[:-HELD_OUT], order[-HELD_OUT:]
    classes = np.asarray(labels)
    forest = kw.HashForestClassifier(
        TREE_KERNEL, n_references=size, references=choice, random_state=seed
    )
    started = time.process_time()
    forest.fit(trees[known], classes[known])
    seconds = time.process_time() - started
    predicted = forest.predict(trees[other])
    bits = forest.hasher_.transform(trees[other])
    return {
        "accuracy": 100 * float((predicted == classes[other]).mean()),
        "macro F1": 100 * float(f1_score(classes[other], predicted, average="macro")),
        "information": mutual_information(bits, classes[other]),
        "fit, CPU seconds": seconds,
    }


def parameter_rows(trees: kw.arrays.TreeBatch, n_seeds: int) -> Iterator[Row]:
    for method, size in PARAMETERS:
        options = {"method": method, "subset_size": size, "n_bits": 1000}
        yield {"method": method, "subset_size": size, **correlations(trees, options, n_seeds)}


def bit_rows(trees: kw.arrays.TreeBatch, n_seeds: int) -> Iterator[Row]:
    for n_bits in BITS:
        options = {"method": "rmm", "subset_size": 2, "n_bits": n_bits}
        yield {"bits": n_bits, **correlations(trees, options, n_seeds)}


def correlations(trees: kw.arrays.TreeBatch, options: dict[str, Any], n_seeds: int) -> Row:
    found = [correlation(trees, options, seed) for seed in range(n_seeds)]
    return {"correlation": float(np.mean(found)), "±": float(np.std(found))}


def correlation(trees: kw.arrays.TreeBatch, options: dict[str, Any], seed: int) -> float:
    """Return the rank correlation of Hamming distance and similarity of some questions."""
    some = np.random.default_rng(seed).permutation(len(trees))[:N_CORRELATED]
    pairs = np.triu_indices(len(some), 1)
    hasher = kw.KernelHasher(
        TREE_KERNEL, n_references=N_PARAMETERS, random_state=seed, **options
    ).fit(trees)
    bits = hasher.transform(trees[some]).astype(np.float32)
    distances = (bits @ (1 - bits).T)[pairs] + (bits @ (1 - bits).T).T[pairs]
    similarities = TREE_KERNEL.gram(trees[some])[pairs]
    return float(spearmanr(similarities, distances)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--parts", nargs="+", default=["speed", "effect"])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    trees, labels = labeled_trees(require_data(QUESTIONS, options.data))
    found: dict[str, list[Row]] = {}
    if "speed" in options.parts:
        found["100 references of 5,000 structures"] = list(speed_rows(trees, labels))
    if "effect" in options.parts:
        rows = effect_rows(trees, labels, options.sizes, options.seeds)
        found[f"forests on questions, {options.seeds} seeds"] = list(rows)
    if "parameters" in options.parts:
        found["methods and sizes of subsets"] = list(parameter_rows(trees, options.seeds))
        found["bits"] = list(bit_rows(trees, options.seeds))
    if options.json:
        print(json.dumps(found))
        return
    for title, rows in found.items():
        show_table(title, rows)


if __name__ == "__main__":
    main()
