"""Tests with a core that has sanitizers."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import sanitize


def test_the_core_is_taken_from_a_wheel(tmp_path):
    wheel = tmp_path / "kernelwood-1.0-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("__init__.py", "_core.pyi", "_core.cpython-311.so"):
            archive.writestr(f"kernelwood/{name}", name)
    assert sanitize.extract(wheel, tmp_path).read_text() == "_core.cpython-311.so"


def test_a_core_is_taken_as_it_is(tmp_path):
    assert sanitize.extract(tmp_path / "_core.so", tmp_path) == tmp_path / "_core.so"


def test_the_tests_that_run_by_default_exist():
    root = Path(__file__).parents[2]
    assert [test for test in sanitize.TESTS if not (root / test).exists()] == []


def test_without_a_core_the_usage_is_shown(capsys):
    assert sanitize.main([]) == 2
    assert "sanitize.py CORE" in capsys.readouterr().err
