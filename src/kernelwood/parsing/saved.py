"""Grammars and lexicons saved as lists of strings and arrays, and checked when restored."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import rises
from kernelwood.errors import ModelFormatError
from kernelwood.parsing.grammar import Grammar, Rules
from kernelwood.parsing.lexicon import Lexicon, Table

_TEXTS = ("labels", "words", "word_classes")


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
        If a part is missing, has the wrong type or shape, or has an index out of range.
    """
    state = _State(texts, arrays)
    state.check_texts()
    labels = tuple(texts["labels"])
    grammar = _restore_grammar(state, labels)
    lexicon = _restore_lexicon(state, grammar)
    state.check_no_more()
    return grammar, lexicon


class _State:
    """Texts and arrays by name, checked on access."""

    def __init__(self, texts: Mapping[str, list[str]], arrays: Mapping[str, NDArray[Any]]) -> None:
        self._texts, self._arrays = texts, arrays
        self._taken: set[str] = set()

    def check_texts(self) -> None:
        if set(self._texts) != set(_TEXTS):
            raise ModelFormatError(
                f"texts must be {', '.join(_TEXTS)}, got {', '.join(sorted(self._texts))}"
            )
        for name, listed in self._texts.items():
            if not all(type(text) is str for text in listed):
                raise ModelFormatError("an item is not a string", member=name)
        labels = self._texts["labels"]
        if not labels or len(set(labels)) < len(labels):
            raise ModelFormatError("labels must be unique and not empty", member="labels")

    def check_no_more(self) -> None:
        more = sorted(set(self._arrays) - self._taken)
        if more:
            raise ModelFormatError(f"unknown array {more[0]!r}")

    def take(self, name: str, dtype: str, *, columns: int | None = None) -> NDArray[Any]:
        """Return an array of one dimension, or of two with a number of columns."""
        array = self._arrays.get(name)
        self._taken.add(name)
        if not isinstance(array, np.ndarray):
            raise ModelFormatError("the array is missing", member=name)
        shape = array.shape[1:] == (() if columns is None else (columns,))
        if array.dtype != np.dtype(dtype) or array.ndim == 0 or not shape:
            raise ModelFormatError(
                f"the array is of {array.dtype} and shape {array.shape}; expected {dtype}"
                + ("" if columns is None else f" with {columns} columns"),
                member=name,
            )
        return np.ascontiguousarray(array)

    def indices(
        self, name: str, least: int, end: int, *, columns: int | None = None
    ) -> NDArray[np.int32]:
        """Return an array of indices from ``least`` to before ``end``."""
        array = self.take(name, "int32", columns=columns)
        if array.size and not (int(array.min()) >= least and int(array.max()) < end):
            raise ModelFormatError(f"an index is not in {least} to {end - 1}", member=name)
        return array

    def numbers(
        self, name: str, size: int, *, most: float = np.inf, zero: bool = False
    ) -> NDArray[np.float64]:
        """Return finite positive numbers up to ``most``, or with ``zero`` non-negative ones."""
        array = self.take(name, "float64")
        if len(array) != size:
            raise ModelFormatError(f"expected {size} numbers, got {len(array)}", member=name)
        inside = np.isfinite(array) & (array <= most) & ((array >= 0) if zero else (array > 0))
        if not inside.all():
            raise ModelFormatError("a number is out of range", member=name)
        return array

    def table(self, name: str, text: str, n_columns: int) -> Table:
        """Return the counts of one kind of text."""
        texts = tuple(self._texts[text])
        if any(a >= b for a, b in pairwise(texts)):
            raise ModelFormatError("the texts are not in order", member=text)
        offsets = self.take(f"{name}_offsets", "int64")
        columns = self.indices(f"{name}_columns", 0, n_columns)
        counts = self.numbers(f"{name}_counts", len(columns))
        ordered = len(offsets) == len(texts) + 1 and rises(offsets, strictly=True)
        if not ordered or offsets[0] != 0 or offsets[-1] != len(columns):
            raise ModelFormatError("the rows do not fit the texts", member=f"{name}_offsets")
        return Table(texts, offsets, columns, counts)


def _restore_grammar(state: _State, labels: tuple[str, ...]) -> Grammar:
    output = state.indices("output", -1, len(labels))
    n_symbols, n_coarse = len(output), 2 * len(labels)
    coarse_of = state.indices("coarse_of", 0, n_coarse)
    root = state.indices("root", 0, n_symbols)
    if len(coarse_of) != n_symbols:
        raise ModelFormatError("expected one coarse symbol per symbol", member="coarse_of")
    if not len(root) or (output[root] < 0).any():
        raise ModelFormatError("a root has no label, or there is no root", member="root")
    return Grammar(
        labels=labels,
        output=output,
        coarse_of=coarse_of,
        root=root,
        root_p=state.numbers("root_p", len(root), most=1.0),
        fine=_restore_rules(state, "fine", n_symbols),
        coarse=_restore_rules(state, "coarse", n_coarse),
    )


def _restore_rules(state: _State, name: str, n_symbols: int) -> Rules:
    binary = state.indices(f"{name}_binary", 0, n_symbols, columns=3)
    unary = state.indices(f"{name}_unary", 0, n_symbols, columns=2)
    return Rules(
        binary,
        state.numbers(f"{name}_binary_p", len(binary), most=1.0),
        unary,
        state.numbers(f"{name}_unary_p", len(unary), most=1.0),
    )


def _restore_lexicon(state: _State, grammar: Grammar) -> Lexicon:
    symbols = state.indices("tag_symbols", 0, len(grammar.output))
    tags = state.indices("tags", 0, len(grammar.labels))
    tag_of = state.indices("tag_of", 0, len(tags))
    if not len(symbols) or len(tag_of) != len(symbols):
        raise ModelFormatError("expected one part of speech per symbol", member="tag_of")
    if (grammar.output[symbols] != tags[tag_of]).any():
        raise ModelFormatError("a symbol has another part of speech", member="tag_of")
    open_tags = state.numbers("open_tags", len(tags), most=1.0, zero=True)
    return Lexicon(
        words=state.table("word", "words", len(symbols)),
        classes=state.table("class", "word_classes", len(tags)),
        symbols=symbols,
        tag_of=tag_of,
        tags=tags,
        symbol_counts=state.numbers("tag_symbol_counts", len(symbols)),
        rare_shares=state.numbers("rare_shares", len(symbols), most=1.0),
        open_tags=open_tags,
    )
