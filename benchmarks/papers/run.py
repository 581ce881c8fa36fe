"""Repeat the published tables, and write docs/results.md from what comes out.

    python benchmarks/papers/run.py [--data DIR] [--only NAME ...] [--again NAME ...] [--list]
    python benchmarks/papers/run.py --page

Every table is one program (`tables/`), run in a process of its own. What has finished is kept in
build/papers: after an interruption the next run does the rest; `--again` repeats a table, `make
clean` forgets all. Tables whose data are missing are named and left out. At the end the figures are
stored in benchmarks/papers/results and the page is written; `--page` does only that, from the
stored figures.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tables import PAPERS, Row, Table, load_tables

import kernelwood as kw
from kernelwood.datasets import find_data

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STORED = HERE / "results"
FINISHED = ROOT / "build" / "papers"
PAGE = ROOT / "docs" / "results.md"

INTRODUCTION = """\
# Published results

<!-- Written by benchmarks/papers/run.py from benchmarks/papers/results; do not edit. -->

Tables of the papers that kernelwood implements, repeated, with the protocol of every figure.
`make papers` runs all of them and writes this page; [reproducing](reproducing.md) tells what data
they need. Published figures are quoted as they were printed. Minutes are CPU time, of all threads,
on the computer that the figures were made on.
"""


def command(table: Table) -> list[str]:
    """Return the command as it is shown, from the folder of the repository."""
    program = (HERE / table.program).resolve().relative_to(ROOT.resolve())
    return ["python", program.as_posix(), *table.arguments]


def missing(table: Table, data: str | None) -> list[str]:
    """Return the data of a table that are not there."""
    return [name for name in table.data if find_data(name, data) is None]


def run(table: Table, data: str | None) -> dict[str, Any]:
    """Run the program of a table and return what is stored."""
    options = ["--json", *(["--data", data] if data else [])]
    before = _child_seconds()
    done = subprocess.run(
        [sys.executable, *command(table)[1:], *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    if done.returncode != 0:
        raise RuntimeError(f"{table.name}: exit code {done.returncode}")
    return {
        "name": table.name,
        "command": " ".join(command(table)),
        "version": kw.__version__,
        "minutes": round((_child_seconds() - before) / 60, 1),
        "rows": [asdict(row) for row in table.rows(json.loads(done.stdout))],
    }


def _child_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def read_stored() -> dict[str, dict[str, Any]]:
    """Return the stored figures by name."""
    found = (json.loads(path.read_text(encoding="utf-8")) for path in STORED.glob("*.json"))
    return {one["name"]: one for one in found}


def write_json(folder: Path, stored: dict[str, Any]) -> None:
    """Write the figures of a table, all or nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stored['name']}.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def render(tables: list[Table], stored: dict[str, dict[str, Any]]) -> str:
    """Return the page: an overview, then all rows of every table."""
    tables = [table for table in tables if table.name in stored]
    parts = [INTRODUCTION]
    parts.append(
        "| paper | table | topic | figure: published | ours | minutes |\n|---|---|---|---|---|---|"
    )
    for table in tables:
        rows = [Row(**row) for row in stored[table.name]["rows"]]
        shown = [row for row in rows if row.headline] or rows[:1]
        parts[-1] += (
            "\n| "
            + " | ".join(
                (
                    PAPERS[table.paper][0],
                    table.number,
                    f"[{table.topic}](#{table.name})",
                    "<br>".join(f"{_figure(row)}: {row.published or '–'}" for row in shown),
                    "<br>".join(row.ours for row in shown),
                    f"{stored[table.name]['minutes']:.1f}",
                )
            )
            + " |"
        )
    for key, (authors, title) in PAPERS.items():
        mine = [table for table in tables if table.paper == key]
        if mine:
            parts.append(f"## {authors}: {title}" if authors else f"## {title}")
        parts += [_section(table, stored[table.name]) for table in mine]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _figure(row: Row) -> str:
    return f"{row.setting}, {row.measure}"


def _section(table: Table, stored: dict[str, Any]) -> str:
    lines = [f"({table.name})=", f"### {table.number or 'Figures'}: {table.topic}", ""]
    lines += [f"**Protocol.** {table.protocol}", ""]
    more = f" More figures: [{table.page}]({table.page})." if table.page else ""
    lines += [f"`{stored['command']}`, {stored['minutes']:.1f} minutes.{more}", ""]
    lines += ["| setting | measure | published | ours |", "|---|---|---|---|"]
    for row in (Row(**row) for row in stored["rows"]):
        lines.append(f"| {row.setting} | {row.measure} | {row.published} | {row.ours} |")
    return "\n".join(lines)


def main() -> None:
    tables = load_tables()
    names = [table.name for table in tables]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="NAME", help="only these tables"
    )
    parser.add_argument("--again", nargs="+", choices=names, default=(), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="list tables, programs and data")
    parser.add_argument("--page", action="store_true", help="write the page from stored figures")
    options = parser.parse_args()
    if options.list:
        for table in tables:
            print(f"{table.name}: {' '.join(command(table))} [{', '.join(table.data)}]")
        return
    failed = [] if options.page else run_all(tables, options)
    PAGE.write_text(render(tables, read_stored()), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def run_all(tables: list[Table], options: argparse.Namespace) -> list[str]:
    """Run what is not finished; return the names of tables whose program failed."""
    failed = []
    for number, table in enumerate(tables, 1):
        if options.only and table.name not in options.only:
            continue
        said = f"{number} of {len(tables)}: {table.name}"
        finished = FINISHED / f"{table.name}.json"
        if absent := missing(table, options.data):
            print(f"{said}: left out, data missing: {', '.join(absent)}", file=sys.stderr)
            continue
        if not finished.exists() or table.name in options.again:
            print(f"{said}: {' '.join(command(table))}", file=sys.stderr)
            started = time.perf_counter()
            try:
                write_json(FINISHED, run(table, options.data))
            except (RuntimeError, ValueError, KeyError) as error:
                print(f"{said}: failed: {error}", file=sys.stderr)
                failed.append(table.name)
                continue
            print(f"{said}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
        write_json(STORED, json.loads(finished.read_text(encoding="utf-8")))
    return failed


if __name__ == "__main__":
    main()
