"""The distinct subtrees of two trees, numbered so that equal ones are compared once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from kernelwood.explain.fragment import Steps
from kernelwood.explain.matching import HeadPairs
from kernelwood.structures import Tree

__all__ = ["Candidates", "Classes"]


@dataclass
class Classes:
    """Every distinct complete subtree (class) of two trees, children before parents.

    Attributes
    ----------
    heads : list of int
        For each class a number for the label and edge of its root.
    children : list of tuple of int
        For each class the classes of its children.
    productions : list of int
        For each class a number for its root and the labels of the children; -1 for a leaf.
    n_nodes, n_inner : list of int
        Number of all nodes, and of those with children.
    counts : pair of lists of int
        How often each class occurs in the first and in the second tree.
    labels : list of (str, str)
        Label and edge by head number.
    production_heads : list of tuple of int
        The heads of a production by its number, the root first.
    """

    heads: list[int] = field(default_factory=list)
    children: list[tuple[int, ...]] = field(default_factory=list)
    productions: list[int] = field(default_factory=list)
    n_nodes: list[int] = field(default_factory=list)
    n_inner: list[int] = field(default_factory=list)
    counts: tuple[list[int], list[int]] = ([], [])
    labels: list[tuple[str, str]] = field(default_factory=list)
    production_heads: list[tuple[int, ...]] = field(default_factory=list)

    @classmethod
    def of(cls, a: Tree, b: Tree) -> Classes:
        """Number the subtrees of two trees."""
        made = cls(counts=([], []))
        known: dict[tuple[int, tuple[int, ...]], int] = {}
        heads: dict[tuple[str, str], int] = {}
        productions: dict[tuple[int, ...], int] = {}
        for side, tree in enumerate((a, b)):
            ready: list[int] = []
            for node in tree.postorder():
                n = len(node.children)
                children = tuple(ready[-n:]) if n else ()
                del ready[len(ready) - n :]
                head = heads.setdefault((node.label, node.edge), len(heads))
                index = known.setdefault((head, children), len(known))
                if index == len(made.heads):
                    made._add(head, children, productions)
                made.counts[side][index] += 1
                ready.append(index)
        made.labels = list(heads)
        made.production_heads = list(productions)
        return made

    def _add(
        self, head: int, children: tuple[int, ...], productions: dict[tuple[int, ...], int]
    ) -> None:
        self.heads.append(head)
        self.children.append(children)
        production = -1
        if children:
            key = (head, *(self.heads[child] for child in children))
            production = productions.setdefault(key, len(productions))
        self.productions.append(production)
        self.n_nodes.append(1 + sum(self.n_nodes[child] for child in children))
        self.n_inner.append(bool(children) + sum(self.n_inner[child] for child in children))
        self.counts[0].append(0)
        self.counts[1].append(0)

    def __len__(self) -> int:
        return len(self.heads)

    def used_heads(self) -> tuple[list[int], list[int]]:
        """Return the heads of each tree, those of small subtrees first."""
        left, right = (
            list(dict.fromkeys(head for head, n in zip(self.heads, counts, strict=True) if n))
            for counts in self.counts
        )
        return left, right


class Candidates:
    """Pairs of subtrees, one of each tree, whose keys match.

    Parameters
    ----------
    classes : Classes
        The subtrees.
    keys : list of int
        A key for each, negative for those that match nothing.
    matches : pair of ndarray of int64
        Keys that match, of the first and of the second tree.
    pair_cost : int
        The steps that one pair takes.
    """

    def __init__(
        self, classes: Classes, keys: list[int], matches: HeadPairs, pair_cost: int = 1
    ) -> None:
        self.classes, self.matches, self.pair_cost = classes, matches, pair_cost
        self.keys = np.array(keys, dtype=np.int64)
        self.n_nodes = np.array(classes.n_nodes, dtype=np.int64)
        self.widths = np.array([len(children) for children in classes.children], dtype=np.int64)

    def _members(self, side: int, max_nodes: int | None) -> NDArray[np.int64]:
        there = (np.array(self.classes.counts[side]) > 0) & (self.keys >= 0)
        if max_nodes is not None:
            there &= self.n_nodes <= max_nodes
        return np.flatnonzero(there)

    def cost(self, max_nodes: int | None, *, children: bool = False) -> int:
        """Return the steps for the pairs of subtrees up to a size, and for those of children."""
        size = 1 + max(int(keys.max(initial=0)) for keys in (self.keys, *self.matches))
        total = 0
        counted = [(self.pair_cost, np.ones_like(self.widths)), (1, self.widths)]
        for cost, widths in counted[: 1 + children]:
            sums = []
            for side in (0, 1):
                members = self._members(side, max_nodes)
                per_key = np.bincount(self.keys[members], widths[members], minlength=size)
                sums.append(per_key[self.matches[side]])
            total += int(np.dot(*sums)) * cost
        return total

    def ends(self, max_nodes: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield the pairs of subtrees up to a size; those of children come before the parents'."""
        left, right = (self._members(side, max_nodes).tolist() for side in (0, 1))
        by_key: dict[int, list[int]] = defaultdict(list)
        for index in right:
            by_key[int(self.keys[index])].append(index)
        partners: dict[int, list[int]] = defaultdict(list)
        for one, other in zip(*(keys.tolist() for keys in self.matches), strict=True):
            if other in by_key:
                partners[one].append(other)
        for index in left:
            found = [by_key[key] for key in partners.get(int(self.keys[index]), ())]
            for other in sorted(chain.from_iterable(found)):
                yield index, other

    def within(
        self, steps: Steps, limit: int, *, children: bool = False
    ) -> Iterator[tuple[int, int]]:
        """Return the pairs that ``limit`` steps suffice for, and take these steps.

        The pairs of large subtrees are left out first. Smaller subtrees are the parts of larger
        ones, so what is computed from the pairs returned is exact.
        """
        max_nodes, spent = self._affordable_size(limit, children=children)
        steps.take(spent)
        if max_nodes is None:
            return self.ends()
        steps.exceeded = True
        if self.pair_cost == 1:
            return self.ends(max_nodes)
        more = self._some_of_next_size(max_nodes, limit - spent, steps, children=children)
        return chain(self.ends(max_nodes), more)

    def _affordable_size(self, limit: int, *, children: bool) -> tuple[int | None, int]:
        """Return the largest size whose pairs cost no more than ``limit``, and what they cost.

        None stands for all sizes.
        """
        whole = self.cost(None, children=children)
        if whole <= limit:
            return None, whole
        sizes = sorted({0, *self.classes.n_nodes})
        low, high = 0, len(sizes) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if self.cost(sizes[middle], children=children) <= limit:
                low = middle
            else:
                high = middle
        return sizes[low], self.cost(sizes[low], children=children)

    def _some_of_next_size(
        self, max_nodes: int, limit: int, steps: Steps, *, children: bool
    ) -> Iterator[tuple[int, int]]:
        """Yield pairs of the next size too: where labels are similar, it may hold nearly all."""
        size = min(n for n in self.classes.n_nodes if n > max_nodes)
        for one, other in self.ends(size):
            if max(self.classes.n_nodes[one], self.classes.n_nodes[other]) <= max_nodes:
                continue
            cost = self.pair_cost
            if children:
                cost += len(self.classes.children[one]) * len(self.classes.children[other])
            if cost > limit or not steps.take(cost):
                return
            limit -= cost
            yield one, other
