"""How the labels of two structures match, as a kernel sees it: similarities and gates."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.explain.fragment import Steps

__all__ = ["Head", "HeadPairs", "Matching"]

Head = tuple[str, str]  # label and edge of a node
HeadPairs = tuple[NDArray[np.int64], NDArray[np.int64]]

_CELLS_PER_STEP = 10  # similarities computed in one go for what one comparison costs


class Matching:
    """How well the heads of two structures match, and the pairs of heads that occur in fragments.

    A head is a label and an edge, known by number. A fragment of two structures is made of pairs
    of heads, again known by number; where only equal heads match, a pair has the number of its
    head.

    Parameters
    ----------
    kernel : Kernel
        Says what is similar, and holds the gates.
    heads : list of (str, str)
        Label and edge by number.
    used : pair of lists of int
        The heads of the first and of the second structure, the most important ones first: if
        there are too many to compare, the last ones match nothing.
    steps : Steps
        The budget for comparing labels.

    Attributes
    ----------
    is_soft : bool
        Whether different labels can match.
    is_plain : bool
        Whether equal heads match by 1, and others not at all.
    pair_cost : int
        What a pair of nodes that match costs in steps. Where only equal labels match, most nodes
        that are compared do not; where similar ones do, nearly all comparisons lead on.
    gates : ndarray of float64
        The gate of each head.
    pairs : list of (int, int)
        The heads of each pair.
    similarities, matches : list of float
        For each pair the similarity, and that times both gates.
    """

    def __init__(
        self, kernel: Any, heads: list[Head], used: tuple[list[int], list[int]], steps: Steps
    ) -> None:
        self.heads = heads
        self.gates = np.array([kernel._gate(edge, label) for label, edge in heads], dtype=float)
        self.is_soft: bool = kernel._matches_softly()
        self.is_plain = not self.is_soft and bool((self.gates == 1).all())
        self.pair_cost = 8 if self.is_soft else 1
        self.pairs: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        if self.is_soft:
            self.similarities: list[float] = []
            self.matches: list[float] = []
            self._compare(kernel.similarity, used, steps)
        else:
            self.pairs = [(head, head) for head in range(len(heads))]
            self.similarities = [1.0] * len(heads)
            self.matches = (self.gates**2).tolist()

    def _compare(self, similarity: Any, used: tuple[list[int], list[int]], steps: Steps) -> None:
        """Fill the table of similarities; its last row and column stand for what is left out."""
        left, right = used
        affordable = _CELLS_PER_STEP * (1 + steps.left // 4)
        if len(left) * len(right) > affordable:
            steps.exceeded = True
            left, right = left[: isqrt(affordable)], right[: isqrt(affordable)]
        steps.take(len(left) * len(right) // _CELLS_PER_STEP)
        rows, columns = ([self.heads[head] for head in side] for side in (left, right))
        names = [list(dict.fromkeys(label for label, _ in side)) for side in (rows, columns)]
        table = np.asarray(similarity.table(*names), dtype=np.float64)
        places = [{label: i for i, label in enumerate(side)} for side in names]
        edges: dict[str, int] = {}
        by_label, by_edge = [], []
        for side, place in zip((rows, columns), places, strict=True):
            by_label.append(np.array([place[label] for label, _ in side], dtype=np.int64))
            by_edge.append(np.array([edges.setdefault(e, len(edges)) for _, e in side]))
        self.table = np.zeros((len(left) + 1, len(right) + 1))
        if left and right:
            values = table[np.ix_(*by_label)] * (by_edge[0][:, None] == by_edge[1])
            self.table[:-1, :-1] = values
        self.rows, self.columns = (np.full(len(self.heads), -1) for _ in range(2))
        self.rows[left], self.columns[right] = np.arange(len(left)), np.arange(len(right))

    def similarity(self, one: int, other: int) -> float:
        """Return how similar two heads are: equal edges, similar labels."""
        if not self.is_soft:
            return float(one == other)
        return float(self.table[self.rows[one], self.columns[other]])

    def match(self, one: int, other: int) -> float:
        """Return the similarity of two heads times both gates: k of the definitions."""
        similarity = self.similarity(one, other)
        return float(self.gates[one] * self.gates[other]) * similarity if similarity else 0.0

    def match_all(self, one: int, others: list[int]) -> list[float]:
        """Return k of one head and each of some others."""
        if not self.is_soft:
            own = self.matches[one]
            return [own if one == other else 0.0 for other in others]
        similarities = self.table[self.rows[one], self.columns[others]]
        values: list[float] = (self.gates[one] * self.gates[others] * similarities).tolist()
        return values

    def pair(self, one: int, other: int) -> int:
        """Return the number of a pair of heads."""
        if not self.is_soft:
            return one
        number = self._numbers.setdefault((one, other), len(self.pairs))
        if number == len(self.pairs):
            self.pairs.append((one, other))
            self.similarities.append(self.similarity(one, other))
            self.matches.append(self.match(one, other))
        return number

    def head(self, pair: int, side: int) -> Head:
        """Return label and edge of one side of a pair."""
        return self.heads[self.pairs[pair][side]]

    def head_pairs(self) -> HeadPairs:
        """Return all heads that match (k > 0), as two arrays."""
        open_heads = self.gates > 0
        if not self.is_soft:
            both = np.flatnonzero(open_heads)
            return both, both
        left, right = (
            np.flatnonzero((side >= 0) & open_heads) for side in (self.rows, self.columns)
        )
        one, other = np.nonzero(self.table[np.ix_(self.rows[left], self.columns[right])])
        return left[one], right[other]
