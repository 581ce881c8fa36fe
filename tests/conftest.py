"""What all tests share: hypothesis settings, slow tests, the folder of shared helpers."""

import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# ``--import-mode=importlib`` leaves sys.path alone; this makes ``import strategies`` work.
sys.path.insert(0, str(Path(__file__).parent))

import processes

# Tests and the processes they start leave the user's cache alone.
_CACHE = tempfile.TemporaryDirectory(prefix="kernelwood-tests-")
os.environ["KERNELWOOD_CACHE"] = _CACHE.name

# A busy machine must not turn a correct test red.
settings.register_profile("kernelwood", deadline=None)
settings.load_profile("kernelwood")


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow"):
        skip = pytest.mark.skip(reason="slow; run with --slow")
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(skip)


@pytest.fixture
def run_python():
    """Return a function that runs lines in a fresh interpreter and returns what they print."""

    def run(*lines, env=None):
        variables = {**os.environ, **(env or {})}
        done = processes.run_python("-W", "error", "-c", "\n".join(lines), env=variables)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.strip()

    return run


@pytest.fixture
def force_threads(monkeypatch):
    """Make even the smallest work run on threads."""
    monkeypatch.setattr("kernelwood.compute.runner._INLINE_COST", 0)
