"""Folders: plans with their parts, index folders, and Gram matrices in files.

Files of a folder are changed, the checksums in its manifests are made right, and only then are the
manifests changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import tempfile
from abc import abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Any

import kernelwood as kw
from fuzz.edits import (
    apply_array,
    apply_bytes,
    apply_json,
    draw_array,
    draw_bytes,
    draw_json,
    dump,
    parse_array,
)
from fuzz.kinds import REFUSED, Kind, Mutation, Use
from fuzz.model_samples import golden, sample
from kernelwood import scale
from kernelwood.errors import KernelwoodError
from kernelwood.kernels import open_gram, write_gram

_MEMORY = Path("/dev/shm")  # folders that are in memory are quick


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a new folder, in memory where the system has a place for it."""
    place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="kernelwood-fuzz-", dir=place)


class FolderKind(Kind):
    """Folders of one sort."""

    manifests: tuple[str, ...] = ()

    @abstractmethod
    def build(self, folder: Path) -> None:
        """Make an honest folder, which does not exist yet."""

    @abstractmethod
    def use(self, folder: Path, use: Use) -> str | None:
        """Use a folder; return ``"refused"`` if it cannot be opened."""

    def repair(self, files: dict[str, bytes]) -> None:
        """Make the checksums in manifests right."""

    @cached_property
    def _kept(self) -> tempfile.TemporaryDirectory[str]:
        """Folder of what folders refer to."""
        return temporary_folder()

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Files of the honest folder."""
        folder = Path(self._kept.name) / "honest"
        self.build(folder)
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix != ".lock"
        }

    def prepare(self) -> None:
        """Make the honest folder."""
        self.files  # noqa: B018 - made when first used

    def draw(self, rng: random.Random) -> list[Mutation]:
        """Return one to three changes."""
        return [self._draw(rng) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]

    def _draw(self, rng: random.Random) -> Mutation:
        name = rng.choice(list(self.files))
        if rng.random() < 0.4:
            name = rng.choice([one for one in self.files if one.endswith((".json", ".jsonl"))])
        data = self.files[name]
        match rng.randrange(12):
            case 0:
                return {"op": "remove", "member": name}
            case 1:
                return {"op": "swap", "member": name, "with": rng.choice(list(self.files))}
            case 2:
                return {**draw_bytes(data, rng), "member": name}
        if name.endswith(".json"):
            return {**draw_json(json.loads(data), rng), "member": name}
        if name.endswith(".jsonl"):
            lines = data.splitlines()
            line = rng.randrange(len(lines))
            return {**draw_json(json.loads(lines[line]), rng), "member": name, "line": line}
        if name.endswith(".npy"):
            array = parse_array(data)[0]
            return {"op": "array", "member": name, **draw_array(array, rng, [*array.shape])}
        return {**draw_bytes(data, rng), "member": name}

    def forge(self, mutations: list[Mutation]) -> dict[str, bytes]:
        """Return the files of the changed folder."""
        files = dict(self.files)
        manifest = [one.get("member") in self.manifests for one in mutations]
        for change, later in zip(mutations, manifest, strict=True):
            if not later:
                _change(files, change)
        self.repair(files)
        for change, later in zip(mutations, manifest, strict=True):
            if later:
                _change(files, change)
        return files

    def run(self, mutations: list[Mutation]) -> str:
        """Write the changed folder, and use it."""
        files = self.forge(mutations)
        with temporary_folder() as place:
            folder = Path(place) / "folder"
            for name, data in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            use = Use(OSError)
            return self.use(folder, use) or use.outcome


def _change(files: dict[str, bytes], change: Mutation) -> None:
    name = change["member"]
    if name not in files:
        return
    match change["op"]:
        case "remove":
            del files[name]
        case "swap":
            if change["with"] in files:
                files[name], files[change["with"]] = files[change["with"]], files[name]
        case "array":
            files[name] = apply_array(files[name], change)
        case "json":
            files[name] = _changed_json(files[name], change)
        case _:
            files[name] = apply_bytes(files[name], change)


def _changed_json(data: bytes, change: Mutation) -> bytes:
    try:
        if "line" not in change:
            return dump(apply_json(json.loads(data), change), indent=1, sort_keys=True)
        lines = data.splitlines()
        made = dump(apply_json(json.loads(lines[change["line"]]), change), separators=(",", ":"))
        lines[change["line"]] = made
        return b"".join(line + b"\n" for line in lines)
    except (ValueError, IndexError, RecursionError):  # changed before
        return data


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# Plans.


class PlanKind(FolderKind):
    """Plans of one command, half of whose shards are computed."""

    manifests = ("plan.json",)

    def __init__(self, command: str) -> None:
        super().__init__(f"plan/{command}")
        self.command = command

    def build(self, folder: Path) -> None:
        """Make a plan, and compute some of its shards."""
        kept = Path(self._kept.name)
        corpus = kept / "corpus.jsonl"
        kw.write(golden()._annotated(), corpus)
        model = None
        options: dict[str, Any] = {}
        if self.command in _PLAN_MODELS:
            model = kept / "model.kw"
            model.write_bytes(_PLAN_MODELS[self.command]())
        if self.command == "convert":
            options = {"format": "jsonl", "views": ["sentence"]}
        elif self.command not in ("predict",):
            options = {"candidates": "pairs", "views": ["context"]}
        plan = scale.make_plan(
            folder, self.command, [corpus], model=model, options=options, shard_size=2000
        )
        scale.run(plan, shards=range(max(1, plan.n_shards // 2)))

    def repair(self, files: dict[str, bytes]) -> None:
        """Make offsets, checksums and names of the plan right."""
        try:
            plan = json.loads(files["plan.json"])
            for name in plan["files"]:
                if f"files/{name}" in files:
                    plan["files"][name] = _sha256(files[f"files/{name}"])
            offsets, place = [], 0
            for line in files["shards.jsonl"].splitlines(keepends=True):
                offsets.append(place)
                place += len(line)
            if len(offsets) == len(plan["offsets"]):
                plan["offsets"] = offsets
            files["plan.json"] = dump(plan, indent=1, sort_keys=True)
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        identity = _sha256(files["plan.json"])
        for record in [name for name in files if name.endswith("/part.json")]:
            self._repair_part(files, record, identity)

    def _repair_part(self, files: dict[str, bytes], record: str, identity: str) -> None:
        try:
            part = json.loads(files[record])
            if part["plan"] == _sha256(self.files["plan.json"]):
                part["plan"] = identity
            for name, row in part["files"].items():
                data = files.get(record.replace("part.json", name))
                if data is not None and row == self._row(record, name):
                    row.update({"bytes": len(data), "sha256": _sha256(data)})
            files[record] = dump(part, indent=1)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return

    def _row(self, record: str, name: str) -> Any:
        return json.loads(self.files[record])["files"].get(name)

    def use(self, folder: Path, use: Use) -> str | None:
        """Show, run, check and collect the plan."""
        try:
            plan = scale.open_plan(folder)
        except (KernelwoodError, OSError):
            return REFUSED
        use(lambda: plan.shard(0))
        use(lambda: plan.shard(plan.n_shards - 1))
        use(lambda: str(scale.status(plan)))
        use(lambda: scale.status(plan).seconds_left)
        use(scale.verify, plan, sample=1)
        if plan.n_shards < 100:
            use(scale.run, plan)
            use(scale.collect, plan, folder.parent / f"out{_PLAN_SUFFIXES[self.command]}")
            use(scale.collect, plan, folder.parent / "parts")
            use(scale.run_shard, plan, 0)
        return None


def _saved(model: Any) -> bytes:
    import io

    from kernelwood.persist import write_model

    file = io.BytesIO()
    write_model(model, file)
    return file.getvalue()


def _on_context(cls: Any, **options: Any) -> bytes:
    kernel = kw.OnView("context", kw.SubsequenceKernel())
    candidates = kw.relations.pair_candidates(golden()._annotated())
    table = candidates.viewed("context").table
    return _saved(cls(kernel, random_state=1, **options).fit(table))


_PLAN_MODELS: dict[str, Any] = {
    "predict": lambda: sample("relation-extractor"),
    "embed": lambda: _on_context(kw.NystromEmbedder, n_landmarks=4),
    "hash": lambda: _on_context(kw.KernelHasher, n_references=4, n_bits=16),
    "index": lambda: _on_context(kw.KernelHasher, n_references=4, n_bits=16),
    "gram": lambda: _saved(kw.OnView("context", kw.SubsequenceKernel())),
}
_PLAN_SUFFIXES = {
    "predict": ".jsonl", "convert": ".jsonl", "embed": ".npy", "hash": ".npy", "index": "",
    "gram": ".npy",
}  # fmt: skip


# Index folders.


class IndexKind(FolderKind):
    """Index folders of codes or of vectors."""

    manifests = ("index.json",)

    def __init__(self, kind: str) -> None:
        super().__init__(f"index/{kind}")
        self._kind = kind

    def build(self, folder: Path) -> None:
        """Make an index of two shards."""
        trees = [example.view("tree") for example in golden()._training()[0]]
        kernel = kw.SubsetTreeKernel(decay=0.5)
        encoder: Any = (
            kw.KernelHasher(kernel, n_references=6, n_bits=70, random_state=1)
            if self._kind == "codes"
            else kw.NystromEmbedder(kernel, n_landmarks=5, random_state=1)
        )
        index = scale.IndexFolder.create(folder, encoder.fit(trees))
        names = [f"n{number}" for number in range(len(trees))]
        index.append(trees[:7], names=names[:7], texts=names[:7])
        index.append(trees[7:], names=names[7:])

    def repair(self, files: dict[str, bytes]) -> None:
        """Make sizes and checksums of the manifest right."""
        manifest = json.loads(self.files["index.json"])
        _describe(manifest["encoder"], files.get("encoder.kw"))
        for number, shard in enumerate(manifest["shards"]):
            for name, row in shard["files"].items():
                _describe(row, files.get(f"shards/{number:05}/{name}"))
        if files.get("index.json") == self.files["index.json"]:
            files["index.json"] = dump(manifest)

    def use(self, folder: Path, use: Use) -> str | None:
        """Open, search, read, check and extend the index."""
        try:
            index = scale.IndexFolder(folder)
        except (KernelwoodError, OSError):
            return REFUSED
        trees = golden().TREES
        use(lambda: (len(index), repr(index), bool(index)))
        found = use(index.search, trees, 3)
        use(index.search, trees, 3, n_rerank=6)
        if self._kind == "codes":
            use(lambda: index.search_codes(index.encoder.codes(trees), 3))
        ids = [0, 5, 8, 11] if found is None else [0, 5, 8, 11, *found[0][0].tolist()]
        for one in ids:
            for method in (index.names, index.texts, index.structures):
                use(method, [one])
        use(index.verify)
        use(index.append, trees)
        use(index.search, trees, 3)
        return None


def _describe(row: dict[str, Any], data: bytes | None) -> None:
    if data is not None:
        row.update({"size": len(data), "sha256": _sha256(data)})


# Gram matrices.


class GramKind(FolderKind):
    """Gram matrices in folders."""

    manifests = ("gram.json",)

    def __init__(self) -> None:
        super().__init__("gram/folder")
        self._texts = [kw.Sequence(f"number {i} of {i % 7}".split()) for i in range(300)]

    def build(self, folder: Path) -> None:
        """Write two files."""
        write_gram(kw.SubsequenceKernel(), self._texts, folder, n_rows=256)

    def use(self, folder: Path, use: Use) -> str | None:
        """Open, read and complete the matrix."""
        try:
            gram = open_gram(folder)
        except (KernelwoodError, OSError):
            return REFUSED
        use(lambda: (len(gram), repr(gram), gram.shape, gram.n_panels))
        use(lambda: gram.missing())
        for row in (0, len(gram) - 1):
            if len(gram):
                use(lambda row=row: gram.row(row).shape)  # numbers are as they are
        if gram.n_panels:
            use(lambda: gram.panel(gram.n_panels - 1).shape)
        use(write_gram, kw.SubsequenceKernel(), self._texts, folder, n_rows=256)
        return None


def kinds() -> list[Kind]:
    """Return the kinds of folders."""
    return [
        *(PlanKind(command) for command in _PLAN_SUFFIXES),
        IndexKind("codes"),
        IndexKind("vectors"),
        GramKind(),
    ]
