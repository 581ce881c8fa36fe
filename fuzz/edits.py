"""Changes of JSON values, arrays, lists of strings and bytes, with values that break assumptions.

A change is drawn with a random generator, described as JSON, and applied later: a description gives
the same bytes every time.
"""

from __future__ import annotations

import ast
import base64
import json
import random
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.persist import array_header

Mutation = dict[str, Any]

# Limits of number types, their neighbors, and pairs whose difference or sum overflows.
INTEGERS = (
    0, 1, -1, 2, -2, 7, 63, 64, 65, 255, 256, 2**15, 2**31 - 1, 2**31, -(2**31), 2**32, 2**32 + 1,
    2**53 + 1, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, 2**63 - 2,
)  # fmt: skip
WRAPS = (
    (2**63 - 1, -2), (2**63 - 1, -(2**63)), (2**62, 2**63 - 1), (-(2**63), 2**63 - 1), (5, -5),
    (2**31 - 1, -(2**31)), (2**63 - 1, 2**63 - 1), (-1, -1), (2**32, 0),
)  # fmt: skip
FLOATS: tuple[float | str, ...] = (
    "nan", "inf", "-inf", 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e308, -1e308, 1e-308, 5e-324, 1e154,
    1.0000000000000002, -1e-12, 3.5e38, 1e15,
)  # fmt: skip
STRINGS = (
    "", " ", "a", "none", "None", "\0", "\ud800", "\u202e", "é" * 3, "x" * 3000, "../../etc",
    "(S", "a(e1,e2)", "tree", "words", "__class__", "\x1b[31m", "1", "nan",
)  # fmt: skip
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64",
    "float16", "complex128", ">i8", ">f8", "U4", "M8[s]",
)  # fmt: skip
HEADERS = (
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<i8', 'fortran_order': True, 'shape': (1,), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (999999999999999999,), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 999999999999999999), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
    "__import__('os').getpid()",
    "{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1,), }",
)
_LARGEST_JSON = 1 << 24  # characters; what repeats more is cut
_TWICE, _RAW = "@@twice@@", "@@raw@@"
_RAW_JSON = (
    "NaN", "Infinity", "-Infinity", "1e999", "-0", "1" + "0" * 350, "1" + "0" * 5000, "0.1e-400",
    "[" * 2000 + "]" * 2000, "[" * 100_000, '{"a":' * 3000 + "1" + "}" * 3000, "\x01", "'a'",
)  # fmt: skip


# JSON.


def json_values(rng: random.Random) -> Any:
    """Return a value that a field does not expect."""
    match rng.randrange(9):
        case 0 | 1:
            return rng.choice(INTEGERS)
        case 2:
            return rng.choice([one for one in FLOATS if not isinstance(one, str)])
        case 3:
            return rng.choice(STRINGS)
        case 4:
            return rng.choice([None, True, False, [], {}, [[]], [None], [0], [""], ["a", "a"]])
        case 5:
            return f"{_RAW}{rng.randrange(len(_RAW_JSON))}{_RAW}"
        case 6:
            return rng.choice([2**64, 2**64 + 1, -(2**64), 10**30, 10**300])
        case 7:
            return {"kind": "number", "value": rng.choice(["nan", "inf", "-inf", "1", ""])}
        case _:
            return rng.choice(
                [
                    {"kind": "part", "number": rng.choice((-1, 0, 0, 1, 2, 3, 7, 10**9))},
                    {"kind": "tuple", "values": rng.choice([[], [0], [[0, 1], [1, 0]], [None]])},
                    {"kind": "mapping", "values": {}},
                    {"kind": "pairs", "values": [[1, 2], [1.0, 3]]},
                    {"kind": "dtype", "name": rng.choice(DTYPES)},
                    {"kind": "array", "name": rng.choice(STRINGS)},
                ]
            )


def draw_json(value: Any, rng: random.Random, start: tuple[Any, ...] = ()) -> Mutation:
    """Return a change of a JSON value, somewhere below a path."""
    path = list(start)
    inner = at(value, path)
    while isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
        key = rng.choice(list(inner)) if isinstance(inner, dict) else rng.randrange(len(inner))
        path.append(key)
        inner = inner[key]
    change: Mutation = {"op": "json", "path": path}
    match rng.randrange(14):
        case 0 if path:
            return {**change, "do": "delete"}
        case 1 if path:
            return {**change, "do": "rename", "value": rng.choice(STRINGS)}
        case 2 if path:
            return {**change, "do": "twice", "value": json_values(rng)}
        case 3:
            return {**change, "do": "nest", "value": rng.choice((1, 2, 30, 100, 250))}
        case 4:
            return {**change, "do": "repeat", "value": rng.choice((1, 2, 1000))}
        case 5:
            return {**change, "do": "add", "value": json_values(rng)}
        case 6 | 7:
            other = list(start)
            there = at(value, other)
            while isinstance(there, (dict, list)) and there and rng.random() < 0.8:
                keys = list(there) if isinstance(there, dict) else range(len(there))
                other.append(rng.choice(keys))
                there = there[other[-1]]
            return {**change, "do": "copy", "value": other}
        case 8 | 9 if isinstance(inner, (int, float)) and not isinstance(inner, bool):
            return {**change, "do": "set", "value": inner + rng.choice((-1, 1, -0.5, 1e-9))}
        case 10 if isinstance(inner, list) and len(inner) > 1:
            return {**change, "do": "reverse"}
    return {**change, "do": "set", "value": json_values(rng)}


def at(value: Any, path: list[Any]) -> Any:
    """Return the value at a path."""
    for key in path:
        value = value[key]
    return value


def apply_json(value: Any, change: Mutation) -> Any:
    """Return a JSON value after a change; one that fits nowhere changes nothing."""
    value = json.loads(json.dumps(value))
    path, given = change["path"], change.get("value")
    try:
        inner = at(value, path)
        if not path:
            return _changed(inner, change["do"], given, value)
        holder, key = at(value, path[:-1]), path[-1]
        match change["do"]:
            case "delete":
                del holder[key]
            case "rename":
                holder[given] = holder.pop(key)
            case "twice":
                holder[_TWICE + key] = given
            case do:
                holder[key] = _changed(inner, do, given, value)
    except (KeyError, IndexError, TypeError, AttributeError):
        pass
    return value


def _changed(inner: Any, do: str, given: Any, whole: Any) -> Any:
    match do:
        case "nest":
            for _ in range(given):
                inner = [inner]
        case "repeat":
            given = min(given, max(1, _LARGEST_JSON // len(json.dumps(inner))))
            inner = inner * (given + 1) if isinstance(inner, (list, str)) else [inner] * given
        case "add":
            inner = {**inner, "added": given} if isinstance(inner, dict) else [*inner, given]
        case "copy":
            inner = json.loads(json.dumps(at(whole, given)))
        case "reverse":
            inner = inner[::-1]
        case "set":
            inner = given
    return inner


def dump(value: Any, **options: Any) -> bytes:
    """Return a changed JSON value as text, with repeated keys and values that are not JSON."""
    text = json.dumps(value, **options).replace(f'"{_TWICE}', '"')
    return re.sub(f'"{_RAW}(\\d+){_RAW}"', lambda found: _RAW_JSON[int(found[1])], text).encode(
        "utf-8", "surrogatepass"
    )


# Arrays.


def draw_array(array: NDArray[Any], rng: random.Random, sizes: list[int]) -> Mutation:
    """Return a change of an array; ``sizes`` are numbers that mean something beside it."""
    n = array.size
    place = rng.choice((0, n - 1, rng.randrange(n), rng.randrange(n))) if n else 0
    match rng.randrange(16):
        case 0 | 1 | 2 | 3:
            return {"do": "set", "at": place, "value": [_number(array, rng, sizes)]}
        case 4 | 5 | 6:
            if array.dtype.kind == "f":
                return {"do": "set", "at": place, "value": [rng.choice(FLOATS) for _ in range(3)]}
            return {"do": "set", "at": place, "value": list(rng.choice(WRAPS))}
        case 7 | 8:
            return {"do": "add", "at": place, "value": rng.choice((-1, 1, 1, 2, -2))}
        case 9:
            return {"do": "fill", "value": _number(array, rng, sizes)}
        case 10:
            return {"do": "dtype", "value": rng.choice(DTYPES)}
        case 11:
            shapes = ([], [-1], [-1, 1], [1, -1], [-1, 1, 1], [0], [0, 0], list(array.shape[::-1]))
            return {"do": "shape", "value": rng.choice(shapes)}
        case 12:
            return {"do": rng.choice(("reverse", "roll", "sort", "unsort"))}
        case 13:
            return {"do": "cut", "value": rng.choice((0, 1, len(array) - 1 if array.ndim else 0))}
        case 14:
            return {"do": "repeat", "value": rng.choice((1, 2, 100))}
        case _:
            if rng.random() < 0.5:
                return {"do": "header", "value": rng.randrange(len(HEADERS))}
            return {"do": "declare", "value": rng.choice(([n + 1], [2**60], [2**32, 2**32], []))}


def _number(array: NDArray[Any], rng: random.Random, sizes: list[int]) -> int | float | str:
    if array.dtype.kind == "f" and rng.random() < 0.8:
        return rng.choice(FLOATS)
    if sizes and rng.random() < 0.4:
        return rng.choice(sizes) + rng.choice((-1, 0, 0, 1))
    return rng.choice(INTEGERS)


def apply_array(data: bytes, change: Mutation) -> bytes:
    """Return the file of an array after a change; one that does not fit changes nothing."""
    try:
        array, body = parse_array(data)
        match change["do"]:
            case "header":
                return raw_header(HEADERS[change["value"]]) + body
            case "declare":
                return array_header(array.dtype, tuple(change["value"])) + body
        return array_file(_changed_array(array.copy(), change))
    except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError, SyntaxError):
        return data


def _changed_array(array: NDArray[Any], change: Mutation) -> NDArray[Any]:
    value = change.get("value")
    match change["do"]:
        case "set":
            numbers = value[: array.size - change["at"]]
            array.reshape(-1)[change["at"] : change["at"] + len(numbers)] = _cast(numbers, array)
        case "add":
            with np.errstate(all="ignore"):
                array.reshape(-1)[change["at"]] += _cast([value], array)[0]
        case "fill":
            array[...] = _cast([value], array)[0]
        case "dtype":
            with np.errstate(all="ignore"):
                array = array.astype(value)
        case "shape":
            array = array[:0].reshape(value) if 0 in value else array.reshape(value)
        case "reverse":
            array = array[::-1]
        case "roll":
            array = np.roll(array, 1)
        case "sort":
            array = np.sort(array, axis=0)
        case "unsort":
            array = np.sort(array, axis=0)[::-1]
        case "cut":
            array = array[: int(str(value))]
        case "repeat":
            array = np.concatenate([array, *[array[-1:]] * int(str(value))])
    return np.ascontiguousarray(array).reshape(array.shape)


def _cast(numbers: list[Any], array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the type of an array; integers keep their low bits."""
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.array([float(one) for one in numbers]).astype(array.dtype)
    width = 8 * array.dtype.itemsize
    whole = [int(one) if np.isfinite(float(one)) else 2**63 - 1 for one in numbers]
    unsigned = np.array([one % 2**width for one in whole], dtype=f"u{array.dtype.itemsize}")
    return unsigned.view(array.dtype) if array.dtype.kind != "b" else unsigned.astype(bool)


def parse_array(data: bytes) -> tuple[NDArray[Any], bytes]:
    """Return an honest array and the bytes of its numbers."""
    length = 10 + int.from_bytes(data[8:10], "little")
    about = ast.literal_eval(data[10:length].decode("ascii"))
    body = data[length:]
    return np.frombuffer(body, dtype=about["descr"]).reshape(about["shape"]), body


def array_file(array: NDArray[Any]) -> bytes:
    """Return an array of any type in numpy's format."""
    about = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    return raw_header(f"{about!r}"[:-1] + ", }") + array.tobytes()


def raw_header(text: str) -> bytes:
    """Return the beginning of a file of an array with any text as its header."""
    padded = text + " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode()


# Lists of strings, a line of JSON each.


def draw_text(data: bytes, rng: random.Random) -> Mutation:
    """Return a change of a list of strings."""
    n = data.count(b"\n")
    change: Mutation = {"at": rng.randrange(n) if n else 0}
    match rng.randrange(7):
        case 0 | 1:
            return {**change, "do": "set", "value": json.dumps(rng.choice(STRINGS))}
        case 2:
            return {**change, "do": "delete"}
        case 3:
            return {**change, "do": "repeat"}
        case 4:
            return {**change, "do": "copy", "value": rng.randrange(n) if n else 0}
        case 5:
            return {**change, "do": "set", "value": rng.choice(("1", "null", "[]", '"a', "", "{}"))}
        case _:
            return {**change, "do": "clear"}


def apply_text(data: bytes, change: Mutation) -> bytes:
    """Return a list of strings after a change."""
    lines = data.split(b"\n")[:-1]
    place = change["at"]
    if change["do"] == "clear":
        lines = []
    if place < len(lines):
        match change["do"]:
            case "set":
                lines[place] = change["value"].encode()
            case "delete":
                del lines[place]
            case "repeat":
                lines.insert(place, lines[place])
            case "copy":
                lines[place] = lines[min(change["value"], len(lines) - 1)]
    return b"".join(line + b"\n" for line in lines)


# Bytes.


def cut(place: int, length: int, put: bytes) -> Mutation:
    """Return the replacement of some bytes."""
    return {
        "op": "bytes",
        "at": place,
        "cut": length,
        "put": base64.b64encode(put).decode("ascii"),
    }


def apply_bytes(data: bytes, change: Mutation) -> bytes:
    """Return bytes after a replacement."""
    place = change["at"]
    put = base64.b64decode(change["put"])
    return data[:place] + put + data[place + change["cut"] :]


def draw_bytes(data: bytes, rng: random.Random) -> Mutation:
    """Return a replacement of some bytes of binary data."""
    place = rng.randrange(len(data) + 1)
    match rng.randrange(5):
        case 0:
            return cut(place, 1, rng.randbytes(1))
        case 1:
            return cut(place, 8, rng.choice(INTEGERS).to_bytes(16, "little", signed=True)[:8])
        case 2:
            return cut(place, len(data), b"")
        case 3:
            return cut(place, rng.choice((0, 4, 40)), rng.randbytes(rng.choice((0, 2, 8))))
        case _:
            here = data[place] if place < len(data) else 0
            return cut(place, 1, bytes([here ^ (1 << rng.randrange(8))]))
