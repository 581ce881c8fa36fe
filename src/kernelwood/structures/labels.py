"""The one check every label of every structure passes."""

from __future__ import annotations

from functools import lru_cache

from kernelwood.errors import StructureError

__all__ = ["check_label", "one_line", "share", "shorten"]

_MAX_SHARED_LENGTH = 100


def check_label(value: object, what: str) -> str:
    """Return ``value`` as a plain string, or say why it cannot be a label.

    Subclasses of ``str`` (``numpy.str_``, string enumerations) become plain strings, so that a
    structure holds, pickles and prints nothing but text.

    Parameters
    ----------
    value : object
        The label.
    what : str
        What it labels, for the message: ``"node label of element 3"``.

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


def shorten(text: str, width: int = 60) -> str:
    """Return ``text`` cut to ``width`` characters, the last three being dots.

    Examples
    --------
    >>> shorten("a very long word", 9)
    'a very...'
    """
    return text if len(text) <= width else text[: width - 3] + "..."


def one_line(text: str) -> str:
    r"""Return ``text`` with a space for whatever moves the cursor: it would break a table.

    Examples
    --------
    >>> one_line("two\nlines")
    'two lines'
    """
    return "".join(c if c.isprintable() else " " for c in text)


def share(label: str) -> str:
    """Return an equal label that was seen before, if there was one lately: one copy is enough.

    Not ``sys.intern``, which keeps what it is given for ever in some versions of Python.

    Examples
    --------
    >>> share("".join(["N", "P"])) is share("".join(["N", "P"]))
    True
    """
    return _shared(label) if len(label) <= _MAX_SHARED_LENGTH else label


@lru_cache(1 << 14)
def _shared(label: str) -> str:
    return label
