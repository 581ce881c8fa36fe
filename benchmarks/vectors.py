"""Speed of loading word vectors: CPU time of the first load and of the cached one, by format.

python benchmarks/vectors.py [--data DIR] [--repeats 5] [--json]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from measure import cpu_seconds, show_table

from kernelwood.datasets import require_data
from kernelwood.vectors import Vectors

GLOVE = "word-vectors/glove.6B.100d.subset.txt.gz"
LEMMA_POS = "word-vectors/qc-standin-250.txt.gz"
LONG_NUMBERS = "17 digits"


def samples(folder: Path, data: str | None) -> dict[str, Path]:
    """Return the same real vectors in every format, and a file of another kind as it is."""
    packed = require_data(GLOVE, data=data)
    vectors = Vectors.load(packed, normalize=False, cache=False)
    header = f"{len(vectors)} {vectors.dim}\n".encode()
    text = gzip.decompress(packed.read_bytes())
    files = {
        "glove": text,
        "word2vec": header + text,
        "word2vec-binary": header
        + b"".join(
            word.encode() + b" " + row.tobytes() + b"\n"
            for word, row in zip(vectors.words, vectors.matrix.astype("<f4"), strict=True)
        ),
        f"glove, {LONG_NUMBERS}": "".join(
            f"{word} {' '.join(map(repr, row))}\n"
            for word, row in zip(
                vectors.words, (vectors.matrix / np.float64(7)).tolist(), strict=True
            )
        ).encode(),
    }
    paths = {"glove.gz": packed, "lemma-pos.gz": require_data(LEMMA_POS, data=data)}
    for name, content in files.items():
        paths[name] = folder / name
        paths[name].write_bytes(content)
    paths["npz"] = folder / "npz"
    vectors.save(paths["npz"])
    return paths


def measure(name: str, path: Path, repeats: int) -> dict[str, object]:
    vectors = Vectors.load(path)
    return {
        "file": name,
        "MB": path.stat().st_size / 1e6,
        "words": len(vectors),
        "dim": vectors.dim,
        "read": cpu_seconds(lambda: Vectors.load(path, cache=False), repeats),
        "first": cpu_seconds(lambda: first_load(path), repeats),
        "cached": cpu_seconds(lambda: Vectors.load(path), repeats),
        "cached, with lookup": cpu_seconds(lambda: Vectors.load(path).row("the"), repeats),
    }


def first_load(path: Path) -> None:
    shutil.rmtree(os.environ["KERNELWOOD_CACHE"], ignore_errors=True)
    Vectors.load(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KERNELWOOD_CACHE"] = str(Path(folder, "cache"))
        paths = samples(Path(folder), options.data)
        rows = [measure(name, path, options.repeats) for name, path in paths.items()]
    print(json.dumps(rows)) if options.json else show_table(
        "CPU seconds; the first load also writes the cache", rows, digits=4
    )


if __name__ == "__main__":
    main()
