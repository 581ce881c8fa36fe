from __future__ import annotations

import os
import re

from kernelwood.compute.config import get_config
from kernelwood.errors import KernelInputError, MemoryBudgetError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SHARE = 0.75  # of the machine's memory, unless a budget is set


def parse_bytes(text: int | str) -> int:
    """Return a number of bytes given as an int or as text like ``"1.5GB"`` or ``"512MiB"``."""
    if isinstance(text, int) and not isinstance(text, bool) and text > 0:
        return text
    match = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(i?)B?\s*", str(text), re.IGNORECASE)
    try:
        if match is None:
            raise ValueError
        number, unit, binary = float(match[1]), match[2].upper(), match[3]
    except ValueError:
        raise KernelInputError(
            f"memory must be like 500_000_000 or '1.5GB', got {text!r}"
        ) from None
    factor = 1024 ** "KMGT".find(unit) * 1024 if binary and unit else _UNITS[unit]
    return int(number * factor)


def format_bytes(n_bytes: int) -> str:
    """Return a number of bytes as people write it.

    >>> format_bytes(80_000_000_000)
    '80.0 GB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000 or unit == "GB":
            break
        n_bytes = n_bytes / 1000  # type: ignore[assignment]
    return f"{n_bytes:.1f} {unit}" if unit != "bytes" else f"{n_bytes} bytes"


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
