"""Grammars that come with the package, and the files they are kept in.

A grammar file holds what a `ForestParser` has learned and nothing else: rules and their
probabilities, words and how often they had which part of speech. It is a zip archive of plain
arrays, not compressed, so that the same grammar has the same bytes everywhere; whole numbers are
kept as small as they are, probabilities and counts in single precision.
"""

from __future__ import annotations

import copy
import json
import os
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.parsing.parser import ForestParser

__all__ = ["GRAMMARS", "grammar_version", "load_grammar", "read_grammar", "write_grammar"]

# Name -> version; a version is raised when the file changes, for parses change with it.
GRAMMARS = {"biomedical": "1"}

_FOLDER = Path(__file__).with_name("grammars")
_FORMAT = 1
_HEADER = "header"
_TEXTS = ("labels", "words", "word_classes")


def load_grammar(name: str = "biomedical") -> ForestParser:
    """Return a parser with a bundled grammar.

    The file is read once; every call returns a parser of its own, which may be given other
    parameters.

    Parameters
    ----------
    name : {"biomedical"}
        ``"biomedical"`` was learned from the GENIA treebank (abstracts about human blood cells
        and transcription factors); see the README beside the grammars for source and licence.

    Raises
    ------
    KernelInputError
        If there is no grammar of that name.

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
    '1'
    """
    if name not in GRAMMARS:
        raise KernelInputError(
            f"there is no bundled grammar {name!r}\n    there is: {', '.join(sorted(GRAMMARS))}"
        )
    return GRAMMARS[name]


@lru_cache(maxsize=len(GRAMMARS))
def _read_bundled(name: str) -> ForestParser:
    return read_grammar(_FOLDER / f"{name}.npz")


def write_grammar(parser: ForestParser, file: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write what a parser has learned; equal parsers give equal bytes.

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
    members.update({name: _small(array) for name, array in sorted(arrays.items())})
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in members.items():
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.create_system = 3  # or the bytes would depend on the operating system
            info.external_attr = 0o644 << 16
            with archive.open(info, "w") as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def read_grammar(file: str | os.PathLike[str] | IO[bytes]) -> ForestParser:
    """Return the parser that `write_grammar` wrote.

    Raises
    ------
    ModelFormatError
        If the file is none of a grammar.
    """
    try:
        with np.load(file, allow_pickle=False) as archive:
            members: dict[str, NDArray[Any]] = {name: archive[name] for name in archive.files}
        header = json.loads(_decode(members.pop(_HEADER)))
        texts = {name: _decode(members.pop(name)).split("\n") for name in _TEXTS}
        version, parameters = header["format"], header["parameters"]
    except (AttributeError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ModelFormatError(
            f"this is no file of a grammar: {error}", hint="install kernelwood again"
        ) from None
    if version != _FORMAT:
        raise ModelFormatError(
            f"the grammar has format {version!r}, this is a reader of format {_FORMAT}",
            hint="install kernelwood again",
        )
    arrays = {name: _full(name, array) for name, array in members.items()}
    return ForestParser._from_saved(parameters, texts, arrays)


def _encode(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _decode(array: NDArray[Any]) -> str:
    return array.tobytes().decode()


def _small(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the smallest little-endian type for it."""
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, dtype="<f4")
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for kind in ("u1", "<i2", "<i4"):
        limits = np.iinfo(kind)
        if limits.min <= least and most <= limits.max:
            return np.ascontiguousarray(array, dtype=kind)
    return np.ascontiguousarray(array, dtype="<i8")


def _full(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the type the parser works with."""
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    return array.astype(np.int64 if name.endswith("_offsets") else np.int32)
