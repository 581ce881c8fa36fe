"""A forest with the probabilities that candidates and views are made from."""

from __future__ import annotations

from collections.abc import Iterable

import kernelwood as kw

__all__ = ["Readings", "Span", "constituents", "single_best"]

Span = tuple[int, int]


class Readings:
    """All readings of a sentence, weighed once.

    A single tree is a forest like any other here: every probability is then one.

    Parameters
    ----------
    forest : kernelwood.Forest
        With spans.

    Attributes
    ----------
    labels, spans, edges, order
        As in the forest; ``order`` lists children before heads, ``edges`` without probabilities.
    edges_of : list of list of int
        The hyper-edges each node heads.
    marginals : list of float
        How probable each hyper-edge is in a tree drawn from the forest.
    choices : list of float
        How probable each hyper-edge is, given its head.
    """

    def __init__(self, forest: kw.Forest) -> None:
        if forest.spans is None:
            raise ValueError("candidates are spans: the forest must have some")
        self.labels = forest.labels
        self.spans = forest.spans
        self.edges = [(head, children) for head, children, _ in forest.edges]
        self.order = forest.bottom_up()
        self.root = forest.root
        self.edges_of: list[list[int]] = [[] for _ in forest.labels]
        self.marginals = list(forest.edge_marginals())
        totals = [0.0] * len(forest.labels)
        for number, (head, _) in enumerate(self.edges):
            self.edges_of[head].append(number)
            totals[head] += self.marginals[number]
        self.choices = [
            weight / totals[head]
            for weight, (head, _) in zip(self.marginals, self.edges, strict=True)
        ]

    def is_preterminal(self, node: int) -> bool:
        """Whether the node stands directly above a word."""
        return any(
            not self.edges_of[child]
            for number in self.edges_of[node]
            for child in self.edges[number][1]
        )

    def child_at(self, children: Iterable[int], position: int) -> int:
        """Return the child that covers a word."""
        for child in children:
            start, end = self.spans[child]
            if start <= position < end:
                return child
        raise ValueError(f"no child covers word {position}")

    def topmost(self, span: Span) -> dict[int, float]:
        """Return the nodes of exactly this span that no other of the span dominates.

        Each comes with the probability that it is there; they sum to the probability that the
        span is a constituent.
        """
        found: dict[int, float] = {}
        for number, (head, children) in enumerate(self.edges):
            start, end = self.spans[head]
            if start <= span[0] and span[1] <= end and (start, end) != span:
                for child in children:
                    if self.spans[child] == span:
                        found[child] = found.get(child, 0.0) + self.marginals[number]
        if self.spans[self.root] == span:
            found[self.root] = 1.0
        # A preterminal is a constituent, the word below it is not.
        return {node: weight for node, weight in found.items() if self.edges_of[node]}


def constituents(forest: kw.Forest) -> set[Span]:
    """Return the spans of all nodes above words."""
    spans = forest.spans or ()
    return {spans[head] for head, _, _ in forest.edges}


def single_best(forest: kw.Forest) -> kw.Forest:
    """Return the most probable tree of a forest as a forest of one tree."""
    return kw.Forest.from_trees([(forest.best_tree(), 1.0)])
