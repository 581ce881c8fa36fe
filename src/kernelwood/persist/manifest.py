"""The table of contents of a model file.

::

    {
    "format": 1,
    "kernelwood": "0.1.0",
    "kind": "kernel",
    "model": "subset-tree",
    "parameters": {"decay": 0.4, ...},
    "texts": [],
    "arrays": [],
    "parts": [
    {"kind": "vectors", "name": "vectors", "parameters": {...}, "texts": ["words"], ...},
    ...
    ],
    "members": {
    "card.md": {"sha256": "...", "size": 512},
    ...
    }
    }

Part 3 has its texts in ``parts/3/<name>.txt`` and its arrays in ``parts/3/<name>.npy``; those of
the model itself are not in a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kernelwood.errors import ModelFormatError
from kernelwood.persist.archive import Member
from kernelwood.persist.members import dump_json, load_json
from kernelwood.persist.models import MANIFEST
from kernelwood.persist.parts import Part
from kernelwood.structures import shorten

__all__ = ["CARD", "FORMAT", "Entry", "Manifest", "read_manifest", "write_manifest"]

FORMAT = 1
CARD = "card.md"

_ENTRY: dict[str, type] = {
    "kind": str, "name": str, "parameters": dict, "texts": list, "arrays": list,
}  # fmt: skip
_ABOUT: dict[str, type] = {
    "format": int, "kernelwood": str, "kind": str, "model": str, "parameters": dict,
    "texts": list, "arrays": list, "parts": list, "members": dict,
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Entry:
    """What the manifest says of one part; the content of texts and arrays is elsewhere."""

    kind: str
    name: str
    parameters: dict[str, Any]
    texts: list[str]
    arrays: list[str]
    folder: str

    @classmethod
    def of(cls, part: Part, folder: str) -> Entry:
        """Describe a part whose texts and arrays are in a folder of the archive."""
        for name in (*part.texts, *part.arrays):
            if not _NAME.fullmatch(name):
                raise ModelFormatError(f"{name!r} cannot be the name of a text or an array")
        return cls(
            part.kind, part.name, part.parameters, list(part.texts), list(part.arrays), folder
        )

    def text(self, name: str) -> str:
        """Return the member that holds a list of strings."""
        return f"{self.folder}{name}.txt"

    def array(self, name: str) -> str:
        """Return the member that holds an array."""
        return f"{self.folder}{name}.npy"

    def members(self) -> Iterator[str]:
        """Yield the members that belong to the part."""
        yield from map(self.text, self.texts)
        yield from map(self.array, self.arrays)


@dataclass(frozen=True)
class Manifest:
    """What is in a model file.

    Attributes
    ----------
    version : str
        Of the kernelwood that wrote it.
    entries : list of Entry
        The parts; the last is the model itself.
    members : dict from str to Member
        Checksums and sizes of everything but the manifest.
    """

    version: str
    entries: list[Entry]
    members: dict[str, Member]


def folder_of(number: int, n_parts: int) -> str:
    """Return where a part keeps its texts and arrays."""
    return "" if number == n_parts - 1 else f"parts/{number}/"


def write_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest, with a line for each part and each member."""
    *inner, model = manifest.entries
    about = {
        "format": FORMAT,
        "kernelwood": manifest.version,
        "kind": model.kind,
        "model": model.name,
        "parameters": model.parameters,
        "texts": model.texts,
        "arrays": model.arrays,
    }
    lines = [dump_json(key) + b": " + dump_json(value) for key, value in about.items()]
    parts = [dump_json(_fields(entry)) for entry in inner]
    members = [
        dump_json(name) + b": " + dump_json(member._asdict())
        for name, member in manifest.members.items()
    ]
    lines.append(b'"parts": [\n' + b",\n".join(parts) + b"\n]")
    lines.append(b'"members": {\n' + b",\n".join(members) + b"\n}")
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


def _fields(entry: Entry) -> dict[str, Any]:
    return {key: getattr(entry, key) for key in _ENTRY}


def read_manifest(data: bytes, version: str) -> Manifest:
    """Return what a manifest says, having checked that it is one.

    Parameters
    ----------
    data : bytes
        Its content.
    version : str
        Of this kernelwood, for a message to those who need a newer one.

    Raises
    ------
    ModelFormatError
        If it is broken, or of a format that is not known yet.
    """
    try:
        about = load_json(data)
        _check_format(about, version)
        return _manifest(about)
    except ModelFormatError:
        raise
    except ValueError as failure:
        raise ModelFormatError(
            f"this is no manifest of a model: {failure}",
            member=MANIFEST,
            hint="the file was changed, or written by a program other than kernelwood",
        ) from failure


def _check_format(about: Any, version: str) -> None:
    number = about.get("format") if isinstance(about, dict) else None
    if type(number) is not int or number < 1:
        raise ValueError("it tells no format")
    if number > FORMAT:
        raise ModelFormatError(
            f"the model is in format {number}, saved by kernelwood "
            f"{shorten(str(about.get('kernelwood'))).encode('unicode_escape').decode()}; this is "
            f"kernelwood {version}, which reads formats up to {FORMAT}",
            member=MANIFEST,
            hint="upgrade: pip install --upgrade kernelwood",
        )


def _manifest(about: dict[str, Any]) -> Manifest:
    _check_fields(about, _ABOUT)
    model = {key: about["model" if key == "name" else key] for key in _ENTRY}
    fields = [*about["parts"], model]
    entries = [_entry(entry, folder_of(i, len(fields))) for i, entry in enumerate(fields)]
    members = {name: _member(member) for name, member in about["members"].items()}
    named = [CARD, *(name for entry in entries for name in entry.members())]
    if sorted(named) != sorted(members):
        name = next(iter(sorted(set(named) ^ set(members))), named[-1])
        raise ValueError(
            f"the member {shorten(repr(name))} is not there once for each time it is named"
        )
    return Manifest(about["kernelwood"], entries, members)


def _entry(fields: Any, folder: str) -> Entry:
    _check_fields(fields, _ENTRY)
    for name in (*fields["texts"], *fields["arrays"]):
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise ValueError("a text or an array has an impossible name")
    return Entry(**fields, folder=folder)


def _member(fields: Any) -> Member:
    _check_fields(fields, {"sha256": str, "size": int})
    if fields["size"] < 0 or not _SHA256.fullmatch(fields["sha256"]):
        raise ValueError("a member has an impossible size or checksum")
    return Member(**fields)


def _check_fields(fields: Any, kinds: dict[str, type]) -> None:
    """Raise ValueError unless a JSON object has exactly these fields."""
    if not isinstance(fields, dict) or set(fields) != set(kinds):
        raise ValueError(f"there must be the fields {', '.join(kinds)} and no others")
    for key, kind in kinds.items():
        if not isinstance(fields[key], kind) or (kind is int and isinstance(fields[key], bool)):
            raise ValueError(f"the field {key!r} must not be {type(fields[key]).__name__}")
