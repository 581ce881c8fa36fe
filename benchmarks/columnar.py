"""Predictions as Parquet tables and as JSON lines: CPU time, size and peak memory.

    python benchmarks/columnar.py [--rows 100000] [--repeats 3] [--json]

The predictions are those of the bundled corpus, repeated under new names with other probabilities,
and made as they are written; the time to make them is measured alone and subtracted. Parts are four
tables of a quarter of the rows. Peak memory is that of a process of its own, once with a tenth of
the rows: it must not grow with the number of rows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from measure import cpu_seconds, own_peak_memory, show_table

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.io import join_parquet
from kernelwood.relations import DocumentPredictions, write_predictions

FILES = ("found.jsonl", "found.jsonl.gz", "found.tsv", "found.parquet")
PARTS = 4


class Repeated:
    """Predictions for the bundled corpus, repeated."""

    def __init__(self) -> None:
        extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
        self._found = list(extractor.predict(load_interactions("test"), all=True))
        self._text = kw.Sentence("")

    def documents(self, start: int, end: int) -> Iterator[DocumentPredictions]:
        """Yield predictions, one in a document."""
        for n in range(start, end):
            one = self._found[n % len(self._found)]
            changed = replace(
                one,
                id=f"{one.id}.{n}",
                document=f"{one.document}.{n // len(self._found)}",
                probability=one.probability / (1 + n * 1e-7),
            )
            yield DocumentPredictions(one.document, self._text, [changed])


def measure(folder: Path, n: int, repeats: int) -> list[dict[str, object]]:
    repeated = Repeated()
    making = cpu_seconds(lambda: deque(repeated.documents(0, n), 0), repeats)
    rows: list[dict[str, object]] = []

    def add(name: str, seconds: float) -> None:
        size = (folder / name).stat().st_size
        rows.append(
            {
                "file": name,
                "CPU s": seconds,
                "rows/s": int(n / seconds),
                "MB": size / 1e6,
                "bytes/row": size / n,
            }
        )

    for name in FILES:
        path = folder / name
        cost = cpu_seconds(
            lambda path=path: write_predictions(repeated.documents(0, n), path), repeats
        )
        add(name, cost - making)
    parts = [folder / f"{number}.parquet" for number in range(PARTS)]
    for number, part in enumerate(parts):
        span = n * number // PARTS, n * (number + 1) // PARTS
        write_predictions(repeated.documents(*span), part)
    add(
        "joined.parquet",
        cpu_seconds(lambda: join_parquet(parts, folder / "joined.parquet"), repeats),
    )
    whole, joined = ((folder / name).read_bytes() for name in ("found.parquet", "joined.parquet"))
    assert whole == joined, "joined parts differ from the whole"
    return rows


def peak(n: int, what: str) -> float:
    """Return the peak memory of a process that writes, or writes and joins, n rows, in MB."""
    command = [sys.executable, __file__, "--rows", str(n), "--peak", what]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_alone(n: int, what: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "found.jsonl" if what == "jsonl" else "found.parquet")
        write_predictions(Repeated().documents(0, n), path)
        if what == "join":
            join_parquet([path] * PARTS, Path(folder, "joined.parquet"))
    print(own_peak_memory())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        run_alone(options.rows, options.peak)
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), options.rows, options.repeats)
    few, many = options.rows // 10, options.rows
    memory: list[dict[str, object]] = [
        {"work": what, f"MB, {few:,} rows": peak(few, what), f"MB, {many:,} rows": peak(many, what)}
        for what in ("jsonl", "parquet", "join")
    ]
    if options.json:
        print(json.dumps({"writing": rows, "memory": memory}, indent=1))
    else:
        show_table(f"{options.rows:,} predictions", rows)
        show_table("Peak memory", memory)


if __name__ == "__main__":
    main()
