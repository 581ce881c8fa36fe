"""The zip archive around the members of a model: written once, read with suspicion."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, NamedTuple, TypeVar

from kernelwood.compute import budget, format_bytes
from kernelwood.errors import ModelFormatError
from kernelwood.structures import shorten
from kernelwood.vectors import DAMAGED

__all__ = ["ArchiveReader", "ArchiveWriter", "Member"]

_BUDGET_HINT = "if you trust the file, raise the budget: kw.config_context(memory=...)"
_DAMAGED_HINT = "the file was cut or damaged; fetch or save it again"
_STRING_COST = 16  # bytes that a byte of text can take in memory as a list of strings

T = TypeVar("T")


class Member(NamedTuple):
    """What a manifest says about one member."""

    sha256: str
    size: int


class ArchiveWriter:
    """Writes members one after the other; the same content always gives the same bytes.

    Parameters
    ----------
    file : binary file
        Open for writing.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.members: dict[str, Member] = {}
        self._zip = zipfile.ZipFile(file, "w")

    def write(self, name: str, pieces: Iterable[bytes], size: int) -> None:
        """Write a member of ``size`` bytes that come in pieces."""
        info = zipfile.ZipInfo(name)  # dated 1980, when zip files begin
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3
        info.external_attr = 0o644 << 16
        info.file_size = size  # so that large members get the large header
        checksum = hashlib.sha256()
        with self._zip.open(info, "w") as member:
            for piece in pieces:
                checksum.update(piece)
                member.write(piece)
        self.members[name] = Member(checksum.hexdigest(), size)

    def close(self) -> None:
        """Write the directory."""
        self._zip.close()


class ArchiveReader:
    """Reads members, each of which must be what the manifest says.

    Parameters
    ----------
    file : binary file
        Open for reading.

    Raises
    ------
    ModelFormatError
        If this is no zip archive, or one with members that a model file cannot have.
    """

    def __init__(self, file: BinaryIO) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except DAMAGED as failure:
            raise ModelFormatError(
                f"this is not a model file: {failure}", hint=_DAMAGED_HINT
            ) from failure
        self._infos: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            name = info.filename
            if name in self._infos:
                raise ModelFormatError("there are two of this name", member=_shown(name))
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ModelFormatError(
                    "it is compressed in an unknown way", member=_shown(name), hint=_DAMAGED_HINT
                )
            self._infos[name] = info
        self._members: dict[str, Member] = {}

    def read_first(self, name: str, largest: int) -> bytes:
        """Return a member of which nothing is known yet."""
        info = self._infos.get(name)
        if info is None:
            raise ModelFormatError(
                "it is missing", member=name, hint="this is a zip archive, but not a model file"
            )
        if info.file_size > largest:
            raise ModelFormatError(
                f"it has {format_bytes(info.file_size)}, more than the {format_bytes(largest)} "
                "that are read",
                member=name,
                hint=_BUDGET_HINT,
            )
        size = info.file_size
        return self._parse(name, lambda source: bytes(source.read(size)))

    def expect(self, members: dict[str, Member], *, beside: str) -> None:
        """Raise ModelFormatError unless the archive has exactly these members, and they fit.

        Nothing is unpacked for this; reading never goes beyond the sizes checked here.
        """
        found = set(self._infos) - {beside}
        for name in sorted(found ^ set(members)):
            problem = "the manifest does not know it" if name in found else "it is missing"
            raise ModelFormatError(problem, member=_shown(name), hint=_DAMAGED_HINT)
        needed = 0
        for name, member in members.items():
            if self._infos[name].file_size != member.size:
                raise ModelFormatError(
                    f"it has {self._infos[name].file_size:,} bytes instead of {member.size:,}",
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
        """Return what ``parse(source, size)`` makes of a member, if its checksum is right."""
        member = self._members[name]
        checksum = hashlib.sha256()

        def parse_checked(raw: Any) -> T:
            source = _Checked(raw, checksum)
            parsed = parse(source, member.size)
            while source.read(1 << 20):
                pass
            if checksum.hexdigest() != member.sha256:
                raise ValueError("its checksum is wrong")
            return parsed

        return self._parse(name, parse_checked)

    def _parse(self, name: str, parse: Callable[[Any], T]) -> T:
        try:
            with self._zip.open(self._infos[name]) as raw:
                return parse(raw)
        except DAMAGED as failure:
            raise ModelFormatError(
                f"it cannot be read: {failure}", member=name, hint=_DAMAGED_HINT
            ) from failure


def _shown(name: str) -> str:
    """Return a name that anybody may have chosen as it can go into a message."""
    return shorten(name if name.isprintable() else ascii(name))


class _Checked:
    """A source that adds all that is read to a checksum."""

    def __init__(self, raw: Any, checksum: Any) -> None:
        self._raw = raw
        self._checksum = checksum

    def read(self, n: int) -> bytes:
        piece: bytes = self._raw.read(n)
        self._checksum.update(piece)
        return piece
