"""The textbook inside-outside algorithm over dictionaries: what the native chart must agree with.

An item is ``(symbol, start, end, layer)``. Layer 0 comes from a tag or a binary rule, layer ``l``
from layer ``l - 1`` of the same span by a unary rule.
"""

import collections
import dataclasses
import itertools
import math

import numpy as np

from kernelwood import _core


@dataclasses.dataclass
class Grammar:
    """Rules as tuples of symbols and a probability; ``output`` as in the native grammar."""

    binary: list[tuple[int, int, int, float]]
    unary: list[tuple[int, int, float]]
    output: list[int]
    max_unary: int = 2

    def native(self, coarse=None, coarse_of=None, boundaries=None):
        """Return the same grammar in the native core."""
        native = _core.ChartGrammar(
            np.array([rule[:3] for rule in self.binary], np.int32).reshape(-1, 3),
            np.array([rule[3] for rule in self.binary], np.float64),
            np.array([rule[:2] for rule in self.unary], np.int32).reshape(-1, 2),
            np.array([rule[2] for rule in self.unary], np.float64),
            np.array(self.output, np.int32),
            self.max_unary,
            coarse,
            None if coarse_of is None else np.array(coarse_of, np.int32),
        )
        if boundaries is not None:
            native.set_boundaries(boundaries.neighbors, boundaries.before, boundaries.after)
        return native


@dataclasses.dataclass
class Sentence:
    """Probabilities of tags by position, and of roots, by symbol."""

    tags: list[dict[int, float]]
    roots: dict[int, float]

    def native(self):
        """Return the arguments of the native parser that describe the sentence."""
        tags = [(i, tag, p) for i, tags in enumerate(self.tags) for tag, p in tags.items()]
        return (
            len(self.tags),
            np.array([tag[0] for tag in tags], np.int32),
            np.array([tag[1] for tag in tags], np.int32),
            np.array([tag[2] for tag in tags], np.float64),
            np.array(list(self.roots), np.int32),
            np.array(list(self.roots.values()), np.float64),
        )

    def coarse(self, coarse_of):
        """Return the sentence in coarse symbols; the largest probability stands for all."""

        def rename(weights):
            result = {}
            for symbol, p in weights.items():
                name = coarse_of[symbol]
                result[name] = max(p, result.get(name, 0.0))
            return result

        return Sentence([rename(tags) for tags in self.tags], rename(self.roots))


def _spans(n):
    return [
        (start, start + length) for length in range(1, n + 1) for start in range(n + 1 - length)
    ]


class Chart:
    """Inside and outside probabilities of all items that ``allowed(symbol, start, end)`` admits."""

    def __init__(self, grammar, sentence, allowed=lambda symbol, start, end: True):
        self.grammar, self.sentence = grammar, sentence
        self.n = len(sentence.tags)
        self.layers = range(grammar.max_unary + 1)
        self.inside = collections.Counter()
        for start, end in _spans(self.n):
            self._fill(start, end, allowed)
        self.likelihood = math.fsum(p * self.total(s, 0, self.n) for s, p in sentence.roots.items())

    def total(self, symbol, start, end):
        """Return the inside probability of a symbol over a span: the sum of its layers."""
        return sum(self.inside[symbol, start, end, layer] for layer in self.layers)

    def _fill(self, start, end, allowed):
        if end - start == 1:
            for tag, p in self.sentence.tags[start].items():
                self._add(tag, start, end, 0, p, allowed)
        for (head, left, right, p), k in self._splits(start, end):
            inside = p * self.total(left, start, k) * self.total(right, k, end)
            self._add(head, start, end, 0, inside, allowed)
        for layer, (head, child, p) in itertools.product(self.layers[1:], self._unary()):
            inside = p * self.inside[child, start, end, layer - 1]
            self._add(head, start, end, layer, inside, allowed)

    def _add(self, symbol, start, end, layer, inside, allowed):
        if inside > 0 and allowed(symbol, start, end):
            self.inside[symbol, start, end, layer] += inside

    def _splits(self, start, end):
        return itertools.product(self.grammar.binary, range(start + 1, end))

    def _unary(self):
        return [rule for rule in self.grammar.unary if rule[0] != rule[1]]

    def run_outside(self, roots):
        """Compute outside probabilities, with these roots alone."""
        self.outside = collections.Counter()
        for (symbol, p), layer in itertools.product(roots.items(), self.layers):
            self.outside[symbol, 0, self.n, layer] += p
        for start, end in reversed(_spans(self.n)):
            for layer, (head, child, p) in itertools.product(self.layers[:0:-1], self._unary()):
                if self.inside[head, start, end, layer]:
                    self.outside[child, start, end, layer - 1] += (
                        p * self.outside[head, start, end, layer]
                    )
            for (head, left, right, p), k in self._splits(start, end):
                if self.inside[head, start, end, 0]:
                    outside = p * self.outside[head, start, end, 0]
                    before, after = self.total(left, start, k), self.total(right, k, end)
                    for layer in self.layers:
                        self.outside[left, start, k, layer] += outside * after * (before > 0)
                        self.outside[right, k, end, layer] += outside * before * (after > 0)

    def posterior(self, symbol, start, end):
        """Return the expected number of times that a symbol covers a span."""
        items = [(symbol, start, end, layer) for layer in self.layers]
        return sum(self.inside[item] * self.outside[item] for item in items) / self.likelihood

    def expansions(self, item):
        """Yield ``(children, probability)`` of an item until no intermediate symbol is left.

        A child is an item, or a word as its position.
        """
        symbol, start, end, layer = item
        if layer == 0 and end - start == 1:
            yield (start,), self.inside[item]
        for head, child, p in self._unary() if layer > 0 else []:
            if head == symbol:
                for children, inside in self._parts((child, start, end, layer - 1)):
                    yield children, p * inside
        for (head, left, right, p), k in self._splits(start, end) if layer == 0 else []:
            if head != symbol:
                continue
            for first, second in itertools.product(self.layers, self.layers):
                lefts = self._parts((left, start, k, first))
                rights = list(self._parts((right, k, end, second)))
                for (children, inside), (more, rest) in itertools.product(lefts, rights):
                    yield children + more, p * inside * rest

    def _parts(self, item):
        if not self.inside[item]:
            return
        if self.grammar.output[item[0]] >= 0:
            yield (item,), self.inside[item]
        else:
            yield from self.expansions(item)


@dataclasses.dataclass
class Boundaries:
    """Counts of adjacent sides and of sides around symbols; the last index stands for no tag."""

    neighbors: np.ndarray
    before: np.ndarray
    after: np.ndarray

    def next(self, left, right):
        """Return the probability of a side after another."""
        prior = self.neighbors[:, right].sum() / self.neighbors.sum()
        return (self.neighbors[left, right] + prior) / (self.neighbors[left].sum() + 1)

    def begin(self, side, symbol):
        """Return the expected number of constituents that begin after a side."""
        prior = self.after[symbol].sum() / self.neighbors.sum()
        return (self.before[symbol, side] + prior) / (self.neighbors[side].sum() + 1)

    def follow(self, symbol, side):
        """Return the probability of a side after a constituent."""
        prior = self.neighbors[:, side].sum() / self.neighbors.sum()
        return (self.after[symbol, side] + prior) / (self.after[symbol].sum() + 1)

    def chains(self, tags, left):
        """Yield the last side and the probability of every sequence of tags after a side."""
        known = [[tag for tag in here.items() if tag[0] < len(self.neighbors) - 1] for here in tags]
        for sequence in itertools.product(*known):
            p, last = 1.0, left
            for side, weight in sequence:
                p *= self.next(last, side) * weight
                last = side
            yield last, p

    def merit(self, chart, symbol, start, end):
        """Return the merit of an item of a chart, None if the chain has no tags for a word."""
        beyond, tags = len(self.neighbors) - 1, chart.sentence.tags
        whole = sum(p * self.next(last, beyond) for last, p in self.chains(tags, beyond))
        before = sum(p * self.begin(t, symbol) for t, p in self.chains(tags[:start], beyond))
        if end == len(tags):
            after = self.follow(symbol, beyond)
        else:
            after = sum(
                self.follow(symbol, side) * weight * p * self.next(last, beyond)
                for side, weight in tags[end].items()
                if side < beyond
                for last, p in self.chains(tags[end + 1 :], side)
            )
        inside = Chart.total(chart, symbol, start, end)
        return before * inside * after / whole if whole else None


class JudgedChart(Chart):
    """A chart in which items below a merit do not take part in longer ones."""

    def __init__(self, grammar, sentence, boundaries, threshold):
        self.boundaries, self.least = boundaries, math.exp(-threshold)
        self.merits = {}
        super().__init__(grammar, sentence)

    def total(self, symbol, start, end):
        """Return the inside probability of a symbol over a span, 0 if it is judged too low."""
        if end - start < self.n:
            key = symbol, start, end
            if key not in self.merits:
                self.merits[key] = self.boundaries.merit(self, symbol, start, end)
            if self.merits[key] is not None and self.merits[key] < self.least:
                return 0.0
        return super().total(symbol, start, end)


def best_root(grammar, chart):
    """Return the roots that show the likeliest label."""
    by_label = collections.Counter()
    for symbol, p in chart.sentence.roots.items():
        by_label[grammar.output[symbol]] += p * chart.total(symbol, 0, chart.n)
    label = max(sorted(by_label), key=lambda label: by_label[label])
    return {s: p for s, p in chart.sentence.roots.items() if grammar.output[s] == label}


def expected_counts(grammar, chart):
    """Return the expected number of every production ``(label, start, end) -> children``.

    The chart's outside probabilities must be those of the roots that show.
    """
    roots = best_root(grammar, chart)
    chart.run_outside(roots)
    likelihood = sum(p * chart.total(s, 0, chart.n) for s, p in roots.items())

    def shown(child):
        return child if isinstance(child, int) else (grammar.output[child[0]], *child[1:3])

    counts = collections.Counter()
    for item, inside in list(chart.inside.items()):
        if inside > 0 and chart.outside[item] > 0 and grammar.output[item[0]] >= 0:
            for children, probability in chart.expansions(item):
                production = shown(item), tuple(map(shown, children))
                counts[production] += chart.outside[item] * probability / likelihood
    return counts


def coarse_to_fine(grammar, coarse, coarse_of, sentence, threshold, boundaries=None, merit=None):
    """Return the chart that the coarse parse leaves, after up to two retries.

    With boundaries and the threshold of merits, up to three.
    """
    rough = sentence.coarse(coarse_of)
    guides = [(Chart(coarse, rough), (1, 2))]
    if boundaries is not None:
        judged = JudgedChart(coarse, rough, boundaries, merit)
        if any(p for _, p in boundaries.chains(rough.tags, len(boundaries.neighbors) - 1)):
            guides = [(judged, (1, 2)), (guides[0][0], (2,))]
    for guide, factors in guides:
        if guide.likelihood > 0:
            guide.run_outside(guide.sentence.roots)
            for factor in factors:
                least = math.exp(-threshold * factor)

                def allowed(symbol, start, end, guide=guide, least=least):
                    return guide.posterior(coarse_of[symbol], start, end) >= least

                chart = Chart(grammar, sentence, allowed)
                if chart.likelihood > 0:
                    return chart
    return Chart(grammar, sentence)
