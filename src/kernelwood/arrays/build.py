from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np

from kernelwood.arrays.batches import Batch, SequenceBatch, TreeBatch
from kernelwood.arrays.example_batch import ExampleBatch
from kernelwood.arrays.forests import ForestBatch, flatten_forests
from kernelwood.arrays.frames import as_rows
from kernelwood.arrays.graphs import GraphBatch, flatten_graphs
from kernelwood.arrays.ragged import Ragged
from kernelwood.arrays.vector_rows import VectorBatch, flatten_vectors, is_matrix, is_vector
from kernelwood.arrays.vocabulary import Vocabulary
from kernelwood.errors import StructureError
from kernelwood.structures import Forest, Graph, Sequence, Tree
from kernelwood.text import Document, Example, Sentence, adapt, adaptable, adapting_hint

# Structure -> the batch that holds it; a new kind of structure adds a row here. Vectors have no
# class of their own, see `is_vector`.
KINDS: dict[type, type[Batch] | type[ExampleBatch]] = {
    Sequence: SequenceBatch,
    Tree: TreeBatch,
    Forest: ForestBatch,
    Graph: GraphBatch,
    Example: ExampleBatch,
}
_ARTICLES = {
    "sequence": "a sequence",
    "tree": "a tree",
    "forest": "a forest",
    "graph": "a graph",
    "example": "an example",
    "vector": "a vector",
}


def batch(
    structures: Iterable[Any],
    *,
    vocabulary: Vocabulary | None = None,
    kind: type[Any] | None = None,
) -> Any:
    """Return structures of one kind as a batch: flat arrays that kernels read.

    Kernels accept plain lists too; batching once saves the conversion when the same structures
    are compared several times.

    Parameters
    ----------
    structures : iterable of Sequence, Tree, Forest, Graph, Example or vector
        All of one kind. A vector is a list, tuple or array of numbers, a mapping of names to
        numbers, or a sparse row; a matrix, dense or sparse, is read row by row. Trees of NLTK are
        accepted. A column of a DataFrame counts as a list, a DataFrame with one column as that
        column, and one with several columns as examples with a view for each column. A tuple of two
        structures or examples is a pair, see `Example.pair`; its id is its position.
    vocabulary : Vocabulary, optional
        Vocabulary of another batch, to number labels alike; new labels are added to it. By default
        a new one.
    kind : type, optional
        Class of the batch; needed only for an empty list.

    Returns
    -------
    SequenceBatch, TreeBatch, ForestBatch, GraphBatch, VectorBatch or ExampleBatch

    Examples
    --------
    >>> import kernelwood as kw
    >>> kw.batch([kw.Sequence("the cat".split()), kw.Sequence("a dog sat".split())])
    SequenceBatch(2 sequences, 5 elements)
    """
    structures = as_rows(structures)
    if kind in (None, VectorBatch) and is_matrix(structures):
        return VectorBatch.from_matrix(structures)
    structures = _as_list(structures)
    if tuple in {*map(type, structures)}:
        structures = [
            Example.pair(str(row), *structure) if _is_pair(structure) else structure
            for row, structure in enumerate(structures)
        ]
    types = {*map(type, structures)}
    if any(map(adaptable, types)):
        structures = [adapt(structure) for structure in structures]
    made = kind or _kind_of(structures)
    if not all(KINDS.get(one) is made for one in types):
        for position, structure in enumerate(structures):
            if _kind_of_one(structure) is not made:
                raise _wrong_kind(structure, position, made)
    if made is ExampleBatch:
        return ExampleBatch.from_examples(structures)
    vocabulary = Vocabulary() if vocabulary is None else vocabulary
    return _FLATTEN[made](structures, vocabulary)


def as_batch(structures: Any, kind: type[Any]) -> Any:
    """Return ``structures`` as a batch of the given kind; such a batch is returned unchanged."""
    if isinstance(structures, kind):
        return structures
    if type(structures) is list and kind in _FLATTEN:  # mostly
        types = {*map(type, structures)}
        if len(types) == 1 and KINDS.get(types.pop()) is kind:
            return _FLATTEN[kind](structures, Vocabulary())
    if isinstance(structures, (Batch, ExampleBatch)):
        raise StructureError(
            f"expected {kind.kind}s, got a batch of {structures.kind}s", hint=_view_hint(structures)
        )
    return batch(structures, kind=kind)


def _as_list(structures: Any) -> list[Any]:
    kind = type(structures)
    if kind in KINDS or isinstance(structures, Mapping) or adaptable(kind):
        raise StructureError(
            f"expected a list of structures, got a single {kind.__name__}",
            hint="put it in a list: [structure]; for one pair use kernel.value(a, b)",
        )
    if isinstance(structures, (str, bytes)):
        raise StructureError(
            f"expected a list of structures, got {'a string' if kind is str else kind.__name__}",
            hint="parse it first: kw.Tree.from_brackets(text) or kw.Sequence(text.split())",
        )
    if isinstance(structures, (set, frozenset)):
        raise StructureError(
            "expected a list of structures, got a set", hint="a set has no order; give a list"
        )
    hint = adapting_hint(structures)
    if hint is None:
        try:
            return list(structures)
        except TypeError:
            pass
    raise StructureError(f"expected a list of structures, got {kind.__name__}", hint=hint)


def _kind_of(structures: list[Any]) -> Any:
    if not structures:
        raise StructureError(
            "an empty list does not tell what kind of structures it would hold",
            hint="say it: kw.batch([], kind=kw.arrays.TreeBatch)",
        )
    kind = _kind_of_one(structures[0])
    if kind is None:
        raise _wrong_kind(structures[0], 0, None)
    return kind


def _kind_of_one(structure: object) -> Any:
    return KINDS.get(type(structure)) or (VectorBatch if is_vector(structure) else None)


def _is_pair(structure: object) -> bool:
    return (
        type(structure) is tuple
        and len(structure) == 2
        and all(_kind_of_one(part) or adaptable(type(part)) for part in structure)
    )


def _wrong_kind(structure: object, position: int, wanted: Any) -> StructureError:
    expected = (
        _ARTICLES[wanted.kind] if wanted else "a Sequence, Tree, Forest, Graph, Example or vector"
    )
    hint = None
    if isinstance(structure, str):
        hint = "parse it first: kw.Tree.from_brackets(text) or kw.Sequence(text.split())"
    elif isinstance(structure, Example):
        hint = _view_hint(structure)
    elif isinstance(structure, Tree) and wanted is ForestBatch:
        hint = "make it a forest of one tree: kw.Forest.from_trees([tree])"
    elif isinstance(structure, Forest) and wanted is TreeBatch:
        hint = "take its best tree, forest.best_tree(), or compare forests: kw.ForestKernel()"
    elif wanted is VectorBatch and isinstance(structure, Real):
        hint = "put a single vector in a list: [vector]"
    elif isinstance(structure, Sentence):
        hint = "make a structure of it: kw.views.make_view('lct', sentence)[0]"
    elif isinstance(structure, Document):
        hint = "make structures of document.sentences(): kw.views.make_view('lct', sentence)[0]"
    elif isinstance(structure, Graph):
        hint = "compare graphs by kw.AllPathsGraphKernel() or kw.WeisfeilerLehmanKernel()"
    elif given := adapting_hint(structure):
        hint = given
    elif wanted is VectorBatch:
        hint = "a vector is a list or array of numbers, or a mapping of names to numbers"
    elif isinstance(structure, (tuple, list)):
        hint = "wrap it: kw.Sequence(elements)"
    return StructureError(
        f"structure {position} should be {expected}, got {type(structure).__name__}", hint=hint
    )


def _view_hint(found: object) -> str | None:
    if isinstance(found, (Example, ExampleBatch)):
        return "name the view a kernel reads: kw.OnView('tree', kernel)"
    return None


def _ids(labels: list[str], vocabulary: Vocabulary) -> Any:
    if not any(labels) and set(map(type, labels)) <= {str}:  # edges, mostly
        return np.zeros(len(labels), dtype=np.int32)
    return np.array(vocabulary.add_all(labels), dtype=np.int32)


def _flatten_sequences(sequences: list[Sequence], vocabulary: Vocabulary) -> SequenceBatch:
    # Views with few values give the same object again and again.
    numbers: dict[int, int] = {}
    rows = [numbers.setdefault(id(sequence), len(numbers)) for sequence in sequences]
    if 2 * len(numbers) < len(sequences):
        distinct: dict[int, Sequence] = {id(sequence): sequence for sequence in sequences}
        return _flatten_sequences(list(distinct.values()), vocabulary).take(np.array(rows))
    labels = list(chain.from_iterable(sequence.nodes for sequence in sequences))
    edges = list(chain.from_iterable(sequence.edges for sequence in sequences))
    sizes = [len(sequence) for sequence in sequences]
    elements = Ragged.from_sizes(sizes, _ids(labels, vocabulary), _ids(edges, vocabulary))
    return SequenceBatch._wrap((elements,), vocabulary)


def _flatten_trees(trees: list[Tree], vocabulary: Vocabulary) -> TreeBatch:
    labels: list[str] = []
    edges: list[str] = []
    n_children: list[int] = []
    for tree in trees:
        tree_labels, tree_edges, tree_n_children = tree.flatten()
        labels += tree_labels
        edges += tree_edges
        n_children += tree_n_children
    nodes = Ragged.from_sizes(
        [tree.n_nodes for tree in trees],
        _ids(labels, vocabulary),
        _ids(edges, vocabulary),
        np.array(n_children, dtype=np.int32),
    )
    return TreeBatch._wrap((nodes,), vocabulary)


_FLATTEN: dict[Any, Callable[[list[Any], Vocabulary], Batch]] = {
    SequenceBatch: _flatten_sequences,
    TreeBatch: _flatten_trees,
    ForestBatch: flatten_forests,
    GraphBatch: flatten_graphs,
    VectorBatch: flatten_vectors,
}
