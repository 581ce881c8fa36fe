"""A task for tests of engines: it writes numbers, and obeys orders that tests put into a folder.

Workers load this file as a preload of Dask, so the task exists in their processes.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import ClassVar

from kernelwood.compute import budget
from kernelwood.errors import KernelInputError
from kernelwood.scale import TASKS, Task
from kernelwood.scale.plan import Shard, write_plan

ROWS = 10  # of a shard


class Counting(Task):
    """Writes the squares of numbers.

    The file ``NUMBER`` in the folder ``orders`` says what happens to a shard, a word for each
    attempt: ``fail``, ``full``, ``bug``, ``kill`` (the process kills itself), ``wait`` (until the
    file is removed) or ``slow``. ``begun`` gets a line for each attempt.
    """

    name = "count"
    needs_model = False
    known: ClassVar = {"orders": (str, ""), "seconds": (float, 0.0)}

    def run(self, shard, folder, base):
        orders = Path(self.options["orders"])
        with (orders / "begun").open("a") as file:
            file.write(f"{shard.number} {os.getpid()}\n")
        with (folder / "squares").open("x") as file:
            for row in range(*shard.rows):
                file.write(f"{row * row}\n")
                if row == shard.rows[0] + ROWS // 2:
                    file.flush()
                    self._obey(orders / str(shard.number))
        return {"rows": ROWS, "budget": budget()}

    def _obey(self, path):
        if self.options["seconds"]:
            time.sleep(self.options["seconds"])
        try:
            first, *others = path.read_text().split()
        except (FileNotFoundError, ValueError):
            return
        if first != "wait":
            path.write_text(" ".join(others))
        if first == "fail":
            raise KernelInputError("told to fail")
        if first == "full":
            raise OSError(28, "No space left on device", "squares")
        if first == "bug":
            raise ZeroDivisionError("told to have a bug")
        if first == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        while first == "wait" and path.exists():
            time.sleep(0.01)

    @classmethod
    def collect(cls, plan, parts, out):
        out.write_bytes(b"".join(part.file("squares").read_bytes() for part in parts))
        return {}


def expected(n_shards):
    """Return what is collected from a plan."""
    return b"".join(b"%d\n" % (row * row) for row in range(n_shards * ROWS))


def counting_plan(folder, n_shards, seconds=0.0):
    """Make a plan whose orders are in a folder beside it."""
    orders = folder.with_name(f"{folder.name}-orders")
    orders.mkdir()
    options = {"orders": str(orders), "seconds": seconds}
    work = {
        "command": "count",
        "options": options,
        "inputs": [],
        "base": "",
        "cut": {},
        "input_files": {},
    }
    shards = (Shard(n, rows=(n * ROWS, (n + 1) * ROWS)) for n in range(n_shards))
    return write_plan(folder, shards, work, {})


def order(plan, number, *words):
    """Say what happens when a shard is computed, a word for each attempt."""
    path = Path(plan.options["orders"], str(number))
    temporary = path.with_suffix(".new")
    temporary.write_text(" ".join(words))
    temporary.rename(path)
    return path


def begun(plan):
    """Return the shard and the process of each attempt so far."""
    path = Path(plan.options["orders"], "begun")
    lines = path.read_text().splitlines() if path.exists() else []
    return [tuple(map(int, line.split())) for line in lines]


TASKS["count"] = Counting
