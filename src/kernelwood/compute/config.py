from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any

from kernelwood.errors import KernelInputError

Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Config:
    """Settings that hold for every computation unless a call says otherwise.

    Parameters
    ----------
    n_jobs : int
        Threads to use where a kernel says ``n_jobs=None``; -1 for all cores.
    memory : int, str or None
        Largest result to allocate, in bytes or as ``"1GB"``; None for three quarters of the
        memory the machine has.
    progress : callable or None
        Called as ``progress(done, total)`` with kernel evaluations while work goes on.
    """

    n_jobs: int = 1
    memory: int | str | None = None
    progress: Progress | None = None


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_config: ContextVar[Config | None] = ContextVar("kernelwood_config", default=None)
_default = Config()


def get_config() -> Config:
    """Return the settings in force."""
    return _config.get() or _default


def set_config(**settings: Any) -> None:
    """Change the settings for the rest of the process; see :class:`Config`."""
    global _default
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
    """Return the number of threads meant by ``n_jobs`` (None: the setting, -1: all cores)."""
    wanted = get_config().n_jobs if n_jobs is None else n_jobs
    _check_jobs(wanted)
    return int(wanted) if wanted > 0 else max(1, (os.cpu_count() or 1) + 1 + int(wanted))


def _check_jobs(n_jobs: object) -> None:
    try:
        if not isinstance(n_jobs, bool) and operator.index(n_jobs) != 0:  # type: ignore[arg-type]
            return
    except TypeError:
        pass
    raise KernelInputError(f"n_jobs must be a positive int, negative or None, got {n_jobs!r}")


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
    return changed
