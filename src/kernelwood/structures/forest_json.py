"""Packed forests as JSON, and the strict reading of JSON that goes with it.

::

    {"labels": ["NP", "Ann"], "edges": [[0, [1], 1.0]], "root": 0, "spans": [[0, 1], [0, 1]]}

``edges`` lists head, children and probability; nodes are counted from 0 in the order of
``labels``. ``spans`` is left out when the forest has none, and ``fallback`` unless it is true.

Python's ``json`` lets pass what other programs do not: repeated keys, of which it drops all but
the last, and ``NaN``. Here both are errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

from kernelwood.errors import StructureError
from kernelwood.structures.labels import shorten

if TYPE_CHECKING:
    from kernelwood.structures.forest import Forest

__all__ = [
    "check_list",
    "check_object",
    "decode_json",
    "describe",
    "encode_json",
    "forest_from_object",
    "forest_object",
    "read_json",
    "write_json",
]

_STRING_OR_CONSTANT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(-?Infinity|NaN)', re.DOTALL)


def write_json(forest: Forest) -> str:
    """Return a forest as one line of JSON; `read_json` gives back an equal forest.

    Examples
    --------
    >>> from kernelwood.structures import Forest
    >>> write_json(Forest(["NP", "Ann"], [(0, (1,), 0.1)], 0))
    '{"labels":["NP","Ann"],"edges":[[0,[1],0.1]],"root":0}'
    """
    return encode_json(forest_object(forest))


def read_json(text: str) -> Forest:
    """Return the forest that ``text`` holds.

    Raises
    ------
    StructureError
        If the text is not JSON, with line and column, or the object is not a forest.

    Examples
    --------
    >>> read_json('{"labels": ["NP", "Ann"], "edges": [[0, [1], 0.1]], "root": 0}')
    Forest(2 nodes, 1 hyper-edge, root='NP')
    >>> read_json('{"labels": ["Ann"], "edge": [], "root": 0}')
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: the forest has an unknown key 'edge'
        did you mean 'edges'? known keys: labels, edges, root, spans, fallback
    """
    return forest_from_object(decode_json(text))


def forest_object(forest: Forest) -> dict[str, object]:
    """Return a forest as the lists, numbers and strings that JSON knows.

    Examples
    --------
    >>> from kernelwood.structures import Forest
    >>> forest_object(Forest(["Ann"], [], 0, [(0, 1)]))
    {'labels': ['Ann'], 'edges': [], 'root': 0, 'spans': [[0, 1]]}
    """
    made: dict[str, object] = {
        "labels": list(forest.labels),
        "edges": [[head, list(children), weight] for head, children, weight in forest.edges],
        "root": forest.root,
    }
    if forest.spans is not None:
        made["spans"] = [list(span) for span in forest.spans]
    if forest.fallback:
        made["fallback"] = True
    return made


def forest_from_object(value: object) -> Forest:
    """Return the forest that a decoded JSON object describes, the inverse of `forest_object`.

    Raises
    ------
    StructureError
        If a key is missing or unknown, a value has the wrong type, or the parts do not make a
        forest.

    Examples
    --------
    >>> forest_from_object({"labels": ["Ann"], "edges": [], "root": 0})
    Forest(1 node, 0 hyper-edges, root='Ann')
    """
    from kernelwood.structures.forest import Forest

    known = check_object(value, "the forest", ("labels", "edges", "root"), ("spans", "fallback"))
    for key in ("labels", "edges", "spans"):
        if key in known:
            check_list(known[key], f"{key!r} of the forest")
    for position, edge in enumerate(known["edges"]):
        # What is no triple at all is reported by the forest itself.
        if type(edge) is list and len(edge) == 3 and type(edge[1]) is not list:
            check_list(edge[1], f"children of hyper-edge {position}")
    fallback = known.get("fallback", False)
    if type(fallback) is not bool:
        raise StructureError(
            f"'fallback' of the forest must be true or false, got {describe(fallback)}"
        )
    try:
        return Forest(
            known["labels"], known["edges"], known["root"], known.get("spans"), fallback=fallback
        )
    except RecursionError:  # a message that would show a value of a thousand nested lists
        raise _too_deep() from None


def encode_json(value: object) -> str:
    """Return a value as one line of compact JSON; floats keep every bit.

    Raises
    ------
    StructureError
        If a number is not finite, or has more digits than Python writes.

    Examples
    --------
    >>> encode_json({"é": [0.1, 1]})
    '{"é":[0.1,1]}'
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as failure:
        raise StructureError(f"a number cannot be written as JSON: {failure}") from failure


def decode_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    StructureError
        If the text is not JSON, repeats a key, has ``NaN`` or ``Infinity``, a number beyond
        Python's limit of digits, or hundreds of nested brackets.

    Examples
    --------
    >>> decode_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> decode_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: the key 'a' appears twice in one object
        keep one of the two
    """
    if not isinstance(text, str):
        raise StructureError(f"expected JSON text, got {type(text).__name__}")
    try:
        return _DECODER.decode(text)
    except StructureError:
        raise
    except _ConstantError as failure:
        raise _misplaced_constant(text, str(failure)) from None
    except json.JSONDecodeError as failure:
        problem = f"not valid JSON: {failure.msg[0].lower()}{failure.msg[1:]}"
        raise _located(text, failure.pos, problem) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as failure:
        raise StructureError(
            f"a number has too many digits: {failure}", hint="write it with an exponent"
        ) from None


def check_object(
    value: object, what: str, required: Iterable[str] = (), optional: Iterable[str] | None = ()
) -> dict[str, Any]:
    """Return a decoded object whose keys are as they should be; ``optional=None`` allows any.

    Examples
    --------
    >>> check_object({"root": 0}, "the forest", ["root"], ["spans"])
    {'root': 0}
    """
    if not isinstance(value, dict):
        raise StructureError(f"{what} must be an object, got {describe(value)}")
    required = tuple(required)
    known = None if optional is None else (*required, *optional)
    for key in value:
        if known is not None and key not in known:
            near = get_close_matches(key, known, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise StructureError(
                f"{what} has an unknown key {shorten(repr(key))}",
                hint=f"{guess}known keys: {', '.join(known)}",
            )
    for key in required:
        if key not in value:
            raise StructureError(f"{what} has no key {key!r}")
    return value


def check_list(value: object, what: str) -> list[Any]:
    """Return ``value`` if it is a list.

    Examples
    --------
    >>> check_list("NP", "'labels' of the forest")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: 'labels' of the forest must be a list, got the string 'NP'
    """
    if not isinstance(value, list):
        raise StructureError(f"{what} must be a list, got {describe(value)}")
    return value


def describe(value: object) -> str:
    """Name a decoded value for a message, without looking inside.

    Examples
    --------
    >>> describe(None), describe([[]]), describe(1.5)
    ('null', 'a list', 'the number 1.5')
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {shorten(repr(value))}"
        case int() | float():
            return f"the number {shorten(repr(value))}"
        case dict():
            return "an object"
        case list():
            return "a list"
    return f"a {type(value).__name__}"


class _ConstantError(Exception):
    """One of the words for numbers that are none."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise StructureError(
                    f"the key {shorten(repr(key))} appears twice in one object",
                    hint="keep one of the two",
                )
            seen.add(key)
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


def _too_deep() -> StructureError:
    return StructureError(
        "lists or objects are nested too deeply", hint="no part of the format nests more than a few"
    )


def _misplaced_constant(text: str, name: str) -> StructureError:
    found = (match for match in _STRING_OR_CONSTANT.finditer(text) if match[1])
    place = next(found, None)
    problem = f"{name} is not a number in JSON"
    return StructureError(problem) if place is None else _located(text, place.start(), problem)


def _located(text: str, index: int, problem: str) -> StructureError:
    """Return an error that points to a character of the text, counted from 0."""
    start = text.rfind("\n", 0, index) + 1
    end = text.find("\n", index)
    return StructureError(
        problem,
        line=text.count("\n", 0, index) + 1,
        column=index - start + 1,
        snippet=text[start : len(text) if end < 0 else end],
    )
