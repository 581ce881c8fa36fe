"""The manifest of a model file, and its card: a description for readers.

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
from kernelwood.persist.archive import Member, dump_json, load_json
from kernelwood.persist.models import MANIFEST
from kernelwood.persist.parts import Part
from kernelwood.structures import shorten

FORMAT = 1
CARD = "card.md"
_MAX_PARTS = 50  # in the card

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
    """One part in the manifest; its texts and arrays are other members."""

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
    """Contents of a model file.

    Attributes
    ----------
    version : str
        Version of kernelwood that wrote the file.
    entries : list of Entry
        The parts; the last is the model itself.
    members : dict from str to Member
        Checksums and sizes of all members except the manifest.
    """

    version: str
    entries: list[Entry]
    members: dict[str, Member]


def folder_of(number: int, n_parts: int) -> str:
    """Return the folder of the texts and arrays of a part."""
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
    """Return a checked manifest.

    Parameters
    ----------
    data : bytes
        Its content.
    version : str
        Version of this kernelwood, for error messages.

    Raises
    ------
    ModelFormatError
        If it is invalid or its format is newer than this version.
    """
    try:
        about = load_json(data)
        _check_format(about, version)
        return _manifest(about)
    except ModelFormatError:
        raise
    except ValueError as failure:
        raise ModelFormatError(
            f"invalid manifest: {failure}",
            member=MANIFEST,
            hint="the file was changed, or written by a program other than kernelwood",
        ) from failure


def _check_format(about: Any, version: str) -> None:
    number = about.get("format") if isinstance(about, dict) else None
    if type(number) is not int or number < 1:
        raise ValueError("the format number is missing")
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
        raise ValueError(f"the member {shorten(repr(name))} must be named and stored exactly once")
    return Manifest(about["kernelwood"], entries, members)


def _entry(fields: Any, folder: str) -> Entry:
    _check_fields(fields, _ENTRY)
    for name in (*fields["texts"], *fields["arrays"]):
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise ValueError("a text or an array has an invalid name")
    return Entry(**fields, folder=folder)


def _member(fields: Any) -> Member:
    _check_fields(fields, {"sha256": str, "size": int})
    if fields["size"] < 0 or not _SHA256.fullmatch(fields["sha256"]):
        raise ValueError("a member has an invalid size or checksum")
    return Member(**fields)


def _check_fields(fields: Any, kinds: dict[str, type]) -> None:
    """Raise ValueError unless a JSON object has exactly these fields."""
    if not isinstance(fields, dict) or set(fields) != set(kinds):
        raise ValueError(f"the fields must be {', '.join(kinds)}")
    for key, kind in kinds.items():
        if not isinstance(fields[key], kind) or (kind is int and isinstance(fields[key], bool)):
            raise ValueError(
                f"the field {key!r} must be {kind.__name__}, got {type(fields[key]).__name__}"
            )


# Card.


def card(parts: list[Part], version: str) -> str:
    """Return a description of a model in Markdown, always the same for the same model."""
    return "\n".join(_card_lines(parts, version)) + "\n"


def _card_lines(parts: list[Part], version: str) -> Iterator[str]:
    *inner, model = parts
    yield f"# {_title(model)}"
    yield ""
    yield f"A model saved by kernelwood {version}. `kernelwood.load` makes it again; nothing in"
    yield "this file is run. Every number and string in it is in `manifest.json`, in a `.txt` or in"
    yield "an `.npy`."
    yield ""
    yield from _description(model)
    for number, part in enumerate(inner[:_MAX_PARTS]):
        yield ""
        yield f"## Part {number}: {_title(part)}"
        yield ""
        yield from _description(part)
    if len(inner) > _MAX_PARTS:
        yield ""
        yield f"There are {len(inner) - _MAX_PARTS:,} more parts."


def _title(part: Part) -> str:
    return part.name if part.name == part.kind else f"{part.name} ({part.kind})"


def _description(part: Part) -> Iterator[str]:
    yield "| what | value |"
    yield "|---|---|"
    for name, value in part.parameters.items():
        yield f"| {name} | {_card_value(value)} |"
    for name, strings in part.texts.items():
        yield f"| {name} | {len(strings):,} strings |"
    for name, array in part.arrays.items():
        size = " × ".join(f"{n:,}" for n in array.shape) or "1"
        yield f"| {name} | {size} numbers, {array.dtype} |"


def _card_value(value: object) -> str:
    if isinstance(value, dict):
        if value["kind"] == "part":
            return f"part {value['number']}"
        value = next(inner for key, inner in value.items() if key != "kind")
    text = shorten(dump_json(value).decode("utf-8"), 80)
    # A bar would end the cell, a backtick the code.
    return f"`{text.replace('|', chr(92) + 'u007c').replace('`', chr(92) + 'u0060')}`"
