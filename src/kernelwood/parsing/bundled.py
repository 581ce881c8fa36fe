"""Bundled grammars and their file format.

A grammar file contains the state of a fitted `ForestParser`: rules with probabilities, and words
with counts of their parts of speech. It is an uncompressed zip archive of plain arrays, so equal
grammars have equal bytes on every platform. Integers have the smallest type that fits;
probabilities and counts have single precision.
"""

from __future__ import annotations

import atexit
import copy
import json
import os
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import SchemaError, check_values
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.parsing.parser import ForestParser

# Name -> version, which is increased when the file changes.
GRAMMARS = {"biomedical": "2"}

_FOLDER = Path(__file__).with_name("grammars")
_FORMAT = 2
_HEADER = "header"
_TEXTS = ("labels", "words", "word_classes")


def load_grammar(name: str = "biomedical") -> ForestParser:
    """Return a parser with a bundled grammar.

    The file is read once; every call returns a new parser, whose parameters may be changed.

    Parameters
    ----------
    name : {"biomedical"}
        ``"biomedical"`` was learned from the GENIA treebank (abstracts about human blood cells
        and transcription factors); the README next to the grammars names source and license.

    Raises
    ------
    KernelInputError
        If no grammar has this name.

    Examples
    --------
    >>> parser = load_grammar()
    >>> print(parser.parse("MEK1 phosphorylates human ERK2 .".split()).best_tree().to_brackets())
    (S (NP (NN MEK1)) (VP (VBZ phosphorylates) (NP (JJ human) (NN ERK2))) (. .))
    """
    grammar_version(name)
    return copy.copy(_read_bundled(name))


def grammar_version(name: str = "biomedical") -> str:
    """Return the version of a bundled grammar.

    Examples
    --------
    >>> grammar_version("biomedical")
    '2'
    """
    if name not in GRAMMARS:
        raise KernelInputError(
            f"no bundled grammar {name!r}\n    known: {', '.join(sorted(GRAMMARS))}"
        )
    return GRAMMARS[name]


@lru_cache(maxsize=len(GRAMMARS))
def _read_bundled(name: str) -> ForestParser:
    parser = read_grammar(_FOLDER / f"{name}.npz")
    parser._chart()  # shared by all copies
    return parser


# Native objects are freed before the core is.
atexit.register(_read_bundled.cache_clear)


def write_grammar(parser: ForestParser, file: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write the grammar file of a parser; equal parsers give equal bytes.

    Examples
    --------
    >>> import io
    >>> from kernelwood.structures import Tree
    >>> parser = ForestParser().fit([Tree.from_brackets("(S (NP (NN rain)) (VP (VBZ falls)))")])
    >>> out = io.BytesIO()
    >>> write_grammar(parser, out)
    >>> _ = out.seek(0)
    >>> read_grammar(out).parse(["rain", "falls"]) == parser.parse(["rain", "falls"])
    True
    """
    parameters, texts, arrays = parser._to_saved()
    header = {"format": _FORMAT, "parameters": parameters}
    members = {_HEADER: _encode(json.dumps(header, sort_keys=True))}
    members.update({name: _encode("\n".join(texts[name])) for name in _TEXTS})
    for name, array in sorted(arrays.items()):
        counts = name.startswith("boundary_")  # whole numbers
        members[name] = _small(array.astype(np.int64) if counts else array)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in members.items():
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.create_system = 3  # the same bytes on every operating system
            info.external_attr = 0o644 << 16
            with archive.open(info, "w") as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def read_grammar(file: str | os.PathLike[str] | IO[bytes]) -> ForestParser:
    """Return the parser of a grammar file, the inverse of `write_grammar`.

    Raises
    ------
    ModelFormatError
        If the file is not a grammar file.
    """
    try:
        with np.load(file, allow_pickle=False) as archive:
            members: dict[str, NDArray[Any]] = {name: archive[name] for name in archive.files}
        header = json.loads(_decode(members.pop(_HEADER)))
        texts = {name: _decode(members.pop(name)).split("\n") for name in _TEXTS}
        version, parameters = header["format"], header["parameters"]
    except (AttributeError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ModelFormatError(
            f"not a grammar file: {error}", hint="install kernelwood again"
        ) from None
    if version != _FORMAT:
        raise ModelFormatError(
            f"the grammar file has format {version!r}, expected {_FORMAT}",
            hint="install kernelwood again",
        )
    arrays = {name: _full(name, array) for name, array in members.items()}
    try:
        check_values(ForestParser._saved, {**parameters, **texts, **arrays})
    except (SchemaError, TypeError) as error:
        raise ModelFormatError(
            f"not a grammar file: {error}", hint="install kernelwood again"
        ) from None
    return ForestParser._from_saved(parameters, texts, arrays)


def _encode(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _decode(array: NDArray[Any]) -> str:
    return array.tobytes().decode()


def _small(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the smallest little-endian type that fits."""
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, dtype="<f4")
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for kind in ("u1", "<i2", "<i4"):
        limits = np.iinfo(kind)
        if limits.min <= least and most <= limits.max:
            return np.ascontiguousarray(array, dtype=kind)
    return np.ascontiguousarray(array, dtype="<i8")


def _full(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the type that the parser uses."""
    if array.dtype.kind == "f" or name.startswith("boundary_"):
        return array.astype(np.float64)
    return array.astype(np.int64 if name.endswith("_offsets") else np.int32)
