"""Decision forests on packed bits: growing, prediction, and flat arrays that native code reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.arrays import LARGE, ArrayOf, Offsets, Schema, Whole, check_values
from kernelwood.compute import Runner, StopFlag
from kernelwood.errors import KernelInputError
from kernelwood.features import WORD, Codes, check_codes, n_words
from kernelwood.seeds import child_generator

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]

_BLOCK = 128 * WORD  # examples predicted by all trees at a time
_STEP_COST = 400  # of one example in one tree, in pairs of nodes
_LARGEST = 2**31 - 1
_CHECKED = 2**18  # nodes checked at a time
_GROW_COST = 1000  # of one example of a tree on up to 32 bits, in pairs of nodes
_LIGHTEST, _HEAVIEST = 1e-9, 1e9  # cubes of weights stay far from the limits of double

# Purposes of child generators; those of the hasher are 0 and 1.
_TREES = 2
_BITS, _EXAMPLES = 0, 1


@dataclass(frozen=True, eq=False)
class BitForest:
    """Decision trees on single bits of codes, as flat read-only arrays.

    Parameters
    ----------
    n_bits, n_classes : int
        Number of bits of a code, and of classes.
    offsets : ndarray of int64, shape (n_trees + 1,)
        First node of each tree, its root.
    nodes : ndarray of int32, shape (n_nodes, 2)
        The bit that a node tests, and its first child, counted from the root. Examples without the
        bit go to this child, the others to the node after it. Children follow their parents. A leaf
        has the bit -1; its second number is its class if all its examples are of one class,
        otherwise ``n_classes`` plus the number of a mixed leaf.
    leaf_offsets : ndarray of int64, shape (n_mixed_leaves + 1,)
        First entry of each mixed leaf.
    leaf_class : ndarray of int32, shape (n_entries,)
    leaf_share : ndarray of float64, shape (n_entries,)
        Classes of mixed leaves, and their fractions of the weight of the examples.
    bits : ndarray of int32, shape (n_trees, bits_per_tree)
        The bits drawn for each tree.
    gains : ndarray of float64, shape (n_trees, bits_per_tree)
        Decrease of Gini impurity by the nodes that test a bit, weighted by their fraction of the
        examples.

    Examples
    --------
    >>> from kernelwood.features import pack
    >>> codes = pack(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    >>> forest = grow_forest(
    ...     codes, np.array([0, 1, 1, 0]), n_bits=2, n_trees=3, bits_per_tree=None, seed=0
    ... )
    >>> forest
    BitForest(3 trees, 21 nodes, 2 bits, 2 classes)
    >>> forest.predict_proba(codes[1:3])
    array([[0., 1.],
           [0., 1.]])
    """

    _saved: ClassVar[Schema] = {
        "n_bits": Whole(1),
        "n_classes": Whole(1, _LARGEST - 1),
        "nodes": ArrayOf("int32", None, 2),
        "offsets": Offsets(None, "nodes", filled=True),
        "leaf_class": ArrayOf("int32", "shares", least=0, below="n_classes"),
        "leaf_share": ArrayOf("float64", "shares", least=0, most=1),
        "leaf_offsets": Offsets(None, "leaf_class", filled=True),
        "bits": ArrayOf("int32", "trees", "bits per tree", least=0, below="n_bits"),
        "gains": ArrayOf("float64", "trees", "bits per tree", least=0, most=LARGE),
    }

    n_bits: int
    n_classes: int
    offsets: NDArray[np.int64]
    nodes: NDArray[np.int32]
    leaf_offsets: NDArray[np.int64]
    leaf_class: NDArray[np.int32]
    leaf_share: Floats
    bits: NDArray[np.int32]
    gains: Floats

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            array = getattr(self, name)
            if isinstance(array, np.ndarray):
                frozen = np.ascontiguousarray(array).view()
                frozen.flags.writeable = False
                object.__setattr__(self, name, frozen)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.offsets) - 1

    def predict_proba(self, codes: Codes, *, n_jobs: int | None = None) -> Floats:
        """Return class probabilities, the mean over the trees, shape (n, n_classes)."""
        return _sum_shares(self, codes, None, n_jobs) / self.n_trees

    def apply(self, codes: Codes, *, n_jobs: int | None = None) -> NDArray[np.int32]:
        """Return the leaf of each example in each tree, shape (n, n_trees).

        Nodes are numbered from the root of their tree.
        """
        codes = check_codes(codes, self.n_bits)
        out = np.empty((len(codes), self.n_trees), dtype=np.int32)
        native = self._native()

        def work(first: int, last: int, stop: StopFlag) -> None:
            native.find_leaves(codes, first, last, out, stop)

        _run_blocks(work, len(codes), self.n_trees, n_jobs)
        return out

    def importances(self) -> Floats:
        """Return the importance of each bit, shape (n_bits,).

        The gains of each tree are scaled to sum 1, averaged over the trees, and scaled again. All 0
        if the trees are single leaves.
        """
        sums = self.gains.sum(axis=1, keepdims=True)
        shares = np.divide(self.gains, sums, out=np.zeros(self.gains.shape), where=sums > 0)
        total = np.bincount(self.bits.ravel(), shares.ravel(), minlength=self.n_bits)
        return np.asarray(total / total.sum() if total.sum() > 0 else total, dtype=np.float64)

    def check(self, n_bits: int, n_classes: int) -> None:
        """Raise ValueError unless the trees are valid for these numbers of bits and classes.

        For arrays from a file: on a forest that passes, prediction terminates and reads nothing
        outside of the arrays.
        """
        check_values(self._saved, {name: getattr(self, name) for name in self._saved})
        self.check_sizes(n_bits, n_classes)
        self._check_trees()

    def check_sizes(self, n_bits: int, n_classes: int) -> None:
        """Raise ValueError unless the trees are for these numbers of bits and classes."""
        _require(
            (self.n_bits, self.n_classes) == (n_bits, n_classes),
            f"the forest must have {n_bits} bits and {n_classes} classes",
        )

    def _check_trees(self) -> None:
        """Raise ValueError unless arrays that are as declared are those of trees."""
        _require(self.n_trees > 0, "there must be trees")
        _require(len(self.bits) == self.n_trees, "bits and gains must be those of each tree")
        _require(
            bool((np.diff(self.offsets) <= _LARGEST).all()), "a tree has more nodes than allowed"
        )
        self._check_nodes()
        self._check_shares()

    def _check_nodes(self) -> None:
        nodes = self.nodes
        for first in range(0, len(nodes), _CHECKED):
            self._check_some_nodes(first, min(first + _CHECKED, len(nodes)))

    def _check_some_nodes(self, first: int, last: int) -> None:
        trees = slice(*(np.searchsorted(self.offsets, [first, last - 1], side="right") - [1, 0]))
        begins, ends = self.offsets[trees], self.offsets[1:][trees]
        sizes = np.minimum(ends, last) - np.maximum(begins, first)
        split = self.nodes[first:last, 0]
        child = self.nodes[first:last, 1].astype(np.int64)
        _require(
            bool(((split >= -1) & (split < self.n_bits)).all()),
            "a node tests a bit that does not exist",
        )
        place = child + np.repeat(begins, sizes)  # among the nodes of all trees
        outside = (place <= np.arange(first, last)) | (place + 1 >= np.repeat(ends, sizes))
        n_leaves = self.n_classes + len(self.leaf_offsets) - 1
        unknown = (child < 0) | (child >= n_leaves)
        _require(
            not (outside & (split >= 0)).any(),
            "a node has a child that does not exist or precedes it",
        )
        _require(not (unknown & (split < 0)).any(), "a leaf has a class that does not exist")

    def _check_shares(self) -> None:
        starts, shares = self.leaf_offsets, self.leaf_share
        sums = np.add.reduceat(shares, starts[:-1]) if len(shares) else shares
        _require(np.allclose(sums, 1.0), "the shares of a leaf must sum to 1")

    def _native(self) -> Any:
        return _native.BitForest(
            self.offsets, self.nodes, self.leaf_offsets, self.leaf_class, self.leaf_share
        )

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, NDArray[Any]]]:
        sizes = {"n_bits": self.n_bits, "n_classes": self.n_classes}
        return sizes, {}, {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def _from_saved(
        cls, parameters: dict[str, Any], texts: dict[str, list[str]], arrays: dict[str, Any]
    ) -> BitForest:
        forest = cls(**parameters, **arrays)
        forest._check_trees()
        return forest

    def __repr__(self) -> str:
        return (
            f"BitForest({self.n_trees:,} trees, {len(self.nodes):,} nodes, "
            f"{self.n_bits:,} bits, {self.n_classes:,} classes)"
        )


_ARRAYS = ("offsets", "nodes", "leaf_offsets", "leaf_class", "leaf_share", "bits", "gains")


def _sum_shares(
    forest: BitForest, codes: Codes, skipped: Codes | None, n_jobs: int | None
) -> Floats:
    """Return class probabilities summed over the trees in order, shape (n, n_classes).

    ``skipped``, a row of packed bits for each tree, marks examples that the tree does not count
    for.
    """
    codes = check_codes(codes, forest.n_bits)
    out = np.zeros((len(codes), forest.n_classes))
    native = forest._native()

    def work(first: int, last: int, stop: StopFlag) -> None:
        native.add_shares(codes, first, last, skipped, out, stop)

    _run_blocks(work, len(codes), forest.n_trees, n_jobs)
    return out


def _run_blocks(work: Any, n: int, n_trees: int, n_jobs: int | None) -> None:
    """Run work on ranges of examples that begin at a multiple of 64."""

    def work_on_blocks(begin: int, end: int, stop: StopFlag) -> None:
        work(begin * _BLOCK, min(end * _BLOCK, n), stop)

    cost = _STEP_COST * n * n_trees
    Runner(n_jobs, 0).quiet().run(work_on_blocks, -(-n // _BLOCK), evaluations=0, cost=cost)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


class _Tree(NamedTuple):
    """A grown tree in the layout of :class:`BitForest`, with ends of leaves instead of offsets."""

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

    A node tests the bit with the lowest remaining Gini impurity, the first drawn of equally good
    ones, until its examples are of one class or no bit divides them.

    Parameters
    ----------
    codes : ndarray of uint64, shape (n, ceil(n_bits / 64))
        Packed codes.
    y : ndarray of int, shape (n,)
        Class numbers, from 0.
    n_bits : int
        Number of bits of a code.
    n_classes : int, optional
        Number of classes; by default one more than the largest in ``y``.
    n_trees : int
        Number of trees.
    bits_per_tree : int or None
        Number of bits drawn for each tree, :math:`\eta`; None for all.
    bootstrap : bool
        Whether each tree gets ``n`` examples drawn with replacement.
    class_weights : ndarray of float64, shape (n_classes,), optional
        Weight of an example of each class, from 1e-9 to 1e9.
    max_depth : int, optional
        Maximum depth of a tree.
    min_samples_leaf : int
        Minimum number of examples of a leaf; repeated examples count repeatedly.
    seed : int
        Tree ``t`` depends on the seed and on ``t``, not on the number of trees.
    n_jobs : int, optional
        Number of threads; the forest does not depend on it.

    See Also
    --------
    out_of_bag : Predictions for examples that a tree was not grown on.
    """
    codes, y = check_codes(codes, n_bits), np.asarray(y)
    if y.shape != (len(codes),) or y.dtype.kind not in "iu" or len(y) == 0:
        raise KernelInputError("y must be a class number for each of the codes, at least one")
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes
    if y.min() < 0 or y.max() >= n_classes:
        raise KernelInputError(f"y must hold classes from 0 to {n_classes - 1}")
    weights = _check_class_weights(class_weights, n_classes)
    n_drawn = n_bits if bits_per_tree is None else bits_per_tree
    if not 1 <= n_drawn <= n_bits:
        raise KernelInputError(
            f"bits_per_tree must be from 1 to {n_bits}, the number of bits, or None, "
            f"got {bits_per_tree}"
        )
    # Examples in the order of their classes, with a row for each bit.
    order = np.argsort(y, kind="stable")
    sizes = np.bincount(y, minlength=n_classes).astype(np.int64)
    columns = np.empty((codes.shape[1] * WORD, n_words(len(codes))), dtype=np.uint64)
    _native.turn_codes(codes[order], columns)
    depth = -1 if max_depth is None else min(int(max_depth), _LARGEST)
    min_leaf = min(int(min_samples_leaf), len(codes))
    trees: list[_Tree | None] = [None] * n_trees

    def grow(number: int, stop: StopFlag) -> _Tree:
        random = child_generator(seed, _TREES, number, _BITS)
        bits = random.permutation(n_bits)[:n_drawn].astype(np.int32)
        times = _times_drawn(len(codes), seed, number)[order] if bootstrap else None
        tree = _native.grow_bit_tree(columns, sizes, weights, bits, times, depth, min_leaf, stop)
        # Copies, because the vectors of a native tree have spare capacity.
        return _Tree(
            tree.nodes.reshape(-1, 2).copy(),
            tree.leaf_ends.copy(),
            tree.leaf_class.copy(),
            tree.leaf_share.copy(),
            bits,
            tree.gains.copy(),
        )

    def work(begin: int, end: int, stop: StopFlag) -> None:
        for number in range(begin, end):
            if not stop[0]:
                trees[number] = grow(number, stop)

    cost = _GROW_COST * len(codes) * -(-n_drawn // 32)

    Runner(n_jobs, 0).quiet().run(
        work, n_trees, evaluations=0, cost=cost * n_trees, large=cost > 10**9
    )
    return _assemble([tree for tree in trees if tree is not None], n_bits, n_classes)


def _check_class_weights(class_weights: Floats | None, n_classes: int) -> Floats:
    given = np.ones(n_classes) if class_weights is None else np.asarray(class_weights)
    inside = (given >= _LIGHTEST) & (given <= _HEAVIEST)
    if given.shape != (n_classes,) or not inside.all():
        raise KernelInputError(
            f"class_weights must be {n_classes} numbers from 1e-9 to 1e9, got {given}"
        )
    return np.ascontiguousarray(given, dtype=np.float64)


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
    """Return predictions of trees for the examples that were not drawn for them.

    Parameters
    ----------
    forest : BitForest
        Grown with ``bootstrap=True``.
    codes : ndarray of uint64, shape (n, ceil(n_bits / 64))
        The codes it was grown on.
    seed : int
        The seed it was grown with.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    sums : ndarray of float64, shape (n, n_classes)
        Class probabilities, summed over these trees.
    n_trees : ndarray of int64, shape (n,)
        Number of these trees; 0 for an example that was drawn for all.
    """
    n = len(codes)
    drawn = np.zeros((forest.n_trees, n_words(n) * WORD), dtype=np.bool_)
    for tree in range(forest.n_trees):
        drawn[tree, :n] = _times_drawn(n, seed, tree) > 0
    skipped = np.packbits(drawn, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    n_trees = forest.n_trees - drawn[:, :n].sum(axis=0, dtype=np.int64)
    return _sum_shares(forest, codes, skipped, n_jobs), n_trees


def leaf_members(
    forest: BitForest,
    codes: Codes,
    weights: Floats,
    *,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> csr_array:
    """Return the shares of the examples that a forest was grown on in the weights of its leaves.

    Parameters
    ----------
    forest : BitForest
    codes : ndarray of uint64, shape (n, ceil(n_bits / 64))
        The codes it was grown on.
    weights : ndarray of float64, shape (n,)
        The weight of each example, that of its class.
    seed : int, optional
        The seed it was grown with, if with ``bootstrap=True``.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    csr_array, shape (n_nodes, n)
        A row for each node of all trees, as of `BitForest.nodes`; those of leaves sum to 1, all
        others are empty.

    Examples
    --------
    >>> from kernelwood.features import pack
    >>> codes, y = pack(np.array([[0], [1], [1]])), np.array([0, 0, 1])
    >>> forest = grow_forest(codes, y, n_bits=1, n_trees=1, bits_per_tree=None)
    >>> leaf_members(forest, codes, np.array([1.0, 1.0, 3.0])).toarray()
    array([[0.  , 0.  , 0.  ],
           [1.  , 0.  , 0.  ],
           [0.  , 0.25, 0.75]])
    """
    from scipy.sparse import csr_array

    n, n_nodes = len(codes), len(forest.nodes)
    leaves = forest.apply(codes, n_jobs=n_jobs) + forest.offsets[:-1]
    shares = np.tile(weights[:, None], (1, forest.n_trees))
    if seed is not None:
        for tree in range(forest.n_trees):
            shares[:, tree] *= _times_drawn(n, seed, tree)
    totals = np.bincount(leaves.ravel(), shares.ravel(), minlength=n_nodes)
    used = shares > 0
    shares /= np.where(used, totals[leaves], 1.0)
    examples = np.broadcast_to(np.arange(n)[:, None], leaves.shape)
    places = (leaves[used], examples[used])
    return csr_array((shares[used], places), shape=(n_nodes, n))
