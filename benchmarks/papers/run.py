"""Repeat the published tables, and write docs/results.md from the figures.

    python benchmarks/papers/run.py [--data DIR] [--only NAME ...] [--again NAME ...] [--list]
    python benchmarks/papers/run.py --page

Every table is one program (`tables/`), run in a process of its own. The output of a program is
stored in build/papers: after an interruption or a failure the next run computes the missing tables,
and those whose command has changed; `--again` repeats a table, `make clean` removes all output.
Tables whose data are missing are named and left out. Figures are stored in
benchmarks/papers/results as soon as a table has finished, and at the end the page is written from
all stored figures; `--page` does only that.
The exit code is 1 if a table failed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
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

This page repeats tables of the papers that kernelwood implements, with the protocol of every
figure. `make papers` runs all of them and writes this page; [reproducing](reproducing.md) lists the
data that they need. Published figures are quoted as printed. Minutes are CPU time of all threads,
on the computer that the figures were made on.
"""


def command(table: Table) -> str:
    """Return the command as it is shown, from the folder of the repository."""
    program = (HERE / table.program).resolve().relative_to(ROOT.resolve())
    return shlex.join(["python", program.as_posix(), *table.arguments])


def missing(table: Table, data: str | None) -> list[str]:
    """Return the data of a table that are not there."""
    return [name for name in table.data if find_data(name, data) is None]


def run(table: Table, data: str | None) -> dict[str, Any]:
    """Run the program of a table and return what it printed, with its command and CPU time.

    Raises
    ------
    RuntimeError
        If the program fails, or prints something else than JSON.
    """
    folder = find_data(data=data)  # absolute: the program runs in the folder of the repository
    options = ["--json", *(["--data", str(folder)] if folder else [])]
    before = _child_seconds()
    done = subprocess.run(
        [sys.executable, str(HERE / table.program), *table.arguments, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONIOENCODING": "utf-8"},
    )
    if done.returncode < 0:
        raise RuntimeError(f"the program was ended by signal {-done.returncode}")
    if done.returncode:
        raise RuntimeError(f"the program ended with exit code {done.returncode}")
    try:
        output = json.loads(done.stdout)
    except ValueError as error:
        raise RuntimeError(f"the program printed something else than JSON: {error}") from error
    return {
        "name": table.name,
        "command": command(table),
        "version": kw.__version__,
        "minutes": round((_child_seconds() - before) / 60, 1),
        "output": output,
    }


def figures(table: Table, finished: dict[str, Any]) -> dict[str, Any]:
    """Return what is stored: the rows of the table instead of the output of the program.

    Raises
    ------
    RuntimeError
        If the table cannot read the output.
    """
    try:
        rows = [asdict(row) for row in table.rows(finished["output"])]
    except Exception as error:
        raise RuntimeError(
            f"tables/ cannot read what the program printed, kept in {kept(table)}: {error!r}"
        ) from error
    return {**{name: finished[name] for name in finished if name != "output"}, "rows": rows}


def kept(table: Table) -> Path:
    """Return the file that keeps what the program of a table printed."""
    return FINISHED / f"{table.name}.json"


def is_finished(table: Table) -> bool:
    """Return whether there is output of the present command."""
    try:
        found = json.loads(kept(table).read_text(encoding="utf-8"))
        return bool(found["command"] == command(table) and "output" in found)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _child_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def read_stored() -> dict[str, dict[str, Any]]:
    """Return the stored figures by name."""
    found = (json.loads(path.read_text(encoding="utf-8")) for path in STORED.glob("*.json"))
    return {one["name"]: one for one in found}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a file of figures, all or nothing."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def render(tables: list[Table], stored: dict[str, dict[str, Any]]) -> str:
    """Return the page: an overview, then all rows of every table."""
    tables = [table for table in tables if table.name in stored]
    parts = [INTRODUCTION, _overview(tables, stored) if tables else "No table has been run yet."]
    for key, (authors, title) in PAPERS.items():
        mine = [table for table in tables if table.paper == key]
        if mine:
            parts.append(f"## {authors}: {title}" if authors else f"## {title}")
        parts += [_section(table, stored[table.name]) for table in mine]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _overview(tables: list[Table], stored: dict[str, dict[str, Any]]) -> str:
    lines = ["| paper | table | figure | published | ours | minutes |", "|---|---|---|---|---|---|"]
    for table in tables:
        rows = [Row(**row) for row in stored[table.name]["rows"]]
        name = f"[{table.number or table.topic}](#{table.name})"
        cells = (PAPERS[table.paper][0], name, f"{stored[table.name]['minutes']:.1f}")
        for row in [row for row in rows if row.headline] or rows[:1]:
            paper, number, minutes = cells
            figure = f"{row.setting}, {row.measure}"
            lines.append(_line((paper, number, figure, row.published or "–", row.ours, minutes)))
            cells = ("", "", "")
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _section(table: Table, stored: dict[str, Any]) -> str:
    lines = [f"({table.name})=", f"### {table.number or 'Figures'}: {table.topic}", ""]
    lines += [f"**Protocol.** {table.protocol}", ""]
    more = f" More figures: [{table.page}]({table.page})." if table.page else ""
    lines += [f"`{stored['command']}`, {stored['minutes']:.1f} minutes.{more}", ""]
    lines += ["| setting | measure | published | ours |", "|---|---|---|---|"]
    for row in (Row(**row) for row in stored["rows"]):
        lines.append(_line((row.setting, row.measure, row.published, row.ours)))
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
            print(f"{table.name}: {command(table)} [{', '.join(table.data)}]")
        return
    failed: list[str] = []
    stopped = False
    if not options.page:
        try:
            run_all(tables, options, failed)
        except KeyboardInterrupt:
            stopped = True
    write_text(PAGE, render(tables, read_stored()))
    print(PAGE.relative_to(ROOT))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    if stopped:
        print("interrupted: what has finished is kept, the next run does the rest", file=sys.stderr)
        sys.exit(130)
    if failed:
        sys.exit(1)


def run_all(tables: list[Table], options: argparse.Namespace, failed: list[str]) -> None:
    """Run what is not finished; append the names of tables that failed."""
    for number, table in enumerate(tables, 1):
        if options.only and table.name not in options.only:
            continue
        said = f"{number} of {len(tables)}: {table.name}"
        if absent := missing(table, options.data):
            print(f"{said}: left out, data missing: {', '.join(absent)}", file=sys.stderr)
            continue
        try:
            if not is_finished(table) or table.name in options.again:
                print(f"{said}: {command(table)}", file=sys.stderr)
                started = time.perf_counter()
                write_json(kept(table), run(table, options.data))
                print(f"{said}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
            finished = json.loads(kept(table).read_text(encoding="utf-8"))
            write_json(STORED / f"{table.name}.json", figures(table, finished))
        except RuntimeError as error:
            print(f"{said}: failed: {error}", file=sys.stderr)
            failed.append(table.name)


if __name__ == "__main__":
    main()
