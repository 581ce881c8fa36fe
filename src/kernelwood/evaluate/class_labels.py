"""Labels, classes, groups and models passed in by the user, checked and encoded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Real
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.parameters import is_number
from kernelwood.structures import shorten
from kernelwood.text import Example

ClassLabel: TypeAlias = str | float | tuple[str | float, ...]
Codes: TypeAlias = NDArray[np.int64]
_PLAIN = ({str}, {int}, {bool}, {int, bool})  # types that need no conversion
_KINDS = {str: "strings", Real: "numbers", tuple: "tuples"}


@dataclass(frozen=True, slots=True)
class Encoded:
    """Classes in order, and vectors of labels as indices of classes."""

    classes: tuple[ClassLabel, ...]
    codes: tuple[Codes, ...]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each example, as a number below ``n_groups``."""

    codes: Codes
    n_groups: int


def encode(vectors: Mapping[str, Iterable[Any]], classes: Iterable[Any] | None = None) -> Encoded:
    """Return the codes of parallel vectors of labels.

    Parameters
    ----------
    vectors : mapping of str to iterable
        Labels by the name to use in messages; all of the same length.
    classes : iterable, optional
        All classes in order; by default the sorted classes that occur.

    Raises
    ------
    KernelInputError
        If lengths or kinds of labels differ, there are none, or a label is not among ``classes``.

    Examples
    --------
    >>> encoded = encode({"y_true": ["b", "a"], "y_pred": ["b", "b"]})
    >>> encoded.classes, [codes.tolist() for codes in encoded.codes]
    (('a', 'b'), [[1, 0], [1, 1]])
    """
    plain = {name: plain_labels(values, name) for name, values in vectors.items()}
    _check_lengths(plain)
    listed = None if classes is None else plain_labels(classes, "classes")
    _check_kinds(plain if listed is None else {**plain, "classes": listed})
    ordered = sorted_classes(plain.values()) if listed is None else _check_distinct(listed)
    places = {label: code for code, label in enumerate(ordered)}
    codes = []
    for name, labels in plain.items():
        try:
            numbers = [places[label] for label in labels]
        except KeyError as missing:
            raise _unknown_class(missing.args[0], name, labels, ordered) from None
        codes.append(np.array(numbers, dtype=np.int64))
    return Encoded(ordered, tuple(codes))


def encode_positive(positive: Any, classes: tuple[ClassLabel, ...]) -> tuple[int, ...]:
    """Return the indices of the positive classes; None means all classes.

    Examples
    --------
    >>> encode_positive("yes", ("no", "yes")), encode_positive(None, ("no", "yes"))
    ((1,), (0, 1))
    """
    if positive is None:
        return tuple(range(len(classes)))
    several = isinstance(positive, Collection) and not isinstance(positive, (str, bytes))
    # A tuple may be one label or several.
    single = not several or (isinstance(positive, tuple) and positive in classes)
    wanted = plain_labels([positive] if single else positive, "positive")
    if not wanted:
        raise KernelInputError(
            "positive is empty; name at least one class, or use None for all classes"
        )
    for label in wanted:
        if label not in classes:
            raise KernelInputError(
                f"positive: {show(label)} is not among the classes{_nearest(label, classes)}"
            )
    return tuple(classes.index(label) for label in dict.fromkeys(wanted))


def encode_groups(groups: Iterable[Any], n_examples: int) -> Groups:
    """Return the codes of groups, in the order of their first occurrence.

    Examples
    --------
    >>> encode_groups(["d2", "d1", "d2"], 3).codes.tolist()
    [0, 1, 0]
    """
    names = _listed(groups, "groups")
    if len(names) != n_examples:
        raise KernelInputError(
            f"groups has {len(names):,} entries, but there are {n_examples:,} examples; "
            "give the group of every example, in the same order"
        )
    places: dict[Any, int] = {}
    codes = np.empty(len(names), dtype=np.int64)
    for index, name in enumerate(names):
        # Missing values, None or NaN, do not make a group.
        if name is None or name != name:
            raise KernelInputError(
                f"groups[{index}] is {name!r}; give every example a group, "
                "a new one if it belongs to no other"
            )
        try:
            codes[index] = places.setdefault(name, len(places))
        except TypeError:
            raise KernelInputError(
                f"groups[{index}] is {show(name)}, which is not hashable; use strings or numbers"
            ) from None
    return Groups(codes, len(places))


def subset(encoded: Encoded, present: Sequence[int]) -> Encoded:
    """Return the same labels with only the classes ``present``, which include all that occur."""
    renumbered = np.full(encoded.n_classes, -1, dtype=np.int64)
    renumbered[list(present)] = np.arange(len(present))
    classes = tuple(encoded.classes[code] for code in present)
    return Encoded(classes, tuple(renumbered[codes] for codes in encoded.codes))


def plain_labels(values: Iterable[Any], name: str) -> list[ClassLabel]:
    """Return labels as strings, numbers or tuples of these; ``name`` is used in messages.

    Examples
    --------
    >>> plain_labels(np.array([1, 2]), "y")
    [1, 2]
    >>> plain_labels(["yes", None], "y")
    Traceback (most recent call last):
    ...
    kernelwood.errors.KernelInputError: y[1] is None; remove examples without a label
    """
    listed = _listed(values, name)
    if set(map(type, listed)) in _PLAIN:
        return listed
    return [_plain_label(value, name, index) for index, value in enumerate(listed)]


def show(label: object) -> str:
    """Return a label, shortened for a message."""
    return shorten(repr(label))


def _listed(values: Iterable[Any], name: str) -> list[Any]:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise KernelInputError(
                f"{name} has {values.ndim} dimensions, shape {values.shape}; "
                "give one value for each example"
            )
        return list(values.tolist())
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise KernelInputError(f"{name} must be a list or an array, got {show(values)}")
    return list(values)


def _plain_label(value: Any, name: str, index: int) -> ClassLabel:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool) or is_number(value):
        return cast(ClassLabel, value)
    if isinstance(value, tuple) and not any(isinstance(part, tuple) for part in value):
        return cast(ClassLabel, tuple(_plain_label(part, name, index) for part in value))
    if value is None:
        raise KernelInputError(f"{name}[{index}] is None; remove examples without a label")
    raise KernelInputError(
        f"{name}[{index}] is {show(value)} of type {type(value).__name__}; "
        "a label is a string, a finite number, or a tuple of these"
    )


def _check_lengths(plain: Mapping[str, list[ClassLabel]]) -> None:
    first, *others = plain
    n = len(plain[first])
    for name in others:
        if len(plain[name]) != n:
            raise KernelInputError(
                f"{name} has {len(plain[name]):,} labels, but {first} has {n:,}; "
                "give one for each example, in the same order"
            )
    if n == 0:
        raise KernelInputError(f"{first} is empty; give at least one example")


def _check_kinds(plain: Mapping[str, list[ClassLabel]]) -> None:
    """Raise KernelInputError if labels of different kinds, such as "1" and 1, are mixed."""
    first: tuple[str, str, ClassLabel] | None = None
    for name, labels in plain.items():
        seen = {type(label): label for label in labels}
        for label in seen.values():
            kind = next(words for base, words in _KINDS.items() if isinstance(label, base))
            if first is None:
                first = (kind, name, label)
            elif kind != first[0]:
                raise KernelInputError(
                    f"{first[1]} has {first[0]} such as {show(first[2])}, "
                    f"{name} has {kind} such as {show(label)}; make all labels of one kind"
                )


def sorted_classes(vectors: Iterable[list[ClassLabel]]) -> tuple[ClassLabel, ...]:
    """Return the sorted distinct labels of vectors.

    Examples
    --------
    >>> sorted_classes([["b"], ["a", "b"]])
    ('a', 'b')
    """
    seen: dict[ClassLabel, None] = {}
    for labels in vectors:
        seen.update(dict.fromkeys(labels))  # 1 and True are the same label, the first is used
    try:
        return tuple(sorted(seen))
    except TypeError:
        return tuple(sorted(seen, key=repr))  # tuples of different types cannot be compared


def _check_distinct(classes: list[ClassLabel]) -> tuple[ClassLabel, ...]:
    if not classes:
        raise KernelInputError("classes is empty; name the classes, or use None")
    seen: set[ClassLabel] = set()
    for label in classes:
        if label in seen:
            raise KernelInputError(f"classes has {show(label)} twice; list each class once")
        seen.add(label)
    return tuple(classes)


def _unknown_class(
    label: ClassLabel, name: str, labels: list[ClassLabel], classes: tuple[ClassLabel, ...]
) -> KernelInputError:
    return KernelInputError(
        f"{name}[{labels.index(label)}] is {show(label)}, which is not among the classes"
        f"{_nearest(label, classes)}; add it to classes, or use classes=None"
    )


def _nearest(label: ClassLabel, classes: tuple[ClassLabel, ...]) -> str:
    named = [known for known in classes if isinstance(known, str)]
    near = get_close_matches(label, named, n=1) if isinstance(label, str) else []
    listed = shorten(", ".join(map(show, classes)), 200)
    return f" ({listed})" + (f"; did you mean {show(near[0])}?" if near else "")


def check_model(model: Any) -> None:
    """Raise KernelInputError unless ``model`` is an estimator with fit and predict."""
    if isinstance(model, type):
        raise KernelInputError(f"model is the class {model.__name__}; give {model.__name__}(...)")
    for name in ("fit", "predict", "get_params"):
        if not hasattr(model, name):
            raise KernelInputError(
                f"model must be an estimator with fit, predict and get_params; {show(model)} of "
                f"type {type(model).__name__} has no {name}"
            )


def labels_of(X: Any, y: Iterable[Any] | None, X_name: str, y_name: str) -> list[ClassLabel]:
    """Return one label for each structure, from the examples themselves if ``y`` is None.

    Examples
    --------
    >>> labels_of([Example("1", "yes"), Example("2", "no")], None, "X", "y")
    ['yes', 'no']
    """
    n = _n_structures(X, X_name)
    if y is None:
        items = list(X)
        if not all(isinstance(item, Example) for item in items):
            raise KernelInputError(
                f"{y_name} is None, but {X_name} does not consist of examples with labels; "
                f"give {y_name}"
            )
        y = [item.label for item in items]
    labels = plain_labels(y, y_name)
    if len(labels) != n:
        raise KernelInputError(
            f"{y_name} has {len(labels):,} labels, but {X_name} has {n:,} examples; "
            "give one for each, in the same order"
        )
    if n == 0:
        raise KernelInputError(f"{X_name} is empty; give at least one example")
    return labels


def take(X: Any, indices: NDArray[np.int64]) -> Any:
    """Return the structures at ``indices`` in the same type of collection.

    Examples
    --------
    >>> take(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(X, (list, tuple)):
        return [X[index] for index in indices.tolist()]
    return X.iloc[indices] if hasattr(X, "iloc") else X[indices]


def as_array(labels: list[ClassLabel]) -> NDArray[Any]:
    """Return labels as an array for scikit-learn; strings as objects, so that none is cut."""
    if all(isinstance(label, (bool, int, float)) for label in labels):
        return np.array(labels)
    objects = np.empty(len(labels), dtype=object)
    objects[:] = labels
    return objects


def _n_structures(X: Any, name: str) -> int:
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape):
        return int(shape[0])
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise KernelInputError(
            f"{name} must be a batch, a list of structures or an array, got {show(X)}"
        )
    return len(X)
