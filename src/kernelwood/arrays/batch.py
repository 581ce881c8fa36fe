from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays.onedim import OneDimensional, row_key
from kernelwood.arrays.vocabulary import Vocabulary
from kernelwood.errors import StructureError
from kernelwood.structures import Sequence, Tree

B = TypeVar("B", bound="Batch")
IntArray = NDArray[np.int32]
Offsets = NDArray[np.int64]


class Batch(OneDimensional):
    """Structures laid out as flat, read-only integer arrays.

    A batch looks to scikit-learn like a one-dimensional array of structures: it has ``shape``,
    and can be sliced by an integer, a slice, a boolean mask or an array of indices. Slicing
    with a plain slice copies nothing.
    """

    kind: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]

    vocabulary: Vocabulary
    offsets: Offsets
    arrays: tuple[IntArray, ...]

    @classmethod
    def from_arrays(cls: type[B], offsets: Offsets, *arrays: IntArray, vocabulary: Vocabulary) -> B:
        """Wrap existing arrays, which may be read-only or memory-mapped, without copying.

        Parameters
        ----------
        offsets : ndarray of int64, shape (n + 1,)
            Structure ``i`` owns the elements ``offsets[i]`` to ``offsets[i + 1]``.
        *arrays : ndarrays of int32
            One for each of ``fields``, all of the same length.
        vocabulary : Vocabulary
            What the label and edge ids mean.
        """
        if len(arrays) != len(cls.fields):
            raise StructureError(
                f"{cls.__name__} needs {len(cls.fields)} arrays ({', '.join(cls.fields)}), "
                f"got {len(arrays)}"
            )
        batch = cls._wrap(
            _checked(offsets, np.int64, "offsets"),
            tuple(
                _checked(array, np.int32, name)
                for name, array in zip(cls.fields, arrays, strict=True)
            ),
            vocabulary,
        )
        batch._check()
        return batch

    @classmethod
    def _wrap(
        cls: type[B], offsets: Offsets, arrays: tuple[IntArray, ...], vocabulary: Vocabulary
    ) -> B:
        batch = cls.__new__(cls)
        everything: list[NDArray[Any]] = [offsets, *arrays]
        for array in everything:
            if array.flags.writeable:
                array.flags.writeable = False
        batch.offsets, batch.arrays, batch.vocabulary = offsets, arrays, vocabulary
        return batch

    def _check(self) -> None:
        offsets = self.offsets
        if len(offsets) == 0 or offsets[0] < 0 or np.any(np.diff(offsets) < 0):
            raise StructureError("offsets must start at 0 or above and never fall")
        lengths = {len(array) for array in self.arrays}
        if len(lengths) > 1 or offsets[-1] > min(lengths):
            raise StructureError(
                f"offsets end at {offsets[-1]}, but the arrays have lengths {sorted(lengths)}"
            )
        for name, array in zip(self.fields[:2], self.arrays[:2], strict=True):
            used = array[offsets[0] : offsets[-1]]
            if used.size and (used.min() < 0 or used.max() >= len(self.vocabulary)):
                raise StructureError(
                    f"{name} hold ids outside the vocabulary of {len(self.vocabulary)} labels"
                )

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of elements or nodes of each structure."""
        return np.diff(self.offsets)

    @cached_property
    def largest(self) -> int:
        """Number of elements or nodes of the largest structure."""
        return int(self.sizes.max(initial=0))

    @cached_property
    def n_elements(self) -> int:
        """Number of elements or nodes of all structures together."""
        return int(self.offsets[-1] - self.offsets[0])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Any]:
        return (self._decode(i) for i in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self):,} {self.kind}s, "
            f"{self.n_elements:,} {'nodes' if self.kind == 'tree' else 'elements'})"
        )

    @overload
    def __getitem__(self: B, key: int) -> Any: ...
    @overload
    def __getitem__(self: B, key: Any) -> B: ...
    def __getitem__(self: B, key: Any) -> Any:
        key = row_key(key)
        if isinstance(key, (int, np.integer)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"index {key} is out of range for {len(self)} structures")
            return self._decode(int(key) % len(self))
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                offsets = self.offsets[start : max(start, stop) + 1]
                return self._wrap(offsets, self.arrays, self.vocabulary)
        return self.take(np.arange(len(self))[key])

    def take(self: B, indices: NDArray[np.int64]) -> B:
        """Return the structures at ``indices``, in that order, as a new batch."""
        indices = np.asarray(indices, dtype=np.int64)
        if indices.ndim != 1:
            raise IndexError(f"a batch has one dimension, but the index has {indices.ndim}")
        indices = np.arange(len(self))[indices]  # counts negative ones from the end
        sizes = self.sizes[indices]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        picked = np.repeat(self.offsets[indices] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return self._wrap(offsets, tuple(array[picked] for array in self.arrays), self.vocabulary)

    def in_vocabulary(self: B, vocabulary: Vocabulary) -> B:
        """Return the same structures with labels numbered as in another vocabulary.

        Labels it does not know get numbers beyond its end, for which it has no label; it is not
        changed. The result is for comparing; decode structures from the original.
        """
        if vocabulary is self.vocabulary:
            return self
        labels, edges, *rest = (array[self._window()] for array in self.arrays)
        both = self.vocabulary.translate(np.concatenate([labels, edges]), vocabulary)
        arrays = (both[: len(labels)], both[len(labels) :], *rest)
        return self._wrap(self.offsets - self.offsets[0], arrays, vocabulary)

    def _decode(self, index: int) -> Any:
        raise NotImplementedError

    def _window(self) -> slice:
        """Return where this batch's elements lie in the arrays it may share with others."""
        return slice(int(self.offsets[0]), int(self.offsets[-1]))

    def _element_slice(self, index: int) -> slice:
        return slice(int(self.offsets[index]), int(self.offsets[index + 1]))

    def __reduce__(self) -> tuple[object, ...]:
        # A slice of a large batch travels alone, not with all it was cut from.
        offsets = self.offsets - self.offsets[0]
        arrays = tuple(np.array(array[self._window()]) for array in self.arrays)
        return (_rebuild, (type(self), offsets, arrays, self.vocabulary))


class SequenceBatch(Batch):
    """A batch of sequences: ``labels`` and ``edges`` of their elements."""

    kind = "sequence"
    fields = ("labels", "edges")

    def _decode(self, index: int) -> Sequence:
        labels, edges = (
            self.vocabulary.labels(array[self._element_slice(index)]) for array in self.arrays
        )
        return Sequence(zip(edges, labels, strict=True))


class TreeBatch(Batch):
    """A batch of trees: ``labels``, ``edges`` and ``n_children`` of their nodes, post-order."""

    kind = "tree"
    fields = ("labels", "edges", "n_children")

    def _decode(self, index: int) -> Tree:
        labels, edges, n_children = (array[self._element_slice(index)] for array in self.arrays)
        return Tree.from_postorder(
            self.vocabulary.labels(labels), self.vocabulary.labels(edges), n_children.tolist()
        )

    def _check(self) -> None:
        super()._check()
        start, stop = int(self.offsets[0]), int(self.offsets[-1])
        n_children = self.arrays[2][start:stop].astype(np.int64)
        ends = self.offsets[1:] - start
        # Reading post-order, each node replaces its children on a stack by itself: before every
        # node the stack must hold its children, and at the end of a tree exactly one node.
        grown = np.cumsum(1 - n_children)
        before = np.concatenate([[0], grown])[self.offsets[:-1] - start]
        depth = grown - np.repeat(before, self.sizes)
        if (self.sizes == 0).any() or (n_children < 0).any() or (depth < 1).any():
            raise StructureError("n_children do not describe trees in post-order")
        if len(self) and (depth[ends - 1] != 1).any():
            raise StructureError("n_children do not describe trees in post-order")


def _checked(array: Any, dtype: type, name: str) -> NDArray[Any]:
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
        raise StructureError(
            f"{name} must be a one-dimensional array of {np.dtype(dtype).name}, "
            f"got {getattr(array, 'dtype', type(array).__name__)}",
            hint=f"convert it: np.ascontiguousarray(x, dtype=np.{np.dtype(dtype).name})",
        )
    if not array.flags.c_contiguous:
        raise StructureError(f"{name} must be contiguous", hint="use np.ascontiguousarray(x)")
    return array.view()  # ours to mark read-only; the caller's array stays as it is


def _rebuild(
    kind: type[B], offsets: Offsets, arrays: tuple[IntArray, ...], vocabulary: Vocabulary
) -> B:
    return kind._wrap(offsets, arrays, vocabulary)
