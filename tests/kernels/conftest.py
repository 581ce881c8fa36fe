import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for ``import cases`` and ``import oracles``


@pytest.fixture
def run_python():
    """Return a function that runs lines in a fresh interpreter and returns what they print."""

    def run(*lines, env=None):
        command = [sys.executable, "-W", "error", "-c", "\n".join(lines)]
        variables = {**os.environ, **(env or {})}
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=variables)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.strip()

    return run


@pytest.fixture
def force_threads(monkeypatch):
    """Make even the smallest work run on threads."""
    monkeypatch.setattr("kernelwood.compute.runner._INLINE_COST", 0)
