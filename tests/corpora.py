"""Where public corpora are, for tests that run when they are on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwood.datasets import find_data

__all__ = ["data_file"]


def data_file(*parts: str) -> Path:
    """Return the path of a file of the data folder, or skip the test that wants it."""
    name = "/".join(parts)
    path = find_data(name)
    if path is None:
        pytest.skip(f"{name} is not in the data folder; set KERNELWOOD_DATA to it")
    return path
