"""Cache of values computed from structures, stored with their batch, limited in number and size."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from kernelwood.threads import LOCK

_T = TypeVar("_T")
_MOST_VALUES = 16


class KeptValues:
    """Cache of values by key; the least recently used ones are removed for new ones.

    Values must not change. All threads get the same value for a key.

    Examples
    --------
    >>> kept = KeptValues()
    >>> kept.get("one", lambda: b"0" * 600, room=1000)[:2]
    b'00'
    >>> kept.nbytes
    600
    >>> _ = kept.get("two", lambda: b"1" * 600, room=1000)
    >>> kept.nbytes, "one" in kept
    (600, False)
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, tuple[Any, int]] = {}  # with sizes, those used last at the end

    @property
    def nbytes(self) -> int:
        """Memory of all values in bytes."""
        return sum(size for _, size in list(self._values.values()))

    def get(self, key: Hashable, compute: Callable[[], _T], room: int | None = None) -> _T:
        """Return the value for a key, computed if it is not kept.

        Parameters
        ----------
        key : hashable
        compute : callable
            Returns the value. Threads that ask at the same time may all call it.
        room : int, optional
            Maximum number of bytes of all values together; a larger value is not kept. By default
            a value of any size is kept.
        """
        with LOCK:
            if (known := self._values.pop(key, None)) is not None:
                self._values[key] = known
                found: _T = known[0]
                return found
        value = compute()
        size = _size(value)
        with LOCK:
            if key in self._values:  # another thread was faster
                found = self._values[key][0]
                return found
            if room is None or size <= room:
                self._make_room(size, room)
                self._values[key] = value, size
        return value

    def _make_room(self, size: int, room: int | None) -> None:
        total = self.nbytes + size
        for oldest in list(self._values):
            if len(self._values) < _MOST_VALUES and (room is None or total <= room):
                return
            total -= self._values.pop(oldest)[1]

    def clear(self) -> None:
        """Drop all values."""
        self._values = {}

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values


def _size(value: Any) -> int:
    """Return the memory of a value; 0 of what is small whatever the structures are."""
    if isinstance(value, tuple) and not hasattr(value, "nbytes"):
        return sum(map(_size, value))
    if isinstance(value, bytes):
        return len(value)
    return int(getattr(value, "nbytes", 0))
