"""Settings of all computations: threads, executor, memory, progress, temporary files."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwood.errors import KernelInputError, MemoryBudgetError
from kernelwood.threads import LOCK

if TYPE_CHECKING:
    from concurrent.futures import Executor

Progress = Callable[[int, int], object]

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_DEFAULT_BUDGET = 0.75  # fraction of the machine's memory


@dataclass(frozen=True, slots=True)
class Config:
    """Settings that apply to every computation unless a call overrides them.

    Parameters
    ----------
    n_jobs : int
        Number of threads where a kernel has ``n_jobs=None``; -1 for all cores, -2 for all but one,
        and so on.
    memory : int, str or None
        Largest result to allocate, in bytes or as ``"1GB"``; None for three quarters of the
        memory of the machine.
    progress : callable or None
        Called as ``progress(done, total)`` with kernel evaluations during a computation.
    temp_dir : str, path or None
        Folder of temporary files, which hold matrices beyond the memory budget; None for the
        folder of the platform.
    executor : concurrent.futures.Executor or None
        Executor of large computations: threads, processes or other machines. None for ``n_jobs``
        threads of this process; each task of an executor uses as many.
    """

    n_jobs: int = 1
    memory: int | str | None = None
    progress: Progress | None = None
    temp_dir: str | os.PathLike[str] | None = None
    executor: Executor | None = None


_config: ContextVar[Config | None] = ContextVar("kernelwood_config", default=None)
_default = Config()


def get_config() -> Config:
    """Return the current settings."""
    return _config.get() or _default


def set_config(**settings: Any) -> None:
    """Change the settings for the rest of the process; see :class:`Config`."""
    global _default
    with LOCK:
        _default = _changed(_default, settings)


@contextmanager
def config_context(**settings: Any) -> Iterator[Config]:
    """Change the settings inside a ``with`` block; see :class:`Config`.

    Examples
    --------
    >>> import kernelwood as kw
    >>> with kw.config_context(n_jobs=2, memory="1GB"):
    ...     kw.compute.get_config().n_jobs
    2
    """
    token = _config.set(_changed(get_config(), settings))
    try:
        yield get_config()
    finally:
        _config.reset(token)


def resolve_jobs(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs`` (None: the setting, -1: all cores)."""
    wanted = get_config().n_jobs if n_jobs is None else n_jobs
    _check_jobs(wanted)
    return int(wanted) if wanted > 0 else max(1, (os.cpu_count() or 1) + 1 + int(wanted))


def _check_jobs(n_jobs: object) -> None:
    try:
        if not isinstance(n_jobs, bool) and operator.index(n_jobs) != 0:  # type: ignore[arg-type]
            return
    except TypeError:
        pass
    raise KernelInputError(f"n_jobs must be a nonzero int or None, got {n_jobs!r}")


def _check_folder(folder: object) -> None:
    if not isinstance(folder, (str, os.PathLike)) or not Path(folder).is_dir():
        raise KernelInputError(f"temp_dir must be an existing folder or None, got {folder!r}")


def _changed(config: Config, settings: dict[str, Any]) -> Config:
    known = {field.name for field in fields(Config)}
    unknown = sorted(set(settings) - known)
    if unknown:
        raise KernelInputError(
            f"unknown setting {unknown[0]!r}; the settings are {', '.join(sorted(known))}"
        )
    changed = replace(config, **settings)
    _check_jobs(changed.n_jobs)
    if changed.memory is not None:
        parse_bytes(changed.memory)
    if changed.progress is not None and not callable(changed.progress):
        raise KernelInputError(f"progress must be callable or None, got {changed.progress!r}")
    if changed.temp_dir is not None:
        _check_folder(changed.temp_dir)
    if changed.executor is not None and (
        isinstance(changed.executor, type) or not callable(getattr(changed.executor, "submit", 0))
    ):
        raise KernelInputError(
            "executor must be a concurrent.futures.Executor such as ProcessPoolExecutor(4), or "
            f"None, got {changed.executor!r}"
        )
    return changed


def _leave_executor() -> None:
    """Leave the executor to the process that this one was forked from."""
    global _default
    _default = replace(_default, executor=None)
    if (config := _config.get()) is not None:
        _config.set(replace(config, executor=None))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_executor)


# Memory.


def parse_bytes(text: int | str) -> int:
    """Return a number of bytes given as an int or as text like ``"1.5GB"`` or ``"512MiB"``.

    >>> parse_bytes("1.5GB"), parse_bytes("2KiB")
    (1500000000, 2048)
    """
    if isinstance(text, int) and not isinstance(text, bool) and text > 0:
        return text
    match = re.fullmatch(r"\s*(\d+|\d*\.\d+)\s*([KMGT]?)(i?)B?\s*", str(text), re.IGNORECASE)
    if match is None or isinstance(text, bool) or float(match[1]) == 0:
        raise KernelInputError(f"memory must be like 500_000_000 or '1.5GB', got {text!r}")
    unit = match[2].upper()
    factor = 1024 ** (" KMGT".index(unit)) if match[3] and unit else _UNITS[unit]
    return int(float(match[1]) * factor)


def format_bytes(n_bytes: int) -> str:
    """Return a number of bytes with a unit.

    >>> format_bytes(80_000_000_000)
    '80.0 GB'
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"


def budget() -> int:
    """Return the memory budget in bytes."""
    setting = get_config().memory
    return _default_budget() if setting is None else parse_bytes(setting)


@cache
def _default_budget() -> int:
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * _DEFAULT_BUDGET)
    except (ValueError, OSError, AttributeError):  # unknown on this platform
        return 4 * 10**9


def check_budget(n_bytes: int, what: str, instead: str) -> None:
    """Raise MemoryBudgetError if a result would exceed the budget.

    Parameters
    ----------
    n_bytes : int
        Size of the result.
    what : str
        Name of the result, the first words of the message.
    instead : str
        Advice to the user.
    """
    allowed = budget()
    if n_bytes > allowed:
        raise MemoryBudgetError(
            f"{what} needs {format_bytes(n_bytes)}, but the memory budget is "
            f"{format_bytes(allowed)}.\n    {instead}\n    Or raise the budget: "
            f"kw.config_context(memory='{-(-n_bytes // 10**9)}GB')"
        )
