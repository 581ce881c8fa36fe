"""The fuzz harness: what it notices, what it repeats, and what it has found before."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from processes import run_python

ROOT = Path(__file__).parent.parent.parent
FINDINGS = sorted((ROOT / "fuzz" / "findings").glob("*.json"))
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes with limits")

# A kind whose inputs are numbers: the largest decides what happens.
FAKE = """
import json, os, signal, sys, time
from fuzz import driver
from fuzz.kinds import Kind, NotANumberError, Use
from kernelwood.errors import StructureError

driver.CPU_SECONDS = 1

class Fake(Kind):
    def draw(self, rng):
        return [{"op": "number", "value": value} for value in rng.sample(range(12), 3)]

    def run(self, mutations):
        match max(one["value"] for one in mutations):
            case 11:
                os.kill(os.getpid(), signal.SIGSEGV)
            case 10:
                raise IndexError("out of range")
            case 9:
                Use()(lambda: [float("nan")])
            case 8:
                return "refused"
            case 7:
                bytearray(1 << 40)
            case 6:
                use = Use()
                use(lambda: (_ for _ in ()).throw(StructureError("ours")))
                return use.outcome
            case 5 if len(mutations) == 1:
                while True:
                    pass
        return "used"
"""


def run_fake(*lines):
    """Return the JSON that lines print after the fake kind was defined."""
    done = run_python("-c", "\n".join([FAKE, "fake = Fake('fake/number')", *lines]), cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_a_run_counts_outcomes_and_minimises_findings():
    [row, findings] = run_fake(
        "[tally] = driver.run([fake], seed=1, inputs=60)",
        "print(json.dumps([tally.row(), [one.to_dict() for one in tally.findings]]))",
    )
    assert row["inputs"] == 60 and row["refused"] > 0
    found = {
        one["outcome"].get("signal") or one["outcome"].get("type") or one["outcome"]["outcome"]: [
            change["value"] for change in one["mutations"]
        ]
        for one in findings
    }
    assert found["SIGSEGV"] == [11] and found["IndexError"] == [10] and found["nan"] == [9]
    assert row["findings"] >= len(findings)


def test_processes_that_end_badly_are_told_apart():
    outcomes = run_fake(
        "ends = {}",
        "for value in (3, 5, 6, 7, 8, 9, 10, 11):",
        "    mutations = [{'op': 'number', 'value': value}]",
        "    ends[value] = driver.judge_alone(fake, mutations)",
        "print(json.dumps({k: [v['outcome'], v.get('type')] for k, v in ends.items()}))",
    )
    assert outcomes == {
        "3": ["used", None],
        "5": ["hang", None],
        "6": ["error", None],
        "7": ["exception", "MemoryError"],
        "8": ["refused", None],
        "9": ["nan", None],
        "10": ["exception", "IndexError"],
        "11": ["signal", None],
    }


def fuzz(*options):
    """Return the counts of a run of the command line by kind."""
    done = run_python("-W", "ignore", "-m", "fuzz", "--json", "--jobs", "1", *options, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-5000:]
    return {row["kind"]: row for row in json.loads(done.stdout)}


@pytest.mark.parametrize(
    ("kinds", "inputs"),
    [
        ("model", 6),
        ("reader", 20),
        ("file", 20),
        ("plan", 6),
        ("index", 6),
        ("gram", 6),
        ("project", 6),
        ("requests", 40),
    ],
)
def test_crafted_inputs_are_refused_or_can_be_used(kinds, inputs):
    rows = fuzz("--only", kinds, "--inputs", inputs, "--seed", "20")
    assert rows and all(row["inputs"] == inputs for row in rows.values())
    assert sum(row["used"] for row in rows.values()) > 0


def test_honest_inputs_of_every_kind_are_used_without_errors(run_python):
    said = run_python(
        "import os, sys, warnings",
        "warnings.simplefilter('ignore')",
        f"sys.path.insert(0, {str(ROOT)!r})",
        "from fuzz.every_kind import every_kind",
        "from fuzz.kinds import judge",
        "for kind in every_kind(['model', 'file', 'plan', 'index', 'gram', 'project']):",
        "    kind.prepare(); kind.start()",
        "    outcome = judge(kind, [])",
        "    if outcome != {'outcome': 'used'}: print(kind.name, outcome)",
        "sys.stdout.flush(); os._exit(0)",
    )
    assert said == ""


def test_every_public_method_of_a_model_is_used(run_python):
    said = run_python(
        "import sys, warnings",
        "warnings.simplefilter('ignore')",
        f"sys.path.insert(0, {str(ROOT)!r})",
        "from fuzz.method_coverage import methods_not_called",
        "print(*methods_not_called())",
    )
    assert said == ""


def test_honest_requests_are_answered(run_python):
    said = run_python(
        "import os, sys, warnings",
        "warnings.simplefilter('ignore')",
        f"sys.path.insert(0, {str(ROOT)!r})",
        "from fuzz.requests import kinds",
        "for kind in kinds():",
        "    kind.prepare(); kind.start()",
        "    for number, request in enumerate(kind.requests):",
        "        outcome = kind.run([{'op': 'sample', 'number': number}])",
        "        if outcome != 'used': print(request, outcome)",
        "sys.stdout.flush(); os._exit(0)",
    )
    assert said == ""


def test_what_was_found_before_is_refused_or_works():
    assert FINDINGS
    done = run_python("-W", "ignore", "-m", "fuzz", "--replay", *FINDINGS, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("'outcome'") == len(FINDINGS)


def test_an_input_depends_on_seed_kind_and_number_only(run_python):
    said = run_python(
        "import sys, json",
        f"sys.path.insert(0, {str(ROOT)!r})",
        "from fuzz.driver import draw",
        "from fuzz.every_kind import find_kind",
        "kind = find_kind('model/kernel-svc')",
        "kind.prepare()",
        "one = draw(kind, 5, 7)",
        "draw(kind, 5, 8)",
        "again, other = draw(kind, 5, 7), draw(kind, 6, 7)",
        "print(one == again, one == other, json.loads(json.dumps(one)) == one)",
    )
    assert said == "True False True"


def test_memory_is_limited_unless_the_limit_is_zero():
    limits = run_fake(
        "import resource",
        "class Limited(Fake):",
        "    def run(self, mutations):",
        "        return str(resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY)",
        "limited = Limited('fake/limited')",
        "with_limit = driver.judge_alone(limited, [])",
        "driver.MEMORY = 0",
        "print(json.dumps([with_limit['outcome'], driver.judge_alone(limited, [])['outcome']]))",
    )
    assert limits == ["True", "False"]
