"""What all tests share: hypothesis settings, slow tests, the folder of shared helpers."""

import functools
import gc
import inspect
import os
import signal
import sys
import tempfile
from pathlib import Path

# Workers of pytest-xdist share the cores: one thread of BLAS for each. Before NumPy is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from click.testing import CliRunner
from hypothesis import settings

# click 8.1 mixes both outputs, unless it is told not to; later versions never do.
if "mix_stderr" in inspect.signature(CliRunner).parameters:
    CliRunner.__init__ = functools.partialmethod(CliRunner.__init__, mix_stderr=False)

# ``--import-mode=importlib`` leaves sys.path alone; this makes ``import strategies`` work.
sys.path.insert(0, str(Path(__file__).parent))

import processes
import sizes
from processes import PATIENCE

_PROGRAMS = str(Path(__file__).parents[1] / "benchmarks")

# Tests and the processes they start leave the user's cache alone.
_CACHE = tempfile.TemporaryDirectory(prefix="kernelwood-tests-")
os.environ["KERNELWOOD_CACHE"] = _CACHE.name

# Few examples, always the same, for `make test`; other ones in every run with --slow.
settings.register_profile("quick", deadline=None, max_examples=40, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=200)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_configure(config):
    thorough = config.getoption("--slow")
    settings.load_profile("thorough" if thorough else "quick")
    sizes.DEPTH = 100_000 if thorough else sizes.DEPTH


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow"):
        skip = pytest.mark.skip(reason="slow; run with --slow")
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Remove the folder of programs from the path: some have the names of folders of tests."""
    report = yield
    sys.path[:] = [folder for folder in sys.path if folder != _PROGRAMS]
    return report


def pytest_collection_finish():
    """Keep what was imported and collected out of garbage collection: a tenth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=hasattr(signal, "setitimer"))
def end_of_patience():
    """Fail a test that has the processor compute for minutes: it should, but does not, end."""

    def fail(number, frame):
        pytest.fail(f"more than {PATIENCE} seconds of processor time", pytrace=False)

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


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


@pytest.fixture
def force_executor(monkeypatch):
    """Make even the smallest work run on the executor of the settings."""
    monkeypatch.setattr("kernelwood.compute.executor._SMALLEST_COST", 0)
