"""The distinct nodes of two forests, with expected counts, so that equal ones are compared once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kernelwood.errors import KernelOverflowError
from kernelwood.explain.classes import Candidates, Classes
from kernelwood.structures import (
    ONE,
    Forest,
    Scaled,
    divide,
    scaled_marginals,
    scaled_product,
    to_float,
    total,
)

__all__ = ["PackedNodes", "counts_overflow"]

_Edges = tuple[tuple[float, tuple[int, ...]], ...]  # probability given the head, and children


@dataclass
class PackedNodes:
    """The distinct nodes of two forests and their hyper-edges, children before heads.

    Nodes are equal if their labels are, their hyper-edges, and all nodes below.

    Attributes
    ----------
    labels : list of (str, str)
        Label by number, and an empty edge, as trees have it.
    productions : list of tuple of int
        Numbers of the labels of head and children, by the number of the production.
    counts : pair of lists of float
        Expected count of each node in a tree of the first and of the second forest.
    heights : list of int
        For each node how many hyper-edges at most lie below it on one path.
    options : list of dict
        For each node its hyper-edges, by the number of the production.
    heads, kinds : list of int
        For each hyper-edge its head, and the number of its production.
    children : list of tuple of int
        For each hyper-edge the nodes it leads to.
    chances : list of float
        For each hyper-edge its probability given the head.
    """

    labels: list[tuple[str, str]] = field(default_factory=list)
    productions: list[tuple[int, ...]] = field(default_factory=list)
    counts: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    heights: list[int] = field(default_factory=list)
    options: list[dict[int, list[int]]] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    children: list[tuple[int, ...]] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, a: Forest, b: Forest, sharpness: float) -> PackedNodes:
        """Number the nodes of two forests.

        Examples
        --------
        >>> forest = Forest(["S", "x", "x"], [(0, (1,), 0.5), (0, (2,), 0.5)], 0)
        >>> packed = PackedNodes.of(forest, forest, 1.0)
        >>> packed.labels, packed.counts[0], packed.chances
        ([('x', ''), ('S', '')], [1.0, 1.0], [0.5, 0.5])
        """
        made = cls()
        labels: dict[str, int] = {}
        productions: dict[tuple[int, ...], int] = {}
        known: dict[tuple[int, _Edges], int] = {}
        label_of: list[int] = []
        for side, forest in enumerate((a, b)):
            counts, chances = _expectations(forest, sharpness)
            numbers: dict[int, int] = {}
            for node in forest.bottom_up():
                label = labels.setdefault(forest.labels[node], len(labels))
                edges = tuple(
                    (chances[e], tuple([numbers[child] for child in forest.edges[e][1]]))
                    for e in forest.edges_of(node)
                    if chances[e]
                )
                number = numbers[node] = known.setdefault((label, edges), len(known))
                if number == len(label_of):
                    label_of.append(label)
                    kinds = [(label, *(label_of[child] for child in below)) for _, below in edges]
                    made._add(edges, [productions.setdefault(k, len(productions)) for k in kinds])
                made.counts[side][number] += counts[node]
        made.labels = [(label, "") for label in labels]
        made.productions = list(productions)
        return made

    def _add(self, edges: _Edges, kinds: list[int]) -> None:
        node = len(self.options)
        options: dict[int, list[int]] = {}
        height = 0
        for kind, (chance, children) in zip(kinds, edges, strict=True):
            options.setdefault(kind, []).append(len(self.heads))
            self.heads.append(node)
            self.kinds.append(kind)
            self.children.append(children)
            self.chances.append(chance)
            height = max(height, 1 + max(self.heights[child] for child in children))
        self.options.append(options)
        self.heights.append(height)
        for counts in self.counts:
            counts.append(0.0)

    def candidates(self) -> Candidates:
        """Return the pairs of hyper-edges with equal productions.

        Each hyper-edge stands for a class, and the height of its head for the size: whatever is
        below is smaller, and within bounds if its head is.
        """
        there = [[int(counts[head] > 0) for head in self.heads] for counts in self.counts]
        edges = Classes(
            children=self.children,
            n_nodes=[self.heights[head] for head in self.heads],
            counts=(there[0], there[1]),
        )
        same = np.arange(len(self.productions))
        return Candidates(edges, self.kinds, (same, same))


def _expectations(forest: Forest, sharpness: float) -> tuple[list[float], list[float]]:
    """Return expected counts of nodes, and probabilities of hyper-edges given their heads."""
    nodes = [ONE] * forest.n_nodes
    edges = [ONE] * forest.n_edges
    for node in forest.bottom_up():
        heading = forest.edges_of(node)
        for e in heading:
            _, children, probability = forest.edges[e]
            below = [nodes[child] for child in children]
            edges[e] = scaled_product(1.0, [_power(probability, sharpness), *below])
        if heading:
            nodes[node] = total([edges[e] for e in heading])
    counts = [to_float(count) for count in scaled_marginals(forest, nodes, edges)[0]]
    if math.inf in counts:
        raise counts_overflow()
    chances = [
        to_float(divide(score, nodes[head]))
        for score, (head, _, _) in zip(edges, forest.edges, strict=True)
    ]
    return counts, chances


def _power(base: float, exponent: float) -> Scaled:
    mantissa, scale = math.frexp(base)
    whole = math.floor(scale * exponent)
    power, shift = math.frexp(mantissa**exponent * 2.0 ** (scale * exponent - whole))
    return whole + shift, power


def counts_overflow() -> KernelOverflowError:
    """Return the error for counts that no double can hold."""
    return KernelOverflowError(
        "shared_fragments: expected counts of fragments in these forests exceed the range of a "
        "double; explain smaller forests, or see why one tree uses the same node so often"
    )
