"""Comparison of two structures: step budget, label matching, subtrees, and pairs of subtrees.

Every pair of nodes that a kernel counts has a value, and the values sum to the raw kernel value.
A pair is *inside* the pair of the parents if the fragment shared there continues through it. So the
pairs form regions, each consisting of the parts of one largest fragment, and the regions partition
the kernel value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.structures import Tree

Head = tuple[str, str]  # label and edge of a node
HeadPairs = tuple[NDArray[np.int64], NDArray[np.int64]]

# (fragment, weight, count in a, count in b, value with all parts or None)
Weighted = tuple[int, float, float, float, float | None]

_CELLS_PER_STEP = 10  # similarities computed at once in the time of one comparison


class Steps:
    """A budget of elementary steps, which limits the time of an explanation."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit
        self.exceeded = False

    def take(self, n: int) -> bool:
        """Spend ``n`` steps if they are left; else record that the budget was exceeded."""
        if n > self.left:
            self.exceeded = True
            return False
        self.left -= n
        return True


def label_text(left: str, right: str, similarity: float) -> str:
    """Return two different labels that match, with their similarity: ``dog~cat (0.80)``."""
    number = f"{similarity:.2f}" if similarity >= 0.005 else f"{similarity:.0e}"
    return f"{left}~{right} ({number})"


class Matching:
    """Matches between the heads of two structures, by similarity and gates.

    A head is a label and an edge, identified by a number. A fragment of two structures consists of
    pairs of heads, again identified by numbers; with exact matching, a pair has the number of its
    head.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with its similarity and gates.
    heads : list of (str, str)
        Label and edge by number.
    used : pair of lists of int
        The heads of the first and of the second structure, the most important ones first: if
        there are too many to compare, the last ones do not match.
    steps : Steps
        The budget for comparing labels.

    Attributes
    ----------
    is_soft : bool
        Whether different labels can match.
    is_plain : bool
        Whether the match is 1 for equal heads, and 0 for others.
    pair_cost : int
        Cost of a matching pair of nodes in steps: higher for soft matching, where nearly all pairs
        match.
    gates : ndarray of float64
        The gate of each head.
    pairs : list of (int, int)
        The heads of each pair.
    similarities, matches : list of float
        The similarity of each pair, and the similarity times both gates.
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
        """Fill the table of similarities; last row and column are for heads left out."""
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
        """Return the similarity of the labels of two heads, 0 if their edges differ."""
        if not self.is_soft:
            return float(one == other)
        return float(self.table[self.rows[one], self.columns[other]])

    def match(self, one: int, other: int) -> float:
        """Return the similarity of two heads times both gates, k in the definitions."""
        similarity = self.similarity(one, other)
        return float(self.gates[one] * self.gates[other]) * similarity if similarity else 0.0

    def match_all(self, one: int, others: list[int]) -> list[float]:
        """Return the match of one head with each of some others."""
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
        """Return all pairs of heads with a positive match, as two arrays."""
        open_heads = self.gates > 0
        if not self.is_soft:
            both = np.flatnonzero(open_heads)
            return both, both
        left, right = (
            np.flatnonzero((side >= 0) & open_heads) for side in (self.rows, self.columns)
        )
        one, other = np.nonzero(self.table[np.ix_(self.rows[left], self.columns[right])])
        return left[one], right[other]


@dataclass
class Classes:
    """The distinct complete subtrees (classes) of two trees, children before parents.

    Attributes
    ----------
    heads : list of int
        Number of the label and edge of the root of each class.
    children : list of tuple of int
        Classes of the children of each class.
    productions : list of int
        Number of the production (heads of root and children) of each class; -1 for a leaf.
    n_nodes, n_inner : list of int
        Number of all nodes, and of nodes with children.
    counts : pair of lists of int
        Occurrences of each class in the first and in the second tree.
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
        """Return the classes of two trees."""
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
        """Return the heads of each tree, heads of small subtrees first."""
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
        A key for each, negative for subtrees without match.
    matches : pair of ndarray of int64
        Keys that match, of the first and of the second tree.
    pair_cost : int
        Cost of a pair in steps.
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
        """Return the steps for pairs of subtrees up to a size, with or without child pairs."""
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
        """Yield the pairs of subtrees up to a size, pairs of children before their parents."""
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
        """Return the pairs that cost at most ``limit`` steps, and take these steps.

        Pairs of large subtrees are left out first. Parts of a subtree are smaller than the
        subtree, so values computed from the returned pairs are exact.
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
        """Return the largest size whose pairs cost at most ``limit`` (None: all), and the cost."""
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
        """Yield pairs of the next size; with soft matching, it may have nearly all pairs."""
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


class Shapes:
    """Distinct fragments of trees by number; parts have smaller numbers.

    A fragment is a pair of heads, one of each tree, and its parts; a part is the number of a
    fragment or, for a node without its children, ``~pair``.

    Parameters
    ----------
    matching : Matching
        The pairs of heads.

    Attributes
    ----------
    keys : list of (int, tuple of int)
        The pair of heads and the parts of each fragment.
    n_nodes, n_inner : list of int
        Number of all nodes, and of nodes with parts.
    similarities : list of float
        Product of the similarities of all labels.
    scores : list of float
        Sum of the similarities of all labels: the number of nodes if they are equal.
    """

    def __init__(self, matching: Matching) -> None:
        self.matching = matching
        self.known: dict[tuple[int, tuple[int, ...]], int] = {}
        self.keys: list[tuple[int, tuple[int, ...]]] = []
        self.n_nodes: list[int] = []
        self.n_inner: list[int] = []
        self.similarities: list[float] = []
        self.scores: list[float] = []

    def add(self, pair: int, parts: tuple[int, ...]) -> int:
        """Return the number of a fragment."""
        index = self.known.setdefault((pair, parts), len(self.keys))
        if index == len(self.keys):
            self.keys.append((pair, parts))
            self.n_nodes.append(1 + sum(self.n_nodes[p] if p >= 0 else 1 for p in parts))
            self.n_inner.append(bool(parts) + sum(self.n_inner[p] for p in parts if p >= 0))
            single = self.matching.similarities
            product = score = single[pair]
            for p in parts:
                product *= self.similarities[p] if p >= 0 else single[~p]
                score += self.scores[p] if p >= 0 else single[~p]
            self.similarities.append(product)
            self.scores.append(score)
        return index

    def inside(self, index: int) -> list[int]:
        """Return a fragment and all its parts, smaller parts first."""
        seen = {index}
        waiting = [index]
        while waiting:
            for part in self.keys[waiting.pop()][1]:
                if part >= 0 and part not in seen:
                    seen.add(part)
                    waiting.append(part)
        return sorted(seen)

    def tree(self, index: int, side: int = 0) -> Tree:
        """Return a fragment with the labels of one of the trees."""
        made: dict[int, Tree] = {}
        for number in self.inside(index):
            pair, parts = self.keys[number]
            label, edge = self.matching.head(pair, side)
            children = [made[p] if p >= 0 else self._bare(~p, side) for p in parts]
            made[number] = Tree(label, children, edge)
        return made[index]

    def _bare(self, pair: int, side: int) -> Tree:
        label, edge = self.matching.head(pair, side)
        return Tree(label, (), edge)

    def text(self, index: int) -> str:
        """Return a fragment in bracket notation, different labels as `label_text` writes them.

        If all labels are equal, the same as ``Tree.to_brackets``.
        """
        pieces: list[str] = []
        waiting: list[int | str] = [")", index, "("]
        if self.keys[index][1]:
            waiting = [index]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                pieces.append(part)
                continue
            pair, parts = self.keys[part] if part >= 0 else (~part, ())
            if not parts:
                pieces.append(self._word(pair))
                continue
            pieces.append("(" + self._word(pair))
            waiting.append(")")
            for below in reversed(parts):
                waiting += [below, " "]
        return "".join(pieces)

    def _word(self, pair: int) -> str:
        written = self._bare(pair, 0).to_brackets()[1:-1]
        (label, _), (other, _) = (self.matching.head(pair, side) for side in (0, 1))
        if label == other:
            return written
        return label_text(
            written, Tree(other).to_brackets()[1:-1], self.matching.similarities[pair]
        )


@dataclass
class Found:
    """Sums of one fragment over the pairs of nodes that share it."""

    shape: int
    weight: float = 0.0
    covers: float = 0.0
    is_largest: bool = False
    roots: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))


class Pairs:
    """Pairs of subtrees with the fragments they share; pairs of parts are added first.

    Parameters
    ----------
    counts : pair of lists of int
        Occurrences of each subtree in the first and in the second tree.
    """

    def __init__(self, counts: tuple[list[int], list[int]]) -> None:
        self.counts = counts
        self.numbers: dict[tuple[int, int], int] = {}
        self.ends: list[tuple[int, int]] = []
        self.values: list[float] = []
        self.fragments: list[int] = []
        self.parts: list[list[int]] = []
        self.times: list[int] = []

    def add(self, ends: tuple[int, int], value: float, fragment: int, parts: list[int]) -> None:
        """Add a pair of subtrees, its kernel value per pair of nodes, and its largest fragment.

        ``parts`` are the numbers of the pairs through which the fragment continues.
        """
        self.numbers[ends] = len(self.ends)
        self.ends.append(ends)
        self.values.append(value)
        self.fragments.append(fragment)
        self.parts.append(parts)
        self.times.append(self.counts[0][ends[0]] * self.counts[1][ends[1]])

    def found(self) -> list[Found]:
        """Return the fragments with the values of their pairs and regions."""
        free = list(self.times)
        totals = list(self.values)
        for number, parts in enumerate(self.parts):
            for part in parts:
                free[part] -= self.times[number]
                totals[number] += totals[part]
        by_fragment: dict[int, Found] = {}
        for number, fragment in enumerate(self.fragments):
            found = by_fragment.setdefault(fragment, Found(fragment))
            found.weight += self.times[number] * self.values[number]
            found.covers += free[number] * totals[number]
            found.is_largest = found.is_largest or free[number] > 0
            for side in (0, 1):
                found.roots[side].add(self.ends[number][side])
        return list(by_fragment.values())

    def weighted(self, *, largest: bool) -> Iterator[Weighted]:
        """Yield the fragments with weights and counts; optionally only the largest."""
        for found in self.found():
            if found.is_largest or not largest:
                count_a, count_b = (
                    sum(self.counts[side][root] for root in found.roots[side]) for side in (0, 1)
                )
                covers = found.covers if largest else None
                yield found.shape, found.weight, count_a, count_b, covers
