from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import StructureError
from kernelwood.threads import LOCK


class Vocabulary:
    """Labels and their integer ids; labels can be added, and ids never change.

    The empty label always has the id 0. Sharing one vocabulary lets structures batched at
    different times be compared without translating labels; kernels also accept batches with
    different vocabularies and translate them.

    Parameters
    ----------
    labels : iterable of str, optional
        Labels to start with.

    Notes
    -----
    Thread safety: all methods.

    Examples
    --------
    >>> vocabulary = Vocabulary(["NP", "VP"])
    >>> vocabulary.add("NP"), vocabulary.add("PP"), len(vocabulary)
    (1, 3, 4)
    >>> vocabulary.label(2)
    'VP'
    """

    def __init__(self, labels: Iterable[str] = ()) -> None:
        self._labels: list[str] = [""]
        self._ids: dict[str, int] = {"": 0}
        self.add_all(labels)

    def add(self, label: str) -> int:
        """Return the id of ``label``, giving it one if it is new."""
        return self.add_all([label])[0]

    def add_all(self, labels: Iterable[str]) -> list[int]:
        """Return the ids of many labels, giving new ones ids in order of appearance."""
        labels = list(labels)
        ids = self._ids
        if not all(map(ids.__contains__, labels)):
            with LOCK:
                new = [label for label in dict.fromkeys(labels) if label not in ids]
                for label in new:
                    if not isinstance(label, str):
                        raise StructureError(
                            f"labels must be str, got {label!r} ({type(label).__name__})",
                            hint="convert it with str(...) first",
                        )
                # The list grows first, so that a reader never sees an id without a label.
                first = len(self._labels)
                self._labels.extend(new)
                ids.update(zip(new, range(first, first + len(new)), strict=True))
        return [ids[label] for label in labels]

    def get(self, label: str) -> int | None:
        """Return the id of ``label``, or None if it has none."""
        return self._ids.get(label)

    def label(self, id: int) -> str:
        """Return the label with this id."""
        return self._labels[id]

    def labels(self, ids: NDArray[np.int32]) -> list[str]:
        """Return the labels of an array of ids."""
        known = self._labels
        return [known[i] for i in ids.tolist()]

    def translate(self, ids: NDArray[np.int32], target: Vocabulary) -> NDArray[np.int32]:
        """Return the ids that ``target`` uses for the same labels.

        Labels that ``target`` does not have get ids beyond its end, which match none of its labels;
        ``target`` is not changed.
        """
        if target is self or ids.size == 0:
            return ids
        n = int(ids.max()) + 1
        everything = n <= 2 * ids.size  # of a small batch, to find out what is used takes longer
        used = range(n) if everything else np.flatnonzero(np.bincount(ids)).tolist()
        size = beyond = len(target)
        found = []
        for known in map(target._ids.get, [self._labels[one] for one in used]):
            # Another thread may add labels meanwhile, whose ids were given to unknown labels here.
            if known is None or known >= size:
                known = beyond
                beyond += 1
            found.append(known)
        if everything:
            return np.array(found, dtype=np.int32)[ids]
        table = np.zeros(n, dtype=np.int32)
        table[used] = found
        return table[ids]

    def __len__(self) -> int:
        return len(self._labels)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._labels))

    def __contains__(self, label: object) -> bool:
        return label in self._ids

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} labels)"

    def __reduce__(self) -> tuple[object, ...]:
        return (Vocabulary, (self._labels[1:],))
