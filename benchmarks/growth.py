"""Growth of the time of a comparison with the size of the structures.

    python benchmarks/growth.py [--lengths 10 30 100 120 300 1000 2000] [--only exact soft trees]
                                [--repeats 3] [--json]

Sequences are drawn from 2,000 words with Zipf's distribution (seed 0); soft matching compares them
by the Gaussian similarity of random vectors of 100 dimensions. A figure is the CPU time of one
thread for a Gram matrix of at least 64 sequences of one length, building included, in ns per pair
of tokens: divided by the number of pairs of the upper triangle and by the square of the length. It
would be the same for all lengths if the time grew quadratically; "growth" is the largest figure
divided by that of the shortest length.

Trees are chains of nodes with one label, and nodes with equal leaves; figures are in us per pair of
a Gram matrix of 4 trees of almost one size, and in ns per pair of nodes.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from measure import cpu_seconds, show_table

import kernelwood as kw

WORDS, DIMENSIONS = 2_000, 100
LENGTHS = (10, 30, 100, 120, 300, 1_000, 2_000)
NODES = (10, 30, 100, 300, 1_000, 3_000)
NUMBERS = ("float32", "float64")
MAX_LENGTHS = (None, 3, 4, 8)
DECAYS = {"exact": (0.8, 0.05, 1.0), "soft": (0.8,), "soft, floor": (0.8,)}
MOST_TOKENS = 6_000  # of the sequences of a matrix, but at least 64 sequences
TREES = {
    "subset tree": kw.SubsetTreeKernel,
    "partial tree": kw.PartialTreeKernel,
    "rooted tree": kw.RootedTreeKernel,
}


def sequences(length: int) -> list[kw.Sequence]:
    """Return random sequences of one length."""
    weights = 1 / np.arange(1, WORDS + 1)
    count = max(64, MOST_TOKENS // length)
    words = np.random.default_rng(0).choice(WORDS, (count, length), p=weights / weights.sum())
    return [kw.Sequence([f"w{word}" for word in row]) for row in words.tolist()]


def similarities() -> dict[str, kw.similarity.Similarity | None]:
    """Return the ways in which words match."""
    values = np.random.default_rng(1).normal(size=(WORDS, DIMENSIONS)).astype(np.float32)
    vectors = kw.Vectors([f"w{i}" for i in range(WORDS)], values)
    return {
        "exact": None,
        "soft": kw.similarity.Gaussian(vectors),
        "soft, floor": kw.similarity.Lexical(vectors, floor=0.2),
    }


def measure_sequences(
    lengths: list[int], matchings: list[str], repeats: int
) -> list[dict[str, object]]:
    """Return ns per pair of tokens."""
    found: list[dict[str, object]] = []
    for matching, similarity in similarities().items():
        for decay in DECAYS[matching] if matching.split(",")[0] in matchings else ():
            for max_length in MAX_LENGTHS if decay == 0.8 else (None,):
                for number in NUMBERS:
                    kernel = kw.SubsequenceKernel(
                        decay=decay, max_length=max_length, similarity=similarity, dtype=number
                    )
                    row: dict[str, object] = {
                        "matching": matching,
                        "decay": f"{decay:g}",
                        "lengths": f"<= {max_length}" if max_length else "all",
                        "number": number,
                    }
                    for length in lengths:
                        row[str(length)] = token_pair_ns(kernel, length, repeats)
                    figures = [float(row[str(length)]) for length in lengths]  # type: ignore[arg-type]
                    found.append(row | {"growth": max(figures) / figures[0]})
    return found


def token_pair_ns(kernel: kw.Kernel, length: int, repeats: int) -> float:
    some = sequences(length)
    batches = [kw.batch(some) for _ in range(repeats if length < 1_000 else 1)]
    work = iter(batches)  # a new one each time, since batches keep self-similarities
    seconds = cpu_seconds(lambda: kernel.gram(next(work)), len(batches))
    return seconds / (len(some) * (len(some) + 1) / 2) / length**2 * 1e9


def measure_trees(repeats: int) -> list[dict[str, object]]:
    """Return us per pair and ns per pair of nodes."""
    found: list[dict[str, object]] = []
    for shape, make in (("chain", chain), ("wide", wide)):
        for name, kind in TREES.items():
            row: dict[str, object] = {"shape": shape, "kernel": name}
            for n in NODES:
                trees = [make(n + i) for i in range(4)]
                batches = iter([kw.batch(trees) for _ in range(repeats)])
                seconds = cpu_seconds(lambda b=batches, k=kind: k().gram(next(b)), repeats) / 10
                row |= {f"{n}, us": seconds * 1e6, f"{n}, ns": seconds / n**2 * 1e9}
            found.append(row)
    return found


def chain(n: int) -> kw.Tree:
    tree = kw.Tree("n")
    for _ in range(n - 1):
        tree = kw.Tree("n", [tree])
    return tree


def wide(n: int) -> kw.Tree:
    return kw.Tree("n", [kw.Tree("x") for _ in range(n)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument(
        "--only", nargs="+", choices=["exact", "soft", "trees"], default=["exact", "soft", "trees"]
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result: dict[str, list[dict[str, object]]] = {}
    if set(options.only) - {"trees"}:
        result["sequences"] = measure_sequences(options.lengths, options.only, options.repeats)
    if "trees" in options.only:
        result["trees"] = measure_trees(options.repeats)
    if options.json:
        print(json.dumps(result))
        return
    for part, title in (("sequences", "ns per pair of tokens"), ("trees", "Trees, per pair")):
        if part in result:
            show_table(f"{title}, CPU time of one thread", result[part])


if __name__ == "__main__":
    main()
