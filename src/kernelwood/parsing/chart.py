"""A grammar and a lexicon at work on one sentence."""

from __future__ import annotations

from collections.abc import Sequence as Listing
from typing import Any

import numpy as np

from kernelwood import _native
from kernelwood.compute import StopFlag
from kernelwood.parsing.grammar import Grammar, Rules
from kernelwood.parsing.lexicon import Lexicon
from kernelwood.structures import Forest

__all__ = ["build_chart", "chart_bytes", "fallback_forest", "first_word", "parse_sentence"]


def build_chart(grammar: Grammar, max_unary: int) -> Any:
    """Return the grammar as the native chart parser takes it."""
    make = _native.ChartGrammar
    coarse = make(*_parts(grammar.coarse), grammar.coarse_output, max_unary)
    return make(*_parts(grammar.fine), grammar.output, max_unary, coarse, grammar.coarse_of)


def chart_bytes(grammar: Grammar, n_words: int) -> int:
    """Return roughly how much memory the chart of a sentence takes."""
    # Inside and outside, as left and as right children, of every coarse symbol over every span.
    return 2 * len(grammar.labels) * 4 * 8 * n_words * n_words


def parse_sentence(
    chart: Any,
    grammar: Grammar,
    lexicon: Lexicon,
    tokens: Listing[str],
    tags: Listing[str] | None,
    *,
    thresholds: tuple[float, float],
    stop: StopFlag | None = None,
) -> Forest | None:
    """Return the forest of a sentence, None if the grammar does not cover it.

    Parameters
    ----------
    chart : ChartGrammar
        What `build_chart` returned for ``grammar``.
    grammar, lexicon
    tokens, tags
        The words, and their parts of speech if they are given.
    thresholds : (float, float)
        That of the coarse chart, and that of the forest.
    stop : int32 array, optional
        When set, parsing ends early.
    """
    opener = first_word(tokens)
    symbols, probabilities = [], []
    for position, word in enumerate(tokens):
        tag = None if tags is None else _label_number(grammar, tags[position])
        found, p = lexicon.look_up(word, position == opener, tag)
        if not len(found):
            return None
        symbols.append(found)
        probabilities.append(p)
    positions = np.repeat(np.arange(len(tokens), dtype=np.int32), [len(row) for row in symbols])
    result = chart.parse(
        len(tokens),
        positions,
        np.concatenate(symbols),
        np.concatenate(probabilities),
        grammar.root,
        grammar.root_p,
        *thresholds,
        stop,
    )
    return _as_forest(result, grammar, tokens) if result.found else None


def fallback_forest(
    grammar: Grammar, lexicon: Lexicon, tokens: Listing[str], tags: Listing[str] | None
) -> Forest:
    """Return a flat tree for a sentence that cannot be parsed, as a forest that says so."""
    if tags is None:
        opener = first_word(tokens)
        tags = [
            grammar.labels[lexicon.best_tag(word, position == opener)]
            for position, word in enumerate(tokens)
        ]
    n = len(tokens)
    root = grammar.labels[int(grammar.output[grammar.root[0]])]
    edges = [(n + i, (i,), 1.0) for i in range(n)]
    words = [(i, i + 1) for i in range(n)]
    return Forest(
        [*tokens, *tags, root],
        [*edges, (2 * n, tuple(range(n, 2 * n)), 1.0)],
        2 * n,
        [*words, *words, (0, n)],
        fallback=True,
    )


def first_word(tokens: Listing[str]) -> int:
    """Return the position of the first token with a letter or a digit, 0 if there is none.

    Examples
    --------
    >>> first_word(["``", "Rain", "falls"])
    1
    """
    return next((i for i, word in enumerate(tokens) if any(map(str.isalnum, word))), 0)


def _parts(rules: Rules) -> tuple[Any, Any, Any, Any]:
    return rules.binary, rules.binary_p, rules.unary, rules.unary_p


def _label_number(grammar: Grammar, label: str) -> int:
    """Return the number of a label, -1 if the treebank does not have it."""
    return grammar.labels.index(label) if label in grammar.labels else -1


def _as_forest(result: Any, grammar: Grammar, tokens: Listing[str]) -> Forest:
    children = result.children.tolist()
    edges = []
    begin = 0
    for head, count, p in zip(
        result.edge_head.tolist(),
        result.edge_n_children.tolist(),
        result.edge_p.tolist(),
        strict=True,
    ):
        edges.append((head, tuple(children[begin : begin + count]), p))
        begin += count
    shown = [grammar.labels[label] for label in result.node_label[len(tokens) :].tolist()]
    spans = zip(result.node_start.tolist(), result.node_end.tolist(), strict=True)
    return Forest([*tokens, *shown], edges, result.root, spans)
