"""Model files: members and manifest changed, checksums right, then every method used."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from functools import cached_property
from typing import Any

from fuzz.archives import draw_zip, pack
from fuzz.edits import (
    apply_array,
    apply_bytes,
    apply_json,
    apply_text,
    draw_array,
    draw_bytes,
    draw_json,
    draw_text,
    dump,
    parse_array,
)
from fuzz.kinds import REFUSED, Kind, Mutation, Use
from fuzz.model_samples import names, sample
from fuzz.model_use import use_model
from kernelwood.errors import KernelwoodError
from kernelwood.persist import MODELS, read_model

MANIFEST = "manifest.json"
# Samples of one part each, which replace parts of other models.
_DONORS = (
    "kernel-subsequence", "kernel-subtree", "kernel-partial-tree", "kernel-forest",
    "kernel-vector", "similarity-table", "vectors", "structures-sequences", "structures-trees",
    "structures-forests", "structures-vectors-dense", "structures-vectors-sparse", "dictionary",
)  # fmt: skip


class Forge:
    """Changed files of one model.

    Parameters
    ----------
    data : bytes
        The honest file.
    """

    def __init__(self, data: bytes) -> None:
        self._manifest, self._members = unpack(data)

    # Drawing.

    def draw(self, rng: random.Random) -> list[Mutation]:
        """Return one to three changes."""
        return [self._draw(rng) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]

    def _draw(self, rng: random.Random) -> Mutation:
        arrays = [name for name in self._members if name.endswith(".npy")]
        texts = [name for name in self._members if name.endswith(".txt")]
        match rng.randrange(20):
            case 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 if arrays:
                return self._draw_array(rng.choice(arrays), rng)
            case 9 if texts:
                name = rng.choice(texts)
                return {"op": "text", "member": name, **draw_text(self._members[name], rng)}
            case 10 if len(arrays) > 1:
                one, other = self._neighbors(arrays, rng)
                return {"op": "swap", "member": one, "with": other}
            case 11 if self._manifest["parts"]:
                number = rng.randrange(len(self._manifest["parts"]))
                return {"op": "part", "number": number, "as": rng.choice(_DONORS)}
            case 12:
                return self._draw_name(rng)
            case 13:
                return draw_json(self._manifest, rng)
            case 14:
                return draw_zip(rng)
            case 15 if self._members:
                name = rng.choice(list(self._members))
                return {**draw_bytes(self._members[name], rng), "member": name}
        start = ("parameters",)
        if self._manifest["parts"] and rng.random() < 0.6:
            start = ("parts", rng.randrange(len(self._manifest["parts"])), "parameters")
        return draw_json(self._manifest, rng, start)

    def _draw_array(self, name: str, rng: random.Random) -> Mutation:
        folder = name.rpartition("/")[0]
        sizes = []
        for other, data in self._members.items():
            if other.endswith(".npy") and other.rpartition("/")[0] == folder:
                array = parse_array(data)[0]
                sizes += [*array.shape]
                if array.size and array.dtype.kind in "iu":
                    sizes.append(int(array.max()))
        array = parse_array(self._members[name])[0]
        return {"op": "array", "member": name, **draw_array(array, rng, sizes)}

    def _neighbors(self, arrays: list[str], rng: random.Random) -> tuple[str, str]:
        """Return two arrays, mostly of the same part."""
        one = rng.choice(arrays)
        folder = one.rpartition("/")[0]
        near = [name for name in arrays if name.rpartition("/")[0] == folder and name != one]
        return one, rng.choice(near if near and rng.random() < 0.8 else arrays)

    def _draw_name(self, rng: random.Random) -> Mutation:
        """Return a change of the class of a part."""
        n = len(self._manifest["parts"])
        number = rng.randrange(n + 1)
        kind, name = rng.choice(list(MODELS))
        return {"op": "class", "number": number, "kind": kind, "name": name}

    # Applying.

    def forge(self, mutations: list[Mutation]) -> bytes:
        """Return the changed file, with the checksums of what it holds."""
        manifest, members = self._manifest, dict(self._members)
        later, faults = [], []
        for change in mutations:
            match change["op"]:
                case "json":
                    later.append(change)
                case "zip":
                    faults.append(change)
                case "part":
                    manifest, members = _with_part(manifest, members, change)
                case "class":
                    manifest = _with_class(manifest, change)
                case _:
                    _change_member(members, change)
        manifest = {
            **manifest,
            "members": {
                name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
                for name, data in members.items()
            },
        }
        for change in later:
            manifest = apply_json(manifest, change)
        return pack({**members, MANIFEST: dump(manifest)}, faults)


class ModelKind(Kind):
    """Files of one model."""

    def __init__(self, name: str) -> None:
        super().__init__(f"model/{name}")
        self._sample = name

    @cached_property
    def _forge(self) -> Forge:
        return Forge(sample(self._sample))

    def prepare(self) -> None:
        """Read the sample, and those of which it may get parts."""
        for name in (self._sample, *_DONORS):
            sample(name)
        self._forge  # noqa: B018 - made when first used

    def draw(self, rng: random.Random) -> list[Mutation]:
        """Return one to three changes."""
        return self._forge.draw(rng)

    def run(self, mutations: list[Mutation]) -> str:
        """Load the changed file, and use the model."""
        file = self._forge.forge(mutations)
        try:
            model = read_model(io.BytesIO(file))
        except KernelwoodError:
            return REFUSED
        use = Use()
        use_model(model, use)
        return use.outcome


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the other members of a model file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop(MANIFEST)), members


def _change_member(members: dict[str, bytes], change: Mutation) -> None:
    name = change["member"]
    if name not in members:  # its part was replaced
        return
    match change["op"]:
        case "array":
            members[name] = apply_array(members[name], change)
        case "text":
            members[name] = apply_text(members[name], change)
        case "bytes":
            members[name] = apply_bytes(members[name], change)
        case "swap" if change["with"] in members:
            members[name], members[change["with"]] = members[change["with"]], members[name]


def _with_part(
    manifest: dict[str, Any], members: dict[str, bytes], change: Mutation
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Replace a part by the only part of another model."""
    other, theirs = unpack(sample(change["as"]))
    if other["parts"]:
        return manifest, members
    number = change["number"]
    folder = f"parts/{number}/"
    kept = {name: data for name, data in members.items() if not name.startswith(folder)}
    kept |= {folder + name: data for name, data in theirs.items() if name != "card.md"}
    parts = list(manifest["parts"])
    keys = ("kind", "parameters", "texts", "arrays")
    parts[number] = {**{key: other[key] for key in keys}, "name": other["model"]}
    return {**manifest, "parts": parts}, kept


def _with_class(manifest: dict[str, Any], change: Mutation) -> dict[str, Any]:
    """Change the class of a part; the last is the model itself."""
    number, parts = change["number"], list(manifest["parts"])
    if number == len(parts):
        return {**manifest, "kind": change["kind"], "model": change["name"]}
    parts[number] = {**parts[number], "kind": change["kind"], "name": change["name"]}
    return {**manifest, "parts": parts}


def kinds() -> list[Kind]:
    """Return the kinds of all models."""
    return [ModelKind(name) for name in names()]
