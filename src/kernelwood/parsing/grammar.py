"""A probabilistic grammar as flat arrays, with a coarse one to prune its charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.parsing.annotation import Productions, Symbol
from kernelwood.parsing.children import ChildProcess

__all__ = ["Grammar", "Rules", "estimate_grammar"]

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rules:
    """Binary and unary rules with their probabilities.

    Attributes
    ----------
    binary : int32 array of shape (n, 3)
        Parent, left child, right child.
    binary_p : float64 array of shape (n,)
    unary : int32 array of shape (m, 2)
        Parent, child.
    unary_p : float64 array of shape (m,)
    """

    binary: Ints
    binary_p: Floats
    unary: Ints
    unary_p: Floats


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar over numbered symbols.

    Symbols come in this order: categories and parts of speech, then the intermediate symbols of
    productions with more than two children. The coarse grammar has a symbol for every label and,
    after those, one for all intermediate symbols below a label.

    Attributes
    ----------
    labels : tuple of str
        The labels of the treebank.
    output : int32 array
        Number of the label that each symbol shows, -1 for intermediate ones.
    coarse_of : int32 array
        Coarse symbol of each symbol.
    root, root_p : int32 array, float64 array
        Symbols at the top of trees and their probabilities, the most frequent first.
    fine, coarse : Rules
        The rules, and those of the coarse grammar.
    """

    labels: tuple[str, ...]
    output: Ints
    coarse_of: Ints
    root: Ints
    root_p: Floats
    fine: Rules
    coarse: Rules

    @property
    def coarse_output(self) -> Ints:
        """Number of the label that each coarse symbol shows."""
        shown = np.arange(len(self.labels), dtype=np.int32)
        return np.concatenate([shown, np.full_like(shown, -1)])


def estimate_grammar(
    productions: Productions, horizontal: int | None, smoothing: float = 0.0
) -> tuple[Grammar, dict[Symbol, int]]:
    """Return the grammar of relative frequencies, and the numbers of the symbols.

    Parameters
    ----------
    productions : Productions
        What was counted in a treebank.
    horizontal : int or None
        Children an intermediate symbol remembers; see `ChildProcess`.
    smoothing : float
        Occurrences that a memory shorter by one child counts for.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> from kernelwood.parsing.annotation import Annotation, count_productions
    >>> tree = Tree.from_brackets("(NP (DT the) (JJ old) (NN cat))")
    >>> grammar, numbers = estimate_grammar(count_productions([tree], Annotation(1, False, False)), 1)
    >>> numbers
    {('NP',): 0, ('DT',): 1, ('JJ',): 2, ('NN',): 3}
    >>> grammar.fine.binary.tolist()
    [[0, 1, 4], [4, 2, 3]]
    """  # noqa: E501
    numbers = _number_symbols(productions)
    labels = tuple(dict.fromkeys(symbol[0] for symbol in numbers))
    label_numbers = {label: number for number, label in enumerate(labels)}
    shown = [label_numbers[symbol[0]] for symbol in numbers]
    process, unary, totals = _count_rules(productions, numbers, horizontal)
    process.smooth(smoothing)
    process.number_states(first=len(numbers))
    expected: dict[int, float] = dict(totals)
    hidden = []
    for symbol, parent, count in process.intermediates:
        expected[symbol] = count
        hidden.append(shown[parent])
    binary = _binary_rules(process, expected, unary, totals)
    single = {rule: count / totals[rule[0]] for rule, count in unary.items()}
    coarse_of = _ints([*shown, *(len(labels) + label for label in hidden)])
    fine = _as_rules(binary, single)
    ranked = sorted(productions.roots.items(), key=lambda item: -item[1])
    n_trees = sum(productions.roots.values())
    grammar = Grammar(
        labels=labels,
        output=_ints([*shown, *(-1 for _ in hidden)]),
        coarse_of=coarse_of,
        root=_ints([numbers[symbol] for symbol, _ in ranked]),
        root_p=np.array([count / n_trees for _, count in ranked]),
        fine=fine,
        coarse=_project(fine, coarse_of, expected),
    )
    return grammar, numbers


def _number_symbols(productions: Productions) -> dict[Symbol, int]:
    """Number the symbols, in the order in which rules and then words have them."""
    symbols = dict.fromkeys(productions.roots)
    for parent, children in productions.rules:
        symbols.update(dict.fromkeys((parent, *children)))
    symbols.update(dict.fromkeys(symbol for _, symbol in productions.words))
    return {symbol: number for number, symbol in enumerate(symbols)}


def _count_rules(
    productions: Productions, numbers: Mapping[Symbol, int], horizontal: int | None
) -> tuple[ChildProcess, Counter[tuple[int, int]], Counter[int]]:
    """Return the process that writes two children or more, unary rules, and totals of parents."""
    process = ChildProcess(horizontal)
    unary: Counter[tuple[int, int]] = Counter()
    totals: Counter[int] = Counter()
    for (parent, children), count in productions.rules.items():
        head, below = numbers[parent], tuple(numbers[child] for child in children)
        totals[head] += count
        if len(below) == 1:
            unary[head, below[0]] += count
        else:
            process.add(head, below, count)
    return process, unary, totals


def _binary_rules(
    process: ChildProcess,
    expected: Iterable[int],
    unary: Counter[tuple[int, int]],
    totals: Counter[int],
) -> dict[tuple[int, int, int], float]:
    """Return the binary rules of all parents and intermediate symbols."""
    with_one_child: Counter[int] = Counter()
    for (parent, _), count in unary.items():
        with_one_child[parent] += count
    rules: dict[tuple[int, int, int], float] = {}
    for symbol in expected:
        share = 1.0
        if symbol in totals:
            share = (totals[symbol] - with_one_child[symbol]) / totals[symbol]
        for rule, probability in process.rules(symbol):
            # Two ways to write the same two children are one rule.
            rules[rule] = rules.get(rule, 0.0) + share * probability
    return rules


def _project(fine: Rules, coarse_of: Ints, expected: Mapping[int, float]) -> Rules:
    """Return the coarse rules: expected counts of fine ones, summed and shared out anew."""
    counts = np.zeros(len(coarse_of))
    counts[list(expected)] = list(expected.values())
    totals = np.bincount(coarse_of, weights=counts)
    merged = []
    for rules, p in ((fine.binary, fine.binary_p), (fine.unary, fine.unary_p)):
        coarse, place = np.unique(coarse_of[rules], axis=0, return_inverse=True)
        weights = np.bincount(
            place.reshape(-1), weights=counts[rules[:, 0]] * p, minlength=len(coarse)
        )
        merged += [coarse.astype(np.int32), np.minimum(weights / totals[coarse[:, 0]], 1.0)]
    return Rules(*merged)


def _as_rules(
    binary: Mapping[tuple[int, int, int], float], unary: Mapping[tuple[int, int], float]
) -> Rules:
    return Rules(
        _ints(list(binary)).reshape(-1, 3),
        np.minimum(np.array(list(binary.values()), dtype=np.float64), 1.0),
        _ints(list(unary)).reshape(-1, 2),
        np.array(list(unary.values()), dtype=np.float64),
    )


def _ints(values: Any) -> Ints:
    return np.array(values, dtype=np.int32)
