"""Pairs of subtrees, the largest fragment each pair shares, and what belongs together.

Every pair of nodes that a kernel counts has a value, and the values sum to the raw kernel value.
A pair is *inside* the pair of the parents if the fragment shared there goes on through it. So the
pairs fall into regions, each the parts of one largest fragment, and the regions divide the kernel
value among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwood.explain.fragment import label_text
from kernelwood.explain.matching import Matching
from kernelwood.structures import Tree

__all__ = ["Found", "Pairs", "Shapes"]


class Shapes:
    """Fragments of trees, numbered so that equal ones are one; parts have smaller numbers.

    A fragment is a pair of heads, one of each tree, and its parts; a part is the number of a
    fragment or, if the node is cut off there, ``~pair``.

    Parameters
    ----------
    matching : Matching
        The pairs of heads.

    Attributes
    ----------
    keys : list of (int, tuple of int)
        The pair of heads and the parts of each fragment.
    n_nodes, n_inner : list of int
        Number of all nodes, and of those with parts.
    similarities : list of float
        The similarities of all its labels, multiplied.
    scores : list of float
        The similarities of all its labels, added: the number of nodes if they are equal.
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
        """Return a fragment and all fragments it is made of, parts first."""
        seen = {index}
        todo = [index]
        while todo:
            for part in self.keys[todo.pop()][1]:
                if part >= 0 and part not in seen:
                    seen.add(part)
                    todo.append(part)
        return sorted(seen)

    def tree(self, index: int, side: int = 0) -> Tree:
        """Return a fragment as it stands in one of the trees, cut-off nodes as leaves."""
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
        """Write a fragment in bracket notation, labels that differ as ``left~right (similarity)``.

        Where all labels are equal, this is what ``Tree.to_brackets`` writes.
        """
        pieces: list[str] = []
        todo: list[int | str] = [")", index, "("]
        if self.keys[index][1]:
            todo = [index]
        while todo:
            part = todo.pop()
            if isinstance(part, str):
                pieces.append(part)
                continue
            pair, parts = self.keys[part] if part >= 0 else (~part, ())
            if not parts:
                pieces.append(self._word(pair))
                continue
            pieces.append("(" + self._word(pair))
            todo.append(")")
            for below in reversed(parts):
                todo += [below, " "]
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
    """What is known of one fragment, summed over the pairs of nodes that share it."""

    shape: int
    weight: float = 0.0
    covers: float = 0.0
    is_largest: bool = False
    roots: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))


class Pairs:
    """Pairs of subtrees with what they share; the pairs of parts are added first.

    Parameters
    ----------
    counts : pair of lists of int
        How often each subtree occurs in the first and in the second tree.
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
        """Add a pair of subtrees.

        Parameters
        ----------
        ends : pair of int
            The two subtrees.
        value : float
            What one such pair of nodes adds to the kernel value.
        fragment : int
            The largest fragment shared there.
        parts : list of int
            Numbers of the pairs the fragment goes on through.
        """
        self.numbers[ends] = len(self.ends)
        self.ends.append(ends)
        self.values.append(value)
        self.fragments.append(fragment)
        self.parts.append(parts)
        self.times.append(self.counts[0][ends[0]] * self.counts[1][ends[1]])

    def found(self) -> list[Found]:
        """Return the fragments, with the value of their pairs and of their regions."""
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
