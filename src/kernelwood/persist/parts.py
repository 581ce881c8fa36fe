"""A model and the models inside it, one after the other.

Parts refer to parts before them by number, so a model is as flat in a file as it is deep in
memory, and what is shared is there once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch
from kernelwood.errors import ModelFormatError
from kernelwood.persist.models import MANIFEST, ROWS_OF_EXAMPLES, Row, find_row, row_of
from kernelwood.persist.state import State
from kernelwood.persist.values import NUMBER_TYPES, Decoder, Encoder, inner_values
from kernelwood.structures import shorten
from kernelwood.vectors import Vectors

__all__ = ["Part", "join", "split"]


@dataclass(frozen=True)
class Part:
    """A model as plain values.

    Attributes
    ----------
    kind, name : str
        Its row of ``MODELS``.
    parameters : dict
        Its parameters as JSON values.
    texts : dict from str to list of str
        Its lists of strings.
    arrays : dict from str to ndarray
        Its arrays.
    """

    kind: str
    name: str
    parameters: dict[str, Any]
    texts: dict[str, list[str]]
    arrays: dict[str, NDArray[Any]]


def split(model: Any) -> list[Part]:
    """Return the parts of a model, the model itself being the last.

    Raises
    ------
    ModelFormatError
        If it, or something inside, cannot be saved.
    """
    if row_of(model) is None:
        raise ModelFormatError(
            f"an object of type {type(model).__qualname__} cannot be saved",
            hint="only the classes in kernelwood.persist.MODELS can; give one of your own a row",
        )
    parts: list[Part] = []
    numbers: dict[Hashable, int] = {}
    rows: dict[Hashable, Row] = {}
    states: dict[Hashable, State] = {}  # of models some of whose parts are still missing
    finished: list[State] = []  # kept, because the identity of what is gone may be used again
    waiting = [model]
    while waiting:
        current = waiting[-1]
        key = _identity(current)
        if key in numbers:
            waiting.pop()
            continue
        if key not in states:
            rows[key] = row = _row_for(current, numbers)
            states[key] = row.to_state(current)
            inside = [x for x in _models_in(states[key]) if _identity(x) not in numbers]
            if any(_identity(x) in states for x in inside):
                raise ModelFormatError(f"a {type(current).__name__} is inside itself")
            waiting.extend(reversed(inside))
            if inside:
                continue
        state = states.pop(key)
        parts.append(_encode(current, rows.pop(key), state, numbers))
        numbers[key] = len(parts) - 1
        finished.append(state)
        waiting.pop()
    return parts


def _identity(model: Any) -> Hashable:
    # Vectors never change, so that equal ones are as good as the same.
    return model if isinstance(model, Vectors) else id(model)


def _row_for(model: Any, numbers: dict[Hashable, int]) -> Row:
    """Return how a model is saved: rows of a table that is stored already as their numbers."""
    if isinstance(model, ExampleBatch):
        source = model.taken_from()
        if source is not None and _identity(source[0]) in numbers:
            return ROWS_OF_EXAMPLES
    row = row_of(model)
    assert row is not None  # or it would not be among the models inside another
    return row


def _models_in(state: State) -> list[Any]:
    return [
        inner
        for value in state.parameters.values()
        for inner in inner_values(value)
        if _may_be_model(inner) and row_of(inner) is not None
    ]


def _may_be_model(value: Any) -> bool:
    return not isinstance(value, (str, int, float, list, tuple, dict, type(None)))


def _encode(model: Any, row: Row, state: State, numbers: dict[Hashable, int]) -> Part:
    def number_of(value: Any) -> int | None:
        return numbers.get(_identity(value)) if row_of(value) is not None else None

    owner = type(model).__name__
    encoder = Encoder(owner, number_of)
    parameters = encoder.parameters(state.parameters)
    arrays = {**state.arrays, **encoder.arrays}
    for name, strings in state.texts.items():
        if not all(isinstance(string, str) for string in strings):
            raise ModelFormatError(f"{owner}: the text {name!r} holds more than strings")
    for name, array in arrays.items():
        if array.dtype.name not in NUMBER_TYPES:
            raise ModelFormatError(f"{owner}: the array {name!r} is of {array.dtype}, no number")
    return Part(row.kind, row.name, parameters, state.texts, arrays)


def join(parts: Iterable[Part]) -> Any:
    """Make a model of its parts; the last is the model itself.

    Parameters
    ----------
    parts : iterable of Part
        Each is used before the next is asked for.

    Raises
    ------
    ModelFormatError
        If there is no such model.
    """
    models: list[Any] = []
    for part in parts:
        models.append(_restore(part, models))
    return models[-1]


def _restore(part: Part, models: list[Any]) -> Any:
    row, cls = find_row(part.kind, part.name)
    try:
        arrays = dict(part.arrays)
        decoder = Decoder(models, arrays)
        parameters = {key: decoder.decode(value) for key, value in part.parameters.items()}
        return row.from_state(cls, State(parameters, part.texts, arrays))
    except MemoryError:
        raise
    # Whatever a class makes of values that nobody expected, it is the file that is wrong.
    except Exception as failure:
        reason = str(failure) if isinstance(failure, ValueError) else repr(failure)
        raise ModelFormatError(
            f"part {len(models)}, the {part.kind} {part.name!r}, cannot be made: "
            f"{shorten(reason, 300)}",
            member=MANIFEST,
            hint="the file was changed, or written by a program other than kernelwood",
        ) from failure
