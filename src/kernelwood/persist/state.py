"""What a model is made of, as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from kernelwood.structures import shorten

__all__ = ["RUN_TIME", "State", "check_names"]

# Choices of the moment, which change no result: they are not stored.
RUN_TIME = frozenset({"n_jobs"})


class State(NamedTuple):
    """What a model is made of.

    Attributes
    ----------
    parameters : dict
        None, bool, int, float, str, arrays, dtypes, other models, and lists, tuples and
        dictionaries of all these.
    texts : dict from str to list of str
        Lists of strings by name.
    arrays : dict from str to ndarray
        Arrays of numbers by name.
    """

    parameters: dict[str, Any]
    texts: dict[str, list[str]]
    arrays: dict[str, NDArray[Any]]

    def check(
        self, parameters: Iterable[str] = (), texts: Iterable[str] = (), arrays: Iterable[str] = ()
    ) -> None:
        """Raise ValueError unless there are exactly these names.

        What is missing has no default here: defaults may change, files do not.
        """
        check_names("parameter", self.parameters, set(parameters))
        check_names("text", self.texts, set(texts))
        check_names("array", self.arrays, set(arrays))


def check_names(what: str, found: Iterable[str], expected: set[str]) -> None:
    """Raise ValueError if a name is unknown, or missing.

    Examples
    --------
    >>> check_names("array", ["offset"], {"offsets"})
    Traceback (most recent call last):
    ...
    ValueError: unknown array 'offset'
    """
    unknown, missing = sorted(set(found) - expected), sorted(expected - set(found))
    if unknown or missing:
        name = shorten(repr((unknown or missing)[0]))
        raise ValueError(f"{'unknown' if unknown else 'missing'} {what} {name}")
