"""A search that is broken off and goes on later: every decision in a file, as it is made."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from kernelwood import __version__
from kernelwood.errors import KernelwoodError

__all__ = ["Checkpoint", "CheckpointError", "fingerprint", "open_checkpoint"]

_KIND = "kernelwood learn-gates"


class CheckpointError(KernelwoodError, ValueError):
    """A file is no checkpoint of this search."""


class Checkpoint:
    """Decisions that were made earlier, and a place for new ones.

    Parameters
    ----------
    earlier : list of dict
        Decisions that the file holds already.
    file : binary file
        Where new ones go.
    """

    def __init__(self, earlier: list[dict[str, Any]], file: IO[bytes]) -> None:
        self.earlier = earlier
        self._file = file
        self.added = 0

    def add(self, decision: dict[str, Any]) -> None:
        """Write a decision; once this returns, the end of the program does it no harm."""
        self._file.write(_line(decision))
        self._file.flush()
        self.added += 1


@contextmanager
def open_checkpoint(path: str | os.PathLike[str], settings: dict[str, Any]) -> Iterator[Checkpoint]:
    """Open a checkpoint of a search with these settings, which begins if the file is not there.

    The file has a line with the settings, then one for each decision. A last line that was cut is
    dropped.

    Raises
    ------
    CheckpointError
        If the file is of a search with other settings, or no checkpoint.
    """
    target = Path(path)
    first = _line({"checkpoint": _KIND, "version": __version__, **settings})
    if target.exists() and not target.is_file():
        raise CheckpointError(f"{target}: this is a folder or a device; give the name of a file")
    data = target.read_bytes() if target.exists() else b""
    # Cut in the first line it holds nothing yet; anything else there is not ours to overwrite.
    begins = len(data) < len(first) and first.startswith(data)
    earlier, whole = ([], 0) if begins else _parse(target, data, json.loads(first))
    with target.open("wb" if begins else "r+b") as file:
        if begins:
            file.write(first)
            file.flush()
        else:
            file.truncate(whole)
            file.seek(whole)
        yield Checkpoint(earlier, file)


def _parse(path: Path, data: bytes, expected: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """Return the decisions in a file, and how many bytes its whole lines have."""
    header, *lines, rest = data.split(b"\n") if b"\n" in data else (data, b"")
    _compare(path, _object(header), expected)
    decisions = []
    for number, line in enumerate(lines, start=2):
        decision = _object(line)
        if decision is None:
            raise CheckpointError(
                f"{path}:{number}: this is no decision; the file was damaged: delete it to begin "
                "anew, or cut it before this line"
            )
        decisions.append(decision)
    return decisions, len(data) - len(rest)


def _compare(path: Path, found: dict[str, Any] | None, expected: dict[str, Any]) -> None:
    if found is None or found.get("checkpoint") != _KIND:
        raise CheckpointError(
            f"{path}: this is no checkpoint of learn-gates; give --checkpoint another name"
        )
    before, now = _flat(found), _flat(expected)
    differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if differing:
        told = "; ".join(_difference(name, before, now) for name in differing)
        raise CheckpointError(
            f"{path}: the checkpoint is of another search: {told}. Call it with the same data and "
            "options, or give --checkpoint another name to begin anew"
        )


def _difference(name: str, before: dict[str, Any], now: dict[str, Any]) -> str:
    if name.endswith("sha256"):
        return f"{name.removesuffix('_sha256')} differs"
    return f"{name} was {before.get(name)!r}, is {now.get(name)!r}"


def _flat(header: dict[str, Any]) -> dict[str, Any]:
    nested = header.get("settings")
    rest = {name: value for name, value in header.items() if name != "settings"}
    return {**rest, **nested} if isinstance(nested, dict) else header


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:  # no JSON, or no UTF-8
        return None
    return value if isinstance(value, dict) else None


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode("ascii") + b"\n"


def fingerprint(model: Any) -> str:
    """Return a checksum of anything that can be saved: equal if, and only if, its content is.

    Examples
    --------
    >>> import kernelwood as kw
    >>> kernel = kw.SubsequenceKernel(decay=0.5)
    >>> fingerprint(kernel) == fingerprint(kernel.clone())
    True
    >>> fingerprint(kernel) == fingerprint(kw.SubsequenceKernel(decay=0.6))
    False
    """
    from kernelwood import save

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.kw")
        save(model, path)
        # It has the checksums of all else, and is the same however the file is compressed.
        with zipfile.ZipFile(path) as archive:
            return hashlib.sha256(archive.read("manifest.json")).hexdigest()
