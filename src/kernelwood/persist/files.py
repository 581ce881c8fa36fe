"""Saving and loading model files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from kernelwood import __version__
from kernelwood.compute import budget
from kernelwood.errors import ModelFormatError
from kernelwood.io import replacing
from kernelwood.persist.archive import (
    ArchiveReader,
    ArchiveWriter,
    array_chunks,
    array_size,
    dump_text,
    load_text,
    read_array,
)
from kernelwood.persist.manifest import (
    CARD,
    Entry,
    Manifest,
    card,
    folder_of,
    read_manifest,
    write_manifest,
)
from kernelwood.persist.models import MANIFEST
from kernelwood.persist.parts import Part, join, split
from kernelwood.structures import show

_LARGEST_MANIFEST = 1 << 26  # bytes


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, completely or not at all.

    Parameters
    ----------
    model : kernel, similarity, vectors, batch of structures or fitted model
        The model, saved with all models inside it. ``n_jobs`` is not saved; results do not depend
        on it.
    path : str or PathLike
        Output file; no suffix is added. An existing file is replaced.

    Raises
    ------
    ModelFormatError
        If the model, or a model inside it, cannot be saved or is not fitted.
    KernelInputError
        If a parameter is out of range.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : Load the model.

    Notes
    -----
    The file is a zip archive of JSON, text and numpy arrays, without code. The same model gives the
    same bytes for the same version of zlib.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import kernelwood as kw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "kernel.kw")
    ...     kw.save(0.3 * kw.SubsetTreeKernel(decay=0.5), file)
    ...     kw.load(file)
    0.3 * SubsetTreeKernel(decay=0.5)
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ModelFormatError(
            f"the path must be a string or PathLike, got {show(path)}",
            hint="give the model first: save(model, path)",
        )
    # A symbolic link is kept; its target is replaced.
    target = Path(os.path.realpath(path))
    with _naming(path):
        if target.exists() and not target.is_file():
            raise ModelFormatError(
                "the path is a folder or a device", hint="give the name of a file"
            )
        parts = split(model)
        with replacing(target) as file:
            _write_parts(parts, file)


def write_model(model: Any, file: BinaryIO) -> None:
    """Write a model to an open binary file, in the format of :func:`save`."""
    _write_parts(split(model), file)


def _write_parts(parts: list[Part], file: BinaryIO) -> None:
    entries = [Entry.of(part, folder_of(i, len(parts))) for i, part in enumerate(parts)]
    with closing(ArchiveWriter(file)) as archive:
        _write(archive, CARD, card(parts, __version__).encode("utf-8", "backslashreplace"))
        for part, entry in zip(parts, entries, strict=True):
            _write_part(archive, part, entry)
        manifest = write_manifest(Manifest(__version__, entries, archive.members))
        if len(manifest) > _LARGEST_MANIFEST:
            raise ModelFormatError(
                "the parameters are too large to be saved",
                hint="pass long lists of numbers as arrays",
            )
        _write(archive, MANIFEST, manifest)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model saved in a file.

    Untrusted files are safe to load: a file contains numbers, strings and names of classes in a
    table of this library, no code, and every byte is checked before use.

    Parameters
    ----------
    path : str or PathLike
        A file written by :func:`save`.

    Returns
    -------
    object
        Equal to the saved model, except that ``n_jobs`` has its default.

    Raises
    ------
    ModelFormatError
        With file and member, if the file is damaged, was changed, needs more memory than the budget
        allows, or comes from a newer kernelwood.
    OSError
        If the file cannot be read.

    See Also
    --------
    save : Write a model to a file.
    """
    with Path(path).open("rb") as file, _naming(path):
        return read_model(file)


def read_model(file: BinaryIO) -> Any:
    """Return the model in an open binary file; see :func:`load`."""
    archive, manifest = _open(file)
    archive.read(CARD, lambda source, size: None)
    return join(_read_part(archive, entry) for entry in manifest.entries)


def contents(path: str | os.PathLike[str]) -> Manifest:
    """Return the contents of a model file without loading the model.

    Every byte is checked, but no class is imported, so files can be inspected even if their models
    cannot be used here.

    Parameters
    ----------
    path : str or PathLike
        A file written by :func:`save`.

    Returns
    -------
    Manifest
        The version that wrote the file, its parts with parameters, and the sizes of all members.

    Raises
    ------
    ModelFormatError
        With file and member, if the file is damaged, was changed, or comes from a newer
        kernelwood.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import kernelwood as kw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "kernel.kw")
    ...     kw.save(kw.SubsetTreeKernel(decay=0.5), file)
    ...     contents(file).entries[-1].parameters["decay"]
    0.5
    """
    with Path(path).open("rb") as file, _naming(path):
        archive, manifest = _open(file)
        for name in manifest.members:
            archive.read(name, lambda source, size: None)
        return manifest


def _open(file: BinaryIO) -> tuple[ArchiveReader, Manifest]:
    archive = ArchiveReader(file)
    # As Python objects, JSON takes about 30 times its size.
    data = archive.read_first(MANIFEST, min(_LARGEST_MANIFEST, budget() // 32))
    manifest = read_manifest(data, __version__)
    archive.expect(manifest.members, beside=MANIFEST)
    return archive, manifest


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the path to errors."""
    try:
        yield
    except ModelFormatError as error:
        raise ModelFormatError(
            error.problem, path=os.fspath(path), member=error.member, hint=error.hint
        ) from error.__cause__


def _write(archive: ArchiveWriter, name: str, data: bytes) -> None:
    archive.write(name, [data], len(data))


def _write_part(archive: ArchiveWriter, part: Part, entry: Entry) -> None:
    for name, strings in part.texts.items():
        _write(archive, entry.text(name), dump_text(strings))
    for name, array in part.arrays.items():
        archive.write(entry.array(name), array_chunks(array), array_size(array))


def _read_part(archive: ArchiveReader, entry: Entry) -> Part:
    return Part(
        entry.kind,
        entry.name,
        entry.parameters,
        {name: archive.read(entry.text(name), _read_text) for name in entry.texts},
        {name: archive.read(entry.array(name), read_array) for name in entry.arrays},
        entry.folder,
    )


def _read_text(source: Any, size: int) -> list[str]:
    return load_text(source.read(size))
