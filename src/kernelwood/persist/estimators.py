"""States of estimators: parameters and fitted attributes.

The two functions serve estimators that follow scikit-learn (the constructor stores its arguments,
``get_params`` returns them) and have

* ``_fitted``, which declares checks of the attributes that ``fit`` sets and predictions need
  (:mod:`kernelwood.arrays.schema`): numbers, strings, None, arrays, kernels, batches, estimators
  and other classes in ``MODELS``, and lists, tuples and dictionaries of these;
* ``_saved_unfitted``, True if it can be a parameter of other models and be saved unfitted;
* ``_check_parameters()``, which raises an error if a parameter is out of range;
* ``_check_restored()``, which raises ValueError unless parameters and fitted attributes, which are
  as declared, are consistent. It is also called before saving.

Its row is ``Row("features", "kernel-hasher", "module:Class", estimator_state, restore_estimator)``.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import budget, format_bytes
from kernelwood.errors import ModelFormatError
from kernelwood.persist.checks import check_fitted
from kernelwood.persist.state import NUMBER_TYPES, RUN_TIME, State, check_names, inner_values

# Names of arguments have no hyphens, so none begins with this.
_FITTED = "fitted-"
_RANDOM = (np.random.Generator, np.random.RandomState)


def estimator_state(model: Any) -> State:
    """Return the parameters and, if it is fitted, the fitted attributes of an estimator.

    ``n_jobs`` is left out. A random generator is replaced by the seed that was drawn from it.

    Raises
    ------
    ModelFormatError
        If the estimator is not fitted, or was changed after fitting.
    KernelInputError
        If a parameter is out of range.
    """
    fitted = _has_fitted(model)
    if fitted and hasattr(model, "_unchanging"):
        model = model._unchanging()
    model._check_parameters()
    if fitted:
        _check_unchanged(model)
    parameters = {k: v for k, v in model.get_params(deep=False).items() if k not in RUN_TIME}
    if isinstance(parameters.get("random_state"), _RANDOM):
        parameters["random_state"] = int(model.seed_) if fitted else None
    state = State(parameters, {}, {})
    for name in model._fitted if fitted else ():
        _add(state, name, getattr(model, name))
    return state


def restore_estimator(cls: Any, state: State) -> Any:
    """Return an estimator from the state of an untrusted file."""
    fitted = _fitted_values(cls, state)
    arguments = set(inspect.signature(cls.__init__).parameters) - {"self"} - RUN_TIME
    given = {k: v for k, v in state.parameters.items() if not k.startswith(_FITTED)}
    check_names("parameter", given, arguments)
    model = cls(**given)
    model._check_parameters()
    if fitted:
        check_fitted(cls, fitted, given)
    for name, value in fitted.items():
        for inner in inner_values(value):
            if isinstance(inner, np.ndarray):
                inner.flags.writeable = False
        setattr(model, name, value)
    if fitted:
        model._check_restored()
    return model


def _has_fitted(model: Any) -> bool:
    """Return whether an estimator is fitted; raise ModelFormatError if it must be."""
    missing = [name for name in model._fitted if not hasattr(model, name)]
    if missing and not getattr(model, "_saved_unfitted", False):
        raise ModelFormatError(
            f"this {type(model).__name__} is not fitted: it has no {missing[0]}",
            hint=f"fit it first: model.fit({', '.join(_fit_arguments(model))})",
        )
    return not missing


def _fit_arguments(model: Any) -> list[str]:
    """Return the names of what ``fit`` needs, of which all but the first may have a default."""
    parameters = list(inspect.signature(model.fit).parameters.values())
    return ["X", "y"] if parameters[0].name == "X" else [parameters[0].name]


def check_restored(model: Any) -> None:
    """Raise ValueError unless fitted attributes are as declared and fit together."""
    values = {name: getattr(model, name) for name in model._fitted}
    check_fitted(model, values, model.get_params(deep=False))
    model._check_restored()


def _check_unchanged(model: Any) -> None:
    """Raise ModelFormatError if the model could be saved, but not loaded."""
    try:
        check_restored(model)
    except ValueError as failure:
        raise ModelFormatError(
            f"this {type(model).__name__} was changed after fitting: {failure}",
            hint="fit it again",
        ) from failure


def _add(state: State, name: str, value: Any) -> None:
    """Add a fitted attribute to a state; arrays of strings are stored as texts with a width."""
    if isinstance(value, np.ndarray) and value.dtype.name in NUMBER_TYPES:
        state.arrays[name] = value
        return
    if _holds_strings(value):
        state.texts[name] = [str.__str__(text) for text in value.tolist()]
        value = None if value.dtype == object else value.dtype.itemsize // 4
    elif any(_holds_strings(inner) for inner in inner_values(value)):
        raise ModelFormatError(
            f"{name} has an array of strings inside another value, which cannot be saved",
            hint="store the array as an attribute, or convert it to a list",
        )
    state.parameters[_FITTED + name] = value


def _holds_strings(value: Any) -> bool:
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        return False
    plain = value.dtype == object and all(isinstance(text, str) for text in value)
    return plain or value.dtype.kind == "U"


def _fitted_values(cls: Any, state: State) -> dict[str, Any]:
    """Return the fitted attributes; raise ValueError if they differ from those of the class."""
    values: dict[str, Any] = {
        key.removeprefix(_FITTED): value
        for key, value in state.parameters.items()
        if key.startswith(_FITTED)
    }
    for name, strings in state.texts.items():
        if name not in values:
            raise ValueError(f"the text {name!r} has no width")
        values[name] = _restored_strings(strings, values[name])
    for name, array in state.arrays.items():
        if name in values:
            raise ValueError(f"{name!r} is stored twice")
        values[name] = array
    if values or not getattr(cls, "_saved_unfitted", False):
        check_names("fitted attribute", values, set(cls._fitted))
    return values


def _restored_strings(strings: list[str], width: Any) -> NDArray[Any]:
    if width is None:
        objects = np.empty(len(strings), dtype=object)
        objects[:] = strings
        return objects
    longest = max(map(len, strings), default=0)
    if type(width) is not int or not max(longest, 1) <= width < 2**28:
        raise ValueError(f"strings of {longest} characters do not fit in a width of {width!r}")
    # A small file can declare a large width.
    if 4 * width * len(strings) > budget():
        raise ValueError(
            f"an array of strings needs more than the memory budget of {format_bytes(budget())}; "
            "if you trust the file, raise it: kw.config_context(memory=...)"
        )
    return np.array(strings, dtype=f"U{width}")
