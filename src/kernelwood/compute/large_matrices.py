"""Matrices in files: those beyond the memory budget, and existing files."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood.compute.config import budget, format_bytes, get_config
from kernelwood.errors import MemoryBudgetError


def allocate_matrix(
    shape: tuple[int, int], dtype: DTypeLike, what: str, instead: str
) -> NDArray[Any]:
    """Return an uninitialized matrix, beyond the memory budget in a temporary file.

    The file is deleted with the array, and by POSIX systems also if the process is killed. Raises
    MemoryBudgetError if the disk has too little free space.

    Parameters
    ----------
    shape, dtype
        As for ``numpy.empty``.
    what : str
        Name of the matrix, the first words of the message.
    instead : str
        Advice to the user.
    """
    n_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if n_bytes <= budget():
        return np.empty(shape, dtype)
    folder = get_config().temp_dir or tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    try:
        if n_bytes > free:
            raise OSError
        with tempfile.TemporaryFile(prefix="kernelwood-", dir=folder) as file:
            _reserve(file.fileno(), n_bytes)
            return np.asarray(np.memmap(file, dtype, "r+", shape=shape))
    except OSError as error:
        reason = f" ({error})" if str(error) else ""
        raise MemoryBudgetError(
            f"{what} needs {format_bytes(n_bytes)}, but the memory budget is "
            f"{format_bytes(budget())}, and the disk of {folder} has {format_bytes(free)} free"
            f"{reason}.\n    {instead}\n    Or choose a folder on another disk: "
            "kw.config_context(temp_dir=...)"
        ) from None


def _reserve(descriptor: int, n_bytes: int) -> None:
    """Give a file its size; where possible, with space on the disk for all of it."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, n_bytes)  # or a full disk would kill the process later
    else:
        os.truncate(descriptor, n_bytes)


def map_matrix(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Return the array in an untrusted ``.npy`` file as a read-only memory map.

    Raises
    ------
    ValueError
        If the file is not an array of numbers in C order, or is shorter than its header says.
    OSError
        If it cannot be read.
    """
    try:
        array = np.lib.format.open_memmap(Path(path), mode="r")
    except OSError:
        raise
    except Exception as failure:  # numpy evaluates headers, which can fail in many ways
        raise ValueError(f"not an array in NumPy's format: {failure}") from failure
    if array.dtype.kind not in "biuf" or not array.flags.c_contiguous:
        raise ValueError(f"an array of {array.dtype} is not an array of numbers in C order")
    return array
