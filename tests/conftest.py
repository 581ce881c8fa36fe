"""What all tests share: hypothesis settings, slow tests, the folder of shared helpers."""

import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# ``--import-mode=importlib`` leaves sys.path alone; this makes ``import strategies`` work.
sys.path.insert(0, str(Path(__file__).parent))

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
