"""The k best trees of a forest, found lazily."""

from __future__ import annotations

import heapq
from typing import NamedTuple

from kernelwood.errors import StructureError
from kernelwood.structures.forest import Forest
from kernelwood.structures.forest_checks import check_integer, show
from kernelwood.structures.forest_weights import (
    Scaled,
    divide,
    scaled_inside,
    scaled_product,
    to_float,
)
from kernelwood.structures.tree import Tree, make_node

__all__ = ["k_best"]


def k_best(forest: Forest, k: int) -> list[tuple[Tree, float]]:
    """Return the ``k`` most probable trees; see `Forest.k_best`."""
    wanted = _check_k(k)
    search = _Search(forest)
    search.advance(forest.root, wanted - 1)
    total = scaled_inside(forest)[0][forest.root]
    return [
        (found.tree, min(1.0, to_float(divide(found.score, total))))
        for found in search.found[forest.root][:wanted]
    ]


def _check_k(k: object) -> int:
    number = check_integer(k, "k")
    if number < 1:
        raise StructureError(f"k must be 1 or more, got {show(k)}")
    return number


class _Candidate(NamedTuple):
    """A hyper-edge with one of the trees found for each child, ready for a heap."""

    order: tuple[int, float]  # the score, turned around: the best comes first
    edge: int
    ranks: tuple[int, ...]
    last: int  # place of the last child that is not at its best tree, 0 if all are


class _Found(NamedTuple):
    score: Scaled
    tree: Tree


class _Search:
    """Algorithm 3 of Huang and Chiang (2005), with a stack of tasks in place of recursion.

    Each node has the trees found so far, best first, and a heap of candidates for the next. The
    followers of the candidate taken last enter the heap only when one more tree is asked for:
    they need one more tree of a child, and so on down.

    Two nodes may carry the same label, so different candidates may be the same tree. The later
    ones are dropped where they arise: what could be built on them is no better and no other than
    what is built on the first.
    """

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.found: list[list[_Found]] = [[] for _ in range(forest.n_nodes)]
        self._heaps: list[list[_Candidate]] = [[] for _ in range(forest.n_nodes)]
        self._taken: list[_Candidate | None] = [None] * forest.n_nodes
        self._listed: set[tuple[int, int]] = set()
        # One object per tree: equal trees are found by the identity of their children.
        self._trees: dict[tuple[str, tuple[int, ...]], Tree] = {}
        for node in forest._order:
            heading = forest._by_head[node]
            if not heading:
                word = self._tree(forest.labels[node], ())
                self.found[node].append(_Found(scaled_product(1.0, ()), word))
                continue
            firsts = [(position, (0,) * len(forest.edges[position][1])) for position in heading]
            self._heaps[node] = [self._candidate(*first) for first in firsts]
            heapq.heapify(self._heaps[node])
            self._take(node)

    def advance(self, node: int, rank: int) -> None:
        """Find trees of ``node`` until there is one at ``rank``, or there are no more."""
        todo = [(node, rank)]
        while todo:
            node, rank = todo[-1]
            if len(self.found[node]) > rank or self._exhausted(node):
                todo.pop()
                continue
            missing = self._missing(node)
            if missing:
                todo += missing
            else:
                self._follow(node)
                self._take(node)

    def _exhausted(self, node: int) -> bool:
        return not self._heaps[node] and self._taken[node] is None

    def _missing(self, node: int) -> list[tuple[int, int]]:
        """Return the trees of children that the followers of the last candidate wait for."""
        taken = self._taken[node]
        if taken is None:
            return []
        return [
            (child, rank)
            for _, child, rank in self._steps(taken)
            if len(self.found[child]) <= rank and not self._exhausted(child)
        ]

    def _steps(self, taken: _Candidate) -> list[tuple[int, int, int]]:
        """Return (place, child, next rank) for the children that may go on to their next tree.

        Only those from the last child that has already gone on: so every combination of ranks
        follows from exactly one other.
        """
        children = self.forest.edges[taken.edge][1]
        return [
            (place, children[place], taken.ranks[place] + 1)
            for place in range(taken.last, len(children))
        ]

    def _follow(self, node: int) -> None:
        """Put the followers of the last candidate on the heap."""
        taken = self._taken[node]
        self._taken[node] = None
        if taken is None:
            return
        for place, child, rank in self._steps(taken):
            if len(self.found[child]) > rank:
                ranks = (*taken.ranks[:place], rank, *taken.ranks[place + 1 :])
                heapq.heappush(self._heaps[node], self._candidate(taken.edge, ranks, place))

    def _take(self, node: int) -> None:
        """Move the best candidate from the heap to the trees found, unless that tree is there."""
        if not self._heaps[node]:
            return
        taken = heapq.heappop(self._heaps[node])
        self._taken[node] = taken
        below = [found.tree for found in self._below(taken.edge, taken.ranks)]
        tree = self._tree(self.forest.labels[node], tuple(below))
        if (node, id(tree)) not in self._listed:
            self._listed.add((node, id(tree)))
            exponent, mantissa = taken.order
            self.found[node].append(_Found((-exponent, -mantissa), tree))

    def _candidate(self, edge: int, ranks: tuple[int, ...], last: int = 0) -> _Candidate:
        scores = [found.score for found in self._below(edge, ranks)]
        exponent, mantissa = scaled_product(self.forest.edges[edge][2], scores)
        return _Candidate((-exponent, -mantissa), edge, ranks, last)

    def _below(self, edge: int, ranks: tuple[int, ...]) -> list[_Found]:
        children = self.forest.edges[edge][1]
        return [self.found[child][rank] for child, rank in zip(children, ranks, strict=True)]

    def _tree(self, label: str, children: tuple[Tree, ...]) -> Tree:
        key = (label, tuple([id(child) for child in children]))
        tree = self._trees.get(key)
        if tree is None:
            tree = self._trees[key] = make_node(label, children, "")
        return tree
