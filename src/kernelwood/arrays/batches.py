from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays.kept import KeptValues
from kernelwood.arrays.onedim import OneDimensional, row_key
from kernelwood.arrays.ragged import Offsets, Ragged, checked
from kernelwood.arrays.vocabulary import Vocabulary
from kernelwood.errors import StructureError
from kernelwood.structures import Sequence, Tree
from kernelwood.threads import lazy_property

B = TypeVar("B", bound="Batch")
F = TypeVar("F", bound="FlatBatch")
IntArray = NDArray[np.int32]
_T = TypeVar("_T")


class Batch(OneDimensional):
    """Structures laid out as flat, read-only arrays.

    A batch looks to scikit-learn like a one-dimensional array of structures: it has ``shape``,
    and can be indexed by an integer, a slice, a boolean mask or an array of indices. Indexing
    with a slice does not copy data.
    """

    kind: ClassVar[str]
    fields: tuple[str, ...]
    unit: ClassVar[str] = "elements"  # what the structures consist of
    n_label_fields: int = 2  # so many of the fields hold labels

    vocabulary: Vocabulary
    parts: tuple[Ragged, ...]

    @classmethod
    def _wrap(cls: type[B], parts: tuple[Ragged, ...], vocabulary: Vocabulary) -> B:
        batch = cls.__new__(cls)
        batch.parts, batch.vocabulary = parts, vocabulary
        return batch

    def _like(self: B, parts: tuple[Ragged, ...], vocabulary: Vocabulary | None = None) -> B:
        """Return a batch of other structures with the vocabulary and properties of this one."""
        return self._wrap(parts, self.vocabulary if vocabulary is None else vocabulary)

    def in_layout_of(self: B, other: Any) -> B:
        """Return the same structures in the array layout of another batch of their kind."""
        return self

    def _check(self) -> None:
        self.parts[0].check(self.fields)
        for name, array in zip(self.fields, self.arrays[: self.n_label_fields], strict=False):
            used = array[self.parts[0].window]
            if used.size and (used.min() < 0 or used.max() >= len(self.vocabulary)):
                raise StructureError(
                    f"{name} hold ids outside the vocabulary of {len(self.vocabulary)} labels"
                )

    @property
    def offsets(self) -> Offsets:
        """Start of the elements or nodes of each structure, and end of the last."""
        return self.parts[0].offsets

    @property
    def arrays(self) -> tuple[IntArray, ...]:
        """The arrays named by ``fields``, with one value for each element or node."""
        return self.parts[0].arrays

    @lazy_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of elements or nodes of each structure."""
        return self.parts[0].sizes

    @lazy_property
    def largest(self) -> int:
        """Number of elements or nodes of the largest structure."""
        return int(self.sizes.max(initial=0))

    @lazy_property
    def n_elements(self) -> int:
        """Number of elements or nodes of all structures together."""
        return int(self.offsets[-1] - self.offsets[0])

    @lazy_property
    def kept(self) -> KeptValues:
        """Cached values of the structures, which do not depend on the numbers of labels."""
        return KeptValues()

    def remember(self, key: Hashable, compute: Callable[[], _T], *, room: int | None = None) -> _T:
        """Return the cached result of ``compute`` for the key; see :class:`KeptValues`."""
        return self.kept.get(key, compute, room)

    @property
    def nbytes(self) -> int:
        """Memory of the structures in bytes; slices share the arrays."""
        return sum(
            part.offsets.nbytes + sum(array[part.window].nbytes for array in part.arrays)
            for part in self.parts
        )

    @property
    def prepared_nbytes(self) -> int:
        """Memory in bytes of the data that kernels cache with the batch."""
        return self.kept.nbytes

    def forget(self) -> None:
        """Delete the data that kernels cache with the batch; the next call computes it again."""
        self.kept.clear()

    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first of each group of equal structures, and the group of each structure."""
        everything = np.arange(len(self))
        return everything, everything

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Any]:
        return (self._decode(i) for i in range(len(self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} {self.kind}s, {self.n_elements:,} {self.unit})"

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
            if (start, stop, step) == (0, len(self), 1):
                return self
            if step == 1:
                return self._like(tuple(p.cut(start, stop) for p in self.parts))
        return self.take(np.arange(len(self))[key])

    def take(self: B, indices: NDArray[np.int64]) -> B:
        """Return the structures at ``indices``, in that order, as a new batch."""
        indices = np.asarray(indices, dtype=np.int64)
        if indices.ndim != 1:
            raise IndexError(f"a batch has one dimension, but the index has {indices.ndim}")
        indices = np.arange(len(self))[indices]  # counts negative ones from the end
        return self._like(tuple(part.take(indices) for part in self.parts))

    def in_vocabulary(self: B, vocabulary: Vocabulary) -> B:
        """Return the same structures with labels numbered as in another vocabulary.

        Labels that the other vocabulary does not have get numbers beyond its end; it is not
        changed. Use the result for comparisons only; decode structures from the original.
        """
        if vocabulary is self.vocabulary:
            return self
        first, *rest = self.parts
        first = first.alone()
        labels = first.arrays[: self.n_label_fields]
        translated = self.vocabulary.translate(np.concatenate(labels), vocabulary)
        first = first.replace(*translated.reshape(len(labels), -1))
        made = self._like((first, *rest), vocabulary)
        made.kept = self.kept
        return made

    def _decode(self, index: int) -> Any:
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        # A slice of a large batch travels alone, not with all it was cut from.
        alone = [part.alone() for part in self.parts]
        plain = [(part.offsets, tuple(np.array(array) for array in part.arrays)) for part in alone]
        return (_rebuild, (type(self), plain, self.vocabulary))


class FlatBatch(Batch):
    """A batch whose arrays all have one value for each element or node."""

    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first of each group of equal structures, and the group of each structure.

        Examples
        --------
        >>> from kernelwood.arrays import batch
        >>> batch([Sequence(["a"]), Sequence(["b"]), Sequence(["a"])]).distinct()
        (array([0, 1]), array([0, 1, 0]))
        """
        return self.remember("distinct", self.parts[0].distinct)

    @classmethod
    def from_arrays(cls: type[F], offsets: Offsets, *arrays: IntArray, vocabulary: Vocabulary) -> F:
        """Wrap existing arrays, which may be read-only or memory-mapped, without copying.

        Parameters
        ----------
        offsets : ndarray of int64, shape (n + 1,)
            Structure ``i`` owns the elements ``offsets[i]`` to ``offsets[i + 1]``.
        *arrays : ndarrays of int32
            One for each of ``fields``, all of the same length.
        vocabulary : Vocabulary
            Labels of the label and edge ids.
        """
        if len(arrays) != len(cls.fields):
            raise StructureError(
                f"{cls.__name__} needs {len(cls.fields)} arrays ({', '.join(cls.fields)}), "
                f"got {len(arrays)}"
            )
        flat = tuple(
            checked(array, np.int32, name) for name, array in zip(cls.fields, arrays, strict=True)
        )
        batch = cls._wrap((Ragged(checked(offsets, np.int64, "offsets"), flat),), vocabulary)
        batch._check()
        return batch


class SequenceBatch(FlatBatch):
    """A batch of sequences: ``labels`` and ``edges`` of their elements."""

    kind = "sequence"
    fields = ("labels", "edges")

    def _decode(self, index: int) -> Sequence:
        labels, edges = (
            self.vocabulary.labels(array[self.parts[0].piece(index)]) for array in self.arrays
        )
        return Sequence(zip(edges, labels, strict=True))


class TreeBatch(FlatBatch):
    """A batch of trees: ``labels``, ``edges`` and ``n_children`` of their nodes, post-order."""

    kind = "tree"
    unit = "nodes"
    fields = ("labels", "edges", "n_children")

    def _decode(self, index: int) -> Tree:
        labels, edges, n_children = (array[self.parts[0].piece(index)] for array in self.arrays)
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


def _rebuild(kind: type[B], parts: list[Any], vocabulary: Vocabulary) -> B:
    return kind._wrap(tuple(Ragged(*part) for part in parts), vocabulary)
