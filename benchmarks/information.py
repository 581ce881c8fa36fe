"""Speed and steadiness of what is estimated from hashcodes: entropy and mutual information.

    python benchmarks/information.py [--data DIR] [--n 300] [--repeats 5] [--json]

Hashcodes of 1000 bits of question trees; the classes are questions for a person and all others.
A swap replaces the 40 bits that depend on one of 50 references, and starts from what explains the
codes before it: a hundred greedy steps with a thousand candidates each are 100,000 swaps. Every
time is CPU time of one thread, the minimum of several repeats. The second table says how much of
the bits latent variables explain, and how much an estimate of the mutual information differs from
one seed to the next, and from that of permuted labels.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import islice

import numpy as np
from measure import QUESTIONS, cpu_seconds, show_table

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.information import entropy, explain_classes, mutual_information, total_correlation
from kernelwood.io import iter_read

N_BITS, N_CHANGED, N_SWAPS, N_SEEDS = 1000, 40, 200, 5


def read_codes(data: str | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return codes of twice n questions, and which of them ask for a person."""
    with iter_read(require_data(QUESTIONS, data), views=["grct"]) as examples:
        found = list(islice(examples, 2 * n))
    trees = [example.view("grct") for example in found]
    hasher = kw.KernelHasher(kw.PartialTreeKernel(), n_bits=N_BITS, random_state=0).fit(trees)
    return hasher.transform(trees), np.array([example.label == "HUM" for example in found])


def time_rows(codes: np.ndarray, y: np.ndarray, n: int, repeats: int) -> Iterator[dict]:
    def row(what: str, seconds: float, limit: float | None) -> dict[str, object]:
        return {"what": what, "CPU ms": seconds * 1e3, "limit": limit}

    some, labels = codes[:n], y[:n].astype(int)
    yield row("entropy", cpu_seconds(lambda: entropy(some), repeats), 200)
    seconds = cpu_seconds(lambda: mutual_information(some, labels), repeats)
    yield row("mutual information, 2 classes", seconds, 200)
    seconds = cpu_seconds(lambda: mutual_information(some, labels, codes[n:]), repeats)
    yield row(f"the same with {len(codes) - n} examples without a label", seconds, None)
    fit = explain_classes(some, labels)
    columns = np.arange(N_CHANGED) * (N_BITS // N_CHANGED)
    replacements = np.stack([np.roll(codes, i, axis=0)[:n, columns] for i in range(N_SWAPS)])
    for n_iterations in (0, 1, 2, 5):
        seconds = cpu_seconds(
            lambda k=n_iterations: fit.after_swaps(columns, replacements, n_iterations=k), repeats
        )
        limit = 2 if n_iterations == 2 else None
        yield row(f"a swap, iterations: {n_iterations}", seconds / N_SWAPS, limit)


def estimate_rows(codes: np.ndarray, y: np.ndarray, n: int) -> Iterator[dict]:
    some, labels = codes[:n], y[:n]
    permuted = np.random.default_rng(0).permutation(labels)
    for n_latent in (4, 8, 16):
        for n_restarts in (1, 4, 8):
            options = {"n_latent": n_latent, "n_restarts": n_restarts}
            seeds = [{**options, "random_state": seed} for seed in range(N_SEEDS)]
            explained = [total_correlation(some, **seed) for seed in seeds]
            known = [mutual_information(some, labels, **seed) for seed in seeds]
            by_chance = [mutual_information(some, permuted, **seed) for seed in seeds]
            yield {
                "latent variables": n_latent,
                "restarts": n_restarts,
                "explained": float(np.mean(explained)),
                "deviation": float(np.std(explained)),
                "known of the class": float(np.mean(known)),
                "its deviation": float(np.std(known)),
                "of permuted classes": float(np.mean(by_chance)),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    codes, y = read_codes(options.data, options.n)
    times = list(time_rows(codes, y, options.n, options.repeats))
    estimates = list(estimate_rows(codes, y, options.n))
    if options.json:
        print(json.dumps({"times": times, "estimates": estimates}))
        return
    show_table(f"{options.n} questions, {N_BITS} bits", times)
    show_table("Estimates in nats, and their deviation between seeds", estimates)


if __name__ == "__main__":
    main()
