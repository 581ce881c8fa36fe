"""Lists of strings and arrays as the bytes of a member, and back."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwood.persist.values import NUMBER_TYPES

__all__ = [
    "array_header",
    "array_pieces",
    "array_size",
    "dump_json",
    "dump_text",
    "load_json",
    "load_text",
    "read_array",
]

STEP = 1 << 20  # bytes handled at a time

_READABLE = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_ESCAPED = json.JSONEncoder(ensure_ascii=True, allow_nan=False)

# What numpy writes for the number types we know, and nothing more: no literal is evaluated.
_NPY = re.compile(
    rb"\{'descr': '([<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \(((?:\d{1,18}, ?){0,31}(?:\d{1,18})?)\), \} *\n"
)
_DTYPES = {np.dtype(name).newbyteorder("<").str.encode(): np.dtype(name) for name in NUMBER_TYPES}
_LONGEST_INTEGER = 400  # digits


class _Source(Protocol):
    def read(self, n: int, /) -> bytes: ...


def dump_json(value: Any) -> bytes:
    """Return JSON in one line; only text that UTF-8 cannot hold is escaped."""
    try:
        return _READABLE.encode(value).encode("utf-8")
    except UnicodeEncodeError:
        return _ESCAPED.encode(value).encode("utf-8")


def load_json(data: bytes) -> Any:
    """Return what JSON stands for; raise ValueError if it is none, or none of ours."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_number, parse_int=_integer)
    except RecursionError as failure:
        raise ValueError("it is nested too deeply") from failure


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER:
        raise ValueError("a number has too many digits")
    return int(text)


def dump_text(strings: list[str]) -> bytes:
    """Return strings as lines of JSON, so that line feeds inside them survive."""
    return b"".join(dump_json(string) + b"\n" for string in strings)


def load_text(data: bytes) -> list[str]:
    """Return the strings in lines of JSON; raise ValueError if there is anything else."""
    lines = data.decode("utf-8").split("\n")
    if lines.pop() != "":
        raise ValueError("the last line does not end")
    strings: list[str] = []
    decode = json.JSONDecoder(parse_constant=_no_number).decode
    for number, line in enumerate(lines, start=1):
        string = decode(line) if line.startswith('"') else None
        if not isinstance(string, str):
            raise ValueError(f"line {number} is no JSON string")
        strings.append(string)
    return strings


def array_header(array: NDArray[Any]) -> bytes:
    """Return the first bytes of an array in numpy's format."""
    header = io.BytesIO()
    about = {"descr": _little(array).str, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(header, about)
    return header.getvalue()


def array_size(array: NDArray[Any]) -> int:
    """Return the number of bytes of an array in numpy's format."""
    return len(array_header(array)) + array.nbytes


def array_pieces(array: NDArray[Any]) -> Iterator[bytes]:
    """Yield an array in numpy's format; one that is mapped into memory is never held whole."""
    yield array_header(array)
    flat = array.reshape(-1)
    n = max(1, STEP // flat.itemsize)
    for begin in range(0, flat.size, n):
        yield flat[begin : begin + n].astype(_little(array), copy=False).tobytes()


def read_array(source: _Source, size: int) -> NDArray[Any]:
    """Read an array of ``size`` bytes in all; raise ValueError if it is not one of ours."""
    start = source.read(10)
    length = int.from_bytes(start[8:], "little")
    header = _NPY.fullmatch(source.read(length)) if start[:8] == b"\x93NUMPY\x01\x00" else None
    dtype = _DTYPES.get(header[1]) if header else None
    if header is None or dtype is None:
        raise ValueError("it is not an array as kernelwood writes them")
    shape = tuple(int(n) for n in header[2].split(b",") if n.strip())
    if 10 + length + math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"it is not as large as an array of {dtype} of shape {shape}")
    raw = np.empty(math.prod(shape) * dtype.itemsize, dtype=np.uint8)
    filled = 0
    while filled < raw.size:
        piece = source.read(min(STEP, raw.size - filled))
        if not piece:
            raise ValueError("it ends too early")
        raw[filled : filled + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        filled += len(piece)
    if dtype == np.bool_ and raw.max(initial=0) > 1:
        raise ValueError("a byte is neither true nor false")
    little = raw.view(dtype.newbyteorder("<")).reshape(shape)
    return little.astype(dtype, copy=False)


def _little(array: NDArray[Any]) -> np.dtype[Any]:
    return array.dtype.newbyteorder("<")
