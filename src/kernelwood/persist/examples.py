"""Batches of examples: ids, labels, origins, and a batch of structures for each view."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Batch, ExampleBatch, ForestBatch, SequenceBatch, TreeBatch, batch
from kernelwood.compute import budget, format_bytes
from kernelwood.errors import ModelFormatError, StructureError
from kernelwood.persist.state import State
from kernelwood.structures import shorten
from kernelwood.text import Example, Origin

__all__ = ["example_state", "restore_examples"]

_PLACES = ("line", "start", "end")  # of an origin
_UNKNOWN = -1  # for a place, or for the path of an example without an origin
_BATCHES = (SequenceBatch, TreeBatch, ForestBatch)

# Bytes that an example and a node of one of its structures take in memory, about.
_EXAMPLE_COST, _NODE_COST = 1000, 200


def example_state(examples: ExampleBatch) -> State:
    """Return examples as lists, arrays and a batch for each view.

    Raises
    ------
    ModelFormatError
        If a label or a view is of a kind that is not saved.
    """
    listed = list(examples)
    labels, label_of = _numbered([_plain_label(example) for example in listed])
    origins = [example.origin for example in listed]
    paths, path_of = _numbered([_path(origin) for origin in origins if origin is not None])
    numbers = iter(path_of.tolist())
    places = [
        [_UNKNOWN] * 4 if origin is None else [next(numbers), *_places(origin)]
        for origin in origins
    ]
    names = dict.fromkeys(chain.from_iterable(example.views for example in listed))
    return State(
        {"labels": labels, "views": {name: _view_state(examples, name) for name in names}},
        {"ids": [example.id for example in listed], "paths": paths},
        {"label_of": label_of, "origins": np.array(places, dtype=np.int64).reshape(-1, 4)},
    )


def restore_examples(cls: type[ExampleBatch], state: State) -> ExampleBatch:
    """Make examples of a state that need not be right."""
    state.check(["labels", "views"], ["ids", "paths"], ["label_of", "origins"])
    ids = state.texts["ids"]
    labels, label_of = state.parameters["labels"], state.arrays["label_of"]
    if not isinstance(labels, list) or not all(_is_plain(label) for label in labels):
        raise ValueError("labels must be strings and numbers")
    _check_indices(label_of, len(labels), len(ids), "label_of")
    views = _checked_views(state.parameters["views"], len(ids))
    _check_size(len(ids), [made for made, _ in views.values()])
    of_example: list[dict[str, Any]] = [{} for _ in ids]
    for name, (made, rows) in views.items():
        for row, structure in zip(range(len(ids)) if rows is None else rows, made, strict=True):
            of_example[row][name] = structure
    origins = _restored_origins(state.texts["paths"], state.arrays["origins"], len(ids))
    parts = zip(ids, label_of.tolist(), of_example, origins, strict=True)
    whole = {name: made for name, (made, rows) in views.items() if rows is None}
    return cls([Example(i, labels[k], v, origin) for i, k, v, origin in parts], whole)


def _numbered(values: list[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct values, and which of them each value is; 1, 1.0 and True are three."""
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


def _plain_label(example: Example) -> Any:
    label: Any = example.label
    if isinstance(label, np.generic):
        label = label.item()
    for kind in (bool, str, int, float):
        if isinstance(label, kind):  # enumerations and other subclasses become plain
            return kind.__str__(label) if kind is str else kind(label)
    if label is not None:
        raise ModelFormatError(
            f"the label {shorten(repr(label))} of example {shorten(repr(example.id))} cannot be "
            "saved",
            hint="strings and numbers can; give the examples such labels, or none",
        )
    return None


def _is_plain(label: object) -> bool:
    return label is None or type(label) in (bool, str, int, float)


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
        hint="path is a string; line, start and end are whole numbers of 0 or more, or None",
    )


def _view_state(examples: ExampleBatch, name: str) -> tuple[Batch, NDArray[np.int64] | None]:
    """Return a view as a batch, and which examples have it, None if all do."""
    rows = [row for row, example in enumerate(examples) if name in example.views]
    try:
        if len(rows) == len(examples):
            return examples.view(name)[:], None  # a batch of its own, even if it serves two views
        made = batch([examples[row].views[name] for row in rows])
    except StructureError as error:
        raise _bad_view(name, error.problem) from error
    if not isinstance(made, Batch):
        raise _bad_view(name, "it holds examples")
    return made, np.array(rows, dtype=np.int64)


def _bad_view(name: str, problem: str) -> ModelFormatError:
    problem = problem.removeprefix(f"view {name!r}: ")
    return ModelFormatError(
        f"the view {shorten(repr(name))} of examples cannot be saved: {problem}",
        hint="views of one kind, all sequences, all trees or all forests, can; leave out others, "
        "which no kernel reads",
    )


def _checked_views(views: Any, n: int) -> dict[str, tuple[Batch, list[int] | None]]:
    if not isinstance(views, dict):
        raise ValueError("views are not named")
    checked: dict[str, tuple[Batch, list[int] | None]] = {}
    seen: set[int] = set()  # one batch for thousands of views would be thousands in memory
    for name, view in views.items():
        made, rows = view
        if type(made) not in _BATCHES or id(made) in seen:
            raise ValueError(f"the view {shorten(repr(name))} is no batch of its own")
        seen.add(id(made))
        if rows is not None:
            _check_indices(rows, n, len(made), "rows of a view")
            if (np.diff(rows) <= 0).any():
                raise ValueError("rows of a view must grow")
            rows = rows.tolist()
        elif len(made) != n:
            raise ValueError(f"{len(made):,} structures for {n:,} examples")
        checked[name] = made, rows
    return checked


def _check_indices(indices: Any, below: int, n: int, what: str) -> None:
    if not isinstance(indices, np.ndarray) or indices.dtype != np.int64 or indices.shape != (n,):
        raise ValueError(f"{what} must be {n:,} numbers of type int64")
    if n and not (indices.min() >= 0 and indices.max() < below):
        raise ValueError(f"{what} must be from 0 to {below - 1}")


def _check_size(n: int, batches: list[Batch]) -> None:
    """Raise ValueError if the examples, which are larger than their arrays, are too large."""
    n_objects = n + sum(map(len, batches))
    size = _EXAMPLE_COST * n_objects + _NODE_COST * sum(made.n_elements for made in batches)
    if size > budget():
        raise ValueError(
            f"the examples need more than the memory budget of {format_bytes(budget())}; if you "
            "trust the file, raise it: kw.config_context(memory=...)"
        )


def _restored_origins(paths: list[str], places: NDArray[Any], n: int) -> list[Origin | None]:
    if places.dtype != np.int64 or places.shape != (n, 4):
        raise ValueError(f"origins must be {n:,} rows of four numbers of type int64")
    if places.size and (places.min() < _UNKNOWN or places[:, 0].max() >= len(paths)):
        raise ValueError("an origin is nowhere")
    return [
        None
        if path == _UNKNOWN
        else Origin(paths[path], *(None if place == _UNKNOWN else place for place in rest))
        for path, *rest in places.tolist()
    ]
