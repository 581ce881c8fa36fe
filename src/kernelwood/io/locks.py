"""Locks of the operating system on files, which end with the process that holds them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType


class FileInUseError(BlockingIOError):
    """A lock is held by another process, or by another object of this process.

    Attributes
    ----------
    holder : str
        ``"process 123"``, or ``"another process"`` if the number is not known.
    """

    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(f"{path} is in use by {holder}")
        self.holder = holder


class FileLock:
    """A lock on a file, which is created for it and contains the number of the process.

    The system releases the lock when the process ends, even if it is killed.

    Parameters
    ----------
    path : Path
        The lock file, not the file that it protects.

    Raises
    ------
    FileInUseError
        If the lock is held already.
    OSError
        If the file cannot be created.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "work.lock")
    ...     with FileLock(path):
    ...         path.exists()
    ...     path.exists()
    True
    False
    """

    def __init__(self, path: Path) -> None:
        self._file = path
        self._descriptor: int | None = self._acquire()

    def _acquire(self) -> int:
        while True:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if not _lock(descriptor):
                    raise FileInUseError(self._file, _holder(descriptor))
                if self._is_current(descriptor):
                    with suppress(OSError):  # the disk is full: the lock is held nevertheless
                        os.ftruncate(descriptor, 0)
                        os.write(descriptor, str(os.getpid()).encode())
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # the last holder has removed the file meanwhile

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._file.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Release the lock and remove its file; without effect if it was released."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                self._file.unlink(missing_ok=True)
            except OSError:  # an open file cannot be removed on Windows
                pass
            finally:
                os.close(descriptor)

    def __enter__(self) -> FileLock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _holder(descriptor: int) -> str:
    try:
        number = os.pread(descriptor, 20, 0) if hasattr(os, "pread") else b""
    except OSError:
        number = b""
    return f"process {number.decode()}" if number.isdigit() else "another process"


def try_lock(descriptor: int) -> bool | None:
    """Lock an open file until it is closed, or a folder.

    Returns
    -------
    bool or None
        Whether the lock is held now; None if the file system has no locks.
    """
    try:
        return _lock(descriptor)
    except OSError:
        return None


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)  # beyond the process id, which others read
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
