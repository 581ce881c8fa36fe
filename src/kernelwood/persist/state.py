"""The state of a model: parameters, lists of strings and arrays; and its parameters as JSON.

In JSON, numbers, strings, None and lists are themselves. Other values are objects with a kind::

    {"kind": "mapping", "values": {"det": 0.0}}      a dictionary
    {"kind": "pairs", "values": [[1, 0.5]]}          one with keys that are not all strings
    {"kind": "tuple", "values": [1, 2]}              a tuple
    {"kind": "number", "value": "inf"}               a float that JSON has no number for
    {"kind": "dtype", "name": "float32"}             a number type
    {"kind": "array", "name": "parameter-matrix"}    an array, in a member of its own
    {"kind": "part", "number": 0}                    another model, stored as part 0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import ModelFormatError
from kernelwood.structures import shorten

# Parameters that do not change results; they are not stored.
RUN_TIME = frozenset({"n_jobs"})

NUMBER_TYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float32", "float64",
)  # fmt: skip

_DEEPEST = 32
_LARGEST = 2**1024  # larger than any seed, and fast to parse
_KEYS = (str, int, float, np.bool_, np.integer, np.floating)  # of dictionaries, beside None
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class State(NamedTuple):
    """The state of a model.

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

        Missing parameters get no default: defaults may change between versions, files do not.
        """
        check_names("parameter", self.parameters, set(parameters))
        check_names("text", self.texts, set(texts))
        check_names("array", self.arrays, set(arrays))


def check_names(what: str, found: Iterable[str], expected: set[str]) -> None:
    """Raise ValueError if a name is unknown or missing.

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


def inner_values(value: Any) -> Iterator[Any]:
    """Yield a value and all values inside its lists, tuples and dictionaries."""
    waiting = [(value, 0)]
    while waiting:
        value, depth = waiting.pop()
        yield value
        if isinstance(value, (list, tuple, Mapping)):
            if depth == _DEEPEST:
                raise ModelFormatError(
                    f"a parameter has lists nested more than {_DEEPEST} levels deep",
                    hint="store such a value as an array or as a list of strings",
                )
            inside = value.values() if isinstance(value, Mapping) else value
            waiting.extend((inner, depth + 1) for inner in reversed(list(inside)))


class Encoder:
    """Encodes the parameters of one model as JSON and collects their arrays.

    Parameters
    ----------
    owner : str
        Name of the model's class, for messages.
    number_of : callable
        Returns the number of the part that stores a value; None if the value is not a model.
    """

    def __init__(self, owner: str, number_of: Callable[[Any], int | None]) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._owner = owner
        self._number_of = number_of
        self._name = ""

    def parameters(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters as JSON values; :func:`inner_values` has checked their depth."""
        encoded = {}
        for self._name, value in parameters.items():
            encoded[self._name] = self._encode(value)
        return encoded

    def _encode(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return str.__str__(value) if isinstance(value, str) else value
        if isinstance(value, (int, float, np.bool_, np.integer, np.floating)):
            return self._number(value)
        if isinstance(value, list):
            return [self._encode(inner) for inner in value]
        if isinstance(value, tuple):
            return {"kind": "tuple", "values": [self._encode(inner) for inner in value]}
        number = self._number_of(value)
        if number is not None:
            return {"kind": "part", "number": number}
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        return self._dtype(value)

    def _number(self, value: Any) -> Any:
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, (int, np.integer)):
            if abs(int(value)) >= _LARGEST:
                raise self._refusal("an integer of more than 1024 bits")
            return int(value)
        plain = float(value)
        if math.isfinite(plain):
            if plain != value:
                raise self._refusal(f"{value!r}, which does not fit in 64 bits")
            return plain
        return {"kind": "number", "value": str(plain)}

    def _mapping(self, value: Mapping[Any, Any]) -> Any:
        if all(isinstance(key, str) for key in value):
            values = {str.__str__(key): self._encode(inner) for key, inner in value.items()}
            return {"kind": "mapping", "values": values}
        for key in value:
            if key is not None and not isinstance(key, _KEYS):
                raise self._refusal(f"a dictionary with the key {shorten(repr(key))}")
        pairs = [[self._encode(key), self._encode(inner)] for key, inner in value.items()]
        return {"kind": "pairs", "values": pairs}

    def _array(self, value: NDArray[Any]) -> Any:
        if value.dtype.kind == "U" and value.ndim == 1:
            return value.tolist()
        if value.dtype.name not in NUMBER_TYPES:
            raise self._refusal(f"an array of {value.dtype}")
        name = f"parameter-{self._name}"
        if name in self.arrays:
            name += f"-{len(self.arrays)}"
        self.arrays[name] = value
        return {"kind": "array", "name": name}

    def _dtype(self, value: Any) -> Any:
        number_type = isinstance(value, type) and issubclass(value, (np.generic, float, int))
        if isinstance(value, np.dtype) or number_type:
            dtype = np.dtype(value)
            if dtype.name in NUMBER_TYPES and dtype.isnative:
                return {"kind": "dtype", "name": dtype.name}
        raise self._refusal(f"an object of type {type(value).__qualname__}", registration(value))

    def _refusal(self, what: str, hint: str | None = None) -> ModelFormatError:
        return ModelFormatError(
            f"{self._owner}: {self._name} is or contains {what}, which cannot be saved",
            hint=hint
            or "use plain values, arrays of numbers or classes in kernelwood.persist.MODELS; "
            "register your own class there",
        )


def registration(value: object) -> str | None:
    """Return how to register the class of a kernel or similarity of one's own; None for others."""
    if isinstance(value, type) or type(value).__module__.startswith("kernelwood."):
        return None
    kinds = ("kernel", "reference"), ("similarity", "table")
    kind = next((kind for kind, method in kinds if hasattr(value, method)), None)
    name = type(value).__name__
    return kind and (
        "register the class in kernelwood.persist.MODELS before you save and load:\n"
        "    from kernelwood.persist import MODELS, Row\n"
        f"    MODELS[{kind!r}, {name!r}] = Row({kind!r}, {name!r}, {name})"
    )


class Decoder:
    """Decodes parameters from JSON.

    Parameters
    ----------
    parts : list
        The models restored so far.
    arrays : dict
        The arrays of this model; arrays that are parameters are removed.
    used : set of int
        The numbers of all models that are referred to are added to it.
    """

    def __init__(
        self, parts: list[Any], arrays: dict[str, NDArray[Any]], used: set[int] | None = None
    ) -> None:
        self._parts = parts
        self._used = set() if used is None else used
        self._arrays = arrays
        self._kinds: dict[str, tuple[str, type, Callable[[Any, int], Any]]] = {
            "mapping": ("values", dict, self._mapping),
            "pairs": ("values", list, self._pairs),
            "tuple": ("values", list, lambda values, depth: tuple(self.decode(values, depth))),
            "number": ("value", str, lambda text, depth: _NOT_FINITE[text]),
            "dtype": ("name", str, self._dtype),
            "array": ("name", str, lambda name, depth: self._arrays.pop(name)),
            "part": ("number", int, self._part),
        }

    def decode(self, value: Any, depth: int = 0) -> Any:
        """Return the value of a JSON object; raise ValueError or KeyError if it is invalid."""
        if depth > 2 * _DEEPEST:
            raise ValueError("parameters are nested too deeply")
        if isinstance(value, list):
            return [self.decode(inner, depth + 1) for inner in value]
        if not isinstance(value, dict):
            return value
        key, kind, restore = self._kinds.get(str(value.get("kind")), ("", dict, self._mapping))
        if set(value) != {"kind", key} or type(value[key]) is not kind:
            raise ValueError(f"invalid value {shorten(repr(value))}")
        return restore(value[key], depth + 1)

    def _mapping(self, values: dict[str, Any], depth: int) -> dict[str, Any]:
        return {key: self.decode(value, depth) for key, value in values.items()}

    def _pairs(self, pairs: list[Any], depth: int) -> dict[Any, Any]:
        made = {}
        for pair in pairs:
            if type(pair) is not list or len(pair) != 2:
                raise ValueError(f"{shorten(repr(pair))} is not a pair of key and value")
            plain, value = (self.decode(inner, depth) for inner in pair)
            if plain is not None and not isinstance(plain, (str, int, float)):
                raise ValueError(f"{shorten(repr(plain))} cannot be a key")
            made[plain] = value
        if len(made) < len(pairs):
            raise ValueError("a dictionary has two equal keys")
        return made

    def _dtype(self, name: str, depth: int) -> np.dtype[Any]:
        if name not in NUMBER_TYPES:
            raise ValueError(f"unknown number type {shorten(repr(name))}")
        return np.dtype(name)

    def _part(self, number: int, depth: int) -> Any:
        # Only earlier parts, so that a model cannot contain itself.
        if not 0 <= number < len(self._parts):
            raise ValueError(f"part {number} is not an earlier part")
        self._used.add(number)
        return self._parts[number]
