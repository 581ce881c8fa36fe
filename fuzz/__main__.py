"""The command line of the fuzz harness.

python -m fuzz [--minutes 10 | --inputs N] [--seed 0] [--first 0] [--only NAME ...] [--jobs 2]
[--store FOLDER] [--json] [--memory 3] [--cpu 10]
python -m fuzz --replay FILE ...

Inputs depend on the seed, the kind and their number only: any of them is repeated by its kind, seed
and number, with ``--only KIND --seed SEED --first NUMBER --inputs 1``. The exit code is 1 if there
are findings; with ``--store``, a description of each, with as few changes as possible, is written.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from fuzz import driver
from fuzz.driver import Tally, judge_alone, run, store
from fuzz.every_kind import every_kind, find_kind
from fuzz.kinds import FINDINGS

_COLUMNS = ("inputs", "refused", "used", "our errors", "findings")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, help="wall-clock time of the whole run")
    parser.add_argument("--inputs", type=int, help="number of inputs of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", nargs="*", help="kinds, or beginnings of their names")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument("--store", type=Path, help="folder for descriptions of findings")
    parser.add_argument("--replay", type=Path, nargs="*", help="descriptions to run again")
    parser.add_argument("--memory", type=float, help="limit of a process in GiB, 0 for none")
    parser.add_argument("--cpu", type=int, help="limit of CPU seconds for an input")
    parser.add_argument("--list", action="store_true", help="list the kinds")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.memory is not None:
        driver.MEMORY = int(options.memory * (1 << 30))
    if options.cpu is not None:
        driver.CPU_SECONDS = options.cpu
    if options.replay:
        return replay(options.replay)
    kinds = every_kind(options.only)
    if options.list:
        print("\n".join(kind.name for kind in kinds))
        return 0
    minutes = options.minutes
    if minutes is None and options.inputs is None:
        minutes = 10.0
    seconds = None if minutes is None else 60 * minutes * options.jobs / max(1, len(kinds))
    width = max((len(kind.name) for kind in kinds), default=4)

    def show(tally: Tally) -> None:
        for finding in tally.findings:
            said = store(finding, options.store) if options.store else finding.mutations
            print(f"  {tally.kind}: {finding.outcome}\n    {said}", file=sys.stderr)
        if not options.json:
            print(_line(tally, width), flush=True)

    if not options.json:
        print(f"seed {options.seed}, inputs from number {options.first}")
        print(" ".join([f"{'kind':{width}}", *(f"{name:>11}" for name in _COLUMNS)]), flush=True)
    tallies = run(
        kinds,
        seed=options.seed,
        first=options.first,
        inputs=options.inputs,
        seconds=seconds,
        jobs=options.jobs,
        finished=show,
    )
    if options.json:
        print(json.dumps([tally.row() for tally in tallies]))
    else:
        print(_line(_total(tallies), width))
    return 1 if any(tally.n_findings for tally in tallies) else 0


def replay(paths: list[Path]) -> int:
    """Run stored descriptions again."""
    found = 0
    for path in paths:
        stored = json.loads(path.read_text(encoding="utf-8"))
        kind = find_kind(stored["kind"])
        kind.prepare()
        outcome = judge_alone(kind, stored["mutations"])
        print(f"{path}: {outcome}")
        found += outcome["outcome"] in FINDINGS
    return 1 if found else 0


def _line(tally: Tally, width: int) -> str:
    row = tally.row()
    return " ".join([f"{tally.kind:{width}}", *(f"{row[name]:>11,}" for name in _COLUMNS)])


def _total(tallies: list[Tally]) -> Tally:
    total = Tally("all")
    for tally in tallies:
        for name in ("refused", "used", "errors", "n_findings"):
            setattr(total, name, getattr(total, name) + getattr(tally, name))
    return total


if __name__ == "__main__":
    sys.exit(main())
