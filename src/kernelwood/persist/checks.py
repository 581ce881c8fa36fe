"""Checks of the values of a file, made before any object gets them.

A class declares a check for each value: ``_fitted`` of an estimator, ``_saved`` of a class with a
state of its own (:mod:`kernelwood.arrays.schema`). Values that are not declared are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelwood.arrays import Schema, SchemaError, check_values
from kernelwood.persist.state import State


def check_fitted(owner: Any, values: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Raise SchemaError unless fitted attributes are as their class declares.

    Parameters
    ----------
    owner : type or estimator
    values : mapping from str to object
        The fitted attributes.
    parameters : mapping from str to object
        Parameters, which have been checked; sizes may refer to them.
    """
    sizes = {name: value for name, value in parameters.items() if name not in values}
    check_values(_declared(owner, "_fitted"), values, **sizes)


def check_state(cls: Any, state: State) -> None:
    """Raise SchemaError unless a state is as its class declares."""
    values: dict[str, Any] = {}
    for group in state:
        for name, value in group.items():
            if name in values:
                raise SchemaError(name, "is stored twice")
            values[name] = value
    check_values(_declared(cls, "_saved"), values)


def _declared(owner: Any, name: str) -> Schema:
    schema = getattr(owner, name, None)
    if not isinstance(schema, Mapping):
        cls = owner if isinstance(owner, type) else type(owner)
        raise ValueError(
            f"{cls.__name__}.{name} must declare what each value of a file must be, such as "
            '{"labels_": ArrayOf("int32", None)}; see kernelwood.arrays.schema'
        )
    return schema
