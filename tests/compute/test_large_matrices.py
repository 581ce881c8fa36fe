"""Matrices beyond the memory budget."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.compute import allocate_matrix
from kernelwood.errors import MemoryBudgetError

SHAPE = (1000, 500)  # 2 MB in single precision


def allocate():
    return allocate_matrix(SHAPE, np.float32, "the matrix", "Use less.")


def is_mapped(array):
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


@pytest.mark.parametrize(("memory", "mapped"), [(2_000_000, False), (1_999_999, True)])
def test_only_matrices_beyond_the_budget_are_in_files(tmp_path, memory, mapped):
    with kw.config_context(memory=memory, temp_dir=tmp_path):
        matrix = allocate()
    assert is_mapped(matrix) == mapped
    assert (matrix.shape, matrix.dtype) == (SHAPE, np.float32)
    assert matrix.flags.c_contiguous and matrix.flags.writeable
    matrix[:] = np.arange(500)
    assert matrix.sum() == 1000 * 499 * 250


@pytest.mark.skipif(os.name == "nt", reason="open files have names on Windows")
def test_a_file_has_no_name_while_it_is_used(tmp_path):
    with kw.config_context(memory=1000, temp_dir=tmp_path):
        matrix = allocate()
    assert is_mapped(matrix) and list(tmp_path.iterdir()) == []


def test_the_folder_is_that_of_the_platform_by_default(monkeypatch, tmp_path):
    asked = []

    def usage(folder):
        asked.append(folder)
        return SimpleNamespace(free=10**9)

    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", usage)
    with kw.config_context(memory=1000):
        allocate()
    assert asked == [str(tmp_path)]


def test_a_disk_without_space_is_named_with_numbers(monkeypatch, tmp_path):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1_500_000))
    message = (
        r"(?s)the matrix needs 2\.0 MB, but the memory budget is 1\.0 kB, and the disk of .* has "
        r"1\.5 MB free\..*Use less\..*temp_dir"
    )
    with (
        kw.config_context(memory=1000, temp_dir=tmp_path),
        pytest.raises(MemoryBudgetError, match=message),
    ):
        allocate()


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="space cannot be reserved")
def test_space_that_is_taken_meanwhile_is_named(monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with (
        kw.config_context(memory=1000, temp_dir=tmp_path),
        pytest.raises(MemoryBudgetError, match="No space left on device"),
    ):
        allocate()
    assert list(tmp_path.iterdir()) == []
