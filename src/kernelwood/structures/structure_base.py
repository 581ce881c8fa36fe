"""Base class of structures, checks of labels, and text for messages."""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import NoReturn, TypeVar

from kernelwood.errors import StructureError

_MAX_SHARED_LENGTH = 100
_set = object.__setattr__

_T = TypeVar("_T", bound="Frozen")


class Frozen:
    """Base of immutable classes with slots; a copy is the object itself."""

    __slots__ = ()

    def _fill(self, **values: object) -> None:
        """Set attributes during construction."""
        for name, value in values.items():
            _set(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        kind = type(self).__name__
        raise AttributeError(f"{kind} objects never change; make a new one to set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} objects never change; cannot delete {name!r}")

    def __copy__(self: _T) -> _T:
        return self

    def __deepcopy__(self: _T, memo: object) -> _T:
        return self


def check_label(value: object, what: str) -> str:
    """Return ``value`` as a plain string.

    Subclasses of ``str`` (``numpy.str_``, string enumerations) are converted, so that a structure
    holds, pickles and prints plain text only.

    Parameters
    ----------
    value : object
        The label.
    what : str
        Name of the labeled part, for the message: ``"node label of element 3"``.

    Raises
    ------
    StructureError
        If ``value`` is not a string.

    Examples
    --------
    >>> check_label("NP", "tree label")
    'NP'
    >>> check_label(7, "tree label")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: tree label must be a string, got 7 of type int
        convert it first: str(7)
    """
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    shown = shorten(repr(value))
    raise StructureError(
        f"{what} must be a string, got {shown} of type {type(value).__name__}",
        hint='use "" for an empty label' if value is None else f"convert it first: str({shown})",
    )


def check_integer(value: object, what: str) -> int:
    """Return ``value`` as a plain integer; booleans are errors.

    Examples
    --------
    >>> check_integer(3, "start")
    3
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        raise StructureError(
            f"{what} must be an integer, got {show(value)} of type {type(value).__name__}"
        ) from None


def error_at(problem: str, text: str, position: int, hint: str | None = None) -> StructureError:
    """Return an error with the line and column of a character of the text."""
    start = text.rfind("\n", 0, position) + 1
    return StructureError(
        problem,
        line=text.count("\n", 0, position) + 1,
        column=position - start + 1,
        snippet=text[start:].partition("\n")[0].rstrip("\r"),
        hint=hint,
    )


def shorten(text: str, width: int = 60) -> str:
    """Return ``text`` cut to ``width`` characters, the last three being dots.

    Examples
    --------
    >>> shorten("a very long word", 9)
    'a very...'
    """
    return text if len(text) <= width else text[: width - 3] + "..."


def show(value: object) -> str:
    """Return the shortened ``repr`` of any value, for a message.

    Examples
    --------
    >>> show((0, 1)), show(10**5000)
    ('(0, 1)', 'an int too long to show')
    """
    try:
        return shorten(repr(value))
    except (ValueError, RecursionError):
        # Python writes neither integers of thousands of digits nor lists nested as deep.
        return f"an {type(value).__name__} too long to show"


def one_line(text: str) -> str:
    r"""Return ``text`` with spaces for line breaks and control characters.

    Examples
    --------
    >>> one_line("two\nlines")
    'two lines'
    """
    return "".join(c if c.isprintable() else " " for c in text)


def share(label: str) -> str:
    """Return a recently seen equal label if there is one, to keep one copy in memory.

    Not ``sys.intern``, which never frees strings in some versions of Python.

    Examples
    --------
    >>> share("".join(["N", "P"])) is share("".join(["N", "P"]))
    True
    """
    return _shared(label) if len(label) <= _MAX_SHARED_LENGTH else label


@lru_cache(1 << 14)
def _shared(label: str) -> str:
    return label
