"""Runs of peers.py over time: kept in a file, compared, and shown in the documentation.

    python benchmarks/history.py [FILE] [--json] [--fail]     # trend; exit code 1 if one is worse
    python benchmarks/history.py [FILE] --page docs/speed.md  # write the table of the page

A file has a run a line, as JSON: date, commit, processor, instruction set, number of cores,
versions, and for each task and program the smallest CPU time and the ratio to kernelwood in the
same run. asv and pytest-benchmark keep times of one program; ratios to peers of the same run are
compared here, since machines differ, and that takes no more than this module.

The trend shows, for each task and peer on the same input, the ratio in the first run, in the run
before and in the last. A task is worse if the ratio has fallen by more than 15 %. Notes name a new
version of the peer, or another processor, which change ratios too.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from measure import show_table

from kernelwood import _native

HERE = Path(__file__).parent
STORED = HERE / "history" / "peers.jsonl"
FORMAT = 1
WORSE = 0.15  # fall of a ratio that is reported
OURS = "kernelwood"
# Programs by the package whose version counts; the rest is measured by the path of a program.
PACKAGE_OF = {
    "strkernels": "strkernels",
    "GraKeL": "grakel",
    "faiss": "faiss-cpu",
    "scikit-learn Bagging": "scikit-learn",
    "scikit-learn RandomForest": "scikit-learn",
    "ahocorasick_rs": "ahocorasick-rs",
    "spaCy PhraseMatcher": "spacy",
    "spaCy pipeline": "spacy",
    "definition": "python",
}
BEGIN, END = "<!-- table of benchmarks/history.py -->\n\n", "\n<!-- end of the table -->\n"
BUILT_BY_USERS = ("KeLP", "SVM-light-TK")

Run = dict[str, Any]
Row = dict[str, Any]


def describe(rows: list[Row]) -> Run:
    """Return measured rows with the machine, the versions, the commit and the date."""
    digits = {"seconds", "figure", "ratio"}
    return {
        "format": FORMAT,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        "rows": [
            {k: float(f"{v:.5g}") if k in digits and v is not None else v for k, v in row.items()}
            for row in rows
        ],
    }


def machine() -> dict[str, Any]:
    """Return what a machine computes with; nothing names it."""
    processor = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = models[0] if models else processor
    return {
        "processor": processor,
        "architecture": platform.machine(),
        "instruction set": _native.instruction_set(),
        "cores": os.cpu_count(),
        "system": platform.system(),
    }


def versions() -> dict[str, str]:
    """Return the versions of what is installed."""
    found = {"python": platform.python_version()}
    for name in (OURS, "numpy", *dict.fromkeys(PACKAGE_OF.values())):
        with suppress(importlib.metadata.PackageNotFoundError):
            found.setdefault(name, importlib.metadata.version(name))
    return found


def commit() -> str | None:
    """Return the commit that is measured, with a + if files differ from it; None outside git."""
    command = ["git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
    with suppress(OSError, subprocess.CalledProcessError):
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True)
        return done.stdout.strip()
    return None


def append(path: Path, run: Run) -> None:
    """Add a run to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(run, ensure_ascii=False) + "\n")


def read(path: Path) -> list[Run]:
    """Return the runs of a file, in the order of its lines."""
    runs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            run = json.loads(line)
            known = run["format"] == FORMAT
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            sys.exit(f"{path}:{number}: not a run of format {FORMAT}; remove the line")
        runs.append(run)
    return runs


def comparison(rows: list[Row]) -> list[Row]:
    """Return a row for each peer beside ours, and rows of ours for tasks without peers."""
    ours = {(row["task"], row["number"]): row for row in rows if row["program"] == OURS}
    compared = {row["task"] for row in rows if row["program"] != OURS}
    return [
        {
            "task": row["title"],
            "input": row["input"],
            "variant": row["number"],
            "unit": row["unit"],
            OURS: short(ours[row["task"], row["number"]]["figure"]),
            "peer": "-" if row["program"] == OURS else row["program"],
            "its time": None if row["program"] == OURS else short(row["figure"]),
            "ratio": None if row["ratio"] is None else short(row["ratio"]),
            "result": row["result"],
        }
        for row in rows
        if row["program"] != OURS or row["task"] not in compared
    ]


def short(value: float) -> float | int:
    """Return a number with three digits that count."""
    rounded = float(f"{value:.3g}")
    return round(rounded) if rounded >= 100 else rounded


def trend(runs: list[Run]) -> list[Row]:
    """Return the ratios of the last run beside those of the first and the one before."""
    seen: dict[tuple[str, ...], list[tuple[float, Run]]] = {}
    for run in runs:
        for row in run["rows"]:
            if row["ratio"] is not None:
                key = tuple(row[name] for name in ("task", "program", "number", "input"))
                seen.setdefault(key, []).append((row["ratio"], run))
    return [
        compare(key, found) for key, found in seen.items() if found[-1][1] is runs[-1]
    ]  # others were not measured


def compare(key: tuple[str, ...], found: list[tuple[float, Run]]) -> Row:
    """Return a row of the trend, from the ratios of a task and their runs."""
    task, program, number, what = key
    now, last = found[-1]
    before, earlier = found[-2] if len(found) > 1 else (None, last)
    change = None if before is None else now / before - 1
    notes = ["worse"] if change is not None and change < -WORSE else []
    package = PACKAGE_OF.get(program, program)
    old, new = (run["versions"].get(package) for run in (earlier, last))
    if old != new:
        notes.append(f"{package} {old}, now {new}")
    if earlier["machine"] != last["machine"]:
        notes.append("other machine")
    return {
        "task": task,
        "peer": program,
        "variant": number,
        "input": what,
        "first": short(found[0][0]),
        "previous": None if before is None else short(before),
        "this": short(now),
        "change": None if change is None else f"{change:+.0%}",
        "note": ", ".join(notes),
    }


def is_worse(row: Row) -> bool:
    """Return whether a row of the trend has the note."""
    return row["note"].split(", ")[0] == "worse"


def show_trend(runs: list[Run]) -> int:
    """Print the trend, warn of what is worse, and return how many rows are."""
    rows = trend(runs)
    if rows:
        dates = f"{runs[0]['date'][:10]} to {runs[-1]['date'][:10]}"
        title = f"Ratio of the peer's time to ours, {len(runs)} runs, {dates}"
        show_table(title, rows, digits=None)
    worse = [row for row in rows if is_worse(row)]
    for row in worse:
        where = f"{row['task']}, beside {row['peer']} on {row['input']}"
        print(f"warning: {where}: ratio {row['previous']:,}, now {row['this']:,}", file=sys.stderr)
    return len(worse)


def page_table(run: Run) -> str:
    """Return the figures of a run as a paragraph and a table in Markdown."""
    machine, versions = run["machine"], run["versions"]
    lines = [
        f"Measured {run['date'][:10]} at commit {run['commit']}: {machine['processor']}, "
        f"{machine['cores']} cores, {machine['instruction set']}, {machine['system']}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items() if name != OURS)
        + ".",
        "",
        "| task | input | unit | kernelwood | peer | its time | ratio | result |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in comparison(run["rows"]):
        ours = f"{row[OURS]:,}" + (f" ({row['variant']})" if row["variant"] else "")
        theirs, ratio = (
            "" if row[key] is None else f"{row[key]:,}" for key in ("its time", "ratio")
        )
        cells = (
            row["task"],
            row["input"],
            row["unit"],
            ours,
            row["peer"],
            theirs,
            ratio,
            row["result"],
        )
        lines.append("| " + " | ".join(cells) + " |")
    measured = {row["program"] for row in run["rows"]}
    missing = [name for name in (*BUILT_BY_USERS, *PACKAGE_OF) if name not in measured]
    if missing:
        lines += ["", f"Not there, and not measured: {', '.join(missing)}."]
    return "\n".join(lines) + "\n"


def write_page(path: Path, run: Run) -> None:
    """Put the table of a run between the marks of a page."""
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{path}: the lines {BEGIN.strip()} and {END.strip()} must be there once")
    before, _, rest = text.partition(BEGIN)
    path.write_text(before + BEGIN + page_table(run) + END + rest.partition(END)[2], "utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=STORED)
    parser.add_argument("--page", type=Path, help="write the table of the last run here")
    parser.add_argument("--json", action="store_true", help="print the trend as JSON")
    parser.add_argument("--fail", action="store_true", help="exit code 1 if a task is worse")
    given = parser.parse_args(arguments)
    runs = read(given.file)
    if not runs:
        parser.error(f"{given.file} has no runs")
    if given.page:
        write_page(given.page, runs[-1])
        return 0
    if given.json:
        print(json.dumps(trend(runs)))
        worse = sum(map(is_worse, trend(runs)))
    else:
        worse = show_trend(runs)
    return 1 if worse and given.fail else 0


if __name__ == "__main__":
    sys.exit(main())
