from __future__ import annotations

import os

from kernelwood.compute.config import get_config, parse_bytes
from kernelwood.errors import MemoryBudgetError

_SHARE = 0.75  # of the machine's memory, unless a budget is set


def format_bytes(n_bytes: int) -> str:
    """Return a number of bytes as people write it.

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
    if setting is not None:
        return parse_bytes(setting)
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * _SHARE)
    except (ValueError, OSError, AttributeError):  # not told on this platform
        return 4 * 10**9


def check_budget(n_bytes: int, what: str, instead: str) -> None:
    """Raise MemoryBudgetError if a result would exceed the budget.

    Parameters
    ----------
    n_bytes : int
        Size of the result.
    what : str
        What it is, as the subject of a sentence.
    instead : str
        What the user can do about it.
    """
    allowed = budget()
    if n_bytes > allowed:
        raise MemoryBudgetError(
            f"{what} needs {format_bytes(n_bytes)}, but the memory budget is "
            f"{format_bytes(allowed)}.\n    {instead}\n    Or raise the budget: "
            f"kw.config_context(memory='{-(-n_bytes // 10**9)}GB')"
        )
