"""Processes with limits that run inputs, what is counted, and the smallest form of findings.

A worker is a fork of this process. It writes the number of the input it works on, and its counts,
into shared memory, where they survive its death; the next worker goes on behind that input.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import random
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.kinds import (
    ERROR,
    EXCEPTION,
    FINDINGS,
    HANG,
    NAN,
    REFUSED,
    SIGNAL,
    USED,
    Kind,
    Mutation,
    judge,
    same_finding,
    signature,
)

CPU_SECONDS = 10  # of an input; more is a hang
WALL_SECONDS = 300  # of an input that waits; long, because other programs use the processor
MEMORY = 3 << 30  # bytes that a worker may allocate; 0: no limit
_LATE = signal.SIGALRM  # ends processes after this time; a SIGKILL comes from somewhere else
_LIMITS = {signal.SIGXCPU: "CPU time", _LATE: "wall-clock time"}
_SLOTS = ("number", "started", REFUSED, USED, ERROR, "found")
_POLL = 0.2  # seconds
_MAX_KEPT = 25  # findings of a kind that are minimised


@dataclass
class Finding:
    """An input that was not refused, used or answered by an error of ours."""

    kind: str
    seed: int
    number: int
    mutations: list[Mutation]
    outcome: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "kind": self.kind,
            "seed": self.seed,
            "number": self.number,
            "mutations": self.mutations,
            "outcome": self.outcome,
        }


@dataclass
class Tally:
    """Counts of a kind."""

    kind: str
    refused: int = 0
    used: int = 0
    errors: int = 0
    n_findings: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return self.refused + self.used + self.errors + self.n_findings

    def row(self) -> dict[str, Any]:
        """Return a row of the table."""
        return {
            "kind": self.kind,
            "inputs": self.inputs,
            "refused": self.refused,
            "used": self.used,
            "our errors": self.errors,
            "findings": self.n_findings,
        }


def draw(kind: Kind, seed: int, number: int) -> list[Mutation]:
    """Return the changes of the input with a number, which depend on nothing else."""
    return kind.draw(random.Random(f"{seed}/{kind.name}/{number}"))


# Workers.


class _Shared:
    """Numbers in memory that is shared with a worker."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8 * len(_SLOTS))

    def get(self, name: str) -> int:
        value: int = struct.unpack_from("q", self._memory, 8 * _SLOTS.index(name))[0]
        return value

    def set(self, name: str, value: int) -> None:
        struct.pack_into("q", self._memory, 8 * _SLOTS.index(name), value)

    def add(self, name: str) -> None:
        self.set(name, self.get(name) + 1)


def limit_process() -> None:
    """Limit the memory of this process, and prevent core files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not MEMORY:
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    memory = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def limit_time() -> None:
    """Let the system end this process after some more seconds of CPU time."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + CPU_SECONDS, hard))


class _Worker:
    """A process that runs inputs of a kind, beginning with some number."""

    def __init__(
        self, kind: Kind, seed: int, first: int, stop: int | None, until: float | None
    ) -> None:
        self.kind, self.seed = kind, seed
        self.shared = _Shared()
        self.shared.set("number", first)
        self.shared.set("started", time.monotonic_ns())
        self._pending = b""
        self.pipe, write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.process = os.fork()
        if self.process == 0:
            os.close(self.pipe)
            try:
                self._work(first, stop, until, write)
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(3)
        os.close(write)

    def _work(self, first: int, stop: int | None, until: float | None, write: int) -> None:
        # Messages of the C library about memory that it found damaged.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        limit_process()
        self.kind.start()
        number = first
        while (stop is None or number < stop) and (until is None or time.monotonic() < until):
            self.shared.set("number", number)
            self.shared.set("started", time.monotonic_ns())
            limit_time()
            mutations = draw(self.kind, self.seed, number)
            outcome = judge(self.kind, mutations)
            if outcome["outcome"] in FINDINGS:
                self.shared.add("found")
                line = json.dumps([number, mutations, outcome]) + "\n"
                os.write(write, line.encode())
            else:
                self.shared.add(outcome["outcome"])
            number += 1
        self.shared.set("number", number)

    def findings(self) -> Iterator[Finding]:
        """Yield what the worker has reported since the last call."""
        while select.select([self.pipe], [], [], 0)[0]:
            chunk = os.read(self.pipe, 1 << 16)
            if not chunk:
                break
            self._pending += chunk
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines:
            number, mutations, outcome = json.loads(line)
            yield Finding(self.kind.name, self.seed, number, mutations, outcome)

    def ended(self) -> int | None:
        """Return the state in which the process has ended; kill it if it hangs."""
        late = time.monotonic_ns() - self.shared.get("started") > WALL_SECONDS * 10**9
        if late:
            os.kill(self.process, _LATE)
        done, status = os.waitpid(self.process, 0 if late else os.WNOHANG)
        return status if done else None

    def close(self) -> None:
        os.close(self.pipe)


def fate(status: int) -> dict[str, Any] | None:
    """Return the finding that the end of a process is; None after a regular end."""
    if os.WIFEXITED(status):
        code = os.WEXITSTATUS(status)
        return None if code == 0 else {"outcome": SIGNAL, "signal": f"exit code {code}"}
    number = os.WTERMSIG(status)
    if number in _LIMITS:
        return {"outcome": HANG, "limit": _LIMITS[number]}
    return {"outcome": SIGNAL, "signal": signal.Signals(number).name}


class _Share:
    """The part of a kind in a run, for which one worker after the other is started."""

    def __init__(
        self, kind: Kind, seed: int, first: int, inputs: int | None, seconds: float | None
    ) -> None:
        self.kind, self.seed, self.tally = kind, seed, Tally(kind.name)
        self.stop = None if inputs is None else first + inputs
        self._began = time.monotonic()
        self._seen: dict[tuple[Any, ...], int] = {}
        kind.prepare()
        self.until = None if seconds is None else time.monotonic() + seconds
        self._worker = _Worker(kind, seed, first, self.stop, self.until)

    @property
    def pipe(self) -> int:
        return self._worker.pipe

    def step(self) -> bool:
        """Take what has been found; return whether the share is finished."""
        worker = self._worker
        status = worker.ended()
        for finding in worker.findings():
            self._keep(finding)
        if status is None:
            return False
        for slot, name in ((REFUSED, "refused"), (USED, "used"), (ERROR, "errors")):
            setattr(self.tally, name, getattr(self.tally, name) + worker.shared.get(slot))
        self.tally.n_findings += worker.shared.get("found")
        worker.close()
        outcome = fate(status)
        if outcome is not None:
            number = worker.shared.get("number")
            self.tally.n_findings += 1
            mutations = draw(self.kind, self.seed, number)
            self._keep(Finding(self.kind.name, self.seed, number, mutations, outcome))
            in_time = self.until is None or time.monotonic() < self.until
            if in_time and (self.stop is None or number + 1 < self.stop):
                self._worker = _Worker(self.kind, self.seed, number + 1, self.stop, self.until)
                return False
        self.tally.seconds = time.monotonic() - self._began
        return True

    def _keep(self, finding: Finding) -> None:
        """Keep the first findings of each sort."""
        sort = signature(finding.outcome)
        self._seen[sort] = self._seen.get(sort, 0) + 1
        crash = finding.outcome["outcome"] in (SIGNAL, HANG)  # whose place is not known
        if self._seen[sort] <= (8 if crash else 1) and len(self.tally.findings) < _MAX_KEPT:
            self.tally.findings.append(finding)


def run(
    kinds: Iterable[Kind],
    *,
    seed: int = 0,
    first: int = 0,
    inputs: int | None = None,
    seconds: float | None = None,
    jobs: int = 1,
    finished: Callable[[Tally], object] = lambda tally: None,
) -> list[Tally]:
    """Run inputs of several kinds.

    Parameters
    ----------
    kinds : iterable of Kind
    seed : int
        Inputs depend on the seed, the kind and their number, nothing else.
    first : int
        Number of the first input of each kind.
    inputs : int, optional
        Number of inputs of each kind.
    seconds : float, optional
        Wall-clock time for each kind.
    jobs : int
        Number of processes.
    finished : callable
        Called with the counts of each kind at its end, with minimised findings.
    """
    waiting, active, tallies = list(kinds), [], []
    by_name = {kind.name: kind for kind in waiting}
    while waiting or active:
        while waiting and len(active) < jobs:
            active.append(_Share(waiting.pop(0), seed, first, inputs, seconds))
        select.select([share.pipe for share in active], [], [], _POLL)
        for share in [share for share in active if share.step()]:
            active.remove(share)
            tally = share.tally
            tally.findings = distinct(minimised(by_name[one.kind], one) for one in tally.findings)
            tallies.append(tally)
            finished(tally)
    return tallies


# Single inputs.


def judge_alone(kind: Kind, mutations: list[Mutation]) -> dict[str, Any]:
    """Return the outcome of an input in a process of its own."""
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        try:
            os.close(read)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            limit_process()
            limit_time()
            kind.start()
            limit_time()
            os.write(write, json.dumps(judge(kind, mutations)).encode())
            os._exit(0)
        except BaseException:
            os._exit(3)
    os.close(write)
    said = b""
    deadline = time.monotonic() + WALL_SECONDS
    while select.select([read], [], [], max(0.0, deadline - time.monotonic()))[0]:
        chunk = os.read(read, 1 << 16)
        if not chunk:
            break
        said += chunk
    else:
        os.kill(process, _LATE)
    os.close(read)
    outcome = fate(os.waitpid(process, 0)[1])
    if outcome is not None:
        return outcome
    made: dict[str, Any] = json.loads(said)
    return made


def minimised(kind: Kind, finding: Finding) -> Finding:
    """Return a finding with as few changes as give it."""
    mutations = list(finding.mutations)
    if not same_finding(judge_alone(kind, mutations), finding.outcome):
        # It depends on inputs before it, or on the load of the machine.
        finding.outcome["repeated"] = False
        return finding
    place = 0
    while place < len(mutations) and len(mutations) > 1:
        fewer = mutations[:place] + mutations[place + 1 :]
        if same_finding(judge_alone(kind, fewer), finding.outcome):
            mutations = fewer
        else:
            place += 1
    return Finding(kind.name, finding.seed, finding.number, mutations, finding.outcome)


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings without repetitions: exceptions by place, crashes by what was changed."""
    made: dict[Any, Finding] = {}
    for one in findings:
        places = () if one.outcome["outcome"] in (EXCEPTION, NAN) else _changed(one.mutations)
        made.setdefault((signature(one.outcome), places), one)
    return list(made.values())


def _changed(mutations: list[Mutation]) -> tuple[str, ...]:
    return tuple(
        json.dumps([one.get("op"), one.get("member"), one.get("path")]) for one in mutations
    )


def store(finding: Finding, folder: Path) -> Path:
    """Write the description of a finding into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    told = json.dumps([finding.kind, finding.mutations])
    digest = hashlib.sha256(told.encode()).hexdigest()[:10]
    path = folder / f"{finding.kind.replace('/', '-')}-{digest}.json"
    path.write_text(json.dumps(finding.to_dict(), indent=1) + "\n", encoding="utf-8")
    return path
