"""What the tests of model files share: round trips, and files that somebody changed."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest

from kernelwood.persist import load, save


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
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(members.pop("manifest.json"))
        change(manifest, members)
        if checksums:
            manifest["members"] = {
                name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
                for name, data in members.items()
            }
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in {**members, "manifest.json": json.dumps(manifest)}.items():
                archive.writestr(name, data)
        return path

    return rewrite
