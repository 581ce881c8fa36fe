"""Plain trees to compare with, and samples to grow them on."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from kernelwood.features import pack
from kernelwood.learners import bit_forest
from kernelwood.learners.bit_forest import grow_forest


def gini(weights):
    """Gini's impurity of classes with these weights, times their sum."""
    total = sum(weights)
    return total - sum(weight * weight for weight in weights) / total


def textbook_tree(rows, drawn, class_weights, max_depth=None, min_leaf=1):
    """Return the greedy tree of rows (bits, class): (bit, without, with) or class shares."""
    counts = [sum(label == c for _, label in rows) for c in range(len(class_weights))]
    weights = [Fraction(w) * n for w, n in zip(class_weights, counts, strict=True)]
    best = None
    if max_depth != 0 and sum(n > 0 for n in counts) > 1:
        for bit in drawn:
            sides = [[row for row in rows if row[0][bit] == value] for value in (0, 1)]
            if min(map(len, sides)) < min_leaf:
                continue
            left = sum(
                gini([Fraction(w) * sum(y == c for _, y in side) for c, w in each])
                for side in sides
                for each in [list(enumerate(class_weights))]
            )
            if best is None or left < best[0]:
                best = left, bit, sides
    if best is None:
        return [float(weight / sum(weights)) for weight in weights]
    deeper = None if max_depth is None else max_depth - 1
    children = [textbook_tree(side, drawn, class_weights, deeper, min_leaf) for side in best[2]]
    return best[1], *children


def grown_tree(forest, tree, node=0):
    """Return a tree of a forest in the form of `textbook_tree`."""
    split, child = forest.nodes[forest.offsets[tree] + node].tolist()
    if split >= 0:
        return split, grown_tree(forest, tree, child), grown_tree(forest, tree, child + 1)
    shares = [0.0] * forest.n_classes
    if child < forest.n_classes:
        shares[child] = 1.0
        return shares
    leaf = child - forest.n_classes
    for entry in range(forest.leaf_offsets[leaf], forest.leaf_offsets[leaf + 1]):
        shares[forest.leaf_class[entry]] = float(forest.leaf_share[entry])
    return shares


@st.composite
def samples(draw, most_bits=12):
    """Bits that repeat, so that nodes tie and leaves are mixed, and their classes."""
    n, n_bits = draw(st.integers(1, 25)), draw(st.integers(1, most_bits))
    n_classes = draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = random.integers(0, 2, size=(draw(st.integers(1, 25)), n_bits))
    bits = kinds[random.integers(len(kinds), size=n)]
    return bits.astype(np.uint8), random.integers(n_classes, size=n), n_classes


def correlated_bits(n, n_bits=200, n_classes=2, seed=0):
    """Bits that ask on which side of planes points lie, and classes that depend on the points."""
    random = np.random.default_rng(seed)
    points = random.normal(size=(n, 6))
    bits = points @ random.normal(size=(6, n_bits)) > random.normal(size=n_bits)
    scores = np.tanh(points @ random.normal(size=(6, 12))) @ random.normal(size=(12, n_classes))
    return bits.astype(np.uint8), scores.argmax(axis=1).astype(np.int32)


def same(forest, other):
    """Whether two forests are equal to the bit."""
    names = bit_forest._ARRAYS
    return all(np.array_equal(getattr(forest, name), getattr(other, name)) for name in names)


def small_sample():
    bits = np.array([[0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0], [0] * 4])
    return pack(bits), np.array([0, 1, 1, 0, 1, 0])


def small_forest():
    """Two trees with inner nodes, pure leaves and mixed leaves."""
    codes, y = small_sample()
    return grow_forest(codes, y, n_bits=4, n_trees=2, bits_per_tree=None)
