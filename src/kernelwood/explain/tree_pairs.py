"""The largest fragments that pairs of trees share, found by the native core.

`kernelwood.explain.tree_fragments` defines them for one pair in plain Python.
"""

from __future__ import annotations

from functools import partial
from itertools import count, pairwise
from typing import Any

import numpy as np

from kernelwood import _native
from kernelwood.arrays import TreeBatch
from kernelwood.compute import Runner
from kernelwood.explain.found import Found, Part, Request, Shared
from kernelwood.explain.pair_sides import pair_sides
from kernelwood.explain.pairing import label_text
from kernelwood.structures import Tree

_Element = tuple[str, str]  # edge and label of a node


def largest_trees(kernel: Any, X: TreeBatch, Y: TreeBatch, request: Request) -> Found:
    """Return the largest fragments that each pair of trees shares."""
    left, right, tables = pair_sides(kernel, X, Y)
    search = partial(
        _native.largest_trees,
        left.native,
        right.native,
        tables,
        kernel._parameters(),
        int(request.top or 0),
        request.max_steps,
    )
    found = Runner(kernel.n_jobs, 0).call(search, cost=int(np.dot(X.sizes, Y.sizes)))
    trees = _LargestFound(found, left.elements(found.left), right.elements(found.right))
    return trees.found()


class _LargestFound:
    """What the native core found, as text and structures.

    Parameters
    ----------
    found : FoundTrees
        Fragments with the numbers of children of their nodes, in post-order.
    left, right : list of (str, str)
        Edge and label of these nodes in both trees.
    """

    def __init__(self, found: Any, left: list[_Element], right: list[_Element]) -> None:
        self.native, self.left, self.right = found, left, right
        self.n_children: list[int] = found.n_children.tolist()
        self.ends = np.concatenate([[0], np.cumsum(found.n_nodes)]).tolist()

    def found(self) -> Found:
        """Return the fragments of each pair."""
        native, words = self.native, self._words()
        rows = zip(
            [_text(words, self.n_children, *bounds) for bounds in pairwise(self.ends)],
            native.weight.tolist(),
            native.count_a.tolist(),
            native.count_b.tolist(),
            native.covers.tolist(),
            native.n_nodes.tolist(),
            native.similarity.tolist(),
            count(),
        )
        shared = list(map(Shared._make, rows))
        each = np.concatenate([[0], np.cumsum(native.n_fragments)]).tolist()
        fragments = [shared[begin:end] for begin, end in pairwise(each)]
        return Found(fragments, native.exceeded.astype(np.bool_), self._structures)

    def _words(self) -> list[str]:
        """Return the text of each node without its children."""
        written: dict[_Element, str] = {}
        for edge, label in {*self.left, *(("", label) for _, label in self.right)}:
            written[edge, label] = Tree(label, (), edge).to_brackets()[1:-1]
        similarities = self.native.node_similarity.tolist()
        return [
            written[one]
            if one[1] == other[1]
            else label_text(written[one], written["", other[1]], similarity)
            for one, other, similarity in zip(self.left, self.right, similarities, strict=True)
        ]

    def _structures(self, number: int) -> tuple[Part, Part]:
        some = slice(*self.ends[number : number + 2])
        left, right = (_tree(side[some], self.n_children[some]) for side in (self.left, self.right))
        return left, left if left == right else right


def _tree(elements: list[_Element], n_children: list[int]) -> Tree:
    edges, labels = ([each[k] for each in elements] for k in (0, 1))
    return Tree.from_postorder(labels, edges, n_children)


def _text(words: list[str], n_children: list[int], begin: int, end: int) -> str:
    """Return a fragment in bracket notation."""
    if end - begin == 1:
        return f"({words[begin]})"
    # From the last node to the first, pieces from right to left: a node comes after its children.
    pieces: list[str] = []
    waiting: list[tuple[str, int]] = []  # nodes whose children are written, and how many are left
    for at in range(end - 1, begin - 1, -1):
        if n_children[at]:
            pieces.append(")")
            waiting.append((words[at], n_children[at]))
            continue
        pieces.append(words[at])
        while waiting:
            word, left = waiting.pop()
            pieces.append(" ")
            if left > 1:
                waiting.append((word, left - 1))
                break
            pieces.append("(" + word)
    return "".join(reversed(pieces))
