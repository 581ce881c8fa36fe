"""Batches of structures as flat arrays and the labels they use, and back.

Arrays keep what no text form would: any label, edges of trees, any depth. A slice of a large batch
is as small in a file as if it had been batched alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Batch, FlatBatch, ForestBatch, Vocabulary, batch
from kernelwood.errors import ModelFormatError
from kernelwood.persist.state import State

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
    [labels], used = used_labels([structures])
    part = structures.parts[0].alone()
    arrays = (*labels, *part.arrays[structures.n_label_fields :])
    named = dict(zip(structures.fields, arrays, strict=True))
    return State({}, {_VOCABULARY: used}, {_OFFSETS: part.offsets, **named})


def restore_flat(cls: type[F], state: State) -> F:
    """Make sequences or trees of arrays that need not be right."""
    state.check(texts=[_VOCABULARY], arrays=[_OFFSETS, *cls.fields])
    arrays = (state.arrays[name] for name in cls.fields)
    return cls.from_arrays(
        state.arrays[_OFFSETS], *arrays, vocabulary=vocabulary_of(state.texts[_VOCABULARY])
    )


def forest_state(forests: ForestBatch) -> State:
    """Return forests as arrays and a vocabulary."""
    [[labels]], used = used_labels([forests])
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
    vocabulary = vocabulary_of(state.texts[_VOCABULARY])
    checked = cls.from_arrays(nodes, edges, children, roots, vocabulary=vocabulary)
    # Laid out again, because arrays can also say more than the forests they stand for: half a span,
    # or a flag that is neither 0 nor 1.
    made: ForestBatch = batch(checked, vocabulary=vocabulary, kind=cls)
    return made


def used_labels(batches: Sequence[Batch]) -> tuple[list[list[NDArray[np.int32]]], list[str]]:
    """Return the label fields of batches numbered without unused labels, and the labels.

    Batches with different vocabularies are numbered together. Labels stay in the order of the
    first vocabulary that has them; 0 stands for the empty label always.
    """
    common = Vocabulary()
    numbered = []
    for structures in batches:
        fields = structures.parts[0].alone().arrays[: structures.n_label_fields]
        used = np.unique(np.concatenate([*fields, np.zeros(1, dtype=np.int32)]))
        if used[-1] >= len(structures.vocabulary):
            raise ModelFormatError(
                f"the labels of a {type(structures).__name__} are numbered as in another "
                "vocabulary",
                hint="save the batch it was made of",
            )
        numbers = np.array(common.add_all(structures.vocabulary.labels(used)), dtype=np.int32)
        numbered.append([numbers[np.searchsorted(used, field)] for field in fields])
    return numbered, list(common)[1:]


def vocabulary_of(labels: list[str]) -> Vocabulary:
    """Return the vocabulary of stored labels; raise ValueError if one is there twice or empty."""
    vocabulary = Vocabulary(labels)
    if len(vocabulary) != len(labels) + 1:  # the empty label is there without being named
        raise ValueError("a label is in the vocabulary twice, or is empty")
    return vocabulary
