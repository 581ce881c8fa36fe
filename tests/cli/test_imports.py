"""What commands import: not what they do not use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from processes import run_python

import kernelwood as kw
from kernelwood.datasets import load_interactions, load_questions

MODELS = Path(__file__).parents[1] / "persist" / "golden" / "v1"
# With scikit-learn come scipy.stats and, if it is installed, pandas.
LEARNING = ["sklearn", "pandas", "joblib", "scipy.stats", "scipy.optimize", "scipy.linalg"]
NUMBERS = ["scipy"]
OTHERS = ["http.client", "asyncio", "multiprocessing", "jinja2", "spacy", "stanza", "torch"]
OTHERS += ["pyarrow", "faiss", "urllib.request"]
# Command -> arguments, and what it must not import.
COMMANDS = {
    "inspect": (["extractor.kw"], LEARNING + NUMBERS + OTHERS),
    "convert": (["in.jsonl", "out.json", "--to", "jsonl"], LEARNING + NUMBERS + OTHERS),
    "explain": (["extractor.kw", "in.jsonl", "d05.s0", "--all"], LEARNING + OTHERS),
    "extract": (["extractor.kw", "in.txt", "--entities", "terms.tsv"], LEARNING + OTHERS),
    "predict": (["extractor.kw", "in.jsonl"], LEARNING + OTHERS),
    "embed": (
        ["questions.jsonl", "--model", "embedder.kw", "--view", "tree", "-o", "out.npz"],
        LEARNING + OTHERS,
    ),
    # Support vector machines are solved by the native core, calibration by scipy.optimize.
    "train": (["train.jsonl", "-o", "new.kw"], ["sklearn", "pandas", "scipy.stats", *OTHERS]),
}
PROGRAM = """
import json, sys
from kernelwood.cli import main
code = 0
try:
    main(sys.argv[1:])
except SystemExit as end:
    code = end.code
print(json.dumps([code, [name for name in {names!r} if name in sys.modules]]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("imports")
    for name, file in (("relation-extractor", "extractor.kw"), ("nystrom-embedder", "embedder.kw")):
        (made / file).write_bytes((MODELS / f"{name}.kw").read_bytes())
    kw.write(load_interactions("test")[:3], made / "in.jsonl")
    kw.write(load_interactions("train")[:60], made / "train.jsonl")
    kw.write(load_questions()[:3], made / "questions.jsonl")
    (made / "in.txt").write_text("Raf binds MEK1.\n")
    (made / "terms.tsv").write_text("Raf\tProtein\nMEK1\tProtein\n")
    return made


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_nothing_that_it_does_not_use(command, folder):
    arguments, unused = COMMANDS[command]
    program = PROGRAM.format(names=unused)
    done = run_python("-c", program, command, *arguments, cwd=folder)
    *_, last = done.stdout.splitlines() or [done.stderr]
    assert json.loads(last) == [0, []], done.stderr
