"""Parts of packed forests: what `kernelwood.views.constituents` does with one tree, done with all.

Every function takes the view of each tree of the forest, and returns a forest in which these views
have the probabilities of their trees. They are computed from hyper-edges, never by listing trees.
A forest of one tree gives the view of that tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import Forest, carve, probable
from kernelwood.text import Span
from kernelwood.views.places import ARGUMENT_SUFFIX, check_predicate, check_range, hull
from kernelwood.views.readings import Counts, Readings, pack_counts, spans_of, weighty

__all__ = ["argument_forest", "argument_path_forest", "minimal_forest", "path_enclosed_forest"]

# Many small flows may lead to one label: ways are followed this much further than hyper-edges are
# kept.
_FURTHER = 50

_Step: TypeAlias = tuple[str, int, str]  # side of the path, depth below the join, label


def minimal_forest(forest: Forest, first: Span, second: Span) -> Forest:
    """Return the smallest constituents that hold two entities.

    The distribution of `minimal_complete_tree` over the trees of the forest; exact. If the
    constituents differ in their root, a node labeled ``*`` joins the roots, and so in all functions
    here.

    Parameters
    ----------
    forest : Forest
        With spans.
    first, second : (int, int)
        The words of the entities, in any order; they may overlap.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> tree = Tree.from_brackets("(S (ADVP here) (S (NP birds) (VP eat (NP bread))))")
    >>> minimal_forest(Forest.from_trees([tree]), (1, 2), (3, 4)).best_tree()
    Tree('(S (NP birds) (VP eat (NP bread)))')
    """
    return forest.subforest(*_around(forest, first, second))


def path_enclosed_forest(forest: Forest, first: Span, second: Span) -> Forest:
    """Return the part of a forest between two entities.

    The distribution of `path_enclosed_tree` over the trees of the forest; exact. Children outside
    are cut off every hyper-edge; hyper-edges that differ in nothing else then become one, and
    their probabilities are added. Nodes of one label that used to cover different words stay apart,
    so that one tree may have several derivations.

    Parameters
    ----------
    forest : Forest
        With spans; those of the result count the same words, and end at the entities.
    first, second : (int, int)
        The words of the entities, in any order; they may overlap.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> high = Tree.from_brackets("(VP saw (NP old girls) (PP with (NP red hats)))")
    >>> low = Tree.from_brackets("(VP saw (NP old girls (PP with (NP red hats))))")
    >>> forest = Forest.from_trees([(high, 1), (low, 3)])
    >>> for tree, probability in path_enclosed_forest(forest, (2, 3), (3, 4)).k_best(2):
    ...     print(tree, probability)
    Tree('(* (NP girls (PP with)))') 0.75
    Tree('(* (VP (NP girls) (PP with)))') 0.25

    References
    ----------
    Zhang, Zhang and Li (2010), Convolution kernel over packed parse forest, section 4.2.
    """
    low, high = _around(forest, first, second)
    part = forest.subforest(low, high)
    spans = spans_of(part)
    # Probabilities at each head of the part add up to one, so what is cut off weighs nothing.
    merged: dict[tuple[int, tuple[int, ...]], float] = defaultdict(float)
    for head, children, probability in part.edges:
        if _overlap(spans[head], low, high):
            merged[head, _between(children, spans, low, high)] += probability
    edges = [(head, kept, probable(weight)) for (head, kept), weight in merged.items()]
    cut = [_within(span, low, high) for span in spans]
    return carve(part.labels, edges, part.root, cut, fallback=forest.fallback)


def argument_forest(
    forest: Forest | Readings,
    start: int,
    end: int,
    *,
    root: str | None = None,
    negligible: float = 0.0,
) -> Forest:
    """Return all constituents over exactly some words.

    The distribution of `argument_tree` over those trees of the forest in which the words are a
    constituent; exact if nothing is negligible.

    Parameters
    ----------
    forest : Forest or Readings
        With spans.
    start, end : int
        The words of the argument.
    root : str, optional
        Label of a node to put above.
    negligible : float, default 0.0
        A hyper-edge with a smaller expected count is left out, unless it is the best of its head.
        It costs time and hardly changes a kernel value; 0.05 is reasonable.

    Raises
    ------
    StructureError
        If no reading has the words as a constituent.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> high = Tree.from_brackets("(VP saw (NP girls) (PP with hats))")
    >>> low = Tree.from_brackets("(VP saw (NP girls (PP with hats)))")
    >>> argument_forest(Forest.from_trees([high, low]), 1, 4).best_tree()
    Tree('(NP girls (PP with hats))')
    """
    readings = Readings.of(forest)
    span = check_range((start, end), readings.whole)
    tops = readings.topmost(span)
    if not tops:
        raise _not_read(span)
    counts: Counts[int] = {}
    flow = defaultdict(float, tops)
    for node in reversed(readings.order):
        if node in flow and readings.edges_of[node]:
            counts[node] = {}
            for number in readings.edges_of[node]:
                children = readings.edges[number][1]
                counts[node][children] = flow[node] * readings.choices[number]
                for child in children:
                    flow[child] += counts[node][children]
    return pack_counts(
        tops,
        counts,
        lambda node: readings.labels[node],
        root=root,
        negligible=negligible,
        fallback=readings.forest.fallback,
    )


def argument_path_forest(
    forest: Forest | Readings,
    predicate: int,
    start: int,
    end: int,
    *,
    lemma: str | None = None,
    root: str | None = None,
    facts: Iterable[tuple[str, str]] = (),
    negligible: float = 0.0,
) -> Forest:
    """Return the ways from a predicate to its argument.

    The distribution of `argument_path` over those trees of the forest in which the argument is a
    constituent. Where words begin and end does not show in a path, so constituents of one label at
    one depth of one side are one node of the view, whatever their spans. Its hyper-edges have the
    expected counts they have in the readings. But the choices of label on the way down are
    independent of each other but for the label above. Where they depend on more (a label further
    up, the other side of the path), the probability of a whole path is approximate.

    Parameters
    ----------
    forest : Forest or Readings
        With spans.
    predicate : int
        Position of the predicate; outside the argument.
    start, end : int
        The words of the argument.
    lemma : str, optional
        What to write in place of the predicate; its word, if not given.
    root : str, optional
        Label of a node to put above the paths.
    facts : iterable of (kind, value)
        What else is known, as nodes ``(kind value)`` left of the path, below the root.
    negligible : float, default 0.0
        A hyper-edge with a smaller expected count is left out, unless it is the best of its head;
        0.05 is reasonable.

    Raises
    ------
    StructureError
        If no reading has the argument as a constituent, or it contains the predicate.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> high = Tree.from_brackets("(VP (V saw) (NP girls) (PP with hats))")
    >>> low = Tree.from_brackets("(VP (V saw) (NP girls (PP with hats)))")
    >>> forest = Forest.from_trees([(high, 1), (low, 3)])
    >>> for tree, probability in argument_path_forest(forest, 0, 2, 4, lemma="see").k_best(2):
    ...     print(tree, probability)
    Tree('(VP (V see) (NP PP-ARG))') 0.75
    Tree('(VP (V see) PP-ARG)') 0.25
    """
    readings = Readings.of(forest)
    span = check_range((start, end), readings.whole)
    position = check_predicate(predicate, span, readings.whole)
    paths = _Paths(readings, position, span, lemma, negligible / _FURTHER)
    if not paths.tops:
        raise _not_read(span)
    return pack_counts(
        paths.tops,
        paths.counts,
        lambda step: step[2],
        root=root,
        facts=facts,
        negligible=negligible,
        fallback=readings.forest.fallback,
    )


class _Paths:
    """Expected counts of the hyper-edges of paths, given that the argument is there."""

    def __init__(
        self, readings: Readings, predicate: int, span: Span, lemma: str | None, ignored: float
    ) -> None:
        self.readings, self.predicate, self.span, self.lemma = readings, predicate, span, lemma
        self.ignored = ignored
        self.tops: dict[_Step, float] = defaultdict(float)
        self.counts: Counts[_Step] = defaultdict(lambda: defaultdict(float))
        self.chance = self._chances()
        to_predicate, to_argument = self._part()
        self._descend("predicate", to_predicate)
        self._descend("argument", to_argument)

    def _chances(self) -> dict[int, float]:
        """Return how probable the argument is below each node around it, given the node."""
        readings, (start, end) = self.readings, self.span
        chance: dict[int, float] = {}
        for node in readings.order:
            left, right = readings.spans[node]
            if left > start or right < end:
                continue
            total = 1.0 if (left, right) == self.span else 0.0
            if not total:
                for number in readings.edges_of[node]:
                    below = (chance.get(child, 0.0) for child in readings.edges[number][1])
                    total += readings.choices[number] * max(below)
            if total:
                chance[node] = total
        return chance

    def _part(self) -> tuple[dict[int, float], dict[int, float]]:
        """Count the hyper-edges where the two ways part; return what flows into each."""
        readings, chance = self.readings, self.chance
        flows: tuple[dict[int, float], dict[int, float]] = defaultdict(float), defaultdict(float)
        for head in chance:
            start, end = readings.spans[head]
            if not start <= self.predicate < end:
                continue
            join = ("join", 0, readings.labels[head])
            for number in readings.edges_of[head]:
                children = readings.edges[number][1]
                argument = next((child for child in children if child in chance), None)
                if argument is None:
                    continue
                predicate = readings.child_at(children, self.predicate)
                weight = readings.marginals[number] * chance[argument]
                if argument == predicate or not weight:
                    continue
                both = self._step("predicate", predicate, 1), self._step("argument", argument, 1)
                if readings.spans[argument] < readings.spans[predicate]:
                    both = both[::-1]
                self.counts[join][both] += weight
                self.tops[join] += weight
                flows[0][predicate] += weight
                flows[1][argument] += weight
        return flows

    def _descend(self, side: str, flow: dict[int, float]) -> None:
        """Follow one way down, level by level."""
        depth = 1
        while flow:
            deeper: dict[int, float] = defaultdict(float)
            for node, weight in weighty(flow, self.ignored * max(flow.values())).items():
                if not self._ends(side, node):
                    step = self._step(side, node, depth)
                    for child, share in self._choices(node).items():
                        child_step = self._step(side, child, depth + 1)
                        self.counts[step][(child_step,)] += weight * share
                        deeper[child] += weight * share
            flow, depth = deeper, depth + 1

    def _ends(self, side: str, node: int) -> bool:
        if side == "predicate":
            return not self.readings.edges_of[node]
        return self.readings.spans[node] == self.span

    def _step(self, side: str, node: int, depth: int) -> _Step:
        label = self.readings.labels[node]
        if not self._ends(side, node):
            return (side, depth, label)
        if side == "argument":
            return ("end of argument", depth, label + ARGUMENT_SUFFIX)
        return ("end of predicate", depth, label if self.lemma is None else self.lemma)

    def _choices(self, node: int) -> dict[int, float]:
        """Return the next nodes on the way down from a node, with their probabilities."""
        readings, chance = self.readings, self.chance
        found: dict[int, float] = defaultdict(float)
        for number in readings.edges_of[node]:
            children = readings.edges[number][1]
            if node not in chance:
                found[readings.child_at(children, self.predicate)] += readings.choices[number]
                continue
            child = next((child for child in children if child in chance), None)
            if child is not None:
                found[child] += readings.choices[number] * chance[child] / chance[node]
        return found


def _around(forest: Forest, first: Span, second: Span) -> Span:
    whole = spans_of(forest)[forest.root]
    return hull(check_range(first, whole), check_range(second, whole))


def _between(
    children: tuple[int, ...], spans: tuple[Span, ...], low: int, high: int
) -> tuple[int, ...]:
    """Return the children over some of the words."""
    kept = tuple([child for child in children if _overlap(spans[child], low, high)])
    if not kept:
        raise StructureError(
            f"a hyper-edge has no child over the words [{low}, {high}), which its head covers",
            hint="the spans of the children must leave no gap in the span of their head",
        )
    return kept


def _overlap(span: Span, low: int, high: int) -> bool:
    return span[0] < high and low < span[1]


def _within(span: Span, low: int, high: int) -> Span:
    """Return what two spans share; for a span outside, one that is lawful."""
    start = min(max(span[0], low), high)
    return start, max(start, min(span[1], high))


def _not_read(span: Span) -> StructureError:
    return StructureError(
        f"no reading has the constituent {span}",
        hint="leave the candidate out, or prune the forest less",
    )
