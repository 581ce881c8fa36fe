"""Probabilistic grammars: productions estimated as binary rules, stored in flat arrays.

Children are generated from left to right by a Markov process; its states are the intermediate
symbols of binary rules. A coarse grammar over plain labels prunes the charts of the fine one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.parsing.boundaries import Boundaries
from kernelwood.parsing.treebank import Productions, Symbol

Ints: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
_Key: TypeAlias = tuple[int, int, tuple[int, ...]]

_LENT = 2  # least number of occurrences of a continuation that longer histories use


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

    Categories and parts of speech come first, then the intermediate symbols of productions with
    more than two children. The coarse grammar has one symbol per label, followed by one per label
    for all its intermediate symbols.

    Attributes
    ----------
    labels : tuple of str
        The labels of the treebank.
    output : int32 array
        Label number of each symbol, -1 for intermediate symbols.
    coarse_of : int32 array
        Coarse symbol of each symbol.
    root, root_p : int32 array, float64 array
        Root symbols and their probabilities, most frequent first.
    fine, coarse : Rules
        Rules of both grammars.
    boundaries : Boundaries or None
        Parts of speech beside constituents; None if they were not counted.
    """

    labels: tuple[str, ...]
    output: Ints
    coarse_of: Ints
    root: Ints
    root_p: Floats
    fine: Rules
    coarse: Rules
    boundaries: Boundaries | None = None

    @property
    def coarse_output(self) -> Ints:
        """Label number of each coarse symbol, -1 for intermediate symbols."""
        shown = np.arange(len(self.labels), dtype=np.int32)
        return np.concatenate([shown, np.full_like(shown, -1)])


def estimate_grammar(
    productions: Productions, horizontal: int | None, smoothing: float = 0.0
) -> tuple[Grammar, dict[Symbol, int]]:
    """Return a grammar estimated by relative frequencies, and the numbers of its symbols.

    Parameters
    ----------
    productions : Productions
        Counts of a treebank.
    horizontal : int or None
        Number of children an intermediate symbol depends on; see `ChildProcess`.
    smoothing : float
        Weight, in occurrences, of histories shorter by one child.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> from kernelwood.parsing.treebank import count_productions
    >>> tree = Tree.from_brackets("(NP (DT the) (JJ old) (NN cat))")
    >>> options = {"vertical": 1, "split_tags": False, "split_categories": False}
    >>> grammar, numbers = estimate_grammar(count_productions([tree], **options), 1)
    >>> numbers
    {('NP',): 0, ('DT',): 1, ('JJ',): 2, ('NN',): 3}
    >>> grammar.fine.binary.tolist()
    [[0, 1, 4], [4, 2, 3]]
    """
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
    """Return the numbers of the symbols, in the order of roots, rules and words."""
    symbols = dict.fromkeys(productions.roots)
    for parent, children in productions.rules:
        symbols.update(dict.fromkeys((parent, *children)))
    symbols.update(dict.fromkeys(symbol for _, symbol in productions.words))
    return {symbol: number for number, symbol in enumerate(symbols)}


def _count_rules(
    productions: Productions, numbers: Mapping[Symbol, int], horizontal: int | None
) -> tuple[ChildProcess, Counter[tuple[int, int]], Counter[int]]:
    """Return the process of two or more children, unary rules, and totals of parents."""
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
            # The same two children may be generated in two ways.
            rules[rule] = rules.get(rule, 0.0) + share * probability
    return rules


def _project(fine: Rules, coarse_of: Ints, expected: Mapping[int, float]) -> Rules:
    """Return the coarse rules, from summed expected counts of the fine ones."""
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


@dataclass(slots=True)
class _Arc:
    """Transition by one child: the state after it, and its count."""

    end: int
    count: float = 0.0


@dataclass(slots=True)
class _State:
    """The history of the children generated so far."""

    parent: int
    length: int  # 0, 1 or 2: no child, one, more
    history: tuple[int, ...]
    visits: float = 0.0
    stops: float = 0.0
    arcs: dict[int, _Arc] = field(default_factory=dict)  # by child


class ChildProcess:
    """A Markov process that generates children from left to right, given parent and history.

    To make rules with more than two children binary, a state of the process that at least two
    more children follow is an intermediate symbol: it represents the rest of a production. A
    state depends on the last ``horizontal`` children only, so unseen productions are composed
    from parts of seen ones.

    Parameters
    ----------
    horizontal : int or None
        Length of the history; None for all children, which allows only seen productions.

    Examples
    --------
    >>> process = ChildProcess(horizontal=1)
    >>> process.add(0, (1, 2, 3), count=4)
    >>> process.number_states(first=4)
    1
    >>> list(process.rules(0))
    [((0, 1, 4), 1.0)]
    >>> list(process.rules(4))
    [((4, 2, 3), 1.0)]
    """

    def __init__(self, horizontal: int | None) -> None:
        self._horizontal = horizontal
        self._states: list[_State] = []
        self._ids: dict[_Key, int] = {}
        self._symbols: dict[int, int] = {}  # state -> intermediate symbol
        self._by_symbol: dict[int, int] = {}

    def add(self, parent: int, children: tuple[int, ...], count: int) -> None:
        """Add ``count`` occurrences of a production of two or more children."""
        state = self._start(parent)
        for child in children:
            self._states[state].visits += count
            state = self._follow(state, child, count)
        self._states[state].visits += count
        self._states[state].stops += count

    def smooth(self, weight: float) -> None:
        """Add to every state the continuations of states that differ in the earliest child only.

        Together they weigh ``weight`` occurrences; continuations seen only once are not used.
        States with a history of fewer than two children, or of all, do not change.
        """
        if weight == 0.0 or self._horizontal is None:
            return
        shorter = self._pool()
        for number in _growing(self._states):
            state = self._states[number]
            if len(state.history) < 2:
                continue
            pool = shorter[_shortened(state)]
            lent = {
                child: arc.count
                for child, arc in pool.arcs.items()
                if arc.count >= _LENT or child in state.arcs
            }
            if not lent and not pool.stops:
                lent = {child: arc.count for child, arc in pool.arcs.items()}
            share = weight / (pool.stops + sum(lent.values()))
            state.visits += weight
            state.stops += share * pool.stops
            for child, count in lent.items():
                self._follow(number, child, share * count)

    def number_states(self, first: int) -> int:
        """Number the intermediate symbols from ``first`` on, and return how many there are."""
        for number, state in enumerate(self._states):
            if state.length and self._continuing(state) > 0.0:
                self._symbols[number] = first + len(self._symbols)
        self._by_symbol = {symbol: state for state, symbol in self._symbols.items()}
        return len(self._symbols)

    @property
    def intermediates(self) -> Iterator[tuple[int, int, float]]:
        """Symbol, parent and expected count of every intermediate symbol."""
        for number, symbol in self._symbols.items():
            state = self._states[number]
            yield symbol, state.parent, self._continuing(state)

    def rules(self, symbol: int) -> Iterator[tuple[tuple[int, int, int], float]]:
        """Yield the binary rules of a parent or intermediate symbol, and their probabilities.

        Probabilities of a parent are conditional on more than one child.
        """
        number = self._by_symbol.get(symbol)
        state = self._states[self._start(symbol) if number is None else number]
        total = state.visits if number is None else self._continuing(state)
        for left, arc in state.arcs.items():
            middle = self._states[arc.end]
            share = arc.count / total / middle.visits
            for right, following in middle.arcs.items():
                end = self._states[following.end]
                if end.stops:
                    yield (symbol, left, right), share * following.count * end.stops / end.visits
            if arc.end in self._symbols:
                yield (symbol, left, self._symbols[arc.end]), share * self._continuing(middle)

    def _continuing(self, state: _State) -> float:
        """Return the expected number of visits that at least two children follow."""
        expected = 0.0
        for arc in state.arcs.values():
            after = self._states[arc.end]
            if after.arcs:
                expected += arc.count * (after.visits - after.stops) / after.visits
        return expected

    def _pool(self) -> dict[_Key, _State]:
        """Return the summed counts of states by history without the earliest child."""
        pools: dict[_Key, _State] = {}
        for state in self._states:
            if len(state.history) < 2:
                continue
            pool = pools.setdefault(_shortened(state), _State(*_shortened(state)))
            pool.stops += state.stops
            for child, arc in state.arcs.items():
                pool.arcs.setdefault(child, _Arc(arc.end)).count += arc.count
        return pools

    def _start(self, parent: int) -> int:
        return self._find(parent, 0, ())

    def _follow(self, number: int, child: int, count: float) -> int:
        state = self._states[number]
        arc = state.arcs.get(child)
        if arc is None:
            arc = state.arcs[child] = _Arc(self._after(number, child))
        arc.count += count
        return arc.end

    def _after(self, number: int, child: int) -> int:
        state = self._states[number]
        length = min(state.length + 1, 2)
        if self._horizontal is None:
            # The previous state represents all children before.
            return self._find(state.parent, length, (number, child))
        history = (*state.history, child)
        return self._find(state.parent, length, history[max(len(history) - self._horizontal, 0) :])

    def _find(self, parent: int, length: int, history: tuple[int, ...]) -> int:
        key = (parent, length, history)
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self._states)
            self._states.append(_State(parent, length, history))
        return number


def _shortened(state: _State) -> _Key:
    return state.parent, state.length, state.history[1:]


def _growing(listed: list[_State]) -> Iterator[int]:
    """Yield the positions of a list, including items appended during the iteration."""
    position = 0
    while position < len(listed):
        yield position
        position += 1
