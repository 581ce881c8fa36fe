"""Making plans from commands and inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
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
from kernelwood.structures import shorten

_PACKED = 4  # bytes of text in a compressed byte, roughly


def make_plan(
    folder: str | os.PathLike[str],
    command: str,
    inputs: Sequence[str | os.PathLike[str]],
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
        A new or empty folder. If it contains a plan of the same work, this is returned.
    command : str
        A name in `TASKS`, such as ``"extract"``.
    inputs : sequence of str or PathLike
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
        Called with the number of bytes read and that of all.

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
    if isinstance(inputs, (str, os.PathLike)) or not inputs:
        raise KernelInputError("inputs must be a list of at least one path")
    paths = [os.fspath(path) for path in inputs]
    files = {name: path for name, path in ((MODEL, model), (TERMS, terms)) if path is not None}
    task.check_files(set(files))
    asked = task.size if shard_size is None else parse_bytes(shard_size)
    work = {
        "command": command,
        "options": {k: v for k, v in settings.items() if v != task.default(k)},
        "inputs": paths,
        "base": os.fspath(Path.cwd()),
        "cut": {"format": format, "only": only, "size": asked, "max_shards": max_shards},
    }
    if (Path(folder) / PLAN).is_file():
        return _same_plan(open_plan(folder), work, files)
    if issubclass(task, Gram):
        with TemporaryDirectory(prefix="kernelwood-") as temporary:
            files[STRUCTURES] = Path(temporary, STRUCTURES)
            shards = task.cut(paths, settings, files, format=format, only=only)
            return write_plan(folder, shards, work, files)
    size = max(asked, -(-input_size(paths) // max(1, max_shards)))
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
        f"{name}: {shorten(repr(before[name]), 200)} in the plan, {shorten(repr(now[name]), 200)} "
        "now"
        for name in now
        if before[name] != now[name]
    ]
    if lines:
        raise PlanError(
            "the folder contains a plan of other work",
            path=plan.folder,
            hint="\n    ".join((*lines, "choose another folder, or remove this one")),
        )
    return plan


def input_size(paths: Sequence[str]) -> int:
    """Return the number of bytes of files and of the files in folders, roughly, uncompressed."""
    total = 0
    for path in map(Path, paths):
        if path.is_dir():
            for folder, _, names in os.walk(path):
                total += sum(_size(Path(folder, name)) for name in names)
        else:
            total += _size(path)
    return total


def _size(path: Path) -> int:
    try:
        size = path.stat().st_size
    except OSError:
        return 0
    return size * _PACKED if path.name.lower().endswith(tuple(PACKED_SUFFIXES)) else size
