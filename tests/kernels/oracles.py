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
    PartialTreeKernel,
    RootedTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    SubtreeKernel,
)


def reference_matrix(kernel, X, Y, *, normalize=None):
    """Return what ``kernel.cross`` should, by calling ``reference`` on every pair."""
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
    """Return the normalised value of two structures."""
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
    if isinstance(kernel, SubsequenceKernel):
        return _subsequences(a.elements, b.elements, parameters)
    left, right = (sorted(Counter(t.preorder()).items(), key=_size) for t in (a, b))
    rule = _RULES[type(kernel)]
    delta = {}
    total = 0
    for u, n_u in left:
        for v, n_v in right:
            if (u.edge, u.label) == (v.edge, v.label):
                delta[u, v] = rule(u, v, delta, parameters)
                total += n_u * n_v * (delta[u, v] + _leaf_bonus(kernel, u, v, parameters))
    return delta.get((a, b), 0) if isinstance(kernel, RootedTreeKernel) else total


def _size(item):
    return item[0].n_nodes


def _subsequences(a, b, p):
    decay = p["decay"]
    below = None  # sums over pairs that end at or before (i, j), decayed; None: the empty pair
    total = 0
    for _ in range(min(len(a), len(b), p["max_length"] or len(a))):
        ends = [
            [
                (1 if below is None else decay**2 * _at(below, i - 1, j - 1)) if x == y else 0
                for j, y in enumerate(b)
            ]
            for i, x in enumerate(a)
        ]
        total += sum(map(sum, ends))
        below = _decayed_sums(ends, decay)
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


def _subtree(u, v, delta, p):
    if u.is_leaf or u != v:
        return 0
    return p["decay"] ** sum(not node.is_leaf for node in u.preorder())


def _subset(u, v, delta, p):
    symbols = [[(c.edge, c.label) for c in node.children] for node in (u, v)]
    if u.is_leaf or symbols[0] != symbols[1]:
        return 0
    product = p["decay"]
    for pair in zip(u.children, v.children, strict=True):
        product *= 1 + delta[pair]
    return product


def _leaf_bonus(kernel, u, v, p):
    counted = isinstance(kernel, SubsetTreeKernel) and p["count_leaves"]
    return p["decay"] if counted and u.is_leaf and v.is_leaf else 0


def _partial(u, v, delta, p):
    decay, depth_decay = p["decay"], p["depth_decay"]
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


def _rooted(u, v, delta, p):
    decay = p["decay"]
    counts, values, total = [], [], 0
    for i, c in enumerate(u.children):
        counts.append([])
        values.append([])
        run_count = run_value = 0
        for j, d in enumerate(v.children):
            count = value = 0
            if (c, d) in delta:
                count = decay * (1 + _at(counts, i - 1, j - 1))
                value = count * delta[c, d] + decay * _at(values, i - 1, j - 1)
            total += value
            if not p["contiguous"]:
                run_count, run_value = run_count + count, run_value + value
                count, value = run_count + _at(counts, i - 1, j), run_value + _at(values, i - 1, j)
            counts[i].append(count)
            values[i].append(value)
    return 1 + total


_RULES = {
    SubtreeKernel: _subtree,
    SubsetTreeKernel: _subset,
    PartialTreeKernel: _partial,
    RootedTreeKernel: _rooted,
}
