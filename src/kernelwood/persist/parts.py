"""A model and the models inside it as a flat list of parts.

Parts refer to earlier parts by number, so nesting has no limit and shared models are stored once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch, SchemaError
from kernelwood.errors import ModelFormatError
from kernelwood.persist.models import MANIFEST, ROWS_OF_EXAMPLES, Row, find_row, row_of
from kernelwood.persist.state import (
    NUMBER_TYPES,
    Decoder,
    Encoder,
    State,
    inner_values,
    registration,
)
from kernelwood.structures import shorten
from kernelwood.vectors import Vectors

_CHANGED_HINT = "the file was changed, or written by a program other than kernelwood"


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
    folder : str
        Of its texts and arrays in the archive, for messages.
    """

    kind: str
    name: str
    parameters: dict[str, Any]
    texts: dict[str, list[str]]
    arrays: dict[str, NDArray[Any]]
    folder: str = ""

    def member(self, name: str) -> str:
        """Return the member of the archive that holds a value."""
        if name in self.texts:
            return f"{self.folder}{name}.txt"
        stored = [array for array in (name, f"parameter-{name}") if array in self.arrays]
        return f"{self.folder}{stored[0]}.npy" if stored else MANIFEST


def split(model: Any) -> list[Part]:
    """Return the parts of a model; the last is the model itself.

    Raises
    ------
    ModelFormatError
        If the model, or a model inside it, cannot be saved.
    """
    if row_of(model) is None:
        raise ModelFormatError(
            f"an object of type {type(model).__qualname__} cannot be saved",
            hint=registration(model)
            or "only classes in kernelwood.persist.MODELS can be saved; add your own class there",
        )
    parts: list[Part] = []
    numbers: dict[Hashable, int] = {}
    rows: dict[Hashable, Row] = {}
    states: dict[Hashable, State] = {}  # of models whose inner models are not stored yet
    finished: list[State] = []  # kept alive, because ids of deleted objects are reused
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
    # Vectors are immutable, so equal ones are stored once.
    return model if isinstance(model, Vectors) else id(model)


def _row_for(model: Any, numbers: dict[Hashable, int]) -> Row:
    """Return the row for a model; rows of a table that is an earlier part have their own."""
    if isinstance(model, ExampleBatch):
        source = model.taken_from()
        if source is not None and _identity(source[0]) in numbers:
            return ROWS_OF_EXAMPLES
    row = row_of(model)
    assert row is not None  # ensured by _models_in
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
            raise ModelFormatError(f"{owner}: the text {name!r} has values that are not strings")
    for name, array in arrays.items():
        if array.dtype.name not in NUMBER_TYPES:
            raise ModelFormatError(
                f"{owner}: the array {name!r} has the type {array.dtype}, which is not numeric"
            )
    return Part(row.kind, row.name, parameters, state.texts, arrays)


def join(parts: Iterable[Part]) -> Any:
    """Return the model made of parts; the last is the model itself.

    Parameters
    ----------
    parts : iterable of Part
        Each is restored before the next is read.

    Raises
    ------
    ModelFormatError
        If a part is invalid.
    """
    models: list[Any] = []
    used: set[int] = set()
    for part in parts:
        models.append(_restore(part, models, used))
    unused = set(range(len(models) - 1)) - used
    if unused:
        raise ModelFormatError(
            f"nothing refers to part {min(unused)}", member=MANIFEST, hint=_CHANGED_HINT
        )
    return models[-1]


def _restore(part: Part, models: list[Any], used: set[int]) -> Any:
    row, cls = find_row(part.kind, part.name)
    try:
        arrays = dict(part.arrays)
        decoder = Decoder(models, arrays, used)
        parameters = {key: decoder.decode(value) for key, value in part.parameters.items()}
        return row.from_state(cls, State(parameters, part.texts, arrays))
    except MemoryError:
        raise
    # A class may fail in any way on unexpected values; the file is wrong.
    except Exception as failure:
        reason = str(failure) if isinstance(failure, ValueError) else repr(failure)
        member = part.member(failure.name) if isinstance(failure, SchemaError) else MANIFEST
        raise ModelFormatError(
            f"part {len(models)}, the {part.kind} {part.name!r}, cannot be restored: "
            f"{shorten(reason, 300)}",
            member=member,
            hint=_CHANGED_HINT,
        ) from failure
