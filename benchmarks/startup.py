"""Start of the command line: help, wrong usage, missing files, completion.

    python benchmarks/startup.py [--repeats 5] [--json]

Each call is a new process in an empty folder. Times are CPU times of the process, user and system,
the best of several runs; the first run compiles the modules and is not counted. Modules are those
imported at the end, of the package and in all.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

from measure import show_table

CALLS = {
    "--version": {},
    "--help": {},
    "train --help": {},
    "trian": {},
    "train missing.xml": {},
    "train missing.xml -o model.kw": {},
    "train missing.xml -o model.kw --recipe svn": {},
    "extract missing.kw missing.txt": {},
    "verify missing.kw missing.jsonl": {},
    "search missing.conllu --save index.kw": {},
    "inspect missing.kw": {},
    "demo -o missing/report.html": {},
    "completion bash": {},
    "(complete) tr": {"COMP_WORDS": "kernelwood tr", "COMP_CWORD": "1"},
    "(complete) train --re": {"COMP_WORDS": "kernelwood train --re", "COMP_CWORD": "2"},
}
SCRIPT = """
import sys
from kernelwood.cli import main
try:
    main(prog_name="kernelwood")
finally:
    names = list(sys.modules)
    own = sum(name.split(".")[0] == "kernelwood" for name in names)
    print(f"\\nmodules {own} {len(names)}", file=sys.stderr)
"""


def run(call: str, variables: dict[str, str], folder: str) -> tuple[float, int, int]:
    """Return the CPU seconds of a call, and the numbers of modules."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    if variables:
        environment |= {"_KERNELWOOD_COMPLETE": "bash_complete", **variables}
    arguments = [] if variables else call.split()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        capture_output=True, text=True, cwd=folder, env=environment, check=False,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    *_, own, total = done.stderr.split()
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(own), int(total)


def measure(repeats: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for call, variables in CALLS.items():
            _, own, total = run(call, variables, folder)
            best = min(run(call, variables, folder)[0] for _ in range(repeats))
            rows.append({"call": call, "CPU seconds": best, "modules": own, "all modules": total})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="runs of each call")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    rows = measure(options.repeats)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        show_table("Start of the command line", rows, digits=3)


if __name__ == "__main__":
    main()
