"""Time and memory of a search in a folder of hashcodes.

    python benchmarks/index_folders.py [--sizes 1000000 10000000] [--bits 256] [--shard 1000000]
                                       [--folder DIR] [--repeats 5] [--json]

Random codes are written in shards, and searched for the 10 nearest of 1 and of 100 queries.
Building includes checksums and waiting for the disk. Searches run in one thread, with the files in
the cache of the system. Times are minima of several repeats. Memory is the peak of what Python and
numpy allocate for 100 queries; the native scan allocates 4 bytes for each row of a block besides.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import cpu_seconds, show_table

import kernelwood as kw
from kernelwood.features import Codes, n_words
from kernelwood.scale import IndexFolder

K = 10


def random_codes(n: int, n_bits: int, seed: int) -> Codes:
    """Return codes, always the same ones."""
    codes = np.random.default_rng(seed).integers(
        0, 2**64, size=(n, n_words(n_bits)), dtype=np.uint64
    )
    if n_bits % 64:
        codes[:, -1] >>= np.uint64(64 - n_bits % 64)
    return codes


def hasher(n_bits: int) -> kw.KernelHasher:
    """Return an encoder; no structure is encoded here."""
    words = [kw.Sequence([f"w{i}", f"w{i % 7}", f"w{i % 3}"]) for i in range(40)]
    made = kw.KernelHasher(kw.SubsequenceKernel(), n_references=20, n_bits=n_bits, random_state=0)
    return made.fit(words)


def allocated(work: Callable[[], object]) -> float:
    """Return the peak of the memory that Python and numpy allocate for some work, in MB."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def measure(n: int, args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return the figures of one index."""
    index = IndexFolder.create(folder / f"index-{n}", hasher(args.bits))
    seconds = cpu = 0.0
    for begin in range(0, n, args.shard):
        codes = random_codes(min(args.shard, n - begin), args.bits, begin)
        started, used = time.perf_counter(), time.process_time()
        index.append_codes(codes)
        seconds += time.perf_counter() - started
        cpu += time.process_time() - used
    opening = []
    for _ in range(args.repeats):
        started = time.perf_counter()
        index = IndexFolder(index.path, n_jobs=1)
        opening.append(time.perf_counter() - started)
    del codes
    queries = random_codes(100, args.bits, n + 1)
    one = cpu_seconds(lambda: index.search_codes(queries[:1], K), args.repeats)
    hundred = cpu_seconds(lambda: index.search_codes(queries, K), args.repeats)
    return {
        "codes": n,
        "MB on disk": n * n_words(args.bits) * 8 / 1e6,
        "build s": seconds,
        "build CPU s": cpu,
        "open ms": min(opening) * 1e3,
        "1 query, CPU ms": one * 1e3,
        "100 queries, CPU ms": hundred * 1e3,
        "MB allocated": allocated(lambda: index.search_codes(queries, K)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**6, 10**7])
    parser.add_argument("--bits", type=int, default=256)
    parser.add_argument("--shard", type=int, default=10**6)
    parser.add_argument("--folder", help="where to write the index")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        rows = [measure(n, args, Path(folder)) for n in args.sizes]
    if args.json:
        print(json.dumps(rows))
    else:
        show_table("Search in a folder", rows)


if __name__ == "__main__":
    main()
