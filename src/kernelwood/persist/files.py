"""Saving models to files, and loading them again."""

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
from kernelwood.persist.archive import ArchiveReader, ArchiveWriter
from kernelwood.persist.card import card
from kernelwood.persist.manifest import (
    CARD,
    Entry,
    Manifest,
    folder_of,
    read_manifest,
    write_manifest,
)
from kernelwood.persist.members import array_pieces, array_size, dump_text, load_text, read_array
from kernelwood.persist.models import MANIFEST
from kernelwood.persist.parts import Part, join, split

__all__ = ["contents", "load", "save"]

_LARGEST_MANIFEST = 1 << 26  # bytes


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, which is either complete or not there.

    Parameters
    ----------
    model : kernel, similarity, vectors, batch of structures or fitted model
        What to save, with all that is inside it. Threads (``n_jobs``) are not saved: they are a
        choice of the moment, and results do not depend on them.
    path : str or PathLike
        The file, taken as it is: no suffix is added. A file that is there is replaced.

    Raises
    ------
    ModelFormatError
        If the model, or something inside it, cannot be saved or is not fitted.
    KernelInputError
        If a parameter is out of range.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : Make the model again.

    Notes
    -----
    The file is a zip archive of JSON, text and arrays of numpy; nothing in it can be run. The same
    model gives the same bytes, on one machine at least: zlib may compress differently elsewhere.

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
    # A link keeps pointing to the file it names.
    target = Path(os.path.realpath(path))
    with _naming(path):
        if target.exists() and not target.is_file():
            raise ModelFormatError("this is a folder or a device", hint="give the name of a file")
        parts = split(model)
        entries = [Entry.of(part, folder_of(i, len(parts))) for i, part in enumerate(parts)]
        with replacing(target) as file, closing(ArchiveWriter(file)) as archive:
            _write(archive, CARD, card(parts, __version__).encode("utf-8", "backslashreplace"))
            for part, entry in zip(parts, entries, strict=True):
                _write_part(archive, part, entry)
            manifest = write_manifest(Manifest(__version__, entries, archive.members))
            if len(manifest) > _LARGEST_MANIFEST:
                raise ModelFormatError(
                    "the parameters are too many to be saved",
                    hint="give long lists of numbers as arrays",
                )
            _write(archive, MANIFEST, manifest)


def load(path: str | os.PathLike[str]) -> Any:
    """Make a model again that was saved.

    Nothing in the file is run: it names classes by their names in a table of this library, and
    holds numbers and strings. It is checked before it is used, byte by byte, so it need not be
    trusted.

    Parameters
    ----------
    path : str or PathLike
        A file written by :func:`save`.

    Returns
    -------
    object
        Equal to what was saved, but for ``n_jobs``, which is as if it had not been given.

    Raises
    ------
    ModelFormatError
        With file and member, if the file is damaged, was changed, needs more memory than the budget
        allows, or comes from a newer kernelwood.
    OSError
        If there is no such file.

    See Also
    --------
    save : Write a file.
    """
    with Path(path).open("rb") as file, _naming(path):
        archive, manifest = _open(file)
        archive.read(CARD, lambda source, size: None)
        return join(_read_part(archive, entry) for entry in manifest.entries)


def contents(path: str | os.PathLike[str]) -> Manifest:
    """Tell what is in a file of a model without making the model.

    Every byte is checked, but no class is imported and nothing is made, so that files can be
    looked at whose models could not be used here.

    Parameters
    ----------
    path : str or PathLike
        A file written by :func:`save`.

    Returns
    -------
    Manifest
        The version that wrote it, its parts with their parameters, and the sizes of all members.

    Raises
    ------
    ModelFormatError
        With file and member, if the file is damaged, was changed, or comes from a newer
        kernelwood.
    OSError
        If there is no such file.

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
    # Nothing is known of it yet; as Python objects its bytes take some thirty times the room.
    data = archive.read_first(MANIFEST, min(_LARGEST_MANIFEST, budget() // 32))
    manifest = read_manifest(data, __version__)
    archive.expect(manifest.members, beside=MANIFEST)
    return archive, manifest


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the file to errors."""
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
        archive.write(entry.array(name), array_pieces(array), array_size(array))


def _read_part(archive: ArchiveReader, entry: Entry) -> Part:
    return Part(
        entry.kind,
        entry.name,
        entry.parameters,
        {name: archive.read(entry.text(name), _read_text) for name in entry.texts},
        {name: archive.read(entry.array(name), read_array) for name in entry.arrays},
    )


def _read_text(source: Any, size: int) -> list[str]:
    return load_text(source.read(size))
