"""Kernel values in exact arithmetic, by dynamic programming over distinct subtrees.

The kernels' own ``reference`` enumerates subsequences, which hundreds of children forbid. These
run on any number type: give ``Fraction`` or ``int`` parameters and nothing is ever rounded.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np

from kernelwood.kernels import (
    AllPathsGraphKernel,
    ForestKernel,
    PartialTreeKernel,
    RootedTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    SubtreeKernel,
    WeisfeilerLehmanKernel,
)
from kernelwood.similarity import Similarity


class _Remembered(Similarity):
    """A similarity that computes the value of two labels by its formula, once."""

    def __init__(self, similarity):
        self.similarity, self._known = similarity, {}

    def value(self, a, b):
        if (a, b) not in self._known:
            self._known[a, b] = self.similarity.value(a, b)
        return self._known[a, b]


def reference_matrix(kernel, X, Y, *, normalize=None):
    """Return what ``kernel.cross`` should, by calling ``reference`` on every pair."""
    if kernel.similarity is not None:
        kernel = kernel.clone().set_params(similarity=_Remembered(kernel.similarity))
    raw = np.array([[kernel.reference(a, b) for b in Y] for a in X], dtype=float)
    if not (kernel.normalize if normalize is None else normalize):
        return raw.reshape(len(X), len(Y))
    own_x = [kernel.reference(a, a) for a in X]
    own_y = [kernel.reference(b, b) for b in Y]
    scale = np.sqrt(np.outer(own_x, own_y))
    return np.where(scale > 0, raw / np.where(scale > 0, scale, 1), 0)


def exact_cosine(value, own_a, own_b):
    """Return value / sqrt(own_a * own_b) of exact numbers of any size, correctly to a few bits."""
    square = Fraction(value) ** 2 / (Fraction(own_a) * Fraction(own_b))
    if square == 0:
        return 0.0
    shift = (square.denominator.bit_length() - square.numerator.bit_length()) // 2
    return math.ldexp(math.sqrt(square * Fraction(4) ** shift), -shift)


def exact_normalized(kernel, a, b, **numbers):
    """Return the normalized value of two structures."""
    return exact_cosine(
        *(exact_value(kernel, *pair, **numbers) for pair in ((a, b), (a, a), (b, b)))
    )


def exact_value(kernel, a, b, **numbers):
    """Return the raw value, with parameters replaced by ``numbers`` (say ``decay=Fraction(1, 2)``).

    If those are exact, all others are taken exactly too.
    """
    parameters = {**kernel.get_params(deep=False), **numbers}
    if numbers:
        parameters = {
            name: Fraction(value) if isinstance(value, float) else value
            for name, value in parameters.items()
        }
    if isinstance(kernel, ForestKernel):
        return _forests(a, b, parameters)
    if isinstance(kernel, AllPathsGraphKernel):
        left, right = (_paths(kernel, graph) for graph in (a, b))
        return sum(weight * right[pair] for pair, weight in left.items())
    if isinstance(kernel, WeisfeilerLehmanKernel):
        return kernel.reference(a, b)
    matching = _Matching(kernel, exact=bool(numbers))
    if isinstance(kernel, SubsequenceKernel):
        return _subsequences(a.elements, b.elements, matching, parameters)
    left, right = (sorted(Counter(t.preorder()).items(), key=_size) for t in (a, b))
    rule, counts = _RULES[type(kernel)], _COUNTS.get(type(kernel), _delta)
    delta = {}
    total = 0
    for u, n_u in left:
        for v, n_v in right:
            if matching.similarity(_name(u), _name(v)):
                delta[u, v] = rule(u, v, delta, matching, parameters)
                total += n_u * n_v * counts(u, v, delta[u, v], matching, parameters)
    return delta.get((a, b), 0) if isinstance(kernel, RootedTreeKernel) else total


def _paths(kernel, graph):
    """Return the weights of label pairs: all paths by the inverse of a matrix, or the best ones."""
    place = {node: number for number, node in enumerate(graph.nodes)}
    gates = np.array([kernel._gate(label) for label in graph.nodes.values()])
    matrix = np.zeros((len(place), len(place)))
    best = kernel.variant == "max"
    for source, label, target in graph.edges:
        at, weight = (place[source], place[target]), kernel._edge_weight_of(label)
        matrix[at] = max(matrix[at], weight) if best else matrix[at] + weight
    matrix *= (gates > 0)[:, None] * gates
    if best:
        for k in range(len(place)):
            matrix = np.maximum(matrix, np.outer(matrix[:, k], matrix[k]))
    else:
        matrix = matrix @ np.linalg.inv(np.eye(len(place)) - matrix)
    found = Counter()
    for source, i in place.items():
        for target, j in place.items():
            found[graph.nodes[source], graph.nodes[target]] += gates[i] * matrix[i, j]
    return found


class _Matching:
    """How elements and nodes match, each given as (edge, label)."""

    def __init__(self, kernel, exact):
        self._kernel, self._number, self._known = kernel, Fraction if exact else float, {}
        self._gates = {k: self._number(gate) for k, gate in (kernel.gates or {}).items()}

    def similarity(self, x, y):
        if x[0] != y[0]:
            return 0
        if self._kernel.similarity is None:
            return int(x == y)
        labels = x[1], y[1]
        if labels not in self._known:
            self._known[labels] = self._number(self._kernel.similarity.value(*labels))
        return self._known[labels]

    def match(self, x, y):
        similarity = self.similarity(x, y)
        return similarity * self._gate(x) * self._gate(y) if similarity else 0

    def _gate(self, x):
        return self._gates.get(x[0] if self._kernel.gate_on == "edge" else x[1], 1)


def _name(node):
    return node.edge, node.label


def _size(item):
    return item[0].n_nodes


def _subsequences(a, b, matching, p):
    decay = p["decay"]
    match = [[matching.match(x, y) for y in b] for x in a]
    if p["max_length"] is None:
        return _subsequences_of_all_lengths(match, decay)
    below = None  # sums over pairs that end at or before (i, j), decayed; None: the empty pair
    total = 0
    for _ in range(min(len(a), len(b), p["max_length"])):
        ends = [
            [
                (1 if below is None else decay**2 * _at(below, i - 1, j - 1)) * k if k else 0
                for j, k in enumerate(row)
            ]
            for i, row in enumerate(match)
        ]
        total += sum(map(sum, ends))
        below = _decayed_sums(ends, decay)
    return total


def _subsequences_of_all_lengths(match, decay):
    sums, total = [], 0  # sums over pairs that end at or before (i, j), decayed
    for i, row in enumerate(match):
        sums.append([])
        run = 0
        for j, k in enumerate(row):
            end = k * (1 + decay**2 * _at(sums, i - 1, j - 1)) if k else 0
            total += end
            run = run * decay + end
            sums[i].append(run + decay * _at(sums, i - 1, j))
    return total


def _decayed_sums(ends, decay):
    sums = []
    for i, row in enumerate(ends):
        sums.append([])
        run = 0
        for j, value in enumerate(row):
            run = run * decay + value
            sums[i].append(run + decay * _at(sums, i - 1, j))
    return sums


def _at(table, i, j):
    return table[i][j] if i >= 0 and j >= 0 else 0


def _forests(a, b, p):
    """Return the dot product of expected fragment counts, by probabilities given the head."""
    weights = [_forest_weights(forest, p["sharpness"]) for forest in (a, b)]
    (q, expected), (r, expected_too) = weights
    shared, total = {}, 0
    for v in a.bottom_up():
        for w in b.bottom_up():
            shared[v, w] = 0
            for e in a.edges_of(v):
                for f in b.edges_of(w):
                    pairs = [*zip(a.edges[e][1], b.edges[f][1], strict=False)]
                    same = len(a.edges[e][1]) == len(b.edges[f][1]) and all(
                        a.labels[c] == b.labels[d] for c, d in [(v, w), *pairs]
                    )
                    if same:
                        grown = math.prod(1 + shared[pair] for pair in pairs)
                        shared[v, w] += p["decay"] * q[e] * r[f] * grown
            total += expected[v] * expected_too[w] * shared[v, w]
    return total


def _forest_weights(forest, sharpness):
    """Return the probability of each hyper-edge given its head, and expected counts of nodes."""
    inside, q, expected = {}, {}, dict.fromkeys(range(forest.n_nodes), 0)
    for v in forest.bottom_up():
        scores = {}
        for e in forest.edges_of(v):
            _, children, probability = forest.edges[e]
            scores[e] = Fraction(probability**sharpness) * math.prod(inside[c] for c in children)
        inside[v] = sum(scores.values()) if scores else Fraction(1)
        q.update({e: score / inside[v] for e, score in scores.items()})
    expected[forest.root] = 1
    for v in reversed(forest.bottom_up()):
        for e in forest.edges_of(v):
            for c in forest.edges[e][1]:
                expected[c] += expected[v] * q[e]
    return q, expected


# The rules give Delta of two nodes of some similarity, from that of the nodes below.


def _subtree(u, v, delta, matching, p):
    if u.is_leaf and v.is_leaf:
        return matching.similarity(_name(u), _name(v))
    if len(u.children) != len(v.children):
        return 0
    product = p["decay"] * matching.match(_name(u), _name(v))
    for pair in zip(u.children, v.children, strict=True):
        product *= delta.get(pair, 0)
    return product


def _subset(u, v, delta, matching, p):
    if u.is_leaf or v.is_leaf or len(u.children) != len(v.children):
        return 0
    product = p["decay"] * matching.match(_name(u), _name(v))
    for c, d in zip(u.children, v.children, strict=True):
        product *= matching.similarity(_name(c), _name(d)) + delta.get((c, d), 0)
    return product


def _partial(u, v, delta, matching, p):
    decay, depth_decay = p["decay"], p["depth_decay"] * matching.match(_name(u), _name(v))
    if u.is_leaf or v.is_leaf:
        power = p["leaf_power"] if u.is_leaf and v.is_leaf else 2
        return depth_decay * decay**power * p["terminal_factor"]
    link = decay**2 if p["decay_over"] == "span" else 1
    sums, total = [], 0
    for i, c in enumerate(u.children):
        sums.append([])
        run = 0
        for j, d in enumerate(v.children):
            end = delta.get((c, d), 0) * (link + link * _at(sums, i - 1, j - 1))
            total += end
            run = run * decay + end
            sums[i].append(run + decay * _at(sums, i - 1, j))
    return depth_decay * (decay**2 + total)


def _rooted(u, v, delta, matching, p):
    decay, own = p["decay"], matching.match(_name(u), _name(v))
    counts, values, total = [], [], 0
    for i, c in enumerate(u.children):
        counts.append([])
        values.append([])
        run_count = run_value = 0
        for j, d in enumerate(v.children):
            count = value = 0
            if (c, d) in delta:
                weight = decay * matching.match(_name(c), _name(d))
                count = weight * (1 + _at(counts, i - 1, j - 1))
                value = count * delta[c, d] + weight * _at(values, i - 1, j - 1)
            total += value
            if not p["contiguous"]:
                run_count, run_value = run_count + count, run_value + value
                count, value = run_count + _at(counts, i - 1, j), run_value + _at(values, i - 1, j)
            counts[i].append(count)
            values[i].append(value)
    return own * (own + total)


_RULES = {
    SubtreeKernel: _subtree,
    SubsetTreeKernel: _subset,
    PartialTreeKernel: _partial,
    RootedTreeKernel: _rooted,
}


# What a pair of nodes adds to the kernel's value.


def _delta(u, v, delta, matching, p):
    return delta


def _delta_of_inner_nodes(u, v, delta, matching, p):
    return 0 if u.is_leaf else delta


def _delta_and_leaves(u, v, delta, matching, p):
    counted = p["count_leaves"] and u.is_leaf and v.is_leaf
    return delta + (p["decay"] * matching.match(_name(u), _name(v)) if counted else 0)


_COUNTS = {SubtreeKernel: _delta_of_inner_nodes, SubsetTreeKernel: _delta_and_leaves}
