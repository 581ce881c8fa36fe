"""Matrices beyond the memory budget, in temporary files."""

from __future__ import annotations

import os
import shutil
import tempfile
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
