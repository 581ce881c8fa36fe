"""Decision forests on packed bits, as flat arrays that native code reads."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner, StopFlag
from kernelwood.features import WORD, Codes, check_codes

__all__ = ["BitForest", "sum_shares"]

Floats = NDArray[np.float64]

_BLOCK = 128 * WORD  # examples led through all trees at a time
_STEP_COST = 400  # of one example on its way through one tree, in pairs of nodes
_LARGEST = 2**31 - 1
_CHECKED = 2**18  # nodes checked at a time


@dataclass(frozen=True, eq=False)
class BitForest:
    """Trees that ask for single bits of codes, as flat arrays that cannot be written to.

    Parameters
    ----------
    n_bits, n_classes : int
        Bits of the codes, and classes.
    offsets : ndarray of int64, shape (n_trees + 1,)
        Where the nodes of each tree begin; its root comes first.
    nodes : ndarray of int32, shape (n_nodes, 2)
        The bit that a node asks for, and its first child, counted from the root: there go examples
        that do not have the bit, the others to the node that follows it. Children come after their
        parents. A leaf asks for bit -1; in place of a child it has its class, if all its examples
        are of one, and otherwise ``n_classes`` + the number of a mixed leaf.
    leaf_offsets : ndarray of int64, shape (n_mixed_leaves + 1,)
        Where the classes of each mixed leaf begin.
    leaf_class : ndarray of int32, shape (n_entries,)
    leaf_share : ndarray of float64, shape (n_entries,)
        Classes of mixed leaves, and their shares of the weight of its examples.
    bits : ndarray of int32, shape (n_trees, bits_per_tree)
        The bits that were drawn for each tree.
    gains : ndarray of float64, shape (n_trees, bits_per_tree)
        How much of Gini's impurity the nodes that ask for a bit remove, weighed by their share of
        the examples.

    Examples
    --------
    >>> from kernelwood.features import pack
    >>> from kernelwood.learners.bit_growth import grow_forest
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
        """Return the mean over the trees of the shares of each class, shape (n, n_classes)."""
        return sum_shares(self, codes, None, n_jobs) / self.n_trees

    def apply(self, codes: Codes, *, n_jobs: int | None = None) -> NDArray[np.int32]:
        """Return the leaf where each example ends in each tree, shape (n, n_trees).

        Nodes count from the root of their tree.
        """
        codes = check_codes(codes, self.n_bits)
        out = np.empty((len(codes), self.n_trees), dtype=np.int32)
        native = self._native()

        def work(first: int, last: int, stop: StopFlag) -> None:
            native.find_leaves(codes, first, last, out, stop)

        _run_blocks(work, len(codes), self.n_trees, n_jobs)
        return out

    def importances(self) -> Floats:
        """Return how much each bit helps to tell the classes apart, shape (n_bits,).

        The gains of a tree are scaled to sum 1, averaged over the trees, and scaled again. All 0 if
        no tree asks for a bit.
        """
        sums = self.gains.sum(axis=1, keepdims=True)
        shares = np.divide(self.gains, sums, out=np.zeros(self.gains.shape), where=sums > 0)
        total = np.bincount(self.bits.ravel(), shares.ravel(), minlength=self.n_bits)
        return np.asarray(total / total.sum() if total.sum() > 0 else total, dtype=np.float64)

    def check(self, n_bits: int, n_classes: int) -> None:
        """Raise ValueError unless every code of ``n_bits`` bits finds its way to a leaf.

        For arrays that come from a file: after this, asking the forest reads nothing outside of
        them and ends, and what it says are shares of ``n_classes`` classes.
        """
        _require(
            type(self.n_bits) is int
            and type(self.n_classes) is int
            and (self.n_bits, self.n_classes) == (n_bits, n_classes)
            and 0 < n_classes < _LARGEST,
            f"the forest must be one of {n_bits} bits and {n_classes} classes",
        )
        for name, (dtype, ndim) in _ARRAYS.items():
            array = getattr(self, name)
            _require(
                isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == ndim,
                f"{name} must be an array of {dtype.__name__} with {ndim} dimensions",
            )
        self._check_nodes()
        self._check_leaves()
        _require(
            self.bits.shape == self.gains.shape
            and len(self.bits) == self.n_trees
            and bool(((self.bits >= 0) & (self.bits < n_bits)).all())
            and bool((np.isfinite(self.gains) & (self.gains >= 0)).all()),
            "bits and gains must be bits of each tree and what they gain",
        )

    def _check_nodes(self) -> None:
        offsets, nodes = self.offsets, self.nodes
        sizes = np.diff(offsets)
        _require(
            nodes.shape[1] == 2
            and self.n_trees > 0
            and offsets[0] == 0
            and offsets[-1] == len(nodes)
            and bool((offsets[1:] > offsets[:-1]).all())  # differences could overflow
            and bool((sizes <= _LARGEST).all()),
            "offsets must divide the nodes into trees",
        )
        for first in range(0, len(nodes), _CHECKED):
            self._check_some_nodes(first, min(first + _CHECKED, len(nodes)))

    def _check_some_nodes(self, first: int, last: int) -> None:
        trees = slice(*(np.searchsorted(self.offsets, [first, last - 1], side="right") - [1, 0]))
        begins, ends = self.offsets[trees], self.offsets[1:][trees]
        sizes = np.minimum(ends, last) - np.maximum(begins, first)
        split = self.nodes[first:last, 0]
        child = self.nodes[first:last, 1].astype(np.int64)
        _require(bool(((split >= -1) & (split < self.n_bits)).all()), "a node asks for no bit")
        place = child + np.repeat(begins, sizes)  # among the nodes of all trees
        outside = (place <= np.arange(first, last)) | (place + 1 >= np.repeat(ends, sizes))
        n_leaves = self.n_classes + len(self.leaf_offsets) - 1
        unknown = (child < 0) | (child >= n_leaves)
        _require(
            not (outside & (split >= 0)).any(),
            "a node has a child that is not there, or comes before it",
        )
        _require(not (unknown & (split < 0)).any(), "a leaf has a class that is not there")

    def _check_leaves(self) -> None:
        starts, classes, shares = self.leaf_offsets, self.leaf_class, self.leaf_share
        _require(
            len(starts) > 0
            and starts[0] == 0
            and starts[-1] == len(classes) == len(shares)
            and bool((starts[1:] > starts[:-1]).all()),  # differences could overflow
            "leaf_offsets must divide classes and shares into leaves",
        )
        _require(
            bool(((classes >= 0) & (classes < self.n_classes)).all()),
            "a leaf has a class that is not there",
        )
        sums = np.add.reduceat(shares, starts[:-1]) if len(shares) else shares
        _require(
            bool(((shares >= 0) & (shares <= 1)).all()) and np.allclose(sums, 1.0),
            "the shares of a leaf must sum to 1",
        )

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
        names = {field.name for field in fields(cls)}
        _require(
            not texts and set(parameters) | set(arrays) == names and set(arrays) == set(_ARRAYS),
            "a forest has other parts",
        )
        forest = cls(**parameters, **arrays)
        forest.check(forest.n_bits, forest.n_classes)
        return forest

    def __repr__(self) -> str:
        return (
            f"BitForest({self.n_trees:,} trees, {len(self.nodes):,} nodes, "
            f"{self.n_bits:,} bits, {self.n_classes:,} classes)"
        )


# Arrays of a forest: number type and dimensions.
_ARRAYS: dict[str, tuple[Any, int]] = {
    "offsets": (np.int64, 1),
    "nodes": (np.int32, 2),
    "leaf_offsets": (np.int64, 1),
    "leaf_class": (np.int32, 1),
    "leaf_share": (np.float64, 1),
    "bits": (np.int32, 2),
    "gains": (np.float64, 2),
}


def sum_shares(
    forest: BitForest, codes: Codes, skipped: Codes | None, n_jobs: int | None
) -> Floats:
    """Return the shares of the classes, summed over the trees in order, shape (n, n_classes).

    A tree has no say where its row of ``skipped``, packed like a code, has the bit of an example.
    """
    codes = check_codes(codes, forest.n_bits)
    out = np.zeros((len(codes), forest.n_classes))
    native = forest._native()

    def work(first: int, last: int, stop: StopFlag) -> None:
        native.add_shares(codes, first, last, skipped, out, stop)

    _run_blocks(work, len(codes), forest.n_trees, n_jobs)
    return out


def _run_blocks(work: Any, n: int, n_trees: int, n_jobs: int | None) -> None:
    """Run work on ranges of examples that begin with a whole group of 64."""

    def work_on_blocks(begin: int, end: int, stop: StopFlag) -> None:
        work(begin * _BLOCK, min(end * _BLOCK, n), stop)

    cost = _STEP_COST * n * n_trees
    Runner(n_jobs, 0).quiet().run(work_on_blocks, -(-n // _BLOCK), evaluations=0, cost=cost)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)
