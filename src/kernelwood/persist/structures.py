"""Batches of structures as flat arrays and the labels they use, and back.

Arrays keep what no text form would: any label, edges of trees, any depth. A slice of a large batch
is as small in a file as if it had been batched alone.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Batch, FlatBatch, ForestBatch, Vocabulary, batch
from kernelwood.errors import ModelFormatError
from kernelwood.persist.state import State

__all__ = ["flat_state", "forest_state", "restore_flat", "restore_forests"]

_VOCABULARY = "vocabulary"
_OFFSETS = "offsets"

# The groups of arrays of a forest batch, each behind its offsets.
_FOREST = {
    "node_offsets": ("labels", "starts", "ends"),
    "edge_offsets": ("heads", "n_children", "probabilities"),
    "child_offsets": ("children",),
}
_ROOTS = ("roots", "fallbacks")

F = TypeVar("F", bound=FlatBatch)


def flat_state(structures: FlatBatch) -> State:
    """Return sequences or trees as arrays and a vocabulary.

    Examples
    --------
    >>> import kernelwood as kw
    >>> words = kw.batch([kw.Sequence(["the", "cat"]), kw.Sequence(["a", "cat"])])
    >>> state = flat_state(words[1:])
    >>> state.texts, state.arrays["labels"].tolist()
    ({'vocabulary': ['cat', 'a']}, [2, 1])
    """
    labels, used = _used_labels(structures)
    part = structures.parts[0].alone()
    arrays = (*labels, *part.arrays[structures.n_label_fields :])
    named = dict(zip(structures.fields, arrays, strict=True))
    return State({}, {_VOCABULARY: used}, {_OFFSETS: part.offsets, **named})


def restore_flat(cls: type[F], state: State) -> F:
    """Make sequences or trees of arrays that need not be right."""
    state.check(texts=[_VOCABULARY], arrays=[_OFFSETS, *cls.fields])
    arrays = (state.arrays[name] for name in cls.fields)
    return cls.from_arrays(state.arrays[_OFFSETS], *arrays, vocabulary=_vocabulary(state))


def forest_state(forests: ForestBatch) -> State:
    """Return forests as arrays and a vocabulary."""
    [labels], used = _used_labels(forests)
    *groups, roots = (part.alone() for part in forests.parts)
    arrays = dict(zip(_ROOTS, roots.arrays, strict=True))
    for (offsets, names), group in zip(_FOREST.items(), groups, strict=True):
        arrays[offsets] = group.offsets
        arrays.update(zip(names, group.arrays, strict=True))
    return State({}, {_VOCABULARY: used}, {**arrays, "labels": labels})


def restore_forests(cls: type[ForestBatch], state: State) -> ForestBatch:
    """Make forests of arrays that need not be right."""
    names = [name for offsets, fields in _FOREST.items() for name in (offsets, *fields)]
    state.check(texts=[_VOCABULARY], arrays=[*names, *_ROOTS])
    get = state.arrays.__getitem__
    groups: list[Any] = [(get(offsets), *map(get, fields)) for offsets, fields in _FOREST.items()]
    nodes, edges, children = groups
    roots: Any = tuple(map(get, _ROOTS))
    vocabulary = _vocabulary(state)
    checked = cls.from_arrays(nodes, edges, children, roots, vocabulary=vocabulary)
    # Laid out again, because arrays can also say more than the forests they stand for: half a span,
    # or a flag that is neither 0 nor 1.
    made: ForestBatch = batch(checked, vocabulary=vocabulary, kind=cls)
    return made


def _used_labels(structures: Batch) -> tuple[list[NDArray[np.int32]], list[str]]:
    """Return the label fields numbered as if no other labels had ever been, and the labels.

    The order of the numbers stays what it was, and 0 stands for the empty label always.
    """
    part = structures.parts[0].alone()
    fields = part.arrays[: structures.n_label_fields]
    used = np.unique(np.concatenate([*fields, np.zeros(1, dtype=np.int32)]))
    if used[-1] >= len(structures.vocabulary):
        raise ModelFormatError(
            f"the labels of a {type(structures).__name__} are numbered as in another vocabulary",
            hint="save the batch it was made of",
        )
    labels = structures.vocabulary.labels(used[1:])
    return [np.searchsorted(used, field).astype(np.int32) for field in fields], labels


def _vocabulary(state: State) -> Vocabulary:
    labels = state.texts[_VOCABULARY]
    vocabulary = Vocabulary(labels)
    if len(vocabulary) != len(labels) + 1:  # the empty label is there without being named
        raise ValueError("a label is in the vocabulary twice, or is empty")
    return vocabulary
