"""Algorithms on packed forests: sums over all trees, pruning, single trees, k best, subforests.

Probabilities of whole sentences leave the range of a float, in both directions if the
probabilities at a head do not add up to one. So sums are kept as ``mantissa * 2**exponent`` with
an integer exponent: nothing underflows, and short forests lose no digits to logarithms.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence as Listing
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures.structure_base import check_integer, shorten, show
from kernelwood.structures.tree import Tree, make_node

if TYPE_CHECKING:
    from kernelwood.structures.forest import Forest, HyperEdge, RandomSource, Span

# A number m * 2**e as (e, m) with 0.5 <= m < 1, so that tuples compare like the numbers.
Scaled: TypeAlias = tuple[int, float]

ONE: Scaled = (1, 0.5)
_ZERO: Scaled = (0, 0.0)

# Label of a node that joins several roots.
JOINT = "*"

# Tolerance for costs that differ only by the order of their additions.
_ROUNDING = 1e-9

# Limits: digits of the number of trees in binary, and nodes of a sampled tree, which exceed
# memory if one tree uses a node twice, and that node another one twice, and so on.
_MOST_BITS = 1_000_000
_MOST_NODES = 1_000_000


def scaled_product(factor: float, others: Iterable[Scaled]) -> Scaled:
    """Return ``factor`` times the product of ``others``.

    Examples
    --------
    >>> scaled_product(0.5, [(-5000, 0.75), (-5000, 0.75)])
    (-10001, 0.5625)
    """
    mantissa, exponent = math.frexp(factor)
    for power, part in others:
        mantissa *= part
        exponent += power
        if mantissa < 1e-200:
            mantissa, shift = math.frexp(mantissa)
            exponent += shift
    return _scaled(mantissa, exponent)


def times(left: Scaled, right: Scaled) -> Scaled:
    """Return the product of two scaled numbers."""
    return _scaled(left[1] * right[1], left[0] + right[0])


def divide(left: Scaled, right: Scaled) -> Scaled:
    """Return the quotient; zero divided by any number is zero.

    Examples
    --------
    >>> divide((-5000, 0.5), (-5000, 0.5)) == ONE
    True
    """
    return _scaled(left[1] / right[1], left[0] - right[0]) if left[1] else _ZERO


def total(values: list[Scaled]) -> Scaled:
    """Return the sum of scaled numbers.

    Examples
    --------
    >>> total([(-5000, 0.5), (-5000, 0.75)])
    (-4999, 0.625)
    """
    if len(values) == 1:
        return values[0]
    # Zero has no exponent of its own; it must not set the scale.
    top = max([exponent for exponent, mantissa in values if mantissa], default=0)
    return _scaled(math.fsum([math.ldexp(m, e - top) for e, m in values if m]), top)


def shares(values: Iterable[Scaled]) -> list[float]:
    """Return each value as a fraction of their total."""
    listed = list(values)
    whole = total(listed)
    return [to_float(divide(value, whole)) for value in listed]


def to_float(value: Scaled) -> float:
    """Return the number as a float, 0.0 or infinity if it is outside the range.

    Examples
    --------
    >>> to_float((-2, 0.5)), to_float((-5000, 0.5)), to_float((5000, 0.5))
    (0.125, 0.0, inf)
    """
    exponent, mantissa = value
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.inf


def _scaled(mantissa: float, exponent: int) -> Scaled:
    if not mantissa:
        return _ZERO
    mantissa, shift = math.frexp(mantissa)
    return exponent + shift, mantissa


def _log(value: Scaled) -> float:
    exponent, mantissa = value
    try:
        # Exact for 1.0; the sum of two terms would be a rounding error.
        return math.log(mantissa) + exponent * math.log(2.0) if value != ONE else 0.0
    except OverflowError:
        return math.inf if exponent > 0 else -math.inf


def as_floats(values: Iterable[Scaled], log: bool = False) -> tuple[float, ...]:
    """Return the numbers, or their natural logarithms, as floats."""
    return tuple([_log(value) if log else to_float(value) for value in values])


def scaled_inside(
    forest: Forest, without: Collection[int] = frozenset()
) -> tuple[list[Scaled], list[Scaled]]:
    """Return the inside sums of nodes, and the contribution of each hyper-edge to its head.

    No tree may use the hyper-edges in ``without``; a node that needs them has the sum zero.
    """
    return _bottom_up(forest, total, without)


def best_scores(forest: Forest) -> tuple[list[Scaled], list[Scaled]]:
    """Return the score of the best tree below each node, and below each hyper-edge."""
    return _bottom_up(forest, max, frozenset())


def _bottom_up(
    forest: Forest, join: Callable[[list[Scaled]], Scaled], without: Collection[int]
) -> tuple[list[Scaled], list[Scaled]]:
    nodes = [ONE] * forest.n_nodes
    edges = [_ZERO] * forest.n_edges
    for node in forest._order:
        heading = forest._by_head[node]
        for position in heading:
            if position not in without:
                _, children, probability = forest.edges[position]
                edges[position] = scaled_product(probability, [nodes[c] for c in children])
        if heading:
            nodes[node] = join([edges[position] for position in heading])
    return nodes, edges


def scaled_marginals(
    forest: Forest, nodes: list[Scaled], edges: list[Scaled]
) -> tuple[list[Scaled], list[Scaled]]:
    """Return expected counts of nodes and hyper-edges from the sums of `scaled_inside`."""
    parts: list[list[Scaled]] = [[] for _ in range(forest.n_nodes)]
    parts[forest.root].append(ONE)
    node_counts = [_ZERO] * forest.n_nodes
    edge_counts = [_ZERO] * forest.n_edges
    for node in reversed(forest._order):
        node_counts[node] = total(parts[node])
        parts[node] = []
        for position in forest._by_head[node]:
            share = divide(edges[position], nodes[node])
            count = times(node_counts[node], share)
            edge_counts[position] = count
            for child in forest.edges[position][1]:
                parts[child].append(count)
    return node_counts, edge_counts


def count_trees(forest: Forest) -> int:
    """Return the exact number of trees."""
    uses = [0] * forest.n_nodes
    for _, children, _ in forest.edges:
        for child in children:
            uses[child] += 1
    counts: dict[int, int] = {}
    for node in forest._order:
        heading = forest._by_head[node]
        count = 0 if heading else 1
        for position in heading:
            product = 1
            for child in forest.edges[position][1]:
                product *= counts[child]
                if product.bit_length() > _MOST_BITS:
                    raise StructureError(
                        f"{forest!r} has too many trees to count",
                        hint="prune() it, or check why one tree uses the same node so often",
                    )
                uses[child] -= 1
                if not uses[child]:
                    del counts[child]  # may have thousands of digits
            count += product
        counts[node] = count
    return counts[forest.root]


def prune(forest: Forest, threshold: float) -> Forest:
    """Return the forest without hyper-edges far from the best tree; see `Forest.prune`."""
    if not isinstance(threshold, Real) or not threshold >= 0.0:
        raise StructureError(
            f"threshold must be a number of at least 0, got {show(threshold)}",
            hint="a difference of negative log probabilities, such as 8.0",
        )
    limit = threshold + _ROUNDING
    losses = _losses(forest)
    kept = [edge for edge, loss in zip(forest.edges, losses, strict=True) if loss <= limit]
    if len(kept) == forest.n_edges:
        return forest
    return carve(forest.labels, kept, forest.root, forest.spans, fallback=forest.fallback)


def _losses(forest: Forest) -> list[float]:
    """Return, per hyper-edge, the cost of the best tree with it minus that of the best tree.

    Added up from the root down, choice by choice, so that the best tree loses exactly 0.
    """
    best, scores = best_scores(forest)
    node_losses = [math.inf] * forest.n_nodes
    node_losses[forest.root] = 0.0
    edge_losses = [math.inf] * forest.n_edges
    for node in reversed(forest._order):
        for position in forest._by_head[node]:
            loss = node_losses[node] - _log(divide(scores[position], best[node]))
            edge_losses[position] = loss
            for child in forest.edges[position][1]:
                if loss < node_losses[child]:
                    node_losses[child] = loss
    return edge_losses


def carve(
    labels: Listing[str],
    edges: Listing[HyperEdge],
    root: int,
    spans: Listing[Span] | None,
    *,
    fallback: bool,
) -> Forest:
    """Return the forest of the nodes below ``root``, renumbered; parameters as of `Forest`.

    Examples
    --------
    >>> carve(["S", "x", "y"], [(0, (2,), 0.25), (1, (2,), 0.5)], 0, None, fallback=False).labels
    ('S', 'y')
    """
    from kernelwood.structures.forest import Forest  # which imports this module

    heading: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for head, children, _ in edges:
        heading[head].append(children)
    found = {root}
    waiting = [root]
    while waiting:
        for children in heading.get(waiting.pop(), ()):
            new = set(children) - found
            found |= new
            waiting += new
    nodes = sorted(found)
    number = {node: place for place, node in enumerate(nodes)}
    return Forest(
        [labels[node] for node in nodes],
        [(number[h], [number[c] for c in cs], p) for h, cs, p in edges if h in found],
        number[root],
        None if spans is None else [spans[node] for node in nodes],
        fallback=fallback,
    )


def probable(number: float) -> float:
    """Return ``number`` clipped to valid probabilities: above 0, at most 1.

    Examples
    --------
    >>> probable(1.0000000000000002), probable(0.0)
    (1.0, 5e-324)
    """
    return min(1.0, max(math.ulp(0.0), number))


def best_tree(forest: Forest) -> Tree:
    """Return the most probable tree; ties go to the earlier hyper-edges."""
    scores = best_scores(forest)[1]
    chosen: dict[int, tuple[int, ...]] = {}
    used = {forest.root}
    for node in reversed(forest._order):
        if node in used:
            heading = forest._by_head[node]
            best = max(heading, key=lambda position: (scores[position], -position), default=None)
            chosen[node] = () if best is None else forest.edges[best][1]
            used.update(chosen[node])
    trees: dict[int, Tree] = {}
    for node in reversed(chosen):
        below = tuple([trees[child] for child in chosen[node]])
        trees[node] = make_node(forest.labels[node], below, "")
    return trees[forest.root]


def sample_tree(forest: Forest, rng: RandomSource) -> Tree:
    """Return a random tree; see `Forest.sample`."""
    if not callable(getattr(rng, "random", None)):
        raise StructureError(
            f"rng must draw numbers with random(), got {shorten(repr(rng))} "
            f"of type {type(rng).__name__}",
            hint="pass random.Random(seed) or numpy.random.default_rng(seed)",
        )
    scores = scaled_inside(forest)[1]
    parts: dict[int, list[float]] = {}
    settled = _settled_trees(forest)
    drawn: list[tuple[int, int]] = []
    waiting = [forest.root]
    while waiting:
        node = waiting.pop()
        if node in settled:
            drawn.append((node, 0))
            continue
        heading = forest._by_head[node]
        if node not in parts:
            parts[node] = shares([scores[position] for position in heading])
        children = forest.edges[heading[_draw(parts[node], rng)]][1]
        drawn.append((node, len(children)))
        waiting += children
        if len(drawn) > _MOST_NODES:
            raise StructureError(
                f"a tree of {forest!r} has more than {_MOST_NODES:,} nodes, too many to draw",
                hint="check why one tree uses the same node so often",
            )
    ready: list[Tree] = []
    for node, n_children in reversed(drawn):  # reverse post-order, read backwards
        if n_children:
            below = tuple(ready[-n_children:])
            del ready[-n_children:]
            ready.append(make_node(forest.labels[node], below, ""))
        else:
            ready.append(settled[node])
    return ready.pop()


def _draw(parts: list[float], rng: RandomSource) -> int:
    rest = rng.random()
    for choice, part in enumerate(parts):
        rest -= part
        if rest < 0.0:
            return choice
    # The parts may add up to a rounding error below 1.
    return max(range(len(parts)), key=parts.__getitem__)


def _settled_trees(forest: Forest) -> dict[int, Tree]:
    """Return the trees of the nodes without alternatives below."""
    trees: dict[int, Tree] = {}
    for node in forest._order:
        heading = forest._by_head[node]
        children = forest.edges[heading[0]][1] if heading else ()
        if len(heading) < 2 and all(child in trees for child in children):
            below = tuple([trees[child] for child in children])
            trees[node] = make_node(forest.labels[node], below, "")
    return trees


def k_best(forest: Forest, k: int) -> list[tuple[Tree, float]]:
    """Return the ``k`` most probable trees; see `Forest.k_best`."""
    wanted = check_integer(k, "k")
    if wanted < 1:
        raise StructureError(f"k must be at least 1, got {show(k)}")
    search = _Search(forest)
    search.advance(forest.root, wanted - 1)
    whole = scaled_inside(forest)[0][forest.root]
    return [
        (found.tree, min(1.0, to_float(divide(found.score, whole))))
        for found in search.found[forest.root][:wanted]
    ]


class _Candidate(NamedTuple):
    """A hyper-edge with one tree per child, as an entry of a heap."""

    order: tuple[int, float]  # the negative score: the best comes first
    edge: int
    ranks: tuple[int, ...]
    last: int  # place of the last child that is not at its best tree, 0 if all are


class _Found(NamedTuple):
    score: Scaled
    tree: Tree


class _Search:
    """Algorithm 3 of Huang and Chiang (2005), with a stack of tasks instead of recursion.

    Each node has the trees found so far, best first, and a heap of candidates for the next. The
    successors of the last candidate taken enter the heap only when one more tree is requested:
    each needs one more tree of a child, and so on down.

    Nodes may have equal labels, so different candidates may give the same tree. Later ones are
    dropped where they arise: trees built on them equal those built on the first, and score less.
    """

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.found: list[list[_Found]] = [[] for _ in range(forest.n_nodes)]
        self._heaps: list[list[_Candidate]] = [[] for _ in range(forest.n_nodes)]
        self._taken: list[_Candidate | None] = [None] * forest.n_nodes
        self._listed: set[tuple[int, int]] = set()
        # One object per tree: equal trees are found by the identity of their children.
        self._trees: dict[tuple[str, tuple[int, ...]], Tree] = {}
        for node in forest._order:
            heading = forest._by_head[node]
            if not heading:
                word = self._tree(forest.labels[node], ())
                self.found[node].append(_Found(scaled_product(1.0, ()), word))
                continue
            firsts = [(position, (0,) * len(forest.edges[position][1])) for position in heading]
            self._heaps[node] = [self._candidate(*first) for first in firsts]
            heapq.heapify(self._heaps[node])
            self._take(node)

    def advance(self, node: int, rank: int) -> None:
        """Find trees of ``node`` up to ``rank``, or until there are no more."""
        waiting = [(node, rank)]
        while waiting:
            node, rank = waiting[-1]
            if len(self.found[node]) > rank or self._exhausted(node):
                waiting.pop()
                continue
            missing = self._missing(node)
            if missing:
                waiting += missing
            else:
                self._follow(node)
                self._take(node)

    def _exhausted(self, node: int) -> bool:
        return not self._heaps[node] and self._taken[node] is None

    def _missing(self, node: int) -> list[tuple[int, int]]:
        """Return the trees of children that successors of the last candidate need."""
        taken = self._taken[node]
        if taken is None:
            return []
        return [
            (child, rank)
            for _, child, rank in self._steps(taken)
            if len(self.found[child]) <= rank and not self._exhausted(child)
        ]

    def _steps(self, taken: _Candidate) -> list[tuple[int, int, int]]:
        """Return (place, child, next rank) for the children that may advance to their next tree.

        Only children from the last advanced one on, so that every combination of ranks has
        exactly one predecessor.
        """
        children = self.forest.edges[taken.edge][1]
        return [
            (place, children[place], taken.ranks[place] + 1)
            for place in range(taken.last, len(children))
        ]

    def _follow(self, node: int) -> None:
        """Push the successors of the last candidate on the heap."""
        taken = self._taken[node]
        self._taken[node] = None
        if taken is None:
            return
        for place, child, rank in self._steps(taken):
            if len(self.found[child]) > rank:
                ranks = (*taken.ranks[:place], rank, *taken.ranks[place + 1 :])
                heapq.heappush(self._heaps[node], self._candidate(taken.edge, ranks, place))

    def _take(self, node: int) -> None:
        """Move the best candidate from the heap to the trees found, unless it is a repetition."""
        if not self._heaps[node]:
            return
        taken = heapq.heappop(self._heaps[node])
        self._taken[node] = taken
        below = [found.tree for found in self._below(taken.edge, taken.ranks)]
        tree = self._tree(self.forest.labels[node], tuple(below))
        if (node, id(tree)) not in self._listed:
            self._listed.add((node, id(tree)))
            exponent, mantissa = taken.order
            self.found[node].append(_Found((-exponent, -mantissa), tree))

    def _candidate(self, edge: int, ranks: tuple[int, ...], last: int = 0) -> _Candidate:
        scores = [found.score for found in self._below(edge, ranks)]
        exponent, mantissa = scaled_product(self.forest.edges[edge][2], scores)
        return _Candidate((-exponent, -mantissa), edge, ranks, last)

    def _below(self, edge: int, ranks: tuple[int, ...]) -> list[_Found]:
        children = self.forest.edges[edge][1]
        return [self.found[child][rank] for child, rank in zip(children, ranks, strict=True)]

    def _tree(self, label: str, children: tuple[Tree, ...]) -> Tree:
        key = (label, tuple([id(child) for child in children]))
        tree = self._trees.get(key)
        if tree is None:
            tree = self._trees[key] = make_node(label, children, "")
        return tree


def subforest(forest: Forest, start: int, end: int) -> Forest:
    """Return the forest of the smallest constituents over some words; see `Forest.subforest`."""
    spans, wanted = _check_range(forest, start, end)
    covers = [span[0] <= wanted[0] and wanted[1] <= span[1] for span in spans]
    nodes, edges = scaled_inside(forest)
    # Only trees that stop at the span of the head, without a smaller covering node.
    final_nodes, final_edges = scaled_inside(forest, _narrowing(forest, spans, covers))
    weights = {
        node: times(count, divide(final_nodes[node], nodes[node]))
        for node, count in _entries(forest, spans, covers, nodes, edges).items()
        if final_nodes[node][1]
    }
    kept = [
        (head, children, probable(to_float(divide(final_edges[position], final_nodes[head]))))
        for position, (head, children, _) in enumerate(forest.edges)
        if final_edges[position][1]
    ]
    if len(weights) == 1:
        root = next(iter(weights))
        return carve(forest.labels, kept, root, spans, fallback=forest.fallback)
    return _join(forest, spans, kept, weights)


def _check_range(forest: Forest, start: object, end: object) -> tuple[tuple[Span, ...], Span]:
    if forest.spans is None:
        raise StructureError(
            f"{forest!r} has no spans, which subforest() needs",
            hint="make it with spans=, one (start, end) pair per node",
        )
    first = check_integer(start, "start")
    last = check_integer(end, "end")
    low, high = forest.spans[forest.root]
    if not low <= first < last <= high:
        raise StructureError(
            f"the forest covers the words [{low}, {high}), not [{show(first)}, {show(last)})",
            hint=f"{low} <= start < end <= {high} must hold; end is the position after the words",
        )
    return forest.spans, (first, last)


def _narrowing(forest: Forest, spans: tuple[Span, ...], covers: list[bool]) -> set[int]:
    """Return the hyper-edges with a child that covers the words by a smaller span."""
    return {
        position
        for position, (head, children, _) in enumerate(forest.edges)
        if covers[head] and any(covers[child] and spans[child] != spans[head] for child in children)
    }


def _entries(
    forest: Forest,
    spans: tuple[Span, ...],
    covers: list[bool],
    nodes: list[Scaled],
    edges: list[Scaled],
) -> dict[int, Scaled]:
    """Return the probability of each covering node to be the topmost one of its span."""
    _, counts = scaled_marginals(forest, nodes, edges)
    parts: dict[int, list[Scaled]] = {forest.root: [ONE]}
    for position, (head, children, _) in enumerate(forest.edges):
        for child in children:
            if covers[child] and spans[child] != spans[head]:
                parts.setdefault(child, []).append(counts[position])
    return {node: total(listed) for node, listed in sorted(parts.items())}


def _join(
    forest: Forest,
    spans: tuple[Span, ...],
    edges: list[HyperEdge],
    weights: dict[int, Scaled],
) -> Forest:
    """Return a forest with a new root over several constituents."""
    root = forest.n_nodes
    around = (min(spans[node][0] for node in weights), max(spans[node][1] for node in weights))
    tops = [
        (root, (node,), probable(share))
        for node, share in zip(weights, shares(weights.values()), strict=True)
    ]
    return carve(
        (*forest.labels, JOINT), [*edges, *tops], root, (*spans, around), fallback=forest.fallback
    )
