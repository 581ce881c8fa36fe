"""Cache of word vectors, as files that are mapped into memory.

An entry is a folder with the matrix, the words and a description. It gets its name only when it is
complete, and never changes. If an entry is damaged or missing, the vectors are read from their file
again: the cache may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
import time
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import platformdirs

from kernelwood.vectors.vector_files import Loaded
from kernelwood.vectors.vector_formats import DAMAGED

logger = logging.getLogger("kernelwood")

SMALLEST = 1 << 20  # bytes of a file below which reading it is as fast as reading its copy
_VARIABLE = "KERNELWOOD_CACHE"
_VERSION = 2  # of the content of entries
_DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Key:
    """Identity of a cache entry.

    Attributes
    ----------
    source : str
        Absolute path of the file, without links.
    size, mtime_ns : int
        Size and modification time of the file.
    format : str or None
        The ``format`` argument.
    normalize : bool
        Whether rows have length 1.
    version : int
        Version of the cache.
    """

    source: str
    size: int
    mtime_ns: int
    format: str | None
    normalize: bool
    version: int = _VERSION

    @classmethod
    def of(cls, path: Path, format: str | None, normalize: bool) -> Key:
        """Return the key of a file in its present state."""
        source = path.resolve()
        status = source.stat()
        return cls(str(source), status.st_size, status.st_mtime_ns, format, normalize)

    @property
    def family(self) -> str:
        """The prefix of the names of all entries of this file."""
        return _digest(self.source)

    @property
    def state(self) -> str:
        """The prefix of the names of the entries of the file in its present state."""
        return f"{self.family}-{_digest(f'{self.size} {self.mtime_ns} {self.version}')}"

    @property
    def name(self) -> str:
        """The name of the entry."""
        return f"{self.state}-{self.format or 'any'}-{'unit' if self.normalize else 'raw'}"


def cache_folder() -> Path:
    """Return the folder of the entries, which need not exist.

    It is in ``$KERNELWOOD_CACHE`` if that is set, else in the cache folder of the platform.
    """
    named = os.environ.get(_VARIABLE)
    if named:
        return Path(named).expanduser() / "vectors"
    return Path(platformdirs.user_cache_path("kernelwood", appauthor=False)) / "vectors"


def fetch(key: Key) -> Loaded | None:
    """Return the copy of a file with its matrix mapped into memory, or None if it is unusable."""
    entry = cache_folder() / key.name
    try:
        if not entry.is_dir():
            return None
        about = json.loads((entry / "about.json").read_text(encoding="utf-8"))
        text = (entry / "words.txt").read_bytes()
        mapped = np.load(entry / "matrix.npy", mmap_mode="r", allow_pickle=False)
        loaded = Loaded(
            tuple(text.decode("utf-8").split("\n")),
            np.asarray(mapped),
            np.array(about["zeros"], dtype=np.int64),
            about["lowercase"],
        )
        if about["key"] != asdict(key) or about["checksum"] != zlib.crc32(text):
            raise ValueError("the entry does not belong to the file")
        _check(loaded)
    except DAMAGED as failure:
        logger.warning("the cached vectors in %s are not used: %s", entry, failure)
        return None
    return loaded


def store(key: Key, loaded: Loaded) -> None:
    """Store a copy of the vectors of a file; log a warning if that fails."""
    temporary = None
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f"{secrets.token_hex(8)}.partial"
        temporary.mkdir()
        _write(temporary, key, loaded)
        _publish(temporary, folder / key.name, key)
        _remove_old(folder, key)
    except OSError as failure:
        logger.warning("the vectors of %s are not cached: %s", key.source, failure)
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _check(loaded: Loaded) -> None:
    matrix, zeros = loaded.matrix, loaded.zeros
    if matrix.dtype != np.float32 or matrix.ndim != 2 or not matrix.flags.c_contiguous:
        raise ValueError("the matrix does not have the form of a stored one")
    if len(loaded.words) != len(matrix) or zeros.ndim != 1:
        raise ValueError("the numbers of words and rows differ")
    if len(zeros) and not 0 <= zeros.min() <= zeros.max() < len(matrix):
        raise ValueError("a marked row does not exist")


def _write(folder: Path, key: Key, loaded: Loaded) -> None:
    text = "\n".join(loaded.words).encode("utf-8")
    about = {
        "key": asdict(key),
        "checksum": zlib.crc32(text),
        "zeros": loaded.zeros.tolist(),
        "lowercase": loaded.lowercase,
    }
    for name in ("matrix.npy", "words.txt", "about.json"):
        with (folder / name).open("xb") as file:
            if name == "matrix.npy":
                np.save(file, loaded.matrix, allow_pickle=False)
            else:
                file.write(text if name == "words.txt" else json.dumps(about).encode("utf-8"))
            file.flush()
            # Otherwise a power failure could leave holes in a file of full size.
            os.fsync(file.fileno())


def _publish(temporary: Path, entry: Path, key: Key) -> None:
    """Give a complete entry its name, unless another process was faster."""
    if entry.exists():
        if fetch(key) is not None:
            return
        shutil.rmtree(entry, ignore_errors=True)
    try:
        temporary.rename(entry)
    except OSError:
        if not entry.exists():
            raise


def _remove_old(folder: Path, key: Key) -> None:
    """Remove entries of earlier states of the file, and abandoned incomplete entries."""
    for entry in folder.glob(f"{key.family}-*"):
        if not entry.name.startswith(f"{key.state}-"):
            shutil.rmtree(entry, ignore_errors=True)
    for partial in folder.glob("*.partial"):
        if partial.stat().st_mtime < time.time() - _DAY:
            shutil.rmtree(partial, ignore_errors=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
