"""A forest with the probabilities that its views are made from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from kernelwood.errors import StructureError
from kernelwood.structures import JOINT, Forest, HyperEdge, probable
from kernelwood.text import Span

__all__ = ["Counts", "Readings", "pack_counts", "spans_of", "weighty"]

Key = TypeVar("Key", bound=Hashable)
Counts = dict[Key, dict[tuple[Key, ...], float]]  # expected counts of hyper-edges, by head


class Readings:
    """All readings of a sentence, weighed once.

    Views of forests take a forest or its readings. Make the readings yourself when many views are
    made of one forest: the sums over all its trees are then computed once. A single tree is a
    forest like any other here; every probability is then one.

    Parameters
    ----------
    forest : Forest
        With spans.

    Attributes
    ----------
    forest : Forest
        As given.
    labels, spans, root
        As in the forest.
    edges : list of (int, tuple of int)
        Head and children of each hyper-edge.
    order : tuple of int
        All nodes, children before heads.
    edges_of : list of list of int
        The hyper-edges each node heads.
    marginals : list of float
        How probable each hyper-edge is in a tree drawn from the forest.
    choices : list of float
        How probable each hyper-edge is, given its head.

    Raises
    ------
    StructureError
        If the forest has no spans.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> high = Tree.from_brackets("(VP saw (NP girls) (PP with hats))")
    >>> low = Tree.from_brackets("(VP saw (NP girls (PP with hats)))")
    >>> readings = Readings(Forest.from_trees([(high, 1), (low, 3)]))
    >>> {readings.labels[node]: weight for node, weight in readings.topmost((1, 4)).items()}
    {'NP': 0.75}
    """

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.labels = forest.labels
        self.spans = spans_of(forest)
        self.edges = [(head, children) for head, children, _ in forest.edges]
        self.order = forest.bottom_up()
        self.root = forest.root
        self.edges_of: list[list[int]] = [[] for _ in forest.labels]
        self.marginals = list(forest.edge_marginals())
        totals = [0.0] * len(forest.labels)
        for number, (head, _) in enumerate(self.edges):
            self.edges_of[head].append(number)
            totals[head] += self.marginals[number]
        # What is less probable than any float is impossible.
        self.choices = [
            weight / totals[head] if weight else 0.0
            for weight, (head, _) in zip(self.marginals, self.edges, strict=True)
        ]

    @classmethod
    def of(cls, forest: Forest | Readings) -> Readings:
        """Return the readings of a forest, or the readings themselves."""
        return forest if isinstance(forest, Readings) else cls(forest)

    @property
    def whole(self) -> Span:
        """The words of the sentence."""
        return self.spans[self.root]

    def child_at(self, children: Iterable[int], position: int) -> int:
        """Return the child that covers a word."""
        for child in children:
            start, end = self.spans[child]
            if start <= position < end:
                return child
        raise StructureError(
            f"a hyper-edge has no child over word {position}, which its head covers",
            hint="the spans of the children must leave no gap in the span of their head",
        )

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
                    if self.spans[child] == span and self.marginals[number]:
                        found[child] = found.get(child, 0.0) + self.marginals[number]
        if self.spans[self.root] == span:
            found[self.root] = 1.0
        return found


def spans_of(forest: Forest) -> tuple[Span, ...]:
    """Return the spans of a forest, or say that it needs some.

    Examples
    --------
    >>> spans_of(Forest(["Ann"], [], 0, [(0, 1)]))
    ((0, 1),)
    """
    if forest.spans is None:
        raise StructureError(
            f"{forest!r} does not say which words its nodes stand over",
            hint="make it with spans=, one (start, end) pair per node",
        )
    return forest.spans


def pack_counts(
    tops: Mapping[Key, float],
    counts: Counts[Key],
    label: Callable[[Key], str],
    *,
    root: str | None = None,
    facts: Iterable[tuple[str, str]] = (),
    negligible: float = 0.0,
    fallback: bool = False,
) -> Forest:
    """Return the forest of expected counts of hyper-edges between nodes of any kind.

    Parameters
    ----------
    tops : mapping of node to float
        How probable each node is as the root.
    counts : mapping of node to mapping of children to float
        The hyper-edges of each head with their expected counts.
    label : callable
        From a node to its label.
    root : str, optional
        Label of a node above the tops; without it, one labeled ``*`` stands there if there are
        several tops or some facts.
    facts : iterable of (kind, value)
        Preterminals to the left of every top, below the root.
    negligible : float, default 0.0
        A hyper-edge whose count is a smaller part of the total is left out, unless it is the best
        of its head.
    fallback : bool, default False
        Passed on to the forest.

    Examples
    --------
    >>> counts = {"S": {("x",): 0.75, ("y",): 0.25}}
    >>> pack_counts({"S": 1.0}, counts, str).k_best(2)
    [(Tree('(S x)'), 0.75), (Tree('(S y)'), 0.25)]
    """
    names, edges, beside = list[str](), list[HyperEdge](), list[int]()
    floor = negligible * sum(tops.values())
    best = _shares(tops, floor)
    known = list(facts)
    joint = root is not None or bool(known) or len(best) > 1
    if joint:
        names.append(JOINT if root is None else root)
    for kind, value in known:
        beside.append(len(names))
        edges.append((len(names), (len(names) + 1,), 1.0))
        names += [kind, value]
    numbers: dict[Key, int] = {}
    todo: list[Key] = []

    def number(node: Key) -> int:
        if node not in numbers:
            numbers[node] = len(names)
            names.append(label(node))
            todo.append(node)
        return numbers[node]

    for top, share in best.items():
        place = number(top)
        if joint:
            edges.append((0, (*beside, place), share))
    while todo:
        head = todo.pop()
        for children, share in _shares(counts.get(head, {}), floor).items():
            edges.append((numbers[head], tuple(map(number, children)), share))
    return Forest(names, edges, 0, fallback=fallback)


def weighty(weights: Mapping[Key, float], floor: float) -> dict[Key, float]:
    """Return the alternatives that reach a floor, and the best one in any case.

    Examples
    --------
    >>> weighty({"x": 0.75, "y": 0.25, "z": 0.0}, 0.5)
    {'x': 0.75}
    """
    floor = min(floor, max(weights.values(), default=0.0))
    return {key: weight for key, weight in weights.items() if weight >= floor and weight}


def _shares(weights: Mapping[Key, float], floor: float) -> dict[Key, float]:
    """Return the alternatives that count as probabilities."""
    # Where all counts are less than any float, nothing tells the alternatives apart.
    kept = weighty(weights, floor) or dict.fromkeys(weights, 1.0)
    total = sum(kept.values())
    return {key: probable(weight / total) for key, weight in kept.items()}
