"""Speed of hashcodes and of forests on them, beside scikit-learn.

    python benchmarks/hashing.py [--data DIR] [--n 41485] [--repeats 3] [--scikit-learn] [--json]

Random dependency paths of about ten (edge, word) tuples, as many as the hashing paper has: word
frequencies fall as in text, and the words have GloVe vectors. Every figure is CPU time of one
thread, the minimum of several repeats. With --scikit-learn its random forest is grown on the same
bits, which takes a minute or more. The last rows search a million codes, and classify by neighbors.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
from collections.abc import Iterator

import numpy as np
from measure import cpu_seconds, show_table

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.features import HashIndex, nearest_codes
from kernelwood.learners.bit_forest import grow_forest

GLOVE = "word-vectors/glove.6B.100d.subset.txt.gz"
RELATIONS = [f"relation{i}" for i in range(40)]
N_CLASSES = 2


def random_paths(words: list[str], n: int) -> list[kw.Sequence]:
    """Return paths of 5 to 15 tuples, always the same ones."""
    draw = random.Random(0)
    frequencies = [1 / (rank + 5) for rank in range(len(words))]
    return [
        kw.Sequence(
            zip(draw.choices(RELATIONS, k=k), draw.choices(words, frequencies, k=k), strict=True)
        )
        for k in (draw.randint(5, 15) for _ in range(n))
    ]


def measured(what: str, seconds: float, limit: float | None) -> dict[str, object]:
    return {"what": what, "CPU seconds": seconds, "limit": limit}


def hashing_rows(
    paths: kw.arrays.SequenceBatch, vectors: kw.Vectors, repeats: int
) -> Iterator[dict]:
    exact = kw.SubsequenceKernel(dtype="float32")
    soft = exact.clone().set_params(similarity=kw.similarity.Gaussian(vectors))
    for name, kernel, limit in (("exact", exact, 0.2), ("soft", soft, 1.0)):
        hasher = kw.KernelHasher(kernel, random_state=0).fit(paths)
        seconds = cpu_seconds(lambda: hasher.similarities(paths), repeats)  # noqa: B023
        yield measured(f"kernels, {name}", seconds, limit)
    for method in ("rknn", "rmm", "kulis"):
        hasher = kw.KernelHasher(exact, method=method, random_state=0)
        yield measured(f"drawing bits, {method}", cpu_seconds(lambda: hasher.fit(paths), 2), None)  # noqa: B023
        similarities = hasher.similarities(paths)
        seconds = cpu_seconds(lambda: hasher.encode(similarities), repeats)  # noqa: B023
        yield measured(f"bits, {method}", seconds, 0.1)


def planted_labels(codes: np.ndarray) -> np.ndarray:
    """Return classes that depend on a few bits, with one in ten wrong, as data has them."""
    draw = np.random.default_rng(0)
    chosen = (codes[:, :1] >> np.arange(9, dtype=np.uint64)) & np.uint64(1)
    return ((chosen.sum(axis=1) > 4) ^ (draw.random(len(codes)) < 0.1)).astype(np.int32)


def forest_rows(codes: np.ndarray, repeats: int, peer: bool) -> Iterator[dict]:
    labels = planted_labels(codes)
    options = {"n_bits": 1000, "n_classes": N_CLASSES, "n_trees": 250, "bits_per_tree": 30}
    forest = grow_forest(codes, labels, seed=0, **options)
    seconds = cpu_seconds(lambda: grow_forest(codes, labels, seed=0, **options), repeats)
    yield measured("growing 250 trees of 30 bits", seconds, 5.0, "scikit-learn 47")
    seconds = cpu_seconds(lambda: forest.predict_proba(codes), repeats)
    yield measured("predicting", seconds, 1.0)
    if peer:
        yield measured("scikit-learn, growing", cpu_seconds(lambda: peer_forest(codes), 1), None)


def peer_forest(codes: np.ndarray) -> None:
    """Grow scikit-learn's trees, each on 30 bits of its own."""
    from sklearn.ensemble import BaggingClassifier
    from sklearn.tree import DecisionTreeClassifier

    bits = kw.features.codes.unpack(codes, 1000)
    BaggingClassifier(
        DecisionTreeClassifier(), 250, max_features=30, bootstrap=False, random_state=0
    ).fit(bits, planted_labels(codes))


def search_rows(paths: kw.arrays.SequenceBatch, repeats: int) -> Iterator[dict]:
    codes = np.random.default_rng(1).integers(2**64, size=(1_000_000, 16), dtype=np.uint64)
    seconds = cpu_seconds(lambda: nearest_codes(codes[:10], codes, 100), repeats) / 10
    yield measured("a query among 1,000,000 codes of 1024 bits", seconds, 0.05)
    index = HashIndex(kw.SubsequenceKernel(), n_bits=1024, random_state=0).fit(paths)
    seconds = cpu_seconds(lambda: index.search(paths[:10], 10, n_rerank=100), repeats) / 10
    yield measured(f"a query among {len(paths):,} paths, 100 compared exactly", seconds, 0.05)


def neighbor_rows(paths: kw.arrays.SequenceBatch, labels: np.ndarray) -> Iterator[dict]:
    kernel, queries = kw.SubsequenceKernel(), paths[:100]
    for cls, options in (
        (kw.KernelNeighborsClassifier, {}),
        (kw.HashNeighborsClassifier, {"random_state": 0}),
    ):
        model = cls(kernel, **options).fit(paths, labels)
        seconds = cpu_seconds(lambda: model.predict(queries), 1) / len(queries)  # noqa: B023
        evaluations = model.query_evaluations_ / len(queries)
        what = f"a prediction of {cls.__name__}, {evaluations:,.0f} evaluations"
        yield measured(what, seconds, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--n", type=int, default=41_485)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scikit-learn", action="store_true", help="also grow its forest")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    vectors = kw.Vectors.load(require_data(GLOVE, options.data))
    paths = kw.batch(random_paths(list(vectors.words[:5000]), options.n))
    rows = list(hashing_rows(paths, vectors, options.repeats))
    codes = kw.KernelHasher(kw.SubsequenceKernel(), random_state=0).fit(paths).codes(paths)
    rows += forest_rows(codes, options.repeats, options.scikit_learn)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows += search_rows(paths, options.repeats)
    rows += neighbor_rows(paths, planted_labels(codes))
    if options.json:
        print(json.dumps({"rows": rows, "peak_memory_mb": peak}))
        return
    show_table(f"{len(paths):,} paths, 100 references, 1000 bits", rows, digits=3)
    print(f"peak memory of all but the search: {peak:,.0f} MB")


if __name__ == "__main__":
    main()
