"""The distinct subtrees of two trees, numbered so that equal ones are compared once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain

from kernelwood.structures import Tree

__all__ = ["Classes", "affordable_size"]


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
    """

    heads: list[int] = field(default_factory=list)
    children: list[tuple[int, ...]] = field(default_factory=list)
    productions: list[int] = field(default_factory=list)
    n_nodes: list[int] = field(default_factory=list)
    n_inner: list[int] = field(default_factory=list)
    counts: tuple[list[int], list[int]] = ([], [])
    labels: list[tuple[str, str]] = field(default_factory=list)

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

    def groups(
        self, keys: list[int], max_nodes: int | None = None
    ) -> list[tuple[list[int], list[int]]]:
        """Return the classes of the first and second tree that agree in a key of 0 or more."""
        both: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for index, key in enumerate(keys):
            if key < 0 or (max_nodes is not None and self.n_nodes[index] > max_nodes):
                continue
            for side in (0, 1):
                if self.counts[side][index]:
                    both[key][side].append(index)
        return [group for group in both.values() if group[0] and group[1]]


def affordable_size(
    classes: Classes, cost: Callable[[int | None], int], limit: int
) -> tuple[int | None, int]:
    """Return the largest subtree size whose pairs cost no more than ``limit``, and the cost.

    Smaller subtrees are the parts of larger ones, so what is computed from those left is exact.
    None stands for all sizes.
    """
    whole = cost(None)
    if whole <= limit:
        return None, whole
    sizes = sorted(set(chain([0], classes.n_nodes)))
    low, high = 0, len(sizes) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if cost(sizes[middle]) <= limit:
            low = middle
        else:
            high = middle
    return sizes[low], cost(sizes[low])
