"""Running plans: missing shards, one after the other, in this process or by an engine."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from kernelwood.errors import KernelwoodError
from kernelwood.io import (
    FileInUseError,
    check_parent,
    check_vacant,
    inputs_kept_open,
    new_folder,
)
from kernelwood.scale.parts import (
    Part,
    failures,
    found_parts,
    is_complete,
    lock_part,
    missing_shards,
    note_failure,
    part_folder,
    read_part,
    remove_remains,
    write_part,
)
from kernelwood.scale.plan import Plan, PlanError, hash_file, open_plan
from kernelwood.scale.tasks import Task, Total, find_task, recorded

_SECONDS = 4.0  # of a block; text that is twice as slow as that before it takes less than 10 s
_GROWTH = 2  # at most, of a block compared with the one before
MOST_SHARDS = 8  # of a block


@dataclass
class Run:
    """Result of a run of a plan.

    Attributes
    ----------
    done : list of int
        Shards that were computed now.
    busy : list of int
        Shards that other processes are computing.
    failed : dict of int to str
        Errors by shard.
    """

    done: list[int] = field(default_factory=list)
    busy: list[int] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)


def as_plan(plan: Plan | str | os.PathLike[str]) -> Plan:
    """Return a plan that is given itself or by its folder."""
    return plan if isinstance(plan, Plan) else open_plan(plan)


def run_shard(
    plan: Plan | str | os.PathLike[str], number: int, *, base: str | None = None
) -> dict[str, Any]:
    """Compute a shard, unless its part exists.

    Engines call only this function, with the folder of a plan and a number, in any process that can
    read the inputs and write to the folder. The model is loaded once for each process.

    Parameters
    ----------
    plan : Plan, str or PathLike
    number : int
    base : str, optional
        Folder to which the paths of inputs are relative; by default the one at planning.

    Returns
    -------
    dict
        ``shard``, ``state`` (``"done"``, ``"present"``, or ``"busy"`` if another process computes
        it) and the ``seconds`` of CPU time.

    Raises
    ------
    PlanError
        If the plan was made by another version of kernelwood, or its files have changed.
    KernelwoodError, OSError
        If the input is broken or the result cannot be written. The message is kept for the status.
    """
    plan = as_plan(plan)
    plan.check_version()
    if is_complete(plan, number):
        return {"shard": number, "state": "present", "seconds": 0.0}
    try:
        with lock_part(plan, number):
            if is_complete(plan, number):
                return {"shard": number, "state": "present", "seconds": 0.0}
            try:
                part = _computed(plan, number, base)
            except (KernelwoodError, OSError) as failure:
                note_failure(plan, number, str(failure))
                raise
    except FileInUseError:
        return {"shard": number, "state": "busy", "seconds": 0.0}
    return {"shard": number, "state": "done", "seconds": part.seconds}


def _run_block(plan: Plan, number: int, stop: int, base: str | None) -> str:
    """Compute consecutive shards, of which none is computed; return a state as `run_shard`.

    Only the first is locked, since locks take time. A process that computes another one of them
    at the same time does some work twice.
    """
    try:
        with lock_part(plan, number):
            if any(is_complete(plan, one) for one in range(number, stop)):
                return "present"
            try:
                _computed(plan, number, base, stop)
            except (KernelwoodError, OSError) as failure:
                note_failure(plan, number, str(failure))
                raise
    except FileInUseError:
        return "busy"
    return "done"


class _Blocks:
    """Chooses how many shards are computed together: as many as take some seconds.

    The first block is one shard, since the speed is not known. Each is at most twice as large as
    the one before.

    Parameters
    ----------
    sizes : sequence of int
        Bytes (or rows) of all shards.
    most : int
        Bytes (or rows) of a block; it may be one shard that is larger.
    """

    def __init__(self, sizes: Sequence[int], most: int) -> None:
        self._sizes, self._most = sizes, most
        self._n, self._size = 1, 0.0

    def stop(self, todo: Sequence[int]) -> int:
        """Return the end of a block that begins with the first of some shards."""
        size = self._sizes[todo[0]]
        stop = todo[0] + 1
        for number in todo[1 : self._n]:
            size += self._sizes[number]
            if number != stop or size > self._size:
                break
            stop += 1
        return stop

    def took(self, number: int, stop: int, seconds: float) -> None:
        """Learn from a block that was computed."""
        size = sum(self._sizes[number:stop])
        possible = size * _SECONDS / seconds if seconds > 0 else float("inf")
        self._size = min(self._most, _GROWTH * max(size, 1), possible)
        self._n = min(MOST_SHARDS, _GROWTH * (stop - number))


def _computed(plan: Plan, number: int, base: str | None, stop: int | None = None) -> Part:
    task = _prepared(os.fspath(plan.folder.absolute()), plan.id)
    shard = plan.block(number, number + 1 if stop is None else stop)

    def work(folder: Path) -> tuple[dict[str, Any], float]:
        started = time.process_time()
        counters = recorded(task, shard, folder, plan.base if base is None else base)
        return counters, time.process_time() - started

    return write_part(plan, number, work, stop)


@lru_cache(maxsize=2)
def _prepared(folder: str, id: str) -> Task:
    """Return the task of a plan, with its model; processes keep it for the next shard."""
    plan = open_plan(folder)
    if plan.id != id:
        raise PlanError("the plan has changed meanwhile", path=folder)
    return find_task(plan.command)(plan)


def run(
    plan: Plan | str | os.PathLike[str],
    shards: Iterable[int] | None = None,
    *,
    base: str | None = None,
    client: Any = None,
    stop: bool = False,
    block: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Run:
    """Compute the missing shards of a plan.

    A shard that fails does not stop the others. Several processes may run one plan at the same
    time: each shard is computed by one of them.

    Parameters
    ----------
    plan : Plan, str or PathLike
    shards : iterable of int, optional
        Numbers of the shards to compute; by default all.
    base : str, optional
        Folder to which the paths of inputs are relative; by default the one at planning.
    client : dask.distributed.Client, optional
        Let the workers of a Dask cluster compute the shards.
    stop : bool
        Whether to stop with the error of the first shard that fails; not for clusters.
    block : int, optional
        Bytes of input (or rows). Up to 8 consecutive shards of at most this total size are computed
        together, if they are expected to take a few seconds; not for clusters.
    progress : callable, optional
        Called with the number of bytes (or rows) done and the total number.

    Returns
    -------
    Run
    """
    plan = as_plan(plan)
    plan.check_version()
    missing = set(missing_shards(plan))
    wanted = range(plan.n_shards) if shards is None else dict.fromkeys(shards)
    for number in wanted:
        if not 0 <= number < plan.n_shards:
            plan.shard(number)  # raises
    todo = [number for number in wanted if number in missing]
    clock = _Clock(plan, [n for n in wanted if n not in missing], wanted, progress)
    if client is not None:
        from kernelwood.scale.cluster import run_on_cluster

        return run_on_cluster(plan, todo, client, base=base, finished=clock.finished)
    made = Run()
    remove_remains(plan, set(todo))
    if block is not None and todo:
        _prepared(os.fspath(plan.folder.absolute()), plan.id)  # not a part of the first block
    blocks = None if block is None else _Blocks(plan.sizes, block)
    with inputs_kept_open():
        at = 0
        while at < len(todo):
            number = todo[at]
            end = number + 1 if blocks is None else blocks.stop(todo[at : at + MOST_SHARDS])
            numbers = range(number, end)
            at += len(numbers)
            started = time.perf_counter()
            try:
                if len(numbers) == 1:
                    state = run_shard(plan, number, base=base)["state"]
                else:
                    state = _run_block(plan, number, end, base)
            except PlanError:
                raise
            except (KernelwoodError, OSError) as failure:
                if stop:
                    raise
                made.failed.update(dict.fromkeys(numbers, str(failure)))
            else:
                if state != "present":  # computed by another process in the meantime
                    (made.busy if state == "busy" else made.done).extend(numbers)
            if blocks is not None:
                blocks.took(number, end, time.perf_counter() - started)
            for one in numbers:
                clock.finished(one)
    without = set(missing_shards(plan)) if made.busy else set()
    made.busy = [number for number in made.busy if number in without]
    return made


class _Clock:
    """Reports how much of the work is done."""

    def __init__(
        self,
        plan: Plan,
        present: Iterable[int],
        wanted: Iterable[int],
        progress: Callable[[int, int], object] | None,
    ) -> None:
        self._plan, self._progress = plan, progress
        self._total = sum(plan.sizes[number] for number in wanted)
        self._done = sum(plan.sizes[number] for number in present)
        self._report()

    def finished(self, number: int) -> None:
        """Count a shard."""
        self._done += self._plan.sizes[number]
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)


@dataclass(frozen=True)
class Status:
    """State of a plan.

    Attributes
    ----------
    n_shards, n_done : int
    missing : list of int
        Shards without a part.
    failed : dict of int to str
        Last errors by shard.
    seconds : float
        CPU time of the parts.
    n_bytes, n_bytes_done : int
        Bytes of input (or rows) of all shards, and of those with a part.
    """

    n_shards: int
    n_done: int
    missing: list[int]
    failed: dict[int, str]
    seconds: float
    n_bytes: int
    n_bytes_done: int

    @property
    def seconds_left(self) -> float | None:
        """CPU time that the missing shards are likely to take; None before the first part."""
        if not self.n_bytes_done:
            return None
        return self.seconds * (self.n_bytes - self.n_bytes_done) / self.n_bytes_done


def status(plan: Plan | str | os.PathLike[str]) -> Status:
    """Return the state of a plan."""
    plan = as_plan(plan)
    missing, found = missing_shards(plan), found_parts(plan)
    parts = [part for place in found if (part := read_part(plan, *place)) is not None]
    without = set(missing)
    return Status(
        plan.n_shards,
        plan.n_shards - len(missing),
        missing,
        {number: text for number, text in failures(plan).items() if number in without},
        sum(part.seconds for part in parts),
        sum(plan.sizes),
        sum(sum(plan.sizes[first:stop]) for first, stop in found),
    )


def verify(
    plan: Plan | str | os.PathLike[str],
    *,
    sample: int = 1,
    seed: int = 0,
    base: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[int, str]:
    """Return the parts that are damaged, or differ when they are computed again.

    Parameters
    ----------
    plan : Plan, str or PathLike
    sample : int
        Number of parts to compute again, chosen at random.
    seed : int
        Seed of the choice.
    base : str, optional
        Folder to which the paths of inputs are relative.
    progress : callable, optional
        Called with the number of parts checked and the total number.

    Returns
    -------
    dict of int to str
        Problems by shard, or by first shard of a block; empty if all parts are intact. Missing
        parts do not count.
    """
    import tempfile

    from kernelwood.seeds import child_generator

    plan = as_plan(plan)
    plan.check_version()
    done = found_parts(plan)
    order = child_generator(seed, 0).permutation(len(done))[: max(0, sample)]
    again = {done[at] for at in order.tolist()}
    found: dict[int, str] = {}
    for at, (number, stop) in enumerate(done):
        part = read_part(plan, number, stop)
        if part is None:
            continue
        if problems := part.problems():
            found[number] = ", ".join(problems)
        elif (number, stop) in again:
            with tempfile.TemporaryDirectory(prefix="kernelwood-") as folder:
                task = _prepared(os.fspath(plan.folder.absolute()), plan.id)
                shard, place = plan.block(number, stop), plan.base if base is None else base
                recorded(task, shard, Path(folder), place)
                if problems := _differences(part, Path(folder)):
                    found[number] = f"computed again, it differs: {', '.join(problems)}"
        if progress is not None:
            progress(at + 1, len(done))
    return found


def _differences(part: Part, folder: Path) -> list[str]:
    made = {path.name: path for path in folder.iterdir()}
    names: Sequence[str] = sorted(set(made) | set(part.files))
    return [
        name
        for name in names
        if name not in made
        or name not in part.files
        or hash_file(made[name]) != part.files[name][1]
    ]


def remove_damaged(plan: Plan | str | os.PathLike[str]) -> list[int]:
    """Remove the parts that are damaged, and return their numbers; `run` computes them again.

    A part whose shard is locked by another process is not checked. The number of a block is that of
    its first shard.
    """
    plan = as_plan(plan)
    removed = []
    for number, stop in found_parts(plan):
        if _is_damaged(plan, number, stop):
            with suppress(FileInUseError), lock_part(plan, number):
                shutil.rmtree(part_folder(plan, number, stop))
                removed.append(number)
    return removed


def _is_damaged(plan: Plan, number: int, stop: int | None = None) -> bool:
    try:
        part = read_part(plan, number, stop)
    except PlanError:
        return True
    return part is not None and bool(part.problems())


def collect(
    plan: Plan | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    exact: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Write the results of all shards to one file, in the order of the inputs.

    Parameters
    ----------
    plan : Plan, str or PathLike
    out : str or PathLike
        File to create or replace, when it is complete. A name without a suffix is a new folder: a
        data set with a file for each part, or an index.
    exact : bool
        Whether to ignore the suffix of ``out``: write one file, or a folder for a format of several
        files.
    progress : callable, optional
        Called with the number of parts written and the total number.

    Returns
    -------
    dict
        Sums of the counters of all parts.

    Raises
    ------
    PlanError
        If a part is missing or damaged.
    """
    plan = as_plan(plan)
    task, target = find_task(plan.command), Path(out)
    as_files = not target.suffix and bool(task.suffix(plan)) and not exact
    if as_files:
        check_vacant(target)
        check_parent(target)
    elif not exact:
        task.check_output(plan, target)
    found, missing = found_parts(plan), missing_shards(plan)
    if missing:
        raise PlanError(
            f"{len(missing):,} of {plan.n_shards:,} shards are not computed yet",
            path=plan.folder,
            hint="kernelwood shards run computes them, kernelwood shards status lists errors",
        )
    warned: dict[str, int] = {}

    def parts() -> Iterable[Part]:
        for number, stop in found:
            part = read_part(plan, number, stop)
            if part is None:
                raise PlanError(f"the part of shard {number} was removed", path=plan.folder)
            if problems := part.problems():
                raise PlanError(
                    f"the part is damaged: {', '.join(problems)}",
                    path=part.folder,
                    hint="remove its folder and run the plan again",
                )
            for text in part.counters.pop("warnings", {}):
                warned[text] = warned.get(text, 0) + 1
            yield part
            if progress is not None:
                progress(stop, plan.n_shards)

    counters = (_write_data_set if as_files else task.collect)(plan, parts(), target)
    return {**counters, "warnings": warned} if warned else counters


def _write_data_set(plan: Plan, parts: Iterable[Part], out: Path) -> dict[str, Any]:
    """Copy the files of parts into a new folder, with the sums of counters."""
    total = Total()
    with new_folder(out) as folder:
        for part in total.over(parts):
            for name in part.files:
                stem, dot, suffix = name.partition(".")
                target = folder / f"{stem}-{part.folder.name}{dot}{suffix}"
                shutil.copyfile(part.file(name), target)
        text = json.dumps(total.counters, indent=1, ensure_ascii=False)
        # Half of a surrogate pair, which UTF-8 does not have, becomes an escape sequence of JSON.
        (folder / "counters.json").write_bytes(f"{text}\n".encode("utf-8", "backslashreplace"))
    return total.counters
