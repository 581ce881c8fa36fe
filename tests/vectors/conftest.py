"""What the tests of word vectors share: files of their own, and a cache of their own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def cache_root(tmp_path, monkeypatch):
    """The folder of the cache, so that no test touches the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("KERNELWOOD_CACHE", str(folder))
    return folder


@pytest.fixture
def put(tmp_path):
    """Write a file of vectors and return its path."""

    def write(content: str | bytes, name: str = "vectors.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
