"""The zip archive of a model file: JSON, lists of strings and arrays, with checksums.

Nothing that is read is trusted: sizes, checksums and headers are checked before use.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import budget, format_bytes
from kernelwood.errors import ModelFormatError
from kernelwood.persist.state import NUMBER_TYPES
from kernelwood.structures import shorten
from kernelwood.vectors import DAMAGED

_BUDGET_HINT = "if you trust the file, raise the budget: kw.config_context(memory=...)"
_DAMAGED_HINT = "the file was cut or damaged; fetch or save it again"
_STRING_COST = 16  # bytes that a byte of text can take in memory as a list of strings
STEP = 1 << 20  # bytes per chunk

_READABLE = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_ESCAPED = json.JSONEncoder(ensure_ascii=True, allow_nan=False)

# The headers that numpy writes for the supported number types; no literal is evaluated.
_NPY = re.compile(
    rb"\{'descr': '([<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \(((?:\d{1,18}, ?){0,31}(?:\d{1,18})?)\), \} *\n"
)
_DTYPES = {np.dtype(name).newbyteorder("<").str.encode(): np.dtype(name) for name in NUMBER_TYPES}
_LONGEST_INTEGER = 400  # digits

T = TypeVar("T")


class Member(NamedTuple):
    """Checksum and size of a member, as given in the manifest."""

    sha256: str
    size: int


class ArchiveWriter:
    """Writes members in order; the same content always gives the same bytes.

    Parameters
    ----------
    file : binary file
        Open for writing.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.members: dict[str, Member] = {}
        self._zip = zipfile.ZipFile(file, "w")

    def write(self, name: str, chunks: Iterable[bytes], size: int) -> None:
        """Write a member of ``size`` bytes, given in chunks."""
        info = zipfile.ZipInfo(name)  # dated 1980, the earliest date of zip files
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3
        info.external_attr = 0o644 << 16
        info.file_size = size  # so that large members get the large header
        checksum = hashlib.sha256()
        with self._zip.open(info, "w") as member:
            for chunk in chunks:
                checksum.update(chunk)
                member.write(chunk)
        self.members[name] = Member(checksum.hexdigest(), size)

    def close(self) -> None:
        """Write the directory."""
        self._zip.close()


class ArchiveReader:
    """Reads members and checks them against the manifest.

    Parameters
    ----------
    file : binary file
        Open for reading.

    Raises
    ------
    ModelFormatError
        If the file is not a zip archive, or has members that a model file cannot have.
    """

    def __init__(self, file: BinaryIO) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except DAMAGED as failure:
            raise ModelFormatError(
                f"this is not a model file: {failure}",
                hint="give a file of kernelwood train or kernelwood.save; if it is one, "
                + _DAMAGED_HINT,
            ) from failure
        self._infos: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            name = info.filename
            if name in self._infos:
                raise ModelFormatError("two members have this name", member=_shown(name))
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ModelFormatError(
                    "unknown compression method", member=_shown(name), hint=_DAMAGED_HINT
                )
            self._infos[name] = info
        self._members: dict[str, Member] = {}

    def read_first(self, name: str, largest: int) -> bytes:
        """Return the content of a member whose checksum is not known yet."""
        info = self._infos.get(name)
        if info is None:
            raise ModelFormatError(
                "the member is missing",
                member=name,
                hint="this is a zip archive, but not a model file",
            )
        if info.file_size > largest:
            raise ModelFormatError(
                f"its size of {format_bytes(info.file_size)} exceeds the limit of "
                f"{format_bytes(largest)}",
                member=name,
                hint=_BUDGET_HINT,
            )
        size = info.file_size
        return self._parse(name, lambda source: bytes(source.read(size)))

    def expect(self, members: dict[str, Member], *, beside: str) -> None:
        """Raise ModelFormatError unless the archive has exactly these members, within the budget.

        Nothing is unpacked; later reads never exceed the sizes checked here.
        """
        found = set(self._infos) - {beside}
        for name in sorted(found ^ set(members)):
            problem = (
                "the member is not in the manifest" if name in found else "the member is missing"
            )
            raise ModelFormatError(problem, member=_shown(name), hint=_DAMAGED_HINT)
        needed = 0
        for name, member in members.items():
            if self._infos[name].file_size != member.size:
                raise ModelFormatError(
                    f"the size is {self._infos[name].file_size:,} bytes instead of {member.size:,}",
                    member=name,
                    hint=_DAMAGED_HINT,
                )
            needed += member.size * (1 if name.endswith(".npy") else _STRING_COST)
            if needed > budget():
                raise ModelFormatError(
                    f"the model needs more than the memory budget of {format_bytes(budget())}",
                    member=name,
                    hint=_BUDGET_HINT,
                )
        self._members = members

    def read(self, name: str, parse: Callable[[Any, int], T]) -> T:
        """Return ``parse(source, size)`` of a member whose checksum is right."""
        member = self._members[name]
        checksum = hashlib.sha256()

        def parse_checked(raw: Any) -> T:
            source = _Checked(raw, checksum)
            parsed = parse(source, member.size)
            while source.read(STEP):
                pass
            if checksum.hexdigest() != member.sha256:
                raise ValueError("the checksum does not match")
            return parsed

        return self._parse(name, parse_checked)

    def _parse(self, name: str, parse: Callable[[Any], T]) -> T:
        try:
            with self._zip.open(self._infos[name]) as raw:
                return parse(raw)
        except DAMAGED as failure:
            raise ModelFormatError(
                f"the member cannot be read: {failure}", member=name, hint=_DAMAGED_HINT
            ) from failure


def _shown(name: str) -> str:
    """Return a member name from an untrusted file, safe to print."""
    return shorten(name if name.isprintable() else ascii(name))


class _Checked:
    """A source that updates a checksum with every read."""

    def __init__(self, raw: Any, checksum: Any) -> None:
        self._raw = raw
        self._checksum = checksum

    def read(self, n: int) -> bytes:
        chunk: bytes = self._raw.read(n)
        self._checksum.update(chunk)
        return chunk


# Content of members.


class _Source(Protocol):
    def read(self, n: int, /) -> bytes: ...


def dump_json(value: Any) -> bytes:
    """Return JSON in one line; non-ASCII text is escaped only if UTF-8 cannot encode it."""
    try:
        return _READABLE.encode(value).encode("utf-8")
    except UnicodeEncodeError:
        return _ESCAPED.encode(value).encode("utf-8")


def load_json(data: bytes) -> Any:
    """Return the value of JSON text; raise ValueError if it is invalid or has no JSON number."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_reject_constant, parse_int=_integer)
    except RecursionError as failure:
        raise ValueError("the JSON is nested too deeply") from failure


def _reject_constant(text: str) -> Any:
    raise ValueError(f"{text} is not valid JSON")


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER:
        raise ValueError("a number has too many digits")
    return int(text)


def dump_text(strings: list[str]) -> bytes:
    """Return strings as lines of JSON, which keep line feeds inside the strings."""
    return b"".join(dump_json(string) + b"\n" for string in strings)


def load_text(data: bytes) -> list[str]:
    """Return the strings in lines of JSON; raise ValueError if a line is not a JSON string."""
    lines = data.decode("utf-8").split("\n")
    if lines.pop() != "":
        raise ValueError("the last line has no line feed")
    strings: list[str] = []
    decode = json.JSONDecoder(parse_constant=_reject_constant).decode
    for number, line in enumerate(lines, start=1):
        string = decode(line) if line.startswith('"') else None
        if not isinstance(string, str):
            raise ValueError(f"line {number} is not a JSON string")
        strings.append(string)
    return strings


def array_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the first bytes of an array in numpy's format."""
    header = io.BytesIO()
    about = {"descr": dtype.newbyteorder("<").str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, about)
    return header.getvalue()


def array_size(array: NDArray[Any]) -> int:
    """Return the number of bytes of an array in numpy's format."""
    return len(array_header(array.dtype, array.shape)) + array.nbytes


def array_chunks(array: NDArray[Any]) -> Iterator[bytes]:
    """Yield an array in numpy's format in chunks; a memory-mapped array is never loaded whole."""
    yield array_header(array.dtype, array.shape)
    flat = array.reshape(-1)
    n = max(1, STEP // flat.itemsize)
    for begin in range(0, flat.size, n):
        yield flat[begin : begin + n].astype(_little(array), copy=False).tobytes()


def read_array(source: _Source, size: int) -> NDArray[Any]:
    """Read an array with a total size of ``size`` bytes; raise ValueError if it is invalid."""
    start = source.read(10)
    length = int.from_bytes(start[8:], "little")
    header = _NPY.fullmatch(source.read(length)) if start[:8] == b"\x93NUMPY\x01\x00" else None
    dtype = _DTYPES.get(header[1]) if header else None
    if header is None or dtype is None:
        raise ValueError("not an array written by kernelwood")
    shape = tuple(int(n) for n in header[2].split(b",") if n.strip())
    if 10 + length + math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"the size does not match an array of {dtype} of shape {shape}")
    raw = np.empty(math.prod(shape) * dtype.itemsize, dtype=np.uint8)
    filled = 0
    while filled < raw.size:
        chunk = source.read(min(STEP, raw.size - filled))
        if not chunk:
            raise ValueError("the array ends too early")
        raw[filled : filled + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
        filled += len(chunk)
    if dtype == np.bool_ and raw.max(initial=0) > 1:
        raise ValueError("a boolean is neither 0 nor 1")
    little = raw.view(dtype.newbyteorder("<")).reshape(shape)
    return little.astype(dtype, copy=False)


def _little(array: NDArray[Any]) -> np.dtype[Any]:
    return array.dtype.newbyteorder("<")
