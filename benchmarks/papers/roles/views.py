"""What the kernel sees of a candidate: its inside, and its path to the predicate.

Both views are forests again: the distribution of a structure over the readings in which the
candidate is a constituent. They are computed from the probabilities of hyper-edges, never by
listing trees; from a single tree they come out as forests of one tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import TypeVar

from roles.readings import Readings, Span

import kernelwood as kw

__all__ = ["argument_view", "path_view"]

ARGUMENT_ROOT = "*ARGUMENT*"
PATH_ROOT = "*PATH*"

# A hyper-edge expected less often than this is left out unless it is the best of its head: it
# costs time and hardly changes a kernel value. Many such may lead to one label, so the ways that
# are followed go further down.
NEGLIGIBLE = 0.05
NOT_FOLLOWED = 1e-3

Key = TypeVar("Key", bound=Hashable)
Step = tuple[str, int, str]  # side of the path, depth below the join, label
Counts = dict[Key, dict[tuple[Key, ...], float]]  # expected counts of hyper-edges, by head


def argument_view(readings: Readings, span: Span) -> kw.Forest:
    """Return the sub-forests of the topmost nodes of a span under one common root.

    Raises
    ------
    ValueError
        If no reading has the span as a constituent.
    """
    tops = readings.topmost(span)
    if not tops:
        raise ValueError(f"no reading has the constituent {span}")

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
    return _pack(ARGUMENT_ROOT, (), tops, counts, lambda node: readings.labels[node])


def path_view(
    readings: Readings, predicate: int, span: Span, *, lemma: str, context: tuple[str, ...] = ()
) -> kw.Forest:
    """Return the way from the predicate to a candidate, over all readings that have it.

    The smallest constituent that holds both, and below it only what contains the predicate or
    the candidate. The candidate is cut off and marked (``NP-ARG``), the predicate ends in its
    lemma.

    Where words begin and end does not show in a path, so constituents of one label at one depth
    of one side are one node of the view, whatever their spans. Its hyper-edges have the expected
    counts they have in the readings; the choices of label on the way down are independent of each
    other but for the label above.

    Parameters
    ----------
    readings : Readings
        The sentence.
    predicate : int
        Position of the predicate; outside the candidate.
    span : (int, int)
        The candidate.
    lemma : str
        What to write below the predicate's part of speech.
    context : tuple of str
        Facts about the predicate, ``kind=value``: preterminals under the root of the view.
    """
    paths = _Paths(readings, predicate, span, lemma)
    if not paths.tops:
        raise ValueError(f"no reading has the constituent {span} beside word {predicate}")
    return _pack(PATH_ROOT, context, paths.tops, paths.counts, lambda step: step[2])


class _Paths:
    """Expected counts of the hyper-edges of paths, given that the candidate is there."""

    def __init__(self, readings: Readings, predicate: int, span: Span, lemma: str) -> None:
        self.readings, self.predicate, self.span, self.lemma = readings, predicate, span, lemma
        self.tops: dict[Step, float] = defaultdict(float)
        self.counts: Counts[Step] = defaultdict(lambda: defaultdict(float))
        self.chance = self._chances()
        to_predicate, to_candidate = self._part()
        self._descend("predicate", to_predicate)
        self._descend("candidate", to_candidate)

    def _chances(self) -> dict[int, float]:
        """Return how probable the candidate is below each node around it, given the node."""
        readings, (start, end) = self.readings, self.span
        chance: dict[int, float] = {}
        for node in readings.order:
            left, right = readings.spans[node]
            if left > start or right < end or not readings.edges_of[node]:
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
                candidate = next((child for child in children if child in chance), None)
                predicate = readings.child_at(children, self.predicate)
                if candidate is None or candidate == predicate:
                    continue
                weight = readings.marginals[number] * chance[candidate]
                both = self._step("predicate", predicate, 1), self._step("candidate", candidate, 1)
                if readings.spans[candidate] < readings.spans[predicate]:
                    both = both[::-1]
                self.counts[join][both] += weight
                self.tops[join] += weight
                flows[0][predicate] += weight
                flows[1][candidate] += weight
        return flows

    def _descend(self, side: str, flow: dict[int, float]) -> None:
        """Follow one way down, level by level."""
        depth = 1
        while flow:
            deeper: dict[int, float] = defaultdict(float)
            for node, weight in _weighty(flow, NOT_FOLLOWED * max(flow.values())).items():
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

    def _step(self, side: str, node: int, depth: int) -> Step:
        if not self._ends(side, node):
            return (side, depth, self.readings.labels[node])
        label = self.lemma if side == "predicate" else f"{self.readings.labels[node]}-ARG"
        return (f"end of {side}", depth, label)

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


def _pack(
    root: str,
    context: tuple[str, ...],
    tops: dict[Key, float],
    counts: Counts[Key],
    label: Callable[[Key], str],
) -> kw.Forest:
    """Put a root above the tops, facts beside them, and make probabilities of the counts."""
    names, edges, facts = [root], list[tuple[int, tuple[int, ...], float]](), list[int]()
    for fact in context:
        kind, _, value = fact.partition("=")
        facts.append(len(names))
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

    floor = NEGLIGIBLE * sum(tops.values())
    for top, share in _shares(tops, floor).items():
        edges.append((0, (*facts, number(top)), share))
    while todo:
        head = todo.pop()
        for children, share in _shares(counts.get(head, {}), floor).items():
            edges.append((numbers[head], tuple(map(number, children)), share))
    return kw.Forest(names, edges, 0)


def _shares(weights: dict[Key, float], floor: float) -> dict[Key, float]:
    """Return the alternatives that count as probabilities."""
    kept = _weighty(weights, floor)
    total = sum(kept.values())
    return {key: min(1.0, weight / total) for key, weight in kept.items()}


def _weighty(weights: dict[Key, float], floor: float) -> dict[Key, float]:
    """Return the alternatives that reach a floor, and the best one in any case."""
    if len(weights) < 2:
        return weights
    floor = min(floor, max(weights.values()))
    return {key: weight for key, weight in weights.items() if weight >= floor}
