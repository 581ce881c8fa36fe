"""Copies of what was read: when they are used, when not, and what cannot go wrong."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from kernelwood.vectors import Vectors, cache

TEXT = "a 3 4\nb 0 0\nc -1 0\n"


@pytest.fixture(autouse=True)
def cache_small_files(monkeypatch):
    monkeypatch.setattr(cache, "SMALLEST", 0)


@pytest.fixture
def reads(monkeypatch):
    """Every reading of a file, as opposed to its copy."""
    from kernelwood.vectors import word_vectors

    made = []

    class CountedFeed(word_vectors.Feed):
        def __init__(self, path, progress=None):
            made.append(path)
            super().__init__(path, progress)

    monkeypatch.setattr(word_vectors, "Feed", CountedFeed)
    return made


def entries(cache_root: Path) -> list[Path]:
    return sorted((cache_root / "vectors").iterdir())


def is_mapped(vectors: Vectors) -> bool:
    return isinstance(vectors.matrix.base, np.memmap)


def test_the_second_load_does_not_read_the_file(put, reads):
    path = put(TEXT)
    first, second = Vectors.load(path), Vectors.load(path)
    assert len(reads) == 1
    assert first == second and is_mapped(second)
    assert second.rows(["a", "b", "c"]).tolist() == [0, -1, 2]


def test_mapped_vectors_are_read_only_like_others(put):
    path = put(TEXT)
    Vectors.load(path)
    matrix = Vectors.load(path).matrix
    assert type(matrix) is np.ndarray and not matrix.flags.writeable


def test_a_copy_keeps_words_of_every_kind(put, reads):
    path = put("a\u2028b 1 2\nstraße 3 4\n. . . 5 6\r\n")
    first = Vectors.load(path)
    assert Vectors.load(path).words == first.words == ("a\u2028b", "straße", ". . .")
    assert len(reads) == 1


def test_without_cache_nothing_is_kept_or_used(put, reads, cache_root):
    path = put(TEXT)
    Vectors.load(path, cache=False)
    assert not cache_root.exists()
    Vectors.load(path)
    assert not is_mapped(Vectors.load(path, cache=False))
    assert len(reads) == 3


def test_small_files_are_not_kept(put, cache_root, monkeypatch):
    monkeypatch.setattr(cache, "SMALLEST", len(TEXT) + 1)
    Vectors.load(put(TEXT))
    assert not cache_root.exists()


def test_a_changed_file_is_read_again(put, reads, cache_root):
    Vectors.load(put(TEXT))
    path = put("x 1 2\n")
    assert Vectors.load(path).words == ("x",)
    assert len(reads) == 2
    assert len(entries(cache_root)) == 1


def test_a_file_of_the_same_size_with_another_time_is_read_again(put, reads):
    path = put(TEXT)
    Vectors.load(path)
    os.utime(path, ns=(1, 1))
    Vectors.load(path)
    assert len(reads) == 2


def test_raw_and_normalized_copies_stand_side_by_side(put, reads, cache_root):
    path = put(TEXT)
    for _ in range(2):
        raw, unit = Vectors.load(path, normalize=False), Vectors.load(path)
        assert raw["a"].tolist() == [3, 4]
        assert np.allclose(unit["a"], [0.6, 0.8])
    assert len(reads) == 2 and len(entries(cache_root)) == 2


def test_a_forced_format_has_its_own_copy(put, reads):
    path = put("2 1\n3 2\n4 3\n")
    assert len(Vectors.load(path)) == 2
    assert len(Vectors.load(path, format="glove")) == 3
    assert len(Vectors.load(path)) == 2
    assert len(reads) == 2


def test_lowercase_needs_no_copy_of_its_own(put, reads):
    path = put(TEXT)
    Vectors.load(path)
    assert Vectors.load(path, lowercase=True).row("A") == 0
    assert len(reads) == 1


def test_a_link_shares_the_copy_of_its_file(put, reads, tmp_path):
    path = put(TEXT)
    link = tmp_path / "link"
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("no links here")
    Vectors.load(path)
    Vectors.load(link)
    assert len(reads) == 1


def test_copies_of_other_files_stay(put, cache_root):
    other = put("x 1\n", "other.txt")
    Vectors.load(other)
    Vectors.load(put(TEXT))
    Vectors.load(put("y 1\n"))
    assert len(entries(cache_root)) == 2


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def fill_with_noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)))


@pytest.mark.parametrize("damage", [cut, empty, fill_with_noise, Path.unlink])
@pytest.mark.parametrize("file", ["matrix.npy", "words.txt", "about.json"])
def test_a_damaged_copy_is_made_again(file, damage, put, reads, cache_root, caplog):
    path = put(TEXT)
    expected = Vectors.load(path, cache=False)
    Vectors.load(path)
    [entry] = entries(cache_root)
    damage(entry / file)
    reads.clear()
    with caplog.at_level(logging.WARNING, "kernelwood"):
        assert Vectors.load(path) == expected
    assert "are not used" in caplog.text
    assert is_mapped(Vectors.load(path)) and len(reads) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"zeros": [7]},
        {"zeros": [-1]},
        {"zeros": "all"},
        {"zeros": [[0]]},
        {"key": None},
        {"checksum": 0},
    ],
)
def test_a_copy_with_a_wrong_description_is_made_again(change, put, reads, cache_root):
    path = put(TEXT)
    Vectors.load(path)
    about = entries(cache_root)[0] / "about.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | change))
    assert Vectors.load(path).rows(["a", "b"]).tolist() == [0, -1]
    assert len(reads) == 2


@pytest.mark.parametrize(
    "matrix",
    [np.ones((3, 2)), np.ones((2, 2), np.float32), np.asfortranarray(np.ones((3, 2), np.float32))],
    ids=["double", "short", "columns"],
)
def test_a_copy_with_another_matrix_is_made_again(matrix, put, cache_root):
    path = put(TEXT)
    expected = Vectors.load(path)
    file = entries(cache_root)[0] / "matrix.npy"
    file.unlink()
    np.save(file, matrix)
    assert Vectors.load(path) == expected


def test_a_cache_that_cannot_be_written_is_only_logged(put, monkeypatch, tmp_path, caplog):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    monkeypatch.setenv("KERNELWOOD_CACHE", str(blocked))
    with caplog.at_level(logging.WARNING, "kernelwood"):
        assert len(Vectors.load(put(TEXT))) == 3
    assert "are not cached" in caplog.text


def test_a_full_disk_leaves_no_trace(put, monkeypatch, cache_root):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.np, "save", fail)
    assert len(Vectors.load(put(TEXT))) == 3
    assert entries(cache_root) == []


def test_a_file_that_changes_while_it_is_read_is_not_kept(put, cache_root):
    path = put(TEXT)
    Vectors.load(path, progress=lambda *_: os.utime(path, ns=(5, 5)))
    assert not cache_root.exists()


def test_what_was_never_completed_is_removed_after_a_day(put, cache_root):
    Vectors.load(put(TEXT))
    old, new = (cache_root / "vectors" / f"{name}.partial" for name in ("old", "new"))
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (1, 1))
    Vectors.load(put("x 1\n"))
    assert new.exists() and not old.exists()


def test_vectors_outlive_their_copy(put):
    path = put(TEXT)
    Vectors.load(path)
    mapped = Vectors.load(path)
    put("x 1 2\n")
    Vectors.load(path)
    assert np.allclose(mapped["a"], [0.6, 0.8])


def test_many_may_load_the_same_file_at_once(put, cache_root):
    path = put("".join(f"w{i} {i + 1} 1\n" for i in range(2000)))
    expected = Vectors.load(path, cache=False)
    start = threading.Barrier(8)
    found = []

    def load():
        start.wait()
        found.append(Vectors.load(path))

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(vectors == expected for vectors in found)
    assert len(entries(cache_root)) == 1


def test_the_folder_is_where_the_platform_keeps_such_files(monkeypatch, tmp_path):
    monkeypatch.delenv("KERNELWOOD_CACHE")
    assert "kernelwood" in cache.cache_folder().parts and cache.cache_folder().name == "vectors"
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert cache.cache_folder() == tmp_path / "xdg" / "kernelwood" / "vectors"
