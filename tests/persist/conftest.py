"""What the tests of model files share: round trips, and files that somebody changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kernelwood.persist import load, save

sys.path.append(str(Path(__file__).parent))

from crafted import pack, unpack


@pytest.fixture
def round_trip(tmp_path):
    """Return a function that saves a model and loads it again."""

    def again(model):
        path = tmp_path / "round-trip.kw"
        save(model, path)
        return load(path)

    return again


@pytest.fixture
def forge(tmp_path):
    """Return a function that rewrites a saved model as an attacker would: all checksums fit.

    ``change(manifest, members)`` may change both dictionaries in place.
    """

    def rewrite(model, change, *, checksums=True):
        path = tmp_path / "forged.kw"
        save(model, path)
        manifest, members = unpack(path.read_bytes())
        change(manifest, members)
        path.write_bytes(pack(manifest, members, checksums=checksums))
        return path

    return rewrite
