"""Arrays and batches that grow at their end, without a copy each time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Batch, ExampleBatch, Ragged, Vocabulary
from kernelwood.kernels import Kernel, drop_unread_views, needed_views

__all__ = ["GrowingArray", "GrowingBatch", "GrowingExamples", "growing_batch"]


class GrowingArray:
    """Rows of an array, with room for more behind them.

    Room is doubled when it is used up, so that adding n rows one by one copies less than 2 n. The
    array it begins with is never written to.

    Examples
    --------
    >>> numbers = GrowingArray(np.array([1, 2]))
    >>> numbers.append(np.array([3]))
    >>> numbers.rows
    array([1, 2, 3])
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self._room = array
        self._n = len(array)

    @property
    def rows(self) -> NDArray[Any]:
        """All rows so far; read-only, and not changed by rows that are added later."""
        rows = self._room[: self._n]
        rows.flags.writeable = False
        return rows

    def append(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        end = self._n + len(rows)
        if end > len(self._room):
            shape = (max(end, 2 * self._n), *self._room.shape[1:])
            room = np.empty(shape, dtype=self._room.dtype)
            room[: self._n] = self._room[: self._n]
            self._room = room
        self._room[self._n : end] = rows
        self._n = end


class GrowingBatch:
    """A batch of sequences, trees or forests to which others can be added.

    Labels are numbered by a vocabulary of its own from the first addition on; vocabularies of
    batches that are added do not change.
    """

    def __init__(self, batch: Batch) -> None:
        self._kind: Any = type(batch)
        alone = [part.alone() for part in batch.parts]
        self._offsets = [GrowingArray(part.offsets) for part in alone]
        self._arrays = [[GrowingArray(array) for array in part.arrays] for part in alone]
        self._vocabulary = batch.vocabulary
        self._grown = False

    @property
    def batch(self) -> Any:
        """All structures so far."""
        parts = (
            Ragged(offsets.rows, tuple(array.rows for array in arrays))
            for offsets, arrays in zip(self._offsets, self._arrays, strict=True)
        )
        return self._kind._wrap(tuple(parts), self._vocabulary)

    def append(self, batch: Any) -> None:
        """Add structures at the end."""
        if not self._grown:
            self._vocabulary = Vocabulary(list(self._vocabulary)[1:])
            self._grown = True
        for number, part in enumerate(batch.parts):
            part = part.alone()
            arrays = list(part.arrays)
            if number == 0:
                labels = arrays[: batch.n_label_fields]
                arrays[: batch.n_label_fields] = self._renumber(labels, batch.vocabulary)
            offsets = self._offsets[number]
            offsets.append(offsets.rows[-1] + part.offsets[1:])
            for growing, array in zip(self._arrays[number], arrays, strict=True):
                growing.append(array)

    def take(self, positions: NDArray[np.int64]) -> Any:
        """Return the structures at some positions, in that order, as a batch."""
        return self.batch.take(positions)

    def _renumber(
        self, fields: list[NDArray[np.int32]], vocabulary: Vocabulary
    ) -> list[NDArray[np.int32]]:
        used = np.unique(np.concatenate(fields))
        numbers = np.array(self._vocabulary.add_all(vocabulary.labels(used)), dtype=np.int32)
        return [numbers[np.searchsorted(used, field)] for field in fields]


class GrowingExamples:
    """A batch of examples to which others can be added.

    Parameters
    ----------
    examples : ExampleBatch
    kernel : Kernel
        The views that it reads are kept, as batches that grow.
    """

    def __init__(self, examples: ExampleBatch, kernel: Kernel) -> None:
        self._kernel = kernel
        self._examples = list(drop_unread_views(examples, kernel))
        names = needed_views(kernel) or ()
        self._views = {name: GrowingBatch(examples.view(name)) for name in names}

    @property
    def batch(self) -> ExampleBatch:
        """All examples so far."""
        views = {name: view.batch for name, view in self._views.items()}
        return ExampleBatch(self._examples, views)

    def append(self, examples: ExampleBatch) -> None:
        """Add examples at the end."""
        batches = {name: examples.view(name) for name in self._views}
        self._examples.extend(drop_unread_views(examples, self._kernel))
        for name, view in self._views.items():
            view.append(batches[name])

    def take(self, positions: NDArray[np.int64]) -> ExampleBatch:
        """Return the examples at some positions, in that order, as a batch."""
        views = {name: view.take(positions) for name, view in self._views.items()}
        return ExampleBatch([self._examples[i] for i in positions.tolist()], views)


def growing_batch(batch: Any, kernel: Kernel) -> GrowingBatch | GrowingExamples:
    """Return structures that a kernel compares as a batch that can grow.

    Examples
    --------
    >>> import kernelwood as kw
    >>> trees = kw.batch([kw.Tree.from_brackets("(S (NP x))")])
    >>> growing = growing_batch(trees, kw.SubsetTreeKernel())
    >>> growing.append(kw.batch([kw.Tree.from_brackets("(S (VP y))")]))
    >>> list(growing.batch)
    [Tree('(S (NP x))'), Tree('(S (VP y))')]
    """
    if isinstance(batch, ExampleBatch):
        return GrowingExamples(batch, kernel)
    return GrowingBatch(batch)
