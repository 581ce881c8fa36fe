from __future__ import annotations

import os
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
    ...     kw.get_config().n_jobs
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
    if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted == 0:
        raise KernelInputError(f"n_jobs must be a positive int, negative or None, got {wanted!r}")
    return wanted if wanted > 0 else max(1, (os.cpu_count() or 1) + 1 + wanted)


def _changed(config: Config, settings: dict[str, Any]) -> Config:
    known = {field.name for field in fields(Config)}
    unknown = sorted(set(settings) - known)
    if unknown:
        raise KernelInputError(
            f"unknown setting {unknown[0]!r}; the settings are {', '.join(sorted(known))}"
        )
    return replace(config, **settings)
