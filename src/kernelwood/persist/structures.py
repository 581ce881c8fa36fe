"""Batches of structures and tables of examples as arrays, and back.

Arrays store all structures, which text formats do not: any label, edges of trees, any depth. A
slice of a large batch takes as much space as a separate batch. Tables are saved without making
examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import (
    Batch,
    ExampleBatch,
    FlatBatch,
    ForestBatch,
    GraphBatch,
    Ragged,
    SequenceBatch,
    TreeBatch,
    VectorBatch,
    ViewColumn,
    Vocabulary,
    batch,
    rises,
)
from kernelwood.errors import ModelFormatError, StructureError
from kernelwood.persist.state import State
from kernelwood.structures import shorten
from kernelwood.text import Origin

_VOCABULARY = "vocabulary"
_OFFSETS = "offsets"

# The groups of arrays of a forest batch, each behind its offsets.
_FOREST = {
    "node_offsets": ("labels", "starts", "ends"),
    "edge_offsets": ("heads", "n_children", "probabilities"),
    "child_offsets": ("children",),
}
_ROOTS = ("roots", "fallbacks")

_PLACES = ("line", "start", "end")  # of an origin
_UNKNOWN = -1  # a missing place, or the path of an example without an origin
_FLAT: dict[str, type[FlatBatch]] = {
    "sequence": SequenceBatch,
    "tree": TreeBatch,
    "graph": GraphBatch,
}

F = TypeVar("F", bound=FlatBatch)


def flat_state(structures: FlatBatch) -> State:
    """Return sequences, trees or graphs as arrays and a vocabulary.

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
    """Return sequences, trees or graphs from arrays of an untrusted file."""
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
    """Return forests from arrays of an untrusted file."""
    names = [name for offsets, fields in _FOREST.items() for name in (offsets, *fields)]
    state.check(texts=[_VOCABULARY], arrays=[*names, *_ROOTS])
    get = state.arrays.__getitem__
    groups: list[Any] = [(get(offsets), *map(get, fields)) for offsets, fields in _FOREST.items()]
    nodes, edges, children = groups
    roots: Any = tuple(map(get, _ROOTS))
    vocabulary = vocabulary_of(state.texts[_VOCABULARY])
    checked = cls.from_arrays(nodes, edges, children, roots, vocabulary=vocabulary)
    # Built again, because arrays can hold what no forest has: half a span, or a flag of 2.
    made: ForestBatch = batch(checked, vocabulary=vocabulary, kind=cls)
    return made


def vector_state(vectors: VectorBatch) -> State:
    """Return vectors as arrays: a matrix, or the columns and values of sparse rows.

    Examples
    --------
    >>> import kernelwood as kw
    >>> state = vector_state(kw.batch([{"a": 1.0, "b": 2.0}, {"b": 3.0}])[1:])
    >>> state.parameters, state.texts, state.arrays["columns"].tolist()
    ({'width': None}, {'vocabulary': ['b']}, [1])
    """
    if vectors.is_dense:
        return State({"width": vectors.width}, {}, {"values": np.array(vectors.matrix())})
    rows = vectors.parts[0].alone()
    columns, values = rows.arrays
    texts = {}
    if vectors.width is None:
        [[columns]], texts[_VOCABULARY] = used_labels([vectors])
    arrays = {_OFFSETS: rows.offsets, "columns": columns, "values": values}
    return State({"width": vectors.width}, texts, arrays)


def restore_vector_rows(cls: type[VectorBatch], state: State) -> VectorBatch:
    """Return vectors from arrays of an untrusted file."""
    width = state.parameters.get("width")
    sparse = width is None or _OFFSETS in state.arrays
    names = [_OFFSETS, "columns", "values"] if sparse else ["values"]
    state.check(["width"], [_VOCABULARY] if width is None else [], names)
    if width is not None and type(width) is not int:
        raise ValueError("the width of vectors must be a whole number")
    arrays = [state.arrays[name] for name in names]
    if sparse:
        vocabulary = vocabulary_of(state.texts[_VOCABULARY]) if width is None else None
        return cls.from_arrays(*arrays, width=width, vocabulary=vocabulary)
    [values] = arrays
    if values.dtype != np.float64 or values.ndim != 2 or values.shape[1] != width:
        raise ValueError(f"dense vectors must be rows of {width} numbers of type float64")
    if values.shape == (0, 0):  # an empty list, which has no width
        empty: VectorBatch = batch([], kind=cls)
        return empty
    return cls.from_matrix(values)


def used_labels(batches: Sequence[Batch]) -> tuple[list[list[NDArray[np.int32]]], list[str]]:
    """Return the label fields of batches numbered without unused labels, and the labels.

    Batches with different vocabularies get one numbering. Labels keep the order of the first
    vocabulary that has them; 0 is always the empty label.
    """
    common = Vocabulary()
    numbered = []
    for structures in batches:
        fields = structures.parts[0].alone().arrays[: structures.n_label_fields]
        used = np.unique(np.concatenate([*fields, np.zeros(1, dtype=np.int32)]))
        if used[-1] >= len(structures.vocabulary):
            raise ModelFormatError(
                f"a {type(structures).__name__} has label numbers of another vocabulary",
                hint="save the original batch",
            )
        numbers = np.array(common.add_all(structures.vocabulary.labels(used)), dtype=np.int32)
        numbered.append([numbers[np.searchsorted(used, field)] for field in fields])
    return numbered, list(common)[1:]


def vocabulary_of(labels: list[str]) -> Vocabulary:
    """Return the vocabulary of stored labels; raise ValueError if one is empty or repeated."""
    vocabulary = Vocabulary(labels)
    if len(vocabulary) != len(labels) + 1:  # the empty label is implicit
        raise ValueError("a label of the vocabulary is empty or repeated")
    return vocabulary


# Tables of examples.


def example_state(examples: ExampleBatch) -> State:
    """Return the columns of a table.

    Sequences, trees and graphs of all views share one vocabulary. Edge labels are omitted if all
    are empty. Forests and vectors are stored as separate parts.

    Raises
    ------
    ModelFormatError
        If a label or a view cannot be saved.
    """
    labels, label_of = _numbered([_plain_label(label) for label in examples.labels])
    state = State({"labels": labels}, {"ids": examples.ids}, {"label_of": label_of})
    if examples.groups is not None:
        groups, group_of = _numbered(examples.groups)
        state.texts["groups"], state.arrays["group_of"] = groups, group_of
    if examples.origins is not None:
        _add_origins(state, examples.origins)
    columns = {name: _column(examples, name) for name in examples.views}
    flat = [(name, column) for name, column in columns.items() if type(column[0]) in _FLAT.values()]
    numbered, used = used_labels([structures for _, (structures, _) in flat])
    state.texts["vocabulary"] = used
    views: dict[str, Any] = {}
    for (name, (structures, rows)), fields in zip(flat, numbered, strict=True):
        prefix = f"view{len(views)}-"
        part = structures.parts[0].alone()
        stored = dict(zip(structures.fields, (*fields, *part.arrays[len(fields) :]), strict=True))
        if not stored["edges"].any():
            del stored["edges"]
        state.arrays.update({prefix + field: array for field, array in stored.items()})
        state.arrays[prefix + "sizes"] = part.sizes.astype(np.int32)
        if rows is not None:
            state.arrays[prefix + "rows"] = rows
        views[name] = structures.kind
    views |= {name: column for name, column in columns.items() if name not in views}
    state.parameters["views"] = views
    return state


def restore_examples(cls: type[ExampleBatch], state: State) -> ExampleBatch:
    """Return a table from the state of an untrusted file."""
    texts, arrays = dict(state.texts), dict(state.arrays)
    ids, labels = texts.pop("ids"), state.parameters["labels"]
    if not isinstance(labels, list) or not all(_is_plain(label) for label in labels):
        raise ValueError("labels must be strings and numbers")
    label_of = _indices(arrays.pop("label_of"), len(labels), len(ids), "label_of")
    groups = None
    if "groups" in texts:
        names = texts.pop("groups")
        group_of = _indices(arrays.pop("group_of"), len(names), len(ids), "group_of")
        groups = [names[k] for k in group_of.tolist()]
    origins = None
    if "paths" in texts:
        origins = _restored_origins(texts.pop("paths"), arrays.pop("origins"), len(ids))
    columns = _restored_views(state.parameters["views"], arrays, texts, len(ids))
    State(dict.fromkeys(state.parameters), texts, arrays).check(["labels", "views"])
    named = [labels[k] for k in label_of.tolist()]
    return cls(ids, named, columns, groups=groups, origins=origins)


def rows_of_source(examples: ExampleBatch) -> State:
    """Return rows of a table in the same file: as a mask if they are in order, else as indices."""
    taken = examples.taken_from()
    assert taken is not None
    source, rows = taken
    if (rows[1:] > rows[:-1]).all():
        mask = np.zeros(len(source), dtype=np.bool_)
        mask[rows] = True
        return State({"source": source}, {}, {"mask": mask})
    return State({"source": source}, {}, {"rows": rows})


def restore_rows(cls: type[ExampleBatch], state: State) -> ExampleBatch:
    """Return rows of a table from a mask or indices of an untrusted file."""
    state.check(["source"], [], ["mask" if "mask" in state.arrays else "rows"])
    source = state.parameters["source"]
    if not isinstance(source, cls):
        raise ValueError("the source of rows must be a table of examples")
    if "rows" in state.arrays:
        rows = state.arrays["rows"]
        rows = _indices(rows, len(source), len(rows), "rows")
    else:
        mask = state.arrays["mask"]
        if mask.dtype != np.bool_ or mask.shape != (len(source),):
            raise ValueError("the mask must have one boolean for each row of its source")
        rows = np.flatnonzero(mask)
    taken: ExampleBatch = source[rows]
    return taken


def _numbered(values: list[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct values and the index of each value; 1, 1.0 and True are distinct."""
    numbers: dict[Any, int] = {}
    distinct: list[Any] = []
    number_of = []
    for value in values:
        exact = value.hex() if isinstance(value, float) else value  # 0.0 is not -0.0, nan is nan
        number = numbers.setdefault((type(value), exact), len(distinct))
        if number == len(distinct):
            distinct.append(value)
        number_of.append(number)
    return distinct, np.array(number_of, dtype=np.int64)


def _plain_label(label: Any) -> Any:
    if isinstance(label, np.generic):
        label = label.item()
    for kind in (bool, str, int, float):
        if isinstance(label, kind):  # enumerations and other subclasses become plain
            return kind.__str__(label) if kind is str else kind(label)
    if label is not None:
        raise ModelFormatError(
            f"the label {shorten(repr(label))} cannot be saved",
            hint="use strings or numbers as labels, or None",
        )
    return None


def _is_plain(label: object) -> bool:
    return label is None or type(label) in (bool, str, int, float)


def _add_origins(state: State, origins: list[Origin | None]) -> None:
    paths, path_of = _numbered([_path(origin) for origin in origins if origin is not None])
    numbers = iter(path_of.tolist())
    places = [
        [_UNKNOWN] * 4 if origin is None else [next(numbers), *_places(origin)]
        for origin in origins
    ]
    state.texts["paths"] = paths
    state.arrays["origins"] = np.array(places, dtype=np.int64).reshape(-1, 4)


def _path(origin: Origin) -> str:
    if not isinstance(origin.path, str):
        raise _bad_origin(origin)
    return str.__str__(origin.path)


def _places(origin: Origin) -> list[int]:
    places = []
    for name in _PLACES:
        place = getattr(origin, name)
        number = isinstance(place, (int, np.integer)) and not isinstance(place, bool)
        if place is not None and not (number and 0 <= place < 2**63):
            raise _bad_origin(origin)
        places.append(_UNKNOWN if place is None else int(place))
    return places


def _bad_origin(origin: Origin) -> ModelFormatError:
    return ModelFormatError(
        f"{shorten(repr(origin))} cannot be saved",
        hint="path must be a string; line, start and end must be integers of 0 or more, or None",
    )


def _column(examples: ExampleBatch, name: str) -> tuple[Batch, NDArray[np.int64] | None]:
    """Return a view as a batch, and the rows that have it (None: all)."""
    try:
        column = examples.column(name)
    except StructureError as error:
        problem = error.problem.removeprefix(f"view {name!r}: ")
        raise ModelFormatError(
            f"the view {shorten(repr(name))} of examples cannot be saved: {problem}",
            hint="a view can be saved if all its structures are sequences, trees, forests, graphs "
            "or vectors, of one kind; leave out other views, which no kernel reads",
        ) from error
    assert isinstance(column.structures, Batch)
    return column.structures[:], column.rows  # a separate batch, even if two views share one


def _restored_views(
    views: Any, arrays: dict[str, NDArray[Any]], texts: dict[str, list[str]], n: int
) -> dict[str, ViewColumn]:
    """Return checked columns; removes their entries from ``arrays`` and ``texts``."""
    if not isinstance(views, dict) or not all(type(name) is str for name in views):
        raise ValueError("views must be named by strings")
    vocabulary = vocabulary_of(texts.pop("vocabulary"))
    columns: dict[str, ViewColumn] = {}
    seen: set[int] = set()  # a batch used by thousands of views would be copied as often
    for number, (name, view) in enumerate(views.items()):
        rows: Any
        if isinstance(view, str):
            made: Batch = _restored_flat(view, f"view{number}-", arrays, vocabulary)
            rows = arrays.pop(f"view{number}-rows", None)
        else:
            made, rows = view
            if type(made) not in (ForestBatch, VectorBatch) or id(made) in seen:
                raise ValueError(f"the view {shorten(repr(name))} is not a separate batch")
            seen.add(id(made))
        if rows is None and len(made) != n:
            raise ValueError(f"{len(made):,} structures for {n:,} examples")
        if rows is not None:
            rows = _indices(rows, n, len(made), "rows of a view")
            if not rises(rows, strictly=True):
                raise ValueError("rows of a view must increase")
        columns[name] = ViewColumn(made, rows)
    return columns


def _restored_flat(
    kind: str, prefix: str, arrays: dict[str, NDArray[Any]], vocabulary: Vocabulary
) -> FlatBatch:
    if kind not in _FLAT:
        raise ValueError(f"unknown view kind {shorten(repr(kind))}")
    sizes = arrays.pop(prefix + "sizes")
    if sizes.dtype != np.int32 or sizes.ndim != 1 or (sizes < 0).any():
        raise ValueError("sizes of structures must be of type int32 and 0 or more")
    offsets = Ragged.from_sizes(sizes.tolist()).offsets
    labels = arrays.pop(prefix + "labels")
    edges = arrays.pop(prefix + "edges", None)
    fields = {"labels": labels, "edges": np.zeros_like(labels) if edges is None else edges}
    cls = _FLAT[kind]
    for field in cls.fields[2:]:
        fields[field] = arrays.pop(prefix + field)
    if offsets[-1] != len(labels):
        raise ValueError("the sum of structure sizes is not the number of labels")
    return cls.from_arrays(offsets, *(fields[field] for field in cls.fields), vocabulary=vocabulary)


def _indices(indices: Any, below: int, n: int, what: str) -> NDArray[np.int64]:
    if not isinstance(indices, np.ndarray) or indices.dtype != np.int64 or indices.shape != (n,):
        raise ValueError(f"{what} must be {n:,} integers of type int64")
    if n and not (indices.min() >= 0 and indices.max() < below):
        raise ValueError(f"{what} must be from 0 to {below - 1}")
    return indices


def _restored_origins(paths: list[str], places: NDArray[Any], n: int) -> list[Origin | None]:
    if places.dtype != np.int64 or places.shape != (n, 4):
        raise ValueError(f"origins must be {n:,} rows of four numbers of type int64")
    if places.size and (places.min() < _UNKNOWN or places[:, 0].max() >= len(paths)):
        raise ValueError("an origin refers to no file")
    return [
        None
        if path == _UNKNOWN
        else Origin(paths[path], *(None if place == _UNKNOWN else place for place in rest))
        for path, *rest in places.tolist()
    ]
