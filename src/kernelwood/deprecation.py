"""Deprecated functions, classes and parameters: a warning with the replacement until the removal.

A name that changes keeps working for at least one release, with a ``FutureWarning`` that names the
replacement and the version of the removal. ``tests/test_deprecation.py`` fails when a removal is
overdue. ``CONTRIBUTING.md`` says which names are public.

>>> @deprecated("area", removed_in="2.0")
... def surface(width, height):
...     return width * height

>>> @renamed_parameter("breadth", "width", removed_in="2.0")
... def area(width, height):
...     return width * height

>>> import warnings
>>> with warnings.catch_warnings(record=True) as caught:
...     warnings.simplefilter("always")
...     area(breadth=2, height=3)
6
>>> print(caught[0].message)
parameter 'breadth' of area is deprecated and will be removed in kernelwood 2.0; use 'width'
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

__all__ = ["deprecated", "renamed_parameter"]

F = TypeVar("F", bound=Callable[..., Any])


def deprecated(replacement: str, *, removed_in: str) -> Callable[[F], F]:
    """Return a decorator for a function, method or class that will be removed.

    Parameters
    ----------
    replacement : str
        Replacement, as it is written in code.
    removed_in : str
        Version of the removal, written out, since a test looks for it in the source.
    """

    def decorate(old: F) -> F:
        message = _message(old.__qualname__, removed_in, replacement)
        if isinstance(old, type):  # stays a class, for isinstance and subclasses
            kind = cast(Any, old)
            kind.__init__ = _warning_before(kind.__init__, message)
            return old
        return cast(F, _warning_before(old, message))

    return decorate


def renamed_parameter(old: str, new: str, *, removed_in: str) -> Callable[[F], F]:
    """Return a decorator for a function, method or constructor with a renamed parameter.

    The signature has the new name only; the old one works as a keyword.

    Parameters
    ----------
    old, new : str
        Names of the parameter.
    removed_in : str
        Version in which the old name is removed, written out, as for ``deprecated``.
    """

    def decorate(function: F) -> F:
        name = function.__qualname__.removesuffix(".__init__")
        message = _message(f"parameter {old!r} of {name}", removed_in, repr(new))

        @functools.wraps(function)
        def renamed(*args: Any, **kwargs: Any) -> Any:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{name} got {new!r} and its old name {old!r}; give {new!r}")
                warnings.warn(message, FutureWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return cast(F, renamed)

    return decorate


def _message(what: str, removed_in: str, replacement: str) -> str:
    return f"{what} is deprecated and will be removed in kernelwood {removed_in}; use {replacement}"


def _warning_before(function: Callable[..., Any], message: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def warning(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(message, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return warning
