"""Pairs of subtrees, the largest fragment each pair shares, and what belongs together.

Every pair of nodes that a kernel counts has a value, and the values sum to the raw kernel value.
A pair is *inside* the pair of the parents if the fragment shared there goes on through it. So the
pairs fall into regions, each the parts of one largest fragment, and the regions divide the kernel
value among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwood.structures import Tree

__all__ = ["Found", "Pairs", "Shapes"]


class Shapes:
    """Fragments of trees, numbered so that equal ones are one; parts have smaller numbers.

    A fragment is a head and its parts; a part is the number of a fragment or, if the node is cut
    off there, ``~head``.

    Parameters
    ----------
    labels : list of (str, str)
        Label and edge of each head.
    """

    def __init__(self, labels: list[tuple[str, str]]) -> None:
        self.labels = labels
        self.known: dict[tuple[int, tuple[int, ...]], int] = {}
        self.keys: list[tuple[int, tuple[int, ...]]] = []
        self.n_nodes: list[int] = []
        self.n_inner: list[int] = []

    def add(self, head: int, parts: tuple[int, ...]) -> int:
        """Return the number of a fragment."""
        index = self.known.setdefault((head, parts), len(self.keys))
        if index == len(self.keys):
            self.keys.append((head, parts))
            self.n_nodes.append(1 + sum(self.n_nodes[p] if p >= 0 else 1 for p in parts))
            self.n_inner.append(bool(parts) + sum(self.n_inner[p] for p in parts if p >= 0))
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

    def tree(self, index: int) -> Tree:
        """Return a fragment as a tree, cut-off nodes as leaves."""
        made: dict[int, Tree] = {}
        for number in self.inside(index):
            head, parts = self.keys[number]
            label, edge = self.labels[head]
            children = [made[p] if p >= 0 else self._bare(~p) for p in parts]
            made[number] = Tree(label, children, edge)
        return made[index]

    def _bare(self, head: int) -> Tree:
        label, edge = self.labels[head]
        return Tree(label, (), edge)


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
