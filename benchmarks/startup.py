"""Start of the command line: help, wrong usage, missing files, completion, work on small files.

    python benchmarks/startup.py [--repeats 5] [--json]

Each call is a new process in a folder with a few small files: sentences of the bundled corpora, a
relation extractor (recipe svm) trained on them, and an embedder of questions. Times are CPU times
of the process, user and system, the best of several runs; the first run compiles the modules and is
not counted. Modules are those imported at the end, of the package and in all; heavy ones are named.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import show_table

import kernelwood as kw
from kernelwood.datasets import load_interactions, load_questions

HEAVY = ("numpy", "scipy", "sklearn", "scipy.stats", "pandas", "rich")
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
    "inspect extractor.kw": {},
    "convert sentences.jsonl out.conllu": {},
    "explain extractor.kw sentences.jsonl d05.s0": {},
    "extract extractor.kw text.txt --entities terms.tsv": {},
    "predict extractor.kw sentences.jsonl": {},
    "embed questions.jsonl --model embedder.kw --view tree -o out.npz": {},
    "(complete) tr": {"COMP_WORDS": "kernelwood tr", "COMP_CWORD": "1"},
    "(complete) train --re": {"COMP_WORDS": "kernelwood train --re", "COMP_CWORD": "2"},
}
SCRIPT = (
    f"HEAVY = {HEAVY}"
    + """
import sys
from kernelwood.cli import main
try:
    main(prog_name="kernelwood")
finally:
    names = list(sys.modules)
    own = sum(name.split(".")[0] == "kernelwood" for name in names)
    heavy = [name for name in HEAVY if name in names]
    print(f"\\nmodules {own} {len(names)}", *heavy, file=sys.stderr)
"""
)


def make_files(folder: Path) -> None:
    """Write the files that the calls read."""
    kw.write(load_interactions("test")[:5], folder / "sentences.jsonl")
    questions = load_questions()
    kw.write(questions[:20], folder / "questions.jsonl")
    (folder / "text.txt").write_text("Raf binds MEK1.\n")
    (folder / "terms.tsv").write_text("Raf\tProtein\nMEK1\tProtein\n")
    extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
    kw.save(extractor, folder / "extractor.kw")
    kernel = kw.OnView("tree", kw.SubsetTreeKernel())
    embedder = kw.NystromEmbedder(kernel, n_landmarks=50, random_state=0).fit(questions)
    kw.save(embedder, folder / "embedder.kw")


def run(call: str, variables: dict[str, str], folder: str) -> tuple[float, int, int, str]:
    """Return the CPU seconds of a call, the numbers of modules, and the heavy ones."""
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
    own, total, *heavy = done.stderr.rpartition("modules ")[2].split()
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(own), int(total), " ".join(heavy)


def measure(repeats: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder))
        for call, variables in CALLS.items():
            _, own, total, heavy = run(call, variables, folder)
            best = min(run(call, variables, folder)[0] for _ in range(repeats))
            row = {"call": call, "CPU seconds": best, "modules": own, "all modules": total}
            rows.append(row | {"heavy": heavy})
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
