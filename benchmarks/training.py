"""CPU time and peak memory of training a relation extractor, by phase.

    python benchmarks/training.py [--data DIR] [--corpora bioinfer semeval ...]
                                  [--recipes svm ...] [--before PYTHON] [--rounds 1] [--json]

Runs `kernelwood train FILE --recipe NAME --seed 0 --jobs 1`, each time in a process of its own, on
AIMed and BioInfer, whose parses are given, and on the training part of SemEval-2010 task 8, which
the bundled grammar parses. Phases are CPU seconds without those of phases inside: starting Python
with all imports of the command, reading, parsing, making views, kernels (Gram matrices, or
similarities to landmarks and references), machines on all candidates, machines of folds and of the
trial of entity words, assigning folds and calibration. "rest" includes other learners than support
vector machines. Of several rounds, the one with the smallest total is shown. "without parse" is the
total without the parser. With --before, the same is measured for the kernelwood of another Python,
in alternating runs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

CORPORA = {
    "aimed": "ppi/AImed-learning-format.xml.gz",
    "bioinfer": "ppi/BioInfer-learning-format.xml.gz",
    "semeval": "semeval2010-task8/TRAIN_FILE.TXT.gz",
}
START, PARSE, REST = "start", "parse", "rest"
PHASES = (
    *(START, "read", PARSE, "views", "kernels", "machines", "machines of folds", "calibration"),
    REST,
)

# Functions by their module, and the phase of the time inside them.
TIMED = (
    ("kernelwood.cli.commands.train", "read_documents", "read"),
    ("kernelwood.relations.extractor", "read_sentences", PARSE),
    ("kernelwood.relations.extractor", "_viewed", "views"),
    ("kernelwood.kernels.kernel", "Kernel.gram", "kernels"),
    ("kernelwood.kernels.kernel", "Kernel.cross", "kernels"),
    ("kernelwood.kernels.kernel", "Kernel.neighbors", "kernels"),
    ("kernelwood.learners.svm_machines", "Machines.class_scores", "machines of folds"),
    ("kernelwood.relations.extractor", "assign_folds", "calibration"),
    ("kernelwood.relations.extractor", "calibrate", "calibration"),
    ("kernelwood.relations.extractor", "held_out_error", "calibration"),
)


class Phases:
    """CPU seconds of phases; those of a phase inside another one do not count for the latter."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inside: list[float] = [0.0]

    def measure(self, phase: str, work: Callable[[], Any]) -> Any:
        """Return the result of some work, and add its CPU time."""
        self._inside.append(0.0)
        started = time.process_time()
        try:
            return work()
        finally:
            seconds = time.process_time() - started
            self.seconds[phase] += seconds - self._inside.pop()
            self._inside[-1] += seconds

    def wrap(self, module: str, name: str, phase: Callable[..., str]) -> None:
        """Let a function, or a method, add its time to a phase that depends on its arguments."""
        owner: Any = importlib.import_module(module)
        *classes, last = name.split(".")
        for inner in classes:
            owner = getattr(owner, inner)
        original = getattr(owner, last)

        def timed(*given: Any, **named: Any) -> Any:
            return self.measure(phase(*given), lambda: original(*given, **named))

        setattr(owner, last, timed)


def machine_phase(trainer: Any, gram: Any, *given: Any) -> str:
    """Return the phase of training one machine, or the machines of a part on landmarks."""
    rows = given[0].rows if hasattr(given[0], "rows") else given[2]
    return "machines" if len(rows) == len(gram) else "machines of folds"


def train(path: str, recipe: str) -> dict[str, float]:
    """Train in this process, which has just been started; return the figures."""
    from measure import own_peak_memory

    from kernelwood.cli import main as command

    phases = Phases()
    for module, name, phase in TIMED:
        phases.wrap(module, name, lambda *given, phase=phase: phase)
    phases.wrap("kernelwood.learners.svm_machines", "Trainer._solve", machine_phase)
    phases.wrap(
        "kernelwood.learners.landmark_machines", "LandmarkTrainer._train_part", machine_phase
    )
    phases.seconds[START] = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        options = ["--recipe", recipe, "--seed", "0", "--jobs", "1", "--json", "--quiet"]
        sys.argv = ["kernelwood", "train", path, "-o", f"{folder}/model.kw", *options]
        try:
            phases.measure(REST, command)
        except SystemExit as end:
            if end.code:
                raise
    return {
        **{phase: phases.seconds[phase] for phase in PHASES},
        "total": time.process_time(),
        "without parse": time.process_time() - phases.seconds[PARSE],
        "peak MB": own_peak_memory(),
    }


def run(python: str, path: Path, recipe: str) -> dict[str, float]:
    """Return the figures of a process of its own."""
    command = [python, __file__, "--train", str(path), "--recipes", recipe]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument("--corpora", nargs="+", default=["bioinfer", "semeval"], choices=CORPORA)
    parser.add_argument("--recipes", nargs="+", default=["svm"])
    parser.add_argument("--before", metavar="PYTHON", help="Python with another kernelwood")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        print(json.dumps(train(options.train, options.recipes[0])))
        return
    from measure import show_table

    from kernelwood.datasets import require_data

    pythons = {"this": sys.executable}
    if options.before is not None:
        pythons = {"before": options.before, **pythons}
    rows: list[dict[str, Any]] = []
    for corpus in options.corpora:
        path = require_data(CORPORA[corpus], options.data)
        for recipe in options.recipes:
            rounds = [
                {version: run(python, path, recipe) for version, python in pythons.items()}
                for _ in range(options.rounds)
            ]
            for version in pythons:
                best = min((one[version] for one in rounds), key=lambda row: row["total"])
                named = {"version": version} if len(pythons) > 1 else {}
                rows.append({"corpus": corpus, "recipe": recipe, **named, **best})
                if options.json:
                    print(json.dumps(rows[-1]), flush=True)
    if not options.json:
        show_table("Training, CPU seconds of one thread", rows, digits=1)


if __name__ == "__main__":
    main()
