"""Clusters: what the engine costs, beside the work itself.

    python benchmarks/scaling.py [--parts dask memory] [--sentences 20000] [--repeats 3]
                                 [--memory-sentences 10000 100000] [--json]

The sentences of the bundled corpus, with their parses, are repeated under new names in a file of
JSON lines. dask: CPU and wall time of ``kernelwood predict``, plain and on a cluster of processes
on this machine, with the start of all processes; the minimum of several repeats, which alternate.
"2 processes" are two plain commands at the same time, each on one half: what two cores of this
machine can do. CPU time is that of all processes together. memory: peak memory of the driver, which
contains the scheduler, for more and more sentences.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import itertools
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import show_table

import kernelwood as kw
from kernelwood.datasets import load_interactions

Rows = list[dict[str, Any]]


def make_corpus(path: Path, n: int) -> Path:
    """Write so many sentences with their parses, under new names."""
    sentences = [one.view("sentence") for one in load_interactions("train")]
    kw.write(
        (
            kw.Example(f"r{i}.s0", views={"sentence": sentence})
            for i, sentence in enumerate(itertools.islice(itertools.cycle(sentences), n))
        ),
        path,
    )
    return path


def make_model(path: Path) -> Path:
    kw.save(kw.RelationExtractor(random_state=0).fit(load_interactions("train")), path)
    return path


def adopt_orphans() -> None:
    """Become the parent of processes whose parent ends first, whose time would be lost."""
    subreaper = 36  # PR_SET_CHILD_SUBREAPER of Linux
    if ctypes.CDLL(None, use_errno=True).prctl(subreaper, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "CPU time of all processes cannot be measured here")


def run(*commands: tuple[object, ...]) -> dict[str, float]:
    """Run commands together; return wall and CPU seconds, and peak memory of the first in MB."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "kernelwood", *map(str, arguments), "--quiet"],
            stdout=subprocess.DEVNULL,
        )
        for arguments in commands
    ]
    peak = 0
    while any(process.poll() is None for process in processes):
        peak = max(peak, peak_kilobytes(processes[0].pid))
        time.sleep(0.02)
    wall = time.perf_counter() - started
    for process in processes:
        if process.returncode:
            raise SystemExit(f"failed: {process.args}")
    with contextlib.suppress(ChildProcessError):  # until there are none
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall s": wall,
        "CPU s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "driver MB": peak / 1024,
    }


def peak_kilobytes(number: int) -> int:
    """Return the peak memory of a process so far; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def best(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(one[name] for one in runs) for name in runs[0]}


def dask_part(folder: Path, model: Path, options: argparse.Namespace) -> Rows:
    """Compare a plain command with two of them, and with clusters of one and two workers."""
    corpus, out = make_corpus(folder / "corpus.jsonl", options.sentences), folder / "found.jsonl"
    halves = [(folder / f"half{k}.jsonl", folder / f"found{k}.jsonl") for k in (0, 1)]
    lines = corpus.read_bytes().splitlines(keepends=True)
    middle = len(lines) // 2
    for (half, _), some in zip(halves, (lines[:middle], lines[middle:]), strict=True):
        half.write_bytes(b"".join(some))
    del lines
    one = ("predict", model, corpus, "-o", out)
    engines = {
        "plain": [one],
        "2 processes": [("predict", model, half, "-o", found) for half, found in halves],
        "local:1": [(*one, "--cluster", "local:1")],
        "local:2": [(*one, "--cluster", "local:2")],
    }
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in engines}
    results = set()
    for _ in range(options.repeats):
        for name, commands in engines.items():
            runs[name].append(run(*commands))
            files = [out] if len(commands) == 1 else [found for _, found in halves]
            results.add(b"".join(path.read_bytes() for path in files))
    if len(results) != 1:
        raise SystemExit("the results differ")
    rows = [
        {"engine": name, "sentences": options.sentences, **best(made)}
        for name, made in runs.items()
    ]
    for row in rows:
        row["CPU ratio"] = row["CPU s"] / rows[0]["CPU s"]
        row["speed"] = rows[0]["wall s"] / row["wall s"]
    return rows


def memory_part(folder: Path, model: Path, options: argparse.Namespace) -> Rows:
    """Measure the peak memory of driver and scheduler."""
    rows: Rows = []
    for n in options.memory_sentences:
        corpus = make_corpus(folder / "corpus.jsonl", n)
        spec = ("--cluster", "local:2")
        made = run(("predict", model, corpus, "-o", folder / "found.jsonl", *spec))
        rows.append({"engine": spec[1], "sentences": n, **made})
    return rows


PARTS: dict[str, Callable[[Path, Path, argparse.Namespace], Rows]] = {
    "dask": dask_part,
    "memory": memory_part,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--memory-sentences", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    adopt_orphans()
    found = {}
    with TemporaryDirectory(prefix="kernelwood-") as name:
        folder = Path(name)
        model = make_model(folder / "model.kw")
        for part in options.parts:
            found[part] = PARTS[part](folder, model, options)
            if not options.json:
                show_table(part, found[part])
    if options.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
