"""What zip and tar archives have in common: names, and what is said of those that are bad.

Whatever is wrong with an archive is a ``ReadError``.
"""

from __future__ import annotations

import errno
import struct
import tarfile
import zipfile
import zlib

from kernelwood.errors import ReadError
from kernelwood.io.containers import Container

__all__ = ["DAMAGE", "Archive", "damaged", "refused", "unreadable"]

_FETCH_AGAIN = 'fetch the archive again, or keep what can be read with errors="skip"'
# What the standard library raises on bad archives, depending on which byte is wrong.
DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RecursionError,
    RuntimeError,
    ValueError,
)


class Archive(Container):
    """Files packed into one; subclasses know how."""

    def title(self, name: str) -> str:
        """Return the names of the archive and the file."""
        return f"{self.name}!{name}"


def damaged(name: str, failure: BaseException, *, hint: str = _FETCH_AGAIN) -> ReadError:
    """Return the error for an archive that the standard library cannot read."""
    why = str(failure) or type(failure).__name__
    return ReadError(f"the archive is damaged or cut off: {why}", path=name, hint=hint)


def unreadable(name: str, failure: OSError) -> Exception:
    """Tell a place outside the archive, which is damage, from a disk that fails."""
    return damaged(name, failure) if failure.errno in (None, errno.EINVAL) else failure


def refused(archive: str, name: str, problem: str) -> ReadError:
    """Return the error for a file whose name, or kind, is not safe."""
    return ReadError(
        f"the name {name[:200]!r} {problem}",
        path=archive,
        hint='such files are not read; errors="skip" passes over them and counts them',
    )
