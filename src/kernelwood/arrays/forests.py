from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays.batches import Batch, IntArray
from kernelwood.arrays.ragged import Offsets, Ragged, checked
from kernelwood.arrays.vocabulary import Vocabulary
from kernelwood.errors import StructureError
from kernelwood.structures import Forest

_EDGE_FIELDS = ("heads", "n_children", "probabilities")
_ROOT_FIELDS = ("roots", "fallbacks")


class ForestBatch(Batch):
    """A batch of packed forests.

    Four groups of arrays, each with one segment per forest: for nodes, ``labels`` and spans
    (``starts``, ``ends``; -1 for none); for hyper-edges, ``heads``, ``n_children`` and
    ``probabilities``; the ``children`` of all hyper-edges; for the forest itself, ``roots`` and
    ``fallbacks``. Nodes are counted from the first node of the forest.
    """

    kind = "forest"
    unit = "nodes"
    fields = ("labels", "starts", "ends")
    n_label_fields = 1

    @classmethod
    def from_arrays(
        cls,
        nodes: tuple[Offsets, IntArray, IntArray, IntArray],
        edges: tuple[Offsets, IntArray, IntArray, NDArray[np.float64]],
        children: tuple[Offsets, IntArray],
        roots: tuple[IntArray, IntArray],
        *,
        vocabulary: Vocabulary,
    ) -> ForestBatch:
        """Wrap existing arrays, which may be read-only or memory-mapped, without copying.

        Parameters
        ----------
        nodes, edges, children : tuples of ndarrays
            Offsets (int64) and the arrays they cut, in the order of the class: int32, but
            float64 for probabilities.
        roots : tuple of ndarrays
            ``roots`` and ``fallbacks``, one value for each forest.
        vocabulary : Vocabulary
            Labels of the label ids.
        """
        one_each = np.arange(len(roots[0]) + 1, dtype=np.int64)
        groups: tuple[tuple[Any, ...], ...] = (nodes, edges, children, (one_each, *roots))
        named = (cls.fields, _EDGE_FIELDS, ("children",), _ROOT_FIELDS)
        batch = cls._wrap(
            tuple(_part(names, group) for names, group in zip(named, groups, strict=True)),
            vocabulary,
        )
        batch._check()
        for part, names in zip(batch.parts, named, strict=True):
            part.check(names)
            if len(part) != len(batch):
                raise StructureError(
                    f"{', '.join(names)} are not divided among {len(batch)} forests"
                )
        for forest in batch:  # its constructor checks what the arrays say
            del forest
        return batch

    @property
    def edges(self) -> Ragged:
        """The hyper-edges: heads, numbers of children, probabilities."""
        return self.parts[1]

    def _decode(self, index: int) -> Forest:
        nodes, edges, children, roots = (
            tuple(array[part.piece(index)].tolist() for array in part.arrays) for part in self.parts
        )
        labels, starts, ends = nodes
        return Forest(
            self.vocabulary.labels(np.asarray(labels)),
            _edges(*edges, *children),
            roots[0][0],
            None if starts[0] < 0 else zip(starts, ends, strict=True),
            fallback=bool(roots[1][0]),
        )


def flatten_forests(forests: list[Forest], vocabulary: Vocabulary) -> ForestBatch:
    """Lay forests out as flat arrays."""
    labels = list(chain.from_iterable(forest.labels for forest in forests))
    spans = [(-1, -1) if s is None else s for forest in forests for s in _spans(forest)]
    edges = [edge for forest in forests for edge in forest.edges]
    ids = np.array(vocabulary.add_all(labels), dtype=np.int32)
    nodes = Ragged.from_sizes(
        [forest.n_nodes for forest in forests], ids, *_columns(spans, np.int32, np.int32)
    )
    hyper_edges = Ragged.from_sizes(
        [forest.n_edges for forest in forests],
        *_columns([(h, len(c), p) for h, c, p in edges], np.int32, np.int32, np.float64),
    )
    children = Ragged.from_sizes(
        [sum(len(c) for _, c, _ in forest.edges) for forest in forests],
        np.array([child for _, c, _ in edges for child in c], dtype=np.int32),
    )
    roots = Ragged.from_sizes(
        [1] * len(forests),
        *_columns([(forest.root, forest.fallback) for forest in forests], np.int32, np.int32),
    )
    return ForestBatch._wrap((nodes, hyper_edges, children, roots), vocabulary)


def _spans(forest: Forest) -> Any:
    return forest.spans if forest.spans is not None else [None] * forest.n_nodes


def _columns(rows: list[tuple[Any, ...]], *dtypes: type) -> list[NDArray[Any]]:
    columns = zip(*rows, strict=True) if rows else ((),) * len(dtypes)
    return [np.array(column, dtype=dtype) for column, dtype in zip(columns, dtypes, strict=True)]


def _part(names: tuple[str, ...], group: tuple[Any, ...]) -> Ragged:
    if len(group) != len(names) + 1:
        raise StructureError(
            f"expected offsets and {len(names)} arrays ({', '.join(names)}), got {len(group)}"
        )
    arrays = (
        checked(array, np.float64 if name == "probabilities" else np.int32, name)
        for name, array in zip(names, group[1:], strict=True)
    )
    offsets = checked(group[0], np.int64, f"offsets of {names[0]}")
    return Ragged(offsets, tuple(arrays))


def _edges(
    heads: list[int], n_children: list[int], probabilities: list[float], children: list[int]
) -> list[tuple[int, tuple[int, ...], float]]:
    if any(n < 1 for n in n_children) or sum(n_children) != len(children):
        raise StructureError("n_children do not add up to the children there are")
    each = iter(children)
    return [
        (head, tuple(next(each) for _ in range(n)), probability)
        for head, n, probability in zip(heads, n_children, probabilities, strict=True)
    ]
