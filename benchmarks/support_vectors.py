"""Training of support vector machines: the native solver against scikit-learn, and memory.

    python benchmarks/support_vectors.py [--data DIR] [--ddi FOLDER] [--C 10] [--memory 4GB]
                                         [--sizes 5000 10000 20000 27000] [--large 60000] [--json]
                                         [--ridge 0.1]

Candidates are pairs of entities of BioInfer and AIMed, compared by the default kernel of recipes;
with --ddi also those of the extracted folder of DDIExtraction 2013, which has no parses, so that
the view of paths is left out. Without corpora, and for --large, sequences are generated. Both
solvers train one machine on the same Gram matrix, with the same tolerance (0.001). Times are CPU
seconds of one thread; those of fit include the Gram matrix. "worse by" is the difference of the
dual objectives relative to scikit-learn's: positive where the native solver's is higher. Accuracy
and F1 are those of `KernelSVC` on up to 2,000 candidates that are held out. Peak memory is that of
a process that only fits. With --memory, the budget beyond which the Gram matrix is in a temporary
file, it includes the pages of the file that the system keeps in memory and can drop.

With --ridge, `KernelSVC` (C=3, tol=1e-5) and `KernelRidgeClassifier` are compared instead: kernel
evaluations, and CPU seconds of the Gram matrix, of fit_held_out with five folds (without the Gram
matrix), and of 100 predictions. Types of relations are random, so that only times are of interest.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import peak_memory, show_table
from sklearn.metrics import accuracy_score, f1_score
from sklearn.svm import SVC

import kernelwood as kw
from kernelwood import _native
from kernelwood.datasets import find_data
from kernelwood.relations import kernel_on, pair_candidates

PPI = ("ppi/BioInfer-learning-format.xml.gz", "ppi/AImed-learning-format.xml.gz")
VIEWS = ("stem-context", "stem-steps", "names", "negation")
N_TEST = 2000
TOLERANCE = 1e-3

FIT = """
import sys
sys.path.insert(0, sys.argv[1])
import support_vectors
support_vectors.fit(support_vectors.parse_options(sys.argv[3:]), int(sys.argv[2]))
"""


def candidates(options: argparse.Namespace) -> tuple[kw.Kernel, Any, np.ndarray]:
    """Return the kernel, the structures in random order, and which of them are relations."""
    paths = [found for name in PPI if (found := find_data(name, options.data)) is not None]
    paths += [] if options.ddi is None else [Path(options.ddi)]
    if options.large is not None or not paths:
        return sequences(options.large or max(options.sizes))
    views = VIEWS if options.ddi is None else tuple(name for name in VIEWS if name != "stem-steps")
    found = [pair_candidates(kw.read(path)).examples(*views) for path in paths]
    examples = [example for some in found for example in some]
    order = np.random.default_rng(0).permutation(len(examples))
    labels = np.array([examples[i].label == 1 for i in order])
    return kernel_on(views), kw.batch([examples[i] for i in order]), labels


def sequences(n: int) -> tuple[kw.Kernel, Any, np.ndarray]:
    """Return generated sequences of two classes that overlap, 2,000 more than asked for."""
    random = np.random.default_rng(0)
    labels = random.random(n + N_TEST) < 0.3
    words = np.array([f"w{i}" for i in range(400)])
    made = []
    for label in labels:
        picked = (random.random(8) ** (3.0 if label else 1.2) * len(words)).astype(int)
        made.append(kw.Sequence(words[picked].tolist()))
    return kw.SubsequenceKernel(max_length=2, dtype="float32"), kw.batch(made), labels


def fit(options: argparse.Namespace, n: int) -> dict[str, float]:
    """Fit on n structures; return CPU seconds, and figures on structures held out."""
    kernel, X, labels = candidates(options)
    model = kw.KernelSVC(kernel, C=options.C, n_jobs=1)
    started, clock = time.process_time(), time.perf_counter()
    with kw.config_context(memory=options.memory):
        model.fit(X[:n], labels[:n])
    seconds, waited = time.process_time() - started, time.perf_counter() - clock
    test = slice(n, min(n + N_TEST, len(X)))
    found = model.predict(X[test])
    return {
        "fit s": seconds,
        "fit s, wall": waited,
        "supports": len(model.supports_),
        "accuracy": float(accuracy_score(labels[test], found)),
        "F1": float(f1_score(labels[test], found)),
    }


def compare(options: argparse.Namespace, n: int) -> dict[str, float]:
    """Train both solvers on one Gram matrix; return CPU seconds and objectives."""
    kernel, X, labels = candidates(options)
    gram = kernel.gram(X[:n], dtype="float32")
    targets = np.where(labels[:n], -1, 1).astype(np.int8)
    ours = np.empty(n)
    data = (gram, np.arange(n), targets, np.full(n, options.C))
    started = time.process_time()
    _, _, steps, _ = _native.solve_svm(*data, TOLERANCE, 10**9, ours)
    seconds = time.process_time() - started
    double = gram.astype(np.float64)
    machine = SVC(kernel="precomputed", C=options.C, tol=TOLERANCE)
    started = time.process_time()
    machine.fit(double, labels[:n])
    theirs_seconds = time.process_time() - started
    theirs = np.zeros(n)
    theirs[machine.support_] = -machine.dual_coef_[0]
    ours_value, theirs_value = (
        float(c @ (double @ c)) / 2 - float(np.abs(c).sum()) for c in (ours, theirs)
    )
    return {
        "solver s": seconds,
        "scikit-learn s": theirs_seconds,
        "times faster": theirs_seconds / max(seconds, 1e-9),
        "steps": steps,
        "its steps": int(machine.n_iter_[0]),
        "worse by": (ours_value - theirs_value) / abs(theirs_value),
    }


def compare_least_squares(options: argparse.Namespace, n: int) -> list[dict[str, Any]]:
    """Return evaluations and CPU seconds of support vector machines and of least squares."""
    kernel, X, labels = candidates(options)
    random = np.random.default_rng(0)
    models = (
        kw.KernelSVC(kernel, C=3.0, tol=1e-5, n_jobs=1),
        kw.KernelRidgeClassifier(kernel, ridge=options.ridge, n_jobs=1),
    )
    types = {m: np.where(labels[:n], random.integers(1, m, n), 0) for m in (2, 10, 40)}
    started = time.process_time()
    kernel.gram(X[:n])
    gram_seconds = time.process_time() - started
    rows = []
    for model in models:
        row: dict[str, Any] = {
            "structures": n,
            "learner": type(model).__name__,
            "Gram s": gram_seconds,
        }
        for n_classes, y in types.items():
            started = time.process_time()
            model.fit_held_out(X[:n], y, np.arange(n) % 5)
            seconds = time.process_time() - started - gram_seconds
            row[f"{n_classes} classes s"] = seconds
        row["evaluations"] = model.kernel_evaluations_
        started = time.process_time()
        model.decision_function(X[n : n + 100])
        row["100 predictions s"] = time.process_time() - started
        rows.append(row)
    return rows


def parse_options(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument("--ddi", help="extracted folder of DDIExtraction 2013")
    parser.add_argument("--sizes", type=int, nargs="+", default=[5000, 10_000, 20_000, 27_000])
    parser.add_argument("--C", type=float, default=10.0)
    parser.add_argument("--large", type=int, help="only fit, on so many generated sequences")
    parser.add_argument("--memory", help="memory budget")
    parser.add_argument("--ridge", type=float, help="compare with least squares of this ridge")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def main() -> None:
    options = parse_options(sys.argv[1:])
    here = Path(__file__).parent
    rows: list[dict[str, Any]] = []
    if options.ridge is not None:
        for n in options.sizes:
            rows += compare_least_squares(options, n)
        for row in rows if options.json else ():
            print(json.dumps(row))
        if not options.json:
            show_table("Support vector machines and least squares, one thread", rows, digits=2)
        return
    for n in options.sizes if options.large is None else [options.large]:
        row: dict[str, Any] = {"structures": n, **fit(options, n)}
        if options.large is None:
            row |= compare(options, n)
        row["peak MB"] = peak_memory(FIT, here, n, *sys.argv[1:])
        rows.append(row)
        if options.json:
            print(json.dumps(row), flush=True)
    if not options.json:
        for row in rows:
            row |= {} if "worse by" not in row else {"worse by": f"{row['worse by']:+.1e}"}
        show_table(f"Support vector machines, C={options.C:g}, one thread", rows, digits=3)


if __name__ == "__main__":
    main()
