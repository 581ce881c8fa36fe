"""Constructor arguments as parameters, and checks of them."""

from __future__ import annotations

import inspect
import math
from difflib import get_close_matches
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

from kernelwood.errors import KernelInputError

P = TypeVar("P", bound="Parameterized")

_MOST_CHARACTERS = 10**8  # in the names of nested parameters, which repeat those around them


def check_int(
    name: str, value: Any, low: int, high: int | None = None, *, none: bool = False
) -> None:
    """Raise KernelInputError if a value is not an int from ``low`` to ``high`` (or None)."""
    if none and value is None:
        return
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < low or (high is not None and int(value) > high):
        allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise KernelInputError(
            f"{name} must be an int {allowed}{' or None' if none else ''}, got {value!r}"
        )


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number that is finite as a float.

    Examples
    --------
    >>> is_number(0.5), is_number(True), is_number(float("nan")), is_number(10**400)
    (True, False, False, False)
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond the range of floats
        return False


class ChecksParameters:
    """Checks of single parameters, with messages that name the class, the range and the value."""

    def _check_number(self, name: str, low: float, high: float, interval: str) -> None:
        """Raise KernelInputError if a parameter is outside of ``interval``, such as "[0, 1)"."""
        value = getattr(self, name)
        inside = (
            is_number(value)
            and (low < float(value) if interval[0] == "(" else low <= float(value))
            and (float(value) < high if interval[-1] == ")" else float(value) <= high)
        )
        if not inside:
            raise KernelInputError(
                f"{type(self).__name__}: {name} must be a number in {interval}, got {value!r}"
            )

    def _check_choice(self, name: str, choices: tuple[Any, ...]) -> None:
        """Raise KernelInputError if a parameter is not one of ``choices``; 1 is not True."""
        value = getattr(self, name)
        number = isinstance(value, Real) and not isinstance(value, bool)
        if number or not any(value == choice for choice in choices):
            raise KernelInputError(
                f"{type(self).__name__}: {name} must be one of {choices}, got {value!r}"
            )

    def _check_count(self, name: str, low: int, *, none: bool = False) -> None:
        """Raise KernelInputError if a parameter is not an int of at least ``low`` (or None)."""
        check_int(f"{type(self).__name__}: {name}", getattr(self, name), low, none=none)


class Parameterized(ChecksParameters):
    """Base class with the parameter interface of scikit-learn's estimators.

    The constructor only stores its arguments under their own names; ``get_params``, ``set_params``,
    ``clone``, equality, ``repr`` and pickling are derived from its signature.
    """

    @classmethod
    @cache
    def _parameter_names(cls) -> tuple[str, ...]:
        if cls.__init__ is object.__init__:
            return ()
        names = inspect.signature(cls.__init__).parameters
        return tuple(name for name in names if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also nested ones, such as ``kernel__decay``."""
        params = {name: getattr(self, name) for name in self._parameter_names()}
        return self._with_nested(params) if deep else params

    def _with_nested(self, own: dict[str, Any]) -> dict[str, Any]:
        params: dict[str, Any] = {}
        n_characters = 0
        waiting: list[tuple[str, Any]] = [("", own)]
        while waiting:
            prefix, some = waiting.pop()
            params.update({f"{prefix}{name}": value for name, value in some.items()})
            n_characters += len(some) * len(prefix)
            if n_characters > _MOST_CHARACTERS:
                raise KernelInputError(
                    f"{type(self).__name__} is nested too deeply to list all parameters inside it; "
                    "use get_params(deep=False)"
                )
            inside = []
            for name, value in some.items():
                # Others list theirs; the parameters of ours are not followed by recursion.
                if getattr(type(value), "get_params", None) is Parameterized.get_params:
                    inside.append((f"{prefix}{name}__", value.get_params(deep=False)))
                elif hasattr(value, "get_params"):
                    nested = value.get_params()
                    params.update({f"{prefix}{name}__{key}": v for key, v in nested.items()})
            waiting.extend(reversed(inside))
        return params

    def set_params(self: P, **params: Any) -> P:
        """Change parameters in place, nested ones as ``kernel__decay=0.5``; return the object."""
        waiting: list[tuple[Any, dict[str, Any]]] = [(self, params)]
        while waiting:
            target, some = waiting.pop()
            if isinstance(target, Parameterized):
                waiting.extend(reversed(target._set_own(some)))
            else:
                target.set_params(**some)
        return self

    def _set_own(self, params: dict[str, Any]) -> list[tuple[Any, dict[str, Any]]]:
        """Set the parameters of this object; return those of its values."""
        names = self._parameter_names()
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in names:
                close = get_close_matches(name, names, n=1)
                raise KernelInputError(
                    f"{type(self).__name__} has no parameter {name!r}"
                    + (f"; did you mean {close[0]!r}?" if close else f"; it has {', '.join(names)}")
                )
            if rest:
                nested.setdefault(name, {})[rest] = value
            else:
                setattr(self, name, value)
        found = []
        for name, inner in nested.items():
            value = getattr(self, name)
            if not hasattr(value, "set_params"):
                raise KernelInputError(
                    f"{type(self).__name__}: {name} is {value!r}, which has no parameters"
                )
            found.append((value, inner))
        return found

    def clone(self: P) -> P:
        """Return a new object with the same parameters."""
        params = self.get_params(deep=False)
        return type(self)(
            **{
                name: value.clone() if isinstance(value, Parameterized) else value
                for name, value in params.items()
            }
        )

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Parameterized):
            return NotImplemented
        return self.get_params(deep=False) == other.get_params(deep=False)

    def __hash__(self) -> int:
        # Parameters can change, and equal parameters may have different hashes (dtype and name).
        return hash(type(self))

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if defaults[name].default is inspect.Parameter.empty or value != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"
