"""What all structures share: they never change."""

from __future__ import annotations

from typing import NoReturn, TypeVar

__all__ = ["Frozen"]

_T = TypeVar("_T", bound="Frozen")


class Frozen:
    """Base of immutable classes with slots; a copy of an immutable object is the object."""

    __slots__ = ()

    def _fill(self, **values: object) -> None:
        """Set attributes while the object is being made."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        kind = type(self).__name__
        raise AttributeError(f"{kind} objects never change; make a new one to set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} objects never change; cannot delete {name!r}")

    def __copy__(self: _T) -> _T:
        return self

    def __deepcopy__(self: _T, memo: object) -> _T:
        return self
