"""The children of a node as a Markov process, and the process as binary rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["ChildProcess"]

_LENT = 2  # occurrences from which on a continuation is lent to longer histories


@dataclass(slots=True)
class _Arc:
    """A child that may come next, and the state after it."""

    end: int
    count: float = 0.0


@dataclass(slots=True)
class _State:
    """What is remembered of the children written so far."""

    parent: int
    length: int  # 0, 1 or 2: no child, one, more
    history: tuple[int, ...]
    visits: float = 0.0
    stops: float = 0.0
    arcs: dict[int, _Arc] = field(default_factory=dict)  # by child


class ChildProcess:
    """Children written one by one from left to right, each given its parent and a few before it.

    Rules with more than two children need intermediate symbols to become binary. An intermediate
    symbol here is a state of the process from which at least two more children come: it stands
    for the rest of a production. Because a state forgets all but ``horizontal`` children,
    productions that were never seen are composed from parts of those that were.

    Parameters
    ----------
    horizontal : int or None
        Children remembered; None for all, which allows the productions seen and no others.

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
        self._ids: dict[tuple[int, int, tuple[int, ...]], int] = {}
        self._symbols: dict[int, int] = {}  # state -> intermediate symbol
        self._by_symbol: dict[int, int] = {}

    def add(self, parent: int, children: tuple[int, ...], count: int) -> None:
        """Count a production of two or more children."""
        state = self._start(parent)
        for child in children:
            self._states[state].visits += count
            state = self._follow(state, child, count)
        self._states[state].visits += count
        self._states[state].stops += count

    def smooth(self, weight: float) -> None:
        """Let every state continue as those do that agree with it but for the earliest child.

        What they do together counts for ``weight`` occurrences; continuations seen only once are
        not lent. States that remember fewer than two children, or all, stay as they are.
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
        """Give the states that at least two children follow symbols from ``first`` on.

        Returns their number.
        """
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
        """Yield the binary rules of a parent or an intermediate symbol with their probabilities.

        Those of a parent are conditional on its having more than one child.
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
        """Return the expected number of visits after which at least two children come."""
        expected = 0.0
        for arc in state.arcs.values():
            after = self._states[arc.end]
            if after.arcs:
                expected += arc.count * (after.visits - after.stops) / after.visits
        return expected

    def _pool(self) -> dict[tuple[int, int, tuple[int, ...]], _State]:
        """Return the states with their histories shortened by a child, and all their counts."""
        pools: dict[tuple[int, int, tuple[int, ...]], _State] = {}
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
            # The state before stands for all children before: no long histories to store.
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


def _shortened(state: _State) -> tuple[int, int, tuple[int, ...]]:
    return state.parent, state.length, state.history[1:]


def _growing(listed: list[_State]) -> Iterator[int]:
    """Yield the positions of a list, those included that are added on the way."""
    position = 0
    while position < len(listed):
        yield position
        position += 1
