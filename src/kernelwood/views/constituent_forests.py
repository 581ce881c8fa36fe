"""Parts of packed forests: the views of `kernelwood.views.constituents` for all trees at once.

Every function applies a view to each tree of the forest, and returns a forest in which the results
have the probabilities of their trees. They are computed from hyper-edges, never by listing trees.
A forest of one tree gives the view of that tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from kernelwood.errors import StructureError
from kernelwood.structures import JOINT, Forest, HyperEdge, carve, probable
from kernelwood.text import Span
from kernelwood.views.constituents import ARGUMENT_SUFFIX, check_predicate, check_range, hull

# Paths are followed down to counts this many times smaller than those of hyper-edges that are
# kept, because many small counts may add up for one label.
_FURTHER = 50

_Step: TypeAlias = tuple[str, int, str]  # side of the path, depth below the join, label
_Key = TypeVar("_Key", bound=Hashable)
_Counts = dict[_Key, dict[tuple[_Key, ...], float]]  # expected counts of hyper-edges, by head


class Readings:
    """A forest with the probabilities of its hyper-edges, computed once.

    Argument views of forests take a forest or its readings. Pass readings if several views are
    made of one forest: the sums over all its trees are then computed once.

    Parameters
    ----------
    forest : Forest
        Forest with spans.

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
        Probability of each hyper-edge in a tree drawn from the forest.
    choices : list of float
        Probability of each hyper-edge, given its head.

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
        self.spans = _spans_of(forest)
        self.edges = [(head, children) for head, children, _ in forest.edges]
        self.order = forest.bottom_up()
        self.root = forest.root
        self.edges_of: list[list[int]] = [[] for _ in forest.labels]
        self.marginals = list(forest.edge_marginals())
        totals = [0.0] * len(forest.labels)
        for number, (head, _) in enumerate(self.edges):
            self.edges_of[head].append(number)
            totals[head] += self.marginals[number]
        # Probabilities below the smallest float are 0.
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
        """Return the topmost nodes of exactly this span, with their probabilities.

        These sum to the probability that the span is a constituent.
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


def minimal_forest(forest: Forest, first: Span, second: Span) -> Forest:
    """Return the smallest constituents that hold two entities.

    The exact distribution of `minimal_complete_tree` over the trees of the forest. If the roots of
    the constituents differ, a node labeled ``*`` joins them, as in all functions of this module.

    Parameters
    ----------
    forest : Forest
        Forest with spans.
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

    The exact distribution of `path_enclosed_tree` over the trees of the forest. Children outside
    are removed from every hyper-edge; hyper-edges that are then equal are merged, and their
    probabilities added. Nodes of one label that covered different words remain distinct, so that
    one tree may have several derivations.

    Parameters
    ----------
    forest : Forest
        Forest with spans; those of the result refer to the same words, clipped to the entities.
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
    spans = _spans_of(part)
    # Probabilities at each head of the part add up to one, so removed children have weight 1.
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

    The distribution of `argument_tree` over the trees of the forest in which the words are a
    constituent; exact if ``negligible`` is 0.

    Parameters
    ----------
    forest : Forest or Readings
        Forest with spans.
    start, end : int
        The words of the argument.
    root : str, optional
        Label of a node above them.
    negligible : float, default 0.0
        Hyper-edges with a smaller expected count are left out, except the best of each head. They
        cost time and hardly change a kernel value; 0.05 is reasonable.

    Raises
    ------
    StructureError
        If the words are not a constituent in any tree.

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
        raise _no_constituent(span)
    counts: _Counts[int] = {}
    flow = defaultdict(float, tops)
    for node in reversed(readings.order):
        if node in flow and readings.edges_of[node]:
            counts[node] = {}
            for number in readings.edges_of[node]:
                children = readings.edges[number][1]
                counts[node][children] = flow[node] * readings.choices[number]
                for child in children:
                    flow[child] += counts[node][children]
    return _pack_counts(
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
    """Return the paths from a predicate to its argument.

    The distribution of `argument_path` over the trees of the forest in which the argument is a
    constituent. Constituents with the same label at the same depth of the same side are one node
    of the view, even with different spans. Hyper-edges keep their expected counts in the forest,
    but each label depends only on the label above it. If it depends on more (a label further up,
    the other side of the path), the probability of a whole path is approximate.

    Parameters
    ----------
    forest : Forest or Readings
        Forest with spans.
    predicate : int
        Position of the predicate; outside the argument.
    start, end : int
        The words of the argument.
    lemma : str, optional
        Label of the predicate; default: its word.
    root : str, optional
        Label of a node above the paths.
    facts : iterable of (kind, value)
        Further information, added as nodes ``(kind value)`` left of the path, below the root.
    negligible : float, default 0.0
        Hyper-edges with a smaller expected count are left out, except the best of each head; 0.05
        is reasonable.

    Raises
    ------
    StructureError
        If the argument is not a constituent in any tree, or contains the predicate.

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
        raise _no_constituent(span)
    return _pack_counts(
        paths.tops,
        paths.counts,
        lambda step: step[2],
        root=root,
        facts=facts,
        negligible=negligible,
        fallback=readings.forest.fallback,
    )


class _Paths:
    """Expected counts of the hyper-edges of paths, given that the argument is a constituent."""

    def __init__(
        self, readings: Readings, predicate: int, span: Span, lemma: str | None, ignored: float
    ) -> None:
        self.readings, self.predicate, self.span, self.lemma = readings, predicate, span, lemma
        self.ignored = ignored
        self.tops: dict[_Step, float] = defaultdict(float)
        self.counts: _Counts[_Step] = defaultdict(lambda: defaultdict(float))
        self.chance = self._chances()
        to_predicate, to_argument = self._part()
        self._descend("predicate", to_predicate)
        self._descend("argument", to_argument)

    def _chances(self) -> dict[int, float]:
        """Return the probability of the argument below each node around it, given the node."""
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
        """Count the hyper-edges where the paths meet; return the weights of their next nodes."""
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
        """Count the hyper-edges of one side, level by level."""
        depth = 1
        while flow:
            deeper: dict[int, float] = defaultdict(float)
            for node, weight in _above(flow, self.ignored * max(flow.values())).items():
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
        """Return the next nodes on the path below a node, with their probabilities."""
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
    whole = _spans_of(forest)[forest.root]
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
    """Return the intersection of two spans; for a span outside, an empty one at the border."""
    start = min(max(span[0], low), high)
    return start, max(start, min(span[1], high))


def _no_constituent(span: Span) -> StructureError:
    return StructureError(
        f"no tree of the forest has the constituent {span}",
        hint="leave the candidate out, or prune the forest less",
    )


def _spans_of(forest: Forest) -> tuple[Span, ...]:
    """Return the spans of a forest; raise if it has none."""
    if forest.spans is None:
        raise StructureError(
            f"{forest!r} has no spans, which its views need",
            hint="make it with spans=, one (start, end) pair per node",
        )
    return forest.spans


def _pack_counts(
    tops: Mapping[_Key, float],
    counts: _Counts[_Key],
    label: Callable[[_Key], str],
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
        Probability of each node to be the root.
    counts : mapping of node to mapping of children to float
        The hyper-edges of each head with their expected counts.
    label : callable
        From a node to its label.
    root : str, optional
        Label of a node above the tops; default: ``*`` if there are several tops or facts, else no
        such node.
    facts : iterable of (kind, value)
        Preterminals to the left of every top, below the root.
    negligible : float, default 0.0
        Hyper-edges with a smaller fraction of the total are left out, except the best of each head.
    fallback : bool, default False
        Passed on to the forest.
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
    numbers: dict[_Key, int] = {}
    waiting: list[_Key] = []

    def number(node: _Key) -> int:
        if node not in numbers:
            numbers[node] = len(names)
            names.append(label(node))
            waiting.append(node)
        return numbers[node]

    for top, share in best.items():
        place = number(top)
        if joint:
            edges.append((0, (*beside, place), share))
    while waiting:
        head = waiting.pop()
        for children, share in _shares(counts.get(head, {}), floor).items():
            edges.append((numbers[head], tuple(map(number, children)), share))
    return Forest(names, edges, 0, fallback=fallback)


def _above(weights: Mapping[_Key, float], floor: float) -> dict[_Key, float]:
    """Return the alternatives with at least a minimum weight, and always the best one."""
    floor = min(floor, max(weights.values(), default=0.0))
    return {key: weight for key, weight in weights.items() if weight >= floor and weight}


def _shares(weights: Mapping[_Key, float], floor: float) -> dict[_Key, float]:
    """Return the alternatives above a floor as probabilities."""
    # Alternatives are equally likely if all counts are below the smallest float.
    kept = _above(weights, floor) or dict.fromkeys(weights, 1.0)
    total = sum(kept.values())
    return {key: probable(weight / total) for key, weight in kept.items()}
