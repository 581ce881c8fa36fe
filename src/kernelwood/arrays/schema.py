"""Schemas of saved state: checks of the values that a class reads from a file.

A class declares a check for each value that it saves. A size is a number, or the name of another
value of the same state (its length, or itself if it is a whole number) or of an attribute of one
(``"embedder_.rank_"``); any other name stands for the size at its first occurrence, which all later
ones must have. Numbers are compared, never subtracted: differences of values from a file can
overflow.

Examples
--------
>>> schema = {
...     "names": Strings("n"),
...     "counts": ArrayOf("int64", "n", least=0),
...     "columns": ArrayOf("int32", None, least=0, below=5),
...     "offsets": Offsets("n", total="columns"),
... }
>>> values = {
...     "names": np.array(["a", "b"]),
...     "counts": np.array([3, 1]),
...     "offsets": np.array([0, 1, 2]),
...     "columns": np.array([4, 0], dtype=np.int32),
... }
>>> check_values(schema, values)
>>> check_values(schema, {**values, "offsets": np.array([0, 2**63 - 1, 2])})
Traceback (most recent call last):
...
kernelwood.arrays.schema.SchemaError: offsets must rise from 0 to the 2 rows of columns
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays.ragged import rises
from kernelwood.structures import shorten

Size = int | str | None

LARGE = 1e100  # squares of sums of products of such numbers are finite


class SchemaError(ValueError):
    """A value violates the schema of its class.

    Parameters
    ----------
    name : str
        Name of the value.
    fault : str
        The violation, such as ``"must be text"``.
    """

    def __init__(self, name: str, fault: str) -> None:
        self.name, self.fault = name, fault
        super().__init__(f"{name} {fault}")

    def __reduce__(self) -> tuple[object, ...]:
        return (SchemaError, (self.name, self.fault))


class Check(ABC):
    """Base class of checks of a value."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({fields})"

    @abstractmethod
    def _fault(self, value: Any, state: State) -> str | None:
        """Return None if a value is right, else what it must be, such as ``"must be text"``."""


Schema = Mapping[str, Check]


class State:
    """Values by name, and the sizes that they give to names.

    Parameters
    ----------
    values : mapping from str to object
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self._bound: dict[str, int] = {}

    def size(self, size: int | str, found: int | None = None) -> int | None:
        """Return a size; None if the value that has it is not a list or a whole number.

        Parameters
        ----------
        size : int or str
        found : int, optional
            Size for a name that has none yet.
        """
        if isinstance(size, int):
            return size
        name, *attributes = size.split(".")
        if name not in self.values:
            return self._bound.get(size) if found is None else self._bound.setdefault(size, found)
        value = self.values[name]
        for attribute in attributes:
            value = getattr(value, attribute, None)
        if type(value) is int or isinstance(value, np.integer):
            return int(value)
        if isinstance(value, np.ndarray):
            return len(value) if value.ndim else None
        return len(value) if hasattr(value, "__len__") and not isinstance(value, str) else None


def check_values(schema: Schema, values: Mapping[str, Any], **more: Any) -> None:
    """Raise SchemaError unless the values are exactly those of a schema and pass its checks.

    Parameters
    ----------
    schema : mapping from str to Check
    values : mapping from str to object
    **more : object
        Values that sizes may refer to.
    """
    for name in values:
        if name not in schema:
            raise SchemaError(shorten(repr(name)), "is unknown")
    for name in schema:
        if name not in values:
            raise SchemaError(name, "is missing")
    state = State({**more, **values})
    for name, check in schema.items():
        fault = check._fault(values[name], state)
        if fault is not None:
            raise SchemaError(name, fault)


# Arrays.


class ArrayOf(Check):
    """An array of finite numbers.

    Parameters
    ----------
    dtype : str
        Name of its type, or of several allowed types: ``"float32 float64"``.
    *shape : int, str or None
        Its sizes; None allows any.
    least, most : number, optional
        The range of its numbers.
    above : number, optional
        Exclusive lower bound of its numbers.
    below : int or str, optional
        Exclusive upper bound, a size: the numbers are indices of rows.
    rising : bool
        Whether each is greater than the one before.
    """

    def __init__(
        self,
        dtype: str,
        *shape: Size,
        least: float | None = None,
        most: float | None = None,
        above: float | None = None,
        below: int | str | None = None,
        rising: bool = False,
    ) -> None:
        self.dtypes = tuple(np.dtype(name) for name in dtype.split())
        self.shape, self.least, self.most = shape, least, most
        self.above, self.below, self.rising = above, below, rising

    def _fault(self, value: Any, state: State) -> str | None:
        if not isinstance(value, np.ndarray) or value.dtype not in self.dtypes:
            return f"must be an array of {' or '.join(map(str, self.dtypes))}"
        if value.ndim != len(self.shape):
            return f"must be an array with {len(self.shape)} dimensions, got {value.ndim}"
        for size, found in zip(self.shape, value.shape, strict=True):
            if size is not None and state.size(size, found) != found:
                return f"must be an array of shape {self._expected(value.shape, state)}"
        if value.size == 0 or value.dtype == np.bool_:
            return None
        return self._out_of_range(value, state) or self._out_of_order(value)

    def _out_of_range(self, value: NDArray[Any], state: State) -> str | None:
        # Plain numbers, which are compared exactly; NaN if there is one.
        low, high = value.min().item(), value.max().item()
        if value.dtype.kind == "f" and not (math.isfinite(low) and math.isfinite(high)):
            return "must be finite"
        if self.least is not None and not low >= self.least:
            return f"must be at least {self.least}"
        if self.most is not None and not high <= self.most:
            return f"must be at most {self.most}"
        if self.above is not None and not low > self.above:
            return f"must be above {self.above}"
        if self.below is not None:
            end = state.size(self.below)
            if end is None or not high < end:
                return f"must be below {end}, the number of rows of {self.below}"
        return None

    def _out_of_order(self, value: NDArray[Any]) -> str | None:
        if self.rising and not (value[:-1] < value[1:]).all():
            return "must be in rising order"
        return None

    def _expected(self, shape: tuple[int, ...], state: State) -> str:
        sizes = (
            found if size is None else state.size(size, found)
            for size, found in zip(self.shape, shape, strict=True)
        )
        return str(tuple(sizes))


@dataclass(frozen=True)
class Offsets(Check):
    """Offsets of the pieces of other arrays, and their end: int64, from 0, never falling.

    Declare it after these arrays, so that an error in them is not reported as one of the offsets.

    Parameters
    ----------
    rows : int, str or None
        Number of pieces; None allows any.
    total : int or str
        The size of the arrays.
    filled : bool
        Whether no piece is empty.
    """

    rows: Size
    total: int | str
    filled: bool = False

    def _fault(self, value: Any, state: State) -> str | None:
        if not isinstance(value, np.ndarray) or value.dtype != np.int64 or value.ndim != 1:
            return "must be an array of int64 with 1 dimension"
        total = state.size(self.total)
        if not rises(value, strictly=self.filled) or len(value) == 0:
            return f"must rise from 0 to the {total} rows of {self.total}"
        n = len(value) - 1
        if self.rows is not None and state.size(self.rows, n) != n:
            return f"must be {state.size(self.rows, n)} offsets and their end, got {n}"
        if value[0] != 0 or total is None or value[-1] != total:
            return f"must rise from 0 to the {total} rows of {self.total}"
        return None


@dataclass(frozen=True)
class Strings(Check):
    """A list or an array of strings.

    Parameters
    ----------
    size : int, str or None
    filled : bool
        Whether no string is empty.
    different : bool
        Whether no two are equal.
    rising : bool
        Whether they are sorted and different.
    """

    size: Size = None
    filled: bool = False
    different: bool = False
    rising: bool = False

    def _fault(self, value: Any, state: State) -> str | None:
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "OU":
            value = value.tolist()
        if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
            return "must be strings"
        if self.size is not None and state.size(self.size, len(value)) != len(value):
            return f"must be {state.size(self.size, len(value))} strings, got {len(value)}"
        if self.filled and not all(value):
            return "must not have an empty string"
        if self.different and len(set(value)) < len(value):
            return "must be different strings"
        if self.rising and not all(a < b for a, b in pairwise(value)):
            return "must be sorted, different strings"
        return None


@dataclass(frozen=True)
class Labels(Check):
    """Different labels of classes, as an array of strings or numbers.

    Parameters
    ----------
    least : int
        Minimum number of labels.
    """

    least: int = 1

    def _fault(self, value: Any, state: State) -> str | None:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "Ubiuf":
            return "must be labels"
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            return "must be finite labels"
        if len(value) < self.least:
            return f"must be at least {self.least} labels"
        return None if len(np.unique(value)) == len(value) else "must be distinct labels"


# Plain values.


@dataclass(frozen=True)
class Whole(Check):
    """A whole number, not a boolean, from ``least`` to ``most``."""

    least: int | None = 0
    most: int | None = None

    def _fault(self, value: Any, state: State) -> str | None:
        if type(value) is not int and not isinstance(value, np.integer):
            return "must be a whole number"
        if self.least is not None and value < self.least:
            return f"must be a whole number of at least {self.least}"
        if self.most is not None and value > self.most:
            return f"must be a whole number of at most {self.most}"
        return None


@dataclass(frozen=True)
class Real(Check):
    """A finite float from ``least`` to ``most``."""

    least: float = -math.inf
    most: float = math.inf

    def _fault(self, value: Any, state: State) -> str | None:
        if not isinstance(value, (float, np.floating)) or not math.isfinite(value):
            return "must be a finite number"
        if not self.least <= value <= self.most:
            return f"must be a number from {self.least} to {self.most}"
        return None


class Text(Check):
    """A string, one of ``choices`` if there are any."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def _fault(self, value: Any, state: State) -> str | None:
        if not isinstance(value, str):
            return "must be a string"
        if self.choices and value not in self.choices:
            return f"must be one of {', '.join(self.choices)}"
        return None


@dataclass(frozen=True)
class Flag(Check):
    """True or False."""

    def _fault(self, value: Any, state: State) -> str | None:
        return None if isinstance(value, (bool, np.bool_)) else "must be True or False"


@dataclass(frozen=True)
class Figure(Check):
    """Any number, for the record only: NaN and infinity are allowed."""

    def _fault(self, value: Any, state: State) -> str | None:
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        return None if number else "must be a number"


@dataclass(frozen=True)
class Plain(Check):
    """None, a string or a number; nothing that contains other values."""

    def _fault(self, value: Any, state: State) -> str | None:
        plain = value is None or isinstance(value, (str, bool, int, float, np.generic))
        return None if plain else "must be a string or a number"


# Values made of values.


@dataclass(frozen=True)
class Maybe(Check):
    """None, or a value that passes another check."""

    check: Check

    def _fault(self, value: Any, state: State) -> str | None:
        fault = None if value is None else self.check._fault(value, state)
        return fault and f"{fault}, or None"


class OneOf(Check):
    """A value that passes at least one of several checks."""

    def __init__(self, *checks: Check) -> None:
        self.checks = checks

    def _fault(self, value: Any, state: State) -> str | None:
        faults = [check._fault(value, state) for check in self.checks]
        return None if None in faults else ", or ".join(str(fault) for fault in faults)


@dataclass(frozen=True)
class Anything(Check):
    """Any value; for those that are only shown, or checked elsewhere."""

    def _fault(self, value: Any, state: State) -> str | None:
        return None


@dataclass(frozen=True)
class Items(Check):
    """A list, or with ``kind=tuple`` a tuple, of values that pass a check.

    Parameters
    ----------
    check : Check
        Of each item.
    size : int, str or None
    kind : type
    """

    check: Check
    size: Size = None
    kind: type = list

    def _fault(self, value: Any, state: State) -> str | None:
        if not isinstance(value, (list, tuple)) or type(value) is not self.kind:
            return f"must be a {self.kind.__name__}"
        if self.size is not None and state.size(self.size, len(value)) != len(value):
            return f"must have {state.size(self.size, len(value))} items, got {len(value)}"
        for number, item in enumerate(value):
            if (fault := self.check._fault(item, state)) is not None:
                return f"at {number} {fault}"
        return None


@dataclass(frozen=True)
class Named(Check):
    """A dictionary from strings to values that pass a check."""

    check: Check

    def _fault(self, value: Any, state: State) -> str | None:
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            return "must be a dictionary with names"
        for key, item in value.items():
            if (fault := self.check._fault(item, state)) is not None:
                return f"at {shorten(repr(key))} {fault}"
        return None


@dataclass(frozen=True)
class Fields(Check):
    """A dictionary with exactly these keys, each with a check."""

    checks: Mapping[str, Check]

    def _fault(self, value: Any, state: State) -> str | None:
        if not isinstance(value, dict) or set(value) != set(self.checks):
            return f"must be a dictionary of {', '.join(self.checks)}"
        for key, check in self.checks.items():
            if (fault := check._fault(value[key], state)) is not None:
                return f"at {key} {fault}"
        return None


class Instance(Check):
    """An object of a class, or of one of several; with ``exact`` not of a subclass."""

    def __init__(self, *classes: type, exact: bool = False) -> None:
        self.classes, self.exact = classes, exact

    def _fault(self, value: Any, state: State) -> str | None:
        good = type(value) in self.classes if self.exact else isinstance(value, self.classes)
        names = " or ".join(cls.__name__ for cls in self.classes)
        return None if good else f"must be a {names}, got {type(value).__name__}"
