"""The manifest of an index folder: its contents, checked before other files are read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelwood.compute import format_bytes
from kernelwood.errors import ModelFormatError
from kernelwood.features import n_words, padded
from kernelwood.io import replacing
from kernelwood.persist import dump_json, load_json
from kernelwood.scale.shard_files import StoredFile, array_size

MANIFEST, ENCODER, SHARDS = "index.json", "encoder.kw", "shards"
CHUNK = 256  # structures stored together
RECORDS = ("names", "texts")

_FORMAT = 1
_LARGEST = 1 << 26  # bytes of a manifest, about 100,000 shards
_LARGEST_ID = 2**62
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SIZES = {"codes": 2**20, "vectors": 2**16}  # the largest number of bits or dimensions

Column = tuple[type[Any], tuple[int, ...]]


@dataclass(frozen=True)
class Shard:
    """Rows that were added together.

    Attributes
    ----------
    rows : int
        Number of rows, above 0.
    first_id : int
        Id of the first row; those of the others follow, unless there is a file of ids.
    files : dict from str to StoredFile
        Files of the folder of the shard, by name.
    """

    rows: int
    first_id: int
    files: dict[str, StoredFile]


@dataclass(frozen=True)
class Manifest:
    """Content of an index folder.

    Attributes
    ----------
    kind : {"codes", "vectors"}
    size : int
        Number of bits or dimensions.
    view : str or None
        View of sentences.
    encoder : StoredFile
        Model file that makes codes or vectors.
    shards : tuple of Shard
    next_id : int
        Greater than all ids.
    """

    kind: str
    size: int
    view: str | None
    encoder: StoredFile
    shards: tuple[Shard, ...] = ()
    next_id: int = 0

    def columns(self) -> dict[str, Column]:
        """Return the number type and the shape of a row of each column that is searched."""
        if self.kind == "codes":
            return {"codes": (np.uint64, (n_words(self.size),))}
        return {"vectors": (np.int8, (padded(self.size),)), "scales": (np.float32, ())}

    def arrays(self, rows: int) -> dict[str, Column]:
        """Return the number type and the shape of each array that a shard can have, by file."""
        arrays: dict[str, Column] = {
            f"{name}.npy": (dtype, (rows, *row)) for name, (dtype, row) in self.columns().items()
        }
        arrays["ids.npy"] = np.int64, (rows,)
        for name in RECORDS:
            arrays[f"{name}_offsets.npy"] = np.int64, (rows + 1,)
        arrays["structures_offsets.npy"] = np.int64, (-(-rows // CHUNK) + 1,)
        return arrays

    def with_shard(self, shard: Shard, next_id: int) -> Manifest:
        """Return the manifest after a shard was added."""
        return replace(self, shards=(*self.shards, shard), next_id=next_id)


def shard_folder(folder: Path, number: int) -> Path:
    """Return the folder of a shard."""
    return folder / SHARDS / f"{number:05}"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a folder, completely or not at all."""
    shards = [
        {
            "rows": shard.rows,
            "first_id": shard.first_id,
            "files": {name: file._asdict() for name, file in shard.files.items()},
        }
        for shard in manifest.shards
    ]
    value = {
        "format": _FORMAT,
        "kind": manifest.kind,
        "size": manifest.size,
        "view": manifest.view,
        "encoder": manifest.encoder._asdict(),
        "next_id": manifest.next_id,
        "shards": shards,
    }
    data = dump_json(value)
    if len(data) > _LARGEST:
        raise ModelFormatError(
            f"an index of {len(shards):,} shards is too large",
            path=str(folder / MANIFEST),
            hint="build the index again, with more rows in each shard",
        )
    with replacing(folder / MANIFEST) as file:
        file.write(data)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder, after comparing it with the sizes of all files.

    Raises
    ------
    ModelFormatError
        If the manifest is invalid, or a file is missing or has another size.
    """
    path = folder / MANIFEST
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    try:
        if len(data) > _LARGEST:
            raise ValueError(f"the file is larger than {format_bytes(_LARGEST)}")
        manifest = _manifest(load_json(data))
        _check_size(folder / ENCODER, manifest.encoder.size)
        for number, shard in enumerate(manifest.shards):
            for name, stored in shard.files.items():
                _check_size(shard_folder(folder, number) / name, stored.size)
    except (ValueError, OSError) as failure:
        if isinstance(failure, ModelFormatError):
            raise
        raise ModelFormatError(
            f"the index cannot be used: {failure}",
            path=str(path),
            hint="the folder was changed or damaged; copy it again, or build it again",
        ) from failure
    return manifest


def _check_size(path: Path, size: int) -> None:
    found = path.stat().st_size
    if found != size:
        raise ValueError(f"{path} has {found:,} bytes instead of {size:,}")


def _manifest(value: Any) -> Manifest:
    if isinstance(value, dict) and type(value.get("format")) is int and value["format"] > _FORMAT:
        raise ModelFormatError(
            f"format {value['format']} is newer than this version of kernelwood can read",
            hint="upgrade kernelwood",
        )
    names = {"format", "kind", "size", "view", "encoder", "next_id", "shards"}
    value = _object(value, names, "the manifest")
    if value["format"] != _FORMAT or value["kind"] not in list(_SIZES):
        raise ValueError("the format or the kind is unknown")
    size = _count(value["size"], "the size", 1, _SIZES[value["kind"]])
    if value["view"] is not None and type(value["view"]) is not str:
        raise ValueError("the view must be a name or null")
    empty = Manifest(value["kind"], size, value["view"], _stored(value["encoder"], ENCODER))
    if not isinstance(value["shards"], list):
        raise ValueError("the shards must be a list")
    shards, next_id = [], 0
    for number, given in enumerate(value["shards"]):
        shards.append(_shard(given, empty, next_id, f"shard {number}"))
        next_id = shards[-1].first_id + shards[-1].rows
    next_id = _count(value["next_id"], "next_id", next_id, _LARGEST_ID)
    return replace(empty, shards=tuple(shards), next_id=next_id)


def _shard(value: Any, manifest: Manifest, next_id: int, what: str) -> Shard:
    value = _object(value, {"rows", "first_id", "files"}, what)
    rows = _count(value["rows"], f"{what}: rows", 1, _LARGEST_ID)
    first_id = _count(value["first_id"], f"{what}: first_id", next_id, _LARGEST_ID)
    files = value["files"]
    if not isinstance(files, dict):
        raise ValueError(f"{what}: files must be an object")
    arrays = manifest.arrays(rows)
    needed = {f"{name}.npy" for name in manifest.columns()}
    known = {*needed, "ids.npy"}
    for name in (*RECORDS, "structures"):
        pair = {f"{name}.bin", f"{name}_offsets.npy"}
        known |= pair
        needed |= pair if pair & set(files) else set()
    if not needed <= set(files) <= known:
        raise ValueError(f"{what}: a file is missing or unknown")
    stored = {name: _stored(file, f"{what}: {name}") for name, file in files.items()}
    for name, file in stored.items():
        if name in arrays and file.size != array_size(*arrays[name]):
            raise ValueError(f"{what}: the size of {name} does not match {rows:,} rows")
    return Shard(rows, first_id, stored)


def _stored(value: Any, what: str) -> StoredFile:
    value = _object(value, {"size", "sha256"}, what)
    if type(value["sha256"]) is not str or not _SHA256.fullmatch(value["sha256"]):
        raise ValueError(f"{what}: sha256 must be 64 hexadecimal digits")
    return StoredFile(_count(value["size"], f"{what}: size", 0, 2**63), value["sha256"])


def _object(value: Any, names: set[str], what: str) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != names:
        raise ValueError(f"{what} must be an object with the keys {', '.join(sorted(names))}")
    return value


def _count(value: Any, what: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{what} must be a whole number from {low} to {high}")
    return value
