"""The zip archive of a model file: JSON, lists of strings and arrays, with checksums.

Files are not trusted: sizes, checksums and headers are checked before use. Members follow each
other without gaps, so every byte of a file belongs to exactly one of them.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import budget, format_bytes
from kernelwood.errors import ModelFormatError
from kernelwood.io import is_project
from kernelwood.persist.state import NUMBER_TYPES
from kernelwood.structures import shorten
from kernelwood.vectors import DAMAGED

_BUDGET_HINT = "if you trust the file, raise the budget: kw.config_context(memory=...)"
_MODEL_HINT = "give a file of kernelwood train or kernelwood.save"
_DAMAGED_HINT = "the file was cut or damaged; fetch or save it again"
_STRING_COST = 16  # bytes that a byte of text can take in memory as a list of strings
STEP = 1 << 20  # bytes per chunk
_PACKED_STEP = 1 << 16  # bytes per chunk of compressed data

# The header before the content of a member, and the flags that it may have: content by which the
# compression was chosen, sizes after the content (of a file that cannot be rewound), and UTF-8.
_HEADER = struct.Struct("<4s2x2H4x3L2H")
_FLAGS = 0x080E
_SIZES_AFTER = 0x0008
_LARGE = 0xFFFFFFFF  # instead of a size that is given elsewhere
_END = b"PK\x05\x06"
_END_SIZE = 22
_HEAD = 100  # bytes by which other files are recognized

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
        file.seek(0)
        if is_project(file.read(_HEAD)):  # a model inside it would be found as a zip archive
            raise ModelFormatError(
                "this is a project of kernelwood review, not a model file",
                hint="write its model: kernelwood review PROJECT.kwp --export DIR --to model.kw",
            )
        try:
            self._zip = zipfile.ZipFile(file)
        except DAMAGED as failure:
            raise _no_archive(file) from failure
        self._file = file
        self._infos: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            if info.filename in self._infos:
                raise ModelFormatError("two members have this name", member=_shown(info.filename))
            self._infos[info.filename] = info
        self._starts = _locate(file, self._infos.values(), self._zip)
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
        return self._parse(name, lambda source: source.read(size))

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

        def parse_checked(source: _Unpacked) -> T:
            parsed = parse(source, member.size)
            while source.read(STEP):
                pass
            if checksum.hexdigest() != member.sha256:
                raise ValueError("the checksum does not match")
            return parsed

        return self._parse(name, parse_checked, checksum)

    def _parse(self, name: str, parse: Callable[[_Unpacked], T], checksum: Any = None) -> T:
        try:
            return parse(_Unpacked(self._file, self._starts[name], self._infos[name], checksum))
        except DAMAGED as failure:
            raise ModelFormatError(
                f"the member cannot be read: {failure}", member=name, hint=_DAMAGED_HINT
            ) from failure


def _no_archive(file: BinaryIO) -> ModelFormatError:
    """Return an error that says what a file is that is not a zip archive."""
    file.seek(0)
    start = file.read(2)
    if start == b"PK":
        return ModelFormatError("the end of the file is missing", hint=_DAMAGED_HINT)
    if not start:
        return ModelFormatError("the file is empty", hint=_DAMAGED_HINT)
    kind = " but a pickle, which is never loaded" if start[:1] == b"\x80" else ""
    return ModelFormatError(f"this is not a model file{kind}", hint=_MODEL_HINT)


def _locate(
    file: BinaryIO, infos: Iterable[zipfile.ZipInfo], directory: zipfile.ZipFile
) -> dict[str, int]:
    """Return where the content of each member begins; refuse overlaps, gaps and other headers."""
    starts: dict[str, int] = {}
    place = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        starts[info.filename], place = _extent(file, info, place)
    file.seek(-_END_SIZE, io.SEEK_END)
    end = file.read(_END_SIZE)
    if place != directory.start_dir or not end.startswith(_END) or end[-2:] != b"\0\0":
        raise ModelFormatError(
            "there is something else before or behind the directory of members", hint=_DAMAGED_HINT
        )
    return starts


def _extent(file: BinaryIO, info: zipfile.ZipInfo, place: int) -> tuple[int, int]:
    """Return where the content of the member at ``place`` begins, and where the member ends."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _bad_member(info, "unknown compression method")
    if info.header_offset != place:
        raise _bad_member(info, "the member overlaps with another, or there is a gap before it")
    file.seek(place)
    header = file.read(_HEADER.size).ljust(_HEADER.size, b"\0")
    mark, flags, method, crc, packed, size, n_name, n_extra = _HEADER.unpack(header)
    encoding, after = "utf-8" if flags & 0x0800 else "cp437", 0
    stated, known = (crc, packed, size), (info.CRC, info.compress_size, info.file_size)
    if flags & _SIZES_AFTER:
        stated, after = known, 24 if max(known[1:]) >= _LARGE else 16
    if (
        mark != b"PK\x03\x04"
        or (flags, method) != (info.flag_bits, info.compress_type)
        or flags & ~_FLAGS
        or file.read(n_name) != info.filename.encode(encoding, "replace")
        or any(one not in (other, _LARGE) for one, other in zip(stated, known, strict=True))
    ):
        raise _bad_member(info, "its header differs from the directory of members")
    start = place + _HEADER.size + n_name + n_extra
    return start, start + info.compress_size + after


def _bad_member(info: zipfile.ZipInfo, problem: str) -> ModelFormatError:
    return ModelFormatError(problem, member=_shown(info.filename), hint=_DAMAGED_HINT)


def _shown(name: str) -> str:
    """Return a member name from an untrusted file, safe to print."""
    return shorten(name if name.isprintable() else ascii(name))


class _Unpacked:
    """The content of a member, unpacked while it is read: never more than its stated size.

    Parameters
    ----------
    file : binary file
    start : int
        Where the content begins.
    info : ZipInfo
    checksum : hash object, optional
        Updated with every read.
    """

    def __init__(self, file: BinaryIO, start: int, info: zipfile.ZipInfo, checksum: Any) -> None:
        self._file, self._checksum = file, checksum
        self._packed, self._left = info.compress_size, info.file_size  # bytes not read yet
        self._crc, self._right_crc = 0, info.CRC
        deflated = info.compress_type == zipfile.ZIP_DEFLATED
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS) if deflated else None
        self._ended = False
        file.seek(start)

    def read(self, n: int) -> bytes:
        """Return the next n bytes, fewer only at the end of the member."""
        n = min(n, self._left)
        data = self._take(n) if self._inflate is None else self._inflated(n)
        if len(data) < n:
            raise ValueError("the member ends too early")
        self._left -= n
        self._crc = zlib.crc32(data, self._crc)
        if self._checksum is not None:
            self._checksum.update(data)
        if self._left == 0 and not self._ended:
            self._check_end()
        return data

    def _take(self, n: int) -> bytes:
        data = self._file.read(min(n, self._packed))
        self._packed -= len(data)
        return data

    def _inflated(self, n: int) -> bytes:
        chunks: list[bytes] = []
        inflate = self._inflate
        assert inflate is not None
        while n:
            packed = inflate.unconsumed_tail or self._take(_PACKED_STEP)
            chunk = inflate.decompress(packed, n)
            if not chunk and (inflate.eof or not packed):
                break
            chunks.append(chunk)
            n -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _check_end(self) -> None:
        """Raise ValueError unless nothing is left behind the stated size."""
        self._ended = True
        inflate = self._inflate
        while inflate is not None and not inflate.eof:
            packed = inflate.unconsumed_tail or self._take(_PACKED_STEP)
            if inflate.decompress(packed, 1) or not packed:
                raise ValueError("the member does not have its stated size")
        if self._packed or (
            inflate is not None and (inflate.unused_data or inflate.unconsumed_tail)
        ):
            raise ValueError("the member is longer than its stated size")
        if self._crc != self._right_crc:
            raise ValueError("the sum of its bytes is wrong")


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
    """Return the value of JSON text; raise ValueError if it is invalid.

    Numbers that JSON does not have and objects with two equal keys are also invalid.
    """
    try:
        return json.loads(
            data.decode("utf-8"),
            parse_constant=_reject_constant,
            parse_int=_integer,
            object_pairs_hook=_object,
        )
    except RecursionError as failure:
        raise ValueError("the JSON is nested too deeply") from failure


def _reject_constant(text: str) -> Any:
    raise ValueError(f"{text} is not valid JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has two equal keys")
    return made


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
