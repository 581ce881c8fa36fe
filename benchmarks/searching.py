"""Speed and recall of searches by hashcodes and by vectors.

    python benchmarks/searching.py [--data DIR] [--size 1000000] [--repeats 5]
                                   [--parts speed scan recall] [--json]

Speed: random sequences of 3 to 12 words whose frequencies fall as in text, compared by the
subsequence kernel. The scan reads all codes or vectors; a search compares the query with the
references or landmarks first, and with re-ranking 100 structures by the kernel. Every figure is CPU
time of one thread in milliseconds a query, the minimum of several repeats.

Scan: random codes of 1,024 bits, the 10 nearest of each query, for several queries at once, beside
``IndexBinaryFlat`` of faiss if it is installed, in turn.

Recall: how many of the ten questions that are most similar to each test question by the partial
tree kernel are found, of 5,452, when so many are compared by the kernel. A question that is as
similar as the tenth counts.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from measure import QUESTIONS, cpu_seconds, read_view, show_table

import kernelwood as kw
from kernelwood.arrays import Vocabulary
from kernelwood.datasets import require_data
from kernelwood.features import HashIndex, nearest_codes
from kernelwood.features.vector_search import nearest_vectors

TEST = "question-classification/TREC_10.coarse.klp.gz"
N_WORDS = 20_000
N_QUERIES = 8  # of which each is measured by itself
TOGETHER = 16
K, RERANKED, LIMIT = 10, 100, 50.0
TREE_KERNEL = kw.PartialTreeKernel(terminal_factor=5.0)
PARTS = ("speed", "scan", "recall")
N_RERANK = (10, 50, 100, 200)

Row = dict[str, Any]

# What is searched by -> an index for a kernel.
INDEXES: dict[str, Callable[[kw.Kernel], Any]] = {
    "codes, 1,024 bits": lambda kernel: HashIndex(kernel, n_bits=1024, random_state=0),
    "vectors, 300": lambda kernel: kw.EmbeddingIndex(kernel, n_landmarks=300, random_state=0),
    "vectors, 128": lambda kernel: kw.EmbeddingIndex(
        kernel, n_landmarks=300, n_components=128, random_state=0
    ),
}


def random_sequences(n: int, seed: int) -> kw.arrays.SequenceBatch:
    """Return sequences of words, always the same ones."""
    random = np.random.default_rng(seed)
    sizes = random.integers(3, 13, size=n)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    frequencies = 1 / (np.arange(N_WORDS) + 5)
    words = random.choice(N_WORDS, size=offsets[-1], p=frequencies / frequencies.sum()) + 1
    vocabulary = Vocabulary([f"word{i}" for i in range(N_WORDS)])
    edges = np.zeros(len(words), dtype=np.int32)
    return kw.arrays.SequenceBatch.from_arrays(
        offsets, words.astype(np.int32), edges, vocabulary=vocabulary
    )


def a_query(work: Callable[[int], object], repeats: int) -> float:
    """Return the milliseconds of a query: the smallest of several repeats, the mean over some."""
    seconds = [cpu_seconds(lambda i=i: work(i), repeats) for i in range(N_QUERIES)]
    return 1000 * sum(seconds) / len(seconds)


def scan(index: Any, queries: Any) -> Callable[[int], object]:
    """Return the search of stand-ins alone, for one of several queries."""
    if isinstance(index, HashIndex):
        asked, codes = index.hasher_.codes(queries), index.codes_
        return lambda i: nearest_codes(asked[i : i + 1], codes, RERANKED)
    vectors, rows, scales = index.embedder_.transform(queries), index.vectors_, index.scales_
    return lambda i: nearest_vectors(vectors[i : i + 1], rows, scales, RERANKED)


def speed_row(name: str, structures: kw.arrays.SequenceBatch, queries: Any, repeats: int) -> Row:
    started = time.process_time()
    index = INDEXES[name](kw.SubsequenceKernel()).fit(structures)
    fitted = time.process_time() - started
    columns = (index.codes_,) if isinstance(index, HashIndex) else (index.vectors_, index.scales_)

    def search(i: int, n_rerank: int = 0) -> None:
        index.search(queries[i : i + 1], K, n_rerank=n_rerank)

    many = queries[:TOGETHER]
    return {
        "search by": name,
        "bytes each": sum(column.nbytes for column in columns) // len(structures),
        "fill, s": fitted,
        "scan": a_query(scan(index, queries), repeats),
        "search": a_query(search, repeats),
        f"with {RERANKED} compared": a_query(lambda i: search(i, RERANKED), repeats),
        "limit": LIMIT,
        f"{TOGETHER} at once": 1000
        / TOGETHER
        * cpu_seconds(lambda: index.search(many, K, n_rerank=RERANKED), repeats),
    }


def speed_rows(size: int, repeats: int) -> Iterator[Row]:
    structures, queries = random_sequences(size, 0), random_sequences(max(N_QUERIES, TOGETHER), 1)
    for name in INDEXES:
        yield speed_row(name, structures, queries, repeats)


def scan_rows(size: int, repeats: int) -> Iterator[Row]:
    """Yield the times of searches for random codes, by ours and by faiss in turn."""
    random = np.random.default_rng(0)
    codes, asked = (random.integers(2**64, size=(n, 16), dtype=np.uint64) for n in (size, 100))
    searches: dict[str, Callable[[Any], Any]] = {
        "kernelwood": lambda queries: nearest_codes(queries, codes, K, n_jobs=1)[1]
    }
    if find_spec("faiss"):
        import faiss

        faiss.omp_set_num_threads(1)
        index = faiss.IndexBinaryFlat(1024)
        index.add(codes.view(np.uint8))
        searches["faiss"] = lambda queries: index.search(queries.view(np.uint8), K)[0]
    for n in (1, 10, 100):
        best = dict.fromkeys(searches, float("inf"))
        found = [search(asked[:n]) for search in searches.values()]
        assert all((each == found[0]).all() for each in found)
        for _ in range(repeats):
            for name, search in searches.items():
                best[name] = min(best[name], cpu_seconds(lambda: search(asked[:n]), 1))  # noqa: B023
        row: Row = {"queries": n, **{name: 1000 / n * time for name, time in best.items()}}
        yield row | ({"times faiss": best["faiss"] / best["kernelwood"]} if len(best) > 1 else {})


def recall_rows(trees: list[kw.Tree], queries: list[kw.Tree]) -> Iterator[Row]:
    X, asked = kw.batch(trees), kw.batch(queries)
    similarities = TREE_KERNEL.cross(asked, X)
    tenth = np.sort(similarities, axis=1)[:, -K][:, None]
    for name, make in INDEXES.items():
        index = make(TREE_KERNEL).fit(X)
        row: Row = {"search by": name}
        for n in N_RERANK:
            ids, _ = index.search(asked, K, n_rerank=n)
            found = np.take_along_axis(similarities, ids, axis=1)
            row[f"{n} compared"] = 100 * float((found >= tenth).mean())
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--parts", nargs="+", choices=(*PARTS,), default=[*PARTS])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tables: dict[str, list[Row]] = {}
    if "speed" in options.parts:
        tables["speed"] = list(speed_rows(options.size, options.repeats))
    if "scan" in options.parts:
        tables["scan"] = list(scan_rows(options.size, options.repeats))
    if "recall" in options.parts:
        train, test = (require_data(name, options.data) for name in (QUESTIONS, TEST))
        trees, queries = (read_view(path, "grct", 10**6) for path in (train, test))
        tables["recall"] = list(recall_rows(trees, queries))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if options.json:
        print(json.dumps({**tables, "peak_memory_mb": peak}))
        return
    titles = {
        "speed": f"{options.size:,} sequences, CPU ms a query",
        "scan": f"{options.size:,} codes of 1,024 bits, the {K} nearest, CPU ms a query",
        "recall": f"recall of the {K} most similar questions, %",
    }
    for part, rows in tables.items():
        show_table(titles[part], rows, digits=1)
    print(f"peak memory: {peak:,.0f} MB")


if __name__ == "__main__":
    main()
