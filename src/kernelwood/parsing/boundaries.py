"""Counts of the parts of speech beside constituents, used to prune spans of a chart early."""

from __future__ import annotations

from collections.abc import Iterable, Sequence as Listing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelwood.structures import Tree


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Counts of a treebank. Sides are labels, as parts of speech, and one for the sentence's ends.

    Attributes
    ----------
    neighbors : float64 array of shape (n_labels + 1, n_labels + 1)
        Adjacent parts of speech: left, right.
    before, after : float64 arrays of shape (2 * n_labels, n_labels + 1)
        Part of speech directly before and after the constituents of each coarse symbol: of a
        label, and of the rests of its productions, at least two children each.
    """

    neighbors: NDArray[np.float64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]


def count_boundaries(trees: Iterable[Tree], labels: Listing[str]) -> Boundaries:
    """Return the counts of prepared trees.

    Examples
    --------
    >>> tree = Tree.from_brackets("(NP (DT the) (JJ old) (NN cat))")
    >>> counts = count_boundaries([tree], ["NP", "DT", "JJ", "NN"])
    >>> counts.neighbors[1].tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    >>> counts.before[4].tolist()
    [0.0, 1.0, 0.0, 0.0, 0.0]
    """
    numbers = {label: number for number, label in enumerate(labels)}
    n = len(labels)
    neighbors = np.zeros((n + 1, n + 1))
    before, after = np.zeros((2 * n, n + 1)), np.zeros((2 * n, n + 1))
    for tree in trees:
        tags, spans = _spans(tree, numbers)
        sides = [n, *tags, n]  # side i is before word i, side i + 1 the word
        np.add.at(neighbors, (sides[:-1], sides[1:]), 1.0)
        symbols, starts, ends = zip(*spans, strict=True)
        np.add.at(before, (symbols, [sides[start] for start in starts]), 1.0)
        np.add.at(after, (symbols, [sides[end + 1] for end in ends]), 1.0)
    return Boundaries(neighbors, before, after)


def _spans(tree: Tree, numbers: dict[str, int]) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Return the parts of speech of a tree, and the coarse symbols with their spans."""
    tags: list[int] = []
    found: list[tuple[int, int, int]] = []
    starts: list[int] = []  # of finished subtrees
    for node in tree.postorder():
        if node.is_leaf:
            starts.append(len(tags))
            continue
        count = len(node.children)
        below = starts[-count:]
        del starts[-count:]
        symbol = numbers[node.label]
        if node.children[0].is_leaf:
            tags.append(symbol)
        found.append((symbol, below[0], len(tags)))
        found += [(len(numbers) + symbol, start, len(tags)) for start in below[1:-1]]
        starts.append(below[0])
    return tags, found
