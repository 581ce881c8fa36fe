"""What a kind of input is, and how the outcome of one input is judged."""

from __future__ import annotations

import math
import random
import traceback
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from kernelwood.errors import KernelwoodError

# A change of an input as JSON, so that a finding can be stored.
Mutation = dict[str, Any]

REFUSED, USED, ERROR = "refused", "used", "error"
EXCEPTION, NAN, SIGNAL, HANG = "exception", "nan", "signal", "hang"
FINDINGS = (EXCEPTION, NAN, SIGNAL, HANG)

_LONGEST_MESSAGE = 300  # characters kept of the message of an exception


class NotANumberError(Exception):
    """A result has NaN."""


class Kind(ABC):
    """A kind of input, such as the files of one class of models.

    Parameters
    ----------
    name : str
        Group and name, such as ``"model/kernel-svc"``.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def prepare(self) -> None:  # noqa: B027 - many kinds have nothing to prepare
        """Make the honest samples; called once, before processes are forked."""

    def start(self) -> None:  # noqa: B027 - many kinds have nothing to start
        """Start what does not survive a fork, such as threads; called in each process."""

    @abstractmethod
    def draw(self, rng: random.Random) -> list[Mutation]:
        """Return random changes of a sample."""

    @abstractmethod
    def run(self, mutations: list[Mutation]) -> str:
        """Apply changes to a sample, read the result and use it.

        Returns ``"refused"``, ``"used"`` or ``"error"``. Any exception is a finding.
        """


class Use:
    """Calls of methods, of which each may end in an error of ours."""

    def __init__(self, *allowed: type[Exception]) -> None:
        self.allowed = (KernelwoodError, NotFittedError, *allowed)
        self.n_errors = 0

    def __call__(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Return the result of a call, without NaN; None after an error of ours."""
        try:
            result = function(*arguments, **options)
        except self.allowed:
            self.n_errors += 1
            return None
        if has_nan(result):
            raise NotANumberError(getattr(function, "__qualname__", str(function)))
        return result

    @property
    def outcome(self) -> str:
        """Whether a call has ended in an error."""
        return ERROR if self.n_errors else USED


def has_nan(value: Any) -> bool:
    """Return whether there is NaN in numbers, arrays, and lists and mappings of these."""
    waiting, seen = [value], 0
    while waiting and seen < 100_000:
        one = waiting.pop()
        seen += 1
        if isinstance(one, (float, np.floating)):
            if math.isnan(one):
                return True
        elif isinstance(one, np.ndarray):
            if one.dtype.kind == "f" and np.isnan(one).any():
                return True
        elif isinstance(one, Mapping):
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple)):
            waiting.extend(one)
    return False


def judge(kind: Kind, mutations: list[Mutation]) -> dict[str, Any]:
    """Return the outcome of one input in this process, as JSON."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"outcome": kind.run(mutations)}
    except NotANumberError as found:
        return {"outcome": NAN, "where": str(found)}
    except (Exception, SystemExit) as failure:
        return {
            "outcome": EXCEPTION,
            "type": type(failure).__name__,
            "where": _place(failure),
            "message": str(failure)[:_LONGEST_MESSAGE],
        }


def _place(failure: BaseException) -> str:
    """Return the innermost function of the library in a traceback."""
    place = "?"
    for frame in traceback.extract_tb(failure.__traceback__):
        parts = frame.filename.replace("\\", "/").rsplit("/kernelwood/", 1)
        if len(parts) == 2:
            place = f"{parts[1]}:{frame.name}"
    return place


def same_finding(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two outcomes are findings with one likely cause."""
    return signature(one) == signature(other)


def signature(outcome: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what tells a finding from others."""
    return tuple(outcome.get(key) for key in ("outcome", "type", "where", "signal"))
