"""Temporary names of files and folders that are being written, and writing them to the disk.

While ``found.jsonl`` is written, it is called ``.kernelwood-5f0c61d2-0.tmp``, in the same folder.
The letters are a hash of its name, the number tells processes that write the same file apart. Each
holds a lock on its own, which the system releases when the process ends, even if killed. One that
is not locked was left behind by a process that was killed; the next process that writes the same
file or folder removes it.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from hashlib import sha256
from itertools import count
from pathlib import Path

from kernelwood.io.locks import try_lock

_PROCESSES = 8  # that write the same file at the same time, and were killed
# Folders that cannot be synchronized: file systems without this, folders without the right to read.
_NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM)


def temporary_name(target: Path, number: int = 0) -> Path:
    """Return a temporary name for a file or folder, beside it.

    Examples
    --------
    >>> temporary_name(Path("work/found.jsonl")).as_posix()
    'work/.kernelwood-19e11eb1-0.tmp'
    """
    name = sha256(os.fsencode(target.name)).hexdigest()[:8]
    return target.with_name(f".kernelwood-{name}-{number}.tmp")


def create_temporary(target: Path, *, folder: bool = False) -> tuple[Path, int | None]:
    """Create an empty file, or a folder, that is to become ``target``.

    Temporary files and folders of ``target`` whose process was killed are removed.

    Returns
    -------
    path : Path
    descriptor : int or None
        Holds the lock until it is closed; None for folders on Windows, which cannot be locked.

    Raises
    ------
    OSError
        If it cannot be created.
    """
    for number in range(_PROCESSES):
        _remove_unlocked(temporary_name(target, number))
    numbers = count()
    while True:
        path = temporary_name(target, next(numbers))
        try:
            descriptor = _create_folder(path) if folder else _create_file(path)
        except FileExistsError:  # of another process that is at work
            continue
        except FileNotFoundError:
            if not path.parent.is_dir():
                raise
            continue
        # Between creation and locking, another process may take it for one that was left behind.
        if descriptor is None or (try_lock(descriptor) is not False and _is_at(path, descriptor)):
            return path, descriptor
        os.close(descriptor)


def remove_folder(folder: Path, target: Path) -> None:
    """Remove a folder; an interruption leaves all of it, or a temporary folder of ``target``."""
    temporary, descriptor = create_temporary(target, folder=True)
    try:
        folder.rename(temporary / folder.name)
        shutil.rmtree(temporary)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _create_file(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, 0o666)


def _create_folder(path: Path) -> int | None:
    path.mkdir()
    return None if sys.platform == "win32" else os.open(path, os.O_RDONLY)


def _remove_unlocked(path: Path) -> None:
    """Remove a temporary file or folder, unless a process holds its lock, or it cannot be known."""
    try:
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            return
        descriptor = os.open(path, os.O_RDONLY if stat.S_ISDIR(mode) else os.O_RDWR)
    except OSError:  # it does not exist, or belongs to another user
        return
    try:
        if try_lock(descriptor) and _is_at(path, descriptor):
            if stat.S_ISDIR(mode):
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
    except OSError:  # an open file cannot be removed on Windows
        pass
    finally:
        os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Return whether an open file or folder still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


# The disk.


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can do this."""
    if sys.platform == "win32":
        return
    try:
        _sync(folder)
    except OSError as failure:
        if failure.errno not in _NOT_SYNCED:
            raise


def sync_tree(folder: Path) -> None:
    """Wait until a folder is on the disk, with all files and folders in it."""
    for path, _, names in os.walk(folder, topdown=False):
        for name in names:
            _sync(Path(path, name))
        sync_folder(Path(path))


def _sync(path: Path) -> None:
    # Windows does not write files to the disk that are open for reading only.
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
