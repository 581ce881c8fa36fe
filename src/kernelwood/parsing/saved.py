"""Grammars and lexicons saved as lists of strings and arrays, and checked when restored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import (
    LARGE,
    ArrayOf,
    Offsets,
    Schema,
    Strings,
)
from kernelwood.errors import ModelFormatError
from kernelwood.parsing.boundaries import Boundaries
from kernelwood.parsing.grammar import Grammar, Rules
from kernelwood.parsing.lexicon import Lexicon, Table

# What the strings and the numbers must be.
SAVED: Schema = {
    "labels": Strings(different=True),
    "words": Strings(rising=True),
    "word_classes": Strings(rising=True),
    "output": ArrayOf("int32", "symbols", least=-1, below="labels"),
    "coarse_of": ArrayOf("int32", "symbols", least=0),
    "root": ArrayOf("int32", "roots", least=0, below="output"),
    "root_p": ArrayOf("float64", "roots", above=0, most=1),
    "fine_binary": ArrayOf("int32", "fine binary", 3, least=0, below="output"),
    "fine_binary_p": ArrayOf("float64", "fine binary", above=0, most=1),
    "fine_unary": ArrayOf("int32", "fine unary", 2, least=0, below="output"),
    "fine_unary_p": ArrayOf("float64", "fine unary", above=0, most=1),
    "coarse_binary": ArrayOf("int32", "coarse binary", 3, least=0),
    "coarse_binary_p": ArrayOf("float64", "coarse binary", above=0, most=1),
    "coarse_unary": ArrayOf("int32", "coarse unary", 2, least=0),
    "coarse_unary_p": ArrayOf("float64", "coarse unary", above=0, most=1),
    "tags": ArrayOf("int32", None, least=0, below="labels"),
    "tag_symbols": ArrayOf("int32", "tag symbols", least=0, below="output"),
    "tag_of": ArrayOf("int32", "tag symbols", least=0, below="tags"),
    "tag_symbol_counts": ArrayOf("float64", "tag symbols", above=0, most=LARGE),
    "rare_shares": ArrayOf("float64", "tag symbols", above=0, most=1),
    "open_tags": ArrayOf("float64", "tags", least=0, most=1),
    "word_columns": ArrayOf("int32", "word counts", least=0, below="tag_symbols"),
    "word_counts": ArrayOf("float64", "word counts", above=0, most=LARGE),
    "word_offsets": Offsets("words", "word_columns", filled=True),
    "class_columns": ArrayOf("int32", "class counts", least=0, below="tags"),
    "class_counts": ArrayOf("float64", "class counts", above=0, most=LARGE),
    "class_offsets": Offsets("word_classes", "class_columns", filled=True),
    "boundary_neighbors": ArrayOf("float64", "sides", "sides", least=0, most=LARGE),
    "boundary_before": ArrayOf("float64", "coarse symbols", "sides", least=0, most=LARGE),
    "boundary_after": ArrayOf("float64", "coarse symbols", "sides", least=0, most=LARGE),
}

_BOUNDARIES = ("boundary_neighbors", "boundary_before", "boundary_after")


def no_boundaries() -> dict[str, NDArray[Any]]:
    """Return the arrays of a grammar without counts of boundaries, as files had none before."""
    return {name: np.zeros((0, 0)) for name in _BOUNDARIES}


def save_model(
    grammar: Grammar, lexicon: Lexicon
) -> tuple[dict[str, list[str]], dict[str, NDArray[Any]]]:
    """Return the strings and the numbers of a grammar and a lexicon, by name."""
    texts = {
        "labels": list(grammar.labels),
        "words": list(lexicon.words.texts),
        "word_classes": list(lexicon.classes.texts),
    }
    arrays: dict[str, NDArray[Any]] = {
        "output": grammar.output,
        "coarse_of": grammar.coarse_of,
        "root": grammar.root,
        "root_p": grammar.root_p,
        "tag_symbols": lexicon.symbols,
        "tag_of": lexicon.tag_of,
        "tags": lexicon.tags,
        "tag_symbol_counts": lexicon.symbol_counts,
        "rare_shares": lexicon.rare_shares,
        "open_tags": lexicon.open_tags,
    }
    arrays |= no_boundaries()
    if grammar.boundaries is not None:
        for name in _BOUNDARIES:
            arrays[name] = getattr(grammar.boundaries, name.removeprefix("boundary_"))
    for name, rules in (("fine", grammar.fine), ("coarse", grammar.coarse)):
        for part in ("binary", "binary_p", "unary", "unary_p"):
            arrays[f"{name}_{part}"] = getattr(rules, part)
    for name, table in (("word", lexicon.words), ("class", lexicon.classes)):
        for part in ("offsets", "columns", "counts"):
            arrays[f"{name}_{part}"] = getattr(table, part)
    return texts, arrays


def restore_model(
    texts: Mapping[str, list[str]], arrays: Mapping[str, NDArray[Any]]
) -> tuple[Grammar, Lexicon]:
    """Return the grammar and lexicon of saved parts, the inverse of `save_model`.

    Raises
    ------
    ModelFormatError
        If parts, which are as `SAVED` declares, do not fit together.
    """
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    grammar = _restore_grammar(tuple(texts["labels"]), contiguous)
    return grammar, _restore_lexicon(texts, contiguous, grammar)


def _restore_grammar(labels: tuple[str, ...], arrays: Mapping[str, NDArray[Any]]) -> Grammar:
    root, output = arrays["root"], arrays["output"]
    if not labels:
        raise ModelFormatError("there must be labels", member="labels")
    if not len(root) or (output[root] < 0).any():
        raise ModelFormatError("a root has no label, or there is no root", member="root")
    for name in ("coarse_of", "coarse_binary", "coarse_unary"):
        if arrays[name].max(initial=-1) >= 2 * len(labels):
            raise ModelFormatError("a coarse symbol does not exist", member=name)
    return Grammar(
        labels=labels,
        output=output,
        coarse_of=arrays["coarse_of"],
        root=root,
        root_p=arrays["root_p"],
        fine=_rules(arrays, "fine"),
        coarse=_rules(arrays, "coarse"),
        boundaries=_restore_boundaries(arrays, len(labels)),
    )


def _restore_boundaries(arrays: Mapping[str, NDArray[Any]], n_labels: int) -> Boundaries | None:
    neighbors, before, after = (arrays[name] for name in _BOUNDARIES)
    if not neighbors.size and not before.size:
        return None
    if len(neighbors) != n_labels + 1 or len(before) != 2 * n_labels or not neighbors.any():
        raise ModelFormatError(
            "the counts do not fit the labels, or there are none", member=_BOUNDARIES[0]
        )
    return Boundaries(neighbors, before, after)


def _rules(arrays: Mapping[str, NDArray[Any]], name: str) -> Rules:
    return Rules(*(arrays[f"{name}_{part}"] for part in ("binary", "binary_p", "unary", "unary_p")))


def _restore_lexicon(
    texts: Mapping[str, list[str]], arrays: Mapping[str, NDArray[Any]], grammar: Grammar
) -> Lexicon:
    symbols, tags, tag_of = (arrays[name] for name in ("tag_symbols", "tags", "tag_of"))
    if not len(symbols):
        raise ModelFormatError("there must be parts of speech", member="tag_symbols")
    if (grammar.output[symbols] != tags[tag_of]).any():
        raise ModelFormatError("a symbol has another part of speech", member="tag_of")
    return Lexicon(
        words=_table(texts["words"], arrays, "word"),
        classes=_table(texts["word_classes"], arrays, "class"),
        symbols=symbols,
        tag_of=tag_of,
        tags=tags,
        symbol_counts=arrays["tag_symbol_counts"],
        rare_shares=arrays["rare_shares"],
        open_tags=arrays["open_tags"],
    )


def _table(texts: list[str], arrays: Mapping[str, NDArray[Any]], name: str) -> Table:
    return Table(
        tuple(texts), *(arrays[f"{name}_{part}"] for part in ("offsets", "columns", "counts"))
    )
