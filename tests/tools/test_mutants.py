"""The search for changes that no test notices."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest
from processes import run_python

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import mutants
from mutants import mirrored_tests, mutations

TOOL = mutants.__file__
MODULE = '''"""What is counted: 1."""

__all__ = ["total"]


def total(a: int, b: int) -> int:
    """Return 1 + 1, say."""
    return a + b
'''


def changed(source):
    """Return the lines that can stand for the last one."""
    made = [mutation.apply(source.encode()).decode() for mutation in mutations(source.encode())]
    for text in made:
        ast.parse(text)
    return {text.splitlines()[-1].strip() for text in made}


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("x = a < b", {"x = a <= b"}),
        ("x = (a) in (b)", {"x = (a) not in (b)"}),
        ("x = a and (b or c)", {"x = a or (b or c)", "x = a and (b and c)"}),
        ("x = not a", {"x = a"}),
        ("x = é - b", {"x = é + b"}),
        ("x = -1", {"x = 1", "x = -2"}),
        ("x = True", {"x = False"}),
        ("x = a if b else c", {"x = a if not (b) else c"}),
        ("f(x)", {"pass"}),
        ("while a: break", {"while not (a): break", "while a: continue"}),
        ("def f(): return a", {"def f(): return None"}),
        ("def f(): return False", {"def f(): return True"}),
        ("def f(a: Literal[1] = 2) -> 'b': ...", {"def f(a: Literal[1] = 3) -> 'b': ..."}),
        ("raise ValueError(1 + 1)", set()),
        ("assert a == b", set()),
        ("x = f'{a + 1}'", set()),
        ("x = a < b < c", set()),
        ("x = np.random.default_rng([seed, 1])", set()),
        (
            "x = child_generator(seed, 0) if a else b",
            {
                "x = child_generator(seed, 0) if not (a) else b",
            },
        ),
    ],
)
def test_a_line_is_changed_in_all_its_ways(line, changes):
    assert changed(line + "\n") == changes


def test_docstrings_and_exports_are_left_alone():
    lines = [mutation.line for mutation in mutations(MODULE.encode())]
    assert lines == [8, 8]


@pytest.mark.parametrize(
    ("module", "tests"),
    [
        ("counts/sums.py", "tests/counts/test_sums.py"),
        ("counts/other.py", "tests/counts"),
        ("counts/inner/sums.py", "tests/counts/test_sums.py"),
        ("pages.py", "tests/test_pages.py"),
        ("alone.py", None),
    ],
)
def test_tests_are_those_of_the_module_or_of_its_package(tmp_path, module, tests):
    (tmp_path / "tests" / "counts").mkdir(parents=True)
    for name in ("counts/test_sums.py", "test_pages.py"):
        (tmp_path / "tests" / name).touch()
    found = mirrored_tests(tmp_path / "src" / "fake" / module, tmp_path)
    assert found == (None if tests is None else tmp_path / tests)


@pytest.fixture
def project(tmp_path):
    """Return a project whose test notices if nothing is returned, but not a wrong sum."""
    files = {
        "src/fakewood/__init__.py": "",
        "src/fakewood/counts/__init__.py": "",
        "src/fakewood/counts/sums.py": MODULE,
        "tests/counts/test_sums.py": "from fakewood.counts.sums import total\n\n"
        "def test_a_sum(): assert total(3, 0) == 3\n",
        "pyproject.toml": "[tool.pytest.ini_options]\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def run(project, *options):
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return run_python(TOOL, "--root", project, "--jobs", "1", *options, cwd=project, env=variables)


def rows(done):
    """Return result, kind of change and tests of every row."""
    words = map(str.split, done.stdout.splitlines())
    return [[row[0], row[3], row[-1]] for row in words if len(row) == 6]


def test_changes_are_noticed_or_survive_and_leave_the_files_alone(project):
    done = run(project, "--package", "counts")
    assert done.returncode == 0, done.stderr
    assert rows(done)[:3] == [
        ["SURVIVED", "operator", "tests/counts/test_sums.py"],
        ["killed", "return", "tests/counts/test_sums.py"],
        ["SURVIVED", "operator", "tests/counts"],
    ]
    assert done.stdout.splitlines()[4:] == [
        "src/fakewood/counts/sums.py:8 (operator)",
        "- return a + b",
        "+ return a - b",
        "",
        "2 mutants: 1 noticed, 1 survived, 0 unchecked",
    ]
    assert (project / "src/fakewood/counts/sums.py").read_text() == MODULE


def test_other_tests_of_the_package_notice_what_survives(project):
    (project / "tests/counts/test_pairs.py").write_text(
        "from fakewood.counts.sums import total\n\ndef test_a_pair(): assert total(3, 1) == 4\n"
    )
    done = run(project)
    assert rows(done)[2] == ["killed", "operator", "tests/counts"]
    assert "2 mutants: 2 noticed, 0 survived, 0 unchecked" in done.stdout


def test_tests_that_fail_anyway_notice_nothing(project):
    (project / "tests/counts/test_sums.py").write_text("def test_a_sum(): assert False\n")
    done = run(project, "--n", "1")
    assert "tests fail without a change" in done.stdout
    assert "1 mutants: 0 noticed, 0 survived, 1 unchecked" in done.stdout


def test_a_change_that_never_ends_is_noticed(project, tmp_path):
    (project / "tests/counts/test_sums.py").write_text("import time\n\ntime.sleep(1000)\n")
    copies = mutants.Copies(project, tmp_path / "copies", 1)
    [mutant] = mutants.choose(project, [], 1, 0)
    copies.check(mutant, 0.1)
    assert mutant.result == "timed out"


def test_a_seed_chooses(project):
    (project / "src/fakewood/counts/sums.py").write_text("x = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" * 9)
    chosen = [mutants.choose(project, [], 5, seed) for seed in (1, 1, 2)]
    assert chosen[0] == chosen[1] != chosen[2]


def test_a_package_that_is_not_there_is_named(project):
    done = run(project, "--package", "sums")
    assert (done.returncode, "no package sums" in done.stderr) == (1, True)
