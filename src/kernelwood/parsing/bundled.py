"""Bundled grammars and dependency parsers, and their file formats.

A grammar file contains the state of a fitted `ForestParser`: rules with probabilities, and words
with counts of their parts of speech. The file of a dependency parser contains that of a
`DependencyParser`: weights and words. Both are uncompressed zip archives of plain arrays, so equal
parsers have equal bytes on every platform. Integers have the smallest type that fits;
probabilities and counts have single precision.
"""

from __future__ import annotations

import atexit
import copy
import json
import os
import zipfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Schema, SchemaError, check_values
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.parsing.dependency_parser import DependencyParser
from kernelwood.parsing.parser import ForestParser

# Name -> version, which is increased when the file changes.
GRAMMARS = {"biomedical": "2"}
PARSERS = {"biomedical-dependencies": "2"}

_FOLDER = Path(__file__).with_name("grammars")
_GRAMMAR_FORMAT, _PARSER_FORMAT = 2, 1
_HEADER = "header"
_DEPENDENCIES = "dependencies"
_TEXTS = ("labels", "words", "word_classes")
_PARSER_TEXTS = ("tags", "relations", "words", "nouns", "verbs")


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


def load_dependency_parser(name: str = "biomedical-dependencies") -> DependencyParser:
    """Return a bundled dependency parser; the file is read once.

    Raises
    ------
    KernelInputError
        If no parser has this name.

    Examples
    --------
    >>> parser = load_dependency_parser()
    >>> parser.parse_batch([["MEK1", "phosphorylates", "ERK2"]])[0].heads
    [1, -1, 1]
    """
    parser_version(name)
    return _read_bundled_parser(name)


def parser_version(name: str = "biomedical-dependencies") -> str:
    """Return the version of a bundled dependency parser.

    Examples
    --------
    >>> parser_version()
    '2'
    """
    if name not in PARSERS:
        raise KernelInputError(
            f"no bundled dependency parser {name!r}\n    known: {', '.join(sorted(PARSERS))}"
        )
    return PARSERS[name]


@lru_cache(maxsize=len(GRAMMARS))
def _read_bundled(name: str) -> ForestParser:
    parser = read_grammar(_FOLDER / f"{name}.npz")
    parser._chart()  # shared by all copies
    return parser


# Native objects are freed before the core is.
atexit.register(_read_bundled.cache_clear)


@lru_cache(maxsize=len(PARSERS))
def _read_bundled_parser(name: str) -> DependencyParser:
    return read_dependency_parser(_FOLDER / f"{name}.npz")


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
    whole = {  # counts
        name: array.astype(np.int64) if name.startswith("boundary_") else array
        for name, array in arrays.items()
    }
    _write(file, {"format": _GRAMMAR_FORMAT, "parameters": parameters}, texts, whole)


def write_dependency_parser(
    parser: DependencyParser, file: str | os.PathLike[str] | IO[bytes]
) -> None:
    """Write the file of a dependency parser; equal parsers give equal bytes."""
    texts, arrays = parser._to_saved()
    _write(file, {"format": _PARSER_FORMAT, "kind": _DEPENDENCIES}, texts, arrays)


def _write(
    file: str | os.PathLike[str] | IO[bytes],
    header: Mapping[str, Any],
    texts: Mapping[str, list[str]],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    members = {_HEADER: _encode(json.dumps(header, sort_keys=True))}
    members.update({name: _encode("\n".join(lines)) for name, lines in texts.items()})
    members.update({name: _small(array) for name, array in sorted(arrays.items())})
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
    header, texts, members = _read(
        file, _TEXTS, "a grammar file", {"format", "parameters"}, _GRAMMAR_FORMAT
    )
    arrays = {name: _full(name, array) for name, array in members.items()}
    parameters = header["parameters"]
    if not isinstance(parameters, dict):
        raise _not_a_file("a grammar file", "no parameters")
    _check(ForestParser._saved, {**parameters, **texts, **arrays}, "a grammar file")
    return ForestParser._from_saved(parameters, texts, arrays)


def read_dependency_parser(file: str | os.PathLike[str] | IO[bytes]) -> DependencyParser:
    """Return the parser of a file, the inverse of `write_dependency_parser`.

    Raises
    ------
    ModelFormatError
        If the file is not that of a dependency parser.
    """
    what = "the file of a dependency parser"
    header, texts, arrays = _read(file, _PARSER_TEXTS, what, {"format", "kind"}, _PARSER_FORMAT)
    if header["kind"] != _DEPENDENCIES:
        raise _not_a_file(what, f"kind {header['kind']!r}")
    _check(DependencyParser._saved, {**texts, **arrays}, what)
    return DependencyParser._from_saved(texts, arrays)


def _read(
    file: str | os.PathLike[str] | IO[bytes],
    names: tuple[str, ...],
    what: str,
    keys: set[str],
    expected: int,
) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, NDArray[Any]]]:
    """Return header, lists of strings and arrays of a file."""
    try:
        with np.load(file, allow_pickle=False) as archive:
            members: dict[str, NDArray[Any]] = {name: archive[name] for name in archive.files}
        header = json.loads(_decode(members.pop(_HEADER)))
        texts = {name: _decode(members.pop(name)).split("\n") for name in names}
        version = header["format"]
    except (AttributeError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _not_a_file(what, error) from None
    if version != expected:
        raise ModelFormatError(
            f"{what.removeprefix('a ')} has format {version!r}, expected {expected}",
            hint="install kernelwood again",
        )
    if not keys <= header.keys():
        raise _not_a_file(what, "parts of the header are missing")
    return header, texts, members


def _check(schema: Schema, values: Mapping[str, Any], what: str) -> None:
    try:
        check_values(schema, values)
    except (SchemaError, TypeError) as error:
        raise _not_a_file(what, error) from None


def _not_a_file(what: str, why: object) -> ModelFormatError:
    return ModelFormatError(f"not {what}: {why}", hint="install kernelwood again")


def _encode(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _decode(array: NDArray[Any]) -> str:
    return array.tobytes().decode()


def _small(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the smallest little-endian type that fits."""
    if array.dtype == np.int8:  # weights
        return np.ascontiguousarray(array)
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
