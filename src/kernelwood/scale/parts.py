"""Parts: the results of shards.

A part is a folder ``parts/00012`` with the files that the task writes and ``part.json``: the plan,
size and SHA-256 of each file, and counters. ``parts/00012-00015`` is the result of consecutive
shards that were computed together, a block. A part appears by one rename, so that it is complete or
does not exist, even if a process or a machine stops. ``parts/00012.failed`` is the error of the
last attempt, ``parts/00012.lock`` is locked by the process that works on the shard.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelwood.io import FileInUseError, FileLock, name_problem, named_if_full, sync_folder
from kernelwood.persist import load_json
from kernelwood.scale.plan import Plan, PlanError, hash_file

RECORD = "part.json"
_LARGEST = 1 << 24  # bytes of a record
_SHA = re.compile(r"[0-9a-f]{64}")
_FOLDER = re.compile(r"([0-9]{5,18})(?:-([0-9]{5,18}))?")
_TEMPORARY = re.compile(r"\.([0-9]{5,18})-[0-9a-f]+\.tmp")


@dataclass(frozen=True)
class Part:
    """The result of a shard, or of a block of consecutive shards.

    Attributes
    ----------
    number : int
        Number of the shard, or of the first one.
    folder : Path
    files : dict of str to tuple of int and str
        Size and SHA-256 of each file.
    counters : dict
        Counters of the task.
    seconds : float
        CPU time.
    """

    number: int
    folder: Path
    files: dict[str, tuple[int, str]]
    counters: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def file(self, name: str) -> Path:
        """Return the path of a file of the part.

        Raises
        ------
        PlanError
            If the part does not have it, or it has another size.
        """
        path = self.folder / name
        if name not in self.files:
            raise PlanError(f"the part has no file {name!r}", path=self.folder)
        if not path.is_file() or path.stat().st_size != self.files[name][0]:
            raise _damaged(path)
        return path

    def problems(self) -> list[str]:
        """Return the files that are missing or have changed."""
        found = []
        for name, (size, digest) in self.files.items():
            path = self.folder / name
            if not path.is_file():
                found.append(f"{name} is missing")
            elif path.stat().st_size != size or hash_file(path) != digest:
                found.append(f"{name} has changed")
        return found


def part_folder(plan: Plan, number: int, stop: int | None = None) -> Path:
    """Return the folder of a part, which may not exist.

    Parameters
    ----------
    plan : Plan
    number : int
        Number of the shard, or of the first one of a block.
    stop : int, optional
        Number of the shard after the last one; by default the part is that of one shard.
    """
    if stop is None or stop == number + 1:
        return plan.parts / f"{number:05d}"
    return plan.parts / f"{number:05d}-{stop - 1:05d}"


def lock_part(plan: Plan, number: int) -> FileLock:
    """Lock a shard, so that no other process computes it, until the lock is released.

    Raises
    ------
    FileInUseError
        If another process works on it.
    """
    return FileLock(lock_file(plan, number))


def lock_file(plan: Plan, number: int) -> Path:
    """Return the file of the lock of a shard; a process that is killed does not remove it."""
    return plan.parts / f"{number:05d}.lock"


def is_complete(plan: Plan, number: int) -> bool:
    """Return whether a shard was computed, without reading its part."""
    return (part_folder(plan, number) / RECORD).exists()


def found_parts(plan: Plan) -> list[tuple[int, int]]:
    """Return the parts that were computed, in order: first shard, and the one after the last.

    No shard is in two of them. Processes that work on one plan at the same time may have computed
    a shard twice, alone and in a block; then one of the parts is not used.
    """
    stops: dict[int, int] = {}
    try:
        with os.scandir(plan.parts) as entries:
            for entry in entries:
                if (name := _FOLDER.fullmatch(entry.name)) and entry.is_dir():
                    first = int(name[1])
                    stop = int(name[2] or first) + 1
                    if first < stop <= plan.n_shards:
                        stops[first] = max(stop, stops.get(first, 0))
    except FileNotFoundError:
        pass
    found: list[tuple[int, int]] = []
    for first in sorted(stops):
        if not found or first >= found[-1][1]:
            found.append((first, stops[first]))
    return found


def missing_shards(plan: Plan) -> list[int]:
    """Return the numbers of the shards that were not computed yet."""
    missing: list[int] = []
    at = 0
    for first, stop in [*found_parts(plan), (plan.n_shards, plan.n_shards)]:
        missing += range(at, first)
        at = stop
    return missing


def read_part(plan: Plan, number: int, stop: int | None = None) -> Part | None:
    """Return a part, None if it was not computed yet; its files are not read.

    Parameters
    ----------
    plan : Plan
    number, stop
        As in `part_folder`.

    Raises
    ------
    PlanError
        If the part is damaged, or belongs to another plan.
    """
    folder = part_folder(plan, number, stop)
    path = folder / RECORD
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError:
        if folder.exists():
            raise _damaged(folder) from None
        return None
    try:
        made = load_json(data)
        last = number if stop is None else stop - 1
        if len(data) > _LARGEST or (made["shard"], made.get("last", number)) != (number, last):
            raise ValueError
        if made["plan"] != plan.id:
            raise PlanError(
                "the part belongs to another plan",
                path=folder,
                hint="remove it, or use the plan that it belongs to",
            )
        files = {str(name): (row["bytes"], row["sha256"]) for name, row in made["files"].items()}
        for name, (size, digest) in files.items():
            if name_problem(name) or "/" in name or type(size) is not int or size < 0:
                raise ValueError
            if not _SHA.fullmatch(digest):
                raise ValueError
        counters, seconds = made["counters"], float(made["seconds"])
        if not isinstance(counters, dict) or not all(map(_is_counter, counters.values())):
            raise ValueError
    except PlanError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as failure:
        raise _damaged(path) from failure
    return Part(number, folder, files, counters, seconds)


def _is_counter(value: Any) -> bool:
    """Return whether a counter is a plain value, or numbers by name."""
    if isinstance(value, dict):
        return all(type(number) is int for number in value.values())
    return value is None or type(value) in (bool, int, float, str)


def _damaged(path: Path) -> PlanError:
    return PlanError(
        "the part is damaged", path=path, hint="remove its folder and run the plan again"
    )


def write_part(
    plan: Plan,
    number: int,
    work: Callable[[Path], tuple[dict[str, Any], float]],
    stop: int | None = None,
) -> Part:
    """Write a part; it appears when it is complete.

    Parameters
    ----------
    plan : Plan
    number, stop
        As in `part_folder`; the caller has locked the first shard.
    work : callable
        Writes files into a folder, and returns counters and seconds.
    """
    target = part_folder(plan, number, stop)
    last = number if stop is None else stop - 1
    temporary = plan.parts / f".{number:05d}-{secrets.token_hex(6)}.tmp"
    try:
        with named_if_full(target):
            temporary.mkdir()
            counters, seconds = work(temporary)
            files = {path.name: _synced(path) for path in sorted(temporary.iterdir())}
            record = {
                "plan": plan.id,
                "shard": number,
                **({} if last == number else {"last": last}),
                "files": {
                    name: {"bytes": size, "sha256": digest}
                    for name, (size, digest) in files.items()
                },
                "counters": counters,
                "seconds": round(seconds, 3),
            }
            with (temporary / RECORD).open("xb") as file:
                file.write(json.dumps(record, indent=1, ensure_ascii=False).encode())
                file.flush()
                os.fsync(file.fileno())
            sync_folder(temporary)
            _appear(temporary, target)
            sync_folder(plan.parts)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    for one in range(number, last + 1):
        failure_file(plan, one).unlink(missing_ok=True)
    return Part(number, target, files, counters, seconds)


def _appear(temporary: Path, target: Path) -> None:
    try:
        temporary.rename(target)
    except OSError as failure:
        if failure.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        # A process on a machine that does not see the lock was faster: its bytes are the same.
        shutil.rmtree(temporary, ignore_errors=True)


def remove_remains(plan: Plan, numbers: Container[int]) -> None:
    """Remove the files that killed processes have left, of shards that are not locked."""
    try:
        with os.scandir(plan.parts) as entries:
            names = [name for entry in entries if (name := _TEMPORARY.fullmatch(entry.name))]
    except FileNotFoundError:
        return
    for name in names:
        if int(name[1]) in numbers:
            with suppress(FileInUseError), lock_part(plan, int(name[1])):
                shutil.rmtree(plan.parts / name[0], ignore_errors=True)


def _synced(path: Path) -> tuple[int, str]:
    """Return size and hash of a file after it is on the disk."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
        os.fsync(file.fileno())
        return file.tell(), digest.hexdigest()


# Failures.


def failure_file(plan: Plan, number: int) -> Path:
    """Return the path of the error of a shard, which may not exist."""
    return plan.parts / f"{number:05d}.failed"


def note_failure(plan: Plan, number: int, message: str) -> None:
    """Keep the error of a shard, for the status; errors of writing it are ignored."""
    with suppress(OSError):
        failure_file(plan, number).write_text(message, encoding="utf-8", errors="replace")


def failures(plan: Plan) -> dict[int, str]:
    """Return the last error of each shard that failed."""
    found = {}
    for path in plan.parts.glob("*.failed"):
        if path.stem.isdigit() and not is_complete(plan, int(path.stem)):
            found[int(path.stem)] = path.read_text(encoding="utf-8", errors="replace")[:10_000]
    return dict(sorted(found.items()))
