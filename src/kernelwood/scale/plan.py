"""Plans: a command over inputs of any size, cut into shards.

A plan is a folder that describes work completely, apart from the inputs themselves::

    plan.json      command, options, versions, hashes of the files below, list of shards
    shards.jsonl   the segments of the inputs that each shard reads, a line for each shard
    files/         copies of the model and of the list of terms
    parts/         results, a folder for each finished shard or block (`kernelwood.scale.parts`)

A shard is computed from the plan and its number alone, on any machine that can read the inputs, and
always gives the same bytes. A plan never changes after it was made.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from kernelwood import __version__
from kernelwood.errors import KernelwoodError, printable
from kernelwood.io import Segment, new_folder
from kernelwood.persist import load_json
from kernelwood.structures import shorten

FORMAT = 1  # version of the folder
PLAN, SHARDS, FILES, PARTS = "plan.json", "shards.jsonl", "files", "parts"
MAX_SHARDS = 10_000  # schedulers slow down with more tasks
_LARGEST = 1 << 28  # bytes of plan.json, and of a line of shards.jsonl
_COPY = 1 << 20  # bytes
_MOST_SEGMENTS = 20_000  # of a shard: small files
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,99}")
_SHA = re.compile(r"[0-9a-f]{64}")
_WORK = {
    "command": str,
    "options": dict,
    "inputs": list,
    "base": str,
    "cut": dict,
    "input_files": dict,
}


class PlanError(KernelwoodError, ValueError):
    """A plan cannot be read, made or used.

    Parameters
    ----------
    problem : str
        What is wrong, in one sentence.
    path : str or PathLike, optional
        The plan, or the affected file of it.
    hint : str, optional
        How to fix it.
    """

    def __init__(
        self, problem: str, *, path: str | os.PathLike[str] | None = None, hint: str | None = None
    ) -> None:
        self.problem, self.path, self.hint = problem, path, hint
        where = "" if path is None else f"{printable(os.fspath(path), lines=False)}: "
        told = printable(problem) + (f"\n    {printable(hint)}" if hint else "")
        super().__init__(where + told)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.problem, self.path, self.hint))


def _rebuild(problem: str, path: str | None, hint: str | None) -> PlanError:
    return PlanError(problem, path=path, hint=hint)


@dataclass(frozen=True)
class Shard:
    """A part of the work.

    Attributes
    ----------
    number : int
        From 0.
    segments : tuple of Segment
        Consecutive parts of the inputs.
    rows : tuple of two ints, optional
        Range of rows, if the work is about a matrix of structures that are in the plan.
    """

    number: int
    segments: tuple[Segment, ...] = ()
    rows: tuple[int, int] | None = None

    @property
    def size(self) -> int:
        """Number of bytes to read, or of rows."""
        if self.rows is not None:
            return self.rows[1] - self.rows[0]
        return sum(one.stop - one.start for one in self.segments)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        made: dict[str, Any] = {"shard": self.number}
        if self.rows is None:
            return {**made, "segments": [one.to_dict() for one in self.segments]}
        return {**made, "rows": list(self.rows)}

    @classmethod
    def from_dict(cls, made: Any) -> Shard:
        """Return the shard of JSON values; ``ValueError`` if they do not describe a shard."""
        if not isinstance(made, dict) or type(made.get("shard")) is not int:
            raise ValueError("not a shard")
        if "rows" not in made:
            return cls(made["shard"], tuple(Segment.from_dict(one) for one in made["segments"]))
        start, stop = made["rows"]
        if type(start) is not int or type(stop) is not int or not 0 <= start < stop:
            raise ValueError("not a range of rows")
        return cls(made["shard"], (), (start, stop))


@dataclass(frozen=True)
class Plan:
    """A command over inputs, cut into shards.

    Attributes
    ----------
    folder : Path
    work : dict
        ``command``, a name in `kernelwood.scale.TASKS`; its ``options``; ``inputs`` as they were
        given; ``base``, the folder to which their paths are relative; ``cut``, the settings of
        cutting; ``input_files``, the files that were found.
    files : dict of str to str
        SHA-256 of the copied files, by name.
    sizes : list of int
        Number of bytes that each shard reads.
    offsets : list of int
        Start of the line of each shard in ``shards.jsonl``, in bytes.
    versions : dict of str to str
    id : str
        SHA-256 of ``plan.json``; parts name the plan that they belong to.
    """

    folder: Path
    work: dict[str, Any]
    files: dict[str, str]
    sizes: list[int]
    offsets: list[int]
    versions: dict[str, str]
    id: str

    @property
    def command(self) -> str:
        """Name of the command."""
        return str(self.work["command"])

    @property
    def options(self) -> dict[str, Any]:
        """Options of the command that differ from the defaults."""
        return dict(self.work["options"])

    @property
    def base(self) -> str:
        """Folder to which the paths of inputs are relative."""
        return str(self.work["base"])

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self.sizes)

    @property
    def parts(self) -> Path:
        """Folder of the results."""
        return self.folder / PARTS

    def shard(self, number: int) -> Shard:
        """Return a shard.

        Raises
        ------
        PlanError
            If there is no such shard, or its line is damaged.
        """
        if not 0 <= number < self.n_shards:
            raise PlanError(
                f"there is no shard {number}; shards are numbered from 0 to {self.n_shards - 1}",
                path=self.folder,
            )
        path = self.folder / SHARDS
        try:
            with path.open("rb") as file:
                file.seek(self.offsets[number])
                line = file.readline(_LARGEST)
            found = Shard.from_dict(load_json(line))
            if found.number != number:
                raise ValueError("another shard")
            return found
        except (ValueError, KeyError, TypeError) as failure:
            raise PlanError(
                f"the line of shard {number} is damaged", path=path, hint="make the plan again"
            ) from failure

    def block(self, number: int, stop: int) -> Shard:
        """Return consecutive shards as one, which has the number of the first."""
        shards = [self.shard(one) for one in range(number, stop)]
        if len(shards) == 1:
            return shards[0]
        return Shard(number, tuple(segment for one in shards for segment in one.segments))

    def file(self, name: str) -> Path:
        """Return the path of a copied file, whose hash is checked.

        Raises
        ------
        PlanError
            If it has changed since the plan was made.
        """
        path = self.folder / FILES / name
        if name not in self.files:
            raise PlanError(
                "the plan does not list this file", path=path, hint="make the plan again"
            )
        if not path.is_file() or hash_file(path) != self.files[name]:
            state = "has changed" if path.is_file() else "is missing"
            raise PlanError(
                f"the file {state} since the plan was made",
                path=path,
                hint="make a new plan with the changed file",
            )
        return path

    def check_version(self) -> None:
        """Raise `PlanError` if the plan was made by another version of kernelwood."""
        made = self.versions.get("kernelwood")
        if made != __version__:
            raise PlanError(
                f"the plan was made by kernelwood {made}, this is {__version__}; results of "
                "several versions must not be mixed",
                path=self.folder,
                hint=f"install kernelwood {made} here, or make a new plan",
            )


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_COPY):
            digest.update(chunk)
    return digest.hexdigest()


# Reading.


def open_plan(folder: str | os.PathLike[str]) -> Plan:
    """Return the plan in a folder.

    Raises
    ------
    PlanError
        If the folder does not contain a plan, or it is damaged.
    """
    path = Path(folder)
    file = path / PLAN
    try:
        with file.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
    except FileNotFoundError:
        raise PlanError(
            "the folder does not contain a plan" if path.is_dir() else "the folder does not exist",
            path=path,
            hint="kernelwood shards plan makes one",
        ) from None
    except NotADirectoryError:
        raise PlanError("a plan is a folder, not a file", path=path) from None
    try:
        if len(data) > _LARGEST:
            raise ValueError("the file is too large")
        made = load_json(data)
        _check_format(made, file)
        return _plan_of(path, made, hashlib.sha256(data).hexdigest())
    except (ValueError, KeyError, TypeError) as failure:
        if isinstance(failure, PlanError):
            raise
        raise PlanError(
            f"the file is damaged: {failure}", path=file, hint="make the plan again"
        ) from failure


def _check_format(made: Any, file: Path) -> None:
    if not isinstance(made, dict) or "format" not in made:
        raise ValueError("it is not a plan")
    if type(made["format"]) is not int or made["format"] < 1:
        raise ValueError("its format is not a number")
    if made["format"] > FORMAT:
        raise PlanError(
            f"the plan has format {made['format']}, which is newer than this kernelwood reads",
            path=file,
            hint="update kernelwood",
        )


def _plan_of(folder: Path, made: Mapping[str, Any], digest: str) -> Plan:
    work = {name: made[name] for name in _WORK}
    for name, kind in _WORK.items():
        if type(work[name]) is not kind:
            raise ValueError(f"{name} has an invalid value")
    if not all(type(one) is str for one in work["inputs"]):
        raise ValueError("inputs must be strings")
    files, versions = made["files"], made["versions"]
    if type(files) is not dict or type(versions) is not dict:
        raise ValueError("files and versions must be objects")
    for name, value in files.items():
        if not _NAME.fullmatch(name) or not isinstance(value, str) or not _SHA.fullmatch(value):
            raise ValueError(f"{name!r} is not a file with a hash")
    sizes, offsets = _numbers(made, "sizes"), _numbers(made, "offsets")
    if len(sizes) != len(offsets) or not sizes:
        raise ValueError("sizes and offsets must have a number for each shard")
    if any(a >= b for a, b in pairwise(offsets)):
        raise ValueError("offsets must rise")
    return Plan(folder, work, files, sizes, offsets, versions, digest)


def _numbers(made: Mapping[str, Any], name: str) -> list[int]:
    listed = made[name]
    if not isinstance(listed, list) or not all(type(one) is int and one >= 0 for one in listed):
        raise ValueError(f"{name} must be numbers")
    return list(listed)


# Writing.


def write_plan(
    folder: str | os.PathLike[str],
    shards: Iterable[Shard],
    work: Mapping[str, Any],
    files: Mapping[str, str | os.PathLike[str]],
) -> Plan:
    """Write a plan to a new folder, which appears when it is complete.

    Parameters
    ----------
    folder : str or PathLike
        A new or empty folder.
    shards : iterable of Shard
        Written one by one, so they need not fit in memory.
    work : mapping
        As in `Plan`; JSON values.
    files : mapping of str to path
        Files to copy, by their names in the plan.

    Raises
    ------
    PlanError
        If there are no shards.
    FileExistsError
        If the folder exists and is not empty.
    """
    with new_folder(folder) as temporary:
        (temporary / FILES).mkdir()
        (temporary / PARTS).mkdir()
        sizes, offsets = _write_shards(temporary / SHARDS, shards)
        if not sizes:
            raise PlanError("the inputs are empty", path=shorten(", ".join(work["inputs"])))
        hashes = {name: _copied(path, temporary / FILES / name) for name, path in files.items()}
        made = {
            "format": FORMAT,
            **work,
            "files": hashes,
            "versions": versions(),
            "n_shards": len(sizes),
            "sizes": sizes,
            "offsets": offsets,
        }
        data = json.dumps(made, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        _write_synced(temporary / PLAN, data.encode("utf-8", "surrogateescape"))
    return open_plan(folder)


def versions() -> dict[str, str]:
    """Return the versions that may matter for results."""
    import platform

    import numpy as np

    return {
        "kernelwood": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _copied(source: str | os.PathLike[str], target: Path) -> str:
    digest = hashlib.sha256()
    with Path(source).open("rb") as read, target.open("xb") as write:
        while chunk := read.read(_COPY):
            digest.update(chunk)
            write.write(chunk)
        write.flush()
        os.fsync(write.fileno())
    return digest.hexdigest()


def _write_shards(path: Path, shards: Iterable[Shard]) -> tuple[list[int], list[int]]:
    sizes: list[int] = []
    offsets: list[int] = []
    with path.open("xb") as file:
        for shard in shards:
            offsets.append(file.tell())
            sizes.append(shard.size)
            line = json.dumps(shard.to_dict(), ensure_ascii=False, separators=(",", ":")) + "\n"
            file.write(line.encode("utf-8", "surrogateescape"))
        file.flush()
        os.fsync(file.fileno())
    return sizes, offsets


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def group_segments(segments: Iterable[Segment], size: int) -> Iterator[Shard]:
    """Yield shards of consecutive segments, of about ``size`` bytes each.

    Examples
    --------
    >>> def segment(start, stop):
    ...     return Segment("a.jsonl", (), "a", "jsonl", start, stop, 1, 0, "0" * 64, False)
    >>> shards = group_segments([segment(0, 5), segment(5, 9), segment(9, 20)], 10)
    >>> [(shard.number, shard.size, len(shard.segments)) for shard in shards]
    [(0, 9, 2), (1, 11, 1)]

    Parts of Parquet tables, whose sizes in bytes are not known, are shards of their own.
    """
    group: list[Segment] = []
    number = total = 0
    for one in segments:
        # Parts of a Parquet table are ranges of rows, and of about the size of a shard.
        rows = one.format == "parquet" and (one.start > 0 or not one.last)
        length = size if rows else one.stop - one.start
        if group and (total + length > size or len(group) == _MOST_SEGMENTS):
            yield Shard(number, tuple(group))
            group, total, number = [], 0, number + 1
        group.append(one)
        total += length
    if group:
        yield Shard(number, tuple(group))
