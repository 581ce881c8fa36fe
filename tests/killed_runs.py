"""Runs of a command that are killed at random moments, each in a process of its own.

    python tests/killed_runs.py OUT KILLS SEED COMMAND [ARGUMENT ...]

COMMAND writes OUT. Runs are forks of this process, since most moments of a new process would be
before it begins to work. Prints, as JSON, the number of kills by what they left, and ends with an
error if one has left something that it must not.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from kernelwood import scale
from kernelwood.cli import main
from kernelwood.scale import parts, tasks


def content(path: Path) -> object:
    """Return the bytes of a file, or of the files of a folder."""
    if path.is_dir():
        return {one.relative_to(path): one.read_bytes() for one in path.rglob("*.*")}
    return path.read_bytes() if path.exists() else None


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def start(arguments: list[str]) -> int:
    """Run a command in a fork; return its process."""
    process = os.fork()
    if process == 0:
        code = 70
        try:
            code = main(["-q", *arguments], standalone_mode=False) or 0
        finally:
            os._exit(code)
    return process


def finished(arguments: list[str]) -> float:
    """Run a command to its end, and return the seconds that it took."""
    started = time.monotonic()
    _, status = os.waitpid(start(arguments), 0)
    assert status == 0, status
    return time.monotonic() - started


def killed(process: int, seconds: float) -> tuple[float, bool]:
    """Kill a run at a random moment of its time, unless it ends before.

    Returns the time of a run, which depends on what else the machine does, and whether it was
    killed.
    """
    started = time.monotonic()
    moment = random.uniform(0, seconds)
    while time.monotonic() - started < moment:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            assert status == 0, status
            return time.monotonic() - started, False
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    return seconds, os.WIFSIGNALED(status)


def done(plan: Path) -> dict[tuple[int, int], int]:
    """Return the inodes of the parts of a plan."""
    if not plan.exists():
        return {}
    opened = scale.open_plan(plan)
    assert scale.verify(opened, sample=0) == {}
    found = parts.found_parts(opened)
    return {block: parts.part_folder(opened, *block).stat().st_ino for block in found}


def kill_runs(out: Path, kills: int, arguments: list[str]) -> Counter[str]:
    """Kill runs at random moments."""
    plan, left = out.with_name(f"{out.name}.plan"), Counter[str]()
    main(["-q", *[one for one in arguments if one != "--resume"]], standalone_mode=False)
    expected = content(out)
    remove(out)
    seconds = finished(arguments)
    assert content(out) == expected
    while left.total() < kills:
        if content(out) == expected:
            remove(out)
        before = done(plan)
        seconds, is_killed = killed(start(arguments), seconds)
        if not is_killed:
            continue  # it was faster
        assert content(out) in (None, expected)
        after = done(plan)
        if content(out) is None:
            assert before.items() <= after.items(), "a block was lost"
        left["complete" if content(out) else f"{len(after)} blocks" if plan.exists() else "-"] += 1
    finished(arguments)
    assert content(out) == expected
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    return left


def kill_searches(checkpoint: Path, kills: int, arguments: list[str]) -> Counter[str]:
    """Kill searches for gates at random moments."""
    left = Counter[str]()
    seconds = finished(arguments)
    expected = checkpoint.read_bytes()
    while left.total() < kills:
        before = checkpoint.read_bytes() if checkpoint.exists() else b""
        if before == expected:
            checkpoint.unlink()
            before = b""
        seconds, is_killed = killed(start(arguments), seconds)
        after = checkpoint.read_bytes() if checkpoint.exists() else b""
        assert expected.startswith(after)
        assert after.count(b"\n") >= before.count(b"\n"), "a decision was lost"
        if is_killed:
            left[f"{after.count(10)} lines"] += 1
    finished(arguments)
    assert checkpoint.read_bytes() == expected
    return left


if __name__ == "__main__":
    for task in (tasks.Extract, tasks.Predict, tasks.Convert, tasks.Embed):
        task.block = 1_500
    random.seed(int(sys.argv[3]))
    kill = kill_searches if sys.argv[4] == "learn-gates" else kill_runs
    print(json.dumps(kill(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[4:])))
