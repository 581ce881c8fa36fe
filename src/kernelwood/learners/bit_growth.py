"""How decision forests on packed bits are grown."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner, StopFlag
from kernelwood.errors import KernelInputError
from kernelwood.features import WORD, Codes, check_codes, n_words
from kernelwood.learners.bit_forest import BitForest, sum_shares
from kernelwood.seeds import child_generator

__all__ = ["grow_forest", "out_of_bag"]

Floats = NDArray[np.float64]

# What the random numbers of a child generator are for; those of the hasher are 0 and 1.
_TREES = 2
_BITS, _EXAMPLES = 0, 1

_GROW_COST = 1000  # of one example of a tree on up to 32 bits, in pairs of nodes
_LARGEST = 2**31 - 1
_LIGHTEST, _HEAVIEST = 1e-9, 1e9  # weights whose cubes stay far from the limits of double


class _Tree(NamedTuple):
    """One grown tree, as :class:`BitForest` has it; ends of leaves in place of offsets."""

    nodes: NDArray[np.int32]
    leaf_ends: NDArray[np.int64]
    leaf_class: NDArray[np.int32]
    leaf_share: Floats
    bits: NDArray[np.int32]
    gains: Floats


def grow_forest(
    codes: Codes,
    y: NDArray[np.int32],
    *,
    n_bits: int,
    n_classes: int | None = None,
    n_trees: int = 250,
    bits_per_tree: int | None = 30,
    bootstrap: bool = False,
    class_weights: Floats | None = None,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
) -> BitForest:
    r"""Grow decision trees on random bits of codes.

    A node asks for the bit that leaves the least of Gini's impurity, the first drawn of several
    equally good ones, until all its examples are of one class or no bit divides them.

    Parameters
    ----------
    codes : ndarray of uint64, shape (n, ceil(n_bits / 64))
        Packed codes.
    y : ndarray of int, shape (n,)
        The class of each example, from 0 on.
    n_bits : int
        Bits of the codes.
    n_classes : int, optional
        Number of classes; by default one more than the largest in ``y``.
    n_trees : int
        Number of trees.
    bits_per_tree : int or None
        Bits that each tree may ask for, :math:`\eta`; None for all.
    bootstrap : bool
        Whether each tree gets as many examples as there are, drawn with replacement.
    class_weights : ndarray of float64, shape (n_classes,), optional
        How much an example of each class weighs, from 1e-9 to 1e9.
    max_depth : int, optional
        Most questions on the way to a leaf.
    min_samples_leaf : int
        Fewest examples of a leaf; one that was drawn twice counts twice.
    seed : int
        Tree ``t`` depends on the seed and on ``t``, not on the number of trees.
    n_jobs : int, optional
        Threads; the forest does not depend on them.

    See Also
    --------
    out_of_bag : What trees say on examples that they were not grown on.
    """
    codes = check_codes(codes, n_bits)
    y = np.asarray(y)
    grower = _Grower(codes, y, n_bits, n_classes, class_weights)
    grower.n_drawn = n_bits if bits_per_tree is None else bits_per_tree
    if not 1 <= grower.n_drawn <= n_bits:
        raise KernelInputError(
            f"bits_per_tree must be from 1 to {n_bits}, the number of bits, or None, "
            f"got {bits_per_tree}"
        )
    grower.bootstrap, grower.seed = bootstrap, seed
    grower.max_depth = -1 if max_depth is None else min(int(max_depth), _LARGEST)
    grower.min_leaf = min(int(min_samples_leaf), len(codes))
    trees: list[_Tree | None] = [None] * n_trees

    def work(begin: int, end: int, stop: StopFlag) -> None:
        for number in range(begin, end):
            if not stop[0]:
                trees[number] = grower.grow(number, stop)

    cost = _GROW_COST * len(codes) * -(-grower.n_drawn // 32)
    Runner(n_jobs, 0).quiet().run(
        work, n_trees, evaluations=0, cost=cost * n_trees, large=cost > 10**9
    )
    return _assemble([tree for tree in trees if tree is not None], n_bits, grower.n_classes)


class _Grower:
    """What all trees share: examples in order of their classes, their codes turned."""

    n_drawn: int
    bootstrap: bool
    seed: int
    max_depth: int
    min_leaf: int

    def __init__(
        self,
        codes: Codes,
        y: NDArray[Any],
        n_bits: int,
        n_classes: int | None,
        class_weights: Floats | None,
    ) -> None:
        if y.shape != (len(codes),) or y.dtype.kind not in "iu" or len(y) == 0:
            raise KernelInputError("y must be a class number for each of the codes, at least one")
        self.n_classes = int(y.max()) + 1 if n_classes is None else n_classes
        if y.min() < 0 or y.max() >= self.n_classes:
            raise KernelInputError(f"y must hold classes from 0 to {self.n_classes - 1}")
        given = np.ones(self.n_classes) if class_weights is None else np.asarray(class_weights)
        inside = (given >= _LIGHTEST) & (given <= _HEAVIEST)
        if given.shape != (self.n_classes,) or not inside.all():
            raise KernelInputError(
                f"class_weights must be {self.n_classes} numbers from 1e-9 to 1e9, got {given}"
            )
        self.weights = np.ascontiguousarray(given, dtype=np.float64)
        self.n_bits, self.n = n_bits, len(codes)
        self.order = np.argsort(y, kind="stable")
        self.sizes = np.bincount(y, minlength=self.n_classes).astype(np.int64)
        self.columns = np.empty((codes.shape[1] * WORD, n_words(self.n)), dtype=np.uint64)
        _native.turn_codes(codes[self.order], self.columns)

    def grow(self, number: int, stop: StopFlag) -> _Tree:
        random = child_generator(self.seed, _TREES, number, _BITS)
        bits = random.permutation(self.n_bits)[: self.n_drawn].astype(np.int32)
        times = None
        if self.bootstrap:
            times = _times_drawn(self.n, self.seed, number)[self.order]
        tree = _native.grow_bit_tree(
            self.columns, self.sizes, self.weights, bits, times, self.max_depth, self.min_leaf, stop
        )
        # Copies: the vectors of a native tree have room to grow.
        return _Tree(
            tree.nodes.reshape(-1, 2).copy(),
            tree.leaf_ends.copy(),
            tree.leaf_class.copy(),
            tree.leaf_share.copy(),
            bits,
            tree.gains.copy(),
        )


def _times_drawn(n: int, seed: int, tree: int) -> NDArray[np.int32]:
    """Return how often each of ``n`` examples was drawn for a tree."""
    drawn = child_generator(seed, _TREES, tree, _EXAMPLES).integers(n, size=n)
    return np.bincount(drawn, minlength=n).astype(np.int32)


def _assemble(trees: list[_Tree], n_bits: int, n_classes: int) -> BitForest:
    n_leaves = n_entries = 0
    for i, tree in enumerate(trees):
        mixed = (tree.nodes[:, 0] < 0) & (tree.nodes[:, 1] >= n_classes)
        if n_classes + n_leaves + len(tree.leaf_ends) > _LARGEST:
            raise KernelInputError("the forest is too large; grow fewer trees, or less deep ones")
        tree.nodes[mixed, 1] += n_leaves
        trees[i] = tree._replace(leaf_ends=tree.leaf_ends + n_entries)
        n_leaves += len(tree.leaf_ends)
        n_entries += len(tree.leaf_class)
    sizes = [len(tree.nodes) for tree in trees]
    nothing = np.zeros(1, dtype=np.int64)
    return BitForest(
        n_bits=n_bits,
        n_classes=n_classes,
        offsets=np.concatenate([nothing, np.cumsum(sizes, dtype=np.int64)]),
        nodes=np.concatenate([tree.nodes for tree in trees]),
        leaf_offsets=np.concatenate([nothing, *(tree.leaf_ends for tree in trees)]),
        leaf_class=np.concatenate([tree.leaf_class for tree in trees]),
        leaf_share=np.concatenate([tree.leaf_share for tree in trees]),
        bits=np.stack([tree.bits for tree in trees]),
        gains=np.stack([tree.gains for tree in trees]),
    )


def out_of_bag(
    forest: BitForest, codes: Codes, *, seed: int, n_jobs: int | None = None
) -> tuple[Floats, NDArray[np.int64]]:
    """Return what trees say on the examples that were not drawn for them.

    Parameters
    ----------
    forest : BitForest
        One grown with ``bootstrap=True``.
    codes : ndarray of uint64, shape (n, ceil(n_bits / 64))
        The codes it was grown on.
    seed : int
        The seed it was grown with.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    sums : ndarray of float64, shape (n, n_classes)
        Shares of the classes, summed over those trees.
    n_trees : ndarray of int64, shape (n,)
        How many trees these are; none for an example that was drawn for all.
    """
    n = len(codes)
    drawn = np.zeros((forest.n_trees, n_words(n) * WORD), dtype=np.bool_)
    for tree in range(forest.n_trees):
        drawn[tree, :n] = _times_drawn(n, seed, tree) > 0
    skipped = np.packbits(drawn, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    n_trees = forest.n_trees - drawn[:, :n].sum(axis=0, dtype=np.int64)
    return sum_shares(forest, codes, skipped, n_jobs), n_trees
