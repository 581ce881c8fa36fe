"""Public methods of model classes that the harness does not call."""

from __future__ import annotations

import functools
import inspect
import io
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from fuzz.kinds import Use
from fuzz.model_samples import names, sample
from fuzz.model_use import use_model
from kernelwood.persist import read_model

# Training, whose cost is that of parameters; constructors, which no file reaches; and writing.
LEFT_OUT = frozenset({
    "fit", "fit_batches", "fit_candidates", "fit_held_out", "held_out", "refit", "cross_validate",
    "learning_curve", "from_arrays", "from_pairs", "load", "of", "read", "save", "sptk", "csptk",
})  # fmt: skip
_SPECIAL = frozenset({"__contains__", "__eq__", "__getitem__", "__hash__", "__iter__", "__len__"})


def methods_not_called() -> list[str]:
    """Use the honest model of every kind; return methods and properties that nothing called."""
    called: set[CodeType] = set()
    classes: dict[type[Any], None] = {}

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            called.add(frame.f_code)

    for name in names():
        model = read_model(io.BytesIO(sample(name)))
        classes[type(model)] = None
        sys.setprofile(note)
        try:
            use_model(model, Use())
        finally:
            sys.setprofile(None)
    return [
        f"{cls.__name__}.{name}"
        for cls in classes
        for name, code in _methods(cls)
        if code not in called
    ]


def _methods(cls: type[Any]) -> Iterator[tuple[str, CodeType]]:
    """Yield the public methods and properties of a class that are code of the library."""
    for name in dir(cls):
        if name in LEFT_OUT or (name.startswith("_") and name not in _SPECIAL):
            continue
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property):
            member = member.fget
        elif isinstance(member, functools.cached_property):
            member = member.func
        elif isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        code = getattr(inspect.unwrap(member), "__code__", None) if callable(member) else None
        if code is not None and "kernelwood" in code.co_filename:
            yield name, code
