"""Making plans from commands and inputs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kernelwood.compute import parse_bytes
from kernelwood.errors import KernelInputError
from kernelwood.io import PACKED_SUFFIXES, cut_inputs
from kernelwood.scale.plan import (
    MAX_SHARDS,
    PLAN,
    Plan,
    PlanError,
    group_segments,
    hash_file,
    open_plan,
    write_plan,
)
from kernelwood.scale.tasks import MODEL, STRUCTURES, TERMS, Gram, find_task, reading_options
from kernelwood.structures import shorten, show

_TEMPORARY = ".kernelwood-"  # names of files that are being written
_PACKED = 4  # bytes of text in a compressed byte, roughly


def make_plan(
    folder: str | os.PathLike[str],
    command: str,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    model: str | os.PathLike[str] | None = None,
    terms: str | os.PathLike[str] | None = None,
    options: Mapping[str, Any] | None = None,
    format: str | None = None,
    only: str | None = None,
    shard_size: int | str | None = None,
    max_shards: int = MAX_SHARDS,
    progress: Callable[[int, int], object] | None = None,
) -> Plan:
    """Cut the inputs of a command into shards, and write the plan to a folder.

    The inputs are read once, to find the borders of records and to compute hashes.

    Parameters
    ----------
    folder : str or PathLike
        A new or empty folder. If it contains a plan of the same work, this is returned; files of
        the inputs that were added, removed or written since are an error.
    command : str
        A name in `TASKS`, such as ``"extract"``.
    inputs : str or PathLike, or a sequence of these
        Files, folders and archives.
    model : str or PathLike, optional
        File of the extractor, embedder or hasher; it is copied into the plan.
    terms : str or PathLike, optional
        List of terms, for ``"extract"``; it is copied into the plan.
    options : mapping, optional
        Options of the command.
    format : str, optional
        Format of the inputs; by default suffix and content decide.
    only : str, optional
        A glob: read only files of folders and archives whose path matches.
    shard_size : int or str, optional
        Bytes of input for a shard, such as ``"4MB"``; by default that of the command.
    max_shards : int
        Approximate maximum number of shards; for large inputs shards become larger.
    progress : callable, optional
        Called with the number of bytes read and the total number.

    Returns
    -------
    Plan

    Raises
    ------
    PlanError
        If the folder contains another plan, or an option is not possible in plans.
    ReadError
        If an input cannot be read.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_interactions
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> kw.save(kw.RelationExtractor(random_state=0).fit(load_interactions("train")),
    ...         folder / "model.kw")
    >>> kw.write(load_interactions("test"), folder / "test.jsonl")
    >>> plan = make_plan(folder / "plan", "predict", [folder / "test.jsonl"],
    ...                  model=folder / "model.kw", shard_size="20kB")
    >>> kw.scale.run(plan).failed
    {}
    >>> counters = kw.scale.collect(plan, folder / "found.jsonl")
    >>> counters["n_documents"] == len(load_interactions("test"))
    True
    """
    task = find_task(command)
    settings = task.checked(options or {})
    for name, given in (("model", model), ("terms", terms)):
        if given is not None and not isinstance(given, (str, os.PathLike)):
            hint = "; save it first: kernelwood.save(model, path)" if name == "model" else ""
            raise KernelInputError(f"{name} must be the path of a file, got {show(given)}{hint}")
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    if not inputs:
        raise KernelInputError("inputs must be at least one path")
    paths = [os.fspath(path) for path in inputs]
    files = {name: path for name, path in ((MODEL, model), (TERMS, terms)) if path is not None}
    task.check_files(set(files))
    asked = task.size if shard_size is None else parse_bytes(shard_size)
    work: dict[str, Any] = {
        "command": command,
        "options": {k: v for k, v in settings.items() if v != task.default(k)},
        "inputs": paths,
        "base": os.fspath(Path.cwd()),
        "cut": {"format": format, "only": only, "size": asked, "max_shards": max_shards},
        "input_files": _found_files(paths, Path(folder)),
    }
    if (Path(folder) / PLAN).is_file():
        return _same_plan(open_plan(folder), work, files)
    if issubclass(task, Gram):
        with TemporaryDirectory(prefix="kernelwood-") as temporary:
            files[STRUCTURES] = Path(temporary, STRUCTURES)
            shards = task.cut(paths, settings, files, format=format, only=only)
            return write_plan(folder, shards, work, files)
    size = max(asked, -(-work["input_files"]["bytes"] // max(1, max_shards)))
    segments = cut_inputs(
        paths,
        format,
        texts=task.texts,
        size=size,
        only=only,
        progress=progress,
        **reading_options(settings),
    )
    return write_plan(folder, group_segments(segments, size), work, files)


def _same_plan(plan: Plan, work: Mapping[str, Any], files: Mapping[str, Any]) -> Plan:
    """Return a plan that exists, if it describes the same work."""
    plan.check_version()
    now = {**work, "files": {name: hash_file(Path(path)) for name, path in files.items()}}
    before = {**plan.work, "files": {k: v for k, v in plan.files.items() if k != STRUCTURES}}
    lines = [
        f"{name}: {_shown(name, before[name])} in the plan, {_shown(name, now[name])} now"
        for name in now
        if before[name] != now[name]
    ]
    if before["input_files"] != now["input_files"]:
        lines.append("files were added, removed or written since the plan was made")
    if lines:
        raise PlanError(
            "the folder contains a plan of other work",
            path=plan.folder,
            hint="\n    ".join((*lines, "choose another folder, or remove this one")),
        )
    return plan


def _shown(name: str, value: Any) -> str:
    if name != "input_files":
        return shorten(repr(value), 200)
    return f"{value.get('files')} with {value.get('bytes')} bytes"


def _found_files(paths: Sequence[str], plan: Path) -> dict[str, Any]:
    """Return the number of files of inputs, their bytes uncompressed, roughly, and a hash.

    The hash is that of names, sizes and times of modification, so that changes are noticed without
    reading the files. The folder of the plan may be in that of the inputs.
    """
    n_files = n_bytes = 0
    digest = hashlib.sha256()
    for path in _files(paths, plan.absolute()):
        try:
            state = path.stat()
        except OSError:
            continue  # reading it is an error
        packed = path.name.lower().endswith(tuple(PACKED_SUFFIXES))
        n_files, n_bytes = n_files + 1, n_bytes + state.st_size * (_PACKED if packed else 1)
        row = f"{os.fspath(path)}\0{state.st_size}\0{state.st_mtime_ns}\n"
        digest.update(row.encode("utf-8", "surrogateescape"))
    return {"files": n_files, "bytes": n_bytes, "sha256": digest.hexdigest()}


def _files(paths: Sequence[str], plan: Path) -> Iterator[Path]:
    """Yield the files of inputs in a fixed order, without a plan, its lock and temporary files."""
    for given in map(Path, paths):
        if not given.is_dir():
            yield given
            continue
        for name, folders, names in os.walk(given):
            folder = Path(name)
            others = [
                name for name in (plan.name, f"{plan.name}.lock") if _same(folder, plan.parent)
            ]
            folders[:] = sorted(one for one in folders if one not in others)
            for one in sorted(names):
                if one not in others and not one.startswith(_TEMPORARY):
                    yield folder / one


def _same(one: Path, other: Path) -> bool:
    return one.absolute() == other
