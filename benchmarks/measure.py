"""How the benchmarks measure, and what they measure on."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import kernelwood as kw
from kernelwood.io import iter_read

QUESTIONS = "question-classification/train_5500.coarse.klp.gz"
WORDS = "words"

_WIDTH = 200  # of tables in files


def cpu_seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the smallest CPU time of several runs."""
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def gram_ns(kernel: kw.Kernel, batch: kw.arrays.TreeBatch, dtype: str, repeats: int) -> float:
    """Return the CPU time of a Gram matrix in ns per pair of its upper triangle."""
    pairs = len(batch) * (len(batch) + 1) / 2
    return cpu_seconds(lambda: kernel.gram(batch, dtype=dtype), repeats) / pairs * 1e9


def read_view(path: Path, view: str, n: int) -> list[kw.Tree] | list[kw.Sequence]:
    """Return one view of the first n questions; the words are the tokens of the raw text."""
    source = "quest" if view == WORDS else view
    with iter_read(path, views=[source]) as examples:
        found = [example.view(source) for example in islice(examples, n)]
    return [kw.Sequence(text.split()) for text in found] if view == WORDS else found


def own_peak_memory() -> float:
    """Return the peak memory of this process, in MB."""
    # Not ru_maxrss, in which a process begins with the peak of the one that started it.
    lines = Path("/proc/self/status").read_text().splitlines()
    [peak] = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(peak) / 1024


def peak_memory(script: str, *arguments: object) -> float:
    """Return the peak memory, in MB, of a fresh process that runs a script."""
    script += """
with open("/proc/self/status") as status:
    [peak] = [line.split()[1] for line in status if line.startswith("VmHWM:")]
print(int(peak) / 1024)"""
    run = [sys.executable, "-c", script, *map(str, arguments)]
    return float(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def kernel_options(description: str) -> argparse.Namespace:
    """Return the options that all benchmarks of kernels take."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 5452])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def show_table(title: str, rows: list[dict[str, object]], digits: int | None = 2) -> None:
    """Print rows with the same keys; numbers stand to the right, floats with so many digits.

    Without a number of digits, three count.
    """
    from rich.console import Console
    from rich.table import Table

    def cell(value: object) -> str:
        if isinstance(value, float):
            return f"{value:.3g}" if digits is None else f"{value:,.{digits}f}"
        return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)

    table = Table(title=title)
    for column, value in rows[0].items():
        text = isinstance(value, str)
        table.add_column(column, justify="left" if text else "right", no_wrap=not text)
    for row in rows:
        table.add_row(*map(cell, row.values()))
    Console(width=None if Console().is_terminal else _WIDTH).print(table)
